"""Deadlines for requests to the Hub: its client waits without end for a server that accepts and never answers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

RIGHTS = 10.0
"""Seconds to wait for the answer who a token belongs to."""
TRANSFER = 60.0
"""Seconds to wait for each answer while files are compared and sent."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Let each request of the Hub's client fail that gets no answer within some seconds.

    Args:
        seconds: for connecting, and for each pause in sending or receiving; a long upload that goes on is not cut.
    """
    from huggingface_hub import get_session

    client: Any = get_session()
    before = getattr(client, "timeout", None)
    client.timeout = seconds
    try:
        yield
    finally:
        client.timeout = before
