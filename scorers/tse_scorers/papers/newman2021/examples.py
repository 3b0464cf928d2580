"""Table 3 of Newman et al. (2021): the most probable words at the gap, marked as right or wrong."""

from functools import partial

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
    turn = contexts.groupby("group", sort=False).cumcount()
    papers = positions(contexts)
    turn.iloc[papers] = -1
    shown = EXAMPLES_PER_SYSTEM + len(papers)
    chosen = contexts.assign(turn=turn).sort_values("turn", kind="stable").head(shown)
    forms = chosen[["group", "context_id"]].merge(forms).sort_values("rank", kind="stable")
    examples = []
    for (row, _), of_context in forms.groupby(["group", "context_id"], sort=False):
        top = list(of_context.itertuples())
        listed = [Form(str(f.form), float(f.probability), f.status) for f in top]
        kind = f"{row}, {top[0].number}"
        prefix, suffix = ("" if pd.isna(side) else str(side) for side in (top[0].prefix, top[0].suffix))
        examples.append(Example(system, kind, prefix, suffix, listed))
    return examples
