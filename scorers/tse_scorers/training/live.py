"""Evaluate a model in the middle of its training, and leave no trace in it.

    scores = evaluate_live(model, tokenizer)               # {"tse/tse": 0.93, "tse/ew": 0.81, "tse/mw": 0.96}

The live model itself is asked, without a copy, on a fixed sample of each suite. Afterwards everything that
decides how training goes on is as it was: mode of each module, random numbers, cache settings, what is compiled.
Scores are had in the dtype of the model's weights, outside of autocast, so that those of one run can be compared
with each other and with `tse run`. All of them are better the greater they are.

With several processes (DDP) each scores its share, so all must make the call, and all have all scores.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..io.results import Row
from ..loading import load_with_options
from ..models.options import ModelOptions
from ..runs.estimate import planned_work
from ..suites.registry import make_suite, rows_of
from .live_model import bare_model, gives_numbers, undisturbed

DEFAULT_BUDGET = 500

KEYS = {
    "agreement": ("tse/tse", "tse/ew", "tse/mw"),
    "blimp": ("blimp/accuracy",),
    "german": ("german/auc",),
}
"""What each suite's scores are called: TSE, EW and MW over the whole distribution; accuracy by full sentences;
AUC over whole minimal variation sets."""

_GROUPS = {"agreement": "", "blimp": "phenomenon:", "german": "case_order:"}
"""How the groups begin that have scores of their own on request."""


class LiveEvaluation:
    """Scores a model that is being trained; to be made once and called at every evaluation.

    Attributes:
        keys: names of the scores, without those of single groups.

    Args:
        suites: `agreement`, `blimp` or `german`; for other options than these, what `make_suite` makes.
        groups: of a suite, only these groups: {"agreement": ["Simple", "VP coordination"]}.
        sources: of a suite, folder or file with its data: {"blimp": "blimp/data"}. BLiMP comes from the Hub without.
        budget: at most so many pairs of each suite, spread evenly over its groups; None scores all.
        seed: decides which pairs. The same pairs are scored at every call.
        by_group: score each row of Table 2, phenomenon or case order as well: `tse/ew/Simple`.
        model_options: options of `load_scorer`, for instance {"kind": "masked", "bos": True}.

    Raises:
        ValueError: an unknown suite or group, data that cannot be had, or a budget too small for anything.
    """

    def __init__(
        self,
        suites: Sequence[Any] = ("agreement",),
        *,
        groups: Mapping[str, Sequence[str]] | None = None,
        sources: Mapping[str, str | Path] | None = None,
        budget: int | None = DEFAULT_BUDGET,
        seed: int = 0,
        by_group: bool = False,
        model_options: ModelOptions | Mapping[str, Any] | None = None,
    ) -> None:
        names = [suite if isinstance(suite, str) else suite.name for suite in suites]
        _check_names(names, suites, groups or {}, sources or {})
        self._suites = [
            _make(suite, (groups or {}).get(name), (sources or {}).get(name))
            for name, suite in zip(names, suites, strict=True)
        ]
        if budget is not None:
            for suite in self._suites:
                suite.keep_sample(budget, seed)
        self._by_group = by_group
        self._model_options = ModelOptions.of(model_options)
        self.keys = tuple(key for name in names for key in KEYS[name])

    def __call__(self, model: Any, tokenizer: Any) -> dict[str, float]:
        """Score a model as it is now.

        Args:
            model: a masked or causal language model of `transformers`, also inside DDP, DeepSpeed (ZeRO-1, -2),
                `torch.compile` or PEFT.
            tokenizer: its tokenizer.

        Returns:
            Scores by name (see `keys`), each in [0, 1]; NaN where nothing can be scored, as when training
            has diverged.

        Raises:
            TypeError: the model is none of `transformers`.
            ValueError: the model cannot be asked: its parameters lie in pieces on several processes (FSDP,
                ZeRO-3), its vocabulary has no inflections, …
        """
        model = bare_model(model)
        scores: dict[str, float] = {}
        with undisturbed(model):
            scorer = load_with_options(model, self._model_options, tokenizer)
            if not gives_numbers(model, tokenizer):
                return dict.fromkeys(self.keys, float("nan"))
            for suite in self._suites:
                rows = rows_of(suite.name, suite.score(scorer, _ignore))
                scores |= _flat(suite.name, rows, self._by_group)
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
        return sum(int(work.plan.lengths.sum()) for work in works)


def evaluate_live(
    model: Any, tokenizer: Any, suites: Sequence[Any] = ("agreement",), **options: Any
) -> dict[str, float]:
    """Score a model that is being trained, once; for more, make a `LiveEvaluation` and call it again and again.

    Args:
        model: as in `LiveEvaluation.__call__`.
        tokenizer: its tokenizer.
        suites: `agreement`, `blimp`, `german`.
        **options: of `LiveEvaluation`: groups, sources, budget, seed, by_group, model_options.

    Returns:
        Scores by name, each in [0, 1].

    Raises:
        TypeError: as `LiveEvaluation`.
        ValueError: as `LiveEvaluation`.
    """
    return LiveEvaluation(suites, **options)(model, tokenizer)


def _check_names(
    names: Sequence[str],
    suites: Sequence[Any],
    groups: Mapping[str, Sequence[str]],
    sources: Mapping[str, str | Path],
) -> None:
    if isinstance(suites, str):
        raise TypeError(f"Expected a list of suites, got {suites!r}; write [{suites!r}].")
    if not names or len(set(names)) < len(names):
        raise ValueError(
            f"Expected different suites, at least one; got {list(names)}. Their scores share names."
        )
    by_name = {suite for suite in suites if isinstance(suite, str)}
    unheeded = sorted((set(groups) | set(sources)) - by_name)
    if unheeded:
        raise ValueError(
            f"groups or sources name {', '.join(unheeded)}, which the suites {list(names)} do not take them for. "
            "Add the suite by its name, or leave them out."
        )


def _make(suite: Any, groups: Sequence[str] | None, source: str | Path | None) -> Any:
    if not isinstance(suite, str):
        return suite
    methods = ["full"] if suite == "blimp" else None
    return make_suite(suite, groups=groups, source=Path(source) if source else None, methods=methods)


def _flat(suite: str, rows: Sequence[Row], by_group: bool) -> dict[str, float]:
    """Pick the scores over the whole distribution, by full sentences or over whole sets, and name them."""
    scores: dict[str, float] = {}
    for row in rows:
        key = next((key for key in KEYS[suite] if key.endswith(f"/{row['metric']}")), None)
        whole = row.get("cutoff") in (None, 1.0) and row.get("method", "full") == "full"
        if key is None or not whole or row.get("variation_set", "1-6") != "1-6":
            continue
        group = row["group"]
        if group == "all":
            scores[key] = float(row["score"])
        elif by_group and group.startswith(_GROUPS[suite]):
            label = group.removeprefix(_GROUPS[suite]).replace(" ", "_")
            scores[f"{key}/{label}"] = float(row["score"])
    return scores


def _ignore(done: int, total: int) -> None:
    """Show no progress."""
