"""Which token opens a text: the one of pretraining documents, never one that opens a chat turn."""

import copy

import pytest
from from_logits import FromLogits
from plain_loop import causal_sum
from tiny import SENTENCES, tiny_model
from tokenizers import processors
from typer.testing import CliRunner

from tse_scorers import Slot, load_scorer
from tse_scorers.cli.app import app
from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.start_tokens import TURN_TOKENS, opens_chat_turns

CHATML = "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
LLAMA_2 = (
    "{% for m in messages %}{% if m['role'] == 'user' %}{{ bos_token + '[INST] ' + m['content'] + ' [/INST]' }}"
    "{% else %}{{ m['content'] + eos_token }}{% endif %}{% endfor %}"
)
BOS_AND_ROLE = (
    "{{ bos_token }}{% for m in messages %}{{ m['role'] + ': ' + m['content'] + '\n' }}{% endfor %}"
)
OWN_TURNS = "{% for m in messages %}{{ '<turn>' + m['role'] + ' ' + m['content'] + '</turn>' }}{% endfor %}"


def with_start(token, end="</s>", template=None, family="gpt2"):
    model, tokenizer = copy.deepcopy(tiny_model("causal", family))
    tokenizer.add_special_tokens({"bos_token": token, "eos_token": end})
    tokenizer.chat_template = template
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    return model, tokenizer


@pytest.mark.parametrize(
    "token, template, opens",
    [
        ("<|im_start|>", CHATML, True),
        ("<|im_start|>", None, True),
        ("<turn>", None, False),
        ("<|endoftext|>", CHATML, False),
        ("<s>", LLAMA_2, False),  # opens each exchange of Llama 2, and its documents
        ("<s>", BOS_AND_ROLE, False),
        ("<s>", "{{ raise_exception('no') }}", False),
    ],
)
def test_chat_tokens_are_known_by_name(token, template, opens):
    _, tokenizer = with_start(token, template=template)
    assert opens_chat_turns(tokenizer, tokenizer.bos_token_id) is opens


@pytest.mark.parametrize("token", sorted(TURN_TOKENS))
def test_a_chat_token_gives_way_to_the_token_of_documents(token):
    model, tokenizer = with_start(token)
    scorer = CausalScorer(model, tokenizer)
    assert scorer.start_token_text == scorer.signature["start_token"] == "<|endoftext|>"
    assert scorer.signature["first_token"] == "given the start token"
    start = tokenizer.convert_tokens_to_ids("<|endoftext|>")
    ids = tokenizer(SENTENCES[0], add_special_tokens=False)["input_ids"]
    expected = causal_sum(model, [start, *ids])
    assert scorer.sentence_logprobs(SENTENCES[:1])[0] == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_where_the_policy_does_not_change_neither_does_the_signature(family):
    model, tokenizer = tiny_model("causal", family)
    plain = CausalScorer(model, tokenizer)
    assert "start_token" not in plain.signature
    same = CausalScorer(model, tokenizer, start_token=tokenizer.bos_token)
    assert same.signature == plain.signature


def test_a_token_that_is_asked_for_and_none():
    model, tokenizer = tiny_model("causal", "llama")
    other = load_scorer(model, tokenizer, start_token="</s>")
    assert other.signature["start_token"] == "</s>"
    assert other.sentence_ids(["The author"])[0][0] == tokenizer.eos_token_id
    none = load_scorer(model, tokenizer, start_token="none")
    assert (none.signature["first_token"], none.signature["start_token"]) == ("unscored", "none")
    ids = tokenizer("The author laughs.", add_special_tokens=False)["input_ids"]
    assert none.sentence_logprobs(["The author laughs."])[0] == pytest.approx(
        causal_sum(model, ids), abs=1e-3
    )
    with pytest.raises(ValueError, match=r"no token '<turn>'.*Change start_token"):
        load_scorer(model, tokenizer, start_token="<turn>")
    with pytest.raises(ValueError, match="no start token to put before"):
        load_scorer(model, tokenizer, start_token="none", bos=True)


@pytest.mark.parametrize("bos", [False, True])
def test_at_a_gap_the_tokenizers_own_chat_token_is_replaced(bos):
    model, tokenizer = with_start("<|im_start|>", family="llama")
    own = tokenizer.bos_token_id
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<|im_start|> $A", special_tokens=[("<|im_start|>", own)]
    )
    scorer = CausalScorer(model, tokenizer, bos=bos)
    ids = scorer.slot_ids(["The author"])[0]
    assert ids[0] == scorer.start_token == tokenizer.convert_tokens_to_ids("<s>") and own not in ids
    assert CausalScorer(model, tokenizer, start_token="none").slot_ids(["The author"])[0] == ids[1:]
    scorer.read_slots(
        [Slot("The author", ".")], FromLogits(lambda logits, _: logits[:, :1].double().numpy(), 1)
    )


def test_the_terminal_says_it_once(tmp_path):
    (tmp_path / "s.txt").write_text("The author laughs.\n")
    run = CliRunner().invoke
    said = run(app, ["score", str(tmp_path / "s.txt"), "--model", "tiny-causal"])
    assert said.stderr.count("first token of a sentence: conditioned on <|endoftext|>") == 1
    said = run(app, ["score", str(tmp_path / "s.txt"), "--model", "tiny-causal", "--start-token", "none"])
    assert "the first token of a sentence is not scored" in said.stderr
