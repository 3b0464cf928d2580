"""Syntax evaluation in `transformers.Trainer`.

    trainer = Trainer(...)
    SyntaxEvaluationCallback(every_n_steps=500).add_to(trainer)
    trainer.train()

The scores go into the Trainer's own log as `eval_tse/tse`, `eval_tse/ew`, `eval_tse/mw`, `eval_minimal_pairs/accuracy`,
`eval_german/auc`, so TensorBoard, W&B and all other reporters show them. They also go into the metrics of each
evaluation, so `metric_for_best_model="eval_tse/ew"`, early stopping and plateau schedulers can use them. Greater
is better: `greater_is_better=True`, the Trainer's default for names that do not end in "loss".

`add_to` tells the callback which Trainer it belongs to: only the Trainer's `log` reaches all reporters, and events do
not say which Trainer they come from. With `Trainer(callbacks=[...])` the scores are in the Trainer's history and in the
metrics of each evaluation, where early stopping sees them in any order of callbacks, but reporters do not show them.
"""

import time
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, cast

import pyarrow as pa
from torch import nn
from transformers import (
    PreTrainedTokenizerBase,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

from ..engine import processes
from ..io.suggestions import suggesting_keywords
from ..io.tables import Tables
from ..models.options import ModelOptions
from ..suites.contract import Suite
from .live import DEFAULT_BUDGET, WAIT_SECONDS, LiveEvaluation
from .live_suites import Data, Groups

_RUNTIME = "eval_syntax_runtime"
REPORTERS = ("wandb", "trackio")
"""Both have `log(values)` and `Table(dataframe=…)`."""


class SyntaxEvaluationCallback(TrainerCallback):
    """Scores the model in training and logs the scores.

    Training continues exactly as without it (see `live`). Logged are `eval_tse/tse`, `eval_tse/ew`, `eval_tse/mw`
    (agreement), `eval_minimal_pairs/accuracy`, `eval_german/auc`: each in [0, 1], greater is better, NaN where nothing
    can be scored; beside each score, `<key>_n` (items) and `<key>_se` (standard error); and `eval_syntax_runtime`, in
    seconds.

    Args:
        every_n_steps: score after every n optimizer steps; None scores at each evaluation. If the best model is
            chosen by one of the scores, each evaluation has them in any case.
        suites: `agreement` (default), `minimal_pairs`, `german`, `regions`, …; see `LiveEvaluation` for this and the
            rest.
        groups: for a suite, only these groups.
        data: for a suite, the folder or file with its data.
        budget: at most this many pairs of each suite; None scores all.
        seed: decides which pairs are scored.
        by_group: log scores by group as well: `eval_tse/ew/Simple`.
        forms: `single` or `all` (also verbs of several tokens); see `LiveEvaluation`.
        tokenizer: None takes the Trainer's `processing_class`.
        model_options: options of `load_scorer` for a loaded model: kind, pll, bos, leading_space, batch_tokens.
        max_seconds: seconds that an evaluation may take; see `LiveEvaluation`.
        wait_seconds: seconds that the processes of a launch wait for each other when training begins.
        log_items: log the scores of items as tables of W&B or Trackio, which must be in `report_to`.

    Raises:
        ValueError: a suite or group is unknown, data cannot be loaded, the budget is too small, or n is below 1.
    """

    @suggesting_keywords
    def __init__(
        self,
        every_n_steps: int | None = None,
        suites: Sequence[str | Suite] | None = None,
        *,
        groups: Groups | None = None,
        data: Data | None = None,
        budget: int | None = DEFAULT_BUDGET,
        seed: int = 0,
        by_group: bool = False,
        forms: str | None = None,
        tokenizer: PreTrainedTokenizerBase | None = None,
        model_options: ModelOptions | Mapping[str, Any] | None = None,
        max_seconds: float | None = None,
        wait_seconds: float = WAIT_SECONDS,
        log_items: bool = False,
    ) -> None:
        if every_n_steps is not None and every_n_steps < 1:
            raise ValueError(
                f"every_n_steps is {every_n_steps}; expected 1 or more, or None for each evaluation."
            )
        self._every_n_steps = every_n_steps
        self._tokenizer = tokenizer
        self._log_items = log_items
        self._evaluation = LiveEvaluation(
            suites,
            groups=groups,
            data=data,
            budget=budget,
            seed=seed,
            by_group=by_group,
            forms=forms,
            model_options=model_options,
            max_seconds=max_seconds,
            wait_seconds=wait_seconds,
        )
        self._trainer: Trainer | None = None
        self._training = False
        self._step_scores: dict[str, float] | None = None
        self._scored_metrics: dict[str, float] | None = None
        """The metrics that `on_log` added scores to, until `on_evaluate` passes them again."""

    def add_to(self, trainer: Trainer) -> "SyntaxEvaluationCallback":
        """Add this callback to a Trainer, before all of its other callbacks, and return it.

        All reporters show its scores then.

        Args:
            trainer: the Trainer. If the callback is already one of its callbacks, it becomes the first one.
        """
        callbacks = trainer.callback_handler.callbacks
        callbacks[:] = [self, *(callback for callback in callbacks if callback is not self)]
        self._trainer = trainer
        return self

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: object
    ) -> None:
        """Score a few pairs, so that errors are raised before any training."""
        self._evaluation.check(_model_of(kwargs), self._tokenizer_of(kwargs))
        # All processes have this callback. From now on, one may be late, for instance after writing a checkpoint.
        self._evaluation.wait_seconds = processes.WAIT_SECONDS
        if self._log_items:
            _reporters_of_items(args.report_to)
        if args.report_to and not self._is_of(state):
            warnings.warn(
                "SyntaxEvaluationCallback was not given its Trainer, so its scores do not reach: "
                f"{', '.join(args.report_to)}. Add it with SyntaxEvaluationCallback(...).add_to(trainer) instead of "
                "callbacks=[...] or trainer.add_callback(...).",
                stacklevel=2,
            )
        if reason := _reason_never_due(args, state, self._every_n_steps):
            warnings.warn(f"The syntax evaluation never runs in this training: {reason}", stacklevel=2)
        self._training, self._step_scores = True, None

    def on_step_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: object
    ) -> None:
        """Forget the last step's scores, because the weights are about to change."""
        self._step_scores = None

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: object
    ) -> None:
        """Forget the last step's scores, because the best model may be loaded next."""
        self._training, self._step_scores = False, None

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: object
    ) -> None:
        """Score and log, if it is time."""
        if self._every_n_steps is not None and state.global_step % self._every_n_steps == 0:
            self._scores(args, state, control, kwargs)

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, float] | None = None,
        **kwargs: object,
    ) -> None:
        """Add scores to an evaluation's metrics before other callbacks read them.

        The Trainer logs the metrics of an evaluation and then passes the same dict to each callback's `on_evaluate`, in
        the order in which callbacks were added. A callback with its own Trainer is the first one.
        """
        is_evaluation = any(key.startswith("eval_") and key.endswith("_runtime") for key in logs or ())
        if is_evaluation and not self._is_of(state):
            self.on_evaluate(args, state, control, logs, **kwargs)
            self._scored_metrics = logs

    def on_evaluate(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        metrics: dict[str, float] | None = None,
        **kwargs: object,
    ) -> None:
        """Score and log, if it is time, and add this step's scores to the evaluation's metrics."""
        if metrics is not None and metrics is self._scored_metrics:
            self._scored_metrics = None
            return
        decisive = (args.metric_for_best_model or "").removeprefix("eval_").startswith(self._evaluation.keys)
        if self._every_n_steps is None or self._step_scores or decisive:
            scores = self._scores(args, state, control, kwargs)
            if metrics is not None:
                metrics.update(scores)

    def _scores(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        event: Mapping[str, object],
    ) -> dict[str, float]:
        """Return this step's scores; log them when they are new."""
        if self._step_scores is not None:
            return self._step_scores
        start = time.perf_counter()
        live = self._evaluation.evaluate(_model_of(event), self._tokenizer_of(event))
        scores = {f"eval_{key}": score for key, score in live.scores.items()}
        scores[_RUNTIME] = round(time.perf_counter() - start, 4)
        self._log(state, control, scores)
        if self._log_items and state.is_world_process_zero:
            log_item_tables(_reporters_of_items(args.report_to), live.items, state.global_step)
        if self._training:
            self._step_scores = scores
        return scores

    def _log(self, state: TrainerState, control: TrainerControl, scores: dict[str, float]) -> None:
        """Log through the Trainer, so that all reporters see the scores, or at least into its history."""
        if self._trainer is None or not self._is_of(state):
            state.log_history.append({**scores, "epoch": state.epoch, "step": state.global_step})
            return
        due = control.should_log  # Trainer.log resets it, but this step's loss may still have to be logged
        self._trainer.log(dict(scores))
        control.should_log = due

    def _is_of(self, state: TrainerState) -> bool:
        """Whether the Trainer that calls is the one that this callback was added to."""
        return self._trainer is not None and self._trainer.state is state

    def _tokenizer_of(self, event: Mapping[str, object]) -> PreTrainedTokenizerBase:
        processor = self._tokenizer or event.get("processing_class")
        # A processor of several kinds of input holds the tokenizer.
        tokenizer = cast(PreTrainedTokenizerBase | None, getattr(processor, "tokenizer", processor))
        if tokenizer is None:
            raise ValueError(
                "The syntax evaluation needs the model's tokenizer. Give it to the Trainer (processing_class=…) or to "
                "SyntaxEvaluationCallback(tokenizer=…)."
            )
        return tokenizer


def _model_of(event: Mapping[str, object]) -> nn.Module:
    """Return the model of an event of the Trainer."""
    return cast(nn.Module, event["model"])


def _reason_never_due(args: TrainingArguments, state: TrainerState, every_n_steps: int | None) -> str | None:
    """Return why the syntax evaluation never runs in this training, None where it does.

    Args:
        args: of the Trainer.
        state: at the beginning of the training.
        every_n_steps: of the callback.
    """
    if every_n_steps is not None:
        if every_n_steps <= state.max_steps:
            return None
        return (
            f"every_n_steps is {every_n_steps}, but training has only {state.max_steps} steps. Use a smaller "
            "every_n_steps."
        )
    if args.eval_strategy == "no" and not args.eval_on_start:
        return (
            "eval_strategy is 'no', and every_n_steps was not given. Set eval_strategy='steps' (or 'epoch') in "
            "TrainingArguments, or pass every_n_steps to SyntaxEvaluationCallback."
        )
    return None


def _reporters_of_items(report_to: str | Sequence[str] | None) -> list[str]:
    """Return the reporters that show tables.

    Args:
        report_to: of the training arguments.

    Raises:
        ValueError: there are none.
    """
    reporters = [report_to] if isinstance(report_to, str) else list(report_to or [])
    with_tables = [name for name in REPORTERS if name in reporters]
    if not with_tables:
        raise ValueError(
            f"log_items=True needs a reporter that shows tables, but report_to is {reporters}. Set "
            "report_to=['wandb'] or report_to=['trackio'] in TrainingArguments, or remove log_items."
        )
    return with_tables


def log_item_tables(reporters: Sequence[str], items: Tables, step: int) -> None:
    """Log each table as `tse_items/<suite>.<table>` to the run that the Trainer has started.

    Args:
        reporters: names of modules; see `_reporters_of_items`.
        items: the tables, by name.
        step: of the training.
    """
    # Lists of lemmas have no scores, and packed outcomes are for programs.
    shown = {
        name: table
        for name, table in items.items()
        if len(table) > 0 and any(pa.types.is_floating(field.type) for field in table.schema)
    }
    frames = {f"tse_items/{name}": table.to_pandas() for name, table in shown.items()}
    for name in reporters:
        module = import_module(name)  # lazily: an optional package
        tables = {key: module.Table(dataframe=frame) for key, frame in frames.items()}
        module.log({**tables, "train/global_step": step})
