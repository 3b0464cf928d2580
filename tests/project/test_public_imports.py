"""Tests import their own room of the package, and of the other rooms only what is public.

A file of the package can then move, be split or change its functions with the tests of its room alone. A test imports

1. the modules of the room that it stands in: `tests/report` from `tse_scorers.report`, and so on;
2. public names: of `tse_scorers` itself, of the reference, and of code that the documentation and the examples show;
3. the front doors of the other rooms, which are listed here.

Where a test needs more, it stands in the wrong room, or knows more than its subject says.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name

import pytest

import tse_scorers

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
FRONT_DOORS = {
    "cli.main": "the command `tse` with its errors and exit codes, as a person meets it",
    "cli.app.app": "the same for typer's runner, which returns what is printed and raises the errors",
    "io.bundle.metric_modules": "the definitions in metrics/, which tests of all rooms compare with",
    "io.limits": "the sizes and times at which reading stops; a test lowers one instead of writing gigabytes",
    "io.records.read_records": "the runs in an output folder, with their scores and signatures",
    "io.records.write_record": "a finished run without a model",
    "io.result_row.ResultRow": "its averages",
    "io.results.read_results": "the averages in an output folder",
    "loading": "loads every model; tests count how often that happens",
    "models.causal.CausalScorer": "scores a model that a test has made, with options of its own",
    "models.masked.MaskedScorer": "the same for a masked model",
    "models.options.ModelOptions": "all options of models: a walk over them must miss none",
    "models.options.described_options": "what people are told of each option, whatever declares it",
    "papers.reproduce.reproduce": "published numbers beside ours, without their rounding",
    "report.blocks": "tables and figures, which papers make",
    "report.draw.draw": "a figure, whose lines and points are compared with numbers",
    "io.runs.read_runs": "what the section of a suite is made from",
    "report.page.svg": "draws and writes a figure, most of a small run's time: `conftest.py` replaces it",
    "report.page.write_report": "the report of a run",
    "report.page.report_of": "what a page shows, before it is drawn",
    "report.scores": "the scores of a report, which papers get",
    "statistics": "means and differences over units",
    "suites.registry.names": "what pages call suites, data and groups",
    "suites.registry.paper_of": "the tables and figures of a suite's paper",
    "runs.comparing.compare.compare": "a comparison, as rows",
    "runs.doctor.diagnose": "the checks of a model, as `tse doctor` prints them",
    "runs.merge.merge": "shards put together",
    "runs.run.Run": "a run of a suite and scorers that a test has made",
    "suites.registry.all_measures": "all suites by name, with their headline measures",
    "suites.registry.find_suite": "the class of a suite: its options, averages and sections",
}
"""Module, or name in a module, of `tse_scorers` -> what tests of other rooms need it for."""
SERVES = {
    "fault_runs.py": "engine",  # stops a run between two batches
    "kill_runs.py": "engine",
    "scored_gaps.py": "suites",
}
"""File in `tests/support` -> the one room whose modules it imports; the others have no room."""
OWN = re.compile(r"tse_scorers(\.\w+)+")


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and dotted path, without `tse_scorers`, of each name of the package that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        found: list[str] = []
        if isinstance(node, ast.ImportFrom) and not node.level:
            found = [f"{node.module}.{name.name}" for name in node.names]
        elif isinstance(node, ast.Import):
            found = [name.name for name in node.names]
        yield from ((node.lineno, name[12:]) for name in found if OWN.fullmatch(name))


def replaced(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the same of each name that a file replaces by its path, as `monkeypatch.setattr` does."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            name = str(node.args[0].value)
            if called in {"setattr", "delattr", "patch"} and OWN.fullmatch(name):
                yield node.lineno, name[12:]


def reached(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the same of each name that a file imports or replaces."""
    yield from imported(path)
    yield from replaced(path)


def public_names() -> set[str]:
    """Return what users are told of: by the reference, or by code that is shown to them."""
    names = {*tse_scorers.__all__, "__version__"}
    shown = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.py")]
    for page in shown:
        text = page.read_text(encoding="utf-8")
        names.update(re.findall(r"^::: tse_scorers\.([\w.]+)", text, re.MULTILINE))
        for module, imported in re.findall(
            r"^\s*from tse_scorers\.([\w.]+) import ([\w, ]+)$", text, re.MULTILINE
        ):
            names.update(f"{module}.{name}" for name in imported.split(", "))
    return names


def is_in(name: str, places: set[str]) -> bool:
    """Whether a dotted path is one of the places, or in one of them."""
    return any(f"{name}.".startswith(f"{place}.") for place in places)


def room_of(path: Path) -> str:
    """Return the room of the package that a file of the tests belongs to; "" for none."""
    folder, *_ = path.relative_to(TESTS).parts
    return SERVES.get(path.name, "") if folder == "support" else folder


FILES = sorted(TESTS.rglob("*.py"))


def test_of_other_rooms_tests_import_only_what_is_public():
    allowed = public_names() | FRONT_DOORS.keys()
    wrong = [
        f"{path.relative_to(ROOT)}:{line} reaches into {name}"
        for path in FILES
        for line, name in reached(path)
        if not is_in(name, {room_of(path)} - {""}) and not is_in(name, allowed)
    ]
    assert not wrong, (
        "\n".join(wrong) + "\nMove each of these tests to the folder of the room whose behaviour it tests "
        f"(tests/ROOM for tse_scorers/ROOM), or let it use a public name, the command line, or a front door of "
        f"{Path(__file__).name}. A fixture that several rooms need belongs into tests/support."
    )


def test_what_the_package_exports_is_imported_from_there():
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in FILES
        for line, name in imported(path)
        if (exported := name.rpartition(".")[2]) in tse_scorers.__all__ and exported != name
        if resolve_name(f"tse_scorers.{name}") is getattr(tse_scorers, exported)
    ]
    assert not wrong, (
        "\n".join(wrong) + "\nWrite `from tse_scorers import …`: where a name is defined may change."
    )


def test_front_doors_are_there_and_used_from_other_rooms():
    used = {name for path in FILES for _, name in reached(path) if not is_in(name, {room_of(path)} - {""})}
    for door in FRONT_DOORS:
        resolve_name(f"tse_scorers.{door}")
    unused = [door for door in FRONT_DOORS if not any(is_in(name, {door}) for name in used)]
    assert unused == [], "No test of another room uses these any more: remove them from FRONT_DOORS."
    assert {name for name in SERVES if (TESTS / "support" / name).is_file()} == SERVES.keys()
    assert not FRONT_DOORS.keys() & public_names(), "These are public: FRONT_DOORS need not list them."


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("from tse_scorers.io import limits", ["io.limits"]),
        (
            "def late():\n    from tse_scorers.runs.run import Run, seconds",
            ["runs.run.Run", "runs.run.seconds"],
        ),
        ("import tse_scorers.engine.plan", ["engine.plan"]),
        ("from tse_scorers import run, loading as loads", ["run", "loading"]),
        ("monkeypatch.setattr('tse_scorers.runs.run.time.sleep', print)", ["runs.run.time.sleep"]),
        ("with patch('tse_scorers.report.page.svg'): pass", ["report.page.svg"]),
        ("from .tables import PAIRS\nimport tse_scorers_of_others\nfiles('tse_scorers.report')", []),
    ],
)
def test_imports_and_replacements_are_found(tmp_path, line, names):
    (tmp_path / "test_it.py").write_text(line)
    assert [name for _, name in reached(tmp_path / "test_it.py")] == names
