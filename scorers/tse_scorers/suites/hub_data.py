"""Names of data on the Hub, for entries of a model's card."""

from collections.abc import Collection, Mapping
from typing import Any


class UnknownHostError(ValueError):
    """Nobody was named who hosts the shipped data sets on the Hub."""


def shipped_dataset(
    row: Mapping[str, Any], shipped: Mapping[str, Collection[str]], organization: str | None
) -> str:
    """Return the id on the Hub of a shipped data set.

    Args:
        row: of `results.json`.
        shipped: shipped data sets -> their configurations. The user's own file may have been run in place of one.
        organization: who hosts the shipped data sets, if anybody was named.

    Raises:
        UnknownHostError: nobody was named.
        ValueError: the data is the user's own.
    """
    dataset, config = row["dataset"], row["config"]
    if config not in shipped.get(dataset, ()):
        raise ValueError(
            "An entry in a model's repository names its data set on the Hub, but these results are for your own data, "
            f"{dataset!r} ({config}). Leave out --model-repo; --results-repo accepts all results."
        )
    if organization is None:
        raise UnknownHostError(
            "An entry in a model's repository names its data set on the Hub, but the results only have its short "
            f"name {dataset!r}. Name the organization that hosts it: --data-org organization."
        )
    return f"{organization}/{dataset}"
