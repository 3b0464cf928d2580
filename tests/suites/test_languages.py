"""TSE, EW and MW in German, French, Russian and Hebrew, from the shipped templates and lemma lists."""

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from tse_scorers import Slot, load_scorer
from tse_scorers.models.lstm.tokenizer import word_tokenizer
from tse_scorers.runs.run import Run
from tse_scorers.suites.agreement.data import CLAMS, load, load_lemmas
from tse_scorers.suites.agreement.suite import AgreementSuite

LANGUAGES = sorted(CLAMS)


@pytest.fixture(scope="module", params=LANGUAGES)
def dataset(request):
    return request.param


def model_of(dataset: str):
    """A small causal model with random weights whose words are those of the templates and of the lemma list."""
    pairs, lemmas = load(dataset), load_lemmas(CLAMS[dataset])
    texts = pd.concat([pairs[column] for column in ("prefix", "suffix", "verb_correct", "verb_incorrect")])
    texts = pd.concat([texts, lemmas["singular"], lemmas["plural"], pd.Series(["The author."])])
    tokenizer = word_tokenizer({"<unk>": 0, "<eos>": 1}, bos_token="<eos>", eos_token="<eos>")
    split = tokenizer.backend_tokenizer.pre_tokenizer.pre_tokenize_str
    words = sorted({word for text in texts.unique() for word, _ in split(text)})
    vocabulary = {word: index for index, word in enumerate(["<unk>", "<eos>", *words])}
    tokenizer = word_tokenizer(vocabulary, bos_token="<eos>", eos_token="<eos>")
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(vocabulary), n_positions=64, n_embd=16, n_layer=1, n_head=2, initializer_range=0.3,
        bos_token_id=1, eos_token_id=1,
    )  # fmt: skip
    return GPT2LMHeadModel(config).eval(), tokenizer


def test_scores_are_those_of_the_definitions(dataset, tmp_path):
    model, tokenizer = model_of(dataset)
    scorer = load_scorer(model, tokenizer)
    suite = AgreementSuite(dataset, limit=2)
    rows = {(row["group"], row["metric"], row["cutoff"]): row for row in Run(suite, tmp_path).add(scorer)}
    pairs, lemmas = load(dataset, limit=2), load_lemmas(CLAMS[dataset])
    ids = [torch.tensor(scorer.single_token_ids(lemmas[form].tolist())) for form in ("singular", "plural")]
    assert all((of_form >= 0).all() for of_form in ids)
    contexts = pairs.drop_duplicates(["prefix", "number"])
    prefixes = [Slot(prefix, "") for prefix in contexts["prefix"]]
    logprobs = torch.from_numpy(
        scorer.read_slots(
            prefixes, lambda logits, _: torch.log_softmax(logits.double(), -1).numpy(), len(tokenizer)
        )
    )
    singular, plural = (logprobs[:, of_form] for of_form in ids)
    is_singular = torch.tensor((contexts["number"] == "singular").to_numpy())[:, None]
    correct, incorrect = (
        torch.where(is_singular, singular, plural),
        torch.where(is_singular, plural, singular),
    )
    ew = (correct > incorrect).double().mean().item()
    mass = correct.exp().sum(1) / (correct.exp().sum(1) + incorrect.exp().sum(1))
    assert rows["all", "ew", 1.0]["score"] == pytest.approx(ew, abs=1e-6)
    assert rows["all", "mw", 1.0]["score"] == pytest.approx(mass.mean().item(), abs=1e-6)
    assert rows["all", "ew", 1.0]["n_lemmas"] == len(lemmas)
    assert rows["all", "tse", None]["n"] == len(pairs)


def test_units_are_the_subjects(dataset):
    pairs = load(dataset)
    inside = [
        subject in prefix.lower() for subject, prefix in zip(pairs["cluster"], pairs["prefix"], strict=True)
    ]
    assert np.all(inside) and 10 <= pairs["cluster"].nunique() < 200


def test_the_list_of_what_no_list_has_is_refused():
    with pytest.raises(ValueError, match="'excluded' contains the verbs that were removed"):
        AgreementSuite("clams_german", lemmas="excluded", limit=1)
