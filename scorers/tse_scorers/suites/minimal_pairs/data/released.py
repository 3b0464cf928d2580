"""BLiMP and the registered sets: known by their content, or by where they are from."""

from collections.abc import Mapping

from ....io.result_row import Scalar
from ....io.signatures import Signature
from ...hub_data import KnownData, ReleasedData, released_dataset
from ..registry import hub_dataset_of
from .tables import HUB_DATASET, HUB_REVISION

BLIMP = "blimp"
"""BLiMP, as `data`, as a configuration in results, and as the data set of a local copy there."""
WHOLE_SET = "n_pairs_of_set"
"""Key of the signature of whole registered sets: how many pairs they have."""
_WHOLE_BLIMP = ReleasedData(BLIMP, BLIMP, 67_000)


class MinimalPairSets(KnownData):
    """BLiMP, and sets that are known by their checksums when they are loaded."""

    def hub_dataset(self, row: Mapping[str, Scalar], organization: str | None) -> str:
        """Return the id on the Hub of BLiMP, or of a registered set."""
        if row["dataset"] == HUB_DATASET:  # that is always one commit, and no folder gets this name
            return f"{HUB_DATASET}@{HUB_REVISION}"
        if row["dataset"] == BLIMP:
            return HUB_DATASET
        if (hub_id := hub_dataset_of(str(row["dataset"]))) is not None:
            return hub_id
        return released_dataset(row, (), organization)

    def released_data(self, signature: Signature) -> ReleasedData | None:
        """Return BLiMP or the registered set that was scored, known by its content or by where it is from."""
        if (of_content := super().released_data(signature)) is not None:
            return of_content
        identity: Mapping[str, object] = signature.get("identity") or {}
        dataset, config = str(identity.get("dataset")), str(identity.get("config"))
        keys: Mapping[str, object] = signature
        if (dataset, config) == (HUB_DATASET, BLIMP) and keys.get("n_paradigms") == 67:
            return _WHOLE_BLIMP  # what the suite downloads is always one commit, and no folder gets this name
        n_whole = keys.get(WHOLE_SET)
        if not isinstance(n_whole, int):
            return None
        # The checksums of the registered set's files were right.
        return ReleasedData(dataset, config, n_whole, on_hub=hub_dataset_of(dataset) is not None)


KNOWN_DATA = MinimalPairSets(
    released={
        "380d77defd3b1864": _WHOLE_BLIMP,  # the files of the paper's repository
        "e8ef8c46c913f9e6": _WHOLE_BLIMP,  # the copy on the Hub, with the words of the release
    },
    config_names={BLIMP: "BLiMP"},
    titles={BLIMP: "BLiMP"},
)
