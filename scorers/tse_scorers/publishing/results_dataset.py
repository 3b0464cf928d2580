"""A run's results as files of a data set of results: one for each model on each suite."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..io.result_row import IDENTITY, Scalar
from ..io.signatures import ResultsContent
from ..suites.released_data import knows_data_of, released_data

SCHEMA = pa.schema(
    {
        **dict.fromkeys(IDENTITY, pa.string()),
        **dict.fromkeys(("group", "level", "value", "metric"), pa.string()),
        "cutoff_side": pa.string(),
        "cutoff": pa.float64(),
        "method": pa.string(),
        "variation_set": pa.string(),
        "score": pa.float64(),
        **dict.fromkeys(("n", "n_excluded", "n_ties", "n_nonfinite"), pa.int64()),
        **dict.fromkeys(("se", "ci_low", "ci_high"), pa.float64()),
        "unit": pa.string(),
        **dict.fromkeys(("n_units", "n_lemmas"), pa.int64()),
        "n_units_effective": pa.float64(),
        "reliable": pa.bool_(),
        "released_data": pa.bool_(),
        "signature": pa.string(),
        "environment": pa.string(),
    }
)
"""Columns of the results data set: those of results.json, whether the data was a whole released data set, and the
signature and environment as JSON.

All files of a data set have these columns; columns that other suites add are not published.
"""

CARD = """---
pretty_name: Results of refined-tse
tags:
- refined-tse
- evaluation
configs:
- config_name: results
  data_files: data/*.parquet
---

# Results of refined-tse

One row per result of a targeted syntactic evaluation, as `tse publish` appends them: suite, data set, model and
revision, group, metric, cut-off, score (0 to 1; null where there is none), how many items it rests on, and the
signature of what made it (JSON). Each file is one model on one suite, named by the hash of its content.

`released_data` is true where the score rests on the whole of a released data set, known by a hash of its content. It is
false for a part of one and for other data, even where these have the name of a released data set: such a score cannot
be compared with published ones. It is null for suites of other packages.

```python
from datasets import load_dataset

results = load_dataset("{repo}", split="train")
```
"""


def tables(content: ResultsContent) -> Iterator[tuple[str, bytes]]:
    """Yield (path, Parquet) for each model on each suite.

    Args:
        content: of `results.json`, with signatures.

    Raises:
        ValueError: a row holds what no row of `tse run` holds.
    """
    signatures: list[Any] = [
        {key: value for key, value in of.items() if key not in ("computed", "request")}
        for of in content["signature"]["models"]
    ]
    environment = json.dumps(content.get("environment", {}), sort_keys=True)
    for signature in signatures:
        identity = signature["identity"]
        rows = [
            row for row in content["results"] if all(row.get(key) == identity.get(key) for key in IDENTITY)
        ]
        hashed: list[Mapping[str, object]] = [signature, *rows]
        if identity.get("revision") is not None:  # says which weights these are, whatever the model is called
            hashed[0] = {**signature, "identity": {**identity, "model": ""}}
            hashed = [{key: value for key, value in part.items() if key != "model"} for part in hashed]
        canonical = json.dumps(hashed, sort_keys=True, separators=(",", ":"))
        described: dict[str, Scalar] = {
            "released_data": released_data(signature) is not None
            if knows_data_of(identity["suite"])
            else None,
            "signature": json.dumps(signature, sort_keys=True),
            "environment": environment,
        }
        yield (
            f"data/{hashlib.sha256(canonical.encode()).hexdigest()[:24]}.parquet",
            _parquet([row | described for row in rows]),
        )


def _parquet(rows: list[dict[str, Scalar]]) -> bytes:
    sink = pa.BufferOutputStream()
    try:
        table = pa.Table.from_pylist(rows, schema=SCHEMA)
    except (pa.ArrowException, OverflowError, UnicodeError) as error:
        raise ValueError(
            f"The results hold a value that no row of `tse run` has ({error}). Run the same `tse run` command again."
        ) from error
    pq.write_table(table, sink, compression="zstd")
    content: bytes = sink.getvalue().to_pybytes()
    return content
