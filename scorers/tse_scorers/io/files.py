"""Reads users' files, and writes our files completely or not at all."""

import errno
import hashlib
import math
import os
import re
import stat
import tempfile
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .declared import HALF_CHARACTER, has_half_character
from .limits import TEXT_BYTES, YAML_CHARACTERS, YAML_DEPTH, require_size

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# C0, DEL and C1 except tab and line feed: some of them control terminals (colours, titles, cursor moves).
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# These characters reorder the text around them, so that a name can look like another one.
_REORDERING = re.compile("[\u202a-\u202e\u2066-\u2069]")
_LONGEST_SLUG = 100
_DEVICES = {"CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(10))}
_WHAT = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def require_regular_file(path: Path) -> None:
    """Raise ValueError if a path is not a regular file: reading a named pipe or a device might never end."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ValueError(
            f"There is no file {path}. Check the path; it is relative to the current folder."
        ) from error
    except OSError as error:
        raise unreadable(path, error) from error
    except ValueError as error:  # a NUL character
        raise ValueError(f"{str(path)!r} is not a valid path ({error}). Check the path.") from error
    if not stat.S_ISREG(mode):
        kind = _WHAT.get(stat.S_IFMT(mode), "not a regular file")
        raise ValueError(f"{path} is {kind}; expected a regular file. Save the data to a file first.")


def is_file(path: Path | str) -> bool:
    """Whether a path is a regular file; False for names that cannot be paths (too long, with a NUL character)."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def read_bytes(path: Path, largest: int | None = None) -> bytes:
    """Return the content of a regular file; raises ValueError where it cannot be read or is too large.

    Args:
        path: the file.
        largest: bytes; None takes those of a text.
    """
    require_regular_file(path)
    require_size(path, TEXT_BYTES if largest is None else largest)
    try:
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error


def read_text(path: Path) -> str:
    r"""Read a UTF-8 text file, with or without a byte order mark; all line ends become `\n`.

    Raises:
        ValueError: the file cannot be read, is not a regular file, is not UTF-8, or holds NUL characters.
    """
    return decoded(path, read_bytes(path)).replace("\r\n", "\n").replace("\r", "\n")


def decoded(path: Path, content: bytes) -> str:
    """Return a file's content as text without a byte order mark; raises ValueError as `read_text`."""
    nul = content.find(b"\0")
    if nul >= 0:
        line = content[:nul].count(b"\n") + 1
        raise ValueError(f"{path} holds a NUL character in line {line}; expected text. {_SAVE_AS_UTF8}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error


def parse_yaml(text: str, file_name: str) -> object:
    """Return the content of a YAML text; for every YAML that somebody else may have written.

    Aliases (`*name`) count as what they stand for, because a few lines of them can stand for gigabytes.

    Raises:
        ValueError: the text is not YAML, is too long or nested too deeply, or its aliases stand for too much; the
            message begins with `file_name`.
    """
    import yaml

    class Loader(yaml.SafeLoader):
        depth = 0

        def compose_node(self, parent: "yaml.Node | None", index: int) -> "yaml.Node | None":
            if self.depth == YAML_DEPTH:
                line = self.peek_event().start_mark.line + 1
                raise yaml.YAMLError(f"more than {YAML_DEPTH} values inside each other in line {line}")
            self.depth += 1
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

    sizes: dict[int, float] = {}

    def n_values(node: "yaml.Node") -> float:
        if id(node) not in sizes:
            sizes[id(node)] = math.inf  # where it is inside itself
            parts = [] if isinstance(node, yaml.ScalarNode) else node.value
            pairs = (part if isinstance(part, tuple) else (part,) for part in parts)  # of a mapping
            sizes[id(node)] = 1 + sum(n_values(one) for pair in pairs for one in pair)
        return sizes[id(node)]

    if len(text) > YAML_CHARACTERS:
        raise ValueError(
            f"{file_name} has {len(text):,} characters; expected YAML of at most {YAML_CHARACTERS:,}. Check the file."
        )
    try:
        loader = Loader(text)
        node = loader.get_single_node()
        if node is not None and n_values(node) > YAML_CHARACTERS:
            raise yaml.YAMLError(
                f"its aliases (*) stand for more than {YAML_CHARACTERS:,} values; write out what they stand for"
            )
        content = None if node is None else loader.construct_document(node)
        if has_half_character(content):
            raise yaml.YAMLError(f"it holds {HALF_CHARACTER}")
        return content
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # also numbers of thousands of digits
        reason = " ".join(str(error).split()).rstrip(".")
        raise ValueError(f"{file_name} could not be read as YAML: {reason}. Fix the file.") from error


_SAVE_AS_UTF8 = "Save the file as UTF-8 text in an editor, or convert it with `iconv`."


def unreadable(path: Path, error: OSError) -> ValueError:
    """Return the error to raise if a file cannot be read."""
    return ValueError(
        f"{path} cannot be read: {error.strerror or error}. Check the path; it is relative to the current folder."
    )


def not_utf8(path: Path) -> ValueError:
    """Return the error to raise for a file that does not decode; it names the first invalid byte."""
    place = ""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                place = f" (byte {line[error.start]:#04x} at position {error.start + 1} of line {number})"
                break
    return ValueError(f"{path} is not UTF-8 text{place}. {_SAVE_AS_UTF8}")


def check_folder(folder: Path) -> None:
    """Raise ValueError if a folder cannot be created or written; leaves no files behind."""
    if "\0" in str(folder):
        raise ValueError(
            f"{str(folder)!r} holds a NUL character; expected a folder. Choose another with --out."
        )
    try:
        existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        with tempfile.TemporaryFile(dir=existing, buffering=0) as probe:
            probe.write(b"x")
    except OSError as error:
        raise ValueError(
            f"The output folder {folder} cannot be written: {error.strerror or error}. Choose another with --out."
        ) from error


def require_inside(folder: Path, out: Path) -> None:
    """Raise ValueError if a folder below an output folder is, or is in, a link that leads out of the output folder.

    An output folder may come from a stranger; such a link would let it choose where a command writes.

    Args:
        folder: a folder below `out`, which need not exist.
        out: the output folder, which may be a link: the user named it.
    """
    if not Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(out)):
        link = next(path for path in (folder, *folder.parents) if path.is_symlink())
        raise ValueError(
            f"{link} is a link to {os.path.realpath(link)}; files would be written there. Replace the link by a "
            "folder, or choose another output folder."
        )


def make_folder(folder: Path, out: Path) -> None:
    """Create a folder below an output folder; see `require_inside`."""
    require_inside(folder, out)
    folder.mkdir(parents=True, exist_ok=True)


def require_exists(path: Path) -> None:
    """Raise ValueError where there is no such file or folder."""
    if not path.exists():
        raise ValueError(
            f"There is no file or folder {path}. Check the path; it is relative to the current folder."
        )


def check_file(path: Path, endings: Collection[str], inputs: Collection[Path] = ()) -> None:
    """Raise ValueError if a file cannot be written; leaves no files behind.

    Args:
        path: the file to write.
        endings: valid endings of its name.
        inputs: input files, which it must not replace.
    """
    if path.suffix not in endings:
        raise ValueError(f"{path} ends in {path.suffix!r}; expected one of: {', '.join(endings)}.")
    try:
        exists = path.exists()
    except OSError as error:  # for instance, the name is too long
        raise unwritable(path, error) from error
    if not exists:
        check_folder(path.parent)
        return
    require_regular_file(path)
    for source in inputs:
        if is_file(source) and os.path.samefile(path, source):
            raise ValueError(
                f"{path} is the input file; the output would replace it. Choose another file with --out."
            )
    try:
        path.open("ab").close()
    except OSError as error:
        raise unwritable(path, error) from error


@contextmanager
def write_atomically(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces `path` when the block ends; after an error `path` is unchanged.

    The bytes go to a draft in the same folder (`.part`), which is synced to disk before it is renamed. Parent
    folders are created.

    >>> with write_atomically(Path("scores.txt")) as file:  # doctest: +SKIP
    ...     file.write(b"1")

    Raises:
        ValueError: the file cannot be written (disk full, no permission); nothing is left behind.
    """
    target = Path(os.path.realpath(path))  # keeps a symbolic link
    if path.is_symlink() and not target.is_relative_to(os.path.realpath(path.parent)):
        raise ValueError(
            f"{path} is a link to {target}, outside its folder. Such links are not followed, for safety. "
            "Remove the link, or choose another place with --out."
        )
    draft: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        file, draft = _open_draft(target)
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if fcntl is not None:
                os.replace(draft, target)  # while the draft is locked
        if fcntl is None:
            os.replace(draft, target)  # Windows cannot rename an open file
        draft = None
        with suppress(OSError):  # not all systems can sync a folder's entry
            folder = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        if draft is not None:
            with suppress(OSError):
                draft.unlink()


def _open_draft(target: Path) -> tuple[BinaryIO, Path]:
    """Open the draft of a file: `.part`, or another name if another process is writing that file.

    A draft of a killed process is not locked and is overwritten.
    """
    draft = target.with_name(f"{target.name}.part")
    if fcntl is not None:
        file = _opened(draft, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Another process may have renamed the draft between opening and locking it here.
            if os.path.samestat(os.fstat(file.fileno()), os.stat(draft)):
                file.truncate(0)
                return file, draft
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
                file.close()
                raise
        file.close()
    draft = target.with_name(f"{target.name}.{os.getpid()}-{threading.get_ident()}.part")
    return _opened(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC), draft


NO_LINK = getattr(os, "O_NOFOLLOW", 0)
"""Refuses to open a link: in a folder of somebody else, it may lead to any file."""


def _opened(path: Path, how: int) -> BinaryIO:
    return os.fdopen(os.open(path, how | NO_LINK, 0o666), "r+b")


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 text file completely or not at all; see `write_atomically`."""
    with write_atomically(path) as file:
        file.write(text.encode())


def unwritable(path: Path, error: OSError) -> ValueError:
    """Return the error to raise if a file could not be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        remedy = "Free space on the disk, or choose another place with --out."
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        remedy = "Check the permissions of the folder, or choose another place with --out."
    else:
        remedy = "Choose another place with --out."
    return ValueError(f"{path} could not be written: {error.strerror or error}. {remedy}")


def without_control_characters(text: str) -> str:
    """Return a text without control characters for terminals; tab and line feed stay."""
    return _CONTROL.sub("", text)


def printable(text: str) -> str:
    r"""Return a text for people to read; characters that control terminals or reorder text are replaced.

    >>> printable("plain 💥"), printable("red\x1b[31m"), printable("gpt\u202e2")
    ('plain 💥', 'red�[31m', 'gpt�2')
    """
    if text.isprintable():  # nearly all texts are
        return text
    return _REORDERING.sub("\N{REPLACEMENT CHARACTER}", _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text))


def slug(name: str) -> str:
    """Return a model's name as part of a file name: at most 100 ASCII letters, digits, dots, dashes, underscores.

    Where two different names would become one (non-ASCII letters, long names), a hash keeps them apart. A name that
    Windows reserves for a device gets one as well.

    >>> slug("org/My model@v1")
    'org--My-model-v1'
    >>> slug("модель") != slug("машина")
    True
    """
    ascii_name = re.sub(r"[^A-Za-z0-9._-]+", "-", name.strip("/.").replace("/", "--"))
    is_device = ascii_name.partition(".")[0].upper() in _DEVICES
    if name.isascii() and name.isprintable() and 0 < len(ascii_name) <= _LONGEST_SLUG and not is_device:
        return ascii_name
    suffix = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    ending = ascii_name[-(_LONGEST_SLUG - len(suffix) - 1) :].strip("-")
    if is_device:
        return f"{suffix}-{ending}"  # Windows looks at what stands before the first dot
    return f"{ending}-{suffix}" if ending else suffix
