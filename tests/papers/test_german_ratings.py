"""Raw ratings to sentence scores and AUCs, with raters whose answers are known."""

import numpy as np
import pandas as pd
import pytest

from tse_scorers import load_data
from tse_scorers.papers.rochereau2020.human_ratings import auc_rows, normalize
from tse_scorers.papers.rochereau2020.template_means import compare_means


def ratings(*rows) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["participant", "sentence", "rating", "filler"])


FILLERS = [("good", 90, "acceptable"), ("bad", 5, "ungrammatical")]


def fillers(participant, good=90, bad=5):
    return [(participant, "good", good, "acceptable"), (participant, "bad", bad, "ungrammatical")]


def test_scores_worked_by_hand():
    """Ann's mean is 50 and standard deviation 40; Bo uses the scale's middle: mean 50, standard deviation 10."""
    table = ratings(
        ("ann", "a", 90, ""), ("ann", "b", 10, ""), *fillers("ann"),
        ("bo", "a", 40, None), ("bo", "c", 60, None), *fillers("bo"),
    )  # fmt: skip
    judged = normalize(table)
    scores = judged.sentences.set_index("sentence")
    assert scores["score"].to_dict() == pytest.approx({"a": 0.0, "b": -1.0, "c": 1.0}, abs=1e-12)
    assert scores["n_ratings"].to_dict() == {"a": 2, "b": 1, "c": 1}
    people = judged.participants.set_index("participant")
    assert people["n_ratings"].to_dict() == {"ann": 2, "bo": 2}
    assert people.loc["ann", ["mean_acceptable", "mean_ungrammatical"]].tolist() == [90, 5]
    assert people["excluded"].eq("").all()


def test_fillers_decide_who_stays_and_nothing_else():
    table = ratings(
        ("careful", "a", 80, ""), ("careful", "b", 20, ""), *fillers("careful", 51, 50),
        ("equal", "a", 1, ""), ("equal", "b", 99, ""), *fillers("equal", 50, 50),
        ("careless", "a", 1, ""), ("careless", "b", 99, ""), *fillers("careless", 10, 80),
    )  # fmt: skip
    judged = normalize(table)
    assert judged.participants.set_index("participant")["excluded"].to_dict() == {
        "careful": "", "careless": "fillers not told apart", "equal": "fillers not told apart",
    }  # fmt: skip
    assert judged.sentences.set_index("sentence")["score"].to_dict() == pytest.approx({"a": 1.0, "b": -1.0})
    everybody = normalize(table, check_fillers=False).sentences.set_index("sentence")["score"]
    assert everybody.to_dict() == pytest.approx({"a": -1 / 3, "b": 1 / 3})


def test_fillers_do_not_enter_the_normalization():
    small = ratings(("ann", "a", 60, ""), ("ann", "b", 40, ""), *fillers("ann", 99, 0))
    more = pd.concat(
        [small, ratings(("ann", "good 2", 99, "acceptable"), ("ann", "good 3", 99, "acceptable"))]
    )
    assert normalize(small).sentences.equals(normalize(more).sentences)


def test_rater_with_one_answer_for_all_is_left_out():
    table = ratings(
        ("ann", "a", 80, ""), ("ann", "b", 20, ""), *fillers("ann"),
        ("flat", "a", 50, ""), ("flat", "b", 50, ""), *fillers("flat"),
        ("idle", "good", 80, "acceptable"), ("idle", "bad", 20, "ungrammatical"),
    )  # fmt: skip
    judged = normalize(table)
    people = judged.participants.set_index("participant")
    assert people["excluded"].to_dict() == {
        "ann": "", "flat": "ratings all alike", "idle": "ratings all alike",
    }  # fmt: skip
    assert people.loc["idle", "n_ratings"] == 0
    assert np.isfinite(judged.sentences["score"]).all()
    assert (judged.sentences["n_ratings"] == 1).all()


def test_scale_of_a_rater_does_not_matter():
    rng = np.random.default_rng(0)
    base = rng.integers(0, 50, size=30)
    rows = [("ann", f"s{i}", r, "") for i, r in enumerate(base)] + fillers("ann")
    doubled = [("ann", f"s{i}", 2 * r + 1, "") for i, r in enumerate(base)] + fillers("ann")
    first, second = normalize(ratings(*rows)).sentences, normalize(ratings(*doubled)).sentences
    assert first["score"].tolist() == pytest.approx(second["score"].tolist(), abs=1e-12)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("ann", "a", 100, "")], "not numbers from 0 to 99"),
        ([("ann", "a", -1, "")], "not numbers from 0 to 99"),
        ([("ann", "a", "very", "")], "'very'"),
        ([("ann", "a", 5, "filler")], "holds 'filler'"),
        ([("ann", "a", 5, ""), ("ann", "a", 6, "")], "rated 'a' twice"),
        ([("ann", "a", None, "")], "no value in column 'rating'"),
        ([(None, "a", 1, "")], "no value in column 'participant'"),
        (
            [("ann", "a", 5, ""), ("ann", "b", 6, ""), ("ann", "good", 90, "acceptable")],
            "both kinds of filler",
        ),
        ([("ann", "a", 5, ""), ("ann", "b", 6, ""), *fillers("ann", 1, 99)], "No participant is left of 1"),
        ([], "no rows"),
    ],
)
def test_bad_ratings_are_told(rows, message):
    with pytest.raises(ValueError, match=message):
        normalize(ratings(*rows))


def test_missing_columns_are_told():
    table = ratings(("ann", "a", 5, ""), *fillers("ann"))
    with pytest.raises(ValueError, match="lacks the column participant"):
        normalize(table.drop(columns="participant"))
    with pytest.raises(ValueError, match="lacks the column filler"):
        normalize(table.drop(columns="filler"))
    with pytest.raises(ValueError, match="lacks the column score"):
        auc_rows(
            pd.DataFrame({"sentence": ["a"]}), load_data("german_argument_structure", "ours").to_pandas()
        )


@pytest.fixture(scope="module")
def design() -> pd.DataFrame:
    table = load_data("german_argument_structure", "ours").to_pandas()
    return table[table["template"] < 6].reset_index(drop=True)


def simulate(design: pd.DataFrame, opinion: pd.Series, seed: int = 0) -> pd.DataFrame:
    """Three of six raters see each sentence; each has a scale of their own, two answer without reading."""
    rng = np.random.default_rng(seed)
    parts = []
    for rater in range(8):
        seen = design.index[design.index % 6 == rater % 6].union(
            design.index[design.index % 6 == (rater + 2) % 6]
        )
        seen = seen.union(design.index[design.index % 6 == (rater + 4) % 6])
        width, base = rng.uniform(10, 30), rng.uniform(20, 40)
        rating = base + width * opinion[seen] if rater < 6 else rng.uniform(0, 99, size=len(seen))
        parts.append(
            pd.DataFrame(
                {
                    "participant": rater,
                    "sentence": design.loc[seen, "sentence"],
                    "rating": np.clip(rating, 0, 99),
                    "filler": "",
                }
            )
        )
        good, bad = (90, 10) if rater < 6 else (30, 60)
        parts.append(ratings(*fillers(rater, good, bad)))
    return pd.concat(parts, ignore_index=True)


def test_simulated_raters_give_the_known_auc(design):
    """Raters who dislike doubled cases but for doubled nominatives, which they cannot tell from acceptable ones."""
    opinion = design["doubled_case"].map({"A": 0.0, "D": 0.0}).fillna(1.0)
    judged = normalize(simulate(design, opinion))
    excluded = judged.participants.set_index("participant")["excluded"]
    assert excluded.ne("").to_dict() == {rater: rater >= 6 for rater in range(8)}
    # Every sentence is seen by three of the six whose opinion is known.
    assert (judged.sentences["n_ratings"] == 3).all() and len(judged.sentences) == len(design)
    rows = {(row["variation_set"], row["group"]): row for row in auc_rows(judged.sentences, design)}
    assert rows["1-2_accusative", "all"]["auc"] == rows["1-2_dative", "all"]["auc"] == 1.0
    assert rows["1-6", "all"]["n"] == 216 and rows["1-6", "all"]["n_excluded"] == 0


def test_exact_auc_where_everybody_sees_everything(design):
    """Then all z-scores take the same step: doubled nominatives tie, the rest loses, AUC (0.5 + 1 + 1) / 3."""
    opinion = design["doubled_case"].map({"A": 0, "D": 0}).fillna(1).astype(int)
    table = pd.concat(
        [
            pd.concat(
                [
                    pd.DataFrame(
                        {
                            "participant": p,
                            "sentence": design["sentence"],
                            "rating": low + step * opinion,
                            "filler": "",
                        }
                    ),
                    ratings(*fillers(p)),
                ]
            )
            for p, low, step in ((1, 0, 99), (2, 40, 10), (3, 20, 1))
        ]
    )
    judged = normalize(table)
    rows = {
        (row["variation_set"], row["group"]): row["auc"]
        for row in auc_rows(judged.sentences.round(9), design)
    }
    assert rows["1-2_nominative", "all"] == 0.5
    assert rows["1-6", "cell:DAN|ag2,re3,pa1"] == pytest.approx(2.5 / 3)
    assert rows["1-6", "all"] == pytest.approx(2.5 / 3)


def test_unrated_sentences_leave_their_sets_out(design):
    scores = pd.DataFrame({"sentence": design["sentence"], "score": design["grammatical"].astype(float)})
    gone = design["sentence_id"].isin(["00-NDA-123", "01-NNA-123"])
    rows = {(row["variation_set"], row["group"]): row for row in auc_rows(scores[~gone], design)}
    assert rows["1-6", "all"]["n"] == 216 - 1 - 2  # one acceptable sentence; one violation of two others
    assert rows["1-6", "all"]["n_excluded"] == 2
    assert rows["1-2_dative", "all"]["n"] == 215
    assert rows["1-6", "all"]["auc"] == 1.0


def test_sentence_outside_the_design_is_told(design):
    scores = pd.DataFrame({"sentence": ["Der Hund bellt."], "score": [1.0]})
    with pytest.raises(ValueError, match=r"1 .*not .*design.*'Der Hund bellt"):
        auc_rows(scores, design)


def literal_f(sentences: pd.DataFrame) -> tuple[float, float]:
    """F and the share of variance between templates, by sums of squares."""
    overall = sentences["score"].mean()
    groups = [part["score"] for _, part in sentences.groupby("template")]
    between = sum(len(group) * (group.mean() - overall) ** 2 for group in groups)
    within = sum(((group - group.mean()) ** 2).sum() for group in groups)
    free = len(groups) - 1, len(sentences) - len(groups)
    return (between / free[0]) / (within / free[1]), between / (between + within)


@pytest.mark.parametrize("effect", [0.0, 2.0])
def test_templates_are_compared(design, effect):
    """Section 4.1 of the paper: are the templates' average scores different?"""
    rng = np.random.default_rng(1)
    scores = rng.normal(size=len(design)) + effect * (design["template"] == 3)
    found = compare_means(design["template"], pd.Series(scores))
    statistic, share = literal_f(design.assign(score=scores))
    assert (found.statistic, found.share) == pytest.approx((statistic, share))
    assert (found.p < 0.001) == bool(effect) and 0 <= found.p <= 1
    assert found.templates["n"].tolist() == [144] * 6
    assert (found.templates["mean"].idxmax() == 3) or not effect


def test_templates_of_real_ratings_are_compared_after_normalization(design):
    judged = normalize(simulate(design, design["cases"].map(lambda cases: float(len(set(cases)) == 3))))
    scored = design.merge(judged.sentences, on="sentence")
    compared = compare_means(scored["template"], scored["score"])
    assert compared.templates["n"].sum() == len(judged.sentences)


def test_equal_scores_have_no_test(design):
    found = compare_means(design["template"], design.assign(score=1.0)["score"])
    assert np.isnan(found.statistic) and np.isnan(found.p) and found.share == 0


def test_one_template_cannot_be_compared(design):
    scored = design[design["template"] == 0].assign(score=1.0)
    with pytest.raises(ValueError, match="of 1 templates are too few"):
        compare_means(scored["template"], scored["score"])
