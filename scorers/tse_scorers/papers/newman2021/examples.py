"""Table 3 of Newman et al. (2021): the most probable words at the gap, marked as right or wrong."""

from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from ...report.blocks import Example, Examples, Form, View
from ...report.inputs import Runs
from ...suites.agreement.data.paper_examples import TABLE_3, positions
from ..published import published

EXAMPLES_PER_SYSTEM = 9


_FORMS = ("context_id", "group", "prefix", "suffix", "number", "rank", "form", "probability", "status")


TEXT = (
    "Right and wrong are marked for the forms of listed verbs (✓ the right number, ✗ the wrong one), also where a form "
    "can be another word: order can be a noun, and will, in the released list as the plural of wills, is right as a "
    "modal (--lemmas clean is without such verbs). Other words (most past tenses, verbs that the list lacks) are not "
    "judged. Probabilities are the model's own. The first two contexts are those of the paper's Table 3, where the "
    "data has them."
)
_MODEL = "bert-large-cased (published)"


def example_view(runs: Runs) -> View:
    """Return the sampled contexts of every model, if a run wrote them."""
    return View("The most probable words (Table 3)", TEXT, partial(_cards, runs))


def _cards(runs: Runs) -> list[Examples]:
    items = [
        example
        for file in runs.scores("agreement", "top_forms")
        for example in _examples(file.read(_FORMS), file.system)
    ]
    if any((example.prefix.strip(), example.suffix.strip()) in TABLE_3 for example in items):
        items = [*published_examples(), *items]
    return [Examples("Most probable words at the gap.", items)] if items else []


def published_examples() -> list[Example]:
    """Return the table as printed."""
    table = published("newman2021_table3")
    return [
        Example(
            _MODEL,
            "Table 3",
            str(prefix),
            str(suffix),
            [Form(str(row.form), float(row.probability), row.status) for row in of_context.itertuples()],
        )
        for (prefix, suffix), of_context in table.groupby(["prefix", "suffix"], sort=False)
    ]


def _examples(forms: pd.DataFrame, system: str) -> list[Example]:
    """Pick the sentences of Table 3, then contexts evenly over the rows of Table 2, the first of each row first."""
    contexts = forms.drop_duplicates(["group", "context_id"])
    turn = np.array(contexts.groupby("group", sort=False).cumcount())
    papers = positions(contexts)
    turn[papers] = -1
    chosen = contexts.iloc[np.argsort(turn, kind="stable")[: EXAMPLES_PER_SYSTEM + len(papers)]]
    top: dict[Any, list[tuple[int, Form]]] = {}
    columns = (
        forms[name].tolist() for name in ("group", "context_id", "rank", "form", "probability", "status")
    )
    wanted = set(zip(chosen["group"], chosen["context_id"], strict=True))
    for group, context_id, rank, form, probability, status in zip(*columns, strict=True):
        if (group, context_id) in wanted:
            listed = Form(str(form), float(probability), status)
            top.setdefault((group, context_id), []).append((rank, listed))
    return [
        Example(
            system,
            f"{context.group}, {context.number}",
            "" if pd.isna(context.prefix) else str(context.prefix),
            "" if pd.isna(context.suffix) else str(context.suffix),
            [form for _, form in sorted(top[context.group, context.context_id], key=itemgetter(0))],
        )
        for context in chosen.itertuples()
    ]
