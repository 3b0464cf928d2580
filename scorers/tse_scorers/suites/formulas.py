"""Criteria as formulas over the surprisals of regions, in the notation of SyntaxGym; parsed, never run as code.

    [(5;%no-obj_no-comma%) > (5;%no-obj_comma%)] & [(5;%no-obj_no-comma%) > (5;%obj_no-comma%)]

`(5;%condition%)` is the surprisal of region 5 in a condition, `(*;%condition%)` that of the sentence; a region may be
called by its name. `+` and `-` bind tighter than `<`, `>` and `=`, these tighter than `&` and `|`; operators of one
level group from the left, as in SyntaxGym, so that `a | b & c` is `(a | b) & c`. Round and square brackets are alike.
`=` holds if the sides differ by at most 0.001 + 0.00001 times the right one, as there (Gauthier et al. 2020).
"""

import operator
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Reference = tuple[str, str]
"""A region (its number, its name, or `*`) and a condition."""
WHOLE = "*"
_TOKEN = re.compile(r"\((?P<region>[^;()\[\]%]+);\s*%(?P<condition>[^%]+)%\s*\)|(?P<number>\d+\.?\d*)|\S")
_LEVELS = ("&|", "<>=", "+-")
"""Operators, those that bind least first."""
_CLOSING = {"(": ")", "[": "]"}
_OPERATORS: dict[str, Any] = {
    "&": np.logical_and, "|": np.logical_or, "<": operator.lt, ">": operator.gt, "+": operator.add, "-": operator.sub,
    "=": lambda left, right: np.isclose(left, right, rtol=1e-5, atol=1e-3),
}  # fmt: skip


class Formula:
    """A criterion that an item fulfils or not; `references` are the regions that it is about, each once.

    Raises:
        ValueError: the text is no formula, or its value is a number instead of true or false.

    >>> formula = Formula("(2;%mismatch%) > (2;%match%)")
    >>> bits = {("2", "mismatch"): np.array([9.0, 3.0]), ("2", "match"): np.array([4.0, 3.0])}
    >>> [answer.tolist() for answer in formula.evaluate(bits)]
    [[True, False], [False, True]]
    """

    def __init__(self, text: str) -> None:
        self.text = text
        tokens = [token for token in _TOKEN.finditer(text) if token["condition"]]
        self.references = list(dict.fromkeys((of["region"].strip(), of["condition"]) for of in tokens))
        self.evaluate(dict.fromkeys(self.references, np.zeros(1)))
        if not self.references:
            raise self._error("it names no region")

    def evaluate(self, surprisals: Mapping[Reference, Any]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return whether each item fulfils it, and whether sides of a `<` or `>` are equal, from bits; all (items,)."""
        self._tokens = [*_TOKEN.finditer(self.text)][::-1]  # the next one last
        self._surprisals, self._ties = surprisals, np.zeros(1, bool)
        holds = self._read(0)
        if self._tokens:
            raise self._error(f"{self._tokens[-1].group()!r} was not expected")
        if holds.dtype != bool:
            raise self._error("it is a number, not true or false")
        holds, ties, *_ = np.broadcast_arrays(holds, self._ties, *surprisals.values())
        return holds, ties

    def _read(self, level: int) -> NDArray[Any]:
        """Read operands and the operators of a level between them; return their value."""
        if level == len(_LEVELS):
            return self._read_operand()
        left = self._read(level + 1)
        while self._tokens and (sign := self._tokens[-1].group()) in _LEVELS[level]:
            self._tokens.pop()
            right = self._read(level + 1)
            if {left.dtype == bool, right.dtype == bool} != {sign in "&|"}:
                sides = "comparisons" if sign in "&|" else "surprisals or numbers"
                raise self._error(f"the sides of {sign!r} have to be {sides}")
            self._ties = self._ties | ((left == right) & (sign in "<>"))
            with np.errstate(invalid="ignore"):  # infinite surprisals
                left = _OPERATORS[sign](left, right)
        return left

    def _read_operand(self) -> NDArray[Any]:
        if not self._tokens:
            raise self._error("a region or a number is missing at the end")
        token = self._tokens.pop()
        if token["condition"]:
            return np.asarray(self._surprisals[token["region"].strip(), token["condition"]])
        if token["number"]:
            return np.array([float(token.group())])
        if token.group() not in _CLOSING:
            raise self._error(f"{token.group()!r} was not expected")
        value = self._read(0)
        if not self._tokens or self._tokens.pop().group() != _CLOSING[token.group()]:
            raise self._error(f"{_CLOSING[token.group()]!r} is missing")
        return value

    def _error(self, problem: str) -> ValueError:
        return ValueError(
            f"The criterion {self.text!r:.200} cannot be read: {problem}. Expected comparisons of regions such as "
            "(2;%mismatch%) > (2;%match%), joined by & or |; set brackets to say what belongs together."
        )
