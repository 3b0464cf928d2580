"""From pairs to averages through real forward passes, against the definitions taken at their word.

The expected numbers come from one plain forward pass of each context and `literal_tse`, which ranks the whole
vocabulary and shares no code with the package or the metric.
"""

import copy
import functools
import json
import math

import literal_tse
import numpy as np
import pandas as pd
import pytest
import scored_gaps as agreement
import torch
from plain_loop import at_mask, next_token
from run_records import record_of, score
from tiny import tiny_model

from tse_scorers import load_data, load_scorer, make_suite
from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.masked import MaskedScorer
from tse_scorers.suites.agreement.data.paper_examples import TABLE_3, positions
from tse_scorers.suites.agreement.suite import AgreementSuite
from tse_scorers.suites.agreement.tables import top_forms

TOP = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 1.0)
BOTTOM = (0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)
CUTOFFS = [("top", cutoff) for cutoff in TOP] + [("bottom", cutoff) for cutoff in BOTTOM]
MEASURES = ("ew", "mw", "covered_mass")

LEMMAS = pd.DataFrame(
    [("laughs", "laugh"), ("likes", "like"), ("knows", "know"), ("swims", "swim"), ("exists", "exist"),
     ("admires", "admire"), ("is", "are"), ("has", "have"), ("unlikes", "unlike")],
    columns=["singular", "plural"],
)  # fmt: skip


def pair(group, prefix, suffix, number, singular, plural):
    forms = (singular, plural) if number == "singular" else (plural, singular)
    return {
        "construction": group.lower(), "group": group, "prefix": prefix, "suffix": suffix,
        "number": number, "form_correct": forms[0], "form_incorrect": forms[1],
    }  # fmt: skip


PAIRS = pd.DataFrame(
    [
        pair("Simple", "The author", ".", "singular", "laughs", "laugh"),
        pair("Simple", "The author", ".", "singular", "swims", "swim"),  # the same context
        pair("Simple", "The authors", " tall.", "plural", "is", "are"),
        # To a causal model the first context.
        pair("Simple", "The author", " tall.", "singular", "is", "are"),
        pair("Near", "The movie near the pilot", " old.", "singular", "is", "are"),
        pair("Near", "The senators near the guard", ".", "plural", "unlikes", "unlike"),  # not single tokens
        pair("Near", "The author", ".", "singular", "laughs", "laugh"),  # a context of two rows
    ]
)

MODELS = [("masked", "bert"), ("masked", "roberta"), ("masked", "albert"), ("masked", "fnet")]
MODELS += [("causal", "gpt2"), ("causal", "llama"), ("causal", "gemma2"), ("causal", "mamba")]


@functools.cache
def scorer_of(kind, family):
    if family.startswith("tiny-"):
        return load_scorer(family)
    model, tokenizer = tiny_model(kind, family)
    return (MaskedScorer if kind == "masked" else CausalScorer)(model, tokenizer, name=family)


def probabilities_at(scorer, prefix, suffix):
    """One plain forward pass in float32; the rest of the way in Python's floats."""
    if isinstance(scorer, CausalScorer):
        logits = next_token(scorer.model, scorer.tokenizer(prefix)["input_ids"])
    else:
        ids = scorer.tokenizer(f"{prefix} is{suffix}")["input_ids"]
        column = ids.index(scorer.single_token_ids(["is"])[0])
        ids[column] = scorer.tokenizer.mask_token_id
        logits = at_mask(scorer.model, ids, column)
    return literal_tse.softmax(logits.tolist())


def single(scorer, word):
    return int(scorer.single_token_ids([word])[0])


def literal_context(scorer, row, lemmas):
    """{(measure, side, cut-off): score} of one context."""
    probabilities = probabilities_at(scorer, row["prefix"], row["suffix"])
    ids = []
    for singular, plural in lemmas.itertuples(index=False):
        forms = single(scorer, singular), single(scorer, plural)
        if min(forms) >= 0:
            ids.append(forms if row["number"] == "singular" else forms[::-1])
    scores = {}
    for side, cutoff in CUTOFFS:
        for measure, value in zip(
            MEASURES, literal_tse.cutoff_scores(probabilities, ids, cutoff, side), strict=True
        ):
            scores[measure, side, cutoff] = value
    return scores


@functools.cache
def scored(kind, family):
    return agreement.score_contexts(scorer_of(kind, family), PAIRS, LEMMAS)


@functools.cache
def literal(kind, family):
    """For each row of the contexts' table: its literal scores."""
    scorer = scorer_of(kind, family)
    contexts = scored(kind, family).contexts.to_pandas()
    return [literal_context(scorer, row, LEMMAS) for _, row in contexts.iterrows()]


both = pytest.mark.parametrize("kind, family", MODELS)


@both
def test_contexts_are_unique_as_the_model_sees_them(kind, family):
    contexts = scored(kind, family).contexts.to_pandas()
    seen = ["prefix", "suffix"] if kind == "masked" else ["prefix"]
    expected = PAIRS.drop_duplicates([*seen, "number", "group"])
    assert (
        contexts[["group", *seen, "number"]].values.tolist()
        == expected[["group", *seen, "number"]].values.tolist()
    )
    assert contexts.groupby("context_id")[[*seen, "number"]].nunique().eq(1).all(axis=None)
    assert (contexts["n_lemmas"] == 8).all()


@both
def test_every_context_at_every_cutoff_equals_the_literal_definition(kind, family):
    contexts = scored(kind, family).contexts.to_pandas()
    for (_, row), expected in zip(contexts.iterrows(), literal(kind, family), strict=True):
        for (measure, side, cutoff), value in expected.items():
            actual = row[f"{measure}_{side}_{cutoff:g}"]
            np.testing.assert_allclose(actual, value, rtol=0, atol=1e-5, err_msg=f"{measure} {side} {cutoff}")


@both
def test_tse_of_every_pair(kind, family):
    scorer = scorer_of(kind, family)
    pairs = scored(kind, family).pairs.to_pandas()
    assert len(pairs) == len(PAIRS)
    for (_, row), (_, given) in zip(pairs.iterrows(), PAIRS.iterrows(), strict=True):
        probabilities = probabilities_at(scorer, given["prefix"], given["suffix"])
        correct, incorrect = single(scorer, given["form_correct"]), single(scorer, given["form_incorrect"])
        if min(correct, incorrect) < 0:
            assert pd.isna(row["tse"])
            continue
        assert row["tse"] == (probabilities[correct] > probabilities[incorrect])
        assert row["logprob_correct"] == pytest.approx(math.log(probabilities[correct]), abs=1e-5)
        assert row["logprob_incorrect"] == pytest.approx(math.log(probabilities[incorrect]), abs=1e-5)


def mean(values):
    known = [value for value in values if not math.isnan(value)]
    return (sum(known) / len(known) if known else math.nan), len(known), len(values) - len(known)


@both
def test_averages_over_rows_of_the_table_and_over_all(kind, family):
    scores = scored(kind, family)
    contexts, pairs = scores.contexts.to_pandas(), scores.pairs.to_pandas()
    rows = {
        (row["group"], row["metric"], row.get("cutoff_side"), row.get("cutoff")): row
        for row in AgreementSuite.aggregate({"contexts": scores.contexts, "pairs": scores.pairs})
    }
    members = {name: contexts["group"] == name for name in ("Simple", "Near")}
    members["all"] = ~contexts["context_id"].duplicated()
    for group, inside in members.items():
        for side, cutoff in CUTOFFS:
            expected = [
                scores for scores, member in zip(literal(kind, family), inside, strict=True) if member
            ]
            for measure in MEASURES:
                average, n, excluded = mean([context[measure, side, cutoff] for context in expected])
                row = rows[group, measure, side, cutoff]
                assert row["score"] == pytest.approx(average, abs=1e-5, nan_ok=True)
                assert (row["n"], row["n_excluded"]) == (n, excluded)
            without = [math.isnan(context["ew", side, cutoff]) for context in expected]
            assert rows[group, "share_without_lemmas", side, cutoff]["score"] == pytest.approx(
                np.mean(without)
            )
        own = pairs if group == "all" else pairs[pairs["group"] == group]
        row = rows[group, "tse", None, None]
        assert row["score"] == pytest.approx(own["tse"].dropna().mean())
        assert (row["n"], row["n_excluded"]) == (own["tse"].notna().sum(), own["tse"].isna().sum())
    assert len(rows) == 3 * (1 + 4 * len(CUTOFFS))


@both
def test_results_and_comparisons_have_the_same_groups_and_scores(kind, family):
    scores = scored(kind, family)
    tables = {name: getattr(scores, name) for name in ("contexts", "pairs", "outcomes", "lemmas", "listed")}
    rows = AgreementSuite.aggregate(tables)
    enumerated = list(AgreementSuite.scored(tables, AgreementSuite.measures))
    assert [list(map(str, each.columns)) for each in enumerated] == [["tse"], ["ew", "mw"]]
    for each in enumerated:
        for measure in each.columns:
            compared = {group.name: estimate for group, estimate in each.item_scores(measure).estimates()}
            averaged = {row["group"]: row for row in rows if measure.selects(row)}
            assert list(compared) == list(averaged) == ["all", *PAIRS["group"].unique()]
            for group, estimate in compared.items():
                row = averaged[group]
                assert (estimate.mean, estimate.se) == pytest.approx((row["score"], row["se"]), nan_ok=True)
                assert (estimate.unit, estimate.n_items) == (row["unit"], row["n"])


@both
def test_most_probable_forms(kind, family):
    scorer = scorer_of(kind, family)
    forms = top_forms(scorer_of(kind, family), PAIRS, LEMMAS).to_pandas()
    right = {single(scorer, word) for word in LEMMAS["singular"]} - {-1}
    for (prefix, suffix, number), of_context in forms.groupby(["prefix", "suffix", "number"]):
        probabilities = probabilities_at(scorer, prefix, suffix)
        best = literal_tse.ranking(probabilities)[:10]
        once = of_context.drop_duplicates("rank").sort_values("rank")
        np.testing.assert_allclose(once["probability"], [probabilities[token] for token in best], atol=1e-5)
        singular_among_best = [token in right for token in best]
        status = "correct" if number == "singular" else "incorrect"
        assert (once["status"] == status).tolist() == singular_among_best


@pytest.mark.parametrize("kind, family", [("masked", "tiny-masked"), ("causal", "tiny-causal")])
def test_bundled_models_on_shipped_templates(kind, family):
    """The same on what is shipped: real templates, the released lemmas, a vocabulary of thousands."""
    scorer = scorer_of(kind, family)
    pairs = agreement.load("marvin_linzen", limit=1)
    lemmas = agreement.load_lemmas("released")[["singular", "plural"]]
    contexts = agreement.score_contexts(scorer, pairs, lemmas).contexts.to_pandas()
    for _, row in contexts.iloc[::5].iterrows():
        for (measure, side, cutoff), value in literal_context(scorer, row, lemmas).items():
            actual = row[f"{measure}_{side}_{cutoff:g}"]
            np.testing.assert_allclose(actual, value, rtol=0, atol=1e-5, err_msg=f"{measure} {side} {cutoff}")


@pytest.mark.parametrize("kind, family", [("masked", "bert"), ("causal", "gpt2")])
def test_scores_do_not_depend_on_order_or_batch(kind, family):
    scorer = scorer_of(kind, family)
    expected = scored(kind, family)
    scorer.batch_tokens = 9
    backwards = agreement.score_contexts(scorer, PAIRS[::-1].reset_index(drop=True), LEMMAS[::-1])
    scorer.batch_tokens = None
    seen = ["prefix", "suffix"] if kind == "masked" else ["prefix"]
    columns = ["group", *seen, "number", *agreement.score_columns()]
    one, other = (
        scores.contexts.to_pandas()[columns].sort_values(columns[:4]).reset_index(drop=True)
        for scores in (expected, backwards)
    )
    pd.testing.assert_frame_equal(one, other, rtol=0, atol=1e-5)
    assert expected.pairs["tse"].to_pylist()[::-1] == backwards.pairs["tse"].to_pylist()


def test_ties_are_counted_and_not_correct():
    """A model that gives every token the same probability."""
    model, tokenizer = copy.deepcopy(tiny_model("masked", "bert"))
    with torch.no_grad():
        for parameter in model.cls.parameters():
            parameter.zero_()
        model.get_output_embeddings().weight.zero_()
    scores = agreement.score_contexts(MaskedScorer(model, tokenizer), PAIRS, LEMMAS)
    rows = AgreementSuite.aggregate({"contexts": scores.contexts, "pairs": scores.pairs})
    by_metric = {
        row["metric"]: row for row in rows if row["group"] == "all" and row.get("cutoff") in (None, 1.0)
    }
    assert by_metric["tse"]["score"] == 0.0 and by_metric["tse"]["n_ties"] == 6
    assert by_metric["ew"]["score"] == 0.0 and by_metric["mw"]["score"] == pytest.approx(0.5)
    n_contexts = scores.contexts.to_pandas()["context_id"].nunique()
    assert by_metric["ew"]["n_ties"] == 8 * n_contexts


def write_pairs(folder):
    path = folder / "pairs.parquet"
    PAIRS.to_parquet(path)
    LEMMAS.to_csv(folder / "lemmas.csv", index=False)
    return make_suite("agreement", data=str(path), lemmas=str(folder / "lemmas.csv"))


def test_a_run_leaves_signed_scores_and_results_of_the_agreed_form(tmp_path):
    suite = write_pairs(tmp_path)
    out = tmp_path / "out"
    score(suite, out, scorer_of("masked", "bert"))
    results = json.loads((out / "results.json").read_text())
    assert set(results) == {"format", "signature", "environment", "records", "results", "checksum"}
    fields = ["suite", "dataset", "config", "model", "revision", "group", "metric", "cutoff_side", "cutoff"]
    fields += [
        "score",
        "n",
        "n_excluded",
        "n_ties",
        "se",
        "ci_low",
        "ci_high",
        "unit",
        "n_units",
        "n_units_effective",
    ]
    fields += ["n_lemmas", "forms", "word_end", "n_lemmas_listed", "lemmas_scored"]
    fields += [
        "n_equal_forms",
        "n_unknown",
        "n_several_tokens",
        "n_different_lengths",
        "reliable",
    ]
    needed = {
        "suite",
        "model",
        "group",
        "level",
        "value",
        "metric",
        "score",
        "n",
        "unit",
    }
    assert all(needed <= set(row) <= {*fields, "level", "value"} for row in results["results"])
    used = {key for row in results["results"] for key in row}  # a masked model has no word ends
    assert used == {*fields, "level", "value"} - {"word_end"}
    assert {row["metric"] for row in results["results"]} == {
        "tse",
        "ew",
        "mw",
        "covered_mass",
        "share_without_lemmas",
    }
    assert {row.get("cutoff_side") for row in results["results"]} == {"top", "bottom", None}
    assert {row["group"] for row in results["results"]} == {"all", "Simple", "Near"}
    record = record_of(out)
    assert record.folder.name == "bert.agreement.pairs"
    assert set(record.tables) == {"contexts", "pairs", "top_forms", "outcomes", "lemmas", "listed"}
    asked = {"model", "revision", "dtype", "metric_version", "dataset_fingerprint", "lemmas_fingerprint"}
    assert asked <= set(record.facts)
    contexts = record.tables["contexts"].read()
    assert {f"{measure}_{side}_{cutoff:g}" for measure in MEASURES for side, cutoff in CUTOFFS} <= set(
        contexts.column_names
    )
    assert sorted(path.name for path in out.iterdir()) == ["results.json", "runs"]
    assert {path.suffix for path in record.folder.iterdir()} == {".json", ".parquet"}


def overall(rows):
    """The EW and MW of the whole distribution over all contexts."""
    whole = [
        row
        for row in rows
        if (row["group"], row.get("cutoff_side"), row.get("cutoff")) == ("all", "top", 1.0)
    ]
    scores = [row["score"] for row in whole if row["metric"] in ("ew", "mw")]
    assert len(scores) == 2 and np.isfinite(scores).all()
    return scores


def count_batches(scorer):
    counted = []
    handle = scorer.model.register_forward_pre_hook(lambda *_: counted.append(1))
    return counted, handle


def test_what_is_scored_is_not_scored_again_unless_something_changes(tmp_path):
    suite = write_pairs(tmp_path)
    scorer = MaskedScorer(*tiny_model("masked", "bert"), name="bert", revision="1")
    first = score(suite, tmp_path / "out", scorer)
    counted, handle = count_batches(scorer)
    try:
        again = score(suite, tmp_path / "out", scorer)
        pd.testing.assert_frame_equal(pd.DataFrame(again), pd.DataFrame(first))
        assert not counted
        LEMMAS.iloc[:4].to_csv(tmp_path / "fewer.csv", index=False)
        other = make_suite(
            "agreement", data=str(tmp_path / "pairs.parquet"), lemmas=str(tmp_path / "fewer.csv")
        )
        fewer = score(other, tmp_path / "out", scorer, overwrite=True)
        assert counted and overall(fewer) != overall(first)
    finally:
        handle.remove()


def test_a_model_in_memory_is_scored_each_time(tmp_path):
    """Nothing tells its weights from those of the run before: a checkpoint later it got the old one's scores."""
    model, tokenizer = copy.deepcopy(tiny_model("masked", "bert"))
    suite = write_pairs(tmp_path)
    first = score(suite, tmp_path / "out", load_scorer(model, tokenizer))
    with torch.no_grad():
        for parameter in model.bert.encoder.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(0)))
    assert overall(score(suite, tmp_path / "out", load_scorer(model, tokenizer))) != overall(first)


@pytest.mark.parametrize("model", ["tiny-masked", "tiny-causal"])
def test_table_3_is_among_the_contexts_of_every_run(model):
    """The sample of two contexts per row missed both sentences."""
    pairs = load_data("agreement_templates", "marvin_linzen").to_pandas()
    row = pairs[pairs["group"] == "In object relative clause"]
    papers = [row[row["prefix"] == prefix] for prefix, _ in TABLE_3]
    some = pd.concat([*papers, row.head(40), row.tail(40)]).drop_duplicates(["prefix", "suffix"])
    lemmas = load_data("verb_lemmas", "released").to_pandas().head(100)
    forms = top_forms(load_scorer(model), some, lemmas).to_pandas()
    shown = forms.drop_duplicates("context_id")
    assert set(shown["prefix"]) >= {prefix for prefix, _ in TABLE_3} and len(shown) <= 4 < len(some)
    if model == "tiny-masked":
        assert set(zip(shown["prefix"], shown["suffix"].str.strip(), strict=True)) >= set(TABLE_3)
    assert len(positions(shown)) == 2 and not len(positions(shown.assign(prefix="The author")))
