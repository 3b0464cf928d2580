"""The engine, from plans to records: what a model is given, what is read, and what happens when memory is full."""

import copy
import itertools
import types
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from accelerate import dispatch_model
from from_logits import FromLogits
from hypothesis import given
from hypothesis import strategies as st
from plain_loop import at_mask, float64_model
from pretended import moved, pretended_devices
from tiny import NOUNS, SENTENCES, tiny_model

from tse_scorers import Slot, load_scorer
from tse_scorers.engine.forward import BLOCK, Forward
from tse_scorers.engine.plan import Plan, plain_rows, prefix_rows
from tse_scorers.engine.run import TokenReader, run
from tse_scorers.models.causal import CausalScorer

TEXTS = [[5 + (i * j) % 90 for j in range(1, 3 + i % 4)] for i in range(1, 25)]
"""24 short texts of gpt2's ids, of 2 to 5 tokens."""
TOKENS = np.arange(len(TEXTS)) + 7
FAMILY = [
    f"The {noun} {rest} {verb} {end}."
    for noun, rest in itertools.product(
        ["author", "senators"], ["", "that the guard admires", "near the guards and the old movie"]
    )
    for verb, end in itertools.product(["is", "are"], ["tall", "old"])
]
"""Sentences that share beginnings."""


@contextmanager
def watched(model, failure=lambda shape, number: None):
    """Note the shape of each batch, and raise what `failure(shape, number of the batch)` returns."""
    shapes = []

    def note(_, arguments, keywords):
        shapes.append(tuple(keywords["input_ids"].shape))
        if error := failure(shapes[-1], len(shapes)):
            raise error

    handle = model.register_forward_pre_hook(note, with_kwargs=True)
    try:
        yield shapes
    finally:
        handle.remove()


def last_tokens(texts=TEXTS):
    """A plan that reads each text behind its last token."""
    return plain_rows(texts, [len(text) - 1 for text in texts])


@pytest.fixture(scope="module")
def forward():
    return Forward(tiny_model("causal", "gpt2")[0])


@pytest.fixture(scope="module")
def expected():
    """Log P of `TOKENS` behind `TEXTS`, one forward pass each."""
    model = float64_model("causal", "gpt2")
    pairs = zip(TEXTS, TOKENS, strict=True)
    return np.array([at_mask(model, text, len(text) - 1)[token].item() for text, token in pairs])


# ---- plans ------------------------------------------------------------------------------------------------

ids = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6), min_size=1, max_size=12)


@given(ids, st.sampled_from([None, 4, 8, 1000]))
def test_every_token_of_a_text_follows_its_own_predecessors(texts, capacity):
    rows, nodes = prefix_rows(texts, capacity)
    token_at, before = {}, {}
    for row in rows:
        for column, token in enumerate(row.ids):
            parent = column - 1 if row.parent is None else row.parent[column]
            token_at[row.first + column] = token
            before[row.first + column] = row.first + parent if parent >= 0 else None
    for text, path in zip(texts, nodes, strict=True):
        assert [token_at[node] for node in path.tolist()] == text
        assert [before[node] for node in path.tolist()] == [None, *path.tolist()[:-1]]
    n_prefixes = len({tuple(text[: end + 1]) for text in texts for end in range(len(text))})
    if capacity == 1000:  # one row of all, each beginning once
        assert len(rows) == 1 and len(rows[0].ids) == n_prefixes
    elif capacity is not None:
        assert all(len(row.ids) <= max(capacity, *map(len, texts)) for row in rows)
    else:  # one row for each text that no other continues
        alone = {tuple(text) for text in texts if not any(o[: len(text)] == text != o for o in texts)}
        assert sorted(tuple(row.ids) for row in rows) == sorted(alone)


@given(ids, st.sampled_from([None, 6]), st.integers(1, 30), st.integers(1, 9))
def test_batches_hold_each_row_that_is_read_once_within_their_budgets(texts, capacity, tokens, reads):
    rows, nodes = prefix_rows(texts, capacity)
    plan = Plan(rows, np.array([path[-1] for path in nodes[:5]]))
    groups = list(plan.batches(tokens, reads))
    firsts = [row.first for group in groups for row in group]
    assert len(firsts) == len(set(firsts))
    batches = [plan.batch(group) for group in groups]
    assert sorted(np.concatenate([batch.reads for batch in batches])) == list(range(len(plan.reads)))
    for group, batch in zip(groups, batches, strict=True):
        lengths = [len(row.ids) for row in group]
        assert len(group) == 1 or (batch.ids.size <= tokens and len(batch.reads) <= reads)
        assert capacity is not None or len(set(lengths)) == 1  # plain rows are never padded
    widths = [batch.ids.shape[1] for batch in batches]
    assert widths == sorted(widths, reverse=True)  # what does not fit into memory shows at once


# ---- what goes through the model, and what is read ---------------------------------------------------------


def test_equal_texts_and_shared_beginnings_go_through_the_model_once():
    scorer = CausalScorer(*tiny_model("causal", "gpt2"))
    scorer.sentence_logprobs(FAMILY)  # nothing is probed any more
    inputs = [ids[:-1] for ids in scorer._with_spans(FAMILY)[0]]
    beginnings = {tuple(ids[: end + 1]) for ids in inputs for end in range(len(ids))}
    with watched(scorer.model) as shapes:
        once, twice = scorer.sentence_logprobs(FAMILY), scorer.sentence_logprobs(FAMILY * 2)
    n_tokens = sum(rows * width for rows, width in shapes)
    assert scorer.execution["prefixes_shared"] and n_tokens < 1.3 * 2 * len(beginnings) < sum(
        map(len, inputs)
    )
    np.testing.assert_allclose(twice, [*once, *once], rtol=0, atol=1e-5)


def test_plain_texts_of_any_lengths_go_through_without_padding(forward, expected):
    with watched(forward.model) as shapes:
        answers = run(forward, last_tokens(), TokenReader(TOKENS))
    assert sum(rows * width for rows, width in shapes) == sum(map(len, {tuple(text): text for text in TEXTS}))
    np.testing.assert_allclose(answers, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "kind, family, capacity",
    [*itertools.product(["causal"], ["gpt2", "gemma2"], [None, 16, 1000]), ("masked", "bert", None)],
)
def test_a_read_in_any_place_is_that_of_a_literal_forward_pass(kind, family, capacity):
    """-1 stands for the total of a group of ids; id 0 is an id like any other."""
    model, texts = float64_model(kind, family), [*TEXTS[:9], [5, 6, 7], [5, 6, 8], [5, 6]]
    reads = [(text, place) for text in texts for place in range(len(text))]
    rows, nodes = prefix_rows(texts, capacity)
    plan = Plan(rows, np.concatenate(nodes))
    if kind == "masked":
        plan = plain_rows([text for text, _ in reads], [place for _, place in reads])
    tokens, group = np.arange(len(reads)) % 5 - 1, np.arange(model.config.vocab_size) % 3 == 1
    answers = run(Forward(model), plan, TokenReader(tokens, group), batch_tokens=40)
    for answer, (text, place), token in zip(answers, reads, tokens, strict=True):
        logprobs = at_mask(model, text, place)
        literal = logprobs[torch.from_numpy(group)].logsumexp(0) if token < 0 else logprobs[token]
        assert answer == pytest.approx(literal.item(), abs=1e-5 if family == "gemma2" else 1e-10)


def test_progress_counts_tokens_up_to_all_of_them(forward):
    told = []
    run(forward, last_tokens(), TokenReader(TOKENS), 24, lambda *done: told.append(done))
    total = sum(len(row.ids) for row in last_tokens().rows)
    assert told[0] == (0, total) and told[-1] == (total, total) and told == sorted(told) and len(told) > 3


# ---- memory -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        "CUDA error: out of memory\nCompile with `TORCH_USE_CUDA_DSA` to enable assertions.",
        "MPS backend out of memory (MPS allocated: 17.81 GiB, max allowed: 18.13 GiB).",
        "Invalid buffer size: 24.58 GiB",
        "UR backend failed. UR backend returns:39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)",
        "[enforce fail at alloc_cpu.cpp:80] DefaultCPUAllocator: not enough memory: you tried",
        torch.OutOfMemoryError("CUDA out of memory."),
        MemoryError("Unable to allocate 24.6 GiB for an array"),
    ],
)
def test_batches_that_do_not_fit_are_halved_and_no_answer_changes(forward, expected, message):
    """Each device and library says in its own words that memory ran out; some of them ended the run."""
    error = RuntimeError(message) if isinstance(message, str) else message
    with watched(forward.model, lambda shape, _: error if np.prod(shape) > 10 else None) as shapes:
        answers = run(forward, last_tokens(), TokenReader(TOKENS), batch_tokens=24)
    np.testing.assert_allclose(answers, expected, rtol=0, atol=1e-5)
    run_rows = [rows for rows, width in shapes if rows * width <= 10]
    assert len(run_rows) < len(shapes) and sum(run_rows) == len(last_tokens().rows)  # no row twice


def test_a_single_row_that_does_not_fit_is_one_plain_sentence(forward):
    full = torch.OutOfMemoryError("CUDA out of memory.")
    with (
        watched(forward.model, lambda shape, _: full if np.prod(shape) > 2 else None),
        pytest.raises(ValueError, match=r"1 rows of up to 5 tokens does not fit .*--dtype bfloat16"),
    ):
        run(forward, last_tokens(), TokenReader(TOKENS), batch_tokens=24)


def test_other_errors_of_a_model_pass_and_what_is_no_number_is_one(forward):
    wrong = RuntimeError("mat1 and mat2 shapes cannot be multiplied")
    with watched(forward.model, lambda *_: wrong), pytest.raises(RuntimeError, match="mat1"):
        run(forward, last_tokens(), TokenReader(TOKENS))
    for value in (torch.nan, torch.inf):
        model = copy.deepcopy(forward.model)
        model.lm_head.bias = torch.nn.Parameter(torch.zeros(model.config.vocab_size))
        broken = Forward(model)
        with torch.no_grad():
            model.lm_head.bias[3] = value
        with pytest.raises(ValueError, match="NaN or infinity"):
            run(broken, last_tokens(), TokenReader(TOKENS))


# ---- the output layer -------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale, dtype", [(0.02, torch.float32), (1.0, torch.float32), (1.0, torch.bfloat16)])
def test_soft_caps_are_applied_even_where_logits_are_small(scale, dtype):
    """Tanh is the identity near zero: on small logits a capped model once passed for one without."""
    model = copy.deepcopy(tiny_model("causal", "gemma2")[0])
    with torch.no_grad():
        model.get_output_embeddings().weight.mul_(scale)
    forward = Forward(model.to(dtype))
    assert forward.narrows
    with torch.no_grad():
        model.get_output_embeddings().weight.mul_(30 / scale)  # the cap is 30
    answers = run(forward, last_tokens(), TokenReader(TOKENS))
    literal = [
        at_mask(model, text, len(text) - 1)[token].item() for text, token in zip(TEXTS, TOKENS, strict=True)
    ]
    np.testing.assert_allclose(answers, literal, rtol=0.02 if dtype == torch.bfloat16 else 1e-5)


def test_a_model_that_must_run_whole_has_the_same_scores():
    model, tokenizer = tiny_model("causal", "gpt2")
    expected = CausalScorer(model, tokenizer).sentence_logprobs(SENTENCES)
    model = copy.deepcopy(model)
    layer = model.lm_head

    # Adds the number of positions, which the layer sees only if it runs at all of them.
    class Odd(torch.nn.Module):
        weight = layer.weight

        def forward(self, hidden):
            return layer(hidden) + torch.arange(hidden.shape[1])[:, None]

    model.lm_head = Odd()
    scores = CausalScorer(model, tokenizer, share_prefixes=False).sentence_logprobs(SENTENCES)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-5)


# ---- what a model can be trusted with ----------------------------------------------------------------------


def shares(model, tokenizer, texts):
    """Whether a scorer shares beginnings of these texts; its scores must be those of texts one by one."""
    scorer, plain = CausalScorer(model, tokenizer), CausalScorer(model, tokenizer, share_prefixes=False)
    tolerance = 1e-4 if model.dtype == torch.float32 else 0.5
    scores = scorer.sentence_logprobs(texts)
    np.testing.assert_allclose(scores, plain.sentence_logprobs(texts), rtol=0, atol=tolerance)
    return scorer.execution["prefixes_shared"]


def scaled(family, dtype, scale=1.0):
    """A tiny model with smaller weights, in this dtype, and its tokenizer."""
    model, tokenizer = tiny_model("causal", family)
    model = copy.deepcopy(model)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1 and "norm" not in name.lower() and "A_log" not in name:
                parameter.mul_(scale)
    return model.to(dtype), tokenizer


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("family", ["gpt2", "llama", "gemma2", "olmo2"])
def test_models_share_beginnings_in_any_precision(family, dtype):
    assert shares(*scaled(family, dtype), FAMILY)


@pytest.mark.parametrize("scale", [1.0, 0.1])
@pytest.mark.parametrize("family", ["mamba2", "rwkv", "recurrent_gemma", "lfm2", "jamba", "bloom", "gpt_oss"])
def test_half_precision_hides_no_recurrence_window_or_bias_by_distance(family, scale):
    """With weights as small as trained ones, what leaks from other texts is no larger than rounding."""
    assert not shares(*scaled(family, torch.bfloat16, scale), FAMILY)


@pytest.mark.parametrize(
    "dtype, scale", [(torch.float32, 1.0), (torch.bfloat16, 1.0), (torch.bfloat16, 0.07)]
)
def test_texts_that_outgrow_a_window_are_found_among_many_that_do_not(dtype, scale):
    """The mean error over all texts was small in half precision; that of the long ones was not."""
    model, tokenizer = scaled("mistral", dtype, scale)
    model.config.sliding_window = 16
    short = [f"The {noun} {end}" for noun in NOUNS for end in ("near the guards is", "near the guards are")]
    long = "The author that the guard near the old movie and the pilot admires and the consultant knows"
    scorer = CausalScorer(model, tokenizer)
    scorer.sentence_logprobs(short)
    assert scorer.execution["prefixes_shared"]
    both = scorer.sentence_logprobs([*short * 4, f"{long} is", f"{long} are"])
    assert not scorer.execution["prefixes_shared"]  # longer texts are probed anew
    alone = CausalScorer(model, tokenizer, share_prefixes=False).sentence_logprobs(
        [f"{long} is", f"{long} are"]
    )
    np.testing.assert_allclose(both[-2:], alone, rtol=0, atol=1e-4 if dtype == torch.float32 else 0.5)


# ---- devices ----------------------------------------------------------------------------------------------

GB = 2**30


@pytest.fixture
def gpus(monkeypatch):
    """Any device can be used. In inference mode, torch does not take the operations on them apart itself."""
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (8 * GB, 16 * GB))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda _: 0)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda _: 0)
    with torch.inference_mode(), pretended_devices(monkeypatch):
        yield


def scores(scorer):
    """Scores of sentences and forms, and some logits at gaps."""
    slots = [Slot("The author", " tall."), Slot("The senators that the guard admires", " old.")]
    at_gaps = scorer.read_slots(slots, FromLogits(lambda logits, _: logits[:, :9].cpu().numpy(), 9))
    return [
        *scorer.sentence_logprobs(SENTENCES),
        *scorer.form_logprobs(slots, ["is", "exists"]).flat,
        *at_gaps.flat,
    ]


@pytest.mark.parametrize("device", ["cuda:0", "mps:0"])
@pytest.mark.parametrize("kind, family", [("causal", "gpt2"), ("masked", "bert"), ("causal", "gemma2")])
def test_scores_on_a_gpu_are_those_of_the_cpu(gpus, kind, family, device):
    model, tokenizer = tiny_model(kind, family)
    expected = scores(load_scorer(model, tokenizer))
    scorer = load_scorer(moved(copy.deepcopy(model), device), tokenizer)
    assert scorer.execution["device"] == device
    np.testing.assert_allclose(scores(scorer), expected, rtol=0, atol=1e-5)


def test_a_model_over_two_gpus_runs_its_output_layer_at_reads_only(gpus):
    """Logits of an output layer on the last GPU were compared across two GPUs, which failed without a word."""
    tied, tokenizer = tiny_model("causal", "gpt2")
    model = copy.deepcopy(tied)
    model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())
    first = dict.fromkeys(["wte", "wpe", "drop", "h.0"], "cuda:0") | dict.fromkeys(["h.1", "ln_f"], "cuda:1")
    places = {f"transformer.{name}": device for name, device in first.items()} | {"lm_head": "cuda:1"}
    for name, device in places.items():
        moved(model.get_submodule(name), device)
    scorer = load_scorer(dispatch_model(model, places, main_device="cuda:0", force_hooks=True), tokenizer)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(scores(scorer), scores(load_scorer(tied, tokenizer)), rtol=0, atol=1e-5)


def test_float32_is_exact_whatever_a_training_script_asked_for():
    """LSTMs of cuDNN round to TF32 by default, and the signature said float32."""
    scorer, seen = load_scorer("tiny-lstm"), []

    def state():
        return torch.backends.cudnn.allow_tf32, torch.get_float32_matmul_precision()

    scorer.model.lstm.register_forward_pre_hook(lambda *_: seen.append(state()))
    try:
        torch.set_float32_matmul_precision("high")
        before = state()
        scorer.sentence_logprobs(SENTENCES[:1])
        assert state() == before and seen[-1] == (False, "highest") != before
    finally:
        torch.set_float32_matmul_precision("highest")


class Bigrams(torch.nn.Module):
    """The smallest language model: a vector of each id, and an output layer."""

    device, dtype = torch.device("cpu"), torch.float32

    def __init__(self, vocabulary, bias=True, scale=1.0):
        super().__init__()
        torch.manual_seed(0)
        self.hidden = torch.nn.Parameter(scale * torch.randn(vocabulary, 16))
        self.layer = torch.nn.Linear(16, vocabulary, bias=bias)
        config = types.SimpleNamespace(vocab_size=vocabulary, get_text_config=lambda: config)
        self.config = config

    def get_output_embeddings(self):
        return self.layer

    def forward(self, input_ids, attention_mask=None):
        return types.SimpleNamespace(logits=self.layer(self.hidden[input_ids]))

    def check(self, tolerance=1e-5):
        """Compare log-probabilities, of ids and of a group, with a log-softmax in float64."""
        vocabulary = self.config.vocab_size
        inputs, tokens = [*range(vocabulary)] * 2, np.arange(2 * vocabulary) % vocabulary
        tokens[vocabulary:] = -1
        group = torch.arange(vocabulary) >= vocabulary - 9
        forward = Forward(self.eval())
        assert forward.sums_by_block
        plan = plain_rows([[token] for token in inputs], [0] * len(inputs))
        with torch.inference_mode():
            with watched(self) as shapes:
                actual = run(forward, plan, TokenReader(tokens, group.numpy()))
            assert sum(n for n, _ in shapes) == vocabulary  # no input twice
            logprobs = copy.deepcopy(self.layer).double()(self.hidden.double()).log_softmax(1)
        np.testing.assert_allclose(actual[:vocabulary], logprobs.diagonal(), rtol=1e-6, atol=tolerance)
        of_group = logprobs[:, group].logsumexp(1)
        np.testing.assert_allclose(actual[vocabulary:], of_group, rtol=1e-6, atol=tolerance)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("vocabulary", [16, BLOCK, 2 * BLOCK + 5])
@pytest.mark.parametrize("scale", [0.1, 10.0])
def test_log_sum_exps_by_blocks_equal_those_of_all_logits(vocabulary, bias, scale):
    Bigrams(vocabulary, bias, scale).check()


@pytest.mark.parametrize("width, tokens", [(64, 4096), (512, 2048), (4096, 1024)])
def test_batches_are_smaller_where_a_model_is_wider(width, tokens):
    """2**20 numbers of a layer at one time, or so."""
    model, texts = Bigrams(16).eval(), [*map(list, itertools.product(range(8), repeat=4))]
    model.config.hidden_size = width
    with watched(model) as shapes:
        run(Forward(model), last_tokens(texts), TokenReader(np.zeros(len(texts), np.int64)))
    assert max(n * length for n, length in shapes) == tokens


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
@pytest.mark.parametrize("where", [3, BLOCK + 3])
def test_a_logit_that_is_no_number_is_an_error_in_any_block(where, value):
    model = Bigrams(BLOCK + 9)
    with torch.no_grad():
        model.layer.bias[where] = value
    with pytest.raises(ValueError, match="NaN or infinity"):
        model.check()
    with torch.no_grad():
        model.layer.bias[:] = -torch.inf
    with pytest.raises(ValueError, match="NaN or infinity"):
        model.check()
