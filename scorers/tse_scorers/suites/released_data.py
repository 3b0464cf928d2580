"""Whether a whole released data set was scored: a folder's or file's name says nothing about what is in it."""

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from ..io.result_row import Scalar
from ..io.signatures import Signature
from .hub_data import ReleasedData
from .registry import find_suite

if TYPE_CHECKING:
    from .contract import Suite


def knows_data_of(suite: str) -> bool:
    """Whether a suite says which data are released; one of another package may not, or is not installed here."""
    with suppress(ValueError):
        return bool(find_suite(suite).known_data.released)
    return False


def released_lists(suite: "type[Suite]") -> dict[str, str]:
    """Return the fingerprints of the released lemma lists of a suite -> their names."""
    return {
        key: name
        for released in suite.known_data.released.values()
        for key, name in released.lemma_lists.items()
    }


def released_data(signature: Signature, suite: "type[Suite] | None" = None) -> ReleasedData | None:
    """Return the released data set that was scored as a whole, with a released lemma list; None for anything else.

    A run with `--limit`, with some groups, or over changed data has another fingerprint.

    Args:
        signature: of one model on one suite, from `results.json`.
        suite: the suite; by default the one that the signature names.
    """
    suite = suite or _suite(signature)
    released = None if suite is None else suite.known_data.released_data(signature)
    if suite is None or released is None or _count(signature) != released.n:
        return None
    lemmas = signature.get("lemmas_fingerprint")
    return released if lemmas is None or str(lemmas) in released_lists(suite) else None


def lemma_list(signature: Signature) -> str | None:
    """Return the name of the released lemma list that was scored; None for another one, or none."""
    suite = _suite(signature)
    return None if suite is None else released_lists(suite).get(str(signature.get("lemmas_fingerprint")))


def hub_dataset(signature: Signature, row: Mapping[str, Scalar], organization: str | None) -> str:
    """Return the id on the Hub of the data that a row of results is about.

    Released data in a file or folder of another name are known by their content.

    Args:
        signature: of the row.
        row: of `results.json`.
        organization: who hosts the released data sets on the Hub, or None.

    Raises:
        ValueError: as `KnownData.hub_dataset`.
    """
    released = released_data(signature)
    if released is not None and str(row["dataset"]).count("/") != 1:
        row = {**row, "dataset": released.dataset, "config": released.config}
    return find_suite(str(row["suite"])).known_data.hub_dataset(row, organization)


def why_not_released(signature: Signature) -> str:
    """Return what was scored instead of a whole released data set, as a sentence."""
    identity: Mapping[str, object] = signature.get("identity") or {}
    name = f"{identity.get('dataset')} ({identity.get('config')})"
    count, suite = _count(signature), _suite(signature)
    released = None if suite is None else suite.known_data.released_data(signature)
    if released is not None and count == released.n:
        return f"{name} was scored with a lemma list that is neither released nor clean."
    about = str(identity.get("dataset")).rpartition("/")[2], identity.get("config")
    if released is None and suite is not None:
        of_name = (
            data for data in suite.known_data.released.values() if (data.dataset, data.config) == about
        )
        released = next(of_name, None)
    if released is not None and count is not None and count != released.n:
        return f"{name}: {count:,} {released.items} were scored; the released data set has {released.n:,}."
    items = "An unknown number of items" if count is None else f"{count:,} items"
    return f"{name}: {items} of your own data were scored, or of data that differ from the released ones."


def _suite(signature: Signature) -> "type[Suite] | None":
    """Return the suite that made the scores; None where it is not installed here."""
    with suppress(ValueError):
        identity: Mapping[str, object] = signature.get("identity") or {}
        return find_suite(str(identity.get("suite")))
    return None


def _count(signature: Signature) -> int | None:
    keys: Mapping[str, object] = signature  # suites add keys of their own
    count = next((keys[key] for key in ("n_pairs", "n_sentences", "n_items") if key in keys), None)
    return count if isinstance(count, int) and not isinstance(count, bool) else None
