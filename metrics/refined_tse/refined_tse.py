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
from collections.abc import Iterator, Mapping, Sequence
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
                f"The cut-offs are {tops} and {bottoms}; expected different shares of probability mass in (0, 1]. Give "
                "them as fractions: 0.97 for the paper's top 97 %."
            )
        self._added: Cutoffs | None = None  # the cut-offs that the contexts added so far have scores at
        super().__init__(*args, **kwargs)

    def _info(self) -> evaluate.MetricInfo:
        info = evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            # Stored are the scores of a context, not its lemmas: up to 6,000 numbers would become 60.
            features=datasets.Features(
                predictions=datasets.Sequence(datasets.Value("float64")), groups=datasets.Value("string")
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
            cutoffs = self.cutoffs
            scores = _scores_of_logits(logits, correct_ids, incorrect_ids, swapped, cutoffs)
        else:
            contexts = list(predictions or ())
            keys = contexts[0] if contexts else ()
            sides = [side for side, mass in MASSES.items() if f"correct_{mass}" in keys]
            cutoffs = tuple(cutoff for cutoff in self.cutoffs if cutoff == WHOLE or cutoff[0] in sides)
            scores = _scores_of_predictions(contexts, sides, cutoffs)
        names = [ALL] * len(scores) if groups is None else _names(groups, len(scores))
        if self._added not in (None, cutoffs):
            raise ValueError(
                "These contexts have other masses (above, below) than those added before. Give the same for all "
                "contexts, or compute the scores of the earlier ones first."
            )
        if len(scores):
            self._added = cutoffs
            super().add_batch(predictions=scores, groups=names)

    def compute(self, **contexts: Any) -> Summary:
        """Compute the scores of the added contexts and of those given here (the arguments of `add_batch`)."""
        batch = {name: value for name, value in contexts.items() if value is not None}
        if _is_scored(batch.get("predictions")):
            if set(batch) - {"predictions", "groups"} or self._added is not None:
                raise ValueError(
                    "A scored data set takes no other argument than groups, and no contexts added before. Compute the "
                    "scores of each by itself."
                )
            return _of_scored(batch["predictions"], batch.get("groups"), self.cutoffs)
        if batch:  # `evaluate.combine` gives references=None
            self.add_batch(**batch)
        if self._added is None:
            raise ValueError(
                "There are no contexts to score. Give `predictions` or `logits`, or add some first, in each process."
            )
        try:
            result: Summary = super().compute()
            return result
        finally:
            self._added = None

    def _compute(self, predictions: Any, groups: Any) -> Summary:
        assert self._added is not None, "compute() checks this"
        lists, width = predictions.combine_chunks(), len(COUNTS) + len(MEASURES) * len(self._added)
        if lists.value_lengths().unique().to_pylist() != [width]:
            raise ValueError(
                "The processes scored contexts at different cut-offs. Use the same in all processes."
            )
        names = groups.to_pylist()
        return _summary(lists.flatten().to_numpy().reshape(-1, width), _members(names), self._added)


# The scores of contexts, (contexts, columns): n_lemmas, n_ties, n_nonfinite, then ew, mw, covered_mass at each cut-off.


def _columns(scores: GapScores) -> np.ndarray:
    ew, mw, covered, logprob = (_on_host(part) for part in scores[:4])
    n_lemmas = np.full(len(ew), logprob.shape[2])
    n_ties = (logprob[:, 0] == logprob[:, 1]).sum(axis=1)
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
    """Score logits (contexts, vocabulary) on their device."""
    logits = logits.detach() if hasattr(logits, "detach") else np.asarray(logits)
    xp, n_contexts = array_api_compat.array_namespace(logits), len(logits) if logits.ndim else 0
    first, second = _on_host(correct_ids), _on_host(incorrect_ids)
    is_first = ~(np.zeros(n_contexts, bool) if swapped is None else _on_host(swapped))
    if not (
        (logits.ndim == 2 and 0 not in logits.shape and xp.isdtype(logits.dtype, "real floating"))
        and (first.dtype.kind in "iu" and second.dtype.kind in "iu" and first.shape == second.shape)
        and (first.size and first.shape[:-1] in ((), (n_contexts,)))
        and (is_first.dtype == bool and is_first.shape == (n_contexts,))
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
    low, high = min(first.min(), second.min()), max(first.max(), second.max())
    if low < 0 or high >= logits.shape[1]:
        raise ValueError(
            f"The ids are between {low} and {high}, but the logits have {logits.shape[1]} columns. Ids and logits must "
            "belong to the same vocabulary."
        )
    ids = np.stack([first, second], axis=-2).astype(np.int64)
    if ids.ndim == 2:
        return _scores_of_list(logits, ids, is_first, cutoffs)
    each = ((logits[[row]], ids[row], is_first[[row]]) for row in range(n_contexts))
    return np.concatenate([_scores_of_list(*context, cutoffs) for context in each])


def _scores_of_list(logits: Array, ids: np.ndarray, is_first: np.ndarray, cutoffs: Cutoffs) -> np.ndarray:
    """Score contexts with one list of ids; a context without a distribution has no scores but an EW of 0."""
    xp = array_api_compat.array_namespace(logits)
    broken = ~np.isfinite(_on_host(xp.max(logits, axis=1)))
    if broken.any():
        logits = xp.asarray(logits, copy=True)
        logits[np.flatnonzero(broken)] = 0
    threads = xp.get_num_threads() if array_api_compat.is_torch_array(logits) else 1
    scores = _columns(gap_scores(logits, ids, is_first, repeated_forms(ids), cutoffs, threads))
    scores[broken, 1], scores[broken, 2], scores[broken, 3:] = 0, ids.shape[1], np.nan
    scores[broken, len(COUNTS) + cutoffs.index(WHOLE)] = 0.0
    return scores


def _scores_of_predictions(contexts: Sequence[Context], sides: Sequence[str], cutoffs: Cutoffs) -> np.ndarray:
    """Check contexts with the masses of these sides, and score them."""
    masses = [f"{form}_{MASSES[side]}" for side in sides for form in ("correct", "incorrect")]
    keys = ["correct", "incorrect", *masses]
    scores = np.empty((len(contexts), len(COUNTS) + len(MEASURES) * len(cutoffs)))
    for index, context in enumerate(contexts):
        if not isinstance(context, Mapping) or set(context) != set(keys):
            raise ValueError(
                f"Context {index} is {str(context)!r:.80}; expected a dict with {', '.join(keys)}. Give `correct` and "
                "`incorrect` always, masses in pairs (correct_above and incorrect_above, correct_below and "
                "incorrect_below), and the same keys for all contexts."
            )
        lists = {key: _numbers(context[key], f"{key!r} of context {index}") for key in keys}
        if len(set(map(len, lists.values()))) > 1 or not len(lists["correct"]):
            raise ValueError(
                f"Context {index} has {', '.join(f'{len(of)} numbers in {key!r}' for key, of in lists.items())}; "
                "expected one for each lemma, and at least one lemma. Remove contexts without lemmas."
            )
        logprob, *ranked = np.stack([*lists.values()]).reshape(len(keys) // 2, 1, 2, -1)
        probability, known = np.exp(logprob), ~np.isnan(logprob)
        for mass in (np.zeros_like(logprob), *ranked):
            if (known & ~((mass >= 0) & (mass + probability <= 1 + TOLERANCE))).any():
                raise ValueError(
                    f"Context {index} has a probability outside of 0 to 1; its largest log-probability is "
                    f"{logprob[known].max():.6g}. Give natural log-probabilities (log_softmax of the logits over the "
                    "vocabulary), and as mass above or below a form that of all tokens there, without the form itself."
                )
        total = float(np.exp(np.unique(logprob[known])).sum())  # a form may be listed twice
        if total > 1 + TOLERANCE:
            warnings.warn(
                f"Context {index}: the probabilities of the forms sum to {total:.4g}; expected at most 1. Their "
                "covered mass means nothing. Give log_softmax of the logits over the vocabulary, computed in float32.",
                stacklevel=4,
            )
        by_side = dict(zip(sides, ranked, strict=True))
        scores[index] = _columns(ranked_scores(np.minimum(logprob, 0.0), by_side, cutoffs))
    return scores


def _numbers(values: Any, name: str) -> np.ndarray:
    """Return a list of numbers as float64, None as NaN; raises ValueError for anything else."""
    try:
        values = _on_host(values) if hasattr(values, "detach") else values
        return pa.array(values, pa.float64(), from_pandas=True).to_numpy(zero_copy_only=False)
    except (pa.ArrowException, OverflowError, TypeError) as error:
        raise ValueError(
            f"{name} is not a list of numbers: {error}. Expected one number in each place."
        ) from error


def _names(groups: Any, n: int) -> list[str]:
    names = [str(name) for name in groups]
    if len(names) != n or ALL in names:
        raise ValueError(
            f"There are {n} contexts and {len(names)} groups. Expected one group for each context, and no group named "
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


def _of_scored(scored: Any, groups: str | Sequence[str] | None, cutoffs: Cutoffs) -> Summary:
    """Average the scores of rows: EW, MW and covered mass over different contexts, TSE over rows."""
    scored = pd.DataFrame(scored) if isinstance(scored, list) else scored
    present = list(getattr(scored, "column_names", None) or scored.columns)
    below_1 = [f"ew_{side}_{p:g}" for side, p in cutoffs if (side, p) != WHOLE]
    cutoffs = cutoffs if {*below_1[:1]} & {*present} else (WHOLE,)
    columns = [
        measure if len(cutoffs) == 1 else f"{measure}_{side}_{p:g}"
        for measure in MEASURES
        for side, p in cutoffs
    ]
    verbs = VERBS if {*VERBS} <= {*present} else ()
    needed = [
        "context",
        "n_lemmas",
        "n_ties",
        *columns,
        *verbs,
        *([groups] if isinstance(groups, str) else []),
    ]
    if missing := [name for name in needed if name not in present]:
        raise ValueError(
            f"The data set lacks {', '.join(missing)}; it has {', '.join(map(str, present))}. Add scores with "
            "scorer.map(dataset, lemmas=lemmas), or correct the name of a column of your own."
        )
    needed += [name for name in COUNTS if name in present]
    if hasattr(scored, "select_columns"):
        scored = scored.with_format(None).select_columns(list(dict.fromkeys(needed))).to_pandas()
    context = pd.factorize(scored["context"])[0]  # large hashes are not exact as floats
    if not len(context) or (context < 0).any():
        raise ValueError("Expected a scored data set with at least one row, and the context of each row.")
    counts = [
        _checked(scored, name, 0, np.inf) if name in scored else np.zeros(len(context)) for name in COUNTS
    ]
    table = np.column_stack([*counts, *(_checked(scored, name, 0, 1) for name in columns)])
    labels = [ALL] * len(context)
    if groups is not None:
        labels = _names(scored[groups] if isinstance(groups, str) else groups, len(context))
    members = _members(labels)
    first = {name: rows[~pd.Series(context[rows]).duplicated()] for name, rows in members.items()}
    result = _summary(table, first, cutoffs)
    if verbs:
        logprobs = [_checked(scored, name, -np.inf, 0) for name in verbs]
        right = np.where(np.isnan(logprobs).any(axis=0), np.nan, is_correct(*logprobs))
        for name, rows in members.items():
            of_group, n = (
                result if name == ALL else result["groups"][name],
                int((~np.isnan(right[rows])).sum()),
            )
            tse = float(np.nanmean(right[rows])) if n else float("nan")
            of_group |= {"tse": tse, "n_pairs": n, "n_pairs_excluded": len(rows) - n}
    return result


def _checked(scored: pd.DataFrame, name: str, low: float, high: float) -> np.ndarray:
    """Return a column of scores or counts; NaN is a missing score, but not a count."""
    numbers = _numbers(scored[name], f"The column {name!r}")
    wrong = ~((numbers >= low - TOLERANCE) & (numbers <= high + TOLERANCE))
    wrong &= ~np.isnan(numbers) | (name in COUNTS)
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"Row {row} of the scored data set (counted from 0) has {numbers[row]:g} in the column {name!r}; expected "
            f"a number from {low:g} to {high:g}. Score the row again with scorer.map(dataset, lemmas=lemmas)."
        )
    return np.clip(numbers, low, high)


def _summary(scores: np.ndarray, members: Mapping[str, np.ndarray], cutoffs: Cutoffs) -> Summary:
    """Average the scores of contexts over the members of each group, among which is `all`.

    ew, mw                  mean over the contexts that have a score at the cut-off
    covered_mass            mean over the contexts without a NaN log-probability (Figure 3)
    share_without_lemmas    share of those contexts in which no lemma is eligible (Figure 4)

    A context without a score is not a zero: it is excluded from the mean and counted in `n_excluded`.
    """
    averages = {group: [*_averages(group, scores[at], cutoffs)] for group, at in members.items()}
    groups = {}
    for group, rows in averages.items():
        whole = {row["metric"]: row for row in rows if (row["cutoff_side"], row["cutoff"]) == WHOLE}
        groups[group] = {measure: whole[measure]["score"] for measure in MEASURES}
        groups[group] |= {"n_contexts": len(members[group]), "n_excluded": whole["mw"]["n_excluded"]}
        groups[group] |= {name: whole["mw"][name] for name in COUNTS}
    by_side = {name: [p for side, p in cutoffs if side == name] for name in MASSES}
    curves = {
        name: {"cutoff": shares}
        | {
            measure: [
                row["score"]
                for row in averages[ALL]
                if (row["cutoff_side"], row["metric"]) == (name, measure)
            ]
            for measure in (*MEASURES, "share_without_lemmas")
        }
        for name, shares in by_side.items()
        if min(shares, default=1) < 1
    }
    signature: Summary = {"metric": "refined_tse", "version": VERSION}
    signature |= {f"cutoffs_{name}": shares for name, shares in by_side.items()} | {
        "n_contexts": len(members[ALL])
    }
    rows = [row for of_group in averages.values() for row in of_group]
    return {**groups.pop(ALL), "groups": groups, "curves": curves, "rows": rows, "signature": signature}


def _averages(group: str, scores: np.ndarray, cutoffs: Cutoffs) -> Iterator[Summary]:
    """Yield the mean of a group by each measure at each cut-off."""
    n_lemmas, n_ties, n_nonfinite = scores[:, : len(COUNTS)].T
    counts = (float(n_lemmas.mean()), int(n_ties.sum()), int((n_nonfinite > 0).sum()))
    ew, mw, covered = np.split(scores[:, len(COUNTS) :], 3, axis=1)
    without = np.where(n_nonfinite[:, None] > 0, np.nan, np.isnan(ew))
    measures = dict(zip((*MEASURES, "share_without_lemmas"), (ew, mw, covered, without), strict=True))
    for place, (side, cutoff) in enumerate(cutoffs):
        for measure, values in measures.items():
            scored = values[:, place][~np.isnan(values[:, place])]
            yield {
                "group": group,
                "metric": measure,
                "cutoff_side": side,
                "cutoff": cutoff,
                "score": float(scored.mean()) if scored.size else float("nan"),
                "n": scored.size,
                "n_excluded": len(values) - scored.size,
                **dict(zip(COUNTS, counts, strict=True)),
            }
