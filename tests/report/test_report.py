"""The report: its tables hold the scores, it needs nothing but itself, nothing in it can be injected."""

import csv
import io
import json
import math
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rich.console import Console
from run_records import SINGLE, table_path
from synthetic_runs import (
    TABLE_ROWS,
    agreement_rows,
    blimp_rows,
    blimp_scores,
    german_rows,
    result_frame,
    top_forms,
    write_run,
)

from tse_scorers.io.bundle import metric_modules
from tse_scorers.io.results import read_results
from tse_scorers.report.inputs import read_runs
from tse_scorers.report.page import folded_lists
from tse_scorers.report.summary import headlines
from tse_scorers.report.tables import score
from tse_scorers.report.terminal_summary import Summary
from tse_scorers.runs.report import write_paper, write_report
from tse_scorers.suites.registry import all_measures

BLIMP_PARADIGMS = metric_modules("minimal_pair_accuracy").blimp_paradigms.BLIMP_PARADIGMS
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
    write_run(out, rows, {f"{BERT}.agreement.marvin_linzen.top_forms": top_forms()})
    write_report(out)
    return out


@pytest.fixture(scope="module")
def sentences_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reported run of one model on BLiMP and the German sentences."""
    out = tmp_path_factory.mktemp("runs") / "sentences"
    write_run(out, blimp_rows("gpt2") + german_rows("gpt2"), {"gpt2.minimal_pairs": blimp_scores()})
    write_report(out)
    return out


def _csv(path: Path) -> dict[str, dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        assert reader.fieldnames is not None
        return {row[reader.fieldnames[0]]: row for row in reader}


def _simple(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep one row of Table 2, which is quicker to draw."""
    return [row for row in rows if row["group"] == "Simple"]


@pytest.mark.slow
def test_table2_holds_the_scores_of_the_whole_distribution(agreement_out: Path) -> None:
    content = read_results(agreement_out)["results"]
    expected = {
        (row["group"], row["metric"]): row["score"]
        for row in content
        if row["model"] == BERT and row.get("cutoff") in (None, 1.0) and row.get("cutoff_side") != "bottom"
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
    assert "Table 2 as published (Newman et al. 2021)" in (agreement_out / "report.html").read_text()


def test_latex_table_spans_the_models(agreement_out: Path) -> None:
    latex = (agreement_out / "table2.tex").read_text()
    assert r"\multicolumn{3}{c}{google-bert/bert-large-cased}" in latex
    assert r"\cmidrule(lr){3-5}\cmidrule(lr){6-8}" in latex
    assert all(line.count("&") == 7 for line in latex.splitlines() if line.startswith(("Simple", "BLiMP")))


def test_missing_scores_are_gaps_not_zeros(agreement_out: Path) -> None:
    """VP coordination has no eligible verb in the bottom 0.0001 %: a dash in the table."""
    page = (agreement_out / "report.html").read_text()
    numbers = page[page.index("EW by cut-off.") :]
    row = re.search(
        r'<th scope="row">tiny-masked: VP coordination<small>n 2,140</small></th><td>([^<]*)<td>([^<]*)<',
        numbers,
    )
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
    assert not {"link", "iframe", "object", "embed", "img"} & set(page.tags)
    script = (files("tse_scorers.report") / "sort.js").read_bytes()
    assert page.tags.count("script") == 1 and script.decode() in text
    assert f"script-src 'sha256-{b64encode(sha256(script).digest()).decode()}'" in text
    assert all(reference.startswith("#") for reference in page.references)
    assert not re.search(r"https?://|@import|url\((?!#)", text)
    assert page.tags.count("svg") == len(page.labels) == len(list((agreement_out / "figures").glob("*.svg")))
    assert all(page.labels)
    assert len(page.ids) == len(set(page.ids))
    assert page.tags.count("caption") == page.tags.count("table")
    assert "prefers-color-scheme: dark" in text and "@media print" in text


def test_every_figure_is_a_file(agreement_out: Path) -> None:
    figures = agreement_out / "figures"
    names = {path.stem for path in figures.glob("*.svg")}
    assert len(names) == len(list(figures.iterdir()))
    assert {
        "agreement_overview",
        "cutoffs_ew",
        "cutoffs_mw",
        "cutoffs_covered_mass",
        "cutoffs_share_without_lemmas",
    } <= names


@pytest.mark.slow
def test_same_results_give_the_same_bytes(agreement_out: Path) -> None:
    files = [agreement_out / "report.html", *sorted((agreement_out / "figures").iterdir())]
    before = {path.name: path.read_bytes() for path in files}
    write_report(agreement_out)
    assert {path.name: path.read_bytes() for path in files} == before


HOSTILE = "evil/<script>alert(1) $x_1$ & \"quote' | {% raw %} \\end{document}"


def test_hostile_names_and_sentences_are_shown_not_run(tmp_path: Path) -> None:
    out = tmp_path / "run"
    forms = top_forms("<img src=x onerror=alert(1)> </svg><script>alert(2)</script>.")
    write_run(out, _simple(agreement_rows(HOSTILE)), {f"{HOSTILE}.agreement.marvin_linzen.top_forms": forms})
    page = _Page(write_report(out).read_text())
    assert not {"script", "img"} & set(page.tags) and not page.events
    assert "<script>alert(1) $x_1$" in page.text
    assert "<img src=x onerror=alert(1)>" in page.text
    latex = (out / "table2.tex").read_text()
    assert r"\textless{}script" in latex and r"d\{document\}" in latex and "{document}" not in latex
    markdown = (out / "table2.md").read_text().splitlines()
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in markdown if line.startswith("|")}
    assert len(widths) == 1, "a pipe in a name must not open a column"


@pytest.mark.usefixtures("drafts")
def test_one_model_one_group_no_scores_on_disk(tmp_path: Path) -> None:
    rows = [
        row for row in agreement_rows("gpt2") if row["group"] == "Simple" and row["metric"] != "covered_mass"
    ]
    out = write_run(tmp_path / "run", rows, {})
    page = _Page(write_report(out).read_text())
    assert "Covered mass (Figure 3)" not in page.text and "Contexts without a verb" in page.text
    assert list(_csv(out / "table2.csv")) == ["Simple"]


@pytest.mark.usefixtures("drafts")
def test_several_folders_in_one_report(tmp_path: Path) -> None:
    """The same model twice, run with different options, is told apart by its folder's name, in all runs alike."""
    folders = [
        write_run(tmp_path / name, _simple(agreement_rows("gpt2", seed=i)), {}) for i, name in enumerate("ab")
    ]
    out = tmp_path / "both"
    write_report(out, folders)
    assert {"gpt2 (a) MW", "gpt2 (b) MW"} <= set(_csv(out / "table2.csv")["Simple"])
    assert "a · " in (page := (out / "report.html").read_text()) and "b · " in page


def test_a_model_with_a_folder_for_each_suite_is_one_system(tmp_path: Path) -> None:
    """A leaderboard had a row for each folder of a model, with the scores of one suite in each."""

    def systems(*named: str) -> set[str]:
        return set(read_runs([tmp_path / name for name in named]).rows["system"])

    agreement = agreement_rows("org/m", "1")
    german = [row | {"revision": "1"} for row in german_rows("org/m")]
    for name, rows in {
        "a": agreement,
        "b": german,
        "again": agreement,
        "unknown": german_rows("org/m"),
    }.items():
        write_run(tmp_path / name, rows, {})
    assert systems("a", "b") == {"org/m"}
    runs = read_runs([tmp_path / "a", tmp_path / "b"])
    assert {suite for _, suite, _ in runs.signatures} == {"agreement", "german"}
    assert systems("a", "b", "again") == {"org/m (a)", "org/m (b)", "org/m (again)"}
    # without its revision, nobody knows whether it is the same model
    assert systems("a", "unknown") == {"org/m (a)", "org/m (unknown)"}


def test_revisions_of_a_model_are_told_apart() -> None:
    rows = agreement_rows("org/m", "step1") + agreement_rows("org/m", "step2") + agreement_rows("gpt2")
    assert set(result_frame(rows)["system"]) == {"org/m@step1", "org/m@step2", "gpt2"}


def test_folders_of_one_name_keep_as_much_of_their_paths_as_tells_them_apart() -> None:
    """They were labelled with whole paths, also in pages for others."""
    rows = agreement_rows("/a/model") + agreement_rows("/b/model")
    assert set(result_frame(rows)["system"]) == {"a/model", "b/model"}


def test_a_folder_without_results_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="tse run"):
        read_runs([tmp_path])


def test_scores_of_another_version_are_an_error(tmp_path: Path) -> None:
    scores = {"gpt2.agreement.marvin_linzen.top_forms": top_forms().drop(columns="status")}
    out = write_run(tmp_path / "run", agreement_rows("gpt2"), scores)
    with pytest.raises(ValueError, match=r"has no column status"):
        write_report(out)


@pytest.mark.slow
def test_an_interval_that_is_not_symmetric_shows_its_ends(tmp_path: Path) -> None:
    rows = [row | {"ci_low": 0.4, "ci_high": 1.0} for row in agreement_rows("m")]
    rows = [row | {"score": 0.7 if row["group"] == "Simple" else 1.0} for row in rows]
    write_report(write_run(tmp_path / "run", rows, {}))
    lines = (tmp_path / "run" / "table2.md").read_text(encoding="utf-8").splitlines()
    table = {line.split("|")[1].strip(): line for line in lines if "|" in line}
    assert "0.70 ± 0.30" in table["Simple"] and "±" not in table["VP coordination"]
    assert r"1.00 \[0.40, 1.00\]" in table["VP coordination"]
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(Summary(headlines(result_frame(rows), all_measures())))
    assert "1.00 [0.40, 1.00]" in console.export_text()


def test_terminal_summary_shows_names_literally() -> None:
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(Summary(headlines(result_frame(agreement_rows("org/[bold]model")), all_measures())))
    text = console.export_text()
    assert "org/[bold]model" in text and "agreement: marvin_linzen" in text and "TSE" in text


@pytest.mark.slow
def test_blimp_humans_and_published_models_are_the_papers(sentences_out: Path) -> None:
    """Overall: humans .886 and .964 (Warstadt et al. 2020, section 3.4), models .612 to .830 (released summary)."""
    overall = _csv(sentences_out / "pairs_table.csv")["Overall"]
    columns = [
        "humans individual",
        "humans majority",
        *(f"released summary {m}" for m in ("5-gram", "LSTM", "Transformer-XL", "GPT-2")),
    ]
    assert [score(float(overall[column]), 3) for column in columns] == [
        "0.886",
        "0.964",
        "0.612",
        "0.698",
        "0.696",
        "0.830",
    ]


def test_blimp_phenomena_are_those_of_the_results(sentences_out: Path) -> None:
    table = _csv(sentences_out / "pairs_table.csv")
    expected = {row["group"]: row["score"] for row in blimp_rows("gpt2", 0, prefixes=False)}
    assert len(table) == 13
    assert float(table["NPI licensing"]["this run gpt2"]) == pytest.approx(
        expected["phenomenon:npi_licensing"]
    )
    assert float(table["Overall"]["this run gpt2"]) == pytest.approx(expected["all"])
    assert len(_csv(sentences_out / "pairs_paradigms.csv")) == 67


@pytest.mark.usefixtures("drafts")
def test_blimp_comparison_columns_cover_the_paradigms_that_were_run(tmp_path: Path) -> None:
    """With one phenomenon run, people's mean is over its two paradigms: 0.96 and 0.99 (released judgments)."""
    chosen = {"anaphor_gender_agreement", "anaphor_number_agreement", "phenomenon:anaphor_agreement", "all"}
    rows = [row for row in blimp_rows("gpt2", prefixes=False) if row["group"] in chosen]
    out = write_run(tmp_path / "run", rows, {})
    page = write_report(out).read_text()
    table = _csv(out / "pairs_table.csv")
    assert list(table) == ["Anaphor agreement", "Overall"]
    assert float(table["Overall"]["humans individual"]) == pytest.approx((0.96 + 0.99) / 2)
    assert "over 2 paradigms" in page
    assert "Figure 3" not in page, "no paradigm of the locality comparison was run"


@pytest.mark.slow
def test_the_page_says_what_the_overall_scores_are_over(tmp_path: Path) -> None:
    """Items, units and exclusions stood on the terminal and in files, and the page showed scores without them."""
    over = {"unit": "subject nouns", "n_units": 26, "n_units_effective": 18.4, "n_excluded": 3}
    out = write_run(tmp_path / "run", [row | over for row in agreement_rows(BERT)], {})
    page = write_report(out).read_text()
    _, found, after = page.partition("<summary>What the overall scores are over</summary>")
    said = re.findall(r"<p class=\"note\">(.*?)</p>", after.partition("</details>")[0])
    assert found and said
    for line in said:
        assert re.search(r": (TSE: [\d,]+ pairs|EW, MW: [\d,]+ contexts); ", line) and "excluded 3 (" in line
        assert "intervals over 26 subject nouns, 18.4 effective" in line


@pytest.mark.slow
def test_n_and_units_stand_with_the_scores_of_each_construction(tmp_path: Path) -> None:
    """1.00 over 2 pairs stood beside 1.00 over 120; the numbers of pairs and units were in no table or figure."""
    over = {"n": 120, "n_units_effective": 18.4, "n_excluded": 3}
    few = {"n": 2, "n_units_effective": 1.9, "n_excluded": 121}
    rows = [
        row | over | (few if row["group"] == "Simple" and row["metric"] == "tse" else {})
        for row in agreement_rows(BERT)
    ]
    out = write_run(tmp_path / "run", rows, {})
    page = write_report(out).read_text()
    paper = write_paper(out).folder
    text = "2 (1.9), 121 excluded"
    assert f"TSE n {text}; EW, MW n 120 (18.4), 3 excluded</small></th>" in page
    assert re.search(r"Simple \(n 2 to 120\)", page), "the figure's row"
    assert "n (effective units): TSE: 2 to 120 (1.9 to 18.4), 3 to 121 excluded; EW, MW: 120" in page
    assert f"| Simple | {text} | 120 (18.4), 3 excluded | " in (out / "table2.md").read_text()
    assert rf"Simple & {text} & 120 (18.4), 3 excluded & " in (paper / "table2.tex").read_text()
    assert "n (effective units): TSE: 2 to 120 (1.9 to 18.4)" in (paper / "figures.tex").read_text()
    cells = _csv(out / "table2.csv")["Simple"]
    assert [float(cells[f"{BERT} TSE {name}"]) for name in ("n", "n_units_effective", "n_excluded")] == [
        2,
        1.9,
        121,
    ]
    headline = "TSE<small>120 pairs<br>18.4 effective units<br>3 excluded</small></th>"
    assert headline in page, "the headline scores"


def test_one_number_of_items_for_all_rows_is_said_once(tmp_path: Path) -> None:
    """Where all rows are over as many items, the number would only repeat: it stands below the table."""
    rows = [row | {"n": 100, "n_units_effective": 9.0, "n_excluded": 0} for row in agreement_rows(BERT)]
    out = write_run(tmp_path / "run", rows, {})
    page = write_report(out, figures=False).read_text()
    assert "n (effective units): TSE, EW, MW: 100 (9.0)." in page and "<small>TSE" not in page
    assert "| Templates | google-bert" in (out / "table2.md").read_text().replace("\\", "")


def test_blimp_correlations_reproduce_the_published_one(sentences_out: Path) -> None:
    """Transformer-XL and the LSTM correlate at 0.9 over the 67 paradigms (Warstadt et al. 2020, section 6)."""
    matrix = _csv(sentences_out / "pairs_correlations.csv")
    assert score(float(matrix["Transformer-XL (released summary)"]["LSTM (released summary)"])) == "0.90"
    assert all(float(row[name]) == pytest.approx(1) for name, row in matrix.items())


def test_blimp_locality_reproduces_the_published_drop(sentences_out: Path) -> None:
    """The n-gram model loses 35 points to an adjective between (Warstadt et al. 2020, section 6)."""
    row = _csv(sentences_out / "blimp_locality.csv")["5-gram (released summary)"]
    drop = float(row["Determiner and noun adjacent"]) - float(row["Determiner and noun adjective between"])
    assert round(100 * drop) == 35


def test_blimp_prefix_methods_are_compared_on_the_same_paradigms(sentences_out: Path) -> None:
    page = (sentences_out / "report.html").read_text()
    one, two = sum(n % 3 == 0 for n in range(67)), sum(n % 3 == 1 for n in range(67))
    assert f"Whole sentences against one prefix, over {one} paradigms." in page
    assert f"Whole sentences against two prefixes, over {two} paradigms." in page


@pytest.mark.usefixtures("drafts")
def test_blimp_without_whole_sentences(tmp_path: Path) -> None:
    rows = [row for row in blimp_rows("gpt2") if row["method"] == "one_prefix"]
    page = write_report(write_run(tmp_path / "run", rows, {})).read_text()
    assert "by phenomenon (one prefix)" in page and "Figure 6" not in page


@pytest.mark.usefixtures("drafts")
def test_results_without_phenomena_are_shown_by_paradigm(tmp_path: Path) -> None:
    rows = [
        row | {"group": "my_paradigm"}
        for row in blimp_rows("gpt2", prefixes=False)
        if row["group"] == "causative"
    ]
    write_report(write_run(tmp_path / "run", rows, {}))
    assert list(_csv(tmp_path / "run" / "pairs_paradigms.csv")) == ["my_paradigm"]


def test_ones_own_pairs_without_paradigms_have_one_row(tmp_path: Path) -> None:
    """The same score stood three times: as `Mine`, as `Overall`, and in a table of paradigms."""
    row = next(row for row in blimp_rows("gpt2", prefixes=False) if row["group"] == "causative")
    own = {"dataset": "mine.csv", "config": "mine"}
    rows = [row | own | {"group": group} for group in ("mine", "phenomenon:mine", "all")]
    write_report(write_run(tmp_path / "run", rows, {}), figures=False)
    assert list(_csv(tmp_path / "run" / "pairs_table.csv")) == ["Overall"]
    assert not (tmp_path / "run" / "pairs_paradigms.csv").exists()


def test_the_signature_is_folded_and_its_lists_take_a_line_each() -> None:
    """With a line for each cut-off it was a third of the page."""
    content = {"cutoffs": [0.5, 1.0], "methods": ["full", "a  b"], "models": [{"empty": []}, {"n": [1]}]}
    shown = folded_lists(content)
    assert json.loads(shown) == content
    assert '"cutoffs": [0.5, 1.0]' in shown and '["full", "a  b"]' in shown and shown.count("\n") == 11


@pytest.mark.slow
def test_pairs_of_ones_own_are_shown_under_their_phenomena_beside_blimps(tmp_path: Path) -> None:
    """They were called `Other paradigms`, without a score, in a section about 67 English paradigms and people."""
    whole = [row for row in blimp_rows("gpt2", prefixes=False) if row["group"] == "causative"]
    own = {"dataset": "my.csv", "config": "my"}
    rows = [whole[0] | own | {"group": group} for group in ("my_paradigm", "phenomenon:word_order", "all")]
    alone = write_report(write_run(tmp_path / "alone", rows, {})).read_text()
    assert "<h2>Minimal pairs</h2>" in alone or ">Minimal pairs</h2>" in alone
    before, found, _ = alone.partition("Signature of the run")
    words = re.sub(r"(?s)<(style|svg)\b.*?</\1>|<[^>]*>", " ", before)
    assert found and not re.search(r"\b67\b", words)
    assert "Humans" not in alone and "published" not in alone.lower()
    blimp = [row | {"config": "all"} for row in blimp_rows("gpt2", prefixes=False)]
    table = _csv(tmp_path / "alone" / "pairs_table.csv")
    assert list(table) == ["Word order", "Overall"]
    assert float(table["Word order"]["this run gpt2"]) == whole[0]["score"]
    write_report(write_run(tmp_path / "both", [*rows, *blimp], {}))
    table = _csv(tmp_path / "both" / "pairs_table.csv")
    assert table["Word order"]["this run gpt2 (my)"] and not table["Word order"]["this run gpt2 (all)"]
    assert "Other paradigms" not in table


@pytest.mark.usefixtures("drafts")
def test_unscorable_pairs_do_not_reach_the_curves(tmp_path: Path) -> None:
    """Pairs without a number (null, or -inf from an n-gram model) have neither length bin nor perplexity."""
    scores = blimp_scores(n=1000)
    scores.loc[:99, "logprob_good"] = -math.inf
    scores.loc[100:199, ["logprob_bad", "correct"]] = math.nan
    out = write_run(tmp_path / "run", blimp_rows("gpt2", prefixes=False), {"gpt2.minimal_pairs": scores})
    page = _Page(write_report(out).read_text())
    assert (
        "inf"
        not in re.findall(r"Accuracy by perplexity per token\.(.*?)Accuracy by", page.text, re.S)[0].split()
    )


def _table(out: Path, number: int, system: str) -> list[str]:
    return [score(float(row[system])) for row in _csv(out / f"german_table{number}.csv").values()]


def test_german_tables_repeat_the_published_means(sentences_out: Path) -> None:
    """Rochereau et al. (2020), Tables 2 to 4, as printed."""
    assert _table(sentences_out, 2, "humans") == ["0.77", "0.72", "0.60", "0.61", "0.55", "0.55", "0.63"]
    assert _table(sentences_out, 2, "German BERT (published)") == [
        "0.91",
        "0.81",
        "0.82",
        "0.80",
        "0.78",
        "0.81",
        "0.82",
    ]
    assert _table(sentences_out, 3, "LSTM (published)") == [
        "0.66",
        "0.63",
        "0.52",
        "0.48",
        "0.56",
        "0.57",
        "0.57",
    ]
    assert _table(sentences_out, 4, "humans") == ["0.63", "0.59", "0.64", "0.68"]
    assert _table(sentences_out, 4, "bigram (published)") == ["0.51", "0.12", "0.58", "0.81"]


def test_german_table5_is_the_published_one(sentences_out: Path) -> None:
    """Rochereau et al. (2020), Table 5; the unigram's accusative cells repeat another table and are left out."""
    rows = _csv(sentences_out / "german_table5.csv")
    published = [
        f"{name} (published)" for name in ("unigram", "bigram", "LSTM", "German BERT", "German DistilBERT")
    ]
    found = [score(float(rows[name]["all six"])) for name in published]
    assert found == ["−0.26", "0.58", "0.71", "0.73", "0.81"]
    assert rows["unigram (published)"]["doubled accusative"] == ""


def test_german_table1_has_our_cells_beside_the_human_ones(sentences_out: Path) -> None:
    """The human cell of NDA with ag1,re2,pa3 is 0.99 (Table 1)."""
    expected = {(row["variation_set"], row["group"]): row["score"] for row in german_rows("gpt2", 0)}
    row = _csv(sentences_out / "german_table1.csv")["NDA"]
    assert float(row["gpt2 ag1,re2,pa3"]) == pytest.approx(expected["1-6", "cell:NDA|ag1,re2,pa3"])
    assert float(row["gpt2 mean"]) == pytest.approx(expected["1-6", "case_order:NDA"])
    assert float(row["humans ag1,re2,pa3"]) == 0.99
    assert "(0.99)" in (sentences_out / "german_table1.md").read_text()


def test_sentence_suites_page_is_self_contained(sentences_out: Path) -> None:
    text = (sentences_out / "report.html").read_text()
    page = _Page(text)
    assert not {"script", "img", "image", "link"} & set(page.tags)
    assert all(reference.startswith("#") for reference in page.references)
    assert not re.search(r"https?://", text)
    assert len(page.ids) == len(set(page.ids))
    assert page.tags.count("svg") == len(list((sentences_out / "figures").glob("*.svg"))) == 8
    assert text.count('<div class="heats">') == 6, "tables of coloured cells, which are no pictures"
    assert "Subject–verb agreement" not in re.findall(r"<h2[^>]*>([^<]*)", text), "a suite that was not run"


def test_numbers_round_as_the_papers_do() -> None:
    """0.905 is 0.91 although its nearest binary number lies below; no negative zero."""
    assert [score(x) for x in (0.905, 0.9049, 1.0, -0.255, -0.001)] == [
        "0.91",
        "0.90",
        "1.00",
        "−0.26",
        "0.00",
    ]
    assert score(0.88649, 3) == "0.886"


@pytest.mark.usefixtures("drafts")
def test_a_page_of_somebody_else_is_not_replaced(tmp_path):
    run = write_run(tmp_path, agreement_rows("m"), {})
    page = run / "report.html"
    page.write_text("<h1>My thesis</h1>")
    with pytest.raises(ValueError, match=r"report\.html .*not .*refined-tse; .*--out"):
        write_report(run)
    assert page.read_text() == "<h1>My thesis</h1>" and not (run / "figures").exists()
    page.unlink()
    assert write_report(run) == write_report(run) == page


@pytest.mark.slow
def test_a_suites_own_columns_do_not_name_curves(tmp_path):
    rows = [
        row | {"label": "mine", "system": "mine"}
        for step in (10, 20, 40)
        for row in agreement_rows("m", revision=f"step{step}")
    ]
    write_report(write_run(tmp_path, rows, {}))
    (table,) = tmp_path.glob("series_*marvin*.csv")
    assert "mine" not in table.read_text() and "TSE" in table.read_text()


def test_a_table_belongs_to_the_suite_of_its_record(tmp_path):
    """An agreement data set called like BLiMP was read as the scores of its suite."""
    rows = [row | {"config": "blimp"} for row in agreement_rows("gpt2")] + blimp_rows("gpt2")
    frame = pd.DataFrame({"context_id": [0]})
    run = write_run(tmp_path, rows, {"gpt2.agreement.blimp.contexts": frame, "gpt2.minimal_pairs": frame})
    found = {(f.suite, f.system, f.config, f.table) for f in read_runs([run]).files}
    assert found == {("agreement", "gpt2", "blimp", "contexts"), ("minimal_pairs", "gpt2", "blimp", SINGLE)}


def test_damaged_scores_are_named(tmp_path):
    run = write_run(tmp_path, blimp_rows("m"), {"m.minimal_pairs": blimp_scores()})
    path = table_path(run)
    path.write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(ValueError, match=rf"{path.name} is damaged"):
        write_report(run)


@pytest.mark.slow
def test_own_agreement_data_are_not_called_the_papers_table(tmp_path):
    rows = [row | {"config": "mine", "dataset": "mine.csv"} for row in agreement_rows("m")]
    page = write_report(write_run(tmp_path, rows, {})).read_text(encoding="utf-8")
    assert "Table 2" not in page and "The paper's main table" not in page and "TSE, EW and MW" in page


@pytest.mark.usefixtures("drafts")
def test_few_pairs_and_paradigms_make_no_curves_or_correlations(tmp_path):
    rows = [row for row in blimp_rows("m") if row["group"] in ("all", *list(BLIMP_PARADIGMS)[:4])]
    few = write_report(write_run(tmp_path / "few", rows, {"m.minimal_pairs": blimp_scores(n=30)}))
    many = write_report(
        write_run(tmp_path / "many", blimp_rows("m"), {"m.minimal_pairs": blimp_scores(n=4000)})
    )
    for name in ("blimp_figure1", "blimp_figure2"):
        assert f'id="{name}"' not in few.read_text(encoding="utf-8")
        assert f'id="{name}"' in many.read_text(encoding="utf-8")
