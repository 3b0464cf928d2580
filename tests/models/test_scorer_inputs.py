"""What goes into the models: start tokens, spaces, single tokens; and what is refused before a model runs."""

import copy
import functools
import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from from_logits import FromLogits
from plain_loop import _logprobs, at_mask, causal_sum, float64_model, masked_sum, next_token
from tiny import CAUSAL, MASKED, SENTENCES, VERBS, tiny_model
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast
from white_space import SPACES

from tse_scorers import Slot, load_scorer
from tse_scorers.models.causal import TURN_TOKENS, CausalScorer
from tse_scorers.models.masked import MaskedScorer
from tse_scorers.models.ngram import count_words
from tse_scorers.models.text import boundary_ids, sum_by_word, words_of_tokens

LAUGHS = ["The author laughs."]
close = functools.partial(np.testing.assert_allclose, rtol=0)


def causal(family="gpt2", **options):
    return CausalScorer(*tiny_model("causal", family), name=family, **options)


def masked(family="bert", **options):
    return MaskedScorer(*tiny_model("masked", family), name=family, **options)


def distributions(scorer, slots):
    reader = FromLogits(lambda logits, _: logits.softmax(-1).double().numpy(), scorer.vocabulary_size)
    return scorer.read_slots(slots, reader)


def without_start_token(**options):
    """GPT-2 with a tokenizer and a configuration that name none."""
    model, tokenizer = tiny_model("causal", "gpt2")
    model = copy.deepcopy(model)
    model.config.bos_token_id = None
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=copy.deepcopy(tokenizer.backend_tokenizer))
    return CausalScorer(model, tokenizer, name="no-start", **options)


@pytest.mark.parametrize("family", ["gpt2", "llama", "opt", "gpt_neox"])
def test_sentences_have_the_start_token_exactly_once(family):
    """Whether the tokenizer adds it by itself (Llama) or not (GPT-2)."""
    scorer, seen = causal(family, share_prefixes=False), []
    scorer.sentence_logprobs(["The pilot."])  # so that nothing is probed any more
    note = lambda model, arguments, keywords: seen.extend(keywords["input_ids"].tolist())  # noqa: E731
    handle = scorer.model.register_forward_pre_hook(note, with_kwargs=True)
    scorer.sentence_logprobs(LAUGHS)
    handle.remove()
    ((first, *rest),) = seen
    assert first == scorer.start_token == scorer.tokenizer.bos_token_id and first not in rest
    assert scorer.signature["first_token"] == "given the start token"


def test_without_start_token_the_first_token_is_left_out_and_the_signature_says_so():
    scorer = without_start_token()
    assert scorer.signature["first_token"] == "unscored"
    expected = causal_sum(float64_model("causal", "gpt2"), scorer.tokenizer(LAUGHS[0])["input_ids"])
    found = scorer.sentence_logprobs(["Pilots", *LAUGHS])  # nothing of one token is scored
    np.testing.assert_allclose(found, [np.nan, expected], atol=1e-4)
    with pytest.raises(ValueError, match="no start token"):
        without_start_token(bos=True)


def test_an_ordinary_word_is_no_start_token_and_an_end_token_beyond_the_vocabulary_is_refused():
    """As with dbmdz/german-gpt2, whose configuration and tokenizer were made for other vocabularies."""
    model, tokenizer = tiny_model("causal", "gpt2")
    model, plain = copy.deepcopy(model), copy.deepcopy(tokenizer)
    plain.bos_token = None
    model.config.bos_token_id = tokenizer("author")["input_ids"][0]
    assert CausalScorer(model, plain, name="odd").signature["first_token"] == "unscored"
    beyond = copy.deepcopy(tokenizer)
    beyond.add_special_tokens({"bos_token": "<beyond>", "eos_token": "<beyond>"})
    with pytest.raises(ValueError, match=r"token 405 .*has 405 tokens"):
        CausalScorer(model, beyond, name="odd").sentence_logprobs(LAUGHS)
    without = CausalScorer(model, beyond, name="odd", start_token="none")
    assert np.isfinite(without.sentence_logprobs(LAUGHS)).all()


def test_start_token_of_the_configuration_serves_where_the_tokenizer_names_none():
    """As with Qwen: the tokenizer has no start token, the configuration does."""
    model, tokenizer = tiny_model("causal", "gpt2")
    bare = PreTrainedTokenizerFast(tokenizer_object=copy.deepcopy(tokenizer.backend_tokenizer))
    scorer = CausalScorer(model, bare)
    assert scorer.start_token == model.config.bos_token_id
    close(scorer.sentence_logprobs(SENTENCES), causal().sentence_logprobs(SENTENCES), atol=1e-5)


@pytest.mark.parametrize("family, added", [("gpt2", False), ("llama", True)])
@pytest.mark.parametrize("bos", [False, True])
def test_gaps_follow_the_tokenizers_default_unless_bos_is_asked_for(family, added, bos):
    scorer = causal(family, bos=bos)
    assert scorer.signature["bos_at_gap"] is (bos or added)
    start = [scorer.start_token] if bos or added else []
    for prefix in ("The author", ""):
        ids = [*start, *scorer.tokenizer(prefix, add_special_tokens=False)["input_ids"]]
        if not ids:
            with pytest.raises(ValueError, match="Use bos,"):
                distributions(scorer, [Slot(prefix, ".")])
            continue
        expected = next_token(float64_model("causal", family), ids).exp().numpy()
        close(distributions(scorer, [Slot(prefix, ".")])[0], expected, atol=1e-5)


def test_causal_tokenizer_that_closes_texts_does_not_close_a_gaps_context():
    model, tokenizer = tiny_model("causal", "llama")
    closing = copy.deepcopy(tokenizer.backend_tokenizer)
    closing.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    names = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    scorer = CausalScorer(model, PreTrainedTokenizerFast(tokenizer_object=closing, **names))
    slots = [Slot("The author", "."), Slot("", " author.")]
    close(distributions(scorer, slots), distributions(causal("llama"), slots), atol=1e-6)
    np.testing.assert_array_equal(scorer.single_token_ids(VERBS), causal("llama").single_token_ids(VERBS))


def with_chat_token(token, family="gpt2"):
    """A tiny model whose tokenizer names a chat's token as its start token."""
    model, tokenizer = copy.deepcopy(tiny_model("causal", family))
    tokenizer.add_special_tokens({"bos_token": token})
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    return model, tokenizer


@pytest.mark.parametrize("token", sorted(TURN_TOKENS))
def test_a_chat_token_gives_way_to_the_token_of_documents(token):
    model, tokenizer = with_chat_token(token)
    scorer = CausalScorer(model, tokenizer)
    assert scorer.start_token_text == scorer.signature["start_token"] == "<|endoftext|>"
    ids = tokenizer(["<|endoftext|>" + SENTENCES[0]], add_special_tokens=False)["input_ids"][0]
    assert scorer.sentence_logprobs(SENTENCES[:1])[0] == pytest.approx(causal_sum(model, ids), abs=1e-3)


@pytest.mark.parametrize("bos", [False, True])
def test_at_a_gap_the_tokenizers_own_chat_token_is_replaced(bos):
    model, tokenizer = with_chat_token("<|im_start|>", family="llama")
    own = tokenizer.bos_token_id
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<|im_start|> $A", special_tokens=[("<|im_start|>", own)]
    )
    scorer = CausalScorer(model, tokenizer, bos=bos)
    ids = scorer.slot_ids(["The author"])[0]
    assert ids[0] == scorer.start_token == tokenizer.convert_tokens_to_ids("<s>") and own not in ids
    assert CausalScorer(model, tokenizer, start_token="none").slot_ids(["The author"])[0] == ids[1:]


def test_a_start_token_that_is_asked_for_and_none():
    model, tokenizer = tiny_model("causal", "llama")
    ids = tokenizer(LAUGHS[0], add_special_tokens=False)["input_ids"]
    for token, start in (("</s>", [tokenizer.eos_token_id]), ("none", [])):
        scorer = load_scorer(model, tokenizer, start_token=token)
        assert scorer.signature["start_token"] == token
        assert scorer.sentence_logprobs(LAUGHS)[0] == pytest.approx(causal_sum(model, start + ids), abs=1e-3)
    same = CausalScorer(model, tokenizer, start_token=tokenizer.bos_token)
    assert same.signature == CausalScorer(model, tokenizer).signature
    with pytest.raises(ValueError, match=r"no token '<turn>'.*Change start_token"):
        load_scorer(model, tokenizer, start_token="<turn>")


@pytest.mark.parametrize("scorer", [causal, functools.partial(masked, "roberta"), masked])
def test_a_leading_space_is_read_before_the_first_word(scorer):
    """The boundary of a continuation moves with it; a continuation without prefix is a sentence."""
    scorer = scorer(leading_space=True)
    kind, family = scorer.signature["kind"], scorer.name
    model, text = float64_model(kind, family), " The author laughs."
    if kind == "causal":
        ids = [scorer.start_token, *scorer.tokenizer(text)["input_ids"]]
        head = len(scorer.tokenizer(" The author")["input_ids"])
        whole, rest = causal_sum(model, ids), causal_sum(model, ids, start=1 + head)
    else:
        whole, rest = (
            masked_sum(model, scorer.tokenizer, text, "within_word_l2r", start=start)
            for start in (0, len(" The author"))
        )
    close(scorer.sentence_logprobs(LAUGHS), [whole], atol=1e-4)
    close(scorer.continuation_logprobs(["The author", ""], ["laughs.", *LAUGHS]), [rest, whole], atol=1e-4)
    assert scorer.signature["leading_space"]


def test_leading_space_at_a_gap():
    scorer = masked("roberta", leading_space=True)
    ids = scorer.tokenizer(" The author is tall.")["input_ids"]
    column = ids.index(scorer.single_token_ids(["is"])[0])
    ids[column] = scorer.tokenizer.mask_token_id
    expected = at_mask(float64_model("masked", "roberta"), ids, column).exp().numpy()
    close(distributions(scorer, [Slot("The author", " tall.")])[0], expected, atol=1e-5)


def test_a_space_that_the_tokenizer_puts_before_a_text_is_scored():
    """The lone first token of a RoBERTa with `add_prefix_space` has no characters: its offsets are (0, 0)."""
    model, tokenizer = tiny_model("masked", "roberta")
    tokenizer = copy.deepcopy(tokenizer)
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    ends = ("</s>", 2), ("<s>", 0)
    tokenizer.backend_tokenizer.post_processor = processors.RobertaProcessing(*ends, add_prefix_space=True)
    texts = ["Zebras laugh.", *LAUGHS]
    assert tokenizer.tokenize(texts[0])[0] == "\u0120"
    expected = [masked_sum(model.double(), tokenizer, text, "within_word_l2r") for text in texts]
    close(MaskedScorer(model, tokenizer).sentence_logprobs(texts), expected, atol=1e-4)


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
    assert scorer.single_token_ids([]).shape == (0,)


def test_single_tokens_do_not_hang_on_is_and_has():
    """Words were once located by what `is` and `has` have in common: without them `likes` passed as `like`."""
    model, tokenizer = tiny_model("masked", "bert")
    tokens = [token for token in tokenizer.get_vocab() if token not in ("is", "has", "likes")]
    fewer = Tokenizer(models.WordPiece({token: i for i, token in enumerate(tokens)}, unk_token="[UNK]"))
    fewer.pre_tokenizer = tokenizer.backend_tokenizer.pre_tokenizer
    bare = PreTrainedTokenizerFast(tokenizer_object=fewer, unk_token="[UNK]", mask_token="[MASK]")
    ids = MaskedScorer(model, bare).single_token_ids(["is", "has", "likes", "like"])
    assert ids.tolist() == [-1, -1, -1, bare.convert_tokens_to_ids("like")]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e38])
@pytest.mark.parametrize("kind, family", [("causal", "gpt2"), ("masked", "bert"), ("causal", "gemma2")])
def test_nan_is_an_error_not_a_score(kind, family, value):
    model, tokenizer = copy.deepcopy(tiny_model(kind, family))
    with torch.no_grad():
        next(model.parameters()).fill_(value)
    scorer = (CausalScorer if kind == "causal" else MaskedScorer)(model, tokenizer)
    for ask in (lambda: scorer.sentence_logprobs(LAUGHS), lambda: distributions(scorer, [Slot("The", ".")])):
        with pytest.raises(ValueError, match="NaN or infinity instead of scores"):
            ask()


@pytest.mark.parametrize(
    "make, most", [(causal, 64), (masked, 64), (functools.partial(masked, "roberta"), 62)]
)
def test_texts_longer_than_the_model_are_refused_and_those_as_long_are_scored(make, most):
    scorer = make()
    special = len(scorer.tokenizer("")["input_ids"]) if scorer.signature["kind"] == "masked" else 1
    fits = " ".join(["the"] * (most - special))
    assert np.isfinite(scorer.sentence_logprobs([fits])).all()
    with pytest.raises(ValueError, match=f"longer than the {most} positions"):
        scorer.sentence_logprobs([*LAUGHS, fits + " the"])
    with pytest.raises(ValueError, match=f"longer than the {most} positions"):
        distributions(scorer, [Slot(fits + " the the", ".")])


def test_texts_past_the_reach_of_short_rope_factors_are_refused():
    """Phi-3's long factors hold for a whole batch: one long text moved its neighbours by 8 nats."""
    model, tokenizer = copy.deepcopy(tiny_model("causal", "phi3"))
    model.config.original_max_position_embeddings = 16
    model.config.rope_parameters = {
        "rope_type": "longrope", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 16,
        "short_factor": [1.0] * 4, "long_factor": [4.0] * 4,
    }  # fmt: skip
    scorer = CausalScorer(type(model)(model.config).eval(), tokenizer)
    assert np.isfinite(scorer.sentence_logprobs(LAUGHS)).all()
    with pytest.raises(ValueError, match="longer than the 16 positions"):
        scorer.sentence_logprobs([*LAUGHS, "The author " + "and the pilot " * 6 + "laugh."])


@pytest.mark.parametrize("make", [causal, masked])
def test_bad_input_is_refused(make):
    scorer = make()
    for sentence in ("", "  ", None, float("nan"), 3):
        with pytest.raises(ValueError, match=r"Text 1 is .*; expected at least"):
            scorer.sentence_logprobs([*LAUGHS, sentence])
        with pytest.raises(ValueError, match=r"Text 0 is .*; expected"):
            scorer.continuation_logprobs(["The author"], [sentence])
    with pytest.raises(ValueError, match=r"Text 1 .*\\ud83d dog.*encoding"):
        scorer.sentence_logprobs(["A dog.", "A \ud83d dog."])
    with pytest.raises(TypeError, match="put it into a list"):
        scorer.sentence_logprobs(LAUGHS[0])
    for prefixes, continuations in (
        (["The author", "The pilot"], ["laughs"]),
        ("abc", ["laughs", "laugh", "is"]),
    ):
        with pytest.raises(ValueError, match=r"prefixes and . continuations; expected two lists"):
            scorer.continuation_logprobs(prefixes, continuations)


@pytest.mark.parametrize("make", [causal, masked])
def test_nothing_asked_nothing_answered(make):
    scorer = make()
    assert scorer.sentence_logprobs([]).shape == scorer.continuation_logprobs([], []).shape == (0,)
    assert distributions(scorer, []).shape == (0, scorer.vocabulary_size)
    assert scorer.token_counts([]).shape == (0,) and scorer.word_logprobs([]) == []


@pytest.mark.parametrize("make", [causal, masked])
def test_tokenizers_that_do_not_fit_are_refused(make):
    """On a GPU a token that the model does not know breaks off the process."""
    scorer = make()
    model = copy.deepcopy(scorer.model)
    model.resize_token_embeddings(20)
    with pytest.raises(ValueError, match="do not belong together"):
        type(scorer)(model, scorer.tokenizer).sentence_logprobs(LAUGHS)
    empty = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()), mask_token="<mask>")
    with pytest.raises(ValueError, match="returns no tokens"):
        type(scorer)(scorer.model, empty)


def test_models_of_the_other_kind_are_refused():
    """A masked model sees what follows: the chain rule over its scores gives no probability."""
    with pytest.raises(ValueError, match="has no mask token"):
        MaskedScorer(*tiny_model("causal", "gpt2"))
    with pytest.raises(ValueError, match="attends to the tokens after it"):
        CausalScorer(*tiny_model("masked", "bert"), name="bert").sentence_logprobs(LAUGHS)


def test_tokens_are_counted_without_special_ones():
    for scorer in (causal("gpt2"), causal("llama"), masked("bert"), masked("roberta")):
        assert scorer.token_counts(LAUGHS).tolist() == [4]


@pytest.mark.parametrize("scorer", [causal(next(iter(CAUSAL))), masked(next(iter(MASKED)))])
def test_signature_says_what_decided_the_scores(scorer):
    assert {"model", "revision", "architecture", "dtype", "kind", "leading_space"} <= set(scorer.signature)
    assert json.loads(json.dumps(scorer.signature)) == scorer.signature


@pytest.mark.parametrize("make", [causal, masked])
def test_threads_that_share_a_model_get_their_own_numbers(make):
    """They got each other's: about 30 of 400 calls, where both waited for the hidden states of one model."""
    first = make()
    second, texts = type(first)(first.model, first.tokenizer), [SENTENCES[:3], SENTENCES[3:6]]
    expected = [first.sentence_logprobs(each) for each in texts]
    with ThreadPoolExecutor(2) as threads:
        found = [
            threads.submit(lambda scorer, each: [scorer.sentence_logprobs(each) for _ in range(60)], *pair)
            for pair in zip((first, second), texts, strict=True)
        ]
    for answers, right in zip(found, expected, strict=True):
        close(np.array(answers.result()), [right] * 60, atol=1e-5)


def test_iterables_are_scored_as_lists():
    """A generator of sentences had no scores and no error."""
    models = [load_scorer(name) for name in ("tiny-causal", "tiny-masked")]
    for scorer in (*models, count_words(SENTENCES, 2)):
        for ask in (scorer.sentence_logprobs, scorer.token_counts):
            np.testing.assert_array_equal(ask(iter(SENTENCES[:3])), ask(SENTENCES[:3]))
        assert scorer.word_logprobs(iter(SENTENCES[:3])) == scorer.word_logprobs(SENTENCES[:3])


TEXTS = [SENTENCES[0], SENTENCES[3], "The unlikely guards swimming near unpredictability laugh.", "Pilots"]


def literal_words(scorer, text):
    """P(word) = P(tokens) * P(a space or the end next | tokens) / P(a space or the end next | before), by a loop."""
    ids = [scorer.start_token, *scorer.tokenizer(text, add_special_tokens=False)["input_ids"]]
    logprobs = _logprobs(float64_model("causal", scorer.name), ids)
    ends = np.log(logprobs.exp()[:, boundary_ids(scorer.tokenizer)].sum(dim=1).numpy())
    scores, position = [], 1
    for number, word in enumerate(text.split()):
        start, spelled = position, ""
        while spelled != word:
            spelled += scorer.tokenizer.decode([ids[position]]).strip()
            position += 1
        score = sum(logprobs[i - 1, ids[i]].item() for i in range(start, position))
        scores.append(score + ends[position - 1] - (ends[start - 1] if number else 0.0))
    return scores


@pytest.mark.parametrize("family", ["gpt2", "llama", "mistral"])
def test_causal_words_equal_a_plain_loop(family):
    scorer = causal(family)
    for text, found in zip(TEXTS, scorer.word_logprobs(TEXTS), strict=True):
        assert [word for word, _ in found] == text.split()
        close([score for _, score in found], literal_words(scorer, text), atol=1e-4)


def test_probabilities_of_the_words_that_may_follow_sum_to_one_at_most():
    """Each is a share of the contexts in which a word ends: without the correction the sum is far below one."""
    scorer = causal()
    vocabulary = scorer.tokenizer.convert_ids_to_tokens(list(range(len(scorer.tokenizer))))
    words = [token[1:] for token in vocabulary if token.startswith("\u0120") and token[1:].isalpha()]
    found = scorer.word_logprobs([f"The author {word}" for word in words])
    plain = np.exp(scorer.continuation_logprobs(["The author"] * len(words), words)).sum()
    assert plain < np.exp([of_text[2][1] for of_text in found]).sum() <= 1 + 1e-6


@pytest.mark.parametrize("pll", ["original", "within_word_l2r"])
@pytest.mark.parametrize("family", ["bert", "roberta", "albert"])
@pytest.mark.parametrize("leading_space", [False, True])
def test_masked_words_are_the_sums_of_their_tokens(family, pll, leading_space):
    scorer, text = masked(family, pll=pll, leading_space=leading_space), "The author knows unpredictability"
    spaced = " " * leading_space + text
    whole, last = (
        masked_sum(float64_model("masked", family), scorer.tokenizer, spaced, pll, start=start)
        for start in (0, len(spaced) - len(" unpredictability"))
    )
    (found,) = scorer.word_logprobs([text])
    assert found[3] == ("unpredictability", pytest.approx(last, abs=1e-4))
    assert sum(score for _, score in found) == pytest.approx(whole, abs=1e-4)


@pytest.mark.parametrize("space", SPACES)
def test_any_white_space_separates_words_and_a_word_without_tokens_has_no_score(space):
    text = "The cat eats mice.".replace(" ", space)
    of_token = words_of_tokens(text, np.array([3, 7, 12, 17, 18]))
    found = sum_by_word(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), *of_token)
    assert found == [("The", 1), ("cat", 2), ("eats", 3), ("mice.", 9)]
    (_, (_, score), _) = sum_by_word(np.array([-1.0, -2.0]), *words_of_tokens("a b c", np.array([1, 5])))
    assert np.isnan(score)
