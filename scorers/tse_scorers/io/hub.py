"""Limits the time for the Hub: a short test shows whether it answers; if not, only the local cache is used."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

SECONDS = 5.0
"""How long the Hub may take to connect, and then to answer; the libraries retry for 20 to 300 seconds."""


@contextmanager
def reachable_or_cached() -> Iterator[None]:
    """Use the Hub if it answers; if not, make the libraries use only their caches.

    Raises:
        ConnectionError: the Hub does not answer, and the cache does not have it.
    """
    reason = None if _is_offline() else unreachable()
    if reason is None:
        yield
        return
    import datasets.config
    import huggingface_hub.constants

    with ExitStack() as offline:
        for module in (huggingface_hub.constants, datasets.config):
            offline.enter_context(patch.object(module, "HF_HUB_OFFLINE", True))
        try:
            yield
        except OSError as error:
            raise ConnectionError(
                f"the Hub does not answer ({reason}), and it is not in the cache"
            ) from error


def unreachable() -> str | None:
    """Return why the Hub does not answer, or None if it answers anything."""
    from huggingface_hub import constants, get_session

    try:
        session: Any = get_session()
        session.head(constants.ENDPOINT, timeout=SECONDS)
    except Exception as error:  # the HTTP libraries of huggingface_hub and their errors change
        return " ".join(str(error).split()) or type(error).__name__
    return None


def _is_offline() -> bool:
    from huggingface_hub import constants

    return bool(constants.HF_HUB_OFFLINE)
