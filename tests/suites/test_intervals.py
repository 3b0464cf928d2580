"""Intervals of results, and the outcomes that they are made from."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from run_records import table_path
from scipy import stats
from tse_scorers.suites.checks import DataWarning
from tse_scorers.suites.variation_sets.suite import VariationSetSuite

import tse_scorers
from tse_scorers.runs.comparing.compare import compare

PRECISION = {"se", "ci_low", "ci_high", "unit", "n_units", "n_units_effective", "reliable"}


def own_pairs(tmp_path, paradigms: str, **columns):
    """Results on a file of own minimal pairs, four of each paradigm, by group."""
    n = len(paradigms)
    frame = pd.DataFrame({"UID": np.repeat(list(paradigms), 4), "linguistics_term": "x", "field": "syntax"})
    nouns, verbs = ["author", "pilot", "guard", "chef"] * n, (["laughs", "swims", "smiles"] * 4 * n)[: 4 * n]
    frame["sentence_good"] = [f"The {noun} {verb}." for noun, verb in zip(nouns, verbs, strict=True)]
    frame["sentence_bad"] = frame["sentence_good"].str.replace("s.", ".", regex=False)
    frame.assign(**columns).to_json(tmp_path / "pairs.jsonl", orient="records", lines=True)
    rows = tse_scorers.run(
        "tiny-causal",
        suite="minimal_pairs",
        data=tmp_path / "pairs.jsonl",
        out=tmp_path,
        report=False,
        methods=["full"],
    )
    assert all(set(row) >= PRECISION for row in rows)
    return {row["group"]: row for row in rows}


def test_accuracies_are_means_over_paradigms(tmp_path):
    by_group = own_pairs(tmp_path, "abcdefghij")
    paradigms = [by_group[name]["score"] for name in "abcdefghij"]
    sem = np.std(paradigms, ddof=1) / np.sqrt(10)
    assert sem <= by_group["all"]["se"] < 1.1 * sem + 0.04  # one more item is assumed
    assert (by_group["all"]["unit"], by_group["all"]["n_units"]) == ("paradigms", 10)
    assert by_group["phenomenon:x"]["unit"] == "critical words (these paradigms)"
    assert by_group["a"]["unit"] == "critical words"


def test_few_paradigms_of_ones_own_are_fixed(tmp_path):
    by_group = own_pairs(tmp_path, "abc")
    assert by_group["all"]["unit"] == "critical words (these paradigms)"
    assert by_group["all"]["score"] == pytest.approx(np.mean([by_group[name]["score"] for name in "abc"]))


@pytest.mark.parametrize("paradigms", ["abc", "abcdefghijk"])
def test_clusters_of_ones_own_pairs_are_their_units(tmp_path, paradigms):
    by_group = own_pairs(tmp_path, paradigms, cluster=["k", "l", "l", "m"] * len(paradigms))
    assert by_group["all"]["unit"] == "clusters (these paradigms)"
    assert (by_group["a"]["unit"], by_group["a"]["n_units"]) == ("clusters", 3)
    rows = compare([tmp_path, *_other(tmp_path)]).rows
    assert set(rows["unit"]) == {"clusters (these paradigms)", "clusters"}


@pytest.mark.parametrize("column", ["item", "cluster"])
def test_versions_of_an_item_are_one_unit_in_all_paradigms(tmp_path, column):
    """Four items in each of four paradigms were 16 units, so that the interval was too short."""
    with pytest.warns(DataWarning) if column == "item" else nullcontext() as warned:
        by_group = own_pairs(tmp_path, "abcd", **{column: [1, 2, 3, 4] * 4})
    assert (by_group["all"]["n_units"], by_group["all"]["unit"]) == (4, f"{column}s (these paradigms)")
    assert (by_group["a"]["n_units"], by_group["a"]["unit"]) == (4, f"{column}s")
    if warned:
        assert "items that occur in several of the 16 rows (column item): 4" in str(warned[0].message)
    pairs = pd.read_json(tmp_path / "pairs.jsonl", lines=True)
    scores = pd.read_parquet(table_path(tmp_path))
    means = scores["correct"].astype(float).groupby(pairs[column].to_numpy()).mean()
    assert stats.sem(means) <= by_group["all"]["se"] < 0.2  # balanced: the mean of the items' means
    assert set(compare([tmp_path, *_other(tmp_path)]).rows["n_units"]) == {4}


def _other(tmp_path):
    """A run of another model on the same pairs."""
    out = tmp_path / "other"
    options = {
        "suite": "minimal_pairs",
        "data": tmp_path / "pairs.jsonl",
        "report": False,
        "methods": ["full"],
    }
    tse_scorers.run("tiny-masked", out=out, **options)
    return [out]


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
