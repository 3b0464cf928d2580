"""The third person present of German verbs: the singular from the infinitive, by spelling rules.

The plural is the infinitive (*sind* excepted). The singular of a verb without vowel change is its stem with -t:

1. the stem is the infinitive without -en, or without -n after -el and -er (*sammeln*, *ändern*, *tun*);
2. after d and t: -et (*arbeitet, redet*);
3. after m and n that follow another consonant: -et (*atmet, rechnet*), but -t after l, r, m, n and after the mute h
   (*filmt, lernt, stemmt, wohnt*);
4. else -t (*lacht, reist, wechselt*).

Verbs with vowel change (*gibt, fährt*), the modals and *sein, haben, werden, wissen* are listed in
`sources/verbs/german.yaml`, as are a few with a stem of their own (*kniet*).

Reference: Duden (2016), "Die Grammatik", the chapter on the verb.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any


def third_person_singular(infinitive: str) -> str:
    """The form after a singular subject, by the rules: *der Autor* `_`.

    Args:
        infinitive: A German infinitive in lower case.

    Raises:
        ValueError: `infinitive` does not end in -n.

    >>> [third_person_singular(verb) for verb in ("lachen", "arbeiten", "rechnen", "lernen", "sammeln")]
    ['lacht', 'arbeitet', 'rechnet', 'lernt', 'sammelt']
    """
    if not infinitive.endswith("n"):
        raise ValueError(f"The infinitive is {infinitive!r}; a German infinitive ends in -n. Give that form.")
    stem = infinitive.removesuffix("en") if infinitive.endswith("en") else infinitive.removesuffix("n")
    return stem + ("et" if re.search(r"[dt]$|([bdfgkpt]|ch)[mn]$", stem) else "t")


def verbs(facts: Mapping[str, Any]) -> Iterator[tuple[str, str, str, bool]]:
    """Every verb of the verb file as (lemma, singular, plural, whether the rules gave both forms)."""
    for infinitive in facts["regular"].split():
        yield infinitive, third_person_singular(infinitive), infinitive, True
    for infinitive, singular in facts["irregular"].items():
        yield infinitive, singular, facts["plurals"].get(infinitive, infinitive), False
