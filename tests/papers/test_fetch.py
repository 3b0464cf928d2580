"""`tse fetch` over a loopback server: pinned files become a data set; a wrong byte is refused and leaves nothing."""

import hashlib
import json

import pyarrow.parquet as pq
import pytest
import served_folder

from builders import blimp_agreement, upstream
from tse_scorers.papers.fetch import fetch

PAIR = {"sentence_good": "The author laughs.", "sentence_bad": "The author laugh."}
pytest.importorskip("pooch", reason="needs pooch (extra build)")


@pytest.fixture
def served(tmp_path, monkeypatch):
    """The folder of a server in place of GitHub, with one pair in each of the pinned files."""
    folder, releases = tmp_path / "served", {}
    for name in blimp_agreement.UPSTREAM:
        key, _, path = name.partition("/")
        content = (json.dumps(PAIR) + "\n").encode()
        release = {"repository": f"someone/{key}", "commit": "c0ffee", "licence": "MIT", "files": {}}
        releases.setdefault(key, release)["files"][path] = hashlib.sha256(content).hexdigest()
        file = folder / "someone" / key / "c0ffee" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    monkeypatch.setattr(upstream, "RELEASES", releases)
    monkeypatch.setattr(upstream, "cache", lambda: tmp_path / "cache")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with served_folder.served(folder) as address:
        monkeypatch.setattr(upstream, "RAW", address)
        yield folder


def test_pinned_files_become_a_data_set(served, tmp_path):
    written = fetch("newman2021-blimp", tmp_path / "out")
    assert {path.relative_to(tmp_path / "out").parts[:2] for path in written} == {
        ("blimp_agreement", "blimp"),
        ("blimp_agreement", "newman2021"),
    }
    table = pq.read_table(written[0]).to_pandas()
    assert len(table) == len(blimp_agreement.PARADIGMS) and set(table["form_correct"]) == {"laughs"}


@pytest.mark.parametrize("place", [0, 20, -1])
def test_a_wrong_byte_is_refused_and_leaves_nothing(served, tmp_path, place):
    file = sorted(served.rglob("*.jsonl"))[-1]
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    with pytest.raises(ValueError, match="hash"):
        fetch("newman2021-blimp", tmp_path / "out")
    assert not list(tmp_path.glob("out/**/*"))
    assert not list((tmp_path / "cache").rglob(f"*/{file.parent.parent.parent.name}/{file.name}"))
    kept = {
        hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (tmp_path / "cache").rglob("*")
        if path.is_file()
    }
    assert hashlib.sha256(content).hexdigest() not in kept


def test_a_file_that_is_gone_is_an_error_in_words(served, tmp_path):
    sorted(served.rglob("*.jsonl"))[0].unlink()
    with pytest.raises(ValueError, match=r"downloaded: 404.*connection, .*--source"):
        fetch("newman2021-blimp", tmp_path / "out")
    assert not list(tmp_path.glob("out/**/*"))
