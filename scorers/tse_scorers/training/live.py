"""Evaluate a model in the middle of its training, and leave no trace in it.

    scores = evaluate_live(model, tokenizer)               # {"agreement/tse": 0.93, "agreement/ew": 0.81, …}

The live model itself is scored, without a copy, on a fixed sample of each suite. Afterwards everything that decides how
training continues is as it was: mode of each module, random numbers, gradients, compiled code. Scores are computed in
the dtype of the model's weights, outside of autocast, so that they compare with those of `tse run`; only a model whose
attention refuses float32 is scored under the training's autocast, with a warning. Greater is better for all scores.
"""

import copy
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import torch

from ..engine.forward import is_sharded
from ..engine.plan import Indices
from ..io.suggestions import suggesting_keywords
from ..loading import load_with_options
from ..models.options import ModelOptions, check_value
from ..models.pretrained import PretrainedScorer
from ..suites.agreement import Agreement, load_lemmas
from ..suites.base import ALL, Suite, Tables
from ..suites.gaps import list_lemmas
from .live_model import ModelInTraining, bare_model, gives_numbers, undisturbed

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

FEWEST = 32
"""Items of each suite that are scored before training begins."""
FEW_LEMMAS = 100
"""With fewer lemmas, EW says little about lemmas in general."""


class LiveEvaluation:
    """Scores a model that is being trained; to be made once and called at each evaluation.

    Attributes:
        keys: names of the scores, without those of single groups.

    Args:
        suites: a suite, or several of different names, such as `[Agreement(), MinimalPairs(data="blimp")]`; None for
            agreement.
        budget: at most about this number of items of each suite, spread evenly over its groups; the scores estimate
            those of all items. None scores all.
        seed: decides which items. The same ones are scored at every call.
        by_group: score groups (rows of Table 2, phenomena, case orders) as well: `agreement/ew/Simple`.
        model_options: options of `load_scorer`, for instance {"kind": "masked", "bos": True}.

    Raises:
        ValueError: a suite is none, or named twice, its data cannot be used, or the budget is too small for anything.
    """

    @suggesting_keywords
    def __init__(
        self,
        suites: Suite | Sequence[Suite] | None = None,
        *,
        budget: int | None = 500,
        seed: int = 0,
        by_group: bool = False,
        model_options: ModelOptions | Mapping[str, Any] | None = None,
    ) -> None:
        check_value("budget", budget, int | None)
        given = [suites] if isinstance(suites, Suite) else list(suites or [Agreement()])
        if len({suite.name for suite in given if isinstance(suite, Suite)}) < len(given):
            raise ValueError(
                f"suites are {suites!r:.200}; expected suites of different names: [Agreement(), German()]."
            )
        self._suites = [suite if budget is None else suite.sampled(budget, seed) for suite in given]
        self.keys = tuple(f"{suite.name}/{m.name}" for suite in given for m in suite.measures if m.headline)
        self._by_group, self._model_options = by_group, ModelOptions.of(model_options)
        self._warned: set[str] = set()

    def __call__(
        self, model: ModelInTraining, tokenizer: "PreTrainedTokenizerBase", *, shared: bool = False
    ) -> dict[str, float]:
        """Score a model as it is now.

        Args:
            model: a language model of `transformers`, also inside DDP, FSDP, DeepSpeed, `torch.compile` or PEFT, or
                your own module or function from token ids to logits; see `OwnModel`. If its parameters are sharded over
                processes (FSDP, ZeRO-3), all of them must make the call, and all score all items together.
            tokenizer: its tokenizer.
            shared: all processes of `torch.distributed` make this call, each scores a share of the items, and all get
                all scores. By default, a process scores all items by itself.

        Returns:
            Scores by name (see `keys`), each in [0, 1]; NaN where nothing can be scored, as when training has diverged.
            Beside each score, `<name>_n` is the number of items that it averages, `<name>_se` its standard error, where
            it can be estimated, and `<name>_lemmas` the number of lemmas behind EW and MW.

        Raises:
            TypeError: the model cannot be called, or returns no logits.
            ValueError: the model's vocabulary has no inflections, an adapter changes its inputs, …
        """
        bare, scores = bare_model(model), dict[str, float]()
        shared = shared and torch.distributed.is_initialized() and not is_sharded(bare)
        with undisturbed(bare) as autocast:
            scorer = cast(PretrainedScorer, load_with_options(bare, self._model_options, tokenizer))
            if autocast is not None:
                self._warn_once(
                    f"The attention of {scorer.name} refuses float32, so it is scored under the training's autocast "
                    f"({str(autocast).removeprefix('torch.')}). These scores are not comparable with those of float32, "
                    "which `tse run` computes; for such scores, load the model with attn_implementation='sdpa'."
                )
            if not gives_numbers(scorer.model, scorer.tokenizer):
                return dict.fromkeys(self.keys, math.nan)
            for suite in self._suites:
                scores |= self._named(suite, _tables(suite, scorer, shared))
        return scores

    def check(self, model: ModelInTraining, tokenizer: "PreTrainedTokenizerBase") -> None:
        """Score a few pairs of each suite, so that what cannot work fails before any training, as a call would."""
        few = copy.copy(self)
        few._suites = []
        for suite in self._suites:
            n_of_whole = len(suite.items) // (suite.wholes(suite.items).max(initial=0) + 1)
            few._suites.append(suite.sampled(max(FEWEST, 2 * n_of_whole)))
        few(model, tokenizer)

    def _named(self, suite: Suite, tables: Tables) -> dict[str, float]:
        """Return the headline measures of a suite by name, with what they rest on."""
        headlines = {measure.name: measure for measure in suite.measures if measure.headline}
        scores: dict[str, float] = {f"{suite.name}/{name}": math.nan for name in headlines}
        for row in suite.rows(tables):
            measure, is_whole = headlines.get(row["measure"]), row["level"] == ALL
            if measure is None or not (
                is_whole or (self._by_group and measure.main_level in ("", row["level"]))
            ):
                continue
            name = f"{suite.name}/{measure.name}"
            name += "" if is_whole else f"/{row['value'].replace(' ', '_')}"
            scores[name], scores[f"{name}_n"] = float(row["score"]), float(row["n"])
            if not math.isnan(row["se"]):
                scores[f"{name}_se"] = float(row["se"])
            if is_whole and measure.over_lemmas:
                scores[f"{name}_lemmas"] = float(row["n_lemmas"])
                if row["n_lemmas"] < FEW_LEMMAS:
                    self._warn_once(
                        f"{name} averages over {row['n_lemmas']} lemmas, those whose forms are single tokens of this "
                        f"tokenizer; with fewer than {FEW_LEMMAS} it says little about verbs in general. "
                        "Agreement(forms='all') also scores forms of several tokens."
                    )
        return scores

    def _warn_once(self, message: str) -> None:
        if message not in self._warned:
            warnings.warn(message, stacklevel=2)
        self._warned.add(message)


def evaluate_live(
    model: ModelInTraining,
    tokenizer: "PreTrainedTokenizerBase",
    suites: Suite | Sequence[Suite] | None = None,
    **options: Any,
) -> dict[str, float]:
    """Score a model that is being trained, once; a `LiveEvaluation` loads its data once for many calls.

    Args:
        model: as in a call of `LiveEvaluation`, which also says what is returned and raised.
        tokenizer: its tokenizer.
        suites: a suite, or several; None for agreement.
        **options: of `LiveEvaluation`: budget, seed, by_group, model_options.
    """
    return LiveEvaluation(suites, **options)(model, tokenizer)


def _tables(suite: Suite, scorer: PretrainedScorer, shared: bool) -> Tables:
    """Return the scores of all items; where the work is shared, each process computes every n-th chunk of them."""
    rank, size = (torch.distributed.get_rank(), torch.distributed.get_world_size()) if shared else (0, 1)
    chunks = suite.chunks(at_least=size)
    computed = [suite.ask(scorer, items.reset_index(drop=True)) for items in chunks[rank::size]]
    if not shared:
        return suite.joined(computed)
    gathered: list[list[Tables]] = [[]] * size
    torch.distributed.all_gather_object(gathered, computed)
    return suite.joined([gathered[number % size][number // size] for number in range(len(chunks))])


class Inflections(NamedTuple):
    """The ids of both inflections of the lemmas whose inflections are single, different tokens, (lemmas,)."""

    singular: Indices
    plural: Indices


def inflection_ids(
    model: ModelInTraining,
    tokenizer: "PreTrainedTokenizerBase",
    lemmas: str = "released",
    *,
    opening: bool = False,
) -> Inflections:
    """Return the vocabulary ids of a lemma list's inflections at a gap, which the metric `refined_tse` needs.

    Give them to `metric.add_batch` beside logits, as `incorrect_ids` and `correct_ids`, and `swapped=True` for contexts
    with a singular subject.

    Args:
        model: a language model of `transformers`, which is not changed.
        tokenizer: its tokenizer.
        lemmas: `released`, `clean`, the list of another language, or a file with the columns `singular` and `plural`.
        opening: the gaps open their sentences.

    Raises:
        ValueError: the list cannot be used, or none of its lemmas has two single-token inflections.
    """
    model = bare_model(model)
    with undisturbed(model):
        scorer = load_with_options(model, ModelOptions(), tokenizer)
        return Inflections(*list_lemmas(scorer, load_lemmas(lemmas), [opening])[opening].ids)
