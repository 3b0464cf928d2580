"""`tse rerun`: make a run again from the recipes in its `results.json`, and compare the two."""

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..io.declared import parse
from ..io.environment import environment
from ..io.files import require_exists
from ..io.records import differences, listing
from ..io.result_row import Scalar, plain
from ..io.results import RESULTS_FILE, Row, read_results
from ..io.signatures import ResultsContent, Signature
from ..loading import load_with_options, loads_at_once, revision_of
from ..models.from_pretrained import choose_dtype
from ..models.model_source import is_gguf, locate
from ..models.options import ModelOptions, Option, OptionError
from ..suites.contract import Suite
from ..suites.registry import make_suite
from .granted import Granted
from .jobs import Job
from .recipe import Recipe, RecordedRecipe, sources
from .run import Announce, Run, silent

_COMPARED = (
    "score", "n", "n_excluded", "n_ties", "n_nonfinite", "n_lemmas", "se", "ci_low", "ci_high",
    "n_units", "n_units_effective",
)  # fmt: skip
_NOTHING = Granted()


@dataclass(frozen=True)
class Comparison:
    """What making one model's scores again has shown.

    Attributes:
        model: its name.
        suite: the suite.
        n_scores: rows of results that were compared.
        differences: one sentence per row that differs; empty where all are equal.
        changed: packages and hardware that differ from those of the first run, as "torch 2.6 -> 2.7".
        shards: number of shards that the first run was merged from.
        tolerance: up to which scores count as equal. 0, except where the first run was merged: shards batch texts
            otherwise than a whole run, which changes scores by floating-point noise.
    """

    model: str
    suite: str
    n_scores: int
    differences: list[str]
    changed: list[str]
    shards: int = 1
    tolerance: float = 0.0


@dataclass(frozen=True)
class _Plan:
    """How the scores of one model are made again: all that is known before it is loaded."""

    signature: Signature
    recorded: RecordedRecipe
    suite: Suite
    recipe: Recipe
    options: ModelOptions


def rerun(
    results: Path,
    out: Path,
    announce: Announce = silent,
    note: Callable[[str], object] = lambda _: None,
    granted: Granted = _NOTHING,
) -> list[Comparison]:
    """Make all scores of a run again, in another folder, and compare them.

    Args:
        results: a `results.json`, or the output folder that holds it.
        out: folder for the new run; it must hold no scores, because a run takes those that it finds.
        announce: how progress is shown.
        note: called with a sentence about the model that is loaded.
        granted: what the recipes may ask for: Python code of models, and files. Others may have written them.

    Raises:
        ValueError: a recipe asks for what is not granted; a model has no recipe or was only in memory; its data or
            weights have changed or are missing; `out` holds scores; or a folder's `results.json` is not what its
            records say.
    """
    content = read_results(results)
    folder = results if results.is_dir() else results.parent
    if folder == results:
        _check_exported(folder / RESULTS_FILE, content)
    if out.exists() and out.samefile(folder):
        raise ValueError(f"{out} holds the run that is to be compared. Choose another folder with --out.")
    if listing(out):
        raise ValueError(
            f"{out} holds scores, which would be compared in place of new ones. Choose an empty folder with --out."
        )
    for path in granted.files:
        require_exists(Path(path))
    models = content["signature"].get("models", [])
    signatures = [model for model in models if isinstance(model, dict)]
    if not signatures:
        raise ValueError(f"{results} names no models. Make the run again with `tse run`.")
    recipes = [check_recipe(signature, results, granted) for signature in signatures]
    suites: dict[str, Suite] = {}
    plans = [  # all, before a model is loaded
        _plan(signature, recipe, results, suites)
        for signature, recipe in zip(signatures, recipes, strict=True)
    ]
    return [_again(plan, content["results"], out, announce, note) for plan in plans]


def _check_exported(path: Path, of_records: ResultsContent) -> None:
    """Raise ValueError where the `results.json` beside records shows something else."""
    if not path.exists():
        return
    shown = read_results(path)
    differing = compare_rows(of_records["results"], shown["results"], new_name="this file")
    if differing or shown["signature"] != of_records["signature"]:
        first = differing[0] if differing else "Its signatures differ."
        more = f" ({len(differing) - 1:,} more rows differ.)" if len(differing) > 1 else ""
        raise ValueError(
            f"{path} does not match the records in its folder: it was edited, or a run was stopped. {first}{more} "
            f"Write it again with `tse report {path.parent}`, or check its own numbers with `tse rerun {path}`."
        )


def check_recipe(signature: Signature, results: Path, granted: Granted) -> RecordedRecipe:
    """Return the recipe of a model's scores; raise ValueError where these cannot, or may not, be made again."""
    name, written = signature["identity"]["model"], signature.get("recipe")
    if not isinstance(written, dict) or not isinstance(written.get("suite"), str):
        raise ValueError(
            f"{results} has no recipe for {name}: an older version wrote it, or Python did. Make the run again with "
            "`tse run`."
        )
    if "tool" in signature:
        raise ValueError(
            f"{name} was imported from a log of {signature['tool']}; expected a run of this package. Import the log "
            "again with `tse import`, or run the model with `tse run`."
        )
    if not isinstance(written.get("model"), str):
        raise ValueError(
            f"{name} was only in memory, so it cannot be loaded again. Save it to a folder and name that in `tse run`."
        )
    who = f"The recipe of {name} in {results}"
    try:
        recipe: RecordedRecipe = parse(RecordedRecipe, written, "recipe")
    except ValueError as error:
        raise ValueError(
            f"{who} is not one that `tse run` wrote: {error}. Make the run again with `tse run`."
        ) from error
    if recipe.model_options.get("trust_remote_code") and not granted.trust_remote_code:
        raise OptionError(
            f"{who} asks to run Python code from the repository of {recipe.model}. It would run with your "
            f"rights. If you have read that code, add {Option('trust_remote_code')}."
        )
    granted.require_model(recipe.model, who)
    granted.require_options(recipe.suite_options, who)
    recorded_hashes = {(source.option, source.path): source.sha256 for source in recipe.sources}
    hashes = {
        (source_file["option"], source_file["path"]): source_file["sha256"]
        for source_file in sources(recipe.suite_options)
    }
    for option, path in recorded_hashes.keys() - hashes.keys():
        raise ValueError(
            f"There is no file {path}, which {name} was scored on (--{option}). Paths are relative to the folder where "
            "`tse run` was called; call `tse rerun` there."
        )
    for (option, path), content in hashes.items():
        if content != recorded_hashes.get((option, path)):
            raise ValueError(
                f"{path} has changed since {name} was scored on it: it does not have the SHA-256 of then. "
                "Restore that version, or make a new run with `tse run`."
            )
    _check_model(signature, recipe.model, who)
    return recipe


def _plan(signature: Signature, recorded: RecordedRecipe, results: Path, suites: dict[str, Suite]) -> _Plan:
    """Return how the scores of a model are made again.

    Args:
        signature: of its scores.
        recorded: their recipe.
        results: where it stands.
        suites: keeps those that were made, for other models.

    Raises:
        ValueError: an option of the recipe cannot be used.
    """
    recipe = Recipe(recorded.suite, recorded.suite_options)
    key = json.dumps([recipe.suite, recipe.given], sort_keys=True)
    try:
        options = ModelOptions.of(recorded.model_options)
        choose_dtype(options.dtype)
        suite = suites[key] = suites.get(key) or make_suite(recipe.suite, **recipe.suite_options)
    except (ValueError, TypeError) as error:
        name = signature["identity"]["model"]
        raise ValueError(f"The recipe of {name} in {results} cannot be used. {error}") from error
    return _Plan(signature, recorded, suite, recipe, options)


def _check_model(signature: Signature, model: str, who: str) -> None:
    """Raise ValueError where a recipe names another model than was scored, or its files have changed."""
    recorded = signature.get("model")
    # files are named by their last part
    if not (model == recorded or loads_at_once(model)):
        raise ValueError(
            f"{who} names {model}, which is no longer what it was: the scores are of {recorded}. Make a new run with "
            "`tse run`."
        )
    if str(signature.get("revision")).startswith("sha256:") and not loads_at_once(model):
        where = Path(model if is_gguf(model) else locate(model)[0])
        if not where.exists():  # or a model of that name on the Hub would be asked for
            raise ValueError(
                f"{who} names {model}, a model on the machine of that run, which is not here. Copy it to {where}, from "
                "the folder that you are in, or call `tse rerun` in the folder that has it."
            )
    now = revision_of(model)
    if now is not None and now != signature.get("revision"):
        raise ValueError(
            f"{who} names {model}, which is no longer what it was (revision: {now} instead of "
            f"{signature.get('revision')}). Restore the model of that run, or make a new run with `tse run`."
        )


def _again(
    plan: _Plan, rows: Sequence[Row], out: Path, announce: Announce, note: Callable[[str], object]
) -> Comparison:
    """Make the scores of a model again, and compare them with those of its rows of results."""
    signature, recorded, identity = plan.signature, plan.recorded, plan.signature["identity"]
    note(f"Loading {recorded.model}")
    run = Run(plan.suite, out, announce, recipe=plan.recipe)
    series, revision = (identity["model"], identity["revision"]) if "series" in signature else (None, None)
    load = partial(load_with_options, recorded.model, plan.options)
    job = Job(recorded.model, load, plan.options, series=series, revision=revision)
    scorer = job.load()
    changed = differences(signature, run.signature(scorer, job))
    if changed:
        raise ValueError(
            f"{identity['model']} on {identity['dataset']} is no longer what it was: {'; '.join(changed)}. Restore the "
            "model, data and version of that run, or make a new run with `tse run`."
        )
    new = [row.to_json() for row in run.add(scorer, job)]
    shards = recorded.shards or 1
    tolerance = _noise(str(signature.get("dtype"))) if shards > 1 else 0.0
    old = [row for row in rows if identity.items() <= row.items()]
    before, now = recorded.environment or {}, environment()
    return Comparison(
        identity["model"],
        identity["suite"],
        len(old),
        compare_rows(old, new, tolerance),
        [
            f"{name} {before.get(name)} -> {now.get(name)}"
            for name in {**before, **now}
            if before.get(name) != now.get(name)
        ],
        shards,
        tolerance,
    )


def _noise(dtype: str) -> float:
    """Return by how much a score may differ in batches of other texts: about 1e-6 in float32."""
    import torch

    torch_dtype = getattr(torch, dtype, torch.float32)
    return max(1e-6, torch.finfo(torch_dtype).eps)


def compare_rows(
    old: Sequence[Row], new: Sequence[Row], tolerance: float = 0.0, new_name: str = "the new run"
) -> list[str]:
    """Say in which rows two lists of results differ by more than a tolerance, a sentence for each.

    Args:
        old: rows of results.
        new: the same, made again.
        tolerance: up to which numbers count as equal.
        new_name: what sentences call `new`.
    """
    before, after = ({_key(row): row for row in rows} for rows in (old, new))
    sentences = [
        f"{_named(key)} is in {n} rows of {place}; expected one."
        for rows, place in ((old, "the results"), (new, new_name))
        for key, n in Counter(map(_key, rows)).items()
        if n > 1
    ]
    sentences += [f"{_named(key)} is missing from {new_name}." for key in before if key not in after]
    sentences += [f"{_named(key)} is only in {new_name}." for key in after if key not in before]
    for key, row in before.items():
        for column in _COMPARED if key in after else ():
            was, now = plain(row.get(column)), plain(after[key].get(column))
            is_close = (
                isinstance(was, float)
                and isinstance(now, float)
                and math.isclose(was, now, rel_tol=tolerance, abs_tol=tolerance)
            )
            if was != now and not is_close:
                sentences.append(f"{_named(key)}: {column} was {was!r} and is {now!r}.")
    return sentences


def _key(row: Row) -> tuple[tuple[str, Scalar], ...]:
    columns = {key: plain(value) for key, value in row.items() if key not in _COMPARED}
    return tuple(sorted((key, value) for key, value in columns.items() if value is not None))


def _named(key: tuple[tuple[str, Scalar], ...]) -> str:
    shown = ("group", "metric", "method", "variation_set", "cutoff_side", "cutoff")
    columns = dict(key)
    return ", ".join(str(columns[name]) for name in shown if columns.get(name) is not None)
