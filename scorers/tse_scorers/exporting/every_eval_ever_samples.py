"""The minimal pairs behind a record of Every Eval Ever, one line of JSON each."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from ..io.files import write_text
from ..report.inputs import Runs
from ..report.measure import Measure
from ..suites.registry import find_suite
from .every_eval_ever import Record, result_id
from .items import read_items

_SIDES = ("sentence_good", "sentence_bad")
_LOGPROBS = (("logprob_good", "logprob_bad"), ("logprob_correct", "logprob_incorrect"))
_SCORES = ("correct", "tse")


def with_samples(record: Record, runs: Runs, out: Path) -> Record:
    """Write the scored pairs of a record, and return the record with a reference to them.

    A record without minimal pairs that are right or wrong is returned as it is.

    Args:
        record: one of `every_eval_ever.records`.
        runs: the run that it is of.
        out: the output folder.
    """
    lines = list(_lines(record, runs))
    if not lines:
        return record
    path = record.path.with_name(f"{record.path.stem}_samples.jsonl")
    content = "".join(line + "\n" for line in lines)
    (out / path).parent.mkdir(parents=True, exist_ok=True)
    write_text(out / path, content)
    reference = {
        "format": "jsonl",
        "file_path": path.as_posix(),
        "hash_algorithm": "sha256",
        "checksum": hashlib.sha256(content.encode()).hexdigest(),
        "total_rows": len(lines),
    }
    return replace(record, content=record.content | {"detailed_evaluation_results": reference})


def _lines(record: Record, runs: Runs) -> Iterator[str]:
    identity = record.signature["identity"]
    suite = find_suite(identity["suite"])
    for file in runs.scores(suite.name):
        frame = read_items(suite, file)
        if frame is None or not {*_SIDES} <= set(frame) or frame.empty or not _is_of(frame, identity):
            continue
        for measure in suite.measures:
            own = _of_measure(frame, measure)
            for row in own.to_dict("records"):
                yield json.dumps(_sample(record.content, row, measure), ensure_ascii=False, allow_nan=False)


def _is_of(frame: pd.DataFrame, identity: Mapping[str, Any]) -> bool:
    first = frame.iloc[0]
    return all(
        first[key] == value or (value is None and pd.isna(first[key])) for key, value in identity.items()
    )


def _of_measure(frame: pd.DataFrame, measure: Measure) -> pd.DataFrame:
    """Return the scored pairs of a measure that is right or wrong, with `score`, `good` and `bad`."""
    score = next((name for name in _SCORES if name in frame), None)
    logprobs = next((names for names in _LOGPROBS if set(names) <= set(frame)), None)
    if not measure.right_or_wrong or score is None or logprobs is None:
        return frame.iloc[:0]
    method = measure.where.get("method")
    own = frame if method is None else frame[frame["method"] == method]
    named = own.rename(columns={score: "score", logprobs[0]: "good", logprobs[1]: "bad"})
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
