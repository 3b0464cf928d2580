"""How many lines each room may have: `python tests/project/test_ceilings.py` prints them, with their statements.

A ceiling falls when its room has become smaller, and is raised only with a sentence why. Rooms may exchange lines
if the sum falls. A folder that is not listed may have no line. Lines are those of `*.py` with docstrings, as ruff
formats them at 110 columns; statements are those of the syntax tree, so that neither long lines nor lost docstrings
make a room smaller.
"""

import ast
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "scorers/tse_scorers"
CEILINGS = {  # room: (lines, where they shall be)
    "metrics": (1_486, 1_400),
    f"{PACKAGE}/engine": (688, 700),
    f"{PACKAGE}/models": (2_402, 2_200),  # has taken the LSTM converter and the n-gram trainer
    f"{PACKAGE}/statistics": (604, 600),
    f"{PACKAGE}/io": (980, 600),  # has taken reading of runs from report
    f"{PACKAGE}/suites": (3_278, 3_000),  # has taken from statistics what a unit is
    f"{PACKAGE}/papers": (1_197, 1_200),
    f"{PACKAGE}/report": (1_760, 1_600),  # has taken tables that fit a narrow terminal
    f"{PACKAGE}/runs": (1_145, 700),  # has taken the notice of revisions with the same scores
    f"{PACKAGE}/training": (491, 450),
    PACKAGE: (1_938, 1_650),  # has taken the command (500) and publishing (300)
    "push_scripts": (1_162, 1_600),
    "benchmarks": (751, 740),  # has taken the simulation of intervals from tests, at a third of its length
    "examples": (392, 400),  # with tasks of lm-eval, in place of `exporting`, and a suite of one's own
    "docs": (91, 400),
    ".ci": (102, 100),
    "tests": (15_521, 18_000),
}
OTHER_TEXT = (148, 500)
"""Lines of the package's other texts (styles, scripts, descriptions of sets), without bundled models."""
WORDS = (13_649, 14_000)
"""Words of README and docs."""


def tracked(*patterns: str) -> list[Path]:
    """Return the files of the repository, without what git ignores, that match a pattern and are still there."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *patterns]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return [ROOT / name for name in dict.fromkeys(filter(None, names)) if (ROOT / name).is_file()]


def room_of(path: Path) -> str:
    """Return the listed folder that a file is in; a folder of the package is a room of its own."""
    parts = path.relative_to(ROOT).parts[:-1]
    depth = (
        3 if "/".join(parts).startswith(f"{PACKAGE}/") else 2 if parts[:2] == tuple(PACKAGE.split("/")) else 1
    )
    return "/".join(parts[:depth])


def counts() -> tuple[Counter[str], Counter[str]]:
    """Return the lines and the statements of each room."""
    lines, statements = Counter(), Counter()
    for path in tracked("*.py"):
        text = path.read_text(encoding="utf-8")
        lines[room_of(path)] += len(text.splitlines())
        statements[room_of(path)] += sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(text)))
    return lines, statements


def other_text() -> int:
    """Return the lines of the package's texts that are not Python."""
    endings = (
        f"{PACKAGE}/*.{ending}" for ending in ("css", "js", "html", "yaml", "yml", "toml", "tex", "txt")
    )
    files = [path for path in tracked(*endings) if "bundled_models" not in path.parts]
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def words() -> int:
    """Return the words of README and docs, tables and code included."""
    return sum(len(path.read_text(encoding="utf-8").split()) for path in tracked("README.md", "docs/*.md"))


def test_no_room_has_more_lines_than_its_ceiling():
    lines, _ = counts()
    above = {room: n for room, n in lines.items() if n > CEILINGS.get(room, (0, 0))[0]}
    assert above == {}, "more lines than the ceiling allows"


def test_the_ceilings_of_texts():
    assert (other_text() <= OTHER_TEXT[0], words() <= WORDS[0]) == (True, True), (other_text(), words())


def test_a_new_line_or_folder_is_noticed(tmp_path, monkeypatch):
    """The count sees files that are not committed, and a new folder has a ceiling of no lines."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    for name in (f"{PACKAGE}/engine/plan.py", f"{PACKAGE}/__init__.py", f"{PACKAGE}/new/a.py", "tools/b.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n" * 3)
    lines, statements = counts()
    assert (
        lines == {f"{PACKAGE}/engine": 3, PACKAGE: 3, f"{PACKAGE}/new": 3, "tools": 3} and statements == lines
    )
    monkeypatch.setitem(CEILINGS, f"{PACKAGE}/engine", (2, 2))
    with pytest.raises(AssertionError, match="ceiling"):
        test_no_room_has_more_lines_than_its_ceiling()


def main() -> None:
    """Print the lines and statements of each room beside its ceiling and where it shall be."""
    lines, statements = counts()
    print(f"{'room':36}{'lines':>8}{'ceiling':>9}{'goal':>8}{'statements':>12}")
    for room in [*CEILINGS, *sorted(set(lines) - set(CEILINGS))]:
        ceiling, goal = CEILINGS.get(room, (0, 0))
        print(f"{room:36}{lines[room]:8,}{ceiling:9,}{goal:8,}{statements[room]:12,}")
    package = [room for room in lines if room.startswith(PACKAGE)]
    print(f"{'the package':36}{sum(lines[room] for room in package):8,}{'':9}{12_700:8,}", end="")
    print(f"{sum(statements[room] for room in package):12,}")
    print(f"{'its other texts':36}{other_text():8,}{OTHER_TEXT[0]:9,}{OTHER_TEXT[1]:8,}")
    print(f"{'words of README and docs':36}{words():8,}{WORDS[0]:9,}{WORDS[1]:8,}")


if __name__ == "__main__":
    main()
