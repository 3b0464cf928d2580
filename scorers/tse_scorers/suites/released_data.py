"""Data sets that were released, known by their content: a folder's or file's name says nothing about what is in it."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .minimal_pairs.data.contexts import AFTER
from .minimal_pairs.data.tables import HUB_DATASET
from .minimal_pairs.registry import hub_dataset_of
from .minimal_pairs.set_pairs import WHOLE_SET
from .registry import find_suite


@dataclass(frozen=True)
class ReleasedData:
    """A whole released data set.

    Attributes:
        dataset: its name in `results.json`.
        config: its configuration.
        n: the number of its items (pairs or sentences).
        items: what they are.
        on_hub: whether the Hub has it, or can have it.
        lemma_lists: the released lists of its language.
    """

    dataset: str
    config: str
    n: int
    items: str = "pairs"
    on_hub: bool = True
    lemma_lists: tuple[str, ...] = ("released", "clean")


RELEASED = {
    "640b89527fdc5cdd": ReleasedData("agreement_templates", "marvin_linzen", 121_220),
    "4d2f2e10a7907178": ReleasedData("agreement_templates", "clams_german", 47_580, lemma_lists=("german",)),
    "777d32836fe71a6c": ReleasedData("agreement_templates", "clams_french", 49_120, lemma_lists=("french",)),
    "8b6d4937abae0a8c": ReleasedData(
        "agreement_templates", "clams_russian", 39_880, lemma_lists=("russian",)
    ),
    "91bed6092c776705": ReleasedData("agreement_templates", "clams_hebrew", 40_640, lemma_lists=("hebrew",)),
    "a78ba12dc9585b20": ReleasedData("blimp_agreement", "newman2021", 4_000),
    "31418b4312a2739e": ReleasedData("blimp_agreement", "blimp", 4_000),
    "380d77defd3b1864": ReleasedData("blimp", "blimp", 67_000),  # the files of the paper's repository
    # The copy on the Hub, with the words of the release.
    "e8ef8c46c913f9e6": ReleasedData("blimp", "blimp", 67_000),
    "149d777c56b5d615": ReleasedData("german_argument_structure", "ours", 7_200, "sentences"),
    "112c39d22f6eca30": ReleasedData("german_argument_structure", "rochereau2020", 7_200, "sentences"),
}
"""`dataset_fingerprint` of a signature -> the data set that has it. A test computes each again from the files."""

LEMMA_LISTS = {
    "1df2ab6af95a7e4f": "released",
    "7998b6ccbae6d201": "clean",
    "fd5601c7bf91d7ec": "german",
    "0cd6ff2173984c12": "french",
    "187cca54fd062b97": "russian",
    "bddb8c6504e2c29c": "hebrew",
}
"""`lemmas_fingerprint` of a signature -> the released lemma list."""


def knows_data_of(suite: str) -> bool:
    """Whether a suite's released data are in these tables; of another package's suite only that package knows them."""
    with suppress(ValueError):  # it is not installed here
        return bool(find_suite(suite).shipped)
    return False


def released_data(signature: Mapping[str, Any]) -> ReleasedData | None:
    """Return the released data set that was scored as a whole, with a released lemma list; None for anything else.

    A run with `--limit`, with some groups, or over changed data has another fingerprint.

    Args:
        signature: of one model on one suite, from `results.json`.
    """
    found = RELEASED.get(str(signature.get("dataset_fingerprint"))) or _downloaded_blimp(signature)
    found = found or _registered_set(signature)
    if found is None or "shard" in signature or _count(signature) != found.n:
        return None
    lemmas = signature.get("lemmas_fingerprint")
    return found if lemmas is None or str(lemmas) in LEMMA_LISTS else None


def hub_dataset(signature: Mapping[str, Any], row: Mapping[str, Any], organization: str | None) -> str:
    """Return the id on the Hub of the data that a row of results is about.

    Released data in a file or folder of another name are known by their content.

    Args:
        signature: of the row.
        row: of `results.json`.
        organization: who hosts the shipped data sets on the Hub, or None.

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
    found = RELEASED.get(str(signature.get("dataset_fingerprint")))
    if found is not None and _count(signature) == found.n:
        return f"{name} was scored with a lemma list that is neither released nor clean."
    count = _count(signature)
    dataset = str(identity.get("dataset")).rpartition("/")[2]
    about = dataset, identity.get("config")
    whole = next((known for known in RELEASED.values() if (known.dataset, known.config) == about), None)
    if whole is not None and count is not None and count != whole.n:
        return f"{name}: {count:,} {whole.items} were scored; the released data set has {whole.n:,}."
    items = "An unknown number of items" if count is None else f"{count:,} items"
    n_whole = signature.get(WHOLE_SET)
    if count is not None and isinstance(n_whole, int):
        return f"{name}: {count:,} pairs were scored; the released data set has {n_whole:,}."
    return f"{name}: {items} of your own data were scored, or of data that differ from the released ones."


def _downloaded_blimp(signature: Mapping[str, Any]) -> ReleasedData | None:
    """Return BLiMP where the suite itself downloaded it: that is always one commit, and no folder gets this name."""
    identity = signature.get("identity") or {}
    config = str(identity.get("config")).removesuffix(AFTER)
    downloaded = (identity.get("dataset"), config) == (HUB_DATASET, "blimp")
    return (
        ReleasedData("blimp", "blimp", 67_000) if downloaded and signature.get("n_paradigms") == 67 else None
    )


def _registered_set(signature: Mapping[str, Any]) -> ReleasedData | None:
    """Return the registered set of minimal pairs that was loaded as a whole, known by the checksums of its files."""
    identity, n_whole = signature.get("identity") or {}, signature.get(WHOLE_SET)
    if not isinstance(n_whole, int):
        return None
    dataset, config = str(identity.get("dataset")), str(identity.get("config")).removesuffix(AFTER)
    return ReleasedData(dataset, config, n_whole, on_hub=hub_dataset_of(dataset) is not None)


def _count(signature: Mapping[str, Any]) -> int | None:
    count = next((signature[key] for key in ("n_pairs", "n_sentences", "n_items") if key in signature), None)
    return count if isinstance(count, int) and not isinstance(count, bool) else None
