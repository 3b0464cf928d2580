"""Accuracy on minimal pairs: the share of pairs whose acceptable sentence is more probable.

    accuracy = mean over pairs of 1[log P(good) > log P(bad)]

per paradigm. The accuracy of a phenomenon or field is the mean of its paradigms; overall accuracy is the mean of all
paradigms, so that each has the same weight whatever its number of pairs (Warstadt et al. 2020, section 4 and
Table 3: https://doi.org/10.1162/tacl_a_00321). Ties are not correct, and neither are pairs with a value that is NaN or
plus infinity; both are counted. Minus infinity is a probability of 0.

Linking functions give other scores that can be compared instead of log P:

    sum          log P                        Warstadt et al. (2020)
    mean_token   log P / T                    mean log-probability per token, minus log perplexity
    mean_byte    log P / B                    per byte of UTF-8
    mean_continuation  log P_R / R            per token from the first difference on (Kryvosheieva & Levy 2024)
    slln         log P / T^0.5                sublinear length normalization (ZhoBLiMP, Liu et al. 2024)

T and B are the number of scored tokens and bytes; P_R is the probability, given the words before, of the R tokens from
the first word on in which the two sentences of a pair differ. Of a masked model, log P is the pseudo-log-likelihood.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

VERSION = "1.2.0"

# BLiMP's 67 paradigms, by phenomenon and field: the released data (github.com/alexwarstadt/blimp, CC-BY-4.0) and
# Table 4 of Warstadt et al. (2020). Two differences from the released `*.jsonl`: the two `animate_subject` paradigms
# are labelled `s-selection` there and count as argument structure in the paper and in its released summary;
# `principle_A_case_2` has the field `syntax/semantics` there and `syntax_semantics` in its siblings.
_GROUPS = """
anaphor_agreement morphology anaphor_gender_agreement anaphor_number_agreement
argument_structure syntax animate_subject_passive animate_subject_trans causative drop_argument inchoative intransitive
  passive_1 passive_2 transitive
binding syntax_semantics principle_A_c_command principle_A_case_1 principle_A_case_2 principle_A_domain_1
  principle_A_domain_2 principle_A_domain_3 principle_A_reconstruction
control_raising syntax_semantics existential_there_object_raising existential_there_subject_raising
  expletive_it_object_raising tough_vs_raising_1 tough_vs_raising_2
determiner_noun_agreement morphology determiner_noun_agreement_1 determiner_noun_agreement_2
  determiner_noun_agreement_irregular_1 determiner_noun_agreement_irregular_2 determiner_noun_agreement_with_adj_2
  determiner_noun_agreement_with_adj_irregular_1 determiner_noun_agreement_with_adj_irregular_2
  determiner_noun_agreement_with_adjective_1
ellipsis syntax ellipsis_n_bar_1 ellipsis_n_bar_2
filler_gap_dependency syntax wh_questions_object_gap wh_questions_subject_gap wh_questions_subject_gap_long_distance
  wh_vs_that_no_gap wh_vs_that_no_gap_long_distance wh_vs_that_with_gap wh_vs_that_with_gap_long_distance
irregular_forms morphology irregular_past_participle_adjectives irregular_past_participle_verbs
island_effects syntax adjunct_island complex_NP_island coordinate_structure_constraint_complex_left_branch
  coordinate_structure_constraint_object_extraction left_branch_island_echo_question left_branch_island_simple_question
  sentential_subject_island wh_island
npi_licensing semantics matrix_question_npi_licensor_present npi_present_1 npi_present_2 only_npi_licensor_present
  sentential_negation_npi_licensor_present
npi_licensing syntax_semantics only_npi_scope sentential_negation_npi_scope
quantifiers semantics existential_there_quantifiers_1 existential_there_quantifiers_2 superlative_quantifiers_1
  superlative_quantifiers_2
subject_verb_agreement morphology distractor_agreement_relational_noun distractor_agreement_relative_clause
  irregular_plural_subject_verb_agreement_1 irregular_plural_subject_verb_agreement_2
  regular_plural_subject_verb_agreement_1 regular_plural_subject_verb_agreement_2
"""
BLIMP_PARADIGMS = {
    paradigm: (phenomenon, field)
    for phenomenon, field, *paradigms in (group.split() for group in re.split(r"\n(?=\w)", _GROUPS.strip()))
    for paradigm in paradigms
}
"""paradigm -> (phenomenon, field)"""


class Outcomes(NamedTuple):
    """The outcome of each pair; three boolean arrays of shape (pairs,), at most one of them true per pair."""

    correct: np.ndarray  # the acceptable side has the higher log-probability
    tie: np.ndarray
    nonfinite: np.ndarray  # either is NaN or plus infinity; minus infinity is a probability of 0


def outcomes(good: Sequence[float], bad: Sequence[float]) -> Outcomes:
    """Compare the two sides of each pair.

    Args:
        good: natural log-probabilities of the acceptable sides, (pairs,); None counts as NaN.
        bad: those of the unacceptable sides, in the same order.

    >>> outcomes([-1.0, -2.0, -3.0, -4.0], [-2.0, -1.0, -3.0, float("nan")]).correct.tolist()
    [True, False, False, False]
    """
    higher, lower = _logprobs(good, "good"), _logprobs(bad, "bad")
    if len(higher) != len(lower):
        raise ValueError(
            f"Mismatched lengths: {len(higher)} values in good, {len(lower)} in bad; expected one per pair."
        )
    nonfinite = ~((higher < np.inf) & (lower < np.inf))  # NaN too
    return Outcomes((higher > lower) & ~nonfinite, (higher == lower) & ~nonfinite, nonfinite)


def _logprobs(values: Any, name: str) -> np.ndarray:
    """Return one side as float64, (pairs,), None as NaN; raises ValueError for anything else that is not a number."""
    values = np.asarray(values) if hasattr(values, "__array__") else values
    try:
        return pa.array(values, pa.float64(), from_pandas=True).to_numpy(zero_copy_only=False)
    except (pa.ArrowException, TypeError) as error:
        raise ValueError(
            f"{name} is not a list of numbers: {error}. Expected a log-probability per sentence."
        ) from error


def paired(good: Sequence[float], bad: Sequence[float], **labels: Sequence[str] | None) -> pd.DataFrame:
    """Return one row per pair: its outcome and those of its labels that are not None."""
    pairs = pd.DataFrame(outcomes(good, bad)._asdict())
    for name, values in labels.items():
        if values is not None:
            column = pd.Series(list(values), dtype=object)
            n = int((column.notna() & (column != "")).sum())
            if not n == len(column) == len(pairs):
                raise ValueError(
                    f"{n} of {len(pairs)} pairs have a {name}. Give a {name} for every pair, or for none."
                )
            pairs[name] = column.map(str)
    return pairs


def accuracies(
    good: Sequence[float],
    bad: Sequence[float],
    paradigm: Sequence[str] | None = None,
    phenomenon: Sequence[str] | None = None,
    field: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Score minimal pairs by paradigm, phenomenon, field and overall.

    Args:
        good: natural log-probability of each pair's acceptable sentence (or word, for the prefix methods), (pairs,).
        bad: those of the unacceptable ones.
        paradigm: each pair's paradigm. Without it, only the overall share of correct pairs is computed.
        phenomenon: each pair's phenomenon. Without it, it is known for BLiMP's paradigms by their names; other
            paradigms then only count in the overall accuracy.
        field: each pair's field. Without it: see `phenomenon`.

    Returns:
        `accuracy` (overall, 0 to 1); `n`, `n_ties`, `n_nonfinite`: pairs, ties, and pairs with NaN or plus infinity
        (both not correct); `by_paradigm`, `by_phenomenon`, `by_field`: for each name a dict with the same four keys
        (and `n_paradigms` in the latter two).

    Raises:
        ValueError: no pairs, columns of different lengths, only some pairs with a paradigm, or a paradigm with two
            phenomena or fields.

    >>> accuracies([-1, -2, -3], [-2, -3, -2], ["a", "a", "b"])["accuracy"]
    0.5
    """
    pairs = paired(good, bad, paradigm=paradigm, phenomenon=phenomenon, field=field)
    if pairs.empty:
        raise ValueError("There are no minimal pairs to score: good and bad are empty.")
    if paradigm is None and {"phenomenon", "field"} & {*pairs}:
        raise ValueError(
            "The scores of a phenomenon or field are means over paradigms. Give the paradigm of each pair as well."
        )
    of_paradigm = pairs.groupby(np.zeros(len(pairs)) if paradigm is None else "paradigm")
    correct, ties, nonfinite = ("correct", "mean"), ("tie", "sum"), ("nonfinite", "sum")
    paradigms = of_paradigm.agg(accuracy=correct, n=("correct", "size"), n_ties=ties, n_nonfinite=nonfinite)
    by = {"by_paradigm": {} if paradigm is None else paradigms.to_dict("index")}
    for place, name in enumerate(("phenomenon", "field")):
        known = {of: labels[place] for of, labels in BLIMP_PARADIGMS.items()}
        label = of_paradigm[name].first() if name in pairs else paradigms.index.to_series().map(known)
        if name in pairs and (several := of_paradigm[name].nunique() > 1).any():
            raise ValueError(
                f"The paradigm {label.index[several][0]!r} has more than one {name}. Give all its pairs the same."
            )
        groups = paradigms.groupby(label)
        by[f"by_{name}"] = {of: _mean(rows) | {"n_paradigms": len(rows)} for of, rows in groups}
    return _mean(paradigms) | by


def _mean(paradigms: pd.DataFrame) -> dict[str, Any]:
    counts = paradigms[["n", "n_ties", "n_nonfinite"]].sum()
    return {"accuracy": float(np.mean(paradigms["accuracy"].to_numpy()))} | counts.to_dict()


def linked_scores(
    name: str,
    logprob: np.ndarray,
    n_tokens: np.ndarray,
    n_bytes: np.ndarray,
    continuation_logprob: np.ndarray | None = None,
    n_continuation_tokens: np.ndarray | None = None,
) -> np.ndarray:
    """Return the score of each sentence, (sentences,); NaN for a sentence without scored tokens.

    Args:
        name: the linking function.
        logprob: natural log-probabilities, (sentences,).
        n_tokens: tokens whose log-probabilities are summed in `logprob`.
        n_bytes: bytes of UTF-8.
        continuation_logprob: natural log-probabilities of what follows the words that a pair's sentences share; only
            `mean_continuation` needs it.
        n_continuation_tokens: tokens whose log-probabilities are summed in `continuation_logprob`.
    """
    lengths: dict[str, Any] = {
        "sum": n_tokens**0, "mean_token": n_tokens, "mean_byte": n_bytes, "slln": n_tokens**0.5,
        "mean_continuation": n_continuation_tokens,
    }  # fmt: skip
    score, length = continuation_logprob if name == "mean_continuation" else logprob, lengths[name]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((n_tokens > 0) & (length > 0), score / length, np.nan)
