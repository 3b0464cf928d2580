"""What a page shows only when the reader opens it."""

import re
from itertools import groupby

from .plots import Picture
from .section import Examples, Part
from .tables import Table

MANY = 5
"""With more systems than this, heat tables replace legends, and pictures of single systems are folded."""
OPEN_PARTS = 3
"""Parts of a section that are not folded: its main scores come first."""
_MOST_FOLDED = 3
"""More folded blocks in a row than this are folded together."""
_WIDE = 16
"""A table with more columns than this is folded: the heat tables show its numbers."""


def folded_groups(
    part: Part, n_systems: int
) -> list[tuple[bool, list[tuple[Table | Picture | Examples, bool]]]]:
    """Return the blocks of a part in groups, each block with whether it is folded; long groups are folded as well."""
    marked = [(block, _is_folded(part, block, n_systems)) for block in part.blocks]
    groups = [(folded, list(blocks)) for folded, blocks in groupby(marked, key=lambda each: each[1])]
    return [(folded and len(blocks) > _MOST_FOLDED, blocks) for folded, blocks in groups]


def _is_folded(part: Part, block: Table | Picture | Examples, n_systems: int) -> bool:
    """Whether a block is shown only when the reader opens it: with many systems, all but a part's first picture."""
    pictures = [own for own in part.blocks if isinstance(own, Picture)]
    if isinstance(block, Table):
        is_repeated = n_systems > MANY and bool(pictures)
        return block.folded or is_repeated or len(block.headings) > _WIDE
    if isinstance(block, Picture):
        return block.folded or len(pictures) > MANY or (n_systems > MANY and block is not pictures[0])
    return False


def summary_of(block: Table | Picture | Examples) -> str:
    """Return what a reader sees of a folded block: its short caption or its first sentence, after its number."""
    first = getattr(block, "short", "") or re.split(r"(?<=\.) (?=[A-Z])", block.caption)[0]
    number = getattr(block, "number", "")
    return f"{number}. {first}" if number else first
