"""Damage to what a run left: `place` is a folder with a finished run in `run` and its shards in `shards`."""

import shutil

import pyarrow as pa
import pyarrow.parquet as pq
from run_records import edit, record_of


def _set(key, value):
    return lambda content: content | {key: value}


def _row(**changes):
    return lambda content: content | {"results": [content["results"][0] | changes]}


RESULTS = {
    "not JSON": "{",
    "100,000 brackets": "[" * 100_000,
    "a list": "[]",
    "an empty file": "",
    "not UTF-8": b"\xff\xfe{",
    "no signature": lambda content: {k: v for k, v in content.items() if k != "signature"},
    "signature null": _set("signature", None),
    "models without identity": _set("signature", {"models": [{}]}),
    "results a number": _set("results", 3),
    "results of numbers": _set("results", [1, 2]),
    "no score": lambda c: c | {"results": [{k: v for k, v in c["results"][0].items() if k != "score"}]},
    "a score that is text": _row(score="0.5"),
    "a suite that is a list": _row(suite=["agreement"]),
    "an unknown suite": _row(suite="syntax"),
    "a negative count": _row(n=-3),
    "another score": _row(score=0.123),
}
"""Damage to results.json; `tse report` writes it again from the records, unless it is not ours at all."""


def _flip(path):
    content = bytearray(path.read_bytes())
    for place in range(40, len(content) // 2, 50):  # one alone may fall on a byte that says nothing
        content[place] ^= 1
    path.write_bytes(content)


def _changed_values(path):
    table, signature = pq.read_table(path), pq.read_schema(path).metadata
    column = table["ew_top_1"].to_numpy() * 0
    position = table.column_names.index("ew_top_1")
    changed = table.set_column(position, "ew_top_1", pa.array(column)).replace_schema_metadata(signature)
    pq.write_table(changed, path)


def _fewer_rows(path):
    table = pq.read_table(path)
    pq.write_table(table.slice(1).replace_schema_metadata(pq.read_schema(path).metadata), path)


SCORES = {
    "flipped bits": _flip,
    "cut in the middle": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "empty": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "changed values": _changed_values,
    "fewer rows": _fewer_rows,
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "another file of the run": lambda path: shutil.copy(next(path.parent.glob("pairs-*.parquet")), path),
}
"""Damage to a file of scores: the next `tse run` computes it again, with the results of the undisturbed run."""


def shard(place, number):
    return record_of(place / "shards", shard=[number, 2]).folder


def edit_record(folder, change):
    edit(folder / "record.json", change)


def resign(place, **changes):
    edit_record(shard(place, 1), lambda content: content["signature"].update(changes))


SHARDS = {
    "copied over another": (
        lambda p: [shutil.copy(path, shard(p, 2)) for path in shard(p, 1).iterdir()],
        "hold scores of the same model and data",
    ),
    "copied under another name": (
        lambda p: shutil.copytree(shard(p, 1), shard(p, 1).with_name("other")),
        "hold scores of the same model and data",
    ),
    "missing": (lambda p: shutil.rmtree(shard(p, 2)), "shard 2 of 2 is missing"),
    "a table is not named": (
        lambda p: [edit_record(shard(p, number), lambda c: c["tables"].pop("pairs")) for number in (1, 2)],
        "The shards of tiny-causal cannot be averaged. The table 'pairs' is missing",
    ),
    "a table of one is not named": (
        lambda p: edit_record(shard(p, 1), lambda content: content["tables"].pop("pairs")),
        "have different tables: pairs",
    ),
    "a table is missing": (lambda p: next(shard(p, 2).glob("pairs-*")).unlink(), "is damaged: it is missing"),
    "damaged": (lambda p: _flip(next(shard(p, 2).glob("contexts-*"))), "is damaged"),
    "of 1,000,000,000": (lambda p: resign(p, shard=[1, 10**9]), "up to 100,000 shards"),
    "a shard that is text": (lambda p: resign(p, shard="one"), "expected a list"),
    "of another model": (lambda p: resign(p, revision="2"), "differ in revision"),
}


UNEXPECTED = [
    (KeyError("pairs"), 70, "This is a bug: please report it with the output of `tse --debug report"),
    (RecursionError("deep"), 70, "This is a bug"),
    (MemoryError(), 71, "Memory ran out"),
    (OSError(28, "No space left on device", "x.csv"), 74, "x.csv: No space left on device"),
]
