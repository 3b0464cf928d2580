"""Items behind scores → data for the page: texts, which several systems share, and numbers of one system."""

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..suites.base import ScoredItems

_SHOWN = ("people",)
"""Columns of numbers that belong to the texts."""
_WORD = re.compile(r"\S*\s|\S+")


@dataclass(frozen=True)
class SystemItems:
    """The items of one system.

    Attributes:
        texts_name: the same for systems with the same items in the same order.
        frame: what the suite read.
        columns: the columns of texts that describe an item, such as its row in a table.
        values: column of numbers -> heading.
    """

    texts_name: str
    frame: pd.DataFrame
    columns: tuple[str, ...]
    values: Mapping[str, str]

    def texts(self) -> dict[str, Any]:
        """Return the texts, each pair as `before, good, bad, after` where what is in between differs."""
        numbers = [name for name in _SHOWN if name in self.frame and self.frame[name].notna().any()]
        pairs = zip(self.frame["good"].tolist(), self.frame["bad"].tolist(), strict=True)
        return {
            "texts": ["\x1f".join(split_pair(good, bad)) for good, bad in pairs],
            "labels": {name: _codes(self.frame[name]) for name in self.columns},
            "numbers": {name: packed(self.frame[name]) for name in numbers},
        }

    def numbers(self) -> dict[str, Any]:
        """Return the system's numbers, float32 in base64."""
        values = {name: packed(self.frame[name]) for name in self.values if name in self.frame}
        return {"texts": self.texts_name, "n": len(self.frame), "values": values}


def system_items(items: ScoredItems, system: str) -> SystemItems:
    """Read the items of one system.

    Raises:
        ValueError: the suite finds no scores of items.
    """
    frame = items.read(system).reset_index(drop=True)
    numbers = {"score", *_SHOWN, *items.values}
    columns = tuple(str(name) for name in frame if name not in {"good", "bad"} | numbers)
    hashed = pd.util.hash_pandas_object(frame[["good", "bad", *columns]], index=False)
    name = hashlib.sha256(hashed.to_numpy().tobytes()).hexdigest()[:16]
    return SystemItems(name, frame, columns, items.values)


def split_pair(good: str, bad: str) -> tuple[str, str, str, str]:
    """Split two texts into what they share and the words in between.

    >>> split_pair("The keys are here.", "The keys is here.")
    ('The keys ', 'are', 'is', ' here.')
    >>> split_pair("The key works.", "The key work.")
    ('The key ', 'works', 'work', '.')
    >>> split_pair("The keys ___.", "")
    ('The keys ___.', '', '', '')
    """
    if not bad or good == bad:
        return good, "", "", ""
    one, other = _WORD.findall(good), _WORD.findall(bad)  # each word with the white space after it
    most = min(len(one), len(other)) - 1  # a word is left of each
    before = after = 0
    while before < most and one[before] == other[before]:
        before += 1
    while before + after < most and one[-1 - after] == other[-1 - after]:
        after += 1
    middle = ["".join(words[before : len(words) - after]) for words in (one, other)]
    start, end = "".join(one[:before]), "".join(one[len(one) - after :])
    while all(len(text) > 1 and not text[-1].isalnum() for text in middle) and middle[0][-1] == middle[1][-1]:
        end = middle[0][-1] + end  # a space or a full stop that both words carry
        middle = [text[:-1] for text in middle]
    return start, middle[0], middle[1], end


def packed(numbers: "pd.Series[Any]") -> str:
    """Return numbers as little-endian float32 in base64.

    >>> packed(pd.Series([1.0]))
    'AACAPw=='
    """
    return base64.b64encode(np.asarray(numbers, dtype="<f4").tobytes()).decode()


def _codes(column: "pd.Series[Any]") -> dict[str, Any]:
    codes, names = pd.factorize(column.fillna("").astype(str))
    width = 2 if len(names) < 2**16 else 4
    return {
        "names": names.tolist(),
        "width": width,
        "codes": base64.b64encode(codes.astype(f"<u{width}").tobytes()).decode(),
    }
