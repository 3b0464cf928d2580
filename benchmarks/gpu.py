"""The benchmarks of `make bench-gpu`: large models over all of BLiMP and all of Marvin & Linzen.

To try the code on a CPU: `python -m benchmarks --gpu --device cpu --dtype float32 --size tiny --limit 5`.
"""

from functools import partial
from typing import Any

from tse_scorers.suites import agreement, blimp

from . import data, dtypes, gaps, sentences
from .options import Options


def whole(options: Options, family: str, size: str) -> dict[str, Any]:
    """BLiMP's sentences, and of Marvin & Linzen's templates the gaps and the sentences, all with one model.

    Peers score a sample (`options.peer_sentences`), and their seconds are multiplied up.
    """
    model = options.model(family, size)
    pairs = agreement.load("marvin_linzen", limit=options.limit)
    asked = {
        "blimp": data.both(blimp.load(options.blimp, limit=options.limit)),
        "marvin-linzen": data.both(pairs),
    }
    how = {"torch_compile": options.torch_compile}
    of_sentences = how | {"repeats": options.repeats, "peer_sentences": options.peer_sentences}
    compared = {name: sentences.compare(texts, model, **of_sentences) for name, texts in asked.items()}
    return {
        "parameters": sum(weights.numel() for weights in model.parameters()),
        "dtype": options.dtype,
        "compiled": options.torch_compile,
        **compared,
        "gaps": gaps.compare(pairs, agreement.load_lemmas(), model, **how),
    }


BENCHMARKS = {
    "gpt2-xl": partial(whole, family="gpt2", size="xl"),
    "bert-large": partial(whole, family="bert", size="large"),
    "llama-1b": partial(whole, family="llama", size="1b"),
    "dtypes": dtypes.table,
}
