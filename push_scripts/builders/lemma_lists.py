"""Verb lemmas of languages other than English, from the verb files in `sources/verbs/` and rules of inflection.

Each language has a config of its own. The config `excluded` holds what is left out, with the reason: what the verb
file itself excludes, and what the checks here find, which are the same in every language:

- `equal_forms`: the singular and the plural are spelled alike, so that the two cannot be compared;
- `other_number`: one form of the verb is another verb's form in the other number (*il pressent*, *ils pressent*), so
  that it would be counted right and wrong at once;
- `shared_form`: one form is another verb's form in the same number, which would be counted twice; the verb that
  comes first in alphabetical order stays, unless the verb file says otherwise.
"""

import importlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import yaml

VERBS = Path(__file__).resolve().parent.parent / "sources" / "verbs"
LANGUAGES = ("german", "french", "russian", "hebrew")


class Verb(NamedTuple):
    """A verb with its two forms, whether rules gave them, and the note of the verb file."""

    lemma: str
    singular: str
    plural: str
    regular: bool


class Excluded(NamedTuple):
    """A verb that is left out; the forms are empty where the verb file gives none."""

    language: str
    lemma: str
    singular: str | None
    plural: str | None
    flag: str
    note: str
