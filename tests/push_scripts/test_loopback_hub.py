"""The loopback Hub behaves as the real client expects a Hub to behave."""

import subprocess
import sys
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pytest
from huggingface_hub import CommitOperationAdd, HfApi, constants, hf_hub_download, snapshot_download
from huggingface_hub.errors import (
    EntryNotFoundError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import _http
from loopback_api import FINE_TOKEN, OUTSIDER_TOKEN, READ_TOKEN, WRITE_TOKEN
from loopback_hub import LoopbackHub


@pytest.fixture
def hub(monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    with LoopbackHub() as hub:
        yield hub


@pytest.fixture
def api(hub) -> HfApi:
    return HfApi(endpoint=hub.url, token=WRITE_TOKEN)


def add(api: HfApi, files: dict[str, bytes], **options):
    operations = [CommitOperationAdd(path, content) for path, content in files.items()]
    return api.create_commit("org/x", operations, commit_message="m", repo_type="dataset", **options)


def test_commits_files_small_and_large_and_serves_them_by_branch_tag_and_commit(hub, api, tmp_path):
    api.create_repo("org/x", repo_type="dataset")
    first = add(api, {"README.md": b"one", "data/a.parquet": b"PAR1"}).oid
    api.create_tag("org/x", tag="v1", repo_type="dataset")
    second = add(api, {"README.md": b"two"}).oid
    options = {"repo_type": "dataset", "endpoint": hub.url, "cache_dir": tmp_path}
    contents = {
        revision: Path(hf_hub_download("org/x", "README.md", revision=revision, **options)).read_bytes()
        for revision in ("main", "v1", first, second)
    }
    assert contents == {"main": b"two", "v1": b"one", first: b"one", second: b"two"}
    folder = Path(snapshot_download("org/x", revision="v1", **options))
    assert (folder / "data/a.parquet").read_bytes() == b"PAR1"
    entries = {
        entry.path: entry for entry in api.list_repo_tree("org/x", repo_type="dataset", recursive=True)
    }
    assert set(entries) == {".gitattributes", "README.md", "data", "data/a.parquet"}
    assert entries["data/a.parquet"].lfs is not None and entries["README.md"].lfs is None
    titles = [commit.title for commit in api.list_repo_commits("org/x", repo_type="dataset")]
    assert titles == ["m", "m", "initial commit"]


def test_equal_content_makes_no_commit_and_equal_history_equal_commits(hub, api):
    api.create_repo("org/x", repo_type="dataset")
    first = add(api, {"a.parquet": b"PAR1", "b.txt": b"b"}).oid
    assert add(api, {"a.parquet": b"PAR1", "b.txt": b"b"}).oid == first
    with LoopbackHub() as other:
        again = HfApi(endpoint=other.url, token=WRITE_TOKEN)
        again.create_repo("org/x", repo_type="dataset")
        assert add(again, {"a.parquet": b"PAR1", "b.txt": b"b"}).oid == first


def test_a_commit_on_an_outdated_parent_is_refused(hub, api):
    api.create_repo("org/x", repo_type="dataset")
    parent = api.repo_info("org/x", repo_type="dataset").sha
    add(api, {"a.txt": b"a"})
    with pytest.raises(HfHubHTTPError) as caught:
        add(api, {"a.txt": b"b"}, parent_commit=parent)
    assert caught.value.response.status_code == 412


def test_what_is_not_there_is_named_as_the_client_expects(hub, api, tmp_path):
    with pytest.raises(RepositoryNotFoundError):
        api.repo_info("org/none", repo_type="dataset")
    api.create_repo("org/x", repo_type="dataset")
    with pytest.raises(RevisionNotFoundError):
        api.repo_info("org/x", repo_type="dataset", revision="none")
    with pytest.raises(EntryNotFoundError):
        hf_hub_download("org/x", "none", repo_type="dataset", endpoint=hub.url, cache_dir=tmp_path)


@pytest.mark.parametrize(
    ("token", "role", "status"),
    [(READ_TOKEN, "read", 403), (OUTSIDER_TOKEN, "write", 403), (FINE_TOKEN, "fineGrained", 200)],
)
def test_tokens_do_what_their_role_allows(hub, token, role, status):
    api = HfApi(endpoint=hub.url, token=token)
    assert api.whoami()["auth"]["accessToken"]["role"] == role
    if status == 200:
        api.create_repo("org/x")
    else:
        with pytest.raises(HfHubHTTPError) as caught:
            api.create_repo("org/x")
        assert caught.value.response.status_code == status


def test_private_repositories_are_hidden(hub, api):
    api.create_repo("org/x", private=True)
    assert api.repo_info("org/x").private
    for token in (OUTSIDER_TOKEN, False):
        with pytest.raises(RepositoryNotFoundError):
            HfApi(endpoint=hub.url, token=token).repo_info("org/x")


@pytest.mark.parametrize("status", [401, 403, 409, 500])
def test_injected_statuses_reach_the_client_once(hub, api, status):
    hub.fault(status, "/api/whoami-v2")
    with pytest.raises(HfHubHTTPError) as caught:
        api.whoami()
    assert caught.value.response.status_code == status
    assert api.whoami()["name"] == "writer"


@pytest.mark.parametrize("kind", ["reset", "lost", "truncate"])
def test_injected_breaks_reach_the_client(hub, api, kind):
    hub.fault(kind, "/api/whoami-v2")
    with pytest.raises(HfHubHTTPError.__bases__):
        api.whoami()
    assert api.whoami()["name"] == "writer"


def test_a_truncated_download_is_resumed_by_the_client(hub, api, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.file_download.time", SimpleNamespace(sleep=lambda seconds: None))
    api.create_repo("org/x", repo_type="dataset")
    add(api, {"a.parquet": b"0123456789" * 1000})
    hub.fault("truncate", "/cdn/*", "GET")
    path = hf_hub_download("org/x", "a.parquet", repo_type="dataset", endpoint=hub.url, cache_dir=tmp_path)
    assert Path(path).read_bytes() == b"0123456789" * 1000


def test_large_files_whose_storage_fails_leave_no_commit(hub, api, monkeypatch):
    monkeypatch.setattr(_http, "time", SimpleNamespace(sleep=lambda seconds: None))
    api.create_repo("org/x", repo_type="dataset")
    hub.fault(500, "/lfs/*", "PUT", times=100)
    with pytest.raises(RuntimeError, match="Error while uploading"):
        add(api, {"a.parquet": b"PAR1"})
    assert hub.head("datasets", "org/x").message == "initial commit"


def test_runs_as_a_process():
    script = Path(__file__).parents[1] / "support" / "loopback_hub.py"
    with subprocess.Popen(
        [sys.executable, script, "--fault", "500:GET:/api/*"], stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().decode().split()[0].removeprefix("HF_ENDPOINT=")
            with pytest.raises(urllib.error.HTTPError, match="500"):
                urllib.request.urlopen(f"{url}/api/whoami-v2")
            with pytest.raises(urllib.error.HTTPError, match="401"):
                urllib.request.urlopen(f"{url}/api/whoami-v2")
        finally:
            process.terminate()
