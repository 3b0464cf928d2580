"""Pinned upstream files: found wherever they lie, checked by content, fetched only when asked."""

import hashlib

import pytest
from served_folder import served

from build_datasets import main
from builders import SourceMissing
from builders import upstream as upstream_files

CONTENT = b"idx,sing,plur\n"
NAME = "tiny/data/list.csv"


@pytest.fixture
def pinned(monkeypatch):
    """A release of one tiny file in place of the real list."""
    release = {
        "repository": "someone/tiny",
        "commit": "c0ffee",
        "licence": "MIT",
        "files": {"data/list.csv": hashlib.sha256(CONTENT).hexdigest()},
    }
    monkeypatch.setattr(upstream_files, "RELEASES", {"tiny": release})


@pytest.mark.parametrize("place", ["tiny/data/list.csv", "data/list.csv", "somewhere/else/list.csv"])
def test_found_by_content_wherever_it_lies(pinned, tmp_path, place):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "list.csv").write_bytes(b"another file of that name")
    path = tmp_path / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(CONTENT)
    assert upstream_files.locate(tmp_path, NAME) == path


def test_missing_changed_or_unknown_file(pinned, tmp_path):
    with pytest.raises(SourceMissing, match=r"someone/tiny at commit c0ffee.*--source.*--download"):
        upstream_files.locate(None, NAME)
    with pytest.raises(SourceMissing, match=r"found no list\.csv below"):
        upstream_files.locate(tmp_path, NAME)
    (tmp_path / "list.csv").write_bytes(CONTENT + b"more")
    with pytest.raises(ValueError, match="not the pinned version"):
        upstream_files.locate(tmp_path, NAME)
    with pytest.raises(ValueError, match="not among the pinned"):
        upstream_files.locate(tmp_path, "tiny/other.csv")


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A loopback server in place of the host of the releases; the folder that it serves."""
    folder = tmp_path / "served"
    with served(folder) as address:
        monkeypatch.setattr(upstream_files, "RAW", address)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        path = folder / "someone" / "tiny" / "c0ffee" / "data" / "list.csv"
        path.parent.mkdir(parents=True)
        yield path


def test_download_is_pinned_and_checked(pinned, server, tmp_path):
    pytest.importorskip("pooch", reason="needs pooch (extra build)")
    server.write_bytes(CONTENT)
    upstream_files.download([NAME], tmp_path / "new")
    assert upstream_files.locate(tmp_path / "new", NAME).read_bytes() == CONTENT
    server.write_bytes(b"tampered with")
    upstream_files.download([NAME], tmp_path / "new")  # already there, not fetched again
    with pytest.raises(ValueError, match="hash"):
        upstream_files.download([NAME], tmp_path / "other")
    assert not (tmp_path / "other" / NAME).exists()


def test_command_downloads_only_when_asked(tmp_path, monkeypatch, capsys):
    fetched = []
    monkeypatch.setattr(upstream_files, "download", lambda names, folder: fetched.extend(names))
    arguments = ["blimp_agreement", "--source", str(tmp_path), "--out", str(tmp_path)]
    assert main(arguments) == 2
    assert fetched == []
    assert main([*arguments, "--download"]) == 2  # nothing was really fetched
    assert len(fetched) == 8
    assert "found no distractor" in capsys.readouterr().err


@pytest.mark.upstream
def test_every_pinned_file_is_there(upstream):
    names = [f"{key}/{path}" for key, release in upstream_files.RELEASES.items() for path in release["files"]]
    assert len(names) == 75
    for name in names:
        assert upstream_files.locate(upstream, name).is_file()
