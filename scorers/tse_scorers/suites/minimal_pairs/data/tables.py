"""BLiMP's minimal pairs, and others in its format, from a local copy or from the Hub."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from ....io.bundle import snapshot
from ....io.files import require_exists
from ....io.suggestions import did_you_mean
from ....io.tables import is_table, read_table
from ...hub_data import is_hub_id, own_table
from ...own_columns import of_one_type
from ...sampling import limited
from ..registry import find_set
from .pair_tables import CONTEXT, PAIR_COLUMNS, known_paradigms, names_of_own, pair_table

HUB_DATASET = "nyu-mll/blimp"
HUB_REVISION = "877fba0801ffb7cbd8c39c1ff314a46f053f6036"


def load(
    source: Path | str | None = None,
    groups: Sequence[str] | None = None,
    limit: int | None = None,
    revision: str = HUB_REVISION,
) -> pd.DataFrame:
    """Load BLiMP, or other minimal pairs in its format.

    Args:
        source: a file, a folder with BLiMP's `*.jsonl` files (or with them in `data/`), or a data set of the Hub; None
            uses `nyu-mll/blimp` from the Hub. It has no prefixes and words; those of the release are known by number.
        groups: only these paradigms, phenomena or fields.
        limit: at most this number of pairs per paradigm, the same at every call.
        revision: commit (or tag) of the Hub data set; exactly this one is read.

    Returns:
        One row per pair with `PAIR_COLUMNS`; `one_prefix_method` and `two_prefix_method` (whether the paradigm
        supports the method); the columns of `PREFIX_COLUMNS` (null if it does not, or if prefixes cannot be
        derived); `prefixes_derived` (whether they were, because the pair is not one of BLiMP's release); `context`
        where a table has it; and the columns that BLiMP does not have.

    Raises:
        ValueError: the files do not exist, the Hub does not answer, a column is missing, a sentence is empty, a pair
            occurs twice, prefixes do not match their sentences, or a group is unknown.
    """
    frames = _hub_frames(groups, revision) if source is None else _frames_of(str(source))
    table = pd.concat([pair_table(frame, name) for name, frame in frames], ignore_index=True)
    if CONTEXT in table:  # perhaps only in one of the files
        table[CONTEXT] = table[CONTEXT].fillna("")
    for column in names_of_own(table):  # numbers in one file may be text in another
        table[column] = of_one_type(table[column])
    repeated = table.duplicated(["paradigm", "pair_id"])
    if repeated.any():
        first = table[repeated].iloc[0]
        raise ValueError(
            f"The pair {first['pair_id']} of {first['paradigm']} occurs twice; expected each pair once. Give each "
            "pair of a paradigm its own number, and remove copies of files from the folder."
        )
    return select(table, groups, limit)


def select(
    table: pd.DataFrame, groups: Sequence[str] | None = None, limit: int | None = None
) -> pd.DataFrame:
    """Return the pairs of some paradigms, phenomena or fields, at most `limit` of each paradigm (seed fixed).

    Raises:
        ValueError: a group is unknown.
    """
    if groups:
        there = {name for column in PAIR_COLUMNS[:3] for name in table[column].dropna().unique()}
        names = [group.removeprefix("phenomenon:").removeprefix("field:") for group in groups]
        unknown = sorted(set(names) - there)
        if unknown:
            raise ValueError(
                f"No paradigm, phenomenon or field {', '.join(map(repr, unknown))} in these pairs; there are: "
                f"{', '.join(sorted(there))}.{did_you_mean(unknown[0], there)} These are the values of UID, "
                "linguistics_term and field; `tse compare --by COLUMN` compares those of other columns."
            )
        table = table[table[list(PAIR_COLUMNS[:3])].isin(names).any(axis=1)]
    return limited(table, "paradigm", limit)


def _frames_of(data: str) -> Iterator[tuple[str, pd.DataFrame]]:
    source = Path(data)
    if is_hub_id(data):
        yield data, own_table(data)
        return
    if not is_table(data) and not source.exists():
        find_set(data)  # says which names there are
    require_exists(source)
    files = (
        [source]
        if not source.is_dir()
        else sorted(source.glob("*.jsonl")) or sorted(source.glob("data/*.jsonl"))
    )
    if not files:
        raise ValueError(
            f"There are no *.jsonl files in {source}. Name the folder `data` of a copy of "
            "https://github.com/alexwarstadt/blimp, or leave the source out to take BLiMP from the Hub."
        )
    for path in files:
        yield str(path), read_table(path)


def _hub_frames(groups: Sequence[str] | None, revision: str) -> Iterator[tuple[str, pd.DataFrame]]:
    paradigm_labels = known_paradigms()
    names = {group.removeprefix("phenomenon:").removeprefix("field:") for group in groups or ()}
    paradigms = [name for name, labels in paradigm_labels.items() if not names or names & {name, *labels}]
    if not paradigms:
        raise ValueError(
            f"BLiMP has no paradigm, phenomenon or field {', '.join(sorted(names))}; its paradigms are: "
            f"{', '.join(paradigm_labels)}."
        )
    name = f"{HUB_DATASET}@{revision}"
    try:
        # Not load_dataset: offline, it may use the newest cached version instead of the requested one.
        folder = snapshot(name, "dataset", [f"{paradigm}/*.parquet" for paradigm in paradigms])
    except ValueError as error:
        raise ValueError(f"{error} Or use a local copy of BLiMP: give its folder with --source.") from error
    for paradigm in paradigms:
        files = sorted((folder / paradigm).glob("*.parquet"))
        if not files:
            raise ValueError(
                f"{name} has no file {paradigm}/*.parquet. Name another revision, or a local copy with --source."
            )
        yield f"{name}/{paradigm}", pd.concat(map(read_table, files), ignore_index=True)
