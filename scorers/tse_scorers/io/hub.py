"""Limits the time for the Hub: a short test shows whether it answers; if not, only the local cache is used."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SECONDS = 5.0
"""How long the Hub may take to connect, and then to answer; the libraries retry for 20 to 300 seconds."""


@contextmanager
def cached_if_unreachable() -> Iterator[bool]:
    """Yield whether only the local cache may be used, because the Hub does not answer.

    The caller passes it on to the library. The libraries' own switch for working offline is a global variable, which
    would change what other threads do.

    Raises:
        ConnectionError: the Hub does not answer, and the cache does not have it.
    """
    from huggingface_hub import constants

    reason = None if constants.HF_HUB_OFFLINE else unreachable()
    try:
        yield reason is not None
    except OSError as error:
        if reason is None:
            raise
        raise ConnectionError(f"the Hub does not answer ({reason}), and it is not in the cache") from error


def require_reachable() -> None:
    """Raise ConnectionError if the Hub does not answer, for what no cache can have."""
    reason = unreachable()
    if reason is not None:
        raise ConnectionError(f"the Hub does not answer ({reason})")


def unreachable() -> str | None:
    """Return why the Hub does not answer, or None if it answers anything."""
    from huggingface_hub import constants, get_session

    try:
        session: Any = get_session()
        session.head(constants.ENDPOINT, timeout=SECONDS)
    except Exception as error:  # the HTTP libraries of huggingface_hub and their errors change
        return " ".join(str(error).split()) or type(error).__name__
    return None
