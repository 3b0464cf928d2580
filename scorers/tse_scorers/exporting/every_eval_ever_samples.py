"""The minimal pairs behind a record of Every Eval Ever, one line of JSON each."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from ..io.files import make_folder, write_text
from ..io.records import SINGLE
from ..report.inputs import Runs, ScoreFile
from ..report.measure import Measure
from ..suites.registry import find_suite, suites_of
from .every_eval_ever import Record, result_id

_SIDES = ("sentence_good", "sentence_bad")
_LOGPROBS = (("logprob_good", "logprob_bad"), ("logprob_correct", "logprob_incorrect"))
_SCORES = ("correct", "tse")


Scored = Mapping[str, Sequence[ScoreFile]]
"""Identity of results, as JSON -> their files of scores."""


def scored_by_identity(runs: Runs) -> Scored:
    """Find the files of scores of each record of a run, once for all records."""
    files_of: dict[str, list[ScoreFile]] = {}
    for suite in suites_of(runs):
        for file in runs.scores(suite.name):
            files_of.setdefault(_key(file.signature), []).append(file)
    return files_of


def with_samples(record: Record, scored: Scored, out: Path) -> Record:
    """Write the scored pairs of a record, and return the record with a reference to them.

    A record without minimal pairs that are right or wrong is returned as it is.

    Args:
        record: one of `every_eval_ever.records`.
        scored: of the run that it is of.
        out: the output folder.
    """
    lines = list(_lines(record, scored))
    if not lines:
        return record
    path = record.path.with_name(f"{record.path.stem}_samples.jsonl")
    content = "".join(line + "\n" for line in lines)
    make_folder((out / path).parent, out)
    write_text(out / path, content)
    reference = {
        "format": "jsonl",
        "file_path": path.as_posix(),
        "hash_algorithm": "sha256",
        "checksum": hashlib.sha256(content.encode()).hexdigest(),
        "total_rows": len(lines),
    }
    return replace(record, content=record.content | {"detailed_evaluation_results": reference})


def _lines(record: Record, scored: Scored) -> Iterator[str]:
    suite = find_suite(record.signature["identity"]["suite"])
    for file in scored.get(_key(record.signature), ()):
        frame = suite.item_table(file)
        if frame is None or not {*_SIDES} <= set(frame):
            continue
        for measure in (own for own in suite.measures if (own.table or SINGLE) == file.table):
            measure_rows = _of_measure(frame, measure)
            for row in measure_rows.to_dict("records"):
                yield json.dumps(_sample(record.content, row, measure), ensure_ascii=False, allow_nan=False)


def _key(signature: Mapping[str, Any]) -> str:
    return json.dumps(signature.get("identity"), sort_keys=True)


def _of_measure(frame: pd.DataFrame, measure: Measure) -> pd.DataFrame:
    """Return the scored pairs of a measure that is right or wrong, with `score`, `good` and `bad`."""
    score = next((name for name in _SCORES if name in frame), None)
    logprobs = next((names for names in _LOGPROBS if set(names) <= set(frame)), None)
    if not measure.right_or_wrong or score is None or logprobs is None:
        return frame.iloc[:0]
    measure_rows = frame
    for axis, value in measure.at.items():
        if axis in frame:
            measure_rows = measure_rows[measure_rows[axis] == value]
    if "length" in measure_rows:  # a measure in context is at its greatest length
        measure_rows = measure_rows[measure_rows["length"] == measure_rows["length"].max()]
    named = measure_rows.rename(columns={score: "score", logprobs[0]: "good", logprobs[1]: "bad"})
    return named[named["score"].notna()].drop_duplicates([*_SIDES, "pair_id"])


def _sample(record: Mapping[str, Any], row: Mapping[str, Any], measure: Measure) -> dict[str, Any]:
    good, bad = (str(row[side]) for side in _SIDES)
    group = str(row.get("paradigm") or row.get("construction"))
    is_correct = bool(row["score"])
    chosen = good if is_correct else bad
    evaluation = record["evaluation_id"]
    return {
        "schema_version": record["schema_version"],
        "evaluation_id": evaluation,
        "model_id": record["model_info"]["id"],
        "evaluation_name": measure.task,
        "evaluation_result_id": result_id(evaluation, measure, "all"),
        "sample_id": f"{group}/{row['pair_id']}",
        "sample_hash": hashlib.sha256(f"{good}\n{bad}{good}".encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": f"{good}\n{bad}", "reference": [good], "choices": [good, bad]},
        "output": {"raw": [chosen]},
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": chosen,
                "extraction_method": "higher log-probability; a tie is not correct",
                "is_terminal": True,
            }
        ],
        "evaluation": {"score": float(row["score"]), "is_correct": is_correct},
        "metadata": {"logprob_good": str(row["good"]), "logprob_bad": str(row["bad"]), "group": group},
    }
