"""The examples run, and show what they say."""

import runpy

import pytest


def run(monkeypatch, script, *options):
    monkeypatch.setattr("sys.argv", [script.name, *options])
    runpy.run_path(str(script), run_name="__main__")


def test_a_tiny_model_is_trained_and_its_curves_drawn(root, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    options = ("--out", str(tmp_path), "--steps", "4", "--every", "2", "--budget", "36")
    run(monkeypatch, root / "examples" / "train_tiny_lm.py", *options)
    assert (tmp_path / "curves.png").stat().st_size > 10_000
    assert (tmp_path / "model.safetensors").exists()


def test_pairs_in_context(root, tmp_path, monkeypatch, capsys):
    options = ("--out", str(tmp_path), "--limit", "6")
    run(monkeypatch, root / "examples" / "pairs_in_context.py", *options)
    lines = capsys.readouterr().out.strip().splitlines()
    assert [line.split()[:3] for line in lines] == [
        [name, length, "sentences:"] for name, length in (
            ("none", "0"), ("matched", "1"), ("matched", "4"), ("ungrammatical", "1"), ("ungrammatical", "4")
        )
    ]  # fmt: skip
    assert all(line.endswith("of 12 pairs") for line in lines)


def test_a_two_by_two_experiment(root, tmp_path, monkeypatch, capsys):
    run(monkeypatch, root / "examples" / "two_by_two.py", "--out", str(tmp_path))
    fulfilled, effect = capsys.readouterr().out.strip().splitlines()
    assert fulfilled == "100% of 4 items fulfil the criterion"
    assert effect.startswith("interaction at the verb: -2.7")


def test_a_loop_by_hand(root, monkeypatch, capsys):
    options = ("--steps", "2", "--every", "1", "--budget", "36")
    run(monkeypatch, root / "examples" / "hand_written_loop.py", *options)
    lines = capsys.readouterr().out.strip().splitlines()
    assert len(lines) == 2 and all("tse/ew" in line for line in lines)
