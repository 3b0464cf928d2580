"""Syntax evaluation in Lightning (the extra `lightning`).

    Trainer(callbacks=[LightningSyntaxEvaluation(tokenizer), ModelCheckpoint(monitor="tse/ew", mode="max")])

Scores are logged as `tse/tse`, `tse/ew`, `tse/mw`, `minimal_pairs/accuracy`, `german/auc`; greater is better. Beside
each are `<key>_n` (items) and `<key>_se` (standard error).
"""

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from torch import nn

from ..engine.processes import WAIT_SECONDS
from .live import LiveEvaluation

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

try:
    from lightning.pytorch import Callback, LightningModule, Trainer
    from lightning.pytorch.plugins.precision import MixedPrecision
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "LightningSyntaxEvaluation needs the package lightning, which is not installed: "
        "pip install 'refined-tse[lightning]'"
    ) from error


class LightningSyntaxEvaluation(Callback):
    """Scores the model in training after each validation, or every n steps, and logs the scores.

    Args:
        tokenizer: the model's tokenizer.
        model: the attribute of the LightningModule that holds the model of `transformers`.
        every_n_steps: score after every n optimizer steps; None scores after each validation.
        **options: of `LiveEvaluation`: suites, groups, data, budget, seed, by_group, forms, model_options, …

    Raises:
        ValueError: a suite or group is unknown, data cannot be loaded, the budget is too small, or n is below 1.
    """

    def __init__(
        self,
        tokenizer: "PreTrainedTokenizerBase",
        model: str = "model",
        *,
        every_n_steps: int | None = None,
        **options: Any,
    ) -> None:
        if every_n_steps is not None and every_n_steps < 1:
            raise ValueError(
                f"every_n_steps is {every_n_steps}; expected 1 or more, or None for each validation."
            )
        self._tokenizer = tokenizer
        self._attribute = model
        self._every_n_steps = every_n_steps
        self._evaluation = LiveEvaluation(**options)
        self._scored_at: int | None = None

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Score a few pairs, so that errors are raised before any training."""
        with _autocast_of(trainer):
            self._evaluation.check(self._model(pl_module), self._tokenizer)
        self._evaluation.wait_seconds = WAIT_SECONDS  # all processes have come; later, one may be late

    def on_train_batch_end(self, trainer: Trainer, pl_module: LightningModule, *_: object) -> None:
        """Score and log, if it is time."""
        step = trainer.global_step
        due = self._every_n_steps is not None and step > 0 and step % self._every_n_steps == 0
        if due and step != self._scored_at:  # a batch whose gradients are accumulated does not move the step
            self._scored_at = step
            self._log(trainer, pl_module)

    def on_validation_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Score and log, except in the sanity check."""
        if self._every_n_steps is None and not trainer.sanity_checking:
            self._log(trainer, pl_module)

    def _log(self, trainer: Trainer, pl_module: LightningModule) -> None:
        with _autocast_of(trainer):
            scores = self._evaluation(self._model(pl_module), self._tokenizer)
        # In all processes: callbacks that monitor a score look for it in each, and all have the same.
        pl_module.log_dict(scores)

    def _model(self, pl_module: LightningModule) -> nn.Module:
        try:
            model: nn.Module = getattr(pl_module, self._attribute)
            return model
        except AttributeError as error:
            raise ValueError(
                f"{type(pl_module).__name__} has no attribute {self._attribute!r}. Name the attribute that holds the "
                "model of transformers: LightningSyntaxEvaluation(tokenizer, model='…')."
            ) from error


def _autocast_of(trainer: Trainer) -> AbstractContextManager[object]:
    """Return the autocast of the training's steps; callbacks are called outside of it."""
    precision = trainer.precision_plugin
    return precision.forward_context() if isinstance(precision, MixedPrecision) else nullcontext()
