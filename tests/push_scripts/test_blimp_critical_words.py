"""The critical words of BLiMP: the committed numbers, their card, and how they are built."""

import pyarrow.parquet as pq
import pytest

from build_datasets import main
from builders.blimp_critical_words import SCHEMA

CONFIGS = ("one_prefix", "two_prefix")


@pytest.mark.upstream
def test_building_gives_the_committed_bytes(root, upstream, tmp_path):
    """Building also checks that the numbers give back each of the 120,000 released texts."""
    committed = root / "datasets" / "blimp_critical_words"
    assert main(["blimp_critical_words", "--source", str(upstream), "--out", str(tmp_path)]) == 0
    for config in CONFIGS:
        built = tmp_path / "blimp_critical_words" / config / "test.parquet"
        assert built.read_bytes() == (committed / config / "test.parquet").read_bytes()
        assert pq.read_schema(built) == SCHEMA and pq.read_metadata(built).num_rows == 20_000
