"""Every architecture's scores against a plain loop in double precision, and against themselves in other batches."""

import copy
import functools

import numpy as np
import pytest
import torch
from from_logits import FromLogits
from plain_loop import at_mask, causal_sum, float64_model, masked_sum, next_token
from tiny import CAUSAL, MASKED, NOUNS, SENTENCES, tiny_model
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from tse_scorers import Slot, load_scorer
from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.masked import MaskedScorer

TEXTS = [*SENTENCES[:6], "Pilots swim.", "The unlikely guards swimming near unpredictability laugh."]
SLOTS = [
    Slot("The author", " tall."),
    Slot("The author", "."),
    Slot("The senators that the guard admires", " tall and old."),
    Slot("The movie near the pilots", " unpredictability."),
]
# Windows that the texts outgrow, recurrence, convolutions, biases by distance, masks of their own.
PLAIN = {
    "mistral", "gemma3_text", "gpt_oss", "gpt_neo", "falcon:alibi", "mpt", "bloom", "openai-gpt", "mamba", "mamba2",
    "rwkv", "recurrent_gemma", "jamba", "lfm2", "qwen3_next",
}  # fmt: skip
PLLS = ("original", "within_word_l2r")

all_causal = pytest.mark.parametrize("family", CAUSAL)
all_masked = pytest.mark.parametrize("family", MASKED)
close = functools.partial(np.testing.assert_allclose, rtol=0)


@functools.cache
def causal(family, **options):
    return CausalScorer(*tiny_model("causal", family), name=family, **options)


@functools.cache
def masked(family, **options):
    return MaskedScorer(*tiny_model("masked", family), name=family, **options)


def distributions(scorer, slots):
    reader = FromLogits(lambda logits, _: logits.softmax(-1).double().numpy(), scorer.vocabulary_size)
    return scorer.read_slots(slots, reader)


@functools.cache
def loop_sum(family, text):
    scorer = causal(family)
    ids = scorer.tokenizer(text, add_special_tokens=False)["input_ids"]
    return causal_sum(float64_model("causal", family), [scorer.start_token, *ids])


@all_causal
def test_causal_sentences_equal_a_plain_loop(family):
    scorer = causal(family)
    close(scorer.sentence_logprobs(TEXTS), [loop_sum(family, text) for text in TEXTS], atol=1e-4)
    assert scorer.execution["prefixes_shared"] == (family not in PLAIN)


@pytest.mark.parametrize("pll", PLLS)
@all_masked
def test_pseudo_log_likelihoods_equal_a_plain_loop(family, pll):
    scorer = masked(family, pll=pll)
    texts = [TEXTS[0], TEXTS[2], TEXTS[-1]]
    expected = [masked_sum(float64_model("masked", family), scorer.tokenizer, text, pll) for text in texts]
    close(scorer.sentence_logprobs(texts), expected, atol=1e-4)


@all_causal
def test_causal_gaps_equal_a_plain_forward(family):
    scorer = causal(family)
    for row, slot in zip(distributions(scorer, SLOTS), SLOTS, strict=True):
        ids = scorer.tokenizer(slot.prefix)["input_ids"]  # the tokenizer's default: no start token for GPT-2
        close(row, next_token(float64_model("causal", family), ids).exp().numpy(), atol=1e-5)


@all_masked
def test_masked_gaps_equal_a_forward_of_the_sentence_with_one_token_masked(family):
    """A word stands in the gap, its id gives way to the mask's: so the text around it is what it is.

    ALBERT's, XLM-R's and DeBERTa-v3's tokenizers begin a new word after the mask's own text, so that
    `[MASK].` was once three tokens, where the sentence has two.
    """
    scorer = masked(family)
    (is_id,) = scorer.single_token_ids(["is"])
    for row, slot in zip(distributions(scorer, SLOTS), SLOTS, strict=True):
        ids = scorer.tokenizer(f"{slot.prefix} is{slot.suffix}")["input_ids"]
        column = ids.index(is_id)
        ids[column] = scorer.tokenizer.mask_token_id
        close(row, at_mask(float64_model("masked", family), ids, column).exp().numpy(), atol=1e-5)


@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert"])
def test_gap_equals_the_mask_token_written_into_the_text(family):
    """For tokenizers that leave what follows the mask alone, as the papers' code has it."""
    scorer = masked(family)
    mask = scorer.tokenizer.mask_token
    for slot in [*SLOTS, Slot("", " author laughs.")]:
        text = f"{slot.prefix} {mask}{slot.suffix}" if slot.prefix else f"{mask}{slot.suffix}"
        ids = scorer.tokenizer(text)["input_ids"]
        column = ids.index(scorer.tokenizer.mask_token_id)
        expected = at_mask(float64_model("masked", family), ids, column).exp().numpy()
        close(distributions(scorer, [slot])[0], expected, atol=1e-5)


def check_batches(scorer, ask, texts):
    """Scores are the same in any batch, order and company, but for rounding of float32."""
    expected = ask(texts)
    same = functools.partial(np.testing.assert_allclose, rtol=5e-7, atol=1e-5)
    for tokens in (1, 7, 10_000):
        scorer.batch_tokens = tokens
        same(ask(texts), expected)
    scorer.batch_tokens = None
    same(ask(texts[::-1])[::-1], expected)
    same(ask(texts[1:3]), expected[1:3])
    same(ask(texts + texts), np.concatenate([expected, expected]))


@all_causal
def test_causal_scores_do_not_depend_on_the_batch(family):
    check_batches(causal(family), causal(family).sentence_logprobs, TEXTS)


@all_masked
def test_masked_scores_do_not_depend_on_the_batch(family):
    """Also where a batch has more reads than columns: LUKE's layer cut them to its columns, most answers were NaN."""
    scorer = masked(family)
    check_batches(scorer, scorer.sentence_logprobs, TEXTS[:4])
    check_batches(scorer, functools.partial(distributions, scorer), SLOTS)
    texts = [f"The {noun} is tall." for noun in NOUNS]
    alone = [scorer.sentence_logprobs([text])[0] for text in texts]
    close(scorer.sentence_logprobs(texts), alone, atol=1e-5)


@pytest.mark.parametrize("family", ["gpt2", "llama", "mistral", "mamba"])
def test_causal_continuations_equal_a_plain_loop(family):
    scorer, model = causal(family), float64_model("causal", family)
    prefixes = ["The author", "The author", "The senators that the guards", "The pilot swims."]
    continuations = ["laughs.", "unpredictability", "admire are tall.", "  The author laughs."]
    expected = []
    for prefix, rest in zip(prefixes, continuations, strict=True):
        text = prefix + rest if rest[0] == " " else f"{prefix} {rest}"  # white space stays as it is
        head, ids = (scorer.tokenizer(part, add_special_tokens=False)["input_ids"] for part in (prefix, text))
        assert ids[: len(head)] == head
        expected.append(causal_sum(model, [scorer.start_token, *ids], start=1 + len(head)))
    close(scorer.continuation_logprobs(prefixes, continuations), expected, atol=1e-4)
    whole = scorer.sentence_logprobs(["The author laughs."])
    close(scorer.sentence_logprobs(["The author"]) + expected[0], whole, atol=1e-4)


@pytest.mark.parametrize("pll", PLLS)
@pytest.mark.parametrize("family", ["bert", "roberta", "albert"])
def test_masked_continuations_equal_a_plain_loop(family, pll):
    scorer, model = masked(family, pll=pll), float64_model("masked", family)
    prefix, rest = "The senators that the guards", "admire unpredictability."
    expected = masked_sum(model, scorer.tokenizer, f"{prefix} {rest}", pll, start=len(prefix))
    close(scorer.continuation_logprobs([prefix], [rest]), [expected], atol=1e-4)


@pytest.mark.parametrize("scorer", [causal("gpt2"), masked("roberta")])
def test_no_second_space_is_added_between_prefix_and_continuation(scorer):
    """A space before a continuation, as lm-evaluation-harness has it, became two: -20.8 in place of -10.8."""
    (plain,) = scorer.continuation_logprobs(["The pilot swims."], ["The author laughs."])
    for pair in (("The pilot swims.", " The author laughs."), ("The pilot swims. ", "The author laughs.")):
        scores = scorer.continuation_logprobs([pair[0], "The"], [pair[1], "author"])
        assert scores[0] == pytest.approx(plain, abs=1e-5)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("我爱北京。", "▁ 我 爱 北 京 。"),
        ("我 abc爱de。Th", "▁ 我 ▁abc 爱 de。Th"),
        ("รัก abc", "▁ ร ั ก ▁abc"),
        ("abc de", "▁abc ▁de"),
    ],
)
def test_tokens_are_words_in_scripts_without_spaces(text, words):
    """A whole Chinese sentence was one word of a SentencePiece tokenizer, so all that followed a token was masked."""
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *dict.fromkeys("▁我爱北京。abcdeThรัก")]
    raw = Tokenizer(models.Unigram([(piece, -1.0) for piece in pieces], unk_id=3))
    raw.pre_tokenizer, raw.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, unk_token="<unk>", pad_token="<pad>", mask_token="<mask>"
    )
    scorer = load_scorer(tiny_model("masked", "albert")[0], tokenizer)
    assert scorer.signature["pll_words"] == "by script"
    model, ids, expected = float64_model("masked", "albert"), tokenizer(text)["input_ids"], 0.0
    assert tokenizer.convert_ids_to_tokens(ids) == list(words.replace(" ", ""))
    lengths = list(map(len, words.split()))
    for column, end in enumerate(np.repeat(np.cumsum(lengths), lengths).tolist()):
        hidden = [*ids[:column], *[tokenizer.mask_token_id] * (end - column), *ids[end:]]
        expected += at_mask(model, hidden, column)[ids[column]].item()
    assert scorer.sentence_logprobs([text]) == pytest.approx([expected], abs=1e-4)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("family", ["gpt2", "llama", "gemma2"])
def test_half_precision_stays_near(family, dtype):
    model, tokenizer = tiny_model("causal", family)
    half = CausalScorer(copy.deepcopy(model).to(getattr(torch, dtype)), tokenizer)
    np.testing.assert_allclose(
        half.sentence_logprobs(TEXTS), [loop_sum(family, text) for text in TEXTS], rtol=0.05
    )


@pytest.mark.parametrize("pll", PLLS)
def test_texts_planned_in_parts_get_the_same_scores(pll, monkeypatch):
    """Copies of long texts, one for each token, took gigabytes where all were planned at once."""
    scorer = masked("bert", pll=pll)
    expected = scorer.sentence_logprobs(TEXTS)
    monkeypatch.setattr("tse_scorers.models.masked.PLANNED", 250)  # two or three of these texts
    told = []
    close(scorer.sentence_logprobs(TEXTS, lambda *done: told.append(done)), expected, atol=1e-5)
    assert told == sorted(told) and len(told) > 4 and told[-1][0] == told[-1][1]  # over all parts


def test_texts_that_share_nothing_are_run_one_by_one_without_a_probe(monkeypatch):
    """The probe's rows, and the packed ones, would attend to thousands of strangers for nothing."""
    monkeypatch.setattr("tse_scorers.models.causal.packing_is_exact", None)
    scorer = CausalScorer(*tiny_model("causal", "gpt2"), bos=True)
    scorer.sentence_logprobs(
        [f"{noun} that the old movie {'near the pilot ' * 7}admires" for noun in NOUNS[:4]]
    )
    assert not scorer.execution["prefixes_shared"]


def test_a_scorer_at_a_prompt_says_which_model_it_is():
    assert repr(causal("gpt2")) == "CausalScorer('gpt2', causal, cpu, float32)"
