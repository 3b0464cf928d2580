"""The columns that every data set of subject-verb agreement pairs shares."""

from collections.abc import Iterable, Sequence

import pyarrow as pa

from builders.grammar import Pair

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


def agreement_table(pairs: Iterable[tuple[str, str, Pair]], clusters: bool = False) -> pa.Table:
    """Return the table of (construction, row of Table 2, pair) triples, in their order.

    `context_id` numbers the contexts (prefix, suffix) in order of appearance.

    Args:
        pairs: the triples.
        clusters: add a column `cluster`, the subject in the singular: the unit of statistics, in both numbers.
    """
    contexts: dict[tuple[str, str], int] = {}
    rows = []
    subjects = []
    for pair_id, (construction, group, pair) in enumerate(pairs):
        context_id = contexts.setdefault((pair.prefix, pair.suffix), len(contexts))
        good, bad = (
            f"{pair.prefix} {verb}{pair.suffix}" for verb in (pair.form_correct, pair.form_incorrect)
        )
        subjects.append(pair.subject)
        rows.append((pair_id, construction, group, good, bad, *pair[:5], context_id))
    columns: list[Sequence[object]] = list(zip(*rows, strict=True)) or [[] for _ in SCHEMA]
    table = pa.Table.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
    )
    return table.append_column("cluster", pa.array(subjects, pa.string())) if clusters else table
