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
    sentence = f"agreement (pairs): B differs from A in: {what}. Not comparable with each other."
    assert said(model("A", **one), model("B", **other)) == [sentence]


def test_models_that_compare():
    assert said(model("A", dtype="float32", pll="original"), model("B", dtype="bfloat16")) == []
    assert said(model("A", lemmas="german"), model("B", "others", lemmas="french")) == []  # two tables


def test_models_with_one_reason_share_a_sentence():
    """The first model was the standard, so that one odd model filled the first screen with the names of all others."""
    whole = [model(name) for name in "BCDEFGH"]
    odd = [model(name, limit=2) for name in "AI"]
    assert said(*odd, *whole) == [
        "agreement (pairs): A, I differ from B and 6 more in: part of the data. Not comparable with each other."
    ]
    many = said(*whole, *(model(f"odd{i}", limit=2) for i in range(6)))
    assert many[0].startswith(
        "agreement (pairs): odd0, odd1, odd2, odd3, odd4 and 1 more differ from B and 6 more"
    )


def test_tables_with_the_same_models_at_odds_share_a_sentence():
    models = [model(*each) for each in [("A", "pairs", 2), ("B",), ("A", "others", 2), ("B", "others")]]
    assert said(*models) == [
        "agreement (pairs), agreement (others): B differs from A in: part of the data. Not comparable with each other."
    ]


def test_revisions_of_one_model_are_told_apart():
    first, second = (model("A", limit=limit) for limit in (2, None))
    for step, each in enumerate((first, second)):
        each["identity"]["revision"] = f"step{step}"
    assert said(first, second) == [
        "agreement (pairs): A@step1 differs from A@step0 in: part of the data. Not comparable with each other."
    ]


@pytest.mark.parametrize("signature", [None, {}, {"models": None}, {"models": [3]}, {"models": [{}]}])
def test_signatures_of_old_versions(signature):
    assert not_comparable(signature) == []
