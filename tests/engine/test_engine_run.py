"""The loop around the model: memory that runs out, runs that stop, progress; and what the output layer reads."""

import copy
import shutil
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from tiny import SENTENCES, tiny_model

from tse_scorers import Slot
from tse_scorers.engine import journal as journal_module
from tse_scorers.engine.distributions import BLOCK, Distributions, LinearDistributions
from tse_scorers.engine.forward import ForwardPass
from tse_scorers.engine.journal import Journal
from tse_scorers.engine.plan import RowPlan
from tse_scorers.engine.readers import DistributionReader, TokenReader
from tse_scorers.engine.run import BatchRunner, prefetched_batches, token_budget
from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.masked import MaskedScorer

TEXTS = [[5 + (i * j) % 90 for j in range(1, 3 + i % 4)] for i in range(1, 25)]
TOKENS = 24


def run(plan, forward, reader, **limits):
    return BatchRunner(plan, forward, reader, **limits).run()


def plan_and_reader(texts=TEXTS):
    plan = RowPlan(texts, [len(text) - 1 for text in texts])
    return plan, TokenReader(plan.read_of, np.arange(len(texts)) + 7, plan.n_reads)


@pytest.fixture(scope="module")
def forward():
    return ForwardPass(tiny_model("causal", "gpt2")[0])


@pytest.fixture(scope="module")
def expected(forward):
    return run(*reordered(forward))


def reordered(forward, texts=TEXTS):
    plan, reader = plan_and_reader(texts)
    return plan, forward, reader


@contextmanager
def watched(model, raise_where=None):
    """Note the shape of every batch; raise what `raise_where(shape, number of the batch)` gives."""
    shapes = []

    def note(_, arguments, keywords):
        shapes.append(tuple(keywords["input_ids"].shape))
        error = raise_where and raise_where(shapes[-1], len(shapes))
        if error:
            raise error

    handle = model.register_forward_pre_hook(note, with_kwargs=True)
    try:
        yield shapes
    finally:
        handle.remove()


def out_of_memory(most):
    def raise_where(shape, _):
        return torch.OutOfMemoryError("CUDA out of memory.") if shape[0] * shape[1] > most else None

    return raise_where


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory."),
        torch.AcceleratorError(
            "CUDA error: out of memory\nCUDA kernel errors might be reported at some other call", 2
        )
        if hasattr(torch, "AcceleratorError")
        else RuntimeError("CUDA error: out of memory"),
        RuntimeError(
            "CUDA error: out of memory\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions."
        ),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
        RuntimeError("MPS backend out of memory (MPS allocated: 17.81 GiB, max allowed: 18.13 GiB)."),
        RuntimeError("Invalid buffer size: 24.58 GiB"),
        RuntimeError("UR backend failed. UR backend returns:39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory"),
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp:80] data. DefaultCPUAllocator: not enough memory: you tried"
        ),
        MemoryError("Unable to allocate 24.6 GiB for an array"),
    ],
    ids=lambda error: f"{type(error).__name__} {error}"[:60],
)
def test_batches_that_do_not_fit_are_halved_without_changing_answers(forward, expected, error):
    """Each device and library says in its own words that memory ran out; some of them ended the run."""
    with watched(forward.model, lambda shape, _: error if shape[0] * shape[1] > 10 else None) as shapes:
        answers = run(*reordered(forward), batch_tokens=TOKENS)
    np.testing.assert_allclose(answers, expected, rtol=0, atol=1e-5)
    assert any(rows * width > 10 for rows, width in shapes)


def test_what_did_not_fit_is_not_tried_again_and_again(forward, expected):
    """The budget comes back in small steps, so that few batches are run in vain."""
    texts = [[5 + i % 90, 6, 7, 8] for i in range(200)]
    with watched(forward.model, out_of_memory(40)) as shapes:
        run(*reordered(forward, texts), batch_tokens=200)
    failed = sum(rows * width > 40 for rows, width in shapes)
    done = sum(rows for rows, width in shapes if rows * width <= 40)
    assert done == len({tuple(text) for text in texts})  # no row twice
    assert 0 < failed <= len(shapes) / 3


def test_a_single_row_that_does_not_fit_is_an_error_that_says_what_to_do(forward):
    with watched(forward.model, out_of_memory(2)), pytest.raises(ValueError, match="--dtype bfloat16"):
        run(*reordered(forward), batch_tokens=TOKENS)


def test_other_errors_of_the_model_pass_through(forward):
    def raise_where(shape, number):
        return RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    with watched(forward.model, raise_where), pytest.raises(RuntimeError, match="mat1"):
        run(*reordered(forward), batch_tokens=TOKENS)


def test_out_of_memory_behind_the_model_loses_nothing(forward, expected):
    """Memory may run out when logits are read, after part of a batch has been answered."""
    plan, reader = plan_and_reader()
    failed = []

    class Once:
        n_answers, width, fingerprint = reader.n_answers, reader.width, None
        needs_full_logits = reader.needs_full_logits

        def __call__(self, logits, reads):
            if not failed and len(reads) > 2:
                failed.append(len(reads))
                raise torch.OutOfMemoryError("CUDA out of memory.")
            return reader(logits, reads)

    np.testing.assert_allclose(run(plan, forward, Once(), batch_tokens=TOKENS), expected, rtol=0, atol=1e-5)
    assert failed


def test_an_answer_that_is_not_given_is_an_error(forward):
    plan, reader = plan_and_reader()

    class Forgetful:
        n_answers, width, needs_full_logits, fingerprint = reader.n_answers, 1, False, None

        def __call__(self, distributions, reads):
            answers, values = reader(distributions, reads)
            return answers[answers != 3], values[answers != 3]

    with pytest.raises(RuntimeError, match="1 of 24 answers are missing"):
        run(plan, forward, Forgetful())


def test_memory_that_runs_out_in_a_probe_says_nothing_of_the_model():
    model = copy.deepcopy(tiny_model("causal", "gpt2")[0])
    with (
        watched(model, lambda _, number: torch.OutOfMemoryError("out of memory") if number == 2 else None),
        pytest.raises(torch.OutOfMemoryError),
    ):
        ForwardPass(model)
    assert ForwardPass(model).way == "output layer"


def test_batches_made_ahead_are_those_made_when_they_are_due():
    plan, _ = plan_and_reader()
    groups = [[0, 1, 2], [3], [4, 5]]
    for (rows, due), (rows_ahead, ahead) in zip(
        prefetched_batches(plan, groups, torch.device("cpu")),
        prefetched_batches(plan, groups, torch.device("xpu")),
        strict=True,
    ):
        assert rows == rows_ahead
        np.testing.assert_array_equal(due.input_ids, ahead.input_ids)
        np.testing.assert_array_equal(due.reads, ahead.reads)
    assert list(prefetched_batches(plan, [], torch.device("xpu"))) == []


def test_what_fails_ahead_is_told():
    plan, _ = plan_and_reader()
    with pytest.raises(IndexError):
        list(prefetched_batches(plan, [[0], [len(TEXTS) + 1]], torch.device("xpu")))


def test_progress_counts_tokens_up_to_all_of_them(forward):
    plan, reader = plan_and_reader()
    told = []
    run(plan, forward, reader, batch_tokens=TOKENS, progress=lambda done, total: told.append((done, total)))
    total = int(plan.lengths.sum())
    assert told[-1] == (total, total)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert {of for _, of in told} == {total} and len(told) > 3


IDENTITY = {"model": "m", "revision": "1"}


def stop_at(batch):
    def raise_where(_, number):
        return KeyboardInterrupt() if number == batch else None

    return raise_where


def interrupted(forward, folder, batch, identity=IDENTITY, texts=TEXTS):
    plan, reader = plan_and_reader(texts)
    with watched(forward.model, stop_at(batch)) as shapes, pytest.raises(KeyboardInterrupt):
        run(plan, forward, reader, batch_tokens=TOKENS, journal=Journal(folder, plan, reader, identity))
    return shapes


def resumed(forward, folder, identity=IDENTITY, texts=TEXTS, batch_tokens=TOKENS):
    plan, reader = plan_and_reader(texts)
    with watched(forward.model) as shapes:
        answers = run(
            plan, forward, reader, batch_tokens=batch_tokens, journal=Journal(folder, plan, reader, identity)
        )
    return np.array(answers), shapes


@pytest.mark.parametrize("batch", [1, 3, 5])
def test_a_stopped_run_goes_on_where_it_was(tmp_path, forward, expected, batch):
    _, uninterrupted = resumed(forward, tmp_path / "other")
    interrupted(forward, tmp_path / "journal", batch)
    answers, shapes = resumed(forward, tmp_path / "journal")
    assert shapes == uninterrupted[batch - 1 :]
    np.testing.assert_allclose(answers, expected, rtol=0, atol=1e-6)


def test_a_killed_process_loses_only_what_was_not_noted(tmp_path, forward, expected, monkeypatch):
    """Nothing runs after SIGKILL: what lies on the disk in the middle of a run is all there is."""
    _, uninterrupted = resumed(forward, tmp_path / "other")
    monkeypatch.setattr(journal_module, "SECONDS_BETWEEN_FLUSHES", -1.0)
    plan, reader = plan_and_reader()

    def copy_at_fourth(_, number):
        if number == 4:
            shutil.copytree(tmp_path / "alive", tmp_path / "killed")

    with watched(forward.model, copy_at_fourth):
        journal = Journal(tmp_path / "alive", plan, reader, IDENTITY)
        run(plan, forward, reader, batch_tokens=TOKENS, journal=journal)
    answers, shapes = resumed(forward, tmp_path / "killed")
    assert shapes == uninterrupted[3:]
    np.testing.assert_allclose(answers, expected, rtol=0, atol=1e-6)


def test_a_finished_run_is_not_made_again(tmp_path, forward, expected):
    resumed(forward, tmp_path)
    answers, shapes = resumed(forward, tmp_path)
    assert shapes == []
    np.testing.assert_allclose(answers, expected, rtol=0, atol=1e-6)


def test_another_budget_goes_on_all_the_same(tmp_path, forward, expected):
    interrupted(forward, tmp_path, 3)
    answers, shapes = resumed(forward, tmp_path, batch_tokens=7)
    assert 0 < len(shapes)
    np.testing.assert_allclose(answers, expected, rtol=0, atol=1e-5)


def test_another_model_or_other_texts_begin_anew(tmp_path, forward):
    _, all_shapes = resumed(forward, tmp_path / "other")
    interrupted(forward, tmp_path, 3)
    _, shapes = resumed(forward, tmp_path, identity={"model": "m", "revision": "2"})
    assert shapes == all_shapes
    _, shapes = resumed(forward, tmp_path, texts=TEXTS[::-1])
    assert len(shapes) == len(all_shapes)


def test_other_tokens_of_the_same_inputs_begin_anew(tmp_path, forward):
    """`swims` and `swim` before the same context have the same masked input: their journals were once one."""
    plan, _ = plan_and_reader()
    interrupted(forward, tmp_path, 3)
    other = TokenReader(np.arange(len(TEXTS)), np.arange(len(TEXTS)) + 8, len(TEXTS))
    answers = run(plan, forward, other, batch_tokens=TOKENS, journal=Journal(tmp_path, plan, other, IDENTITY))
    np.testing.assert_allclose(answers, run(plan, forward, other), rtol=0, atol=1e-5)


def test_runs_that_follow_each_other_keep_their_journals(tmp_path, forward):
    """The first one's answers are there when the second one was stopped."""
    resumed(forward, tmp_path)
    interrupted(forward, tmp_path, 2, texts=TEXTS[:20])
    _, shapes = resumed(forward, tmp_path)
    assert shapes == []


def test_full_disk_is_an_error_before_any_model_time_is_spent(tmp_path, forward, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    plan, reader = plan_and_reader()
    with pytest.raises(ValueError, match=r"No space left on device.*--out"):
        Journal(tmp_path, plan, reader, IDENTITY)
    monkeypatch.undo()
    answers, _ = resumed(forward, tmp_path)  # the half-made journal is no journal
    assert np.isfinite(answers).all()


def test_a_disk_that_fills_up_loses_nothing_that_was_noted(tmp_path, forward, expected, monkeypatch):
    """What was written before stays, and half a block is written over."""
    monkeypatch.setattr(journal_module, "SECONDS_BETWEEN_FLUSHES", -1.0)
    plan, reader = plan_and_reader()
    journal = Journal(tmp_path, plan, reader, IDENTITY)
    whole, opened = type(journal._path).open, []

    def full(path, *mode):
        opened.append(path)
        if len(opened) > 2:
            with whole(path, "ab") as file:
                file.write(b"half")
            raise OSError(28, "No space left on device")
        return whole(path, *mode)

    monkeypatch.setattr(type(journal._path), "open", full)
    with pytest.raises(ValueError, match=r"No space left on device.*--out"):
        run(plan, forward, reader, batch_tokens=TOKENS, journal=journal)
    monkeypatch.undo()
    with pytest.warns(UserWarning, match="corrupt from byte"):
        answers, shapes = resumed(forward, tmp_path)
    assert shapes
    np.testing.assert_allclose(answers, expected, rtol=0, atol=1e-6)


def test_scorer_journals_what_can_be_told_apart_only(tmp_path):
    """A function that does not say what it computes leaves no answers that another might take for its own."""
    scorer = MaskedScorer(*tiny_model("masked", "bert"))
    scorer.journal_folder = tmp_path
    slots = [Slot("The author", ".")]
    scorer.read_slots(slots, lambda logits, _: logits[:, :2].double().numpy(), 2)
    assert list(tmp_path.iterdir()) == []
    first = scorer.sentence_logprobs(SENTENCES)
    assert len(list(tmp_path.iterdir())) == 1
    with watched(scorer.model) as shapes:
        second = scorer.sentence_logprobs(SENTENCES)
    assert shapes == []
    np.testing.assert_array_equal(first, second)


@contextmanager
def rows_through_output_layer(model):
    """Note how many rows the output layer computes in each of its calls."""
    rows = []
    layer = model.get_output_embeddings()
    handle = layer.register_forward_hook(lambda _, __, logits: rows.append(logits.shape[:-1].numel()))
    try:
        yield rows
    finally:
        handle.remove()


EVERY_WAY = [("causal", "gpt2"), ("masked", "bert"), ("causal", "bloom"), ("causal", "gemma2")]


def make_scorer(kind, family, dtype=torch.float64):
    """In double precision the output layer is called as a module; in single it is taken apart on a CPU."""
    model, tokenizer = tiny_model(kind, family, dtype)
    scorer = (CausalScorer if kind == "causal" else MaskedScorer)(model, tokenizer)
    scorer.batch_tokens = 10_000
    return scorer


def few(logits, _):
    return logits[:, :4].double().numpy()


@pytest.mark.parametrize("kind, family", EVERY_WAY)
def test_the_output_layer_runs_at_reads_only(kind, family):
    scorer = make_scorer(kind, family)
    slots = [Slot(prefix, " tall.") for prefix in ("The author", "The pilot", "The movie near the guards")]
    scorer.read_slots(slots, few, 4)  # so that nothing is probed any more
    with rows_through_output_layer(scorer.model) as rows:
        scorer.read_slots(slots, few, 4)
    assert sum(rows) == len(slots)


@pytest.mark.parametrize("kind, family", EVERY_WAY)
def test_logits_never_take_more_than_their_budget(kind, family):
    scorer = make_scorer(kind, family)
    expected = scorer.sentence_logprobs(SENTENCES)
    scorer._share_prefixes = False
    most = 16
    scorer._forward = ForwardPass(scorer.model, logits_budget=4 * scorer.forward.vocabulary_size * most)
    with rows_through_output_layer(scorer.model) as rows:
        np.testing.assert_allclose(scorer.sentence_logprobs(SENTENCES), expected, rtol=0, atol=1e-5)
    assert max(rows) <= most and len(rows) > 2


@pytest.mark.parametrize("scale, dtype", [(0.1, torch.float32), (1.0, torch.float32), (1.0, torch.bfloat16)])
def test_soft_caps_are_found_even_where_logits_are_small(scale, dtype):
    """Tanh is the identity near zero: on small logits a capped model once passed for one without."""
    model = copy.deepcopy(tiny_model("causal", "gemma2")[0])
    with torch.no_grad():
        model.get_output_embeddings().weight.mul_(scale)
    assert ForwardPass(model.to(dtype)).way == "end of the model"


def test_models_without_an_output_layer_of_their_own_run_whole():
    model = copy.deepcopy(tiny_model("causal", "gpt2")[0])
    tokenizer = tiny_model("causal", "gpt2")[1]
    model.get_output_embeddings = lambda: None
    scorer = CausalScorer(model, tokenizer)
    assert scorer.forward.way == "whole model"
    expected = CausalScorer(*tiny_model("causal", "gpt2")).sentence_logprobs(SENTENCES)
    np.testing.assert_allclose(scorer.sentence_logprobs(SENTENCES), expected, rtol=0, atol=1e-5)


def test_readers_give_each_answer_its_own_read():
    logits = torch.randn(3, 11, dtype=torch.float64)
    read_of, token = np.array([2, 0, 2, 1]), np.array([4, 5, 6, 7])
    reader = TokenReader(read_of, token, 3)
    answers, values = reader(Distributions(logits[[2, 0]]), np.array([2, 0]))
    assert sorted(answers) == [0, 1, 2]
    expected = logits.log_softmax(-1)[read_of, token].numpy()
    np.testing.assert_allclose(values[:, 0], expected[answers], rtol=1e-12)
    both = DistributionReader(
        read_of, 11, lambda x, indices: np.column_stack([x.numpy()[:, :10], indices]), 3
    )
    answers, values = both(Distributions(logits[[1, 2]]), np.array([1, 2]))
    assert values[:, 10].tolist() == answers.tolist() and sorted(answers) == [0, 2, 3]
    np.testing.assert_array_equal(values[:, :10], logits[read_of[answers], :10].numpy())


def test_mass_of_other_ids_beside_a_token():
    logits = torch.randn(2, 11, dtype=torch.float64)
    reader = TokenReader(np.array([0, 1]), np.array([4, 5]), 2, beside=np.array([1, 2, 3]))
    answers, values = reader(Distributions(logits), np.array([0, 1]))
    probabilities = logits.softmax(-1).numpy()[answers]
    np.testing.assert_allclose(np.exp(values[:, 0]), probabilities[[0, 1], [4, 5]], rtol=1e-12)
    np.testing.assert_allclose(np.exp(values[:, 1]), probabilities[:, 1:4].sum(axis=1), rtol=1e-12)


def test_log_sum_exp_is_not_done_in_bfloat16():
    logits = torch.randn(1, 5000).bfloat16()
    values = Distributions(logits).logprobs(torch.tensor([0]), torch.tensor([3]))
    assert values.item() == pytest.approx(logits.double().log_softmax(-1)[0, 3].item(), abs=1e-5)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("vocabulary", [3, BLOCK, 2 * BLOCK + 5])
@pytest.mark.parametrize("scale", [0.1, 10.0])
def test_log_sum_exps_by_blocks_equal_those_of_all_logits(vocabulary, bias, scale):
    torch.manual_seed(0)
    layer, hidden = torch.nn.Linear(16, vocabulary, bias=bias), scale * torch.randn(7, 16)
    rows, ids = torch.tensor([0, 6, 6, 3]), torch.tensor([0, vocabulary - 1, 1, 2])
    with torch.inference_mode():
        actual = LinearDistributions(hidden, layer).logprobs(rows, ids)
        expected = layer.double()(hidden.double()).log_softmax(-1)[rows, ids]
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("first, other", [(-200.0, 0.0), (0.0, 200.0), (-torch.inf, 0.0), (0.0, -torch.inf)])
def test_blocks_far_apart(first, other):
    """The first block's largest logit is every block's shift, however far the others lie from it."""
    layer, hidden = torch.nn.Linear(16, BLOCK + 9), torch.randn(5, 16)
    with torch.inference_mode():
        layer.bias[:BLOCK], layer.bias[BLOCK:] = first, other
        rows, ids = torch.arange(5), torch.tensor([0, 1, BLOCK, BLOCK + 1, BLOCK + 8])
        actual = LinearDistributions(hidden, layer).logprobs(rows, ids)
        expected = layer.double()(hidden.double()).log_softmax(-1)[rows, ids]
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-4)


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
@pytest.mark.parametrize("where", [3, BLOCK + 3])
def test_a_logit_that_is_no_number_is_found_in_any_block(where, value):
    layer = torch.nn.Linear(16, BLOCK + 9)
    with torch.inference_mode():
        layer.bias[where] = value
        distributions = LinearDistributions(torch.randn(5, 16), layer)
        with pytest.raises(ValueError, match="NaN or infinity"):
            distributions.logprobs(torch.tensor([0]), torch.tensor([1]))
        with pytest.raises(ValueError, match="NaN or infinity"):
            distributions.logits()


def test_nothing_but_minus_infinity_is_no_distribution():
    logits = torch.zeros(2, 9)
    logits[1] = -torch.inf
    with pytest.raises(ValueError, match="NaN or infinity"):
        Distributions(logits).logprobs(torch.tensor([0, 1]), torch.tensor([1, 1]))


@pytest.mark.parametrize("family, tokens", [("gpt2", 4096)])
def test_budget_on_a_cpu_keeps_activations_small(family, tokens):
    assert token_budget(ForwardPass(tiny_model("causal", family)[0])) == tokens


def test_budget_on_a_gpu_counts_what_torch_keeps_as_free(monkeypatch):
    """A second run finds most of the memory in torch's own hands; it gets as many tokens as the first."""
    forward = copy.copy(ForwardPass(tiny_model("causal", "gpt2")[0]))
    forward.device = torch.device("cuda")
    width = forward.model.config.hidden_size
    free = 40 * width * 4 * 2 * 20_000

    def told(free, reserved, allocated):
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (free, 10 * free))
        monkeypatch.setattr(torch.cuda, "memory_reserved", lambda _: reserved)
        monkeypatch.setattr(torch.cuda, "memory_allocated", lambda _: allocated)
        return token_budget(forward)

    assert told(free, 700, 700) == 20_000
    assert told(free // 4, 700 + free - free // 4, 700) == 20_000
