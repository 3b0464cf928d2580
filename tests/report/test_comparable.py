"""Which scores do not compare, as the terminal and the page say it."""

import pytest

from tse_scorers.report.comparable import not_comparable


def model(name, config="pairs", limit=None, groups=None, **signature):
    recipe = {"suite_options": {"limit": limit, "groups": groups}}
    return signature | {
        "identity": {"suite": "agreement", "config": config, "model": name},
        "recipe": recipe,
    }


def said(*models):
    return not_comparable({"models": list(models)})


@pytest.mark.parametrize(
    "one, other, what",
    [
        ({"dataset_fingerprint": "1"}, {"dataset_fingerprint": "2"}, "data"),
        ({"dataset": "a/pairs.csv"}, {"dataset": "b/pairs.csv"}, "data set"),
        ({"lemmas": "released"}, {"lemmas": "clean"}, "lemma list"),
        ({"pll": "original"}, {"pll": "within_word_l2r"}, "--pll"),
        ({"forms": "single"}, {"forms": "all"}, "--forms"),
        ({}, {"linking": "slor"}, "--linking"),
        ({"limit": None}, {"limit": 20}, "part of the data"),
        ({"groups": None}, {"groups": ["Simple"]}, "part of the data"),
    ],
)
def test_models_of_one_table_that_do_not_compare(one, other, what):
    """One table showed models that were scored on other data with the same file name, without a word."""
    sentence = f"agreement, pairs: B and A were run with different {what}. Not comparable with each other."
    assert said(model("A", **one), model("B", **other)) == [sentence]


def test_models_that_compare():
    assert said(model("A", dtype="float32", pll="original"), model("B", dtype="bfloat16")) == []
    assert said(model("A", lemmas="german"), model("B", "others", lemmas="french")) == []  # two tables


def test_models_with_one_reason_share_a_sentence():
    odd = [model(name, limit=2) for name in "BCB"]
    assert said(model("A"), *odd, model("D")) == [
        "agreement, pairs: B, C and A were run with different part of the data. Not comparable with each other."
    ]


@pytest.mark.parametrize("signature", [None, {}, {"models": None}, {"models": [3]}, {"models": [{}]}])
def test_signatures_of_old_versions(signature):
    assert not_comparable(signature) == []
