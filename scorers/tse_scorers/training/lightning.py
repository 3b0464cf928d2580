"""Syntax evaluation in Lightning (the extra `lightning`).

    Trainer(callbacks=[LightningSyntaxEvaluation(tokenizer), ModelCheckpoint(monitor="agreement/ew", mode="max")])

Scores are logged as `agreement/tse`, `agreement/ew`, `minimal_pairs/accuracy`, `german/auc`, each with `<key>_n`,
`<key>_se` and, of EW and MW, `<key>_lemmas`; greater is better.
"""

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from lightning.pytorch import Callback, LightningModule, Trainer
from lightning.pytorch.plugins.precision import MixedPrecision

from .live import LiveEvaluation

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


class LightningSyntaxEvaluation(Callback):
    """Scores the model in training after each validation (`val_check_interval` sets when), and logs the scores.

    Args:
        tokenizer: the model's tokenizer.
        model: the attribute of the LightningModule that holds the model of `transformers`.
        **options: of `LiveEvaluation`: suites, budget, seed, by_group, model_options.

    Raises:
        ValueError: a suite is unknown, its data cannot be loaded, or the budget is too small.
    """

    def __init__(self, tokenizer: "PreTrainedTokenizerBase", model: str = "model", **options: Any) -> None:
        self._tokenizer, self._attribute = tokenizer, model
        self._evaluation = LiveEvaluation(**options)

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Score a few pairs, so that errors are raised before any training."""
        with _autocast_of(trainer):
            self._evaluation.check(getattr(pl_module, self._attribute), self._tokenizer)

    def on_validation_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Score and log, except in the sanity check."""
        if trainer.sanity_checking:
            return
        with _autocast_of(trainer):
            scores = self._evaluation(getattr(pl_module, self._attribute), self._tokenizer, shared=True)
        # In all processes: callbacks that monitor a score look for it in each, and all have the same.
        pl_module.log_dict(scores)


def _autocast_of(trainer: Trainer) -> Any:
    """Return the autocast of the training's steps; callbacks are called outside of it."""
    precision = trainer.precision_plugin
    return precision.forward_context() if isinstance(precision, MixedPrecision) else nullcontext()
