"""Criteria as formulas over the surprisals of regions, in the notation of SyntaxGym.

    [(5;%no-obj_no-comma%) > (5;%no-obj_comma%)] & [(5;%no-obj_no-comma%) > (5;%obj_no-comma%)]

`(5;%condition%)` is the surprisal of region 5 in a condition; `(*;%condition%)` is that of the whole sentence, and a
region may be called by its name. `+` and `-` bind tighter than `<`, `>` and `=`, these tighter than `&` and `|`;
operators of one level group from the left, as in SyntaxGym, so that `a | b & c` is `(a | b) & c`. Round and square
brackets mean the same. `=` holds if the two sides differ by at most 0.001 + 0.00001 times the right side, as there.

A formula is parsed, never run as code. Source: Gauthier, Hu, Wilcox, Qian & Levy (2020), SyntaxGym, ACL
(demonstrations).
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Reference = tuple[str, str]
"""A region (its number, its name, or `*`) and a condition."""
Values = NDArray[Any]
"""One value per item, (items,): surprisals (float64) or truth values (bool)."""

WHOLE_SENTENCE = "*"
# Linear in the text: no two neighbouring repetitions match the same character.
_TOKEN = re.compile(r"\((?P<region>[^;()\[\]%]+);\s*%(?P<condition>[^%]+)%\s*\)|(?P<number>\d+\.?\d*)|\S")
_LEVELS = (("&", "|"), ("<", ">", "="), ("+", "-"))
"""Operators, those that bind least first."""
_CLOSING = {"(": ")", "[": "]"}
_DEEPEST = 50
_LONGEST = 500
"""Regions, numbers, operators and brackets of a formula."""
_MOST_CHARACTERS = 10_000
_ABSOLUTE, _RELATIVE = 1e-3, 1e-5


@dataclass(frozen=True)
class Operation:
    """An operator between two parts of a formula."""

    operator: str
    left: "Node"
    right: "Node"


Node = Operation | Reference | float


@dataclass(frozen=True)
class Formula:
    """A criterion that an item fulfils or not.

    Attributes:
        text: as written.
        references: the regions that it is about, each once.
    """

    text: str
    references: tuple[Reference, ...]
    _root: Node

    def holds(self, surprisals: Mapping[Reference, Values]) -> Values:
        """Return whether each item fulfils the criterion, (items,) bool; `surprisals` are in bits, (items,) each."""
        return np.asarray(_value(self._root, surprisals), dtype=bool)

    def ties(self, surprisals: Mapping[Reference, Values]) -> Values:
        """Return whether the two sides of a `<` or `>` are equal in each item, (items,) bool."""
        equal_sides = [
            _value(node.left, surprisals) == _value(node.right, surprisals) for node in _strict(self._root)
        ]
        n_items = len(next(iter(surprisals.values())))
        return np.any([np.broadcast_to(is_tie, n_items) for is_tie in (False, *equal_sides)], axis=0)


def parse(text: str) -> Formula:
    """Parse a criterion.

    Raises:
        ValueError: the text is no formula, or its value is a number instead of true or false.

    >>> formula = parse("(2;%mismatch%) > (2;%match%)")
    >>> formula.references
    (('2', 'mismatch'), ('2', 'match'))
    >>> formula.holds({("2", "mismatch"): np.array([9.0, 3.0]), ("2", "match"): np.array([4.0, 3.0])}).tolist()
    [True, False]
    """
    reader = _Reader(text)
    root = reader.read_level(0, 0)
    if reader.symbol is not None:
        raise reader.error(f"{reader.symbol!r} was not expected")
    if not _is_truth(root, text):
        raise ValueError(
            f"The criterion {text!r:.200} is a number, not true or false. Compare two surprisals in it with <, > or =."
        )
    if not (references := tuple(dict.fromkeys(_references(root)))):
        raise ValueError(f"The criterion {text!r:.200} names no region. Write regions as (2;%condition%).")
    return Formula(text, references, root)


class _Reader:
    """Reads a formula from left to right."""

    def __init__(self, text: str) -> None:
        if len(text) > _MOST_CHARACTERS:
            raise ValueError(
                f"The criterion {text!r:.200} has {len(text):,} characters; expected at most {_MOST_CHARACTERS:,}. "
                "Split it, or remove blanks."
            )
        self._text = text
        self._tokens = list(_TOKEN.finditer(text))
        self._place = 0
        if len(self._tokens) > _LONGEST:
            raise ValueError(
                f"The criterion {text!r:.200} has {len(self._tokens)} parts; expected at most {_LONGEST}. Split it."
            )

    @property
    def symbol(self) -> str | None:
        """The next token as written; None at the end."""
        return self._tokens[self._place].group() if self._place < len(self._tokens) else None

    def error(self, problem: str) -> ValueError:
        """Return an error that shows where the formula is wrong."""
        there = self._place < len(self._tokens)
        where = f"at character {self._tokens[self._place].start() + 1}" if there else "at the end"
        return ValueError(
            f"The criterion {self._text!r:.200} could not be read: {problem} {where}. Expected comparisons of "
            "regions such as (2;%mismatch%) > (2;%match%), joined by & or |."
        )

    def read_level(self, level: int, depth: int) -> Node:
        """Read operands and the operators of one level between them."""
        if level == len(_LEVELS):
            return self._read_operand(depth)
        node = self.read_level(level + 1, depth)
        while self.symbol in _LEVELS[level]:
            operator = self._next()
            node = Operation(operator, node, self.read_level(level + 1, depth))
        return node

    def _read_operand(self, depth: int) -> Node:
        if self.symbol is None:
            raise self.error("a region or a number is missing")
        token = self._tokens[self._place]
        if token["condition"] is not None and (region := token["region"].strip()):
            self._next()
            return region, token["condition"]
        if token["number"] is not None:
            if math.isinf(number := float(token.group())):
                raise self.error(f"a number of {len(token.group())} digits is too large")
            self._next()
            return number
        if token.group() not in _CLOSING:
            raise self.error(f"{token.group()!r} was not expected")
        if depth == _DEEPEST:
            raise self.error(f"there are more than {_DEEPEST} brackets inside each other")
        closing = _CLOSING[self._next()]
        node = self.read_level(0, depth + 1)
        if self.symbol != closing:
            raise self.error(f"{closing!r} is missing")
        self._next()
        return node

    def _next(self) -> str:
        self._place += 1
        return self._tokens[self._place - 1].group()


def _is_truth(node: Node, text: str) -> bool:
    """Whether a part is true or false; a number otherwise. Raises ValueError where an operator mixes the two."""
    if not isinstance(node, Operation):
        return False
    joins_truths = node.operator in "&|"
    for side in (node.left, node.right):
        if _is_truth(side, text) != joins_truths:
            expected = "comparisons" if joins_truths else "surprisals or numbers"
            raise ValueError(
                f"In the criterion {text!r:.200}, {node.operator!r} has a side that is not of its kind; expected "
                f"{expected} on both sides. Set brackets to say what belongs together."
            )
    return node.operator not in "+-"


def _references(node: Node) -> list[Reference]:
    if isinstance(node, Operation):
        return _references(node.left) + _references(node.right)
    return [node] if isinstance(node, tuple) else []


def _strict(node: Node) -> list[Operation]:
    if not isinstance(node, Operation):
        return []
    return ([node] if node.operator in "<>" else []) + _strict(node.left) + _strict(node.right)


def _value(node: Node, surprisals: Mapping[Reference, Values]) -> Any:
    if not isinstance(node, Operation):
        return surprisals[node] if isinstance(node, tuple) else node
    left, right = (_value(side, surprisals) for side in (node.left, node.right))
    match node.operator:
        case "|":
            return left | right
        case "&":
            return left & right
        case "<":
            return left < right
        case ">":
            return left > right
        case "=":
            return np.isclose(left, right, rtol=_RELATIVE, atol=_ABSOLUTE)
        case "+":
            return left + right
        case _:
            return left - right
