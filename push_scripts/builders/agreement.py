"""The columns that every data set of subject-verb agreement pairs shares."""

from collections.abc import Iterable
from typing import NamedTuple

import pyarrow as pa

SCHEMA = pa.schema(
    [
        ("pair_id", pa.int32()),
        ("construction", pa.string()),
        ("group", pa.string()),
        ("sentence_good", pa.string()),
        ("sentence_bad", pa.string()),
        ("prefix", pa.string()),
        ("suffix", pa.string()),
        ("form_correct", pa.string()),
        ("form_incorrect", pa.string()),
        ("number", pa.string()),
        ("context_id", pa.int32()),
    ]
)


class Pair(NamedTuple):
    """A minimal pair: `prefix + " " + verb + suffix`, with the correct and the incorrect verb.

    `cluster` is what the verb agrees with, in the singular whatever the pair's number.
    """

    prefix: str
    suffix: str
    form_correct: str
    form_incorrect: str
    number: str
    cluster: str = ""


def agreement_table(pairs: Iterable[tuple[str, str, Pair]], clusters: bool = False) -> pa.Table:
    """Return the table of (construction, group, pair) triples, in their order.

    `context_id` numbers the contexts (prefix, suffix) in order of appearance.

    Args:
        pairs: the triples; a group is a row of the papers' tables.
        clusters: add a column `cluster`: the unit of statistics, in both numbers.
    """
    contexts: dict[tuple[str, str], int] = {}
    rows = [
        {
            "pair_id": pair_id,
            "construction": construction,
            "group": group,
            "sentence_good": f"{pair.prefix} {pair.form_correct}{pair.suffix}",
            "sentence_bad": f"{pair.prefix} {pair.form_incorrect}{pair.suffix}",
            **pair._asdict(),
            "context_id": contexts.setdefault((pair.prefix, pair.suffix), len(contexts)),
        }
        for pair_id, (construction, group, pair) in enumerate(pairs)
    ]
    return pa.Table.from_pylist(rows, SCHEMA.append(pa.field("cluster", pa.string())) if clusters else SCHEMA)
