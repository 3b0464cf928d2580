"""The versions and the machine that a result is made with."""

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from .. import __version__


@cache
def environment() -> dict[str, str | None]:
    """Return the versions and the machine that a result was made with; None for a package that is not installed."""
    import torch

    found: dict[str, str | None] = {
        "python": platform.python_version(),
        "platform": platform.system(),
        "device": torch.cuda.get_device_name()
        if torch.cuda.is_available()
        else platform.processor() or platform.machine(),
        "refined-tse": __version__,
    }
    for package in ("torch", "transformers", "tokenizers", "datasets", "evaluate", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found
