"""Refined targeted syntactic evaluation (`evaluate` module): EW, MW and cut-offs of Newman et al. (2021).

    EW    share of lemmas whose correct inflection is more probable than the incorrect one (systematicity)
    MW    share of the probability of all inflections that the correct ones have (likely behaviour)

TSE is the EW of a single lemma, the template's own verb. All formulas take numpy arrays or torch tensors. There are two
routes to the same scores: from the mass ranked above and below each form (`ranking`, `cutoffs`, `scores`), and from
logits, without sorting the vocabulary (`boundaries`). In reading order:

    values        numbers that a user gives, checked
    arrays        checked logits and ids, sums along rows
    cutoffs       which forms are inside a cut-off
    ranking       log-probability of each form, and mass ranked above and below it
    scores        TSE, EW and MW from the forms that are inside
    boundaries    the same scores from logits
    averaging     means over contexts and groups
    storage       checks of predictions; one row of scores for each context
    scored        a data set whose rows hold the scores of their contexts

The paper's toy example (Table 1), "The keys to the cabinet ...": are 0.6, is 0.05, exist 0.1, exists 0.25.

>>> import math
>>> import evaluate
>>> metric = evaluate.load("metrics/refined_tse")
>>> be, exist = (math.log(0.6), math.log(0.05)), (math.log(0.1), math.log(0.25))
>>> toy = {"correct": [be[0], exist[0]], "incorrect": [be[1], exist[1]]}
>>> result = metric.compute(predictions=[toy])
>>> round(result["ew"], 6), round(result["mw"], 6)
(0.5, 0.7)
>>> metric.compute(predictions=[{"correct": [be[0]], "incorrect": [be[1]]}])["ew"]  # TSE
1.0
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import datasets
import evaluate
import numpy as np

from .arrays import Array, Ids, checked_pairs
from .averaging import ALL, Summary, aggregate, summarize
from .boundaries import locate_forms, logit_scores
from .cutoffs import BOTTOM_CUTOFFS, TOP_CUTOFFS, check_cutoffs
from .ranking import FormStatistics, form_logprobs, form_statistics, pair_statistics
from .scored import Scored, group_names, is_scored, scores_of_rows
from .scores import VERSION, ContextScores, SideScores, context_scores, is_correct
from .storage import Context, from_table, known_cutoffs, reduce_predictions, to_rows
from .values import as_numbers

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "BOTTOM_CUTOFFS",
    "TOP_CUTOFFS",
    "VERSION",
    "ContextScores",
    "FormStatistics",
    "RefinedTSE",
    "SideScores",
    "aggregate",
    "as_numbers",
    "checked_pairs",
    "context_scores",
    "form_logprobs",
    "form_statistics",
    "is_correct",
    "locate_forms",
    "logit_scores",
    "pair_statistics",
    "summarize",
]

_DESCRIPTION = """\
Does a language model inflect any verb for the number of its subject (EW, systematicity), and is what it is
likely to say correctly inflected (MW, likely behaviour)? Both are computed from the probabilities of the correct
and the incorrect inflection of many verb lemmas at the gap of each context, over the whole distribution and, if
the probability mass above or below each form is known, over its most or least probable part.
"""

_KWARGS_DESCRIPTION = """

Args:
    predictions: one dict for each context, with lists of one number for each lemma. `correct` and `incorrect`:
        natural log-probabilities of its two inflections. For the cut-offs from the top also `correct_above`
        and `incorrect_above`, the probability mass ranked strictly above each form; for those from the bottom
        `correct_below` and `incorrect_below`. Contexts may have different numbers of lemmas.
    logits: instead of predictions, (contexts, vocabulary) at the gap, a numpy array or a torch tensor on any
        device; gives the scores at all cut-offs.
    correct_ids, incorrect_ids: with logits, the vocabulary ids of the inflections, (lemmas,) for all contexts
        or (contexts, lemmas).
    swapped: with logits, (contexts,) booleans, true where `correct_ids` are the incorrect forms: if they are
        plurals, the contexts with a singular subject.
    groups: one name for each context, for scores by group; of a scored data set, the column with these names.

Returns:
    `ew`, `mw`, `covered_mass`: means over contexts for the whole distribution, in 0 to 1.
    `n_contexts`, `n_lemmas` (mean number per context), `n_ties` (lemmas whose two forms are equally probable),
        `n_nonfinite` (contexts with a NaN log-probability), `n_excluded` (contexts without an MW).
    `tse`, `n_pairs`, `n_pairs_excluded`: of a scored data set with the verbs of its rows, the share of rows whose
        correct verb is more probable, rows with both log-probabilities, and the others.
    `groups`: the same for each group.
    `curves`: for `top` and `bottom`, if masses are known, `ew`, `mw`, `covered_mass` and
        `share_without_lemmas` at each `cutoff`.
    `rows`: all scores as a flat list with group, metric, cutoff_side, cutoff, score and counts.
    `signature`: metric, version, cut-offs and number of contexts.

Options of `evaluate.load`:
    `cutoffs_top`, `cutoffs_bottom`: cut-offs in (0, 1]; default: those of the paper.
"""

_CITATION = """\
@inproceedings{newman2021refining,
  title={Refining Targeted Syntactic Evaluation of Language Models},
  author={Newman, Benjamin and Ang, Kai-Siang and Gong, Julia and Hewitt, John},
  booktitle={Proceedings of the 2021 Conference of the North American Chapter of the Association for
    Computational Linguistics: Human Language Technologies},
  pages={3710--3723},
  year={2021}
}
"""


Cutoffs = tuple[float, ...]


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class RefinedTSE(evaluate.Metric):
    """EW and MW of Newman et al. (2021); only the scores of each added context are stored.

    Args:
        *args: see `evaluate.Metric`.
        cutoffs_top: cut-offs in (0, 1] of the most probable part; 1 is always among them.
        cutoffs_bottom: cut-offs in (0, 1] of the least probable part.
        **kwargs: see `evaluate.Metric`.

    Raises:
        ValueError: a cut-off is outside (0, 1] or listed twice.
    """

    def __init__(
        self,
        *args: str | None,
        cutoffs_top: Sequence[float] = TOP_CUTOFFS,
        cutoffs_bottom: Sequence[float] = BOTTOM_CUTOFFS,
        **kwargs: object,
    ) -> None:
        cutoffs_top = check_cutoffs(cutoffs_top)
        self.cutoffs_top = cutoffs_top if 1.0 in cutoffs_top else (*cutoffs_top, 1.0)
        self.cutoffs_bottom = check_cutoffs(cutoffs_bottom)
        # Of the contexts added so far: the cut-offs for which they have masses, and whether they have groups.
        self._layout: tuple[Cutoffs, Cutoffs, bool] | None = None
        super().__init__(*args, **kwargs)

    def _info(self) -> evaluate.MetricInfo:
        info = evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            # Stored are the rows of scores (`storage.py`), not the predictions.
            features=datasets.Features(
                {
                    "predictions": datasets.Sequence(datasets.Value("float64")),
                    "groups": datasets.Value("string"),
                }
            ),
            codebase_urls=["https://github.com/bnewm0609/refining-tse"],
            reference_urls=["https://aclanthology.org/2021.naacl-main.290"],
        )
        info.format = "arrow"  # "numpy" would round the scores to float32
        return info

    def add(self, *, prediction: Context, group: str | None = None) -> None:
        """Add one context."""
        self.add_batch(predictions=[prediction], groups=None if group is None else [group])

    def add_batch(
        self,
        *,
        predictions: Sequence[Context] | None = None,
        groups: Sequence[str] | None = None,
        logits: Array | None = None,
        correct_ids: Ids | None = None,
        incorrect_ids: Ids | None = None,
        swapped: Array | None = None,
    ) -> None:
        """Add contexts: log-probabilities of the lemmas' forms, or logits over the vocabulary."""
        if (predictions is None) == (logits is None):
            raise ValueError(
                "Expected either `predictions` (log-probabilities of the lemmas' forms), or `logits` with "
                "`correct_ids` and `incorrect_ids`. Give one of the two."
            )
        if logits is not None:
            if correct_ids is None or incorrect_ids is None:
                raise ValueError(
                    "`logits` need the vocabulary ids of the forms. Give `correct_ids` and `incorrect_ids` as well."
                )
            cutoffs: tuple[Cutoffs, Cutoffs] = (self.cutoffs_top, self.cutoffs_bottom)
            rows = to_rows(logit_scores(logits, correct_ids, incorrect_ids, swapped, *cutoffs))
        else:
            if isinstance(predictions, str | bytes | Mapping) or not isinstance(predictions, Iterable):
                raise TypeError(
                    f"predictions are a {type(predictions).__name__}; expected a list with one dict for each "
                    "context, or a scored data set."
                )
            predictions = list(predictions)
            cutoffs = known_cutoffs(predictions, self.cutoffs_top, self.cutoffs_bottom)
            rows = reduce_predictions(predictions, *cutoffs)
        self._add_rows(rows, groups, cutoffs)

    def _add_rows(
        self, rows: np.ndarray, groups: Sequence[str] | None, cutoffs: tuple[Cutoffs, Cutoffs]
    ) -> None:
        names = [ALL] * len(rows) if groups is None else group_names(groups)
        if len(names) != len(rows) or (groups is not None and ALL in names):
            raise ValueError(
                f"There are {len(rows)} contexts and {len(names)} groups. Expected one group for each context, and "
                f"no group named {ALL!r}, which stands for all contexts."
            )
        layout = (*cutoffs, groups is not None)
        if self._layout not in (None, layout):
            raise ValueError(
                "These contexts have other masses (above, below) than those added before, or only some contexts "
                "have groups. Give the same for all contexts, or compute the scores of the earlier ones first."
            )
        if len(rows) > 0:
            self._layout = layout
            super().add_batch(predictions=rows, groups=names)

    def compute(self, **contexts: Any) -> Summary:
        """Compute the scores of the added contexts and of those given here (the arguments of `add_batch`)."""
        batch = {name: value for name, value in contexts.items() if value is not None}
        if is_scored(batch.get("predictions")):
            return self._of_scored(**batch)
        if batch:  # `evaluate.combine` gives references=None
            self.add_batch(**batch)
        if self._layout is None:
            of_processes = " Each process must add at least one context." if self.num_process > 1 else ""
            raise ValueError(
                f"There are no contexts to score. Give `predictions` or `logits`, or add some first.{of_processes}"
            )
        try:
            result: Summary = super().compute()
            return result
        finally:
            self._layout = None

    def _of_scored(
        self, predictions: Scored, groups: str | Sequence[str] | None = None, **others: object
    ) -> Summary:
        """Score a data set at once: its rows are not stored."""
        if others or self._layout is not None:
            raise ValueError(
                "A scored data set takes no other argument than groups, and no contexts added before. Compute the "
                "scores of each by itself."
            )
        return scores_of_rows(predictions, groups, self.cutoffs_top, self.cutoffs_bottom)

    def _compute(self, predictions: "pa.ChunkedArray", groups: "pa.ChunkedArray") -> Summary:
        assert self._layout is not None, "compute() checks this"
        top, bottom, has_groups = self._layout
        return summarize(from_table(predictions, top, bottom), groups.to_pylist() if has_groups else None)
