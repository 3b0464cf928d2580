"""Every architecture's scores against a plain loop in double precision, and against themselves in other batches."""

import copy
import functools
import warnings

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


@functools.cache
def causal(family, **options):
    return CausalScorer(*tiny_model("causal", family), name=family, **options)


@functools.cache
def masked(family, **options):
    return MaskedScorer(*tiny_model("masked", family), name=family, **options)


def softmax(logits, _):
    return logits.softmax(-1).double().numpy()


def distributions(scorer, slots):
    return scorer.read_slots(slots, FromLogits(softmax, scorer.forward.vocabulary_size))


@functools.cache
def loop_sum(family, text):
    scorer = causal(family)
    ids = scorer.tokenizer(text, add_special_tokens=False)["input_ids"]
    return causal_sum(float64_model("causal", family), [scorer.start_token, *ids])


@all_causal
def test_causal_sentences_equal_a_plain_loop(family):
    expected = [loop_sum(family, text) for text in TEXTS]
    np.testing.assert_allclose(causal(family).sentence_logprobs(TEXTS), expected, rtol=0, atol=1e-4)


@all_causal
def test_prefixes_are_shared_where_that_is_exact(family):
    scorer = causal(family)
    scorer.sentence_logprobs(TEXTS)
    assert scorer.execution["prefixes_shared"] == (family not in PLAIN)
    assert scorer.forward.narrows


def check_batches(scorer, ask, texts):
    """Scores are the same in any batch, order and company, but for rounding of float32."""
    expected = ask(texts)
    for tokens in (1, 7, 10_000):
        scorer.batch_tokens = tokens
        np.testing.assert_allclose(ask(texts), expected, rtol=5e-7, atol=1e-5)
    scorer.batch_tokens = None
    np.testing.assert_allclose(ask(texts[::-1])[::-1], expected, rtol=5e-7, atol=1e-5)
    np.testing.assert_allclose(ask(texts[1:3]), expected[1:3], rtol=5e-7, atol=1e-5)
    np.testing.assert_allclose(ask(texts + texts), np.concatenate([expected, expected]), rtol=5e-7, atol=1e-5)


@all_causal
def test_causal_scores_do_not_depend_on_the_batch(family):
    scorer = causal(family)
    check_batches(scorer, scorer.sentence_logprobs, TEXTS)


@all_masked
def test_masked_scores_do_not_depend_on_the_batch(family):
    scorer = masked(family)
    check_batches(scorer, scorer.sentence_logprobs, TEXTS[:4])


@all_masked
def test_gaps_do_not_depend_on_the_batch(family):
    scorer = masked(family)
    check_batches(scorer, functools.partial(distributions, scorer), SLOTS)


@all_masked
def test_many_texts_of_one_length_get_the_scores_of_each_alone(family):
    """A batch with more reads than columns. LUKE's layer cut them to its columns: most answers were NaN."""
    scorer = masked(family)
    texts = [f"The {noun} is tall." for noun in NOUNS]
    alone = [scorer.sentence_logprobs([text])[0] for text in texts]
    np.testing.assert_allclose(scorer.sentence_logprobs(texts), alone, rtol=0, atol=1e-5)


@pytest.mark.parametrize("pll", PLLS)
@all_masked
def test_pseudo_log_likelihoods_equal_a_plain_loop(family, pll):
    scorer = masked(family, pll=pll)
    model = float64_model("masked", family)
    texts = [TEXTS[0], TEXTS[2], TEXTS[-1]]
    expected = [masked_sum(model, scorer.tokenizer, text, pll) for text in texts]
    np.testing.assert_allclose(scorer.sentence_logprobs(texts), expected, rtol=0, atol=1e-4)


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
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    pieces = [*special, *dict.fromkeys("▁我爱北京。abcdeThรัก")]
    raw = Tokenizer(models.Unigram([(piece, -1.0) for piece in pieces], unk_id=3))
    raw.pre_tokenizer, raw.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, unk_token="<unk>", pad_token="<pad>", mask_token="<mask>"
    )
    scorer = load_scorer(tiny_model("masked", "albert")[0], tokenizer)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        (score,) = scorer.sentence_logprobs([text])
    said = [warning for warning in caught if "in scripts without spaces" in str(warning.message)]
    assert len(said) == (text != "abc de") and scorer.signature["pll_words"] == "by script"

    model, ids, expected = float64_model("masked", "albert"), tokenizer(text)["input_ids"], 0.0
    assert tokenizer.convert_ids_to_tokens(ids) == list(words.replace(" ", ""))
    ends = [
        end
        for word, end in zip(words.split(), np.cumsum([*map(len, words.split())]), strict=True)
        for _ in word
    ]
    for column, end in enumerate(ends):
        hidden = [*ids[:column], *[tokenizer.mask_token_id] * (end - column), *ids[end:]]
        expected += at_mask(model, hidden, column)[ids[column]].item()
    assert score == pytest.approx(expected, abs=1e-4)


@all_masked
def test_the_output_layer_computes_only_what_is_read(family):
    """MobileBERT multiplies by its weights itself. Comparisons with a plain loop show that the scores are right."""
    assert masked(family).forward.narrows == (family != "mobilebert")


@pytest.mark.parametrize("family", ["gpt2", "llama", "mistral", "mamba"])
def test_causal_continuations_equal_a_plain_loop(family):
    scorer, model = causal(family), float64_model("causal", family)
    prefixes = ["The author", "The author", "The senators that the guards"]
    continuations = ["laughs.", "unpredictability", "admire are tall."]
    expected = []
    for prefix, rest in zip(prefixes, continuations, strict=True):
        head = scorer.tokenizer(prefix, add_special_tokens=False)["input_ids"]
        ids = scorer.tokenizer(f"{prefix} {rest}", add_special_tokens=False)["input_ids"]
        assert ids[: len(head)] == head
        expected.append(causal_sum(model, [scorer.start_token, *ids], start=1 + len(head)))
    actual = scorer.continuation_logprobs(prefixes, continuations)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("pll", PLLS)
@pytest.mark.parametrize("family", ["bert", "roberta", "albert"])
def test_masked_continuations_equal_a_plain_loop(family, pll):
    scorer, model = masked(family, pll=pll), float64_model("masked", family)
    prefix, rest = "The senators that the guards", "admire unpredictability."
    expected = masked_sum(model, scorer.tokenizer, f"{prefix} {rest}", pll, start=len(prefix))
    np.testing.assert_allclose(scorer.continuation_logprobs([prefix], [rest]), [expected], rtol=0, atol=1e-4)


@pytest.mark.parametrize("scorer", [causal, masked])
def test_no_second_space_is_added_between_prefix_and_continuation(scorer):
    """A space before a continuation, as lm-evaluation-harness has it, became two: -20.8 in place of -10.8."""
    scorer = scorer("gpt2" if scorer is causal else "roberta")
    (plain,) = scorer.continuation_logprobs(["The pilot swims."], ["The author laughs."])
    for pair in (("The pilot swims.", " The author laughs."), ("The pilot swims. ", "The author laughs.")):
        scores = scorer.continuation_logprobs([pair[0], "The"], [pair[1], "author"])
        assert scores[0] == pytest.approx(plain, abs=1e-5)
    prefix, rest = "The pilot swims.", "  The author laughs."  # more white space is kept: lm-eval's text
    if scorer.signature["kind"] == "causal":
        head, ids = (
            scorer.tokenizer(text, add_special_tokens=False)["input_ids"] for text in (prefix, prefix + rest)
        )
        expected = causal_sum(
            float64_model("causal", "gpt2"), [scorer.start_token, *ids], start=1 + len(head)
        )
        assert scorer.continuation_logprobs([prefix], [rest]) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("family", ["gpt2", "llama", "mistral", "bloom"])
def test_prefix_and_continuation_add_up_to_the_sentence(family):
    scorer = causal(family)
    whole = scorer.sentence_logprobs(["The author knows unpredictability."])
    prefix = scorer.sentence_logprobs(["The author"])
    rest = scorer.continuation_logprobs(["The author"], ["knows unpredictability."])
    np.testing.assert_allclose(prefix + rest, whole, rtol=0, atol=1e-5)


@all_causal
def test_causal_gaps_equal_a_plain_forward(family):
    scorer = causal(family)
    actual = distributions(scorer, SLOTS)
    np.testing.assert_allclose(actual.sum(axis=1), 1.0, atol=1e-5)
    for row, slot in zip(actual, SLOTS, strict=True):
        ids = scorer.tokenizer(slot.prefix)["input_ids"]  # the tokenizer's default: no start token for GPT-2
        expected = next_token(float64_model("causal", family), ids).exp().numpy()
        np.testing.assert_allclose(row, expected, rtol=0, atol=1e-5)


@all_masked
def test_masked_gaps_equal_a_forward_of_the_sentence_with_one_token_masked(family):
    """A word stands in the gap, its id gives way to the mask's: so the text around it is what it is.

    ALBERT's, XLM-R's and DeBERTa-v3's tokenizers begin a new word after the mask's own text, so that
    `[MASK].` was once three tokens, where the sentence has two.
    """
    scorer = masked(family)
    actual = distributions(scorer, SLOTS)
    np.testing.assert_allclose(actual.sum(axis=1), 1.0, atol=1e-5)
    (is_id,) = scorer.single_token_ids(["is"])
    for row, slot in zip(actual, SLOTS, strict=True):
        ids = scorer.tokenizer(f"{slot.prefix} is{slot.suffix}")["input_ids"]
        column = ids.index(is_id)
        ids[column] = scorer.tokenizer.mask_token_id
        expected = at_mask(float64_model("masked", family), ids, column).exp().numpy()
        np.testing.assert_allclose(row, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert"])
def test_gap_equals_the_mask_token_written_into_the_text(family):
    """For tokenizers that leave what follows the mask alone, as the papers' code has it."""
    scorer = masked(family)
    for slot in [*SLOTS, Slot("", " author laughs.")]:
        mask = scorer.tokenizer.mask_token
        text = f"{slot.prefix} {mask}{slot.suffix}" if slot.prefix else f"{mask}{slot.suffix}"
        ids = scorer.tokenizer(text)["input_ids"]
        column = ids.index(scorer.tokenizer.mask_token_id)
        expected = at_mask(float64_model("masked", family), ids, column).exp().numpy()
        np.testing.assert_allclose(distributions(scorer, [slot])[0], expected, rtol=0, atol=1e-5)


def test_texts_of_one_token_say_nothing_of_sharing():
    scorer = CausalScorer(*tiny_model("causal", "gpt2"))
    distributions(scorer, [Slot("The", "."), Slot("Pilots", ".")])
    assert np.isfinite(scorer.sentence_logprobs(TEXTS)).all()
    assert scorer.execution["prefixes_shared"]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("family", ["gpt2", "llama", "gemma2"])
def test_half_precision_stays_near(family, dtype):
    model, tokenizer = tiny_model("causal", family)
    half = CausalScorer(copy.deepcopy(model).to(getattr(torch, dtype)), tokenizer)
    actual = half.sentence_logprobs(TEXTS)
    assert half.forward.narrows
    assert actual.dtype == np.float64
    np.testing.assert_allclose(actual, [loop_sum(family, text) for text in TEXTS], rtol=0.05)


@pytest.mark.parametrize("scorer", [causal("gpt2"), masked("bert")], ids=["causal", "masked"])
def test_no_texts_have_no_words(scorer):
    assert scorer.word_logprobs([]) == []
    assert scorer.sentence_logprobs([]).shape == (0,)


@pytest.mark.parametrize("scorer", [causal("gpt2"), masked("bert")], ids=["causal", "masked"])
def test_half_a_character_is_refused(scorer):
    with pytest.raises(ValueError, match=r"Text 1 .*\\ud83d dog.*encoding"):
        scorer.sentence_logprobs(["A dog.", "A \ud83d dog."])


def test_a_tokenizer_that_tells_no_places_is_named():
    scorer = copy.copy(causal("gpt2"))
    scorer.tokenizer = Slow(scorer.tokenizer)
    assert np.isfinite(scorer.sentence_logprobs(["The author laughs."])).all()
    with pytest.raises(ValueError, match=r"positions of its tokens.*fast tokenizer"):
        scorer.word_logprobs(["The author laughs."])
    model, tokenizer = tiny_model("masked", "bert")
    with pytest.raises(ValueError, match=r"positions of its tokens.*fast tokenizer"):
        MaskedScorer(model, Slow(tokenizer))


class Slow:
    """A tokenizer without offsets."""

    is_fast = False

    def __init__(self, tokenizer):
        self._tokenizer = tokenizer

    def __call__(self, texts, return_offsets_mapping=False, **options):
        assert not return_offsets_mapping
        return self._tokenizer(texts, **options)

    def __getattr__(self, name):
        return getattr(self._tokenizer, name)


def test_texts_past_the_reach_of_short_rope_factors_are_refused():
    """Phi-3's long factors hold for a whole batch: one long text moved its neighbours by 8 nats."""
    rope = {
        "rope_type": "longrope", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 16,
        "short_factor": [1.0] * 4, "long_factor": [4.0] * 4,
    }  # fmt: skip
    model, tokenizer = tiny_model("causal", "phi3")
    config = copy.deepcopy(model.config)
    config.rope_parameters, config.original_max_position_embeddings = rope, 16
    scorer = CausalScorer(type(model)(config).eval(), tokenizer)
    assert np.isfinite(scorer.sentence_logprobs(["The author laughs."])).all()
    with pytest.raises(ValueError, match="longer than the 16 positions"):
        scorer.sentence_logprobs(["The author laughs.", "The author " + "and the pilot " * 6 + "laugh."])


@pytest.mark.parametrize("pll", PLLS)
def test_texts_planned_in_parts_get_the_same_scores(pll, monkeypatch):
    """Copies of long texts, one for each token, took gigabytes where all were planned at once."""
    scorer = masked("bert", pll=pll)
    expected, words = scorer.sentence_logprobs(TEXTS), scorer.word_logprobs(TEXTS)
    monkeypatch.setattr("tse_scorers.models.masked.PLANNED", 250)  # two or three of these texts
    told = []
    found = scorer.sentence_logprobs(TEXTS, lambda *done: told.append(done))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    assert [[word for word, _ in text] for text in scorer.word_logprobs(TEXTS)] == [
        [word for word, _ in text] for text in words
    ]
    assert told == sorted(told) and len(told) > 4 and told[-1][0] == told[-1][1]  # over all parts
    assert len({total for _, total in told}) == 1


def test_texts_that_share_nothing_are_run_one_by_one_without_a_probe(monkeypatch):
    """The probe's rows, and the packed ones, would attend to thousands of strangers for nothing."""
    monkeypatch.setattr("tse_scorers.models.causal.packing_is_exact", None)
    scorer = CausalScorer(*tiny_model("causal", "gpt2"), bos=True)
    scorer.sentence_logprobs(
        [f"{noun} that the old movie {'near the pilot ' * 7}admires" for noun in NOUNS[:4]]
    )
    assert not scorer.execution["prefixes_shared"]


def test_a_scorer_at_a_prompt_says_which_model_it_is():
    """It was <…CausalScorer object at 0x7f5e…>."""
    assert repr(causal("gpt2")) == "CausalScorer('gpt2', causal, cpu, float32)"
    assert repr(masked("bert")) == "MaskedScorer('bert', masked, cpu, float32)"
