"""Scores, counts and decisions are the golden ones; see `golden.py`, which also runs all jobs from the command line."""

import pytest
from golden import HERE, JOBS, UPSTREAM, compare

QUICK = (
    "own pairs", "own pairs float64", "own gaps", "own gaps float64", "published", "lstm float64", "original pll",
    "no start token", "leading space", "linking mean_byte", "bos float64", "regions float64", "compare conditions",
    "map", "live",
)  # fmt: skip
"""Seconds each; the others take ten minutes of a processor."""


@pytest.mark.upstream
@pytest.mark.parametrize(
    "job", [pytest.param(job, marks=[] if job in QUICK else [pytest.mark.slow]) for job in JOBS]
)
def test_values_are_the_golden_ones(job):
    if not UPSTREAM.is_dir():
        pytest.skip(f"needs the upstream data files, not found at {UPSTREAM} (set TSE_UPSTREAM)")
    assert compare(job) == []


def test_each_job_has_values():
    """A job whose files are missing would compare nothing."""
    frozen = {path.name.split(".")[0] for path in HERE.glob("values/*.parquet")}
    assert frozen == {job.replace(" ", "_") for job in JOBS}
