"""Syntax evaluation within training: the scores are right, and training goes on as if nothing had been."""

import copy
import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from launching import launched
from small_training import fresh_model, logged, make_trainer, refuse_float32, train
from tiny import CAUSAL, MASKED, SENTENCES
from transformers import EarlyStoppingCallback, GPT2LMHeadModel, TrainerCallback

from tse_scorers import LiveEvaluation, SyntaxEvaluationCallback, evaluate_live, load_scorer, make_suite
from tse_scorers.suites.registry import find_suite
from tse_scorers.training.live_model import undisturbed
from tse_scorers.training.live_suites import make_live_suites

PAIRS = 36
KEYS = ("eval_tse/tse", "eval_tse/ew", "eval_tse/mw")


@pytest.fixture(scope="module")
def evaluation():
    return LiveEvaluation(budget=PAIRS)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """Training without any syntax evaluation."""
    return train(tmp_path_factory.mktemp("plain"))


def losses(trainer):
    return logged(trainer, "loss") + logged(trainer, "eval_loss")


def test_scores_are_those_of_an_ordinary_run(evaluation):
    model, tokenizer = fresh_model()
    suite = make_suite("agreement")
    suite.keep_sample(PAIRS, seed=0)
    rows = suite.aggregate(suite.score(load_scorer(model, tokenizer), lambda done, total: None))
    whole = {row["metric"]: row for row in rows if row["group"] == "all" and row.get("cutoff") in (None, 1.0)}
    scores = evaluation(model, tokenizer)
    assert scores == {
        f"tse/{metric}{ending}": whole[metric][column]
        for metric in ("tse", "ew", "mw")
        for ending, column in (("", "score"), ("_n", "n"), ("_se", "se"))
    }
    assert all(0 < scores[key] < 1 for key in evaluation.keys)
    assert evaluate_live(model, tokenizer, budget=PAIRS) == scores


def test_every_suite_is_scored_during_training_or_refused(tmp_path):
    model, tokenizer = fresh_model()
    regions = tmp_path / "regions.csv"
    regions.write_text("item,condition,text\n1,a,The author\n1,a,laughs\n1,b,The author\n1,b,laugh\n")
    criteria = make_suite("regions", data=regions, criteria=["(2;%a%) < (2;%b%)"])
    scores = evaluate_live(model, tokenizer, [criteria])
    assert {key for key in scores if not key.endswith(("_n", "_se"))} == {"regions/criteria"}
    assert scores["regions/criteria_n"] == 1
    unlogged = make_suite("german", limit=1)
    unlogged.measures = ()
    with pytest.raises(ValueError, match=r"german .*no score .*`live_key`"):
        evaluate_live(model, tokenizer, [unlogged])
    with pytest.raises(TypeError, match=r"budget='5' \(str\); .*whole number"):
        evaluate_live(model, tokenizer, budget="5")


class Reporter(TrainerCallback):
    """Stands for TensorBoard and W&B: it sees what the Trainer logs, and comes before other callbacks."""

    def __init__(self):
        self.seen = []

    def on_log(self, args, state, control, logs=None, **kwargs):
        self.seen.append((state.global_step, dict(logs)))


def test_training_is_the_same_and_the_log_has_the_scores(plain, tmp_path):
    reporter = Reporter()
    trainer = train(tmp_path, reporter, syntax=SyntaxEvaluationCallback(budget=PAIRS))
    assert losses(trainer) == losses(plain) and len(losses(plain)) == 6
    for name, parameter in plain.model.state_dict().items():
        assert torch.equal(parameter, trainer.model.state_dict()[name]), name
    for key in KEYS:
        assert [step for step, _ in logged(trainer, key)] == [2, 4]
        assert [(step, logs[key]) for step, logs in reporter.seen if key in logs] == logged(trainer, key)
    assert trainer.evaluate()["eval_tse/ew"] == logged(trainer, "eval_tse/ew")[-1][1]
    assert all(seconds > 0 for _, seconds in logged(trainer, "eval_syntax_runtime"))


@pytest.mark.slow
def test_tensorboard_shows_the_curves(tmp_path, monkeypatch):
    pytest.importorskip("tensorboard", reason="needs tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    monkeypatch.setenv("TENSORBOARD_LOGGING_DIR", str(tmp_path / "runs"))
    trainer = train(tmp_path, syntax=SyntaxEvaluationCallback(budget=PAIRS), report_to=["tensorboard"])
    events = EventAccumulator(str(tmp_path / "runs")).Reload()
    found = {event.step: event.value for event in events.Scalars("eval/tse/ew")}
    assert found == pytest.approx(dict(logged(trainer, "eval_tse/ew")))


def test_every_n_steps_leaves_the_log_of_the_losses_alone(plain, tmp_path):
    """Logging resets the Trainer's note that the loss of this step is to be logged; it must be set again."""
    trainer = train(tmp_path, syntax=SyntaxEvaluationCallback(every_n_steps=3, budget=PAIRS))
    assert [step for step, _ in logged(trainer, "eval_tse/ew")] == [3]
    assert losses(trainer) == losses(plain)


@pytest.mark.filterwarnings("error::UserWarning:tse_scorers")
def test_added_as_any_other_callback_the_history_has_the_scores(plain, tmp_path):
    """No reporter, no early stopping: there is nothing to warn of."""
    trainer = train(tmp_path, SyntaxEvaluationCallback(budget=PAIRS))
    assert losses(trainer) == losses(plain)
    for key in KEYS:
        assert [step for step, _ in logged(trainer, key)] == [2, 4]
    assert trainer.evaluate()["eval_tse/ew"] == logged(trainer, "eval_tse/ew")[-1][1]


class NeverBetter(SyntaxEvaluationCallback):
    """Scores that fall, so that early stopping has a reason to stop."""

    def _scores(self, args, state, control, event):
        scores = super()._scores(args, state, control, event)
        scores["eval_tse/ew"] = 1 / (1 + state.global_step)
        return scores


STOPPING = {
    "metric_for_best_model": "eval_tse/ew", "eval_steps": 1, "save_strategy": "steps", "save_steps": 1,
    "load_best_model_at_end": True,
}  # fmt: skip


@pytest.mark.slow
def test_early_stopping_that_was_added_before_stops(tmp_path):
    """Callbacks see an evaluation's metrics in their order, so the scores must come first."""
    stopping = EarlyStoppingCallback(early_stopping_patience=1)
    trainer = train(tmp_path, stopping, syntax=NeverBetter(budget=PAIRS), **STOPPING)
    assert trainer.state.global_step == 2 < trainer.state.max_steps
    assert trainer.state.best_model_checkpoint.endswith("checkpoint-1")


@pytest.mark.slow
def test_added_twice_it_scores_once_and_comes_first(tmp_path):
    callback = SyntaxEvaluationCallback(budget=PAIRS)
    trainer = train(tmp_path, Reporter(), callback, syntax=callback)
    assert trainer.callback_handler.callbacks[0] is callback
    assert trainer.callback_handler.callbacks.count(callback) == 1
    assert [step for step, _ in logged(trainer, "eval_tse/ew")] == [2, 4]


@pytest.mark.slow
@pytest.mark.parametrize("added", ["neither", "first"])
def test_two_callbacks_in_one_trainer_score_once_each(plain, tmp_path, added):
    """One of them took the other's log entry for an evaluation."""
    rows = {
        "UID": ["passive_1"],
        "sentence_good": ["The author laughs."],
        "sentence_bad": ["The author laugh."],
    }
    pd.DataFrame(rows).to_csv(tmp_path / "pairs.csv", index=False)
    first = SyntaxEvaluationCallback(budget=PAIRS)
    second = SyntaxEvaluationCallback(
        suites=["minimal_pairs"], data={"minimal_pairs": str(tmp_path / "pairs.csv")}
    )
    trainer = make_trainer(tmp_path / "out", first, second)
    if added == "first":
        first.add_to(trainer)
    trainer.train()
    assert losses(trainer) == losses(plain)
    for key in (*KEYS, "eval_minimal_pairs/accuracy"):
        assert [step for step, _ in logged(trainer, key)] == [2, 4]


@pytest.mark.slow
def test_a_callback_of_another_trainer_does_not_log_there(tmp_path):
    callback = SyntaxEvaluationCallback(budget=PAIRS)
    first = train(tmp_path / "first", syntax=callback)
    entries = len(first.state.log_history)
    second = train(tmp_path / "second", callback)
    assert len(first.state.log_history) == entries
    assert [step for step, _ in logged(second, "eval_tse/ew")] == [2, 4]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["callbacks", "add_callback"])
def test_early_stopping_sees_the_scores_however_it_was_added(tmp_path, how):
    """Without `add_to`, early stopping that was added before never stopped."""
    stopping, syntax = EarlyStoppingCallback(early_stopping_patience=1), NeverBetter(budget=PAIRS)
    trainer = make_trainer(tmp_path, *([stopping, syntax] if how == "callbacks" else [stopping]), **STOPPING)
    if how == "add_callback":
        trainer.add_callback(syntax)
    trainer.train()
    assert trainer.state.global_step == 2 < trainer.state.max_steps
    assert [step for step, _ in logged(trainer, "eval_tse/ew")] == [1, 2]


def test_a_warning_names_reporters_that_will_not_see_the_scores(tmp_path):
    trainer = make_trainer(tmp_path, SyntaxEvaluationCallback(budget=PAIRS), report_to=["tensorboard"])
    with pytest.warns(UserWarning, match=r"not reach: tensorboard.*add_to\(trainer\)"):
        trainer.train()


@pytest.mark.parametrize(
    ("options", "every_n_steps", "reason"),
    [
        ({"eval_strategy": "no"}, None, "eval_strategy is 'no', and every_n_steps was not given"),
        ({}, 9, "every_n_steps is 9, but training has only 4 steps"),
    ],
)
def test_a_warning_says_that_it_never_runs(tmp_path, options, every_n_steps, reason):
    syntax = SyntaxEvaluationCallback(every_n_steps, budget=PAIRS)
    with pytest.warns(UserWarning, match=f"never runs in this training: {reason}"):
        trainer = train(tmp_path, syntax, **options)
    assert logged(trainer, "eval_tse/ew") == []


@pytest.mark.slow
def test_a_single_score_after_the_last_step_is_due(tmp_path, recwarn):
    """A distance as long as the training is no mistake: it scores once, at the end."""
    trainer = train(tmp_path, SyntaxEvaluationCallback(4, budget=PAIRS), eval_strategy="no")
    assert [step for step, _ in logged(trainer, "eval_tse/ew")] == [trainer.state.max_steps] == [4]
    assert not [warning for warning in recwarn if "never runs" in str(warning.message)]


def test_several_evaluation_sets_are_one_evaluation(tmp_path):
    trainer = train(tmp_path, SyntaxEvaluationCallback(budget=PAIRS), eval_sets=2, eval_on_start=True)
    assert [step for step, _ in logged(trainer, "eval_set1_loss")] == [0, 2, 4]
    assert [step for step, _ in logged(trainer, "eval_tse/ew")] == [0, 2, 4]


@pytest.mark.slow
def test_best_model_is_chosen_by_a_score(tmp_path):
    """Also after training, the scores are those of the weights that are there: the best ones, not the last."""
    trainer = train(
        tmp_path, SyntaxEvaluationCallback(budget=PAIRS),
        metric_for_best_model="eval_tse/ew", load_best_model_at_end=True, save_strategy="steps", save_steps=1,
        eval_steps=1,
    )  # fmt: skip
    scores = dict(logged(trainer, "eval_tse/ew"))
    best = max(scores, key=scores.get)
    assert len(set(scores.values())) > 1 and best != max(scores), "this training does not tell best from last"
    assert trainer.args.greater_is_better
    assert trainer.state.best_metric == scores[best]
    assert trainer.state.best_model_checkpoint.endswith(f"checkpoint-{best}")
    assert trainer.evaluate()["eval_tse/ew"] == scores[best] != scores[max(scores)]


@pytest.mark.slow
def test_best_model_has_its_score_whatever_n_is(tmp_path):
    trainer = train(
        tmp_path, SyntaxEvaluationCallback(every_n_steps=3, budget=PAIRS), metric_for_best_model="tse/ew",
        save_strategy="best",
    )  # fmt: skip
    assert [step for step, _ in logged(trainer, "eval_tse/ew")] == [2, 3, 4]
    assert trainer.state.best_metric == max(dict(logged(trainer, "eval_tse/ew")).values())


@pytest.mark.parametrize("broken", [float("nan"), 1e38])
def test_a_model_that_has_diverged_has_no_scores(evaluation, broken):
    """With weights that are NaN, or so large that the logits are, training goes on, and so must the evaluation."""
    model, tokenizer = fresh_model()
    with torch.no_grad():
        model.transformer.h[0].mlp.c_fc.weight.fill_(broken)
    scores = evaluation(model, tokenizer)
    assert set(scores) == {"tse/tse", "tse/ew", "tse/mw"} and all(np.isnan(list(scores.values())))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning")  # transformers renames gradient checkpointing
def test_gradient_checkpointing(evaluation, plain, tmp_path):
    trainer = train(tmp_path, SyntaxEvaluationCallback(budget=PAIRS), gradient_checkpointing=True)
    assert dict(losses(trainer)) == pytest.approx(dict(losses(plain)))
    found = evaluation(trainer.model, trainer.processing_class)
    assert trainer.model.is_gradient_checkpointing
    trainer.model.gradient_checkpointing_disable()
    assert evaluation(trainer.model, trainer.processing_class) == found


def test_bf16_autocast_is_left_out_and_put_back(evaluation, tmp_path):
    """Accelerate replaces the model's forward pass by one that casts; it stays, and the scores are float32's."""
    without = train(tmp_path, bf16=True)
    trainer = train(tmp_path, SyntaxEvaluationCallback(budget=PAIRS), bf16=True)
    assert losses(trainer) == losses(without)
    assert "_original_forward" in trainer.model.__dict__, "accelerate does it another way now"
    clean, tokenizer = fresh_model()
    clean.load_state_dict(trainer.model.state_dict())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = evaluation(trainer.model, tokenizer)
    assert found == evaluation(clean, tokenizer)
    assert found == {key: logged(trainer, f"eval_{key}")[-1][1] for key in found}


def test_attention_that_refuses_float32_is_scored_under_the_trainings_autocast(evaluation, tmp_path):
    """Float32 weights with FlashAttention 2 under bf16, the usual way to train, ended in a RuntimeError of CUDA."""
    model, _ = fresh_model()
    refuse_float32(model)
    callback = SyntaxEvaluationCallback(budget=PAIRS)
    with pytest.warns(UserWarning, match=r"refuses float32.*autocast \(bfloat16\)") as said:
        trainer = train(tmp_path, callback, model=model, bf16=True)
    assert len([one for one in said if "refuses float32" in str(one.message)]) == 1
    assert len(logged(trainer, "eval_tse/ew")) == 2 and np.isfinite(logged(trainer, "eval_tse/ew")[-1][1])

    tokenizer = trainer.processing_class
    clean, _ = fresh_model()
    clean.load_state_dict(trainer.model.state_dict())
    plain = evaluation.evaluate(clean, tokenizer)
    refuse_float32(clean)
    with pytest.raises(ValueError, match=r"not compute in float32.*torch\.autocast.*sdpa"):
        evaluation(clean, tokenizer)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        own = LiveEvaluation(budget=PAIRS)
        with pytest.warns(UserWarning, match="refuses float32"):
            found = own.evaluate(clean, tokenizer)
    assert found.scores == {key: logged(trainer, f"eval_{key}")[-1][1] for key in found.scores}
    assert found.scores == pytest.approx(plain.scores, abs=0.1)
    assert found.signature["autocast"] == "bfloat16" and "autocast" not in plain.signature


def test_another_error_of_a_model_is_not_taken_for_attention_that_refuses_float32(evaluation):
    """Whatever a model raised was hidden, and the model was scored under autocast instead."""
    model, tokenizer = fresh_model()
    refuse_float32(model, "the cache has another shape")
    with torch.autocast("cpu", dtype=torch.bfloat16), pytest.raises(RuntimeError, match="another shape"):
        evaluation(model, tokenizer)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_peft_scores_the_model_with_its_adapter(evaluation, tmp_path):
    peft = pytest.importorskip("peft", reason="needs peft")
    base, tokenizer = fresh_model()
    adapted = peft.get_peft_model(
        copy.deepcopy(base),
        peft.LoraConfig(r=4, init_lora_weights=False, target_modules=["c_attn"], fan_in_fan_out=True),
    )
    before = evaluation(adapted, tokenizer)
    assert before != evaluation(base, tokenizer)
    trainer = train(
        tmp_path, SyntaxEvaluationCallback(budget=PAIRS), model=adapted, gradient_checkpointing=True
    )
    found = {key: logged(trainer, f"eval_{key}")[-1][1] for key in before}
    assert found != before
    assert found == pytest.approx(evaluation(adapted.merge_and_unload(), tokenizer), abs=1e-5)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_adapters_of_virtual_tokens_are_refused(evaluation):
    peft = pytest.importorskip("peft", reason="needs peft")
    base, tokenizer = fresh_model()
    prompted = peft.get_peft_model(
        base, peft.PromptTuningConfig(num_virtual_tokens=4, task_type=peft.TaskType.CAUSAL_LM)
    )
    with pytest.raises(ValueError, match="virtual tokens"):
        evaluation(prompted, tokenizer)


@pytest.mark.parametrize("where", ["whole", pytest.param("layers", marks=pytest.mark.slow)])
def test_compiled_models_are_scored_uncompiled_and_not_compiled_anew(evaluation, where):
    graphs = []

    def count(graph, inputs):
        graphs.append(graph)
        return graph.forward

    model, tokenizer = fresh_model()
    expected = evaluation(model, tokenizer)
    if where == "whole":
        model = torch.compile(model, backend=count)
    else:
        for layer in model.transformer.h:
            layer.mlp.compile(backend=count)
    ids = torch.tensor([tokenizer(SENTENCES[0])["input_ids"]] * 2)
    model.train()
    model(ids, labels=ids).loss.backward()
    compiled = len(graphs)
    assert compiled > 0
    assert evaluation(model, tokenizer) == expected
    model(ids, labels=ids).loss.backward()
    assert len(graphs) == compiled
    torch._dynamo.reset()


def test_everything_is_as_it_was_before():
    """A dropout that is kept from training, the random numbers, gradients, what is cached, what is frozen."""
    model, tokenizer = fresh_model()
    model.train()
    model.transformer.h[0].eval()
    model.transformer.wpe.requires_grad_(False)
    model.config.use_cache = True
    ids = torch.tensor([tokenizer(SENTENCES[0])["input_ids"]])
    model(ids, labels=ids).loss.backward()

    def state():
        return {
            "modes": [module.training for module in model.modules()],
            "use_cache": model.config.use_cache,
            "frozen": [parameter.requires_grad for parameter in model.parameters()],
            "hooks": [len(module._forward_pre_hooks) for module in model.modules()],
            "random": random.getstate()[1],
            "numpy": np.random.get_state()[1].tolist(),
            "torch": torch.get_rng_state().tolist(),
            "gradients": [None if p.grad is None else p.grad.tolist() for p in model.parameters()],
        }

    before = state()
    evaluate_live(model, tokenizer, budget=PAIRS)
    with undisturbed(model):
        model.eval()
        random.random(), np.random.rand(), torch.rand(1)
    assert state() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "family"),
    [("causal", family) for family in ("llama", "gemma2", "bloom", "mamba")]
    + [("masked", family) for family in ("roberta", "deberta-v2", "modernbert")],
)
def test_training_goes_on_after_an_evaluation(evaluation, kind, family):
    assert family in (MASKED if kind == "masked" else CAUSAL)
    model, tokenizer = fresh_model(kind, family)
    model.train()
    scores = evaluation(model, tokenizer)
    assert all(0 <= score <= 1 for key, score in scores.items() if not key.endswith("_n"))
    ids = torch.tensor([tokenizer(SENTENCES[0])["input_ids"]])
    model(input_ids=ids, labels=ids).loss.backward()
    assert any(parameter.grad is not None for parameter in model.parameters())


class KeepsPositions(GPT2LMHeadModel):
    """Keeps a table of its own between calls and makes it anew for longer texts, as some models do."""

    table = None

    def forward(self, input_ids, **inputs):
        length = input_ids.shape[1]
        if self.table is None or len(self.table) < length:
            self.table = torch.arange(length).cos()[:, None]
        embedded = self.transformer.wte(input_ids) * self.table[:length]
        return super().forward(inputs_embeds=embedded, **inputs)


def test_what_a_model_keeps_from_an_evaluation_is_fit_for_training(evaluation):
    """Autograd refuses tensors that were made in inference mode."""
    model, tokenizer = fresh_model()
    model = KeepsPositions(model.config)
    evaluation(model, tokenizer)
    assert model.table is not None
    ids = torch.tensor([tokenizer(SENTENCES[0])["input_ids"]])
    model(ids, labels=ids).loss.backward()


@pytest.mark.slow
def test_two_processes_train_and_score_as_one(tmp_path):
    script = Path(__file__).parent / "train_in_two_processes.py"
    launched(2, script, tmp_path)
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["processes"] == 2
    assert found["losses"] == found["losses_without"]
    model, tokenizer = fresh_model()
    model.load_state_dict(torch.load(tmp_path / "weights.pt", weights_only=True))
    expected = evaluate_live(model, tokenizer, budget=PAIRS)
    for rank in ("0", "1"):
        errors = {key: found["scores"][rank].pop(key) for key in expected if key.endswith("_se")}
        # Noise times some 13.
        assert errors == pytest.approx({key: expected[key] for key in errors}, abs=2e-5)
        assert found["scores"][rank] == pytest.approx(
            {key: expected[key] for key in expected if key not in errors}, abs=1e-6
        )


def test_groups_other_suites_and_sources(tmp_path):
    scorer = load_scorer("tiny-causal")
    rows = [
        {"UID": uid, "sentence_good": f"The {noun} laughs.", "sentence_bad": f"The {noun} laugh.", "pairID": index}
        for uid in ("anaphor_number_agreement", "wh_island")
        for index, noun in enumerate(("author", "pilot", "guard"))
    ]  # fmt: skip
    source = tmp_path / "pairs.jsonl"
    source.write_text("\n".join(map(json.dumps, rows)))
    scores = evaluate_live(
        scorer.model, scorer.tokenizer, ["agreement", "minimal_pairs", "german"], budget=PAIRS, by_group=True,
        groups={"agreement": ["Simple", "VP coordination"]}, data={"minimal_pairs": source},
    )  # fmt: skip
    assert {"tse/tse", "tse/ew", "tse/mw", "minimal_pairs/accuracy", "german/auc"} <= set(scores)
    assert {key for key in scores if key.startswith("tse/ew/") and not key.endswith(("_se", "_n"))} == {
        "tse/ew/Simple",
        "tse/ew/VP_coordination",
    }
    assert {"minimal_pairs/accuracy/anaphor_agreement", "minimal_pairs/accuracy/island_effects"} <= set(
        scores
    )
    assert scores["tse/tse"] > 0.9 and scores["minimal_pairs/accuracy"] == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"suites": ["syntax"]}, "Unknown suite 'syntax'"),
        ({"suites": []}, "at least one"),
        ({"suites": ["german", "variation_sets"]}, "Name each suite once"),
        ({"suites": ["german"], "budget": 5}, "smallest part"),
        ({"budget": 0}, "leaves nothing to score"),
        ({"groups": {"minimal_pairs": ["islands"]}}, "for minimal_pairs, .*not one of the suites"),
        ({"groups": {"agreement": ["islands"]}}, "No table row 'islands'"),
        ({"every_n_steps": 0}, "every_n_steps is 0"),
        ({"max_seconds": 0}, "max_seconds is 0; .*above 0"),
        ({"wait_seconds": -1}, "wait_seconds is -1"),
    ],
)
def test_bad_options_fail_before_any_training(options, message):
    with pytest.raises(ValueError, match=message):
        SyntaxEvaluationCallback(**options)


@pytest.mark.parametrize("callable_with_options", [SyntaxEvaluationCallback, LiveEvaluation])
def test_a_misspelt_option_names_the_one_that_was_meant(callable_with_options):
    with pytest.raises(TypeError, match=r"Unknown option 'budgt'; .* Did you mean budget\?"):
        callable_with_options(budgt=500)


def test_models_that_cannot_be_asked_fail_before_any_training(evaluation, tmp_path):
    model, tokenizer = fresh_model()
    with pytest.raises(TypeError, match="Got a Linear"):
        evaluation.check(torch.nn.Linear(2, 2), tokenizer)
    with pytest.raises(TypeError, match="list of suites"):
        LiveEvaluation("agreement")
    callback = SyntaxEvaluationCallback(budget=PAIRS)
    with pytest.raises(ValueError, match="needs the model's tokenizer"):
        callback.on_train_begin(None, None, None, model=model, processing_class=None)


def test_options_of_a_suite_for_training_can_be_overridden(monkeypatch):
    """A suite whose `live_options` has `groups` was given them twice."""
    monkeypatch.setattr(find_suite("agreement").Options, "live_options", {"groups": ["Simple"]})
    assert LiveEvaluation(["agreement"], groups={"agreement": ["VP coordination"]}, budget=None)
    assert LiveEvaluation(["agreement"], budget=None)


def test_a_source_of_a_suite_for_training_can_be_overridden(monkeypatch, tmp_path):
    """The same of `source`."""
    row = {"UID": "wh_island", "sentence_good": "The author laughs.", "sentence_bad": "The author laugh."}
    for name, count in (("default", 1), ("mine", 2)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join([json.dumps(row)] * count))
    default = {"methods": ["full"], "data": tmp_path / "default.jsonl"}
    monkeypatch.setattr(find_suite("minimal_pairs").Options, "live_options", default)
    assert make_live_suites(["minimal_pairs"])[0].n_items == 1
    assert (
        make_live_suites(["minimal_pairs"], data={"minimal_pairs": tmp_path / "mine.jsonl"})[0].n_items == 2
    )


def test_two_measures_with_one_name_of_a_score_are_refused(monkeypatch):
    """The second one replaced the first one silently."""
    measures = [replace(measure, live_key="tse/ew") for measure in find_suite("agreement").measures[:2]]
    monkeypatch.setattr(find_suite("agreement"), "measures", measures)
    with pytest.raises(ValueError, match=r"agreement .*two measures .*'tse/ew'"):
        LiveEvaluation(["agreement"])


def test_two_suites_with_one_name_of_a_score_are_refused(monkeypatch):
    measures = [replace(measure, live_key="tse/ew") for measure in find_suite("german").measures[:1]]
    monkeypatch.setattr(find_suite("german"), "measures", measures)
    with pytest.raises(ValueError, match=r"agreement and german .*'tse/ew'"):
        LiveEvaluation(["agreement", "german"])
