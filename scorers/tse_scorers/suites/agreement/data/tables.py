"""Agreement pairs and lemma lists: shipped, built, a user's file or a data set on the Hub, as checked tables."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from ....io.bundle import shipped_table
from ....io.suggestions import did_you_mean, unknown_name
from ....io.tables import is_table, read_table, require_columns, require_text
from ...checks import matching, require_group_names
from ...hub_data import is_hub_id, own_table
from ...own_columns import of_one_type
from ...sampling import limited
from ..options import CLAMS, NAMES
from .checks import check_forms
from .contrast import FORMS, with_number

COLUMNS = ("group", "prefix", "suffix", "form_correct", "form_incorrect", "number")
KNOWN = (*COLUMNS, "pair_id", "construction")
"""The columns that are read from a user's table; its other columns are copied to the scores."""
SHIPPED = (*KNOWN, "sentence_good", "sentence_bad", "context_id")
"""The columns of the shipped data sets."""
_SHIPPED = ("marvin_linzen", *CLAMS)


def load(
    dataset: str = "marvin_linzen",
    source: Path | None = None,
    groups: Sequence[str] | None = None,
    limit: int | None = None,
) -> pd.DataFrame:
    """Load agreement pairs.

    Args:
        dataset: `marvin_linzen` or one of `CLAMS` (shipped), a configuration of `blimp_agreement`, a file, or a Hub
            data set `org/name[@revision]`.
        source: folder with built data sets (`blimp_agreement/<config>/test.parquet`).
        groups: only these rows of Table 2.
        limit: at most this number of pairs per row, the same at every call.

    Returns:
        The columns of the data. A missing `pair_id` is replaced by `item` if its values are unique, else by the
        row's number. A missing `construction` is replaced by `group`. A column `value` in place of `number` is
        renamed.

    Raises:
        ValueError: the data does not exist, lacks columns, rows or the group, or has parts that do not form a
            sentence.
    """
    return read_pairs(dataset, source, groups, limit)[0]


def read_pairs(
    dataset: str, source: Path | None = None, groups: Sequence[str] | None = None, limit: int | None = None
) -> tuple[pd.DataFrame, str]:
    """Return what `load` returns, and what the column `number` is called in the data: `number` or `value`."""
    frame, column = _shipped(dataset) if dataset in _SHIPPED else _checked(dataset, source)
    if groups:
        there = frame["group"].unique().tolist()
        unknown = sorted(set(groups) - set(there))
        if unknown:
            raise ValueError(
                f"No table row {', '.join(map(repr, unknown))}; choose from: {', '.join(there)}."
                f"{did_you_mean(unknown[0], there)}"
            )
        frame = frame[frame["group"].isin(groups)]
    return limited(frame, "group", limit), column


@cache
def _shipped(dataset: str) -> tuple[pd.DataFrame, str]:
    """Return shipped pairs, which are read and checked once."""
    return _checked(dataset, None)


def _checked(dataset: str, source: Path | None) -> tuple[pd.DataFrame, str]:
    """Read pairs and check them; also return what the column `number` is called in them."""
    table = f"The data set {dataset!r}"
    frame = _read(dataset, source)
    _require_not_sentences(frame, dataset, table)
    frame, column = with_number(frame, table)
    check_pairs(frame, table, column)
    frame = frame.assign(pair_id=_pair_numbers(frame))
    frame["construction"] = of_one_type(frame["construction" if "construction" in frame else "group"])
    return frame, column


def _pair_numbers(frame: pd.DataFrame) -> "pd.Series[Any]":
    """Return the name of each row: its `pair_id`, its `item` where each row has its own, else its number."""
    if "pair_id" in frame:
        return of_one_type(frame["pair_id"])
    if "item" in frame and frame["item"].notna().all() and frame["item"].is_unique:
        return of_one_type(frame["item"])
    return pd.Series(range(len(frame)), index=frame.index)


def _require_not_sentences(frame: pd.DataFrame, dataset: str, table: str) -> None:
    """Raise ValueError for a file with pairs of whole sentences, which have no gap."""
    sentences = ("sentence_good", "sentence_bad")
    if is_table(dataset) and set(sentences) <= set(frame) and not set(COLUMNS) <= set(frame):
        raise ValueError(
            f"{table} has the columns {' and '.join(sentences)}: pairs of whole sentences. The suite agreement expects "
            f"{', '.join(COLUMNS)}. Score whole sentences with --suite minimal_pairs --data {dataset}."
        )


def check_pairs(frame: pd.DataFrame, table: str, column: str) -> None:
    """Raise ValueError if pairs cannot be scored, or if their parts would form the wrong sentence."""
    require_columns(frame, COLUMNS, table)
    require_text(frame, COLUMNS, table)
    require_columns(frame, [name for name in ("pair_id", "construction") if name in frame], table)
    require_group_names(frame["group"], "group", table)
    wrong = ~frame["number"].isin(FORMS)
    if wrong.any() and column == "number":
        raise ValueError(
            f"{table} holds {frame['number'][wrong].iloc[0]!r} in column 'number' of row "
            f"{wrong.to_numpy().argmax() + 1}; expected singular or plural. Fix this column; if the forms differ in "
            "something else than number, call it 'value'."
        )
    check_forms(frame, table)
    unfit = {
        "prefix": (r"^\s|\s$", "no space at either end"),
        "form_correct": (r"^\s|\s$|^$", "a word, with no space at either end"),
        "form_incorrect": (r"^\s|\s$|^$", "a word, with no space at either end"),
        "suffix": (r"^(?!n['’]t)\w", "a space or a punctuation mark first"),
    }
    for column, (pattern, expected) in unfit.items():
        is_wrong = matching(frame[column], pattern)
        if is_wrong.any():
            row = int(is_wrong.to_numpy().argmax())
            raise ValueError(
                f"{table} holds {frame[column].iloc[row]!r} in column {column!r} of row {row + 1}; expected "
                f"{expected}. A sentence is the prefix, a space, the verb and, at once, the suffix. Fix this column."
            )


def _read(dataset: str, source: Path | None) -> pd.DataFrame:
    if dataset in _SHIPPED:
        return shipped_table("agreement_templates", dataset).to_pandas()
    if dataset in ("newman2021", "blimp"):
        if source is None:
            return shipped_table("blimp_agreement", dataset).to_pandas()
        path = source / "blimp_agreement" / dataset / "test.parquet"
        if not path.is_file():
            raise ValueError(
                f"There is no file {path}. Name the folder that `tse fetch newman2021-blimp --out FOLDER` wrote to."
            )
        return read_table(path)
    if is_table(dataset) or is_hub_id(dataset):
        return own_table(dataset, texts=("prefix", "suffix"))  # a gap may open or end its sentence
    raise ValueError(unknown_name("agreement data set", dataset, NAMES, "a file, or a data set org/name"))


def load_lemmas(lemmas: str = "released", forms: Sequence[str] = FORMS) -> pd.DataFrame:
    """Load a lemma list: `released`, `clean`, the list of another language, or a file.

    Args:
        lemmas: name of the list, or path of a file.
        forms: the columns of forms that a file must have.

    Raises:
        ValueError: the list does not exist, or it lacks a column or rows.
    """
    if lemmas == "excluded":
        raise ValueError(
            "The list 'excluded' contains the verbs that were removed from the lists; expected another list or a file."
        )
    if not is_table(lemmas):
        return shipped_table("verb_lemmas", lemmas).to_pandas()
    frame = read_table(Path(lemmas))
    for require in (require_columns, require_text, require_once):
        require(frame, forms, f"The lemma list {lemmas!r}")
    return frame


def require_once(lemmas: pd.DataFrame, columns: Sequence[str], table: str) -> None:
    """Raise ValueError where a lemma is listed twice: it would count twice in EW and MW."""
    if (repeated := lemmas.duplicated(columns).to_numpy()).any():
        row = int(repeated.argmax())
        again = (lemmas[columns] == lemmas[columns].iloc[row]).all(axis=1).to_numpy()
        raise ValueError(
            f"{table} has the lemma {', '.join(lemmas[columns].iloc[row])} in several rows, {int(again.argmax()) + 1} "
            f"and {row + 1}; expected each lemma once, because each has the same weight. Remove the repetitions."
        )
