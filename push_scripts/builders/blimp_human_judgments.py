"""The forced-choice judgments that validated BLiMP (Warstadt et al. 2020).

The release has one line per assignment: five pairs of sentences, one or two of them attention checks, and the
annotator's five answers. A condition such as `passive_2ans1` names the paradigm and which of the two
sentences is right; an answer such as `1. Mitchell` names the chosen one. Its text is cut off at the first
apostrophe, so only the number is read, and the text is compared with the sentence.

Platform identifiers, browsers, times, approval rates and free text are not copied. `worker` is the number that
the release gives each annotator instead of the platform's identifier.
"""

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypedDict

import pyarrow as pa

from builders import upstream

RESPONSES = "blimp/raw_results/all_outputs/human_responses.csv"
UPSTREAM = (RESPONSES,)
ATTENTION_CHECK = "attnchk"  # in the release; `attention_check` here
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


def build(source: Path | None) -> dict[str, dict[str, pa.Table]]:
    """Return all three configs, from the pinned file of responses somewhere under `source`."""
    with upstream.locate(source, RESPONSES).open(encoding="utf-8", newline="") as file:
        rows = list(read_judgments(csv.DictReader(file)))
    rows.sort(key=lambda row: (row["worker"], row["list_id"], row["item"]))
    dropped = [row for row in rows if row["paradigm"] in DROPPED]
    released = [row for row in rows if row["paradigm"] not in DROPPED]
    return {
        "accuracy": {"test": pa.Table.from_pylist(accuracy_by_paradigm(released), schema=ACCURACY)},
        "judgments": {"test": pa.Table.from_pylist(released, schema=JUDGMENTS)},
        "judgments_dropped_paradigms": {"test": pa.Table.from_pylist(dropped, schema=JUDGMENTS)},
    }


class Judgment(TypedDict):
    """The choice of one person between the two sentences of a pair: a row of the data set."""

    paradigm: str
    sentence_good: str
    sentence_bad: str
    good_first: bool
    correct: bool
    worker: int
    list_id: int
    item: int
    attention_check: bool
    rejected: bool
    eligible: bool


def read_judgments(assignments: Iterable[dict[str, str]]) -> Iterator[Judgment]:
    """Yield one row per judgment; an item without an answer is not a judgment.

    Raises `ValueError` where a condition or an answer does not look as described above.
    """
    for assignment in assignments:
        rejected = assignment["AssignmentStatus"] == "Rejected"
        for item in range(1, 6):
            sentences = [assignment[f"Input.field_{item}_{side}"] for side in (1, 2)]
            chosen = _chosen(assignment[f"Answer.Choice{item}"], sentences)
            if chosen is None:
                continue
            paradigm, right = _condition(assignment[f"Input.item_{item}_condition"])
            yield {
                "paradigm": "attention_check" if paradigm == ATTENTION_CHECK else paradigm,
                "sentence_good": sentences[right - 1],
                "sentence_bad": sentences[2 - right],
                "good_first": right == 1,
                "correct": chosen == right,
                "worker": int(assignment["anonCode"]),
                "list_id": int(assignment["Input.list"]),
                "item": item,
                "attention_check": paradigm == ATTENTION_CHECK,
                "rejected": rejected,
                "eligible": _is_eligible(assignment),
            }


def accuracy_by_paradigm(judgments: Iterable[Judgment]) -> list[dict[str, object]]:
    """Return the individual and majority accuracy of each paradigm, as in the authors' own summary.

    Only judgments of eligible annotators in assignments that were not rejected count, without attention
    checks. Individual: mean over the paradigm's pairs of the share of right answers. Majority: share of its
    pairs that more than half of the annotators got right (an even split is not a majority).
    """
    pairs: dict[str, dict[tuple[str, str], list[bool]]] = defaultdict(lambda: defaultdict(list))
    workers = defaultdict(set)
    for row in judgments:
        if row["eligible"] and not (row["rejected"] or row["attention_check"]):
            pairs[row["paradigm"]][row["sentence_good"], row["sentence_bad"]].append(row["correct"])
            workers[row["paradigm"]].add(row["worker"])
    result = []
    for paradigm, answers in sorted(pairs.items()):
        shares = [sum(of_pair) / len(of_pair) for of_pair in answers.values()]
        result.append(
            {
                "paradigm": paradigm,
                "individual_accuracy": sum(shares) / len(shares),
                "majority_accuracy": sum(share > 0.5 for share in shares) / len(shares),
                "n_pairs": len(shares),
                "n_judgments": sum(map(len, answers.values())),
                "n_workers": len(workers[paradigm]),
            }
        )
    return result


def _condition(text: str) -> tuple[str, int]:
    match = re.fullmatch(r"(\w+)ans([12])", text)
    if match is None:
        raise ValueError(f"The condition {text!r} does not end in ans1 or ans2, which name the right answer.")
    return match[1], int(match[2])


def _chosen(answer: str, sentences: list[str]) -> int | None:
    """Return the number of the chosen sentence; None if nothing was chosen."""
    if answer in ("", "NA", "{}"):
        return None
    match = re.fullmatch(r"([12])\. (.*)", answer, re.DOTALL)
    if match is None or not sentences[int(match[1]) - 1].startswith(match[2]):
        raise ValueError(f"The answer {answer!r} is neither 1. nor 2. of the sentences {sentences}.")
    return int(match[1])


def _is_eligible(assignment: dict[str, str]) -> bool:
    """Return whether the annotator stated that they speak English or are a native speaker.

    The box for the latter is `native` in one version of the form and `navtive` in the other.
    """
    boxes = (assignment["Answer.english"], assignment["Answer.native"], assignment["Answer.navtive"])
    return "0" not in boxes or "1" in boxes
