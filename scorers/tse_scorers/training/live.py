"""Evaluate a model in the middle of its training, and leave no trace in it.

    scores = evaluate_live(model, tokenizer)               # {"tse/tse": 0.93, "tse/ew": 0.81, "tse/mw": 0.96, …}

The live model itself is scored, without a copy, on a fixed sample of each suite. Afterwards everything that decides how
training continues is as it was: mode of each module, random numbers, cache settings, compiled code. Scores are computed
in the dtype of the model's weights, outside of autocast, so that those of one run can be compared with each other and
with `tse run`; only a model whose attention refuses float32 is scored under the training's autocast. Greater is better
for all of them.

With several processes all of them must make the call, and all get all scores. With DDP, each scores its share. A model
whose parameters are sharded (FSDP, ZeRO-3, tensor parallel) runs the same batches in all of them.
"""

import math
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import torch

from ..engine.meeting import meet
from ..engine.processes import is_main, single_process
from ..engine.sharding import is_sharded
from ..io.store import SINGLE
from ..io.suggestions import suggesting_keywords
from ..io.tables import Tables
from ..loading import load_with_options
from ..models.options import ModelOptions, checked_value
from ..models.own_model import LanguageModel
from ..models.pretrained import PretrainedScorer
from ..models.scorer import Scorer
from ..suites.contract import Suite
from .live_model import ModelInTraining, bare_model, gives_numbers, undisturbed
from .live_suites import Data, Groups, live_measures, make_live_suites, named_scores
from .time_budget import budget_within, fewest_pairs, sampled

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

DEFAULT_BUDGET = 500
WAIT_SECONDS = 10.0


@dataclass(frozen=True)
class LiveScores:
    """What one evaluation found.

    Attributes:
        scores: by name; see `LiveEvaluation.__call__`.
        items: scores per item, one table for each kind of item; none where the model gives no numbers.
        signature: what decides the scores: model, dtype, options; `autocast` if they were computed under it.
    """

    scores: dict[str, float]
    items: Tables = field(default_factory=dict)
    signature: Mapping[str, object] = field(default_factory=dict)


class LiveEvaluation:
    """Scores a model that is being trained; to be made once and called at every evaluation.

    Attributes:
        keys: names of the scores, without those of single groups.
        budget: pairs of each suite that are scored at most; with `max_seconds`, known after the first evaluation.
        wait_seconds: as given; it may be changed between evaluations.

    Args:
        suites: names of suites; None for agreement. For options other than groups and data, suites that `make_suite`
            makes.
        groups: only these groups of a suite, for instance {"agreement": ["Simple", "VP coordination"]}.
        data: folder or file with the data of a suite, for instance {"minimal_pairs": "blimp/data"}. Without it, BLiMP
            comes from the Hub.
        budget: at most this number of pairs of each suite, spread evenly over its groups; None scores all.
        seed: decides which pairs. The same pairs are scored at every call.
        by_group: score groups (rows of Table 2, phenomena, case orders) as well: `tse/ew/Simple`.
        forms: of the suite agreement: `single` (default) or `all`, which also scores verbs of several tokens and takes
            more time.
        model_options: options of `load_scorer`, for instance {"kind": "masked", "bos": True}.
        max_seconds: seconds that an evaluation may take. The first evaluation measures how many pairs fit, and all
            evaluations score the same ones, never more than `budget`.
        distributed: whether all processes of a launch make each call; False scores in the calling process alone.
        wait_seconds: seconds that a process waits for the others at the start of a call.

    Raises:
        ValueError: a suite or group is unknown, data cannot be used, or the budget is too small for anything.
    """

    @suggesting_keywords
    def __init__(
        self,
        suites: Sequence[str | Suite] | None = None,
        *,
        groups: Groups | None = None,
        data: Data | None = None,
        budget: int | None = DEFAULT_BUDGET,
        seed: int = 0,
        by_group: bool = False,
        forms: str | None = None,
        model_options: ModelOptions | Mapping[str, Any] | None = None,
        max_seconds: float | None = None,
        distributed: bool = True,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        for name, value in (("max_seconds", max_seconds), ("wait_seconds", wait_seconds)):
            if value is not None and not 0 < value < math.inf:
                raise ValueError(f"{name} is {value}; expected a number of seconds above 0.")
        self.budget = checked_value("budget", budget, int | None)
        full_suites = make_live_suites(suites, groups, data, forms)
        self._suites = sampled(full_suites, self.budget, seed)
        self._full_suites = [] if max_seconds is None else full_suites
        self._seed = seed
        self._by_group = by_group
        self._model_options = ModelOptions.of(model_options)
        self._unmeasured_seconds = max_seconds
        self._distributed = distributed
        self.wait_seconds = wait_seconds
        self._autocast: torch.dtype | None = None
        self._warned_of_autocast = False
        self.keys = tuple(key for suite in self._suites for key in live_measures(suite))

    def __call__(self, model: ModelInTraining, tokenizer: "PreTrainedTokenizerBase") -> dict[str, float]:
        """Score a model as it is now.

        Args:
            model: a language model of `transformers`, also inside DDP, FSDP, DeepSpeed, `torch.compile` or PEFT, or
                your own module or function from token ids to logits; see `OwnModel`.
            tokenizer: its tokenizer, as in `load_scorer`.

        Returns:
            Scores by name (see `keys`), each in [0, 1]; NaN where nothing can be scored, as when training
            has diverged. Beside each score, `<name>_n` is the number of items that it averages, and `<name>_se` its
            standard error over nouns, lemmas or paradigms, where it can be estimated.

        Raises:
            TypeError: the model cannot be called, or returns no logits.
            ValueError: not all processes made the call, the model's vocabulary has no inflections, …
        """
        return self.evaluate(model, tokenizer).scores

    def evaluate(self, model: ModelInTraining, tokenizer: "PreTrainedTokenizerBase") -> LiveScores:
        """Score a model as a call does, and return the scores of each item as well."""
        with self._undisturbed(model) as bare:
            scorer = self._scorer(bare, tokenizer)  # refuses wrong options
            neural = cast(PretrainedScorer, scorer)  # models in memory are scored by no other kind of scorer
            if not gives_numbers(neural.model, neural.tokenizer):
                nothing = dict.fromkeys(self.keys, float("nan"))
                return LiveScores(nothing, signature=scorer.signature)
            if self._unmeasured_seconds is not None:
                self._choose_sample(self._unmeasured_seconds, bare, tokenizer)
            return self._scored(self._suites, scorer)

    def check(self, model: ModelInTraining, tokenizer: "PreTrainedTokenizerBase") -> None:
        """Score a few pairs of each suite, so that what cannot work fails before any training.

        Raises:
            TypeError: as a call does.
            ValueError: as a call does.
        """
        with self._undisturbed(model) as bare:
            scorer = self._scorer(bare, tokenizer)
            neural = cast(PretrainedScorer, scorer)
            if gives_numbers(neural.model, neural.tokenizer):
                fewest = fewest_pairs(self._suites, self.budget, self._seed)
                self._scored(sampled(self._suites, fewest, self._seed), scorer)

    def _scorer(self, model: LanguageModel, tokenizer: "PreTrainedTokenizerBase") -> Scorer:
        scorer = load_with_options(model, self._model_options, tokenizer)
        if self._autocast is not None:
            name = str(self._autocast).removeprefix("torch.")
            scorer.signature["autocast"] = name
            if not self._warned_of_autocast and is_main():
                warnings.warn(
                    f"The attention of {scorer.name} refuses float32, so it is scored under the training's autocast "
                    f"({name}). These scores are not comparable with those of float32, which `tse run` computes; for "
                    "such scores, load the model with attn_implementation='sdpa'.",
                    stacklevel=2,
                )
                self._warned_of_autocast = True
        return scorer

    def _scored(self, suites: Sequence[Suite], scorer: Scorer) -> LiveScores:
        scores: dict[str, float] = {}
        items: Tables = {}
        for suite in suites:
            tables = suite.score(scorer, lambda tokens, total: None)
            scores |= named_scores(suite, suite.aggregate(tables), self._by_group)
            for name, table in tables.items():
                items[".".join((suite.name, suite.config, *([] if name == SINGLE else [name])))] = table
        return LiveScores(scores, items, scorer.signature)

    def _choose_sample(
        self, max_seconds: float, model: LanguageModel, tokenizer: "PreTrainedTokenizerBase"
    ) -> None:
        """Choose the sample that all evaluations score."""

        def seconds_of(suites: Sequence[Suite]) -> float:
            start = time.perf_counter()
            self._scored(suites, self._scorer(model, tokenizer))
            return time.perf_counter() - start

        self.budget = budget_within(self._full_suites, self.budget, self._seed, max_seconds, seconds_of)
        self._suites = sampled(self._full_suites, self.budget, self._seed)
        self._full_suites, self._unmeasured_seconds = [], None

    @contextmanager
    def _undisturbed(self, model: ModelInTraining) -> Iterator[LanguageModel]:
        """Yield the model without its wrappers, in step with all processes of the launch or without them."""
        if self._distributed:
            meet(self.wait_seconds)
        elif is_sharded(model):
            raise ValueError(
                "distributed=False was given, but the parameters of this model are sharded over several processes "
                "(FSDP, ZeRO-3 or tensor parallel), so none can score it alone. Remove distributed=False, and make "
                "the call in all processes."
            )
        with nullcontext() if self._distributed else single_process():
            bare = bare_model(model)
            with undisturbed(bare) as self._autocast:
                yield bare


def evaluate_live(
    model: ModelInTraining,
    tokenizer: "PreTrainedTokenizerBase",
    suites: Sequence[str | Suite] | None = None,
    **options: Any,
) -> dict[str, float]:
    """Score a model that is being trained, once; for more, make a `LiveEvaluation` and call it again and again.

    Args:
        model: as in `LiveEvaluation.__call__`.
        tokenizer: its tokenizer.
        suites: names of suites, or suites; None for agreement.
        **options: of `LiveEvaluation`: groups, data, budget, seed, by_group, forms, model_options, max_seconds,
            distributed, wait_seconds.

    Returns:
        Scores by name, each in [0, 1], and beside them `<name>_n` and `<name>_se`.

    Raises:
        TypeError: as `LiveEvaluation`.
        ValueError: as `LiveEvaluation`.
    """
    return LiveEvaluation(suites, **options)(model, tokenizer)
