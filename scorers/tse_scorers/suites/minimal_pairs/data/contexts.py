"""Which sentences stand before which pair.

The pairs of a paradigm are split into at most 10 parts. All pairs of a part have the same chain of context sentences,
drawn from outside the part, and a longer context continues a shorter one. So a model computes each chain once, however
many pairs and lengths there are. A pair never occurs in its own context: where the chain of its part has one of its two
sentences, or a variant of its item (the same `cluster`), that pair skips it and has the next one that was drawn.

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
from typing import NamedTuple

import numpy as np
import pandas as pd

from ....io.files import read_text

KINDS = ("matched", "mismatched", "ungrammatical")
NONE = "none"
"""The context of a pair by itself."""
AFTER = "-in-context"
"""End of a configuration in results whose pairs stand after contexts or inside templates."""
PARTS = 10
"""Chains of context sentences per paradigm and kind."""
SEED = 0


class Chains(NamedTuple):
    """The sentences of the longest contexts, in order.

    Attributes:
        of_part: kind, paradigm, part -> the chain of its pairs.
        of_pair: kind, paradigm, `pair_id` -> the chain of a pair that may not stand after that of its part.
    """

    of_part: dict[tuple[str, str, int], tuple[str, ...]]
    of_pair: dict[tuple[str, str, int], tuple[str, ...]]

    def of(self, kind: str, paradigm: str, part: int, pair_id: int) -> tuple[str, ...]:
        """Return the sentences before one pair."""
        own_sentences = self.of_pair.get((kind, paradigm, pair_id))
        return self.of_part[kind, paradigm, part] if own_sentences is None else own_sentences


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


def make_chains(pairs: pd.DataFrame, scored: pd.DataFrame, kinds: Sequence[str], longest: int) -> Chains:
    """Draw the context sentences of the pairs that are scored.

    Args:
        pairs: all pairs, with `part`; with `cluster`, pairs of the same one are variants of one item.
        scored: those of them that are scored.
        kinds: of contexts; what is not in `KINDS` is a text file.
        longest: sentences in the longest context.

    Raises:
        ValueError: there are too few sentences.
    """
    lines = {kind: read_lines(Path(kind)) for kind in kinds if kind not in KINDS}
    chains = Chains({}, {})
    for paradigm, scored_here in scored.groupby("paradigm", sort=False):
        of_paradigm = pairs[pairs["paradigm"] == paradigm]
        for kind in kinds:
            side = "sentence_bad" if kind == "ungrammatical" else "sentence_good"
            for part in map(int, sorted(of_paradigm["part"].unique())):
                drawn = (
                    _consecutive(lines[kind], part, longest)
                    if kind in lines
                    else _drawn(pairs, of_paradigm, kind, part)
                )
                first = drawn.iloc[:longest]
                _require(len(first), kind, longest, str(paradigm))
                chains.of_part[(kind, str(paradigm), part)] = tuple(first[side])
                of_part = scored_here[scored_here["part"] == part]
                for pair in of_part[_related(of_part, first)].itertuples():
                    other = drawn[~_related(drawn, of_part.loc[[pair.Index]])].iloc[:longest]
                    _require(len(other), kind, longest, str(paradigm), " for a pair")
                    chains.of_pair[(kind, str(paradigm), pair.pair_id)] = tuple(other[side])
    return chains


def _require(n_found: int, kind: str, longest: int, paradigm: str, place: str = "") -> None:
    if n_found < longest:
        raise ValueError(
            f"The longest {kind} context has {longest} sentences, but only {n_found} can be drawn{place} for the "
            f"paradigm {paradigm}. Use smaller --context-lengths, or add pairs."
        )


def _related(pairs: pd.DataFrame, others: pd.DataFrame) -> "pd.Series[bool]":
    """Return which pairs share a sentence with one of the others, or are variants of one's item."""
    texts = {*others["sentence_good"], *others["sentence_bad"]}
    related = pairs["sentence_good"].isin(texts) | pairs["sentence_bad"].isin(texts)
    if "cluster" in pairs and "cluster" in others:
        related |= pairs["cluster"].isin(set(others["cluster"].dropna()))
    return related


def _consecutive(lines: list[str], part: int, n: int) -> pd.DataFrame:
    """Return all lines, from another one on for each part."""
    start = part * n % len(lines)
    ordered = [*lines[start:], *lines[:start]]
    return pd.DataFrame({"sentence_good": ordered, "sentence_bad": ordered})


def _drawn(pairs: pd.DataFrame, of_paradigm: pd.DataFrame, kind: str, part: int) -> pd.DataFrame:
    """Return the pairs outside a part of a paradigm that a kind of context is drawn from, in the order of drawing."""
    pool = of_paradigm[of_paradigm["part"] != part] if kind != "mismatched" else _others(pairs, of_paradigm)
    # The same seed draws the same pairs for matched and ungrammatical contexts.
    name = f"{of_paradigm['paradigm'].iloc[0]}/{part}"
    rng = np.random.default_rng([SEED, *name.encode()])
    return pool.iloc[rng.permutation(len(pool))]


def _others(pairs: pd.DataFrame, of_paradigm: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs of other phenomena, or of other paradigms where there is only one phenomenon."""
    for column in ("phenomenon", "paradigm"):
        others = pairs[pairs[column] != of_paradigm[column].iloc[0]]
        if len(others):
            return others
    raise ValueError(
        f"A mismatched context needs sentences of another paradigm; the data only has "
        f"{of_paradigm['paradigm'].iloc[0]}. Add data, or use --context matched, --context ungrammatical or a text "
        "file."
    )
