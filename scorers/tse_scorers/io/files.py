"""A user's text files, and the places that are to be written: what will not do is said before any work is done."""

import tempfile
from collections.abc import Collection
from pathlib import Path


def read_text(path: Path) -> str:
    r"""Read a UTF-8 text file, with or without a byte order mark; all line ends become `\n`.

    Raises:
        ValueError: the file cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error


def unreadable(path: Path, error: OSError) -> ValueError:
    """Return the error to raise where a file cannot be read."""
    return ValueError(
        f"{path} cannot be read: {error.strerror or error}. Check the path, from the folder that you are in."
    )


def not_utf8(path: Path) -> ValueError:
    """Return the error to raise for a file that does not decode: it names the first byte that does not."""
    place = ""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                place = f" (byte {line[error.start]:#04x} at place {error.start + 1} of line {number})"
                break
    return ValueError(f"{path} is not UTF-8 text{place}. Save it as UTF-8, as editors and `iconv` do.")


def check_folder(folder: Path) -> None:
    """Raise ValueError where a folder cannot be written, or made; makes nothing."""
    try:
        there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        with tempfile.TemporaryFile(dir=there, buffering=0) as probe:
            probe.write(b"x")
    except OSError as error:
        raise ValueError(
            f"The output folder {folder} cannot be written: {error.strerror or error}. Name another with --out."
        ) from error


def check_file(path: Path, endings: Collection[str]) -> None:
    """Raise ValueError where a file cannot be written, or has none of these endings; makes nothing."""
    if path.suffix not in endings:
        raise ValueError(f"{path} ends in {path.suffix!r}; expected one of: {', '.join(endings)}.")
    if not path.exists():
        check_folder(path.parent)
        return
    try:
        path.open("ab").close()
    except OSError as error:
        raise unwritable(path, error) from error


def unwritable(path: Path, error: OSError) -> ValueError:
    """Return the error to raise where a file could not be written."""
    return ValueError(
        f"{path} could not be written: {error.strerror or error}. Make room, or name another place (--out)."
    )
