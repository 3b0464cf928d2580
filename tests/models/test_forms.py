"""Words of several tokens at a gap: against a literal loop in double precision, and against single tokens."""

import copy
import unicodedata

import numpy as np
import pytest
import torch
from from_logits import FromLogits
from plain_loop import causal_form, float64_model, masked_form
from tiny import tiny_model

from tse_scorers import Slot, load_scorer
from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.lstm import LstmConfig, LstmForCausalLM, word_tokenizer
from tse_scorers.models.masked import MaskedScorer
from tse_scorers.models.text import continuing_ids

FORMS = ["laughs", "laugh", "swims", "swim", "predicts", "predict", "unlikes", "unlike", "zigzags", "zigzag"]
SLOTS = [
    Slot("The author", " tall."),
    Slot("The senators near the guard", "."),
    Slot("The author that the unpredictable guards admire", " old."),
]
BOTH = pytest.mark.parametrize("kind, family", [("causal", "gpt2"), ("masked", "bert")])


def scorer_of(kind, family, **options):
    scorer = MaskedScorer if kind == "masked" else CausalScorer
    return scorer(*tiny_model(kind, family), name=family, **options)


def read_ids(scorer, slots, ids):
    """Log-probabilities of some ids at gaps, (slots, ids)."""
    return scorer.read_slots(
        slots, FromLogits(lambda logits, _: logits.double().log_softmax(-1)[:, ids].numpy(), len(ids))
    )


def ends_by_definition(tokenizer):
    """The ids that do not continue a word, from the texts of the tokens one by one."""
    anchor = tokenizer("author", add_special_tokens=False)["input_ids"]
    alone = tokenizer.decode(anchor)
    ends = []
    for token in range(len(tokenizer)):
        first = tokenizer.decode([*anchor, token])[len(alone) : len(alone) + 1]
        continues = first == "\ufffd" or (first and unicodedata.category(first)[0] in "LMN")
        if token in tokenizer.all_special_ids or not continues:
            ends.append(token)
    return ends


def literal_rows(scorer, model, slots, forms):
    """(slots, forms) by one forward pass per number, in double precision."""
    ids = scorer.form_ids(forms)
    if isinstance(scorer, MaskedScorer):
        rows = zip(*scorer.slot_ids(slots), strict=True)
        return [[masked_form(model, row, column, form) for form in ids] for row, column in rows]
    ends = ends_by_definition(scorer.tokenizer)
    contexts = scorer.slot_ids([slot.prefix for slot in slots])
    return [[causal_form(model, context, form, ends) for form in ids] for context in contexts]


FAMILIES = [("causal", f) for f in ("gpt2", "llama", "mistral", "falcon:alibi", "mamba", "gemma2")]
FAMILIES += [("masked", f) for f in ("bert", "roberta", "albert", "xlm-roberta", "fnet")]


@pytest.mark.parametrize("kind, family", FAMILIES)
def test_forms_equal_a_literal_loop(kind, family):
    scorer = scorer_of(kind, family)
    assert scorer.form_lengths(FORMS).min() == 1 < scorer.form_lengths(FORMS).max()
    expected = literal_rows(scorer, float64_model(kind, family), SLOTS, FORMS)
    np.testing.assert_allclose(scorer.form_logprobs(SLOTS, FORMS), expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", ["tiny-causal", "tiny-masked"])
def test_forms_of_the_bundled_models_equal_a_literal_loop_to_1e_5(name):
    forms = ["swims", "swim", "admires", "admire", "outmaneuvers", "outmaneuver"]
    scorer = load_scorer(name)
    expected = literal_rows(scorer, copy.deepcopy(scorer.model).double(), SLOTS[:2], forms)
    np.testing.assert_allclose(scorer.form_logprobs(SLOTS[:2], forms), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("kind", "family"), [("causal", "gpt2"), ("causal", "llama"), ("masked", "roberta")])
def test_single_tokens_are_read_from_the_distribution_at_the_gap(kind, family):
    """Without the steps of word ends, which come after them, nothing else is added."""
    scorer = scorer_of(kind, family)
    ids = scorer.single_token_ids(FORMS)
    single = np.flatnonzero(ids >= 0)
    expected = read_ids(scorer, SLOTS, ids[single])
    if kind == "causal":
        scorer.word_ends = np.ones_like(scorer.word_ends)  # the end of every word is certain
    assert 0 < len(single) < len(FORMS)
    found = scorer.form_logprobs(SLOTS, FORMS)[:, single]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_all_words_that_a_vocabulary_can_spell_have_a_probability_of_at_most_one(family):
    """All words of one or two tokens: without word ends, `a` and `ab` would both count the probability of `ab`."""
    scorer = scorer_of("causal", family)
    tokens = scorer.tokenizer.convert_ids_to_tokens(list(range(len(scorer.tokenizer))))
    anchor = scorer.tokenizer("author", add_special_tokens=False)["input_ids"][-1:]
    continuing = np.flatnonzero(continuing_ids(scorer.tokenizer, anchor, len(tokens)))
    begins = [i for i, token in enumerate(tokens) if token[:1] in "\u0120\u2581" and token[1:].isalpha()]
    spelled = [[first] for first in begins]
    spelled += [[first, second] for first in begins[:12] for second in continuing.tolist()]
    scorer.form_ids = lambda forms, opening=False: [spelled[int(form)] for form in forms]
    numbers = [str(index) for index in range(len(spelled))]
    with_ends = np.exp(scorer.form_logprobs(SLOTS, numbers))
    scorer.word_ends = np.ones_like(scorer.word_ends)
    without = np.exp(scorer.form_logprobs(SLOTS, numbers))
    assert (with_ends.sum(axis=1) <= 1).all()
    # The second tokens of a word, and its end, share the probability of its first token.
    for index, first in enumerate(begins[:12]):
        longer = [place for place, ids in enumerate(spelled) if len(ids) == 2 and ids[0] == first]
        whole = with_ends[:, index] + without[:, longer].sum(axis=1)
        np.testing.assert_allclose(whole, without[:, index], rtol=1e-4)


@pytest.mark.parametrize(("kind", "family"), [("masked", "roberta"), ("causal", "llama")])
def test_forms_capitalize_where_the_gap_opens_the_sentence(kind, family):
    model, tokenizer = tiny_model(kind, family, capitals=True)
    scorer = (CausalScorer if kind == "causal" else MaskedScorer)(model, tokenizer)
    if kind == "causal":
        scorer.word_ends = np.ones_like(scorer.word_ends)
    slots, forms = [Slot("", " the author tall."), SLOTS[0]], ["laughs", "laugh"]
    ids = scorer.single_token_ids(["Laughs", "Laugh"], opening=True)
    opened, inside = scorer.form_logprobs(slots, forms)
    np.testing.assert_allclose(opened, read_ids(scorer, slots[:1], ids)[0], rtol=0, atol=1e-5)
    np.testing.assert_allclose(inside, scorer.form_logprobs(slots[1:], forms)[0], rtol=0, atol=1e-5)


@BOTH
def test_forms_do_not_depend_on_batches_order_or_company(kind, family):
    scorer = scorer_of(kind, family)
    expected = scorer.form_logprobs(SLOTS, FORMS)
    scorer.batch_tokens = 16
    np.testing.assert_allclose(scorer.form_logprobs(SLOTS, FORMS), expected, rtol=0, atol=1e-5)
    backwards = scorer.form_logprobs(SLOTS[::-1], FORMS[::-1])[::-1, ::-1]
    np.testing.assert_allclose(backwards, expected, rtol=0, atol=1e-5)
    alone = [scorer.form_logprobs([slot], [FORMS[4]])[0, 0] for slot in SLOTS]
    np.testing.assert_allclose(alone, expected[:, 4], rtol=0, atol=1e-5)


@BOTH
def test_what_cannot_be_scored(kind, family):
    scorer = scorer_of(kind, family)
    assert scorer.form_logprobs([], FORMS).shape == (0, len(FORMS))
    assert scorer.form_logprobs(SLOTS, []).shape == (len(SLOTS), 0)
    for form in ("", None):
        with pytest.raises(ValueError, match=r"Text 1 .*expected at least one word"):
            scorer.form_logprobs(SLOTS, ["laughs", form])
    with pytest.raises(TypeError, match="list of texts"):
        scorer.form_logprobs(SLOTS, "laughs")
    with pytest.raises(ValueError, match="longer than the 64 positions"):
        scorer.form_logprobs([Slot("The author " * 30 + "that", ".")], ["zigzag" * 3])


def test_forms_that_the_vocabulary_lacks_are_nan():
    scorer, forms = scorer_of("masked", "bert"), ["laughs", "\u4e2d\u6587"]
    assert np.isnan(scorer.form_logprobs(SLOTS, forms)).tolist() == [[False, True]] * 3
    assert scorer.form_lengths(forms).tolist() == [1, 0]


def test_tokens_that_continue_a_word():
    """Letters and numbers, pieces of characters; not spaces, punctuation, special tokens or ids without text."""
    model, tokenizer = copy.deepcopy(tiny_model("causal", "gpt2"))
    continues = continuing_ids(tokenizer, tokenizer.encode("author")[-1:], len(tokenizer) + 3)
    tokens = {token: bool(continues[index]) for token, index in tokenizer.get_vocab().items()}
    assert tokens["s"] and tokens["7"] and tokens["\u00c3"] and not tokens["."] and not tokens["\u0120is"]
    assert not tokens["<|endoftext|>"] and not continues[-3:].any()
    tokenizer.backend_tokenizer.decoder = (
        None  # pieces are joined with spaces, and every token seems to end the word
    )
    with pytest.raises(ValueError, match="has no decoder"):
        CausalScorer(model, tokenizer).form_logprobs(SLOTS, FORMS)


def test_forms_of_a_model_of_whole_words_end_for_certain():
    words = {"<eos>": 0, "<unk>": 1, "The": 2, "author": 3, "laughs": 4}
    torch.manual_seed(0)
    model = LstmForCausalLM(LstmConfig(5, 12, 16, bos_token_id=0)).eval()
    scorer = CausalScorer(model, word_tokenizer(words, bos_token="<eos>", eos_token=None), name="lstm")
    forms = ["laughs", "unknown"]
    assert scorer.form_lengths(forms).tolist() == [1, 0]
    (expected,) = scorer.continuation_logprobs(["The author"], ["laughs"])
    found = scorer.form_logprobs([Slot("The author", ".")], forms)
    np.testing.assert_allclose(found, [[expected, np.nan]], rtol=0, atol=1e-5)
