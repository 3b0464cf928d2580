"""Evaluate a model in the middle of its training, and leave no trace in it.

    scores = evaluate_live(model, tokenizer)               # {"tse/tse": 0.93, "tse/ew": 0.81, "tse/mw": 0.96}

The live model itself is scored, without a copy, on a fixed sample of each suite. Afterwards everything that decides how
training continues is as it was: mode of each module, random numbers, cache settings, compiled code. Scores are computed
in the dtype of the model's weights, outside of autocast, so that those of one run can be compared with each other and
with `tse run`. Greater is better for all of them.

With several processes (DDP) each scores its share, so all of them must make the call, and all get all scores.
"""

import inspect
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..io.results import Row
from ..loading import load_with_options
from ..models.options import ModelOptions
from ..report.measure import Measure
from ..runs.estimate import planned_work
from ..suites.base import Suite
from ..suites.registry import find_suite, make_suite
from .live_model import bare_model, gives_numbers, undisturbed

DEFAULT_BUDGET = 500


class LiveEvaluation:
    """Scores a model that is being trained; to be made once and called at every evaluation.

    Attributes:
        keys: names of the scores, without those of single groups.

    Args:
        suites: names of suites. For options other than groups and sources, suites that `make_suite` makes.
        groups: only these groups of a suite, for instance {"agreement": ["Simple", "VP coordination"]}.
        sources: folder or file with the data of a suite, for instance {"blimp": "blimp/data"}. Without it, BLiMP
            comes from the Hub.
        budget: at most this number of pairs of each suite, spread evenly over its groups; None scores all.
        seed: decides which pairs. The same pairs are scored at every call.
        by_group: score groups (rows of Table 2, phenomena, case orders) as well: `tse/ew/Simple`.
        forms: of the suite agreement: `single` (default) or `all`, which also scores verbs of several tokens and takes
            more time.
        model_options: options of `load_scorer`, for instance {"kind": "masked", "bos": True}.

    Raises:
        ValueError: a suite or group is unknown, data cannot be used, or the budget is too small for anything.
    """

    def __init__(
        self,
        suites: Sequence[str | Suite] = ("agreement",),
        *,
        groups: Mapping[str, Sequence[str]] | None = None,
        sources: Mapping[str, str | Path] | None = None,
        budget: int | None = DEFAULT_BUDGET,
        seed: int = 0,
        by_group: bool = False,
        forms: str | None = None,
        model_options: ModelOptions | Mapping[str, Any] | None = None,
    ) -> None:
        names = [suite if isinstance(suite, str) else suite.name for suite in suites]
        _check_names(names, suites, groups or {}, sources or {})
        _check_forms(suites, forms)
        self._suites = [
            _make(suite, (groups or {}).get(name), (sources or {}).get(name), forms)
            for name, suite in zip(names, suites, strict=True)
        ]
        if budget is not None:
            for suite in self._suites:
                suite.keep_sample(budget, seed)
        self._by_group = by_group
        self._model_options = ModelOptions.of(model_options)
        _check_keys(self._suites)
        self.keys = tuple(key for suite in self._suites for key in _live_measures(suite))

    def __call__(self, model: Any, tokenizer: Any) -> dict[str, float]:
        """Score a model as it is now.

        Args:
            model: a masked or causal language model of `transformers`, also inside DDP, DeepSpeed (ZeRO-1, -2),
                `torch.compile` or PEFT.
            tokenizer: its tokenizer.

        Returns:
            Scores by name (see `keys`), each in [0, 1]; NaN where nothing can be scored, as when training
            has diverged. Beside each score, `<name>_se` is its standard error over nouns, lemmas or paradigms, where
            it can be estimated.

        Raises:
            TypeError: the model is none of `transformers`.
            ValueError: the model cannot be asked: its parameters are sharded over several processes (FSDP,
                ZeRO-3), its vocabulary has no inflections, …
        """
        model = bare_model(model)
        scores: dict[str, float] = {}
        with undisturbed(model):
            scorer = load_with_options(model, self._model_options, tokenizer)
            if not gives_numbers(model, tokenizer):
                return dict.fromkeys(self.keys, float("nan"))
            for suite in self._suites:
                rows = suite.aggregate(suite.score(scorer, _ignore))
                scores |= _flat(suite, rows, self._by_group)
        return scores

    def check(self, model: Any, tokenizer: Any) -> int:
        """Plan the evaluation without running it, so that what cannot work fails before any training.

        Returns:
            Tokens that each evaluation will compute.

        Raises:
            TypeError: as a call does.
            ValueError: as a call does.
        """
        model = bare_model(model)
        with undisturbed(model):
            scorer = load_with_options(model, self._model_options, tokenizer)
            works = [work for suite in self._suites for work in planned_work(scorer, suite)]
        return round(sum(work.stands_for * int(work.plan.lengths.sum()) for work in works))


def evaluate_live(
    model: Any, tokenizer: Any, suites: Sequence[str | Suite] = ("agreement",), **options: Any
) -> dict[str, float]:
    """Score a model that is being trained, once; for more, make a `LiveEvaluation` and call it again and again.

    Args:
        model: as in `LiveEvaluation.__call__`.
        tokenizer: its tokenizer.
        suites: names of suites, or suites.
        **options: of `LiveEvaluation`: groups, sources, budget, seed, by_group, forms, model_options.

    Returns:
        Scores by name, each in [0, 1], and their standard errors (`<name>_se`).

    Raises:
        TypeError: as `LiveEvaluation`.
        ValueError: as `LiveEvaluation`.
    """
    return LiveEvaluation(suites, **options)(model, tokenizer)


def _check_names(
    names: Sequence[str],
    suites: Sequence[str | Suite],
    groups: Mapping[str, Sequence[str]],
    sources: Mapping[str, str | Path],
) -> None:
    if isinstance(suites, str):
        raise TypeError(f"Expected a list of suites, got {suites!r}; write [{suites!r}].")
    different = {find_suite(suite).name if isinstance(suite, str) else suite.name for suite in suites}
    if not names or len(different) < len(names):
        raise ValueError(
            f"Expected different suites, at least one; got {list(names)}. Name each suite once, because scores of "
            "one suite share their names."
        )
    by_name = {suite for suite in suites if isinstance(suite, str)}
    unused = sorted((set(groups) | set(sources)) - by_name)
    if unused:
        raise ValueError(
            f"groups (or sources) were given for {', '.join(unused)}, which is not one of the suites selected by "
            f"name: {', '.join(sorted(by_name)) or 'none'}. Add the suite by its name, or remove them."
        )


def _check_forms(suites: Sequence[str | Suite], forms: str | None) -> None:
    named = [suite for suite in suites if isinstance(suite, str)]
    if forms is not None and not any(_scores_forms(suite) for suite in named):
        raise ValueError(
            f"forms={forms!r} has no effect on the suites selected by name: {', '.join(named) or 'none'}. Add "
            "'agreement', make the suite with it (make_suite), or remove it."
        )


def _scores_forms(suite: str) -> bool:
    return "forms" in inspect.signature(find_suite(suite)).parameters


def _make(
    suite: str | Suite, groups: Sequence[str] | None, source: str | Path | None, forms: str | None
) -> Suite:
    if not isinstance(suite, str):
        return suite
    given = {"groups": groups, "source": source, "forms": forms if _scores_forms(suite) else None}
    wanted = {option: value for option, value in given.items() if value is not None}
    return make_suite(suite, **{**find_suite(suite).live_options, **wanted})


def _check_keys(suites: Sequence[Suite]) -> None:
    """Raise ValueError where two suites log scores under one name."""
    owners: dict[str, str] = {}
    for suite in suites:
        for key in _live_measures(suite):
            owner = owners.setdefault(key, suite.name)
            if owner != suite.name:
                raise ValueError(
                    f"The suites {owner} and {suite.name} both log a score named {key!r}; expected different names. "
                    "Evaluate them in two calls, or change `live_key` of a measure."
                )


def _live_measures(suite: Suite) -> dict[str, Measure]:
    """Return the measures that are logged, by key."""
    return {measure.live_key: measure for measure in suite.measures if measure.live_key is not None}


def _flat(suite: Suite, rows: Sequence[Row], by_group: bool) -> dict[str, float]:
    """Pick the headline measures of a suite and name them."""
    measures = _live_measures(suite)
    scores: dict[str, float] = {}
    for row in rows:
        key = next((key for key, measure in measures.items() if measure.selects(row)), None)
        group = row["group"]
        if key is None:
            continue
        if group == "all":
            scores |= _with_error(key, row)
        elif by_group and group.startswith(suite.live_groups):
            label = group.removeprefix(suite.live_groups).replace(" ", "_")
            scores |= _with_error(f"{key}/{label}", row)
    return scores


def _with_error(key: str, row: Row) -> dict[str, float]:
    """Return a score and, as `<key>_se`, its standard error where it has one."""
    error = row.get("se")
    if error is None or math.isnan(error):
        return {key: float(row["score"])}
    return {key: float(row["score"]), f"{key}_se": float(error)}


def _ignore(done: int, total: int) -> None:
    """Show no progress."""
