"""All forms of all lemmas at a gap, against the run over single-token lemmas and against a loop that shares nothing.

Everything is in processor seconds, so that other work on the machine does not count.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import torch

from tse_scorers.models.queries import Slot
from tse_scorers.suites.agreement.ask import scores as agreement

from . import data, models, work

LEMMA_SAMPLE = 200
"""Lemmas of the sampled run."""
LOOP_FORMS = 12
"""Forms that the loop scores; its time is multiplied up."""


def compare(pairs: pd.DataFrame, lemmas: pd.DataFrame, model: Any, contexts: int) -> dict[str, Any]:
    """Time the single-token run on all contexts, and all forms on some of them, evenly spaced.

    The tokenizer knows every second lemma, so that about half have a form of several tokens, as with real ones.
    """
    known = [f"A {form} ." for form in forms_of(lemmas.iloc[::2])]
    tokenizer = models.tokenizer_for(model, [*data.both(pairs), *known * 2])
    scorer = models.load(model, tokenizer)
    prefixes = pairs["prefix"].unique()
    slots = [Slot(prefix, ".") for prefix in prefixes[:: max(len(prefixes) // contexts, 1)][:contexts]]
    single = _seconds(lambda: agreement.score_contexts(scorer, pairs, lemmas)) / len(prefixes)
    every = forms_of(lemmas)
    some = forms_of(lemmas.sample(min(LEMMA_SAMPLE, len(lemmas)), random_state=0))
    rows = [{"work": "single tokens, EW and MW", "ms a context": 1e3 * single, "times that": 1.0}]
    for forms, word_end in ((every, False), (every, True), (some, False), (some, True)):
        with work.recorded() as ran:
            took = _seconds(partial(scorer.form_logprobs, slots, forms, word_end)) / len(slots)
        rows.append(
            {
                "work": f"{len(forms)} forms, {'with' if word_end else 'without'} word end",
                "nodes a context": round(sum(int(one.batch.present.sum()) for one in ran) / len(slots)),
                "ms a context": 1e3 * took,
                "times that": took / single,
            }
        )
    took = _loop_seconds(scorer, slots[0], every)
    rows.append(
        {"work": "all, with word end, by a loop", "ms a context": 1e3 * took, "times that": took / single}
    )
    return {
        "model": models.describe(scorer.model),
        "contexts": len(prefixes),
        "tokens of a form": np.bincount(scorer.form_lengths(every)).tolist(),
        "rows": rows,
    }


def forms_of(lemmas: pd.DataFrame) -> list[str]:
    """Return the different forms of lemmas."""
    return list(pd.unique(pd.concat([lemmas["singular"], lemmas["plural"]])))


def _seconds(function: Callable[[], Any]) -> float:
    started = time.process_time()
    function()
    return time.process_time() - started


@torch.inference_mode()
def _loop_seconds(scorer: Any, slot: Slot, forms: Sequence[str]) -> float:
    """Return the processor seconds of a context with one forward pass per token, estimated from some forms."""
    (context,) = scorer.slot_ids([slot.prefix])
    ids = scorer.form_ids(forms)
    tried = ids[:: max(len(ids) // LOOP_FORMS, 1)][:LOOP_FORMS]

    def loop() -> None:
        for form in tried:
            for length in range(len(form) + 1):
                model_input = torch.tensor([context + form[:length]])
                scorer.model(input_ids=model_input, use_cache=False).logits[0, -1].log_softmax(-1)

    passes = sum(len(form) + 1 for form in ids) / sum(len(form) + 1 for form in tried)
    return _seconds(loop) * passes
