"""The page and the files for a paper, from what is in the output folders."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pandas as pd
import pytest
from hostile import HOSTILE, UNSEEN
from run_records import copied

from tse_scorers import Agreement, Results, run
from tse_scorers.report.page import TEXT, write_paper, write_report
from tse_scorers.report.verbs import by_lemma


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


def written(out, results: Results) -> Page:
    return Page(write_report(out, results).read_text(encoding="utf-8"))


def changed(folder, **values):
    """Change columns of all rows of results of a folder."""
    for path in folder.glob("runs/*/record.json"):
        content = json.loads(path.read_text())
        for row in content["rows"]:
            row.update({key: value(row) if callable(value) else value for key, value in values.items()})
        path.write_text(json.dumps(content))
    return Results.load(folder)


def test_the_page_asks_answers_and_shows(results, tmp_path):
    page = written(tmp_path, results)
    assert "Does the model make a verb agree with its subject?" in page.text
    assert re.search(
        r"tiny-causal has the highest EW of the 2 models run here, 0\.\d\d \[.+\], above tiny-masked",
        page.text,
    )
    assert re.search(
        r"Lowest: (Simple|VP coordination) 0\.\d\d \[.+\] \(tiny-causal\); .+ \(tiny-masked\)\.", page.text
    )
    assert re.search(r"VP coordinationThe \w+ \w+ and \w+ \w+", page.text), "a group has an example"
    assert "Scores over a part of the data." in page.text and "Run here, on a part of the data" in page.text
    assert "Published, on all of the data: not comparable" in page.text and "bert-large-cased" in page.text
    assert set(page.links) >= {"#top", "#settings"} and not page.handlers and "script" not in page.tags
    assert all(link.startswith(("#", "data:image/svg+xml;base64,")) for link in page.links)
    tables = pd.read_csv(tmp_path / "tables.csv", keep_default_na=False, na_values=[""])
    first = tables[tables["table"] == "headlines"].set_index(["system", "measure"])
    tse = results.frame.query("measure == 'tse' and level == 'all'").set_index("system")["score"]
    assert all(first.loc[(system, "TSE"), "score"] == pytest.approx(score) for system, score in tse.items())
    assert (
        bool(first.loc[("tiny-causal", "EW"), "is_best"]) and not first.loc[("tiny-masked", "EW"), "is_best"]
    )


def test_ew_is_over_the_verbs_that_all_models_have(results, tmp_path):
    """Models with unlike vocabularies were ranked by EW over unlike lists."""
    page = written(tmp_path, results)
    shown = pd.read_csv(tmp_path / "tables.csv").query("table == 'headlines' and source == 'run'")
    shown = shown.set_index(["measure", "system"])
    compared = results.compare(measures=["ew"]).query("level == 'all'").iloc[0]
    # compared are contexts that both see, which for a causal model have no suffix
    assert shown.loc[("EW", compared["system"]), "score"] == pytest.approx(compared["score"], abs=0.01)
    assert shown.loc[("EW", compared["reference"]), "score"] == pytest.approx(
        compared["reference_score"], abs=1e-9
    )
    assert not shown.loc["MW", "usable"].any()
    assert f"EW is over the {compared['n_lemmas']:.0f} verbs that all shown models have" in page.text
    assert re.search(r"MW is over each model's own verbs \(\d+ to \d+\), so it is not ranked", page.text)
    write_paper(results, tmp_path / "paper")
    assert "verbs that all shown models have" in (tmp_path / "paper" / "headlines.tex").read_text()


def test_the_mean_over_verbs_is_ew(tmp_path):
    results = run("tiny-masked", Agreement(groups=["VP coordination"]), tmp_path, report=False)
    verbs = by_lemma(results.records[0])
    ew = results.frame.query("measure == 'ew' and level == 'all'")["score"].item()
    assert verbs["EW"].mean() == pytest.approx(ew, abs=1e-9)
    assert {"after singular", "after plural"} <= set(verbs)


def test_several_suites_are_sections_with_one_first_table(three_suites, tmp_path):
    page = written(tmp_path, Results.load(copied(three_suites, tmp_path / "run", ["a", "b"])))
    assert "What do these models know of grammar?" in page.text
    assert {"#agreement", "#minimal_pairs", "#german"} <= set(page.links)
    assert "The 36 cells" in page.text and "Accuracy by paradigm" in page.text


@pytest.mark.parametrize("n", [1, 24])
def test_any_number_of_models(results, tmp_path, n):
    folder = copied(results.folders[0], tmp_path / "run", [f"org/model-{k}" for k in range(n)])
    page = written(tmp_path, Results.load(folder))
    assert all(f"model-{k}" in page.text for k in range(n))
    assert ("reaches EW" if n == 1 else "has the highest EW") in page.text


def test_a_series_has_a_curve_and_its_tables_have_the_last_one(results, tmp_path):
    folder = copied(results.folders[0], tmp_path / "run", [f"step{n}" for n in range(1, 25)], revisions=True)
    page = written(tmp_path, Results.load(folder))
    assert "Over the training" in page.text
    assert "copies@step24" in page.text and "copies@step23" not in page.text


def test_what_does_not_compare_is_said_and_not_bold(results, tmp_path):
    other = run("tiny-causal", Agreement(groups=["Simple"], limit=40), tmp_path / "o", report=False)
    page = written(tmp_path / "both", Results([*results.records, *other.records]))
    assert re.search(r"† From another part of the data .*: tiny-causal \(o\)\.", page.text)
    tables = pd.read_csv(tmp_path / "both" / "tables.csv")
    odd = tables[(tables["table"] == "headlines") & tables["system"].str.contains(r"\(o\)")]
    assert len(odd) and not odd["is_best"].any() and not odd["usable"].any()


@pytest.mark.parametrize(
    "values, said",
    [
        ({"score": 0.0, "n_ties": lambda row: row["n"]}, "Only ties"),
        ({"reliable": False, "n_units_effective": 2.0}, "Too few units for an answer"),
        ({"level": "group", "value": "Simple"}, "There is no score over everything"),
    ],
)
def test_no_answer_is_made_up(results, tmp_path, values, said):
    page = written(tmp_path, changed(copied(results.folders[0], tmp_path / "run", ["m"]), **values))
    assert said in page.text


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_name_is_only_text(results, tmp_path, name):
    plain = written(tmp_path / "plain", Results.load(copied(results.folders[0], tmp_path / "p", ["m", "k"])))
    folder = copied(results.folders[0], tmp_path / "run", [name or "m", "k"])
    hostile = changed(folder, value=lambda row: name if row["level"] == "group" else row["value"])
    text = write_report(tmp_path / "out", hostile).read_text(encoding="utf-8")
    page = Page(text)
    assert not page.handlers and set(page.tags) <= {*plain.tags, "img", "figcaption"}
    assert not UNSEEN.search(text) and all(
        link.startswith(("#", "data:image/svg+xml")) for link in page.links
    )
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"report.html", "tables.csv"}


def test_a_folder_without_results_is_one_sentence(tmp_path):
    with pytest.raises(ValueError, match="no results"):
        write_report(tmp_path)


def test_files_for_a_paper(results, tmp_path):
    write_paper(results, tmp_path / "paper", TEXT)
    names = {path.name for path in (tmp_path / "paper").iterdir()}
    assert {"headlines.tex", "tables.csv", "verbs.pdf"} <= names
    assert {name.rpartition(".")[2] for name in names} == {"tex", "pdf", "csv"}


@pytest.mark.slow
def test_a_document_with_all_files_for_a_paper_compiles(three_suites, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("needs pdflatex (apt-get install texlive-latex-recommended)")
    folder = copied(three_suites, tmp_path / "run", ["a_b", "c&d"])
    paper = write_paper(Results.load(folder), tmp_path / "paper")
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
