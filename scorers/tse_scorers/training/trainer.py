"""Syntax evaluation in `transformers.Trainer`.

    Trainer(..., callbacks=[SyntaxEvaluationCallback(every_n_steps=500)])

The scores go into the Trainer's own log as `eval_tse/tse`, `eval_tse/ew`, `eval_tse/mw`, `eval_blimp/accuracy`,
`eval_german/auc`, so that TensorBoard, W&B and whatever else reports see them, and into the metrics of each
evaluation, so that `metric_for_best_model="eval_tse/ew"` chooses by them (and early stopping, and a scheduler
that waits for a plateau). They are better the greater they are: `greater_is_better=True`, the Trainer's default for
names that do not end in "loss".
"""

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from .live import DEFAULT_BUDGET, LiveEvaluation


class SyntaxEvaluationCallback(TrainerCallback):
    """Scores the model in training and logs what it finds.

    Training goes on as if it had not been there (see `live`). With several processes (DDP) each scores its share.
    Logged are `eval_tse/tse`, `eval_tse/ew`, `eval_tse/mw` (agreement), `eval_blimp/accuracy`, `eval_german/auc`:
    each in [0, 1], greater is better, NaN where nothing can be scored; and `eval_syntax_runtime`, in seconds.

    Args:
        every_n_steps: score after each n optimizer steps; None at each evaluation. An evaluation by which the best
            model is chosen has the scores in any case.
        suites: `agreement`, `blimp`, `german`; see `LiveEvaluation` for this and the rest.
        groups: of a suite, only these groups.
        sources: of a suite, folder or file with its data.
        budget: at most so many pairs of each suite; None scores all. `tse estimate --budget N` says what it costs.
        seed: decides which pairs.
        by_group: log scores by group as well: `eval_tse/ew/Simple`.
        tokenizer: None takes the Trainer's `processing_class`.
        model_options: options of `load_scorer`.

    Raises:
        ValueError: an unknown suite or group, data that cannot be had, a budget too small, or n below 1.
    """

    def __init__(
        self,
        every_n_steps: int | None = None,
        suites: Sequence[Any] = ("agreement",),
        *,
        groups: Mapping[str, Sequence[str]] | None = None,
        sources: Mapping[str, str | Path] | None = None,
        budget: int | None = DEFAULT_BUDGET,
        seed: int = 0,
        by_group: bool = False,
        tokenizer: Any = None,
        model_options: Mapping[str, Any] | None = None,
    ) -> None:
        if every_n_steps is not None and every_n_steps < 1:
            raise ValueError(
                f"every_n_steps is {every_n_steps}; expected 1 or more, or None for each evaluation."
            )
        self._every_n_steps = every_n_steps
        self._tokenizer = tokenizer
        self._evaluation = LiveEvaluation(
            suites,
            groups=groups,
            sources=sources,
            budget=budget,
            seed=seed,
            by_group=by_group,
            model_options=model_options,
        )
        self._training = False
        self._of_this_step: dict[str, float] | None = None

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Plan the evaluation, so that what cannot work fails before any training."""
        self._evaluation.check(kwargs["model"], self._tokenizer_of(kwargs))
        self._training, self._of_this_step = True, None

    def on_step_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Forget the last step's scores: the weights will be others."""
        self._of_this_step = None

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Forget the last step's scores: the best model may be loaded now."""
        self._training, self._of_this_step = False, None

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Score and log, if it is time."""
        if self._every_n_steps is not None and state.global_step % self._every_n_steps == 0:
            self._scores(state, control, kwargs)

    def on_evaluate(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        metrics: dict[str, float] | None = None,
        **kwargs: Any,
    ) -> None:
        """Score and log, if it is time, and put what is known of this step into the evaluation's metrics."""
        if self._every_n_steps is None or self._of_this_step or self._decides(args.metric_for_best_model):
            scores = self._scores(state, control, kwargs)
            if metrics is not None:
                metrics.update(scores)

    def _decides(self, metric_for_best_model: str | None) -> bool:
        name = (metric_for_best_model or "").removeprefix("eval_")
        return name.startswith(self._evaluation.keys)

    def _scores(
        self, state: TrainerState, control: TrainerControl, event: dict[str, Any]
    ) -> dict[str, float]:
        """Return this step's scores; have them logged when they are new."""
        if self._of_this_step is not None:
            return self._of_this_step
        start = time.perf_counter()
        found = self._evaluation(event["model"], self._tokenizer_of(event))
        scores = {f"eval_{key}": score for key, score in found.items()}
        scores["eval_syntax_runtime"] = round(time.perf_counter() - start, 4)
        _log(state, control, scores)
        if self._training:
            self._of_this_step = scores
        return scores

    def _tokenizer_of(self, event: dict[str, Any]) -> Any:
        processor = self._tokenizer or event.get("processing_class")
        tokenizer = getattr(
            processor, "tokenizer", processor
        )  # a processor of several kinds of input has one
        if tokenizer is None:
            raise ValueError(
                "The syntax evaluation needs the model's tokenizer. Give it to the Trainer (processing_class=…) or to "
                "SyntaxEvaluationCallback(tokenizer=…)."
            )
        return tokenizer


def _log(state: TrainerState, control: TrainerControl, scores: dict[str, float]) -> None:
    """Log through the Trainer that sent the event, or at least into its history."""
    trainer = _sender()
    if trainer is None:
        state.log_history.append({**scores, "epoch": state.epoch, "step": state.global_step})
        return
    due = control.should_log  # logging resets it, and the loss of this step may not be logged yet
    trainer.log(dict(scores))
    control.should_log = due


def _sender() -> Any:
    """Return the Trainer that sent this event, None if it was none.

    A Trainer tells its callbacks everything but itself, and only its `log` reaches all that report.
    """
    from transformers import Trainer

    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if isinstance(sender := frame.f_locals.get("self"), Trainer):
            return sender
    return None
