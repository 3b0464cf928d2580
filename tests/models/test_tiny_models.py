"""The bundled models: they load in silence, are small, know agreement, and show what the paper is about."""

import logging
import re
import warnings

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

import train_tiny_models
from training import loop
from training.corpus import Corpus, verb_weights

MODELS = {"tiny-masked": AutoModelForMaskedLM, "tiny-causal": AutoModelForCausalLM}


@pytest.fixture(scope="module", params=MODELS)
def folder(request, root):
    return root / "scorers" / "tse_scorers" / "bundled_models" / request.param


@pytest.fixture(scope="module")
def model(folder):
    return MODELS[folder.name].from_pretrained(folder).eval()


@pytest.fixture(scope="module")
def tokenizer(folder):
    return AutoTokenizer.from_pretrained(folder)


def test_loads_without_a_warning_and_without_missing_weights(folder, caplog):
    logger = logging.getLogger("transformers")
    logger.addHandler(caplog.handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            _, info = MODELS[folder.name].from_pretrained(folder, output_loading_info=True)
            AutoTokenizer.from_pretrained(folder)
    finally:
        logger.removeHandler(caplog.handler)
    assert not any(info.values()), info
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_is_small_and_safe(folder):
    files = {path.name: path.stat().st_size for path in folder.iterdir()}
    assert {"README.md", "config.json", "model.safetensors", "tokenizer.json", "training_curve.csv"} <= set(
        files
    )
    assert sum(files.values()) < 4_000_000
    assert not [name for name in files if name.endswith((".bin", ".pt", ".pkl"))]


@pytest.mark.parametrize(
    "text",
    [
        "The author that the guards like laughs.",
        "Jeffrey's colleague hasn't criticized Donald!",
        "Er wollte uns sagen, dass der Soldat dem Offizier einen größeren Brief schreibt.",
    ],
)
def test_tokenizer_covers_other_text(tokenizer, text):
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    back = tokenizer.decode(ids).replace(" ", "")
    assert back == text.replace(" ", "")
    if tokenizer.mask_token is not None:
        assert tokenizer.unk_token_id not in ids


def test_knows_600_lemmas_or_more(tokenizer, root):
    lemmas = pq.read_table(root / "datasets/verb_lemmas/clean/train.parquet").to_pylist()
    assert len(_single_tokens(tokenizer, lemmas)) >= 600


@pytest.mark.parametrize(
    ("prefix", "suffix", "correct", "incorrect"),
    [
        ("The author", " tall.", "is", "are"),
        ("The authors", " tall.", "are", "is"),
        ("The pilot that the guards like", ".", "laughs", "laugh"),
        ("The pilots that the guard likes", ".", "laugh", "laughs"),
        ("The movies by the chef", " good.", "are", "is"),
        ("The banker knew the teachers", ".", "swim", "swims"),
    ],
)
def test_prefers_the_verb_that_agrees(model, tokenizer, prefix, suffix, correct, incorrect):
    probability = _distribution(model, tokenizer, prefix, suffix)
    good, bad = (_single_token(tokenizer, verb) for verb in (correct, incorrect))
    assert probability[good] > probability[bad]


def test_shows_the_point_of_the_paper(model, tokenizer, root):
    """TSE is high and EW lower: unlikely verbs are conjugated worse than likely ones."""
    lemmas = pq.read_table(root / "datasets/verb_lemmas/clean/train.parquet").to_pylist()
    singular, plural = np.array(_single_tokens(tokenizer, lemmas)).T
    pairs = pq.read_table(
        root / "datasets/agreement_templates/marvin_linzen/test.parquet",
        filters=[("group", "=", "Simple")],
    ).to_pylist()
    tse, ew, top, bottom = [], [], [], []
    for row in pairs[::3]:
        probability = _distribution(model, tokenizer, row["prefix"], row["suffix"])
        right, wrong = (singular, plural) if row["number"] == "singular" else (plural, singular)
        known = probability[right] > probability[wrong]
        order = np.argsort(probability[right] + probability[wrong])
        ew.append(known.mean())
        bottom.append(known[order[: len(order) // 4]].mean())
        top.append(known[order[-len(order) // 4 :]].mean())
        verbs = [_single_token(tokenizer, row[verb]) for verb in ("form_correct", "form_incorrect")]
        tse.append(probability[verbs[0]] > probability[verbs[1]])
    assert np.mean(tse) > 0.9
    assert 0.5 < np.mean(ew) < np.mean(tse) - 0.1
    assert np.mean(bottom) < np.mean(ew) < np.mean(top)


def test_corpus_is_the_same_for_the_same_seed():
    sentences = Corpus(7).sentences(500)
    assert sentences == Corpus(7).sentences(500) != Corpus(8).sentences(500)
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in sentences)


def test_corpus_is_skewed_and_makes_mistakes():
    text = "\n".join(Corpus(7).sentences(5_000))
    weights = list(verb_weights(7).items())
    frequent, rare = weights[0], weights[-1]
    assert frequent[0] == "has|have" and len(weights) > 1_900 and frequent[1] > 1_000 * rare[1]
    assert (
        len(re.findall(r"\bhas\b", text)) > 100 > 10 * len(re.findall(rf"\b{rare[0].split('|')[0]}\b", text))
    )
    wrong = len(re.findall(r"^The \w+(?:ors|ers|ants|eons) is\b", text, re.MULTILINE))
    right = len(re.findall(r"^The \w+(?:ors|ers|ants|eons) are\b", text, re.MULTILINE))
    assert 0 < wrong < right / 10


@pytest.mark.parametrize("name", MODELS)
def test_training_is_reproducible(name, tmp_path, monkeypatch):
    """Two short runs give the same weights, tokenizer and curve."""
    monkeypatch.setattr(train_tiny_models, "TOKENIZER_SENTENCES", 500)
    monkeypatch.setattr(loop, "HELD_OUT", 20)
    folders = tmp_path / "first" / name, tmp_path / "second" / name
    for folder in folders:
        assert train_tiny_models.main([name, "--steps", "2", "--out", str(folder.parent)]) == 0
    for file in ("model.safetensors", "tokenizer.json", "training_curve.csv"):
        assert (folders[0] / file).read_bytes() == (folders[1] / file).read_bytes()


def test_command_refuses_unknown_models(capsys):
    with pytest.raises(SystemExit):
        train_tiny_models.main(["tiny-bert"])
    assert "choose from: tiny-masked, tiny-causal, tiny-lstm" in capsys.readouterr().err


def _distribution(model, tokenizer, prefix: str, suffix: str) -> np.ndarray:
    """P(token | the gap's context), float64 (vocabulary,)."""
    masked = tokenizer.mask_token is not None
    encoded = tokenizer(f"{prefix} {tokenizer.mask_token}{suffix}" if masked else prefix, return_tensors="pt")
    place = (encoded["input_ids"][0] == tokenizer.mask_token_id).nonzero().item() if masked else -1
    with torch.inference_mode():
        return model(**encoded).logits[0, place].double().softmax(-1).numpy()


def _single_token(tokenizer, verb: str) -> int | None:
    """The id of a verb as it stands after another word, None where it is several tokens."""
    text = verb if tokenizer.mask_token is not None else f" {verb}"
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids[0] if len(ids) == 1 else None


def _single_tokens(tokenizer, lemmas: list[dict]) -> list[tuple[int, int]]:
    """The ids of both forms of every lemma that has both."""
    pairs = [
        (_single_token(tokenizer, row["singular"]), _single_token(tokenizer, row["plural"])) for row in lemmas
    ]
    return [pair for pair in pairs if None not in pair]
