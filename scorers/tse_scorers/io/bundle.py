"""Data sets, metrics and models: what is shipped with the package, without a network, and what is on the Hub.

In a checkout, what is shipped are the repository's own folders `datasets/` and `metrics/`; in a wheel it is in
`tse_scorers/_bundle/`. Names with a slash (`org/name`, `org/name@revision`) are on the Hub.
"""

import functools
import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    import datasets
    import evaluate

_PACKAGE = Path(__file__).resolve().parent.parent
Kind = Literal["datasets", "metrics", "models"]
DEFAULT_MODELS = ("tiny-masked", "tiny-causal")
"""Shipped models that are run where no model is named."""


def bundle_folder(kind: Kind | Literal["push_scripts"]) -> Path:
    """Return the folder that holds every shipped data set, metric or model, or the scripts that build data sets."""
    if kind == "models":
        return _PACKAGE / "bundled_models"
    in_wheel = _PACKAGE / "_bundle" / kind
    return in_wheel if in_wheel.is_dir() else _PACKAGE.parent.parent / kind


def bundle_path(kind: Kind, name: str) -> Path:
    """Return the folder of one shipped data set, metric or model; ValueError names those that there are."""
    shipped = {path.name: path for path in sorted(bundle_folder(kind).glob("*")) if path.is_dir()}
    if name not in shipped:
        raise ValueError(
            f"No {kind.removesuffix('s')} named {name!r} is shipped with refined-tse. Expected one of: "
            f"{', '.join(shipped)}. For one on the Hub write 'organisation/name' or 'organisation/name@revision'."
        )
    return shipped[name]


def bundled(dataset: str) -> str:
    """Return the folder of a shipped data set: `load_dataset(bundled("agreement_templates"), "marvin_linzen")`.

    Raises:
        ValueError: there is no such data set.
    """
    return str(bundle_path("datasets", dataset))


@functools.cache
def metric_modules(metric: str) -> ModuleType:
    """Import a shipped metric's definitions: `metric_modules("refined_tse").definitions`.

    It does not import the metric's own script, which needs `evaluate` and takes seconds.
    """
    folder = bundle_path("metrics", metric)
    package = ModuleType(f"{__package__}._metrics_{metric}", f"The definitions in {folder}.")
    package.__path__ = [str(folder)]
    sys.modules[package.__name__] = package
    package.definitions = importlib.import_module(f"{package.__name__}.definitions")  # type: ignore[attr-defined]
    return package


def load_metric(name: str) -> "evaluate.EvaluationModule":
    """Load a metric like `evaluate`: a shipped metric by its name, a metric on the Hub by `org/name[@revision]`.

    Args:
        name: `refined_tse`, `minimal_pair_accuracy`, `minimal_variation_auc`, `human_correlation`, or one on the Hub.

    Returns:
        An `evaluate.Metric`; its `inputs_description` and card describe the arguments and result of `compute`.

    Raises:
        ValueError: the metric is not shipped, or the Hub does not have it at that revision.
    """
    import evaluate

    if "/" not in name:
        return evaluate.load(str(bundle_path("metrics", name)))
    # Not by its Hub id: evaluate may use the newest version in its cache instead of the requested one.
    return evaluate.load(str(snapshot(name, "space") / f"{split_revision(name)[0].split('/')[1]}.py"))


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
    import datasets  # takes a second, and not every command loads data

    if "/" not in name:
        return datasets.Dataset(shipped_table(name, config, split))
    # Not by its Hub id: offline, `datasets` may use the newest cached version instead of the requested one.
    folder = snapshot(name, "dataset")
    try:
        loaded = datasets.load_dataset(str(folder), config)
    except (OSError, RuntimeError, ValueError, datasets.exceptions.DatasetsError) as error:
        raise _not_from_hub(name, error) from error
    return loaded[_only("split", list(loaded), name, split)]


def shipped_table(name: str, config: str | None = None, split: str | None = None) -> pa.Table:
    """Read one split of a shipped data set, see `load_data`."""
    files = sorted(bundle_path("datasets", name).glob("*/*.parquet"))
    if not files:
        raise ValueError(
            f"The data set {name!r} is not bundled for licensing reasons. `tse fetch` downloads and builds it; "
            f"in a checkout of the source code, so does `python push_scripts/build.py {name} --source DIR`."
        )
    config = _only("configuration", [file.parent.name for file in files], name, config)
    there = {file.stem: file for file in files if file.parent.name == config}
    return pq.read_table(there[_only("split", list(there), f"{name}/{config}", split)])


def _only(kind: str, choices: list[str], owner: str, chosen: str | None) -> str:
    choices = list(dict.fromkeys(choices))
    if chosen is None and len(choices) == 1:
        return choices[0]
    if chosen in choices:
        return str(chosen)
    found = f"has several {kind}s" if chosen is None else f"has no {kind} {chosen!r}"
    raise ValueError(f"{owner!r} {found}; choose one of: {', '.join(choices)}.")


# The Hub


def split_revision(name: str) -> tuple[str, str | None]:
    """Split `id@revision`; the revision is None if it is missing.

    >>> split_revision("org/name@v1"), split_revision("org/name")
    (('org/name', 'v1'), ('org/name', None))
    """
    identifier, _, revision = name.partition("@")
    return identifier, revision or None


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

    (identifier, revision), reason = split_revision(name), unreachable()
    try:
        folder = snapshot_download(
            identifier, repo_type=kind, revision=revision, allow_patterns=files, local_files_only=bool(reason)
        )
    except (OSError, ValueError) as error:  # HfHubHTTPError, names that none can have, errors of the cache
        raise _not_from_hub(name, f"{reason}, and it is not in the cache" if reason else error) from error
    return Path(folder)


def _not_from_hub(name: str, error: object) -> ValueError:
    return ValueError(
        f"{name!r} could not be loaded from the Hub: {' '.join(str(error).split()).rstrip('.')}. Check the name, the "
        "revision and the connection; offline, only what was downloaded before can be loaded. What refined-tse ships "
        "loads by its bare name."
    )


def unreachable() -> str:
    """Return why the Hub does not answer anything within 5 seconds, or ""; the libraries retry for up to 300."""
    from huggingface_hub import constants, get_session

    try:
        session: Any = get_session()
        session.head(constants.ENDPOINT, timeout=5)
    # The HTTP libraries of huggingface_hub and their errors change; offline mode is one.
    except Exception as error:
        return f"the Hub does not answer ({' '.join(str(error).split()) or type(error).__name__})"
    return ""


def require_reachable() -> None:
    """Raise ConnectionError if the Hub does not answer, for what no cache can have."""
    if reason := unreachable():
        raise ConnectionError(reason)
