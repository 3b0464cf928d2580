"""Refined targeted syntactic evaluation (`evaluate` module): EW, MW and cut-offs of Newman et al. (2021).

    EW    share of lemmas whose correct inflection is more probable than the incorrect one (systematicity)
    MW    share of the probability of all inflections that the correct ones have (likely behaviour)

TSE is the EW of a single lemma, the template's own. The formulas are in `scores.py`, the parts of the
distribution that a cut-off keeps in `cutoffs.py`, both on numpy arrays or torch tensors.

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

import datasets
import evaluate

from .averaging import ALL, aggregate, summarize
from .boundaries import locate_forms, logit_scores
from .cutoffs import BOTTOM_CUTOFFS, TOP_CUTOFFS, check_cutoffs
from .ranking import FormStatistics, form_logprobs, form_statistics, pair_statistics
from .scores import VERSION, ContextScores, SideScores, context_scores, is_correct
from .storage import from_table, known_cutoffs, reduce_predictions, to_rows

__all__ = [
    "BOTTOM_CUTOFFS",
    "TOP_CUTOFFS",
    "VERSION",
    "ContextScores",
    "FormStatistics",
    "RefinedTSE",
    "SideScores",
    "aggregate",
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
likely to say well inflected (MW, likely behaviour)? Both are computed from the probabilities of the correct
and the incorrect inflection of many verb lemmas at the gap of each context, over the whole distribution and,
where the forms' places in it are known, over its most and least probable part.
"""

_KWARGS_DESCRIPTION = """

Args:
    predictions: one dict for each context, with lists of one number for each lemma. `correct` and `incorrect`:
        natural log-probabilities of its two inflections. For the cut-offs from the top also `correct_above`
        and `incorrect_above`, the probability mass ranked strictly above each form; for those from the bottom
        `correct_below` and `incorrect_below`. Contexts may have different numbers of lemmas.
    logits: instead of predictions, (contexts, vocabulary) at the gap, a numpy array or a torch tensor on any
        device; then all cut-offs are computed.
    correct_ids, incorrect_ids: with logits, the vocabulary ids of the inflections, (lemmas,) for all contexts
        alike or (contexts, lemmas).
    swapped: with logits, (contexts,) booleans, true where the two id lists change roles, as when `correct_ids`
        are the plurals and the context needs a singular.
    groups: one name for each context, for the break-down.

Returns:
    `ew`, `mw`, `covered_mass`: means over contexts for the whole distribution, in 0 to 1.
    `n_contexts`, `n_lemmas` (mean number per context), `n_ties` (lemmas whose two forms are equally probable),
        `n_nonfinite` (contexts with a NaN log-probability), `n_excluded` (contexts that have no MW).
    `groups`: the same for each group.
    `curves`: for `top` and `bottom`, where masses are known, `ew`, `mw`, `covered_mass` and
        `share_without_lemmas` at each `cutoff`.
    `rows`: all of it as a flat list with group, metric, cutoff_side, cutoff, score and counts.
    `signature`: metric, version, cut-offs and number of contexts.

Options of `evaluate.load`:
    `cutoffs_top`, `cutoffs_bottom`: cut-offs in (0, 1]; the paper's by default.
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


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class RefinedTSE(evaluate.Metric):
    """EW and MW of Newman et al. (2021); contexts are reduced to their scores as they are added.

    Args:
        *args: as `evaluate.Metric`.
        cutoffs_top: cut-offs in (0, 1] of the most probable part; 1 is always among them.
        cutoffs_bottom: cut-offs in (0, 1] of the least probable part.
        **kwargs: as `evaluate.Metric`.

    Raises:
        ValueError: a cut-off is outside of (0, 1] or listed twice.
    """

    def __init__(self, *args, cutoffs_top=TOP_CUTOFFS, cutoffs_bottom=BOTTOM_CUTOFFS, **kwargs):
        cutoffs_top = check_cutoffs(cutoffs_top)
        self.cutoffs_top = cutoffs_top if 1.0 in cutoffs_top else (*cutoffs_top, 1.0)
        self.cutoffs_bottom = check_cutoffs(cutoffs_bottom)
        self._known = None  # of the contexts added so far: cut-offs that their masses allow; have they groups
        super().__init__(*args, **kwargs)

    def _info(self):
        info = evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            # What is stored is a context's row of scores (`reducing.py`), not what was handed in.
            features=datasets.Features(
                {
                    "predictions": datasets.Sequence(datasets.Value("float64")),
                    "groups": datasets.Value("string"),
                }
            ),
            codebase_urls=["https://github.com/bnewm0609/refining-tse"],
            reference_urls=["https://aclanthology.org/2021.naacl-main.290"],
        )
        info.format = "arrow"  # "numpy" would narrow the scores to float32
        return info

    def add(self, *, prediction=None, group=None):
        """Add one context."""
        self.add_batch(predictions=[prediction], groups=None if group is None else [group])

    def add_batch(
        self,
        *,
        predictions=None,
        groups=None,
        logits=None,
        correct_ids=None,
        incorrect_ids=None,
        swapped=None,
    ):
        """Add contexts, as log-probabilities of the lemmas' forms or as logits over the vocabulary."""
        if (predictions is None) == (logits is None):
            raise ValueError(
                "Contexts are added as `predictions` (log-probabilities of the lemmas' forms) or as `logits` "
                "with `correct_ids` and `incorrect_ids`; give one of the two."
            )
        if logits is not None:
            if correct_ids is None or incorrect_ids is None:
                raise ValueError(
                    "With `logits`, give the vocabulary ids `correct_ids` and `incorrect_ids` as well."
                )
            known = (self.cutoffs_top, self.cutoffs_bottom)
            rows = to_rows(logit_scores(logits, correct_ids, incorrect_ids, swapped, *known))
        else:
            predictions = list(predictions)
            known = known_cutoffs(predictions, self.cutoffs_top, self.cutoffs_bottom)
            rows = reduce_predictions(predictions, *known)
        self._add_rows(rows, groups, known)

    def _add_rows(self, rows, groups, cutoffs):
        names = [ALL] * len(rows) if groups is None else [str(group) for group in groups]
        if len(names) != len(rows) or (groups is not None and ALL in names):
            raise ValueError(
                f"There are {len(rows)} contexts and {len(names)} groups. One group is needed for each context, and "
                f"none may be named {ALL!r}, which is all contexts."
            )
        known = (*cutoffs, groups is not None)
        if self._known not in (None, known):
            raise ValueError(
                "These contexts come with other masses (above, below) than those added before, or only one of the "
                "two has groups. Give the same for all contexts, or compute what is there first."
            )
        if len(rows) > 0:
            self._known = known
            super().add_batch(predictions=rows, groups=names)

    def compute(self, **contexts):
        """Compute the scores of the contexts that were added, and of those given here, as `add_batch` takes them."""
        if any(given is not None for given in contexts.values()):
            self.add_batch(**contexts)
        if self._known is None:
            raise ValueError(
                "There is no context to compute a score of. Give `predictions`, or add some first."
            )
        try:
            return super().compute()
        finally:
            self._known = None

    def _compute(self, predictions, groups):
        *cutoffs, has_groups = self._known
        return summarize(from_table(predictions, *cutoffs), groups.to_pylist() if has_groups else None)
