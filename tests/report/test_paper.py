"""Figures and tables for a paper, and what a printed page holds."""

import json
import re
import shutil
import subprocess

import pandas as pd
import pytest
from synthetic_runs import agreement_rows, write_run

from tse_scorers.report import comparison
from tse_scorers.report.best import best_of_rows
from tse_scorers.report.heat import _readable_on
from tse_scorers.report.inputs import read_runs
from tse_scorers.report.latex import to_latex
from tse_scorers.report.paper import write_paper
from tse_scorers.report.plots import Picture, draw_pdf
from tse_scorers.report.print_blocks import print_blocks
from tse_scorers.report.section import Part, Section
from tse_scorers.report.tables import Table, formatted, percent, score
from tse_scorers.runs.report import write_paper as write_paper_of_run
from tse_scorers.runs.report import write_report
from tse_scorers.suites.agreement.section import section as agreement_section

GROUPS = ("Simple", "VP coordination")


def _table(n_systems, rows=("a", "b"), **options):
    columns = pd.MultiIndex.from_product([[f"org/m_{i}" for i in range(n_systems)], ["EW", "TSE"]])
    values = pd.DataFrame(
        [[0.5 + 0.01 * place for place in range(len(columns))] for _ in rows],
        index=list(rows),
        columns=columns,
    )
    return Table("Scores.", values, formatted(values, score), file="scores", number="Table 2", **options)


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
        assert width == pytest.approx(3.03 if path.stem.endswith("-column") else 6.3, abs=0.01)
        assert b"/FontFile2" in pdf and b"/Type3" not in pdf and b"/Subtype /Image" not in pdf


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


def test_captions_of_a_partial_run_say_so_and_those_of_a_whole_one_do_not(paper, tmp_path):
    """Table 2 of five pairs had the caption of the whole table; only the page and the terminal said it."""
    folder, _ = paper
    rows = [row for row in agreement_rows("org/m") if row["config"] == "marvin_linzen"]
    out = write_run(tmp_path / "run", rows, {})
    content = json.loads((out / "results.json").read_text())
    identity = {key: rows[0][key] for key in ("suite", "config", "model", "revision")}
    recipe = {"partial": True, "partial_reasons": ["--limit 5"]}
    content["signature"]["models"] = [{"identity": identity, "recipe": recipe}]
    (out / "results.json").write_text(json.dumps(content))
    write_report(out, figures=False)
    notice = "Partial run (--limit 5): org/m."
    assert notice in (out / "table2.tex").read_text() and "Partial" not in (out / "table2.csv").read_text()
    assert notice in (out / "table2.md").read_text()
    section = agreement_section(read_runs([out])).with_notice(notice)
    pictures = [block for part in section.parts for block in part.blocks if isinstance(block, Picture)]
    assert pictures and all(own.notice == notice for own in [*pictures, *pictures[0].tables])
    assert not any("Partial run" in path.read_text() for path in folder.glob("*.tex"))


def test_tables_beyond_the_width_of_the_text_are_turned_and_say_nothing_of_intervals():
    narrow, wide, turned = (
        to_latex(_table(n, ("a", "b", "c")[: 3 if n > 20 else 2], interval_note="± is half the width."))
        for n in (1, 6, 24)
    )
    assert r"\begin{table}" in narrow and "half the width" in narrow
    assert r"\begin{table*}" in wide and r"\multicolumn{2}{c}{" in wide
    assert r"\rotatebox" in turned and r"\multicolumn" not in turned and "half the width" not in turned
    assert re.search(r"org/m\\_23 & EW & 0\.96 & 0\.96 & 0\.96 ", turned)


def test_a_turned_table_that_is_too_wide_has_short_names_and_small_type():
    """A table of BLiMP's phenomena reached 69 points into the margin."""
    names = [("this run", f"an-organisation/a-model-{place}") for place in range(8)]
    values = pd.DataFrame(0.5, index=list("abcdefghijklm"), columns=pd.MultiIndex.from_tuples(names))
    text = to_latex(Table("Scores.", values, formatted(values, percent), file="t"))
    assert "\nthis run & a-model-0 & 50.0" in text and r"\footnotesize" in text
    wider = pd.concat([values, values.add_prefix("x", axis=0)])
    assert r"\scriptsize" in to_latex(Table("Scores.", wider, formatted(wider, percent), file="t"))


def test_rows_without_any_score_are_left_out():
    table = _table(2)
    gone = table.values.copy()
    gone.loc["b"] = float("nan")
    text = to_latex(Table("Scores.", gone, formatted(gone, score), file="scores"))
    assert "\na & " in text and "\nb & " not in text


def test_the_best_of_a_row_is_bold_unless_it_does_not_compare():
    values = pd.DataFrame([[0.904, 0.896, 0.99, float("nan")]], index=["a"], columns=list("wxyz"))
    text = formatted(values, score)
    best = best_of_rows(values, text, ["EW", "EW", None, "EW"])
    assert best.loc["a"].tolist() == [True, True, False, False]  # 0.904 and 0.896 are both printed as 0.90
    latex = to_latex(Table("Scores.", values, text, file="t", best=best))
    assert latex.count(r"\textbf{0.90}") == 2 and r"\textbf{0.99}" not in latex


def test_a_header_is_no_argument_of_the_line_before_it():
    values = pd.DataFrame({"x": [0.5, 0.6]}, index=["a", "[2in]"])
    assert "\n{[}2in{]} & " in to_latex(Table("Scores.", values, formatted(values, score), file="t"))


def test_differences_of_a_comparison_are_panels_and_a_table_of_a_paper(tmp_path):
    row = {
        "suite": "agreement", "config": "x", "reference": "org/a", "system": "org/b", "score": 0.8,
        "reference_score": 0.7,
        "difference": 0.1, "se": 0.02, "ci_low": 0.06, "ci_high": 0.14, "p": 1e-9, "p_adjusted": 0.2,
        "minimum_detectable": 0.05, "n_units": 25, "unit": "nouns", "n_lemmas": None, "test": "t test", "different": "",
        "approximate": False, "reliable": True,
    }  # fmt: skip
    groups = ("all", "Simple", "Across a rather long object relative clause")
    rows = pd.DataFrame([row | {"measure": m, "group": g} for m in ("TSE", "EW") for g in groups])
    items = pd.DataFrame(columns=["suite", "config", "reference"])
    written = write_paper(tmp_path, [comparison.section(rows, items).with_notice("Own data (x): org/a.")])
    assert (written.figures, written.tables, list(written.too_wide)) == (4, 1, [])
    assert (tmp_path / "paper" / "comparison_1-ew-org-b-column.pdf").is_file()
    table = (tmp_path / "paper" / "comparison_1.tex").read_text()
    assert (tmp_path / "paper" / "figures.tex").read_text().count("Own data (x): org/a.}") == 2
    assert "Own data (x): org/a." in table
    assert r"\label{tab:comparison_1}" in table and "+10.0" in table and "0.001" in table


def test_a_figure_that_does_not_fit_is_named(tmp_path):
    def draw():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(3, 0.3))
        figure.subplots(8, 1)
        return figure

    assert draw_pdf(draw, 3.03) is None
    picture = Picture("squeezed", "Nothing.", "Nothing.", draw, panels={"": draw})
    written = write_paper(tmp_path, [Section("s", "S", "", {}, [Part("P", "", [picture])])])
    assert list(written.too_wide) == ["squeezed-column.pdf", "squeezed-text.pdf"] and written.figures == 0


@pytest.mark.parametrize("n", [0, 1, 8, 24])
def test_printed_blocks_hold_every_column_once_and_keep_models_whole(n):
    table = _table(n, note="Note.")
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
        low, high = sorted((luminance(cell), 0.0 if _readable_on(cell) == "#000000" else 1.0))
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_other_languages_show_neither_english_nor_the_papers_table(tmp_path):
    rows = [row | {"config": "clams_german"} for row in agreement_rows("org/m") if row["group"] == "Simple"]
    shown = agreement_section(read_runs([write_run(tmp_path / "run", rows, {})]))
    tables = [block for part in shown.parts for block in part.blocks if isinstance(block, Table)]
    said = " ".join([shown.lead, *(table.title for table in tables)])
    assert "keys to the cabinet" not in said and "Table 2" not in said and "Newman" not in said
    assert "clams german" in said


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex (texlive-latex-recommended)")
def test_a_paper_with_its_tables_and_figures_compiles(paper):
    folder, _ = paper
    inputs = "".join(
        rf"\input{{{path.name}}}" for path in sorted(folder.glob("*.tex")) if path.stem != "main"
    )
    (folder / "main.tex").write_text(
        r"\documentclass{article}\usepackage{booktabs,graphicx}\usepackage[textwidth=6.3in]{geometry}"
        rf"\begin{{document}}{inputs}\end{{document}}",
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0 and "Overfull" not in result.stdout, result.stdout[-2000:]
