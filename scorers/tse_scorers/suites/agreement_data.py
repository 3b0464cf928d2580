"""Agreement pairs and lemma lists: shipped, built, a user's file or a data set on the Hub, as checked tables."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ..bundle import load_data
from .tables import is_table, read_table, require_columns

COLUMNS = ("table_row", "prefix", "suffix", "verb_correct", "verb_incorrect", "number")


def load(
    dataset: str = "marvin_linzen",
    source: Path | None = None,
    groups: Sequence[str] | None = None,
    limit: int | None = None,
) -> pd.DataFrame:
    """Load agreement pairs.

    Args:
        dataset: `marvin_linzen` (shipped), a configuration of `blimp_agreement`, a file, or a Hub data set
            `org/name[@revision]`.
        source: folder where built data sets lie (`blimp_agreement/<config>/test.parquet`).
        groups: only these rows of Table 2.
        limit: at most so many pairs of each row, the same at every call.

    Raises:
        ValueError: the data cannot be found, lacks columns or rows, or has no such group.
    """
    frame = _read(dataset, source)
    require_columns(frame, COLUMNS, f"The data set {dataset!r}")
    wrong = ~frame["number"].isin(["singular", "plural"])
    if wrong.any():
        raise ValueError(
            f"The column 'number' holds {frame['number'][wrong].iloc[0]!r}; expected singular or plural."
        )
    if groups:
        there = frame["table_row"].unique().tolist()
        unknown = sorted(set(groups) - set(there))
        if unknown:
            raise ValueError(
                f"No table row {', '.join(map(repr, unknown))}; choose from: {', '.join(there)}."
            )
        frame = frame[frame["table_row"].isin(groups)]
    if limit is not None:
        if limit < 1:
            raise ValueError(f"A limit of {limit} leaves nothing to score; expected 1 or more.")
        chosen = frame.sample(frac=1.0, random_state=0).groupby("table_row").head(limit)
        frame = frame.loc[chosen.index.sort_values()]
    return frame.reset_index(drop=True)


def _read(dataset: str, source: Path | None) -> pd.DataFrame:
    if dataset == "marvin_linzen":
        return load_data("agreement_templates", dataset).to_pandas()
    if dataset in ("newman2021", "blimp"):
        if source is None:
            return load_data("blimp_agreement", dataset).to_pandas()
        return read_table(source / "blimp_agreement" / dataset / "test.parquet")
    if is_table(dataset):
        return read_table(Path(dataset))
    if "/" in dataset:
        return load_data(dataset).to_pandas()
    raise ValueError(
        f"Unknown agreement data set {dataset!r}; expected marvin_linzen, newman2021, blimp, a file or org/name."
    )


def load_lemmas(lemmas: str = "released") -> pd.DataFrame:
    """Load a lemma list: `released`, `clean`, or a file with the columns `singular` and `plural`.

    Raises:
        ValueError: there is no such list, or it lacks a column or rows.
    """
    if not is_table(lemmas):
        return load_data("verb_lemmas", lemmas).to_pandas()
    frame = read_table(Path(lemmas))
    require_columns(frame, ("singular", "plural"), f"The lemma list {lemmas!r}")
    return frame
