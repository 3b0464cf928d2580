"""Cost against data size and against vocabulary, each measured in a process of its own."""

import time
from pathlib import Path
from typing import Any

from . import data, machine, models, sentences
from .options import Options

PAIRS = (1_000, 10_000, 100_000)
VOCABULARIES = {30_522: "BERT", 50_257: "GPT-2", 128_256: "Llama 3", 256_000: "Gemma"}


def table(options: Options) -> dict[str, Any]:
    """Measure each data size at GPT-2's vocabulary, and each vocabulary at the middle one."""
    wanted = [(pairs, 50_257) for pairs in PAIRS] + [(PAIRS[1], vocabulary) for vocabulary in VOCABULARIES]
    common = {
        "blimp": None if options.blimp is None else str(options.blimp.resolve()),
        "size": options.size or "tiny",
        "device": options.device,
    }
    rows = [
        machine.in_own_process("benchmarks.scaling", pairs=pairs, vocabulary=vocabulary, **common)
        for pairs, vocabulary in dict.fromkeys(wanted)
    ]
    drawn_from = "Marvin & Linzen" if options.blimp is None else "Marvin & Linzen and BLiMP"
    return {"model": f"GPT-2, {common['size']}", "pairs_drawn_from": drawn_from, "rows": rows}


def measure(pairs: int, vocabulary: int, blimp: str | None, size: str, device: str) -> dict[str, Any]:
    """Score the sentences of some pairs once; returns counts, seconds and GB."""
    texts = data.both(data.mixed_pairs(pairs, None if blimp is None else Path(blimp)))
    scorer = models.load(
        models.make("gpt2", size, vocabulary=vocabulary, device=device), models.byte_level_tokenizer(texts)
    )
    scorer.sentence_logprobs(texts[:256])
    inside: list[float] = []
    run = scorer.run

    def timed_run(*arguments: Any) -> Any:
        started = time.perf_counter()
        values = run(*arguments)
        inside.append(time.perf_counter() - started)
        return values

    scorer.run = timed_run
    seconds, _, held = sentences.timed(scorer.sentence_logprobs, texts, device)
    counted = data.count(data.sentence_ids(texts, scorer.tokenizer))
    return {
        "pairs": pairs,
        "vocabulary": vocabulary,
        **counted,
        "seconds": seconds,
        "tokenizing_and_planning": seconds - sum(inside),
        "microseconds_a_node": 1e6 * seconds / counted["nodes"],
        **held,
    }


if __name__ == "__main__":
    machine.answer(measure)
