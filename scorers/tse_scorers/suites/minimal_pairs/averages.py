"""Accuracies of groups of minimal pairs: means of scores per example, with intervals over the units of their pairs."""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...io.bundle import metric_modules
from ...io.results import Row
from ...statistics import Units, clustered_mean
from .intervals import grouped, has_languages, with_units
from .measures import METHODS


def aggregate_scores(examples: pa.Table) -> list[Row]:
    """Average scores per example: rows for each paradigm, phenomenon, field and all, by method.

    `n` counts the pairs scored, `n_excluded` those without prefixes for the method. A group without a scored pair has
    the score NaN. `se`, `ci_low` and `ci_high` are over the units of `intervals.grouped`.
    """
    result: list[Row] = []
    if "language" in examples.column_names and not has_languages(examples.to_pandas()):
        examples = examples.drop_columns("language")
    for method in METHODS:
        part = examples.filter(pc.equal(examples["method"], method))
        if part.num_rows:
            estimates = _estimates(part)
            unscored = clustered_mean([], Units([], "paradigms")).columns()
            result += [row | estimates.get(row["group"], unscored) for row in _method_rows(part, method)]
    return result


def _estimates(examples: pa.Table) -> dict[str, dict[str, Any]]:
    """Return the precision of each group's accuracy, of groups with a scored pair."""
    columns = [*_label_columns(examples), "sentence_good", "sentence_bad", "correct", "cluster", "item"]
    there = [column for column in columns if column in examples.column_names]
    scored = examples.filter(pc.is_valid(examples["correct"])).select(there)
    pairs = with_units(scored.to_pandas())
    return {
        name: clustered_mean(own["correct"].to_numpy(dtype=float), units).columns()
        for name, own, units, _ in grouped(pairs)
    }


def _method_rows(examples: pa.Table, method: str) -> Iterable[Row]:
    scored = examples.filter(pc.is_valid(examples["correct"]))
    excluded = examples.filter(pc.is_null(examples["correct"]))
    groups: dict[str, Row] = {}
    if scored.num_rows:
        groups = _groups(scored)
    for name, count in _excluded_by_group(excluded).items():
        nothing = {"accuracy": float("nan"), "n": 0, "n_ties": 0, "n_nonfinite": 0}
        groups.setdefault(name, nothing)["n_excluded"] = count
    linking = {"linking": examples["linking"][0].as_py()} if "linking" in examples.column_names else {}
    return [
        {
            "metric": "accuracy",
            "method": method,
            **linking,
            "group": name,
            "score": group["accuracy"],
            "n": group["n"],
            "n_excluded": group.get("n_excluded", 0),
            "n_ties": group["n_ties"],
            "n_nonfinite": group["n_nonfinite"],
        }
        for name, group in groups.items()
    ]


def _groups(scored: pa.Table) -> dict[str, Row]:
    """Accuracy of `all`, each language, field, phenomenon and paradigm, in this order."""
    compared = "score" if "linking" in scored.column_names else "logprob"
    good, bad = (scored[f"{compared}_{side}"].to_numpy() for side in ("good", "bad"))
    labels = {name: scored[name].to_pylist() for name in _label_columns(scored)}
    accuracies = metric_modules("minimal_pair_accuracy").accuracy.accuracies
    result = accuracies(good, bad, *(labels[name] for name in ("paradigm", "phenomenon", "field")))
    by_language: dict[str, Row] = {}
    if "language" in labels:  # a language is a set of paradigms, as a field is
        by_language = accuracies(good, bad, labels["paradigm"], field=labels["language"])["by_field"]
    return {
        "all": {key: result[key] for key in ("accuracy", "n", "n_ties", "n_nonfinite")},
        **{f"language:{name}": group for name, group in by_language.items()},
        **{f"field:{name}": group for name, group in result["by_field"].items()},
        **{f"phenomenon:{name}": group for name, group in result["by_phenomenon"].items()},
        **result["by_paradigm"],
    }


def _label_columns(examples: pa.Table) -> list[str]:
    return [name for name in ("paradigm", "phenomenon", "field", "language") if name in examples.column_names]


def _excluded_by_group(excluded: pa.Table) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in excluded.select(_label_columns(excluded)).to_pylist():
        names = [f"{label}:{row[label]}" for label in ("language", "field", "phenomenon") if label in row]
        for name in ("all", *names, row["paradigm"]):
            counts[name] = counts.get(name, 0) + 1
    return counts
