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
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, TypeAlias

import array_api_compat
import datasets
import evaluate
import numpy as np

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
"""What a caller says of one context: `correct`, `incorrect`, and masses; a number for each lemma."""
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
        tops = _checked_cutoffs(cutoffs_top)
        tops = tops if 1.0 in tops else (*tops, 1.0)
        bottoms = _checked_cutoffs(cutoffs_bottom)
        self.cutoffs: Cutoffs = (*(("top", p) for p in tops), *(("bottom", p) for p in bottoms))
        # Of the contexts added so far: the cut-offs for which they have masses, and whether they have groups.
        self._layout: tuple[Cutoffs, bool] | None = None
        super().__init__(*args, **kwargs)

    def _info(self) -> evaluate.MetricInfo:
        info = evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            # Stored are rows of scores, not the predictions: up to 6,000 numbers a context would become 60.
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
            cutoffs, rows = (
                self.cutoffs,
                _rows_of_logits(logits, correct_ids, incorrect_ids, swapped, self.cutoffs),
            )
        else:
            if isinstance(predictions, str | bytes | Mapping) or not isinstance(predictions, Iterable):
                raise TypeError(
                    f"predictions are a {type(predictions).__name__}; expected a list with one dict for each "
                    "context, or a scored data set."
                )
            predictions = list(predictions)
            keys = predictions[0] if predictions and isinstance(predictions[0], Mapping) else ()
            known = {side for side, mass in MASSES.items() if f"correct_{mass}" in keys}
            cutoffs = tuple(cutoff for cutoff in self.cutoffs if cutoff[0] in known or cutoff == WHOLE)
            rows = _rows_of_predictions(predictions, cutoffs)
        names = [ALL] * len(rows) if groups is None else _names(groups)
        if len(names) != len(rows) or (groups is not None and ALL in names):
            raise ValueError(
                f"There are {len(rows)} contexts and {len(names)} groups. Expected one group for each context, and "
                f"no group named {ALL!r}, which stands for all contexts."
            )
        if self._layout not in (None, (cutoffs, groups is not None)):
            raise ValueError(
                "These contexts have other masses (above, below) than those added before, or only some contexts "
                "have groups. Give the same for all contexts, or compute the scores of the earlier ones first."
            )
        if len(rows) > 0:
            self._layout = cutoffs, groups is not None
            super().add_batch(predictions=rows, groups=names)

    def compute(self, **contexts: Any) -> Summary:
        """Compute the scores of the added contexts and of those given here (the arguments of `add_batch`)."""
        batch = {name: value for name, value in contexts.items() if value is not None}
        if _is_scored(batch.get("predictions")):
            if set(batch) - {"predictions", "groups"} or self._layout is not None:
                raise ValueError(
                    "A scored data set takes no other argument than groups, and no contexts added before. Compute the "
                    "scores of each by itself."
                )
            return _of_scored(batch["predictions"], batch.get("groups"), self.cutoffs)
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

    def _compute(self, predictions: Any, groups: Any) -> Summary:
        assert self._layout is not None, "compute() checks this"
        cutoffs, has_groups = self._layout
        lists, width = predictions.combine_chunks(), len(COUNTS) + 3 * len(cutoffs)
        if set(lists.value_lengths().unique().to_pylist()) != {width}:
            raise ValueError(
                "The contexts that were added have different cut-offs: some have masses and some do not, or another "
                "process uses other cut-offs. Use the same for all contexts."
            )
        rows = lists.flatten().to_numpy().reshape(-1, width)
        return _summary(rows, groups.to_pylist() if has_groups else None, cutoffs)


def _checked_cutoffs(cutoffs: Sequence[float]) -> tuple[float, ...]:
    try:
        checked = tuple(float(cutoff) for cutoff in cutoffs)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"The cut-offs {cutoffs!r:.200} are not a list of numbers. Give a list or tuple of fractions: (0.5, 0.97)."
        ) from error
    if not all(0 < cutoff <= 1 for cutoff in checked) or len(set(checked)) < len(checked):
        raise ValueError(
            f"The cut-offs are {checked}; expected different shares of probability mass in (0, 1]. Give them as "
            "fractions: 0.97 for the paper's top 97 %."
        )
    return checked


# Contexts become rows: n_lemmas, n_ties, n_nonfinite, then ew, mw and covered_mass at each cut-off.


def _rows(scores: GapScores) -> np.ndarray:
    ew, mw, covered, logprob = (np.asarray(on_host(part)) for part in scores[:4])
    n_lemmas = np.full(len(ew), logprob.shape[2])
    n_ties = (logprob[:, 0] == logprob[:, 1]).sum(axis=1)
    n_nonfinite = np.isnan(logprob).any(axis=1).sum(axis=1)
    return np.column_stack([n_lemmas, n_ties, n_nonfinite, ew, mw, covered]).astype(np.float64)


def _rows_of_logits(
    logits: Array, correct_ids: Ids, incorrect_ids: Ids, swapped: Array | None, cutoffs: Cutoffs
) -> np.ndarray:
    """Score logits (contexts, vocabulary) on their device; (contexts, columns)."""
    is_tensor = hasattr(logits, "detach")
    logits = logits.detach() if is_tensor else np.asarray(logits)
    if is_tensor and logits.device.type == "mps":
        logits = logits.cpu()  # it has no float64
    first, second = (np.asarray(on_host(ids)) for ids in (correct_ids, incorrect_ids))
    floating = logits.is_floating_point() if is_tensor else logits.dtype.kind == "f"
    if not floating or {first.dtype.kind, second.dtype.kind} - {*"iu"}:
        raise TypeError(
            f"The logits have dtype {logits.dtype} and the ids {first.dtype} and {second.dtype}. Expected the model's "
            "logits or log-probabilities in a floating dtype, and vocabulary ids as integers."
        )
    if logits.ndim != 2 or 0 in logits.shape:
        raise ValueError(
            f"The logits have shape {tuple(logits.shape)}; expected (contexts, vocabulary) with at least one context. "
            "Select the gap's position first: logits[:, position]."
        )
    n_contexts, vocabulary = logits.shape
    is_list = first.ndim > 0 and first.shape[-1] > 0 and first.shape[:-1] in ((), (n_contexts,))
    if first.shape != second.shape or not is_list:
        raise ValueError(
            f"correct_ids have shape {first.shape}, incorrect_ids {second.shape}; expected two arrays of the same "
            f"shape: ids for all contexts, or for each of the {n_contexts} contexts, at least one each."
        )
    low, high = min(first.min(), second.min()), max(first.max(), second.max())
    if low < 0 or high >= vocabulary:
        raise ValueError(
            f"The ids are between {low} and {high}, but the logits have {vocabulary} columns. Ids and logits must "
            "belong to the same vocabulary."
        )
    is_first = np.ones(n_contexts, bool)
    if swapped is not None:
        is_first = ~np.asarray(on_host(swapped)).astype(bool)
        if np.asarray(on_host(swapped)).dtype != bool or is_first.shape != (n_contexts,):
            raise ValueError(
                f"swapped has shape {np.shape(swapped)}; expected one boolean for each of the {n_contexts} contexts, "
                "true where correct_ids are the incorrect forms."
            )
    if logits.dtype.itemsize < 4:
        logits = logits.float() if is_tensor else logits.astype(np.float32)
    if first.ndim == 1:
        return _rows_of_list(logits, np.stack([first, second]), is_first, cutoffs)
    rows = np.empty((n_contexts, len(COUNTS) + 3 * len(cutoffs)))
    for ids in np.unique(
        np.stack([first, second], axis=1), axis=0
    ):  # contexts with one list of ids at a time
        at = np.flatnonzero((first == ids[0]).all(axis=1) & (second == ids[1]).all(axis=1))
        rows[at] = _rows_of_list(logits[at], ids, is_first[at], cutoffs)
    return rows


def _rows_of_list(logits: Array, ids: np.ndarray, is_first: np.ndarray, cutoffs: Cutoffs) -> np.ndarray:
    """Score contexts with one list of ids; a context without a distribution has no scores but an EW of 0."""
    threads: int = 1
    arrays: list[Array] = [ids.astype(np.int64), is_first]
    if hasattr(logits, "detach"):
        torch = array_api_compat.array_namespace(logits)  # torch's functions without importing it
        if logits.device.type == "cpu":  # numpy sorts much faster there
            logits, threads = logits.numpy(), torch.get_num_threads()
        else:
            arrays = [torch.asarray(array, device=logits.device) for array in arrays]
    peak = np.asarray(on_host(logits.max(axis=1) if isinstance(logits, np.ndarray) else logits.amax(dim=1)))
    finite = np.isfinite(peak)
    if not finite.all():
        logits = logits.copy() if isinstance(logits, np.ndarray) else logits.clone()
        logits[np.flatnonzero(~finite)] = 0
    rows = _rows(gap_scores(logits, arrays[0], arrays[1], repeated_forms(ids), cutoffs, threads))
    rows[~finite, 1], rows[~finite, 2], rows[~finite, 3:] = 0, ids.shape[1], np.nan
    rows[~finite, 3 + cutoffs.index(WHOLE)] = 0.0
    return rows


def _rows_of_predictions(predictions: Sequence[Context], cutoffs: Cutoffs) -> np.ndarray:
    """Check contexts and score them; (contexts, columns).

    Raises:
        TypeError: a context is not a mapping.
        ValueError: a key is missing or unknown, lists are empty or differ in length, a log-probability is not a number
            or is positive, or a mass is outside 0 to 1 - P(form).
    """
    sides = dict.fromkeys(side for side, cutoff in cutoffs if (side, cutoff) != WHOLE)
    keys = [
        "correct",
        "incorrect",
        *(f"{form}_{MASSES[side]}" for side in sides for form in ("correct", "incorrect")),
    ]
    rows = np.empty((len(predictions), len(COUNTS) + 3 * len(cutoffs)))
    for index, prediction in enumerate(predictions):
        context = _checked_context(index, prediction, keys)
        logprob = np.stack([context["correct"], context["incorrect"]])[None]
        masses = {
            side: np.stack([context[f"{form}_{MASSES[side]}"] for form in ("correct", "incorrect")])[None]
            for side in sides
        }
        rows[index] = _rows(ranked_scores(logprob, masses, cutoffs))
    return rows


def _checked_context(index: int, prediction: Context, keys: Sequence[str]) -> dict[str, np.ndarray]:
    if not isinstance(prediction, Mapping):
        raise TypeError(
            f"Context {index} is a {type(prediction).__name__}; expected a dict with the log-probabilities of the "
            "lemmas' `correct` and `incorrect` forms."
        )
    if set(prediction) != set(keys):
        raise ValueError(
            f"Context {index} has the keys {sorted(prediction)}; expected {sorted(keys)}. Give `correct` and "
            "`incorrect` always, masses in pairs (correct_above and incorrect_above, correct_below and "
            "incorrect_below), and the same keys for all contexts."
        )
    context = {key: as_numbers(prediction[key], f"Context {index} holds in {key!r}") for key in keys}
    shapes = {key: values.shape for key, values in context.items()}
    if len(set(shapes.values())) > 1 or len(shapes["correct"]) != 1 or shapes["correct"] == (0,):
        raise ValueError(
            f"Context {index} has lists of the shapes {shapes}; expected one number for each lemma in every list, and "
            "at least one lemma. Remove contexts without lemmas."
        )
    for form in ("correct", "incorrect"):
        if np.any(context[form] > TOLERANCE):
            raise ValueError(
                f"Context {index}: the largest value of {form!r} is {np.nanmax(context[form]):.6g}; log-probabilities "
                "are at most 0. Give natural log-probabilities (log_softmax of the logits over the vocabulary)."
            )
        context[form] = np.minimum(context[form], 0.0)
        for key in (f"{form}_{mass}" for mass in MASSES.values() if f"{form}_{mass}" in context):
            possible = (context[key] >= 0) & (context[key] <= 1 - np.exp(context[form]) + TOLERANCE)
            if not np.all(possible | np.isnan(context[form])):
                raise ValueError(
                    f"Context {index}: {key!r} is not between 0 and 1 - P(form) for some form. Give the probability "
                    "mass of all tokens ranked strictly on that side of the form, without the form itself."
                )
    different = np.unique(
        np.concatenate([context["correct"], context["incorrect"]])
    )  # a form may be listed twice
    if (mass := float(np.nansum(np.exp(different)))) > 1 + TOLERANCE:
        warnings.warn(
            f"Context {index}: the probabilities of the forms sum to {mass:.4g}; expected at most 1. Their "
            "covered mass means nothing. Give log_softmax of the logits over the vocabulary, computed in float32.",
            stacklevel=5,
        )
    return context


# A data set whose rows hold the scores of their contexts, as `scorer.map` adds them.


def _is_scored(predictions: object) -> bool:
    """Whether predictions are a data set, a data frame, or a list of its rows."""
    if isinstance(predictions, list):
        return bool(predictions) and isinstance(predictions[0], dict) and "context" in predictions[0]
    return hasattr(predictions, "columns") or hasattr(predictions, "column_names")


def _of_scored(scored: Any, groups: str | Sequence[str] | None, cutoffs: Cutoffs) -> Summary:
    """Average the scores of rows: EW, MW and covered mass over different contexts, TSE over rows.

    Raises:
        ValueError: a column is missing, a value is impossible, or there are no rows.
    """
    present = list(
        scored[0] if isinstance(scored, list) else getattr(scored, "column_names", None) or scored.columns
    )
    inner = min((p for side, p in cutoffs if side == "top"), default=1.0)
    if f"ew_top_{inner:g}" not in present or inner == 1:
        cutoffs = (WHOLE,)
    columns = {
        f"{measure}_{side}_{p:g}": measure
        if (side, p) == WHOLE and len(cutoffs) == 1
        else f"{measure}_{side}_{p:g}"
        for measure in MEASURES
        for side, p in cutoffs
    }
    has_verbs = set(VERBS) <= set(present)
    counts = [name for name in COUNTS if name != "n_nonfinite" or name in present]
    needed = ["context", *counts, *columns.values(), *(VERBS if has_verbs else ())]
    needed += [groups] if isinstance(groups, str) else []
    if missing := [name for name in dict.fromkeys(needed) if name not in present]:
        raise ValueError(
            f"The data set lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}; it has "
            f"{', '.join(present)}. Add scores with scorer.map(dataset, lemmas=lemmas), or correct the name of a "
            "column of your own."
        )
    if hasattr(scored, "select_columns"):
        scored = scored.with_format(None).select_columns(list(dict.fromkeys(needed))).to_pandas()
    rows = {}
    for name in needed:
        of_list = isinstance(scored, list)
        rows[name] = (
            np.array([row.get(name) for row in scored], object) if of_list else scored[name].to_numpy()
        )
    context, n = _context_numbers(rows["context"]), len(rows["context"])
    if not n:
        raise ValueError("The scored data set has no rows; expected at least one.")
    table = np.zeros((n, len(COUNTS) + len(columns)))
    for place, name in enumerate([*COUNTS, *columns]):
        if name in counts or name in columns:
            table[:, place] = _checked_column(
                rows[columns.get(name, name)], columns.get(name, name), name in COUNTS
            )
    right = np.full(n, np.nan)
    if has_verbs:
        logprobs = [_checked_column(rows[name], name, is_logprob=True) for name in VERBS]
        right = np.where(np.isnan(logprobs).any(axis=0), np.nan, is_correct(*logprobs))
    result = _summary(table[np.unique(context, return_index=True)[1]], None, cutoffs)
    result |= _tse(right) if has_verbs else {}
    if groups is None:
        return result
    labels = np.asarray(_names(rows[groups] if isinstance(groups, str) else groups), dtype=object)
    if len(labels) != n:
        raise ValueError(
            f"There are {n} rows and {len(labels)} groups. Give the name of a column, or one name per row."
        )
    codes = np.unique(labels.astype(str), return_inverse=True)[1]
    first = np.sort(np.unique(np.stack([codes, context]), axis=1, return_index=True)[1])
    by_group = _summary(table[first], labels[first].tolist(), cutoffs)
    for name, scores in by_group["groups"].items():
        scores |= _tse(right[labels == name]) if has_verbs else {}
    of_groups = [row for row in by_group["rows"] if row["group"] != ALL]
    return result | {"groups": by_group["groups"], "rows": [*result["rows"], *of_groups]}


def _tse(right: np.ndarray) -> Summary:
    """Return the TSE of rows, how many have one, and how many have none."""
    scored = right[~np.isnan(right)]
    tse = float(scored.mean()) if scored.size else float("nan")
    return {"tse": tse, "n_pairs": int(scored.size), "n_pairs_excluded": int(right.size - scored.size)}


def _checked_column(
    values: np.ndarray, name: str, is_count: bool = False, is_logprob: bool = False
) -> np.ndarray:
    """Return a column of numbers; NaN is a missing score, but not a count."""
    numbers = as_numbers(values, f"The column {name!r} of the scored data set holds")
    high = 0.0 if is_logprob else np.inf if is_count else 1.0
    wrong = (numbers > high + TOLERANCE) | (False if is_logprob else numbers < -TOLERANCE)
    wrong |= ~(numbers % 1 == 0) if is_count else False
    if wrong.any():
        row = int(wrong.argmax())
        expected = "a natural log-probability (or NaN)" if is_logprob else "a number from 0 to 1 (or NaN)"
        raise ValueError(
            f"Row {row} of the scored data set (counted from 0) has {numbers[row]:g} in the column {name!r}; expected "
            f"{'a whole number from 0 up' if is_count else expected}. Score the row again with "
            "scorer.map(dataset, lemmas=lemmas)."
        )
    return np.clip(numbers, -np.inf if is_logprob else 0.0, high)


def _context_numbers(values: np.ndarray) -> np.ndarray:
    """Return the numbers of contexts; they may be hashes, which are not exact as floats."""
    numbers = values if values.dtype.kind in "iu" else np.asarray(values.tolist())
    if numbers.dtype.kind not in "iu" and len(numbers):
        wrong = [not (isinstance(value, int | float) and value % 1 == 0) for value in values.tolist()]
        row = wrong.index(True) if any(wrong) else 0
        raise ValueError(
            f"Row {row} of the scored data set (counted from 0) has {str(values[row])!r:.60} in the column 'context'; "
            "expected the number of its context. Score the row again with scorer.map(dataset, lemmas=lemmas)."
        )
    return numbers


def _names(groups: object) -> list[str]:
    if isinstance(groups, str | bytes) or not isinstance(groups, Iterable):
        raise TypeError(
            f"groups are a {type(groups).__name__}; expected one name for each context. Give a list of names."
        )
    return [str(name) for name in groups]


def on_host(values: Any) -> Any:
    """Return a tensor on any device as an array of a type that numpy has; anything else as it is."""
    if not hasattr(values, "detach"):
        return values
    values = values.detach().cpu()
    return values.double().numpy() if values.is_floating_point() else values.numpy()


def as_numbers(values: Any, subject: str) -> np.ndarray:
    """Return values as float64, None as NaN.

    Raises:
        ValueError: a value is not a real number (a text, true or false, a complex number), or is too large for a float.
    """
    objects = (
        np.asarray(on_host(values), dtype=object)
        if not hasattr(values, "dtype")
        else np.asarray(on_host(values))
    )
    if objects.dtype.kind in "iuf":
        return objects.astype(np.float64)
    for place, value in enumerate(objects.flat):
        if isinstance(value, bool | np.bool_) or not isinstance(value, Real | None):
            raise ValueError(
                f"{subject} something that is not a number: {str(value)!r:.60} in place {place} is of the type "
                f"{type(value).__name__}. Expected natural log-probabilities."
            )
    try:
        return np.asarray(objects, dtype=np.float64)
    except OverflowError as error:
        raise ValueError(
            f"{subject} a number that is too large for a float. Expected log-probabilities."
        ) from error


def _summary(rows: np.ndarray, groups: Sequence[str] | None, cutoffs: Cutoffs) -> Summary:
    """Average rows of scores over all contexts and over each group.

    ew, mw                  mean over the contexts that have a score at the cut-off
    covered_mass            mean over the contexts without a NaN log-probability (Figure 3)
    share_without_lemmas    share of those contexts in which no lemma is eligible (Figure 4)

    A context without a score is not a zero: it is excluded from the mean and counted in `n_excluded`.
    """
    members = {ALL: np.ones(len(rows), bool)}
    names = np.asarray(groups if groups is not None else [], dtype=object)
    members |= {name: names == name for name in dict.fromkeys(names.tolist())}
    averages = [row for group, inside in members.items() for row in _averages(group, rows[inside], cutoffs)]
    by_group: dict[str, Summary] = {}
    curves: dict[str, dict[str, list[float]]] = {}
    for row in averages:
        at, measure = (row["cutoff_side"], row["cutoff"]), row["metric"]
        if at == WHOLE and measure in MEASURES:
            of_group = by_group.setdefault(row["group"], {})
            of_group[measure] = row["score"]
            if measure == "mw":
                of_group |= {"n_contexts": row["n"] + row["n_excluded"], "n_excluded": row["n_excluded"]}
                of_group |= {name: row[name] for name in COUNTS}
        if row["group"] == ALL:
            curve = curves.setdefault(at[0], {"cutoff": []})
            curve.setdefault(measure, []).append(row["score"])
            curve["cutoff"] += [at[1]] if measure == "ew" else []
    signature = {
        "metric": "refined_tse",
        "version": VERSION,
        **{f"cutoffs_{name}": [p for side, p in cutoffs if side == name] for name in MASSES},
        "n_contexts": len(rows),
    }
    overall = by_group.pop(ALL)
    shown = {side: curve for side, curve in curves.items() if min(curve["cutoff"]) < 1}
    return {**overall, "groups": by_group, "curves": shown, "rows": averages, "signature": signature}


def _averages(group: str, rows: np.ndarray, cutoffs: Cutoffs) -> Iterable[Summary]:
    """Yield the mean of a group by each measure at each cut-off."""
    broken = rows[:, 2] > 0
    counts = dict(
        zip(COUNTS, (float(rows[:, 0].mean()), int(rows[:, 1].sum()), int(broken.sum())), strict=True)
    )
    ew, mw, covered = np.split(rows[:, len(COUNTS) :], 3, axis=1)
    without = np.where(broken[:, None], np.nan, np.isnan(ew))
    for place, (side, cutoff) in enumerate(cutoffs):
        for measure, values in zip(
            (*MEASURES, "share_without_lemmas"), (ew, mw, covered, without), strict=True
        ):
            scored = values[:, place][~np.isnan(values[:, place])]
            yield {
                "group": group,
                "metric": measure,
                "cutoff_side": side,
                "cutoff": cutoff,
                "score": float(scored.mean()) if scored.size else float("nan"),
                "n": int(scored.size),
                "n_excluded": int(len(values) - scored.size),
                **counts,
            }
