"""Tables of the user's own, and the data sets that a suite knows: what is released, and its ids on the Hub."""

import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from ..io.bundle import load_data
from ..io.files import parse_yaml, read_text
from ..io.result_row import Scalar
from ..io.signatures import Signature
from ..io.tables import is_table, read_table, tables_in
from ..models.options import Option, OptionError


def is_hub_id(data: str) -> bool:
    """Whether data are named by `org/name[@revision]`, and not by a path."""
    return data.count("/") == 1 and not is_table(data) and not Path(data).exists()


def own_table(data: str | None, texts: Collection[str] = ()) -> pd.DataFrame:
    """Read a table of the user's own: a file, or a data set `org/name[@revision]` with one configuration and split.

    Args:
        data: path or id; the option `data` of a suite is None where it was not given.
        texts: columns of a CSV or TSV that are always text, so that 12 stays "12" and an empty field is the empty
            text, which `require_words` refuses.

    Raises:
        ValueError: there is no `data`, it cannot be read or downloaded, or the table is ambiguous.
    """
    if data is None:
        raise OptionError(
            "This suite has no default data; expected a table. Choose one with ", Option("data"), "."
        )
    return load_data(data).to_pandas() if is_hub_id(data) else read_table(Path(data), texts)


def columns_of(data: str) -> list[str]:
    """Return the columns of a user's own table, or of the first one in a folder; of JSON and YAML, the keys.

    Raises:
        ValueError: there is no such data, or no table in the folder.
    """
    path = tables_in(Path(data))[0] if Path(data).is_dir() else Path(data)
    if path.suffix in (".yaml", ".yml"):
        described = parse_yaml(read_text(path), str(path))
        return [str(key) for key in described] if isinstance(described, Mapping) else []
    if path.suffix == ".json" and path.is_file() and (text := read_text(path)).lstrip().startswith("{"):
        with suppress(ValueError, RecursionError):  # what is wrong with it is said by the suite that reads it
            return [str(key) for key in json.loads(text)]
    return [str(column) for column in own_table(str(path) if path.exists() else data).columns]


@dataclass(frozen=True)
class ReleasedData:
    """A whole released data set.

    Attributes:
        dataset: its name in `results.json`.
        config: its configuration.
        n: the number of its items (pairs or sentences).
        items: what they are.
        on_hub: whether the Hub has it, or can have it.
        lemma_lists: fingerprints of the released lists of its language (`lemmas_fingerprint`) -> their names, for
            measures over lemmas.
    """

    dataset: str
    config: str
    n: int
    items: str = "pairs"
    on_hub: bool = True
    lemma_lists: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class KnownData:
    """The data sets that a suite knows; a subclass where their ids on the Hub need more than a table.

    Attributes:
        hub_id: the id on the Hub of all data of the suite, where it is there.
        released: fingerprint of the data, as the key `dataset_fingerprint` of a signature has it -> the released data
            set with this content, whatever its file or folder is called.
        config_names: configurations -> what headings call them, where that is not their name in results.
        titles: configurations -> the title of results on this data alone, where that is not the suite's.
    """

    hub_id: str = ""
    released: Mapping[str, ReleasedData] = field(default_factory=dict)
    config_names: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)

    def title_of(self, configs: Collection[str | None]) -> str:
        """Return the title of results on data of these configurations; "" for the suite's.

        >>> data = KnownData(titles={"blimp": "BLiMP"})
        >>> data.title_of(["blimp"]), data.title_of(["blimp", "mine"])
        ('BLiMP', '')
        """
        titles = {self.titles.get(str(config), "") for config in configs}
        return titles.pop() if len(titles) == 1 else ""

    def hub_dataset(self, row: Mapping[str, Scalar], organization: str | None) -> str:
        """Return the id on the Hub of the data that a row of results is about, for entries of a model's card.

        Where it is known which version the scores are of, `@` and its commit follow.

        Args:
            row: of `results.json`.
            organization: the organization that hosts the released data sets, or None.

        Raises:
            ValueError: the data is the user's own, or no organization was given.
        """
        return self.hub_id or released_dataset(row, self.released.values(), organization)

    def released_data(self, signature: Signature) -> ReleasedData | None:
        """Return the released data set whose content was scored; None for any other.

        Args:
            signature: of one model, from `results.json`.
        """
        return self.released.get(str(signature.get("dataset_fingerprint")))


class UnknownHostError(ValueError):
    """Nobody was named who hosts the shipped data sets on the Hub."""


def released_dataset(
    row: Mapping[str, Scalar], released: Collection[ReleasedData], organization: str | None
) -> str:
    """Return the id on the Hub of a released data set.

    Args:
        row: of `results.json`.
        released: released data sets. The user's own file may have been run in place of one.
        organization: who hosts the released data sets, if anybody was named.

    Raises:
        UnknownHostError: nobody was named.
        ValueError: the data is the user's own.
    """
    dataset, config = row["dataset"], row["config"]
    if (dataset, config) not in {(release.dataset, release.config) for release in released}:
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
