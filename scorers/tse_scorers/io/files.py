"""Reads users' texts, writes our files completely or not at all, and names files."""

import hashlib
import os
import re
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from .suggestions import did_you_mean

# Control characters but tab and line feed (some control terminals), and those that reorder the text around them, so
# that a name can look like another one.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def require_file(path: Path) -> None:
    """Raise ValueError if a path is not a regular file: reading a named pipe or a device might never end."""
    if not os.path.isfile(path):
        names = [other.name for other in path.parent.glob("*") if other.is_file()]
        raise ValueError(
            f"There is no file {path}.{did_you_mean(path.name, names)} Check the path; it is relative to the current "
            "folder."
        )


def read_text(path: Path) -> str:
    r"""Read a UTF-8 text file, with or without a byte order mark; all line ends become `\n`.

    Raises:
        ValueError: there is no such file, or it is not UTF-8 text.
    """
    require_file(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
        why = "it holds a NUL character" if "\0" in text else ""  # UTF-16 without a mark
    except UnicodeDecodeError as error:
        why = str(error)
    if why:
        raise ValueError(f"{path} is not UTF-8 text ({why}). Save it as UTF-8, or convert it with `iconv`.")
    return text


def blocks(path: Path) -> Iterator[bytes]:
    """Yield the content of a file in parts, for files larger than memory."""
    with path.open("rb") as file:
        while block := file.read(2**22):
            yield block


def file_digest(path: Path) -> str:
    """Return `sha256:` and the first 16 digits of the hash of a file."""
    hasher = hashlib.sha256()
    for block in blocks(path):
        hasher.update(block)
    return f"sha256:{hasher.hexdigest()[:16]}"


def check_folder(folder: Path) -> None:
    """Raise ValueError if a folder cannot be created or written; leaves no files behind."""
    try:
        existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        tempfile.TemporaryFile(dir=existing).close()
    except OSError as error:
        raise _not_written(folder, error) from error


def check_file(path: Path, endings: Collection[str], inputs: Collection[Path] = ()) -> None:
    """Raise ValueError if a file cannot be written, has none of the valid endings, or is one of the inputs."""
    if path.suffix not in endings:
        raise ValueError(f"{path} ends in {path.suffix!r}; expected one of: {', '.join(endings)}.")
    check_folder(path.parent)
    if path.is_dir():
        raise ValueError(f"{path} is a folder; expected the name of a file.")
    if path.exists() and any(source.exists() and path.samefile(source) for source in inputs):
        raise ValueError(f"{path} is the input file; the output would replace it. Choose another with --out.")


@contextmanager
def write_atomically(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces `path` when the block ends; after an error `path` is unchanged.

    The bytes go to a draft in the same folder, which is synced to disk before it is renamed. Parent folders are
    created. A link is replaced, not followed.

    Raises:
        ValueError: the file cannot be written (disk full, no permission); nothing is left behind.
    """
    draft = path.with_name(f"{path.name}.{uuid4().hex[:8]}.part")  # two processes may write the same file
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as error:
        raise _not_written(path, error) from error
    finally:
        with suppress(OSError):
            draft.unlink()


def _not_written(path: Path, error: OSError) -> ValueError:
    return ValueError(
        f"{path} cannot be written: {error.strerror or error}. Free space, check the permissions of the folder, or "
        "choose another place with --out."
    )


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 text file completely or not at all; see `write_atomically`."""
    with write_atomically(path) as file:
        file.write(text.encode())


def printable(text: str) -> str:
    r"""Return a text for people to read; characters that control terminals or reorder text are replaced.

    >>> printable("plain 💥"), printable("red\x1b[31m"), printable("gpt\u202e2")
    ('plain 💥', 'red�[31m', 'gpt�2')
    """
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def one_line(text: object) -> str:
    r"""Return the name of a model or group as people read it: printable, and on one line.

    >>> one_line("gpt2\nlarge\t2")
    'gpt2 large 2'
    """
    return " ".join(printable(str(text)).split())


def slug(name: str) -> str:
    """Return a model's name as part of a file name: at most 100 ASCII letters, digits, dots, dashes, underscores.

    Where two different names would become one (non-ASCII letters, long names), a hash keeps them apart.

    >>> slug("org/My model@v1")
    'org--My-model-v1'
    >>> slug("модель") != slug("машина")
    True
    """
    ascii_name = re.sub(r"[^A-Za-z0-9._-]+", "-", name.strip("/.").replace("/", "--"))
    if name.isascii() and name.isprintable() and 0 < len(ascii_name) <= 100:
        return ascii_name
    suffix = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{ascii_name[-91:].strip('-')}-{suffix}".lstrip("-")
