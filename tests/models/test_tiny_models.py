"""The bundled models: they load in silence, are small, know agreement, and show what the paper is about."""

import logging
import warnings

import pandas as pd
import pytest
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

from tse_scorers import load_scorer, score_dataset

MODELS = {"tiny-masked": AutoModelForMaskedLM, "tiny-causal": AutoModelForCausalLM}


@pytest.fixture(scope="module", params=MODELS)
def folder(request, root):
    return root / "scorers" / "tse_scorers" / "bundled_models" / request.param


@pytest.fixture(scope="module")
def lemmas(root):
    return pd.read_parquet(root / "datasets/verb_lemmas/clean/train.parquet")[["singular", "plural"]]


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
    assert {"README.md", "config.json", "model.safetensors", "tokenizer.json"} <= set(files)
    assert sum(files.values()) < 4_000_000
    assert not [name for name in files if name.endswith((".bin", ".pt", ".pkl"))]


@pytest.mark.parametrize(
    "text",
    ["Jeffrey's colleague hasn't criticized Donald!", "Er schreibt dem Offizier einen größeren Brief."],
)
def test_tokenizer_covers_other_text(folder, text):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert tokenizer.decode(ids).replace(" ", "") == text.replace(" ", "")


def test_prefers_the_verb_that_agrees(folder):
    rows = [
        ("The author", " tall.", "is", "are"),
        ("The authors", " tall.", "are", "is"),
        ("The pilot that the guards like", ".", "laughs", "laugh"),
        ("The pilots that the guard likes", ".", "laugh", "laughs"),
        ("The movies by the chef", " good.", "are", "is"),
        ("The banker knew the teachers", ".", "swim", "swims"),
    ]
    good, bad = (
        load_scorer(folder).sentence_logprobs([f"{row[0]} {row[verb]}{row[1]}" for row in rows])
        for verb in (2, 3)
    )
    assert (good > bad).all()


def test_shows_the_point_of_the_paper(folder, lemmas, root):
    """TSE is high and EW lower: unlikely verbs are conjugated worse than likely ones."""
    pairs = pd.read_parquet(root / "datasets/agreement_templates/marvin_linzen/test.parquet")
    pairs = pairs[pairs["group"] == "Simple"].iloc[::3]
    scored = score_dataset(pairs, str(folder), lemmas=lemmas, cutoffs=True)
    assert scored["n_lemmas"].min() >= 600
    tse = (scored["logprob_correct"] > scored["logprob_incorrect"]).mean()
    ew, likely, unlikely = (scored[f"ew_{cutoff}"].mean() for cutoff in ("top_1", "top_0.5", "bottom_0.01"))
    assert tse > 0.9 and 0.5 < ew < tse - 0.1
    assert unlikely < ew < likely
