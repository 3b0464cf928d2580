"""Each card begins with its whole path, from `load_dataset` to the number, in a few lines that run."""

import re
from pathlib import Path

import datasets
import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]
WITHOUT = {"blimp_critical_words"}
"""Positions of words: it has no score of its own."""
CARDS = [
    path
    for folder in ("datasets", "metrics")
    for path in sorted((ROOT / folder).glob("*/README.md"))
    if path.parent.name not in WITHOUT
]
_BUNDLED = {"gpt2": "tiny-causal", "dbmdz/german-gpt2": "tiny-causal-german"}
INVENTED = {
    "nyu-mll/blimp": pd.DataFrame(
        {
            "sentence_good": ["The author laughs.", "The guards smile."],
            "sentence_bad": ["The author laugh.", "The guards smiles."],
            "UID": ["passive_1", "passive_1"],
        }
    ),
    "datasets/blimp_agreement": pd.DataFrame(
        {
            "construction": "regular_plural_subject_verb_agreement_1",
            "prefix": ["The author", "The guards"],
            "suffix": [" here.", " here."],
            "form_correct": ["laughs", "smile"],
            "form_incorrect": ["laugh", "smiles"],
            "number": ["singular", "plural"],
        }
    ),
}
"""Rows in place of what is not part of the project."""


def name(card: Path) -> str:
    return f"{card.parent.parent.name}/{card.parent.name}"


def start(card: Path) -> tuple[str, str]:
    """Return what stands between a card's title and its first block, and the block."""
    body = re.sub(r"\A---\n.*?\n---\n", "", card.read_text(encoding="utf-8"), flags=re.DOTALL)
    before, code = re.match(r"\s*# [^\n]+\n(.*?)```python\n(.*?)```", body, re.DOTALL).groups()
    return before, code


def runnable(card: Path) -> str:
    """Return a card's first block with bundled models."""
    _, code = start(card)
    for model, bundled in _BUNDLED.items():
        code = code.replace(f'"{model}"', f'"{bundled}"')
    return code


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Cards that score the same data set with the same model ask the model once."""
    return str(tmp_path_factory.mktemp("cache"))


@pytest.mark.parametrize("card", CARDS, ids=name)
def test_a_card_begins_with_its_whole_path(card):
    """Under ten lines, imports included, after one short paragraph."""
    before, code = start(card)
    assert len(before.split()) <= 65 and before.strip().count("\n\n") == 0
    assert "load_dataset(" in code and ".compute(" in code
    assert len([line for line in code.splitlines() if line]) < 10


@pytest.mark.parametrize("card", CARDS, ids=name)
def test_the_first_block_of_a_card_gives_its_numbers(card, monkeypatch, capsys, cache):
    load = datasets.load_dataset

    def load_here(path, *arguments, **options):
        if path in INVENTED:
            return datasets.Dataset.from_pandas(INVENTED[path])
        loaded = load(path, *arguments, cache_dir=cache, **options)
        if path == "datasets/agreement_templates":  # every 50th of 121,220 pairs, of all groups
            return loaded.shard(50, 0, contiguous=False)
        return loaded

    monkeypatch.setattr(datasets, "load_dataset", load_here)
    monkeypatch.chdir(ROOT)
    exec(compile(runnable(card), str(card), "exec"), {})
    printed = capsys.readouterr().out.partition("signature")[0]
    numbers = [float(number) for number in re.findall(r"-?\d+\.\d+(?:e-?\d+)?", printed)]
    assert numbers and "nan" not in printed and all(-1 <= number <= 1 for number in numbers)
