"""Models over a suite, chunk by chunk, into a folder.

The items are cut into chunks by the data alone. The scores of a chunk are files with a mark: a stopped run goes on with
the first chunk that has none, and each of several processes (`torchrun`, `--part 3/8`) scores every n-th one.
Whoever finds all marks makes the whole; nobody waits.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from .. import __version__
from ..engine.progress import Progress, within
from ..io.files import check_folder
from ..io.store import (
    Record,
    as_written,
    differences,
    environment,
    read_record,
    read_records,
    read_tables,
    record_folder,
    write_results,
    write_tables,
)
from ..models.scorer import Scorer
from ..suites import find_suite
from ..suites.base import Suite
from .doctor import refuse_failures
from .jobs import Failure, Job

DONE = "done"
"""The mark of a chunk."""
Announce = Callable[[str], AbstractContextManager[Progress]]
"""Opens a progress display, given a description of what is being done."""
Note = Callable[[str], object]
"""Is told a sentence about what is done."""


class Part(NamedTuple):
    """Which of how many processes this is, from 1."""

    number: int = 1
    of: int = 1

    @classmethod
    def of_launch(cls) -> "Part":
        """Return the part of this process under a launcher such as `torchrun`; the whole anywhere else."""
        if {"LOCAL_RANK", "MASTER_ADDR", "RANK", "WORLD_SIZE"} <= os.environ.keys():
            return cls(int(os.environ["RANK"]) + 1, int(os.environ["WORLD_SIZE"]))
        return cls()


class Scored(NamedTuple):
    """What became of the models: complete records, failures, and names of those of which other parts are missing."""

    records: list[Record]
    failures: list[Failure]
    waiting: list[str]


def silent(_: str) -> AbstractContextManager[Progress]:
    """Show nothing."""
    return nullcontext(lambda done, total: None)


def run_models(
    suites: Sequence[Suite],
    jobs: Sequence[Job],
    out: Path,
    *,
    part: Part | None = None,
    overwrite: bool = False,
    announce: Announce = silent,
    note: Note = lambda _: None,
    keep_going: bool = False,
) -> Scored:
    """Score models on suites, and write `results.json`; one that fails does not take the others' results with it.

    Args:
        suites: what is asked; a model is loaded once for all of them.
        jobs: the models, in the order of the results.
        out: folder for scores and results.
        part: which chunks this process scores; None: those of its place in a launch.
        overwrite: replace scores of these models that were computed on other data or with different options.
        announce: how progress is shown.
        note: told which scores are from an earlier run.
        keep_going: do not raise the error of an only model either.

    Raises:
        ValueError: the folder cannot be written; or the error of the only model, where there is only one.
    """
    check_folder(out)
    part, scored = part or Part.of_launch(), Scored([], [], [])
    try:
        for job in jobs:
            for suite in suites:
                try:
                    record = score_model(suite, job, out, part, overwrite, announce, note)
                except Exception as error:  # whatever it is: the other models may be fine
                    if len(jobs) == len(suites) == 1 and not keep_going:
                        raise
                    scored.failures.append(Failure(job.model, error))
                    continue
                if record is None:
                    scored.waiting.append(job.model)
                else:
                    scored.records.append(record)
            job.unload()
    finally:
        if scored.records:
            write_results(out)
    return scored


def score_model(
    suite: Suite, job: Job, out: Path, part: Part, overwrite: bool, announce: Announce, note: Note
) -> Record | None:
    """Return the record of a model; None where chunks of other parts are missing.

    Raises:
        TypeError: the scorer's signature lacks its model or revision.
        ValueError: scores of other data or options would be replaced; or see the suite's `ask`.
    """
    name = f"{job.series}@{job.revision}" if job.series else job.model
    folder = record_folder(out, name, suite.name, suite.config)
    earlier = read_record(folder)
    signature = as_written({**job.signature(), **suite.asked(), "version": __version__})
    is_known = signature["revision"] is not None  # else the weights may have changed since
    if earlier is not None and is_known and earlier.signature == signature:
        note(f"Reused from {out}: {suite.name} of {job.model}.")
        return earlier
    if earlier is not None and not overwrite and (changes := [*differences(earlier.signature, signature)]):
        raise ValueError(
            f"{folder} already holds scores computed on other data or with different options ({'; '.join(changes)}). "
            "Choose another folder with --out, or replace them with --overwrite."
        )
    suite.check_scorer(scorer := job.scorer)
    refuse_failures(scorer)
    if part.of > 1 and not is_known:
        raise ValueError(
            f"{scorer.name} has no revision, so several processes cannot tell that they score the same model. Put "
            "'revision' into its signature, or score it in one process."
        )
    digest = hashlib.sha256(json.dumps(signature, sort_keys=True).encode()).hexdigest()[:16]
    chunks = folder / f"chunks-{digest}"
    if not is_known:
        shutil.rmtree(chunks, ignore_errors=True)
    try:
        with announce(f"{scorer.name}: {suite.title_of(suite.config)}") as progress:
            tables, failed = score_chunks(suite, scorer, chunks, part, progress), None
    except (LookupError, OSError, ValueError) as error:
        tables, failed = None, error
    # Another process may have found all marks as well: it writes the whole, then removes the chunks that are read here.
    if is_known and (whole := read_record(folder)) and whole.signature == signature:
        shutil.rmtree(chunks, ignore_errors=True)
        return whole
    if failed is not None:
        raise failed
    if tables is None:
        return None
    facts = as_written({**scorer.signature, **suite.facts(scorer), "levels": suite.own_levels})
    request: dict[str, Any] = {"command": command_line(), **({"series": True} if job.series else {})}
    record = Record(folder, signature, facts, request, {**environment(), **as_written(scorer.execution)})
    record = replace(record, rows=rows_of(record, tables)).write(tables)
    shutil.rmtree(chunks, ignore_errors=True)
    return record


def rows_of(record: Record, tables: Mapping[str, pd.DataFrame]) -> list[dict[str, Any]]:
    """Return the rows of results of a record from its tables."""
    suite = find_suite(record.signature["suite"])
    return [{**record.identity, **row} for row in suite.rows(tables, record.facts["levels"])]


def score_chunks(
    suite: Suite, scorer: Scorer, folder: Path, part: Part, progress: Progress
) -> dict[str, pd.DataFrame] | None:
    """Score the chunks of this part that have no mark yet; return the whole where all have one."""
    chunks = suite.chunks()
    parts = [folder / f"{number:05}" for number in range(len(chunks))]
    n_before, n_rows = 0, sum(map(len, chunks))
    for number, (items, chunk) in enumerate(zip(chunks, parts, strict=True)):
        n_after = n_before + len(items)
        if number % part.of == part.number - 1 and not (chunk / DONE).exists():
            of_chunk = within(progress, n_before, n_after, n_rows)
            write_tables(suite.ask(scorer, items.reset_index(drop=True), of_chunk), chunk)
            (chunk / DONE).touch()
        progress(n_before := n_after, n_rows)
    if not all((chunk / DONE).exists() for chunk in parts):
        return None
    return suite.joined([read_tables(chunk) for chunk in parts])


def refresh_results(out: Path) -> list[Record]:
    """Compute the averages that another version has made again, write `results.json`, and return the records."""
    records = read_records(out)
    if not records:
        raise ValueError(f"{out} has no results. Make some with `tse run --out {out}`.")
    for record in records:
        if record.environment.get("refined-tse") != __version__:
            replace(record, rows=rows_of(record, record.read())).write()
    return write_results(out)


_SECRETS = re.compile(
    r"\bhf_\w{8,}|\bsk-[\w-]{16,}|(?<=://)[^/@\s]+(?=@)|(?i:(?<=token=)|(?<=password=)|(?<=key=)|(?<=bearer ))\S+"
)


def command_line() -> str:
    """Return the command as it was typed, without secrets, or the name of the function where it was Python."""
    name = Path(sys.argv[0]).name if sys.argv else ""
    if name.removesuffix(".exe") != "tse" and not sys.argv[0].endswith("tse_scorers/__main__.py"):
        return "tse_scorers.run"
    return shlex.join(["tse", *(_SECRETS.sub("<secret>", argument) for argument in sys.argv[1:])])
