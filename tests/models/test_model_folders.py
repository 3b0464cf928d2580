"""Folders of models: what changes when their files change, and whether all of their weights are there."""

import os
import shutil
import time

import pytest
from tiny import tiny_model

from tse_scorers.models import model_source
from tse_scorers.models.model_source import file_stamp


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "model"
    for part in tiny_model("causal", "gpt2"):
        part.save_pretrained(folder)
    return folder


def test_a_changed_file_of_the_same_size_and_time_is_noticed(saved, tmp_path):
    folder = shutil.copytree(saved, tmp_path / "model")
    weights = folder / "model.safetensors"
    old = time.time_ns() - 10**10
    os.utime(weights, ns=(old, old))
    assert file_stamp(str(folder)) is None  # it changed a moment ago, and may change again unnoticed
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(model_source, "SECONDS_UNTIL_SETTLED", 0)
        before, content = file_stamp(str(folder)), bytearray(weights.read_bytes())
        assert before is not None and file_stamp(str(folder)) == before
        content[-1] ^= 1
        weights.write_bytes(content)
        os.utime(weights, ns=(old, old))
        assert file_stamp(str(folder)) not in (before, None)
