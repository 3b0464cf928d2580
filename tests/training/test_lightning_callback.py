"""Syntax evaluation in Lightning: scores are logged and watched, training is as without it."""

import builtins
import importlib
import sys

import pytest
import torch
from small_training import fresh_model, refuse_float32
from tiny import SENTENCES

from tse_scorers import evaluate_live

PAIRS = 36


def test_without_lightning_the_error_says_what_to_install(monkeypatch):
    real_import = builtins.__import__

    def refuse(name, *arguments, **options):
        if name.startswith("lightning"):
            raise ModuleNotFoundError(f"No module named {name!r}")
        return real_import(name, *arguments, **options)

    monkeypatch.delitem(sys.modules, "tse_scorers.training.lightning", raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'refined-tse\[lightning\]'"):
        importlib.import_module("tse_scorers.training.lightning")


@pytest.fixture(scope="module")
def lightning():
    return pytest.importorskip("lightning.pytorch", reason="needs lightning (pip install lightning)")


def fit(lightning, folder, *callbacks, half=False):
    """Train a tiny model for four steps and validate after each second one; returns (module, losses)."""
    model, tokenizer = fresh_model()
    if half:
        refuse_float32(model)
    rows = [torch.tensor(tokenizer(sentence)["input_ids"]) for sentence in SENTENCES[:4]]

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.language_model, self.losses = model, []

        def training_step(self, ids, index):
            loss = self.language_model(ids, labels=ids).loss
            self.losses.append(loss.item())
            return loss

        def validation_step(self, ids, index):
            self.log("val_loss", self.language_model(ids, labels=ids).loss)

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-2)

    module = Module()
    torch.manual_seed(0)
    trainer = lightning.Trainer(
        default_root_dir=folder, max_epochs=1, val_check_interval=2, accelerator="cpu", logger=False,
        precision="bf16-mixed" if half else "32-true",
        enable_progress_bar=False, enable_model_summary=False, callbacks=list(callbacks),
        enable_checkpointing=any(isinstance(c, lightning.callbacks.ModelCheckpoint) for c in callbacks),
    )  # fmt: skip
    trainer.fit(module, torch.utils.data.DataLoader(rows), torch.utils.data.DataLoader(rows[:1]))
    return module, trainer.callback_metrics, tokenizer


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of few data loader workers
def test_scores_are_logged_and_can_be_monitored(lightning, tmp_path):
    from tse_scorers.training.lightning import LightningSyntaxEvaluation

    checkpoint = lightning.callbacks.ModelCheckpoint(tmp_path, monitor="tse/ew", mode="max", filename="best")
    evaluation = LightningSyntaxEvaluation(fresh_model()[1], "language_model", budget=PAIRS)
    module, metrics, tokenizer = fit(lightning, tmp_path, evaluation, checkpoint)
    expected = evaluate_live(module.language_model, tokenizer, budget=PAIRS)
    assert {key: float(metrics[key]) for key in expected} == pytest.approx(expected, abs=1e-6)
    assert checkpoint.best_model_path and checkpoint.best_model_score >= metrics["tse/ew"]
    without, _, _ = fit(lightning, tmp_path)
    assert module.losses == without.losses


def test_attention_that_refuses_float32_is_scored_under_lightnings_autocast(lightning, tmp_path):
    from tse_scorers.training.lightning import LightningSyntaxEvaluation

    evaluation = LightningSyntaxEvaluation(fresh_model()[1], "language_model", budget=PAIRS)
    with pytest.warns(UserWarning, match=r"refuses float32.*bfloat16") as said:
        _, metrics, _ = fit(lightning, tmp_path, evaluation, half=True)
    assert 0 < float(metrics["tse/ew"]) < 1
    assert len([one for one in said if "refuses float32" in str(one.message)]) == 1


@pytest.mark.filterwarnings("ignore")
def test_every_n_steps(lightning, tmp_path, monkeypatch):
    from tse_scorers import LiveEvaluation
    from tse_scorers.training.lightning import LightningSyntaxEvaluation

    calls = []
    scores = {"tse/ew": 0.5}
    monkeypatch.setattr(LiveEvaluation, "__call__", lambda *_: calls.append(1) or scores)
    evaluation = LightningSyntaxEvaluation(fresh_model()[1], "language_model", every_n_steps=3, budget=PAIRS)
    _, metrics, _ = fit(lightning, tmp_path, evaluation)
    assert len(calls) == 1 and metrics["tse/ew"] == 0.5


def test_a_wrong_attribute_fails_before_training(lightning, tmp_path):
    from tse_scorers.training.lightning import LightningSyntaxEvaluation

    with pytest.raises(ValueError, match="has no attribute 'network'"):
        fit(lightning, tmp_path, LightningSyntaxEvaluation(fresh_model()[1], "network", budget=PAIRS))
    with pytest.raises(ValueError, match="every_n_steps is 0"):
        LightningSyntaxEvaluation(None, every_n_steps=0)
