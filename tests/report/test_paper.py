"""Figures and tables for a paper, and what a printed page holds."""

import html
import re
from dataclasses import replace

import pandas as pd
import pytest
from run_records import record_of
from score_tables import score_table
from synthetic_runs import agreement_rows, placed, write_run
from typer.testing import CliRunner

from tse_scorers.cli.app import app
from tse_scorers.report import comparison
from tse_scorers.report.blocks import Chart, Section, View
from tse_scorers.report.charts import dots
from tse_scorers.report.heat import readable_on
from tse_scorers.report.inputs import read_runs
from tse_scorers.report.methods import methods_paragraph
from tse_scorers.report.page import summary_of
from tse_scorers.report.paper import write_paper
from tse_scorers.report.plots import draw_pdf
from tse_scorers.report.print_blocks import print_blocks
from tse_scorers.report.tables import Table
from tse_scorers.runs.report import write_paper as write_paper_of_run
from tse_scorers.runs.report import write_report
from tse_scorers.suites.registry import find_suite

GROUPS = ("Simple", "VP coordination")


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    """The files for a paper of a run of one model: two constructions."""
    out = tmp_path_factory.mktemp("paper") / "run"
    rows = [
        row for row in agreement_rows("org/m") if row["group"] in GROUPS and row["cutoff"] in (None, 0.5, 1.0)
    ]
    written = write_paper_of_run(write_run(out, rows, {}))
    return out / "paper", written


def test_pdfs_have_the_widths_of_a_paper_and_embedded_fonts_of_8_points(paper):
    folder, written = paper
    assert written.figures == len(list(folder.glob("*.pdf"))) > 0 and not written.too_wide
    for path in folder.glob("*.pdf"):
        pdf = path.read_bytes()
        width = float(re.search(rb"/MediaBox \[ 0 0 ([0-9.]+)", pdf)[1]) / 72
        assert width == pytest.approx(3.03, abs=0.01) and path.stem.endswith("-column")
        assert b"/FontFile2" in pdf and b"/Type3" not in pdf and b"/Subtype /Image" not in pdf
        assert fonts_of(pdf) == {"STIXGeneral-Regular"}  # Times


def fonts_of(pdf: bytes) -> set[str]:
    return {name.decode().rpartition("+")[2] for name in re.findall(rb"/BaseFont /(\S+)", pdf)}


def test_figures_have_the_font_of_the_paper(tmp_path):
    """They were set in DejaVu Sans, whatever the document's font."""
    chart = Chart("dots", "font", {"": pd.DataFrame({"a": [0.5]}, index=["b"])}, "Nothing.", x="score")
    section = Section("s", "S", "", {}, [View("P", "", [chart])])
    for font, name in (("Times", "STIXGeneral-Regular"), ("DejaVu Serif", "DejaVuSerif")):
        write_paper(tmp_path, [section], font=font)
        assert fonts_of((tmp_path / "paper" / "font-column.pdf").read_bytes()) == {name}
    with pytest.raises(
        ValueError, match=r"No font 'DejaVu Serifs' .*expected Times.* Did you mean DejaVu Serif"
    ):
        write_paper(tmp_path, [section], font="DejaVu Serifs")


def test_a_font_without_a_paper_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"font.* has no effect .*paper column"):
        CliRunner().invoke(app, ["report", str(tmp_path), "--font", "Times"], catch_exceptions=False)


def test_no_figure_is_higher_than_a_page_and_rows_that_would_overlap_are_not_drawn():
    """24 models made figures of 10.4 inches, whose captions lay below the page."""
    inches = {}
    for n in (8, 24, 40, 90):
        names = [f"organisation/a-model-of-some-length-{place}" for place in range(n)]
        values = pd.DataFrame(0.5, names, pd.MultiIndex.from_product([["p"], ["EW", "MW"]]))
        pdf = draw_pdf(lambda values=values: dots(values, ["p"], "score"), 3.03)
        inches[n] = pdf and float(re.search(rb"/MediaBox \[ 0 0 [0-9.]+ ([0-9.]+)", pdf.content)[1]) / 72
    assert inches[8] < inches[24] <= inches[40] <= 7.4 and inches[90] is None


def test_latex_has_labels_and_own_captions(paper):
    folder, _ = paper
    figures = (folder / "figures.tex").read_text()
    included = re.findall(r"\\includegraphics\{(.*?)\}", figures)
    assert included and all((folder / name).is_file() for name in included)
    assert figures.count(r"\label{fig:") == figures.count(r"\caption{") == len(included)
    assert "panel" not in figures and "side by side" not in figures  # a figure of a paper is one panel
    table = (folder / "table2.tex").read_text()
    assert r"\label{tab:table2}" in table and "Table 2" not in table
    assert "Simple" in table and "BLiMP" not in table and "object relative" not in table


def test_the_index_has_every_file_and_what_latex_needs_to_show_it(paper):
    folder, _ = paper
    index = html.unescape((folder / "index.html").read_text())
    files = {path.name for path in folder.iterdir()} - {"index.html", "figures.tex", "methods.tex"}
    assert files == set(re.findall(r'<a href="(.*?)">', index))
    for figure in re.findall(r"\\begin\{figure\*?\}.*?\\end\{figure\*?\}", index, re.DOTALL):
        assert figure in (folder / "figures.tex").read_text()
    assert all(rf"\input{{{path.stem}}}" in index for path in folder.glob("*.tex"))


def test_the_paragraph_on_methods_is_of_this_run(tmp_path):
    out = write_run(tmp_path / "run", agreement_rows("org/m"), {})
    write_paper_of_run(out)
    rows = read_runs([out]).rows
    overall = rows[(rows["group"] == "all") & rows["cutoff"].isna()].set_index("metric")
    methods = (out / "paper" / "methods.tex").read_text()
    assert (
        methods.startswith("Models: org/m") and r"\input{methods}" in (out / "paper/index.html").read_text()
    )
    n_contexts = rows.loc[(rows["group"] == "all") & (rows["metric"] == "ew"), "n"].max()
    assert f"TSE over {overall.loc['tse', 'n'].max():,.0f} pairs" in methods
    assert f"EW and MW over {n_contexts:,.0f} contexts" in methods
    assert "95 \\% confidence intervals" in methods and r"$\Sigma$" in methods


def test_numbers_that_differ_between_models_are_ranges_and_data_have_their_fingerprint():
    line = {
        "suite": "Agreement", "suite_name": "agreement", "config": "x", "measure": "TSE", "unit": "nouns", "n": 10.0,
        "n_excluded": 0.0, "n_ties": 0.0, "n_units": 5.0, "n_units_effective": 4.5, "n_lemmas": float("nan"),
        "counted": "pairs", "why_excluded": "a form is not a single token", "reliable": True,
        "interval": "", "ci_low": 0.4,
    }  # fmt: skip
    lines = pd.DataFrame(
        [line | {"system": "a"}, line | {"system": "b", "n": 8.0, "n_excluded": 2.0, "reliable": False}]
    )
    signature = {"dataset_fingerprint": "f00d", "dtype": "float32", "revision": "step10"}
    versions = [{"environment": {"refined-tse": "0.2.0", "torch": torch}} for torch in ("2.1", "2.2")]
    signatures = {
        (system, "agreement", "x"): signature | {"request": request}
        for system, request in zip("ab", versions, strict=True)
    }
    said = methods_paragraph(lines, signatures)
    assert "a (revision step10) and b (revision step10) in float32" in said
    assert "refined-tse 0.2.0, with torch 2.1 and 2.2" in said and "fingerprint f00d" in said
    assert (
        "TSE over 8 to 10 pairs, intervals over 5 nouns, excluded 0 to 2 (a form is not a single token)."
        in said
    )
    assert "Over too few units" in said and "lemmas" not in said


def test_the_paragraph_on_methods_says_which_data_are_not_the_released_ones():
    """It held the terminal's notice, "Own data (mine): a.", between two sentences of prose."""
    line = {
        "suite": "Minimal pairs: mine", "suite_name": "minimal_pairs", "config": "mine", "measure": "accuracy",
        "unit": "critical words", "counted": "pairs", "why_excluded": "", "reliable": True,
        "interval": "", "ci_low": 0.4,
    } | dict.fromkeys(("n", "n_excluded", "n_ties", "n_units", "n_units_effective", "n_lemmas"), 4.0)  # fmt: skip
    lines = pd.DataFrame([line | {"system": system} for system in "ab"])
    part = {"own_data": True, "partial": True, "partial_reasons": ["--limit 4"]}
    signatures = {
        (system, "minimal_pairs", "mine"): {"dataset_fingerprint": "f00d", "request": request}
        for system, request in (("a", part), ("b", {"own_data": True}))
    }
    said = methods_paragraph(lines, signatures)
    assert (
        "mine (our own data; fingerprint f00d; only a part of it (--limit 4) for a): accuracy over 4" in said
    )


def test_captions_of_figures_speak_of_their_own_panel_and_scores(paper):
    """A figure of one construction said what is large among several, and what TSE is over below curves of EW."""
    folder, _ = paper
    figures = (folder / "figures.tex").read_text()
    assert "against the cut-off" in figures and "Large:" not in figures
    plain = Chart("scatter", "points", {"": pd.DataFrame({"x": [0.5], "y": [0.5]})}, "Points.")
    blocks = [plain, replace(plain, panel_notes={"": "n: 9."}), score_table(1)]
    (view,) = (
        Section("s", "S", "", {}, [View("P", "", blocks)]).with_notice("Own data.", [], "9 pairs.").views
    )
    assert [block.notice for block in view.of()] == ["Own data. 9 pairs.", "Own data.", "Own data. 9 pairs."]


@pytest.mark.parametrize(
    ("widths", "expected"),
    [(["column"], {"column"}), (["text"], {"text"}), (["column", "text"], {"column", "text"})],
)
def test_figures_have_the_widths_that_were_asked_for_and_no_file_of_others_stays(tmp_path, widths, expected):
    chart = Chart("heat", "empty", {"": pd.DataFrame({"a": [0.5]}, index=["b"])}, "Nothing.", x="score")
    section = Section("s", "S", "", {}, [View("P", "", [chart])])
    write_paper(tmp_path, [section], widths=["column", "text"])
    write_paper(tmp_path, [section], widths=widths)
    assert {path.stem.removeprefix("empty-") for path in tmp_path.rglob("*.pdf")} == expected
    with pytest.raises(ValueError, match=r"'wide' .* column or text"):
        write_paper(tmp_path, [section], widths=["wide"])


def test_captions_of_a_partial_run_say_so_and_those_of_a_whole_one_do_not(paper, tmp_path):
    """Table 2 of five pairs had the caption of the whole table; only the page and the terminal said it."""
    folder, _ = paper
    rows = [row for row in agreement_rows("org/m") if row["config"] == "marvin_linzen"]
    out = write_run(tmp_path / "run", rows, {})
    record = record_of(out)
    request = {"partial": True, "partial_reasons": ["--limit 5"]}
    replace(record, request=request).with_rows(record.rows())
    write_report(out, figures=False)
    notice = "Partial run (--limit 5): org/m."
    in_latex = notice.replace("--", "-{}-")
    assert in_latex in (out / "table2.tex").read_text() and "Partial" not in (out / "table2.csv").read_text()
    assert notice in (out / "table2.md").read_text()
    section = find_suite("agreement").views(read_runs([out])).with_notice(notice, ["org/m"])
    pictures = [block for view in section.views for block in view.of() if isinstance(block, Chart)]
    assert pictures and all(own.notice == notice for own in [*pictures, *pictures[0].tables])
    assert not any("Partial run" in path.read_text() for path in folder.glob("*.tex"))


def test_differences_of_a_comparison_are_panels_and_a_table_of_a_paper(tmp_path):
    row = {
        "suite": "agreement", "config": "x", "reference": "org/a", "system": "org/b", "score": 0.8,
        "reference_score": 0.7,
        "difference": 0.1, "se": 0.02, "ci_low": 0.06, "ci_high": 0.14, "p": 1e-9, "p_adjusted": 0.2,
        "minimum_detectable": 0.05, "n_units": 25, "n_units_effective": 25.0, "unit": "nouns", "n_lemmas": None,
        "test": "t test", "different": "",
        "reliable": True, "n_items": 10,
    }  # fmt: skip
    groups = ("all", "Simple", "Across a rather long object relative clause")
    rows = pd.DataFrame(
        [placed(row | {"measure": m, "group": g, "n_family": 2}) for m in ("TSE", "EW") for g in groups]
    )
    items = pd.DataFrame(columns=["suite", "config", "reference"])
    section = comparison.section(rows, items).with_notice("Own data (x): org/a.", ["org/a", "org/b"])
    written = write_paper(tmp_path, [section])
    assert (written.figures, written.tables, list(written.too_wide)) == (2, 1, [])
    assert (tmp_path / "paper" / "comparison_1-ew-org-b-column.pdf").is_file()
    table = (tmp_path / "paper" / "comparison_1.tex").read_text()
    assert (tmp_path / "paper" / "figures.tex").read_text().count("Own data (x): org/a.}") == 2
    assert "Own data (x): org/a." in table
    assert r"\label{tab:comparison_1}" in table and "+0.100" in table and "0.200" in table


def test_a_figure_that_does_not_fit_is_named(tmp_path):
    def draw():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(3, 0.3))
        figure.subplots(8, 1)
        return figure

    assert draw_pdf(draw, 3.03) is None
    values = pd.DataFrame({"a": 0.5}, index=[f"row {place}" for place in range(400)])
    chart = Chart("dots", "squeezed", {"p": values}, "Nothing.", x="score")
    written = write_paper(tmp_path, [Section("s", "S", "", {}, [View("P", "", [chart])])])
    assert list(written.too_wide) == ["squeezed"] and written.figures == 0


@pytest.mark.parametrize("n", [0, 1, 8, 24])
def test_printed_blocks_hold_every_column_once_and_keep_models_whole(n):
    table = score_table(n, note="Note.")
    blocks = print_blocks(table)
    assert [c for block in blocks for c in block.text.columns] == list(table.text.columns)
    assert all(len(block.text.columns) % 2 == 0 for block in blocks)
    assert (len(blocks) > 1) == (n == 24)
    assert [bool(block.note) for block in blocks] == [False] * (len(blocks) - 1) + [True]


def test_numbers_in_heat_tables_have_the_contrast_that_aa_asks_for():
    from matplotlib import colormaps

    def luminance(colour):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
        return sum(w * c for w, c in zip([0.2126, 0.7152, 0.0722], linear, strict=True))

    for place in range(101):
        cell = colormaps["RdBu"](place / 100)
        low, high = sorted((luminance(cell), 0.0 if readable_on(cell) == "#000000" else 1.0))
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_other_languages_show_neither_english_nor_the_papers_table(tmp_path):
    rows = [row | {"config": "clams_german"} for row in agreement_rows("org/m") if row["group"] == "Simple"]
    shown = find_suite("agreement").views(read_runs([write_run(tmp_path / "run", rows, {})])).in_report()
    tables = [block for view in shown.views for block in view.of() if isinstance(block, Table)]
    said = " ".join([shown.lead, *(table.title for table in tables)])
    assert "keys to the cabinet" not in said and "Table 2" not in said and "Newman" not in said
    assert "clams german" in said


def test_a_folded_block_is_headed_by_a_whole_name():
    """Its heading ended at the first ". " before a capital: `Differences from gpt2 v.`."""
    row = {
        "suite": "agreement", "config": "x", "reference": "gpt2 v. A of B", "system": "org/b", "score": 0.8,
        "reference_score": 0.7, "difference": 0.1, "se": 0.02, "ci_low": 0.06, "ci_high": 0.14, "p": 1e-9,
        "p_adjusted": 0.2, "minimum_detectable": 0.05, "n_units": 25, "n_units_effective": 25.0, "unit": "nouns",
        "n_lemmas": None, "test": "t test", "different": "", "reliable": True,
        "measure": "EW", "item": "x",
    }  # fmt: skip
    rows = pd.DataFrame(
        [placed(row | {"group": g, "n_family": 1, "n_items": n}) for g, n in (("all", 9), ("Simple", 5))]
    )
    (part,) = comparison.section(rows, rows).views
    assert [summary_of(block) for block in part.blocks] == [
        "Overall differences from gpt2 v. A of B.",
        "Difference from gpt2 v. A of B with its 95 % interval.",
        "Differences from gpt2 v. A of B by group.",
        "Items that differ most from gpt2 v. A of B.",
    ]
