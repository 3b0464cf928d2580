"""The benchmarks run: each on minute inputs, so that they cannot rot. What they measure here says nothing."""

import io
import json
import mmap
import sys
import time

import numpy as np
import pytest
import torch
from benchmarks import (
    __main__,
    cpu,
    data,
    dtypes,
    gaps,
    gpu,
    gpu_session,
    literal,
    machine,
    many_models,
    memory,
    models,
    peers,
    processes,
    scaling,
    sentences,
    series,
    tables,
    work,
)
from benchmarks.options import Options
from rich.console import Console

from tse_scorers.io.bundle import metric_modules

TEXTS = [
    "The author laughs.",
    "The author laugh.",
    "The senators that the guard admires are tall.",
    "The senators that the guard admires is tall.",
    "The senators that the guard likes are tall.",
    "Pilots swim.",
]
TWO_LAYERS = {
    "gpt2": {"n_layer": 2, "n_embd": 16, "n_head": 2, "vocab_size": 8000},
    "bert": {
        "num_hidden_layers": 2, "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32,
        "vocab_size": 8000,
    },
    "llama": {
        "num_hidden_layers": 2, "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32,
        "num_key_value_heads": 1, "vocab_size": 8000,
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def few_templates():
    templates = data.marvin_linzen()
    some = templates[templates["prefix"].str.match("The (author|pilot|mechanic)")]
    return some.groupby("construction").head(60)


@pytest.fixture(autouse=True)
def minute(monkeypatch, few_templates):
    """Models of two layers, few templates, lemmas and warm-up sentences; no machine is measured."""
    for family, size in TWO_LAYERS.items():
        monkeypatch.setitem(models.SIZES[family], "tiny", size)
    agreement = gaps.agreement  # what the benchmarks call
    lemmas, load, some = agreement.load_lemmas(), agreement.load, few_templates.copy()
    monkeypatch.setattr(data, "marvin_linzen", lambda: some)
    monkeypatch.setattr(agreement, "load_lemmas", lambda *_: lemmas.head(5))
    monkeypatch.setattr(agreement, "load", lambda name, **how: load(name, **how | {"limit": 2}))
    monkeypatch.setattr(machine, "matmul_rate", lambda *_, **__: 1e9)
    monkeypatch.setattr(sentences, "WARM_UP", {"cpu": 4, "cuda": 4})
    monkeypatch.setattr(peers, "BATCH_SIZES", {"cpu": (2, 4), "cuda": (2, 4)})
    monkeypatch.setattr(dtypes, "VARIANTS", {"bfloat16": {"dtype": "bfloat16"}})  # compiling takes a minute


@pytest.fixture
def blimp(tmp_path):
    """A folder with two made-up paradigms of three pairs."""
    for paradigm in ("regular", "irregular"):
        pairs = zip(TEXTS[::2], TEXTS[1::2], strict=True)
        rows = [
            {"UID": paradigm, "linguistics_term": "agreement", "field": "syntax", "pairID": str(index)}
            | {"sentence_good": good, "sentence_bad": bad}
            for index, (good, bad) in enumerate(pairs)
        ]
        (tmp_path / f"{paradigm}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


@pytest.fixture
def options(blimp):
    return Options(blimp=blimp, size="tiny", limit=2, repeats=1, peer_sentences=3)


# ---- comparisons -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", models.SIZES)
def test_sentences_are_compared_without_any_peer(family):
    found = sentences.compare(TEXTS, models.make(family, "tiny"), against=[], repeats=1)
    assert found["sentences"] == len(TEXTS)
    assert found["seconds"]["ours"] > 0
    assert found["forward_seconds"] > 0
    assert found["share_of_matmul_rate"] > 0
    assert sum(found["time_by_kind"].values()) == pytest.approx(1, abs=0.05)
    assert found["time_by_kind"]["matrix products"] > 0


@pytest.mark.parametrize(
    ("family", "name"), [("gpt2", "minicons"), ("gpt2", "lm-eval"), ("bert", "minicons")]
)
def test_peers_score_the_same(family, name):
    pytest.importorskip(name.replace("-", "_"), reason=f"needs {name} (pip install -e '.[test]')")
    found = sentences.compare(TEXTS, models.make(family, "tiny"), against=[name], repeats=1)
    assert found["missing"] == []
    assert found["difference"][name]["largest"] < 1e-4


def test_a_peer_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr(peers.importlib.util, "find_spec", lambda name: None)
    found = sentences.compare(TEXTS, models.make("gpt2", "tiny"), repeats=1)
    assert found["missing"] == ["minicons", "lm-eval"]
    assert found["ratio"] == {}


def test_the_seconds_of_a_sample_are_multiplied_up(monkeypatch):
    """A peer that takes 10 ms a sentence takes 0.3 s for 30 of them, of which it is given 6."""

    def slow(texts):
        time.sleep(0.01 * len(texts))
        return np.zeros(len(texts))

    monkeypatch.setattr(peers, "of", lambda *_: {"slow": slow})
    model = models.make("gpt2", "tiny")
    found = sentences.compare(TEXTS * 5, model, against=["slow"], repeats=1, peer_sentences=6)
    assert found["peers_extrapolated_from"] == 6
    assert 0.3 <= found["seconds"]["slow"] < 3


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in ("mapping", "dtypes") else [])
        for name in cpu.BENCHMARKS
        if name not in ("memory", "processes", "scaling")
    ],
)
def test_a_benchmark_for_the_cpu_runs(name, options, monkeypatch):
    monkeypatch.setattr(peers, "of", lambda *_: {})
    found = cpu.BENCHMARKS[name](options)
    json.dumps(found)
    assert "seconds" in found or found["rows"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2-xl/blimp", "bert-large/marvin-linzen", "llama-1b/gaps"])
def test_a_benchmark_for_a_gpu_runs_on_a_cpu_too(name, options, monkeypatch):
    monkeypatch.setattr(peers, "of", lambda *_: {})
    assert gpu.BENCHMARKS[name](options)["seconds"]["ours"] > 0


@pytest.mark.slow
def test_a_gpu_session_runs_on_a_cpu_too_and_writes_its_tables(blimp, tmp_path, monkeypatch):
    monkeypatch.setattr(peers, "of", lambda *_: {})
    on = ["--blimp", str(blimp), "--device", "cpu", "--size", "tiny", "--limit", "2", "--repeats", "1"]
    only = ["--only", "bert-large/blimp float32", "determinism float32", "out of memory"]
    assert gpu_session.main([*on, "--out", str(tmp_path / "out"), *only]) == 0
    found = json.loads((tmp_path / "out" / "session.json").read_text())
    assert list(found) == ["machine", "out of memory", "bert-large/blimp float32", "determinism float32"]
    again, other_batches, on_cpu = found["determinism float32"]["rows"]
    assert again["bitwise_equal"] and other_batches["largest_difference"] < 1e-4 and on_cpu["flips"] == 0
    assert "needs a CUDA device" in found["out of memory"]["skipped"]
    written = (tmp_path / "out" / "session.md").read_text()
    assert "| bert-large/blimp float32 |" in written and "share of the matmul rate" in written


def test_a_gpu_session_has_all_that_is_to_be_measured():
    names = list(gpu_session.steps(Options(device="cuda")))
    assert names.index("tests marked gpu") == 6, "bfloat16 is timed first"
    for dtype in ("bfloat16", "float32"):
        for model in ("gpt2-xl", "bert-large"):
            assert {f"{model}/{work} {dtype}" for work in gpu.WORK} <= set(names)
        assert {f"determinism {dtype}", f"torch.compile {dtype}"} <= set(names)
    assert {"flips of bfloat16", "out of memory"} <= set(names)


def test_a_gpu_session_ends_in_time_and_a_failed_step_costs_only_itself(tmp_path):
    def fails():
        raise RuntimeError("CUDA error")

    chosen = {"first": fails, "second": lambda: {"value": 1}}
    found = gpu_session.run(chosen, tmp_path, 1, {})
    assert found["first"]["failed"] == "RuntimeError: CUDA error" and found["second"]["value"] == 1
    assert "minutes were over" in gpu_session.run(chosen, tmp_path, -1, {})["first"]["skipped"]


def test_a_gpu_session_times_first_and_tests_in_time(tmp_path, monkeypatch):
    """The tests came first and could take 15 of the 20 minutes. Timings not begun after 300 seconds follow them."""
    now = 0.0
    ran = []

    def takes(name, seconds):
        def step():
            nonlocal now
            now += seconds
            ran.append(name)
            return {}

        return step

    monkeypatch.setattr(time, "monotonic", lambda: now)
    names = list(gpu_session.steps(Options(device="cuda")))
    found = gpu_session.run({name: takes(name, 120) for name in names}, tmp_path, 20, {})
    assert ran[:7] == [*names[:3], "tests marked gpu", *names[3:6]] and gpu_session.TEST_SECONDS <= 300
    assert set(found) == set(names) and "minutes were over" in found[names[-1]]["skipped"]


@pytest.mark.parametrize(
    "says, exit_code, fails",
    [
        ("no tests ran in 0.10s", 5, True),
        ("3 skipped, 4000 deselected in 9.99s", 0, True),
        ("ERROR: file or directory not found: tests", 4, True),
        ("FAILED tests/a.py::b - assert 0\n1 failed, 2 passed in 9.99s", 1, True),
        ("3 passed, 1 skipped in 9.99s", 0, False),
    ],
)
def test_a_gpu_session_without_a_test_that_passes_has_failed(says, exit_code, fails, tmp_path, monkeypatch):
    """Pytest that found no tests, or skipped all, was told as passed."""
    command = [sys.executable, "-c", f"print({says!r}); raise SystemExit({exit_code})"]
    run = gpu_session.subprocess.run
    monkeypatch.setattr(gpu_session.subprocess, "run", lambda _, **how: run(command, **how))
    monkeypatch.setattr(gpu_session, "_gpu_name", lambda device: "a GPU")
    assert gpu_session.main(["--out", str(tmp_path), "--only", "tests marked gpu"]) == int(fails)
    told = json.loads((tmp_path / "session.json").read_text())["tests marked gpu"]
    assert bool(told["failed"]) == fails and told["summary"] == says.splitlines()[-1]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("name", [name for name in gpu.BENCHMARKS if name != "dtypes"])
def test_a_benchmark_for_a_gpu_runs(name, blimp):
    on = Options(blimp=blimp, device="cuda", dtype="bfloat16", size="tiny", limit=2, repeats=1)
    assert gpu.BENCHMARKS[name](on)["gb_above"] > 0


@pytest.mark.parametrize("loop", [literal.as_defined, literal.ranked_once])
def test_the_loops_that_ours_is_compared_with_give_its_scores(loop):
    """Of two contexts, one with ties and forms at boundaries; 5 lemmas, all cut-offs of the paper."""
    metric = metric_modules("refined_tse")
    logits = np.random.default_rng(0).normal(0, 3, (2, 60))
    logits[1] = np.round(logits[1])
    correct, incorrect = np.arange(0, 50, 10), np.arange(5, 55, 10)
    scores = metric.boundaries.logit_scores(logits, correct, incorrect)
    for context, row in enumerate(np.exp(logits - np.logaddexp.reduce(logits, axis=1)[:, None])):
        found = loop(
            row,
            list(zip(correct, incorrect, strict=True)),
            metric.cutoffs.TOP_CUTOFFS,
            metric.cutoffs.BOTTOM_CUTOFFS,
        )
        ew, mw = (
            np.concatenate([getattr(side, name)[context] for side in (scores.top, scores.bottom)])
            for name in ("ew", "mw")
        )
        np.testing.assert_allclose(np.array(found), np.stack([ew, mw], axis=1), atol=1e-9)


def test_ratios_at_the_rate_of_the_machine():
    """Ours takes 4 s for 100 operations at 50 a second: 2 s are the least, of which a peer's 8 s are 4 times."""
    found = sentences.rates(100.0, {"ours": 4.0, "peer": 8.0}, 2.5, [40.0, 50.0])
    assert found["ratio"] == {"peer": 2.0}
    assert found["ratio_at_matmul_rate"] == {"peer": 4.0}
    assert (found["share_of_matmul_rate"], found["forward_share_of_matmul_rate"]) == (0.5, 0.8)
    assert found["all_but_forward"] == pytest.approx(0.6)


# ---- data and counts -------------------------------------------------------------------------------------


def test_the_trie_of_a_construction_is_counted_by_hand():
    """<s> A B C and <s> A B D: 8 tokens, of which the last are no input; <s>, A, B are one node each."""
    assert data.count([[0, 1, 2, 3], [0, 1, 2, 4]]) == {"tokens": 8, "inputs": 6, "nodes": 3, "sharing": 2.0}


def test_whatever_is_said_of_a_chosen_subject_is_kept():
    pairs = data.marvin_linzen()
    chosen = data.whole_subjects(pairs, subjects=1)
    assert set(chosen["construction"]) == set(data.CONSTRUCTIONS)
    subject = chosen["prefix"].str.split().str[:2].str.join(" ")
    for construction, rows in chosen.groupby("construction"):
        (name,) = set(subject[rows.index])
        of_it = pairs[(pairs["construction"] == construction) & pairs["prefix"].str.startswith(f"{name} ")]
        assert len(rows) == len(of_it) > 0
    assert chosen.equals(data.whole_subjects(pairs, subjects=1))


def test_more_pairs_than_there_are_is_said():
    with pytest.raises(ValueError, match="--blimp"):
        data.mixed_pairs(10**6, None)


def test_operations_are_those_that_run():
    """Counted by weights, and by torch as the products run: the same but for attention to other tokens."""
    scorer = models.load(models.make("gpt2", "tiny"), models.byte_level_tokenizer(TEXTS))
    counted = work._operations_of_row(scorer.forward, 7, 7)
    assert 1.0 <= counted / work.operations(scorer.model, 7, 7) < 1.1


def test_only_what_is_read_of_the_last_layer_counts():
    """A row that is read at one place costs less than one that is read everywhere, by more than the output layer."""
    scorer = models.load(models.make("bert", "tiny"), models.wordpiece_tokenizer(TEXTS))
    once, everywhere = (work._operations_of_row(scorer.forward, 12, reads) for reads in (1, 12))
    output_layer = work.operations(scorer.model, 0, 11)
    assert once < everywhere - output_layer


def test_what_ran_is_recorded_and_then_no_more():
    scorer = models.load(models.make("gpt2", "tiny"), models.byte_level_tokenizer(TEXTS))
    call = type(scorer.forward).__call__
    with work.recorded() as ran:
        scorer.sentence_logprobs(TEXTS)
    reads = sum(len(one.batch.reads) for one in ran)
    assert reads >= data.count(data.sentence_ids(TEXTS, scorer.tokenizer))["nodes"]
    assert type(scorer.forward).__call__ is call


# ---- one answer: memory, scaling, dtypes, processes --------------------------------------------------------


def test_peak_memory_of_a_large_vocabulary():
    found = memory.measure(vocabulary=6000, tokens=200)
    assert found["tokens"] >= 200
    assert sys.platform != "linux" or (found["gb_before"] > 0.05 and found["gb_above"] >= 0)


def use_memory(n_bytes: int) -> None:
    """Touch every page of new memory; what Python allocates may be memory that earlier tests have freed."""
    with mmap.mmap(-1, n_bytes) as block:
        block[::4096] = b"1" * (n_bytes // 4096)


def test_the_peak_is_of_what_ran_since():
    if sys.platform != "linux":
        pytest.skip("peak memory is read from /proc")
    use_memory(200 * 2**20)
    machine.reset_peak("cpu")
    now, peak = machine.memory("cpu")
    assert peak - now < 0.1
    use_memory(200 * 2**20)
    assert machine.memory("cpu")[1] - now > 0.15


@pytest.mark.slow
def test_scaling_is_a_table_of_sizes_and_vocabularies(blimp, monkeypatch):
    def here(module, **arguments):
        assert module == "benchmarks.scaling"
        return scaling.measure(**arguments)

    monkeypatch.setattr(machine, "in_own_process", here)
    monkeypatch.setattr(scaling, "PAIRS", (5, 10))
    monkeypatch.setattr(scaling, "VOCABULARIES", {8000: "a", 9000: "b"})
    rows = scaling.table(Options(blimp=blimp, size="tiny"))["rows"]
    asked = [(row["pairs"], row["vocabulary"]) for row in rows]
    assert asked == [(5, 50257), (10, 50257), (10, 8000), (10, 9000)]
    assert all(0 < row["tokenizing_and_planning"] < row["seconds"] for row in rows)
    assert rows[0]["nodes"] < rows[1]["nodes"] == rows[2]["nodes"]


def test_flips_are_counted_with_the_size_of_what_changed():
    exact = np.array([[-1.0, -2.0], [-3.0, -3.1], [-5.0, -4.0]])
    other = np.array([[-1.0, -2.0], [-3.3, -3.1], [-5.0, -4.0]])
    found = dtypes.flips(exact, other)
    assert (found["n"], found["flips"]) == (3, 1)
    assert (found["accuracy"], found["accuracy_now"]) == pytest.approx((2 / 3, 1 / 3))
    assert found["largest_difference"] == pytest.approx(0.3)
    assert found["largest_margin_flipped"] == pytest.approx(0.1)
    assert dtypes.flips(exact, exact)["largest_margin_flipped"] is None


def test_one_process_measures_itself():
    found = processes.measure(sentences=20, size="tiny")
    assert found["wall"] > 0
    assert found["processor"] > 0
    assert 0 < found["nodes"] < 400


def test_processes_are_compared_by_their_best(monkeypatch):
    answers = iter(
        {"wall": wall, "processor": processor, "matmul_gflops": rate, "nodes": 5}
        for wall, processor, rate in ((4.0, 3.8, 10.0), (3.0, 2.0, 16.0), (5.0, 3.9, 9.0), (2.5, 2.1, 18.0))
    )
    monkeypatch.setattr(machine, "in_own_process", lambda *_, **__: next(answers))
    found = processes.compare()
    assert found["ratio"] == {"wall": 1.6, "processor": 1.9}
    assert found["ratio_of_matmul_rates"] == 1.8


@pytest.mark.slow
def test_a_process_of_its_own_answers_or_says_why_not():
    found = machine.in_own_process("benchmarks.memory", vocabulary=6000, tokens=50)
    assert found["vocabulary"] == 6000
    with pytest.raises(RuntimeError, match=r"No module named benchmarks\.nothing"):
        machine.in_own_process("benchmarks.nothing")


# ---- the command line ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_prints_json_and_tables(blimp, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(peers, "of", lambda *_: {})
    out = tmp_path / "results.json"
    on = [
        "--gpu",
        "--device",
        "cpu",
        "--dtype",
        "float32",
        "--size",
        "tiny",
        "--limit",
        "1",
        "--repeats",
        "1",
    ]
    on += ["--blimp", str(blimp), "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["benchmarks", "gpt2-xl", *on])
    __main__.main()
    printed = capsys.readouterr().out
    results = json.loads(out.read_text())
    assert results["gpt2-xl/gaps"]["model"] == "GPT2LMHeadModel, 0M parameters, float32"
    assert {name for name in results if "/" in name} == {f"gpt2-xl/{name}" for name in gpu.WORK}
    first = json.loads(printed[: printed.index("\n}\n") + 2])
    assert first["gpt2-xl/blimp"] == results["gpt2-xl/blimp"]
    assert "seconds (times ours)" in printed


def test_a_series_is_measured():
    found = series.compare(checkpoints=3)
    assert found["seconds_per_added_checkpoint"][3] > found["seconds_per_checkpoint_found_finished"] > 0
    assert found["kilobytes_of_a_checkpoint"] < 150 and 0 < found["megabytes_of_the_report"] < 5


@pytest.mark.slow
def test_a_report_of_many_models_is_measured():
    one, two = many_models.compare([1, 2])
    assert two["models"] == 2 and two["rows"] == 2 * one["rows"] and one["processor_seconds"] > 0
    assert two["megabytes_of_the_report"] > one["megabytes_of_the_report"] > 0.1


def test_an_unknown_benchmark_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["benchmarks", "blimp-huge"])
    with pytest.raises(SystemExit, match="blimp-tiny"):
        __main__.main()


def test_tables_show_what_was_measured():
    console = Console(file=io.StringIO(), width=120)
    result = {
        "seconds": {"ours": 2.0, "minicons": 7.0}, "ratio": {"minicons": 3.5}, "matmul_gflops": 170.0,
        "ratio_at_matmul_rate": {"minicons": 4.375}, "time_by_kind": {"attention": 0.123},
        "share_of_matmul_rate": 0.8, "forward_share_of_matmul_rate": 0.9, "all_but_forward": 0.034,
        "gb_before": 1.0, "gb_above": None, "peers_extrapolated_from": 10,
        "rows": [{"construction": "simple", "sharing": 3.5}],
    }  # fmt: skip
    tables.show({"some": result, "memory": {"gb_above": 0.25}}, console)
    shown = console.file.getvalue()
    for expected in ("~7 (3.5 x)", "80%", "90%", "3.4%", "4.38 x", "attention 12.3%", "simple", "0.25"):
        assert expected in shown


def test_the_rate_of_products_is_that_of_the_machine(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(machine, "SHAPES", {"cpu": (64, 32)})
    assert 1e6 < machine.matmul_rate("cpu", torch.float32, seconds=0.01) < 1e14
