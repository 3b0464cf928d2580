"""Refined targeted syntactic evaluation (`evaluate` module): EW, MW and cut-offs of Newman et al. (2021).

    EW    share of lemmas whose correct inflection is more probable than the incorrect one (systematicity)
    MW    share of the probability of all inflections that the correct ones have (likely behaviour)

TSE is the EW of a single lemma, the template's own verb. The formulas are in `definitions.py`; here contexts are
checked, reduced to a row of scores each, and averaged over all contexts and over each group.

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

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import array_api_compat
import datasets
import evaluate
import numpy as np
import pandas as pd
import pyarrow as pa

from .definitions import (
    BOTTOM_CUTOFFS,
    TOP_CUTOFFS,
    VERSION,
    Array,
    Cutoffs,
    GapScores,
    gap_scores,
    is_correct,
    ranked_scores,
    repeated_forms,
)

ALL = "all"  # the group of all contexts
MEASURES = ("ew", "mw", "covered_mass")
COUNTS = ("n_lemmas", "n_ties", "n_nonfinite")
FORMS = ("correct", "incorrect")
VERBS = ("logprob_correct", "logprob_incorrect")
MASSES = {"top": "above", "bottom": "below"}
TOLERANCE = 1e-3  # in half precision, log-probabilities can be above 0, and masses above 1
WHOLE = ("top", 1.0)
Ids: TypeAlias = Array | Sequence[int] | Sequence[Sequence[int]]
Context: TypeAlias = Mapping[str, Array | Sequence[float]]
"""What a caller gives for one context: `correct`, `incorrect`, and masses; a list with a number for each lemma."""
Summary = dict[str, Any]

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
        tops, bottoms = [float(p) for p in cutoffs_top], [float(p) for p in cutoffs_bottom]
        tops += [] if 1.0 in tops else [1.0]
        self.cutoffs: Cutoffs = (*(("top", p) for p in tops), *(("bottom", p) for p in bottoms))
        if not all(0 < p <= 1 for _, p in self.cutoffs) or len(set(self.cutoffs)) < len(self.cutoffs):
            raise ValueError(
                f"The cut-offs are {tops} and {bottoms}; expected different fractions in (0, 1]."
            )
        self._sides: list[str] | None = None  # whose masses the contexts so far have
        super().__init__(*args, **kwargs)

    def _info(self) -> evaluate.MetricInfo:
        # Stored are the scores of a context, not its lemmas: up to 6,000 numbers would become 60.
        scores = datasets.Sequence(datasets.Value("float64"), length=_width(self.cutoffs))
        info = evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features(predictions=scores, groups=datasets.Value("string")),
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
                "Give one of the two: `predictions` (log-probabilities of the lemmas' forms), or `logits` with "
                "`correct_ids` and `incorrect_ids`."
            )
        sides = [[*MASSES]]
        if logits is not None:
            scores = _scores_of_logits(logits, correct_ids, incorrect_ids, swapped, self.cutoffs)
        else:
            given = list(predictions or ())
            scores = np.array([_scores_of_prediction(*context, self.cutoffs) for context in enumerate(given)])
            sides = [_sides(context) for context in given]
        names = _names(groups, len(scores))
        if len(scores):
            earlier = sides[0] if self._sides is None else self._sides
            if any(of_context != earlier for of_context in sides):
                raise ValueError(
                    "These contexts have other masses (above, below) than those before. Give the same for all, "
                    "or compute the scores of the earlier ones first."
                )
            self._sides = earlier
            super().add_batch(predictions=scores, groups=names)

    def compute(self, **contexts: Any) -> Summary:
        """Compute the scores of the added contexts and of those given here (the arguments of `add_batch`)."""
        contexts = {name: value for name, value in contexts.items() if value is not None}
        if _is_scored(contexts.get("predictions")):
            return _of_scored(**contexts, cutoffs=self.cutoffs)
        if contexts:  # `evaluate.combine` gives references=None
            self.add_batch(**contexts)
        result: Summary = super().compute()
        self._sides = None
        return result

    def _compute(self, predictions: Any, groups: Any) -> Summary:
        scores = predictions.combine_chunks().flatten().to_numpy().reshape(-1, _width(self.cutoffs))
        return _summary(scores, _members(groups.to_pylist()), self.cutoffs)


# The scores of a context are numbers in this order: `COUNTS`, then ew, mw and covered_mass at each cut-off. At cut-offs
# without masses, and below 1 for a context that is not a distribution, these three are NaN.


def _width(cutoffs: Cutoffs) -> int:
    return len(COUNTS) + len(MEASURES) * len(cutoffs)


def _columns(scores: GapScores) -> np.ndarray:
    """Return scores as (contexts, width)."""
    ew, mw, covered, logprob = (_on_host(part) for part in scores[:4])
    n_lemmas, n_ties = np.full(len(ew), logprob.shape[2]), (logprob[:, 0] == logprob[:, 1]).sum(axis=1)
    n_nonfinite = np.isnan(logprob).any(axis=1).sum(axis=1)
    return np.column_stack([n_lemmas, n_ties, n_nonfinite, ew, mw, covered]).astype(np.float64)


def _on_host(values: Any) -> np.ndarray:
    """Return a tensor on any device, or anything else, as a numpy array."""
    if not hasattr(values, "detach"):
        return np.asarray(values)
    values = values.detach().cpu()
    return values.double().numpy() if values.is_floating_point() else values.numpy()


def _scores_of_logits(
    logits: Array, correct_ids: Ids | None, incorrect_ids: Ids | None, swapped: Array | None, cutoffs: Cutoffs
) -> np.ndarray:
    """Score logits (contexts, vocabulary) on their device; (contexts, width)."""
    logits = logits.detach() if hasattr(logits, "detach") else np.asarray(logits)
    xp, n = array_api_compat.array_namespace(logits), len(logits) if logits.ndim else 0
    first, second = _on_host(correct_ids), _on_host(incorrect_ids)
    is_first = ~(np.zeros(n, bool) if swapped is None else _on_host(swapped))
    if not (
        (logits.ndim == 2 and 0 not in logits.shape and xp.isdtype(logits.dtype, "real floating"))
        and (first.dtype.kind in "iu" and second.dtype.kind in "iu" and first.shape == second.shape)
        and (first.size and first.shape[:-1] in ((), (n,)))
        and (is_first.dtype == bool and is_first.shape == (n,))
    ):
        arrays = {"logits": logits, "correct_ids": first, "incorrect_ids": second, "swapped": is_first}
        given = ", ".join(
            f"{name} of shape {tuple(array.shape)} ({array.dtype})" for name, array in arrays.items()
        )
        raise ValueError(
            f"Got {given}. Expected logits at the gap, floats of the shape (contexts, vocabulary), as in "
            "logits[:, position]; integer ids of one shape, (lemmas,) or (contexts, lemmas); and as swapped (contexts,)"
            " booleans, true where correct_ids are the incorrect forms."
        )
    ids = np.stack([first, second], axis=-2).astype(np.int64)
    if ids.min() < 0 or ids.max() >= logits.shape[1]:
        raise ValueError(
            f"The ids are between {ids.min()} and {ids.max()}, but the logits have {logits.shape[1]} columns. Ids and "
            "logits must belong to the same vocabulary."
        )
    if ids.ndim == 2:
        return _scores_of_list(xp, logits, ids, is_first, cutoffs)
    each = [_scores_of_list(xp, logits[[row]], ids[row], is_first[[row]], cutoffs) for row in range(n)]
    return np.concatenate(each)


def _scores_of_list(
    xp: Any, logits: Array, ids: np.ndarray, is_first: np.ndarray, cutoffs: Cutoffs
) -> np.ndarray:
    """Score contexts with one list of ids; a context without a distribution has no scores but an EW of 0."""
    broken = ~np.isfinite(_on_host(xp.max(logits, axis=1)))
    if broken.any():
        logits = xp.asarray(logits, copy=True)
        logits[np.flatnonzero(broken)] = 0
    threads = 1 if isinstance(logits, np.ndarray) else xp.get_num_threads()
    scores = _columns(gap_scores(logits, ids, is_first, repeated_forms(ids), cutoffs, threads))
    scores[broken, 1], scores[broken, 2], scores[broken, 3:] = 0, ids.shape[1], np.nan
    scores[broken, len(COUNTS) + cutoffs.index(WHOLE)] = 0.0
    return scores


def _sides(context: Context) -> list[str]:
    """Return the sides whose masses a context has."""
    return [side for side, mass in MASSES.items() if f"correct_{mass}" in context]


def _scores_of_prediction(place: int, context: Context, cutoffs: Cutoffs) -> np.ndarray:
    """Check a context and score it; (width,)."""
    sides = _sides(context)
    keys = [form + of_side for of_side in ("", *(f"_{MASSES[side]}" for side in sides)) for form in FORMS]
    if not isinstance(context, Mapping) or set(context) != set(keys):
        raise ValueError(
            f"Context {place} is {str(context)!r:.80}; expected a dict with {', '.join(keys)}, and of masses both "
            "correct_above and incorrect_above, or correct_below and incorrect_below."
        )
    lists = [_numbers(context[key], f"{key!r} of context {place}") for key in keys]
    if len({len(of_key) for of_key in lists}) > 1 or not len(lists[0]):
        raise ValueError(
            f"Context {place} has lists of the lengths {[*map(len, lists)]}; expected one number for each lemma, "
            "and at least one lemma."
        )
    logprob, *ranked = np.stack(lists).reshape(-1, 1, 2, len(lists[0]))
    probability, known = np.exp(logprob), ~np.isnan(logprob)
    if any(
        (known & ~((mass >= 0) & (mass + probability <= 1 + TOLERANCE))).any()
        for mass in (0.0 * logprob, *ranked)
    ):
        raise ValueError(
            f"Context {place} has a probability outside of 0 to 1; its largest log-probability is "
            f"{logprob[known].max():.6g}. Give natural log-probabilities (log_softmax of the logits), and as the mass "
            "above or below a form that of all tokens there, without the form itself."
        )
    total = float(np.exp(np.unique(logprob[known])).sum())  # a form may be listed twice
    if total > 1 + TOLERANCE:
        warnings.warn(
            f"Context {place}: the probabilities of the forms sum to {total:.4g}; expected at most 1. Their covered "
            "mass means nothing. Give log_softmax of the logits, computed in float32.",
            stacklevel=4,
        )
    masses = dict(zip(sides, ranked, strict=True))
    return _columns(ranked_scores(np.minimum(logprob, 0.0), masses, cutoffs))[0]


def _numbers(values: Any, name: str) -> np.ndarray:
    """Return a list of numbers as float64, None as NaN; raises ValueError for anything else."""
    try:
        values = _on_host(values) if hasattr(values, "detach") else values
        return pa.array(values, pa.float64(), from_pandas=True).to_numpy(zero_copy_only=False)
    except (pa.ArrowException, OverflowError, TypeError) as error:
        raise ValueError(
            f"{name} is not a list of numbers: {error}. Expected one number in each place."
        ) from error


def _names(groups: Sequence[str] | None, n: int) -> list[str]:
    """Return the name of each context's group; `all` where it has none."""
    if groups is None:
        return [ALL] * n
    names = [str(name) for name in groups]
    if len(names) != n or ALL in names:
        raise ValueError(
            f"There are {n} contexts and {len(names)} groups; expected one group for each context, and none named "
            f"{ALL!r}, which stands for all contexts."
        )
    return names


def _members(names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the places of all contexts and of those of each group, in the order of the groups' first contexts."""
    groups = pd.Series(names).groupby(names, sort=False).indices
    return {ALL: np.arange(len(names)), **{name: at for name, at in groups.items() if name != ALL}}


# A data set whose rows have the scores of their contexts, as `scorer.map` adds them.


def _is_scored(predictions: object) -> bool:
    """Whether predictions are a data set, a data frame, or a list of its rows."""
    if isinstance(predictions, list):
        return bool(predictions) and isinstance(predictions[0], dict) and "context" in predictions[0]
    return hasattr(predictions, "columns") or hasattr(predictions, "column_names")


def _of_scored(predictions: Any, cutoffs: Cutoffs, groups: str | Sequence[str] | None = None) -> Summary:
    """Average the scores of rows: EW, MW and covered mass over different contexts, TSE over rows."""
    scored = (
        predictions.to_pandas() if isinstance(predictions, datasets.Dataset) else pd.DataFrame(predictions)
    )
    needed = ["context", "n_lemmas", "n_ties", *MEASURES, *([groups] if isinstance(groups, str) else [])]
    if missing := [name for name in needed if name not in scored]:
        raise ValueError(
            f"The data set lacks {', '.join(missing)}; it has {', '.join(map(str, scored))}. Add scores with "
            "scorer.map(dataset, lemmas=lemmas), or correct the name of a column of your own."
        )
    context = pd.factorize(scored["context"])[0]  # large hashes are not exact as floats
    if not len(context) or (context < 0).any():
        raise ValueError("Expected a scored data set with at least one row, and the context of each row.")
    columns = [_checked(scored, name, (0, np.inf), fill=0) for name in COUNTS]
    for measure in MEASURES:
        names = [measure if cutoff == WHOLE else f"{measure}_{cutoff[0]}_{cutoff[1]:g}" for cutoff in cutoffs]
        columns += [_checked(scored, name, (0, 1), fill=np.nan) for name in names]
    members = _members(_names(scored[groups] if isinstance(groups, str) else groups, len(context)))
    first = {name: rows[~pd.Series(context[rows]).duplicated()] for name, rows in members.items()}
    result = _summary(np.column_stack(columns), first, cutoffs)
    if {*VERBS} <= {*scored}:
        logprobs = [_checked(scored, name, (-np.inf, 0)) for name in VERBS]
        right = np.where(np.isnan(logprobs).any(axis=0), np.nan, is_correct(*logprobs))
        for name, rows in members.items():
            of_group = result if name == ALL else result["groups"][name]
            n = int((~np.isnan(right[rows])).sum())
            tse = float(np.nanmean(right[rows])) if n else float("nan")
            of_group |= {"tse": tse, "n_pairs": n, "n_pairs_excluded": len(rows) - n}
    return result


def _checked(
    scored: pd.DataFrame, name: str, limits: tuple[float, float], fill: float = np.nan
) -> np.ndarray:
    """Return a column, or `fill` where there is none; NaN is a missing score, but not a count."""
    if name not in scored:
        return np.full(len(scored), fill)
    numbers = _numbers(scored[name], f"The column {name!r}")
    low, high = limits
    wrong = ~((numbers >= low - TOLERANCE) & (numbers <= high + TOLERANCE)) & ~(
        np.isnan(numbers) & (name not in COUNTS)
    )
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"Row {row} of the scored data set (counted from 0) has {numbers[row]:g} in the column {name!r}; expected "
            f"{low:g} to {high:g}."
        )
    return np.clip(numbers, low, high)


def _summary(scores: np.ndarray, members: Mapping[str, np.ndarray], cutoffs: Cutoffs) -> Summary:
    """Average the scores of contexts over the members of each group, among which is `all`.

    ew, mw                  mean over the contexts that have a score at the cut-off
    covered_mass            mean over the contexts without a NaN log-probability (Figure 3)
    share_without_lemmas    share of those contexts in which no lemma is eligible (Figure 4)

    A context without a score is not a zero: it is excluded from the mean and counted in `n_excluded`.
    """
    n_lemmas, n_ties, n_nonfinite = scores[:, : len(COUNTS)].T
    ew, mw, covered = np.split(scores[:, len(COUNTS) :], 3, axis=1)
    without = np.where(np.isnan(covered), np.nan, np.isnan(ew))
    measures = {**dict(zip(MEASURES, (ew, mw, covered), strict=True)), "share_without_lemmas": without}
    known = [
        cutoff
        for cutoff, column in zip(cutoffs, covered.T, strict=True)
        if cutoff == WHOLE or not np.isnan(column).all()
    ]
    rows, groups = [], {}
    for group, at in members.items():
        counts = {"n_lemmas": float(n_lemmas[at].mean()), "n_ties": int(n_ties[at].sum())}
        counts["n_nonfinite"] = int((n_nonfinite[at] > 0).sum())
        groups[group] = {"n_contexts": len(at), **counts}
        for side, cutoff in known:
            for measure, values in measures.items():
                of_group = values[at, cutoffs.index((side, cutoff))]
                scored = of_group[~np.isnan(of_group)]
                score = float(scored.mean()) if scored.size else float("nan")
                row = {"group": group, "metric": measure, "cutoff_side": side, "cutoff": cutoff}
                row |= {"score": score, "n": scored.size, "n_excluded": len(at) - scored.size}
                rows.append(row | counts)
                if (side, cutoff) == WHOLE and measure in MEASURES:
                    groups[group] |= {measure: score}
                if (side, cutoff) == WHOLE and measure == "mw":
                    groups[group] |= {"n_excluded": len(at) - scored.size}
    sides = {side: [p for of_side, p in known if of_side == side] for side in MASSES}
    curves: dict[str, Any] = {}
    for side, shares in sides.items():
        if min(shares, default=1) < 1:
            curves[side] = {"cutoff": shares, **{measure: [] for measure in measures}}
    for row in rows:
        if row["group"] == ALL and row["cutoff_side"] in curves:
            curves[row["cutoff_side"]][row["metric"]].append(row["score"])
    signature = {"metric": "refined_tse", "version": VERSION, "n_contexts": len(members[ALL])}
    signature |= {f"cutoffs_{side}": shares for side, shares in sides.items()}
    return {**groups.pop(ALL), "groups": groups, "curves": curves, "rows": rows, "signature": signature}
