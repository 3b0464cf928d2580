"""Suites of regions from files: SyntaxGym's JSON and CSV, or a table of the user's own."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ...io.files import read_text, require_file, slug
from ...io.tables import has_half_character, read_table, require_columns, require_text, tables_in
from ..hub_data import is_hub_id, own_table
from ..own_columns import of_one_type, own_columns
from .design import COLUMNS, KEYS, Design, check_design, parse_criteria

ALIASES = {"item_number": "item", "condition_name": "condition", "region_name": "region", "content": "text"}
"""SyntaxGym's names of columns -> ours."""
OF_SCORES = ("n_tokens", "n_straddling", "logprob", "surprisal_bits")
RESERVED = (*OF_SCORES, "suite")
"""Columns of scores; a user's columns must not have these names."""
LARGEST = 10**15 - 1
"""Larger whole numbers are not exact in all tools."""
_TEXTS = ("text", "content")  # "nan" may be a word
_RELATIONS = {"greaterthan": ">", "lessthan": "<", "equals": "="}


def load(
    data: str | Path, groups: Sequence[str] | None = None, criteria: Sequence[str] | None = None
) -> Design:
    """Load one suite, or all of a folder.

    Args:
        data: a SyntaxGym suite (JSON), a table with one row per region (CSV, TSV, JSON lines, Parquet), a folder of
            such files, or a data set of the Hub with one row per region.
        groups: only these suites, by their names.
        criteria: formulas for a suite from a table, each optionally named as in "garden path: (5;%a%) > (5;%b%)".

    Raises:
        ValueError: a file cannot be read, lacks what a suite needs, or a criterion does not fit the regions.
    """
    data = str(data)
    if is_hub_id(data):
        suites = [Design(_table(own_table(data), slug(Path(data).name), data), [])]
    else:
        suites = [_read(path) for path in _files(Path(data))]
    file_criteria = [criterion for design in suites for criterion in design.criteria]
    user_formulas = _named(criteria or (), [criterion.name for criterion in file_criteria])
    if user_formulas and len(suites) > 1:
        raise ValueError(
            f"Criteria were given for {len(suites)} suites; expected one suite. Name its file with --data."
        )
    names = [design.suites[0] for design in suites]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{data} holds two suites called {twice!r}. Rename or remove one of them.")
    regions = pd.concat([design.regions for design in suites], ignore_index=True)
    for column in regions.columns.difference(COLUMNS):  # numbers in one file may be text in another
        regions[column] = of_one_type(regions[column])
    design = Design(regions, [*file_criteria, *parse_criteria(names[0], user_formulas)])
    design = _selected(design, groups)
    check_design(design, data)
    return design


def _files(source: Path) -> list[Path]:
    files = tables_in(source)
    require_file(files[0])
    return files


def _named(criteria: Sequence[str], file_names: Sequence[str]) -> dict[str, str]:
    """Return formulas by their names; those without a name are numbered after those of the file (`file_names`)."""
    formulas: dict[str, str] = {}
    for number, text in enumerate(criteria, len(file_names) + 1):
        name, colon, formula = text.partition(":")
        name, formula = (name.strip(), formula) if colon and "%" not in name else (str(number), text)
        if name in formulas or name in file_names:
            raise ValueError(f"Two criteria are called {name!r}. Give each its own name.")
        formulas[name] = formula.strip()
    return formulas


def _selected(design: Design, groups: Sequence[str] | None) -> Design:
    if not groups:
        return design
    suites = {group.removeprefix("suite:") for group in groups}
    if unknown := sorted(suites - set(design.suites)):
        raise ValueError(
            f"No suite {', '.join(map(repr, unknown))} in the data; there are: {', '.join(design.suites)}."
        )
    regions = design.regions[design.regions["suite"].isin(suites)].reset_index(drop=True)
    return Design(regions, [criterion for criterion in design.criteria if criterion.suite in suites])


def _read(path: Path) -> Design:
    if path.suffix == ".json":
        return _read_json(path)
    return Design(_table(read_table(path, _TEXTS), path.stem, str(path)), [])


def _table(frame: pd.DataFrame, suite: str, table_name: str) -> pd.DataFrame:
    """Check a table of regions and bring it into `COLUMNS`."""
    frame = frame.rename(columns={old: new for old, new in ALIASES.items() if new not in frame})
    if "text" in frame:  # a region without words
        frame = frame.assign(text=frame["text"].astype(object).where(frame["text"].notna(), ""))
    require_columns(frame, ["item", "condition", "text"], table_name)
    require_text(frame, ["text"], table_name)
    keys = {name: of_one_type(frame[name]).astype(str) for name in ("item", "condition")}
    table = pd.DataFrame({"suite": suite, **keys, "text": frame["text"].str.split().str.join(" ")})
    sentence = table.groupby(KEYS, sort=False).ngroup()
    table["region_number"] = (
        _numbers(frame, table_name) if "region_number" in frame else _counted(table, sentence, table_name)
    )
    names = frame["region"] if "region" in frame else table["region_number"]
    table["region"] = names.astype(object).where(names.notna(), table["region_number"]).astype(str)
    user_columns = own_columns(frame, [*COLUMNS[1:], *ALIASES], RESERVED, table_name)
    return (
        table[COLUMNS]
        .assign(**user_columns, _sentence=sentence)
        .sort_values(["_sentence", "region_number"], kind="stable")
        .drop(columns="_sentence")
    )


def _counted(table: pd.DataFrame, sentence: "pd.Series[int]", table_name: str) -> "pd.Series[int]":
    """Number the regions of each sentence from 1 in the order of their rows."""
    back = sentence.diff() < 0
    if back.any():
        row = int(back.to_numpy().argmax())
        raise ValueError(
            f"{table_name} goes back to item {table['item'].iloc[row]}, condition {table['condition'].iloc[row]} in "
            f"row {row + 1}, after rows of another sentence. Put the regions of a sentence one after the other, or add "
            "a column region_number."
        )
    return sentence.groupby(sentence).cumcount() + 1


def _numbers(frame: pd.DataFrame, table_name: str) -> "pd.Series[int]":
    texts = frame["region_number"].astype(str)
    numbers = pd.to_numeric(texts.where(texts.str.len() <= len(str(LARGEST)) + 2), errors="coerce")  # 12.0
    wrong = numbers.isna() | (numbers % 1 != 0) | (numbers.abs() > LARGEST)
    if wrong.any():
        row = int(wrong.to_numpy().argmax())
        raise ValueError(
            f"{table_name} holds {texts.iloc[row]!r:.80} in column 'region_number' of row {row + 1}; "
            "expected a whole number of at most 15 digits. Correct it, or remove the column to number regions in the "
            "order of their rows."
        )
    return numbers.astype("int64")


def _read_json(path: Path) -> Design:
    """Read a suite in SyntaxGym's JSON; regions' names come from `region_meta`."""
    try:
        content = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:  # also a number of thousands of digits
        raise ValueError(f"{path} is not valid JSON ({error}). Correct it, or save it again.") from error
    try:
        rows = [
            {
                "item": item["item_number"],
                "condition": condition["condition_name"],
                "text": region["content"],
                "region_number": region["region_number"],
                "region": content["region_meta"].get(str(region["region_number"])),
            }
            for item in content["items"]
            for condition in item["conditions"]
            for region in condition["regions"]
        ]
        formulas = {
            str(number): _formula(prediction) for number, prediction in enumerate(content["predictions"], 1)
        }
        name, metric = content["meta"].get("name") or path.stem, content["meta"].get("metric", "sum")
        if has_half_character(json.dumps(content, ensure_ascii=False)):
            raise TypeError("it holds half of a character (a lone surrogate)")
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{path} is not a SyntaxGym suite ({error}); expected the keys meta, region_meta, predictions and items, "
            "with item_number, conditions, condition_name, regions, region_number and content. Correct it, or write a "
            "CSV with the columns item, condition, region and text."
        ) from error
    if metric not in ("sum", "all"):
        raise ValueError(
            f"{path} asks for the metric {metric!r:.80}; a region's surprisal is the sum over its tokens "
            'here. Set "metric" to "sum".'
        )
    if not rows:
        raise ValueError(f"{path} has no items; expected at least one. Check that the file is complete.")
    return Design(_table(pd.DataFrame(rows), str(name), str(path)), parse_criteria(str(name), formulas))


def _formula(prediction: Mapping[str, Any]) -> str:
    """Return a prediction as a formula; SyntaxGym's older format names a relation instead."""
    if formula := prediction.get("formula"):
        return str(formula)
    if prediction.get("relation") not in _RELATIONS:
        raise TypeError(
            f"a prediction has no formula, and its relation is {prediction.get('relation')!r:.60}; expected one of: "
            f"{', '.join(_RELATIONS)}"
        )
    left, right = (
        f"({prediction['region_number']};%{prediction[side]}%)" for side in ("l_operand", "r_operand")
    )
    return f"{left} {_RELATIONS[prediction['relation']]} {right}"
