"""Minimal variation set AUC (`evaluate` module): German verb argument structure, Rochereau et al. (2020)."""

from typing import Any

import datasets
import evaluate
import pandas as pd

from .definitions import VERSION, Column, as_numbers, variation_rows

_DESCRIPTION = """\
AUC of acceptable German sentences against their minimal violations. An acceptable sentence has one
nominative, one dative and one accusative argument; each violation replaces one case by another that is
already there. A set's AUC is the share of its violations that score below the acceptable sentence, ties
counting half. Means over templates give 36 cells (6 case orders x 6 role assignments), means over cells the
rest.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: one score per sentence, higher for what is more acceptable (for instance natural-log
        probabilities). A comparison with NaN or plus infinity counts 0 and is reported.
    template: which template a sentence is made from (numbers or strings).
    cases: the three cases in the order of the sentence, `NDA` or, with one doubled, `NNA`.
    positions: the numbers of the three nouns in the order of the sentence, `"213"` or `213`.
    scores: where `predictions` is a data set that a scorer's `map` added scores to (or a data frame or list of its
        rows), the column of scores; default: `logprob_sentence`. `template`, `cases` and `positions` then name
        columns, by default those names.
    incomplete: `"raise"` (default) where an acceptable sentence lacks a violation, or `"exclude"` the set.

Returns:
    `auc`: overall mean per kind of set (`1-6`, `1-2_nominative`, `1-2_accusative`, `1-2_dative`), in 0 to 1.
    `cells`, `case_order`, `role_assignment`: AUCs per kind of set and cell (`NDA|ag1,re2,pa3`), case order
        (`NDA`) and role assignment (`ag1,re2,pa3`).
    `n_sets`, `n_excluded`, `n_ties`, `n_nonfinite`: sets scored and excluded, and comparisons that are
        tied or have a score that is NaN or plus infinity, in the (1-6) sets.
    `rows`: everything as a flat list with `variation_set`, `group`, `auc` and the counts.
    `signature`: metric, version and how incomplete sets are treated.

Examples:
    One template, 144 sentences, by a scorer that only looks at whether each case is there once:

    >>> from itertools import permutations, product
    >>> cases = ["".join(c) for c in product("NDA", repeat=3) if len(set(c)) > 1] * 6
    >>> positions = ["".join(p) for p in permutations("123") for _ in range(24)]
    >>> scores = [float(len(set(c)) == 3) for c in cases]
    >>> metric = evaluate.load("metrics/minimal_variation_auc")
    >>> result = metric.compute(predictions=scores, template=[0] * 144, cases=cases, positions=positions)
    >>> result["auc"]["1-6"], result["cells"]["1-2_dative"]["NDA|ag1,re2,pa3"], result["n_sets"]
    (1.0, 1.0, 36)
"""

_CITATION = """\
@article{rochereau2020neural,
  title={Neural language modeling of free word order argument structure},
  author={Rochereau, Charlotte and Sagot, Beno{\\^\\i}t and Dupoux, Emmanuel},
  journal={arXiv preprint arXiv:1912.00239},
  year={2020}
}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class MinimalVariationAUC(evaluate.Metric):
    """Cells and means of the AUC over minimal variation sets."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features(
                predictions=datasets.Value("float64"), template=text, cases=text, positions=text
            ),
        )

    def add_batch(self, *, predictions: Column = (), **columns: Column) -> None:
        """Add sentences; `template` and `positions` may be numbers or strings."""
        scores = as_numbers(predictions)
        strings = {name: [str(value) for value in column] for name, column in columns.items()}
        lengths = {"predictions": len(scores)} | {name: len(column) for name, column in strings.items()}
        if len(set(lengths.values())) > 1 or not len(scores):
            raise ValueError(
                f"The columns have different lengths, or none: {lengths}. Give one value per sentence."
            )
        super().add_batch(predictions=scores, **strings)

    def compute(
        self, *, predictions: Any = None, scores: str = "logprob_sentence", **others: Any
    ) -> dict[str, Any]:
        """Compute the AUCs of the sentences added and of those given here, or of a scored data set."""
        is_list_of_rows = isinstance(predictions, list) and predictions and isinstance(predictions[0], dict)
        if not (is_list_of_rows or hasattr(predictions, "columns") or hasattr(predictions, "column_names")):
            batch = {} if predictions is None else {"predictions": predictions}
            result: dict[str, Any] = super().compute(**batch, **others)
            return result
        names = {name: others.get(name) or name for name in ("template", "cases", "positions")}
        columns = _columns(predictions, {"predictions": scores, **names})
        return self._compute(**columns, incomplete=others.get("incomplete", "raise"))

    def _compute(
        self,
        predictions: Column,
        template: Column,
        cases: Column,
        positions: Column,
        incomplete: str = "raise",
    ) -> dict[str, Any]:
        rows = variation_rows(predictions, map(str, template), cases, positions, incomplete)
        aucs: dict[str, dict[str, dict[str, float]]] = {}
        for row in rows:
            level, _, value = row["group"].partition(":")
            aucs.setdefault(level, {}).setdefault(row["variation_set"], {})[value] = row["auc"]
        total = next(row for row in rows if row["variation_set"] == "1-6" and row["group"] == "all")
        return {
            "auc": {kind: of_kind[""] for kind, of_kind in aucs["all"].items()},
            "cells": aucs["cell"],
            "case_order": aucs["case_order"],
            "role_assignment": aucs["role"],
            "n_sets": total["n"],
            **{name: total[name] for name in ("n_excluded", "n_ties", "n_nonfinite")},
            "rows": rows,
            "signature": {"metric": "minimal_variation_auc", "version": VERSION, "incomplete": incomplete},
        }


def _columns(scored: Any, names: dict[str, str]) -> dict[str, list[Any]]:
    """Return columns of a scored data set by the argument that names each."""
    scored = scored.to_pandas() if isinstance(scored, datasets.Dataset) else pd.DataFrame(scored)
    if missing := [name for name in names.values() if name not in scored]:
        raise ValueError(
            f"The predictions lack {', '.join(missing)}; they have {', '.join(map(str, scored)) or 'no columns'}. Add "
            "scores with scorer.map(dataset, columns=[...]), or correct the name of a column of your own."
        )
    return {argument: scored[name].tolist() for argument, name in names.items()}
