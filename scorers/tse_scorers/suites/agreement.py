"""Subject-verb agreement: TSE, EW and MW of one model over agreement templates (Newman et al. 2021).

Pairs become contexts, unique as the model sees them; each context is read once, at its gap, and reduced at once
to its row of scores (EW, MW and covered mass at every cut-off) by the functions of `metrics/refined_tse`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..bundle import definitions, load_data
from ..engine.run import Progress
from ..engine.trie import Indices, digest
from ..inflections import Inflections, inflections_in_vocabulary
from ..pretrained import PretrainedScorer
from ..queries import Slot
from ..results import Row
from .tables import fingerprint, is_table, read_table, require_columns

COLUMNS = ("table_row", "prefix", "suffix", "verb_correct", "verb_incorrect", "number")
FORMS_SHOWN = 10
CONTEXTS_SHOWN = 2
"""contexts of each table row whose most probable forms are kept (the paper's Table 3)"""

_MEASURES = ("ew", "mw", "covered_mass")
_COUNTS = ("n_lemmas", "n_ties", "n_nonfinite")


@dataclass(frozen=True)
class AgreementScores:
    """Scores of one model before averaging.

    Attributes:
        contexts: one row per context and table row, with a column per measure and cut-off.
        pairs: one row per minimal pair: log-probabilities of its own verb's forms, TSE (null if not scorable).
        top_forms: the most probable forms in a sample of contexts.
    """

    contexts: pa.Table
    pairs: pa.Table
    top_forms: pa.Table


def load(
    dataset: str = "marvin_linzen",
    source: Path | None = None,
    groups: Sequence[str] | None = None,
    limit: int | None = None,
) -> pd.DataFrame:
    """Load agreement pairs.

    Args:
        dataset: `marvin_linzen` (shipped), a configuration of `blimp_agreement`, a file, or a Hub data set
            `org/name[@revision]`.
        source: folder where built data sets lie (`blimp_agreement/<config>/test.parquet`).
        groups: only these rows of Table 2.
        limit: at most so many pairs of each row, the same at every call.

    Raises:
        ValueError: the data cannot be found, lacks columns or rows, or has no such group.
    """
    frame = _read(dataset, source)
    require_columns(frame, COLUMNS, f"The data set {dataset!r}")
    wrong = ~frame["number"].isin(["singular", "plural"])
    if wrong.any():
        raise ValueError(
            f"The column 'number' holds {frame['number'][wrong].iloc[0]!r}; expected singular or plural."
        )
    if groups:
        there = frame["table_row"].unique().tolist()
        unknown = sorted(set(groups) - set(there))
        if unknown:
            raise ValueError(
                f"No table row {', '.join(map(repr, unknown))}; choose from: {', '.join(there)}."
            )
        frame = frame[frame["table_row"].isin(groups)]
    if limit is not None:
        if limit < 1:
            raise ValueError(f"A limit of {limit} leaves nothing to score; expected 1 or more.")
        chosen = frame.sample(frac=1.0, random_state=0).groupby("table_row").head(limit)
        frame = frame.loc[chosen.index.sort_values()]
    return frame.reset_index(drop=True)


def _read(dataset: str, source: Path | None) -> pd.DataFrame:
    if dataset == "marvin_linzen":
        return load_data("agreement_templates", dataset).to_pandas()
    if dataset in ("newman2021", "blimp"):
        if source is None:
            return load_data("blimp_agreement", dataset).to_pandas()
        return read_table(source / "blimp_agreement" / dataset / "test.parquet")
    if is_table(dataset):
        return read_table(Path(dataset))
    if "/" in dataset:
        return load_data(dataset).to_pandas()
    raise ValueError(
        f"Unknown agreement data set {dataset!r}; expected marvin_linzen, newman2021, blimp, a file or org/name."
    )


def load_lemmas(lemmas: str = "released") -> pd.DataFrame:
    """Load a lemma list: `released`, `clean`, or a file with the columns `singular` and `plural`.

    Raises:
        ValueError: there is no such list, or it lacks a column or rows.
    """
    if not is_table(lemmas):
        return load_data("verb_lemmas", lemmas).to_pandas()
    frame = read_table(Path(lemmas))
    require_columns(frame, ("singular", "plural"), f"The lemma list {lemmas!r}")
    return frame


def signature(
    scorer: PretrainedScorer, pairs: pd.DataFrame, lemmas: pd.DataFrame, dataset: str
) -> dict[str, Any]:
    """Return what makes the scores these and no others."""
    weighting = definitions("refined_tse").weighting
    return {
        "suite": "agreement",
        "metric": "refined_tse",
        "metric_version": weighting.VERSION,
        "cutoffs_top": list(weighting.TOP_CUTOFFS),
        "cutoffs_bottom": list(weighting.BOTTOM_CUTOFFS),
        "dataset": dataset,
        "dataset_fingerprint": fingerprint(pairs[list(COLUMNS)]),
        "n_pairs": len(pairs),
        "lemmas_fingerprint": fingerprint(lemmas[["singular", "plural"]]),
        "n_lemmas_listed": len(lemmas),
        **scorer.signature,
    }


def score(
    scorer: PretrainedScorer, pairs: pd.DataFrame, lemmas: pd.DataFrame, progress: Progress | None = None
) -> AgreementScores:
    """Score every context and pair with one model.

    Args:
        scorer: a masked or causal scorer.
        pairs: the columns `COLUMNS`; `construction` and `pair_id` are kept where they are there.
        lemmas: columns `singular` and `plural`.
        progress: told (tokens done, tokens in all).

    Raises:
        ValueError: see `load` and `inflections_in_vocabulary`; or the model gave NaN.
    """
    require_columns(pairs, COLUMNS, "The table of pairs")
    inflections = inflections_in_vocabulary(scorer, lemmas)
    unit_columns = [*scorer.context_columns, "number"]  # type: ignore[attr-defined]
    pairs = pairs.assign(unit=pairs.groupby(unit_columns, sort=False).ngroup())
    units = pairs.drop_duplicates("unit").sort_values("unit")
    slots = [Slot(prefix, suffix) for prefix, suffix in zip(units["prefix"], units["suffix"], strict=True)]
    is_singular = (units["number"] == "singular").to_numpy()
    own = _OwnVerbs(scorer, pairs)
    reading = _Reading(inflections, is_singular, own.ids)
    values = scorer.read_slots(slots, reading, reading.width, progress)  # type: ignore[attr-defined]
    return AgreementScores(
        contexts=_context_table(pairs, values[:, : reading.n_scores]),
        pairs=own.table(pairs, values[:, reading.n_scores :]),
        top_forms=_top_forms(scorer, units, slots, is_singular, inflections),
    )


def score_columns() -> Iterator[str]:
    """Names of the score columns of a table of contexts, in order: `ew_top_0.1` … `covered_mass_bottom_1e-06`."""
    weighting = definitions("refined_tse").weighting
    for side, cutoffs in (("top", weighting.TOP_CUTOFFS), ("bottom", weighting.BOTTOM_CUTOFFS)):
        for measure in _MEASURES:
            yield from (f"{measure}_{side}_{cutoff:g}" for cutoff in cutoffs)


def rows(contexts: pd.DataFrame, pairs: pd.DataFrame) -> list[Row]:
    """Average the scores of contexts and pairs over each table row and over all.

    Args:
        contexts: `AgreementScores.contexts`.
        pairs: `AgreementScores.pairs`.

    Returns:
        Rows with `group`, `metric` (tse, ew, mw, covered_mass, share_without_lemmas), `cutoff_side`, `cutoff`,
        `score`, `n` (contexts or pairs averaged), `n_excluded` (left out: no lemma inside the cut-off, or a
        verb that is no single token) and `n_ties`. Over all, a context that counts into several table rows
        counts once.
    """
    aggregate = definitions("refined_tse").averaging.aggregate
    unique = contexts.drop_duplicates("context_id")
    averaged = aggregate(_context_scores(unique))
    by_group = aggregate(_context_scores(contexts), contexts["table_row"].tolist())
    averaged += [row for row in by_group if row["group"] != "all"]
    kept = ("group", "metric", "cutoff_side", "cutoff", "score", "n", "n_excluded", "n_ties")
    groups = [("all", pairs), *pairs.groupby("table_row", sort=False)]
    found = [_tse_row(str(group), of_group) for group, of_group in groups]
    found += [{key: row[key] for key in kept} for row in averaged]
    order = ["all", *contexts["table_row"].unique()]
    return sorted(found, key=lambda row: order.index(row["group"]))


def _tse_row(group: str, pairs: pd.DataFrame) -> Row:
    judged = pairs["tse"].dropna()
    return {
        "group": group,
        "metric": "tse",
        "cutoff_side": None,
        "cutoff": None,
        "score": float(judged.mean()) if len(judged) else float("nan"),
        "n": len(judged),
        "n_excluded": len(pairs) - len(judged),
        "n_ties": int((pairs["logprob_correct"] == pairs["logprob_incorrect"]).sum()),
    }


def _context_scores(contexts: pd.DataFrame) -> Any:
    """Give a table of contexts back the form that the metric averages."""
    weighting = definitions("refined_tse").weighting
    sides = [
        weighting.SideScores(
            *(
                contexts[[f"{measure}_{side}_{cutoff:g}" for cutoff in cutoffs]].to_numpy()
                for measure in _MEASURES
            )
        )
        for side, cutoffs in (("top", weighting.TOP_CUTOFFS), ("bottom", weighting.BOTTOM_CUTOFFS))
    ]
    counts = [contexts[name].to_numpy() for name in _COUNTS]
    return weighting.ContextScores(*sides, *counts, weighting.TOP_CUTOFFS, weighting.BOTTOM_CUTOFFS)


class _Reading:
    """From the logits at some gaps to rows of scores: every cut-off's, counts, and the own verbs' log-probabilities."""

    def __init__(self, inflections: Inflections, is_singular: NDArray[np.bool_], own_ids: Indices) -> None:
        self._metric = definitions("refined_tse")
        self._inflections = inflections
        self._is_singular = is_singular
        self._own_ids = own_ids
        self.n_scores = len(list(score_columns())) + len(_COUNTS)
        self.width = self.n_scores + len(own_ids)
        asked = digest(inflections.singular, inflections.plural, is_singular.astype(np.int64), own_ids)
        self.fingerprint = f"{self._metric.weighting.VERSION} {asked}"

    def __call__(self, logits: Tensor, slots: Indices) -> NDArray[np.float64]:
        singular, plural, own = (
            torch.from_numpy(ids).to(logits.device)
            for ids in (self._inflections.singular, self._inflections.plural, self._own_ids)
        )
        swapped = torch.from_numpy(self._is_singular[slots]).to(logits.device)
        scores = self._metric.scoring.logit_scores(logits, plural, singular, swapped)
        columns = [getattr(side, measure) for side in (scores.top, scores.bottom) for measure in _MEASURES]
        columns += [getattr(scores, name)[:, None] for name in _COUNTS]
        if len(own):
            columns.append(self._metric.ranking.form_logprobs(logits, own))
        return np.concatenate([torch.as_tensor(column).cpu().numpy() for column in columns], axis=1)


class _OwnVerbs:
    """The templates' own verb forms, for TSE."""

    def __init__(self, scorer: PretrainedScorer, pairs: pd.DataFrame) -> None:
        words = pd.unique(pd.concat([pairs["verb_correct"], pairs["verb_incorrect"]]))
        ids = scorer.single_token_ids(words.tolist())
        self.ids = ids[ids >= 0]
        self._column = pd.Series(np.cumsum(ids >= 0) - 1, index=words).where(ids >= 0, -1)

    def table(self, pairs: pd.DataFrame, logprobs: NDArray[np.float64]) -> pa.Table:
        """Return the table of pairs; `logprobs` is (units, own forms)."""
        padded = np.column_stack([logprobs, np.full(len(logprobs), np.nan)])
        unit = pairs["unit"].to_numpy()
        correct = padded[unit, self._column[pairs["verb_correct"]].to_numpy()]
        incorrect = padded[unit, self._column[pairs["verb_incorrect"]].to_numpy()]
        scorable = ~np.isnan(correct) & ~np.isnan(incorrect)
        judged = definitions("refined_tse").weighting.is_correct(correct, incorrect)
        kept = [
            c
            for c in ("pair_id", "table_row", "construction", "verb_correct", "verb_incorrect")
            if c in pairs
        ]
        return pa.table(
            {column: pairs[column].to_numpy() for column in kept}
            | {
                "context_id": unit,
                "logprob_correct": pa.array(correct, from_pandas=True),
                "logprob_incorrect": pa.array(incorrect, from_pandas=True),
                "tse": pa.array(judged.astype(np.int8), mask=~scorable),
            }
        )


def _context_table(pairs: pd.DataFrame, values: NDArray[np.float64]) -> pa.Table:
    columns = [c for c in ("table_row", "construction", "number", "prefix", "suffix") if c in pairs]
    contexts = pairs.drop_duplicates(["unit", "table_row"])
    scores = values[contexts["unit"].to_numpy()]
    names = [*score_columns(), *_COUNTS]
    table = {"context_id": contexts["unit"].to_numpy()} | {c: contexts[c].to_numpy() for c in columns}
    for index, name in enumerate(names):
        table[name] = scores[:, index].astype(np.int64) if name.startswith("n_") else scores[:, index]
    return pa.table(table)


def _top_forms(
    scorer: PretrainedScorer,
    units: pd.DataFrame,
    slots: list[Slot],
    is_singular: NDArray[np.bool_],
    inflections: Inflections,
) -> pa.Table:
    """Return the most probable tokens of a few contexts of each table row, right and wrong verbs told apart."""
    chosen = np.concatenate(
        [_spread(rows.to_numpy()) for _, rows in units.groupby("table_row", sort=False)["unit"]]
    )
    shown = min(FORMS_SHOWN, scorer.forward.vocabulary_size)

    def most_probable(logits: Tensor, _: Indices) -> NDArray[np.float64]:
        top = torch.softmax(logits, dim=-1).topk(shown, dim=-1)
        # In this order: MPS has no float64.
        return torch.cat([top.indices.cpu().double(), top.values.cpu().double()], dim=1).numpy()

    values = scorer.read_slots([slots[unit] for unit in chosen], most_probable, 2 * shown)  # type: ignore[attr-defined]
    correct, incorrect = inflections.correct_and_incorrect(is_singular[chosen])
    rows: list[Row] = []
    for row, unit in enumerate(chosen):
        status = dict.fromkeys(incorrect[row].tolist(), "incorrect") | dict.fromkeys(
            correct[row].tolist(), "correct"
        )
        context = units.iloc[unit]
        for rank in range(shown):
            token = int(values[row, rank])
            rows.append(
                {
                    "context_id": int(unit),
                    "table_row": context["table_row"],
                    "prefix": context["prefix"],
                    "suffix": context["suffix"],
                    "number": context["number"],
                    "rank": rank + 1,
                    "form": scorer.tokenizer.decode([token]).strip()
                    or repr(scorer.tokenizer.decode([token])),
                    "probability": float(values[row, shown + rank]),
                    "status": status.get(token, "other"),
                }
            )
    return pa.Table.from_pylist(rows)


def _spread(units: NDArray[Any]) -> NDArray[Any]:
    """A few of these units, evenly spread."""
    places = np.linspace(0, len(units) - 1, CONTEXTS_SHOWN + 2)[1:-1]
    return units[np.unique(places.astype(int))]
