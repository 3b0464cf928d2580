"""The page with all its data as a folder that opens without a server."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from ..io.files import make_folder, write_text
from .bundle import Bundle

PAGE = Path(__file__).with_name("page")
PAGE_FILES = (
    "index.html",
    "style.css",
    "core.js",
    "table.js",
    "items.js",
    "item_table.js",
    "charts.js",
    "sentences.js",
    "main.js",
)


def export(bundle: Bundle, out: Path) -> Iterator[str]:
    """Write the page with all its data to a folder, and yield the name of each file.

    An earlier page in the folder stays as it is until all data of the new one is written.
    """
    new = out / "data.new"
    try:
        shutil.rmtree(new, ignore_errors=True)
        make_folder(new, out)
        for name in bundle.names():
            write_text(new / f"{name}.js", bundle.data(name))
            yield name
        if (out / "data").exists():
            shutil.rmtree(out / "data")
        new.rename(out / "data")
    finally:
        shutil.rmtree(new, ignore_errors=True)
    for file in PAGE_FILES:
        write_text(out / file, (PAGE / file).read_text(encoding="utf-8"))


def check_export(out: Path, overwrite: bool) -> None:
    """Raise ValueError if a folder holds other files, or an earlier page that must not be replaced."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not out.is_dir():
        raise ValueError(f"{out} is a file; expected a folder. Choose another one with --export.")
    if not _is_page(out / "data"):
        raise ValueError(f"{out} holds other files. Choose a new or empty folder with --export.")
    if not overwrite:
        raise ValueError(
            f"{out} already holds a page. Choose another folder with --export, or add --overwrite."
        )


def _is_page(data: Path) -> bool:
    """Whether a folder holds the data of a page that this module wrote."""
    start = data / "start.js"
    return not data.is_symlink() and start.is_file() and start.read_bytes().startswith(b'tse.add("start", ')
