"""Models that are looked up before the first one is loaded, so that each is read only once."""

from .from_pretrained import DescribedModel, describe
from .model_source import file_stamp
from .options import ModelOptions


class Descriptions:
    """Configurations and tokenizers of models that will be loaded; each is kept until it is used."""

    def __init__(self) -> None:
        self._kept: dict[tuple[object, ...], tuple[str | None, DescribedModel]] = {}

    def find(self, name: str, options: ModelOptions) -> DescribedModel:
        """Describe a model and keep its description.

        Raises:
            ValueError: see `describe`.
        """
        stamp = file_stamp(name)  # before the files are read
        described = describe(name, options.kind, options.trust_remote_code)
        self._kept[_key(name, options)] = stamp, described
        return described

    def take(self, name: str, options: ModelOptions) -> DescribedModel:
        """Return the description that was kept, and forget it; describe the model if there is none.

        A model in a folder is described again where its files have changed, or may have.

        Raises:
            ValueError: see `describe`.
        """
        stamp, described = self._kept.pop(_key(name, options), (None, None))
        is_pinned = described is not None and described.options["revision"] is not None  # a commit on the Hub
        if described is None or not (is_pinned or (stamp is not None and stamp == file_stamp(name))):
            return describe(name, options.kind, options.trust_remote_code)
        return described


def _key(name: str, options: ModelOptions) -> tuple[object, ...]:
    return name, options.kind, options.trust_remote_code
