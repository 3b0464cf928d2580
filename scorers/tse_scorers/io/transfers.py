"""What servers send, within a size and a time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

from . import limits

if TYPE_CHECKING:
    from requests import Response

Result = TypeVar("Result")


@dataclass(frozen=True)
class _Failed:
    error: BaseException


def within(seconds: float, call: Callable[[], Result]) -> Result:
    """Call a function and return its result, however slowly the bytes come that it waits for.

    Raises:
        TimeoutError: it takes longer; it is left alone in its thread.
    """
    ended: SimpleQueue[Result | _Failed] = SimpleQueue()

    def work() -> None:
        try:
            ended.put(call())
        except BaseException as error:
            ended.put(_Failed(error))

    Thread(target=work, daemon=True).start()  # not one of a pool: these are waited for when the program ends
    try:
        result = ended.get(timeout=seconds)
    except Empty:
        raise TimeoutError(f"it was not complete after {seconds:.0f} seconds") from None
    if isinstance(result, _Failed):
        raise result.error
    return result


UNPACKED = {"Accept-Encoding": "identity"}
"""Headers of a request for an answer as it is: a few packed bytes can become gigabytes."""


def received(response: "Response", largest: int) -> Iterator[bytes]:
    """Yield the parts of an answer that was asked for with `stream=True` and the headers `UNPACKED`.

    Raises:
        ValueError: it is longer than `largest`, or packed.
    """
    packed = response.headers.get("Content-Encoding", "identity")
    if packed != "identity":
        raise ValueError(f"it is packed ({packed[:40]}), although it was asked for as it is")
    size = 0
    while part := response.raw.read(2**16, decode_content=False):
        size += len(part)
        if size > largest:
            raise ValueError(f"it has more than {limits.shown_bytes(largest)}")
        yield part


def download(url: str, target: str, _: object = None) -> None:
    """Write a file from a server to `target`, a path, as pooch asks its downloaders to.

    Raises:
        OSError: the server does not answer or refuses, or is not done in time.
        ValueError: the file is too long.
    """
    import requests  # which takes a seventh of the time that a report needs to start

    def write() -> None:
        with requests.get(url, stream=True, timeout=30, headers=UNPACKED) as answer:
            answer.raise_for_status()
            with open(target, "wb") as file:
                for part in received(answer, limits.DOWNLOAD_BYTES):
                    file.write(part)

    within(limits.DOWNLOAD_SECONDS, write)
