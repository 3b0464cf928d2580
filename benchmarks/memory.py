"""Peak memory with a large vocabulary, in a process of its own: `python -m benchmarks memory`."""

from typing import Any

import numpy as np

from . import machine, models, sentences


def measure(
    vocabulary: int = 256_000, tokens: int = 20_000, size: str = "tiny", device: str = "cpu"
) -> dict[str, Any]:
    """Return the memory, in GB, that is held before scoring random words and the most that scoring adds."""
    words = [f"w{index}" for index in range(5000)]
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(words, 10)) for _ in range(tokens // 10)]
    model = models.make("gpt2", size, vocabulary=vocabulary, device=device)
    scorer = models.load(model, models.byte_level_tokenizer(texts))
    del model
    scorer.sentence_logprobs(texts[:2])
    _, _, held = sentences.timed(scorer.sentence_logprobs, texts, device)
    return {"vocabulary": vocabulary, "tokens": int(scorer.token_counts(texts).sum()) + len(texts), **held}


if __name__ == "__main__":
    machine.answer(measure)
