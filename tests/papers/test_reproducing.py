"""Tables of papers beside our numbers, and the data that they need."""

import csv
import shutil
from contextlib import nullcontext
from dataclasses import replace

import pytest
from pytest import approx
from typer.testing import CliRunner

from tse_scorers import load_data, loading, make_suite
from tse_scorers.cli.app import app
from tse_scorers.io.records import read_records
from tse_scorers.models.options import ModelOptions
from tse_scorers.papers.fetch import fetch
from tse_scorers.papers.papers import PAPERS, PaperModel
from tse_scorers.papers.reproduce import reproduce

BLIMP = [
    (
        "anaphor_number_agreement",
        "anaphor_agreement",
        "Many girls insulted themselves.",
        "Many girls insulted herself.",
    ),
    (
        "passive_1",
        "argument_structure",
        "Jeffrey's sons are insulted by Tina.",
        "Jeffrey's sons are smiled by Tina.",
    ),
]


PRINTED = {  # of BERT, in Tables 2 to 5 of Rochereau et al. (2020)
    "2": {"case_order:NAD": 0.91, "case_order:NDA": 0.81, "case_order:ADN": 0.81, "all": 0.82},
    "3": {"role:ag1,re2,pa3": 0.96, "role:ag1,re3,pa2": 0.67, "role:ag3,re2,pa1": 0.83, "all": 0.82},
    "4": {"1-6": 0.82, "1-2_nominative": 0.76, "1-2_accusative": 0.78, "1-2_dative": 0.91},
    "5": {"all": 0.73},
}


@pytest.mark.parametrize("table", PRINTED)
def test_means_and_correlations_of_rochereau_2020(tmp_path, table):
    """The published numbers are computed from the printed cells; ours are the rows of results of the same name."""
    found = reproduce("rochereau2020", tmp_path, table=table, models=["tiny-causal"], limit=1)
    bert = found.table.query("system == 'bert'")
    published = bert.set_index("variation_set" if table == "4" else "group")["published"]
    # Means of numbers with two decimals, which at exactly half were printed either way.
    assert {group: published[group] for group in PRINTED[table]} == approx(PRINTED[table], abs=0.005 + 1e-9)
    (record,) = read_records(tmp_path)
    results = {(row.metric, row.group, row.variation_set): row.score for row in record.rows()}
    for row in bert.itertuples():
        assert row.ours == results[row.metric, row.group, row.variation_set]


def test_the_table_that_repeats_another_one_is_used_alone(tmp_path):
    """`--table 18` was not known, though reports show it; in the paper it repeats Table 12."""
    found = reproduce("rochereau2020", tmp_path, table="18", models=["tiny-causal"], limit=1)
    assert set(found.table["system"]) == {"unigram"} and set(found.table["variation_set"]) == {
        "1-2_accusative"
    }
    twelfth = reproduce("rochereau2020", tmp_path, table="12", models=["tiny-causal"], limit=1)
    assert found.table["published"].tolist() == twelfth.table["published"].tolist()
    assert found.table["ours"].tolist() != twelfth.table["ours"].tolist()
    every = reproduce("rochereau2020", tmp_path, models=["tiny-causal"], limit=1).table
    assert every.query("system == 'unigram' and variation_set == '1-2_accusative'").empty


@pytest.mark.parametrize("table, kind", [("1", "1-6"), ("11", "1-2_nominative"), ("23", "1-2_dative")])
def test_models_are_put_beside_people(tmp_path, table, kind):
    found = reproduce("rochereau2020", tmp_path, table=table, models=["tiny-causal"], limit=1)
    assert set(found.table["system"]) == {"human"} and len(found.table) == 36
    people = load_data("published_results", "rochereau2020_auc").to_pandas()
    cells = people.query("system == 'human' and variation_set == @kind")["auc"]
    assert sorted(found.table["published"]) == sorted(cells)


def test_the_probable_words_of_newman_2021(tmp_path, monkeypatch):
    """Table 3, for a model that finds some of the paper's words probable at these gaps."""
    rows = {"data": "marvin_linzen", "groups": ["In object relative clause", "In object relative (no that)"]}
    part = replace(PAPERS["newman2021"].parts[0], options=rows)
    monkeypatch.setitem(PAPERS, "newman2021", replace(PAPERS["newman2021"], parts=(part,)))
    found = reproduce("newman2021", tmp_path, table="3", models=["tiny-masked"])
    assert found.table["group"].iloc[0] == "The senators that the skater … are young."
    assert set(found.table["metric"]) == {"probability"} and len(found.table) >= 2
    (record,) = read_records(tmp_path)
    forms = record.tables["top_forms"].read().to_pandas()
    for row in found.table.itertuples():
        prefix, suffix = row.group.split(" … ")
        ours = forms[forms["prefix"].str.strip().eq(prefix) & forms["suffix"].str.strip().eq(suffix)]
        assert row.ours == ours.set_index("form")["probability"][row.form]


@pytest.mark.parametrize(
    ("model", "suffix", "n_gaps"),
    [("tiny-masked", " are tall.", 1), ("tiny-causal", " laugh.", 1), ("tiny-masked", " laugh.", 0)],
)
def test_words_are_those_of_their_own_gap(tmp_path, monkeypatch, model, suffix, n_gaps):
    """Without the first gap of Table 3, the words of the second one stood beside the first one's.

    A masked model reads the suffix: before another one, it is asked about another gap.
    """
    pairs = load_data("agreement_templates", "marvin_linzen").to_pandas()
    of_gap = pairs["prefix"].eq("The pilots that the executive") & pairs["suffix"].eq(suffix)
    pairs[of_gap].to_csv(tmp_path / "own.csv", index=False)
    part = replace(PAPERS["newman2021"].parts[0], options={"data": tmp_path / "own.csv"})
    monkeypatch.setitem(PAPERS, "newman2021", replace(PAPERS["newman2021"], parts=(part,)))
    with nullcontext() if n_gaps else pytest.raises(ValueError, match="No number of newman2021 was scored"):
        found = reproduce("newman2021", tmp_path / "out", table="3", models=[model])
        assert set(found.table["group"]) == {"The pilots that the executive … are tall."}


def test_the_list_of_tables(tmp_path):
    said = CliRunner().invoke(app, ["reproduce", "newman2021", "--list"], catch_exceptions=False).output
    assert "2  TSE, EW and MW by construction" in said and "rochereau2020" not in said
    every = CliRunner().invoke(app, ["reproduce", "--list"], catch_exceptions=False).output
    assert all(content in every for paper in PAPERS.values() for content in paper.tables.values())
    with pytest.raises(ValueError, match="No paper was given"):
        CliRunner().invoke(app, ["reproduce"], catch_exceptions=False)


def test_a_dry_run_of_newman_2021(tmp_path):
    found = reproduce("newman2021", tmp_path, table="2", models=["tiny-causal"], limit=1)
    assert set(found.table["metric"]) == {"tse", "ew", "mw"}
    assert len(found.table) == 9 * 4 * 3  # nine rows without BLiMP's, four models, three measures
    assert (found.table["difference"] == found.table["ours"] - found.table["published"]).all()
    assert "tse fetch newman2021-blimp" in found.left_out[0] and found.failures == []
    assert "tiny-causal" in found.differences[0] and "--limit" in found.differences[1]
    printed = found.as_printed()
    assert len(printed) == 27 and printed["bert-large-cased (paper)"].iloc[0] == "0.99"
    simple = found.table.query("group == 'Simple' and metric == 'mw'")
    assert set(simple["ours"].map("{:.3f}".format)) == {printed["tiny-causal (ours)"].iloc[0]}


@pytest.mark.upstream
def test_the_blimp_row_of_newman_2021_is_fetched_and_scored(tmp_path, upstream):
    data, out = tmp_path / "data", tmp_path / "out"
    for command in (
        ["fetch", "newman2021-blimp", "--source", str(upstream), "--out", str(data)],
        [
            "reproduce",
            "newman2021",
            "--table",
            "2",
            "-m",
            "tiny-causal",
            "--limit",
            "8",
            "--source",
            str(data),
        ],
    ):
        done = CliRunner().invoke(
            app, [*command, *(["--out", str(out)] if "reproduce" in command else [])], catch_exceptions=False
        )
        assert done.exit_code == 0
    with (out / "reproduction.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 10 * 4 * 3 and "Left out" not in done.stdout
    ours = {row["metric"]: row["ours"] for row in rows if row["group"] == "BLiMP"}
    assert ours.keys() == {"tse", "ew", "mw"} and all(0 <= float(value) <= 1 for value in ours.values())
    assert "120 numbers" in done.stdout and "Reasons for differences" in done.stdout


@pytest.mark.upstream
def test_files_that_are_not_the_pinned_ones_are_refused(tmp_path, upstream):
    name = "src/data/dataset.csv"
    (tmp_path / name).parent.mkdir(parents=True)
    shutil.copy(upstream / "probing-LM-syntax" / name, tmp_path / name)
    assert any(
        path.parent.name == "rochereau2020" for path in fetch("rochereau2020", tmp_path / "a", tmp_path)
    )
    with (tmp_path / name).open("a") as file:
        file.write("\n")
    with pytest.raises(ValueError, match="not the pinned version"):
        fetch("rochereau2020", tmp_path / "b", tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(ValueError, match=r"are not below .* to download them"):
        fetch("rochereau2020", tmp_path / "c", tmp_path)


def test_a_dry_run_of_warstadt_2020(tmp_path):
    table = tmp_path / "blimp.csv"
    with table.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["UID", "linguistics_term", "field", "sentence_good", "sentence_bad"])
        rows.writerows([uid, phenomenon, "syntax", good, bad] for uid, phenomenon, good, bad in BLIMP)
    found = reproduce("warstadt2020", tmp_path / "out", models=["tiny-causal"], source=table)
    assert set(found.table["group"]) == {
        "all", "anaphor_number_agreement", "passive_1",
        "phenomenon:anaphor_agreement", "phenomenon:argument_structure",
    }  # fmt: skip
    assert set(found.table["system"]) == {"5-gram", "lstm", "transfo-xl-wt103", "gpt2-large"}
    released = load_data("published_results", "warstadt2020_models").to_pandas()
    overall = found.table.query("group == 'all' and system == 'gpt2-large'")["published"].item()
    assert overall == approx(released.query("model == 'gpt2-large'")["accuracy"].mean())
    paradigm = found.table.query("group == 'passive_1' and system == 'lstm'")["published"].item()
    assert paradigm == released.query("paradigm == 'passive_1' and model == 'lstm'")["accuracy"].item()
    # The paper prints other numbers for most paradigms.
    printed = list(found.as_printed())
    assert "gpt2-large (released summary)" in printed and not any("(paper)" in name for name in printed)


def test_the_papers_models_are_run_with_the_papers_options_and_compared_with_themselves(
    tmp_path, monkeypatch
):
    """The two German models, with bundled ones in their places: each is compared with its own system alone."""
    places = {"bert": PaperModel("tiny-masked"), "distilbert": PaperModel("no-such-model")}
    monkeypatch.setitem(PAPERS, "rochereau2020", replace(PAPERS["rochereau2020"], models=places))
    said = []
    found = reproduce("rochereau2020", tmp_path, table="9", limit=1, note=said.append)
    assert set(found.table["system"]) == {"bert"} and len(found.table) == 36
    assert "Model: tiny-masked, the paper's bert" in said and said[0].startswith(
        "Data: german_argument_structure/ours"
    )
    assert found.left_out == [] and "own 50 templates" in found.differences[1]
    both = reproduce("rochereau2020", tmp_path, limit=1)
    assert [failure.model for failure in both.failures] == ["no-such-model"]
    assert set(both.table["system"]) == {"bert"} and set(both.table["variation_set"]) > {"1-6"}
    assert any(line.startswith("unigram: its training text was not released") for line in both.left_out)


def test_a_model_in_place_of_the_papers_gets_the_options_that_it_has(tmp_path, root):
    options = ModelOptions.of(PAPERS["rochereau2020"].options)
    assert options == ModelOptions(dtype="float32", pll="original")
    ngram = str(root / "tests" / "golden" / "tiny_trigram.arpa")
    assert loading.options_with_effect("tiny-masked", options) == options
    assert loading.options_with_effect("tiny-causal", options) == ModelOptions(dtype="float32")
    assert loading.options_with_effect(ngram, options) == ModelOptions()


@pytest.mark.parametrize("paper", PAPERS)
def test_what_papers_are_made_of(paper):
    described = PAPERS[paper]
    ModelOptions.of(described.options)
    for system, each in described.models.items():
        organization, _, name = each.model.partition("/")
        assert organization and name and system not in described.unreachable
        ModelOptions.of({**described.options, **each.options})
    published = load_data("published_results", described.published).to_pandas()
    systems = set(published["model" if "model" in published else "system"]) - {"human"}
    assert systems == described.models.keys() | described.unreachable.keys()


@pytest.mark.parametrize("paper, table", [("nobody1999", None), ("newman2021", "7")])
def test_unknown_papers_and_tables(tmp_path, paper, table):
    with pytest.raises(ValueError, match="expected one of"):
        reproduce(paper, tmp_path, table=table)


def test_options_that_a_suite_does_not_have():
    """Only None counts as not given; any other value is refused, also another suite's default."""
    make_suite("german", limit=1, lemmas=None)
    with pytest.raises(ValueError, match=r"lemmas .*no effect .*suite='german'; remove"):
        make_suite("german", lemmas="released")


@pytest.mark.slow
@pytest.mark.real
def test_a_real_model_in_place_of_the_papers(tmp_path, smollm2):
    """SmolLM2 knows simple agreement as the paper's models do, and more of it than a coin everywhere."""
    found = reproduce("newman2021", tmp_path, table="2", models=[str(smollm2)], limit=20)
    ours = found.table.drop_duplicates(["group", "metric"]).set_index(["group", "metric"])["ours"]
    assert ours["Simple", "tse"] >= 0.9 and ours["Simple", "mw"] >= 0.75
    assert ours.xs("tse", level="metric").mean() > 0.7


@pytest.mark.upstream
def test_syntaxgym_of_hu_2020(tmp_path, upstream):
    """The suites that are in the folder, each by its first criterion, and the mean over these suites."""
    source = upstream / "syntactic-generalization" / "test_suites" / "json"
    asked = ["--source", str(source), "--limit", "3", "-m", "tiny-causal", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, ["reproduce", "hu2020", *asked])
    assert done.exit_code == 0, done.output
    with (tmp_path / "reproduction.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 5 * (5 + 1)  # five models of the paper; five suites and their mean
    of_gpt2 = {row["group"]: float(row["published"]) for row in rows if row["system"] == "gpt-2"}
    assert of_gpt2["fgd_hierarchy"] == 15 / 24 and of_gpt2["cleft"] == 1
    overall = of_gpt2.pop("all")
    assert overall == approx(sum(of_gpt2.values()) / 5)


def test_syntaxgym_names_where_its_suites_are(tmp_path):
    with pytest.raises(ValueError, match=r"git clone .*syntactic-generalization"):
        reproduce("hu2020", tmp_path, models=["tiny-causal"])
