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
from browser import chromium, opened, sideways, violations
from doc_snippets import ROOT, blocks, commands, same_output, with_outputs
from documented_names import cut_returns
from generated_pages import command_page, on_page_content, with_links_of_the_site
from launching import forked
from nothing_from_outside import warn_of_what_is_loaded
from served_folder import served
from tse_scorers.cli.app import app
from tse_scorers.suites.registry import all_measures, find_suite
from typer.main import get_command

from tse_scorers.models.options import ModelOptions

DOCS = ROOT / "docs"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
COMMANDS = get_command(app).commands
WITH_CODE = [page for page in PAGES if blocks(page.read_text(encoding="utf-8"))]
SLOW = {"sharing", "languages", "checkpoint-series"}
"""Pages whose runs take a quarter of the time of all pages."""
SHOWN = [
    pytest.param(command, id=f"{page.stem}: {command[:60]}")
    for page in PAGES
    for block in blocks(page.read_text(encoding="utf-8"))
    if block.language == "bash"
    for command in commands(block.content)
]
INLINE = [
    pytest.param(command, id=f"{page.stem}: {command[:60]}")
    for page in PAGES
    for command in re.findall(r"`(tse [^`]+)`", re.sub(r"\s*\n\s*", " ", page.read_text(encoding="utf-8")))
]


WIDER_THAN_ITS_BOX = """[...document.querySelectorAll("article pre code")]
    .filter(code => code.scrollWidth > code.clientWidth + 1).map(code => code.textContent.slice(0, 80))"""
"""Code that a reader at a desk would have to scroll sideways."""


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def require_known(command: str) -> None:
    """Parse a command line as `tse` does; raises where a command or an option does not exist or one is missing."""
    _, name, *words = shlex.split(command, comments=True)
    known = COMMANDS.get(name)
    assert known is not None, f"there is no command {name}"
    known.make_context(name, words)


@pytest.fixture(scope="module")
def sessions(request, tmp_path_factory) -> dict:
    """What the code of each page that is asked for printed, run offline in one process."""
    tests = [
        item
        for item in request.session.items
        if item.originalname.startswith("test_every_block_runs_and_prints")
    ]
    asked = [test.callspec.params["page"] for test in tests]
    folder = tmp_path_factory.mktemp("pages")
    offline = {"HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1", "HF_HOME": str(folder / "hf")}
    own = {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "COLUMNS": "100"}
    runner = ROOT / "tests" / "support" / "doc_snippets.py"
    report = folder / "report.json"
    ended = forked(runner, report, folder, *asked, environment=offline | own, seconds=900)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return json.loads(report.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.slow] if page.stem in SLOW else []) for page in WITH_CODE],
    ids=name_of,
)
def test_every_block_runs_and_prints_what_is_shown(sessions, page):
    found = sessions[str(page)]
    assert [entry["error"] for entry in found if "error" in entry] == []
    outputs = {entry["line"]: entry for entry in found if "found" in entry}
    if os.environ.get("TSE_UPDATE_DOCS"):
        changed = {
            line: e["found"] for line, e in outputs.items() if not same_output(e["expected"], e["found"])
        }
        page.write_text(with_outputs(page.read_text(encoding="utf-8"), changed), encoding="utf-8")
        return
    for line, entry in outputs.items():
        assert same_output(entry["expected"], entry["found"]), f"line {line}: it printed\n{entry['found']}"


def test_a_shown_number_is_the_printed_one():
    """A page showed 0.87 where 0.875 was printed: a difference of one in the last digit counted as equal."""
    assert same_output("EW 0.875 of […] kB", "EW  0.875\nof 12 kB")
    assert same_output("EW 0.50 [0.40, 0.60]; ties 1.", "EW 0.51 [0.40, 0.59].")
    assert not same_output("EW 0.87", "EW 0.875") and not same_output("EW 0.50", "EW 0.52")
    assert not same_output("EW 0.50, n 12", "EW 0.50, n 13") and not same_output("EW 0.50", "EW")


def test_every_shown_output_was_checked(sessions):
    shown = sum(
        block.title == "Output" for page in sessions for block in blocks(Path(page).read_text("utf-8"))
    )
    checked = sum("found" in entry for entries in sessions.values() for entry in entries)
    assert checked == shown > 0


def test_blocks_that_do_not_run_say_why():
    reasons = [
        block.not_run for page in WITH_CODE for block in blocks(page.read_text("utf-8")) if block.not_run
    ]
    assert 0 < len(reasons) <= 7
    assert all(reason.startswith("it needs ") for reason in reasons)


@pytest.mark.parametrize("command", SHOWN)
def test_every_command_exists_with_its_options(command):
    require_known(command)


@pytest.mark.parametrize("command", INLINE)
def test_every_mention_names_a_command_and_its_options(command):
    """In a sentence, `tse score --by word` may leave out what the sentence is not about."""
    _, name, *words = shlex.split(command)
    known = COMMANDS[name]
    while words and words[0] in getattr(known, "commands", {}):  # tse data show
        known = known.commands[words.pop(0)]
    options = {option for parameter in known.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= options | {"--help"}


def test_every_option_is_told_of():
    """Every option is in the README, on a page that a person wrote, or in a table made from its declaration."""
    text = " ".join(page.read_text(encoding="utf-8") for page in PAGES)
    of_suites = [find_suite(suite).Options for suite in all_measures()]
    for name, declared in (("suites", of_suites), ("model", [ModelOptions])):
        assert f"{{{{ options: {name} }}}}" in text
        text += " ".join(f"--{each.name}" for own in declared for each in fields(own)).replace("_", "-")
    options = {
        option
        for command in COMMANDS.values()
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("--")
    }
    missing = sorted(option for option in options if not re.search(rf"{option}\b", text))
    assert missing == []


def walk() -> list[str]:
    page = CONTRIBUTING.read_text(encoding="utf-8")
    return re.findall(r"`((?:tse_scorers|metrics)[\w./]*:[\w.]+)`", page)


@pytest.mark.parametrize("name", walk())
def test_every_function_of_the_walk_exists(name):
    where, _, function = name.partition(":")
    if where.startswith("metrics/"):
        definition = rf"^(?:def|class) {function}\b"
        assert re.search(definition, (ROOT / where).read_text(encoding="utf-8"), re.MULTILINE)
        return
    found = importlib.import_module(where)
    for part in function.split("."):
        found = getattr(found, part)
    defined_in = getattr(found, "__module__", where)
    assert defined_in == where, f"{name} is only imported there; it is defined in {defined_in}"


def test_the_walk_is_whole():
    steps = re.findall(r"^\| (\d+) \|", CONTRIBUTING.read_text(encoding="utf-8"), re.MULTILINE)
    assert steps == [str(number) for number in range(1, len(steps) + 1)]
    assert len(steps) >= 15


def test_every_folder_is_in_the_list():
    page = CONTRIBUTING.read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `([\w/]+)/` \|", page, re.MULTILINE))
    assert [name for name in named if not (ROOT / name).is_dir()] == []
    stages = {
        f"scorers/tse_scorers/{path.parent.name}"
        for path in (ROOT / "scorers/tse_scorers").glob("*/__init__.py")
    }
    assert stages - named == set()


@pytest.mark.parametrize(
    "page",
    [*PAGES, *(p for f in ("datasets", "metrics", "scorers") for p in (ROOT / f).rglob("*.md"))],
    ids=name_of,
)
def test_every_import_that_is_shown_works(page):
    """Cards show code that is not run; at least its imports exist."""
    text = page.read_text(encoding="utf-8")
    for module, names in re.findall(r"^from (tse_scorers[\w.]*) import ([\w, ]+)$", text, re.MULTILINE):
        if module == "tse_scorers.training.lightning":
            pytest.importorskip("lightning")
        found = importlib.import_module(module)
        assert [name for name in names.split(", ") if not hasattr(found, name)] == []
    for module in re.findall(r"^import (tse_scorers[\w.]*)", text, re.MULTILINE):
        importlib.import_module(module)


@pytest.mark.parametrize("room", sorted((ROOT / "scorers/tse_scorers").glob("*/__init__.py")), ids=name_of)
def test_every_room_lists_its_files(room):
    listed = room.read_text(encoding="utf-8").split('"""')[1]
    files = {path.name for path in room.parent.glob("*.py")} - {"__init__.py"}
    assert sorted(file for file in files if not re.search(rf"\b{re.escape(file)}", listed)) == []
    named = set(re.findall(r"^ +(\w+\.py)  ", listed, re.MULTILINE))
    suite_files = {path.name for path in room.parent.glob("*/*.py")}
    assert named - files - suite_files == set()


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=name_of)
def test_every_page_is_in_the_navigation_and_opens_with_a_title(page):
    assert f": {page.relative_to(DOCS)}\n" in (text := (ROOT / "mkdocs.yml").read_text("utf-8")) or (
        f"- {page.relative_to(DOCS)}\n" in text
    )
    assert page.read_text(encoding="utf-8").startswith("# ")


@pytest.mark.parametrize(
    "page",
    [*PAGES[1:], CONTRIBUTING, ROOT / "CHANGELOG.md", *sorted(ROOT.glob("metrics/*/README.md"))],
    ids=name_of,
)
def test_every_page_begins_with_who_needs_it_and_what_for(page):
    """A reader who is wrong here sees it at once. The first page begins with its question."""
    beginning = " ".join(page.read_text(encoding="utf-8").partition("\n## ")[0].split())
    assert re.search(r"For everybody \w+ .*\b[Aa]fterwards\b", beginning)


@pytest.mark.parametrize(
    "page",
    [
        *PAGES[1:],
        *sorted(ROOT.glob("*.md")),
        *(
            page
            for room in ("benchmarks", "datasets", "metrics")
            for page in sorted((ROOT / room).rglob("*.md"))
        ),
    ],
    ids=name_of,
)
def test_every_column_of_a_table_has_a_heading(page):
    """A screen reader reads an empty heading as nothing; two cards had one."""
    headings = re.findall(r"^\|(.*)\|\n\|[-: |]+\|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert [heading for heading in headings if "" in map(str.strip, heading.split("|"))] == []


def test_a_link_out_of_the_site_becomes_the_place_of_the_file():
    """A reader of the site's first page was sent to notebooks without a word of where they are."""
    text = "[a notebook](examples/a.ipynb), [statistics](docs/concepts/statistics.md#references), [log](CHANGELOG.md)"
    assert with_links_of_the_site(text) == (
        "a notebook (`examples/a.ipynb`), [statistics](concepts/statistics.md#references), [log](changelog.md)"
    )


def test_an_interval_in_a_table_stays_on_one_line():
    """[0.69, was at the end of a line and 0.74] on the next one; code keeps its spaces."""
    html = "<td>0.72 [0.69, 0.74]</td><code>[0.5, 0.2]</code>"
    assert on_page_content(html) == html.replace("0.69, ", "0.69,\N{NO-BREAK SPACE}")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_page_of_a_command_has_an_example(name):
    """The pages listed options only; nobody saw what a command prints."""
    example = command_page(name).partition("## Example")[2]
    assert re.search(rf"^tse {name}\b", example, re.MULTILINE)


@pytest.mark.parametrize(
    ("items", "is_cut"),
    [
        ('<li class="x"><code><span>DataFrame</span></code> – <p>One row per measure.</p></li>', False),
        ('<li class="x"><code><span>DataFrame</span></code> – <p>One</p></li><li><p>row.</p></li>', True),
        ("<li><code>One row per measure</code> – <p>its difference.</p></li>", True),
    ],
)
def test_what_a_function_returns_is_one_item_with_a_type(items, is_cut):
    """The reference showed each line of *Returns* as a value of its own, and words before a colon as a type."""
    html = f'<p><span class="doc-section-title">Returns:</span></p>\n    <ul>{items}</ul>'
    assert bool(list(cut_returns(html))) == is_cut


@pytest.mark.slow
@pytest.mark.browser
def test_the_site_builds_and_its_pages_are_clean(tmp_path):
    """`make docs` builds it too. The search was a dialog without a name, the keys of citations too light."""
    pytest.importorskip("mkdocs", reason="needs MkDocs: pip install 'refined-tse[docs]'")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr[-3000:]
    assert len(list((tmp_path / "site").rglob("*.html"))) >= 30
    assert not (tmp_path / "site" / "hooks").exists()
    with chromium() as browser, served(tmp_path / "site") as address:
        for page in ("index", "tutorials/own-minimal-pairs", "reference/metrics/refined_tse"):
            for width, scheme in (("wide", "light"), ("narrow", "dark")):
                with opened(browser, f"{address}/{page}.html", width, scheme) as shown:
                    assert (violations(shown), sideways(shown)) == ([], 0)
        for page in sorted(
            path.relative_to(tmp_path / "site") for path in (tmp_path / "site").rglob("*.html")
        ):
            if page.name != "404.html":
                with opened(browser, f"{address}/{page}") as shown:
                    assert (page, shown.evaluate(WIDER_THAN_ITS_BOX)) == (page, [])


@pytest.mark.parametrize(
    ("tag", "is_loaded"),
    [
        ('<script src="https://cdn.example/x.js"></script>', True),
        ("<link rel=stylesheet href=//fonts.example/x.css>", True),
        ('<img alt="" src="http://images.example/x.png">', True),
        ('<script src="assets/x.js"></script>', False),
        ('<link rel="canonical" href="https://docs.example/">', False),
        ('<a href="https://huggingface.co">a link</a>', False),
    ],
)
def test_what_a_page_loads_from_outside_fails_the_build(tag, is_loaded, caplog):
    warn_of_what_is_loaded(f"<p>{tag}</p>", "index.md")
    assert ("loads something from outside" in caplog.text) == is_loaded
