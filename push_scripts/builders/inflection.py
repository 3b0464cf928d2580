"""The third person present of English verbs: two forms from a lemma, by spelling rules and a few exceptions.

The singular is the lemma with -s or -es. Only `be` and `have` are irregular in writing (`do` and `say` are in
speech, but *does* and *says* follow the rules). In order of application:

1. after s, x, sh and ch: -es (*passes, fixes, wishes*), but -s after a ch pronounced k (*stomachs*);
2. after z: -es, with the z doubled after a single vowel (*buzzes, waltzes, quizzes*);
3. after a consonant and y (or qu and y): the y becomes -ies (*carries, soliloquies*, but *buys*);
4. after a consonant and o: -es (*vetoes, undergoes*), but -s in clipped and borrowed words (*photos, solos*);
5. else -s (*sees, woos, skis, lies*).

The plural is the lemma itself, but for *are*. Of a compound with hyphens the last part is inflected
(*fine-tunes*), of a verb written as several words the first (*backs up, takes part*).

Reference: Huddleston & Pullum (2002), "The Cambridge Grammar of the English Language", chapter 18.
"""

import re

IRREGULAR = {"be": "is", "have": "has"}
IRREGULAR_PLURAL = {"be": "are"}
HARD_CH = frozenset({"psych", "stomach"})  # ch pronounced k, so that -s suffices
PLAIN_O = frozenset({"demo", "disco", "memo", "photo", "promo", "solo"})  # clipped or borrowed: -s, not -es
DOUBLED_S = frozenset({"gas"})  # -sses; other verbs in a single s keep it (focuses, biases)

_LEMMA = re.compile(r"[^\W\d_]+(?:['’ -][^\W\d_]+)*")


def third_person_singular(lemma: str) -> str:
    """Return the form after a singular subject: *the author* `_`.

    Args:
        lemma: The verb's base form, in lower case (except names); may be hyphenated or several words.

    Raises:
        TypeError: `lemma` is not a string.
        ValueError: `lemma` is not words made of letters, joined by single hyphens, apostrophes or spaces.

    >>> [third_person_singular(lemma) for lemma in ("be", "carry", "fine-tune", "back up", "veto")]
    ['is', 'carries', 'fine-tunes', 'backs up', 'vetoes']
    """
    before, head, after = _split(lemma)
    return before + (IRREGULAR.get(head) or _add_s(head)) + after


def third_person_plural(lemma: str) -> str:
    """Return the form after a plural subject: *the authors* `_`. Arguments and errors as `third_person_singular`.

    >>> third_person_plural("be"), third_person_plural("have")
    ('are', 'have')
    """
    before, head, after = _split(lemma)
    return before + IRREGULAR_PLURAL.get(head, head) + after


def is_regular(lemma: str) -> bool:
    """Return whether the singular is the lemma with -s or -es: true for every verb but `be` and `have`."""
    _, head, _ = _split(lemma)
    return head not in IRREGULAR


def _split(lemma: str) -> tuple[str, str, str]:
    """Return a lemma as (what precedes the inflected word, the inflected word, what follows it)."""
    if not isinstance(lemma, str):
        raise TypeError(
            f"lemma is {lemma!r}, a {type(lemma).__name__}; expected a verb's base form as a string."
        )
    if not _LEMMA.fullmatch(lemma):
        raise ValueError(
            f"lemma is {lemma!r}; expected a verb's base form: words made of letters, joined by single "
            "hyphens, apostrophes or spaces. Strip blanks and punctuation around it."
        )
    first, space, other_words = lemma.partition(" ")
    prefix, hyphen, head = first.rpartition("-")
    return prefix + hyphen, head, space + other_words


def _add_s(word: str) -> str:
    """Return the word with -s or -es, by the rules above."""
    if word in DOUBLED_S:
        return word + "ses"
    if re.search(r"(s|x|sh|ch)$", word) and word not in HARD_CH:
        return word + "es"
    if word.endswith("z"):
        single_vowel = re.search(r"(^|[^aeiou]|qu)[aeiou]z$", word)
        return word + ("zes" if single_vowel else "es")
    if re.search(r"([^aeiou]|qu)y$", word):
        return word[:-1] + "ies"
    if re.search(r"[^aeiou]o$", word) and word not in PLAIN_O:
        return word + "es"
    return word + "s"
