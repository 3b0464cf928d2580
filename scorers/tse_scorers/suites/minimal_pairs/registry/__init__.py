"""A registry of minimal-pair sets: what each is, where it is, how its authors score it.

    sets/*.yaml    one file per set: facts only, no code
    pair_set.py    reads and checks such a file
    finding.py     finds a set by its name
    sources.py     the set's files: a local copy, the Hub, or a pinned and checksummed download
    tables.py      reads these files, whatever their format
    pairs.py       brings them into the columns of minimal pairs

A set is a file of its own, so that one that leaves takes nothing with it.
"""

from .finding import find_set, hub_dataset_of, is_registered, set_names
from .pair_set import PairSet
from .pairs import LoadedPairs, load_pairs

__all__ = [
    "LoadedPairs",
    "PairSet",
    "find_set",
    "hub_dataset_of",
    "is_registered",
    "load_pairs",
    "set_names",
]
