"""Tables of scores per item in output folders, and the systems that they belong to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from ..io.records import SINGLE, Record, StoredTable


@dataclass(frozen=True)
class ScoreFile:
    """One table of scores per item, and what it belongs to.

    Attributes:
        record: the scores of one model on one suite and data.
        table: which of its tables this is, for instance `contexts`.
        system: the model's label.
        own_columns: columns of the user's own table that are read with the known ones.
    """

    record: Record
    table: str
    system: str
    own_columns: tuple[str, ...] = ()

    @property
    def suite(self) -> str:
        """Return the name of the suite."""
        return str(self.record.identity["suite"])

    @property
    def config(self) -> str | None:
        """Return the configuration of the data."""
        return self.record.identity.get("config")

    @property
    def kind(self) -> str | None:
        """Return which of a suite's tables it is; None where there is only one."""
        return None if self.table == SINGLE else self.table

    @property
    def signature(self) -> Mapping[str, Any]:
        """Return what decided the scores."""
        return self.record.signature

    @property
    def path(self) -> Path:
        """Return the file."""
        return self._stored.path

    @property
    def _stored(self) -> StoredTable:
        return self.record.tables[self.table]

    def sibling(self, table: str) -> "ScoreFile | None":
        """Return another table of the same run, None where there is none."""
        return replace(self, table=table) if table in self.record.tables else None

    def columns(self) -> list[str]:
        """Return the names of the columns."""
        return list(self._stored.digests)

    def read_known(self, columns: Sequence[str]) -> pd.DataFrame:
        """Read those of the named columns that are there, and the user's own of `own_columns`."""
        wanted = dict.fromkeys([*columns, *self.own_columns])
        return self.read([column for column in wanted if column in self._stored.digests])

    def read(self, columns: Sequence[str]) -> pd.DataFrame:
        """Read the named columns; a ValueError names those that are missing, and a damaged file."""
        return self._stored.read(list(columns)).to_pandas()

    def read_table(self) -> pa.Table:
        """Read all columns; a ValueError names a damaged file."""
        return self._stored.read()
