"""Released templates and lemma lists, known by their content. A test computes each fingerprint again from the files."""

from collections.abc import Mapping

from ....io.bundle import split_revision
from ....io.result_row import Scalar
from ...hub_data import KnownData, ReleasedData, is_hub_id
from ..options import CONFIG_NAMES

_ENGLISH = {"1df2ab6af95a7e4f": "released", "7998b6ccbae6d201": "clean"}
_RELEASED = {
    fingerprint: ReleasedData(dataset, config, n, lemma_lists=lists)
    for fingerprint, dataset, config, n, lists in (
        ("640b89527fdc5cdd", "agreement_templates", "marvin_linzen", 121_220, _ENGLISH),
        ("4d2f2e10a7907178", "agreement_templates", "clams_german", 47_580, {"fd5601c7bf91d7ec": "german"}),
        ("777d32836fe71a6c", "agreement_templates", "clams_french", 49_120, {"0cd6ff2173984c12": "french"}),
        ("8b6d4937abae0a8c", "agreement_templates", "clams_russian", 39_880, {"187cca54fd062b97": "russian"}),
        ("91bed6092c776705", "agreement_templates", "clams_hebrew", 40_640, {"bddb8c6504e2c29c": "hebrew"}),
        ("a78ba12dc9585b20", "blimp_agreement", "newman2021", 4_000, _ENGLISH),
        ("31418b4312a2739e", "blimp_agreement", "blimp", 4_000, _ENGLISH),
    )
}


class Templates(KnownData):
    """The released templates; the user's own may be on the Hub."""

    def hub_dataset(self, row: Mapping[str, Scalar], organization: str | None) -> str:
        """Return the id of the templates on the Hub."""
        dataset = str(row["dataset"])
        if is_hub_id(dataset):
            return split_revision(dataset)[0]
        return super().hub_dataset(row, organization)


TEMPLATES = Templates(released=_RELEASED, config_names=CONFIG_NAMES)
