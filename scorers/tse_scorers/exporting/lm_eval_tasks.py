"""`tse export lm-eval`: a suite's pairs as tasks of lm-evaluation-harness, one for each group, and one for all.

Each pair is a multiple choice with two answers. Its accuracy is the share of pairs whose acceptable side has the
larger sum of log-probabilities. The acceptable side is the second answer: of equal scores, the harness takes the first,
so that a tie is not correct, as in our metrics.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from importlib.resources import as_file, files
from pathlib import Path

import pandas as pd
import yaml

from ..io.files import is_file, write_text
from ..io.table_files import read_table, write_table
from ..models.options import Option, OptionError
from ..suites.contract import Suite
from ..suites.items import TwoWayChoices

LOADER = "lm_eval_pairs.py"
_VERSION = 1.0
"""Of the tasks; it changes whenever an accuracy changes."""


class _Function(str):
    """The harness's tag `!function`: a function in a file beside the task."""


class _Dumper(yaml.SafeDumper):
    """Writes that tag."""


_Dumper.add_representer(_Function, lambda dumper, name: dumper.represent_scalar("!function", name))


def export(suite: Suite, out: Path, options: Collection[str] = ()) -> tuple[str, list[Path]]:
    """Write the tasks of a suite; those that an earlier export of the same data wrote are replaced.

    Args:
        suite: with its data.
        out: folder of the tasks, to be given to the harness with `--include_path`.
        options: names of those that the suite was made with.

    Returns:
        The name of the task for all pairs, and the files that were written.

    Raises:
        ValueError: the suite has no two-way choices, or an option does not decide them.
    """
    choices = suite.choices()
    for option in options:
        if option in choices.unused:
            raise OptionError(
                f"{Option(option)} has no effect on tasks of lm-evaluation-harness, which have the pairs and "
                "no lemma list; remove it."
            )
    name = _name("tse", choices.name)
    rows = choices.rows.assign(
        choices=list(map(list, zip(choices.rows["bad"], choices.rows["good"], strict=True)))
    )
    out.mkdir(parents=True, exist_ok=True)
    pairs = out / f"{name}.parquet"  # the folder may hold the tasks of other suites
    _remove_earlier(pairs, name, suite.name, choices)
    write_table(rows.drop(columns=["good", "bad"]), pairs)
    with as_file(files(__package__) / LOADER) as loader:
        write_text(out / LOADER, loader.read_text(encoding="utf-8"))
    written = [pairs, out / LOADER]
    tasks = _task_names(name, [str(group) for group in rows["group"].unique()])
    for task, group in tasks.items():
        written.append(_write(out / f"{task}.yaml", _task(task, group, pairs, suite.name, choices)))
    written.append(_write(out / f"{name}.yaml", _group(name, list(tasks), choices)))
    return name, written


def _remove_earlier(pairs: Path, name: str, suite: str, choices: TwoWayChoices) -> None:
    """Remove the tasks that an earlier export wrote for its groups; files that were changed since then stay."""
    groups: list[str] = []
    with suppress(ValueError):  # there is no earlier table, or somebody else's
        groups = list(map(str, read_table(pairs).get("group", pd.Series(dtype=object)).unique()))
    for task, group in _task_names(name, groups).items():
        path = pairs.with_name(f"{task}.yaml")
        if is_file(path) and path.read_bytes() == _text(_task(task, group, pairs, suite, choices)).encode():
            path.unlink()


def _name(*parts: str) -> str:
    """Return the name of a task.

    >>> _name("tse", "In object relative (no that)")
    'tse_in_object_relative_no_that'
    """
    return "_".join(re.sub(r"\W+", "_", part).strip("_").lower() for part in parts)


def _task_names(name: str, groups: Sequence[str]) -> dict[str, str]:
    """Return the name of each group's task -> the group; groups that differ only in signs or case get numbers.

    >>> _task_names("tse", ["a b", "a-b"])
    {'tse_a_b': 'a b', 'tse_a_b_2': 'a-b'}
    """
    group_of_task: dict[str, str] = {}
    for group in groups:
        task, number = _name(name, group), 1
        while task in group_of_task:
            number += 1
            task = f"{_name(name, group)}_{number}"
        group_of_task[task] = group
    return group_of_task


def _task(name: str, group: str, pairs: Path, suite: str, choices: TwoWayChoices) -> dict[str, object]:
    return {
        "task": name,
        "task_alias": group,
        "custom_dataset": _Function(f"{Path(LOADER).stem}.load"),
        "dataset_kwargs": {"group": group, "pairs": pairs.name},
        "output_type": "multiple_choice",
        "test_split": "test",
        "doc_to_text": "context",
        "doc_to_choice": "choices",
        "doc_to_target": 1,
        "target_delimiter": "",  # the answers have the space before them
        "num_fewshot": 0,
        "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
        "metadata": {"version": _VERSION, "suite": suite, "data": choices.name}
        | ({"note": choices.note} if choices.note else {}),
    }


def _group(name: str, tasks: list[str], choices: TwoWayChoices) -> dict[str, object]:
    mean = {"metric": "acc", "aggregation": "mean", "weight_by_size": not choices.mean_of_groups}
    return {
        "group": name,
        "task": tasks,
        "aggregate_metric_list": [mean],
        "metadata": {"version": _VERSION},
    }


def _write(path: Path, content: Mapping[str, object]) -> Path:
    write_text(path, _text(content))
    return path


def _text(content: Mapping[str, object]) -> str:
    written: str = yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
    return written
