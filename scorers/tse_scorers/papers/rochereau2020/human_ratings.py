"""Computes scores per sentence and AUCs of minimal variation sets from raw acceptability ratings.

The steps of Rochereau, Sagot & Dupoux (2020), section 4.1, for ratings from 0 ("not natural") to 99 ("very
natural"):

1. A participant is excluded if the mean rating of the acceptable fillers is not above that of the ungrammatical ones.
   A participant with equal ratings is also excluded, because they cannot be normalized.
2. z = (rating - mean) / standard deviation, per participant, over the sentences of the set that they rated. The
   paper says that ratings are normalized across participants, but not how. Fillers are excluded here because
   their proportions may differ from those of the set.
3. A sentence's score is the mean z of those who rated it.

The AUCs are those of `metrics/minimal_variation_auc`.
"""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from ...io.bundle import metric_modules
from ...io.table_files import as_numbers, require_columns

LOWEST, HIGHEST = 0, 99
FILLERS = ("acceptable", "ungrammatical")


@dataclass(frozen=True)
class NormalizedRatings:
    """Ratings after exclusion and normalization.

    Attributes:
        sentences: `sentence`, `score` (mean z) and `n_ratings`; a sentence without a valid rating is absent.
        participants: `participant`, `n_ratings` (without fillers), the mean rating of each kind of filler
            (`mean_acceptable`, `mean_ungrammatical`) and `excluded`: the reason for exclusion, "" for the others.
    """

    sentences: pd.DataFrame
    participants: pd.DataFrame


def normalize(ratings: pd.DataFrame, check_fillers: bool = True) -> NormalizedRatings:
    """Exclude careless participants, normalize the ratings of the others and average them per sentence.

    Args:
        ratings: one row per judgment: `participant`, `sentence`, `rating` (0 to 99) and `filler`, which is empty
            (None or "") for a sentence of the set, else `acceptable` or `ungrammatical`.
        check_fillers: exclude participants by their ratings of fillers. If False, `filler` may be missing.

    Raises:
        ValueError: a column or value is missing or wrong, a participant rated a sentence twice or saw only one
            kind of filler, or no participant is left.
    """
    table = _checked(ratings, check_fillers)
    of_set = table[table["filler"] == ""]
    participants = _participants(table, check_fillers)
    included = participants.loc[participants["excluded"] == "", "participant"]
    if included.empty:
        reasons = participants["excluded"].value_counts().to_dict()
        raise ValueError(
            f"No participant is left of {len(participants)}: {reasons}. Look at the rating scale's direction (99 "
            "is very natural) and at the labels of the fillers."
        )
    of_set = of_set[of_set["participant"].isin(included)]
    by_participant = of_set.groupby("participant")["rating"]
    z = (of_set["rating"] - by_participant.transform("mean")) / by_participant.transform("std", ddof=0)
    sentences = of_set.assign(score=z).groupby("sentence", sort=False)["score"].agg(["mean", "count"])
    return NormalizedRatings(
        sentences.rename(columns={"mean": "score", "count": "n_ratings"}).reset_index(), participants
    )


def auc_rows(sentences: pd.DataFrame, design: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the AUCs of people's scores: the rows of `variation_sets.variation_rows`.

    An acceptable sentence without a score does not form a set, which reduces `n`. If one of its violations has no
    score, the set is excluded and counted (`n_excluded`).

    Args:
        sentences: `sentence` and `score`, as in `NormalizedRatings.sentences`.
        design: `sentence`, `template`, `cases` and `positions`, as in `german_argument_structure`.

    Raises:
        ValueError: a sentence with a score is not in the design.
    """
    require_columns(sentences, ("sentence", "score"), "The table of sentence scores")
    require_columns(design, ("sentence", "template", "cases", "positions"), "The design")
    unknown = sorted(set(sentences["sentence"]) - set(design["sentence"]))
    if unknown:
        raise ValueError(
            f"{len(unknown)} rated sentences are not in the design, the first: {unknown[0]!r}. They must be spelt "
            "exactly as there; mark fillers in the column 'filler'."
        )
    scored = design.merge(sentences[["sentence", "score"]], on="sentence", validate="one_to_one")
    rows: list[dict[str, Any]] = metric_modules("minimal_variation_auc").variation_sets.variation_rows(
        scored["score"], scored["template"], scored["cases"], scored["positions"], incomplete="exclude"
    )
    return rows


def _checked(ratings: pd.DataFrame, check_fillers: bool) -> pd.DataFrame:
    """Check the ratings and return them, with "" for sentences that are not fillers."""
    require_columns(ratings, ("participant", "sentence", "rating"), "The table of ratings")
    if check_fillers and "filler" not in ratings:
        raise ValueError(
            "The table of ratings lacks the column filler (empty, acceptable or ungrammatical). Add it, or pass "
            "check_fillers=False to keep every participant."
        )
    filler = ratings["filler"].fillna("") if "filler" in ratings else ""
    table = ratings.assign(filler=filler, rating=as_numbers(ratings["rating"]))
    wrong = ~table["rating"].between(LOWEST, HIGHEST)
    if wrong.any():
        raise ValueError(
            f"{int(wrong.sum())} ratings are not numbers from {LOWEST} to {HIGHEST}, the first: "
            f"{ratings.loc[wrong, 'rating'].tolist()[0]!r:.80}. Remove judgments that were not given."
        )
    wrong = ~table["filler"].isin(("", *FILLERS))
    if wrong.any():
        raise ValueError(
            f"The column 'filler' holds {table.loc[wrong, 'filler'].iloc[0]!r}; expected nothing, "
            f"{' or '.join(FILLERS)}. Fix this column."
        )
    twice = table.duplicated(["participant", "sentence"])
    if twice.any():
        first = table[twice].iloc[0]
        raise ValueError(
            f"Participant {first['participant']} rated {first['sentence']!r} twice; expected one judgment per "
            "sentence. Remove the others."
        )
    return table


def _participants(table: pd.DataFrame, check_fillers: bool) -> pd.DataFrame:
    """Return one row per participant with the reason for exclusion, if any."""
    means = table.pivot_table(index="participant", columns="filler", values="rating", aggfunc="mean")
    means = means.reindex(columns=list(FILLERS)).set_axis([f"mean_{kind}" for kind in FILLERS], axis=1)
    of_set = table[table["filler"] == ""].groupby("participant")["rating"].agg(["count", "nunique"])
    people = means.join(of_set, how="left").fillna({"count": 0, "nunique": 0})
    if check_fillers and people[list(means)].isna().any(axis=None):
        someone = people.index[people[list(means)].isna().any(axis=1)][0]
        raise ValueError(
            f"Participant {someone} has not rated both kinds of filler ({' and '.join(FILLERS)}), so it is "
            "unknown whether they paid attention. Remove them, or pass check_fillers=False."
        )
    careless = people["mean_acceptable"] <= people["mean_ungrammatical"]
    excluded = pd.Series("", index=people.index)
    excluded[people["nunique"] < 2] = "ratings all alike"
    if check_fillers:
        excluded[careless] = "fillers not told apart"
    people = people.assign(n_ratings=people["count"].astype(int), excluded=excluded)
    return people.reset_index()[["participant", "n_ratings", *means, "excluded"]]
