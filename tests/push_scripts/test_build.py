"""The data sets are built again byte for byte, from what is committed and from pinned files of other projects."""

import hashlib

import pyarrow.parquet as pq
import pytest

import build
from builders import NAMES, SourceMissing, agreement_templates
from builders import upstream as pinned

MARKS = {
    "agreement_templates": pytest.mark.slow,  # their compression takes half a minute
    "blimp_agreement": pytest.mark.upstream,
    "blimp_critical_words": pytest.mark.upstream,
    "blimp_human_judgments": pytest.mark.upstream,
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=MARKS.get(name, ())) for name in NAMES])
def test_committed_files_are_built_byte_for_byte(name, root, tmp_path, request):
    """With another pyarrow than theirs, the same tables."""
    source = ["--source", str(request.getfixturevalue("upstream"))] if name.startswith("blimp") else []
    assert build.main([name, *source, "--out", str(tmp_path)]) == 0
    built = {path.relative_to(tmp_path): path for path in tmp_path.rglob("*.parquet")}
    committed = [path for path in built if (root / "datasets" / path).is_file()]
    assert len(committed) == len(list(root.glob(f"datasets/{name}/*/*.parquet")))
    assert committed or name == "blimp_agreement"
    for path in committed:
        file = root / "datasets" / path
        assert pq.read_schema(built[path]).metadata is None
        if pq.read_metadata(file).created_by == pq.read_metadata(built[path]).created_by:
            assert built[path].read_bytes() == file.read_bytes()
        else:
            assert pq.read_table(built[path]).equals(pq.read_table(file))


def test_the_grammars_give_the_committed_pairs(root):
    for config, splits in agreement_templates.build().items():
        file = root / "datasets" / "agreement_templates" / config / "test.parquet"
        assert splits["test"].equals(pq.read_table(file))


def test_without_the_files_of_others_the_command_says_where_they_are(tmp_path, capsys):
    assert build.main(["blimp_agreement", "--source", str(tmp_path), "--out", str(tmp_path)]) == 2
    assert "bnewm0609/refining-tse at commit db423f8" in (said := capsys.readouterr().err)
    assert "--source" in said and "--download" in said
    assert build.main(["german_argument_structure", "--out", str(tmp_path)]) == 0  # ours alone
    assert [path.name for path in tmp_path.glob("*/*")] == ["ours"]


@pytest.mark.parametrize("place", ["tiny/data/list.csv", "data/list.csv", "somewhere/else/list.csv"])
def test_a_pinned_file_is_found_by_its_content_and_no_other_is_taken(tmp_path, monkeypatch, place):
    content = b"idx,sing,plur\n"
    files = {"data/list.csv": hashlib.sha256(content).hexdigest()}
    release = {"repository": "someone/tiny", "commit": "c0ffee", "files": files}
    monkeypatch.setattr(pinned, "RELEASES", {"tiny": release})
    with pytest.raises(SourceMissing, match=r"needs data/list\.csv of .*someone/tiny at commit c0ffee"):
        pinned.locate(tmp_path, "tiny/data/list.csv")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "list.csv").write_bytes(b"another file of that name")
    with pytest.raises(ValueError, match=r"expected data/list\.csv of .*someone/tiny at commit c0ffee"):
        pinned.locate(tmp_path, "tiny/data/list.csv")
    path = tmp_path / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    assert pinned.locate(tmp_path, "tiny/data/list.csv") == path


@pytest.mark.upstream
def test_every_pinned_file_is_there(upstream):
    names = [f"{key}/{path}" for key, release in pinned.RELEASES.items() for path in release["files"]]
    assert len(names) == 75 and all(pinned.locate(upstream, name).is_file() for name in names)
