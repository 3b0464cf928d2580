"""`tse rerun`: make a run again from the recipes in its `results.json`, and compare the two."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..io.results import Row, differences, environment, read_results
from ..models.options import ModelOptions
from ..suites.agreement.frequency import METRICS as ADDED_LATER  # by `tse frequency`, not by a run
from ..suites.registry import make_suite
from .jobs import Loaded
from .recipe import Recipe, sha256
from .run import Announce, Run, silent

_COMPARED = (
    "score", "n", "n_excluded", "n_ties", "n_nonfinite", "n_lemmas", "n_lemmas_effective", "se", "ci_low", "ci_high",
    "n_units",
)  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """What making one model's scores again has shown.

    Attributes:
        model: its name.
        suite: the suite.
        n_scores: rows of results that were compared.
        differences: one sentence per row that differs; empty where all are equal to the last digit.
        changed: packages and hardware that differ from those of the first run, as "torch 2.6 -> 2.7".
    """

    model: str
    suite: str
    n_scores: int
    differences: list[str]
    changed: list[str]


def rerun(
    results: Path, out: Path, announce: Announce = silent, note: Callable[[str], object] = lambda _: None
) -> list[Comparison]:
    """Make all scores of a run again, in another folder, and compare them.

    Args:
        results: a `results.json`, or the output folder that holds it.
        out: folder for the new run; it must not be the old one.
        announce: how progress is shown.
        note: called with a sentence about the model that is loaded.

    Raises:
        ValueError: a model has no recipe or was only in memory; its data or weights have changed or are missing; or
            `out` is the old run.
    """
    content = read_results(results)
    folder = results if results.is_dir() else results.parent
    if out.exists() and out.samefile(folder):
        raise ValueError(f"{out} holds the run that is to be compared. Choose another folder with --out.")
    signatures = [each for each in content["signature"].get("models", []) if isinstance(each, dict)]
    if not signatures:
        raise ValueError(f"{results} names no models. Make the run again with `tse run`.")
    for signature in signatures:
        check_recipe(signature, results)
    return [_again(signature, content["results"], out, announce, note) for signature in signatures]


def check_recipe(signature: dict[str, Any], results: Path) -> None:
    """Raise ValueError where a model's scores cannot be made again, before any model is loaded."""
    name, recipe = signature["identity"]["model"], signature.get("recipe")
    if not isinstance(recipe, dict) or not isinstance(recipe.get("suite"), str):
        raise ValueError(
            f"{results} has no recipe for {name}: an older version wrote it, or Python did. Make the run again with "
            "`tse run`."
        )
    if not isinstance(recipe.get("model"), str):
        raise ValueError(
            f"{name} was only in memory, so it cannot be loaded again. Save it to a folder and name that in `tse run`."
        )
    for source in recipe.get("sources", []):
        path = Path(source["path"])
        if not path.exists():
            raise ValueError(
                f"There is no file {path}, which {name} was scored on (--{source['option']}). Paths are relative to "
                "the folder where `tse run` was called; call `tse rerun` there."
            )
        if sha256(path) != source["sha256"]:
            raise ValueError(
                f"{path} has changed since {name} was scored on it (its SHA-256 was {source['sha256'][:12]}… and is "
                f"{sha256(path)[:12]}…). Restore that version, or make a new run with `tse run`."
            )


def _again(
    signature: dict[str, Any],
    rows: Sequence[Row],
    out: Path,
    announce: Announce,
    note: Callable[[str], object],
) -> Comparison:
    from ..loading import load_with_options

    recipe, identity = signature["recipe"], signature["identity"]
    note(f"Loading {recipe['model']}")
    options = ModelOptions.of(recipe["model_options"])
    asked = Recipe(recipe["suite"], recipe["suite_options"])
    this = Run(make_suite(asked.suite, **asked.suite_options), out, announce, recipe=asked)
    model, revision = (identity["model"], identity["revision"]) if "series" in signature else (None, None)
    scorer = load_with_options(recipe["model"], options)
    changed = differences(signature, this.signature(scorer, model, revision))
    if changed:
        raise ValueError(
            f"{identity['model']} on {identity['dataset']} is no longer what it was: {'; '.join(changed)}. Restore the "
            "model, data and version of that run, or make a new run with `tse run`."
        )
    new = this.add(scorer, model, revision, Loaded(recipe["model"], options))
    old = [row for row in rows if identity.items() <= row.items() and row["metric"] not in ADDED_LATER]
    return Comparison(
        identity["model"],
        identity["suite"],
        len(old),
        compare_rows(old, new),
        _changed(recipe.get("environment") or {}),
    )


def compare_rows(old: Sequence[Row], new: Sequence[Row]) -> list[str]:
    """Say in which rows two lists of results differ, a sentence for each."""
    before, after = ({_key(row): row for row in rows} for rows in (old, new))
    found = [f"{_named(key)} is missing from the new run." for key in before if key not in after]
    found += [f"{_named(key)} is only in the new run." for key in after if key not in before]
    for key, row in before.items():
        for column in _COMPARED if key in after else ():
            was, now = _plain(row.get(column)), _plain(after[key].get(column))
            if was != now:
                found.append(f"{_named(key)}: {column} was {was!r} and is {now!r}.")
    return found


def _key(row: Row) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted((key, _plain(value)) for key, value in row.items() if key not in _COMPARED))


def _named(key: tuple[tuple[str, Any], ...]) -> str:
    shown = ("group", "metric", "method", "variation_set", "cutoff_side", "cutoff")
    found = dict(key)
    return ", ".join(str(found[name]) for name in shown if found.get(name) is not None)


def _plain(value: Any) -> Any:
    """Return a value as results.json has it, with null for NaN."""
    return None if isinstance(value, float) and math.isnan(value) else value


def _changed(before: dict[str, Any]) -> list[str]:
    now = environment()
    return [
        f"{name} {before.get(name)} -> {now.get(name)}"
        for name in {**before, **now}
        if before.get(name) != now.get(name)
    ]
