"""The documentation is right: its code runs and prints what it shows, its commands and names exist.

After a change of what is printed, `TSE_UPDATE_DOCS=1 pytest tests/project/test_docs.py` writes the new outputs into the
pages; look at the difference before you commit it.
"""

import importlib
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from doc_snippets import ROOT, blocks, commands, same_output, with_outputs
from launching import forked

from tse_scorers.cli import add_suite, app
from tse_scorers.models.options import ModelOptions
from tse_scorers.suites import BUILT_IN, find_suite

README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CARDS = [path for room in ("datasets", "metrics", "scorers") for path in sorted((ROOT / room).rglob("*.md"))]
WITH_CODE = [page for page in PAGES if blocks(page.read_text(encoding="utf-8"))]
SLOW = {"sharing", "languages", "checkpoint-series"}
"""Pages whose runs take a quarter of the time of all pages."""
SUITES = [find_suite(name) for name in BUILT_IN]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module")
def printed(request, tmp_path_factory) -> dict:
    """What the code of each page that is asked for printed, run offline in one process."""
    tests = [item for item in request.session.items if item.originalname.startswith("test_every_block")]
    asked = [test.callspec.params["page"] for test in tests]
    folder = tmp_path_factory.mktemp("pages")
    offline = {"HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1", "HF_HOME": str(folder / "hf")}
    own = {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "COLUMNS": "100"}
    report = folder / "report.json"
    runner = ROOT / "tests" / "support" / "doc_snippets.py"
    ended = forked(runner, report, folder, *asked, environment=offline | own, seconds=900)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return json.loads(report.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.slow] if page.stem in SLOW else []) for page in WITH_CODE],
    ids=name_of,
)
def test_every_block_runs_and_prints_what_is_shown(printed, page):
    found = printed[str(page)]
    assert [entry["error"] for entry in found if "error" in entry] == []
    differ = {e["line"]: e["found"] for e in found if not same_output(e["expected"], e["found"])}
    if os.environ.get("TSE_UPDATE_DOCS"):
        page.write_text(with_outputs(page.read_text(encoding="utf-8"), differ), encoding="utf-8")
    else:
        assert differ == {}


def test_blocks_that_do_not_run_say_why():
    reasons = [block.not_run for page in WITH_CODE for block in blocks(page.read_text(encoding="utf-8"))]
    assert all(reason.startswith("it needs ") for reason in reasons if reason)


@pytest.fixture(scope="module")
def suites():
    """All suites as commands."""
    for suite in SUITES:
        add_suite(suite)


@pytest.mark.parametrize("page", [*PAGES, *CARDS], ids=name_of)
def test_every_command_exists_with_its_options(page, suites):
    """In a sentence, `tse score --by word` may leave out what the sentence is not about."""
    text = page.read_text(encoding="utf-8")
    scripts = [block.content for block in blocks(text) if block.language == "bash"]
    for command in (command for script in scripts for command in commands(script)):
        app.parse_args(shlex.split(command, comments=True)[1:], exit_on_error=False, print_error=False)
    for command in re.findall(r"`(tse [^`]+)`", re.sub(r"\s*\n\s*", " ", text)):
        words = shlex.split(command)[1:]
        if words[0] in ("--help", "COMMAND"):
            continue
        found, apps, rest = app.parse_commands(words)
        assert found, command
        options = {name for argument in apps[-1].assemble_argument_collection() for name in argument.names}
        assert {word for word in rest if word.startswith("--")} <= options | {"--help"}, command


def test_every_option_is_told_of():
    text = (ROOT / "docs/reference/suites.md").read_text(encoding="utf-8")
    names = {option.name for of in (*SUITES, ModelOptions) for option in fields(of)}
    assert sorted(name for name in names if f"| `{name}` |" not in text) == []


@pytest.mark.parametrize("page", [*PAGES, *CARDS], ids=name_of)
def test_every_import_that_is_shown_works(page):
    """Cards show code that is not run; at least its imports exist."""
    text = page.read_text(encoding="utf-8")
    for module, names in re.findall(r"^from (tse_scorers[\w.]*) import ([\w, ]+)$", text, re.MULTILINE):
        if module == "tse_scorers.training.lightning":
            pytest.importorskip("lightning")
        found = importlib.import_module(module)
        assert [name for name in names.split(", ") if not hasattr(found, name)] == []


def test_every_folder_is_in_the_list_of_contributing():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `([\w/]+)/` \|", page, re.MULTILINE))
    assert [name for name in named if not (ROOT / name).is_dir()] == []
    rooms = (ROOT / "scorers/tse_scorers").glob("*/__init__.py")
    assert {f"scorers/tse_scorers/{path.parent.name}" for path in rooms} <= named


@pytest.mark.parametrize("page", [*PAGES[1:], ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"], ids=name_of)
def test_every_page_begins_with_who_needs_it_and_what_for(page):
    beginning = " ".join(page.read_text(encoding="utf-8").partition("\n## ")[0].split())
    assert beginning.startswith("# ")
    assert re.search(r"For everybody \w+ .*\b[Aa]fterwards\b", beginning)


def test_the_readme_shows_first_what_most_readers_need_first():
    """A picture, two commands, a data set to a score, one's own pairs, a Trainer; its links lead to files."""
    order = ["docs/assets/overview.svg", "make demo", "load_dataset(", "mine.csv", ").add_to(trainer)"]
    places = [README.index(text) for text in order]
    assert places == sorted(places)
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", README) if "://" not in link]
    assert [link for link in links if not (ROOT / link).is_file()] == []


@pytest.mark.slow
def test_the_site_builds_and_loads_nothing_from_outside(tmp_path):
    pytest.importorskip("mkdocs", reason="needs MkDocs: pip install 'refined-tse[docs]'")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr[-3000:]
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) >= 30
    loaded = re.compile(
        r"<(?:script|img|iframe|link)\b(?![^>]*canonical)[^>]*?(?:src|href)=[\"']?(?:https?:)?//"
    )
    assert [page for page in pages if loaded.search(page.read_text(encoding="utf-8"))] == []
