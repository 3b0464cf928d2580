"""Suites of regions from files: SyntaxGym's JSON and CSV, or a table of the user's own."""

import json
from collections.abc import Iterator, Sequence
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
_LARGEST = 10**15 - 1
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
            f"{row + 1}, after rows of another sentence. Put the regions of a sentence one after the other, or add a "
            "column region_number."
        )
    return sentence.groupby(sentence).cumcount() + 1


def _numbers(frame: pd.DataFrame, what: str) -> "pd.Series[int]":
    texts = frame["region_number"].astype(str)
    numbers = pd.to_numeric(texts.where(texts.str.len() <= len(str(_LARGEST)) + 2), errors="coerce")  # 12.0
    wrong = numbers.isna() | (numbers % 1 != 0) | (numbers.abs() > _LARGEST)
    if wrong.any():
        row = int(wrong.to_numpy().argmax())
        raise ValueError(
            f"{what} holds {frame['region_number'].iloc[row]!r:.80} in column 'region_number' of row {row + 1}; "
            "expected a whole number of at most 15 digits. Correct it, or remove the column to number regions in the "
            "order of their rows."
        )
    return numbers.astype("int64")


def _read_json(path: Path) -> Design:
    """Read a suite in SyntaxGym's JSON; regions' names come from `region_meta`."""
    try:
        content = json.loads(read_text(path))
    except RecursionError as error:
        raise ValueError(f"{path} is not valid JSON (nested too deeply). Save it again.") from error
    except ValueError as error:  # also a number of thousands of digits
        raise ValueError(f"{path} is not valid JSON ({error}). Correct it, or save it again.") from error
    try:
        rows = list(_rows(content))
        formulas = {
            str(number): _formula(prediction, where)
            for number, (where, prediction) in enumerate(_parts(content, "predictions"), 1)
        }
        meta = _value(content, "meta", _OBJECT)
        suite = _value(meta, "name", _TEXT, "meta", optional=True) or path.stem
        metric = meta.get("metric", "sum")
    except _NotSyntaxGym as error:
        raise ValueError(
            f"{path} is not a SyntaxGym suite: {error}. Correct it, or write a CSV with the columns item, condition, "
            "region and text."
        ) from error
    if metric not in ("sum", "all"):
        raise ValueError(
            f"{path} asks for the metric {metric!r:.80}; a region's surprisal is the sum over its tokens here. "
            'Set "metric" to "sum".'
        )
    if not rows:
        raise ValueError(f"{path} has no items; expected at least one. Check that the file is complete.")
    return Design(_table(pd.DataFrame(rows), suite, str(path)), parse_criteria(suite, formulas))


def _rows(content: Any) -> Iterator[dict[str, Any]]:
    """Yield the regions of a suite as rows of a table."""
    names = _value(content, "region_meta", _OBJECT)
    for at_item, item in _parts(content, "items"):
        item_number = _value(item, "item_number", _LABEL, at_item)
        for at_condition, condition in _parts(item, "conditions", at_item):
            name = _value(condition, "condition_name", _LABEL, at_condition)
            for at_region, region in _parts(condition, "regions", at_condition):
                number = _value(region, "region_number", _LABEL, at_region)
                text = _value(region, "content", _TEXT, at_region)
                row = {"item": item_number, "condition": name, "text": text, "region_number": number}
                yield row | {"region": _value(names, str(number), _TEXT, "region_meta", optional=True)}


class _NotSyntaxGym(Exception):
    """A value of a suite is not what it should be; the message has its path, what it is, and what was expected."""


_TEXT, _LABEL, _LIST, _OBJECT = (str,), (str, int), (list,), (dict,)
_EXPECTED: dict[tuple[type, ...], str] = {
    _TEXT: "text",
    _LABEL: "a whole number or text",
    _LIST: "a list",
    _OBJECT: "keys and values",
}


def _value(parent: Any, key: str, kinds: tuple[type, ...], where: str = "", optional: bool = False) -> Any:
    """Return the value of a key; None for an optional one that is not there."""
    if not isinstance(parent, dict):
        raise _NotSyntaxGym(f"{where or 'the file'} is {_shown(parent)}; expected {_EXPECTED[_OBJECT]}")
    place = f"{where}.{key}" if where else key
    if key not in parent:
        if optional:
            return None
        raise _NotSyntaxGym(f"{place} is missing; expected {_EXPECTED[kinds]}")
    value = parent[key]
    if not isinstance(value, kinds) or isinstance(value, bool):
        raise _NotSyntaxGym(f"{place} is {_shown(value)}; expected {_EXPECTED[kinds]}")
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise _NotSyntaxGym(f"{place} is a number of {len(str(value))} digits; expected at most 15")
    return value


def _parts(parent: Any, key: str, where: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of each part of a list."""
    for number, part in enumerate(_value(parent, key, _LIST, where)):
        yield f"{where}.{key}[{number}]".removeprefix("."), part


def _shown(value: Any) -> str:
    return f"{json.dumps(value):.60}"


def _formula(prediction: Any, where: str) -> str:
    """Return a prediction as a formula; SyntaxGym's older format names a relation instead."""
    formula = _value(prediction, "formula", _TEXT, where, optional=True)
    if formula is not None:
        return str(formula)
    relation = _value(prediction, "relation", _TEXT, where)
    if relation not in _RELATIONS:
        raise _NotSyntaxGym(f"{where}.relation is {_shown(relation)}; expected {', '.join(_RELATIONS)}")
    region = _value(prediction, "region_number", _LABEL, where)
    left, right = (
        f"({region};%{_value(prediction, side, _TEXT, where)}%)" for side in ("l_operand", "r_operand")
    )
    return f"{left} {_RELATIONS[relation]} {right}"
