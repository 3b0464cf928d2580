"""The third person present of Russian verbs of four regular patterns, by spelling rules.

- `aj` (first conjugation): -ть goes, -ет and -ют come (*читает, читают; болеет, болеют*).
- `ova`: -овать and -евать become -ует and -уют, with ю for у where neither ц nor a hushing consonant precedes -евать
  (*рисует, танцует, ночует, воюет*).
- `i` (second conjugation): the vowel and -ть go, -ит and -ят come, -ат after ж, ч, ш and щ (*говорит, говорят; молчит,
  молчат*). The consonant changes in the first person singular only.
- `n`: -уть goes, -ет and -ут come (*тянет, тянут*).

-ся stays at the end of both forms. All other verbs (*пишет, ведёт, поёт*) are listed in `sources/verbs/russian.yaml`
with both forms. е stands for ё, as in ordinary print, and stress is not marked.

Reference: Зализняк (1977), "Грамматический словарь русского языка".
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

ENDINGS = {"aj": r"[аяе]ть", "ova": r"[ое]вать", "i": r"[иеая]ть", "n": r"нуть"}


def third_person(infinitive: str, pattern: str) -> tuple[str, str]:
    """The forms after a singular and after a plural subject.

    Args:
        infinitive: A Russian infinitive in lower case.
        pattern: `aj`, `ova`, `i` or `n`.

    Raises:
        ValueError: the infinitive does not end as the pattern says.

    >>> third_person("читать", "aj"), third_person("воевать", "ova")
    (('читает', 'читают'), ('воюет', 'воюют'))
    >>> third_person("учиться", "i"), third_person("тянуть", "n")
    (('учится', 'учатся'), ('тянет', 'тянут'))
    """
    reflexive = infinitive.endswith("ся")
    verb = infinitive.removesuffix("ся")
    if not re.search(f"{ENDINGS[pattern]}$", verb):
        raise ValueError(
            f"The verb is {infinitive!r} of pattern {pattern!r}; it must end in {ENDINGS[pattern]}."
        )
    singular, plural = _forms(verb, pattern)
    ending = "ся" if reflexive else ""
    return singular + ending, plural + ending


def _forms(verb: str, pattern: str) -> tuple[str, str]:
    if pattern == "aj":
        return f"{verb[:-2]}ет", f"{verb[:-2]}ют"
    if pattern == "n":
        return f"{verb[:-3]}ет", f"{verb[:-3]}ут"
    if pattern == "ova":
        stem = verb[:-5]
        vowel = "у" if verb.endswith("овать") or stem[-1] in "цчшжщ" else "ю"
        return f"{stem}{vowel}ет", f"{stem}{vowel}ют"
    stem = verb[:-3]
    return f"{stem}ит", stem + ("ат" if stem[-1] in "жчшщ" else "ят")


def verbs(facts: Mapping[str, Any]) -> Iterator[tuple[str, str, str, bool]]:
    """Every verb of the verb file as (lemma, singular, plural, whether the rules gave both forms)."""
    for pattern in ENDINGS:
        for infinitive in facts[pattern].split():
            yield infinitive, *third_person(infinitive, pattern), True
    for infinitive, forms in facts["irregular"].items():
        singular, plural = forms.split()
        yield infinitive, singular, plural, False
