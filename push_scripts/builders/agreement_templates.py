"""Subject-verb agreement pairs from grammars: Marvin & Linzen (2018) and CLAMS (Mueller et al. 2020).

The grammars are `sources/marvin_linzen_grammar.yaml`, which explains their syntax, and
`sources/clams_<language>_grammar.yaml`.
"""

import functools
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import yaml

from builders.agreement import Pair, agreement_table

SOURCES = Path(__file__).resolve().parent.parent / "sources"
CONFIGS = ("marvin_linzen", "clams_german", "clams_french", "clams_russian", "clams_hebrew")
NUMBERS = ("singular", "plural")
_ELEMENT = re.compile(r"(?P<attached>[^\s<]*)<(?P<items>\w+)(?::(?P<group>\w+))?>(?P<gap>!?)|(?P<word>\S+)")


def build(source: Path | None = None) -> dict[str, dict[str, pa.Table]]:
    """Generate every pair of every grammar; `source` is not used."""
    # English needs no column of clusters: its plurals are the singular and s.
    return {
        config: {"test": agreement_table(_pairs(config), clusters=config != "marvin_linzen")}
        for config in CONFIGS
    }


def _pairs(config: str) -> Iterator[tuple[str, str, Pair]]:
    """Yield the pairs of a grammar in its order; a construction may have several patterns."""
    grammar = yaml.safe_load((SOURCES / f"{config}_grammar.yaml").read_text(encoding="utf-8"))
    for construction, entry in grammar["constructions"].items():
        for pattern in [entry["pattern"]] if isinstance(entry["pattern"], str) else entry["pattern"]:
            for pair in expand(parse_pattern(pattern, grammar["lexicon"])):
                yield construction, entry["group"], pair


class Slot(NamedTuple):
    """A position in a pattern: its possible items, what it agrees with, and whether its first word is tested.

    `attached` is written together with the item, before it; it is not part of the item.
    """

    items: tuple[str, ...]
    group: str | None = None
    gap: bool = False
    attached: str = ""


def parse_pattern(pattern: str, lexicon: dict[str, list[str]]) -> list[Slot]:
    """Return the slots of a pattern; an unknown class raises `KeyError`.

    >>> parse_pattern("the <cat:subject>!", {"cat": ["cat|cats"]})[1]
    Slot(items=('cat|cats',), group='subject', gap=True, attached='')
    """
    return [
        Slot((of["word"],))
        if of["word"]
        else Slot(tuple(lexicon[of["items"]]), of["group"], bool(of["gap"]), of["attached"])
        for of in _ELEMENT.finditer(pattern)
    ]


def expand(slots: list[Slot]) -> Iterator[Pair]:
    """Yield every pair of a pattern: all numbers, then all items, the rightmost varying fastest."""
    groups = sorted({slot.group for slot in slots if slot.group})
    for numbers in itertools.product(NUMBERS, repeat=len(groups)):
        for items in itertools.product(*(slot.items for slot in slots)):
            # An item of a class may not occur twice; words of the pattern itself may.
            chosen = [item for slot, item in zip(slots, items, strict=True) if len(slot.items) > 1]
            if len(set(chosen)) == len(chosen):
                yield _pair(slots, items, dict(zip(groups, numbers, strict=True)))


@functools.cache
def inflect(item: str, number: str) -> str:
    """Return the form of an item in a number; an underscore is a space inside one of the two forms.

    >>> inflect("taxi driver|drivers", "plural"), inflect("is|are tall", "singular")
    ('taxi drivers', 'is tall')
    >>> inflect("l'auteur|les_auteurs", "plural")
    'les auteurs'
    """
    column = NUMBERS.index(number)
    return " ".join((word.split("|") * 2)[column] for word in item.split(" ")).replace("_", " ")


def _pair(slots: list[Slot], items: tuple[str, ...], number_of: dict[str, str]) -> Pair:
    """Return the pair for a choice of items and a number for each group."""
    words = [
        slot.attached + (inflect(item, number_of[slot.group]) if slot.group else item)
        for slot, item in zip(slots, items, strict=True)
    ]
    gap = next(place for place, slot in enumerate(slots) if slot.gap)
    number = number_of[slots[gap].group or ""]
    wrong = inflect(items[gap], NUMBERS[1 - NUMBERS.index(number)])
    subject = next(item for slot, item in zip(slots, items, strict=True) if slot.group == slots[gap].group)
    verb, *after_verb = words[gap].split(" ")
    prefix = " ".join(words[:gap]).replace(" ,", ",")
    suffix = "".join(f" {word}" for word in (*after_verb, *words[gap + 1 :])).replace(" ,", ",") + "."
    prefix = prefix[0].upper() + prefix[1:]
    return Pair(prefix, suffix, verb, wrong.split(" ")[0], number, inflect(subject, NUMBERS[0]))
