"""Verbs of any number of tokens: what is scored, what is left out and why, and what follows without the model.

The expected numbers are literal loops over `form_logprobs`, whose own values are tested with the models.
"""

import functools
import json
import math
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
import scored_gaps as agreement
from ngrams import train_ngram
from run_records import score
from tiny import tiny_model
from typer.testing import CliRunner

from tse_scorers import LiveEvaluation, Scorer, Slot, load_scorer, make_suite
from tse_scorers.cli.app import app
from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.masked import MaskedScorer
from tse_scorers.runs.comparing.compare import compare
from tse_scorers.suites.agreement.estimate.coverage import coverage, main_list
from tse_scorers.suites.agreement.options import AgreementOptions

LEMMAS = pd.DataFrame(
    [("laughs", "laugh"), ("likes", "like"), ("knows", "know"), ("swims", "swim"), ("is", "are"), ("has", "have"),
     ("unlikes", "unlike"), ("relaughs", "relaugh"), ("must", "must")],
    columns=["singular", "plural"],
)  # fmt: skip
ALL = AgreementOptions(forms="all")


def pair(row, prefix, suffix, number, singular, plural):
    forms = (singular, plural) if number == "singular" else (plural, singular)
    parts = {"group": row, "prefix": prefix, "suffix": suffix, "number": number}
    return parts | {"form_correct": forms[0], "form_incorrect": forms[1]}


PAIRS = pd.DataFrame(
    [
        pair("Simple", "The author", ".", "singular", "laughs", "laugh"),
        pair("Simple", "The authors", " tall.", "plural", "is", "are"),
        pair("Near", "The movie near the pilot", " old.", "singular", "is", "are"),
        pair("Near", "The senators near the guard", ".", "plural", "unlikes", "unlike"),
    ]
)


@functools.cache
def scorer_of(kind):
    made = tiny_model(kind, "gpt2" if kind == "causal" else "bert")
    return (CausalScorer if kind == "causal" else MaskedScorer)(*made, name=kind, revision="1")


@functools.cache
def scored(kind, options=ALL):
    return agreement.score_contexts(scorer_of(kind), PAIRS, LEMMAS, options=options)


def literal(scorer, row, lemmas):
    """Singular and plural log-probabilities of lemmas at one gap, asked one by one."""
    slot = [Slot(row["prefix"], row["suffix"])]
    return [[float(scorer.form_logprobs(slot, [form])[0, 0]) for form in pair] for pair in lemmas]


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_scores_over_all_forms_follow_their_definitions(kind):
    """EW, MW and covered mass over all forms."""
    found = scored(kind)
    lemmas = found.lemmas.select(["singular", "plural"]).to_pandas().values.tolist()
    for _, row in found.contexts.to_pandas().iterrows():
        forms = literal(scorer_of(kind), row, lemmas)
        probabilities = [[math.exp(each) for each in pair] for pair in forms]
        correct = 0 if row["number"] == "singular" else 1
        right = [pair[correct] > pair[1 - correct] for pair in forms]
        mass = sum(map(sum, probabilities))
        assert row["ew_top_1"] == pytest.approx(sum(right) / len(right))
        assert row["mw_top_1"] == pytest.approx(sum(pair[correct] for pair in probabilities) / mass, abs=1e-6)
        assert row["covered_mass_top_1"] == pytest.approx(mass, abs=1e-6)


def test_a_causal_model_leaves_no_pair_and_no_lemma_out():
    found = scored("causal")
    assert found.pairs["tse"].null_count == 0
    listed = found.listed.to_pandas().set_index("singular")
    assert (listed["excluded"] == "").sum() == 8 and listed.loc["must", "excluded"] == "equal forms"
    assert listed.loc["unlikes", "n_tokens_singular"] > 1
    of_tokens = agreement.score_contexts(scorer_of("causal"), PAIRS, LEMMAS)
    assert of_tokens.pairs["tse"].null_count == 1
    reasons = of_tokens.listed.to_pandas().set_index("singular")["excluded"]
    assert reasons["unlikes"] == "several tokens" and reasons["laughs"] == ""


def test_a_masked_model_excludes_forms_of_different_lengths():
    listed = scored("masked").listed.to_pandas()
    unlike = listed["n_tokens_singular"] != listed["n_tokens_plural"]
    assert unlike.any(), "the fixture must have such a lemma"
    assert (listed["excluded"] == "different lengths").equals(unlike)
    assert listed["word_end"].isna().all()


def test_a_verb_counts_once_where_gaps_are_inside_and_at_the_beginning_of_sentences():
    """The list is asked for twice then, small and in capitals."""
    opening = pd.DataFrame([pair("Question", "", " the author tall?", "singular", "is", "are")])
    both = pd.concat([PAIRS, opening], ignore_index=True)
    found = agreement.score_contexts(scorer_of("masked"), both, LEMMAS, options=ALL)
    assert set(found.listed.to_pandas()["opening"]) == {False, True}
    alone = agreement.score_contexts(scorer_of("masked"), PAIRS, LEMMAS, options=ALL)
    assert coverage(main_list(found.listed.to_pandas())) == coverage(main_list(alone.listed.to_pandas()))


@pytest.mark.parametrize("form", ["singular", "plural"])
def test_forms_have_ids_where_single_tokens_are_scored_and_none_where_words_are(form):
    single = scored("causal", AgreementOptions()).lemmas.to_pylist()
    ids = scorer_of("causal").single_token_ids([lemma[form] for lemma in single])
    assert single and [lemma[f"{form}_id"] for lemma in single] == ids.tolist()
    words = scored("causal").lemmas.to_pylist()
    assert words and {lemma[f"{form}_id"] for lemma in words} == {None}


TWICE = pd.DataFrame([("is", "are"), ("is", "be"), ("has", "have")], columns=["singular", "plural"])
GIVEN = {"is": 0.3, "are": 0.15, "be": 0.05, "has": 0.06, "have": 0.04}


class GivenScorer(Scorer):
    """Gives each form the same probability at all gaps."""

    name = "given"
    signature = MappingProxyType({"model": "given", "revision": "1"})
    context_columns = ("prefix",)
    reads_word_ends = True

    def sentence_logprobs(self, sentences, progress=None):
        raise AssertionError("no sentence is asked for")

    def form_lengths(self, forms, opening=False):
        return np.ones(len(forms), dtype=np.int64)

    def form_logprobs(self, slots, forms, progress=None):
        if progress is not None:
            progress(len(slots), len(slots))
        return np.tile([math.log(GIVEN.get(form, 1e-3)) for form in forms], (len(slots), 1))


def test_a_form_of_two_lemmas_is_covered_once():
    """0.3 + 0.15 + 0.05 + 0.06 + 0.04, not 0.9: *is* stands under two lemmas, and MW counts it in both."""
    told = []
    found = agreement.score_contexts(
        GivenScorer(), PAIRS, TWICE, lambda *done: told.append(done), options=ALL
    )
    assert told and told[-1] == (len(PAIRS), len(PAIRS))
    singular, plural = 2 * 0.3 + 0.06, 0.15 + 0.05 + 0.04
    for _, row in found.contexts.to_pandas().iterrows():
        is_singular = row["number"] == "singular"
        assert row["covered_mass_top_1"] == pytest.approx(0.6)
        assert row["mw_top_1"] == pytest.approx((singular if is_singular else plural) / (singular + plural))
        assert row["ew_top_1"] == is_singular


def test_word_ends_belong_to_all_forms_of_causal_models():
    with pytest.raises(ValueError, match="expected single"):
        AgreementOptions(forms="several")
    assert ALL.word_end_for(scorer_of("masked")) is None
    assert ALL.word_end_for(scorer_of("causal")) is True
    assert AgreementOptions().word_end_for(scorer_of("causal")) is False


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two models over single tokens, and one over all forms, each in a folder."""
    folder = tmp_path_factory.mktemp("forms")
    PAIRS.to_csv(folder / "pairs.csv", index=False)
    LEMMAS[:-1].to_csv(folder / "lemmas.csv", index=False)
    for name, kind, options in (
        ("causal", "causal", {}),
        ("masked", "masked", {}),
        ("all", "causal", {"forms": "all"}),
        ("few", "masked", {"forms": "all"}),
    ):
        suite = make_suite(
            "agreement",
            data=folder / "pairs.csv",
            lemmas=str(folder / "lemmas.csv"),
            allow_unverified=True,
            **options,
        )
        score(suite, folder / name, scorer_of(kind))
    return folder


def rows_of(out):
    return pd.DataFrame(json.loads((out / "results.json").read_text())["results"])


def test_results_say_what_was_scored(runs):
    of_all, of_single = rows_of(runs / "all"), rows_of(runs / "causal")
    assert set(of_all["forms"]) == {"all"} and set(of_all["word_end"]) == {True}
    assert set(of_single["forms"]) == {"single"} and set(of_single["word_end"]) == {False}
    ew = of_all[(of_all["metric"] == "ew") & (of_all["group"] == "all")].iloc[0]
    assert (ew["n_lemmas"], ew["n_lemmas_listed"], ew["n_several_tokens"]) == (8, 8, 0)
    one = of_single[(of_single["metric"] == "ew") & (of_single["group"] == "all")].iloc[0]
    assert one["n_lemmas"] + one["n_several_tokens"] == 8 and one["lemmas_scored"] != ew["lemmas_scored"]


def test_scores_by_different_measures_do_not_compare(runs):
    with pytest.raises(ValueError, match="--forms"):
        compare([runs / "causal", runs / "all"])


def test_scores_over_common_lemmas_are_those_of_a_run_over_them(runs, tmp_path):
    """From stored outcomes EW is exact; MW is only known over a whole list, and the reason is said."""
    compared = [str(runs / "all"), str(runs / "few"), "--common-lemmas", "--out", str(tmp_path / "compared")]
    done = CliRunner().invoke(app, ["compare", *compared], catch_exceptions=False)
    assert done.exit_code == 0
    said = " ".join(done.output.split())
    assert "Not compared: MW of masked and causal" in said and "score different lemmas" in said
    rows = pd.read_csv(tmp_path / "compared" / "common_lemmas.csv")
    assert set(rows[rows["lemmas"] == "common"]["measure"]) == {"EW"}
    assert set(rows[rows["lemmas"] == "own"]["measure"]) == {"EW", "MW"}
    common = scored("masked").lemmas.select(["singular", "plural"]).to_pandas()
    common.to_csv(tmp_path / "common.csv", index=False)
    suite = make_suite(
        "agreement",
        data=runs / "pairs.csv",
        lemmas=str(tmp_path / "common.csv"),
        allow_unverified=True,
        forms="all",
    )
    score(suite, tmp_path / "again", scorer_of("causal"))
    again = rows_of(tmp_path / "again")
    chosen = (rows["measure"] == "EW") & (rows["lemmas"] == "common") & (rows["group"] == "all")
    stored = rows[chosen & rows["system"].str.startswith("causal")].iloc[0]
    run = again[(again["metric"] == "ew") & (again["group"] == "all") & (again["cutoff"] == 1)].iloc[0]
    assert stored["n_lemmas"] == run["n_lemmas"] < 8
    assert stored["score"] == pytest.approx(run["score"], abs=1e-9)
    assert [stored["ci_low"], stored["ci_high"]] == pytest.approx([run["ci_low"], run["ci_high"]])
    own = rows[(rows["lemmas"] == "own") & (rows["group"] == "all") & (rows["measure"] == "EW")]
    results = rows_of(runs / "few")
    whole = results[
        (results["metric"] == "ew") & (results["group"] == "all") & (results["cutoff"] == 1)
    ].iloc[0]
    assert own[own["system"].str.startswith("masked")]["score"].item() == pytest.approx(whole["score"])
    with pytest.raises(ValueError, match=r"nothing to compare\. Not compared: MW of .*different lemmas"):
        compare([runs / "all", runs / "few"], measures=["mw"])


def test_ngram_models_are_scored_by_whole_words(runs, tmp_path):
    """They give no distribution over tokens, so that the paper's measure is refused before anything is run."""
    text = [
        "The author laughs .",
        "The authors are tall .",
        "The movie is old .",
        "Authors laugh .",
        "He has it .",
    ]
    lemmas = [("laughs", "laugh"), ("is", "are"), ("has", "have")]
    pd.DataFrame(lemmas, columns=["singular", "plural"]).to_csv(tmp_path / "lemmas.csv", index=False)
    own = {"lemmas": str(tmp_path / "lemmas.csv"), "allow_unverified": True}
    for order in (1, 2):
        scorer = load_scorer(train_ngram(tmp_path, order, text))
        with pytest.raises(ValueError, match=r"--forms all .*words at the gap"):
            make_suite("agreement", data=runs / "pairs.csv", **own).check_scorer(scorer)
        out = tmp_path / f"{order}-gram"
        score(make_suite("agreement", data=runs / "pairs.csv", forms="all", **own), out, scorer)
        ew = rows_of(out).query("metric == 'ew' and group == 'all' and cutoff == 1").iloc[0]
        right = [
            scorer.continuation_logprobs([row["prefix"]] * 2, list(pair)) @ [1, -1] > 0
            for _, row in PAIRS.iterrows()
            for pair in (lemmas[:2] if row["number"] == "singular" else [(b, a) for a, b in lemmas[:2]])
        ]
        assert ew["score"] == pytest.approx(np.mean(right)) and ew.get("word_end") is None
        assert (ew["n_lemmas"], ew["n_unknown"]) == (2, 1), "have is not in the training text"


FIXED_KEYS = (
    "suite dataset config measure group system reference score reference_score difference se ci_low ci_high p "
    "p_adjusted unit n_units n_items n_lemmas test"
)


def test_a_comparison_over_common_lemmas_is_a_list_of_rows_over_the_lemmas_of_all(runs, tmp_path):
    """Not only over those of the two systems of a row: `words` has fewer lemmas than the other two."""
    LEMMAS[3:8].to_csv(tmp_path / "lemmas.csv", index=False)
    suite = make_suite(
        "agreement",
        data=runs / "pairs.csv",
        lemmas=str(tmp_path / "lemmas.csv"),
        allow_unverified=True,
        forms="all",
    )
    score(suite, tmp_path / "words", scorer_of("causal"))
    folders = [runs / "all", runs / "few", tmp_path / "words"]
    asked = [
        "compare",
        *map(str, folders),
        "--common-lemmas",
        "--allow-different",
        "--out",
        str(tmp_path / "out"),
    ]
    done = CliRunner().invoke(app, [*asked, "--json", str(tmp_path / "found.json")], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    rows = json.loads((tmp_path / "found.json").read_text())
    assert isinstance(rows, list) and all(set(FIXED_KEYS.split()) <= set(row) for row in rows)
    common = scored("masked").lemmas.to_pandas()["singular"]
    common = LEMMAS[3:8][LEMMAS[3:8]["singular"].isin(common)]
    assert 0 < len(common) < 5
    pairs = PAIRS.drop_duplicates(["prefix", "suffix", "number"])
    expected = {}
    for kind in ("causal", "masked"):
        ew = []
        for _, row in pairs.iterrows():
            forms = np.exp(literal(scorer_of(kind), row, common.values.tolist()))
            correct = 0 if row["number"] == "singular" else 1
            ew.append(np.mean(forms[:, correct] > forms[:, 1 - correct]))
        expected[kind] = np.mean(ew)
    assert {row["measure"] for row in rows} == {"EW", "TSE"}
    for row in rows:
        if row["measure"] == "TSE" or row["group"] != "all":
            continue
        kinds = ["masked" if "masked" in row[role] else "causal" for role in ("system", "reference")]
        assert row["n_lemmas"] == len(common) < row["reference_n_lemmas_own"] == 8
        found = [row[key] for key in ("score", "reference_score")]
        assert found == pytest.approx([expected[kind] for kind in kinds])
        assert row["difference"] == pytest.approx(row["score"] - row["reference_score"])
        own = rows_of(runs / "all").query(
            f"metric == '{row['measure'].lower()}' and group == 'all' and cutoff == 1"
        )
        assert row["reference_score_own_lemmas"] == pytest.approx(own["score"].item())


def test_training_evaluations_can_score_all_forms(runs):
    model, tokenizer = tiny_model("causal", "gpt2")
    suite = make_suite(
        "agreement",
        data=runs / "pairs.csv",
        lemmas=str(runs / "lemmas.csv"),
        allow_unverified=True,
        forms="all",
    )
    live = LiveEvaluation([suite], budget=None)(model, tokenizer)
    expected = rows_of(runs / "all")
    ew = expected[(expected["metric"] == "ew") & (expected["group"] == "all") & (expected["cutoff"] == 1)]
    assert live["tse/ew"] == pytest.approx(ew["score"].item())
