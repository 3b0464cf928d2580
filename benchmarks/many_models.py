"""The report of many different models: processor seconds, and the size of the page.

    python -m benchmarks.many_models [--models 25 100 300]

A bundled model is scored on a part of three suites. Its rows, with scores lowered at random, stand for those of the
other models, so that there are no scores per item, and nothing that a report draws from them.
"""

import argparse
import json
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tse_scorers import run
from tse_scorers.io.ours import RESULTS_FILE
from tse_scorers.io.records import write_record
from tse_scorers.io.result_row import IDENTITY, ResultRow
from tse_scorers.io.results import Row, export_results, read_results
from tse_scorers.runs.report import write_report

from .series import write_data

_SCORES = ("score", "ci_low", "ci_high")


def rows_of(number: int, rows: Sequence[Row]) -> list[Row]:
    """Return the rows of one model under the names of others, each with all its scores lowered alike."""
    found = []
    for model in range(number):
        factor = random.Random(model).uniform(0.5, 1)
        lower = [{key: row[key] * factor for key in _SCORES if row.get(key) is not None} for row in rows]
        found += [
            {**row, **scores, "model": f"models/{model}"} for row, scores in zip(rows, lower, strict=True)
        ]
    return found


def compare(numbers: Sequence[int] = (25, 100, 300)) -> list[dict[str, Any]]:
    """Return what a report of each number of models costs."""
    with tempfile.TemporaryDirectory() as made:
        base = Path(made) / "base"
        write_data(Path(made) / "pairs.jsonl")
        for suite, options in (
            ("agreement", {}),
            ("german", {}),
            ("minimal_pairs", {"data": Path(made) / "pairs.jsonl"}),
        ):
            run("tiny-causal", suite=suite, out=base, limit=2, report=False, **options)
        rows = read_results(base)["results"]
        return [_measured(Path(made) / str(number), number, rows) for number in numbers]


def _measured(out: Path, number: int, rows: Sequence[Row]) -> dict[str, Any]:
    out.mkdir()
    by_record: dict[str, list[Row]] = {}
    for row in rows_of(number, rows):
        by_record.setdefault(json.dumps({key: row[key] for key in IDENTITY}), []).append(row)
    for about, averages in by_record.items():
        identity = json.loads(about)
        signature = {"model": identity["model"], "identity": identity}
        write_record(out, signature, {}).with_rows([ResultRow.from_json(row) for row in averages])
    export_results(out)
    start = time.process_time()
    page = write_report(out)
    return {
        "models": number,
        "rows": number * len(rows),
        "processor_seconds": time.process_time() - start,
        "megabytes_of_the_report": page.stat().st_size / 1e6,
        "megabytes_of_results": (out / RESULTS_FILE).stat().st_size / 1e6,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many_models")
    parser.add_argument("--models", type=int, nargs="+", default=[25, 100, 300])
    print(json.dumps(compare(parser.parse_args().models), indent=1))
