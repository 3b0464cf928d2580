"""Suites of regions from files: SyntaxGym's JSON and CSV, or a table of the user's own."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ...io.declared import LARGEST, parse, require_text_and_depth
from ...io.files import read_text, require_exists, require_regular_file, slug
from ...io.table_files import read_table, require_columns, require_text
from ..hub_data import is_hub_id, own_table
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


@dataclass(frozen=True)
class _Region:
    """A region of a sentence in SyntaxGym's JSON, whose keys are the attributes of these classes."""

    region_number: int | str
    content: str


@dataclass(frozen=True)
class _Condition:
    condition_name: int | str
    regions: tuple[_Region, ...]


@dataclass(frozen=True)
class _Item:
    item_number: int | str
    conditions: tuple[_Condition, ...]


@dataclass(frozen=True)
class _Prediction:
    formula: str = ""
    relation: str = ""
    region_number: int | str = ""
    l_operand: str = ""
    r_operand: str = ""


@dataclass(frozen=True)
class _Meta:
    name: str = ""
    metric: str = "sum"


@dataclass(frozen=True)
class _Suite:
    region_meta: Mapping[str, str]
    items: tuple[_Item, ...]
    predictions: tuple[_Prediction, ...]
    meta: _Meta


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
    require_exists(source)
    if not source.is_dir():
        require_regular_file(source)
        return [source]
    files = sorted(path for path in source.iterdir() if path.suffix in _ENDINGS and path.is_file())
    if not files:
        raise ValueError(f"There are no suites in {source}; expected files ending in {', '.join(_ENDINGS)}.")
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
        require_text_and_depth(content)
    except RecursionError as error:
        raise ValueError(f"{path} is not valid JSON (nested too deeply). Save it again.") from error
    except ValueError as error:  # also a number of thousands of digits
        raise ValueError(f"{path} is not valid JSON ({error}). Correct it, or save it again.") from error
    try:
        suite: _Suite = parse(_Suite, content)
        formulas = {
            str(number): _formula(prediction, f"predictions[{number - 1}]")
            for number, prediction in enumerate(suite.predictions, 1)
        }
    except ValueError as error:
        raise ValueError(
            f"{path} is not a SyntaxGym suite: {error}. Correct it, or write a CSV with the columns item, condition, "
            "region and text."
        ) from error
    if suite.meta.metric not in ("sum", "all"):
        raise ValueError(
            f"{path} asks for the metric {suite.meta.metric!r:.80}; a region's surprisal is the sum over its tokens "
            'here. Set "metric" to "sum".'
        )
    rows = list(_rows(suite))
    if not rows:
        raise ValueError(f"{path} has no items; expected at least one. Check that the file is complete.")
    name = suite.meta.name or path.stem
    return Design(_table(pd.DataFrame(rows), name, str(path)), parse_criteria(name, formulas))


def _rows(content: _Suite) -> Iterator[dict[str, object]]:
    """Yield the regions of a suite as rows of a table."""
    for item in content.items:
        for condition in item.conditions:
            for region in condition.regions:
                number, names = region.region_number, content.region_meta
                row = {
                    "item": item.item_number,
                    "condition": condition.condition_name,
                    "text": region.content,
                }
                yield row | {"region_number": number, "region": names.get(str(number))}


def _formula(prediction: _Prediction, where: str) -> str:
    """Return a prediction as a formula; SyntaxGym's older format names a relation instead."""
    if prediction.formula:
        return prediction.formula
    if prediction.relation not in _RELATIONS:
        raise ValueError(
            f"{where} has no formula, and its relation is {prediction.relation!r:.60}; expected a formula, or one of: "
            f"{', '.join(_RELATIONS)}"
        )
    left, right = (
        f"({prediction.region_number};%{side}%)" for side in (prediction.l_operand, prediction.r_operand)
    )
    return f"{left} {_RELATIONS[prediction.relation]} {right}"
