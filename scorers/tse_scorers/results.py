"""`Results`: what `run` returns, as rows, frames, a table, a picture and a comparison."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, overload

import pandas as pd

from .io.files import printable
from .io.result_row import IDENTITY, ResultRow
from .io.store import RESULTS_FILE, read_records
from .report.numbers import MISSING, number

if TYPE_CHECKING:
    from datasets import Dataset
    from matplotlib.axes import Axes

    from .io.runs import Runs
    from .report.blocks import Table

_SHORT = 12
"""Rows that `repr` shows."""
_NO_FORMULAS = ["mathjax_ignore", "tex2jax_ignore"]
"""Classes of tables in which notebooks do not look for formulas: a model's name may have dollar signs."""


class Results(Sequence[ResultRow]):
    """Rows of results with the folder that they are in; made by `run` and by `Results.load`.

    `results[0].score` is the score of the first row (0 to 1, correlations -1 to 1; NaN where nothing is scored), and
    `results[0].group`, `.metric`, `.ci_low`, … say what it is. In a notebook, it shows as its `table`.

    Attributes:
        folder: the output folder.
    """

    def __init__(self, rows: Sequence[ResultRow], folder: Path | str) -> None:
        self._rows = list(rows)
        self.folder = Path(folder)
        self._at = self.folder.absolute()  # a notebook may change its working directory

    @classmethod
    def load(cls, folder: Path | str) -> "Results":
        """Read the results of an output folder of `tse run`, of all its models and suites.

        Raises:
            ValueError: there are none, or a file is damaged.
        """
        if not isinstance(folder, str | Path):
            raise TypeError(
                f"Got folder={folder!r:.80} ({type(folder).__name__}); expected the path of an output folder."
            )
        folder = Path(folder)
        rows = [row for record in read_records(folder) for row in record.rows]
        if not rows:
            raise ValueError(f"{folder} does not contain results. Make some with `tse run --out {folder}`.")
        return cls(rows, folder)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> ResultRow: ...

    @overload
    def __getitem__(self, index: slice) -> "Results": ...

    def __getitem__(self, index: int | slice) -> "ResultRow | Results":
        return self._some(self._rows[index]) if isinstance(index, slice) else self._rows[index]

    def _some(self, rows: Sequence[ResultRow]) -> "Results":
        some = Results(rows, self.folder)
        some._at = self._at
        return some

    def __iter__(self) -> Iterator[ResultRow]:
        return iter(self._rows)

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = [
            f"{row.model} {row.suite} {row.group} {row.metric} "
            + (MISSING if row.score is None else number(row.score, 4))
            for row in self._rows[:_SHORT]
        ]
        more = [f"… {len(self) - _SHORT} more"] if len(self) > _SHORT else []
        return printable("\n".join([f"Results of {len(self)} rows in {self.folder}:", *shown, *more]))

    def _repr_html_(self) -> str:
        try:
            table, scores = self.table(), self._table.scores
        except ValueError as error:  # the folder is not as it was; a notebook would print a traceback
            return f"<p>{escape(printable(str(error)))}</p><pre>{escape(repr(self))}</pre>"
        from .report.headline import remarks

        notes = "".join(f"<p>{escape(line)}</p>" for line in remarks(scores))
        return printable(table.to_html(classes=_NO_FORMULAS) + notes)

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per result, with its score and the other columns of `results.json` that have a value."""
        frame = pd.DataFrame([row.to_json() for row in self._rows])
        return frame[[name for name in frame if name == "score" or frame[name].notna().any()]]

    def to_dataset(self) -> "Dataset":
        """Return `to_pandas` as a data set."""
        from datasets import Dataset

        return Dataset.from_pandas(self.to_pandas(), preserve_index=False)

    @cached_property
    def _runs(self) -> "Runs":
        """The folder's results and scores of these models on these data; raises ValueError where others are there."""
        from .io.runs import read_folder, runs_of

        folder = read_folder(self._at)
        stored = {frozenset(row.to_json().items()) for record in folder.records for row in record.rows}
        if not all(frozenset(row.to_json().items()) in stored for row in self._rows):
            raise ValueError(
                f"The results in {self.folder} are no longer those that were read. Read them again with "
                f"Results.load({str(self.folder)!r})."
            )
        runs = runs_of([folder])
        identities = {tuple(row[column] for column in IDENTITY) for row in self._rows}
        keys = runs.rows[list(IDENTITY)].itertuples(index=False, name=None)
        return runs.only(pd.Series([key in identities for key in keys], runs.rows.index, dtype=bool))

    @property
    def _table(self) -> "Table":
        from .report.headline import standing
        from .report.scores import best_first, headlines, tidy

        shown = standing(headlines(best_first(tidy(self._runs))))
        return replace(shown, columns=("data", "measure"), intervals=True)

    def _suite(self, chosen: str | None) -> str:
        """Return the chosen suite, by its name in results, or the only one."""
        from .suites.registry import own_name

        suites = list(dict.fromkeys(row.suite for row in self._rows))
        return _one_of("suite", suites, chosen and own_name(chosen))

    def items(self, suite: str | None = None, table: str | None = None) -> pd.DataFrame:
        """Return the scores of each item: one row per item and model, with the columns of your own data.

        `unit` is what intervals take as one unit, as in a mixed model: the subject noun (with `verb` for pairs), the
        critical word, or your own `item` or `cluster`.

        Args:
            suite: needed if there are results of several suites.
            table: which table, if the suite has several: `contexts` (EW, MW) or `pairs` (TSE) of agreement.

        Raises:
            ValueError: there are several suites or tables and none is chosen, or there is none of this name.
        """
        from .suites.registry import find_suite
        from .suites.shown import with_identity

        chosen = self._suite(suite)
        frames: dict[str, list[pd.DataFrame]] = {}
        for file in self._runs.scores(chosen):
            frame = find_suite(chosen).item_table(file)
            if frame is not None:
                frames.setdefault(file.table, []).append(with_identity(frame, file))
        return pd.concat(frames[_one_of("table", list(frames), table)], ignore_index=True)

    def scores(self, measure: str) -> pd.DataFrame:
        """Return the rows of one measure, as `to_pandas` has them: all models and groups.

        Args:
            measure: its name: `ew`, `mw`, `tse`, `accuracy`, `auc`; at another point than that of the headline, with
                it: `ew@top-0.9`, `accuracy@one_prefix`, `auc@1-2_dative`.

        Raises:
            ValueError: no suite of these results has such a measure, or nothing was scored at this point.
        """
        from .suites.registry import find_suite

        if not isinstance(measure, str):
            raise TypeError(
                f"Got measure={measure!r:.80} ({type(measure).__name__}); expected its name, a text such as 'accuracy'."
            )
        suites = [find_suite(suite) for suite in dict.fromkeys(row.suite for row in self._rows)]
        measures = {suite.name: suite.measure(measure) for suite in suites}
        rows = [
            row
            for row in self._rows
            if (suite_measure := measures.get(row.suite)) is not None and suite_measure.selects(row)
        ]
        if not rows:
            names = ", ".join(str(declared) for suite in suites for declared in suite.measures)
            raise ValueError(
                f"There are no scores of the measure {measure!r}; expected one of {names or 'none'}, or another point."
            )
        return self._some(rows).to_pandas()

    def table(self) -> pd.DataFrame:
        """Return the headline scores as they are printed, with 95 % intervals: systems down, data and measures across.

        A * marks intervals that are not reliable, because they are over fewer than 4 effective units.
        """
        return self._table.text().rename_axis(index=None)

    def plot(self, suite: str | None = None) -> "list[Axes]":
        """Draw the first picture of a suite's section of the report, and return its axes (`axes[0].figure` saves it).

        Args:
            suite: needed if there are results of several suites.

        Raises:
            ValueError: there are several suites and none is chosen, or the suite's section has no picture.
        """
        from .report.blocks import Plot
        from .report.draw import draw, style
        from .report.page import report_of

        chosen = self._suite(suite)
        report = report_of(self._runs.only(self._runs.rows["suite"] == chosen))
        picture = next((block for block in report.blocks() if isinstance(block, Plot)), None)
        if picture is None:
            raise ValueError(f"The section of the suite {chosen!r} has no picture. Use table().")
        with style():
            return draw(picture).axes

    def compare(
        self,
        other: "Results | None" = None,
        reference: str | None = None,
        by: str | Sequence[str] = (),
        measure: str | Sequence[str] = (),
    ) -> pd.DataFrame:
        """Return the differences between systems on the items that both scored, as `tse compare` does.

        All models of the two folders are compared with one reference.

        Args:
            other: results in another folder; None: the models of this one.
            reference: the model that the others are compared with; by default the first one.
            by: column or columns of your own data whose values are conditions, which are compared within each system;
                only for measures that are means of items.
            measure: name or names of what is compared, as in `scores`; by default the headline measures.

        Returns:
            One row per measure, group and system. `difference` (score minus the reference's), `ci_low`, `ci_high`
            (95 %), `p`, `p_adjusted` (Holm), …; with `by`, the scores and contrasts of conditions.

        Raises:
            ValueError: there is nothing to compare, or data or options differ.
        """
        from .runs.comparing.compare import compare

        if other is not None and not isinstance(other, Results):
            raise TypeError(
                f"Got a {type(other).__name__} to compare with; expected results, such as Results.load(folder)."
            )
        by = [by] if isinstance(by, str) else by
        folders = list(dict.fromkeys([self._at, *([other._at] if other is not None else [])]))
        measures = [measure] if isinstance(measure, str) else measure
        comparison = compare(folders, reference, by=by, measures=measures)
        return comparison.conditions if by else comparison.rows


def _one_of(noun: str, names: Sequence[str], chosen: str | None) -> str:
    """Return the chosen name, or the only one."""
    if chosen in names or (chosen is None and len(names) == 1):
        return chosen or names[0]
    got = f"got {chosen!r}" if chosen else "got none"
    raise ValueError(
        f"There {'is' if len(names) == 1 else 'are'} {len(names)} {noun}{'s' * (len(names) != 1)} "
        f"({', '.join(names) or 'none'}) and {got}; expected one of them. "
        f"Choose it with {noun}=…, or look into {RESULTS_FILE}."
    )
