"""`Results`: the scores of output folders, as a frame of results and as items."""

import warnings
from collections import Counter
from collections.abc import Collection, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from .io.rows import IDENTITY, frame_of
from .io.store import Record, read_records
from .io.systems import short_names
from .report.numbers import with_interval
from .suites import find_suite


class Results:
    """The results of one or several output folders of `tse run`.

    Attributes:
        records: what the folders hold: one for each model on one suite and data.
        systems: of each record, what its model is called: its name, with `@revision` and ` (folder)` where needed.
        folders: the folders.
    """

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = list(records)
        self.folders = list(dict.fromkeys(record.folder.parent.parent for record in self.records))
        self.systems = _systems(self.records)

    @classmethod
    def load(cls, *folders: Path | str) -> "Results":
        """Read output folders; ValueError where one has no results, or a damaged file."""
        records = []
        for folder in dict.fromkeys(Path(folder) for folder in folders):
            records += (found := read_records(folder))
            if not found:
                raise ValueError(f"{folder} has no results. Make some with `tse run --out {folder}`.")
        return cls(records)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The rows of results, see `io.rows.COLUMNS`, and `system`, what the model is called."""
        named = zip(self.records, self.systems, strict=True)
        return frame_of({**row, "system": system} for record, system in named for row in record.rows)

    def __repr__(self) -> str:
        return "\n\n".join(self.table(suite).to_string(index=False) for suite in self.frame["suite"].unique())

    def only(self, systems: Collection[str]) -> "Results":
        """Return the results of some systems."""
        named = zip(self.records, self.systems, strict=True)
        return Results([record for record, system in named if system in systems])

    def of(self, suite: str, config: str | None = None) -> dict[str, Record]:
        """Return the records of a suite (on one configuration of data), by the names of their systems."""
        named = zip(self.systems, self.records, strict=True)
        return {
            system: record
            for system, record in named
            if record.signature["suite"] == suite and config in (None, record.signature["config"])
        }

    def table(self, suite: str | None = None, level: str | None = None) -> pd.DataFrame:
        """Return scores with intervals, as the terminal prints them: a line per model and group, a column per measure.

        Args:
            suite: only this one.
            level: whose groups are shown; by default the user's own conditions.
        """
        frame = self.frame if suite is None else self.frame[self.frame["suite"] == suite]
        own = {name for record in self.records for name in record.facts.get("levels", ())}
        shown = frame[frame["level"].isin(["all", *([level] if level else own)])]
        measures = [of for name in shown["suite"].unique() for of in find_suite(name).measures if of.headline]
        labels = {measure.name: measure.label for measure in measures}
        shown = shown[shown["measure"].isin(list(labels))]
        group = shown["level"].where(shown["level"] == "all", shown["level"] + "=" + shown["value"])
        text = [with_interval(row, 3) for row in shown.to_dict("records")]
        cells = shown.assign(model=shown["system"], group=group, text=text)
        index = ["model", "suite", "config", "group"]
        wide = cells.pivot_table(index=index, columns="measure", values="text", aggfunc="last", sort=False)
        wide = (
            wide[[name for name in labels if name in wide]].rename(columns=labels).fillna("–").reset_index()
        )
        return wide if wide["group"].nunique() > 1 else wide.drop(columns="group")

    def items(self, suite: str | None = None, table: str | None = None) -> pd.DataFrame:
        """Return scores item by item of all models, with the user's own columns, groups and texts.

        Args:
            suite: needed if there are results of several suites.
            table: if the suite has several, such as `contexts` (EW, MW) and `pairs` (TSE) of agreement.

        Raises:
            ValueError: there are several suites and none is named, or there is no such table.
        """
        suites = list(dict.fromkeys(record.signature["suite"] for record in self.records))
        if suite is None and len(suites) > 1:
            raise ValueError(f"There are results of the suites {', '.join(suites)}. Name one of them.")
        parts = []
        for record in self.of(suite or suites[0]).values():
            name = table or next((name for name in ("items", "pairs") if name in record.tables), "")
            if name not in record.tables:
                raise ValueError(f"There is no table {name!r}; expected one of {', '.join(record.tables)}.")
            frame = record.tables[name].read()
            frame = frame.rename(columns={key: f"item_{key}" for key in IDENTITY})  # the suites of regions
            parts.append(frame.assign(**record.identity))
        if not parts:
            raise ValueError(f"There are no results of the suite {suite!r}; there are {', '.join(suites)}.")
        whole = pd.concat(parts, ignore_index=True)
        return whole[[*IDENTITY, *(name for name in whole if name not in IDENTITY)]]

    def compare(self, **options: Any) -> pd.DataFrame:
        """Return the differences of the models, a row for each, and warn of what is not compared.

        Args:
            **options: as of `tse compare`: `reference` (a model; by default the first one of each suite and data),
                `measures` (such as `["ew@top-0.9"]`; by default the headline ones), `by` (a column whose values are
                conditions, or several), `common_lemmas` (EW over the lemmas that all models score),
                `allow_different` (also where data or options differ; the column `different` names them).
        """
        from .runs.compare import compare

        found = compare(self, **options)
        for sentence in found.not_compared:
            warnings.warn(sentence, stacklevel=2)
        return found.rows


def _systems(records: Sequence[Record]) -> list[str]:
    """Name the model of each record: `@revision` where it has several, ` (folder)` where two have it on one data."""
    signatures = [record.signature for record in records]
    names = short_names(of["model"] for of in signatures)
    versions = Counter(model for model, _ in {(of["model"], of["revision"]) for of in signatures})
    labels = [
        names[of["model"]] + f"@{of['revision'] or 'default'}" * (versions[of["model"]] > 1)
        for of in signatures
    ]
    data = [(label, of["suite"], of["config"]) for label, of in zip(labels, signatures, strict=True)]
    twice = {label for (label, *_), n in Counter(data).items() if n > 1}
    paths = [str(record.folder.parent.parent.resolve()) for record in records]
    runs = short_names(paths)
    return [
        f"{label} ({runs[path]})" if label in twice else label
        for label, path in zip(labels, paths, strict=True)
    ]
