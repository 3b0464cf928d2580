"""Choices of logs, found in the data by their texts, and written as records of `tse run`."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from ..io.files import make_folder, slug, write_text
from ..io.records import (
    DamagedFileError,
    read_record,
    record_folder,
    require_same,
    write_record,
    writing,
)
from ..io.results import check_output, export_results
from ..io.signatures import Signature
from ..models.base import Logprobs
from ..models.options import ModelOptions
from ..runs.recipe import Recipe, suites_asked_for
from ..suites.contract import Suite
from .choices import Choice, Log

DATA = "data"
"""Folder of pairs that are only known from a log, as `--data` of `tse run` reads them."""
_OF_DATA = ("dataset_fingerprint", "own_columns")


@dataclass(frozen=True)
class Imported:
    """A record that was written, and what was not.

    Attributes:
        log: the log that it was written from.
        model: what results call the model.
        n_items: items of the record.
        n_data: items of the data.
        n_unmatched: items of the log that are not in the data.
        unmatched: a text of one of them.
        n_ties: items whose two sides have the same log-probability.
        n_right: items that the tool counts as right, of those in the record; None where it does not say.
        source: the file of pairs that was written; None where the data were known.
    """

    log: Log
    model: str
    n_items: int
    n_data: int
    n_unmatched: int
    unmatched: str
    n_ties: int
    n_right: int | None
    source: Path | None


class _LogScorer:
    """Answers minimal pairs with the log-probabilities of a log; an outcome alone counts as 0 and -1."""

    def __init__(self, log: Log, name: str | None, scores: Mapping[int, Choice]) -> None:
        self.name = name or log.model
        self.signature: dict[str, Any] = {
            "model": self.name, "revision": log.revision, "tool": log.tool, **log.convention,
        }  # fmt: skip
        self._scores = scores

    def sentence_logprobs(self, sentences: Sequence[str], progress: object = None) -> Logprobs:
        raise ValueError(f"{self.name} was imported from a log, which has whole pairs only.")

    def pair_logprobs(self, table: pd.DataFrame) -> tuple[Logprobs, Logprobs]:
        """Return the log-probabilities of both sides of each pair, by the index of the table."""
        choices = [self._scores[place] for place in table.index]
        outcomes = [(0.0, -1.0) if choice.is_right else (-1.0, 0.0) for choice in choices]
        sides = [choice.logprobs or outcome for choice, outcome in zip(choices, outcomes, strict=True)]
        good, bad = np.array(sides, dtype=np.float64).T
        return good, bad


def import_log(
    log: Log,
    out: Path,
    suites: Sequence[tuple[Suite, Recipe]] = (),
    overwrite: bool = False,
    name: str | None = None,
) -> list[Imported]:
    """Write the choices of a log as records, one for each of the suites that have some of them.

    Args:
        log: the choices.
        out: the output folder.
        suites: with their data, and what they were made of; empty: what the log says, else its texts are the data.
        overwrite: replace scores of other data or options.
        name: the model's name in results; None: as the log says.

    Raises:
        ValueError: no item of the log is in the data, the suite has other items than choices between two texts, or the
            folder cannot be written.
    """
    check_output(out, overwrite)
    source = None
    if not suites:
        source = None if log.is_known_data else _own_pairs(log, out, overwrite)
        suites = suites_asked_for(log.suite, {"data": source or log.data})
    written = [
        imported
        for suite, recipe in suites
        if (imported := _record(log, out, suite, recipe, overwrite, name, source))
    ]
    if not written:
        first = log.choices[0]
        raise ValueError(
            f"None of the {len(log.choices):,} items of the log ({log.data}) is in the data "
            f"{', '.join(str(suite.config) for suite, _ in suites)}, for instance {first.good!r:.200} and "
            f"{first.bad!r:.200}. Name the data that was scored, with --suite or --data; without them, "
            "the texts of the log are the data."
        )
    return written


def _own_pairs(log: Log, out: Path, overwrite: bool) -> Path:
    """Write the texts of a log as minimal pairs, where they are the only data there is."""
    rows = [
        {**choice.labels, "sentence_good": choice.good, "sentence_bad": choice.bad} for choice in log.choices
    ]
    numbers = [(row["UID"], row.get("pair_id")) for row in rows]
    if len(set(numbers)) < len(rows) or any(number is None for _, number in numbers):
        rows = [{key: value for key, value in row.items() if key != "pair_id"} for row in rows]
    columns = [key for key in ("linguistics_term", "field") if not all(key in row for row in rows)]
    rows = [{key: value for key, value in row.items() if key not in columns} for row in rows]
    path = out / DATA / f"{slug(log.data)}.jsonl"
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    make_folder(path.parent, out)
    if path.exists() and not overwrite and path.read_text(encoding="utf-8") != text:
        raise ValueError(
            f"{path} already holds other pairs of an earlier import. Choose another folder with --out, or replace them "
            "with --overwrite."
        )
    write_text(path, text)
    return path


def _record(
    log: Log, out: Path, suite: Suite, recipe: Recipe, overwrite: bool, name: str | None, source: Path | None
) -> Imported | None:
    """Write the record of a log on one suite; None where it has none of the items."""
    choices = suite.choices()
    if choices.scores_of is None:
        raise ValueError(f"Scores of other tools cannot be imported for the suite {suite.name}.")
    chosen, used = _matched(log, choices.rows)
    n_data = suite.n_items
    places = np.array([choice is not None for choice in chosen], dtype=bool)
    if not places.any():
        return None
    suite.keep_items(places)
    matched = [choice for choice in chosen if choice is not None]
    scorer = _LogScorer(log, name, dict(zip(suite.items.frame.index, matched, strict=True)))
    described, tables = choices.scores_of(scorer, any(choice.logprobs is None for choice in matched))
    # Items of a log's own texts are compared by these; nothing else is known of the data.
    unknown = _OF_DATA if source is not None else ()
    signature = cast(Signature, {key: value for key, value in described.items() if key not in unknown})
    signature["identity"] = {
        "suite": suite.name,
        "dataset": suite.dataset,
        "config": suite.config,
        "model": scorer.name,
        "revision": log.revision,
    }
    recipe_content = recipe.of(None, ModelOptions(), suite, signature, None)
    folder = record_folder(out, signature)
    with writing(folder, scorer.name, None):
        if not overwrite:
            with suppress(DamagedFileError, FileNotFoundError):
                require_same(read_record(folder), {**signature, "recipe": recipe_content})
        record = write_record(out, {**signature, "recipe": recipe_content}, tables)
        record.averaged(lambda _, scores: suite.aggregate(scores))
    export_results(out, overwrite)
    unmatched = next((c for n, c in enumerate(log.choices) if n not in used), None)
    judgments = [choice.is_right for choice in matched]
    return Imported(
        log=log,
        model=scorer.name,
        n_items=len(matched),
        n_data=n_data,
        n_unmatched=len(log.choices) - len(used),
        unmatched="" if unmatched is None else unmatched.good,
        n_ties=sum(c.logprobs is not None and c.logprobs[0] == c.logprobs[1] for c in matched),
        n_right=None if None in judgments else sum(map(bool, judgments)),
        source=source,
    )


def _matched(log: Log, rows: pd.DataFrame) -> tuple[list[Choice | None], set[int]]:
    """Return the choice of each item of the data, by its two texts, and the places of the choices that are in it.

    `rows` are those of `TwoWayChoices`. Several items may have the same texts, as pairs that differ after the verb. A
    choice with the number and group of one of them is that item; any other one is all items with its texts.
    """
    asked = [(_spaced(choice.good), _spaced(choice.bad)) for choice in log.choices]
    columns = (rows[column].to_numpy() for column in ("group", "item", "context", "good", "bad"))
    asked_texts, names = set(asked), {}  # a log may have 100 of 100,000 items
    for row, (group, item, context, good, bad) in enumerate(zip(*columns, strict=True)):
        texts = _spaced(context + good), _spaced(context + bad)
        if texts in asked_texts:
            names[row] = str(group), str(item), texts
    item_names, item_texts = set(names.values()), {texts for *_, texts in names.values()}
    by_name: dict[tuple[str, str, tuple[str, str]], int] = {}
    by_text: dict[tuple[str, str], int] = {}
    used = set()
    for place, (choice, texts) in enumerate(zip(log.choices, asked, strict=True)):
        name = str(choice.labels.get("UID")), str(choice.labels.get("pair_id")), texts
        if texts in item_texts:
            used.add(place)
        if name in item_names:
            by_name.setdefault(name, place)
        else:
            by_text.setdefault(texts, place)
    places = {row: by_name.get(name, by_text.get(name[2])) for row, name in names.items()}
    by_row = (places.get(row) for row in range(len(rows)))
    return [None if place is None else log.choices[place] for place in by_row], used


def _spaced(text: str) -> str:
    return " ".join(text.split())
