"""Finds the data sets, metrics and models that are shipped with the package, without a network.

In a checkout they are the repository's own folders `datasets/` and `metrics/`; in a wheel they are in
`tse_scorers/_bundle/`. Names with a slash (`org/name`, `org/name@revision`) are on the Hub.
"""

import atexit
import functools
import importlib
import re
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from .hub import cached_if_unreachable

if TYPE_CHECKING:
    import datasets
    import evaluate

_PACKAGE = Path(__file__).resolve().parent.parent
_CHECKOUT = _PACKAGE.parent.parent

Kind = Literal["datasets", "metrics", "models"]
DEFAULT_MODELS = ("tiny-masked", "tiny-causal")
"""Shipped models that are run where no model is named."""


def bundle_folder(kind: Kind) -> Path:
    """Return the folder that holds every shipped data set, metric or model."""
    if kind == "models":
        return _PACKAGE / "bundled_models"
    in_wheel = _PACKAGE / "_bundle" / kind
    return in_wheel if in_wheel.is_dir() else _CHECKOUT / kind


def builders_folder() -> Path:
    """Return the folder with the scripts that build data sets: `push_scripts/`, or its copy in the wheel."""
    in_wheel = _PACKAGE / "_bundle" / "push_scripts"
    return in_wheel if in_wheel.is_dir() else _CHECKOUT / "push_scripts"


def bundle_path(kind: Kind, name: str) -> Path:
    """Return the folder of one shipped data set, metric or model.

    Raises:
        ValueError: the name is not shipped; the message lists the shipped names.
    """
    folder = bundle_folder(kind)
    shipped = sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    if name not in shipped:
        raise ValueError(
            f"No {kind.removesuffix('s')} named {name!r} is shipped with refined-tse. Expected one of: "
            f"{', '.join(shipped) or 'none'}. For one on the Hub write 'organisation/name' or "
            "'organisation/name@revision'."
        )
    return folder / name


@functools.cache
def metric_modules(metric: str) -> ModuleType:
    """Import the modules with a shipped metric's definitions, as attributes of one module.

    `metric_modules("refined_tse").definitions` is `metrics/refined_tse/definitions.py`. It does not copy files or use
    a cache. It does not import the metric's own script, which needs `evaluate` and takes seconds.
    """
    folder = bundle_path("metrics", metric)
    package = ModuleType(f"{__package__}._metrics_{metric}", f"The definitions in {folder}.")
    package.__path__ = [str(folder)]
    sys.modules[package.__name__] = package
    for name in sorted({path.stem for path in folder.glob("*.py")} - {metric}):
        setattr(package, name, importlib.import_module(f"{package.__name__}.{name}"))
    return package


def split_revision(name: str) -> tuple[str, str | None]:
    """Split `id@revision`; the revision is None if it is missing.

    >>> split_revision("org/name@v1"), split_revision("org/name")
    (('org/name', 'v1'), ('org/name', None))
    """
    identifier, _, revision = name.partition("@")
    return identifier, revision or None


def load_metric(name: str) -> "evaluate.EvaluationModule":
    """Load a metric like `evaluate`: a shipped metric by its name, a metric on the Hub by `org/name[@revision]`.

    Args:
        name: `refined_tse`, `minimal_pair_accuracy`, `minimal_variation_auc`, `human_correlation`, or one on the Hub.

    Returns:
        An `evaluate.Metric`; its `inputs_description` and card describe the arguments and result of `compute`.

    Raises:
        ValueError: the metric is not shipped, or the Hub does not have it at that revision.
    """
    if "/" not in name:
        return _load_metric(bundle_path("metrics", name))
    # Not by its Hub id: evaluate may use the newest version in its cache instead of the requested one.
    return _load_metric(snapshot(name, "space") / f"{split_revision(name)[0].split('/')[1]}.py")


def _load_metric(script: Path) -> "evaluate.EvaluationModule":
    """Load a metric's script (or folder); `evaluate` copies it into its cache, or into ours if that is read-only."""
    import evaluate
    from evaluate.loading import evaluation_module_factory, import_main_class, init_dynamic_modules

    try:
        return evaluate.load(str(script))
    except OSError:  # its cache is read-only, or the script does not exist
        folder = _temporary_folder()
    try:
        modules = init_dynamic_modules("refined_tse_metrics", folder)
        module = evaluation_module_factory(str(script), dynamic_modules_path=modules)
        return import_main_class(module.module_path)(hash=module.hash, cache_dir=folder)
    except OSError as error:
        raise ValueError(
            f"The metric {script} could not be loaded: {error}. Check that it exists, and that HF_HOME names a folder "
            "that can be written."
        ) from error


@functools.cache
def _temporary_folder() -> str:
    """Return a folder that is removed when this process ends."""
    folder = tempfile.mkdtemp(prefix="refined-tse-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def snapshot(name: str, kind: Literal["space", "dataset"], files: str | list[str] = "*") -> Path:
    """Return the folder with exactly the requested version of a Hub repository, from the cache if possible.

    Args:
        name: `org/name`, `org/name@revision`.
        kind: the kind of repository.
        files: patterns of the required files; the folder may contain others.

    Raises:
        ValueError: the Hub (offline: the cache) does not have it; the message says what to do.
    """
    from huggingface_hub import snapshot_download

    identifier, revision = split_revision(name)
    try:
        with cached_if_unreachable() as only_cache:
            folder = snapshot_download(
                identifier,
                repo_type=kind,
                revision=revision,
                allow_patterns=files,
                local_files_only=only_cache,
            )
            return Path(folder)
    except OSError as error:  # includes HfHubHTTPError and errors of the cache
        raise _not_from_hub(name, error) from error


def load_data(name: str, config: str | None = None, split: str | None = None) -> "datasets.Dataset":
    """Load a data set: a shipped one by its name, one on the Hub by `org/name[@revision]`.

    Args:
        name: data set, for instance `agreement_templates`.
        config: its configuration; optional if there is only one.
        split: its split; optional if there is only one.

    Returns:
        One `datasets.Dataset`.

    Raises:
        ValueError: the data set, configuration or split does not exist; the message lists those that do.
    """
    if not isinstance(name, str):
        raise TypeError(f"Got the data set {name!r:.80} ({type(name).__name__}); expected its name, a text.")
    if "/" in name:
        if not re.fullmatch(r"[\w.-]+/[\w.-]+(@.+)?", name):
            raise ValueError(
                f"Got the data set {name!r}; expected 'organisation/name' or 'organisation/name@revision' for one on "
                "the Hub, a shipped one by its name, or the path of a file."
            )
        loaded = _data_from_hub(name, config)
        return loaded[_only("split", list(loaded), name, split)]
    import datasets  # takes a second, and not every command loads data

    return datasets.Dataset(shipped_table(name, config, split))


def shipped_table(name: str, config: str | None = None, split: str | None = None) -> pa.Table:
    """Read one split of a shipped data set, see `load_data`.

    Raises:
        ValueError: the data set, configuration or split does not exist; the message lists those that do.
    """
    folder = bundle_path("datasets", name)
    configs = sorted({path.parent.name for path in folder.glob("*/*.parquet")})
    if not configs:
        raise ValueError(
            f"The data set {name!r} is not bundled for licensing reasons. `tse fetch` downloads and builds it; "
            "in a checkout of the source code, so does "
            f"`python push_scripts/build_datasets.py {name} --source DIR`."
        )
    config = _only("configuration", configs, name, config)
    splits = sorted(path.stem for path in (folder / config).glob("*.parquet"))
    split = _only("split", splits, f"{name}/{config}", split)
    return pq.read_table(folder / config / f"{split}.parquet")


def _data_from_hub(name: str, config: str | None) -> "datasets.DatasetDict":
    import datasets

    identifier, revision = split_revision(name)
    commit = snapshot(name, "dataset", "README.md").name if revision else None
    # datasets 3 asks whether to run a repository's script; later versions never run scripts.
    no_code = {"trust_remote_code": False} if int(version("datasets").split(".")[0]) < 4 else {}
    # Offline, datasets may use the newest cached version instead of the requested one, so each has its own cache.
    cache = commit and str(Path(datasets.config.HF_DATASETS_CACHE) / "refined-tse" / commit)
    try:
        with cached_if_unreachable() as only_cache:
            builder = (
                _cached_builder(identifier, config, cache)
                if only_cache
                else datasets.load_dataset_builder(
                    identifier, config, revision=commit, cache_dir=cache, **no_code
                )
            )
            builder.download_and_prepare()
    except (OSError, RuntimeError) as error:  # RuntimeError: the data set is a script, which is not run
        raise _not_from_hub(name, error) from error
    return builder.as_dataset()


def _cached_builder(identifier: str, config: str | None, cache: str | None) -> "datasets.DatasetBuilder":
    """Return what `datasets` uses where it is offline: the newest copy in its cache.

    Raises:
        FileNotFoundError: the cache does not have it, or has several configurations.
    """
    from datasets.packaged_modules.cache.cache import Cache

    try:
        return Cache(
            cache_dir=cache,
            repo_id=identifier,
            dataset_name=identifier.split("/")[-1],
            config_name=config,
            version="auto",
            hash="auto",
        )
    except ValueError as error:
        raise FileNotFoundError(str(error)) from error


def _not_from_hub(name: str, error: Exception) -> ValueError:
    return ValueError(
        f"{name!r} could not be loaded from the Hub: {' '.join(str(error).split()).rstrip('.')}. Check the name, the "
        "revision and the connection; offline, only what was downloaded before can be loaded. What refined-tse ships "
        "loads by its bare name."
    )


def _only(kind: str, choices: list[str], owner: str, chosen: str | None = None) -> str:
    if chosen is None and len(choices) == 1:
        return choices[0]
    if chosen is None:
        raise ValueError(f"{owner!r} has several {kind}s; choose one of: {', '.join(choices)}.")
    if chosen not in choices:
        raise ValueError(f"{owner!r} has no {kind} {chosen!r}; choose one of: {', '.join(choices)}.")
    return str(chosen)
