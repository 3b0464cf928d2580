"""Syntax evaluation within training: the scores are right, and training goes on as if nothing had been."""

import copy
import random

import numpy as np
import pytest
import torch
from small_training import fresh_model, logged, make_trainer, refuse_float32, train
from tiny import SENTENCES
from transformers import EarlyStoppingCallback, TrainerCallback

from tse_scorers import (
    Agreement,
    German,
    LiveEvaluation,
    MinimalPairs,
    Regions,
    SyntaxEvaluationCallback,
    evaluate_live,
    inflection_ids,
    load_data,
    load_metric,
    load_scorer,
)
from tse_scorers.training.live_model import undisturbed

PAIRS = 36
KEYS = ("eval_agreement/tse", "eval_agreement/ew", "eval_agreement/mw")
pytestmark = pytest.mark.filterwarnings("ignore:.*lemmas, those whose")


@pytest.fixture(scope="module")
def evaluation():
    return LiveEvaluation(budget=PAIRS)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """Training without any syntax evaluation."""
    return train(tmp_path_factory.mktemp("plain"))


def losses(trainer):
    return logged(trainer, "loss") + logged(trainer, "eval_loss")


def last(trainer, keys):
    return {key: logged(trainer, f"eval_{key}")[-1][1] for key in keys}


def ids_of(tokenizer, n=1):
    return torch.tensor([tokenizer(SENTENCES[0])["input_ids"]] * n)


# ---- scores -----------------------------------------------------------------------------------------------


def test_scores_are_those_of_an_ordinary_run(evaluation):
    model, tokenizer = fresh_model()
    suite = Agreement().sampled(PAIRS)
    rows = suite.rows(suite.ask(load_scorer(model, tokenizer), suite.items))
    whole = {row["measure"]: row for row in rows if row["level"] == "all"}
    with pytest.warns(UserWarning, match="agreement/ew averages over 6 lemmas"):
        scores = evaluate_live(model, tokenizer, budget=PAIRS)
    assert scores == {
        f"agreement/{measure}{ending}": whole[measure][column]
        for measure in ("tse", "ew", "mw")
        for ending, column in (("", "score"), ("_n", "n"), ("_se", "se"), ("_lemmas", "n_lemmas"))
        if (measure, ending) != ("tse", "_lemmas") and not np.isnan(whole[measure][column])
    }
    assert evaluation.keys == ("agreement/tse", "agreement/ew", "agreement/mw")
    assert evaluation(model, tokenizer) == scores


def test_suites_with_options_of_their_own_and_groups(tmp_path):
    scorer = load_scorer("tiny-causal")
    pairs = "sentence_good,sentence_bad\nThe author laughs.,The author laugh.\n"
    (tmp_path / "pairs.csv").write_text(pairs)
    regions = "item,condition,text\n1,a,The author\n1,a,laughs\n1,b,The author\n1,b,laugh\n"
    (tmp_path / "regions.csv").write_text(regions)
    suites = [
        Agreement(groups=["Simple", "VP coordination"]),
        MinimalPairs(data=tmp_path / "pairs.csv", methods=["full"]),
        Regions(data=tmp_path / "regions.csv", criteria=["(2;%a%) < (2;%b%)"]),
        German(),
    ]
    scores = evaluate_live(scorer.model, scorer.tokenizer, suites, budget=PAIRS, by_group=True)
    names = {key for key in scores if not key.endswith(("_n", "_se", "_lemmas"))}
    assert {"minimal_pairs/accuracy", "regions/criterion_accuracy", "german/auc"} <= names
    assert {key for key in names if key.startswith("agreement/ew/")} == {
        "agreement/ew/Simple",
        "agreement/ew/VP_coordination",
    }
    assert (
        scores["agreement/tse"] > 0.9
        and scores["agreement/ew_lemmas"] > 800
        and scores["minimal_pairs/accuracy"] == 1
    )


def test_a_loop_may_stream_logits_into_the_metric():
    """With the ids of a model's inflections, the metric gives what scoring the contexts gives."""
    scorer, metric = load_scorer("tiny-causal"), load_metric("refined_tse")
    rows = [{"prefix": "The author", "suffix": ".", "number": "singular"},
            {"prefix": "The senators near the guard", "suffix": ".", "number": "plural"}]  # fmt: skip
    ids = inflection_ids(scorer.model, scorer.tokenizer)
    assert ids.singular.shape == ids.plural.shape and len(ids.plural) > 800
    for row in rows:
        tokens = scorer.tokenizer(row["prefix"], return_tensors="pt")
        logits = scorer.model(**tokens).logits[:, -1]
        is_singular = [row["number"] == "singular"]
        metric.add_batch(
            logits=logits, correct_ids=ids.plural, incorrect_ids=ids.singular, swapped=is_singular
        )
    found = metric.compute()
    expected = metric.compute(predictions=scorer.map(rows, lemmas=load_data("verb_lemmas", "released")))
    assert [found[name] for name in ("ew", "mw", "n_lemmas")] == pytest.approx(
        [expected[name] for name in ("ew", "mw", "n_lemmas")], abs=1e-6
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"suites": ["agreement"]}, "expected suites of different names"),
        ({"suites": [German(), German(limit=1)]}, "expected suites of different names"),
        ({"suites": [German()], "budget": 5}, "smallest part"),
        ({"budget": 0}, "at least 1"),
        ({"budget": "5"}, r"budget is '5'; expected a whole number"),
        ({"budgt": 5}, r"Unknown option 'budgt'; .* Did you mean budget\?"),
    ],
)
def test_bad_options_fail_before_any_training(options, said):
    with pytest.raises((ValueError, TypeError), match=said):
        SyntaxEvaluationCallback(**options)


def test_models_that_cannot_be_asked_fail_before_any_training(evaluation, tmp_path):
    with pytest.raises(RuntimeError, match="same dtype"):
        evaluation.check(torch.nn.Linear(2, 2), fresh_model()[1])
    trainer = make_trainer(tmp_path)
    trainer.processing_class = None
    SyntaxEvaluationCallback(budget=PAIRS).add_to(trainer)
    with pytest.raises(TypeError, match="a NoneType as tokenizer; expected"):
        trainer.train()


@pytest.mark.parametrize("broken", [float("nan"), 1e38])
def test_a_model_that_has_diverged_has_no_scores(evaluation, broken):
    """With weights that are NaN, or so large that the logits are, training goes on, and so must the evaluation."""
    model, tokenizer = fresh_model()
    with torch.no_grad():
        model.transformer.h[0].mlp.c_fc.weight.fill_(broken)
    scores = evaluation(model, tokenizer)
    assert set(scores) == set(evaluation.keys) and np.isnan(list(scores.values())).all()


# ---- the Trainer ------------------------------------------------------------------------------------------


class Reporter(TrainerCallback):
    """Stands for TensorBoard and W&B: it sees what the Trainer logs."""

    def __init__(self):
        self.seen = []

    def on_log(self, args, state, control, logs=None, **kwargs):
        self.seen.append((state.global_step, dict(logs)))


@pytest.mark.parametrize(("every_n_steps", "steps"), [(None, [2, 4]), (3, [3])])
def test_training_is_the_same_bit_for_bit_and_the_log_has_the_scores(plain, tmp_path, every_n_steps, steps):
    """Logging resets the Trainer's note that the loss of this step is to be logged; it must be set again."""
    reporter, syntax = Reporter(), SyntaxEvaluationCallback(every_n_steps, budget=PAIRS)
    trainer = train(tmp_path, reporter, syntax, syntax=syntax)  # added twice, it is there once
    assert trainer.callback_handler.callbacks.count(syntax) == 1
    assert losses(trainer) == losses(plain) and len(losses(plain)) == 6
    for name, parameter in plain.model.state_dict().items():
        assert torch.equal(parameter, trainer.model.state_dict()[name]), name
    for key in KEYS:
        assert [step for step, _ in logged(trainer, key)] == steps
        assert [(step, logs[key]) for step, logs in reporter.seen if key in logs] == logged(trainer, key)
    if every_n_steps is None:
        assert trainer.evaluate()["eval_agreement/ew"] == logged(trainer, "eval_agreement/ew")[-1][1]


def test_a_callback_that_cannot_log_says_how_it_can(tmp_path):
    trainer = make_trainer(tmp_path, SyntaxEvaluationCallback(budget=PAIRS))
    with pytest.raises(ValueError, match=r"SyntaxEvaluationCallback\(\.\.\.\)\.add_to\(trainer\)"):
        trainer.train()


def test_a_warning_says_that_it_never_runs(tmp_path):
    syntax = SyntaxEvaluationCallback(budget=PAIRS)
    with pytest.warns(UserWarning, match="never runs in this training: eval_strategy is 'no'"):
        trainer = train(tmp_path, syntax=syntax, eval_strategy="no")
    assert logged(trainer, "eval_agreement/ew") == []


def test_several_evaluation_sets_are_one_evaluation(tmp_path):
    syntax = SyntaxEvaluationCallback(budget=PAIRS)
    trainer = train(tmp_path, syntax=syntax, eval_sets=2, eval_on_start=True)
    for key in ("eval_set1_loss", "eval_agreement/ew"):
        assert [step for step, _ in logged(trainer, key)] == [0, 2, 4]


class NeverBetter(SyntaxEvaluationCallback):
    """Scores that fall, so that early stopping has a reason to stop."""

    def _scores(self, state, control, event):
        return super()._scores(state, control, event) | {"eval_agreement/ew": 1 / (1 + state.global_step)}


@pytest.mark.slow
def test_early_stopping_and_the_best_model_follow_a_score(tmp_path):
    """After training, scores are those of the weights that are there: the best ones, not the last."""
    options = {
        "metric_for_best_model": "eval_agreement/ew", "eval_steps": 1, "save_strategy": "steps", "save_steps": 1,
        "load_best_model_at_end": True,
    }  # fmt: skip
    stopping = EarlyStoppingCallback(early_stopping_patience=1)
    trainer = train(tmp_path / "stopped", stopping, syntax=NeverBetter(budget=PAIRS), **options)
    assert trainer.state.global_step == 2 and trainer.state.best_model_checkpoint.endswith("checkpoint-1")
    # Scored at each evaluation, as it decides.
    syntax = SyntaxEvaluationCallback(every_n_steps=3, budget=PAIRS)
    trainer = train(tmp_path / "best", syntax=syntax, **options)
    scores = dict(logged(trainer, "eval_agreement/ew"))
    best = max(scores, key=scores.get)
    assert [*scores] == [1, 2, 3, 4] and best != max(scores), "this training does not tell best from last"
    assert trainer.args.greater_is_better and trainer.state.best_metric == scores[best]
    assert trainer.evaluate()["eval_agreement/ew"] == scores[best] != scores[max(scores)]


@pytest.mark.slow
def test_trls_trainer_logs_the_scores(tmp_path):
    trl = pytest.importorskip("trl", reason="needs trl (pip install trl)")
    from datasets import Dataset

    model, tokenizer = fresh_model()
    rows = Dataset.from_dict({"text": SENTENCES})
    arguments = trl.SFTConfig(
        str(tmp_path),
        max_steps=2,
        eval_strategy="steps",
        eval_steps=1,
        report_to=[],
        use_cpu=True,
        bf16=False,
    )
    trainer = trl.SFTTrainer(
        model, arguments, train_dataset=rows, eval_dataset=rows, processing_class=tokenizer
    )
    SyntaxEvaluationCallback(budget=PAIRS).add_to(trainer)
    trainer.train()
    assert [step for step, _ in logged(trainer, "eval_agreement/ew")] == [1, 2]
    scores = evaluate_live(trainer.model, tokenizer, budget=PAIRS)
    assert scores == last(trainer, scores)


# ---- what training uses besides ---------------------------------------------------------------------------


def test_everything_is_as_it_was_before():
    """A dropout that is kept from training, the random numbers, gradients, what is cached, what is frozen."""
    model, tokenizer = fresh_model()
    model.train()
    model.transformer.h[0].eval()
    model.transformer.wpe.requires_grad_(False)
    model.config.use_cache = True
    ids = ids_of(tokenizer)
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
    [("causal", "llama"), ("causal", "bloom"), ("causal", "mamba"), ("masked", "deberta-v2")],
)
def test_training_goes_on_after_an_evaluation(evaluation, kind, family):
    """Models keep tables from one call to the next; autograd would refuse those of inference mode."""
    model, tokenizer = fresh_model(kind, family)
    model.train()
    assert 0 <= evaluation(model, tokenizer)["agreement/ew"] <= 1
    ids = ids_of(tokenizer)
    model(input_ids=ids, labels=ids).loss.backward()
    assert any(parameter.grad is not None for parameter in model.parameters())


def test_bf16_autocast_is_left_out_and_put_back(evaluation, tmp_path):
    """Accelerate replaces the model's forward pass by one that casts; it stays, and the scores are float32's."""
    without = train(tmp_path, bf16=True)
    trainer = train(tmp_path, syntax=SyntaxEvaluationCallback(budget=PAIRS), bf16=True)
    assert losses(trainer) == losses(without)
    assert "_original_forward" in trainer.model.__dict__, "accelerate does it another way now"
    clean, tokenizer = fresh_model()
    clean.load_state_dict(trainer.model.state_dict())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = evaluation(trainer.model, tokenizer)
    assert found == evaluation(clean, tokenizer) == last(trainer, found)


def test_attention_that_refuses_float32_is_scored_under_the_trainings_autocast(evaluation, tmp_path):
    """Float32 weights with FlashAttention 2 under bf16, the usual way to train, ended in a RuntimeError of CUDA."""
    model, tokenizer = fresh_model()
    refuse_float32(model)
    with pytest.warns(UserWarning, match=r"refuses float32.*autocast \(bfloat16\)") as said:
        trainer = train(tmp_path, syntax=SyntaxEvaluationCallback(budget=PAIRS), model=model, bf16=True)
    assert len([one for one in said if "refuses float32" in str(one.message)]) == 1
    clean, _ = fresh_model()
    clean.load_state_dict(trainer.model.state_dict())
    exact = evaluation(clean, tokenizer)
    refuse_float32(clean)
    with pytest.raises(RuntimeError, match="only support fp16 and bf16"):  # without an autocast
        evaluation(clean, tokenizer)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with pytest.warns(UserWarning, match="refuses float32"):
            found = evaluate_live(clean, tokenizer, budget=PAIRS)
        refuse_float32(clean, "the cache has another shape")  # another error stays an error
        with pytest.raises(RuntimeError, match="another shape"):
            evaluation(clean, tokenizer)
    assert found == last(trainer, found) and found == pytest.approx(exact, abs=0.1)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_adapters_of_peft(evaluation, tmp_path):
    peft = pytest.importorskip("peft", reason="needs peft")
    base, tokenizer = fresh_model()
    lora = peft.LoraConfig(r=4, init_lora_weights=False, target_modules=["c_attn"], fan_in_fan_out=True)
    adapted = peft.get_peft_model(copy.deepcopy(base), lora)
    before = evaluation(adapted, tokenizer)
    assert before != evaluation(base, tokenizer)
    syntax = SyntaxEvaluationCallback(budget=PAIRS)
    trainer = train(tmp_path, syntax=syntax, model=adapted, gradient_checkpointing=True)
    found = last(trainer, before)
    assert before != found == pytest.approx(evaluation(adapted.merge_and_unload(), tokenizer), abs=1e-5)
    virtual = peft.PromptTuningConfig(num_virtual_tokens=4, task_type=peft.TaskType.CAUSAL_LM)
    with pytest.raises(ValueError, match="virtual tokens"):
        evaluation(peft.get_peft_model(base, virtual), tokenizer)


def test_compiled_models_are_scored_uncompiled_and_not_compiled_anew(evaluation):
    graphs = []
    model, tokenizer = fresh_model()
    expected = evaluation(model, tokenizer)
    compiled = torch.compile(model, backend=lambda graph, _: graphs.append(graph) or graph.forward)
    ids = ids_of(tokenizer, 2)
    compiled.train()
    compiled(ids, labels=ids).loss.backward()
    n_graphs = len(graphs)
    assert n_graphs > 0 and evaluation(compiled, tokenizer) == expected
    compiled(ids, labels=ids).loss.backward()
    assert len(graphs) == n_graphs
    torch._dynamo.reset()
