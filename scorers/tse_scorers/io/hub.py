"""The Hub within bounded time: a short look whether it answers; where it does not, its cache on this machine alone."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

SECONDS = 5.0
"""How long the Hub may take to connect, and then to answer; the libraries retry for 20 to 300 seconds."""


@contextmanager
def reachable_or_cached() -> Iterator[None]:
    """Ask the Hub as usual if it answers at all; otherwise have the libraries use their caches at once.

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
    """Say why the Hub does not answer; None where it does, whatever it answers."""
    from huggingface_hub import constants, get_session

    try:
        session: Any = get_session()
        session.head(constants.ENDPOINT, timeout=SECONDS)
    except Exception as error:  # the libraries below huggingface_hub change, and their errors with them
        return " ".join(str(error).split()) or type(error).__name__
    return None


def _is_offline() -> bool:
    from huggingface_hub import constants

    return bool(constants.HF_HUB_OFFLINE)
