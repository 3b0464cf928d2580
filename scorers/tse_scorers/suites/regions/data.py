"""Suites of regions from files: SyntaxGym's JSON and CSV, or a table of the user's own."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ...io.files import read_text, require_exists
from ...io.table_files import read_table, require_columns, require_text
from ..own_columns import of_one_type, own_columns
from .design import COLUMNS, KEYS, Design, check_design, parse_criteria

ALIASES = {"item_number": "item", "condition_name": "condition", "region_name": "region", "content": "text"}
"""SyntaxGym's names of columns -> ours."""
OF_SCORES = ("n_tokens", "n_straddling", "logprob", "surprisal_bits")
RESERVED = (*OF_SCORES, "suite")
"""Columns of scores; a user's columns must not have these names."""
_ENDINGS = (".json", ".csv", ".tsv", ".jsonl", ".parquet")
_TEXTS = ("text", "content")  # "nan" may be a word
_RELATIONS = {"greaterthan": ">", "lessthan": "<", "equals": "="}


def load(source: Path, groups: Sequence[str] | None = None, criteria: Sequence[str] | None = None) -> Design:
    """Load one suite, or all of a folder.

    Args:
        source: a SyntaxGym suite (JSON), a table with one row per region (CSV, TSV, JSON lines, Parquet), or a folder
            of such files.
        groups: only these suites, by their names.
        criteria: formulas for a suite from a table, each optionally named as in "garden path: (5;%a%) > (5;%b%)".

    Raises:
        ValueError: a file cannot be read, lacks what a suite needs, or a criterion does not fit the regions.
    """
    suites = [_read(path) for path in _files(source)]
    known = [criterion for design in suites for criterion in design.criteria]
    given = _given(criteria or (), [criterion.name for criterion in known])
    if given and len(suites) > 1:
        raise ValueError(
            f"Criteria were given for {len(suites)} suites; expected one suite. Name its file with --source."
        )
    names = [design.suites[0] for design in suites]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{source} holds two suites called {twice!r}. Rename or remove one of them.")
    regions = pd.concat([design.regions for design in suites], ignore_index=True)
    for column in regions.columns.difference(COLUMNS):  # numbers in one file may be text in another
        regions[column] = of_one_type(regions[column])
    design = Design(regions, [*known, *parse_criteria(names[0], given)])
    design = _selected(design, groups)
    check_design(design, str(source))
    return design


def _files(source: Path) -> list[Path]:
    require_exists(source)
    if source.is_file():
        return [source]
    files = sorted(path for path in source.iterdir() if path.suffix in _ENDINGS and path.is_file())
    if not files:
        raise ValueError(f"There are no suites in {source}; expected files ending in {', '.join(_ENDINGS)}.")
    return files


def _given(criteria: Sequence[str], taken: Sequence[str]) -> dict[str, str]:
    """Return formulas by their names; those without a name are numbered after those of the file (`taken`)."""
    named: dict[str, str] = {}
    for number, text in enumerate(criteria, len(taken) + 1):
        name, colon, formula = text.partition(":")
        name, formula = (name.strip(), formula) if colon and "%" not in name else (str(number), text)
        if name in named or name in taken:
            raise ValueError(f"Two criteria are called {name!r}. Give each its own name.")
        named[name] = formula.strip()
    return named


def _selected(design: Design, groups: Sequence[str] | None) -> Design:
    if not groups:
        return design
    wanted = {group.removeprefix("suite:") for group in groups}
    if unknown := sorted(wanted - set(design.suites)):
        raise ValueError(
            f"No suite {', '.join(map(repr, unknown))} in the source; there are: {', '.join(design.suites)}."
        )
    regions = design.regions[design.regions["suite"].isin(wanted)].reset_index(drop=True)
    return Design(regions, [criterion for criterion in design.criteria if criterion.suite in wanted])


def _read(path: Path) -> Design:
    if path.suffix == ".json":
        return _read_json(path)
    return Design(_table(read_table(path, _TEXTS), path.stem, str(path)), [])


def _table(frame: pd.DataFrame, suite: str, what: str) -> pd.DataFrame:
    """Check a table of regions and bring it into `COLUMNS`."""
    frame = frame.rename(columns={old: new for old, new in ALIASES.items() if new not in frame})
    if "text" in frame:  # a region without words
        frame = frame.assign(text=frame["text"].astype(object).where(frame["text"].notna(), ""))
    require_columns(frame, ["item", "condition", "text"], what)
    require_text(frame, ["text"], what)
    known = {name: of_one_type(frame[name]).astype(str) for name in ("item", "condition")}
    table = pd.DataFrame({"suite": suite, **known, "text": frame["text"].str.split().str.join(" ")})
    sentence = table.groupby(KEYS, sort=False).ngroup()
    table["region_number"] = (
        _numbers(frame, what) if "region_number" in frame else _counted(table, sentence, what)
    )
    names = frame["region"] if "region" in frame else table["region_number"]
    table["region"] = names.astype(object).where(names.notna(), table["region_number"]).astype(str)
    own = own_columns(frame, [*COLUMNS[1:], *ALIASES], RESERVED, what)
    return (
        table[COLUMNS]
        .assign(**own, _sentence=sentence)
        .sort_values(["_sentence", "region_number"], kind="stable")
        .drop(columns="_sentence")
    )


def _counted(table: pd.DataFrame, sentence: "pd.Series[int]", what: str) -> "pd.Series[int]":
    """Number the regions of each sentence from 1 in the order of their rows."""
    back = sentence.diff() < 0
    if back.any():
        row = int(back.to_numpy().argmax())
        raise ValueError(
            f"{what} goes back to item {table['item'].iloc[row]}, condition {table['condition'].iloc[row]} in row "
            f"{row}, after rows of another sentence. Put the regions of a sentence one after the other, or add a "
            "column region_number."
        )
    return sentence.groupby(sentence).cumcount() + 1


def _numbers(frame: pd.DataFrame, what: str) -> "pd.Series[int]":
    numbers = pd.to_numeric(frame["region_number"], errors="coerce")
    wrong = numbers.isna() | (numbers % 1 != 0)
    if wrong.any():
        row = int(wrong.to_numpy().argmax())
        raise ValueError(
            f"{what} holds {frame['region_number'].iloc[row]!r} in column 'region_number' of row {row}; expected a "
            "whole number. Correct it, or remove the column to number regions in the order of their rows."
        )
    return numbers.astype("int64")


def _read_json(path: Path) -> Design:
    """Read a suite in SyntaxGym's JSON; regions' names come from `region_meta`."""
    try:
        content = json.loads(read_text(path))
    except RecursionError as error:
        raise ValueError(f"{path} is not valid JSON (nested too deeply). Save it again.") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is not valid JSON ({error}). Correct it, or save it again.") from error
    try:
        meta, names = content["meta"], content["region_meta"]
        rows = [
            {"item": item["item_number"], "condition": condition["condition_name"], "text": region["content"]}
            | {"region_number": region["region_number"], "region": names.get(str(region["region_number"]))}
            for item in content["items"]
            for condition in item["conditions"]
            for region in condition["regions"]
        ]
        formulas = {str(number): _formula(each) for number, each in enumerate(content["predictions"], 1)}
        suite, metric = str(meta.get("name") or path.stem), meta.get("metric", "sum")
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{path} is not a SyntaxGym suite ({type(error).__name__}: {error}); expected an object with meta, "
            "region_meta, predictions and items with conditions and regions. Correct it, or write a CSV with the "
            "columns item, condition, region and text."
        ) from error
    if metric not in ("sum", "all"):
        raise ValueError(
            f"{path} asks for the metric {metric!r}; a region's surprisal is the sum over its tokens here. "
            'Set "metric" to "sum".'
        )
    if not rows:
        raise ValueError(f"{path} has no items; expected at least one. Check that the file is complete.")
    return Design(_table(pd.DataFrame(rows), suite, str(path)), parse_criteria(suite, formulas))


def _formula(prediction: dict[str, Any]) -> str:
    """Return a prediction as a formula; SyntaxGym's older format names a relation instead."""
    if "formula" in prediction:
        return str(prediction["formula"])
    region, relation = prediction["region_number"], _RELATIONS[prediction["relation"]]
    left, right = (f"({region};%{prediction[side]}%)" for side in ("l_operand", "r_operand"))
    return f"{left} {relation} {right}"
