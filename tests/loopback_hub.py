"""A Hub on this machine: enough of the Hugging Face Hub's HTTP API for the real clients, with faults on demand.

As a context manager it runs in a thread of the test (`with LoopbackHub() as hub: … hub.url`); as a script in
a process of its own:

    python tests/loopback_hub.py [--port 8000] [--fault KIND:METHOD:PATTERN[:TIMES] …]

Point the clients at it with `HF_ENDPOINT` before they are imported, and set `HF_HUB_DISABLE_XET=1`: large
files go through Git LFS, there is no xet storage here. Nor is there a dataset viewer.
"""

import argparse
import base64
import fnmatch
import hashlib
import json
import re
import socket
import struct
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

from loopback_store import Blob, HubError, Repo, file_entry, folder_entry, is_large, tree

# token -> (user, role of the token); every user here may write to every namespace in ORGANIZATIONS but "outsider".
WRITE_TOKEN, READ_TOKEN, FINE_TOKEN, OUTSIDER_TOKEN = "hf_writer", "hf_reader", "hf_fine", "hf_outsider"
TOKENS = {
    WRITE_TOKEN: ("writer", "write"),
    READ_TOKEN: ("writer", "read"),
    FINE_TOKEN: ("writer", "fineGrained"),
    OUTSIDER_TOKEN: ("outsider", "write"),
}
ORGANIZATIONS = ("org", "evaluate-metric")
PREFIX = {"models": "", "datasets": "datasets/", "spaces": "spaces/"}
PREFIX_RE = r"(?P<prefix>datasets/|spaces/|)(?P<id>[^/]+/[^/]+)"
API_RE = r"/api/(?P<kind>models|datasets|spaces)/(?P<id>[^/]+/[^/]+)"


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
    """The Hub: its content, who may do what, the faults to inject, and a log of `(method, path, status)`."""

    def __init__(self, port: int = 0):
        self.repos: dict[tuple[str, str], Repo] = {}
        self.large_files: dict[str, bytes] = {}
        self.faults: list[Fault] = []
        self.log: list[tuple[str, str, int]] = []
        self.lock = threading.RLock()
        handler = type("BoundHandler", (Handler,), {"hub": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self) -> "LoopbackHub":
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def environment(self, home: object, token: str | None = WRITE_TOKEN) -> dict[str, str]:
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
        """The repository, without asking who wants it."""
        if (kind, name) not in self.repos:
            raise HubError(404, "Repository not found", "RepoNotFound")
        return self.repos[kind, name]

    def create(self, kind: str, name: str, private: bool = False, sdk: str | None = None) -> Repo:
        """A new repository with the files that the Hub itself puts into it."""
        repo = self.repos[kind, name] = Repo(kind, name, private, sdk)
        files = {".gitattributes": Blob(b"*.parquet filter=lfs diff=lfs merge=lfs -text\n")}
        if kind == "spaces":
            files["README.md"] = Blob(f"---\ntitle: {name}\nsdk: {sdk}\n---\n".encode())
        repo.commit(files, "initial commit")
        return repo


class Handler(BaseHTTPRequestHandler):
    """One request: find a fault, find the route, answer."""

    hub: LoopbackHub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes: Nagle and delayed ACK would cost 40 ms each

    def log_message(self, *arguments: object) -> None:
        """Nothing on stderr: the hub keeps its own log."""

    def serve(self) -> None:
        """Answer the request at hand."""
        self.body = self.read_body()
        parts = urlsplit(self.path)
        self.query = parse_qs(parts.query)
        fault = self.take_fault(parts.path)
        kind = fault.kind if fault else ""
        if kind == "slow" and fault:
            time.sleep(fault.seconds)
        if kind == "reset":
            return self.cut()
        try:
            if kind.isdigit():
                raise HubError(int(kind), "injected fault")
            status, headers, content = self.route(parts.path)
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

    # ---- who may do what -------------------------------------------------------------------------------

    def token(self) -> str | None:
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer":
            return None
        if token not in TOKENS:
            raise HubError(401, "Invalid credentials in Authorization header")
        return token

    def readable(self, kind: str, name: str) -> Repo:
        token = self.token()
        member = token is not None and TOKENS[token][0] != "outsider"
        repo = self.hub.repos.get((kind, name))
        if repo is None or (repo.private and not member):
            raise HubError(404 if token else 401, "Repository not found", "RepoNotFound")
        return repo

    def may_write(self, name: str) -> None:
        token = self.token()
        if token is None:
            raise HubError(401, "Invalid username or password.")
        user, role = TOKENS[token]
        namespace = name.split("/")[0]
        member = namespace == user or (namespace in ORGANIZATIONS and user != "outsider")
        if role == "read" or not member or (role == "fineGrained" and namespace != "org"):
            raise HubError(403, f"You don't have the rights to write to the namespace {namespace}")

    def writable(self, kind: str, name: str) -> Repo:
        repo = self.readable(kind, name)
        self.may_write(name)
        return repo

    # ---- routes ----------------------------------------------------------------------------------------

    def route(self, path: str) -> tuple[int, dict[str, str], bytes]:
        for method, pattern, action in ROUTES:
            match = re.fullmatch(pattern, path)
            if match and self.command in method.split():
                arguments = {key: unquote(value or "") for key, value in match.groupdict().items()}
                if "prefix" in arguments:
                    arguments["kind"] = arguments.pop("prefix").rstrip("/") or "models"
                with self.hub.lock:
                    result = action(self, **arguments)
                return result if isinstance(result, tuple) else (200, {}, json.dumps(result).encode())
        raise HubError(404, f"no such page: {self.command} {path}")

    def whoami(self) -> dict:
        token = self.token()
        if token is None:
            raise HubError(401, "Invalid username or password.")
        user, role = TOKENS[token]
        access: dict = {"displayName": "test", "role": role}
        if role == "fineGrained":
            entity = {"_id": "1", "type": "org", "name": "org"}
            access["fineGrained"] = {"scoped": [{"entity": entity, "permissions": ["repo.write"]}]}
        organizations = [] if user == "outsider" else ORGANIZATIONS
        orgs = [{"type": "org", "name": name, "roleInOrg": "write"} for name in organizations]
        auth = {"type": "access_token", "accessToken": access}
        return {"type": "user", "name": user, "orgs": orgs, "auth": auth}

    def create_repo(self) -> dict:
        asked = json.loads(self.body)
        namespace = asked.get("organization") or self.whoami()["name"]
        kind, name = f"{asked.get('type') or 'model'}s", f"{namespace}/{asked['name']}"
        self.may_write(name)
        url = f"{self.hub.url}/{PREFIX[kind]}{name}"
        if (kind, name) in self.hub.repos:
            raise HubError(409, "You already created this repo", url=url)
        self.hub.create(kind, name, asked.get("visibility") == "private", asked.get("sdk"))
        return {"url": url, "name": name, "id": name}

    def validate_yaml(self) -> dict:
        if not re.match(r"---\r?\n.*?\n---\s", json.loads(self.body)["content"], re.DOTALL):
            return {"errors": [], "warnings": [{"message": "empty or missing yaml metadata in repo card"}]}
        return {"errors": [], "warnings": []}

    def info(self, kind: str, id: str, revision: str = "main") -> dict:
        repo = self.readable(kind, id)
        commit = repo.at(revision or "main")
        described = {
            "_id": hashlib.sha1(id.encode()).hexdigest()[:24],
            "id": id,
            "author": id.split("/")[0],
            "sha": commit.oid,
            "private": repo.private,
            "gated": False,
            "disabled": False,
            "tags": [],
            "downloads": 0,
            "likes": 0,
            "lastModified": "2026-01-01T00:00:00.000Z",
            "createdAt": "2026-01-01T00:00:00.000Z",
            "siblings": [{"rfilename": path} for path in sorted(commit.files)],
        }
        return described | ({"modelId": id} if kind == "models" else {"sdk": repo.sdk})

    def tree(self, kind: str, id: str, revision: str, folder: str) -> list[dict]:
        recursive = self.query.get("recursive", ["false"])[0].lower() == "true"
        return tree(self.readable(kind, id).at(revision), folder, recursive)

    def paths_info(self, kind: str, id: str, revision: str) -> list[dict]:
        commit = self.readable(kind, id).at(revision)
        found = []
        for path in parse_qs(self.body.decode()).get("paths", []):
            if path in commit.files:
                found.append(file_entry(path, commit.files[path]))
            elif any(known.startswith(f"{path}/") for known in commit.files):
                found.append(folder_entry(path))
        return found

    def refs(self, kind: str, id: str) -> dict:
        repo = self.readable(kind, id)

        def described(names: dict[str, str], folder: str) -> list[dict]:
            return [
                {"name": name, "ref": f"refs/{folder}/{name}", "targetCommit": oid} for name, oid in names.items()
            ]

        return {
            "branches": described(repo.branches, "heads"),
            "tags": described(repo.tags, "tags"),
            "converts": [],
            "pullRequests": [],
        }

    def commits(self, kind: str, id: str, revision: str) -> list[dict]:
        repo = self.readable(kind, id)
        commit, history = repo.at(revision), []
        while True:
            history.append(
                {
                    "id": commit.oid,
                    "title": commit.message,
                    "message": "",
                    "date": "2026-01-01T00:00:00.000Z",
                    "authors": [],
                }
            )
            if commit.parent is None:
                return history
            commit = repo.commits[commit.parent]

    def preupload(self, kind: str, id: str, revision: str) -> dict:
        files = self.writable(kind, id).at(revision).files
        answers = []
        for asked in json.loads(self.body)["files"]:
            known = files.get(asked["path"])
            mode = "lfs" if is_large(asked["path"], asked["size"]) else "regular"
            answer = {"path": asked["path"], "uploadMode": mode, "shouldIgnore": False}
            answers.append(answer | ({"oid": known.etag} if known else {}))
        return {"files": answers}

    def lfs_batch(self, kind: str, id: str) -> dict:
        self.writable(kind, id)
        objects = []
        for asked in json.loads(self.body)["objects"]:
            entry = {"oid": asked["oid"], "size": asked["size"]}
            if asked["oid"] not in self.hub.large_files:
                upload = {"href": f"{self.hub.url}/lfs/{asked['oid']}"}
                verify = {"href": f"{self.hub.url}/lfs/verify"}
                entry["actions"] = {"upload": upload, "verify": verify}
            objects.append(entry)
        return {"transfer": "basic", "objects": objects}

    def lfs_put(self, sha256: str) -> dict:
        if hashlib.sha256(self.body).hexdigest() != sha256:
            raise HubError(400, "the content does not have the announced hash")
        self.hub.large_files[sha256] = self.body
        return {}

    def lfs_verify(self) -> dict:
        asked = json.loads(self.body)
        if len(self.hub.large_files.get(asked["oid"], b"")) != asked["size"]:
            raise HubError(404, "no such large file")
        return {}

    def commit(self, kind: str, id: str, revision: str) -> dict:
        repo = self.writable(kind, id)
        header, *operations = [json.loads(line) for line in self.body.splitlines() if line]
        head = repo.at(revision)
        if header["value"].get("parentCommit", head.oid) != head.oid:
            raise HubError(412, "A commit has happened since. Please refresh and try again.")
        files = dict(head.files)
        for operation in operations:
            key, value = operation["key"], operation["value"]
            if key == "file":
                files[value["path"]] = Blob(base64.b64decode(value["content"]))
            elif key == "lfsFile":
                if value["oid"] not in self.hub.large_files:
                    raise HubError(400, f"{value['path']} points to a large file that was not uploaded")
                files[value["path"]] = Blob(self.hub.large_files[value["oid"]], large=True)
            elif key == "deletedFile":
                del files[value["path"]]
            elif key == "deletedFolder":
                files = {path: blob for path, blob in files.items() if not path.startswith(value["path"])}
        commit = repo.commit(files, header["value"]["summary"], revision)
        return {"success": True, "commitOid": commit.oid, "commitUrl": f"{self.hub.url}/{id}/commit/{commit.oid}"}

    def branch(self, kind: str, id: str, name: str) -> dict:
        repo = self.writable(kind, id)
        if self.command == "DELETE":
            del repo.branches[name]
        elif name in repo.branches:
            raise HubError(409, "Reference already exists")
        else:
            start = json.loads(self.body or b"{}").get("startingPoint", "main")
            repo.branches[name] = repo.at(start).oid
        return {}

    def tag(self, kind: str, id: str, revision: str) -> dict:
        repo = self.writable(kind, id)
        if self.command == "DELETE":
            del repo.tags[revision]
            return {}
        name = json.loads(self.body)["tag"]
        if name in repo.tags:
            raise HubError(409, "Tag reference exists already")
        repo.tags[name] = repo.at(revision).oid
        return {}

    def resolve(self, kind: str, id: str, revision: str, file: str) -> tuple[int, dict[str, str], bytes]:
        commit, blob = self.readable(kind, id).file(revision, file)
        headers = {"X-Repo-Commit": commit.oid, "ETag": f'"{blob.etag}"', "Accept-Ranges": "bytes"}
        if not blob.large:
            return 200, headers | {"Content-Type": "text/plain; charset=utf-8"}, blob.content
        linked = {"X-Linked-Etag": f'"{blob.etag}"', "X-Linked-Size": str(len(blob.content))}
        # Another host name, as the Hub's storage has: the clients keep the headers above and send it no token.
        location = {"Location": f"{self.hub.url.replace('127.0.0.1', 'localhost')}/cdn/{blob.sha256}"}
        return 302, headers | linked | location, b""

    def cdn(self, sha256: str) -> tuple[int, dict[str, str], bytes]:
        if sha256 not in self.hub.large_files:
            raise HubError(404, "no such large file")
        headers = {"ETag": f'"{sha256}"', "Accept-Ranges": "bytes", "Content-Type": "application/octet-stream"}
        return 200, headers, self.hub.large_files[sha256]


REVISION_RE = r"(?P<revision>[^/]+)"
ROUTES = (
    ("GET", "/api/whoami-v2", Handler.whoami),
    ("POST", "/api/repos/create", Handler.create_repo),
    ("POST", "/api/validate-yaml", Handler.validate_yaml),
    ("GET", API_RE + rf"(?:/revision/{REVISION_RE})?", Handler.info),
    ("GET", API_RE + rf"/tree/{REVISION_RE}/?(?P<folder>.*)", Handler.tree),
    ("POST", API_RE + rf"/paths-info/{REVISION_RE}", Handler.paths_info),
    ("GET", API_RE + "/refs", Handler.refs),
    ("GET", API_RE + rf"/commits/{REVISION_RE}", Handler.commits),
    ("POST", API_RE + rf"/preupload/{REVISION_RE}", Handler.preupload),
    ("POST", API_RE + rf"/commit/{REVISION_RE}", Handler.commit),
    ("POST DELETE", API_RE + "/branch/(?P<name>[^/]+)", Handler.branch),
    ("POST DELETE", API_RE + rf"/tag/{REVISION_RE}", Handler.tag),
    ("POST", rf"/{PREFIX_RE}\.git/info/lfs/objects/batch", Handler.lfs_batch),
    ("PUT", "/lfs/(?P<sha256>[0-9a-f]{64})", Handler.lfs_put),
    ("POST", "/lfs/verify", Handler.lfs_verify),
    ("GET HEAD", rf"/{PREFIX_RE}/resolve/{REVISION_RE}/(?P<file>.+)", Handler.resolve),
    ("GET HEAD", "/cdn/(?P<sha256>[0-9a-f]{64})", Handler.cdn),
)


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
    print(f"HF_ENDPOINT={hub.url}  HF_TOKEN={WRITE_TOKEN} (or {', '.join(list(TOKENS)[1:])})", flush=True)
    try:
        hub.server.serve_forever()
    except KeyboardInterrupt:
        hub.server.server_close()


if __name__ == "__main__":
    main()
