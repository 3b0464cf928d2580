"""Gaps: EW and MW with all cut-offs, against loops over contexts, cut-offs and lemmas."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch

from tse_scorers.engine.trie import build_trie
from tse_scorers.io.bundle import metric_modules
from tse_scorers.suites.agreement.ask import scores as agreement
from tse_scorers.suites.agreement.ask.inflections import inflections_in_vocabulary

from . import data, kinds, literal, machine, models, sentences, work


def compare(
    pairs: pd.DataFrame,
    lemmas: pd.DataFrame,
    model: Any,
    *,
    literal_contexts: int = 40,
    torch_compile: bool = False,
) -> dict[str, Any]:
    """Time EW and MW with all cut-offs: ours on all contexts, each loop of `literal` on some, per context.

    The loops run one context at a time through the whole model.
    """
    words = [f"A {form} ." for form in pd.concat([lemmas["singular"], lemmas["plural"]])]
    tokenizer = models.tokenizer_for(model, [*data.both(pairs), *words * 30])
    scorer = models.load(model, tokenizer, torch_compile=torch_compile)
    device, dtype = str(model.device), model.dtype
    agreement.score_contexts(scorer, pairs.iloc[:: max(len(pairs) // sentences.warm_up(model), 1)], lemmas)
    rates = [machine.matmul_rate(device, dtype)]
    with work.recorded() as ran:
        seconds, scores, memory = sentences.timed(
            lambda asked: agreement.score_contexts(scorer, asked, lemmas), pairs, device
        )
    forward = work.forward_seconds(scorer.forward, ran)
    rates.append(machine.matmul_rate(device, dtype))
    contexts = scores.contexts.to_pandas().drop_duplicates("context_id")
    some = contexts.iloc[:: max(len(contexts) // literal_contexts, 1)]
    everybody = {"ours": seconds} | {
        name: len(contexts) * _seconds_a_context(loop, model, scorer, some, lemmas)
        for name, loop in {"literal loop": literal.as_defined, "ranked once": literal.ranked_once}.items()
    }
    return {
        "model": models.describe(scorer.model),
        "contexts": len(contexts),
        "lemmas": len(inflections_in_vocabulary(scorer, lemmas)),
        "vocabulary": model.config.vocab_size,
        "seconds": everybody,
        **sentences.rates(_operations(scorer, contexts, ran), everybody, forward, rates),
        "time_by_kind": kinds.of_time(lambda: agreement.score_contexts(scorer, pairs, lemmas), device),
        **memory,
    }


def _operations(scorer: Any, contexts: pd.DataFrame, ran: Sequence[work.Ran]) -> float:
    """Multiplications and additions of the least that must be computed."""
    if models.is_masked(scorer.model):
        return work.operations_of_rows(scorer.forward, ran)
    trie = build_trie(scorer.tokenizer(contexts["prefix"].tolist())["input_ids"])
    return work.operations(scorer.model, len(trie), len(contexts))


def _seconds_a_context(
    loop: literal.Loop, model: Any, scorer: Any, contexts: pd.DataFrame, lemmas: pd.DataFrame
) -> float:
    found = inflections_in_vocabulary(scorer, lemmas)
    forms = np.stack([found.singular, found.plural], axis=1)
    in_order = {"singular": forms.tolist(), "plural": forms[:, ::-1].tolist()}
    cutoffs = metric_modules("refined_tse").cutoffs
    started = time.perf_counter()
    for context in contexts.itertuples():
        probabilities = _probabilities(model, scorer.tokenizer, context)
        loop(probabilities, in_order[context.number], cutoffs.TOP_CUTOFFS, cutoffs.BOTTOM_CUTOFFS)
    return (time.perf_counter() - started) / len(contexts)


@torch.no_grad()
def _probabilities(model: Any, tokenizer: Any, context: Any) -> np.ndarray:
    """(vocabulary,) the distribution at a context's gap."""
    masked = models.is_masked(model)
    text = f"{context.prefix} {tokenizer.mask_token}{context.suffix}" if masked else context.prefix
    ids = tokenizer(text, return_tensors="pt")["input_ids"].to(model.device)
    at = int((ids[0] == tokenizer.mask_token_id).nonzero()[0, 0]) if masked else -1
    return model(input_ids=ids).logits[0, at].double().softmax(-1).cpu().numpy()
