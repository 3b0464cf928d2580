"""Files of scores per item in output folders, and what they belong to."""

import json
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from ..io.results import read_scores, slug
from ..io.score_files import CHECKSUM_KEY, SIGNATURE_KEY


@dataclass(frozen=True)
class ScoreFile:
    """One file of scores per item, and what it belongs to.

    Attributes:
        path: the file.
        system: the model's label.
        suite: name of the suite.
        config: the configuration as file names hold it; None where the file's name holds none.
        kind: which of a suite's tables it is, for instance `contexts`; None where there is only one.
        own_columns: columns of the user's own table that are read with the known ones.
    """

    path: Path
    system: str
    suite: str
    config: str | None
    kind: str | None
    own_columns: tuple[str, ...] = ()

    def sibling(self, kind: str) -> "ScoreFile | None":
        """Return another table of the same run, None where there is none (not every run writes each table)."""
        path = self.path.with_name(f"{self.path.name.removesuffix(f'{self.kind}.parquet')}{kind}.parquet")
        return replace(self, path=path, kind=kind) if path.is_file() else None

    def columns(self) -> list[str]:
        """Return the names of the columns; none where the file is damaged, which reading the scores says."""
        with suppress(Exception):  # what broken bytes make Arrow raise
            return list(pq.read_schema(self.path).names)
        return []

    def read_known(self, columns: Sequence[str]) -> pd.DataFrame:
        """Read those of the named columns that are there, and the user's own of `own_columns`."""
        there = self.columns() or columns
        wanted = dict.fromkeys([*columns, *self.own_columns])
        return self.read([column for column in wanted if column in there])

    def read(self, columns: Sequence[str]) -> pd.DataFrame:
        """Read the named columns; a ValueError names those that are missing, and a damaged file."""
        return read_scores(self.path, list(columns)).to_pandas()


def score_files(folder: Path, rows: pd.DataFrame) -> list[ScoreFile]:
    """Find the files of scores of the suites that have results: `model.suite[.config][.kind].parquet`.

    A file says itself which suite it belongs to; only where that is damaged does its name tell.
    """
    systems: dict[str, str] = {}
    models = rows[["model", "revision", "system"]].drop_duplicates().itertuples(index=False)
    for model, revision, system in models:
        systems.setdefault(slug(str(model)), str(system))
        systems[slug(f"{model}@{revision}")] = str(system)  # one of a series
    configs = {str(suite): set(of_suite["config"].dropna()) for suite, of_suite in rows.groupby("suite")}
    model_slugs = "|".join(map(re.escape, sorted(systems, key=len, reverse=True)))
    files = []
    for path in sorted(folder.glob("*.parquet")):
        suite, name = _suite_and_name(path)
        suites = "|".join(map(re.escape, configs if suite is None else {suite} & configs.keys()))
        # A model's own name first: a data set may be called like a suite.
        for slugs_of in (model_slugs, ".+"):
            pattern = rf"(?P<slug>{slugs_of})\.(?P<suite>{suites})(\.(?P<table>.+))?\.parquet"
            if suites and (match := re.fullmatch(pattern, name)):
                config, kind = _config_and_kind(match["table"], configs[match["suite"]])
                system = systems.get(match["slug"], match["slug"])
                files.append(ScoreFile(path, system, match["suite"], config, kind))
                break
    return files


def _suite_and_name(path: Path) -> tuple[str | None, str]:
    """Return a file's suite (None where it does not say it) and the name under which it was written."""
    suite, name = None, path.name
    with suppress(Exception):  # what broken bytes make Arrow raise; reading the scores says it
        metadata = pq.read_schema(path).metadata or {}
        suite = json.loads(metadata[SIGNATURE_KEY])["identity"]["suite"]
        name = json.loads(metadata[CHECKSUM_KEY])["file"]
    return suite, name


def _config_and_kind(table: str | None, configs: Collection[str]) -> tuple[str | None, str | None]:
    """Split the name of a table into the configuration, which may hold dots, and the kind of table.

    >>> _config_and_kind("pairs-v1.0.contexts", ["pairs-v1.0"]), _config_and_kind("mine", ["mine"])
    (('pairs-v1.0', 'contexts'), ('mine', None))
    """
    if table is None:
        return None, None
    for config in sorted(map(slug, configs), key=len, reverse=True):
        if table == config or table.startswith(f"{config}."):
            return config, table[len(config) + 1 :] or None
    return table, None
