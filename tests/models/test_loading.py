"""From a name to a scorer: what is loaded, and what each kind of wrong name or broken folder says."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from loopback_hub import LoopbackHub, read_from
from tiny import tiny_model
from transformers import AutoModel

import tse_scorers
from tse_scorers import load_scorer
from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.load import choose_device, kind_of
from tse_scorers.models.masked import MaskedScorer
from tse_scorers.models.model_source import expand

SENTENCE = ["The author laughs."]


def save(folder, kind, family):
    for part in tiny_model(kind, family):
        part.save_pretrained(folder)
    return folder


@pytest.fixture
def gpt2(tmp_path):
    return save(tmp_path / "gpt2", "causal", "gpt2")


@pytest.fixture
def bert(tmp_path):
    return save(tmp_path / "bert", "masked", "bert")


def change(folder, **settings):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | settings))


def refused(model, **options):
    with pytest.raises(ValueError) as error:
        load_scorer(model, **options)
    text = str(error.value)
    assert "\n" not in text and len(text) < 1000
    return text


def test_folders_bundled_models_and_models_in_memory(gpt2, bert):
    causal, masked = load_scorer(gpt2), load_scorer(str(bert))
    assert type(causal) is CausalScorer and type(masked) is MaskedScorer
    assert (causal.signature["model"], causal.signature["dtype"]) == (str(gpt2), "float32")
    model, tokenizer = tiny_model("causal", "gpt2")
    loaded = load_scorer(model, tokenizer)
    assert loaded.model is model and loaded.signature["revision"] is None
    assert causal.sentence_logprobs(SENTENCE) == pytest.approx(loaded.sentence_logprobs(SENTENCE), abs=1e-5)
    for name, kind in (("tiny-masked", "masked"), ("tiny-causal", "causal")):
        signature = load_scorer(name).signature
        assert (signature["kind"], signature["model"]) == (kind, name)
    with pytest.raises(TypeError, match="NoneType as tokenizer"):
        load_scorer(model)


def test_revision_of_a_folder_follows_its_weights_its_tokenizer_and_its_code(gpt2):
    def revision():
        return load_scorer(gpt2).signature["revision"]

    seen = [revision()]
    assert seen[0].startswith("sha256:")
    (gpt2 / "README.md").write_text("of no consequence")
    assert revision() == seen[0]
    settings = gpt2 / "tokenizer_config.json"
    settings.write_text(settings.read_text() + "\n")
    seen.append(revision())
    (gpt2 / "modeling_own.py").write_text("class Own: pass")
    seen.append(revision())
    assert len(set(seen)) == 3


@pytest.mark.parametrize("kind, family", [("causal", "gpt2"), ("masked", "bert"), ("masked", "xlm-roberta")])
def test_kind_follows_the_architecture_else_the_type(kind, family):
    model, tokenizer = tiny_model(kind, family)
    config = type(model.config)(**model.config.to_dict())
    for architectures in ([type(model).__name__], None):
        config.architectures = architectures
        assert kind_of(config, tokenizer) == kind


def test_models_that_predict_no_words_are_refused(gpt2, bert):
    """Transformers fills in a missing head with random weights: every score would be noise."""
    AutoModel.from_pretrained(bert).save_pretrained(bert)
    message = refused(bert)
    assert "lacks" in message and "cls.predictions" in message and "head" in message
    change(gpt2, architectures=["GPT2ForSequenceClassification"])
    assert "GPT2ForSequenceClassification was trained for another task" in refused(gpt2)
    assert type(load_scorer(gpt2, kind="causal")) is CausalScorer
    change(gpt2, model_type="vit", architectures=["ViTModel"])
    assert "neither a masked nor a causal language model" in refused(gpt2)
    model, tokenizer = tiny_model("causal", "gpt2")
    with pytest.raises(ValueError, match="returns hidden states"):
        load_scorer(model.transformer, tokenizer)


def test_folders_that_lack_something(gpt2, tmp_path):
    """Transformers makes an empty tokenizer where there is none, to which every text is empty."""
    files = {path: path.read_bytes() for path in gpt2.glob("tokenizer*")}
    for path in files:
        path.unlink()
    assert "returns no tokens" in refused(gpt2)
    for path, content in files.items():
        path.write_bytes(content)
    torch.save({}, gpt2 / "pytorch_model.bin")
    (gpt2 / "model.safetensors").rename(tmp_path / "model.safetensors")
    message = refused(gpt2)
    assert "safetensors found in" in message and "save_pretrained" in message
    for name in ("config.json", "pytorch_model.bin"):
        assert f"Name the folder that holds all: {gpt2}" in refused(gpt2 / name)


def test_an_adapter_is_refused_because_its_base_is_elsewhere(gpt2):
    """Another base under the same name would have been reused as the same model."""
    (gpt2 / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "org/base"}))
    assert "is an adapter" in refused(gpt2) and "merge_and_unload" in refused(gpt2)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_damaged_files(gpt2, name):
    content = (gpt2 / name).read_bytes()
    (gpt2 / name).write_bytes(content[: len(content) // 2])
    assert "could not be loaded as a model" in refused(gpt2)


def test_weights_of_other_sizes_and_unknown_architectures(gpt2):
    change(gpt2, n_embd=48)
    assert "could not be loaded as a model" in refused(gpt2)
    change(gpt2, model_type="foobar")
    assert "foobar" in refused(gpt2)


@pytest.mark.parametrize(
    "name", ["/no/such/folder", "./folder", "path/to/checkpoint", "", " ", "bigram.json", "runs/scores.jsonl"]
)
def test_missing_folder_or_file(name):
    """Also one that could not be on the Hub: it was called an ill-formed `Repo id`."""
    assert refused(name).startswith(f"There is no folder or file '{name}'. Name a model")


@pytest.mark.parametrize(
    "name", ["org/no-such-model", "no-such-model", "org/no-such-model@v1", "org/model@refs/pr/1", "bad name"]
)
def test_names_that_the_hub_does_not_know_offline(name, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    message = refused(name)
    assert message.startswith(f"'{name}' could not be loaded as a model")
    assert "bundled models: tiny-causal, tiny-causal-french, " in message


def test_revision_of_a_model_on_the_hub_is_its_commit(gpt2, tmp_path, monkeypatch):
    """By the branch's name alone, scores of the weights that it held before were taken for those it holds now."""
    files = {path.name: path.read_bytes() for path in gpt2.iterdir()}
    with LoopbackHub() as hub:
        read_from(hub, tmp_path / "cache", monkeypatch)
        repo = hub.create("models", "org/model")
        first = repo.commit(files)
        repo.tags["v1"] = first
        for name in ("org/model", "org/model@main", "org/model@v1", f"org/model@{first}"):
            assert load_scorer(name).signature["revision"] == first
        config = json.loads(files["config.json"]) | {"layer_norm_epsilon": 0.5}
        second = repo.commit(files | {"config.json": json.dumps(config).encode()})
        moved = load_scorer("org/model@main")
        assert moved.signature["revision"] == second != first
        assert moved.model.config.layer_norm_epsilon == 0.5
        hub.log.clear()
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        assert load_scorer("org/model@v1").signature["revision"] == first
        assert load_scorer("org/model").signature["revision"] == second
        assert not hub.log


def test_without_a_network_nothing_is_waited_for(tmp_path, monkeypatch):
    """The Hub's client tried again for half a minute before it said so."""

    def wait(seconds):
        raise AssertionError(f"waited for {seconds} s")

    with LoopbackHub() as hub:
        read_from(hub, tmp_path / "cache", monkeypatch)
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", wait)
    assert "the Hub does not answer" in refused("org/model")


def test_devices_dtypes_and_unknown_options(bert):
    for option in ("device", "dtype", "kind", "pll"):
        assert "nonsense" in refused(bert, **{option: "nonsense"})
    for dtype in ("float64", "bfloat16"):
        scorer = load_scorer(bert, dtype=dtype)
        assert scorer.signature["dtype"] == dtype and scorer.model.dtype is getattr(torch, dtype)
    assert choose_device("cpu") == torch.device("cpu")
    with pytest.raises(ValueError, match="Use device='auto' or 'cpu'"):
        choose_device("cuda:99")


def test_what_has_no_effect_on_a_named_or_loaded_model_is_refused(tmp_path):
    """A second tokenizer, and options of a scorer that is loaded already, were dropped without a word."""
    scorer = load_scorer("tiny-causal")
    with pytest.raises(ValueError, match=r"tokenizer .*no effect .*'tiny-causal'.*its own"):
        load_scorer("tiny-causal", tokenizer=scorer.tokenizer)
    with pytest.raises(ValueError, match=r"dtype has no effect on a scorer.*load_scorer"):
        tse_scorers.run(scorer, out=tmp_path, dtype="float64")
    with pytest.raises(TypeError, match=r"option 'outt'.* Did you mean out\?"):
        tse_scorers.run("tiny-causal", outt=tmp_path)
    with pytest.raises(ValueError, match=r"dtype is torch\.float64; expected auto or float32"):
        load_scorer("tiny-causal", dtype=torch.float64)
    assert load_scorer("tiny-causal", batch_tokens=np.int64(64), dtype=None).batch_tokens == 64


def test_revisions_on_the_hub_are_its_branches_and_tags(monkeypatch):
    """A model whose tags and branches are its revisions, as Pythia's are."""
    with LoopbackHub() as hub:
        monkeypatch.setattr("huggingface_hub.hf_api.constants.ENDPOINT", hub.url)
        monkeypatch.setattr("huggingface_hub.utils._http.time", SimpleNamespace(sleep=lambda seconds: None))
        repo = hub.create("models", "org/pythia")
        for step in (1000, 64, 512):
            repo.branches[f"step{step}"] = repo.commit({"config.json": b"{}"})
        repo.tags["step2"] = repo.branches["step64"]
        found = expand("org/pythia", "step*")
        assert [each.name for each in found] == ["step2", "step64", "step512", "step1000"]
        assert (found[0].model, found[0].commit) == ("org/pythia@step2", repo.branches["step64"])
        with pytest.raises(ValueError, match=r"org/pythia .*'v'; .*step2, step64"):
            expand("org/pythia", "v")
        for name in ("org/none", "no such folder", "../none"):
            with pytest.raises(ValueError, match=rf"'{re.escape(name)}' .*listed on the Hub"):
                expand(name, "step*")


def test_revisions_in_a_folder_are_its_checkpoints(tmp_path):
    with pytest.raises(ValueError, match=r"'\*'; .*none \(.*config\.json"):
        expand(str(tmp_path), "*")
    for step in (10, 5):
        save(tmp_path / f"checkpoint-{step}", "causal", "gpt2")
    assert [each.name for each in expand(str(tmp_path), "checkpoint-*")] == ["checkpoint-5", "checkpoint-10"]
