"""Texts that are longer than a model's window, against loops that are written out with `transformers` alone."""

import json
import random

import numpy as np
import pandas as pd
import pytest
import torch
from plain_loop import _logprobs, float64_model
from tiny import NOUNS, OTHER, VERBS, tiny_model

from tse_scorers import load_scorer, score_dataset
from tse_scorers.cli import main
from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.masked import MaskedScorer
from tse_scorers.models.tokens import boundary_ids
from tse_scorers.models.words import TextWarning


def long_text(n_words: int) -> str:
    drawn = random.Random(0)
    return " ".join(drawn.choice([*NOUNS, *VERBS, *OTHER]) for _ in range(n_words)) + "."


def literal(model, tokenizer, text: str, start: int | None, size: int, stride: int):
    """Log P of each token and log P(a space or the end next) before and after it, one window after the other.

    What follows a token is read where the next token is scored, and after the last one in the last window.
    """
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    first, ends = [] if start is None else [start], boundary_ids(tokenizer)
    room = size - len(first)
    scored, before, after = [], [], []
    for begin in range(0, len(ids), stride):
        if len(scored) == len(ids):
            break
        window = ids[begin : begin + room]
        logprobs = _logprobs(model, first + window)
        ending = logprobs[:, ends].logsumexp(dim=1) if len(ends) else torch.zeros(len(logprobs))
        for index in range(len(scored), begin + len(window)):
            column = index - begin + len(first) - 1
            scored.append(logprobs[column, ids[index]].item() if column >= 0 else np.nan)
            before.append(ending[column].item() if column >= 0 else np.nan)
    after = [*before[1:], ending[-1].item()]
    return np.array(scored), np.array(before), np.array(after)


def words_of(text: str, spans, scored, before, after):
    """Sums over words, with the probability that each word ends, and without that of the word before it."""
    words, place, token_ends = [], 0, np.array([end for _, end in spans])
    for number, word in enumerate(text.split()):
        begin = text.index(word, place)
        place = begin + len(word)
        own = np.arange(*np.searchsorted(token_ends, [begin, place], side="right"))
        words.append(scored[own].sum() + after[own[-1]] - (before[own[0]] if number else 0.0))
    return np.array(words)


@pytest.mark.parametrize("stride", [None, pytest.param(50, marks=pytest.mark.slow)])
def test_tokens_of_many_windows_equal_a_literal_loop(stride):
    """A long text was refused; its log-probability and its surprisals are those of a loop over windows."""
    scorer, text = load_scorer("tiny-causal", dtype="float64"), long_text(1600)
    model, tokenizer = scorer.model, scorer.tokenizer
    scored, before, after = literal(model, tokenizer, text, tokenizer.bos_token_id, 256, stride or 128)
    assert len(scored) >= 6 * 256
    with pytest.raises(ValueError, match="longer than the 256 positions"):
        scorer.sentence_logprobs([text])
    middle = text.index(" ", 2000)
    rows = [{"text": text, "before": text[:middle], "rest": text[middle + 1 :]}]
    with pytest.warns(TextWarning, match="read in overlapping windows"):
        assert scorer.map(rows, "text", stride=stride)[0]["logprob_text"] == pytest.approx(
            scored.sum(), abs=1e-4
        )
    spans = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    found = scorer.map(rows, surprisals="text", stride=stride)[0]["surprisals_text"]
    np.testing.assert_allclose(-np.array(found), words_of(text, spans, scored, before, after), atol=1e-4)
    n_before = sum(end <= middle for _, end in spans)
    (of_rest,) = scorer.map(rows, "rest", context="before", stride=stride)
    assert of_rest["logprob_rest"] == pytest.approx(scored[n_before:].sum(), abs=1e-4)


@pytest.mark.parametrize(
    ("family", "start_token"), [("gpt2", None), ("gpt2", "none"), ("llama", None), ("mistral", None)]
)
def test_windows_of_every_kind_of_causal_model(family, start_token):
    model, tokenizer = tiny_model("causal", family)
    scorer = CausalScorer(model, tokenizer, name=family, start_token=start_token).with_windows(17)
    text = long_text(150)
    scored, before, after = literal(
        float64_model("causal", family), tokenizer, text, scorer.start_token, 64, 17
    )
    assert scorer.sentence_logprobs([text, "The author laughs."])[0] == pytest.approx(
        np.nansum(scored), abs=1e-4
    )
    tokens = scorer.token_logprobs([text])[0]
    np.testing.assert_allclose(tokens.logprobs, scored, atol=1e-4)
    spans = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    found = [logprob for _, logprob in scorer.word_logprobs([text])[0]]
    np.testing.assert_allclose(found, words_of(text, spans, scored, before, after), atol=1e-4)


def test_each_token_after_the_first_window_has_half_a_window_of_context():
    for size in (9, 10):
        for start_token in ("none", None):
            model, tokenizer = tiny_model("causal", "gpt2")
            scorer = CausalScorer(model, tokenizer, start_token=start_token)
            scorer.window, scorer.stride = size, size // 2
            for length in range(1, 40):
                rows, row, column = scorer.windows([list(range(length))])
                assert max(map(len, rows)) <= size
                read = [rows[k][c] for k, c in zip(row, column, strict=True)]
                assert read == list(range(length))
                assert all(c + 1 >= size / 2 for k, c in zip(row, column, strict=True) if k)


@pytest.mark.parametrize("family", ["bert", "roberta"])
@pytest.mark.parametrize("pll", ["original", "within_word_l2r"])
def test_a_masked_model_reads_a_window_around_each_token(family, pll):
    model, tokenizer = tiny_model("masked", family)
    scorer = MaskedScorer(model, tokenizer, pll=pll).with_windows()
    size, text = scorer.signature["window"], long_text(150)
    encoded = tokenizer(text, return_offsets_mapping=True)
    ids, words = encoded["input_ids"], encoded.word_ids()
    n, room, total = len(ids) - 2, size - 2, np.zeros(len(text.split()))
    assert n > 2 * size
    double = float64_model("masked", family)
    for i in range(n):
        begin = min(max(i - room // 2, 0), n - room)
        hidden = [
            j == i or (pll == "within_word_l2r" and j > i and words[1 + j] == words[1 + i])
            for j in range(begin, begin + room)
        ]
        inside = [
            tokenizer.mask_token_id if masked else ids[1 + begin + k] for k, masked in enumerate(hidden)
        ]
        logprob = _logprobs(double, [ids[0], *inside, ids[-1]])[1 + i - begin, ids[1 + i]].item()
        total[len(text[: encoded["offset_mapping"][1 + i][1]].split()) - 1] += logprob
    found = [logprob for _, logprob in scorer.word_logprobs([text])[0]]
    np.testing.assert_allclose(found, total, atol=1e-4)
    assert scorer.sentence_logprobs([text])[0] == pytest.approx(total.sum(), abs=1e-4)


def test_an_lstm_and_an_ngram_model_have_no_window(root):
    """An LSTM reads 5,000 tokens at once, as its own forward pass does; neither has a stride."""
    scorer, text = load_scorer("tiny-lstm"), long_text(5000)
    ids = [scorer.start_token, *scorer.tokenizer(text, add_special_tokens=False)["input_ids"]]
    logprobs = _logprobs(scorer.model, ids)
    expected = sum(logprobs[i, token].item() for i, token in enumerate(ids[1:]))
    (found,) = scorer.map([{"text": text}], "text")
    assert found["logprob_text"] == pytest.approx(expected, abs=1e-4 * len(ids) ** 0.5)
    assert "window" not in scorer.with_windows().signature
    ngram = load_scorer(str(root / "tests/golden/tiny_trigram.arpa"))
    assert np.isfinite(ngram.map([{"text": text}], "text")[0]["logprob_text"])
    for without in (scorer, ngram):
        with pytest.raises(ValueError, match="stride has no effect on"):
            without.map([{"text": text}], "text", stride=3)
    with pytest.raises(ValueError, match=r"stride .*no effect .*tiny-masked, .*masked model"):
        score_dataset([{"text": text}], "tiny-masked", "text", stride=3)


@pytest.mark.parametrize("name", ["tiny-causal", "tiny-masked", "tiny-lstm"])
def test_short_texts_are_scored_as_before(name):
    scorer = load_scorer(name)
    texts = [long_text(n) for n in (3, 30, 100)]
    windowed = scorer.with_windows()
    np.testing.assert_allclose(
        windowed.sentence_logprobs(texts), scorer.sentence_logprobs(texts), rtol=0, atol=1e-12
    )
    for found, expected in zip(windowed.word_logprobs(texts), scorer.word_logprobs(texts), strict=True):
        np.testing.assert_allclose([x for _, x in found], [x for _, x in expected], rtol=0, atol=1e-12)


def run_tse(monkeypatch, *arguments) -> int:
    monkeypatch.setattr("sys.argv", ["tse", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_tse_score_says_window_and_stride(tmp_path, monkeypatch, capfd):
    """`tse score` refused a text that was longer than the window."""
    pd.DataFrame({"sentence": [long_text(500), "The author laughs."]}).to_csv(tmp_path / "x.csv", index=False)
    scored = ("score", tmp_path / "x.csv", "--model", "tiny-causal", "--by", "word")
    assert not run_tse(monkeypatch, *scored, "--out", tmp_path / "words.csv", "--stride", 100)
    said = capfd.readouterr().err
    assert "1 of 2 texts are longer than the 256 tokens that tiny-causal reads at once" in said
    signature = json.loads((tmp_path / "words.csv.signature.json").read_text())
    assert (signature["window"], signature["stride"]) == (256, 100)
    assert len(pd.read_csv(tmp_path / "words.csv")) == 503
    assert run_tse(monkeypatch, *scored, "--stride", 129)
    assert "Got --stride 129; expected a number from 1 to 128" in capfd.readouterr().err
