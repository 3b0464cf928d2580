"""Sentence scores against minicons (Misra 2022), the library that many papers' numbers come from.

Compared are sums of natural log-probabilities on 200 BLiMP pairs, three or so of each paradigm, and on sentences of
our own. Where minicons is known to differ (0.3.39), with what is done about it here:

* its default reduction is the mean over tokens; here it is given the sum;
* it has no start token unless `bos_token=True` is passed, and then leaves the first token's probability out;
* `bos_token=True` writes the start token into the text, so that a tokenizer that adds one by itself (Llama)
  gives two of them, and log P(start | start) is in the sum: `test_start_token_twice` shows it; such models are
  compared without it;
* it gives 0 for a text of which nothing can be scored; ours is NaN;
* its default pseudo-log-likelihood is `original`, ours is `within_word_l2r`;
* masked models' special tokens are left out by their ids, wherever they stand; ours by where the tokenizer put them;
* its correction for the space that tokens carry (`word_score_tokenized`) lets a word end before a space only;
  ours also before the end of the text;
* it changes the tokenizer that it is given (padding token and side): it gets a copy;
* its masked scorer calls a method of tokenizers that transformers 5 has no more: it gets texts as tokens.
"""

import copy
import json

import numpy as np
import pytest
from tiny import SENTENCES, tiny_model

from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.masked import MaskedScorer

minicons = pytest.importorskip("minicons.scorer", reason="needs minicons: pip install 'refined-tse[test]'")

PAIRS = 200


@pytest.fixture(scope="module")
def blimp(upstream):
    """Both sentences of 200 pairs, spread over BLiMP's paradigms, that are short enough for the tiny models."""
    pairs = []
    for number, path in enumerate(sorted((upstream / "blimp" / "data").glob("*.jsonl"))):
        lines = path.read_text(encoding="utf-8").splitlines()
        for line in lines[number :: len(lines) // 4]:
            pair = [json.loads(line)[side] for side in ("sentence_good", "sentence_bad")]
            if CausalScorer(*tiny_model("causal", "gpt2")).token_counts(pair).max() < 60:
                pairs.append(pair)
    return [text for index in np.linspace(0, len(pairs) - 1, PAIRS).astype(int) for text in pairs[index]]


def theirs_causal(family, sentences, **options):
    model, tokenizer = tiny_model("causal", family)
    scorer = minicons.IncrementalLMScorer(model, "cpu", tokenizer=copy.deepcopy(tokenizer))
    return np.concatenate([
        scorer.sequence_score(sentences[start : start + 40], reduction=lambda x: x.sum().item(), **options)
        for start in range(0, len(sentences), 40)
    ])  # fmt: skip


def theirs_masked(model, tokenizer, sentences, pll):
    scorer = minicons.MaskedLMScorer(model, "cpu", tokenizer=copy.deepcopy(tokenizer))
    batches = [sentences[start : start + 40] for start in range(0, len(sentences), 40)]
    return np.concatenate([
        scorer.sequence_score(tokenizer(batch, padding=True), reduction=lambda x: x.sum().item(), PLL_metric=pll)
        for batch in batches
    ])  # fmt: skip


@pytest.mark.upstream
def test_gpt2_on_blimp(blimp):
    scorer = CausalScorer(*tiny_model("causal", "gpt2"))
    expected = theirs_causal("gpt2", blimp, bos_token=True)
    np.testing.assert_allclose(scorer.sentence_logprobs(blimp), expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    "family, bos", [("gpt2", True), ("gpt_neox", True), ("llama", False), ("bloom", True)]
)
def test_causal_models(family, bos):
    expected = theirs_causal(family, SENTENCES, bos_token=bos)
    scorer = CausalScorer(*tiny_model("causal", family))
    np.testing.assert_allclose(scorer.sentence_logprobs(SENTENCES), expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("pll", ["original", "within_word_l2r"])
@pytest.mark.parametrize("family", ["bert", "roberta", "albert", "deberta-v2", "modernbert"])
def test_masked_models(family, pll):
    model, tokenizer = tiny_model("masked", family)
    sentences = [*SENTENCES, "The unlikely guards swimming near unpredictability laugh."]
    expected = theirs_masked(model, tokenizer, sentences, pll)
    scorer = MaskedScorer(model, tokenizer, pll=pll)
    np.testing.assert_allclose(scorer.sentence_logprobs(sentences), expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("family", ["gpt2", "gpt_neox"])
def test_continuations(family):
    model, tokenizer = tiny_model("causal", family)
    scorer = minicons.IncrementalLMScorer(model, "cpu", tokenizer=copy.deepcopy(tokenizer))
    prefixes = ["The author", "The senators that the guard"]
    words = ["laughs.", "admires unpredictability"]
    expected = scorer.conditional_score(prefixes, words, reduction=lambda x: x.sum().item(), bos_token=True)
    actual = CausalScorer(model, tokenizer).continuation_logprobs(prefixes, words)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-4)


def test_start_token_twice():
    """Minicons with `bos_token=True` on a tokenizer that adds one by itself: the second is scored."""
    twice = theirs_causal("llama", SENTENCES, bos_token=True)
    once = CausalScorer(*tiny_model("causal", "llama")).sentence_logprobs(SENTENCES)
    assert (np.abs(twice - once) > 0.1).all()
