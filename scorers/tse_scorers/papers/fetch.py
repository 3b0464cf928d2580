"""`tse fetch`: get the pinned files that a data set is built from, check them, and build it."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from types import ModuleType

from ..io.bundle import bundle_folder
from ..io.files import check_folder
from ..io.suggestions import unknown_name

DATA = {
    "newman2021-blimp": ("blimp_agreement", "newman2021"),
    "rochereau2020": ("german_argument_structure", "rochereau2020"),
}
"""What can be fetched: name -> the data set that is built from it, and its configuration."""


def fetch(name: str, out: Path, source: Path | None = None) -> list[Path]:
    """Build a data set that is not shipped, because its sentences are other people's.

    Every file is pinned by commit and checked by its SHA-256. The downloads are kept in the user's cache.

    Args:
        name: a key of `DATA`.
        out: folder for the data set; `--source` of `tse run` names it.
        source: folder that already holds the pinned files; None downloads them, which requires `pooch`.

    Returns:
        The files written.

    Raises:
        ValueError: the name is not known, a file cannot be downloaded or is not the pinned version, or `out` cannot
            be written.
    """
    if name not in DATA:
        raise ValueError(unknown_name("data", name, DATA))
    check_folder(out)
    dataset, config = DATA[name]
    with _builders() as builders:
        try:
            written: list[Path] = builders.build(dataset, source, out, source is None)
        except OSError as error:
            raise ValueError(
                f"The files of {name} could not be downloaded: {shorten(str(error), 300, placeholder=' …')}. Check the "
                "connection, or name a folder that holds them with --source."
            ) from error
    if not any(path.parent.name == config for path in written):
        raise ValueError(
            f"The pinned files of {name} are not below {source}. Name the folder that holds them, or leave --source "
            "out to download them."
        )
    return written


@contextmanager
def _builders() -> Iterator[ModuleType]:
    """Import the scripts that build data sets; they find each other by their folder."""
    folder = str(bundle_folder("push_scripts"))
    sys.path.insert(0, folder)
    try:
        yield importlib.import_module("builders")
    finally:
        sys.path.remove(folder)
