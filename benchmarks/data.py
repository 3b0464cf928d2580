"""The sentences that benchmarks score."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tse_scorers.engine.trie import build_trie
from tse_scorers.io.bundle import load_data
from tse_scorers.suites.minimal_pairs import scores as blimp

CONSTRUCTIONS = ("sent_comp", "prep_anim", "obj_rel_across_anim")
"""The largest construction of each of three table rows of different kinds: in a sentential complement, across a
prepositional phrase, across an object relative clause."""

SUBJECTS = 3
"""Subjects (`The author`, …) of each construction that are scored, with everything that is said of them."""


def both(pairs: pd.DataFrame) -> list[str]:
    """Return the sentences of pairs, the good and the bad one of each in turn."""
    return pairs[["sentence_good", "sentence_bad"]].to_numpy().ravel().tolist()


def blimp_part(folder: Path | None, paradigms: int = 20, pairs: int = 100) -> list[str]:
    """Return the sentences of the first pairs of the first paradigms."""
    table = blimp.load(folder)
    chosen = table[table["paradigm"].isin(sorted(table["paradigm"].unique())[:paradigms])]
    return both(chosen.groupby("paradigm").head(pairs))


def marvin_linzen() -> pd.DataFrame:
    """Return all pairs of Marvin & Linzen's templates."""
    return load_data("agreement_templates", "marvin_linzen").to_pandas()


def whole_subjects(pairs: pd.DataFrame, subjects: int = SUBJECTS) -> pd.DataFrame:
    """Return all pairs about some subjects of each construction of `CONSTRUCTIONS`, the same at every call.

    Subjects are drawn at random. As whatever follows a subject is kept whole, sentences share as much of their
    beginnings as in all of the construction.
    """
    random = np.random.default_rng(0)
    kept = []
    for construction in CONSTRUCTIONS:
        rows = pairs[pairs["construction"] == construction]
        subject = rows["prefix"].str.split().str[:2].str.join(" ")
        there = sorted(subject.unique())
        kept.append(rows[subject.isin(random.choice(there, min(subjects, len(there)), replace=False))])
    return pd.concat(kept)


def mixed_pairs(n: int, folder: Path | None) -> pd.DataFrame:
    """Return n pairs drawn from Marvin & Linzen's and, where a folder is given, BLiMP's, the same at every call.

    Raises:
        ValueError: there are not so many.
    """
    columns = ["sentence_good", "sentence_bad"]
    there = [marvin_linzen()[columns], *([] if folder is None else [blimp.load(folder)[columns]])]
    pairs = pd.concat(there, ignore_index=True)
    if n > len(pairs):
        raise ValueError(f"There are {len(pairs)} pairs, not {n}. Give BLiMP too, with --blimp FOLDER.")
    return pairs.sample(n, random_state=0)


def sharing(pairs: pd.DataFrame, tokenizer: Any) -> list[dict[str, Any]]:
    """Count, for each construction by itself, what its sentences share at their start.

    `tokens` are those of all sentences with the start token; the last of each is no input, so that `inputs` is
    what a tool that shares nothing must run, and `nodes` of the prefix trie are what one that shares all must.
    """
    return [
        {"construction": name, "group": rows["group"].iloc[0], "pairs": len(rows)}
        | count(sentence_ids(both(rows), tokenizer))
        for name, rows in pairs.groupby("construction", sort=False)
    ]


def sentence_ids(sentences: Sequence[str], tokenizer: Any) -> list[list[int]]:
    """Return the tokens of each sentence behind the start token."""
    rows = tokenizer(list(sentences), add_special_tokens=False)["input_ids"]
    return [[tokenizer.bos_token_id, *row] for row in rows]


def count(sequences: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Count tokens, inputs and nodes; see `sharing`."""
    tokens = sum(map(len, sequences))
    inputs, nodes = tokens - len(sequences), len(build_trie([row[:-1] for row in sequences]))
    return {"tokens": tokens, "inputs": inputs, "nodes": nodes, "sharing": inputs / nodes}
