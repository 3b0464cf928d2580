"""A Hub on this machine: enough of the Hub's HTTP API for the real clients, with faults on demand.

As a context manager it runs in a thread of the test (`with LoopbackHub() as hub: … hub.url`); as a script in
a process of its own:

    python tests/loopback_hub.py [--port 8000] [--fault KIND:METHOD:PATTERN[:TIMES] …]

Point the clients at it with `HF_ENDPOINT` before they are imported, and set `HF_HUB_DISABLE_XET=1`: large
files go through Git LFS, there is no xet storage here. Nor is there a dataset viewer.

Read `loopback_store.py` (what it holds), `loopback_api.py` (its endpoints), then this file (HTTP, faults).
"""

import argparse
import fnmatch
import json
import re
import socket
import struct
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from loopback_api import WRITE_TOKEN, Call
from loopback_store import Commit, Content, HubError, Repo


@dataclass
class Fault:
    """Something to go wrong: an HTTP status, or `reset`, `lost`, `truncate`, `slow`.

    `reset` cuts the connection before the request is served, `lost` after it (the work is done, the answer
    never arrives), `truncate` in the middle of the answer's body; `slow` waits before it serves.
    """

    kind: str
    method: str
    pattern: str
    times: int = 1
    seconds: float = 0.5


class LoopbackHub:
    """The Hub: its content, the faults to inject, and a log of `(method, path, status)`."""

    def __init__(self, port: int = 0):
        self.content = Content()
        self.faults: list[Fault] = []
        self.log: list[tuple[str, str, int]] = []
        self.lock = threading.RLock()
        handler = type("BoundHandler", (Handler,), {"hub": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self) -> "LoopbackHub":
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def environment(self, home: Path | str, token: str | None = WRITE_TOKEN) -> dict[str, str]:
        """Environment variables for a client process with caches of its own under `home`."""
        variables = {
            "HF_ENDPOINT": self.url,
            "HF_HOME": str(home),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",
            "NO_PROXY": "127.0.0.1,localhost",
        }
        return variables if token is None else variables | {"HF_TOKEN": token}

    def fault(self, kind: str, pattern: str, method: str = "*", times: int = 1, seconds: float = 0.5) -> None:
        """Let the next `times` requests that match fail in the given way."""
        self.faults.append(Fault(str(kind), method, pattern, times, seconds))

    def writes(self) -> list[tuple[str, str, int]]:
        """The logged requests that create or change something."""
        changing = re.compile(r"/api/repos/create|/commit/|/tag/|/branch/|/lfs/[0-9a-f]{64}$")
        return [entry for entry in self.log if entry[0] != "GET" and changing.search(entry[1])]

    def repo(self, kind: str, name: str) -> Repo:
        """A repository, without asking who wants it; kind is `models`, `datasets` or `spaces`."""
        return self.content.repos[kind, name]

    def head(self, kind: str, name: str) -> Commit:
        """What the branch main of a repository is at."""
        return self.repo(kind, name).at("main")


class Handler(BaseHTTPRequestHandler):
    """One request: find a fault, find the route, answer."""

    hub: LoopbackHub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes: a delayed ACK would cost 40 ms

    def log_message(self, *arguments: object) -> None:
        """Nothing on stderr: the hub keeps its own log."""

    def serve(self) -> None:
        """Answer the request at hand."""
        body, parts = self.read_body(), urlsplit(self.path)
        authorization = self.headers.get("Authorization", "")
        query = parse_qs(parts.query)
        call = Call(self.hub.content, self.hub.url, self.command, parts.path, query, authorization, body)
        fault = self.take_fault(parts.path)
        kind = fault.kind if fault else ""
        if kind == "slow" and fault:
            time.sleep(fault.seconds)
        if kind == "reset":
            return self.cut()
        try:
            if kind.isdigit():
                raise HubError(int(kind), "injected fault")
            with self.hub.lock:
                status, headers, content = call.answer()
        except HubError as error:
            status, headers = error.status, {"X-Error-Message": error.message}
            headers |= {"X-Error-Code": error.code} if error.code else {}
            headers |= {"X-Repo-Commit": error.commit} if error.commit else {}
            content = json.dumps({"error": error.message, "url": error.url}).encode()
        self.hub.log.append((self.command, parts.path, status))
        if kind == "lost":
            return self.cut()
        self.answer(status, headers, content, truncate=kind == "truncate")

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = serve

    def read_body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def take_fault(self, path: str) -> Fault | None:
        with self.hub.lock:
            for fault in self.hub.faults:
                applies = fault.method in ("*", self.command) and fnmatch.fnmatch(path, fault.pattern)
                if fault.times and applies:
                    fault.times -= 1
                    return fault
        return None

    def cut(self) -> None:
        """Close with a reset (RST) instead of an orderly end."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def answer(self, status: int, headers: dict[str, str], content: bytes, truncate: bool = False) -> None:
        if status == 200 and (asked := re.match(r"bytes=(\d*)-(\d*)$", self.headers.get("Range", ""))):
            size = len(content)
            first = int(asked[1]) if asked[1] else size - int(asked[2])
            last = min(int(asked[2]), size - 1) if asked[1] and asked[2] else size - 1
            status, content = 206, content[first : last + 1]
            headers = headers | {"Content-Range": f"bytes {first}-{last}/{size}"}
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json"} | headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[: len(content) // 2] if truncate else content)
        if truncate:
            self.close_connection = True


def main() -> None:
    """Run a Hub until it is interrupted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, default=0, help="default: any free one, printed")
    parser.add_argument("--fault", action="append", default=[], metavar="KIND:METHOD:PATTERN[:TIMES]")
    options = parser.parse_args()
    hub = LoopbackHub(options.port)
    for fault in options.fault:
        kind, method, pattern, *times = fault.split(":")
        hub.fault(kind, pattern, method, int(times[0]) if times else 1)
    print(f"HF_ENDPOINT={hub.url} HF_TOKEN={WRITE_TOKEN}", flush=True)
    try:
        hub.server.serve_forever()
    except KeyboardInterrupt:
        hub.server.server_close()


if __name__ == "__main__":
    main()
