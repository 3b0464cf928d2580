"""Serves the page and its data, and asks models: to this machine only by default, nothing is fetched from elsewhere."""

import asyncio
import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from .bundle import Bundle
from .export import PAGE
from .questions import Questions

FIRST_PORT, N_PORTS = 7860, 100
LARGEST_QUESTION = 100_000
"""Bytes."""
ANSWERED_AT_ONCE = 4
"""Questions of a kind; others wait without a thread, so that the page has threads for its data."""
_LOCAL = ("127.0.0.1", "localhost", "::1", "[::1]", "[")
"""Names of this machine in a request; older versions of starlette cut an IPv6 address to its first character."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def app(folders: Sequence[Path | str], models: Sequence[str] | None = None) -> Starlette:
    """Build the page for some output folders of `tse run`.

    Args:
        folders: result folders; one that cannot be read is named on the page. Without any, sentences can still be
            typed.
        models: names of models, as `load_scorer` takes them, that can be asked about a sentence in addition to the
            default models and those of the runs. A model is loaded when it is first asked.

    Returns:
        The page; `launch` serves it.
    """
    bundle = Bundle(folders)
    questions = Questions(models or [], bundle.runs)
    bundle.live = questions.choices
    data = lru_cache(maxsize=64)(bundle.data)

    def script(request: Request) -> Response:
        try:
            return Response(data(request.path_params["name"]), media_type="text/javascript", headers=HEADERS)
        except KeyError:
            return _absent(request.url.path)

    routes = [
        Route("/data/{name:path}.js", script),
        Route("/api/gap", _answering(questions.gap), methods=["POST"]),
        Route("/api/words", _answering(questions.words), methods=["POST"]),
        Route("/api/contexts", _answering(questions.contexts), methods=["POST"]),
    ]
    page = Starlette(routes=routes, middleware=[Middleware(GZipMiddleware, compresslevel=1)])
    page.mount("/", _Page(directory=PAGE, html=True))
    first = ["start", "view/0"] if len(bundle.runs.rows) else ["start"]
    threading.Thread(target=lambda: [*map(data, first)], daemon=True).start()  # while the user opens the page
    return page


def _absent(path: str) -> Response:
    """Say that there is nothing under a path of the address."""
    text = (
        f"There is no {path} here. Open the page at /; if it is open, reload it: the server may be a new one."
    )
    return Response(text, 404, media_type="text/plain", headers=HEADERS)


class _Page(StaticFiles):
    """The files of the page, with the headers."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        try:
            return await super().get_response(path, scope)
        except HTTPException as error:
            if error.status_code != 404:
                raise
            return _absent(scope["path"])

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers.update(HEADERS)
        return response


def _answering(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Request], Any]:
    """Return the handler of a question in JSON; what the user can fix becomes `problem`."""
    turn = asyncio.Semaphore(ANSWERED_AT_ONCE)

    async def handler(request: Request) -> Response:
        # Another site cannot send this type without asking first, which is never allowed.
        kind, *_ = request.headers.get("content-type", "").split(";")
        if kind.strip().lower() != "application/json":
            return JSONResponse({"problem": "Expected JSON."}, 415, HEADERS)
        try:
            question = _question(await _body(request))
            async with turn:
                return JSONResponse(await run_in_threadpool(answer, question), headers=HEADERS)
        except ClientDisconnect:
            return Response(status_code=400, headers=HEADERS)  # nobody reads it
        except (ValueError, TypeError, LookupError) as error:
            problem = str(error).encode("utf-8", "replace").decode()
            return JSONResponse({"problem": problem}, 400 if isinstance(error, LookupError) else 200, HEADERS)

    return handler


async def _body(request: Request) -> bytes:
    """Return what was sent; raises ValueError as soon as it is too long."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_QUESTION:
            raise ValueError("The question is too long. Shorten it.")
    return body


def _question(body: bytes) -> dict[str, Any]:
    """Read a question; raises ValueError if it is not a JSON object, or not text."""
    try:
        question = json.loads(body)
        json.dumps(question, ensure_ascii=False).encode("utf-8")
    except RecursionError as error:
        raise ValueError("The question is nested too deeply. Send one JSON object.") from error
    except UnicodeEncodeError as error:
        raise ValueError("The question holds half a character (a lone surrogate). Remove it.") from error
    except ValueError as error:
        raise ValueError("The question is not JSON in UTF-8. Send one JSON object.") from error
    if not isinstance(question, dict):
        raise ValueError("The question is not a JSON object.")
    return question


class Served:
    """A page that is being served; `address` says where."""

    def __init__(self, page: Starlette, listening: socket.socket) -> None:
        """Serve the page in a thread of its own."""
        host, port = listening.getsockname()[:2]
        shown = "127.0.0.1" if host == "0.0.0.0" else f"[{host}]" if ":" in host else host
        self.address = f"http://{shown}:{port}/"
        self._server = uvicorn.Server(uvicorn.Config(page, log_level="error", lifespan="off"))
        self._thread = threading.Thread(target=self._server.run, args=([listening],), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the server, within a second whatever its clients do."""
        self._server.should_exit = True
        self._thread.join(timeout=0.5)
        if self._thread.is_alive():  # somebody reads slowly, or a model is at work
            log = logging.getLogger("uvicorn.error")
            log.disabled = True  # it would print a traceback for each question that is given up
            self._server.force_exit = True
            self._thread.join(timeout=0.5)

    def wait(self) -> bool:
        """Wait until the server ends, or Ctrl+C, and return whether it was Ctrl+C."""
        try:
            while self._thread.is_alive():
                time.sleep(0.2)  # an interrupted `join` would take the thread for ended
        except KeyboardInterrupt:
            self.close()
            return True
        return False


def launch(page: Starlette, host: str = "127.0.0.1", port: int | None = None) -> Served:
    """Serve the page until the program ends or `close`, and return at once.

    Args:
        page: as `app` returns it.
        host: address to listen on.
        port: None takes the first free one from 7860 on.

    Raises:
        ValueError: the host is not an address of this machine, or the port is taken.
    """
    family, address = _resolved(host)
    if ip_address(address).is_loopback:  # another site's name must not lead here
        page.add_middleware(TrustedHostMiddleware, allowed_hosts=[*_LOCAL, address, f"[{address}]"])
    for number in [port] if port else range(FIRST_PORT, FIRST_PORT + N_PORTS):
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((address, number))
            listening.listen(128)
        except OSError as error:
            listening.close()
            problem = error
        else:
            return Served(page, listening)
    raise ValueError(
        f"The page cannot be served: {problem.strerror}. Choose another port with --port, or omit --port to take a "
        "free one."
    )


def _resolved(host: str) -> tuple[socket.AddressFamily, str]:
    """Return the address of a host; raises ValueError unless it is one of this machine."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.bind(address)
    except (OSError, UnicodeError) as error:
        raise ValueError(
            f"Cannot listen on --host {host}: {getattr(error, 'strerror', None) or error}. Expected an address of this "
            "machine: 127.0.0.1 for this machine only, or 0.0.0.0 for all its networks."
        ) from error
    return family, str(address[0])
