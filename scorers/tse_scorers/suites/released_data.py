"""Whether a whole released data set was scored: a folder's or file's name says nothing about what is in it."""

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .hub_data import ReleasedData
from .registry import find_suite

if TYPE_CHECKING:
    from .contract import Suite


def knows_data_of(suite: str) -> bool:
    """Whether a suite says which data are released; one of another package may not, or is not installed here."""
    with suppress(ValueError):
        return bool(find_suite(suite).released)
    return False


def released_data(signature: Mapping[str, Any], suite: "type[Suite] | None" = None) -> ReleasedData | None:
    """Return the released data set that was scored as a whole, with a released lemma list; None for anything else.

    A run with `--limit`, with some groups, or over changed data has another fingerprint.

    Args:
        signature: of one model on one suite, from `results.json`.
        suite: the suite; by default the one that the signature names.
    """
    suite = suite or _suite(signature)
    found = None if suite is None else suite.released_data(signature)
    if suite is None or found is None or "shard" in signature or _count(signature) != found.n:
        return None
    lemmas = signature.get("lemmas_fingerprint")
    return found if lemmas is None or str(lemmas) in suite.lemma_lists else None


def lemma_list(signature: Mapping[str, Any]) -> str | None:
    """Return the name of the released lemma list that was scored; None for another one, or none."""
    suite = _suite(signature)
    return None if suite is None else suite.lemma_lists.get(str(signature.get("lemmas_fingerprint")))


def hub_dataset(signature: Mapping[str, Any], row: Mapping[str, Any], organization: str | None) -> str:
    """Return the id on the Hub of the data that a row of results is about.

    Released data in a file or folder of another name are known by their content.

    Args:
        signature: of the row.
        row: of `results.json`.
        organization: who hosts the released data sets on the Hub, or None.

    Raises:
        ValueError: as `Suite.hub_dataset`.
    """
    known = released_data(signature)
    if known is not None and str(row["dataset"]).count("/") != 1:
        row = {**row, "dataset": known.dataset, "config": known.config}
    return find_suite(row["suite"]).hub_dataset(row, organization)


def why_not_released(signature: Mapping[str, Any]) -> str:
    """Return what was scored instead of a whole released data set, as a sentence."""
    identity = signature.get("identity") or {}
    name = f"{identity.get('dataset')} ({identity.get('config')})"
    count, suite = _count(signature), _suite(signature)
    found = None if suite is None else suite.released_data(signature)
    if found is not None and count == found.n:
        return f"{name} was scored with a lemma list that is neither released nor clean."
    about = str(identity.get("dataset")).rpartition("/")[2], identity.get("config")
    named = () if suite is None else suite.released.values()
    found = found or next((each for each in named if (each.dataset, each.config) == about), None)
    if found is not None and count is not None and count != found.n:
        return f"{name}: {count:,} {found.items} were scored; the released data set has {found.n:,}."
    items = "An unknown number of items" if count is None else f"{count:,} items"
    return f"{name}: {items} of your own data were scored, or of data that differ from the released ones."


def _suite(signature: Mapping[str, Any]) -> "type[Suite] | None":
    """Return the suite that made the scores; None where it is not installed here."""
    with suppress(ValueError):
        return find_suite(str((signature.get("identity") or {}).get("suite")))
    return None


def _count(signature: Mapping[str, Any]) -> int | None:
    count = next((signature[key] for key in ("n_pairs", "n_sentences", "n_items") if key in signature), None)
    return count if isinstance(count, int) and not isinstance(count, bool) else None
