"""Whether sharing is refused where it would change scores: windows, recurrence, positions; in any precision."""

import copy
import itertools
import math

import numpy as np
import pytest
import torch
from tiny import NOUNS, OTHER, SMALL, VERBS, tiny_model, unigram_tokenizer
from transformers import AutoConfig, AutoModelForCausalLM

from tse_scorers import Slot
from tse_scorers.engine.forward import ForwardPass
from tse_scorers.engine.tree_probe import shortest_window, tree_attention_is_exact
from tse_scorers.engine.trie import build_trie
from tse_scorers.models.causal import CausalScorer

SUBJECTS = [
    f"The {noun} {rest}".strip()
    for noun, rest in itertools.product(
        ["author", "senators", "guard"], ["", "that the guard admires", "near the guards and the old movie"]
    )
]
TEXTS = [
    f"{subject} {verb} {end}." for subject in SUBJECTS for verb in ("is", "are") for end in ("tall", "old")
]


def mistral(window, std=0.3):
    """A model with a sliding window, and its tokenizer."""
    tokenizer = unigram_tokenizer(False)
    ids = {"vocab_size": len(tokenizer), "bos_token_id": 0, "eos_token_id": 2, "pad_token_id": 1}
    config = AutoConfig.for_model(
        "mistral", **{**SMALL, **ids, "num_key_value_heads": 2, "sliding_window": window}
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = AutoModelForCausalLM.from_config(config).eval()
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if parameter.dim() > 1 and "norm" not in name:
                    parameter.normal_(0, std)
    return model, tokenizer


def both_ways(model, tokenizer, ask):
    """(answers as the probe decides, answers of texts one by one, whether prefixes were shared)."""
    scorer = CausalScorer(model, tokenizer)
    decided = ask(scorer)
    return (
        decided,
        ask(CausalScorer(model, tokenizer, share_prefixes=False)),
        scorer.execution["prefixes_shared"],
    )


def test_a_gap_behind_a_context_one_longer_than_the_window():
    """What is read behind a text's end is asked of gaps alone; a probe that left it out let this pass."""
    model, tokenizer = mistral(window=8)
    slots = [
        Slot(f"The senators that the guards like near {word}", " tall.")
        for word in ("people", "movie", "pilot")
    ]
    assert {len(tokenizer(slot.prefix)["input_ids"]) for slot in slots} == {9}

    def ask(scorer):
        return scorer.read_slots(slots, lambda logits, _: logits.log_softmax(-1)[:, :50].double().numpy(), 50)

    decided, plain, shared = both_ways(model, tokenizer, ask)
    assert not shared
    np.testing.assert_allclose(decided, plain, rtol=0, atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_few_texts_that_outgrow_the_window_among_many_that_do_not(dtype):
    """The mean error over all texts tried was small in half precision; that of the long ones was not."""
    model, tokenizer = mistral(window=16)
    random, words = np.random.default_rng(0), [*NOUNS, *VERBS, *OTHER]
    texts = [" ".join(["The", *random.choice(words, n)]) for n in [7] * 60 + [20] * 4]
    texts += [f"{text} tall" for text in texts]
    decided, plain, shared = both_ways(
        model.to(dtype), tokenizer, lambda scorer: scorer.sentence_logprobs(texts)
    )
    assert not shared
    np.testing.assert_array_equal(decided, plain)


@pytest.mark.parametrize("scale", [1.0, 0.1])
@pytest.mark.parametrize(
    "family", ["mamba2", "rwkv", "recurrent_gemma", "lfm2", "jamba", "gpt_oss", "gemma3_text"]
)
def test_half_precision_hides_nothing(family, scale):
    """With weights as small as trained ones, what leaks from strangers is no larger than rounding."""
    model, tokenizer = tiny_model("causal", family)
    model = copy.deepcopy(model)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1 and "norm" not in name.lower() and "A_log" not in name:
                parameter.mul_(scale)
    scorer = CausalScorer(model.to(torch.bfloat16), tokenizer)
    scorer.sentence_logprobs(TEXTS)
    assert not scorer.execution["prefixes_shared"]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("family", ["gpt2", "llama", "qwen2", "gemma2", "gpt_neox", "olmo2"])
def test_what_can_share_does_in_any_precision(family, dtype):
    model, tokenizer = tiny_model("causal", family)
    scorer = CausalScorer(copy.deepcopy(model).to(dtype), tokenizer)
    scorer.sentence_logprobs(TEXTS)
    assert scorer.execution["prefixes_shared"]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("largest", [15, 50])
def test_large_logits_are_rounded_more_and_share_all_the_same(dtype, largest):
    """Half precision rounds logits by a share of their size; the log-probabilities of likely tokens are small."""
    model, tokenizer = tiny_model("causal", "llama")
    model = copy.deepcopy(model)
    with torch.no_grad():
        model.lm_head.weight.mul_(largest / ForwardPass(model).largest_logit())
        # Texts that the model finds likely
        ids = torch.tensor(tokenizer([text.partition(" ")[0] for text in TEXTS])["input_ids"])
        torch.manual_seed(0)
        ids = model.generate(ids, do_sample=True, max_new_tokens=8, min_new_tokens=8)
    trie = build_trie([*ids.tolist(), *[[*row[:-2], 7, 8] for row in ids.tolist()]])
    assert tree_attention_is_exact(ForwardPass(model.to(dtype)), trie, 64)


def test_texts_longer_than_a_window_are_not_shared_however_little_it_shows():
    model, tokenizer = mistral(window=16, std=0.02)
    long = " ".join(["The", *["old"] * 20])
    scorer = CausalScorer(model.to(torch.bfloat16), tokenizer)
    scorer.sentence_logprobs([f"{long} movie", f"{long} pilot", f"{long} author"])
    assert not scorer.execution["prefixes_shared"]
    assert shortest_window(tiny_model("causal", "gpt2")[0].config) == math.inf


def test_a_model_in_training_mode_is_refused():
    """Dropout would make its scores random: 2 nats apart, with gpt2's."""
    scorer = CausalScorer(*tiny_model("causal", "gpt2"))
    scorer.model.train()
    try:
        with pytest.raises(ValueError, match="training mode"):
            scorer.sentence_logprobs(TEXTS)
    finally:
        scorer.model.eval()
