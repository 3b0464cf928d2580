"""The first block of each card: from `load_dataset` to the number."""

import re
from pathlib import Path

import pandas as pd

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
