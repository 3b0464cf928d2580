"""The versions and the machine that a result is made with."""

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from .. import __version__


def environment() -> dict[str, str | None]:
    """Return the versions and the machine that a result was made with."""
    import torch

    device = (
        torch.cuda.get_device_name()
        if torch.cuda.is_available()
        else platform.processor() or platform.machine()
    )
    return {
        "python": platform.python_version(),
        "platform": platform.system(),
        "device": device,
        **_versions(),
    }


@cache
def _versions() -> dict[str, str | None]:
    """Return the versions of packages, which are read from their folders once."""
    versions: dict[str, str | None] = {"refined-tse": __version__}
    for package in ("torch", "transformers", "tokenizers", "datasets", "evaluate", "numpy"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = None
    return versions
