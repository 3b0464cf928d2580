"""Each card begins with its whole path, from `load_dataset` to the number, in a few lines that run."""

import re

import datasets
import pytest
from cards import CARDS, INVENTED, ROOT, name, runnable, start


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
