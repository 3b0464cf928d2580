"""Which folders of the package may import which: what each import statement says, also one inside a function."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "scorers" / "tse_scorers"
BESIDE = ("papers", "publishing")
"""What stands beside the core: it could leave with its commands and its folder."""
FLOORS = (
    ("engine", "io"),
    ("models", "statistics"),
    ("suites",),
    ("loading",),
    ("runs",),
    ("report",),
    ("mapping", "results", "explore", "training", *BESIDE),
    ("cli", "running"),
    ("__init__", "__main__"),
)
"""Folders and files of the package, from the ground up: each imports only from the floors below it."""
ROOMS = ("data", "ask", "estimate", "show")
"""Rooms of a large suite, from the ground up: a room imports only those before it."""


def imported_modules(path: Path) -> Iterator[str]:
    """Yield the modules of the package that a file imports, as `folder.module`; a name of a module with its module."""
    package = path.relative_to(PACKAGE).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            if node.level:
                start = package[: len(package) - node.level + 1]
            elif (node.module or "").startswith("tse_scorers"):
                start = ()
            else:
                continue
            module = [*start, *(node.module or "").removeprefix("tse_scorers").strip(".").split(".")]
            for name in node.names:
                yield ".".join(filter(None, [*module, name.name]))


def files(folder: str) -> list[Path]:
    return sorted((PACKAGE / folder).rglob("*.py"))


def starts_with(module: str, folder: str) -> bool:
    return f"{module}.".startswith(f"{folder}.")


def test_the_core_imports_nothing_that_stands_beside_it():
    """Only commands do, each when it is called: so a folder can leave, and `tse run` does not load it."""
    core = [path for path in files(".") if path.relative_to(PACKAGE).parts[0] not in (*BESIDE, "cli")]
    found = [
        f"{path.relative_to(PACKAGE)} imports {module}"
        for path in core
        for module in imported_modules(path)
        if any(starts_with(module, folder) for folder in BESIDE)
    ]
    assert len(core) > 100 and found == []


def test_only_papers_read_published_results():
    """What the page shows of others' scores, it gets from the paper of a suite (`suites.registry.paper_of`)."""
    readers = {
        path.relative_to(PACKAGE).parts[0]
        for path in files(".")
        if "published_results" in path.read_text(encoding="utf-8")
    }
    assert readers == {"papers"}


def test_nothing_imports_from_a_floor_above_it():
    """What only the whole package can do, its root hands down: version, what suites declare, mapping a data set."""
    floor_of = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
    handed_down = ("__version__", "declared_columns", "score_dataset")
    found = []
    for path in files("."):
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if room == "typed_options":  # keywords of all floors, which only type checkers read
            continue
        for module in imported_modules(path):
            other = module.partition(".")[0]
            is_lower = other in (room, "typed_options") or floor_of.get(other, 99) < floor_of[room]
            if not is_lower and module not in handed_down:
                found.append(f"{path.relative_to(PACKAGE)} imports {module}")
    assert found == []


def test_no_module_imports_what_draws_before_something_is_drawn():
    """A page of tables, a comparison in the terminal and `--help` do not wait for it."""
    found = [
        str(path.relative_to(PACKAGE))
        for path in files(".")
        for statement in ast.parse(path.read_text(encoding="utf-8")).body
        for inside in (statement.body if isinstance(statement, ast.If) else [statement])
        if isinstance(inside, ast.Import | ast.ImportFrom) and "matplotlib" in ast.unparse(inside)
        if not (isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING")
    ]
    assert found == []


@pytest.mark.parametrize("folder", BESIDE)
def test_what_stands_beside_the_core_does_not_import_its_neighbours(folder):
    found = [
        f"{path.relative_to(PACKAGE)} imports {module}"
        for path in files(folder)
        for module in imported_modules(path)
        if any(starts_with(module, other) for other in BESIDE if other != folder)
    ]
    assert files(folder) and found == []


@pytest.mark.parametrize("suite", ["agreement", "minimal_pairs"])
def test_a_room_of_a_suite_imports_only_the_rooms_below_it(suite):
    """Above all, data reads no results of earlier runs, and estimates draw nothing."""
    rooms = [room for room in ROOMS if (PACKAGE / "suites" / suite / room).is_dir()]
    assert len(rooms) > 1
    found = [
        f"{path.relative_to(PACKAGE)} imports {module}"
        for at, room in enumerate(rooms)
        for path in files(f"suites/{suite}/{room}")
        for module in imported_modules(path)
        if any(
            starts_with(module, f"suites.{suite}.{above}") for above in [*rooms[at + 1 :], "suite", "scores"]
        )
    ]
    assert found == []


def test_imports_are_found(tmp_path, monkeypatch):
    """Relative ones at each depth, absolute ones, a name that is a module, and those inside of functions."""
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    (tmp_path / "suites" / "one").mkdir(parents=True)
    path = tmp_path / "suites" / "one" / "suite.py"
    path.write_text(
        "from ...papers import fetch\nfrom .. import base\nimport os\nfrom pathlib import Path\n"
        "def late():\n    from tse_scorers.papers.fetch import fetch\n    from .data.tables import load\n"
    )
    assert list(imported_modules(path)) == [
        "papers.fetch", "suites.base", "papers.fetch.fetch", "suites.one.data.tables.load"
    ]  # fmt: skip
