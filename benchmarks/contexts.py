"""What a sweep over lengths of contexts costs: nodes of the prefix tree against naive concatenation.

Counts only, which are the same on every machine.
"""

from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from tse_scorers.engine.plan import TriePlan
from tse_scorers.engine.readers import Reader
from tse_scorers.suites.minimal_pairs.ask.context_queries import Sweep
from tse_scorers.suites.minimal_pairs.context_scores import score_in_context
from tse_scorers.suites.minimal_pairs.data.contexts import make_chains, parts_of

from . import data, models

LENGTHS = (0, 1, 2, 4, 8, 16)
"""Numbers of context sentences."""


def compare(pairs: pd.DataFrame, model: Any, kinds: tuple[str, ...] = ("matched",)) -> dict[str, Any]:
    """Count the tokens of each construction's sweep; see the columns.

    | column | tokens |
    |---|---|
    | `concatenated` | of all texts, each run by itself |
    | `contexts + suffixes` | of each chain of context sentences once, and of the sentences after each length |
    | `nodes` | of the prefix tree: what must be computed at least |
    | `computed` | of the packed rows that are run |
    """
    tokenizer = models.tokenizer_for(model, data.both(pairs))
    scorer = models.load(model, tokenizer)
    sweep = Sweep(kinds, LENGTHS, ())
    table = _as_paradigms(pairs)
    rows = []
    for name, own in table.groupby("paradigm", sort=False):
        chains = make_chains(table, own, kinds, sweep.longest)
        plans: list[TriePlan] = []
        with patch.object(scorer, "run", partial(_kept, plans)):
            scores = score_in_context(scorer, own, chains, sweep).to_pandas()
        plan = plans[0]
        of_chains = sum(
            len(ids)
            for ids in data.sentence_ids([" ".join(c) for of in chains for c in of.values()], tokenizer)
        )
        concatenated = len(plan.trie.places)
        before = 2 * int(scores["n_context_tokens"].sum())
        rows.append(
            {
                "construction": name,
                "pairs": len(own),
                "concatenated": concatenated,
                "contexts + suffixes": of_chains + concatenated - before,
                "nodes": len(plan.trie),
                "computed": int(plan.lengths.sum()),
                "saved": concatenated / int(plan.lengths.sum()),
            }
        )
    return {"model": models.describe(scorer.model), "lengths": str(LENGTHS), "rows": rows}


def _kept(plans: list[TriePlan], plan: TriePlan, reader: Reader, progress: object) -> Any:
    plans.append(plan)
    return np.zeros((reader.n_answers, reader.width))


def _as_paradigms(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return pairs of agreement in the columns of minimal pairs."""
    table = pd.DataFrame(
        {
            "paradigm": pairs["construction"],
            "phenomenon": pairs["group"],
            "field": "syntax",
            "pair_id": range(len(pairs)),
        }
        | {side: pairs[side] for side in ("sentence_good", "sentence_bad")}
    ).reset_index(drop=True)
    return table.assign(part=parts_of(table))
