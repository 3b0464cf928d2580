"""A tiny model in a real `transformers.Trainer`, for tests: half a second of training that uses dropout."""

import copy
from pathlib import Path
from typing import Any

import torch
from tiny import SENTENCES, tiny_model
from transformers import (
    AttentionInterface,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS, sdpa_mask

from tse_scorers import SyntaxEvaluationCallback


def fresh_model(kind: str = "causal", family: str = "gpt2") -> tuple[Any, Any]:
    """Return a model of its own with its tokenizer."""
    model, tokenizer = tiny_model(kind, family)
    tokenizer = copy.deepcopy(tokenizer)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    return copy.deepcopy(model), tokenizer


def train(
    folder: Path, *callbacks: TrainerCallback, syntax: SyntaxEvaluationCallback | None = None, **options: Any
) -> Trainer:
    """Train for four steps, with an evaluation after each second one, and return the Trainer.

    `syntax` is added with `add_to` after the Trainer was made with the callbacks.
    """
    trainer = make_trainer(folder, *callbacks, **options)
    if syntax is not None:
        assert syntax.add_to(trainer) is syntax
    trainer.train()
    return trainer


def make_trainer(
    folder: Path, *callbacks: TrainerCallback, model: Any = None, eval_sets: int = 1, **options: Any
) -> Trainer:
    """Return a Trainer for four steps, with an evaluation after each second one."""
    fresh, tokenizer = fresh_model()
    arguments = TrainingArguments(
        **{
            "output_dir": str(folder), "max_steps": 4, "per_device_train_batch_size": 4, "learning_rate": 1e-2,
            "logging_steps": 1, "eval_strategy": "steps", "eval_steps": 2, "save_strategy": "no", "report_to": [],
            "use_cpu": True, "disable_tqdm": True, "log_level": "error", **options,
        }
    )  # fmt: skip
    rows = [{"input_ids": ids} for ids in tokenizer(SENTENCES * 2)["input_ids"]]
    torch.manual_seed(0)
    return Trainer(
        model or fresh,
        arguments,
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
        train_dataset=rows,
        eval_dataset=rows[:4] if eval_sets == 1 else {f"set{i}": rows[i : i + 4] for i in range(eval_sets)},
        processing_class=tokenizer,
        callbacks=list(callbacks),
    )


def logged(trainer: Trainer, key: str) -> list[tuple[int, float]]:
    """Return (step, value) of each entry of the Trainer's log that has the key."""
    return [(entry["step"], entry[key]) for entry in trainer.state.log_history if key in entry]


def refuse_float32(model: Any, said: str = "FlashAttention only support fp16 and bf16 data type") -> None:
    """Give a model attention that refuses float32, as FlashAttention does, or says something else."""

    def attention(module: Any, query: Any, *others: Any, **options: Any) -> Any:
        if query.dtype == torch.float32:
            raise RuntimeError(said)
        return sdpa_attention_forward(module, query, *others, **options)

    AttentionInterface.register("flash_like", attention)
    ALL_MASK_ATTENTION_FUNCTIONS.register("flash_like", sdpa_mask)
    model.config._attn_implementation = "flash_like"
