"""Warnings about unusual pairs in a set, as `tse data check` prints them."""

import unicodedata
from collections.abc import Sequence

import pandas as pd

from ...checks import WHITE_SPACE, Finding, openings_and_ends, row_findings, white_space
from .pair_set import PairSet
from .pairs import LoadedPairs

_SENTENCES = ("sentence_good", "sentence_bad")


def audit(pairs: PairSet, loaded: LoadedPairs) -> list[Finding]:
    """Return findings about a set: changed files, other counts, identical and repeated pairs, ends, characters.

    Args:
        pairs: the set.
        loaded: its pairs.
    """
    table = loaded.table
    good = table["sentence_good"]
    return [
        *_counts(pairs, loaded),
        *row_findings(
            good == table["sentence_bad"],
            good,
            "pairs of two identical sentences",
            "They are ties, which are never correct.",
        ),
        *row_findings(
            table.duplicated(["UID", *_SENTENCES]),
            good,
            "pairs that repeat an earlier pair of their paradigm",
            "Accuracy counts each of them.",
        ),
        *row_findings(
            table.duplicated([*_SENTENCES]) & ~table.duplicated(["UID", *_SENTENCES]),
            good,
            "pairs that are in several paradigms",
            "Accuracy counts each of them.",
        ),
        *row_findings(
            table["sentence_good"].str.len() != table["sentence_bad"].str.len(),
            good,
            f"pairs whose sentences differ in length, of {len(table):,}",
            "Sums of log-probabilities favour the shorter sentence; see --linking.",
        ),
        *openings_and_ends(good),
        *white_space(table, dict.fromkeys(_SENTENCES, WHITE_SPACE)),
        *_characters(table),
    ]


def _counts(pairs: PairSet, loaded: LoadedPairs) -> list[Finding]:
    findings = []
    if loaded.changed:
        advice = "The copy is not the pinned version, or only a part of it."
        findings.append(
            Finding(
                "files that differ from the pinned version", len(loaded.changed), loaded.changed[0], advice
            )
        )
    counted = [config for config in loaded.configs if config in pairs.expected]
    expected = sum(pairs.expected[config][0] for config in counted)
    if len(counted) == len(loaded.configs) and expected != len(loaded.table):
        advice = f"The pinned version has {expected:,}. Check that the copy is complete."
        findings.append(Finding("pairs", len(loaded.table), "", advice))
    return findings


def _characters(table: pd.DataFrame) -> list[Finding]:
    """Return findings about damaged characters, and about letters that are written with a separate accent."""
    texts = table["sentence_good"] + "\n" + table["sentence_bad"]
    return [
        *row_findings(
            texts.str.contains("\ufffd"),
            table["sentence_good"],
            "pairs with the character � in place of one that could not be decoded",
            "Check the encoding of the file.",
        ),
        *row_findings(
            texts.map(lambda text: unicodedata.normalize("NFC", text) != text).astype(bool),
            table["sentence_good"],
            "pairs whose characters are not in Unicode's composed form (NFC)",
            "Tokenizers may split such letters in another way than those of ordinary text.",
        ),
    ]


def group_counts(
    loaded: LoadedPairs, columns: Sequence[str] = ("language", "linguistics_term")
) -> pd.DataFrame:
    """Return the number of paradigms and pairs by language and phenomenon."""
    groups = loaded.table.groupby(list(columns), sort=False)
    counted = groups.agg(paradigms=("UID", "nunique"), pairs=("UID", "size")).reset_index()
    return counted.rename(columns={"linguistics_term": "phenomenon"})
