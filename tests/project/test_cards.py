"""Each card begins with its whole path, from `load_dataset` to the number, in a few lines that run."""

import math
import re
from pathlib import Path

import datasets
import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT = {"blimp_agreement": "it is built, not shipped", "blimp_critical_words": "it has no score of its own"}
CARDS = [
    path
    for folder in ("datasets", "metrics")
    for path in sorted((ROOT / folder).glob("*/README.md"))
    if path.parent.name not in BUILT
]
BUNDLED = {"gpt2": "tiny-causal", "dbmdz/german-gpt2": "tiny-causal-german"}
ROWS = {"agreement_templates": 1500, "german_argument_structure": 288}
"""The first rows stand for the whole: of the German templates, two."""
PAIRS = {"sentence_good": ["The author laughs.", "A b."], "sentence_bad": ["The author laugh.", "A c."]}


def first_block(card: Path) -> str:
    return re.search(r"```python\n(.*?)```", card.read_text(encoding="utf-8"), re.DOTALL)[1]


@pytest.mark.parametrize("card", CARDS, ids=lambda path: f"{path.parent.parent.name}/{path.parent.name}")
def test_a_card_begins_with_its_whole_path(card, monkeypatch, capsys, tmp_path):
    code = first_block(card)
    assert "load_dataset(" in code and ".compute(" in code
    assert len([line for line in code.splitlines() if line and "import" not in line]) < 10
    load = datasets.load_dataset

    def load_some(name, *arguments, **options):
        if name == "nyu-mll/blimp":
            return datasets.Dataset.from_dict(PAIRS | {"UID": ["a", "a"]})
        found = load(name, *arguments, cache_dir=str(tmp_path), **options)
        return found.select(range(ROWS.get(Path(name).name, len(found))))

    for name, bundled in BUNDLED.items():
        code = code.replace(f'load_scorer("{name}")', f'load_scorer("{bundled}")')
    monkeypatch.setattr(datasets, "load_dataset", load_some)
    monkeypatch.chdir(ROOT)
    exec(compile(code, str(card), "exec"), {})
    numbers = [float(number) for number in capsys.readouterr().out.split()]
    assert numbers and not any(map(math.isnan, numbers)) and all(-1 <= number <= 1 for number in numbers)
