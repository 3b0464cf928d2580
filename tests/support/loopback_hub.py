"""A Hub on this machine: as much of its HTTP API as the real clients need to push and load. No file is large to it.

with LoopbackHub() as hub: …    # clients find it by `hub.environment(home)`, this process by `read_from`
"""

import base64
import json
import re
import threading
from dataclasses import dataclass, field
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from huggingface_hub import constants

TOKEN = "hf_writer"
Files = dict[str, bytes]


@dataclass
class Repo:
    """A repository: the files of each commit, and what its branches and tags name."""

    commits: dict[str, Files] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def commit(self, files: Files, branch: str = "main") -> str:
        """Make the files the content of a branch, and return the commit's id."""
        about = [len(self.commits), *((path, oid(files[path])) for path in sorted(files))]
        commit = sha1(json.dumps(about).encode()).hexdigest()
        self.commits[commit], self.branches[branch] = dict(files), commit
        return commit

    def at(self, revision: str) -> str:
        commit = self.branches.get(revision) or self.tags.get(revision) or revision
        if commit not in self.commits:
            raise LookupError("RevisionNotFound")
        return commit


def oid(content: bytes) -> str:
    """Return git's id of a file, which the clients compare with their own."""
    return sha1(b"blob %d\0" % len(content) + content).hexdigest()


class LoopbackHub:
    """The Hub: its repositories by kind (`models`, `datasets`, `spaces`) and id; of requests method, path, status."""

    def __init__(self) -> None:
        self.repos: dict[tuple[str, str], Repo] = {}
        self.log: list[tuple[str, str, int]] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"hub": self}))
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self) -> "LoopbackHub":
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def create(self, kind: str, name: str) -> Repo:
        repo = self.repos.setdefault((kind, name), Repo())
        if not repo.commits:
            repo.commit({".gitattributes": b""})
        return repo

    def environment(self, home: Path) -> dict[str, str]:
        """Return the variables of a client process with caches of its own."""
        own = {"HF_ENDPOINT": self.url, "HF_HOME": str(home), "HF_TOKEN": TOKEN, "HF_HUB_DISABLE_XET": "1"}
        return own | {"HF_UPDATE_DOWNLOAD_COUNTS": "0", "NO_PROXY": "127.0.0.1,localhost"}


class Handler(BaseHTTPRequestHandler):
    """One request."""

    hub: LoopbackHub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        """Nothing: the hub has its own log."""

    def serve(self) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, headers, content = 200, {}, b"{}"
        try:
            answer = self.answer(unquote(parts.path), parse_qs(parts.query), body)
            headers, content = answer if isinstance(answer, tuple) else ({}, json.dumps(answer).encode())
        except PermissionError:
            status = 401
        except LookupError as error:
            status, headers = 404, {"X-Error-Code": str(error.args[0])}
        self.hub.log.append((self.command, parts.path, status))
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(content))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_HEAD = do_POST = serve

    def answer(self, path: str, query: dict, body: bytes) -> object:
        writes = self.command == "POST" and "/paths-info/" not in path
        if writes and self.headers.get("Authorization") != f"Bearer {TOKEN}":
            raise PermissionError
        if path == "/api/validate-yaml":
            return {"errors": [], "warnings": []}
        if path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked['organization']}/{asked['name']}"
            self.hub.create(f"{asked.get('type') or 'model'}s", name)
            return {"url": f"{self.hub.url}/{name}", "name": name, "id": name}
        if match := re.fullmatch(r"/(?:(datasets|spaces)/)?([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            repo = self.repo(match[1] or "models", match[2])
            commit = repo.at(match[3])
            if match[4] not in repo.commits[commit]:
                raise LookupError("EntryNotFound")
            content = repo.commits[commit][match[4]]
            return {"X-Repo-Commit": commit, "ETag": f'"{oid(content)}"'}, content
        if match := re.fullmatch(r"/api/(\w+)/([^/]+/[^/]+)(?:/([\w-]+)(?:/([^/]+)(.*))?)?", path):
            kind, name, what, revision, folder = match.groups()
            if kind in ("models", "datasets", "spaces"):
                return self.api(self.repo(kind, name), name, what, revision or "main", folder, query, body)
        raise LookupError("NoSuchPage")

    def repo(self, kind: str, name: str) -> Repo:
        if (kind, name) not in self.hub.repos:
            raise LookupError("RepoNotFound")
        return self.hub.repos[kind, name]

    def api(
        self, repo: Repo, name: str, what: str, revision: str, folder: str, query: dict, body: bytes
    ) -> object:
        if what == "refs":
            return {
                kind: [{"name": ref, "ref": ref, "targetCommit": commit} for ref, commit in of.items()]
                for kind, of in (("branches", repo.branches), ("tags", repo.tags), ("converts", {}))
            }
        commit = repo.at(revision)
        files = repo.commits[commit]
        if what in (None, "revision"):
            about = {
                "_id": "1" * 24,
                "id": name,
                "modelId": name,
                "sha": commit,
                "private": False,
                "tags": [],
            }
            return about | {"siblings": [{"rfilename": path} for path in files]}
        if what == "tag":
            repo.tags[json.loads(body)["tag"]] = commit
            return {}
        if what in ("tree", "paths-info"):
            folders = {str(parent) for path in files for parent in Path(path).parents} - {"."}
            there = {
                path: {"type": "directory", "path": path, "size": 0, "oid": "0" * 40} for path in folders
            }
            for path, content in files.items():
                there[path] = {"type": "file", "path": path, "size": len(content), "oid": oid(content)}
            asked = parse_qs(body.decode()).get("paths", []) if what == "paths-info" else sorted(there)
            return [there[path] for path in asked if path in there and f"/{path}".startswith(folder or "/")]
        if what == "preupload":
            asked = [of["path"] for of in json.loads(body)["files"]]
            return {
                "files": [{"path": path, "uploadMode": "regular", "shouldIgnore": False} for path in asked]
            }
        if what == "commit":
            new = dict(files)
            for operation in map(json.loads, body.splitlines()[1:]):
                new.pop(operation["value"]["path"], None)
                if operation["key"] == "file":
                    new[operation["value"]["path"]] = base64.b64decode(operation["value"]["content"])
            commit = repo.commit(new, "pull" if query.get("create_pr") == ["1"] else revision)
            url = f"{self.hub.url}/{name}"
            urls = {"commitUrl": f"{url}/commit/{commit}", "pullRequestUrl": f"{url}/discussions/1"}
            return {"success": True, "commitOid": commit, **urls}
        raise LookupError("NoSuchPage")


def read_from(hub: LoopbackHub, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process take this Hub for the Hub, with a cache of its own; for downloads, not for uploads."""
    there = constants.ENDPOINT
    for name in ("ENDPOINT", "HUGGINGFACE_CO_URL_TEMPLATE"):
        monkeypatch.setattr(constants, name, getattr(constants, name).replace(there, hub.url))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr("datasets.config.HF_ENDPOINT", hub.url)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(cache))
    monkeypatch.setattr("huggingface_hub.hf_api.api.endpoint", hub.url)
    monkeypatch.setattr("transformers.utils.hub._hf_api", None, raising=False)  # made when it is first needed
