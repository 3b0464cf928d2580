"""The forced-choice judgments that validated BLiMP (Warstadt et al. 2020).

The release has one line per assignment: five pairs of sentences, one or two of them attention checks, and the
annotator's five answers. A condition such as `passive_2ans1` names the paradigm and which of the two
sentences is right; an answer such as `1. Mitchell` names the chosen one. Its text is cut off at the first
apostrophe, so only the number is read.

Platform identifiers, browsers, times, approval rates and free text are not copied. `worker` is the number that
the release gives each annotator instead of the platform's identifier.
"""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from builders import upstream

RESPONSES = "blimp/raw_results/all_outputs/human_responses.csv"
UPSTREAM = (RESPONSES,)
# These were judged with the others, but did not become part of BLiMP.
DROPPED = (
    "coordinate_structure_constraint_subject_extraction",
    "subject_island",
    "wh_questions_object_gap_long_distance",
)
JUDGMENTS = pa.schema(
    [
        ("paradigm", pa.string()),
        ("sentence_good", pa.string()),
        ("sentence_bad", pa.string()),
        ("good_first", pa.bool_()),
        ("correct", pa.bool_()),
        ("worker", pa.int32()),
        ("list_id", pa.int32()),
        ("item", pa.int32()),
        ("attention_check", pa.bool_()),
        ("rejected", pa.bool_()),
        ("eligible", pa.bool_()),
    ]
)
ACCURACY = pa.schema(
    [
        ("paradigm", pa.string()),
        ("individual_accuracy", pa.float64()),
        ("majority_accuracy", pa.float64()),
        ("n_pairs", pa.int32()),
        ("n_judgments", pa.int32()),
        ("n_workers", pa.int32()),
    ]
)

Judgment = dict[str, Any]


def build(source: Path | None) -> dict[str, dict[str, pa.Table]]:
    """Return all three configs, from the pinned file of responses in `source`."""
    with upstream.locate(source, RESPONSES).open(encoding="utf-8", newline="") as file:
        rows = list(read_judgments(csv.DictReader(file)))
    rows.sort(key=lambda row: (row["worker"], row["list_id"], row["item"]))
    released = [row for row in rows if row["paradigm"] not in DROPPED]
    dropped = [row for row in rows if row["paradigm"] in DROPPED]
    return {
        "accuracy": {"test": pa.Table.from_pylist(accuracy_by_paradigm(released), schema=ACCURACY)},
        "judgments": {"test": pa.Table.from_pylist(released, schema=JUDGMENTS)},
        "judgments_dropped_paradigms": {"test": pa.Table.from_pylist(dropped, schema=JUDGMENTS)},
    }


def read_judgments(assignments: Iterable[dict[str, str]]) -> Iterator[Judgment]:
    """Yield the choice of one person between the two sentences of a pair; an item without an answer is none."""
    for assignment in assignments:
        # Whoever stated that they speak English or are a native speaker (`navtive` in one version of the form).
        boxes = [assignment[f"Answer.{box}"] for box in ("english", "native", "navtive")]
        for item in range(1, 6):
            sentences = [assignment[f"Input.field_{item}_{side}"] for side in (1, 2)]
            paradigm, _, right = assignment[f"Input.item_{item}_condition"].rpartition("ans")
            answer = assignment[f"Answer.Choice{item}"]
            if answer in ("", "NA", "{}"):
                continue
            yield {
                "paradigm": "attention_check" if paradigm == "attnchk" else paradigm,
                "sentence_good": sentences[int(right) - 1],
                "sentence_bad": sentences[2 - int(right)],
                "good_first": right == "1",
                "correct": answer.startswith(f"{right}. "),
                "worker": int(assignment["anonCode"]),
                "list_id": int(assignment["Input.list"]),
                "item": item,
                "attention_check": paradigm == "attnchk",
                "rejected": assignment["AssignmentStatus"] == "Rejected",
                "eligible": "0" not in boxes or "1" in boxes,
            }


def accuracy_by_paradigm(judgments: Iterable[Judgment]) -> list[dict[str, Any]]:
    """Return the individual and majority accuracy of each paradigm, as in the authors' own summary.

    Only judgments of eligible annotators in assignments that were not rejected count, without attention
    checks. Individual: mean over the paradigm's pairs of the share of right answers. Majority: share of its
    pairs that more than half of the annotators got right (an even split is not a majority).
    """
    rows = pd.DataFrame(judgments).query("eligible and not rejected and not attention_check")
    accuracies = []
    for paradigm, of in rows.groupby("paradigm"):
        # Summed in their order, since another order gives other last bits.
        shares = of.groupby(["sentence_good", "sentence_bad"], sort=False)["correct"].mean().tolist()
        accuracies.append(
            {
                "paradigm": paradigm,
                "individual_accuracy": sum(shares) / len(shares),
                "majority_accuracy": sum(share > 0.5 for share in shares) / len(shares),
                "n_pairs": len(shares),
                "n_judgments": len(of),
                "n_workers": of["worker"].nunique(),
            }
        )
    return accuracies
