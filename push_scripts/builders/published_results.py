"""Published numbers to compare results with, from the tables in `sources/published_results/`: one row per number.

A row is named as a row of `results.json` is, so that ours and theirs join. Other columns: where a number is printed,
the phenomenon of a paradigm of BLiMP, and the text around the gap of the probable words of Newman et al.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv

SOURCES = Path(__file__).resolve().parent.parent / "sources" / "published_results"
SCHEMA = pa.schema(
    {
        **dict.fromkeys(("paper", "table", "source", "suite", "config", "system", "revision"), pa.string()),
        "tokens": pa.int64(),
        **dict.fromkeys(("metric", "level", "value", "cutoff_side"), pa.string()),
        "cutoff": pa.float64(),
        **dict.fromkeys(("method", "variation_set", "phenomenon", "prefix", "suffix"), pa.string()),
        "rank": pa.int32(),
        "status": pa.string(),
        "score": pa.float64(),
        "n": pa.int32(),
        "repeats_table": pa.int32(),
    }
)
PAIRS = 1000
"""In each paradigm of BLiMP."""
FINAL_STEP = 143_000
"""The last step of all Pythia models, by the names on the Hub."""
STEP_TOKENS = 2_097_152
"""Tokens in a step of Pythia, by the names on the Hub."""

Row = dict[str, Any]


def build(source: Path | None = None) -> dict[str, dict[str, pa.Table]]:
    """Return the one table; `source` is not used."""
    papers = {
        ("newman2021", "agreement"): _newman2021(),
        ("warstadt2020", "minimal_pairs"): _warstadt2020(),
        ("rochereau2020", "german"): _rochereau2020(),
        ("hu2020", "regions"): _hu2020(),
        ("biderman2023", "minimal_pairs"): _biderman2023(),
    }
    rows = [
        {"paper": paper, "suite": suite, "source": "paper", **row}
        for (paper, suite), of_paper in papers.items()
        for row in of_paper
    ]
    return {"rows": {"train": pa.Table.from_pylist(rows, SCHEMA)}}


def read(name: str) -> list[Row]:
    """Return the rows of a table of the sources."""
    as_text = csv.ConvertOptions(column_types={"correct": pa.string()})  # one digit per item
    rows: list[Row] = csv.read_csv(SOURCES / f"{name}.csv", convert_options=as_text).to_pylist()
    return rows


def _newman2021() -> Iterator[Row]:
    """Yield TSE, EW and MW by construction (Table 2), and the probable words at two gaps (Table 3)."""
    for row in read("newman2021_table2"):
        metric, group = row["metric"].lower(), row["construction"]
        whole = {} if metric == "tse" else {"cutoff_side": "top", "cutoff": 1.0}
        config = "newman2021" if group == "BLiMP" else "marvin_linzen"
        about = {"table": "2", "config": config, "system": row["model"], "metric": metric}
        yield {**about, "level": "group", "value": group, **whole, "score": row["score"]}
    about = {"table": "3", "config": "marvin_linzen", "system": "bert-large-cased"}
    about |= {"metric": "probability", "level": "form"}
    for row in read("newman2021_table3"):
        kept = {name: row[name] for name in ("prefix", "suffix", "rank", "status")}
        yield {**about, "value": row["form"], **kept, "score": row["probability"]}


def _warstadt2020() -> Iterator[Row]:
    """Yield accuracies and marks of prefix methods by paradigm (Table 4), and slopes by phenomenon (Figure 5)."""
    for row in read("warstadt2020_models"):
        yield {"table": "4", "system": row["model"], **_paradigm(row, row["accuracy"])}
    about = {"table": "4", "config": "blimp", "metric": "applies", "level": "paradigm", "score": 1.0}
    for row in read("warstadt2020_prefix_methods"):
        of_paradigm = {"value": row["paradigm"], "phenomenon": row["phenomenon"]}
        for method in ("one_prefix", "two_prefix"):
            if row[method]:
                yield {**about, **of_paradigm, "method": method}
    about = {"table": "Figure 5", "config": "blimp", "metric": "slope_per_doubling", "level": "phenomenon"}
    for row in read("warstadt2020_slopes"):
        yield {**about, "system": row["model"], "value": row["phenomenon"], "score": row["slope"]}


def _paradigm(row: Row, accuracy: float) -> Row:
    """Return an accuracy on whole sentences of a paradigm of BLiMP."""
    about = {"config": "blimp", "metric": "accuracy", "level": "paradigm", "method": "full", "n": PAIRS}
    return {**about, "value": row["paradigm"], "phenomenon": row["phenomenon"], "score": accuracy}


def _rochereau2020() -> Iterator[Row]:
    """Yield the cells of Tables 1 and 6 to 28."""
    about = {"config": "rochereau2020", "metric": "auc", "level": "cell"}
    for row in read("rochereau2020_auc"):
        kept = {name: row[name] for name in ("variation_set", "system", "repeats_table")}
        kept["source"] = "people" if row["system"] == "human" else "paper"
        cell = {"value": f"{row['case_order']}|{row['role_assignment']}", "score": row["auc"]}
        yield {**about, "table": str(row["paper_table"]), **kept, **cell}


def _hu2020() -> Iterator[Row]:
    """Yield whether each item is right; in the source, a row is a suite and model, with 1 or 0 for each item."""
    about = {"table": "suites", "metric": "criterion_accuracy", "level": "item", "n": 1}
    for row in read("hu2020_items"):
        for item, mark in enumerate(row["correct"]):
            found = {"value": f"{row['suite']}/{item}", "score": float(mark)}
            yield {**about, "system": row["model"], **found}


def _biderman2023() -> Iterator[Row]:
    """Yield Pythia's accuracies; in the source, a row is a checkpoint and a column a paradigm.

    Models that were trained with twice the batch have half as many steps; the Hub names their checkpoints by twice the
    step, so that one name is the same number of tokens in all models.
    """
    paradigms = read("warstadt2020_prefix_methods")
    checkpoints = read("biderman2023_blimp")
    last = {row["model"]: row["step"] for row in checkpoints}  # steps are in ascending order
    for row in checkpoints:
        step = row["step"] * FINAL_STEP // last[row["model"]]
        checkpoint = {"system": row["model"], "revision": f"step{step}", "tokens": step * STEP_TOKENS}
        for paradigm in paradigms:
            yield {**checkpoint, **_paradigm(paradigm, row[paradigm["paradigm"]] / 1000)}
