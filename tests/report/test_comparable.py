"""Which scores do not compare, as the terminal and the page say it."""

import pytest

from tse_scorers.report.comparable import not_comparable, unlike_notice, unpublished_notice
from tse_scorers.suites.registry import names


def model(name, config="pairs", limit=None, groups=None, **signature):
    request = {"suite_options": {"limit": limit, "groups": groups}}
    return signature | {
        "identity": {"suite": "agreement", "config": config, "model": name},
        "request": request,
    }


def said(*models):
    return not_comparable({"models": list(models)})


@pytest.mark.parametrize(
    "one, other, what",
    [
        ({"dataset_fingerprint": "1"}, {"dataset_fingerprint": "2"}, "on different data"),
        ({"dataset": "a/pairs.csv"}, {"dataset": "b/pairs.csv"}, "on a different data set"),
        ({"lemmas": "released"}, {"lemmas": "clean"}, "with a different lemma list"),
        ({"pll": "original"}, {"pll": "within_word_l2r"}, "with a different --pll"),
        ({"forms": "single"}, {"forms": "all"}, "with a different --forms"),
        ({}, {"linking": "slln"}, "with a different --linking"),
        ({"limit": None}, {"limit": 20}, "on a different part of the data"),
        ({"groups": None}, {"groups": ["Simple"]}, "on a different part of the data"),
        (
            {"suite_options": {"data": "a.csv", "threshold": "median"}},
            {"suite_options": {"data": "b.csv", "threshold": "best"}},
            "with a different threshold",
        ),
        (
            {"forms": "single"},
            {"forms": "all", "limit": 20},
            "with a different --forms and on a different part of the data",
        ),
    ],
)
def test_models_of_one_table_that_do_not_compare(one, other, what):
    """One table showed models that were scored on other data with the same file name, without a word."""
    sentence = f"agreement: pairs: B was run {what} than A; do not compare their scores."
    assert said(model("A", **one), model("B", **other)) == [sentence]


def test_models_that_compare():
    assert said(model("A", dtype="float32", pll="original"), model("B", dtype="bfloat16")) == []
    assert said(model("A", lemmas="german"), model("B", "others", lemmas="french")) == []  # two tables
    of_scorer = {"suite_options": {"limit": "3"}, "n_items": 3, "request": {"scorer_keys": ["order"]}}
    assert said(*(model(name) | of_scorer | {"order": order} for order, name in enumerate("AB"))) == []
    (sentence,) = said(
        *(of_scorer | model(name, rule=name) | {"request": of_scorer["request"]} for name in "AB")
    )
    assert "B was run with a different rule than A" in sentence


@pytest.mark.parametrize("key", ["dataset_fingerprint", "lemmas", "pll", "forms"])
def test_what_only_one_run_states_makes_no_difference(key):
    """Files of older versions lack keys; what they were run with is not known to differ."""
    stated, silent = model("A", **{key: "x"}), model("B")
    assert said(stated, silent) == said(silent, stated) == []


def test_models_with_one_reason_share_a_sentence():
    """The first model was the standard, so that one odd model filled the first screen with the names of all others."""
    whole = [model(name) for name in "BCDEFGH"]
    odd = [model(name, limit=2) for name in "AI"]
    assert said(*odd, *whole) == [
        "agreement: pairs: A, I were run on a different part of the data than B and 6 more; do not compare "
        "their scores."
    ]
    many = said(*whole, *(model(f"odd{i}", limit=2) for i in range(6)))
    assert many[0].startswith(
        "agreement: pairs: odd0, odd1, odd2, odd3, odd4 and 1 more were run on a different part of the data than B and "
        "6 more"
    )


def test_tables_with_the_same_models_at_odds_share_a_sentence():
    models = [model(*each) for each in [("A", "pairs", 2), ("B",), ("A", "others", 2), ("B", "others")]]
    assert said(*models) == [
        "agreement: pairs, agreement: others: B was run on a different part of the data than A; do not compare their "
        "scores."
    ]


def test_revisions_of_one_model_are_told_apart():
    first, second = (model("A", limit=limit) for limit in (2, None))
    for step, each in enumerate((first, second)):
        each["identity"]["revision"] = f"step{step}"
    assert said(first, second) == [
        "agreement: pairs: A@step1 was run on a different part of the data than A@step0; do not compare their scores."
    ]


@pytest.mark.parametrize("signature", [None, {}, {"models": None}, {"models": [3]}, {"models": [{}]}])
def test_signatures_of_old_versions(signature):
    assert not_comparable(signature) == []


def of_run(config, own_data=False, **request):
    return {"identity": {"model": "m", "config": config}, "request": {"own_data": own_data} | request}


def test_captions_name_the_systems_that_were_run_on_a_part_or_on_own_data():
    """A table of five pairs had the caption of the whole Table 2."""
    part = {"partial": True, "partial_reasons": ["--limit 5"]}
    signatures = {
        ("A", "agreement", "marvin_linzen"): of_run("marvin_linzen", **part),
        ("A", "agreement", "newman2021"): of_run("newman2021", partial=False),
        ("B", "agreement", "marvin_linzen"): of_run("marvin_linzen", **part),
        ("B", "minimal_pairs", "mine"): of_run("mine", own_data=True),
        ("C", "german", "all"): of_run("all", partial=False),
    }
    agreement = "Partial run (--limit 5): A (agreement: marvin_linzen), B."
    assert unpublished_notice(signatures, "agreement") == agreement
    assert unpublished_notice(signatures, "minimal_pairs") == "Own data (mine): B."
    assert unpublished_notice(signatures, "german") == ""
    of_all = unpublished_notice(signatures)
    assert of_all.endswith("B (agreement: marvin_linzen). Own data (mine): B (minimal_pairs: mine).")
    as_on_the_page = unpublished_notice(signatures, heading=names().heading)
    assert as_on_the_page.endswith(
        "B (Agreement: Marvin & Linzen). Own data (mine): B (Minimal pairs: mine)."
    )


def test_captions_name_systems_that_were_run_unlike_the_others():
    """A table in a paper is read without the page; its part of the data is named by another sentence."""
    signatures = {
        (name, "agreement", "pairs"): model(name, lemmas=lemmas, limit=limit)
        for name, lemmas, limit in (
            ("a", "released", None),
            ("b", "released", 5),
            ("c", "clean", None),
            ("d", "released", None),
        )
    }
    sentence = "c was run with a different lemma list than a and 1 more; do not compare their scores."
    assert unlike_notice(signatures, "agreement") == sentence
    assert unlike_notice(signatures, "minimal_pairs") == ""
