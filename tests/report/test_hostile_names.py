"""Names and sentences that are code to somebody: in each output they are text, and no file leaves the folder."""

import csv
import io
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pandas as pd
import pytest
import synthetic_runs as made
from hostile import HOSTILE, UNSEEN, require_harmless_cells
from rich.console import Console

import tse_scorers
from tse_scorers.io.results import read_results
from tse_scorers.report.inline_svg import inline
from tse_scorers.report.latex import to_latex
from tse_scorers.report.plots import style, to_svg
from tse_scorers.report.summary import headlines
from tse_scorers.report.systems import slugs
from tse_scorers.report.table_forms import to_csv, to_markdown
from tse_scorers.report.tables import Table, formatted, score
from tse_scorers.report.terminal_summary import Summary
from tse_scorers.runs.report import write_report
from tse_scorers.suites.registry import all_measures

NAMES = pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())


def table_of(name: str) -> Table:
    values = pd.DataFrame({name: [0.5]}, index=pd.Index([name], name=name))
    return Table(name, values, formatted(values, score), note=name)


def files_outside(folder: Path) -> set[Path]:
    """The files beside and above a folder, without what is in it."""
    return {path for path in folder.parent.rglob("*") if folder not in (path, *path.parents)}


class Page(HTMLParser):
    """The tags of a page, its attributes, and what its scripts hold."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.scripts: list[str] = []
        self.handlers: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "action")]

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            self.scripts.append(data)


SORT = (files("tse_scorers.report") / "sort.js").read_text(encoding="utf-8")
"""The one script of a page with several models."""


# --- one string, each form of a table ----------------------------------------------------------------------


@NAMES
def test_markdown(name):
    text = to_markdown(table_of(name))
    assert not UNSEEN.search(text)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 3 and len(text.split("\n\n")) == 3  # caption, table, note: no line end of a name
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 3 for row in rows)
    assert not re.search(r"(?<!\\)[<>\[\]`$*]", text)


@NAMES
def test_latex(name):
    text = to_latex(table_of(name))
    assert not UNSEEN.search(text)
    assert not re.search(r"\\(?!\\)(input|immediate|write)", text) and "^^" not in text
    assert text.count("\\\\\n") == 2 and text.count("\n") == to_latex(table_of("x")).count("\n")
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}") and len(re.findall(r"(?<!\\)\$", text)) % 2 == 0
    assert len(re.findall(r"(?<!\\)%", text)) == 1  # our own comment


@NAMES
def test_csv(name):
    require_harmless_cells(to_csv(table_of(name)), ",")


@NAMES
def test_pictures(name):
    def draw():
        from matplotlib.figure import Figure

        figure = Figure()
        axes = figure.subplots()
        axes.plot([0, 1], label=name)
        axes.set_title(name)
        axes.set_xticks([0, 1], [name, name])
        axes.legend()
        return figure

    with style():
        svg = to_svg(draw())
    inside = inline(svg, "p", name)
    for text in (svg, inside):
        root = ElementTree.fromstring(text)
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert not tags & {"script", "a", "image", "foreignObject", "iframe", "h1", "img"}
        assert not any(key.startswith("on") for element in root.iter() for key in element.attrib)
        assert not UNSEEN.search(text)


@NAMES
def test_terminal(name):
    console = Console(file=io.StringIO(), width=100, force_terminal=False)
    console.print(Summary(headlines(made.result_frame(made.agreement_rows(name)), all_measures())))
    assert not UNSEEN.search(console.file.getvalue())


# --- file names --------------------------------------------------------------------------------------------


@NAMES
def test_names_of_files(name):
    assert re.fullmatch(r"[\w.-]{1,110}", slugs([name])[name], re.ASCII) and not slugs([name])[
        name
    ].startswith(".")


def test_different_names_have_different_files():
    assert len(set(slugs(list(HOSTILE.values())).values())) == len(HOSTILE)


# --- all of them in one report -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A run whose models, groups, sentences and forms have these names."""
    rows = [
        row for name in HOSTILE.values() for row in made.agreement_rows(name) if row["cutoff"] in (None, 1.0)
    ]
    rows += [row | {"group": name} for name in HOSTILE.values() for row in rows[:3]]
    rows += made.german_rows(HOSTILE["script"]) + made.blimp_rows(HOSTILE["ansi"])
    forms = made.top_forms(HOSTILE["image"])
    forms["form"] = list(HOSTILE.values()) * (len(forms) // len(HOSTILE)) + ["x"] * (
        len(forms) % len(HOSTILE)
    )
    forms["prefix"] = HOSTILE["script"]
    scores = {f"{HOSTILE['script']}.agreement.marvin_linzen.top_forms": forms}
    return made.write_run(tmp_path_factory.mktemp("hostile") / "<b>run</b>", rows, scores)


@pytest.mark.usefixtures("no_pictures")
def test_the_report_shows_names_and_runs_nothing(run):
    """Names in pictures are looked at above."""
    before = files_outside(run)
    write_report(run)
    assert files_outside(run) == before
    text = (run / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.scripts == [SORT] and "img" not in page.tags and not page.handlers
    assert all(link.startswith("#") for link in page.links)
    assert page.tags.count("h1") == 1 and "&lt;script&gt;" in text and not UNSEEN.search(text)
    assert "{{ 7 * 7 }}" in text  # not 49
    files = [path for path in run.rglob("*") if path.is_file()]
    assert all(re.fullmatch(r"[\w.-]+", path.name, re.ASCII) for path in files)
    for path in run.glob("*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        wrong = [cell for cell in cells if re.match(r"[=+@\t\r]|-(?!\d)", cell)]
        assert not wrong
    for path in (*run.glob("*.md"), *run.glob("*.tex")):
        assert not UNSEEN.search(path.read_text(encoding="utf-8"))


@pytest.mark.usefixtures("drafts")
def test_a_run_over_hostile_data_stays_in_its_folder(tmp_path):
    named = {key: name for key, name in HOSTILE.items() if "\0" not in name and name.strip()}
    pairs = pd.DataFrame(
        [
            {"group": name, "prefix": f"The author {name.strip()[:80]}", "suffix": ".",
             "form_correct": "laughs", "form_incorrect": "laugh", "number": "singular"}
            for name in named.values()
        ]
    )  # fmt: skip
    data, out = tmp_path / "=1+1 ..owned.parquet", tmp_path / "out"
    pairs.to_parquet(data)
    before = files_outside(out)
    tse_scorers.run("tiny-causal", data=str(data), out=out)
    assert files_outside(out) == before
    assert {row["group"] for row in read_results(out)["results"]} >= set(named.values())
    page = Page((out / "report.html").read_text(encoding="utf-8"))
    assert "script" not in page.tags and not page.handlers
    for path in out.rglob("*"):
        assert re.fullmatch(r"[\w.-]+", path.name, re.ASCII) and len(path.name) < 200
