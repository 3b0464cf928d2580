"""A Hub on this machine: as much of its HTTP API as the real clients need to push and load.

    with LoopbackHub() as hub: …    # clients find it by `hub.environment(home)`, this process by `read_from`

Object ids are git's, because the clients compare them with what they compute. Large files go through Git LFS.
"""

import base64
import json
import re
import threading
from dataclasses import dataclass, field
from hashlib import sha1, sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from huggingface_hub import constants

TOKEN = "hf_writer"
Files = dict[str, bytes]


def is_large(path: str) -> bool:
    return path.endswith((".parquet", ".safetensors"))


@dataclass
class Repo:
    """A repository: the files of each commit, and what its branches and tags name."""

    commits: dict[str, Files] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def commit(self, files: Files, branch: str = "main") -> str:
        """Make the files the content of a branch, and return the commit's id."""
        about = [len(self.commits), *((path, oid(path, files[path])) for path in sorted(files))]
        commit = sha1(json.dumps(about).encode()).hexdigest()
        self.commits[commit], self.branches[branch] = dict(files), commit
        return commit

    def at(self, revision: str) -> str:
        commit = self.branches.get(revision) or self.tags.get(revision) or revision
        if commit not in self.commits:
            raise LookupError("RevisionNotFound")
        return commit


def oid(path: str, content: bytes) -> str:
    """Return git's id of a file, of a large one that of its pointer."""
    if is_large(path):
        digest, size = sha256(content).hexdigest(), len(content)
        content = f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {size}\n".encode()
    return sha1(b"blob %d\0" % len(content) + content).hexdigest()


def entry(path: str, content: bytes) -> dict:
    about = {"type": "file", "path": path, "size": len(content), "oid": oid(path, content)}
    lfs = {"oid": sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}
    return about | ({"lfs": lfs} if is_large(path) else {})


class LoopbackHub:
    """The Hub: its repositories by kind (`models`, `datasets`, `spaces`) and id; of requests method, path, status."""

    def __init__(self) -> None:
        self.repos: dict[tuple[str, str], Repo] = {}
        self.large: dict[str, bytes] = {}
        self.log: list[tuple[str, str, int]] = []
        handler = type("Bound", (Handler,), {"hub": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self) -> "LoopbackHub":
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def create(self, kind: str, name: str) -> Repo:
        repo = self.repos[kind, name] = Repo()
        repo.commit({".gitattributes": b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"})
        return repo

    def environment(self, home: Path, token: str | None = TOKEN) -> dict[str, str]:
        """Return the variables of a client process with caches of its own."""
        variables = {"HF_ENDPOINT": self.url, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1"}
        variables |= {"HF_UPDATE_DOWNLOAD_COUNTS": "0", "NO_PROXY": "127.0.0.1,localhost"}
        return variables | ({"HF_TOKEN": token} if token else {})


class Handler(BaseHTTPRequestHandler):
    """One request."""

    hub: LoopbackHub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        """Nothing: the hub has its own log."""

    def serve(self) -> None:
        parts, code = urlsplit(self.path), ""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            answer = self.answer(self.command, unquote(parts.path), parse_qs(parts.query), body)
        except PermissionError:
            answer = (401, {}, b"{}")
        except LookupError as error:
            code = str(error.args[0])
            answer = (404, {}, b"{}")
        status, headers, content = (
            answer if isinstance(answer, tuple) else (200, {}, json.dumps(answer).encode())
        )
        if status == 200 and (asked := re.match(r"bytes=(\d+)-(\d*)$", self.headers.get("Range", ""))):
            first, last = int(asked[1]), int(asked[2] or len(content) - 1)
            headers |= {"Content-Range": f"bytes {first}-{last}/{len(content)}"}
            status, content = 206, content[first : last + 1]
        self.hub.log.append((self.command, parts.path, status))
        self.send_response(status)
        headers |= {"X-Error-Code": code} if code else {}
        for name, value in ({"Content-Type": "application/json"} | headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_HEAD = do_POST = do_PUT = serve

    def answer(self, method: str, path: str, query: dict, body: bytes) -> object:
        hub = self.hub
        if method not in ("GET", "HEAD") and not path.startswith("/lfs"):
            if self.headers.get("Authorization") != f"Bearer {TOKEN}" and "paths-info" not in path:
                raise PermissionError
        if path == "/api/repos/create":
            asked = json.loads(body)
            kind, name = f"{asked.get('type') or 'model'}s", f"{asked['organization']}/{asked['name']}"
            if (kind, name) not in hub.repos:
                hub.create(kind, name)
            return {"url": f"{hub.url}/{name}", "name": name, "id": name}
        if path == "/api/validate-yaml":
            return {"errors": [], "warnings": []}
        if match := re.fullmatch(r"/lfs/(\w+)", path):
            hub.large[match[1]] = body
            return {}
        if match := re.fullmatch(r"/(?:datasets/|spaces/)?[^/]+/[^/]+\.git/info/lfs/objects/batch", path):
            missing = [of for of in json.loads(body)["objects"] if of["oid"] not in hub.large]
            upload = [{**of, "actions": {"upload": {"href": f"{hub.url}/lfs/{of['oid']}"}}} for of in missing]
            return {"transfer": "basic", "objects": upload}
        if match := re.fullmatch(r"/(?:(datasets|spaces)/)?([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            repo = self.repo(match[1] or "models", match[2])
            commit = repo.at(match[3])
            if match[4] not in repo.commits[commit]:
                raise LookupError("EntryNotFound")
            content = repo.commits[commit][match[4]]
            digest = sha256(content).hexdigest() if is_large(match[4]) else oid(match[4], content)
            return 200, {"X-Repo-Commit": commit, "ETag": f'"{digest}"', "Accept-Ranges": "bytes"}, content
        match = re.fullmatch(
            r"/api/(models|datasets|spaces)/([^/]+/[^/]+)(?:/([\w-]+)(?:/([^/]+))?(?:/(.*))?)?", path
        )
        if match is None:
            raise LookupError("NoSuchPage")
        kind, name, what, revision, folder = match.groups()
        return self.api(self.repo(kind, name), name, what, revision or "main", folder or "", query, body)

    def repo(self, kind: str, name: str) -> Repo:
        if (kind, name) not in self.hub.repos:
            raise LookupError("RepoNotFound")
        return self.hub.repos[kind, name]

    def api(
        self, repo: Repo, name: str, what: str | None, revision: str, folder: str, query: dict, body: bytes
    ) -> object:
        if what == "tag":
            repo.tags[json.loads(body)["tag"]] = repo.at(revision)
            return {}
        if what == "refs":
            of = {"branches": repo.branches, "tags": repo.tags}
            named = {
                kind: [{"name": name, "ref": name, "targetCommit": commit} for name, commit in names.items()]
                for kind, names in of.items()
            }
            return {**named, "converts": []}
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
        if what == "tree":
            there = {
                path: content for path, content in files.items() if path.startswith(folder and f"{folder}/")
            }
            if folder and not there:
                raise LookupError("EntryNotFound")
            parents = {str(parent) for path in there for parent in Path(path).parents} - {".", folder}
            folders = [
                {"type": "directory", "path": path, "size": 0, "oid": "0" * 40} for path in sorted(parents)
            ]
            return folders + [entry(path, content) for path, content in there.items()]
        if what == "paths-info":
            asked = parse_qs(body.decode()).get("paths", [])
            folders = [path for path in asked if any(of.startswith(f"{path}/") for of in files)]
            found = [entry(path, files[path]) for path in asked if path in files]
            return found + [
                {"type": "directory", "path": path, "size": 0, "oid": "0" * 40} for path in folders
            ]
        if what == "preupload":
            modes = {
                of["path"]: "lfs" if is_large(of["path"]) else "regular" for of in json.loads(body)["files"]
            }
            return {
                "files": [
                    {"path": path, "uploadMode": of, "shouldIgnore": False} for path, of in modes.items()
                ]
            }
        if what == "commit":
            new = dict(files)
            for operation in map(json.loads, body.splitlines()[1:]):
                path = operation["value"]["path"]
                if operation["key"] == "file":
                    new[path] = base64.b64decode(operation["value"]["content"])
                elif operation["key"] == "lfsFile":
                    new[path] = self.hub.large[operation["value"]["oid"]]
                else:
                    new.pop(path)
            commit = repo.commit(new, "pull" if query.get("create_pr") == ["1"] else revision)
            url = f"{self.hub.url}/{name}"
            return {
                "success": True,
                "commitOid": commit,
                "commitUrl": f"{url}/commit/{commit}",
                "pullRequestUrl": f"{url}/discussions/1",
            }
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
