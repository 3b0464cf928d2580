"""`tse install-metrics`: `evaluate.load("refined_tse")` by the bare name, without a network.

`evaluate` looks for a bare name on the Hub. If the Hub cannot be reached or has no such metric, it takes the newest
copy in its cache of modules. The shipped metrics are put there, with the function that `evaluate` itself uses:

    HF_MODULES_CACHE/evaluate_modules/metrics/evaluate-metric--NAME/HASH OF THE CODE/NAME.py and its siblings

Nothing else is written except empty `__init__.py` files in the folders above. With a network, a metric of that name on
the Hub still comes first.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .io.bundle import bundle_folder

NAMESPACE = "evaluate-metric"
MARK = "installed-by-refined-tse"
"""An empty file in each folder that `install` made, so that only those are removed."""


@dataclass(frozen=True)
class Module:
    """A shipped metric as a module in evaluate's cache.

    Attributes:
        script: its shipped script.
        siblings: name -> file of each module in its folder that the script imports.
        folder: the place of this version of its code in the cache.
    """

    script: Path
    siblings: dict[str, Path]
    folder: Path

    @property
    def is_there(self) -> bool:
        """Whether the cache has all of its files."""
        names = [self.script.stem, *self.siblings]
        return all((self.folder / f"{name}.py").is_file() for name in names)


def shipped_modules() -> list[Module]:
    """Return every shipped metric with its place in evaluate's cache; writes nothing."""
    from evaluate.loading import files_to_hash, get_imports

    modules = []
    for folder in sorted(path for path in bundle_folder("metrics").iterdir() if path.is_dir()):
        script = folder / f"{folder.name}.py"
        names = [name for kind, name, *_ in get_imports(str(script)) if kind == "internal"]
        siblings = {name: folder / f"{name}.py" for name in names}
        code = files_to_hash([str(path) for path in (script, *siblings.values())])
        modules.append(Module(script, siblings, _cache() / f"{NAMESPACE}--{folder.name}" / code))
    return modules


def install(module: Module) -> None:
    """Copy a metric into evaluate's cache, as its newest version.

    Raises:
        ValueError: the cache cannot be written.
    """
    from datasets import DownloadMode
    from evaluate.loading import _create_importable_file, init_dynamic_modules

    name = module.script.stem
    is_new = not module.folder.exists()
    try:
        _create_importable_file(
            local_path=str(module.script),
            local_imports=[(sibling, str(path)) for sibling, path in module.siblings.items()],
            additional_files=[],
            dynamic_modules_path=init_dynamic_modules(),
            module_namespace="metrics",
            name=f"{NAMESPACE}/{name}",
            download_mode=DownloadMode.REUSE_DATASET_IF_EXISTS,
        )
        if is_new:
            (module.folder / MARK).touch()
        (module.folder / f"{name}.py").touch()  # evaluate takes the newest of several versions
    except OSError as error:
        raise ValueError(
            f"{module.folder} could not be written: {error.strerror or error}. Set HF_MODULES_CACHE to a "
            "folder that can be written, here and where the metrics are loaded, or load them with "
            "tse_scorers.load_metric, which needs no cache."
        ) from error


def installed() -> Iterator[Path]:
    """Yield the folders that `install` made, of this version and of others."""
    yield from sorted(mark.parent for mark in _cache().glob(f"{NAMESPACE}--*/*/{MARK}"))


def remove(folder: Path) -> None:
    """Remove a folder that `installed` yields, and the folders above it that become empty."""
    shutil.rmtree(folder)
    above = folder.parent
    if all(path.name in ("__init__.py", "__pycache__") for path in above.iterdir()):
        shutil.rmtree(above)
        above.with_name(above.name + ".lock").unlink(missing_ok=True)


def _cache() -> Path:
    from evaluate import config

    return Path(config.HF_MODULES_CACHE, config.MODULE_NAME_FOR_DYNAMIC_MODULES, "metrics")
