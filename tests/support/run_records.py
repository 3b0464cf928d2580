"""Records that runs write, for tests that open or copy them."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tse_scorers.io.store import Record, read_records
from tse_scorers.models.options import ModelOptions
from tse_scorers.runs.jobs import make_jobs
from tse_scorers.runs.run import run_models


def record_of(out: Path, **about: Any) -> Record:
    """Return the only record of an output folder whose signature has these values."""
    found = [
        of
        for of in read_records(out)
        if all(of.signature.get(key) == of_key for key, of_key in about.items())
    ]
    assert len(found) == 1, [record.folder.name for record in found]
    return found[0]


def read_table(out: Path, table: str = "items", **about: Any) -> pd.DataFrame:
    """Return a table with scores; see `record_of`."""
    return record_of(out, **about).tables[table].read()


def score(suite, out: Path, scorer, overwrite: bool = False) -> pd.DataFrame:
    """Score one model on a suite, and return its rows of results."""
    jobs = make_jobs([scorer], [suite], ModelOptions())
    (record,) = run_models([suite], jobs, out, overwrite=overwrite).records
    return pd.DataFrame(record.rows)


def copied(out: Path, to: Path, names: list[str], revisions: bool = False) -> Path:
    """Copy the records of the first model of a folder under other names (or as revisions of one), with other scores."""
    records = read_records(out)
    first = [record for record in records if record.signature["model"] == records[0].signature["model"]]
    for place, name in enumerate(names):
        noise = np.random.default_rng(place)
        for record in first:
            folder = to / "runs" / f"{place:03}-{record.folder.name}"
            shutil.copytree(record.folder, folder)
            content = json.loads((folder / "record.json").read_text())
            about = {"model": "copies", "revision": name} if revisions else {"model": name}
            content["signature"] |= about
            content["request"] |= {"series": True} if revisions else {}
            content["created"] += place
            for row in content["rows"]:
                row.update(about)
                if row["measure"].partition("@")[0] in (
                    "ew",
                    "mw",
                    "tse",
                    "accuracy",
                    "auc",
                    "criterion_accuracy",
                ):
                    row["score"] = float(np.clip(row["score"] - 0.3 * noise.random(), 0.01, 1))
                    row["ci_low"], row["ci_high"] = max(row["score"] - 0.05, 0), min(row["score"] + 0.05, 1)
            (folder / "record.json").write_text(json.dumps(content))
    return to
