"""The page and its data as files: served one by one, or written to a folder that opens without a server."""

import json
import shutil
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import product
from pathlib import Path
from threading import Lock
from typing import Any

from ..io.files import printable, write_text
from ..suites.base import ScoredItems, SideBySide, Tab
from ..suites.registry import suites_of
from .item_data import SystemItems, system_items
from .runs import read_folders
from .view_data import view_data

PAGE = Path(__file__).with_name("page")
PAGE_FILES = (
    "index.html",
    "style.css",
    "core.js",
    "table.js",
    "items.js",
    "charts.js",
    "sentences.js",
    "main.js",
)
TITLE = "Targeted syntactic evaluation"
Position = tuple[int, ...]
"""The number of a tab's part, then the number of the choice of each control."""


class Bundle:
    """The data of the page, made when it is asked for.

    A file of data is a script that calls `tse.add(name, data)`: a page that was opened from disk may load scripts, but
    not other files.

    Attributes:
        runs: the results.
        problems: what is wrong with folders that hold none.
    """

    def __init__(self, folders: Sequence[Path | str], live: dict[str, Any] | None = None) -> None:
        """Read the results.

        Args:
            folders: output folders of `tse run`; one that cannot be read is named on the page.
            live: what the tab `Sentences` needs; None for a page without a server, which has no such tab.
        """
        self.runs, self.problems = read_folders([Path(folder) for folder in folders])
        self._live = live
        self._lock = Lock()
        self._items: dict[str, ScoredItems] = {}
        self._systems: dict[str, dict[str, None]] = {}  # of each table of items, in the order of the views
        self._texts: dict[str, SystemItems] = {}
        self._read = lru_cache(maxsize=16)(self._read_items)

    @cached_property
    def tabs(self) -> list[Tab]:
        """The suites' tabs; a table of each suite first, then what several views and suites share."""
        found = [tab for suite in suites_of(self.runs) for tab in suite.tabs(self.runs)]
        return sorted(found, key=lambda tab: bool(tab.part))

    @cached_property
    def systems(self) -> list[str]:
        """The labels of all systems, with the configuration where a suite adds it; items are named by their numbers."""
        rows = self.runs.rows
        apart = rows["system"] + " (" + rows["config"].fillna("").astype(str) + ")"
        return list(dict.fromkeys([*rows["system"], *apart]))

    def data(self, name: str) -> str:
        """Return the script of one name.

        Raises:
            KeyError: there is none of this name.
        """
        kind, _, rest = name.partition("/")
        with self._lock:  # one request at a time: the suites' tabs keep tables in memory
            if name == "start":
                content: Any = self._start()
            elif kind == "view":
                content = self._view(tuple(int(part) for part in rest.split("-") if part.isdecimal()))
            elif kind == "items":
                content = self._numbers(rest)
            elif kind == "texts" and rest in self._texts:
                content = self._texts[rest].texts()
            else:
                raise KeyError(name)
        return f"tse.add({json.dumps(name)}, {json.dumps(_printable(content), ensure_ascii=False)});\n"

    def export(self, out: Path) -> Iterator[str]:
        """Write the page with all its data to a folder, and yield the name of each file."""
        for file in PAGE_FILES:
            write_text(out / file, (PAGE / file).read_text(encoding="utf-8"))
        for name in self._names():
            write_text(out / "data" / f"{name}.js", self.data(name))
            yield name

    def _names(self) -> Iterator[str]:
        yield "start"
        for position in self._positions():
            yield "view/" + "-".join(map(str, position))
        for name, systems in self._systems.items():
            yield from (f"items/{name}/{self.systems.index(system)}" for system in systems)
        for texts in list(self._texts):
            yield f"texts/{texts}"

    def _start(self) -> dict[str, Any]:
        return {
            "title": TITLE,
            "problems": self.problems,
            "systems": self.systems,
            "n_systems": int(self.runs.rows["system"].nunique()),
            "runs": [
                {"name": run["name"], "text": json.dumps(
                    {key: run[key] for key in ("signature", "environment")}, indent=1, ensure_ascii=False)}
                for run in self.runs.runs
            ],
            "tabs": [
                {"title": tab.title, "part": tab.part, "terms": dict(tab.terms), "controls": [
                    {"label": control.label, "choices": list(control.choices)} for control in tab.controls]}
                for tab in self.tabs
            ],
            "live": self._live,
        }  # fmt: skip

    def _view(self, position: Position) -> dict[str, Any]:
        try:
            tab = self.tabs[position[0]]
            pairs = zip(tab.controls, position[1:], strict=True)
            values = [list(control.choices.values())[place] for control, place in pairs]
        except (IndexError, ValueError) as error:
            raise KeyError(position) from error
        try:
            view = tab.view(*values)
        except (ValueError, TypeError) as error:  # the user can choose something else
            return {"kind": "notice", "text": str(error)}
        if isinstance(view, SideBySide) and view.items is not None:
            self._items[view.items.name] = view.items
            scored = view.cells["system"][view.cells["n"].notna()]
            self._systems.setdefault(view.items.name, {}).update(dict.fromkeys(scored))
        return view_data(view)

    def _numbers(self, rest: str) -> dict[str, Any]:
        name, _, number = rest.rpartition("/")
        if name not in self._items:  # the page was loaded from an earlier server
            for view in self._positions():
                self._view(view)
        if name not in self._items or not number.isdecimal() or int(number) >= len(self.systems):
            raise KeyError(rest)
        found = self._read(name, int(number))
        return {"problem": found} if isinstance(found, str) else found.numbers()

    def _positions(self) -> Iterator[Position]:
        for number, tab in enumerate(self.tabs):
            yield from product((number,), *(range(len(control.choices)) for control in tab.controls))

    def _read_items(self, name: str, system: int) -> SystemItems | str:
        """Read the items of a system; a text says why there are none."""
        try:
            found = system_items(self._items[name], self.systems[system])
        except ValueError as error:
            return str(error)
        return (
            self._texts.setdefault(found.texts_name, found) if found.texts_name not in self._texts else found
        )


def check_export(out: Path, overwrite: bool) -> None:
    """Raise ValueError if a folder holds other files, or an earlier page that must not be replaced."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not out.is_dir():
        raise ValueError(f"{out} is a file; expected a folder. Choose another one with --export.")
    if not _is_page(out / "data"):
        raise ValueError(f"{out} holds other files. Choose a new or empty folder with --export.")
    if not overwrite:
        raise ValueError(
            f"{out} already holds a page. Choose another folder with --export, or add --overwrite."
        )
    shutil.rmtree(out / "data")


def _is_page(data: Path) -> bool:
    """Whether a folder holds the data of a page that this module wrote."""
    start = data / "start.js"
    return not data.is_symlink() and start.is_file() and start.read_bytes().startswith(b'tse.add("start", ')


def _printable(value: Any) -> Any:
    """Replace characters that a browser hides or that reorder text."""
    if isinstance(value, str):
        return "\x1f".join(map(printable, value.split("\x1f"))) if "\x1f" in value else printable(value)
    if isinstance(value, dict):
        return {_printable(key): _printable(each) for key, each in value.items()}
    return [_printable(each) for each in value] if isinstance(value, list) else value
