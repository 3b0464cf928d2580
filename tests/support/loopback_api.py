"""The endpoints of the loopback Hub: what each request answers or changes, and who may make it."""

import base64
import hashlib
import json
import re
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote

from loopback_store import Blob, Content, HubError, Repo, file_entry, folder_entry, is_large, tree

# token -> (user, role of the token); the writer is a member of every organisation, the outsider of none.
WRITE_TOKEN, READ_TOKEN, FINE_TOKEN, OUTSIDER_TOKEN = "hf_writer", "hf_reader", "hf_fine", "hf_outsider"
TOKENS = {
    WRITE_TOKEN: ("writer", "write"),
    READ_TOKEN: ("writer", "read"),
    FINE_TOKEN: ("writer", "fineGrained"),
    OUTSIDER_TOKEN: ("outsider", "write"),
}
ORGANIZATIONS = ("org", "evaluate-metric")
DATE = "2026-01-01T00:00:00.000Z"

Answer = tuple[int, dict[str, str], bytes]


@dataclass
class Call:
    """One request to the Hub; `answer` finds its endpoint."""

    content: Content
    url: str
    method: str
    path: str
    query: dict[str, list[str]]
    authorization: str
    body: bytes

    def answer(self) -> Answer:
        """Status, headers and body; raises HubError for anything but success."""
        for method, pattern, action in ROUTES:
            match = re.fullmatch(pattern, self.path)
            if match and self.method in method.split():
                arguments = {key: unquote(value or "") for key, value in match.groupdict().items()}
                if "prefix" in arguments:
                    arguments["kind"] = arguments.pop("prefix").rstrip("/") or "models"
                result = action(self, **arguments)
                return result if isinstance(result, tuple) else (200, {}, json.dumps(result).encode())
        raise HubError(404, f"no such page: {self.method} {self.path}")

    def token(self) -> str | None:
        scheme, _, token = self.authorization.partition(" ")
        if scheme != "Bearer":
            return None
        if token not in TOKENS:
            raise HubError(401, "Invalid credentials in Authorization header")
        return token

    def readable(self, kind: str, name: str) -> Repo:
        token = self.token()
        member = token is not None and TOKENS[token][0] != "outsider"
        repo = self.content.repos.get((kind, name))
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
        url = f"{self.url}/{PREFIX[kind]}{name}"
        if (kind, name) in self.content.repos:
            raise HubError(409, "You already created this repo", url=url)
        self.content.create(kind, name, asked.get("visibility") == "private", asked.get("sdk"))
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
            "lastModified": DATE,
            "createdAt": DATE,
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
                {"name": name, "ref": f"refs/{folder}/{name}", "targetCommit": oid}
                for name, oid in names.items()
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
            entry = {"id": commit.oid, "title": commit.message, "message": "", "date": DATE, "authors": []}
            history.append(entry)
            if commit.parent is None:
                return history
            commit = repo.commits[commit.parent]

    def is_pull_request(self) -> bool:
        return self.query.get("create_pr", ["0"])[0] == "1"

    def proposable(self, kind: str, id: str) -> Repo:
        """A repository that a commit or, without the right to write there, a pull request may be made in."""
        if not self.is_pull_request():
            return self.writable(kind, id)
        token = self.token()
        if token is None or TOKENS[token][1] == "read":
            raise HubError(403, "The token may not open pull requests")
        return self.readable(kind, id)

    def preupload(self, kind: str, id: str, revision: str) -> dict:
        files = self.proposable(kind, id).at(revision).files
        answers = []
        for asked in json.loads(self.body)["files"]:
            known = files.get(asked["path"])
            mode = "lfs" if is_large(asked["path"], asked["size"]) else "regular"
            answer = {"path": asked["path"], "uploadMode": mode, "shouldIgnore": False}
            answers.append(answer | ({"oid": known.etag} if known else {}))
        return {"files": answers}

    def lfs_batch(self, kind: str, id: str) -> dict:
        self.readable(kind, id)  # a pull request brings large files as well
        if self.token() is None:
            raise HubError(401, "Invalid username or password.")
        objects = []
        for asked in json.loads(self.body)["objects"]:
            entry = {"oid": asked["oid"], "size": asked["size"]}
            if asked["oid"] not in self.content.large_files:
                upload = {"href": f"{self.url}/lfs/{asked['oid']}"}
                verify = {"href": f"{self.url}/lfs/verify"}
                entry["actions"] = {"upload": upload, "verify": verify}
            objects.append(entry)
        return {"transfer": "basic", "objects": objects}

    def lfs_put(self, sha256: str) -> dict:
        if hashlib.sha256(self.body).hexdigest() != sha256:
            raise HubError(400, "the content does not have the announced hash")
        self.content.large_files[sha256] = self.body
        return {}

    def lfs_verify(self) -> dict:
        asked = json.loads(self.body)
        if len(self.content.large_files.get(asked["oid"], b"")) != asked["size"]:
            raise HubError(404, "no such large file")
        return {}

    def commit(self, kind: str, id: str, revision: str) -> dict:
        repo = self.proposable(kind, id)
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
                if value["oid"] not in self.content.large_files:
                    raise HubError(400, f"{value['path']} points to a large file that was not uploaded")
                files[value["path"]] = Blob(self.content.large_files[value["oid"]], large=True)
            elif key == "deletedFile":
                del files[value["path"]]
            elif key == "deletedFolder":
                files = {path: blob for path, blob in files.items() if not path.startswith(value["path"])}
        url = f"{self.url}/{PREFIX[kind]}{id}"
        if self.is_pull_request():
            commit = repo.propose(files, header["value"]["summary"], head)
            pull = {"pullRequestUrl": f"{url}/discussions/{len(repo.pulls)}"}
        else:
            commit, pull = repo.commit(files, header["value"]["summary"], revision), {}
        return pull | {"success": True, "commitOid": commit.oid, "commitUrl": f"{url}/commit/{commit.oid}"}

    def branch(self, kind: str, id: str, name: str) -> dict:
        repo = self.writable(kind, id)
        if self.method == "DELETE":
            del repo.branches[name]
        elif name in repo.branches:
            raise HubError(409, "Reference already exists")
        else:
            start = json.loads(self.body or b"{}").get("startingPoint", "main")
            repo.branches[name] = repo.at(start).oid
        return {}

    def tag(self, kind: str, id: str, revision: str) -> dict:
        repo = self.writable(kind, id)
        if self.method == "DELETE":
            del repo.tags[revision]
            return {}
        name = json.loads(self.body)["tag"]
        if name in repo.tags:
            raise HubError(409, "Tag reference exists already")
        repo.tags[name] = repo.at(revision).oid
        return {}

    def resolve(self, kind: str, id: str, revision: str, file: str) -> Answer:
        commit, blob = self.readable(kind, id).file(revision, file)
        headers = {"X-Repo-Commit": commit.oid, "ETag": f'"{blob.etag}"', "Accept-Ranges": "bytes"}
        if not blob.large:
            return 200, headers | {"Content-Type": "text/plain; charset=utf-8"}, blob.content
        linked = {"X-Linked-Etag": f'"{blob.etag}"', "X-Linked-Size": str(len(blob.content))}
        # Another host name, as the Hub's storage has: clients keep the headers above and send it no token.
        location = {"Location": f"{self.url.replace('127.0.0.1', 'localhost')}/cdn/{blob.sha256}"}
        return 302, headers | linked | location, b""

    def cdn(self, sha256: str) -> Answer:
        if sha256 not in self.content.large_files:
            raise HubError(404, "no such large file")
        headers = {
            "ETag": f'"{sha256}"',
            "Accept-Ranges": "bytes",
            "Content-Type": "application/octet-stream",
        }
        return 200, headers, self.content.large_files[sha256]


PREFIX = {"models": "", "datasets": "datasets/", "spaces": "spaces/"}
PREFIX_RE = r"(?P<prefix>datasets/|spaces/|)(?P<id>[^/]+/[^/]+)"
API_RE = r"/api/(?P<kind>models|datasets|spaces)/(?P<id>[^/]+/[^/]+)"
REVISION_RE = r"(?P<revision>[^/]+)"
ROUTES = (
    ("GET", "/api/whoami-v2", Call.whoami),
    ("POST", "/api/repos/create", Call.create_repo),
    ("POST", "/api/validate-yaml", Call.validate_yaml),
    ("GET", API_RE + rf"(?:/revision/{REVISION_RE})?", Call.info),
    ("GET", API_RE + rf"/tree/{REVISION_RE}/?(?P<folder>.*)", Call.tree),
    ("POST", API_RE + rf"/paths-info/{REVISION_RE}", Call.paths_info),
    ("GET", API_RE + "/refs", Call.refs),
    ("GET", API_RE + rf"/commits/{REVISION_RE}", Call.commits),
    ("POST", API_RE + rf"/preupload/{REVISION_RE}", Call.preupload),
    ("POST", API_RE + rf"/commit/{REVISION_RE}", Call.commit),
    ("POST DELETE", API_RE + "/branch/(?P<name>[^/]+)", Call.branch),
    ("POST DELETE", API_RE + rf"/tag/{REVISION_RE}", Call.tag),
    ("POST", rf"/{PREFIX_RE}\.git/info/lfs/objects/batch", Call.lfs_batch),
    ("PUT", "/lfs/(?P<sha256>[0-9a-f]{64})", Call.lfs_put),
    ("POST", "/lfs/verify", Call.lfs_verify),
    ("GET HEAD", rf"/{PREFIX_RE}/resolve/{REVISION_RE}/(?P<file>.+)", Call.resolve),
    ("GET HEAD", "/cdn/(?P<sha256>[0-9a-f]{64})", Call.cdn),
)
