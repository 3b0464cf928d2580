"""The lemmas that models of earlier runs all scored, as a lemma list: `--lemmas common:A,B`."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ....io.records import Record, read_records
from ..data.contrast import GROUP
from .context_scores import in_all
from .coverage import main_list

COMMON = "common:"
DEFAULT_FOLDER = Path("tse-results")
"""Where `tse run` writes by default, and where the models of `common:A,B` that are not folders are looked up."""


def common_list(names: str, folder: Path = DEFAULT_FOLDER) -> pd.DataFrame:
    """Return the lemmas that all models of some output folders scored, columns `singular` and `plural`.

    Args:
        names: output folders, or names of models with scores in `folder`, separated by commas.
        folder: where models are looked up.

    Raises:
        ValueError: a name is neither, no lemma is common, or the groups of a run have lemmas of their own.
    """
    records = [
        record for name in names.split(",") if name.strip() for record in _records(name.strip(), folder)
    ]
    if not records:
        raise ValueError(
            f"--lemmas {COMMON} needs output folders of `tse run`, for instance --lemmas {COMMON}out-a,out-b."
        )
    common = in_all(_scored_lemmas(record) for record in records)
    if not len(common):
        raise ValueError(
            f"No lemma was scored in all of {', '.join(record.folder.name for record in records)}. Name other folders, "
            "or run them with --forms all."
        )
    return common.to_frame(index=False)


def _scored_lemmas(record: Record) -> pd.MultiIndex:
    lemmas = record.tables["lemmas"].read().to_pandas()
    if GROUP in lemmas:
        raise ValueError(
            f"{record.folder} has other lemmas for each group; --lemmas {COMMON}… needs runs with one list for all "
            "groups. Name other folders."
        )
    return pd.MultiIndex.from_frame(main_list(lemmas)[["singular", "plural"]])


def _records(name: str, folder: Path) -> Sequence[Record]:
    """Return the records with lemmas of an output folder, or those of a model in `folder`."""
    of_folder = read_records(Path(name)) if Path(name).is_dir() else []
    of_model = [
        record
        for record in read_records(folder)
        if name in (record.signature.get("series"), record.signature.get("model"))
    ]
    with_lemmas = [record for record in of_folder or of_model if "lemmas" in record.tables]
    if not with_lemmas:
        raise ValueError(
            f"--lemmas {COMMON}… names {name!r}, which is neither an output folder of `tse run` with agreement scores, "
            f"nor a model with scores in {folder}. Run it first, or correct the name."
        )
    return with_lemmas
