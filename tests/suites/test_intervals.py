"""Intervals of results, and the outcomes that they are made from."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from run_records import record_of, table_path
from scipy import stats
from tse_scorers.suites.agreement.estimate.intervals import with_units
from tse_scorers.suites.agreement.estimate.outcomes import read_outcomes
from tse_scorers.suites.agreement.suite import AgreementSuite
from tse_scorers.suites.variation_sets.suite import VariationSetSuite

import tse_scorers
from tse_scorers.runs.comparing.compare import compare
from tse_scorers.statistics import Units, mean

PRECISION = {"se", "ci_low", "ci_high", "unit", "n_units", "n_units_effective", "reliable"}
N_CONTEXTS, N_LEMMAS = 200, 53


@pytest.fixture(scope="module")
def logprobs():
    """Log-probabilities of both forms of lemmas, a few of which have most of the probability."""
    generator = np.random.default_rng(0)
    logits = torch.from_numpy(generator.normal(0, 3, (2, N_CONTEXTS, N_LEMMAS)))
    return logits - torch.logsumexp(logits, dim=(0, 2), keepdim=True) - 0.5


@pytest.fixture(scope="module")
def outcomes(logprobs):
    correct, incorrect = logprobs
    bits = [row.tobytes() for row in np.packbits((correct > incorrect).numpy(), axis=1)]
    table = pa.table({"context_id": np.arange(N_CONTEXTS), "opening": [False] * N_CONTEXTS, "correct": bits})
    names = pd.DataFrame({"opening": False, "lemma": np.arange(N_LEMMAS)})
    names["singular"], names["plural"] = names["lemma"].map("v{}s".format), names["lemma"].map("v{}".format)
    (found,) = read_outcomes(table, pa.Table.from_pandas(names))
    return found


def test_outcomes_give_back_each_bit(logprobs, outcomes):
    expected = (logprobs[0] > logprobs[1]).numpy()
    assert (outcomes.correct(np.arange(N_CONTEXTS)) == expected).all()
    lemmas = np.array([5, 0, 52])
    assert (outcomes.correct(np.array([3, 1]), lemmas) == expected[[3, 1]][:, lemmas]).all()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A causal and a masked model on a few pairs of two constructions."""
    out = tmp_path_factory.mktemp("run")
    options = {"groups": ["Simple", "Across prepositional phrase"], "limit": 60, "report": False}
    tse_scorers.run(["tiny-causal", "tiny-masked"], out=out, model_options={"device": "cpu"}, **options)
    return out


def tables(run, model):
    return record_of(run, model=model).read()


@pytest.mark.slow
@pytest.mark.parametrize("model", ["tiny-causal", "tiny-masked"])
def test_ew_follows_from_the_stored_outcomes_exactly(run, model):
    stored = tables(run, model)
    (outcomes,) = read_outcomes(stored["outcomes"], stored["lemmas"])
    contexts = stored["contexts"].to_pandas().drop_duplicates("context_id").set_index("context_id")
    ew = outcomes.correct(np.arange(len(outcomes.context_id))).mean(axis=1)
    assert ew == pytest.approx(contexts.loc[outcomes.context_id, "ew_top_1"].to_numpy(), abs=1e-12)


def test_the_interval_of_ew_is_that_of_the_long_table(run):
    """Each (context, lemma) as an item: nouns crossed with lemmas, constructions as strata."""
    stored = tables(run, "tiny-causal")
    (outcomes,) = read_outcomes(stored["outcomes"], stored["lemmas"])
    contexts = with_units(stored["contexts"].to_pandas()).set_index("context_id").loc[outcomes.context_id]
    bits = outcomes.correct(np.arange(len(contexts)))
    n = bits.shape[1]
    units = Units(
        np.repeat(contexts["noun"], n),
        "nouns",
        np.tile(np.arange(n), len(contexts)),
        np.repeat(contexts["stratum"], n),
    )
    expected = mean(bits.ravel().astype(float), units)
    rows = json.loads((run / "results.json").read_text())["results"]
    (row,) = (
        row
        for row in rows
        if (row["model"], row["group"], row["metric"], row.get("cutoff_side"), row.get("cutoff"))
        == ("tiny-causal", "all", "ew", "top", 1.0)
    )
    assert row["score"] == pytest.approx(expected.mean, rel=1e-12)
    assert (row["se"], row["ci_low"]) == pytest.approx(
        (expected.se, expected.low), rel=0.03
    )  # of means of cells
    assert (row["n_units"], row["n_lemmas"]) == (expected.n_units, n)
    assert row["unit"] == "subject nouns x lemmas (these constructions)"


def test_every_row_has_an_interval_around_its_score(run):
    for row in json.loads((run / "results.json").read_text())["results"]:
        assert PRECISION <= set(row)
        if row["n"] == 0:  # no lemma is inside this cut-off
            assert [row[key] for key in ("score", "se", "ci_low", "ci_high")] == [None] * 4
            continue
        if row["n_units"] < 2:
            assert [row[key] for key in ("se", "ci_low", "ci_high")] == [None] * 3
            continue
        assert row["ci_low"] <= row["score"] <= row["ci_high"], row
        assert 0 <= row["ci_low"] and row["ci_high"] <= 1 and row["se"] >= 0


def test_scores_of_version_0_1_have_intervals_over_nouns_alone(run):
    stored = tables(run, "tiny-causal")
    rows = AgreementSuite.aggregate({name: stored[name] for name in ("contexts", "pairs")})
    (row,) = (
        r
        for r in rows
        if (r["group"], r["metric"], r.get("cutoff_side"), r.get("cutoff")) == ("all", "ew", "top", 1.0)
    )
    assert row["unit"] == "subject nouns (these constructions and lemmas)" and row["se"] > 0


def test_ew_is_compared_over_common_lemmas_and_mean_suffixes(run):
    stored = {model: tables(run, model) for model in ("tiny-causal", "tiny-masked")}
    found = {m: next(read_outcomes(t["outcomes"], t["lemmas"])) for m, t in stored.items()}
    common = found["tiny-causal"].lemmas.intersection(found["tiny-masked"].lemmas)
    assert len(common) < len(found["tiny-causal"].lemmas)
    means = {}
    for model, outcomes in found.items():
        contexts = stored[model]["contexts"].to_pandas().set_index("context_id").loc[outcomes.context_id]
        bits = outcomes.correct(np.arange(len(contexts)), outcomes.lemmas.get_indexer(common))
        keys = [contexts["prefix"], contexts["number"]]
        means[model] = (
            pd.Series(bits.mean(axis=1), index=contexts.index).groupby([k.to_numpy() for k in keys]).mean()
        )
    rows = compare([run]).rows.set_index(["measure", "group"])
    row = rows.loc[("EW", "all")]
    difference = (means["tiny-masked"] - means["tiny-causal"]).dropna()
    assert (row["difference"], row["n_items"]) == (pytest.approx(difference.mean()), len(difference))
    assert row["n_lemmas"] == len(common)


def test_fewer_than_four_effective_units_are_named(run):
    """Of two crossed kinds, the smaller one counts: `n_units` alone does not show that TSE is over four verbs."""
    rows = json.loads((run / "results.json").read_text())["results"]
    for row in rows:
        if row["metric"] in ("tse", "mw", "covered_mass") and row["n"]:
            assert row["n_units_effective"] <= row["n_units"] + 1e-9
            assert row["reliable"] == (row["n_units_effective"] >= 4), row
        if row["metric"] == "tse" and row["n"]:
            assert row["n_units_effective"] <= row["n_lemmas"] + 1e-9
    compared = compare([run]).rows
    assert (compared["reliable"] == (compared["n_units_effective"] >= 4)).all()


def own_agreement(tmp_path, n_groups: int, **columns):
    """Rows of the whole distribution on own templates: four contexts of each group, each with two verbs."""
    nouns = ["author", "pilot", "guard", "chef"]
    rows = [
        {"group": f"g{group}", "prefix": f"The {noun} of {group}", "suffix": ".", "number": "singular"}
        | {"form_correct": verb, "form_incorrect": verb[:-1], "noun_class": nouns.index(noun) // 2}
        for group in range(n_groups)
        for noun in nouns
        for verb in ("laughs", "swims")
    ]
    frame = pd.DataFrame(rows)
    frame = frame.assign(**{name: frame[source] for name, source in columns.items()})
    frame.to_csv(tmp_path / "mine.csv", index=False)
    models = ["tiny-causal", "tiny-masked"]
    rows = tse_scorers.run(models, data=str(tmp_path / "mine.csv"), out=tmp_path, report=False)
    whole = [
        r for r in rows if r["metric"] == "tse" or (r.get("cutoff_side"), r.get("cutoff")) == ("top", 1.0)
    ]
    return {(row["metric"], row["group"]): row for row in whole if row["model"] == "tiny-causal"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_groups", "columns", "overall", "n_units", "of_group"),
    [
        (3, {"cluster": "noun_class"}, "clusters", 2, "clusters"),
        (11, {"cluster": "noun_class"}, "clusters", 2, "clusters"),
        (11, {}, "groups", 11, "left contexts"),
        (3, {}, "left contexts", 12, "left contexts"),
    ],
)
def test_units_of_ones_own_agreement_data(tmp_path, n_groups, columns, overall, n_units, of_group):
    rows = own_agreement(tmp_path, n_groups, **columns)
    for metric in ("tse", "ew", "mw"):
        assert rows[metric, "all"]["unit"].startswith(overall)
        assert rows[metric, "all"]["n_units"] == n_units and not np.isnan(rows[metric, "all"]["se"])
        assert rows[metric, "g1"]["unit"].startswith(of_group)
    compared = compare([tmp_path]).rows.set_index(["measure", "group"])["unit"]
    for measure in ("TSE", "EW"):
        assert compared[measure, "all"].startswith(overall) and compared[measure, "g1"].startswith(of_group)


@pytest.mark.slow
def test_german_aucs_have_templates_as_units(tmp_path):
    rows = tse_scorers.run("tiny-causal", suite="german", limit=5, out=tmp_path, report=False)
    scores = pd.read_parquet(table_path(tmp_path))
    by_template = []
    for _, own in scores.groupby("template"):
        aucs = (
            row
            for row in VariationSetSuite.aggregate({"scores": pa.Table.from_pandas(own)})
            if row["metric"] == "auc"
        )
        by_template.append({(row["variation_set"], row["group"]): row["score"] for row in aucs})
    for row in rows:
        assert PRECISION <= set(row)
        if row["metric"] == "auc":
            values = [aucs[row["variation_set"], row["group"]] for aucs in by_template]
            assert row["score"] == pytest.approx(np.mean(values))
            assert row["se"] >= stats.sem(values) - 1e-12 and row["ci_low"] < row["score"] < row["ci_high"]
        elif row["metric"] != "human_pearson":
            assert np.isnan(row["se"])
        else:
            assert row["ci_low"] < row["score"] < row["ci_high"]
