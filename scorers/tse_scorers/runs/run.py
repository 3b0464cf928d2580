"""`tse run`: models over a suite, into a folder that holds scores, results and a report.

Finished work is kept: the scores of a model are written before they are averaged, and are not computed again while
their signature is the same; `results.json` is rewritten after each model; while a model runs, its answers are kept in
a journal.
"""

import re
import shutil
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..engine.processes import decided_by_main, is_main
from ..engine.run import Progress
from ..io.files import check_folder
from ..io.ours import check_ours
from ..io.results import (
    Row,
    add_results,
    check_not_lost,
    is_current,
    read_scores,
    read_signature,
    slug,
    write_scores,
)
from ..models.base import EngineScorer, Scorer
from ..models.options import ModelOptions
from ..suites.base import Suite
from ..suites.checks import DataWarning, check_scorer, findings_of
from ..suites.registry import aggregate
from .doctor import refuse_failures

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

    Raises:
        ValueError: the folder cannot be written.
    """

    suite: Suite
    out: Path
    announce: Announce = silent
    shard: tuple[int, int] | None = None
    overwrite: bool = False
    rows: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        decided_by_main(lambda: check_folder(self.out))
        decided_by_main(lambda: None if self.overwrite else check_ours(self.out))
        if self.shard is not None:
            self.suite.keep_shard(*self.shard)

    def add(self, scorer: Scorer, model: str | None = None, revision: str | None = None) -> list[Row]:
        """Run one model (or take its scores from an earlier run), write `results.json` and return its rows.

        Each of several processes scores its share; the main process writes, and its disk decides what is there.
        A shard has scores, but no results.

        Args:
            scorer: the model.
            model: the series that it belongs to, which results name instead of the scorer's name.
            revision: which one of the series it is.

        Raises:
            ValueError: scores computed with different options would be lost; or see the suite's `score`.
        """
        signature = self._signature(scorer, model, revision)
        paths = {table: self._path(signature, table) for table in self.suite.tables}
        if not decided_by_main(lambda: self._is_done(paths.values(), signature)):
            refuse_failures(scorer)
            self._score(scorer, signature, paths)
        if self.shard is not None:
            return []
        rows = decided_by_main(lambda: self._write_results(signature, paths))
        self.rows += rows
        return rows

    def _is_done(self, paths: Collection[Path], signature: dict[str, Any]) -> bool:
        if _is_known(signature) and all(is_current(path, signature) for path in paths):
            return True
        if not self.overwrite:
            check_not_lost(paths, signature)
        return False

    def _score(self, scorer: Scorer, signature: dict[str, Any], paths: dict[str, Path]) -> None:
        journal = self._journal(signature)
        what = f"{scorer.name}: {self.suite.dataset}/{self.suite.config}"
        with _keeping_answers(scorer, journal), self.announce(what) as progress:
            tables = self.suite.score(scorer, progress)
        execution = scorer.execution if isinstance(scorer, EngineScorer) else {}
        signature = signature | {"computed": execution}

        def write() -> None:
            for table, path in paths.items():
                write_scores(tables[table], path, signature)

        decided_by_main(write)
        if journal is not None:
            shutil.rmtree(journal, ignore_errors=True)

    def _write_results(self, signature: dict[str, Any], paths: dict[str, Path]) -> list[Row]:
        tables = {table: read_scores(path) for table, path in paths.items()}
        rows = [signature["identity"] | row for row in self.suite.aggregate(tables)]
        written = read_signature(next(iter(paths.values()))) or {}
        add_results(
            self.out,
            [signature | {"computed": written.get("computed", {})}],
            rows,
            aggregate=aggregate,
            overwrite=self.overwrite,
        )
        return rows

    def _signature(self, scorer: Scorer, model: str | None, revision: str | None) -> dict[str, Any]:
        signature = self.suite.signature(scorer)
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

    def _path(self, signature: dict[str, Any], table: str) -> Path:
        return self.out / "scores" / f"{self._name(signature, table)}.parquet"

    def _journal(self, signature: dict[str, Any]) -> Path | None:
        if not _is_known(signature):
            return None
        # Not in a shared folder: that could not be removed safely while another run begins its journal.
        data = slug(f"{self.suite.dataset}.{self.suite.config}")
        return self.out / f".journal.{self._name(signature, data)}"

    def _name(self, signature: dict[str, Any], *table: str) -> str:
        parts = [_file_name(signature), self.suite.name, *table]
        if self.shard is not None:
            parts.append(f"shard-{self.shard[0]}-of-{self.shard[1]}")
        return ".".join(part for part in parts if part)


def _is_known(signature: dict[str, Any]) -> bool:
    """Whether it is certain what the weights are: those that are only in memory may change between runs."""
    return signature.get("revision") is not None


def _file_name(signature: dict[str, Any]) -> str:
    return slug(signature.get("series") or signature["model"])


def parse_shard(text: str) -> tuple[int, int]:
    """Read `i/n` with 1 <= i <= n.

    >>> parse_shard("2/8")
    (2, 8)
    """
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ValueError(f"Got the shard {text!r}; expected i/n with i from 1 to n, for instance 2/8.")
    return int(match[1]), int(match[2])


def evaluate(
    models: Any | Sequence[Any],
    suite: str = "agreement",
    out: Path | str = "tse-results",
    *,
    report: bool = True,
    overwrite: bool = False,
    announce: Announce = silent,
    model_options: ModelOptions | Mapping[str, Any] | None = None,
    **suite_options: Any,
) -> list[Row]:
    """Run models over a suite, as `tse run` does, and return the results.

    Where `torch.distributed` is in use, all processes must call it: they share the work and wait for each other.

    Args:
        models: a model, or several: what `load_scorer` takes, or scorers.
        suite: `agreement`, `blimp` or `german`.
        out: folder for scores, `results.json` and the report.
        report: write tables, figures and `report.html` as well.
        overwrite: replace scores of these models in `out` that were computed on other data or with different options.
        announce: how progress is shown; `tse_scorers.cli.terminal.progress` shows bars.
        model_options: options of `load_scorer`, as a `ModelOptions` or by name, for instance {"dtype": "float32"};
            each must have an effect on at least one of the models that are loaded here.
        **suite_options: options of `suites.suite.make_suite`: dataset, config, source, groups, lemmas, limit,
            allow_unverified. What is remarkable about the data is warned about (`DataWarning`).

    Returns:
        The rows of `results.json` for these models, dicts with `suite`, `dataset`, `config`, `model`, `revision`,
        `group`, `metric`, `score` (0 to 1, correlations -1 to 1; NaN where nothing is scored), `n`, `n_excluded`,
        `n_ties`, and what the suite adds: `cutoff_side` and `cutoff`, `method`, or `variation_set`.

    Raises:
        ValueError: a model, option or data set cannot be used, or scores in `out` would be lost. Where possible,
            this is checked before any model runs.
    """
    from ..loading import load_with_options, options_of_models
    from ..suites.registry import make_suite

    chosen = list(models) if isinstance(models, list | tuple) else [models]
    if not chosen:
        raise ValueError("Got no model; expected at least one that load_scorer takes, or a scorer.")
    this = Run(make_suite(suite, **suite_options), Path(out), announce, overwrite=overwrite)
    if is_main():
        for finding in findings_of(this.suite):
            warnings.warn(str(finding), DataWarning, stacklevel=2)
    names = [str(model) for model in chosen if isinstance(model, str | Path)]
    given = ModelOptions.of(model_options)
    options = dict(zip(names, options_of_models(names, given), strict=True))

    def load(model: Any) -> Scorer:
        return (
            model if isinstance(model, Scorer) else load_with_options(model, options.get(str(model), given))
        )

    # Files hold n-gram models and published scores: loaded at once, and not able to answer everything.
    ready = [
        load(model) if isinstance(model, Scorer) or Path(str(model)).is_file() else None for model in chosen
    ]
    for scorer in ready:
        if scorer is not None:
            check_scorer(this.suite, scorer)
    for model, scorer in zip(chosen, ready, strict=True):
        this.add(scorer or load(model))
    if report and is_main():
        from .report import write_report

        write_report(this.out)
    return this.rows
