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
    repeated_forms,
    whole_scores,
)

ALL = "all"  # the group of all contexts
MEASURES = ("ew", "mw", "covered_mass")
COUNTS = ("n_lemmas", "n_ties", "n_nonfinite")
VERBS = ("logprob_correct", "logprob_incorrect")
TOLERANCE = 1e-3  # in half precision, log-probabilities can be above 0, and masses above 1
WHOLE = ("top", 1.0)
Ids: TypeAlias = Array | Sequence[int] | Sequence[Sequence[int]]
Context: TypeAlias = Mapping[str, Array | Sequence[float]]
"""What a caller gives for one context: `correct` and `incorrect`, a list with a number for each lemma."""

_DESCRIPTION = """\
Does a language model inflect any verb for the number of its subject (EW, systematicity), and is what it is
likely to say correctly inflected (MW, likely behaviour)? Both are computed from the probabilities of the correct
and the incorrect inflection of many verb lemmas at the gap of each context, over the whole distribution and, from
logits, over its most or least probable part.
"""

_KWARGS_DESCRIPTION = """

Args:
    predictions: one dict for each context, with the lists `correct` and `incorrect`: natural log-probabilities of the
        two inflections of each lemma. Contexts may have different numbers of lemmas. Or a scored data set, or a data
        frame or list of its rows, as `scorer.map(dataset, lemmas=lemmas)` returns it.
    logits: instead of predictions, (contexts, vocabulary) at the gap, a numpy array or a torch tensor on any
        device; gives the scores at all cut-offs. Log-probabilities of the whole vocabulary will do.
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
    `curves`: for `top` and `bottom`, if scores at cut-offs are known, `ew`, `mw`, `covered_mass` and
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
        tops = [*cutoffs_top] if 1.0 in cutoffs_top else [*cutoffs_top, 1.0]
        self.cutoffs: Cutoffs = (*(("top", p) for p in tops), *(("bottom", p) for p in cutoffs_bottom))
        if not all(0 < p <= 1 for _, p in self.cutoffs) or len({*self.cutoffs}) < len(self.cutoffs):
            raise ValueError(
                f"The cut-offs are {tops} and {[*cutoffs_bottom]}; expected different fractions in (0, 1]."
            )
        super().__init__(*args, **kwargs)

    def _info(self) -> evaluate.MetricInfo:
        # Stored are the scores of a context, 60 numbers, not those of its lemmas, up to 6,000.
        scores = datasets.Sequence(datasets.Value("float64"))
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
        if logits is not None:
            scores = _scores_of_logits(logits, correct_ids, incorrect_ids, swapped, self.cutoffs)
        else:
            contexts = enumerate(predictions or ())
            scores = np.array([_scores_of_prediction(*context, self.cutoffs) for context in contexts])
        names = _names(groups, len(scores))
        if len(scores):
            super().add_batch(predictions=scores, groups=names)

    def compute(self, **contexts: Any) -> dict[str, Any]:
        """Compute the scores of the added contexts and of those given here (the arguments of `add_batch`)."""
        contexts = {name: value for name, value in contexts.items() if value is not None}
        if _is_scored(contexts.get("predictions")):
            return _of_scored(**contexts, cutoffs=self.cutoffs)
        if contexts:  # `evaluate.combine` gives references=None
            self.add_batch(**contexts)
        result: dict[str, Any] = super().compute()
        return result

    def _compute(self, predictions: Any, groups: Any) -> dict[str, Any]:
        scores = predictions.combine_chunks().flatten().to_numpy().reshape(len(groups), -1)
        return _summary(scores, _members(groups.to_pylist()), self.cutoffs)


# The scores of a context are numbers in this order: `COUNTS`, then ew, mw and covered_mass at each cut-off. At cut-offs
# below 1, these three are NaN for a context that is not a distribution, or is not known as a whole (`predictions`).


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
    xp, (n, n_words) = array_api_compat.array_namespace(logits), logits.shape if logits.ndim == 2 else (0, 0)
    first, second = lists = _on_host(correct_ids), _on_host(incorrect_ids)
    is_first = ~(np.zeros(n, bool) if swapped is None else _on_host(swapped))
    if not (
        (n and n_words and xp.isdtype(logits.dtype, "real floating"))
        and all(ids.dtype.kind in "iu" and ids.size and ids.shape[:-1] in ((), (n,)) for ids in lists)
        and all(ids.min() >= 0 and ids.max() < n_words for ids in lists)
        and (first.shape == second.shape and is_first.dtype == bool and is_first.shape == (n,))
    ):
        arrays = {"logits": logits, "correct_ids": first, "incorrect_ids": second, "swapped": is_first}
        given = [f"{name} of shape {tuple(array.shape)} ({array.dtype})" for name, array in arrays.items()]
        raise ValueError(
            f"Got {', '.join(given)}. Expected logits at the gap, floats of the shape (contexts, vocabulary), as in "
            "logits[:, position]; integer ids below the size of the vocabulary, of one shape, (lemmas,) or (contexts, "
            "lemmas); and as swapped (contexts,) booleans, true where correct_ids are the incorrect forms."
        )
    ids = np.stack(lists, axis=-2).astype(np.int64)
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


def _scores_of_prediction(place: int, context: Context, cutoffs: Cutoffs) -> np.ndarray:
    """Check a context and score it; (width,)."""
    if not isinstance(context, Mapping) or {*context} != {"correct", "incorrect"}:
        raise ValueError(
            f"Context {place} is {str(context)!r:.80}; expected a dict with correct and incorrect. Scores at cut-offs "
            "need the logits of the whole vocabulary (logits=…)."
        )
    correct, incorrect = (
        _numbers(of, f"{form!r} of context {place}") for form, of in sorted(context.items())
    )
    if not 0 < len(correct) == len(incorrect):
        raise ValueError(
            f"Context {place} has {len(correct)} correct and {len(incorrect)} incorrect forms; expected one number for "
            "each lemma, and at least one lemma."
        )
    logprob = np.stack([correct, incorrect])[None]
    if (logprob > TOLERANCE).any():
        raise ValueError(
            f"Context {place} has the log-probability {np.nanmax(logprob):.6g}, a probability above 1. Give natural "
            "log-probabilities (log_softmax of the logits)."
        )
    counts, whole = np.split(_columns(whole_scores(np.minimum(logprob, 0.0), np.ones(1, bool)))[0], 2)
    measures = np.full((len(MEASURES), len(cutoffs)), np.nan)
    measures[:, cutoffs.index(WHOLE)] = whole
    return np.concatenate([counts, measures.ravel()])


def _numbers(values: Any, name: str) -> np.ndarray:
    """Return a list of numbers as float64, None as NaN; raises ValueError for anything else."""
    try:
        values = _on_host(values) if hasattr(values, "detach") else values
        return pa.array(values, pa.float64(), from_pandas=True).to_numpy(zero_copy_only=False)
    except (pa.ArrowException, TypeError) as error:
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


def _of_scored(
    predictions: Any, cutoffs: Cutoffs, groups: str | Sequence[str] | None = None
) -> dict[str, Any]:
    """Average the scores of rows: EW, MW and covered mass over different contexts, TSE over rows."""
    is_dataset = isinstance(predictions, datasets.Dataset)
    scored = predictions.to_pandas() if is_dataset else pd.DataFrame(predictions)
    needed = ["context", "n_lemmas", "n_ties", *MEASURES, *([groups] if isinstance(groups, str) else [])]
    if missing := [name for name in needed if name not in scored]:
        raise ValueError(
            f"The data set lacks {', '.join(missing)}; it has {', '.join(map(str, scored))}. Add scores with "
            "scorer.map(dataset, lemmas=lemmas), or correct the name of a column of your own."
        )
    context = pd.factorize(scored["context"])[0]  # large hashes are not exact as floats
    if not len(context) or (context < 0).any():
        raise ValueError("Expected a scored data set with at least one row, and the context of each row.")
    names = [m if c == WHOLE else f"{m}_{c[0]}_{c[1]:g}" for m in MEASURES for c in cutoffs]
    columns = [_checked(scored, name, 0, np.inf if name in COUNTS else 1) for name in (*COUNTS, *names)]
    members = _members(_names(scored[groups] if isinstance(groups, str) else groups, len(context)))
    first = {name: rows[~pd.Series(context[rows]).duplicated()] for name, rows in members.items()}
    result = _summary(np.column_stack(columns), first, cutoffs)
    if {*VERBS} <= {*scored}:
        logprobs = [_checked(scored, name, -np.inf, 0) for name in VERBS]
        right = np.where(np.isnan(logprobs).any(axis=0), np.nan, is_correct(*logprobs))
        for name, rows in members.items():
            of_group = result if name == ALL else result["groups"][name]
            tse, n = _mean(right[rows])
            of_group |= {"tse": tse, "n_pairs": n, "n_pairs_excluded": len(rows) - n}
    return result


def _checked(scored: pd.DataFrame, name: str, low: float, high: float) -> np.ndarray:
    """Return a column, NaN where there is none; a missing score is NaN, but not a missing count."""
    if name not in scored:
        return np.full(len(scored), np.nan)
    numbers = _numbers(scored[name], f"The column {name!r}")
    inside = (numbers >= low - TOLERANCE) & (numbers <= high + TOLERANCE)
    wrong = ~inside & (~np.isnan(numbers) | (name in COUNTS))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"Row {row} of the scored data set (counted from 0) has {numbers[row]:g} in the column {name!r}; expected "
            f"{low:g} to {high:g}."
        )
    return np.clip(numbers, low, high)


def _mean(values: np.ndarray) -> tuple[float, int]:
    """Return the mean of the values that are not NaN, and their number."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan"), known.size


def _summary(scores: np.ndarray, members: Mapping[str, np.ndarray], cutoffs: Cutoffs) -> dict[str, Any]:
    """Average the scores of contexts over the members of each group, among which is `all`.

    ew, mw                  mean over the contexts that have a score at the cut-off
    covered_mass            mean over the contexts without a NaN log-probability (Figure 3)
    share_without_lemmas    share of those contexts in which no lemma is eligible (Figure 4)

    A context without a score is not a zero: it is excluded from the mean and counted in `n_excluded`.
    """
    n_lemmas, n_ties, n_nonfinite = scores[:, : len(COUNTS)].T
    ew, mw, covered = np.split(scores[:, len(COUNTS) :], len(MEASURES), axis=1)
    without = np.where(np.isnan(covered), np.nan, np.isnan(ew))
    measures = {**dict(zip(MEASURES, (ew, mw, covered), strict=True)), "share_without_lemmas": without}
    known = [
        c for c, column in zip(cutoffs, covered.T, strict=True) if c == WHOLE or (column == column).any()
    ]
    sides = {side: [p for of_side, p in known if of_side == side] for side in ("top", "bottom")}
    curves: dict[str, Any] = {side: {"cutoff": ps} for side, ps in sides.items() if min(ps, default=1) < 1}
    rows, groups = [], {}
    for group, at in members.items():
        counts = {"n_lemmas": float(n_lemmas[at].mean()), "n_ties": int(n_ties[at].sum())}
        counts["n_nonfinite"] = int((n_nonfinite[at] > 0).sum())
        of_group = groups[group] = {"n_contexts": len(at), **counts}
        for side, cutoff in known:
            for measure, values in measures.items():
                score, n = _mean(values[at, cutoffs.index((side, cutoff))])
                row = {"group": group, "metric": measure, "cutoff_side": side, "cutoff": cutoff}
                rows.append(row | {"score": score, "n": n, "n_excluded": len(at) - n} | counts)
                if (side, cutoff) == WHOLE and measure in MEASURES:
                    of_group |= {measure: score} | ({"n_excluded": len(at) - n} if measure == "mw" else {})
                if group == ALL and side in curves:
                    curves[side].setdefault(measure, []).append(score)
    signature = {"metric": "refined_tse", "version": VERSION, "n_contexts": len(members[ALL])}
    signature |= {f"cutoffs_{side}": shares for side, shares in sides.items()}
    return {**groups.pop(ALL), "groups": groups, "curves": curves, "rows": rows, "signature": signature}
