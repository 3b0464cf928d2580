"""Which sentences stand before which pair.

The pairs of a paradigm are split into at most 10 parts. All pairs of a part have the same chain of context sentences,
drawn from outside the part, and a longer context continues a shorter one. So a model computes each chain once, however
many pairs and lengths there are, and a pair never occurs in its own context.

| kind | sentences |
|---|---|
| `matched` | acceptable, of the same paradigm |
| `ungrammatical` | the unacceptable sentences of the same pairs |
| `mismatched` | acceptable, of another phenomenon (of another paradigm, if there is one phenomenon) |
| a file | its lines, consecutive ones |

Source: Sinha, Gauthier, Mueller, Misra, Fuentes, Levy & Williams (2023), Language model acceptability judgements are
not always robust to context, ACL. They draw a context for each pair; sharing it among pairs is ours.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from ...io.files import read_text

KINDS = ("matched", "mismatched", "ungrammatical")
PARTS = 10
"""Chains of context sentences per paradigm and kind."""
SEED = 0

Chains = dict[tuple[str, str, int], tuple[str, ...]]
"""Kind, paradigm, part -> the sentences of the longest context, in order."""


def parts_of(pairs: pd.DataFrame) -> "pd.Series[int]":
    """Return the part of each pair, from 0; the same for a pair in any selection of the pairs.

    Args:
        pairs: all pairs: `paradigm`, in the order of the data.
    """
    return pairs.groupby("paradigm").cumcount() % PARTS


def read_lines(path: Path) -> list[str]:
    """Return the sentences of a text file, one per line; raises ValueError where it has none."""
    lines = [" ".join(line.split()) for line in read_text(path).splitlines() if line.strip()]
    if not lines:
        raise ValueError(f"{path} has no sentences; expected one per line.")
    return lines


def make_chains(pairs: pd.DataFrame, paradigms: Sequence[str], kinds: Sequence[str], longest: int) -> Chains:
    """Draw the context sentences of some paradigms.

    Args:
        pairs: all pairs, with `part`.
        paradigms: those whose pairs are scored.
        kinds: of contexts; what is not in `KINDS` is a text file.
        longest: sentences in the longest context.

    Raises:
        ValueError: there are too few sentences.
    """
    lines = {kind: read_lines(Path(kind)) for kind in kinds if kind not in KINDS}
    chains: Chains = {}
    for paradigm in paradigms:
        own = pairs[pairs["paradigm"] == paradigm]
        for kind in kinds:
            for part in sorted(own["part"].unique()):
                found = (
                    _consecutive(lines[kind], int(part), longest)
                    if kind in lines
                    else _drawn(pairs, own, kind, int(part), longest)
                )
                if len(found) < longest:
                    raise ValueError(
                        f"The longest {kind} context has {longest} sentences, but only {len(found)} can be drawn for "
                        f"the paradigm {paradigm}. Use smaller --context-lengths, or add pairs."
                    )
                chains[(kind, paradigm, int(part))] = tuple(found)
    return chains


def _consecutive(lines: list[str], part: int, n: int) -> list[str]:
    """Return n lines, from another one on for each part; fewer if the file has fewer."""
    start = part * n % len(lines)
    return [*lines[start:], *lines[:start]][:n]


def _drawn(pairs: pd.DataFrame, own: pd.DataFrame, kind: str, part: int, n: int) -> list[str]:
    """Draw n sentences of a kind from outside a part of a paradigm; fewer if there are fewer."""
    pool = own[own["part"] != part] if kind != "mismatched" else _others(pairs, own)
    # The same seed draws the same pairs for matched and ungrammatical contexts.
    name = f"{own['paradigm'].iloc[0]}/{part}"
    rng = np.random.default_rng([SEED, *name.encode()])
    drawn = pool.iloc[rng.permutation(len(pool))[:n]]
    return list(drawn["sentence_bad" if kind == "ungrammatical" else "sentence_good"])


def _others(pairs: pd.DataFrame, own: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs of other phenomena, or of other paradigms where there is only one phenomenon."""
    for column in ("phenomenon", "paradigm"):
        others = pairs[pairs[column] != own[column].iloc[0]]
        if len(others):
            return others
    raise ValueError(
        f"A mismatched context needs sentences of another paradigm; the data only has {own['paradigm'].iloc[0]}. Add "
        "data, or use --context matched, --context ungrammatical or a text file."
    )
