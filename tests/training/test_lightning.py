"""Syntax evaluation in Lightning: scores are logged and watched, training is as without it."""

import pytest
import torch
from small_training import fresh_model, refuse_float32
from tiny import SENTENCES

from tse_scorers import evaluate_live

lightning = pytest.importorskip("lightning.pytorch", reason="needs lightning (pip install lightning)")
PAIRS = 36
pytestmark = pytest.mark.filterwarnings("ignore")  # of few data loader workers, and few lemmas


def fit(folder, *callbacks, half=False):
    """Train a tiny model for four steps and validate after each second one; returns (module, metrics)."""
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
    return module, trainer.callback_metrics


def syntax_evaluation(model="language_model", **options):
    from tse_scorers.training.lightning import LightningSyntaxEvaluation

    return LightningSyntaxEvaluation(fresh_model()[1], model, budget=PAIRS, **options)


@pytest.mark.slow
def test_scores_are_logged_and_can_be_monitored(tmp_path):
    checkpoint = lightning.callbacks.ModelCheckpoint(
        tmp_path, monitor="agreement/ew", mode="max", filename="best"
    )
    module, metrics = fit(tmp_path, syntax_evaluation(), checkpoint)
    expected = evaluate_live(module.language_model, fresh_model()[1], budget=PAIRS)
    assert {key: float(metrics[key]) for key in expected} == pytest.approx(expected, abs=1e-6)
    assert checkpoint.best_model_path.endswith("best.ckpt")
    assert module.losses == fit(tmp_path)[0].losses


def test_attention_that_refuses_float32_and_a_wrong_attribute(tmp_path):
    with pytest.warns(UserWarning, match=r"refuses float32.*bfloat16") as said:
        _, metrics = fit(tmp_path, syntax_evaluation(), half=True)
    assert 0 < float(metrics["agreement/ew"]) < 1
    assert len([one for one in said if "refuses float32" in str(one.message)]) == 1
    with pytest.raises(AttributeError, match="has no attribute 'network'"):
        fit(tmp_path, syntax_evaluation("network"))
