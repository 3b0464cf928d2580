"""Where a run keeps its scores, its journals and its locks."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any

from ..io.results import differences, slug
from ..io.score_files import signature_of
from ..suites.base import Suite


@dataclass(frozen=True)
class Places:
    """The places of one suite's run in its output folder.

    A model is known by its signature: the keys `model` and, for one of a series, `series`.

    Args:
        out: the output folder.
        suite: what is asked.
        shard: (number, of), for a run of one share of the data.
    """

    out: Path
    suite: Suite
    shard: tuple[int, int] | None = None

    def scores(self, signature: Mapping[str, Any]) -> dict[str, Path]:
        """Return the file of each table of a model's scores."""
        folder = self.out / "scores"
        return {table: folder / f"{self._name(signature, table)}.parquet" for table in self.suite.tables}

    def replaced(self, signature: Mapping[str, Any], overwrite: bool) -> list[Path]:
        """Return tables of the same model and data that do not belong to the scores with this signature.

        Earlier scores had them: forms that were kept, and what `tse frequency` added. With `overwrite`, also forms that
        were kept of equal scores, since this run does not keep them.
        """
        name = f"{slug(signature.get('series') or signature['model'])}.{self.suite.name}"
        beside = set((self.out / "scores").glob(f"{escape(name)}.*parquet"))
        return [
            path
            for path in beside - set(self.scores(signature).values())
            if _is_replaced(path, signature, overwrite)
        ]

    def journal(self, signature: Mapping[str, Any]) -> Path | None:
        """Return the folder of a model's answers while it runs; None where its weights are only in memory."""
        if not is_known(signature):
            return None
        # Not in a shared folder: that could not be removed safely while another run begins its journal.
        data = slug(f"{self.suite.dataset}.{self.suite.config}")
        return self.out / f".journal.{self._name(signature, data)}"

    def lock(self, signature: Mapping[str, Any]) -> Path:
        """Return the file that lets one process score a model on the data at a time."""
        return self.out / f".{self._name(signature, slug(self.suite.config))}.lock"

    def _name(self, signature: Mapping[str, Any], data: str) -> str:
        parts = [slug(signature.get("series") or signature["model"]), self.suite.name, data]
        if self.shard is not None:
            parts.append(f"shard-{self.shard[0]}-of-{self.shard[1]}")
        return ".".join(part for part in parts if part)


def _is_replaced(path: Path, signature: Mapping[str, Any], overwrite: bool) -> bool:
    with suppress(ValueError):  # damaged: a report says so
        found = signature_of(path)
        is_same_run = all(found.get(key) == signature.get(key) for key in ("identity", "shard", "series"))
        is_of_a_run = "added_by" not in found.get("computed", {})
        return is_same_run and (bool(differences(found, dict(signature))) or (overwrite and is_of_a_run))
    return False


def is_known(signature: Mapping[str, Any]) -> bool:
    """Whether it is certain what the weights are: those that are only in memory may change between runs."""
    return signature.get("revision") is not None
