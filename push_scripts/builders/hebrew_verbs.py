"""The present tense of Hebrew verbs in the masculine, in unvocalised spelling: two forms and the lemma from one word.

The present tense is a participle: it has gender and number and no person. The singular here is the masculine singular,
which the verb file gives; the plural is the masculine plural:

1. a final ה goes (*רוצה, רוצים*); after י it may be a consonant, which stays (*מגביה, מגביהים*), so that the verb file
   lists such verbs;
2. a final letter takes its form inside a word (*הולך, הולכים; קם, קמים*);
3. -ים follows.

The lemma, as in dictionaries, is the past in the third person masculine singular. By binyan:

- `paal`: without the ו after the first letter (*כותב*, *כתב*), but for a double one (*לווה*);
- `paal_short` and `stative`: the same word (*קם*, *ישן*);
- `nifal`: the same word (*נכנס*);
- `piel`: without מ, with י after the first of three root letters (*מדבר*, *דיבר*), also before a double ו (*מדווח*,
  *דיווח*), and without it in longer roots and where י is there already (*מתרגם*, *תרגם*; *מטייל*, *טייל*); of a double
  ו at its beginning, the second becomes י (*מוותר*, *ויתר*);
- `hifil`, `hitpael`: with ה for מ (*מתחיל*, *התחיל*; *מתקשר*, *התקשר*).

Reference: Coffin & Bolozky (2005), "A Reference Grammar of Modern Hebrew", the chapter on the verb; the spelling is
that of the Academy of the Hebrew Language (2017).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

BINYANIM = ("paal", "paal_short", "stative", "nifal", "piel", "hifil", "hitpael")
_INSIDE = str.maketrans("ךםןףץ", "כמנפצ")


def masculine_plural(singular: str) -> str:
    """The form after a plural subject, from the one after a singular subject.

    Raises:
        ValueError: `singular` ends in -יה.

    >>> [masculine_plural(singular) for singular in ("כותב", "רוצה", "הולך", "קם")]
    ['כותבים', 'רוצים', 'הולכים', 'קמים']
    """
    if singular.endswith("יה"):
        raise ValueError(
            f"The verb is {singular!r}; after י, the rules do not say whether ה stays in the plural. "
            "List it as irregular, with its plural."
        )
    stem = singular.removesuffix("ה")
    return stem[:-1] + stem[-1].translate(_INSIDE) + "ים"


def lemma(singular: str, binyan: str) -> str:
    """The past, third person masculine singular, of a verb whose masculine singular present is `singular`.

    Args:
        singular: The present, unvocalised.
        binyan: `paal`, `paal_short`, `stative`, `nifal`, `piel`, `hifil` or `hitpael`.

    Raises:
        ValueError: the word does not have the shape that its binyan has.

    >>> [lemma(*pair) for pair in (("כותב", "paal"), ("מדבר", "piel"), ("מתרגם", "piel"), ("מתחיל", "hifil"))]
    ['כתב', 'דיבר', 'תרגם', 'התחיל']
    """
    shapes = {"paal": "^.ו..", "nifal": "^נ..", "piel": "^מ...", "hifil": "^מ..", "hitpael": "^מ...."}
    if not re.search(shapes.get(binyan, ".."), singular):
        raise ValueError(
            f"The verb is {singular!r} of binyan {binyan!r}; its singular must match {shapes[binyan]}."
        )
    if binyan == "paal":
        return singular if singular[1:3] == "וו" else singular[0] + singular[2:]
    if binyan in ("hifil", "hitpael"):
        return "ה" + singular[1:]
    if binyan == "piel":
        root = singular[1:]
        if root.startswith("וו"):
            return "וי" + root[2:]
        needs_yod = (len(root) == 3 and root[1] != "י") or (root[1:3] == "וו" and len(root) == 4)
        return root[0] + "י" + root[1:] if needs_yod else root
    return singular


def verbs(facts: Mapping[str, Any]) -> Iterator[tuple[str, str, str, bool]]:
    """Every verb of the verb file as (lemma, singular, plural, whether the rules gave both)."""
    for binyan in BINYANIM:
        for singular in facts[binyan].split():
            yield lemma(singular, binyan), singular, masculine_plural(singular), True
    for singular, others in facts["irregular"].items():
        plural, past = others.split()
        yield past, singular, plural, False
