"""Minimal pairs as one checked table, with the columns of BLiMP's release or of a user's own."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from ....io.bundle import metric_modules
from ....io.tables import require_boolean, require_columns, require_text
from ...checks import require_group_names
from ...own_columns import own_columns
from .critical_words import released_words
from .prefixes import one_prefix, two_prefix

PAIR_COLUMNS = ("paradigm", "phenomenon", "field", "pair_id", "sentence_good", "sentence_bad")
QUERIES = {
    "one_prefix": (
        ("one_prefix_prefix", "one_prefix_word_good"),
        ("one_prefix_prefix", "one_prefix_word_bad"),
    ),
    "two_prefix": (
        ("two_prefix_prefix_good", "two_prefix_word"),
        ("two_prefix_prefix_bad", "two_prefix_word"),
    ),
}
"""The columns of (prefix, word) for the good and the bad side, by prefix method."""
PREFIX_COLUMNS = {
    "one_prefix": ["one_prefix_prefix", "one_prefix_word_good", "one_prefix_word_bad"],
    "two_prefix": ["two_prefix_prefix_good", "two_prefix_prefix_bad", "two_prefix_word"],
}

_REQUIRED = ("UID", "sentence_good", "sentence_bad")
CONTEXT = "context"
"""The user's column of what stands before both sentences of a pair, and is not scored."""
_LABELS = ("linguistics_term", "field")
"""The phenomenon and the field of a paradigm; those of BLiMP's paradigms are known."""
_OF_BLIMP = (
    *("UID", "linguistics_term", "field", "pairID", "pair_id", "sentence_good", "sentence_bad"),
    *("simple_LM_method", "one_prefix_method", "two_prefix_method"),
    *(column for columns in PREFIX_COLUMNS.values() for column in columns),
    *("lexically_identical", "dependency_length", "crucial_item"),
)
"""The columns of BLiMP; other columns of a user's table are copied to the scores."""
_OF_SCORES = (
    "paradigm",
    "phenomenon",
    "method",
    "logprob_good",
    "logprob_bad",
    "n_tokens_good",
    "n_tokens_bad",
)
_OF_LINKING = ("linking", "score_good", "score_bad")
RESERVED = (*_OF_SCORES, *_OF_LINKING, "correct", "tie", "prefixes_derived")
"""Columns of scores; a user's columns must not have these names."""


def pair_table(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Check pairs in BLiMP's columns and convert them to the columns of `load`; `name` is their name in errors.

    `sentence_good` and `sentence_bad` are enough: without `UID`, the file is one paradigm. A column `context` holds
    what stands before both sentences, "" for nothing.

    Raises:
        ValueError: a column is missing or has a value that is not text, a pair number is not a whole number, a sentence
            or the name of a paradigm is empty, a paradigm has a reserved name, a column has the name of a column of
            scores, or prefixes do not match their sentences.
    """
    if "UID" not in frame:
        require_columns(frame, _REQUIRED[1:], name)
        stem = Path(name).stem.replace(":", "-")
        is_taken = stem == "all" or stem in known_paradigms()  # a file by such a name is not BLiMP's for it
        frame = frame.assign(UID=f"my_{stem}" if is_taken else stem)
    require_columns(frame, _REQUIRED, name)
    require_text(frame, _REQUIRED, name)
    require_group_names(frame["UID"], "UID", name, forbidden=":")
    for column in ("sentence_good", "sentence_bad"):
        blank = frame[column].str.strip() == ""
        if blank.any():
            raise ValueError(
                f"{name} has an empty {column} in row {int(blank.to_numpy().argmax()) + 1}; expected a sentence. Fix "
                "or remove the row."
            )
    table = _labels(frame, name)
    table["pair_id"] = pair_ids(frame, name)
    table[["sentence_good", "sentence_bad"]] = frame[["sentence_good", "sentence_bad"]]
    table["prefixes_derived"] = False
    for method, columns in PREFIX_COLUMNS.items():
        supported = require_boolean(frame, f"{method}_method", name) if f"{method}_method" in frame else False
        table[f"{method}_method"] = supported
        is_given = set(columns) <= set(frame.columns)
        values, derived = (_released(frame, method, name), False) if is_given else _found(table, method)
        table[columns] = values.astype(object).where(table[f"{method}_method"], None)
        table["prefixes_derived"] |= table[f"{method}_method"] & derived
    if CONTEXT in frame:
        table[CONTEXT] = frame[CONTEXT].fillna("")
        require_text(table, (CONTEXT,), name)
    user_columns = own_columns(frame, (*_OF_BLIMP, CONTEXT), RESERVED, name)
    return pd.concat([table, user_columns], axis=1)  # assign takes quadratic time in the number of columns


def names_of_own(table: pd.DataFrame) -> list[str]:
    """Return the names of the user's own columns in a table of pairs."""
    suite_columns = {*PAIR_COLUMNS, *_OF_BLIMP, *RESERVED, CONTEXT}
    return [column for column in table.columns if column not in suite_columns]


def contexts_of(table: pd.DataFrame) -> list[str]:
    """Return the text before each pair, "" for none."""
    return table[CONTEXT].tolist() if CONTEXT in table else [""] * len(table)


def after_context(table: pd.DataFrame, texts: Iterable[str]) -> list[str]:
    """Return texts, one for each pair, after the context of the pair."""
    return [" ".join(filter(None, both)) for both in zip(contexts_of(table), texts, strict=True)]


def known_paradigms() -> dict[str, tuple[str, str]]:
    """Return BLiMP's paradigms, each with its phenomenon and field."""
    paradigms: dict[str, tuple[str, str]] = metric_modules(
        "minimal_pair_accuracy"
    ).definitions.BLIMP_PARADIGMS
    return paradigms


def _labels(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return paradigm, phenomenon and field: BLiMP's own by name, others from their columns.

    Without its column, a phenomenon is the paradigm, and there are no fields.
    """
    paradigms = known_paradigms()
    if not frame["UID"].isin(paradigms).all() and (labels := [label for label in _LABELS if label in frame]):
        table = f"{name}, whose paradigms are not all BLiMP's,"
        require_columns(frame, labels, table)
        require_text(frame, labels, table)
    phenomena, fields = (
        frame["UID"].map({paradigm: both[index] for paradigm, both in paradigms.items()}) for index in (0, 1)
    )
    return pd.DataFrame(
        {
            "paradigm": frame["UID"],
            "phenomenon": phenomena.fillna(frame.get("linguistics_term", frame["UID"])),
            "field": fields.fillna(frame["field"]) if "field" in frame else fields,
        }
    )


def pair_ids(frame: pd.DataFrame, name: str) -> "pd.Series[int]":
    """Return the pair's number in its paradigm: `pairID` in the release, `pair_id` on the Hub, else counted.

    Without both, a column `item` is used if it numbers the pairs of each paradigm.

    Raises:
        ValueError: a number is not a whole number; the error refers to the table as `name`.
    """
    for column in ("pairID", "pair_id"):
        if column in frame:
            numbers = frame[column].astype(str).str.removesuffix(".0")
            wrong = ~numbers.str.fullmatch(r"\d{1,18}").to_numpy(dtype=bool)
            if wrong.any():
                row = int(wrong.argmax())
                raise ValueError(
                    f"{name} holds {frame[column].iloc[row]!s:.80} in column {column!r} of row {row + 1}; expected a "
                    "whole number, which numbers the pairs of a paradigm. Fix this column, or remove it: then pairs "
                    "are counted."
                )
            return numbers.astype("int64")
    if "item" in frame:
        items = frame["item"].astype(str).str.removesuffix(".0")
        is_number = items.str.fullmatch(r"\d{1,18}").all()
        if is_number and not pd.DataFrame({"UID": frame["UID"], "item": items}).duplicated().any():
            return items.astype("int64")
    return frame.groupby("UID").cumcount()


def _released(frame: pd.DataFrame, method: str, name: str) -> pd.DataFrame:
    """Return the prefixes and words of the release (some begin with a space); each must begin its sentence."""
    parts = frame[PREFIX_COLUMNS[method]].apply(lambda column: column.astype("string").str.strip())
    for sentence, (prefix, word) in zip(("sentence_good", "sentence_bad"), QUERIES[method], strict=True):
        openings = parts[prefix] + " " + parts[word]
        for row, (text, opening) in enumerate(zip(frame[sentence], openings, strict=True)):
            if pd.notna(opening) and not text.startswith(opening):
                raise ValueError(
                    f"{name}, row {row + 1}: {opening!r} is not the beginning of the {sentence} {text!r}. Fix the "
                    f"columns {prefix} and {word}, or remove all of {method} to have them derived."
                )
    return parts.astype(object).where(parts.notna(), None)


def _found(table: pd.DataFrame, method: str) -> tuple[pd.DataFrame, "pd.Series[bool]"]:
    """Return prefixes and words without columns of them, and where they are derived from the sentences.

    A pair of BLiMP has those of the release. Nulls if there are none, or if the method is not supported.
    """
    nothing: tuple[str | None, ...] = (None, None, None)
    words_of_rows: list[tuple[str | None, ...]] = []
    derived = []
    for row in table.itertuples():
        supported = bool(getattr(row, f"{method}_method"))
        words = released_words(method, row) if supported else nothing
        derived.append(words is None)
        words_of_rows.append(words or _derived(row, method) or nothing)
    return (
        pd.DataFrame(words_of_rows, columns=PREFIX_COLUMNS[method], index=table.index, dtype=object),
        pd.Series(derived, index=table.index, dtype=bool),
    )


def _derived(row: Any, method: str) -> tuple[str, ...] | None:
    if method == "one_prefix":
        return one_prefix(row.sentence_good, row.sentence_bad)
    return two_prefix(row.sentence_good, row.sentence_bad, row.paradigm)
