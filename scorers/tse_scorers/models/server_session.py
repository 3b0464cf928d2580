"""The HTTP session with a server of models: its key, how long it is waited for, and how much it may answer."""

import os
import warnings
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from requests import PreparedRequest, Response, Session
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase
from urllib3.util.retry import Retry

from ..io import limits

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
    session.headers["Accept-Encoding"] = "identity"  # a few packed bytes can become gigabytes
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
        asked = urlsplit(url)
        known = [urlsplit(host if "://" in host else f"//{host}") for host in map(str.strip, hosts) if host]
        return any(
            asked.hostname == host.hostname
            and host.scheme in ("", asked.scheme)
            and (host.port or asked.port) == asked.port
            for host in known
        )
    except ValueError:  # no address
        return False


def listed_hosts() -> list[str]:
    """Return the hosts of the environment variable `TSE_API_HOSTS`."""
    return [host for host in os.environ.get(HOSTS, "").split(",") if host.strip()]


def read_answer(response: Response, largest: int) -> bytes:
    """Return the body of an answer that was asked for with `stream=True`.

    Raises:
        ValueError: it is longer than `largest`, or packed.
    """
    packed = response.headers.get("Content-Encoding", "identity")
    if packed != "identity":
        raise ValueError(f"it is packed ({packed[:40]}), although it was asked for as it is")
    body = b""
    while part := response.raw.read(2**16, decode_content=False):
        body += part
        if len(body) > largest:
            raise ValueError(f"it has more than {limits.shown_bytes(largest)}")
    return body


def within(seconds: float, call: Callable[[], Any]) -> Any:
    """Call a function and return its result, however slowly the bytes come that it waits for.

    Raises:
        TimeoutError: it takes longer; it is left alone in its thread.
    """
    ended: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def work() -> None:
        try:
            ended.put((call(), None))
        except BaseException as error:
            ended.put((None, error))

    Thread(target=work, daemon=True).start()  # not one of a pool: these are waited for when the program ends
    try:
        found, error = ended.get(timeout=seconds)
    except Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    return found


class _BoundedRetry(Retry):
    """Waits for as long as the server asks for, within a limit, and does not read what a busy server says."""

    def increment(self, *args: Any, **kwargs: Any) -> Retry:
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
