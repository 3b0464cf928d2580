"""The report: its tables hold the scores, it needs nothing but itself, nothing in it can be injected."""

import csv
import io
import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console
from synthetic_runs import TABLE_ROWS, agreement_rows, slug, top_forms, write_run

from tse_scorers.report import summary_table, write_report
from tse_scorers.report.inputs import read_runs, result_rows

BERT, TINY = "google-bert/bert-large-cased", "/some/where/tiny-masked"


class _Page(HTMLParser):
    """Collects what the tests ask about: tags, attributes that load or link, texts, table cells, ids."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.references: list[str] = []
        self.ids: list[str] = []
        self.labels: list[str] = []
        self.events: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href", "action", "data", "poster", "srcset"):
                self.references.append(value or "")
            if name == "id":
                self.ids.append(value or "")
            if name == "aria-label" and tag == "svg":
                self.labels.append(value or "")
            if name.startswith("on"):
                self.events.append(name)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def agreement_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reported agreement run of a model of the paper's and one that is not."""
    out = tmp_path_factory.mktemp("runs") / "agreement"
    rows = [row for seed, model in enumerate((BERT, TINY)) for row in agreement_rows(model, seed=seed)]
    write_run(out, rows, {f"{slug(BERT)}.agreement.marvin_linzen.top_forms": top_forms()})
    write_report(out)
    return out


def _csv(path: Path) -> dict[str, dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        assert reader.fieldnames is not None
        return {row[reader.fieldnames[0]]: row for row in reader}


def test_table2_holds_the_scores_of_the_whole_distribution(agreement_out: Path) -> None:
    content = json.loads((agreement_out / "results.json").read_text())["results"]
    expected = {
        (row["group"], row["metric"]): row["score"]
        for row in content
        if row["model"] == BERT and row["cutoff"] in (None, 1.0) and row["cutoff_side"] != "bottom"
    }
    table = _csv(agreement_out / "table2.csv")
    assert list(table)[:10] == [*TABLE_ROWS, "BLiMP"]
    for group in (*TABLE_ROWS, "BLiMP"):
        for metric in ("mw", "ew", "tse"):
            assert float(table[group][f"{BERT} {metric.upper()}"]) == pytest.approx(expected[group, metric])


def test_published_scores_stand_beside_models_of_the_paper_only(agreement_out: Path) -> None:
    """Newman et al. (2021), Table 2, BERT cased: Simple 0.99, 0.94, 1.00; BLiMP 0.81, 0.73, 0.90."""
    table = _csv(agreement_out / "table2.csv")
    assert [float(table["Simple"][f"{BERT} {m} published"]) for m in ("MW", "EW", "TSE")] == [0.99, 0.94, 1.0]
    assert [float(table["BLiMP"][f"{BERT} {m} published"]) for m in ("MW", "EW", "TSE")] == [0.81, 0.73, 0.9]
    assert not any(column.startswith("tiny-masked") and "published" in column for column in table["Simple"])
    row = next(
        line for line in (agreement_out / "table2.md").read_text().splitlines() if line.startswith("| Simple")
    )
    assert "(0.94)" in row and row.count("(") == 3


def test_latex_table_spans_the_models(agreement_out: Path) -> None:
    latex = (agreement_out / "table2.tex").read_text()
    assert r"\multicolumn{3}{c}{google-bert/bert-large-cased}" in latex
    assert r"\cmidrule(lr){2-4}\cmidrule(lr){5-7}" in latex
    assert all(line.count("&") == 6 for line in latex.splitlines() if line.startswith(("Simple", "BLiMP")))


def test_missing_scores_are_gaps_not_zeros(agreement_out: Path) -> None:
    """VP coordination has no eligible verb in the bottom 0.0001 %: a dash in the table."""
    page = (agreement_out / "report.html").read_text()
    numbers = page[page.index("EW by cut-off.") :]
    row = re.search(r'<th scope="row">VP coordination</th><td>([^<]*)</td><td>([^<]*)</td>', numbers)
    assert row is not None
    assert row[1] == "–" and math.isfinite(float(row[2]))


def test_examples_mark_right_and_wrong_by_symbol(agreement_out: Path) -> None:
    page = (agreement_out / "report.html").read_text()
    assert '<span role="img" aria-label="right">✓</span></td><th scope="row">meets</th>' in page
    assert '<span role="img" aria-label="wrong">✗</span></td><th scope="row">meet</th>' in page
    assert '<span role="img" aria-label="not judged">·</span></td><th scope="row">##s</th>' in page


def test_page_is_self_contained_and_accessible(agreement_out: Path) -> None:
    text = (agreement_out / "report.html").read_text()
    page = _Page(text)
    assert not {"script", "link", "iframe", "object", "embed", "img"} & set(page.tags)
    assert all(reference.startswith("#") for reference in page.references)
    assert not re.search(r"https?://|@import|url\((?!#)", text)
    assert page.tags.count("svg") == len(page.labels) == len(list((agreement_out / "figures").glob("*.svg")))
    assert all(page.labels)
    assert len(page.ids) == len(set(page.ids))
    assert page.tags.count("caption") == page.tags.count("table")
    assert "prefers-color-scheme: dark" in text and "@media print" in text


def test_every_figure_is_there_as_svg_and_png(agreement_out: Path) -> None:
    figures = agreement_out / "figures"
    names = {path.stem for path in figures.glob("*.svg")}
    assert names == {path.stem for path in figures.glob("*.png")}
    assert {
        "agreement_overview",
        "figure1_tiny-masked",
        "figure3_tiny-masked",
        "figure4_tiny-masked",
    } <= names


def test_same_results_give_the_same_bytes(agreement_out: Path) -> None:
    files = [agreement_out / "report.html", *sorted((agreement_out / "figures").iterdir())]
    before = {path.name: path.read_bytes() for path in files}
    write_report(agreement_out)
    assert {path.name: path.read_bytes() for path in files} == before


HOSTILE = "evil/<script>alert(1) $x_1$ & \"quote' | {% raw %} \\end{document}"


def test_hostile_names_and_sentences_are_shown_not_run(tmp_path: Path) -> None:
    out = tmp_path / "run"
    forms = top_forms("<img src=x onerror=alert(1)> </svg><script>alert(2)</script>.")
    write_run(out, agreement_rows(HOSTILE), {f"{slug(HOSTILE)}.agreement.marvin_linzen.top_forms": forms})
    page = _Page(write_report(out).read_text())
    assert not {"script", "img"} & set(page.tags) and not page.events
    assert "<script>alert(1) $x_1$" in page.text
    assert "<img src=x onerror=alert(1)>" in page.text
    latex = (out / "table2.tex").read_text()
    assert r"\textbackslash{}end\{document\}" in latex and latex.count(r"\end{document}") == 0
    markdown = (out / "table2.md").read_text().splitlines()
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in markdown if line.startswith("|")}
    assert len(widths) == 1, "a pipe in a name must not open a column"


def test_one_model_one_group_no_scores_on_disk(tmp_path: Path) -> None:
    rows = [
        row for row in agreement_rows("gpt2") if row["group"] == "Simple" and row["metric"] != "covered_mass"
    ]
    out = write_run(tmp_path / "run", rows, {})
    page = _Page(write_report(out).read_text())
    assert "Covered mass (Figure 3)" not in page.text and "Contexts without a verb" in page.text
    assert list(_csv(out / "table2.csv")) == ["Simple"]


def test_several_folders_in_one_report(tmp_path: Path) -> None:
    """The same model twice, run with different options, is told apart by its folder's name."""
    folders = [write_run(tmp_path / name, agreement_rows("gpt2", seed=i), {}) for i, name in enumerate("ab")]
    out = tmp_path / "both"
    write_report(out, folders)
    assert {"gpt2 MW", "gpt2 (b) MW"} <= set(_csv(out / "table2.csv")["Simple"])
    assert "a · " in (page := (out / "report.html").read_text()) and "b · " in page


def test_revisions_of_a_model_are_told_apart() -> None:
    rows = agreement_rows("org/m", "step1") + agreement_rows("org/m", "step2") + agreement_rows("gpt2")
    assert set(result_rows(rows)["system"]) == {"org/m@step1", "org/m@step2", "gpt2"}


def test_folders_of_one_name_keep_their_paths() -> None:
    rows = agreement_rows("/a/model") + agreement_rows("/b/model")
    assert set(result_rows(rows)["system"]) == {"/a/model", "/b/model"}


@pytest.mark.parametrize("rows", [[], None, [{"suite": "agreement"}], ["row"]])
def test_what_is_no_result_is_an_error_that_says_so(rows: object) -> None:
    with pytest.raises(ValueError, match="results"):
        result_rows(rows)  # type: ignore[arg-type]


def test_a_folder_without_results_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="tse run"):
        read_runs([tmp_path])


def test_scores_of_another_version_are_an_error(tmp_path: Path) -> None:
    scores = {f"{slug('gpt2')}.agreement.marvin_linzen.top_forms": top_forms().drop(columns="status")}
    out = write_run(tmp_path / "run", agreement_rows("gpt2"), scores)
    with pytest.raises(ValueError, match=r"lacks the column.*status"):
        write_report(out)


def test_terminal_summary_shows_names_literally() -> None:
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(summary_table(agreement_rows("org/[bold]model")))
    text = console.export_text()
    assert "org/[bold]model" in text and "agreement: marvin_linzen" in text and "TSE" in text
