"""Output folders of `tse run` with made-up but plausible numbers, for the tests of the report."""

import json
import math
import re
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from tse_scorers.io.bundle import metric_modules
from tse_scorers.io.result_row import ResultRow
from tse_scorers.io.runs import read_runs
from tse_scorers.io.store import Record, record_folder

TABLE_ROWS = (
    "Simple", "In a sentential complement", "VP coordination", "Across prepositional phrase",
    "Across subject relative clause", "Across object relative clause", "Across object relative (no that)",
    "In object relative clause", "In object relative (no that)",
)  # fmt: skip
TOP = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 1.0)
BOTTOM = (0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)


_PLAIN = {"agreement": "group", "minimal_pairs": "paradigm"}
"""Suite -> the level of its groups that are called by their value alone."""


def placed(row: dict[str, Any]) -> dict[str, Any]:
    """Add the level and value that a row's group says."""
    level, colon, value = row["group"].partition(":")
    if row["group"] == "all":
        level, value = "all", ""
    elif not colon or level not in {"field", "phenomenon", "case_order", "role", "cell", "length"}:
        level, value = _PLAIN.get(row["suite"], "group"), row["group"]
    return row | {"level": level, "value": value}


def _json(row: dict[str, Any]) -> dict[str, Any]:
    return {
        key: None if isinstance(value, float) and math.isnan(value) else value for key, value in row.items()
    }


def result_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return rows of results as a report holds them, with the labels of a single run."""
    with TemporaryDirectory() as folder:
        return read_runs([write_run(Path(folder) / "run", rows, {})]).rows


def write_run(out: Path, rows: list[dict[str, Any]], scores: dict[str, pd.DataFrame]) -> Path:
    """Write a record with averages, and if there are any scores, for each model and data among the rows.

    Args:
        out: output folder.
        rows: results with identities.
        scores: `model.suite`, `model.suite.config`, or `model.agreement.config.table` -> table.
    """
    records: dict[str, list[dict[str, Any]]] = {}
    keys = ("suite", "dataset", "config", "model", "revision")
    for row in map(placed, rows):
        identity = {key: row.get(key) for key in keys}
        records.setdefault(json.dumps(identity), []).append({k: v for k, v in row.items() if k not in keys})
    models = [json.loads(identity)["model"] for identity in records]
    unused = set(scores)
    for place, (identity, averages) in enumerate(records.items()):
        about = json.loads(identity)
        name = about["model"] if about["revision"] is None else f"{about['model']}@{about['revision']}"
        series = {"series": name} if models.count(about["model"]) > 1 and about["revision"] else {}
        tables = {}
        for table in scores:
            pattern = rf"({re.escape(name)}|{re.escape(about['model'])})\.{about['suite']}(\.(.+))?"
            match = re.fullmatch(pattern, table)
            rest = None if match is None else match[3]
            config, kind = (
                (rest or "").rpartition(".")[::2] if about["suite"] == "agreement" else (rest, "scores")
            )
            if match is not None and config in (None, str(about["config"])):
                tables[kind] = pa.Table.from_pandas(scores[table], preserve_index=False)
                unused.discard(table)
        signature = {"model": about["model"], "dtype": "float32", "identity": about} | series
        request = signature.pop("request", {})
        Record(
            record_folder(out, series.get("series", about["model"]), about["suite"], about["config"]), {}, signature,
            request, environment={"torch": "2.13.0"}, created=place,
            rows=[ResultRow.from_json(about | _json(row)) for row in averages],
        ).write(tables)  # fmt: skip
    assert not unused, unused
    return out


def agreement_rows(model: str, revision: str | None = None, seed: int = 0) -> list[dict[str, Any]]:
    """Rows of both agreement data sets of one model, over all cut-offs."""
    generator = np.random.default_rng(seed)
    rows = []
    sets = [
        ("agreement_templates", "marvin_linzen", (*TABLE_ROWS, "all")),
        ("blimp_agreement", "newman2021", ("BLiMP", "all")),
    ]
    for dataset, config, groups in sets:
        for place, group in enumerate(groups):
            about = {
                "suite": "agreement",
                "dataset": dataset,
                "config": config,
                "model": model,
                "revision": revision,
                "group": group,
                "forms": "single",
            }
            base = 0.95 - 0.03 * place + generator.normal(0, 0.02)
            counts = {"n": 140 + 1000 * place, "n_excluded": 0, "n_ties": place}
            rows.append(
                {
                    **about,
                    "metric": "tse",
                    "cutoff_side": None,
                    "cutoff": None,
                    "score": min(base + 0.04, 1),
                    **counts,
                }
            )
            for side, cutoffs in (("top", TOP), ("bottom", BOTTOM)):
                for cutoff in cutoffs:
                    rows.extend(_cutoff_rows(about, side, cutoff, base, counts))
    return [placed(row) for row in rows]


def _cutoff_rows(
    about: dict[str, Any], side: str, cutoff: float, base: float, counts: dict[str, int]
) -> list[dict[str, Any]]:
    tail = 0.0 if side == "top" else -0.04 * math.log10(0.5 / cutoff)
    head = 0.04 * (1 - cutoff) if side == "top" else 0.0
    without = max(0.0, 0.3 - cutoff) if side == "top" else min(0.9, -tail)
    values = {
        "ew": base - 0.05 + head + tail,
        "mw": min(0.999, base + head + tail / 2),
        "covered_mass": 0.4 * cutoff if side == "top" else 0.1 * cutoff,
        "share_without_lemmas": without,
    }
    if cutoff == 1e-6 and about["group"] == "VP coordination":
        values |= {"ew": math.nan, "mw": math.nan, "share_without_lemmas": 1.0}
    return [
        {**about, "metric": m, "cutoff_side": side, "cutoff": cutoff, "score": v, **counts}
        for m, v in values.items()
    ]


def top_forms(suffix: str = " are young.") -> pd.DataFrame:
    """Ten most probable forms for two contexts of each table row."""
    forms = [
        ("meets", 0.20, "correct"), ("encounters", 0.057, "correct"), ("sees", 0.057, "correct"),
        ("meet", 0.048, "incorrect"), ("encounter", 0.023, "incorrect"), ("see", 0.019, "incorrect"),
        ("##s", 0.018, "other"), ("faces", 0.013, "correct"), ("saw", 0.012, "other"),
        ("met", 0.010, "other"),
    ]  # fmt: skip
    contexts = [
        {
            "context_id": 2 * i + j,
            "group": row,
            "prefix": f"The senators that the {noun}",
            "suffix": suffix,
            "number": "singular",
        }
        for i, row in enumerate(TABLE_ROWS)
        for j, noun in enumerate(("skater", "executive"))
    ]
    return pd.DataFrame(
        [
            {**c, "rank": r, "form": f, "probability": p, "status": s}
            for c in contexts
            for r, (f, p, s) in enumerate(forms, 1)
        ]
    )


def paradigms() -> dict[str, tuple[str, str]]:
    """BLiMP's paradigms with phenomenon and field."""
    return metric_modules("minimal_pair_accuracy").definitions.BLIMP_PARADIGMS


def blimp_rows(model: str, seed: int = 0, prefixes: bool = True) -> list[dict[str, Any]]:
    """Accuracies of one model on the 67 paradigms, by paradigm, phenomenon, field and over all."""
    generator = np.random.default_rng(seed)
    about = {
        "suite": "minimal_pairs",
        "dataset": "blimp",
        "config": "blimp",
        "model": model,
        "revision": None,
    }
    rows = []
    for method in ("full", "one_prefix", "two_prefix") if prefixes else ("full",):
        scores = {
            paradigm: float(np.clip(generator.normal(0.75, 0.18), 0, 1))
            for number, paradigm in enumerate(sorted(paradigms()))
            if method == "full" or number % 3 == (method == "two_prefix")
        }
        frame = pd.DataFrame({"paradigm": scores.keys(), "score": scores.values()})
        frame["phenomenon"] = [f"phenomenon:{paradigms()[p][0]}" for p in frame["paradigm"]]
        frame["field"] = [f"field:{paradigms()[p][1]}" for p in frame["paradigm"]]
        means = [frame.groupby(column)["score"].mean() for column in ("paradigm", "phenomenon", "field")]
        groups = pd.concat([*means, pd.Series({"all": frame["score"].mean()})])
        shared = {**about, "metric": "accuracy", "method": method, "n_excluded": 0, "n_ties": 1, "n": 1000}
        rows += [{**shared, "group": group, "score": float(value)} for group, value in groups.items()]
    return [placed(row) for row in rows]


def blimp_scores(seed: int = 0, n: int = 4000) -> pd.DataFrame:
    """Scores of minimal pairs whose accuracy rises with confidence and falls with length."""
    generator = np.random.default_rng(seed)
    length = generator.integers(4, 14, n)
    good = -5.5 * length + generator.normal(0, 5, n)
    bad = good - generator.normal(2.5 - 0.1 * length, 3, n)
    return pd.DataFrame(
        {
            "paradigm": generator.choice(sorted(paradigms()), n),
            "phenomenon": "any",
            "field": "any",
            "pair_id": np.arange(n),
            "method": "full",
            "sentence_good": [" ".join(["word"] * k) + "." for k in length],
            "sentence_bad": "Word.",
            "logprob_good": good,
            "logprob_bad": bad,
            "n_tokens_good": length + 1,
            "n_tokens_bad": length + 1,
            "correct": (good > bad).astype(np.int8),
            "tie": False,
        }
    )


def german_rows(model: str, seed: int = 0, config: str = "ours") -> list[dict[str, Any]]:
    """AUCs of one model by cell, case order, role and over all, for the four kinds of set."""
    metric = metric_modules("minimal_variation_auc").definitions
    generator = np.random.default_rng(seed)
    about = {"suite": "german", "dataset": "german_argument_structure", "config": config, "model": model}
    rows = []
    for shift, kind in zip((0.0, -0.3, 0.0, 0.2), metric.DOUBLED_CASES, strict=True):
        cells = np.clip(generator.normal(0.6 + shift, 0.15, (6, 6)), 0, 1)
        by_order, by_role, overall = metric.margins(cells)
        scores = {f"case_order:{order}": by_order[i] for i, order in enumerate(metric.CASE_ORDERS)}
        scores |= {f"role:{role}": by_role[i] for i, role in enumerate(metric.ROLE_ASSIGNMENTS)}
        for (i, order), (j, role) in product(
            enumerate(metric.CASE_ORDERS), enumerate(metric.ROLE_ASSIGNMENTS)
        ):
            scores[f"cell:{order}|{role}"] = cells[i, j]
        shared = {
            **about,
            "revision": None,
            "metric": "auc",
            "variation_set": kind,
            "n_excluded": 0,
            "n_ties": 2,
        }
        rows += [
            {**shared, "group": g, "score": float(s), "n": 300}
            for g, s in (scores | {"all": overall}).items()
        ]
    return [placed(row) for row in rows]


def with_ends(rows: list[dict[str, Any]], width: float = 0.05, **more: Any) -> list[dict[str, Any]]:
    """Add intervals and units to rows with a score."""
    ends = [{"ci_low": max(row["score"] - width, 0), "ci_high": min(row["score"] + width, 1)} for row in rows]
    about = {"reliable": True, "n_units": 30, "n_units_effective": 20.0, "unit": "nouns", "se": 0.02}
    return [
        row | end | about | more for row, end in zip(rows, ends, strict=True) if row["score"] == row["score"]
    ]


def agreement(*models: str, **more: Any) -> list[dict[str, Any]]:
    """Rows with intervals of some models on the default data."""
    return [row for seed, model in enumerate(models) for row in with_ends(agreement_rows(model, seed=seed), **more)
            if row["config"] == "marvin_linzen"]  # fmt: skip
