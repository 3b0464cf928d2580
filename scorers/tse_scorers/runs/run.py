"""`tse run`: models over a suite, into a folder that holds scores, results and a report.

Finished work is kept: while a model runs, its answers are kept in a journal; its scores are committed to a record
before they are averaged (see `io.records`), and are not computed again while their signature is the same.

A model that was scored before is recognized without loading it: its commit, the stamp of its files, or at least the
hash of their content is that of the scores, and the options, the data and the version of this package are the same.
Whatever is not certain is loaded.
"""

import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import cast

from .. import __version__
from ..engine.journal import SUFFIX
from ..engine.processes import decided_by_main, is_main, propagating_failures, rank_and_size
from ..engine.progress import Progress
from ..io.files import slug
from ..io.records import (
    ROWS,
    DamagedFileError,
    Record,
    is_current,
    read_record,
    record_folder,
    require_same,
    write_record,
    writing,
)
from ..io.result_row import ResultRow
from ..io.results import check_output, export_results
from ..io.signatures import Signature
from ..models.causal import CausalScorer
from ..models.load import choose_dtype
from ..models.model_source import file_stamp, hub_commit, local_revision, locate
from ..models.scorer import Scorer
from ..suites.contract import Suite
from .comparing.comparable import listed
from .doctor import refuse_failures
from .jobs import Failure, Job
from .request import given_options, request_of

NO_EFFECT_ON_SCORES = ("device", "batch_tokens", "dtype")
"""Options that change scores by floating-point noise only; the dtype is compared as it was resolved."""
LOCK_SECONDS = 600.0
"""How long several processes wait for another run of the same model; a single one waits as long as that lives."""

Announce = Callable[[str], AbstractContextManager[Progress]]
"""Opens a progress display, given a description of what is being done."""


@contextmanager
def silent(_: str) -> Iterator[Progress]:
    """Show nothing."""
    yield lambda done, total: None


def run_all(runs: "Sequence[Run]", jobs: Sequence[Job], *, keep_going: bool = False) -> list[Failure]:
    """Run several models; one that fails does not take the others' results with it.

    Models whose scores are there are recognized before they are loaded. `results.json` is written now and then, and
    at the end, also where the run is stopped.

    Args:
        runs: one for each suite.
        jobs: the models, in the order of the results.
        keep_going: do not raise the error of an only model either.

    Returns:
        The models that failed.

    Raises:
        ValueError: the error of the only model, where there is only one.
    """
    failures = []
    with ExitStack() as stack:
        for run in runs:
            stack.enter_context(run.several_models())
        for job in jobs:
            errors = _run_one(runs, job)
            if errors and len(jobs) == 1 and not keep_going:
                raise errors[0]
            failures += [Failure(job.model, error) for error in errors]
        _name_reused(runs, "nothing is left to compute")
    return failures


def _run_one(runs: "Sequence[Run]", job: Job) -> list[Exception]:
    """Run one model over those suites for which it has no scores yet; return what failed."""
    errors: list[Exception] = []
    try:
        unscored = [run for run in runs if not run.reuse(job)]
        if not unscored:
            return []
        _name_reused(runs, "the rest is computed now")
        stamp = _stamp(job)
        with propagating_failures(job.model):
            scorer = job.load()
        if stamp != _stamp(job):  # what was loaded may not be what was stamped
            stamp = None
    except Exception as error:  # whatever it is: the other models may be fine
        return [error]
    for run in unscored:
        try:
            run.add(scorer, job, stamp)
        except Exception as error:
            errors.append(error)
    return errors


def _name_reused(runs: "Sequence[Run]", then: str) -> None:
    """Say which models had their scores from an earlier run since this was last said, and what happens then."""
    reused = [f"{run.suite.name} of {listed(run.reused)}" for run in runs if run.reused]
    if reused:
        runs[0].note(f"Reused from {runs[0].out}: {'; '.join(reused)}; {then}.")
    for run in runs:
        run.reused.clear()


def _stamp(job: Job) -> str | None:
    if not job.in_memory:
        with suppress(ValueError, OSError):
            return file_stamp(job.model)
    return None


@contextmanager
def _keeping_answers(scorer: Scorer, folder: Path | None) -> Iterator[None]:
    """Let a scorer keep its answers in a journal there, if it has journals, for as long as this lasts."""
    before, scorer.journal_folder = scorer.journal_folder, folder
    try:
        yield
    finally:
        scorer.journal_folder = before


@dataclass
class Run:
    """One run of models over a suite. All processes of a launch must create and use it alike.

    Args:
        suite: what is asked.
        out: folder for scores, results and report.
        announce: how progress is shown.
        shard: (number, of): score only one share of the data; `merge` puts the shares together.
        overwrite: replace scores in `out` that were computed on other data or with different options.
        waiting: told once that another process scores the same model into `out`, which is then waited for.
        note: told what an earlier run has scored already.
        keep_rows: collect the results of all models in `rows`.
        n_models: how many models were scored, or had their scores from an earlier run.
        reused: models that had their scores from an earlier run, of which `note` was not told yet.

    Raises:
        ValueError: the folder cannot be written.
    """

    suite: Suite
    out: Path
    announce: Announce = silent
    shard: tuple[int, int] | None = None
    overwrite: bool = False
    waiting: Callable[[str], object] = warnings.warn
    note: Callable[[str], object] = silent
    keep_rows: bool = True
    rows: list[ResultRow] = field(default_factory=list)
    n_models: int = field(default=0, init=False)
    reused: list[str] = field(default_factory=list, init=False)
    _is_series: bool = field(default=False, init=False)
    _exported: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        decided_by_main(lambda: check_output(self.out, self.overwrite))
        if self.shard is not None:
            self.suite.keep_shard(*self.shard)

    def add(self, scorer: Scorer, job: Job | None = None, stamp: str | None = None) -> list[ResultRow]:
        """Run one model (or take its scores from an earlier run), write `results.json` and return its rows.

        Each of several processes scores its share; the main process writes, and its disk decides what is there.
        A shard has scores, but no results.

        Args:
            scorer: the model.
            job: how it was loaded, and its series, which results name instead of the scorer's name;
                None for a model in memory.
            stamp: `file_stamp` of the files that were loaded; None where it is not certain.

        Raises:
            TypeError: the scorer's signature lacks its model or revision.
            ValueError: scores computed with different options would be lost; or see the suite's `score`.
        """
        require_described(scorer)
        job = job or _in_memory(scorer)
        signature = self.signature(scorer, job)
        folder = record_folder(self.out, signature)
        # Weights that are only in memory may change between runs.
        is_known = signature.get("revision") is not None
        # No other process may score the same model on the same data into this folder at the same time.
        seconds, name = None if rank_and_size()[1] == 1 else LOCK_SECONDS, signature["identity"]["model"]
        with ExitStack() as stack:
            decided_by_main(lambda: stack.enter_context(writing(folder, name, self.waiting, seconds)))
            record = decided_by_main(lambda: self._current(folder, signature, is_known))
            if record is None:
                refuse_failures(scorer)
                journal = folder / "journal" if is_known else None
                rows = self._score(scorer, signature, journal, job, stamp)
            else:
                self.reused.append(job.model)
                rows = decided_by_main(lambda: self._averaged(record))
            # Also after scores that were found: a run that was killed just after it wrote them left its journal.
            shutil.rmtree(folder / "journal", ignore_errors=True)
            with suppress(OSError):  # without a record on the disk of this process
                folder.rmdir()
                folder.parent.rmdir()
        self._keep(rows)
        return rows

    def reuse(self, job: Job) -> bool:
        """Take a model's results from an earlier run without loading it, and say whether this was possible."""
        rows = decided_by_main(lambda: self._finished_rows(job))
        if rows is not None:
            self.reused.append(job.model)
            self._keep(rows)
        return rows is not None

    def _finished_rows(self, job: Job) -> list[ResultRow] | None:
        """Return the results of a model whose scores are current and intact; None where that is not certain."""
        if job.in_memory:
            return None
        about: Signature = {"model": job.model, **self._found_by(job, job.model, None)}
        folder = record_folder(self.out, about)
        # Damaged scores, or a model that is gone: loading it says so.
        with suppress(ValueError, KeyError, FileNotFoundError):
            record = read_record(folder)
            if not _is_same_model(job, record):
                return None
            unloaded = UnloadedModel(job.model, record.signature["revision"])
            recorded: Mapping[str, object] = record.signature
            of_scorer = {key: recorded[key] for key in record.request["scorer_keys"]}
            signature = cast(Signature, of_scorer | {**self.signature(unloaded, job)})
            needed = {*self.suite.tables, *([ROWS] if self.shard is None else [])}
            if not (is_current(record, signature) and needed <= record.tables.keys()):
                return None
            # A journal is another process's, or left by one that was killed; only `add`, which locks, can tell.
            if (folder / "journal").exists():
                return None
            for table in record.tables.values():
                table.read()
            return record.rows() if self.keep_rows else []
        return None

    def _keep(self, rows: list[ResultRow]) -> None:
        self.n_models += 1
        if self.keep_rows:
            self.rows += rows
        if not self._is_series or self.n_models >= 2 * self._exported:
            decided_by_main(self._export)

    def _export(self) -> None:
        if self.shard is None and self.n_models > self._exported:
            self._exported = self.n_models
            export_results(self.out, self.overwrite)

    @contextmanager
    def several_models(self) -> Iterator[None]:
        """Write `results.json` after 1, 2, 4, 8 … models while this lasts, and at its end, however it ends.

        Writing it takes longer the more models it has; so it takes at most twice as long as once at the end.
        """
        self._is_series = True
        try:
            yield
        finally:
            self._is_series = False
            if is_main():
                self._export()

    def _current(self, folder: Path, signature: Signature, is_known: bool) -> Record | None:
        """Return the record of these scores if it is intact; None if they must be computed.

        Raises:
            ValueError: scores of other data or options would be replaced; damaged ones may be.
        """
        with suppress(DamagedFileError, FileNotFoundError):
            record = read_record(folder)
            if is_known and is_current(record, signature) and set(self.suite.tables) <= record.tables.keys():
                record.read()
                return record
            if not self.overwrite:
                options: Signature = {}
                if self.suite.given is not None:
                    options["request"] = {"suite_options": given_options(self.suite)}
                require_same(record, {**signature, **options})
        return None

    def _score(
        self, scorer: Scorer, signature: Signature, journal: Path | None, job: Job, stamp: str | None
    ) -> list[ResultRow]:
        """Compute the scores of one model, commit them, and return their averages, which are committed next."""
        data = [self.suite.dataset]
        if self.suite.config not in (
            self.suite.dataset,
            slug(Path(self.suite.dataset).stem),
        ):  # one's own file
            data.append(self.suite.config)
        description = f"{scorer.name}: {'/'.join(data)}"
        has_answers = journal is not None and any(journal.glob(f"*{SUFFIX}"))
        with _keeping_answers(scorer, journal), self.announce(description) as progress:
            tell = self._naming_saved_answers(scorer.name, progress) if has_answers else progress
            tables = self.suite.score(scorer, tell)
        signature = {**signature, "computed": scorer.execution}
        if self.suite.given is not None:
            model = None if job.in_memory else job.model
            signature["request"] = {
                **request_of(model, job.options, self.suite, signature, self.shard),
                "model_files": stamp,
                "scorer_keys": sorted(scorer.signature.keys() & signature.keys()),
            }
        score_tables = {name: tables[name] for name in self.suite.tables}

        def write() -> list[ResultRow]:
            record = write_record(self.out, signature, score_tables)
            return [] if self.shard is not None else record.with_rows(self.suite.aggregate(score_tables))

        return decided_by_main(write)

    def _naming_saved_answers(self, name: str, progress: Progress) -> Progress:
        """Return a progress that says so if some of the work is done at its first call: the journal has it."""
        is_first = True

        def tell(done: int, total: int) -> None:
            nonlocal is_first
            if is_first and done:
                self.note(
                    f"{name}: the answers that were saved before the stop are reused; the rest is computed now."
                )
            is_first = False
            progress(done, total)

        return tell

    def _averaged(self, record: Record) -> list[ResultRow]:
        """Return the averages of scores from an earlier run, committed with them; a shard has none."""
        if self.shard is not None:
            return []
        is_of_this_version = record.environment.get("refined-tse") == __version__
        if ROWS in record.tables and is_of_this_version:
            with suppress(DamagedFileError):
                return record.rows()
        return record.averaged(lambda _, tables: self.suite.aggregate(tables))

    def signature(self, scorer: Scorer, job: Job | None = None) -> Signature:
        """Return what decides the scores of one model in this run, with what its record is found by.

        Args:
            scorer: the model.
            job: as in `add`.
        """
        signature = cast(Signature, self.suite.signature(scorer))
        found_by = self._found_by(job or _in_memory(scorer), scorer.name, signature.get("revision"))
        return {**signature, **found_by}

    def _found_by(self, job: Job, model: str, revision: str | None) -> Signature:
        """Return the identity of a model's scores, the revision of a series, and the share of the data."""
        keys: Signature = {
            "identity": {
                "suite": self.suite.name,
                "dataset": self.suite.dataset,
                "config": self.suite.config,
                "model": job.series or model,
                "revision": job.revision or revision,
            }
        }
        if job.revision is not None:
            keys["series"] = f"{job.series}@{job.revision}"
        if self.shard is not None:
            keys["shard"] = list(self.shard)
        return keys


def _in_memory(scorer: Scorer) -> Job:
    return Job(scorer.name, lambda: scorer, in_memory=True)


def require_described(scorer: Scorer) -> None:
    """Raise TypeError where a scorer does not say which model it is, by which its scores are found again."""
    signature = getattr(scorer, "signature", None)
    if (
        not isinstance(signature, dict)
        or "revision" not in signature
        or not isinstance(signature.get("model"), str)
    ):
        raise TypeError(
            f"The scorer {scorer.name!r} has the signature {signature!r:.100}; expected a dict with 'model', a text, "
            "and 'revision', a text or None. Add what is missing."
        )


class UnloadedModel(CausalScorer):
    """A model that is not loaded, for a suite to say what decides its scores. It answers nothing."""

    def __init__(self, name: str, revision: str | None) -> None:
        self.name = name
        self.signature = {"model": name, "revision": revision}
        self.execution = {}
        self.journal_folder = None


def _is_same_model(job: Job, record: Record) -> bool:
    """Whether a record's model, options, version of this package and revision are those of a job."""
    signature, request, options = record.signature, record.request, job.options
    name, revision, stored = job.model, signature.get("revision"), request.get("model_options")
    if not isinstance(revision, str) or not isinstance(stored, dict):
        return False
    deciding_options = {
        key: value for key, value in asdict(options).items() if key not in NO_EFFECT_ON_SCORES
    }
    if not (
        request.get("model") == name == signature.get("model")
        and record.environment.get("refined-tse") == __version__
        and str(choose_dtype(options.dtype)).removeprefix("torch.") == signature.get("dtype")
        and all(key in stored and stored[key] == value for key, value in deciding_options.items())
    ):
        return False
    where, stamp = locate(name)[0], request.get("model_files")
    if Path(where).is_dir():
        return (stamp is not None and file_stamp(name) == stamp) or local_revision(name, where) == revision
    return (job.commit or hub_commit(name)) == revision
