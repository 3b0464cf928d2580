"""The HTTP session with a server of models: its key, and how long a busy server is waited for."""

import os
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from requests import PreparedRequest, Session
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase
from urllib3.util.retry import Retry

from ..io.transfers import UNPACKED

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse  # of urllib3 2; requests also works with version 1

KEY = "TSE_API_KEY"
"""Environment variable with the server's key, if it wants one. It is sent as a header and never written."""
HOSTS = "TSE_API_HOSTS"
"""Environment variable with hosts, separated by commas, that may be asked although only a file names them."""
BUSY = (429, 500, 502, 503, 504)
"""Statuses of a server that may answer later."""
LONGEST_WAIT = 60.0
"""Seconds until a busy server is asked again, even where it asks for more: some ask for hours."""


def make_session(retries: int) -> Session:
    """Return a session that asks a busy server again, after half a second and then twice as long each time."""
    session = Session()
    session.headers.update(UNPACKED)
    retry = _BoundedRetry(
        retries, backoff_factor=0.5, status_forcelist=BUSY, allowed_methods=None, raise_on_status=False
    )
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(max_retries=retry, pool_maxsize=32))
    if key := os.environ.get(KEY):
        session.auth = _Bearer(key)
    return session


def is_host(url: str, hosts: Iterable[str]) -> bool:
    """Return whether an address is at one of some hosts; these may name a port, or a scheme and a port, as well.

    >>> is_host("http://gpu7.lab:8000/v1#m", ["gpu7.lab"]), is_host("http://gpu7.lab:8000/v1", ["gpu7.lab:80"])
    (True, False)
    >>> is_host("http://gpu7.lab/v1", ["https://gpu7.lab"]), is_host("http://a@b/v1", ["a"])
    (False, False)
    """
    try:
        address = urlsplit(url)
        addresses = [
            urlsplit(host if "://" in host else f"//{host}") for host in map(str.strip, hosts) if host
        ]
        return any(
            address.hostname == host.hostname
            and host.scheme in ("", address.scheme)
            and (host.port or address.port) == address.port
            for host in addresses
        )
    except ValueError:  # no address
        return False


def listed_hosts() -> list[str]:
    """Return the hosts of the environment variable `TSE_API_HOSTS`."""
    return [host for host in os.environ.get(HOSTS, "").split(",") if host.strip()]


class _BoundedRetry(Retry):
    """Waits for as long as the server asks for, within a limit, and does not read what a busy server says."""

    def increment(self, *args: Any, **kwargs: Any) -> "_BoundedRetry":
        """Count an attempt, and leave the answer alone that caused it."""
        following = super().increment(*args, **kwargs)
        if (response := kwargs.get("response")) is not None:
            response.close()  # or all of it would be read into memory
        return following

    def get_retry_after(self, response: "BaseHTTPResponse") -> float | None:
        seconds = super().get_retry_after(response)
        if seconds is None or seconds <= LONGEST_WAIT:
            return seconds
        warnings.warn(
            f"The server is busy and asked us to wait {seconds:.0f} seconds. "
            f"Retrying after {LONGEST_WAIT:.0f} seconds.",
            stacklevel=2,
        )
        return LONGEST_WAIT


class _Bearer(AuthBase):
    """Sends a key. As an `auth` and not a header, so that no file of the user's home replaces it."""

    def __init__(self, key: str) -> None:
        self._key = key

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._key}"
        return request
