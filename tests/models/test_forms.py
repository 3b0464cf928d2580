"""Words of several tokens at a gap: against a literal loop in double precision, and against today's single tokens."""

import copy
import functools
import unicodedata

import numpy as np
import pytest
import torch
from from_logits import FromLogits
from plain_loop import causal_form, float64_model, masked_form
from tiny import tiny_model

from tse_scorers import Slot, load_scorer
from tse_scorers.models import forms as form_module
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


def scorer_of(kind, family, **options):
    scorer = MaskedScorer if kind == "masked" else CausalScorer
    return scorer(*tiny_model(kind, family), name=family, **options)


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


@functools.cache
def literal(kind, family):
    """(slots, forms) by one forward pass per number, in double precision."""
    scorer, model = scorer_of(kind, family), float64_model(kind, family)
    return np.array(literal_rows(scorer, model, SLOTS, FORMS))


def literal_rows(scorer, model, slots, forms):
    ids = scorer.form_ids(forms)
    if isinstance(scorer, MaskedScorer):
        rows = zip(*scorer.slot_ids(slots), strict=True)
        return [[masked_form(model, row, column, form) for form in ids] for row, column in rows]
    ends = ends_by_definition(scorer.tokenizer)
    contexts = scorer.slot_ids([slot.prefix for slot in slots])
    return [[causal_form(model, context, form, ends) for form in ids] for context in contexts]


@pytest.mark.parametrize("family", ["gpt2", "llama", "mistral", "falcon:alibi", "mamba", "gemma2"])
def test_causal_forms_equal_a_literal_loop(family):
    scorer = scorer_of("causal", family)
    assert scorer.form_lengths(FORMS).min() == 1 < scorer.form_lengths(FORMS).max()
    found = scorer.form_logprobs(SLOTS, FORMS)
    np.testing.assert_allclose(found, literal("causal", family), rtol=0, atol=1e-4)


def test_a_form_is_tokenized_once():
    """A run tokenized the whole list four times, which took longer than scoring a sample."""
    scorer = CausalScorer(*tiny_model("causal", "gpt2"))
    found = scorer.form_ids(FORMS)
    scorer.tokenizer = None
    assert scorer.form_ids(FORMS[::-1]) == found[::-1]


@pytest.mark.parametrize("family", ["bert", "roberta", "albert", "xlm-roberta", "fnet"])
def test_masked_forms_equal_a_literal_loop(family):
    scorer = scorer_of("masked", family)
    assert scorer.form_lengths(FORMS).min() == 1 < scorer.form_lengths(FORMS).max()
    found = scorer.form_logprobs(SLOTS, FORMS)
    np.testing.assert_allclose(found, literal("masked", family), rtol=0, atol=1e-4)


def test_forms_of_the_bundled_models_equal_a_literal_loop_to_1e_5(root):
    """No cache, no sharing, double precision."""
    lemmas = ["swims", "swim", "laughs", "laugh", "admires", "admire", "outmaneuvers", "outmaneuver"]
    for name in ("tiny-causal", "tiny-masked"):
        scorer = load_scorer(name)
        assert scorer.form_lengths(lemmas).min() == 1 < scorer.form_lengths(lemmas).max()
        expected = literal_rows(scorer, copy.deepcopy(scorer.model).double(), SLOTS[:2], lemmas)
        found = scorer.form_logprobs(SLOTS[:2], lemmas)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("kind", "family"), [("causal", "gpt2"), ("causal", "llama"), ("masked", "roberta")])
def test_single_tokens_are_read_from_the_distribution_at_the_gap(kind, family):
    """Without the steps of word ends, which come after them, nothing else is added."""
    scorer = scorer_of(kind, family)
    ids = scorer.single_token_ids(FORMS)
    single = np.flatnonzero(ids >= 0)

    def today(logits, _):
        return logits.double().log_softmax(-1)[:, ids[single]].numpy()

    expected = scorer.read_slots(SLOTS, FromLogits(today, len(single)))
    if kind == "causal":
        scorer.word_ends = np.ones_like(scorer.word_ends)  # the end of every word is certain
    found = scorer.form_logprobs(SLOTS, FORMS)
    assert 0 < len(single) < len(FORMS)
    np.testing.assert_allclose(found[:, single], expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_all_words_that_a_vocabulary_can_spell_have_a_probability_of_at_most_one(family):
    """All words of one or two tokens: without word ends, `a` and `ab` would both count the probability of `ab`."""
    scorer = scorer_of("causal", family)
    tokens = scorer.tokenizer.convert_ids_to_tokens(list(range(len(scorer.tokenizer))))
    continuing = np.flatnonzero(continuing_ids(scorer.tokenizer, anchor_of(scorer), len(tokens)))
    begins = [i for i, token in enumerate(tokens) if token[:1] in "\u0120\u2581" and token[1:].isalpha()]
    spelled = [[first] for first in begins]
    spelled += [[first, second] for first in begins[:12] for second in continuing.tolist()]
    scorer.form_ids = lambda forms, opening=False: [spelled[int(form)] for form in forms]
    numbers = [str(index) for index in range(len(spelled))]
    with_ends = np.exp(scorer.form_logprobs(SLOTS, numbers))
    scorer.word_ends = np.ones_like(scorer.word_ends)  # the end of every word is certain
    without = np.exp(scorer.form_logprobs(SLOTS, numbers))
    assert (with_ends.sum(axis=1) <= 1).all()
    # The second tokens of a word, and its end, share the probability of its first token.
    for index, first in enumerate(begins[:12]):
        longer = [place for place, ids in enumerate(spelled) if len(ids) == 2 and ids[0] == first]
        np.testing.assert_allclose(
            with_ends[:, index] + without[:, longer].sum(axis=1), without[:, index], rtol=1e-4
        )


def anchor_of(scorer):
    return scorer.tokenizer("author", add_special_tokens=False)["input_ids"][-1:]


def test_forms_capitalize_where_the_gap_opens_the_sentence():
    for kind, family in (("masked", "roberta"), ("causal", "llama")):
        model, tokenizer = tiny_model(kind, family, capitals=True)
        scorer = (
            MaskedScorer(model, tokenizer) if kind == "masked" else CausalScorer(model, tokenizer, bos=True)
        )
        if kind == "causal":
            scorer.word_ends = np.ones_like(scorer.word_ends)  # the end of every word is certain
        slots = [Slot("", " the author tall."), SLOTS[0]]
        ids = scorer.single_token_ids(["Laughs", "Laugh"], opening=True)

        def today(logits, _, ids=ids):
            return logits.log_softmax(-1)[:, ids].double().numpy()

        expected = scorer.read_slots(slots[:1], FromLogits(today, 2))
        found = scorer.form_logprobs(slots, ["laughs", "laugh"])
        np.testing.assert_allclose(found[0], expected[0], rtol=0, atol=1e-5)
        inside = scorer.form_logprobs(slots[1:], ["laughs", "laugh"])
        np.testing.assert_allclose(found[1:], inside, rtol=0, atol=1e-5)


def test_forms_do_not_depend_on_batches_order_or_company():
    for kind, family in (("causal", "gpt2"), ("masked", "bert")):
        scorer = scorer_of(kind, family)
        expected = scorer.form_logprobs(SLOTS, FORMS)
        scorer.batch_tokens = 16
        np.testing.assert_allclose(scorer.form_logprobs(SLOTS, FORMS), expected, rtol=0, atol=1e-5)
        backwards = scorer.form_logprobs(SLOTS[::-1], FORMS[::-1])[::-1, ::-1]
        np.testing.assert_allclose(backwards, expected, rtol=0, atol=1e-5)
        alone = [scorer.form_logprobs([slot], [form])[0, 0] for slot in SLOTS for form in FORMS[4:6]]
        np.testing.assert_allclose(alone, expected[:, 4:6].ravel(), rtol=0, atol=1e-5)


def test_forms_that_the_vocabulary_lacks_are_nan():
    scorer = scorer_of("masked", "bert")
    found = scorer.form_logprobs(SLOTS, ["laughs", "\u4e2d\u6587"])
    assert np.isfinite(found[:, 0]).all() and np.isnan(found[:, 1]).all()
    assert scorer.form_lengths(["laughs", "\u4e2d\u6587"]).tolist() == [1, 0]


def test_small_parts_give_the_same(monkeypatch):
    scorer = scorer_of("causal", "gpt2")
    expected = scorer.form_logprobs(SLOTS, FORMS)
    monkeypatch.setattr(form_module, "PLANNED", 1)
    np.testing.assert_allclose(scorer.form_logprobs(SLOTS, FORMS), expected, rtol=0, atol=1e-5)


def test_tokens_that_continue_a_word():
    """Letters and numbers, pieces of characters; not spaces, punctuation, special tokens or ids without text."""
    tokenizer = tiny_model("causal", "gpt2")[1]
    continues = continuing_ids(tokenizer, tokenizer.encode("author")[-1:], len(tokenizer) + 3)
    tokens = {token: bool(continues[index]) for token, index in tokenizer.get_vocab().items()}
    assert tokens["s"] and tokens["7"] and tokens["\u00c3"] and not tokens["."] and not tokens["\u0120is"]
    assert not tokens["<|endoftext|>"] and not continues[-3:].any()
    pieces = tiny_model("masked", "bert")[1]
    continues = continuing_ids(pieces, pieces.encode("author", add_special_tokens=False), len(pieces))
    assert (
        continues[pieces.convert_tokens_to_ids("##s")] and not continues[pieces.convert_tokens_to_ids("is")]
    )


def test_scorers_of_both_kinds_answer_forms():
    assert scorer_of("causal", "gpt2").can("form_logprobs")
    assert scorer_of("masked", "bert").can("form_logprobs")


def test_forms_of_a_model_of_whole_words_end_for_certain():
    tokenizer = word_tokenizer(
        {"<eos>": 0, "<unk>": 1, "The": 2, "author": 3, "laughs": 4}, bos_token="<eos>", eos_token=None
    )
    torch.manual_seed(0)
    scorer = CausalScorer(
        LstmForCausalLM(LstmConfig(5, 12, 16, bos_token_id=0)).eval(), tokenizer, name="lstm"
    )
    forms = ["laughs", "unknown"]
    assert scorer.form_lengths(forms).tolist() == [1, 0]
    found = scorer.form_logprobs([Slot("The author", ".")], forms)
    (expected,) = scorer.continuation_logprobs(["The author"], ["laughs"])
    np.testing.assert_allclose(found, [[expected, np.nan]], rtol=0, atol=1e-5)


@pytest.mark.parametrize("forms", [["laughs", ""], ["laughs", " laugh"], ["laughs", None]])
def test_what_is_no_word_is_refused(forms):
    for kind, family in (("causal", "gpt2"), ("masked", "bert")):
        with pytest.raises(ValueError, match=r"(Form|Text) 1 .*expected (a|at least one) word"):
            scorer_of(kind, family).form_logprobs(SLOTS, forms)


def test_no_forms_or_no_gaps_are_no_error_and_one_string_is():
    for kind, family in (("causal", "gpt2"), ("masked", "bert")):
        scorer = scorer_of(kind, family)
        assert scorer.form_logprobs([], FORMS).shape == (0, len(FORMS))
        assert scorer.form_logprobs(SLOTS, []).shape == (len(SLOTS), 0)
        with pytest.raises(TypeError, match="list of texts"):
            scorer.form_logprobs(SLOTS, "laughs")


def test_word_ends_need_a_decoder():
    """Without one, pieces are joined with spaces, and every token would seem to end the word."""
    model, tokenizer = tiny_model("causal", "gpt2")
    without = copy.deepcopy(tokenizer)
    without.backend_tokenizer.decoder = None
    scorer = CausalScorer(model, without, name="gpt2")
    with pytest.raises(ValueError, match="has no decoder"):
        scorer.form_logprobs(SLOTS, FORMS)


def test_forms_too_long_for_the_model_are_refused_before_it_runs():
    for kind, family in (("causal", "gpt2"), ("masked", "bert")):
        scorer = scorer_of(kind, family)
        with pytest.raises(ValueError, match="longer than the 64 positions"):
            scorer.form_logprobs([Slot("The author " * 30 + "that", ".")], ["zigzag" * 3])
        assert scorer._forward is None


def test_word_ends_are_read_in_any_precision():
    model, tokenizer = tiny_model("causal", "gpt2")
    expected = CausalScorer(model, tokenizer, name="gpt2").form_logprobs(SLOTS, FORMS)
    double = CausalScorer(float64_model("causal", "gpt2"), tokenizer, name="gpt2")
    np.testing.assert_allclose(double.form_logprobs(SLOTS, FORMS), expected, rtol=0, atol=1e-4)
    half = CausalScorer(*tiny_model("causal", "gpt2", torch.bfloat16), name="gpt2")
    assert np.abs(half.form_logprobs(SLOTS, FORMS) - expected).mean() < 0.5
