"""Tables of papers beside our numbers."""

import json
from contextlib import nullcontext
from dataclasses import replace

import pandas as pd
import pytest
from command_line import tse
from pytest import approx

from tse_scorers import load_data
from tse_scorers.io.store import read_records
from tse_scorers.models.options import ModelOptions
from tse_scorers.papers.newman2021 import probable_forms
from tse_scorers.papers.papers import PAPERS, PaperModel
from tse_scorers.papers.published import rows
from tse_scorers.papers.reproduce import reproduce

PRINTED = {  # of BERT, in Tables 2 to 5 of Rochereau et al. (2020)
    "2": {"NAD": 0.91, "NDA": 0.81, "ADN": 0.81, "all": 0.82},
    "3": {"ag1,re2,pa3": 0.96, "ag1,re3,pa2": 0.67, "ag3,re2,pa1": 0.83, "all": 0.82},
    "4": {"auc": 0.82, "auc@1-2_nominative": 0.76, "auc@1-2_accusative": 0.78, "auc@1-2_dative": 0.91},
    "5": {"all": 0.73},
}


def rochereau(out, table=None, models=("tiny-causal",), **asked):
    return reproduce("rochereau2020", out, table=table, models=models, limit=1, **asked)


def test_means_and_correlations_of_rochereau_2020(tmp_path):
    for table, printed in PRINTED.items():
        bert = rochereau(tmp_path, table).table.query("system == 'bert'")
        published = bert.set_index("measure" if table == "4" else "group")["published"]
        # Means of numbers with two decimals, which at exactly half were printed either way.
        assert {group: published[group] for group in printed} == approx(printed, abs=0.005 + 1e-9)
        (record,) = read_records(tmp_path)
        results = {(row["measure"], row["value"] or "all"): row["score"] for row in record.rows}
        for row in bert.itertuples():
            assert row.ours == results[row.measure, row.group]


def test_cells_of_people_and_of_the_table_that_repeats_another_one(tmp_path):
    """Table 18 repeats Table 12 in the paper: it is used alone. Each model is put beside people."""
    numbers = ("11", "12", "18", None)
    people, twelfth, eighteenth, every = (rochereau(tmp_path, number).table for number in numbers)
    assert set(people["system"]) == {"human"} and people["published"].mean() == approx(0.59, abs=0.005)
    assert set(eighteenth["system"]) == {"unigram"} and set(eighteenth["measure"]) == {"auc@1-2_accusative"}
    assert eighteenth["published"].tolist() == twelfth["published"].tolist()
    assert eighteenth["ours"].tolist() != twelfth["ours"].tolist()
    assert every.query("system == 'unigram' and measure == 'auc@1-2_accusative'").empty
    assert not every.duplicated(["system", "group", "measure"]).any()


def test_the_papers_models_are_compared_with_themselves(tmp_path, monkeypatch):
    places = {"bert": PaperModel("tiny-masked"), "distilbert": PaperModel("no-such-model")}
    monkeypatch.setitem(PAPERS, "rochereau2020", replace(PAPERS["rochereau2020"], models=places))
    said = []
    found = rochereau(tmp_path, "9", models=(), note=said.append)
    assert set(found.table["system"]) == {"bert"} and len(found.table) == 36 and found.left_out == []
    assert said[1:] == ["Model: tiny-masked, the paper's bert"] and "own 50 templates" in found.differences[1]
    every = rochereau(tmp_path, models=())
    assert [failure.model for failure in every.failures] == ["no-such-model"]
    assert any(line.startswith("unigram: its training text was not released") for line in every.left_out)


def test_without_a_network_the_reason_is_said_once(tmp_path, monkeypatch):
    def unreachable():
        raise ConnectionError("the Hub does not answer")

    places = {"bert": PaperModel("org/bert"), "distilbert": PaperModel("org/distilbert")}
    monkeypatch.setitem(PAPERS, "rochereau2020", replace(PAPERS["rochereau2020"], models=places))
    monkeypatch.setattr("tse_scorers.models.load.require_reachable", unreachable)
    with pytest.raises(ValueError, match=r"org/bert.*does not answer") as said:
        rochereau(tmp_path, "9", models=())
    assert str(said.value).count("does not answer") == 1 and "tiny-" not in str(said.value)


def test_a_dry_run_of_newman_2021(tmp_path):
    said = tse("reproduce", "newman2021", "--table", 2, "-m", "tiny-causal", "--limit", 1, "--out", tmp_path)[
        1
    ]
    assert "108 numbers" in said and "Reasons for differences" in said
    found = reproduce("newman2021", tmp_path, table="2", models=["tiny-causal"], limit=1)
    assert len(found.table) == 9 * 4 * 3  # nine rows without BLiMP's, four models, three measures
    assert found.table["difference"].equals(found.table["ours"] - found.table["published"])
    assert "tse fetch newman2021-blimp" in found.left_out[0] and found.failures == []
    assert "tiny-causal" in found.differences[0] and "--limit" in found.differences[1]
    assert len(found.as_printed()) == 27 and found.as_printed()["bert-large-cased (paper)"].iloc[0] == "0.99"


@pytest.mark.parametrize(
    ("model", "suffix", "n_gaps"),
    [("tiny-masked", " are tall.", 1), ("tiny-causal", " laugh.", 1), ("tiny-masked", " laugh.", 0)],
)
def test_probable_words_are_those_of_their_own_gap(tmp_path, monkeypatch, model, suffix, n_gaps):
    """A masked model reads what follows: before another suffix, it is asked about another gap than the paper's."""
    pairs = load_data("agreement_templates", "marvin_linzen").to_pandas()
    of_gap = pairs["prefix"].eq("The pilots that the executive") & pairs["suffix"].eq(suffix)
    pairs[of_gap].to_csv(tmp_path / "marvin_linzen.csv", index=False)
    part = replace(PAPERS["newman2021"].parts[0], options={"data": tmp_path / "marvin_linzen.csv"})
    monkeypatch.setitem(PAPERS, "newman2021", replace(PAPERS["newman2021"], parts=(part,)))
    with nullcontext() if n_gaps else pytest.raises(ValueError, match="No number of newman2021"):
        found = reproduce("newman2021", tmp_path / "out", table="3", models=[model]).table
        (record,) = read_records(tmp_path / "out")
        forms = probable_forms(record).set_index("form")["probability"]
        assert set(found["group"]) == {"The pilots that the executive … are tall."}
        assert len(found) and found["ours"].tolist() == forms[found["form"]].tolist()


def test_a_dry_run_of_warstadt_2020(tmp_path):
    blimp = tmp_path / "blimp" / "data"
    blimp.mkdir(parents=True)
    pairs = [
        (
            "anaphor_number_agreement",
            "anaphor_agreement",
            "Many girls hurt themselves.",
            "Many girls hurt herself.",
        ),
        ("passive_1", "argument_structure", "Jeffrey's sons are insulted.", "Jeffrey's sons are smiled."),
    ]
    for of in pairs:
        names = ("UID", "linguistics_term", "sentence_good", "sentence_bad")
        row = dict(zip(names, of, strict=True)) | {"field": "syntax", "pairID": "0"}
        (blimp / f"{of[0]}.jsonl").write_text(json.dumps(row) + "\n")
    found = reproduce("warstadt2020", tmp_path / "out", models=["tiny-causal"], source=blimp.parent)
    published = found.table.query("system == 'gpt2-large'").set_index("group")["published"]
    phenomena = {"anaphor_agreement", "argument_structure"}
    assert set(published.index) == {"all", "anaphor_number_agreement", "passive_1", *phenomena}
    assert published["all"] == approx(0.830238806)  # over the whole of BLiMP
    assert "gpt2-large (released summary)" in found.as_printed()


@pytest.mark.parametrize("paper", PAPERS)
def test_what_papers_are_made_of(paper):
    described = PAPERS[paper]
    for each in described.models.values():
        assert "/" in each.model and ModelOptions.of({**described.options, **each.options})
    systems = {*described.models, *described.unreachable, "human", "transfo-xl"}  # the latter's slopes alone
    assert set(rows(paper)["system"].dropna()) | {"human", "transfo-xl"} == systems


def test_names_and_lists(tmp_path):
    assert "2 TSE, EW and MW by construction" in tse("reproduce")[1]
    for paper, table in (("nobody1999", None), ("newman2021", "7")):
        with pytest.raises(ValueError, match="expected one of"):
            reproduce(paper, tmp_path, table=table)
    with pytest.raises(ValueError, match=r"git clone .*syntactic-generalization"):
        reproduce("hu2020", tmp_path, models=["tiny-causal"])


@pytest.mark.upstream
def test_suites_of_hu_2020_and_the_mean_over_those_that_were_run(tmp_path, upstream):
    source = upstream / "syntactic-generalization" / "test_suites" / "json"
    asked = ["--source", source, "--limit", 3, "-m", "tiny-causal", "--out", tmp_path]
    assert tse("reproduce", "hu2020", *asked)[0] == 0
    written = pd.read_csv(tmp_path / "reproduction.csv").query("system == 'gpt-2'")
    published = written.set_index("group")["published"].to_dict()
    assert published["fgd_hierarchy"] == 15 / 24 and published["cleft"] == 1 and len(published) == 5 + 1
    assert published.pop("all") == approx(sum(published.values()) / 5)


@pytest.mark.upstream
def test_the_blimp_row_of_newman_2021_is_fetched_and_scored(tmp_path, upstream):
    assert tse("fetch", "newman2021-blimp", "--source", upstream, "--out", tmp_path / "data")[0] == 0
    asked = ["--table", 2, "-m", "tiny-causal", "--limit", 8, "--source", tmp_path / "data"]
    code, said = tse("reproduce", "newman2021", *asked, "--out", tmp_path / "out")
    assert code == 0 and "Left out" not in said and "120 numbers" in said
