"""The revisions of a model: branches and tags on the Hub, checkpoints in a folder."""

import re
from types import SimpleNamespace

import pytest
from loopback_hub import LoopbackHub
from loopback_store import Blob

from tse_scorers.models import model_source as series


@pytest.fixture
def hub(monkeypatch):
    """A model whose tags and branches are its revisions, as Pythia's are."""
    with LoopbackHub() as hub:
        monkeypatch.setattr("huggingface_hub.hf_api.constants.ENDPOINT", hub.url)
        monkeypatch.setattr("huggingface_hub.utils._http.time", SimpleNamespace(sleep=lambda seconds: None))
        repo = hub.content.create("models", "org/pythia")
        for step in (1000, 64, 512):
            repo.branches[f"step{step}"] = repo.commit({"config.json": Blob(b"{}")}, "A step").oid
        repo.tags["step2"] = repo.branches["step64"]
        yield hub


def test_revisions_on_the_hub_are_its_branches_and_tags(hub):
    found = series.expand("org/pythia", "step*")
    assert [each.name for each in found] == ["step2", "step64", "step512", "step1000"]
    assert found[0].model == "org/pythia@step2"
    with pytest.raises(ValueError, match=r"org/pythia .*'v'; .*step2, step64"):
        series.expand("org/pythia", "v")


def test_a_folder_without_checkpoints_says_what_they_are(tmp_path):
    with pytest.raises(ValueError, match=r"'\*'; .*none \(.*config\.json"):
        series.expand(str(tmp_path), "*")


@pytest.mark.parametrize("name", ["org/none", "no such folder", "../none"])
def test_a_series_that_is_nowhere_is_said(hub, name):
    with pytest.raises(ValueError, match=rf"'{re.escape(name)}' .*listed on the Hub"):
        series.expand(name, "step*")
