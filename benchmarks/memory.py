"""Peak memory with a large vocabulary; run in a process of its own: `python -m benchmarks.memory`."""

import json
import resource
import sys

import numpy as np

from tse_scorers.causal import CausalScorer

from . import models


def peak_gigabytes() -> float:
    """Return the most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main(vocabulary: int = 256_000, tokens: int = 20_000) -> None:
    """Print the peak before and after scoring, in GB."""
    words = [f"w{index}" for index in range(5000)]
    random = np.random.default_rng(0)
    sentences = [" ".join(random.choice(words, 10)) for _ in range(tokens // 10)]
    model = models.gpt2("tiny", vocabulary)
    scorer = CausalScorer(model, models.byte_level_tokenizer(sentences))
    scorer.sentence_logprobs(sentences[:2])
    before = peak_gigabytes()
    scorer.sentence_logprobs(sentences)
    computed = int(sum(scorer.token_counts(sentences))) + len(sentences)
    print(
        json.dumps(
            {"vocabulary": vocabulary, "tokens": computed, "model_gb": before, "peak_gb": peak_gigabytes()}
        )
    )


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
