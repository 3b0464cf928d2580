"""What is written about scores: the JSON objects of `record.json` and `results.json`, as type checkers know them.

At run time all of these are dictionaries. Scorers and suites add keys of their own to a signature.
"""

from collections.abc import Mapping
from typing import TypedDict

from .result_row import Scalar


class Identity(TypedDict):
    """What all rows of a record are about."""

    suite: str
    dataset: str | None
    config: str | None
    model: str
    revision: str | None


class RequestContent(TypedDict, total=False):
    """What the user asked for.

    `command` is as it was typed; `model` is None for a model that was in memory; `partial_reasons` say why the scores
    are not of the whole data set; `own_columns` are those of the user's own table; `scorer_keys` are those of the
    signature that the scorer has.
    """

    command: str
    suite_options: Mapping[str, object]
    model: str | None
    model_options: Mapping[str, object]
    partial: bool
    partial_reasons: list[str]
    own_data: bool
    own_columns: list[str]
    scorer_keys: list[str]


class Signature(TypedDict, total=False):
    """Everything that decides the scores of a model, with `computed` and `request` where these are known.

    `identity` is what its rows are found by; `series` names a revision of a series.
    """

    identity: Identity
    suite: str
    model: str
    revision: str | None
    architecture: str
    kind: str
    dtype: str
    quantization: str
    autocast: str
    first_token: str
    start_token: str
    bos_at_gap: bool
    leading_space: bool
    pll: str | None
    mntp: bool
    order: int
    dataset_fingerprint: str
    lemmas: str
    lemmas_fingerprint: str
    linking: str
    series: str
    computed: Mapping[str, object]
    request: RequestContent


class Signatures(TypedDict, total=False):
    """The signatures of all models of `results.json`."""

    models: list[Signature]


class ResultsContent(TypedDict, total=False):
    """The results of an output folder; a row has the columns of `ResultRow` that are not null."""

    signature: Signatures
    environment: Mapping[str, object]
    results: "list[dict[str, Scalar]]"
