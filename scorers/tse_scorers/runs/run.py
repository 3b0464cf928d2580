"""`tse run`: models over a suite, into a folder that holds scores, results and a report.

Finished work is kept: the scores of a model are written before they are averaged, and are not computed again while
their signature is the same; its results are written at once, with many models into a file of their own, until
`results.json` is written; while a model runs, its answers are kept in a journal.
"""

import json
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..engine.processes import decided_by_main, is_main, rank_and_size
from ..engine.progress import Progress
from ..io.files import check_folder
from ..io.locks import held
from ..io.ours import check_ours
from ..io.result_row import ResultRow, rows_of_run
from ..io.results import (
    NOT_DECISIVE,
    add_pending,
    add_results,
    check_not_lost,
    current_scores,
    decisive,
    fold_results,
    read_results,
    read_stored,
    write_scores,
)
from ..models.base import EngineScorer, Scorer
from ..models.options import asked_signature
from ..suites.base import Suite
from ..suites.checks import questions_of
from ..suites.registry import aggregate
from .doctor import refuse_failures
from .finished import Stored, finished_scores
from .jobs import Job, Loaded
from .pace import Pace
from .places import Places, is_known
from .recipe import Recipe

LOCK_SECONDS = 600.0
"""How long several processes wait for another run of the same model; a single one waits as long as that lives."""

Announce = Callable[[str], AbstractContextManager[Progress]]
"""Opens a progress display, given a description of what is being done."""


@contextmanager
def silent(_: str) -> Iterator[Progress]:
    """Show no progress."""
    yield lambda done, total: None


@contextmanager
def _keeping_answers(scorer: Scorer, folder: Path | None) -> Iterator[None]:
    """Let a scorer keep its answers in a journal there, if it has journals, for as long as this lasts."""
    if not isinstance(scorer, EngineScorer):
        yield
        return
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
        recipe: what the user asked for; it is written beside each model's signature.
        waiting: told once that another process scores the same model into `out`, which is then waited for.
        keep_rows: collect the results of all models in `rows`; without, models whose results are in `results.json`
            are not averaged again.
        n_models: how many models were scored, or had their scores from an earlier run.

    Raises:
        ValueError: the folder cannot be written.
    """

    suite: Suite
    out: Path
    announce: Announce = silent
    shard: tuple[int, int] | None = None
    overwrite: bool = False
    recipe: Recipe | None = None
    waiting: Callable[[str], object] = warnings.warn
    keep_rows: bool = True
    rows: list[ResultRow] = field(default_factory=list)
    n_models: int = field(default=0, init=False)
    _places: Places = field(init=False)
    _pace: Pace | None = None
    _reported: set[str] | None = None

    def __post_init__(self) -> None:
        decided_by_main(lambda: check_folder(self.out))
        decided_by_main(lambda: check_ours(self.out, self.overwrite))
        self._places = Places(self.out, self.suite, self.shard)
        if self.shard is not None:
            self.suite.keep_shard(*self.shard)

    def add(
        self,
        scorer: Scorer,
        model: str | None = None,
        revision: str | None = None,
        loaded: Loaded | None = None,
    ) -> list[ResultRow]:
        """Run one model (or take its scores from an earlier run), write `results.json` and return its rows.

        Each of several processes scores its share; the main process writes, and its disk decides what is there.
        A shard has scores, but no results.

        Args:
            scorer: the model.
            model: the series that it belongs to, which results name instead of the scorer's name.
            revision: which one of the series it is.
            loaded: how the scorer was loaded, for the recipe.

        Raises:
            TypeError: the scorer's signature lacks its model or revision.
            ValueError: scores computed with different options would be lost; or see the suite's `score`.
        """
        require_described(scorer)
        signature = self.signature(scorer, model, revision)
        paths = self._places.scores(signature)
        with self._locked(signature):
            rows = decided_by_main(lambda: self._reused(signature, paths))
            if rows is None:
                refuse_failures(scorer)
                self._score(scorer, signature, paths, loaded or Loaded())
            # Also after scores that were found: a run that was killed just after it wrote them left its journal.
            if (journal := self._places.journal(signature)) is not None:
                shutil.rmtree(journal, ignore_errors=True)
            if rows is None:
                rows = decided_by_main(lambda: self._written(signature, paths))
        self._keep(rows)
        return rows

    def reuse(self, job: Job) -> bool:
        """Take a model's results from an earlier run without loading it, and say whether this was possible."""
        rows = decided_by_main(lambda: self._finished_rows(job))
        if rows is not None:
            self._keep(rows)
        return rows is not None

    def _finished_rows(self, job: Job) -> list[ResultRow] | None:
        of_series = {} if job.revision is None else {"series": f"{job.series}@{job.revision}"}
        named = {"model": job.loaded.model} | of_series
        paths = {} if job.loaded.model is None else self._places.scores(named)
        found = finished_scores(job, paths, lambda scorer: self.signature(scorer, job.series, job.revision))
        # A journal is another process's, or left by one that was killed; only `add`, which locks, can tell.
        if found is None or ((journal := self._places.journal(found[0])) is not None and journal.exists()):
            return None
        if self._left_over(found[0]):
            return None
        if self.shard is not None or (not self.keep_rows and self._is_reported(found[0])):
            return []
        return self._write_results(*found)

    def _is_reported(self, signature: dict[str, Any]) -> bool:
        """Whether the results of these scores are in the folder; all are read once."""
        if self._reported is None:
            models: list[Any] = []
            with suppress(ValueError):  # none yet, or damaged: the scores are averaged again
                models = read_results(self.out)["signature"].get("models", [])
            self._reported = {_decisive(each) for each in models if isinstance(each, dict)}
        return _decisive(signature) in self._reported

    def _keep(self, rows: list[ResultRow]) -> None:
        self.n_models += 1
        if self.keep_rows:
            self.rows += rows

    @contextmanager
    def several_models(self) -> Iterator[None]:
        """Write `results.json` only now and then while this lasts, and at its end, however it ends.

        Writing it takes longer the more models it has; their rows are in files of their own until then.
        """
        if self._pace is not None:  # within a longer one
            yield
            return
        self._pace = Pace()
        try:
            yield
        finally:
            self._pace = None
            if is_main() and self.shard is None:
                fold_results(self.out, aggregate=aggregate, overwrite=self.overwrite)

    @contextmanager
    def _locked(self, signature: dict[str, Any]) -> Iterator[None]:
        """Let no other process score the same model on the same data into this folder at the same time."""
        with ExitStack() as stack:

            def lock() -> None:
                what = f"the scores of {signature['identity']['model']} in {self.out}"
                path = self._places.lock(signature)
                alone = rank_and_size()[1] == 1
                stack.enter_context(held(path, what, self.waiting, None if alone else LOCK_SECONDS))

            decided_by_main(lock)
            yield

    def _reused(self, signature: dict[str, Any], paths: dict[str, Path]) -> list[ResultRow] | None:
        """Write and return the results of scores that are there; None if they must be computed."""
        found = {}
        if is_known(signature):
            found = {table: current_scores(path, signature) for table, path in paths.items()}
        stored = {table: scores for table, scores in found.items() if scores is not None}
        if len(stored) == len(paths):
            for path in self._left_over(signature):
                path.unlink()
            return self._write_results(signature, stored)
        if not self.overwrite:
            asked = {} if self.recipe is None else {"recipe": {"suite_options": self.recipe.given}}
            check_not_lost(paths.values(), signature | asked)
        return None

    def _left_over(self, signature: dict[str, Any]) -> list[Path]:
        """Return tables beside scores that are reused, if they are to be replaced."""
        return self._places.replaced(signature, overwrite=True) if self.overwrite else []

    def _written(self, signature: dict[str, Any], paths: dict[str, Path]) -> list[ResultRow]:
        """Write and return the results of scores that were just written."""
        return self._write_results(signature, {table: read_stored(path) for table, path in paths.items()})

    def _score(
        self, scorer: Scorer, signature: dict[str, Any], paths: dict[str, Path], loaded: Loaded
    ) -> None:
        journal = self._places.journal(signature)
        what = f"{scorer.name}: {self.suite.dataset}/{self.suite.config}"
        with _keeping_answers(scorer, journal), self.announce(what) as progress:
            tables = self.suite.score(scorer, progress)
        execution = scorer.execution if isinstance(scorer, EngineScorer) else {}
        signature = signature | {"computed": execution}
        if self.recipe is not None:
            made = self.recipe.of(loaded.model, loaded.options, self.suite, signature, self.shard)
            signature["recipe"] = made | {
                "model_files": loaded.stamp,
                "scorer_keys": sorted(scorer.signature.keys() & signature.keys()),
            }

        def write() -> None:
            for table, path in paths.items():
                write_scores(tables[table], path, signature)
            for path in self._places.replaced(signature, self.overwrite):
                path.unlink()

        decided_by_main(write)

    def _write_results(self, signature: dict[str, Any], stored: Stored) -> list[ResultRow]:
        if self.shard is not None:
            return []
        tables = {table: scores for table, (scores, _) in stored.items()}
        rows = rows_of_run(signature["identity"], self.suite.aggregate(tables))
        _, written = next(iter(stored.values()))
        described = (
            signature | {"computed": {}} | {key: written[key] for key in NOT_DECISIVE if key in written}
        )
        pace = self._pace or Pace()
        if pace.is_due():
            with pace.working():
                add_results(self.out, [described], rows, aggregate=aggregate, overwrite=self.overwrite)
        else:
            add_pending(self.out, [described], rows)
        return rows

    def signature(
        self, scorer: Scorer, model: str | None = None, revision: str | None = None
    ) -> dict[str, Any]:
        """Return what decides the scores of one model in this run, with what its rows are found by (`identity`)."""
        signature = asked_signature(self.suite.signature(scorer), questions_of(self.suite))
        identity = {
            "suite": self.suite.name,
            "dataset": self.suite.dataset,
            "config": self.suite.config,
            "model": model or scorer.name,
            "revision": revision or signature.get("revision"),
        }
        shard = {} if self.shard is None else {"shard": list(self.shard)}
        of_series = {} if revision is None else {"series": f"{model}@{revision}"}
        return signature | {"identity": identity} | of_series | shard


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


def _decisive(signature: dict[str, Any]) -> str:
    return json.dumps(decisive(signature), sort_keys=True, default=str)
