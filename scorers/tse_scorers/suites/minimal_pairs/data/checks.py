"""Checks of minimal pairs: flawed pairs, repetitions, pairs that differ in several words."""

import re
from collections.abc import Sequence

import pandas as pd

from ....io.bundle import metric_modules
from ...checks import (
    WHITE_SPACE,
    Finding,
    matching,
    openings_and_ends,
    repeated_items,
    row_findings,
    white_space,
)
from ..registry import Flaw
from .prefixes import n_shared

_SENTENCES = ("sentence_good", "sentence_bad")


def flaws_of(pairs: pd.DataFrame, flaws: Sequence[Flaw]) -> "pd.Series[str]":
    """Return what is wrong with each pair, for instance "two identical sentences"; "" for most.

    Args:
        pairs: what `data.load` returns.
        flaws: those that the set declares.
    """
    descriptions = pd.Series("", index=pairs.index, dtype=object)
    for flaw in flaws:
        descriptions[_marked(pairs, flaw)] = f"{flaw.what} ({flaw.source})"
    descriptions[pairs["sentence_good"] == pairs["sentence_bad"]] = "two identical sentences"
    return descriptions


def _marked(pairs: pd.DataFrame, flaw: Flaw) -> "pd.Series[bool]":
    good = pairs["sentence_good"].where(pairs["paradigm"].isin(flaw.paradigms), "")
    return matching(good, rf"\b(?:{'|'.join(map(re.escape, flaw.words))})\b")


def left_out(flaws: "pd.Series[str]", pairs: pd.DataFrame) -> list[Finding]:
    """Return a finding about flawed pairs that are not scored; `flaws` as `flaws_of` returns them."""
    kinds = ", ".join(f"{n:,} with {flaw}" for flaw, n in flaws[flaws != ""].value_counts().items())
    return row_findings(
        flaws != "", pairs["sentence_good"], "flawed pairs that are excluded (--without-flawed)", f"{kinds}."
    )


def inspect(pairs: pd.DataFrame, flaws: Sequence[Flaw] = ()) -> list[Finding]:
    """Return findings that limit the scores of minimal pairs.

    BLiMP's own paradigms are published unchanged, so their differences and the start and end of their sentences are not
    checked.

    Args:
        pairs: what `data.load` returns.
        flaws: those that the set declares.
    """
    good, bad = pairs["sentence_good"], pairs["sentence_bad"]
    paradigms = metric_modules("minimal_pair_accuracy").blimp_paradigms.BLIMP_PARADIGMS
    of_user = pairs[~pairs["paradigm"].isin(paradigms)]
    return [
        *row_findings(
            good == bad,
            good,
            "pairs of two identical sentences",
            "They are ties, which are never correct; --without-flawed leaves them out.",
        ),
        *known_flaws(pairs, flaws),
        *row_findings(
            (good != bad) & (good.str.normalize("NFC") == bad.str.normalize("NFC")),
            good,
            "pairs whose two sentences differ only in their Unicode normal form",
            "They read the same, so a score only reflects how letters with marks are encoded. Write both in NFC.",
        ),
        *row_findings(
            pairs.duplicated(["paradigm", *_SENTENCES]),
            good,
            "pairs that repeat an earlier pair of their paradigm",
            "Accuracy counts each of them. Remove repetitions.",
        ),
        *row_findings(
            _exchanged(pairs),
            good,
            "pairs that occur a second time with the two sentences exchanged",
            "One of the two is wrong. Check sentence_good and sentence_bad.",
        ),
        *repeated_items(pairs),
        *white_space(pairs, dict.fromkeys(_SENTENCES, WHITE_SPACE)),
        *_differences(of_user),
        *openings_and_ends(of_user["sentence_good"]),
    ]


def known_flaws(pairs: pd.DataFrame, flaws: Sequence[Flaw]) -> list[Finding]:
    """Return a finding about the pairs of each flaw that a set declares."""
    findings = []
    for flaw in flaws:
        advice = f"Source: {flaw.source}. They are scored; --without-flawed leaves them out."
        findings += row_findings(
            _marked(pairs, flaw), pairs["sentence_good"], f"pairs with {flaw.what}", advice
        )
    return findings


def _exchanged(pairs: pd.DataFrame) -> "pd.Series[bool]":
    """Mark the pairs that repeat an earlier pair of their paradigm with the two sentences exchanged."""
    differing = pairs[pairs["sentence_good"] != pairs["sentence_bad"]]
    keys = zip(differing["paradigm"], differing["sentence_good"], differing["sentence_bad"], strict=True)
    earlier: set[tuple[str, str, str]] = set()
    marks = []
    for paradigm, good, bad in keys:
        marks.append((paradigm, bad, good) in earlier)
        earlier.add((paradigm, good, bad))
    return pd.Series(marks, index=differing.index, dtype=bool).reindex(pairs.index, fill_value=False)


def _differences(pairs: pd.DataFrame) -> list[Finding]:
    sentences = list(zip(pairs["sentence_good"], pairs["sentence_bad"], strict=True))
    several = pd.Series([_n_differing(*pair) > 1 for pair in sentences], index=pairs.index, dtype=bool)
    ends = pd.Series([_end(good) != _end(bad) for good, bad in sentences], index=pairs.index, dtype=bool)
    return [
        *row_findings(
            several,
            pairs["sentence_good"],
            f"pairs that differ in more than one word, of {len(pairs):,}",
            "Their scores also reflect the other words. Check that this is what the paradigm tests.",
        ),
        *row_findings(
            ends,
            pairs["sentence_good"],
            f"pairs that end in different punctuation marks, of {len(pairs):,}",
            "The mark changes the score. Give both sentences the same one.",
        ),
    ]


def _n_differing(good: str, bad: str) -> int:
    """Return the number of words between the shared start and the shared end, in the longer sentence."""
    first, second = good.split(), bad.split()
    before = n_shared(first, second)
    after = n_shared(first[before:][::-1], second[before:][::-1])
    return max(len(first), len(second)) - before - after


def _end(sentence: str) -> str:
    last = sentence.rstrip()[-1:]
    return "" if last.isalnum() else last
