"""Builds the data sets.

Each has a module with `build(source)`, which returns `{config: {split: table}}`:

    verb_lemmas.py                the verb lemmas of Newman et al. (2021), and of four more languages
    agreement_templates.py        the agreement pairs of Marvin & Linzen (2018), and of CLAMS in four languages
    blimp_agreement.py            the agreement pairs of BLiMP
    published_results.py          numbers from papers
    blimp_human_judgments.py      the judgments that validated BLiMP
    blimp_critical_words.py       where the words of BLiMP's prefix methods are
    german_argument_structure.py  German sentences with three arguments
    german_human_judgments.py     human judgments of these

`agreement.py` has the columns of agreement pairs; `upstream.py` finds and downloads the files of other projects, which
a module that needs them lists in `UPSTREAM`. All other facts are tables and grammars in `push_scripts/sources/`.
"""

import importlib
from pathlib import Path

import pyarrow.parquet as pq

NAMES = (
    "verb_lemmas",
    "agreement_templates",
    "blimp_agreement",
    "published_results",
    "blimp_human_judgments",
    "blimp_critical_words",
    "german_argument_structure",
    "german_human_judgments",
)


class SourceMissing(ValueError):
    """The upstream files that a data set is built from are missing; the message says how to get them."""


def build(name: str, source: Path | None, out: Path, download: bool = False) -> list[Path]:
    """Build one data set into the folder `out`, and return the files written.

    Args:
        name: one of `NAMES`.
        source: folder with the files of other projects, if any.
        out: folder for `<name>/<config>/<split>.parquet`.
        download: first fetch the files of other projects into `source`, or into the user's cache.

    Raises:
        SourceMissing: the files are not in `source`.
        ValueError: a file is not the pinned version.
    """
    from builders import upstream

    builder = importlib.import_module(f"builders.{name}")
    if download and (files := getattr(builder, "UPSTREAM", ())):
        source = source or upstream.cache()
        upstream.download(files, source)
    written = []
    for config, splits in builder.build(source).items():
        for split, table in splits.items():
            path = out / name / config / f"{split}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            # Without metadata of pandas or pyarrow, in one row group, the same table always gives the same bytes.
            table = table.replace_schema_metadata(None)
            rows = max(table.num_rows, 1)
            pq.write_table(table, path, compression="zstd", compression_level=19, row_group_size=rows)
            written.append(path)
    return written
