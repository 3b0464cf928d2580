"""The third person present of French verbs of the three regular patterns, by spelling rules.

- `er`: the stem with -e and -ent (*aime, aiment*). The stem changes before these mute endings: y becomes i after o, u
  and a (*emploie, essuie, paie*), é and e become è before one sounded consonant (*cède, règle, lève*), and some verbs
  in -eler and -eter double the consonant instead (*appelle, jette*), as `sources/verbs/french.yaml` lists them.
- `ir`: the stem with -it and -issent (*finit, finissent*).
- `re`: the stem with nothing after d, and -ent (*vend, vendent*).

All other verbs are listed there with both forms. Spelling is the one before the reform of 1990 (*connaît*). Verbs in
-ayer have two forms of each number, before and after the reform (*paie, paye*); the rule gives the first, and all are
excluded.

Reference: Grevisse & Goosse (2016), "Le bon usage", the chapter on the verb.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

PATTERNS = ("er", "ir", "re")
# é or e, one sounded consonant (which two letters may write), and the ending -er.
_OPEN_E = re.compile(r"[ée]((?:ch|gn|gu|qu|[bcdfgptv][rl]|[bcdfghjklmnpqrstvz]))$")


def third_person(infinitive: str, pattern: str, doubling: bool = False) -> tuple[str, str]:
    """The forms after a singular and after a plural subject.

    Args:
        infinitive: A French infinitive in lower case.
        pattern: `er`, `ir` or `re`.
        doubling: The verb doubles its last consonant.

    Raises:
        ValueError: the infinitive does not end as the pattern says.

    >>> third_person("céder", "er"), third_person("jeter", "er", doubling=True)
    (('cède', 'cèdent'), ('jette', 'jettent'))
    >>> third_person("finir", "ir"), third_person("vendre", "re")
    (('finit', 'finissent'), ('vend', 'vendent'))
    """
    if not infinitive.endswith(pattern):
        raise ValueError(
            f"The verb is {infinitive!r} of pattern {pattern!r}; its infinitive must end in -{pattern}."
        )
    stem = infinitive.removesuffix(pattern)
    if pattern == "ir":
        return f"{stem}it", f"{stem}issent"
    if pattern == "re":
        return stem, f"{stem}ent"
    stem = stem + stem[-1] if doubling else mute_stem(stem)
    return f"{stem}e", f"{stem}ent"


def mute_stem(stem: str) -> str:
    """The stem of a verb in -er before a mute ending.

    >>> [mute_stem(stem) for stem in ("aim", "employ", "régl", "lev", "cré", "protég")]
    ['aim', 'emploi', 'règl', 'lèv', 'cré', 'protèg']
    """
    if re.search(r"[oua]y$", stem):
        return f"{stem[:-1]}i"
    return _OPEN_E.sub(r"è\1", stem)


def verbs(facts: Mapping[str, Any]) -> Iterator[tuple[str, str, str, bool]]:
    """Every verb of the verb file as (lemma, singular, plural, whether the rules gave both forms)."""
    doubling = set(facts["doubling"].split())
    for pattern in PATTERNS:
        for infinitive in facts[pattern].split():
            yield infinitive, *third_person(infinitive, pattern, infinitive in doubling), True
    for infinitive, forms in facts["irregular"].items():
        singular, plural = forms.split()
        yield infinitive, singular, plural, False
