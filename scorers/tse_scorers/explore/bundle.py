"""The page and its data as files: served one by one, or written to a folder that opens without a server."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, lru_cache, partial
from itertools import combinations, product
from pathlib import Path
from threading import Lock
from typing import Any

import pandas as pd

from ..io.files import printable
from ..report.blocks import ScoredItems, Section, Table, View
from ..suites.registry import suites_of
from . import overview
from .runs import described_for_others, description, model_of, partial_systems, read_folders, warnings_of
from .view_data import SystemItems, blocks_data, plain_number, system_items


def for_us(content: Mapping[str, Any]) -> Any:
    r"""Replace characters that a browser hides or that reorder text.

    >>> for_us({"rows": ["gpt\u202e2"]})
    {'rows': ['gpt�2']}
    """
    return _changed(content, printable)


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    """Change each text, however deep it is."""
    if isinstance(value, str):
        return "\x1f".join(map(change, value.split("\x1f"))) if "\x1f" in value else change(value)
    if isinstance(value, Mapping):
        return {_changed(key, change): _changed(inner, change) for key, inner in value.items()}
    if isinstance(value, list):
        texts = "".join(inner for inner in value if isinstance(inner, str)).replace("\x1f", "")
        nested = any(isinstance(inner, dict | list) for inner in value)
        return (
            value if not nested and change(texts) == texts else [_changed(inner, change) for inner in value]
        )
    return value


TITLE = "Targeted syntactic evaluation"
UNREADABLE = "The scores of these items could not be read when this page was written."
Position = tuple[int, ...]
"""The number of a view, then the number of the choice of each control."""
_LONGEST_NUMBER = 6
"""Digits in the name of a view."""
SHARED = ("Curves", "People")
"""Tabs of parts that stand behind the tables of the suites."""
MOST_COMPARED = 8
"""Models up to which a page without a server has the intervals of their differences: those of 8 in three suites are 280
files of 0.8 MB in all, and take longer to compute than all else; 24 models have ten times as many."""


class Bundle:
    """The data of the page, made when it is asked for.

    A file of data is a script that calls `tse.add(name, data)`: a page that was opened from disk may load scripts, but
    not other files.

    Attributes:
        runs: the results.
        problems: what is wrong with folders that hold none; with a page for others, also with files of scores.
        live: what the tab `Sentences` needs; None for a page without a server, which has no such tab.
    """

    def __init__(self, folders: Sequence[Path | str]) -> None:
        """Read the results.

        Args:
            folders: output folders of `tse run`; one that cannot be read is named on the page.

        Raises:
            ValueError: none of the folders can be read.
        """
        self.runs, self.problems = read_folders([Path(folder) for folder in folders])
        if self.problems and not self.runs.runs:
            raise ValueError(" ".join(self.problems))  # a page without any results would only repeat this
        self.live: dict[str, Any] | None = None
        self._lock = Lock()
        self._items: dict[str, ScoredItems] = {}
        self._systems: dict[str, dict[str, str]] = {}  # of each table of items: name in files -> label
        self._texts: dict[str, SystemItems] = {}
        self._compared: dict[
            str, tuple[str, str, dict[str, str]]
        ] = {}  # suite, measure and systems of differences
        self._sections: dict[int, Section] = {}  # of each view: the section that it is of
        self._read = lru_cache(maxsize=16)(self._read_items)
        self._partial = cache(lambda suite: partial_systems(self.runs, suite))
        self._warnings = cache(lambda suite: warnings_of(self.runs, suite))

    @cached_property
    def views(self) -> list[View]:
        """The leaderboard, a table of each suite, then what several views and suites share."""
        sections = [section for suite in suites_of(self.runs) if (section := suite.views(self.runs))]
        self._sections |= {id(view): section for section in sections for view in section.views}
        of_suites = [view for section in sections for view in section.views if view.tab]
        before = [view for view in of_suites if view.tab not in SHARED]
        shared = [view for view in of_suites if view.tab in SHARED]
        board = (
            [View("", "", partial(self._leaderboard, sections), tab="Models")] if len(self.runs.rows) else []
        )
        return [*board, *before, *overview.training_views(self.runs), *shared]

    def _leaderboard(self, sections: Sequence[Section]) -> Any:
        """Return the data of the leaderboard, which is no block: its rows are systems and its columns measures."""
        warnings = dict.fromkeys(text for section in sections for text in self._warnings(section.name))
        board = overview.leaderboard(self.runs, {section.name: section.views for section in sections})
        return board | {"warnings": list(warnings)}

    def data(self, name: str) -> str:
        """Return the script of one name.

        Raises:
            KeyError: there is none of this name.
        """
        kind, _, path = name.partition("/")
        with self._lock:  # one request at a time: the suites' views keep tables in memory
            if name == "start":
                content: Any = self._start()
            elif kind == "view":
                content = self._view(_position(path))
            elif kind == "items":
                content = self._numbers(path)
            elif kind == "difference":
                content = self._difference(path)
            elif kind == "texts" and path in self._texts:
                content = self._texts[path].texts()
            else:
                raise KeyError(name)
        shown = for_us(content)
        script = f"tse.add({json.dumps(name)}, {json.dumps(shown, ensure_ascii=False)});\n"
        return script.encode("utf-8", "replace").decode()  # half a character of UTF-16 cannot be sent

    def names(self) -> Iterator[str]:
        """Yield the names of all data that a page can ask for."""
        yield "start"
        for number, view in enumerate(self.views):
            for position in product((number,), *(range(len(control.choices)) for control in view.controls)):
                yield "view/" + "-".join(map(str, position))
        for name, systems in self._systems.items():
            yield from (f"items/{name}/{system}" for system in systems)
        for texts in list(self._texts):
            yield f"texts/{texts}"
        if self._has_differences:
            for name, (_, _, systems) in self._compared.items():
                yield from (f"difference/{name}/{a}/{b}" for a, b in combinations(sorted(systems), 2))

    @property
    def _has_differences(self) -> bool:
        """Whether the page can ask for differences with their intervals."""
        return self.live is not None or self.runs.rows["system"].nunique() <= MOST_COMPARED

    def _start(self) -> dict[str, Any]:
        has_server = self.live is not None
        described = description if has_server else described_for_others
        return {
            "title": TITLE,
            "problems": self.problems if has_server else [],  # they name folders of this machine
            "n_names": int(self.runs.rows["model"].nunique()),
            "n_revisions": len(self.runs.rows[["model", "revision"]].drop_duplicates()),
            "systems": list(dict.fromkeys(self.runs.rows["system"])),
            "runs": [
                {"name": run["name"], "text": json.dumps(described(run), indent=1, ensure_ascii=False)}
                for run in self.runs.runs
            ],
            "tabs": [
                {"title": view.tab, "part": view.part, "terms": self._terms(view),
                 "controls": [
                     {"label": control.label, "choices": list(control.choices)} for control in view.controls]}
                for view in self.views
            ],
            "live": self.live,
            "has_differences": self._has_differences,
            "most_compared": MOST_COMPARED,
        }  # fmt: skip

    def _terms(self, view: View) -> dict[str, str]:
        """Return what the scores of a view mean; of the leaderboard, those of all suites."""
        if view.tab == "Models":
            return {term: text for section in self._sections.values() for term, text in section.terms.items()}
        return dict(self._sections[id(view)].terms) if id(view) in self._sections else {}

    def _view(self, position: Position) -> dict[str, Any]:
        """Return what a view shows for the choices of its controls; raises KeyError where there are none such."""
        try:
            view = self.views[position[0]]
            pairs = zip(view.controls, position[1:], strict=True)
            values = [list(control.choices.values())[place] for control, place in pairs]
        except (IndexError, ValueError) as error:
            raise KeyError(position) from error
        try:
            blocks: Any = view.of(*values)
        except (ValueError, TypeError) as error:  # the user can choose something else
            return {"kind": "notice", "text": self._for_readers(str(error))}
        if isinstance(blocks, dict):
            return blocks
        section = self._sections.get(id(view))
        suite = "" if section is None else section.name
        data = blocks_data(
            blocks,
            self._names_in_files,
            self._partial(suite),
            self._model_of,
            partial(self._name_compared, suite),
        )
        return data | {"warnings": self._warnings(suite)}

    def _names_in_files(self, table: Table) -> dict[str, str]:
        """Return the names of a table's systems in files of items, and note whose items these are."""
        names = _names_of(table)
        if table.items is not None:
            self._items[table.items.name] = table.items
            self._systems.setdefault(table.items.name, {}).update(names)
        return {label: name for name, label in names.items()}

    def _name_compared(self, suite: str, table: Table) -> str:
        """Return the name of a table's differences in files, and note what they are of; "" where none are tested."""
        if not table.compared:
            return ""
        name = _in_files(f"{suite} {table.compared}")
        self._compared.setdefault(name, (suite, table.compared, {}))[2].update(_names_of(table))
        return name

    def _model_of(self, label: str) -> str:
        return model_of(label, self.runs)

    def _label(self, name: str, system: str) -> str:
        """Return the label of a system among those of some items.

        Raises:
            KeyError: no view that was shown has them. To look for them in all views would take seconds.
        """
        return self._systems.get(name, {})[system]

    def _numbers(self, path: str) -> dict[str, Any]:
        name, _, system = path.rpartition("/")
        items = self._read(name, self._label(name, system))
        return {"problem": self._for_readers(items)} if isinstance(items, str) else items.numbers()

    def _difference(self, path: str) -> dict[str, Any]:
        """Return the differences of a system from another one on a measure, as `tse compare` gives them.

        For each configuration and group: both names, the difference, `ci_low` and `ci_high` (95 %), the items that both
        scored, and whether the interval is reliable.
        """
        name, *systems = path.split("/")
        suite, measure, labels = self._compared[name]
        if len(systems) != 2:
            raise KeyError(path)
        system, reference = (self._model_of(labels[system]) for system in systems)
        from ..runs.comparing.paired_scores import paired  # most pages compare nothing

        files = [
            file for file in self.runs.files if file.suite == suite and file.system in (system, reference)
        ]
        rows = []
        try:
            for pair in paired(replace(self.runs, files=files), reference):
                if pair.names.measure != measure or pair.names.system == pair.names.reference:
                    continue
                for group in pair.system.differences(pair.reference):
                    estimate = group.difference.estimate
                    numbers = (
                        estimate.mean,
                        estimate.ci_low,
                        estimate.ci_high,
                        group.n_items,
                        estimate.reliable,
                    )
                    rows.append([pair.names.config or "", group.group, *map(plain_number, numbers)])
        except ValueError as error:  # the two were run differently
            return {"problem": self._for_readers(str(error))}
        if not rows:
            problem = f"{system} and {reference} share no scores of items, so there are no intervals."
            return {"problem": self._for_readers(problem)}
        return {"rows": rows}

    def _for_readers(self, problem: str) -> str:
        """Return a message as the page shows it; a page for others does not name files of this machine."""
        if self.live is not None or not any(str(file.path) in problem for file in self.runs.files):
            return problem
        if problem not in self.problems:
            self.problems.append(problem)
        return UNREADABLE

    def _read_items(self, name: str, system: str) -> SystemItems | str:
        """Read the items of a system; a text says why there are none."""
        try:
            items = system_items(self._items[name], system)
        except ValueError as error:
            return str(error)
        self._texts.setdefault(items.texts_name, items)  # several systems have the same texts
        return items


def _names_of(table: Table) -> dict[str, str]:
    """Return {name in the names of files, the same in each session: label} of the systems that were scored here."""
    cells = pd.DataFrame(columns=["system", "n"]) if table.cells is None else table.cells
    scored = dict.fromkeys(cells["system"][cells["n"].notna()])
    return {_in_files(label): label for label in scored}


def _in_files(label: str) -> str:
    """Return the name of a label in the names of files."""
    return hashlib.sha256(label.encode("utf-8", "replace")).hexdigest()[:12]


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= _LONGEST_NUMBER


def _position(name: str) -> Position:
    """Read the name of a view; raises KeyError if it is none."""
    parts = name.split("-")
    if not all(map(_is_number, parts)):
        raise KeyError(name)
    return tuple(map(int, parts))
