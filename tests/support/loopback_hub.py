"""A Hub on this machine: as much of its HTTP API as the real clients need to push and load. No file is large to it."""

import base64
import json
import re
import threading
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from huggingface_hub import constants

TOKEN = "hf_writer"


def oid(content: bytes) -> str:
    """Return git's id of a file, which the clients compare with their own."""
    return sha1(b"blob %d\0" % len(content) + content).hexdigest()


class Repo:
    """A repository: the files of each commit, and what its branches and tags name."""

    def __init__(self) -> None:
        self.commits: dict[str, dict[str, bytes]] = {}
        self.branches: dict[str, str] = {}
        self.tags = self.branches  # nobody asks which is which
        self.commit({".gitattributes": b""})

    def commit(self, files: dict[str, bytes], branch: str = "main") -> str:
        """Make the files the content of a branch, and return the commit's id."""
        commit = f"{len(self.commits):040x}"
        self.commits[commit], self.branches[branch] = dict(files), commit
        return commit

    def at(self, revision: str) -> str:
        commit = self.branches.get(revision, revision)
        if commit not in self.commits:
            raise LookupError("RevisionNotFound")
        return commit


class LoopbackHub(ThreadingHTTPServer):
    """The Hub: its repositories by kind (`models`, `datasets`, `spaces`) and id; of requests method, path, status."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.repos: dict[tuple[str, str], Repo] = {}
        self.log: list[tuple[str, str, int]] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> "LoopbackHub":
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def create(self, kind: str, name: str) -> Repo:
        return self.repos.setdefault((kind, name), Repo())


class Handler(BaseHTTPRequestHandler):
    """One request, which the hub puts into its own log."""

    server: LoopbackHub
    log_message = lambda *_: None  # noqa: E731

    def serve(self) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, headers, content = 200, {}, b"{}"
        try:
            answer = self.answer(unquote(parts.path), parse_qs(parts.query), body)
            headers, content = answer if isinstance(answer, tuple) else ({}, json.dumps(answer).encode())
        except PermissionError:
            status = 401
        except LookupError as error:  # among them a repository that is not there
            status, headers = 404, {"X-Error-Code": str(error.args[0])}
        self.server.log.append((self.command, parts.path, status))
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(content))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_HEAD = do_POST = serve

    def answer(self, path: str, query: dict[str, list[str]], body: bytes) -> Any:
        writes = self.command == "POST" and "/paths-info/" not in path
        if writes and self.headers.get("Authorization") != f"Bearer {TOKEN}":
            raise PermissionError
        if path == "/api/validate-yaml":
            return {"errors": [], "warnings": []}
        if path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked['organization']}/{asked['name']}"
            self.server.create(f"{asked.get('type') or 'model'}s", name)
            return {"url": f"{self.server.url}/{name}", "name": name, "id": name}
        if not path.startswith(("/api/", "/datasets/", "/spaces/")):
            path = f"/models{path}"
        match = re.fullmatch(r"(?:/api)?/(\w+)/([^/]+/[^/]+)(?:/([\w-]+)(?:/([^/]+)/?(.*))?)?", path)
        kind, name, what, revision, file = match.groups() if match else [""] * 5
        if (kind, name) not in self.server.repos:
            raise LookupError("RepoNotFound")
        repo = self.server.repos[kind, name]
        if what == "refs":
            refs = [{"name": ref, "ref": ref, "targetCommit": at} for ref, at in repo.branches.items()]
            return {"branches": refs, "tags": [], "converts": []}
        commit = repo.at(revision or "main")
        files = repo.commits[commit]
        if what == "resolve":
            if file not in files:
                raise LookupError("EntryNotFound")
            return {"X-Repo-Commit": commit, "ETag": f'"{oid(files[file])}"'}, files[file]
        if what in (None, "revision"):
            about = {"_id": "1" * 24, "id": name, "modelId": name, "sha": commit, "private": False}
            return about | {"tags": [], "siblings": [{"rfilename": of} for of in files]}
        if what == "tag":
            repo.tags[json.loads(body)["tag"]] = commit
            return {}
        if what in ("tree", "paths-info"):
            asked = parse_qs(body.decode()).get("paths", []) if what == "paths-info" else sorted(files)
            files = {of: files[of] for of in asked if of in files}
            return [
                {"type": "file", "path": of, "size": len(files[of]), "oid": oid(files[of])} for of in files
            ]
        if what == "preupload":
            asked = [of["path"] for of in json.loads(body)["files"]]
            return {"files": [{"path": of, "uploadMode": "regular", "shouldIgnore": False} for of in asked]}
        new = dict(files)  # a commit
        for operation in map(json.loads, body.splitlines()[1:]):
            new.pop(operation["value"]["path"], None)
            if operation["key"] == "file":
                new[operation["value"]["path"]] = base64.b64decode(operation["value"]["content"])
        commit = repo.commit(new, "pull" if query.get("create_pr") == ["1"] else revision)
        url, done = f"{self.server.url}/{name}", {"success": True, "commitOid": commit}
        return done | {"commitUrl": f"{url}/commit/{commit}", "pullRequestUrl": f"{url}/discussions/1"}


def read_from(hub: LoopbackHub, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process take this Hub for the Hub, with a cache of its own; for downloads, not for uploads."""
    there = constants.ENDPOINT
    for name in ("ENDPOINT", "HUGGINGFACE_CO_URL_TEMPLATE"):
        monkeypatch.setattr(constants, name, getattr(constants, name).replace(there, hub.url))
    for name, value in (("HF_ENDPOINT", hub.url), ("HF_DATASETS_CACHE", str(cache))):
        monkeypatch.setattr(f"datasets.config.{name}", value)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr("huggingface_hub.hf_api.api.endpoint", hub.url)
    monkeypatch.setattr("transformers.utils.hub._hf_api", None, raising=False)  # made when it is first needed
