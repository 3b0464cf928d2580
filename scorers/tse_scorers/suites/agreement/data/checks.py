"""Checks of agreement pairs: the number matches the verbs, the forms differ, the contexts are clear."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from ...checks import (
    INSIDE,
    Finding,
    listed_rows,
    repeated_items,
    row_findings,
    white_space,
)
from .contrast import FORMS, Contrast

_SHOWN = ("group", "prefix", "form_correct", "form_incorrect", "number")
_NUMBER = Contrast()
_PAIR = ["group", "prefix", "suffix", "number", "form_correct", "form_incorrect"]


def check_forms(pairs: pd.DataFrame, table: str) -> None:
    """Raise ValueError if the correct and the incorrect form are the same word."""
    same = pairs[pairs["form_correct"] == pairs["form_incorrect"]]
    if len(same):
        raise ValueError(
            f"{table} has the same form as form_correct and form_incorrect in {len(same)} of {len(pairs)} rows: "
            f"{listed_rows(same, _SHOWN)}. Expected two different forms; fix or remove these rows."
        )


def check_numbers(
    pairs: pd.DataFrame,
    lemmas: pd.DataFrame,
    table: str,
    allow_unverified: bool = False,
    english: pd.DataFrame | None = None,
    contrast: Contrast = _NUMBER,
) -> list[Finding]:
    """Compare the column `number` with the numbers of the verbs in the lemma list.

    Forms that are both a singular and a plural in the list are not used. The same holds for other values.

    Args:
        pairs: `form_correct`, `form_incorrect` and `number`.
        lemmas: `singular` and `plural`.
        table: the table's name for messages.
        allow_unverified: accept pairs whose forms are in no list.
        english: a second list, for pairs whose two forms are both of one lemma; a single form may be a word of
            the user's language.
        contrast: the two values of the column `number`, and its name in the user's table.

    Returns:
        A finding about pairs that could not be verified, if there are any.

    Raises:
        ValueError: a number contradicts the verbs, or no pair can be verified and this is not allowed.
    """
    contradicts, unverified = _verified(pairs, lemmas, english, contrast)
    name, word = contrast.column, "verb" if contrast.is_number else "form"
    renamed, shown = pairs.rename(columns={"number": name}), (*_SHOWN[:-1], name)
    wrong = renamed[contradicts]
    if len(wrong):
        raise ValueError(
            f"{table} has a {name} that contradicts the {word}s in {len(wrong)} of {len(pairs)} rows: "
            f"{listed_rows(wrong, shown)}. The lemma list has these forms with the other {name}. Fix the column "
            f"{name!r} or the two {word}s; or fix the lemma list (--lemmas), whose columns may be exchanged."
        )
    if unverified.all() and not allow_unverified:
        raise ValueError(
            f"{table} has no {word} that is in the lemma list, so the column {name!r} cannot be verified, for instance "
            f"{listed_rows(renamed, shown, 1)}. Give a list of your language with --lemmas FILE (columns "
            f"{' and '.join(contrast.values)}), or accept the {name}s as they are with --allow-unverified."
        )
    forms = pairs["form_correct"] + " / " + pairs["form_incorrect"]
    advice = f"Their column {name!r} could not be verified; check it."
    return row_findings(unverified, forms, f"pairs whose {word}s are not in the lemma list", advice)


def _verified(
    pairs: pd.DataFrame, lemmas: pd.DataFrame, english: pd.DataFrame | None, contrast: Contrast
) -> "tuple[pd.Series[bool], pd.Series[bool]]":
    """Return which pairs have a number that contradicts one of their verbs, and which have verbs of unknown number."""
    correct, incorrect = _evidence(pairs["form_correct"], lemmas), -_evidence(pairs["form_incorrect"], lemmas)
    if english is not None:
        unknown = (correct == 0) & (incorrect == 0)
        correct[unknown] = _lemma_evidence(pairs[unknown], english)
    first, second = (pairs["number"] == value for value in contrast.values)
    sign = first.astype(int) - second.astype(int)
    contradicts = (correct * sign < 0) | (incorrect * sign < 0)
    return contradicts, (correct == 0) & (incorrect == 0)


def _lemma_evidence(pairs: pd.DataFrame, lemmas: pd.DataFrame) -> "pd.Series[int]":
    """Return 1 if the two forms are a lemma's singular and plural, -1 if plural and singular, else 0."""
    listed = set(_lowered(lemmas, FORMS))
    forms = _lowered(pairs, ("form_correct", "form_incorrect"))
    return pd.Series(
        [(pair in listed) - (pair[::-1] in listed) for pair in forms], index=pairs.index, dtype=int
    )


def _evidence(forms: "pd.Series[str]", lemmas: pd.DataFrame) -> "pd.Series[int]":
    """Return 1 if a form is only a singular in the list, -1 if it is only a plural, else 0."""
    return _are_in(forms, lemmas["singular"]).astype(int) - _are_in(forms, lemmas["plural"]).astype(int)


def _lowered(frame: pd.DataFrame, columns: tuple[str, str]) -> Iterator[tuple[str, str]]:
    first, second = (frame[column].str.lower().to_numpy() for column in columns)
    return zip(first, second, strict=True)


def _are_in(forms: "pd.Series[str]", *lists: "pd.Series[str]") -> "pd.Series[bool]":
    """Return which forms are in one of the lists, in any case; equal forms are looked up once."""
    listed = {word for words in lists for word in words.str.lower().to_numpy()}
    codes, different = pd.factorize(forms.str.lower())
    return pd.Series(np.array([form in listed for form in different], dtype=bool)[codes], index=forms.index)


def inspect(pairs: pd.DataFrame, contrast: Contrast = _NUMBER) -> list[Finding]:
    """Return findings that limit the scores of pairs; see their messages."""
    coded = pairs.astype({column: "category" for column in _PAIR})  # texts that recur are compared as numbers
    sentences = pairs["prefix"] + " " + pairs["form_correct"] + pairs["suffix"]
    return [
        *_undecided_contexts(coded, contrast),
        *repeated_items(coded, _PAIR, sentences),
        *white_space(pairs, {"prefix": INSIDE, "suffix": r"\s$|" + INSIDE}),
    ]


def _undecided_contexts(pairs: pd.DataFrame, contrast: Contrast) -> list[Finding]:
    """Return findings about what a model sees before both values; it sees no groups, so over all of them."""
    findings = []
    for columns, name, advice in (
        (
            ["prefix"],
            "prefixes",
            "A causal model sees only the prefix, so over both its EW and MW are 0.50 by construction. Use a masked "
            "model for these rows, or remove them.",
        ),
        (
            ["prefix", "suffix"],
            "pairs of prefix and suffix",
            "Neither causal nor masked models see a difference. Correct the column, or remove these rows.",
        ),
    ):
        contexts = pairs.drop_duplicates([*columns, "number"])
        subject = f"{name} that occur with both {contrast.column}s"
        findings += row_findings(contexts.duplicated(columns), contexts["prefix"], subject, advice)
    return findings
