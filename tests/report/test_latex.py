"""Tables as LaTeX: their forms, and that each fits the page of a paper."""

import re
import shutil
import subprocess
from functools import partial

import pandas as pd
import pytest
from many_models import MODELS
from measured_latex import PAGE_POINTS, TEXT_POINTS, measured
from score_tables import score_table
from synthetic_runs import agreement_rows, write_run

from tse_scorers.report.best import best_of_rows
from tse_scorers.report.latex import forms, to_latex
from tse_scorers.report.tables import Table, formatted, score
from tse_scorers.runs.report import write_paper, write_report

PARADIGM = "coordinate_structure_constraint_complex_left_branch"
_TWO = "textwidth=6.3in,columnsep=.24in,textheight=9in"
DOCUMENTS = {
    "two columns": rf"\documentclass[twocolumn]{{article}}\usepackage[{_TWO}]{{geometry}}",
    "one column": r"\documentclass{article}\usepackage[textwidth=6.3in,textheight=9in]{geometry}",
    "11 pt": rf"\documentclass[11pt,twocolumn]{{article}}\usepackage[{_TWO}]{{geometry}}",
}


def test_tables_wider_than_a_column_have_their_systems_down_and_keep_intervals():
    few, some, many = (
        to_latex(score_table(n, ("a", "b", "c")[: 3 if n > 20 else 2], interval_note="± is half the width."))
        for n in (1, 6, 24)
    )
    for latex in (few, some, many):
        assert r"\begin{table}" in latex and "half the width" in latex
    assert r"\multicolumn{2}{c}{" in few and r"\multicolumn" not in some + many
    assert re.search(r"org/m\\_23 & EW & 0\.96.* & 0\.96.* & 0\.96", many)


def test_rows_without_any_score_are_left_out():
    table = score_table(2)
    gone = table.values.copy()
    gone.loc["b"] = float("nan")
    text = to_latex(Table("Scores.", gone, formatted(gone, score), file="scores"))
    assert "\na & " in text and "\nb & " not in text


def test_the_best_of_a_row_is_bold_unless_it_does_not_compare():
    values = pd.DataFrame([[0.904, 0.896, 0.99, float("nan"), 0.8]], index=["a"], columns=list("vwxyz"))
    text = formatted(values, score)
    best = best_of_rows(values, text, ["EW", "EW", None, "EW", "EW"])
    assert best.loc["a"].tolist() == [
        True,
        True,
        False,
        False,
        False,
    ]  # 0.904 and 0.896 are both printed as 0.90
    alike = values.drop(columns="z")
    assert not best_of_rows(alike, text[alike.columns], ["EW", "EW", None, "EW"]).any(
        axis=None
    )  # they differ from no other
    latex = to_latex(Table("Scores.", values, text, file="t", best=best))
    assert latex.count(r"\textbf{0.90}") == 2 and r"\textbf{0.99}" not in latex


def _bold(tmp_path, rows):
    """Return the bold scores of the leaderboard, and the row of its phenomena's LaTeX table."""
    about = {
        "suite": "minimal_pairs",
        "dataset": "blimp",
        "config": "all",
        "metric": "accuracy",
        "method": "full",
        "n": 100,
    }
    rows = [
        about | {"model": model, "group": group, "score": score, "ci_low": low, "ci_high": high, "reliable": ok,
                 "n_units": 30, "revision": None}
        for model, score, low, high, ok in rows
        for group in ("all", "phenomenon:binding", "principle_A_c_command")
    ]  # fmt: skip
    page = write_report(write_run(tmp_path / "run", rows, {}), figures=False)
    table = (page.parent / "pairs_table.tex").read_text(encoding="utf-8")
    board = page.read_text(encoding="utf-8").partition('class="leaderboard')[2].partition("</table>")[0]
    return re.findall("<strong>(.*?)</strong>", board), sorted(set(re.findall(r"\\textbf{([\d.]+)", table)))


def test_bold_scores_are_reliable_and_differ_from_the_others(tmp_path):
    """0.681 [0.000, 1.000] was bold beside 0.602; now reliable scores are that intervals set apart from the others."""
    others = [("x", 0.602, 0.58, 0.62, True), ("y", 0.5, 0.48, 0.52, True)]
    for number, (first, bold) in enumerate(
        [
            (("m", 0.681, 0.0, 1.0, False), ["0.60"]),  # it does not count at all
            (("m", 0.681, 0.61, 0.75, True), []),
            (("m", 0.681, 0.63, 0.73, True), ["0.68"]),
        ]
    ):
        assert _bold(tmp_path / str(number), [first, *others]) == (bold, bold)


def test_a_header_is_no_argument_of_the_line_before_it():
    values = pd.DataFrame({"x": [0.5, 0.6]}, index=["a", "[2in]"])
    assert "\n{[}2in{]} & " in to_latex(Table("Scores.", values, formatted(values, score), file="t"))


def test_intervals_are_left_out_of_all_cells_or_of_none():
    """A score over fewer items than its neighbours kept its interval where the table had none."""
    values = pd.DataFrame({"x": [0.61, 0.58], "y": [0.85, 0.75]})
    text = pd.DataFrame({"x": ["0.61 ± 0.03 (n 20)", "0.58 ± 0.02"], "y": ["0.85 [0.7, 0.9] (n 20)", "0.75"]})
    latex = to_latex(Table("Scores.", values, text, file="t"), intervals=False)
    assert [row.split(" & ")[1:] for row in latex.splitlines() if row[:1] in "01" and "&" in row] == [
        ["0.61 (n 20)", r"0.85 (n 20) \\"],
        ["0.58", r"0.75 \\"],
    ]


def _models(n):
    return [*MODELS, *(f"EleutherAI/pythia-160m@step{step}000" for step in range(n))][:n]


def _large(n_systems, n_rows, kind):
    """A table with one column per system, with three, or with one row per system."""
    rows = [f"{PARADIGM}_{place}" if n_rows > 20 else f"Construction {place}" for place in range(n_rows)]
    if kind == "rows":
        rows, columns = _models(n_systems), pd.Index(rows)
    elif kind == "groups":
        columns = pd.MultiIndex.from_product([_models(n_systems), ["TSE", "EW", "MW"]])
    else:
        pairs = [("this run", name) for name in _models(n_systems)]
        columns = pd.MultiIndex.from_tuples([*pairs, ("published", "GPT-2"), ("humans", "majority")])
    values = pd.DataFrame(0.981, index=rows, columns=columns)
    return Table(
        "Accuracy.", values, formatted(values, partial(score, digits=3)), file=f"{kind}_{n_systems}_{n_rows}",
        best=values == 0.981, note="A remark of some length below the table. " * 6, interval_note="No interval.",
        systems=_models(n_systems),
    )  # fmt: skip


LARGE = [
    (n, rows, kind)
    for n in (1, 4, 8, 24, 60)
    for rows in (2, 12, 67)
    for kind in ("columns", "groups", "rows")
]


@pytest.mark.parametrize(
    ("n", "rows", "kind"),
    [pytest.param(*large, marks=[pytest.mark.slow] if large[:2] == (60, 67) else []) for large in LARGE],
)
def test_every_part_of_a_table_fits_its_page_and_has_all_cells_once(n, rows, kind):
    """A table of 67 paradigms and 8 models reached 138 points into the margin and 90 below the page."""
    table = _large(n, rows, kind)
    latex = to_latex(table)
    parts = measured(latex)
    assert all(part.width <= TEXT_POINTS and part.height <= PAGE_POINTS for part in parts)
    assert all(part.is_wide or part.width <= 3.03 * 72.27 for part in parts)
    assert all(part.type >= 7 for part in parts)
    assert latex.count("0.981") == table.values.size
    labels = [part.label for part in parts]
    assert labels[0] == f"tab:{table.file}" and len(set(labels)) == len(parts)
    assert (f"Part {len(parts)} of {len(parts)}." in latex) == (len(parts) > 1)
    assert latex.count("A remark") == 6  # only the first part repeats the remarks


def test_parts_are_even_and_break_between_systems():
    """The second part of a table had two of its seven columns; a model stood half on one page, half on the next."""
    latex = to_latex(_large(24, 12, "groups"))
    parts = measured(latex)
    assert len(parts) > 1 and all(part.rows % 3 == 0 for part in parts)
    firsts = [body.split(" & ")[0] for body in re.findall(r"\\midrule\n(.*?) \\\\", latex)]
    assert "" not in firsts and len(set(firsts)) == 24


def test_names_stay_distinct_where_they_are_shortened():
    latex = to_latex(_large(24, 67, "rows"))
    assert (
        "epochs-seed-1" in latex
        and "epochs-seed-2" in latex
        and "babylm-baseline-10m-gpt2-strict" not in latex
    )
    assert re.search(r"a\\_\d", to_latex(Table("S.", *_twice(["x/a_1", "y/a_1"]), file="t")))


def test_only_systems_lose_what_stands_before_a_slash():
    """A column of conditions, in/out, was headed `out`, and a row He/she was `she`."""
    names = ["He/she", "organisation/a-model, in/out"]
    values, text = _twice(names)
    values.columns = text.columns = pd.Index(["in/out", "organisation/a-model", *values.columns[2:]])
    table = Table("S.", values, text, systems=["organisation/a-model"])
    plain, _, narrow = [cells for cells, _ in forms(table, False)][:3]
    assert plain.headings[:2] == ["in/out", "organisation/a-model"]
    assert narrow.headings[:2] == ["in/out", "a-model"]
    assert [header for header, *_ in (headers for headers, _ in narrow.rows)] == ["He/she", "a-model, in/out"]


def _twice(names):
    values = pd.DataFrame(
        [[0.5] * 30] * len(names), index=names, columns=[f"long heading {i}" for i in range(30)]
    )
    return values, formatted(values, score)


def test_an_option_keeps_its_two_hyphens():
    table = score_table(1)
    latex = to_latex(Table("Partial run (--limit 30).", table.values, table.text, file="t"))
    assert "(-{}-limit 30)" in latex


def test_letters_that_pdflatex_lacks_are_announced():
    table = score_table(1)
    plain, other = (to_latex(Table(said, table.values, table.text)) for said in ("η² → “ä”", "модель"))
    assert "XeLaTeX" not in plain and r"$\eta$$^2$ $\rightarrow$" in plain
    assert "XeLaTeX or LuaLaTeX" in other.splitlines()[0]


@pytest.mark.latex
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex (texlive-latex-recommended)")
@pytest.mark.parametrize(
    "document",
    [next(iter(DOCUMENTS)), *(pytest.param(own, marks=pytest.mark.slow) for own in [*DOCUMENTS][1:])],
)
def test_tables_and_figures_compile_without_a_complaint(document, tmp_path):
    rows = [
        row
        for row in agreement_rows("org/m")
        if row["group"] == "Simple" and row["cutoff"] in (None, 0.5, 1.0)
    ]
    folder = write_paper(write_run(tmp_path / "run", rows, {})).folder
    written = [own for own in LARGE if own[0] in (1, 8, 24)]
    for n, n_rows, kind in written:
        table = _large(n, n_rows, kind)
        (folder / f"{table.file}.tex").write_text(to_latex(table))
    inputs = "".join(rf"\input{{{path.name}}}\clearpage " for path in sorted(folder.glob("*.tex")))
    labels = "".join(rf"\ref{{tab:{kind}_{n}_{n_rows}}} " for n, n_rows, kind in written)
    (folder / "main.tex").write_text(
        rf"{DOCUMENTS[document]}\usepackage{{booktabs,graphicx}}\begin{{document}}{inputs}{labels}\end{{document}}"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"]
    for _ in range(2):  # the second time, references are known
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout[-2000:]
    assert not re.findall(r"Overfull.*|.*too large.*|.*undefined.*", result.stdout)
