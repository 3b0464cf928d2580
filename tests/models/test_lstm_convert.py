"""The converters on both published formats of LSTM checkpoints, and what they refuse."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch
from command_line import tse
from lstm_checkpoints import (
    MAGIC,
    PROTOCOL,
    SENTENCES,
    VOCABULARY,
    WORDS,
    RNNModel,
    WordNlm,
    save_as_torch_0_3,
    save_module,
)

from tse_scorers import load_scorer
from tse_scorers.models.lstm_convert import convert_lstm, read_checkpoint

GERMAN = "der die . , soldat brief dass bzw. schreibt um \u2028".split(" ")


def save(content, path):
    """In the layout of torch 0.2 to 1.5."""
    torch.save(content, path, _use_new_zipfile_serialization=False)


def reference_logprob(model, words):
    """Log P(words | <eos>) by the original module, one word at a time, in float64."""
    model = model.double().eval()
    total, hidden, previous = 0.0, None, 1
    with torch.no_grad():
        for word in (VOCABULARY.index(word) if word in VOCABULARY else 0 for word in words):
            logits, hidden = model(torch.tensor([[previous]]), hidden)
            total += logits[0, 0].log_softmax(-1)[word].item()
            previous = word
    return total


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("write", [save_module, save_as_torch_0_3])
def test_colorless_green_scores_as_the_original(tmp_path, write, tied):
    torch.manual_seed(1)
    original = RNNModel("LSTM", len(VOCABULARY), 14, 14 if tied else 10, 2, tie_weights=tied)
    write(original, tmp_path / "model.pt")
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY), encoding="utf-8")
    out = convert_lstm(tmp_path / "model.pt", tmp_path / "vocab.txt", tmp_path / "out")
    converted = load_scorer(out)
    expected = [reference_logprob(original, words) for words in WORDS]
    assert converted.sentence_logprobs(SENTENCES) == pytest.approx(expected, abs=1e-4)
    config = converted.model.config
    assert (config.tie_word_embeddings, config.dropout) == (tied, 0.2)
    assert len(config.converted_from["sha256"]) == 64 and "model" not in sys.modules


@pytest.mark.parametrize("with_special_lines", [True, False])
def test_wordnlm_scores_as_the_original(tmp_path, with_special_lines):
    torch.manual_seed(2)
    original = WordNlm(len(GERMAN), 6, 8, 2)
    save(original.checkpoint(), tmp_path / "m.pth.tar")
    special = "padding\nunused\nOOVs\n" if with_special_lines else ""
    lines = [f"{word}\t{1000 - index}" for index, word in enumerate([*GERMAN, "rarer", "still-rarer"])]
    (tmp_path / "vocab.txt").write_text(special + "\n".join(lines) + "\n", encoding="utf-8")
    out = convert_lstm(tmp_path / "m.pth.tar", tmp_path / "vocab.txt", tmp_path / "out")
    converted = load_scorer(out)
    # lower-cased; 3 + rank; 2 where unknown, also where the list goes on past what the model has
    words = {"Der Soldat, dass.": [3, 7, 6, 9, 5], "Um rarer Brief schreibt": [12, 2, 8, 11]}
    expected = [original.logprob(ids) for ids in words.values()]
    assert converted.sentence_logprobs(list(words)) == pytest.approx(expected, abs=1e-4)
    assert converted.tokenizer.convert_ids_to_tokens([0, 2, 3, 13]) == ["<s>", "<unk>", "der", "\u2028"]


def test_the_command_writes_a_model(tmp_path):
    save_module(RNNModel("LSTM", len(VOCABULARY), 14, 10, 2), tmp_path / "model.pt")
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY), encoding="utf-8")

    files = [tmp_path / "model.pt", "--vocabulary", tmp_path / "vocab.txt", "--out", tmp_path / "out"]
    assert tse("convert-lstm", *files)[0] == 0
    assert np.isfinite(load_scorer(tmp_path / "out").sentence_logprobs(["Der Soldat schreibt"])).all()


class Call:
    """Pickles as a call of any function with any arguments."""

    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


EVIL = {
    r"(os|posix|nt)\.system": lambda flag: Call(os.system, f"touch {flag}"),
    r"(builtins|__builtin__)\.eval": lambda flag: Call(eval, f"open({str(flag)!r}, 'w')"),
    r"(builtins|__builtin__)\.getattr": lambda flag: Call(getattr, "", "join"),
    r"(subprocess|commands)\.Popen": lambda flag: Call(subprocess.Popen, ["touch", str(flag)]),
    r"torch\.serialization\.load|torch\.load": lambda flag: Call(torch.load, str(flag)),
}


@pytest.mark.parametrize("name", EVIL)
def test_a_malicious_pickle_is_refused_and_nothing_runs(tmp_path, name):
    flag = tmp_path / "ran"
    call, good = EVIL[name](flag), WordNlm(3, 2, 2, 1).checkpoint()
    for content in (
        call,
        {**good, "optim": {"state": [{"x": ({"y": call},)}]}},
        {**good, "rnn": {**good["rnn"], "bias_ih_l0": call}},
    ):
        save(content, tmp_path / "evil.pt")
        with pytest.raises(ValueError, match=rf"refers to {name}"):
            read_checkpoint(tmp_path / "evil.pt")
        assert not flag.exists()


def sequence_of(body, path):
    """The layout around a hand-written pickle."""
    with path.open("wb") as file:
        for head in (MAGIC, PROTOCOL, {"little_endian": True}):
            pickle.dump(head, file, protocol=2)
        file.write(body)
        pickle.dump([], file, protocol=2)
    return path


@pytest.mark.parametrize(
    "body",
    [
        b"cposix\nsystem\n(S'touch RAN'\ntR.",  # GLOBAL and REDUCE
        b"(S'touch RAN'\niposix\nsystem\n.",  # INST
        b"(cposix\nsystem\nS'touch RAN'\no.",  # OBJ
        b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x09touch RAN\x85R.",  # STACK_GLOBAL
        b"\x80\x04\x8c\x08torch.nn\x8c\x13modules.os.system.x\x93.",
        b"\x80\x04\x8c\x14torch.nn.modules.rnn\x8c\x0ftorch.os.system\x93.",  # dotted names
        b"\x80\x04\x8c\x0bcollections\x8c\x14OrderedDict.fromkeys\x93.",
        b"c__main__\nanything\n.",
        b"ccopyreg\n_reconstructor\n.",
        b"S'a persistent id'\nQ.",
        b"ctorch.nn.modules.rnn\nsystem\n(S'ls'\ntR.",  # a module stands for nothing and cannot be called
    ],
)
def test_hand_written_pickles_are_refused(tmp_path, monkeypatch, body):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"evil\.pt could not be read as a checkpoint"):
        read_checkpoint(sequence_of(body, tmp_path / "evil.pt"))
    assert [path.name for path in tmp_path.iterdir()] == ["evil.pt"]


def test_what_a_pickle_does_to_its_stand_ins_does_not_last(tmp_path):
    """A pickle may set attributes of what it is given; each file is given its own."""
    change = b"ctorch._utils\n_rebuild_tensor_v2\n(N}(S'__defaults__'\n(K\x01tutb."  # BUILD with slots
    read_checkpoint(sequence_of(change, tmp_path / "m.pt"))
    save({"a": torch.arange(6.0).reshape(2, 3).T}, tmp_path / "good.pt")
    assert torch.equal(read_checkpoint(tmp_path / "good.pt")["a"], torch.arange(6.0).reshape(2, 3).T)


def test_damaged_files_are_errors(tmp_path):
    save(WordNlm(3, 2, 2, 1).checkpoint(), tmp_path / "whole.pt")
    (tmp_path / "cut.pt").write_bytes((tmp_path / "whole.pt").read_bytes()[:-5])
    (tmp_path / "text.pt").write_text("version https://git-lfs.github.com/spec/v1\n")
    (tmp_path / "empty.pt").write_bytes(b"")
    for name in ("cut", "text", "empty", "absent"):
        with pytest.raises(ValueError, match=rf"{name}\.pt could not .*checkpoint"):
            read_checkpoint(tmp_path / f"{name}.pt")


def test_files_that_do_not_go_together(tmp_path):
    vocabulary, out = tmp_path / "vocab.txt", tmp_path / "out"
    vocabulary.write_text("\n".join(VOCABULARY))
    wordnlm, module, gru = tmp_path / "w.pt", tmp_path / "m.pt", tmp_path / "g.pt"
    save(WordNlm(3, 2, 2, 1).checkpoint(), wordnlm)
    save_module(RNNModel("LSTM", len(VOCABULARY), 4, 5, 1, dropout=0), module)
    save_module(RNNModel("GRU", len(VOCABULARY), 4, 5, 1, dropout=0), gru)
    with pytest.raises(ValueError, match=r"g\.pt is not an LSTM .*recurrent layer is a GRU"):
        convert_lstm(gru, vocabulary, out)
    vocabulary.write_text("a b")
    with pytest.raises(ValueError, match=f"2 words, the checkpoint {len(VOCABULARY)}"):
        convert_lstm(module, vocabulary, out)
    save(WordNlm(3, 2, 2, 1).checkpoint() | {"output": {"weight": torch.zeros(6, 2)}}, wordnlm)
    with pytest.raises(ValueError, match="not an LSTM of colorless_green or wordnlm"):
        convert_lstm(wordnlm, vocabulary, out)
    assert not out.exists()
