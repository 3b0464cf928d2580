"""What goes into the models: start tokens, spaces, single tokens; and what is refused before a model runs."""

import copy
import functools

import numpy as np
import pytest
import torch
from from_logits import FromLogits
from plain_loop import at_mask, causal_sum, float64_model, masked_sum, next_token
from tiny import CAUSAL, MASKED, SENTENCES, VERBS, tiny_model
from tokenizers import pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from tse_scorers import Slot
from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.masked import MaskedScorer


def causal(family="gpt2", **options):
    return CausalScorer(*tiny_model("causal", family), name=family, **options)


def masked(family="bert", **options):
    return MaskedScorer(*tiny_model("masked", family), name=family, **options)


def softmax(logits, _):
    return logits.softmax(-1).double().numpy()


def distributions(scorer, slots):
    return scorer.read_slots(slots, FromLogits(softmax, scorer.forward.vocabulary_size))


class WatchedModel:
    """A model that notes what it is given."""

    def __init__(self, model):
        self.seen = []
        self._handle = model.register_forward_pre_hook(self._note, with_kwargs=True)

    def _note(self, model, arguments, keywords):
        self.seen.append(keywords["input_ids"].tolist())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._handle.remove()


@pytest.mark.parametrize("family", ["gpt2", "llama", "opt", "gpt_neox"])
def test_sentences_have_the_start_token_exactly_once(family):
    """Whether the tokenizer adds it by itself (Llama) or not (GPT-2)."""
    scorer = causal(family, share_prefixes=False)
    assert scorer.signature["first_token"] == "given the start token"
    scorer.sentence_logprobs(["The pilot."])  # so that nothing is probed any more
    with WatchedModel(scorer.model) as watched:
        scorer.sentence_logprobs(["The author laughs."])
    (((first, *rest),),) = watched.seen
    assert first == scorer.start_token == scorer.tokenizer.bos_token_id
    assert first not in rest


def without_start_token():
    """GPT-2 with a tokenizer and a configuration that name none."""
    model, tokenizer = tiny_model("causal", "gpt2")
    model = copy.deepcopy(model)
    model.config.bos_token_id = None
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=copy.deepcopy(tokenizer.backend_tokenizer))
    return CausalScorer(model, tokenizer, name="no-start")


def test_without_start_token_the_first_token_is_left_out_and_the_signature_says_so():
    scorer = without_start_token()
    assert scorer.signature["first_token"] == "unscored"
    ids = scorer.tokenizer("The author laughs.")["input_ids"]
    expected = causal_sum(float64_model("causal", "gpt2"), ids)
    np.testing.assert_allclose(scorer.sentence_logprobs(["The author laughs."]), [expected], atol=1e-4)


def test_one_token_without_start_token_is_no_score():
    scores = without_start_token().sentence_logprobs(["Pilots", "The author laughs."])
    assert np.isnan(scores).tolist() == [True, False]
    assert np.isnan(without_start_token().sentence_logprobs(["Pilots"])).all()


def test_start_token_of_the_configuration_serves_where_the_tokenizer_names_none():
    """As with Qwen: the tokenizer has no start token, the configuration does."""
    model, tokenizer = tiny_model("causal", "gpt2")
    bare = PreTrainedTokenizerFast(tokenizer_object=copy.deepcopy(tokenizer.backend_tokenizer))
    scorer = CausalScorer(model, bare)
    assert scorer.start_token == model.config.bos_token_id
    np.testing.assert_allclose(
        scorer.sentence_logprobs(SENTENCES), causal().sentence_logprobs(SENTENCES), atol=1e-5
    )


@pytest.mark.parametrize("family, added", [("gpt2", False), ("llama", True)])
@pytest.mark.parametrize("bos", [False, True])
def test_gaps_follow_the_tokenizers_default_unless_bos_is_asked_for(family, added, bos):
    scorer = causal(family, bos=bos)
    assert scorer.signature["bos_at_gap"] is (bos or added)
    ids = scorer.tokenizer("The author", add_special_tokens=False)["input_ids"]
    start = [scorer.start_token] if bos or added else []
    expected = next_token(float64_model("causal", family), start + ids).exp().numpy()
    np.testing.assert_allclose(
        distributions(scorer, [Slot("The author", ".")])[0], expected, rtol=0, atol=1e-5
    )


def test_bos_at_gaps_needs_a_start_token():
    model, tokenizer = copy.deepcopy(tiny_model("causal", "gpt2"))
    model.config.bos_token_id = None
    bare = PreTrainedTokenizerFast(tokenizer_object=tokenizer.backend_tokenizer)
    with pytest.raises(ValueError, match="no start token"):
        CausalScorer(model, bare, bos=True)


def test_gap_that_opens_its_sentence():
    """With a start token there is a context (Llama's tokenizer adds one, --bos another's), else there is none."""
    slot = Slot("", " author laughs.")
    for scorer in (causal("llama"), causal("gpt2", bos=True)):
        expected = next_token(float64_model("causal", scorer.name), [scorer.start_token]).exp().numpy()
        np.testing.assert_allclose(distributions(scorer, [slot])[0], expected, rtol=0, atol=1e-5)
    with pytest.raises(ValueError, match="Use bos,"):
        distributions(causal("gpt2"), [slot])


def test_causal_tokenizer_that_closes_texts_does_not_close_a_gaps_context():
    model, tokenizer = tiny_model("causal", "llama")
    closing = copy.deepcopy(tokenizer.backend_tokenizer)
    from tokenizers import processors

    closing.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    names = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    scorer = CausalScorer(model, PreTrainedTokenizerFast(tokenizer_object=closing, **names))
    slots = [Slot("The author", "."), Slot("", " author.")]
    np.testing.assert_allclose(
        distributions(scorer, slots), distributions(causal("llama"), slots), rtol=0, atol=1e-6
    )
    np.testing.assert_array_equal(scorer.single_token_ids(VERBS), causal("llama").single_token_ids(VERBS))


@pytest.mark.parametrize("family", ["gpt2", "roberta"])
def test_leading_space_changes_how_the_first_word_is_read(family):
    text = "The author laughs."
    if family == "gpt2":
        plain, spaced = causal(family), causal(family, leading_space=True)
        ids = [spaced.start_token, *spaced.tokenizer(" " + text)["input_ids"]]
        expected = causal_sum(float64_model("causal", family), ids)
    else:
        plain, spaced = masked(family), masked(family, leading_space=True)
        expected = masked_sum(
            float64_model("masked", family), spaced.tokenizer, " " + text, "within_word_l2r"
        )
    assert spaced.signature["leading_space"] and not plain.signature["leading_space"]
    np.testing.assert_allclose(spaced.sentence_logprobs([text]), [expected], rtol=0, atol=1e-4)
    assert abs(spaced.sentence_logprobs([text]) - plain.sentence_logprobs([text])) > 1e-3


def test_a_space_that_the_tokenizer_puts_before_a_text_is_scored():
    """The lone first token of a RoBERTa with `add_prefix_space` has no characters: its offsets are (0, 0)."""
    model, tokenizer = tiny_model("masked", "roberta")
    tokenizer = copy.deepcopy(tokenizer)
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    ends = ("</s>", 2), ("<s>", 0)
    tokenizer.backend_tokenizer.post_processor = processors.RobertaProcessing(*ends, add_prefix_space=True)
    texts = ["Zebras laugh.", "The author laughs."]
    assert tokenizer.tokenize(texts[0])[0] == "\u0120"
    expected = [masked_sum(model.double(), tokenizer, text, "within_word_l2r") for text in texts]
    found = MaskedScorer(model, tokenizer).sentence_logprobs(texts)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("make", [causal, masked])
@pytest.mark.parametrize("leading_space", [False, True])
def test_continuations_count_the_same_tokens_with_and_without_leading_space(make, leading_space):
    """The boundary moves with the space; a continuation without prefix is a sentence."""
    scorer = make("gpt2" if make is causal else "roberta", leading_space=leading_space)
    whole = scorer.sentence_logprobs(["The author laughs."])
    np.testing.assert_allclose(
        scorer.continuation_logprobs([""], ["The author laughs."]), whole, rtol=0, atol=1e-5
    )
    if make is causal:
        prefix = scorer.sentence_logprobs(["The author"])
        rest = scorer.continuation_logprobs(["The author"], ["laughs."])
        np.testing.assert_allclose(prefix + rest, whole, rtol=0, atol=1e-5)


@pytest.mark.parametrize("family", ["roberta", "bert"])
def test_masked_continuation_with_leading_space(family):
    scorer = masked(family, leading_space=True)
    expected = masked_sum(
        float64_model("masked", family), scorer.tokenizer, " The author laughs.", "within_word_l2r",
        start=len(" The author"),
    )  # fmt: skip
    actual = scorer.continuation_logprobs(["The author"], ["laughs."])
    np.testing.assert_allclose(actual, [expected], rtol=0, atol=1e-4)


def test_leading_space_at_a_gap():
    scorer = masked("roberta", leading_space=True)
    ids = scorer.tokenizer(" The author is tall.")["input_ids"]
    (is_id,) = scorer.single_token_ids(["is"])
    column = ids.index(is_id)
    ids[column] = scorer.tokenizer.mask_token_id
    expected = at_mask(float64_model("masked", "roberta"), ids, column).exp().numpy()
    np.testing.assert_allclose(
        distributions(scorer, [Slot("The author", " tall.")])[0], expected, rtol=0, atol=1e-5
    )


EVERY = [("causal", family) for family in ("gpt2", "llama")]
EVERY += [("masked", family) for family in ("bert", "roberta", "albert", "distilbert", "xlm-roberta")]


@pytest.mark.parametrize("kind, family", EVERY)
def test_single_tokens_are_words_as_they_stand_after_a_space(kind, family):
    scorer = (causal if kind == "causal" else masked)(family)
    words = [*VERBS, "unlikely", "unpredictabilities", "zx", "\u0416", "the"]
    ids = scorer.single_token_ids(words)
    assert (ids[: len(VERBS)] >= 0).all() and (ids[len(VERBS) : -1] == -1).all() and ids[-1] >= 0
    tokens = scorer.tokenizer.convert_ids_to_tokens(ids[ids >= 0].tolist())
    space = {"gpt2": "\u0120", "roberta": "\u0120", "bert": "", "distilbert": ""}.get(family, "\u2581")
    assert tokens == [space + word for word in [*VERBS, "the"]]


def test_single_tokens_do_not_hang_on_is_and_has():
    """Words were once located by what `is` and `has` have in common: without them `likes` passed as `like`."""
    model, tokenizer = tiny_model("masked", "bert")
    vocabulary = {
        token: index for token, index in tokenizer.get_vocab().items() if token not in ("is", "has", "likes")
    }
    from tokenizers import Tokenizer, models

    fewer = Tokenizer(models.WordPiece({t: i for i, t in enumerate(vocabulary)}, unk_token="[UNK]"))
    fewer.pre_tokenizer = tokenizer.backend_tokenizer.pre_tokenizer
    bare = PreTrainedTokenizerFast(tokenizer_object=fewer, unk_token="[UNK]", mask_token="[MASK]")
    ids = MaskedScorer(model, bare).single_token_ids(["is", "has", "likes", "like"])
    assert ids.tolist() == [-1, -1, -1, bare.convert_tokens_to_ids("like")]


def test_no_words_no_ids():
    assert masked().single_token_ids([]).shape == (0,)


def test_left_padding_tokenizers_make_no_difference():
    model, tokenizer = tiny_model("causal", "gpt2")
    left = copy.deepcopy(tokenizer)
    left.padding_side, left.pad_token = "left", left.eos_token
    scorer = CausalScorer(model, left, share_prefixes=False)
    np.testing.assert_allclose(
        scorer.sentence_logprobs(SENTENCES), causal().sentence_logprobs(SENTENCES), atol=1e-5
    )


def broken(kind, family, value):
    model, tokenizer = tiny_model(kind, family)
    model = copy.deepcopy(model)
    with torch.no_grad():
        next(model.parameters()).fill_(value)
    return (CausalScorer if kind == "causal" else MaskedScorer)(model, tokenizer)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e38])
@pytest.mark.parametrize("kind, family", [("causal", "gpt2"), ("masked", "bert"), ("causal", "gemma2")])
def test_nan_is_an_error_not_a_score(kind, family, value):
    scorer = broken(kind, family, value)
    with pytest.raises(ValueError, match="NaN or infinity instead of scores"):
        scorer.sentence_logprobs(["The author laughs."])
    with pytest.raises(ValueError, match="NaN or infinity instead of scores"):
        distributions(scorer, [Slot("The author", ".")])


@pytest.mark.parametrize(
    "make, most", [(causal, 64), (masked, 64), (functools.partial(masked, "roberta"), 62)]
)
def test_texts_longer_than_the_model_are_refused_and_those_as_long_are_scored(make, most):
    scorer = make()
    special = len(scorer.tokenizer("")["input_ids"]) if scorer.signature["kind"] == "masked" else 1
    fits = " ".join(["the"] * (most - special))
    assert np.isfinite(scorer.sentence_logprobs([fits])).all()
    with pytest.raises(ValueError, match=f"longer than the {most} positions"):
        scorer.sentence_logprobs(["The author laughs.", fits + " the"])
    with pytest.raises(ValueError, match=f"longer than the {most} positions"):
        distributions(scorer, [Slot(fits + " the the", ".")])


@pytest.mark.parametrize("make", [causal, masked])
class TestRefusals:
    def test_lone_string(self, make):
        with pytest.raises(TypeError, match="put it into a list"):
            make().sentence_logprobs("The author laughs.")
        with pytest.raises(TypeError, match="put it into a list"):
            make().continuation_logprobs("abc", ["laughs", "laugh", "is"])

    @pytest.mark.parametrize("sentence", ["", "  ", None, float("nan"), 3])
    def test_no_text(self, make, sentence):
        with pytest.raises(ValueError, match=r"Text 1 is .*; expected at least"):
            make().sentence_logprobs(["The author laughs.", sentence])

    @pytest.mark.parametrize("word", ["", " ", None, float("nan")])
    def test_no_continuation(self, make, word):
        with pytest.raises(ValueError, match=r"Text 0 is .*; expected"):
            make().continuation_logprobs(["The author"], [word])

    def test_mismatched_lengths(self, make):
        with pytest.raises(ValueError, match="2 prefixes and 1 continuations"):
            make().continuation_logprobs(["The author", "The pilot"], ["laughs"])

    def test_nothing_asked_nothing_answered(self, make):
        scorer = make()
        assert scorer.sentence_logprobs([]).shape == (0,)
        assert scorer.continuation_logprobs([], []).shape == (0,)
        assert distributions(scorer, []).shape == (0, scorer.forward.vocabulary_size)
        assert scorer.token_counts([]).shape == (0,)

    def test_tokenizer_of_another_model(self, make):
        """On a GPU a token that the model does not know breaks off the process."""
        scorer = make()
        model = copy.deepcopy(scorer.model)
        model.resize_token_embeddings(20)
        small = type(scorer)(model, scorer.tokenizer)
        with pytest.raises(ValueError, match="do not belong together"):
            small.sentence_logprobs(["The author laughs."])

    def test_empty_tokenizer(self, make):
        from tokenizers import Tokenizer, models

        empty = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()), mask_token="<mask>")
        with pytest.raises(ValueError, match="returns no tokens"):
            type(make())(make().model, empty)


def test_masked_model_needs_a_mask_token():
    with pytest.raises(ValueError, match="has no mask token"):
        MaskedScorer(*tiny_model("causal", "gpt2"))


def test_unknown_pseudo_log_likelihood():
    with pytest.raises(ValueError, match="Unknown pll 'bidirectional'; expected within_word_l2r or original"):
        masked(pll="bidirectional")


def test_masked_model_loaded_as_a_causal_one_is_refused():
    """It sees what follows: the chain rule over its scores gives no probability."""
    scorer = CausalScorer(*tiny_model("masked", "bert"), name="bert")
    with pytest.raises(ValueError, match="attends to the tokens after it"):
        scorer.sentence_logprobs(["The author laughs."])


def test_tokens_are_counted_without_special_ones():
    for scorer in (causal("gpt2"), causal("llama"), masked("bert"), masked("roberta")):
        assert scorer.token_counts(["The author laughs."]).tolist() == [4]


@pytest.mark.parametrize("kind, families", [("causal", CAUSAL), ("masked", MASKED)])
def test_signature_says_what_decided_the_scores(kind, families):
    import json

    scorer = (causal if kind == "causal" else masked)(next(iter(families)))
    assert {"model", "revision", "architecture", "dtype", "kind", "leading_space"} <= set(scorer.signature)
    assert json.loads(json.dumps(scorer.signature)) == scorer.signature
