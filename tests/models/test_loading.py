"""From a name to a scorer: what is loaded, and what each kind of wrong name or broken folder says."""

import json

import numpy as np
import pytest
import torch
from hub_fixtures import read_from
from loopback_hub import LoopbackHub
from loopback_store import Blob
from tiny import tiny_model
from transformers import AutoModel

import tse_scorers
from tse_scorers import load_scorer
from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.load import choose_device, kind_of
from tse_scorers.models.masked import MaskedScorer


def save(folder, kind, family):
    model, tokenizer = tiny_model(kind, family)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def gpt2(tmp_path):
    return save(tmp_path / "gpt2", "causal", "gpt2")


@pytest.fixture
def bert(tmp_path):
    return save(tmp_path / "bert", "masked", "bert")


def one_paragraph(error):
    text = str(error.value)
    assert "\n" not in text and len(text) < 1000
    return text


def refused(model, **options):
    with pytest.raises(ValueError) as error:
        load_scorer(model, **options)
    return one_paragraph(error)


def test_local_folders_of_both_kinds(gpt2, bert):
    causal, masked = load_scorer(gpt2), load_scorer(str(bert))
    assert type(causal) is CausalScorer and type(masked) is MaskedScorer
    assert causal.signature["model"] == str(gpt2)
    assert causal.signature["dtype"] == "float32"
    sentence = ["The author laughs."]
    expected = CausalScorer(*tiny_model("causal", "gpt2")).sentence_logprobs(sentence)
    assert causal.sentence_logprobs(sentence) == pytest.approx(expected, abs=1e-5)


def test_revision_of_a_folder_follows_its_weights_and_its_tokenizer(gpt2):
    revision = load_scorer(gpt2).signature["revision"]
    assert revision.startswith("sha256:")
    assert load_scorer(gpt2).signature["revision"] == revision
    (gpt2 / "README.md").write_text("of no consequence")
    assert load_scorer(gpt2).signature["revision"] == revision
    settings = gpt2 / "tokenizer_config.json"
    settings.write_text(settings.read_text() + "\n")
    assert load_scorer(gpt2).signature["revision"] != revision


def test_revision_of_a_folder_follows_code_that_it_names(gpt2):
    """Other scripts may lie beside the weights; those that the configuration names decide scores."""
    revision = load_scorer(gpt2).signature["revision"]
    (gpt2 / "modeling_own.py").write_text("class Own: ...")
    assert load_scorer(gpt2).signature["revision"] == revision
    config = gpt2 / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"auto_map": {}}))
    named = load_scorer(gpt2).signature["revision"]
    (gpt2 / "modeling_own.py").write_text("class Own: pass")
    assert load_scorer(gpt2).signature["revision"] not in (revision, named)


def test_a_model_that_is_already_there():
    model, tokenizer = tiny_model("masked", "bert")
    scorer = load_scorer(model, tokenizer)
    assert scorer.model is model and scorer.signature["revision"] is None
    with pytest.raises(ValueError, match="without its tokenizer"):
        load_scorer(model)


@pytest.mark.parametrize("kind, family", [("causal", "gpt2"), ("masked", "bert"), ("masked", "xlm-roberta")])
def test_kind_follows_the_architecture_else_the_type(kind, family):
    model, tokenizer = tiny_model(kind, family)
    config = type(model.config)(**model.config.to_dict())
    config.architectures = [type(model).__name__]
    assert kind_of(config, tokenizer) == kind
    config.architectures = None
    assert kind_of(config, tokenizer) == kind


def test_other_models_are_no_language_models(gpt2):
    config = json.loads((gpt2 / "config.json").read_text())
    (gpt2 / "config.json").write_text(
        json.dumps(config | {"model_type": "vit", "architectures": ["ViTModel"]})
    )
    assert "neither a masked nor a causal language model" in refused(gpt2)


def test_encoder_without_its_head_is_refused(bert):
    """Transformers fills in random weights, with a warning only: every score would be noise."""
    AutoModel.from_pretrained(bert).save_pretrained(bert)
    message = refused(bert)
    assert "lacks" in message and "cls.predictions" in message and "head" in message


def test_folder_without_tokenizer_is_refused(gpt2):
    """Transformers makes an empty tokenizer there, to which every text is empty."""
    for path in gpt2.glob("tokenizer*"):
        path.unlink()
    assert "returns no tokens" in refused(gpt2)


def test_pickled_weights_are_not_read(gpt2):
    torch.save({}, gpt2 / "pytorch_model.bin")
    (gpt2 / "model.safetensors").unlink()
    message = refused(gpt2)
    assert "does not contain *.safetensors weights" in message and "save_pretrained" in message


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_damaged_files(gpt2, name):
    cut(gpt2 / name)
    assert "could not be loaded as a model" in refused(gpt2)


def test_weights_of_other_sizes(gpt2):
    config = json.loads((gpt2 / "config.json").read_text())
    (gpt2 / "config.json").write_text(json.dumps(config | {"n_embd": 48}))
    assert "could not be loaded as a model" in refused(gpt2)


def test_unknown_architecture(gpt2):
    config = json.loads((gpt2 / "config.json").read_text())
    (gpt2 / "config.json").write_text(json.dumps(config | {"model_type": "foobar"}))
    assert "foobar" in refused(gpt2)


def test_causal_model_asked_for_as_a_masked_one(gpt2):
    message = refused(gpt2, kind="masked")
    assert "has no mask token" in message and "(kind='causal')" in message


@pytest.mark.parametrize("name", ["/no/such/folder", "./folder", "path/to/checkpoint", "", " "])
def test_missing_folder(name):
    """Also one that could not be on the Hub: it was called an ill-formed `Repo id`."""
    assert refused(name).startswith(f"There is no folder '{name}'. Name a model")


@pytest.mark.parametrize("name", ["bigram.json", "model.arpa", "runs/scores.jsonl", "model.safetensors"])
def test_missing_file(name):
    """It was looked for on the Hub."""
    assert f"There is no file '{name}'" in refused(name)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "pytorch_model.bin"])
def test_a_part_of_a_model(gpt2, name):
    """It was called an n-gram model, or a table with a wrong ending."""
    (gpt2 / name).touch()
    assert f"Use the folder that holds all of it: {gpt2}" in refused(gpt2 / name)


def test_folder_of_checkpoints(tmp_path):
    for step in (10, 5):
        save(tmp_path / f"checkpoint-{step}", "causal", "gpt2")
    message = refused(tmp_path)
    assert "checkpoint-10, checkpoint-5" in message and "--revisions" in message


def test_an_adapter_is_refused_because_its_base_is_elsewhere(gpt2):
    """Another base under the same name would have been reused as the same model."""
    (gpt2 / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "org/base"}))
    assert "is an adapter" in refused(gpt2) or "holds an adapter" in refused(gpt2)
    assert "merge_and_unload" in refused(gpt2)


def test_classifiers_are_no_language_models(gpt2):
    """Where the head is the embeddings, nothing was missing, and scores were had of what is left of the old one."""
    config = json.loads((gpt2 / "config.json").read_text())
    changed = config | {"architectures": ["GPT2ForSequenceClassification"]}
    (gpt2 / "config.json").write_text(json.dumps(changed))
    assert "GPT2ForSequenceClassification was trained for another task" in refused(gpt2)
    assert type(load_scorer(gpt2, kind="causal")) is CausalScorer


@pytest.mark.parametrize(
    "name", ["org/no-such-model", "no-such-model", "org/no-such-model@v1", "org/model@refs/pr/1", "bad name"]
)
def test_names_that_the_hub_does_not_know_offline(name, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    message = refused(name)
    assert message.startswith(f"'{name}' could not be loaded as a model")
    assert (
        "bundled models: tiny-causal, tiny-causal-french, " in message and "tiny-masked-russian." in message
    )


def test_revision_of_a_model_on_the_hub_is_its_commit(gpt2, tmp_path, monkeypatch):
    """By the branch's name alone, scores of the weights that it held before were taken for those it holds now."""
    files = {path.name: Blob(path.read_bytes()) for path in gpt2.iterdir()}
    with LoopbackHub() as hub:
        read_from(hub, tmp_path / "cache", monkeypatch)
        repo = hub.content.create("models", "org/model")
        first = repo.commit(files, "first").oid
        repo.tags["v1"] = first
        for name in ("org/model", "org/model@main", "org/model@v1", f"org/model@{first}"):
            assert load_scorer(name).signature["revision"] == first
        config = json.loads(files["config.json"].content) | {"layer_norm_epsilon": 0.5}
        second = repo.commit(files | {"config.json": Blob(json.dumps(config).encode())}, "second").oid
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
    message = refused("org/model")
    assert "the Hub does not answer" in message and "bundled models: tiny-causal" in message


@pytest.mark.parametrize("option", ["device", "dtype", "kind", "pll"])
def test_unknown_options(bert, option):
    assert "nonsense" in refused(bert, **{option: "nonsense"})


def test_devices_and_dtypes():
    assert choose_device("cpu") == torch.device("cpu")
    with pytest.raises(ValueError, match="Use device='auto' or device='cpu'"):
        choose_device("cuda:99")


@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_dtype_is_that_of_the_weights_and_in_the_signature(gpt2, dtype):
    scorer = load_scorer(gpt2, dtype=dtype)
    assert scorer.signature["dtype"] == dtype
    assert scorer.model.dtype is getattr(torch, dtype)


@pytest.mark.parametrize("name, kind", [("tiny-masked", "masked"), ("tiny-causal", "causal")])
def test_bundled_models_by_name(name, kind):
    scorer = load_scorer(name)
    assert scorer.signature["kind"] == kind and scorer.signature["model"] == name


def test_what_has_no_effect_on_a_named_or_loaded_model_is_refused(tmp_path):
    """A second tokenizer, and options of a scorer that is loaded already, were dropped without a word."""
    scorer = load_scorer("tiny-causal")
    with pytest.raises(ValueError, match=r"tokenizer .*no effect .*'tiny-causal'.*its own"):
        load_scorer("tiny-causal", tokenizer=scorer.tokenizer)
    with pytest.raises(ValueError, match=r"dtype .*no effect .*tiny-causal.*load_scorer"):
        tse_scorers.run(scorer, out=tmp_path, model_options={"dtype": "float64"})
    with pytest.raises(TypeError, match=r"Got dtype=torch\.float64 \(dtype\); expected a text"):
        load_scorer("tiny-causal", dtype=torch.float64)
    with pytest.raises(TypeError, match=r"batch_tokens=True \(bool\); .*whole number"):
        load_scorer("tiny-causal", batch_tokens=True)
    assert load_scorer("tiny-causal", batch_tokens=np.int64(64), dtype=None).batch_tokens == 64
