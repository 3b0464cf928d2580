"""Syntax evaluation in `transformers.Trainer`, and in Trainers that are built on it, such as TRL's `SFTTrainer`.

    SyntaxEvaluationCallback(every_n_steps=500).add_to(trainer)
    trainer.train()

The scores go into the Trainer's own log as `eval_agreement/tse`, `eval_agreement/ew`, `eval_german/auc`, …, so all
reporters show them, and into the metrics of each evaluation, so early stopping and
`metric_for_best_model="eval_agreement/ew"` can use them. Greater is better, as the Trainer assumes of such names.
"""

import warnings
from typing import TYPE_CHECKING, Any

from transformers import Trainer, TrainerCallback

from .live import LiveEvaluation

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


class SyntaxEvaluationCallback(TrainerCallback):
    """Scores the model in training and logs the scores; `add_to(trainer)` adds it to a Trainer.

    Training continues exactly as without it (see `live`). Each score is in [0, 1], NaN where nothing can be scored;
    beside it are `<key>_n` (items), `<key>_se` (standard error) and, of EW and MW, `<key>_lemmas`.

    Args:
        every_n_steps: score after every n optimizer steps; None scores at each evaluation. If the best model is
            chosen by one of the scores, each evaluation has them in any case.
        tokenizer: None takes the Trainer's `processing_class`.
        **options: of `LiveEvaluation`: suites, budget (500 pairs of each suite), seed, by_group, model_options.

    Raises:
        ValueError: a suite is unknown, its data cannot be loaded, or the budget is too small.
    """

    def __init__(
        self,
        every_n_steps: int | None = None,
        *,
        tokenizer: "PreTrainedTokenizerBase | None" = None,
        **options: Any,
    ) -> None:
        self._every_n_steps, self._evaluation = every_n_steps, LiveEvaluation(**options)
        self._tokenizer: Any = tokenizer
        self._trainer: Any = None
        self._scored_step: int | None = None
        self._step_scores: dict[str, float] = {}

    def add_to(self, trainer: Trainer) -> "SyntaxEvaluationCallback":
        """Add this callback to a Trainer, before all of its other callbacks, which see its scores, and return it."""
        callbacks = trainer.callback_handler.callbacks
        callbacks[:] = [self, *(callback for callback in callbacks if callback is not self)]
        processor = self._tokenizer or trainer.processing_class
        # A processor of several kinds of input holds the tokenizer.
        self._trainer, self._tokenizer = trainer, getattr(processor, "tokenizer", processor)
        return self

    def on_train_begin(self, args: Any, state: Any, control: Any, **event: Any) -> None:
        """Score a few pairs, so that errors are raised before any training."""
        if self._trainer is None or self._trainer.state is not state:
            raise ValueError(
                "This SyntaxEvaluationCallback does not belong to the Trainer that calls it, so it cannot log. Make "
                "the Trainer first, then SyntaxEvaluationCallback(...).add_to(trainer), instead of callbacks=[...]."
            )
        self._scored_step = None
        self._evaluation.check(event["model"], self._tokenizer)
        if not self._every_n_steps and args.eval_strategy == "no" and not args.eval_on_start:
            why = "eval_strategy is 'no'. Set it, or pass every_n_steps."
            warnings.warn(f"The syntax evaluation never runs in this training: {why}", stacklevel=2)

    def on_step_end(self, args: Any, state: Any, control: Any, **event: Any) -> None:
        """Score and log, if it is time."""
        if self._every_n_steps and state.global_step % self._every_n_steps == 0:
            self._scores(state, control, event["model"])

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any = None, **event: Any) -> None:
        """Score and log, if it is time, and add this step's scores to the evaluation's metrics."""
        decides = (args.metric_for_best_model or "").removeprefix("eval_").startswith(self._evaluation.keys)
        if not self._every_n_steps or decides or self._is_scored(state):
            metrics.update(self._scores(state, control, event["model"]))

    def _is_scored(self, state: Any) -> bool:
        """Whether the weights are those that were scored last; after training, the best ones may be loaded."""
        return bool(self._trainer.is_in_train and self._scored_step == state.global_step)

    def _scores(self, state: Any, control: Any, model: Any) -> dict[str, float]:
        """Return this step's scores; log them when they are new."""
        if not self._is_scored(state):
            scores = self._evaluation(model, self._tokenizer, shared=True)
            self._step_scores = {f"eval_{key}": score for key, score in scores.items()}
            # Trainer.log resets it, but this step's loss may still have to be logged.
            due = control.should_log
            self._trainer.log(dict(self._step_scores))
            control.should_log, self._scored_step = due, state.global_step
        return self._step_scores
