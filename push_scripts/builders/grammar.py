"""Minimal pairs from a grammar of patterns; `sources/marvin_linzen_grammar.yaml` is one, and explains the syntax."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

NUMBERS = ("singular", "plural")
_ELEMENT = re.compile(r"(?P<attached>[^\s<]*)<(?P<items>\w+)(?::(?P<group>\w+))?>(?P<gap>!?)|(?P<word>\S+)")


class Slot(NamedTuple):
    """A position in a pattern: its possible items, what it agrees with, and whether its first word is tested.

    `attached` is written together with the item, before it; it is not part of the item.
    """

    items: tuple[str, ...]
    group: str | None = None
    gap: bool = False
    attached: str = ""


class Pair(NamedTuple):
    """A minimal pair: `prefix + " " + verb + suffix`, with the correct and the incorrect verb.

    `subject` is what the verb agrees with, in the singular whatever the pair's number.
    """

    prefix: str
    suffix: str
    form_correct: str
    form_incorrect: str
    number: str
    subject: str = ""


class Construction(NamedTuple):
    """A named pattern."""

    name: str
    group: str
    slots: tuple[Slot, ...]

    def pairs(self) -> Iterator[Pair]:
        """Yield every pair of the construction: all numbers, then all items, the rightmost varying fastest."""
        groups = sorted({slot.group for slot in self.slots if slot.group})
        for numbers in itertools.product(NUMBERS, repeat=len(groups)):
            number_of = dict(zip(groups, numbers, strict=True))
            for items in itertools.product(*(slot.items for slot in self.slots)):
                # An item of a class may not occur twice; words of the pattern itself may.
                chosen = [item for slot, item in zip(self.slots, items, strict=True) if len(slot.items) > 1]
                if len(set(chosen)) == len(chosen):
                    yield make_pair(self.slots, items, number_of)


def read_grammar(path: Path) -> list[Construction]:
    """Return the constructions of a grammar file, in its order; one with several patterns is that many in a row."""
    grammar = yaml.safe_load(path.read_text(encoding="utf-8"))
    return [
        Construction(name, entry["group"], parse_pattern(pattern, grammar["lexicon"]))
        for name, entry in grammar["constructions"].items()
        for pattern in ([entry["pattern"]] if isinstance(entry["pattern"], str) else entry["pattern"])
    ]


def parse_pattern(pattern: str, lexicon: dict[str, list[str]]) -> tuple[Slot, ...]:
    """Return the slots of a pattern; an unknown class raises `KeyError`.

    >>> parse_pattern("the <cat:subject>!", {"cat": ["cat|cats"]})[1]
    Slot(items=('cat|cats',), group='subject', gap=True, attached='')
    """
    return tuple(
        Slot((element["word"],))
        if element["word"]
        else Slot(
            tuple(lexicon[element["items"]]), element["group"], bool(element["gap"]), element["attached"]
        )
        for element in _ELEMENT.finditer(pattern)
    )


def inflect(item: str, number: str) -> str:
    """Return the form of an item in a number; an underscore is a space inside one of the two forms.

    >>> inflect("taxi driver|drivers", "plural"), inflect("is|are tall", "singular")
    ('taxi drivers', 'is tall')
    >>> inflect("l'auteur|les_auteurs", "plural")
    'les auteurs'
    """
    column = NUMBERS.index(number)
    return " ".join((word.split("|") * 2)[column] for word in item.split(" ")).replace("_", " ")


def make_pair(slots: tuple[Slot, ...], items: tuple[str, ...], number_of: dict[str, str]) -> Pair:
    """Return the pair for a choice of items and a number for each group."""
    words = [
        slot.attached + (inflect(item, number_of[slot.group]) if slot.group else item)
        for slot, item in zip(slots, items, strict=True)
    ]
    gap = next(place for place, slot in enumerate(slots) if slot.gap)
    group = slots[gap].group
    if group is None:
        raise ValueError("The gap of the pattern agrees with nothing. Give its class a group: <class:group>!")
    number = number_of[group]
    wrong = inflect(items[gap], NUMBERS[1 - NUMBERS.index(number)])
    prefix = " ".join(words[:gap]).replace(" ,", ",")
    verb, *after_verb = words[gap].split(" ")
    suffix = "".join(f" {word}" for word in (*after_verb, *words[gap + 1 :])).replace(" ,", ",") + "."
    subject = next(item for slot, item in zip(slots, items, strict=True) if slot.group == group)
    return Pair(
        prefix[0].upper() + prefix[1:],
        suffix,
        verb,
        wrong.split(" ")[0],
        number,
        inflect(subject, NUMBERS[0]),
    )
