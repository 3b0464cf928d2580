"""The benchmarks of `make bench-gpu`: large models over all of BLiMP and all of Marvin & Linzen.

The other tools score only a sample, and their seconds are extrapolated: all data would take them too long. To try the
code on a CPU:
`python -m benchmarks --gpu --device cpu --dtype float32 --size tiny --limit 5`.
"""

from functools import partial
from typing import Any

from tse_scorers.suites.agreement.ask import scores as agreement
from tse_scorers.suites.minimal_pairs import scores as blimp_suite

from . import data, dtypes, gaps, sentences
from .options import Options


def blimp(options: Options, family: str, size: str) -> dict[str, Any]:
    """Both sentences of all pairs of BLiMP."""
    texts = data.both(blimp_suite.load(options.blimp, limit=options.limit))
    return _sentences(texts, options, family, size)


def marvin_linzen(options: Options, family: str, size: str) -> dict[str, Any]:
    """Both sentences of all pairs of Marvin & Linzen."""
    texts = data.both(agreement.load("marvin_linzen", limit=options.limit))
    return _sentences(texts, options, family, size)


def all_gaps(options: Options, family: str, size: str) -> dict[str, Any]:
    """EW and MW with all cut-offs at all gaps of Marvin & Linzen."""
    pairs = agreement.load("marvin_linzen", limit=options.limit)
    model = options.model(family, size)
    return gaps.compare(pairs, agreement.load_lemmas(), model, torch_compile=options.torch_compile)


def _sentences(texts: list[str], options: Options, family: str, size: str) -> dict[str, Any]:
    return sentences.compare(
        texts,
        options.model(family, size),
        repeats=options.repeats,
        peer_sentences=options.peer_sentences,
        torch_compile=options.torch_compile,
    )


MODELS = {"gpt2-xl": ("gpt2", "xl"), "bert-large": ("bert", "large"), "llama-1b": ("llama", "1b")}
WORK = {"blimp": blimp, "marvin-linzen": marvin_linzen, "gaps": all_gaps}
BENCHMARKS = {
    f"{model}/{name}": partial(function, family=family, size=size)
    for model, (family, size) in MODELS.items()
    for name, function in WORK.items()
} | {"dtypes": dtypes.table}
