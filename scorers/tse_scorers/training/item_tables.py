"""Logs scores of items as tables of Weights & Biases or Trackio."""

from collections.abc import Sequence
from importlib import import_module

import pyarrow as pa

from ..io.table_files import Tables

REPORTERS = ("wandb", "trackio")
"""Both have `log(values)` and `Table(dataframe=…)`."""


def reporters_of_items(report_to: str | Sequence[str] | None) -> list[str]:
    """Return the reporters that show tables.

    Args:
        report_to: of the training arguments.

    Raises:
        ValueError: there are none.
    """
    given = [report_to] if isinstance(report_to, str) else list(report_to or [])
    found = [name for name in REPORTERS if name in given]
    if not found:
        raise ValueError(
            f"log_items=True needs a reporter that shows tables, but report_to is {given}. Set "
            "report_to=['wandb'] or report_to=['trackio'] in TrainingArguments, or remove log_items."
        )
    return found


def log_item_tables(reporters: Sequence[str], items: Tables, step: int) -> None:
    """Log each table as `tse_items/<suite>.<table>` to the run that the Trainer has started.

    Args:
        reporters: names of modules; see `reporters_of_items`.
        items: the tables, by name.
        step: of the training.
    """
    frames = {f"tse_items/{name}": table.to_pandas() for name, table in items.items() if _has_scores(table)}
    for name in reporters:
        module = import_module(name)  # lazily: an optional package
        tables = {key: module.Table(dataframe=frame) for key, frame in frames.items()}
        module.log({**tables, "train/global_step": step})


def _has_scores(table: pa.Table) -> bool:
    """Whether a table has scores that people can read: lists of lemmas have none, packed outcomes are for programs."""
    return len(table) > 0 and any(pa.types.is_floating(field.type) for field in table.schema)
