"""`tse run`: models over a suite, into a folder that holds scores, results and a report.

Whatever is finished stays: scores of a model are written before they are averaged and are not made again while
their signature holds; `results.json` is written anew after each model; within a model, answers are kept in
a journal while it runs.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from .engine.run import Progress
from .results import Row, is_current, slug, write_results, write_scores

Announce = Callable[[str], AbstractContextManager[Progress]]
"""Given what is being done, opens a progress display."""


class Suite(Protocol):
    """One suite with its data and options."""

    name: str
    dataset: str
    config: str

    def signature(self, scorer: Any) -> dict[str, Any]:
        """What makes the scores these and no others."""
        ...

    def score(self, scorer: Any, progress: Progress) -> dict[str, pa.Table]:
        """Scores per example: tables by name."""
        ...

    def rows(self, tables: dict[str, pa.Table]) -> list[Row]:
        """Results: means over groups, without model, suite and data set."""
        ...

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables that `score` returns."""
        ...


@contextmanager
def silent(_: str) -> Iterator[Progress]:
    """Show no progress."""
    yield lambda done, total: None


@dataclass
class Run:
    """One run of models over a suite.

    Args:
        suite: what is asked.
        out: folder for scores, results and report.
        announce: how progress is shown.
    """

    suite: Suite
    out: Path
    announce: Announce = silent
    rows: list[Row] = field(default_factory=list)
    signatures: list[dict[str, Any]] = field(default_factory=list)

    def add(self, scorer: Any) -> list[Row]:
        """Run one model (or take its scores from an earlier run) and write `results.json`; returns its rows."""
        signature = self.suite.signature(scorer)
        paths = {table: self._path(scorer.name, table) for table in self.suite.tables}
        if all(is_current(path, signature) for path in paths.values()):
            tables = {table: pq.read_table(path) for table, path in paths.items()}
        else:
            scorer.journal_folder = self.out / ".journal" / slug(scorer.name) / self.suite.name
            with self.announce(f"{scorer.name}: {self.suite.dataset}/{self.suite.config}") as progress:
                tables = self.suite.score(scorer, progress)
            for table, path in paths.items():
                write_scores(tables[table], path, signature)
        identity = {
            "suite": self.suite.name,
            "dataset": self.suite.dataset,
            "config": self.suite.config,
            "model": scorer.name,
            "revision": signature.get("revision"),
        }
        rows = [identity | row for row in self.suite.rows(tables)]
        self.rows += rows
        self.signatures.append(signature)
        write_results(self.out, {"models": self.signatures}, self.rows)
        return rows

    def _path(self, model: str, table: str) -> Path:
        return self.out / "scores" / f"{slug(model)}.{self.suite.name}.{table}.parquet"


@dataclass
class AgreementSuite:
    """Agreement templates: TSE, EW and MW.

    Args:
        data: `marvin_linzen`, `newman2021`, `blimp`, a file or a Hub data set.
        lemma_list: `released`, `clean` or a file.
        source: folder of built data sets.
        groups: only these rows of Table 2.
        limit: at most so many pairs of each row.
    """

    data: str = "marvin_linzen"
    lemma_list: str = "released"
    source: Path | None = None
    groups: Sequence[str] | None = None
    limit: int | None = None
    name: str = "agreement"

    def __post_init__(self) -> None:
        from .suites import agreement

        self._suite = agreement
        self._pairs: pd.DataFrame = agreement.load(self.data, self.source, self.groups, self.limit)
        self._lemmas = agreement.load_lemmas(self.lemma_list)
        built = {
            "marvin_linzen": "agreement_templates",
            "newman2021": "blimp_agreement",
            "blimp": "blimp_agreement",
        }
        self.dataset = built.get(self.data, self.data)
        self.config = self.data if self.data in built else Path(self.data).stem

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables of scores."""
        return tuple(f"{self.config}.{table}" for table in ("contexts", "pairs", "top_forms"))

    def signature(self, scorer: Any) -> dict[str, Any]:
        """What makes the scores these and no others."""
        name = f"{self.dataset}/{self.config}"
        return self._suite.signature(scorer, self._pairs, self._lemmas, name) | {"lemmas": self.lemma_list}

    def score(self, scorer: Any, progress: Progress) -> dict[str, pa.Table]:
        """Scores per context and pair."""
        scores = self._suite.score(scorer, self._pairs, self._lemmas, progress)
        return dict(zip(self.tables, (scores.contexts, scores.pairs, scores.top_forms), strict=True))

    def rows(self, tables: dict[str, pa.Table]) -> list[Row]:
        """Results per row of Table 2 and over all."""
        contexts, pairs, _ = self.tables
        return self._suite.rows(tables[contexts].to_pandas(), tables[pairs].to_pandas())
