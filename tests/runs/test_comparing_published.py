"""Files of published scores are compared like models: the same rows as of items with these scores."""

import json

import numpy as np
import pandas as pd
import pytest

from tse_scorers import run
from tse_scorers.runs.comparing.compare import compare
from tse_scorers.statistics import Units, difference

NOUNS = ["author", "pilot", "surgeon", "farmer", "manager", "customer", "officer", "teacher", "senator", "dancer",
         "guard", "chef"]  # fmt: skip


@pytest.fixture
def scored(tmp_path):
    """Pairs of two paradigms, and the scores of two systems: the second one is wrong on every third noun's pairs."""
    pairs = [
        {
            "sentence_good": f"The {noun} {verb}s{end}.",
            "sentence_bad": f"The {noun} {verb}{end}.",
            "UID": name,
            "linguistics_term": "x",
            "field": "y",
        }
        | {"cluster": noun}
        for name, end in (("short", ""), ("long", " at home"))
        for noun in NOUNS
        for verb in ("laugh", "swim", "smile")
    ]
    (tmp_path / "pairs.jsonl").write_text(
        "".join(json.dumps(pair) + "\n" for pair in pairs), encoding="utf-8"
    )
    for name, wrong in (("good", []), ("worse", NOUNS[::3])):
        lines = [
            {
                "sentence": pair[f"sentence_{side}"],
                "logprob": -9.0 if (side == "good") != (pair["cluster"] in wrong) else -10.0,
            }
            for pair in pairs
            for side in ("good", "bad")
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path, pairs


def test_published_scores_are_compared_like_models(scored):
    folder, pairs = scored
    files = [str(folder / f"{name}.jsonl") for name in ("good", "worse")]
    run(
        files,
        suite="minimal_pairs",
        data=str(folder / "pairs.jsonl"),
        methods=["full"],
        out=folder / "run",
        report=False,
    )
    rows = compare([folder / "run"]).rows.set_index(["measure", "group"])
    one = np.array([pair["cluster"] not in NOUNS[::3] for pair in pairs], dtype=float)
    nouns = pd.Series([pair["cluster"] for pair in pairs])
    short = np.array([pair["UID"] == "short" for pair in pairs])
    known = difference(
        pd.Series(one[short]), pd.Series(np.ones(short.sum())), Units(nouns[short].to_numpy(), "clusters")
    )
    row = rows.loc["accuracy", "short"]
    found = row[["score", "reference_score", "difference", "se", "p"]].astype(float)
    assert found.tolist() == pytest.approx([2 / 3, 1.0, -1 / 3, known.se, known.p])
    assert row["n_units"] == len(NOUNS) and row["reference"].startswith("good")
