"""Surprisals of words that white space does not separate: `tse score --words`, `scorer.map(…, words=…)`."""

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import torch
from datasets import Dataset
from ngrams import train_ngram
from plain_loop import _logprobs, float64_model
from tiny import SENTENCES, tiny_model
from tokenizers import Tokenizer, decoders, models

from tse_scorers import load_scorer
from tse_scorers.cli import main
from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.masked import MaskedScorer
from tse_scorers.models.words import TextWarning, name_unknown

CHINESE = "我爱北京天安门。"
SPLIT = ["我", "爱", "北京", "天安门", "。"]


def score(monkeypatch, *arguments) -> int:
    monkeypatch.setattr("sys.argv", ["tse", "score", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


@pytest.fixture
def gpt2(tmp_path):
    """The folder of a tiny model with GPT-2's kind of tokenizer, which reads any script as bytes."""
    for part in tiny_model("causal", "gpt2"):
        part.save_pretrained(tmp_path / "gpt2")
    return tmp_path / "gpt2"


def literal(text: str, words: list[str]) -> list[float]:
    """The sum over the tokens of each word, one after the other, by their bytes."""
    tokenizer = tiny_model("causal", "gpt2")[1]
    ids = tokenizer(text)["input_ids"]
    logprobs = _logprobs(float64_model("causal", "gpt2"), [tokenizer.bos_token_id, *ids])
    sums, place, end = [], 0, 0
    sizes = [
        len(tokenizer.convert_ids_to_tokens(token)) for token in ids
    ]  # a sign of the vocabulary is a byte
    for word in words:
        end += len(word.encode())
        own = []
        while place < len(ids) and sum(sizes[: place + 1]) <= end:
            own.append(logprobs[place, ids[place]].item())
            place += 1
        sums.append(sum(own))
    assert place == len(ids)
    return sums


def test_a_chinese_sentence_has_its_words(gpt2, tmp_path, monkeypatch, capfd):
    """A Chinese sentence was one word of hundreds of nats; now a message says so, and --words names its words."""
    expected = [-logprob for logprob in literal(CHINESE, SPLIT)]
    texts, lists = [CHINESE, "你好。"], [SPLIT, ["你好", "。"]]
    frame = pd.DataFrame({"item": [7, 8], "sentence": texts, "words": lists})
    frame.to_json(tmp_path / "lists.jsonl", orient="records", lines=True, force_ascii=False)
    frame.to_parquet(tmp_path / "lists.parquet")
    as_json = frame.assign(words=[json.dumps(words, ensure_ascii=False) for words in lists])
    as_json.to_csv(tmp_path / "lists.csv", index=False)
    as_json.drop(columns="sentence").to_csv(tmp_path / "words.csv", index=False)
    for name in ("lists.jsonl", "lists.parquet", "lists.csv", "words.csv"):
        out = tmp_path / f"{name}.out.csv"
        assert not score(monkeypatch, tmp_path / name, "-m", gpt2, "--words", "words", "--out", out), (
            capfd.readouterr()
        )
        found = pd.read_csv(out)
        assert list(found) == ["item", "sentence_id", "word_id", "word", "logprob", "surprisal_nats"]
        assert found["word"].tolist() == [*SPLIT, "你好", "。"]
        assert found["surprisal_nats"][:5].tolist() == pytest.approx(expected, abs=1e-4)
        assert json.loads((tmp_path / f"{name}.out.csv.signature.json").read_text())["words"] == "words"
        assert "one 'word'" not in capfd.readouterr().err
    assert not score(monkeypatch, tmp_path / "lists.csv", "-m", gpt2, "--by", "word")
    said = capfd.readouterr().err
    assert "a whole sentence or clause is one 'word': 2" in said and "--words" in said
    rows = [{"text": CHINESE, "words": SPLIT}]
    scorer = load_scorer(str(gpt2))
    for data in (
        rows,
        Dataset.from_list(rows),
        pd.DataFrame(rows),
        Dataset.from_list(rows).to_iterable_dataset(),
    ):
        mapped = scorer.map(data, surprisals="text", words="words")
        (row,) = mapped.to_dict("records") if isinstance(mapped, pd.DataFrame) else list(mapped)
        assert list(row["surprisals_text"]) == pytest.approx(expected, abs=1e-4)
        assert list(row["starts_text"]) == [0, 1, 2, 4, 7]
    with pytest.warns(UserWarning, match="Split them into words") as told:
        scorer.map(rows, surprisals="text")
    assert {type(each.message).__name__ for each in told} == {"DataWarning"}


@pytest.mark.parametrize("family", ["gpt2", "llama", "mistral", "bert", "roberta"])
def test_words_between_spaces_are_the_same_when_they_are_given(family):
    """Words that spaces separate have the correction for spaces, also where they are given."""
    kind = "masked" if family in ("bert", "roberta") else "causal"
    scorer = (MaskedScorer if kind == "masked" else CausalScorer)(*tiny_model(kind, family))
    for leading_space in (False, True):
        scorer.leading_space = leading_space
        expected = scorer.word_logprobs(SENTENCES)
        found = scorer.word_logprobs(SENTENCES, words=[text.split() for text in SENTENCES])
        assert found == expected
        apart = scorer.word_logprobs(SENTENCES, words=[[*text[:-1].split(), "."] for text in SENTENCES])
        for of_apart, of_text in zip(apart, expected, strict=True):
            assert of_apart[:-2] == of_text[:-1]
            assert of_apart[-2][1] + of_apart[-1][1] == pytest.approx(of_text[-1][1], abs=1e-9)


def test_a_token_over_two_words_is_named_and_counts_for_the_first():
    """A vocabulary may have 的是 as one token; nothing is known of 是 alone, and the sum stays that of the text."""
    pieces = ["<s>", "<unk>", *"我爱你的是", "的是"]
    inside = Tokenizer(models.Unigram([(piece, -2.0) for piece in pieces], unk_id=1))
    inside.decoder = decoders.Fuse()
    inside.add_special_tokens(["<s>"])
    weights = torch.randn(len(pieces), len(pieces), generator=torch.Generator().manual_seed(0))
    scorer = load_scorer(lambda ids: weights[ids], inside)
    text, words = "我的是你", ["我", "的", "是", "你"]
    with pytest.warns(TextWarning, match=r"next word: 1.*NaN.: 1 .'是'"):
        (found,) = scorer.word_logprobs([text], words=[words])
    assert [word for word, _ in found] == words and np.isnan(found[2][1])
    logprobs = weights.double().log_softmax(-1)
    ids = [pieces.index(piece) for piece in ("<s>", "我", "的是", "你")]
    expected = [logprobs[before, after].item() for before, after in pairwise(ids)]
    assert [found[i][1] for i in (0, 1, 3)] == pytest.approx(expected, abs=1e-5)
    assert sum(expected) == pytest.approx(scorer.sentence_logprobs([text])[0], abs=1e-5)


def test_an_ngram_model_reads_the_given_words(tmp_path):
    model = load_scorer(str(train_ngram(tmp_path, 2, ["我 爱 你", "我 爱 北京"])))
    (found,) = model.word_logprobs(["我爱你"], words=[["我", "爱", "你"]])
    assert found == model.word_logprobs(["我 爱 你"])[0]
    (row,) = model.map([{"text": "我爱你", "w": ["我", "爱", "你"]}], surprisals="text", words="w")
    assert row["surprisals_text"] == [-logprob for _, logprob in found]
    assert row["starts_text"] == [0, 1, 2] and row["ends_text"] == [1, 2, 3]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([["我", "爱", "天"]], "'北京天安门。' .*character 3, .*'天'"),
        ([SPLIT[:-1]], "'。' .*character 8, .*no more"),
        ([[*SPLIT, "！"]], "'' .*character 9, .*'！'"),
        (["我 爱"], "list of words, .*JSON"),
        ([["我", 3]], "expected a list of words"),
        ([[]], "expected a list of words"),
    ],
)
def test_words_must_spell_their_text(words, said):
    """What no word covers would be missing in the sums without a word."""
    with pytest.raises(ValueError, match=said) as error:
        load_scorer("tiny-causal").map([{"text": CHINESE, "w": words[0]}], surprisals="text", words="w")
    assert "row 1" in str(error.value)


def test_words_are_refused_where_they_have_no_effect(tmp_path, monkeypatch, capfd):
    (tmp_path / "x.jsonl").write_text(json.dumps({"sentence": CHINESE, "words": SPLIT}), encoding="utf-8")
    for by in ("sentence", "region"):
        assert score(monkeypatch, tmp_path / "x.jsonl", "-m", "tiny-causal", "--words", "words", "--by", by)
        assert f"--words has no effect with --by {by}" in capfd.readouterr().err
    with pytest.raises(ValueError, match="words has no effect with columns"):
        load_scorer("tiny-causal").map([{"text": "a", "w": ["a"]}], "text", words="w")


def test_length_of_words(tmp_path, monkeypatch, capfd):
    """Reading times are explained by length too; it stands beside the surprisal on request."""
    (tmp_path / "x.txt").write_text("The author laughs.\n", encoding="utf-8")
    scored = (tmp_path / "x.txt", "-m", "tiny-causal", "--out", tmp_path / "out.csv")
    assert not score(monkeypatch, *scored, "--length")
    found = pd.read_csv(tmp_path / "out.csv")
    assert list(found) == ["sentence_id", "word_id", "word", "length", "logprob", "surprisal_nats"]
    assert found["length"].tolist() == [3, 6, 7]
    assert json.loads((tmp_path / "out.csv.signature.json").read_text())["length"] is True
    assert score(monkeypatch, *scored, "--by", "word")  # another signature
    assert "length was true and is false" in capfd.readouterr().err
    assert score(monkeypatch, *scored, "--by", "sentence", "--length", "--overwrite")
    assert "--length has no effect with --by sentence" in capfd.readouterr().err


def test_a_long_unknown_word_is_shortened():
    """All 1,900 characters of one were printed."""
    with pytest.warns(TextWarning, match=r"does not know 1 words, .*: 'zzz") as told:
        name_unknown("m", [["z" * 1_900]], "<unk>", set())
    assert len(str(told[0].message)) < 300
