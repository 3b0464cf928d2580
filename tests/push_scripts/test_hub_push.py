"""The push scripts against the loopback Hub: what they check, send, leave alone, and say when something fails.

Everything runs in this process but the reading back, which is a process of its own by design; tests that are
not about it replace it. `test_hub_roundtrip.py` pushes the real folders and reads them as a user would.
"""

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from hub_fixtures import make_dataset, make_metric
from huggingface_hub import constants
from huggingface_hub.utils import _http
from loopback_api import FINE_TOKEN, WRITE_TOKEN
from loopback_hub import LoopbackHub

import push_datasets
import push_metrics
import push_models
from hub import publish
from hub.cards import split_card

READ_BACK = publish.read_back
V1, V2 = {"pairs": ["The author laughs.", "The author laugh."]}, {"pairs": ["The guards laugh."]}


@pytest.fixture
def hub(monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(_http, "time", SimpleNamespace(sleep=lambda seconds: None))
    monkeypatch.setattr(publish, "read_back", lambda *arguments: None)
    with LoopbackHub() as hub:
        for name, value in hub.environment("/nonexistent").items():
            if name != "HF_HOME":
                monkeypatch.setenv(name, value)
        yield hub


@pytest.fixture
def data(tmp_path) -> Path:
    """A folder of data sets with one in it."""
    make_dataset(tmp_path / "datasets" / "tiny", V1)
    return tmp_path / "datasets"


def push(data: Path, *options: str) -> int:
    return push_datasets.main(["--org", "org", *options], data)


def files(hub: LoopbackHub, name: str = "org/tiny", kind: str = "datasets") -> dict[str, bytes]:
    return {path: blob.content for path, blob in hub.head(kind, name).files.items() if path[0] != "."}


# ---- what a push does ----------------------------------------------------------------------------------


def test_a_dry_run_is_the_default_and_says_what_would_be_sent(hub, data, capsys):
    assert push(data) == push(data, "--dry-run") == push(data, "--yes", "--dry-run") == 0
    said = capsys.readouterr().out
    size = (data / "tiny/pairs/test.parquet").stat().st_size
    assert "dataset org/tiny (new): 2 changes" in said and f"{size:,} bytes  sha256 " in said
    assert hub.content.repos == {} and hub.writes() == []


def test_a_push_is_one_commit_and_a_second_one_sends_nothing(hub, data, capsys):
    assert push(data, "--yes", "--tag", "release-1") == 0
    repo = hub.repo("datasets", "org/tiny")
    assert [commit.message for commit in repo.commits.values()] == ["initial commit", "Release release-1"]
    assert repo.tags == {"release-1": repo.branches["main"]} and not repo.private
    assert files(hub)["pairs/test.parquet"] == (data / "tiny/pairs/test.parquet").read_bytes()
    # The reader's name for it, not a checkout's.
    assert b'load_dataset("org/tiny")' in files(hub)["README.md"]
    before = len(hub.writes())
    assert push(data, "--yes", "--tag", "release-1") == 0
    assert "unchanged: org/tiny" in capsys.readouterr().out
    assert [path for _, path, _ in hub.writes()[before:]] == [
        f"/api/datasets/org/tiny/tag/{repo.branches['main']}"
    ]


def test_only_what_changed_is_uploaded_and_what_is_gone_is_deleted(hub, data, capsys):
    make_dataset(data / "tiny", V1 | {"more": ["One.", "Two."]})
    assert push(data, "--yes") == 0
    repo = hub.repo("datasets", "org/tiny")
    repo.commit(
        repo.at("main").files | {".eval_results/a.yaml": repo.at("main").files["README.md"]}, "by others"
    )
    for path in (data / "tiny/more/test.parquet", data / "tiny/more"):
        path.unlink() if path.is_file() else path.rmdir()
    make_dataset(data / "tiny", V1)
    capsys.readouterr()
    before = len(hub.log)
    assert push(data, "--yes") == 0
    said = capsys.readouterr().out
    assert "  - more/test.parquet" in said and "  ~ README.md" in said and "  = pairs/test.parquet" in said
    assert set(files(hub)) == {"README.md", "pairs/test.parquet"}
    assert ".eval_results/a.yaml" in repo.at("main").files and ".gitattributes" in repo.at("main").files
    assert not [path for method, path, _ in hub.log[before:] if method == "PUT"]


def test_private_repositories(hub, data, capsys):
    assert push(data, "--yes", "--private") == 0
    assert hub.repo("datasets", "org/tiny").private
    assert push(data, "--yes") == 0  # an existing one keeps its visibility
    hub.repo("datasets", "org/tiny").private = False
    assert push(data, "--yes", "--private") == 2
    assert "is already public" in capsys.readouterr().err


def test_a_tag_never_moves(hub, data, capsys):
    assert push(data, "--yes", "--tag", "release-1") == 0
    make_dataset(data / "tiny", V2)
    before = hub.head("datasets", "org/tiny")
    assert push(data, "--yes", "--tag", "release-1") == 2
    assert "already has a tag release-1 with other content. Choose a new --tag" in capsys.readouterr().err
    assert hub.head("datasets", "org/tiny") == before
    assert push(data, "--yes", "--tag", "release-2") == 0
    assert set(hub.repo("datasets", "org/tiny").tags) == {"release-1", "release-2"}


# ---- who may push --------------------------------------------------------------------------------------


def test_a_fine_grained_token_may_push_where_it_is_granted(hub, data, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", FINE_TOKEN)
    assert push(data, "--yes") == 0


def test_a_wrong_token_is_an_error_that_does_not_print_it(hub, data, monkeypatch, capfd):
    monkeypatch.setenv("HF_TOKEN", "hf_secretsecretsecret")
    assert push(data, "--yes") == 1
    said = "".join(capfd.readouterr())
    assert "Set HF_TOKEN to a valid token" in said and "secret" not in said


# ---- what may be pushed --------------------------------------------------------------------------------


def test_german_sentences_without_a_licence_are_refused_with_the_reason(hub, data, capsys):
    refused = "german_argument_structure/rochereau2020"
    assert push(data, "--yes", "--with", refused) == 2
    reason = f"{refused} may not be redistributed: its release (Rochereau et al. 2020) states no licence"
    assert reason in capsys.readouterr().err
    make_dataset(data / "german_argument_structure", {"ours": ["Der Hund."], "rochereau2020": ["Der Chef."]})
    assert push(data, "--yes") == 2  # also where somebody put it among what is committed
    assert reason in capsys.readouterr().err
    assert hub.writes() == []


def test_built_configs_are_pushed_only_when_named(hub, data, monkeypatch, capsys):
    make_dataset(data / "tiny", {"ours": ["One."], "built": ["Two."]})
    make_dataset(data / "other", {"built": ["Three."]})
    committed = {"tiny": ["README.md", "ours/test.parquet"], "other": ["README.md"]}
    monkeypatch.setattr(push_datasets, "committed", lambda folder: committed[folder.name])
    assert push(data, "--yes") == 0
    said = capsys.readouterr().out
    assert "other: excluded, its data are built" in said and "! config built is excluded" in said
    head, _ = split_card(files(hub)["README.md"].decode())
    assert [config["config_name"] for config in head["configs"]] == ["ours"]
    assert [info["config_name"] for info in head["dataset_info"]] == ["ours"]
    assert set(files(hub)) == {"README.md", "ours/test.parquet"} and len(hub.content.repos) == 1
    assert push(data, "--yes", "--only", "other") == 2
    assert push(data, "--yes", "--with", "tiny/built", "other/built") == 0
    assert set(files(hub)) == {"README.md", "ours/test.parquet", "built/test.parquet"}
    assert push(data, "--yes", "--with", "tiny/none") == push(data, "--yes", "--with", "none/built") == 2


@pytest.mark.parametrize(
    ("license", "section", "allowed"),
    [
        ("cc-by-4.0", "", True),
        ("other", "", False),
        ("unknown", "", False),
        ("cc-by-nc-4.0", "", False),
        ("cc-by-4.0", "\n## Licence\n\n- `pairs`: none is stated\n", False),
        ("other", "\n## Licence\n\n| `pairs` | CC BY 4.0 |\n", True),
    ],
)
def test_every_config_needs_a_licence_to_pass_it_on(hub, data, capsys, license, section, allowed):
    make_dataset(data / "tiny", V1, license, section)
    assert push(data, "--yes") == (0 if allowed else 2)
    assert allowed or "states no licence that allows it" in capsys.readouterr().err
    assert bool(hub.content.repos) == allowed


# ---- what is checked before anything is sent -------------------------------------------------------------


def edit_head(folder: Path, change) -> None:
    head, body = split_card((folder / "README.md").read_text())
    change(head)
    (folder / "README.md").write_text(f"---\n{yaml.safe_dump(head)}---\n{body}")


def wrong_path(head):
    head["configs"][0]["data_files"][0]["path"] = "pairs/*.parquet"


def wrong_rows(head):
    head["dataset_info"][0]["splits"][0]["num_examples"] = 7


def wrong_size(head):
    head["dataset_info"][0]["download_size"] = 7


def wrong_column(head):
    head["dataset_info"][0]["features"][0]["name"] = "text"


def wrong_type(head):
    head["dataset_info"][0]["features"][0]["dtype"] = "int32"


def nameless(head):
    del head["configs"][0]["config_name"]


def no_language(head):
    del head["language"]


def no_info(head):
    head["dataset_info"][0]["config_name"] = "others"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (wrong_path, "pairs/*.parquet does not exist"),  # datasets would raise StopIteration
        (wrong_rows, "`splits` should have num_examples {'test': 2}"),
        (wrong_size, "`download_size` should be"),
        (wrong_column, "differ from `dataset_info`"),
        (wrong_type, "differ from `dataset_info`"),
        (nameless, "config_name"),
        (no_language, "lacks `language`"),
        (no_info, "config pairs is not in `dataset_info`"),
    ],
)
def test_cards_that_do_not_fit_their_data_are_refused(hub, data, monkeypatch, capsys, change, said):
    make_dataset(data / "fine", V1)
    edit_head(data / "tiny", change)
    everything = ["README.md", "pairs/test.parquet", "pairs/*.parquet"]
    monkeypatch.setattr(push_datasets, "committed", lambda folder: everything)
    assert push(data, "--yes") == 2
    assert said in capsys.readouterr().err
    assert hub.log == []


@pytest.mark.parametrize("text", ["no head", "---\na: [\n---\n", "---\njust text\n---\n"])
def test_a_card_whose_head_cannot_be_read_is_refused(hub, data, capsys, text):
    (data / "tiny/README.md").write_text(text)
    assert push(data, "--yes") == 2
    assert "tiny" in capsys.readouterr().err and hub.log == []


def test_a_card_without_a_section_is_refused(hub, data, capsys):
    card = data / "tiny/README.md"
    card.write_text(card.read_text().replace("## Citation", "## More"))
    assert push(data, "--yes") == 2
    assert "a section on citation is missing" in capsys.readouterr().err


def test_unknown_names_are_refused(hub, data, capsys):
    assert push(data, "--only", "none") == 2
    assert "unknown name none; choose from: tiny" in capsys.readouterr().err


# ---- faults: what was there is intact, the error says what to do, running again succeeds -----------------

COMMIT, STORAGE, BATCH = "*/commit/*", "/lfs/*", "*/objects/batch"
FAULTS = [
    ("401", COMMIT, 1, "Set HF_TOKEN to a valid token"),
    ("403", COMMIT, 1, "Get write access to the organisation"),
    ("403", "*/preupload/*", 1, "Get write access to the organisation"),
    ("409", COMMIT, 1, "Wait a minute and run the same command again"),
    ("412", COMMIT, 1, "Somebody else committed to it"),
    ("500", COMMIT, 1, "Run the same command again"),
    ("500", "*/revision/main", 1, "Run the same command again"),
    ("500", STORAGE, 100, "Run the same command again"),
    ("500", BATCH, 100, "Run the same command again"),
    ("reset", COMMIT, 1, "Run the same command again"),
    ("reset", STORAGE, 100, "Run the same command again"),
    ("truncate", "*/preupload/*", 100, "Run the same command again"),
    ("truncate", "*/tree/*", 100, "Run the same command again"),
]


@pytest.mark.parametrize(("kind", "pattern", "times", "advice"), FAULTS)
def test_a_fault_leaves_the_version_before_and_is_overcome_by_running_again(
    hub, data, capsys, kind, pattern, times, advice
):
    assert push(data, "--yes") == 0
    before, content = hub.head("datasets", "org/tiny"), files(hub)
    make_dataset(data / "tiny", V2)
    hub.fault(kind, pattern, times=times)
    capsys.readouterr()
    assert push(data, "--yes", "--tag", "release-2") == 1
    said = capsys.readouterr().err
    assert advice in said and said.count("\n") == 1 and WRITE_TOKEN not in said
    assert hub.head("datasets", "org/tiny") == before and files(hub) == content
    assert hub.repo("datasets", "org/tiny").tags == {}
    hub.faults.clear()
    assert push(data, "--yes", "--tag", "release-2") == 0
    assert files(hub)["pairs/test.parquet"] == (data / "tiny/pairs/test.parquet").read_bytes()
    assert hub.head("datasets", "org/tiny").parent == before.oid  # one commit, no debris
    assert hub.repo("datasets", "org/tiny").tags == {"release-2": hub.head("datasets", "org/tiny").oid}


@pytest.mark.parametrize("kind", ["lost", "truncate"])
def test_a_commit_whose_answer_is_lost_is_recognised_on_the_next_run(hub, data, kind):
    assert push(data, "--yes") == 0
    make_dataset(data / "tiny", V2)
    hub.fault(kind, COMMIT)
    assert push(data, "--yes") == 1
    arrived = hub.head("datasets", "org/tiny")
    assert push(data, "--yes", "--tag", "release-2") == 0
    assert hub.head("datasets", "org/tiny") == arrived


@pytest.mark.parametrize(("kind", "pattern"), [("slow", "*"), ("500", STORAGE), ("reset", BATCH)])
def test_passing_trouble_is_sat_out(hub, data, kind, pattern):
    hub.fault(kind, pattern, times=2, seconds=0.2)
    assert push(data, "--yes") == 0
    assert set(files(hub)) == {"README.md", "pairs/test.parquet"}


@pytest.mark.parametrize("kind", ["500", "403", "reset", "lost"])
def test_a_repository_that_was_barely_created_is_filled_on_the_next_run(hub, data, kind):
    hub.fault(kind, "/api/repos/create")
    assert push(data, "--yes") == 1
    assert push(data, "--yes") == 0
    assert set(files(hub)) == {"README.md", "pairs/test.parquet"}


def test_a_failure_in_the_second_repository_keeps_the_first(hub, data, capsys):
    make_dataset(data / "zweite", V1)
    hub.fault("500", "*/zweite/commit/*")
    assert push(data, "--yes") == 1
    assert "Already committed: org/tiny." in capsys.readouterr().err
    assert push(data, "--yes") == 0
    assert set(files(hub, "org/zweite")) == {"README.md", "pairs/test.parquet"}


def test_two_pushers_at_once_cannot_overwrite_each_other(hub, data, monkeypatch, capsys):
    assert push(data, "--yes") == 0
    make_dataset(data / "tiny", V2)
    compare = publish.compare

    def compare_then_lose_the_race(*arguments):
        plan = compare(*arguments)
        repo = hub.repo("datasets", "org/tiny")
        repo.commit(dict(repo.at("main").files), "somebody else's")
        return plan

    monkeypatch.setattr(publish, "compare", compare_then_lose_the_race)
    assert push(data, "--yes") == 1
    assert "Somebody else committed to it" in capsys.readouterr().err
    assert hub.head("datasets", "org/tiny").message == "somebody else's"


def test_an_endpoint_that_is_not_there(hub, data, monkeypatch, capsys):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert push(data, "--yes") == 1
    assert "could not be reached" in capsys.readouterr().err


# ---- reading back, in its own process --------------------------------------------------------------------


@pytest.mark.slow
def test_what_was_pushed_is_read_back_by_a_stranger_with_empty_caches(
    hub, data, tmp_path, monkeypatch, capsys
):
    """The reader gets no token for a public repository, and no cache of whoever pushes."""
    monkeypatch.setattr(publish, "read_back", READ_BACK)
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    # Of the pusher's shell, after the import: must not reach the reader.
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    hub.fault("truncate", "/cdn/*", "GET")  # sat out: the client resumes
    assert push(data, "--yes") == 0
    assert "1 repositories, all correct" in capsys.readouterr().out
    assert not (tmp_path / "cache").exists()


def test_what_cannot_be_read_back_is_not_tagged(hub, data, monkeypatch, capsys):
    monkeypatch.setattr(publish, "read_back", READ_BACK)
    make_dataset(data / "tiny", V2)
    # The storage bends one byte of what it was given.
    store = hub.content.large_files
    good = (data / "tiny/pairs/test.parquet").read_bytes()
    send = publish.send

    def send_to_bad_storage(*arguments):
        commit = send(*arguments)
        for sha256 in store:
            store[sha256] = good[:-1] + b"?"
        return commit

    monkeypatch.setattr(publish, "send", send_to_bad_storage)
    assert push(data, "--yes", "--tag", "release-1") == 1
    said = capsys.readouterr().err
    assert "pairs/test.parquet has the SHA-256" in said and "committed but not tagged" in said
    assert hub.repo("datasets", "org/tiny").tags == {}
    monkeypatch.setattr(publish, "send", send)
    store.update(dict.fromkeys(store, good))
    assert push(data, "--yes", "--tag", "release-1") == 0
    assert set(hub.repo("datasets", "org/tiny").tags) == {"release-1"}


# ---- metrics ---------------------------------------------------------------------------------------------


def test_metrics_become_spaces(hub, tmp_path, capsys):
    metric = make_metric(tmp_path / "metrics" / "share_of_ones")
    (metric / "__pycache__").mkdir()
    (metric / "__pycache__" / "x.pyc").write_bytes(b"x")
    assert push_metrics.main(["--org", "org", "--yes"], metric.parent) == 0
    repo = hub.repo("spaces", "org/share_of_ones")
    assert repo.sdk == "static"
    pushed = files(hub, "org/share_of_ones", "spaces")
    assert set(pushed) == {"README.md", "index.html", "counting.py", "requirements.txt", "share_of_ones.py"}
    for name in ("README.md", "index.html"):
        assert b'evaluate.load("org/share_of_ones")' in pushed[name]


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("share_of_ones.py", "0.5", "0.7", "1 doctests in share_of_ones.py fail"),
        (
            "share_of_ones.py",
            "from .counting import share",
            "from . import counting",
            "evaluate cannot load it",
        ),
        ("share_of_ones.py", "import evaluate", "import evaluate, json", "evaluate cannot load it"),
        ("README.md", "- metric\n", "", "`tags` lacks evaluate or metric"),
        ("README.md", "sdk: static", "sdk: docker", "`sdk` is docker"),
        ("README.md", "## Published values", "## Else", "a section on published values is missing"),
    ],
)
def test_metrics_that_readers_could_not_use_are_refused(hub, tmp_path, capsys, name, old, new, said):
    metric = make_metric(tmp_path / "metrics" / "share_of_ones")
    text = (metric / name).read_text()
    assert old in text
    (metric / name).write_text(text.replace(old, new))
    assert push_metrics.main(["--org", "org", "--yes"], metric.parent) == 2
    assert said in capsys.readouterr().err and hub.log == []


@pytest.mark.parametrize("tag", ["v0.4.6", "0.4.6", "v1.0.0"])
def test_metrics_take_no_tag_that_evaluate_asks_for_by_itself(hub, tmp_path, capsys, tag):
    """`evaluate.load(id)` looks for the tag v<version of evaluate> before it looks at main."""
    make_metric(tmp_path / "metrics" / "share_of_ones")
    assert push_metrics.main(["--org", "org", "--tag", tag], tmp_path / "metrics") == 2
    assert "use release-" in capsys.readouterr().err


# ---- models ----------------------------------------------------------------------------------------------

MODEL_CARD = """---
license: apache-2.0
language: en
library_name: transformers
tags: [test]
---

# A model

`AutoModel.from_pretrained("tiny")`

## Limits

For tests.
"""


@pytest.fixture
def model(tmp_path) -> Path:
    folder = tmp_path / "models" / "tiny"
    folder.mkdir(parents=True)
    (folder / "README.md").write_text(MODEL_CARD)
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (folder / name).write_text("{}")
    return folder


def test_models_are_pushed_with_their_weights_as_large_files(hub, model):
    assert push_models.main(["--org", "org", "--yes"], model.parent) == 0
    pushed = hub.head("models", "org/tiny").files
    assert {path for path, blob in pushed.items() if blob.large} == {"model.safetensors"}
    assert {path for path in pushed if path[0] != "."} == {path.name for path in model.iterdir()}
    assert b'from_pretrained("org/tiny")' in pushed["README.md"].content


def test_models_that_nobody_should_load_are_refused(hub, model, capsys):
    (model / "config.json").unlink()
    (model / "pytorch_model.bin").write_bytes(b"x")
    assert push_models.main(["--org", "org", "--yes"], model.parent) == 2
    said = capsys.readouterr().err
    assert "config.json is missing" in said and "pytorch_model.bin may hold code" in said
    assert hub.log == []
