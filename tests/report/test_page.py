"""The page and the files for a paper, from what is in the output folders."""

import re
import shutil
import subprocess
from html.parser import HTMLParser

import pandas as pd
import pytest
import synthetic_runs as made
from hostile import HOSTILE, UNSEEN
from typer.testing import CliRunner

from tse_scorers import run
from tse_scorers.cli.app import app
from tse_scorers.report.page import TEXT, write_paper, write_report

GROUPS = ["Simple", "VP coordination"]


class Page(HTMLParser):
    """The tags of a page, the attributes that could do something, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.links, self.handlers, self.text = [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "action")]

    def handle_data(self, data):
        self.text += data


def written(out, *folders, **options) -> Page:
    return Page(write_report(out, folders or None, **options).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A real run of two models."""
    out = tmp_path_factory.mktemp("report") / "r"
    return run(["tiny-causal", "tiny-masked"], suite="agreement", groups=GROUPS, out=out, report=False)


def test_the_page_asks_answers_and_shows(results, tmp_path):
    page = written(tmp_path, results.folder)
    assert "Does the model make a verb agree with its subject?" in page.text
    assert re.search(
        r"tiny-causal has the highest EW of the 2 models run here, 0\.\d\d \[.+\], above tiny-masked and guessing "
        r"\(0\.5\) by more than chance explains\.",
        page.text,
    )
    assert re.search(
        r"Its lowest score: (Simple|VP coordination), 0\.\d\d \[.+\]\. EW: share of listed", page.text
    )
    assert "Simple" in page.text and re.search(r"VP coordinationThe \w+ \w+ and \w+ \w+\.", page.text)
    assert re.search(r"tiny-masked, TSE: wrong in [\d,]+ of [\d,]+ pairs\.", page.text)
    assert "Scores over a part of the data." in page.text
    assert "Published, on all of the data: not comparable" in page.text
    assert "Part of the data (only Simple, only VP coordination): tiny-causal, tiny-masked." in page.text
    assert set(page.links) >= {"#top", "#settings"} and not page.handlers and "script" not in page.tags
    assert all(link.startswith(("#", "data:image/svg+xml;base64,")) for link in page.links)


def test_ew_is_over_the_verbs_that_all_models_have(results, tmp_path, no_pictures):
    """Models with unlike vocabularies were ranked by EW over unlike lists."""
    page = written(tmp_path, results.folder)
    tables = (
        pd.read_csv(tmp_path / "tables.csv").query("table == 'headlines'").set_index(["measure", "system"])
    )
    CliRunner().invoke(
        app, ["compare", str(results.folder), "--common-lemmas", "--out", str(tmp_path / "compared")]
    )
    scores = pd.read_csv(tmp_path / "compared" / "common_lemmas.csv").query(
        "group == 'all' and measure == 'EW'"
    )
    for system, of in scores.groupby("system"):
        own, common = (of[of["lemmas"] == lemmas].iloc[0] for lemmas in ("own", "common"))
        shown = tables.loc[("EW", system)]
        for column in ("score", "ci_low", "ci_high", "n_lemmas"):
            assert shown[column] == pytest.approx(common[column], abs=1e-12)
        assert shown["score_own_lemmas"] == pytest.approx(own["score"], abs=1e-12)
        assert not tables.loc[("MW", system), "usable"]
    assert f"EW is over the {common['n_lemmas']:.0f} verbs that all shown models have" in page.text
    assert re.search(r"MW is over each model's own verbs \(\d+ to \d+\), so it is not ranked", page.text)
    text = results.table()
    assert text.loc["tiny-causal", ("Agreement: Marvin & Linzen", "MW")].count("†") == 1
    write_paper([results.folder], tmp_path / "paper")
    assert "verbs that all shown models have" in (tmp_path / "paper" / "headlines.tex").read_text()


def test_without_common_verbs_there_is_no_ranking(results, tmp_path, monkeypatch):
    monkeypatch.setattr("tse_scorers.report.scores.over_common_lemmas", lambda runs, suite, config, rows: (
        rows.assign(score_own_lemmas=float("nan")), {"tiny-causal", "tiny-masked"}
    ))  # fmt: skip
    page = written(tmp_path, results.folder)
    assert "No ranking: EW is over other verbs for each model" in page.text
    assert not pd.read_csv(tmp_path / "tables.csv").query("measure == 'EW'")["is_best"].any()


def test_the_mean_over_verbs_is_ew(results, tmp_path):
    write_report(tmp_path, [results.folder])
    from tse_scorers.io.runs import read_runs
    from tse_scorers.report.verbs import by_lemma

    runs = read_runs([results.folder])
    for file in runs.scores("agreement", "outcomes"):
        verbs = by_lemma(file)
        overall = runs.rows[(runs.rows["system"] == file.system) & (runs.rows["level"] == "all")]
        ew = overall[
            (overall["metric"] == "ew") & (overall["cutoff"] == 1.0) & (overall["cutoff_side"] == "top")
        ]
        assert verbs["EW"].mean() == pytest.approx(ew["score"].item(), abs=1e-12)
        assert {"after singular", "after plural"} <= set(verbs)


def test_all_numbers_of_tables_are_in_one_file(results, tmp_path):
    page = written(tmp_path, results.folder)
    tables = pd.read_csv(tmp_path / "tables.csv", keep_default_na=False, na_values=[""])
    first = tables[tables["table"] == "headlines"].set_index(["system", "measure"])
    for row in results:
        if row.group == "all" and row.metric == "tse":
            assert first.loc[(row.model, "TSE"), "score"] == pytest.approx(row.score)
    assert (
        bool(first.loc[("tiny-causal", "EW"), "is_best"]) and not first.loc[("tiny-masked", "EW"), "is_best"]
    )
    assert page.text.count("tiny-causal") > 3


def test_two_suites_are_two_sections_with_one_first_table(tmp_path):
    rows = (
        made.agreement("a", "b")
        + made.with_ends(made.blimp_rows("a"))
        + made.with_ends(made.blimp_rows("b", 1))
    )
    page = written(tmp_path, made.write_run(tmp_path / "run", rows, {}))
    assert "What do these models know of grammar?" in page.text
    assert {"#agreement", "#minimal_pairs"} <= set(page.links)
    assert re.search(r"BLiMP: [ab] has the highest accuracy", page.text)


@pytest.mark.parametrize("n", [1, 3, 24])
def test_any_number_of_models(tmp_path, n):
    page = written(
        tmp_path, made.write_run(tmp_path / "run", made.agreement(*(f"org/model-{k}" for k in range(n))), {})
    )
    assert all(f"model-{k}" in page.text for k in range(n))
    lead = "reaches EW" if n == 1 else "has the highest EW"
    assert lead in page.text


def test_a_series_has_a_curve_and_a_sentence_on_its_course(tmp_path):
    rows = [row | {"revision": f"step{step}"} for step in range(1, 31) for row in made.agreement("m")]
    page = written(tmp_path, made.write_run(tmp_path / "run", rows, {}))
    assert "Over the training" in page.text
    assert (
        "m@step30" in page.text and "m@step29" not in page.text
    )  # of a long series, tables have the last one


def test_what_does_not_compare_is_said_and_not_bold(results, tmp_path):
    other = run("tiny-causal", suite="agreement", groups=GROUPS[:1], out=tmp_path / "o", report=False)
    page = written(tmp_path / "both", results.folder, other.folder)
    assert "do not compare their scores" in page.text
    assert re.search(r"† From another part of the data .*: tiny-causal \(o\)\.", page.text)
    tables = pd.read_csv(tmp_path / "both" / "tables.csv")
    odd = tables[(tables["table"] == "headlines") & tables["system"].str.contains(r"\(o\)")]
    assert len(odd) and not odd["is_best"].any() and not odd["usable"].any()
    assert re.search(r"\d\.\d\d\*?†", page.text)


def test_ties_alone_are_no_answer(tmp_path):
    rows = [
        row | {"score": 0.0, "n_ties": row["n"]}
        for row in made.agreement("m")
        if row["metric"] in ("ew", "mw", "tse")
    ]
    page = written(tmp_path, made.write_run(tmp_path / "run", made.with_ends(rows), {}))
    assert "Only ties" in page.text


def test_results_without_a_headline_have_a_page(tmp_path):
    rows = [row for row in made.agreement("m") if row["metric"] == "covered_mass"]
    page = written(tmp_path, made.write_run(tmp_path / "run", rows, {}))
    assert "There is no score over everything" in page.text


def test_few_units_are_marked_and_lead_to_no_answer(tmp_path):
    rows = made.agreement("m", "k", reliable=False, n_units_effective=2.0)
    page = written(tmp_path, made.write_run(tmp_path / "run", rows, {}))
    assert "Too few units for an answer" in page.text and re.search(r"\d\.\d\d\*", page.text)
    assert "* Too few different words or items to rely on the interval." in page.text


def test_only_marks_that_are_shown_are_explained(tmp_path):
    page = written(tmp_path, made.write_run(tmp_path / "run", made.agreement("m"), {}))
    assert "Brackets and line: 95 % interval" in page.text and "Published, on the same data" in page.text
    assert not any(words in page.text for words in ("* Too few", "† ", "Bold: ", "effective units"))


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_name_is_only_text(tmp_path, name):
    rows = made.agreement(name or "m") + [
        row | {"value": name, "group": name} for row in made.agreement("k")[:6]
    ]
    folder = made.write_run(tmp_path / "run", rows, {})
    page_text = write_report(tmp_path / "out", [folder]).read_text(encoding="utf-8")
    page, plain = Page(page_text), Page(written_text(tmp_path))
    assert not page.handlers and set(page.tags) <= {*plain.tags, "img", "figcaption"}
    assert not UNSEEN.search(page_text) and all(
        link.startswith(("#", "data:image/svg+xml")) for link in page.links
    )
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"report.html", "tables.csv"}


def written_text(tmp_path) -> str:
    """The page of models with plain names, for the tags that a page has."""
    folder = made.write_run(tmp_path / "plain", made.agreement("m", "k"), {})
    return write_report(tmp_path / "plain-out", [folder]).read_text(encoding="utf-8")


def test_a_folder_without_results_is_one_sentence(tmp_path):
    with pytest.raises(ValueError, match="does not contain results"):
        write_report(tmp_path)


def test_files_for_a_paper(results, tmp_path):
    write_paper([results.folder], tmp_path / "paper", TEXT)
    names = {path.name for path in (tmp_path / "paper").iterdir()}
    assert {"headlines.tex", "tables.csv", "verbs.pdf"} <= names
    assert {name.rpartition(".")[2] for name in names} == {"tex", "pdf", "csv"}


@pytest.mark.slow
def test_a_document_with_all_files_for_a_paper_compiles(tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("needs pdflatex (apt-get install texlive-latex-recommended)")
    rows = (
        made.agreement("a_b", "c&d")
        + made.with_ends(made.blimp_rows("a_b"))
        + made.with_ends(made.german_rows("a_b"))
    )
    paper = write_paper([made.write_run(tmp_path / "run", rows, {})], tmp_path / "paper")
    parts = [rf"\input{{{path.name}}}\clearpage" for path in sorted(paper.glob("*.tex"))]
    parts += [
        rf"\includegraphics[width=\textwidth]{{{path.name}}}\clearpage"
        for path in sorted(paper.glob("*.pdf"))
    ]
    packages = r"\documentclass[twocolumn]{article}\usepackage{booktabs,graphicx}"
    (paper / "all.tex").write_text(packages + r"\begin{document}" + "\n".join(parts) + r"\end{document}")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=paper, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:]
