"""Finds a minimal-pair set by its name: one of this package, or a YAML file."""

from functools import cache
from pathlib import Path

from ....io.bundle import split_revision
from ....io.suggestions import unknown_name
from .pair_set import PairSet, read_set

_FOLDER = Path(__file__).parent / "sets"


def set_names() -> list[str]:
    """Return the names of all sets, in alphabetical order."""
    return sorted(_files())


def is_registered(name: str) -> bool:
    """Whether data are named by a set (at a revision), or by a YAML file that describes one."""
    return name.endswith((".yaml", ".yml")) or split_revision(name)[0] in _files()


def find_set(name: str) -> PairSet:
    """Return a set by its name, or from a YAML file.

    Raises:
        ValueError: there is no such set, or its file is not valid.
    """
    if name.endswith((".yaml", ".yml")):
        return read_set(Path(name))
    path = _files().get(name)
    if path is None:
        raise ValueError(
            unknown_name("set of minimal pairs", name, set_names(), "a YAML file that describes a set")
            + " For your own pairs, write the path of their file or folder."
        )
    return _registered(path)


def hub_dataset_of(name: str) -> str | None:
    """Return the id on the Hub of a registered set; None if it is not registered, or not on the Hub."""
    path = _files().get(name)
    return (_registered(path).source.hub or None) if path is not None else None


@cache
def _registered(path: Path) -> PairSet:
    """Return the set in a file of a package, which is read once."""
    return read_set(path)


@cache
def _files() -> dict[str, Path]:
    """Return name -> file."""
    return {path.stem: path for path in sorted(_FOLDER.glob("*.yaml"))}
