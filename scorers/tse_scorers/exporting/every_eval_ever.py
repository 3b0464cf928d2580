"""`tse export every-eval-ever`: headline scores as records of the Every Eval Ever schema, version 0.3.0.

    OUT/data/refined-tse/ORG/MODEL/UUID.json             one model on one suite and configuration
    OUT/data/refined-tse/ORG/MODEL/UUID_samples.jsonl    its minimal pairs, on request

The name of a file is a UUID made from the record's content, so that exporting twice gives the same files. Schema and
validator: https://github.com/evaleval/every_eval_ever.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pandas as pd

from ..io.bundle import split_revision
from ..io.files import make_folder, write_text
from ..io.local_paths import without_paths
from ..io.result_row import Scalar
from ..io.results import Row, read_results, written_at
from ..io.signatures import Identity, Signature
from ..report.inputs import Runs, ScoreFile
from ..report.measure import Measure, measured
from ..suites.hub_data import UnknownHostError
from ..suites.registry import find_suite, suites_of
from ..suites.released_data import hub_dataset, released_data

SCHEMA_VERSION = "0.3.0"
COLLECTION = "refined-tse"
RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")
_HUB_ID = re.compile(r"[\w-][\w.-]*/[\w.-]+")
_NOT_DETAILS = ("identity", "computed", "recipe")
_SIDES = ("sentence_good", "sentence_bad")
_LOGPROBS = (("logprob_good", "logprob_bad"), ("logprob_correct", "logprob_incorrect"))
_SCORES = ("correct", "tse")
Scored = Mapping[str, Sequence[ScoreFile]]
"""Identity of results, as JSON -> their files of scores."""


@dataclass(frozen=True)
class Reporter:
    """Who reports results.

    Attributes:
        organization: name of the organization or person that ran the evaluation.
        relationship: to the models' developers, one of `RELATIONSHIPS`.
        data_org: who hosts the shipped data sets on the Hub; None if nobody was named.
    """

    organization: str
    relationship: str = "third_party"
    data_org: str | None = None


@dataclass(frozen=True)
class Record:
    """The record of one model on one suite and configuration.

    Attributes:
        content: as the schema describes it.
        path: place below the output folder.
        signature: of the scores.
    """

    content: dict[str, Any]
    path: Path
    signature: Signature


def records(results: Path, reporter: Reporter) -> Iterator[Record]:
    """Yield the records of a run; a model without a score in [0, 1] has none.

    Args:
        results: an output folder of `tse run`.
        reporter: who ran the evaluation.

    Raises:
        ValueError: the folder has no results with signatures.
    """
    content = read_results(results)
    signatures = content["signature"].get("models") or []
    if not signatures:
        raise ValueError(
            f"{results} does not contain results with signatures, as this version of `tse run` writes them. "
            "Run the evaluation again."
        )
    written = str(int(written_at(results)))
    for signature in signatures:
        identity = signature["identity"]
        rows = [row for row in content["results"] if identity.items() <= row.items()]
        record = _record(signature, rows, content.get("environment", {}), reporter, written)
        if record is not None:
            yield record


def write(record: Record, out: Path) -> Path:
    """Write a record below a folder, and return its path."""
    path = out / record.path
    make_folder(path.parent, out)
    write_text(path, json.dumps(record.content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    return path


def result_id(evaluation: str, measure: Measure, group: str) -> str:
    """Return the id of one score of a record, which its items name as well."""
    return f"{evaluation}#{measure.task}/{group}"


def _record(
    signature: Signature,
    rows: Sequence[Row],
    environment: Mapping[str, object],
    reporter: Reporter,
    written: str,
) -> Record | None:
    identity = signature["identity"]
    suite = find_suite(identity["suite"])
    model = _model_id(identity)
    details = without_paths({key: value for key, value in signature.items() if key not in _NOT_DETAILS})
    decisive = hashlib.sha256(json.dumps([without_paths(identity), details], sort_keys=True).encode())
    evaluation = f"{COLLECTION}.{identity['suite']}.{identity['config']}/{model}/{decisive.hexdigest()[:16]}"
    scored = [
        (row, measure)
        for row, measure in measured(rows, {suite.name: suite.measures})
        if row["score"] is not None and 0 <= row["score"] <= 1
    ]
    if not scored:
        return None
    source = _source(signature, rows[0], reporter)
    content = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation,
        "evaluation_timestamp": written,
        "retrieved_timestamp": written,
        "source_metadata": {
            "source_name": "refined-tse",
            "source_type": "evaluation_run",
            "source_organization_name": reporter.organization,
            "evaluator_relationship": reporter.relationship,
        },
        "eval_library": {
            "name": "refined-tse",
            "version": str(environment.get("refined-tse", "unknown")),
            "additional_details": _texts(environment),
        },
        "model_info": _model(identity, model, details),
        "evaluation_results": [_result(evaluation, row, measure, source) for row, measure in scored],
    }
    name = uuid.UUID(bytes=hashlib.sha256(evaluation.encode()).digest()[:16], version=4)
    return Record(content, Path("data", COLLECTION, *model.split("/"), f"{name}.json"), signature)


def _model_id(identity: Identity) -> str:
    """Return `org/name`; a model on this machine is `local/name`."""
    name = str(identity["model"]).partition("@")[0]
    if _HUB_ID.fullmatch(name) and not str(identity.get("revision")).startswith("sha256:"):
        return name
    return "local/" + (re.sub(r"[^\w.-]+", "-", Path(name).name).strip("-. ") or "model")


def _model(identity: Identity, model: str, details: Mapping[str, object]) -> dict[str, object]:
    on_hub = not model.startswith("local/")
    return {
        "name": model.partition("/")[2],
        "id": model,
        **({"developer": model.partition("/")[0]} if on_hub else {}),
        "inference_engine": {"name": "refined-tse"},
        "additional_details": _texts(details)
        | {
            "revision": str(identity.get("revision")),
            "deployment_type": "self_deployed",
            "model_availability": "open_weights" if on_hub else "unknown",
        },
    }


def _source(signature: Signature, row: Mapping[str, Scalar], reporter: Reporter) -> dict[str, object]:
    """Return which data were scored; data that are not on the Hub are `other`."""
    identity, released = signature["identity"], released_data(signature)
    details = {"config": identity["config"], "content": signature.get("dataset_fingerprint")}
    source: dict[str, object] = {
        "dataset_name": Path(str(identity["dataset"])).name or "data",
        "source_type": "other",
        "additional_details": _texts(details | {"whole_released_data": released is not None}),
    }
    if released is not None and released.on_hub:
        with suppress(UnknownHostError):
            place, _ = split_revision(hub_dataset(signature, row, reporter.data_org))
            source |= {"source_type": "hf_dataset", "hf_repo": place, "samples_number": released.n}
    return source


def _result(
    evaluation: str, row: Mapping[str, Scalar], measure: Measure, source: Mapping[str, object]
) -> dict[str, object]:
    counts = [
        "n", "n_excluded", "n_ties", "n_nonfinite", "unit", "n_units", "n_units_effective", "n_lemmas", "reliable",
    ]  # fmt: skip
    level = "overall" if row["group"] == "all" else "group"
    name = "accuracy" if measure.right_or_wrong else f"{COLLECTION}.{row['metric']}"
    return {
        "evaluation_result_id": result_id(evaluation, measure, str(row["group"])),
        "evaluation_name": f"{COLLECTION}.{row['config']}.{row['group']}",
        "source_data": dict(source),
        "metric_config": {
            "evaluation_description": f"{measure.label}, {row['group']}",
            "metric_id": name,
            "metric_name": measure.label,
            "metric_kind": name,
            "metric_unit": "proportion",
            "metric_parameters": dict(measure.where),
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
            "additional_details": {"group": row["group"], "level": level},
        },
        "score_details": {
            "score": row["score"],
            "details": _texts({key: row.get(key) for key in counts}),
            "uncertainty": _uncertainty(row),
        },
    }


def _uncertainty(row: Mapping[str, Scalar]) -> dict[str, object]:
    uncertainty: dict[str, object] = {"num_samples": int(cast(float, row["n"]))}
    if row.get("se") is not None:
        uncertainty["standard_error"] = {
            "value": row["se"],
            "method": f"cluster-robust over {row.get('unit')}",
        }
    if row.get("ci_low") is not None and row.get("ci_high") is not None:
        uncertainty["confidence_interval"] = {
            "lower": row["ci_low"],
            "upper": row["ci_high"],
            "confidence_level": 0.95,
        }
    return uncertainty


def _texts(values: Mapping[str, object]) -> dict[str, str]:
    """Return values as texts, which is what the schema allows for details; those that are None are left out."""
    return {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in values.items()
        if value is not None
    }


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
        for measure in suite.measures:
            if measure.table != file.table:
                continue
            for row in _of_measure(frame, measure).to_dict("records"):
                yield json.dumps(_sample(record.content, row, measure), ensure_ascii=False, allow_nan=False)


def _key(signature: Mapping[str, object]) -> str:
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
    pairs = measure_rows.rename(columns={score: "score", logprobs[0]: "good", logprobs[1]: "bad"})
    return pairs[pairs["score"].notna()].drop_duplicates([*_SIDES, "pair_id"])


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
