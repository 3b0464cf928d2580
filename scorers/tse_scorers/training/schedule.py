"""When the Trainer's evaluations happen."""

from transformers import TrainerState, TrainingArguments


def reason_never_due(args: TrainingArguments, state: TrainerState, every_n_steps: int | None) -> str | None:
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
