"""The unit of each pair or context of agreement data.

The subject is the noun that the tested verb agrees with. In the constructions of Marvin & Linzen (2018) it is the noun
of the sentence's first noun phrase (The *pilots* that the guard loves [are] …), or the noun of the last noun phrase
before the gap (The pilots that the *guard* [loves] …; The banker knew the *pilot* [swims]).
"""

import re
from functools import lru_cache

import pandas as pd

from ..items import own_units

FIRST_NOUN = r"^The (?P<noun>\S+)"
"""Subjects of a main clause have one word."""
LAST_NOUN = r"(?:^The|\bthe) (?P<noun>(?:taxi )?\S+)$"
"""Subjects of an embedded clause may have two words: taxi driver."""
SUBJECT_RULES = {
    "simple_agrmt": FIRST_NOUN,
    "sent_comp": LAST_NOUN,
    "vp_coord": FIRST_NOUN,
    "long_vp_coord": FIRST_NOUN,
    "prep_anim": FIRST_NOUN,
    "prep_inanim": FIRST_NOUN,
    "subj_rel": FIRST_NOUN,
    "obj_rel_across_anim": FIRST_NOUN,
    "obj_rel_across_inanim": FIRST_NOUN,
    "obj_rel_no_comp_across_anim": FIRST_NOUN,
    "obj_rel_no_comp_across_inanim": FIRST_NOUN,
    "obj_rel_within_anim": LAST_NOUN,
    "obj_rel_within_inanim": LAST_NOUN,
    "obj_rel_no_comp_within_anim": LAST_NOUN,
    "obj_rel_no_comp_within_inanim": LAST_NOUN,
}
"""Construction -> pattern that finds its subject in the prefix."""


def subject_nouns(pairs: pd.DataFrame) -> "pd.Series[str]":
    """Find the subject noun of each pair or context in its prefix.

    Args:
        pairs: columns `construction`, `prefix`. The user's own units (`own_units`) replace the nouns. The prefix is
            the unit if the construction is not Marvin & Linzen's, if its pattern does not match, or if a row has no
            unit of its own.

    >>> subject_nouns(pd.DataFrame({"construction": ["sent_comp"], "prefix": ["The banker knew the pilots"]})).item()
    'pilots'
    """
    if (users_units := own_units(pairs, "prefix")) is not None:
        return users_units[1].rename("subject")
    subjects = map(_subject_noun, pairs["construction"].tolist(), pairs["prefix"].tolist())
    return pd.Series(list(subjects), index=pairs.index, name="subject", dtype=object).astype(str)


@lru_cache(maxsize=2**18)  # many contexts have the same prefix, and all systems the same contexts
def _subject_noun(construction: str, prefix: str) -> str:
    noun = re.search(SUBJECT_RULES[construction], prefix) if construction in SUBJECT_RULES else None
    return prefix if noun is None else noun["noun"]


def subject_clusters(pairs: pd.DataFrame) -> "pd.Series[str]":
    """Label each pair or context with its cluster: its subject noun, in either number and in all constructions.

    Another set of templates would have other nouns; a noun's singular and plural are one unit. (In Marvin
    & Linzen's lexicon every plural is the singular and s.) A system may treat a noun the same way in all
    constructions, so it is one unit everywhere: 29 in Marvin & Linzen's data.

    Args:
        pairs: columns `construction`, `prefix`, `number`; `cluster` or `item` if units are given.
    """
    nouns = subject_nouns(pairs)
    if own_units(pairs, "prefix") is None:
        plural = (pairs["number"] == "plural") & (nouns != pairs["prefix"])
        nouns = nouns.mask(plural, nouns.str.removesuffix("s"))
    return nouns.rename("cluster")


def verb_lemmas(pairs: pd.DataFrame) -> "pd.Series[str]":
    """Name each pair's verb by its third person singular, so that both numbers are one unit.

    With other values than the two numbers, a verb is named by its two forms.

    Args:
        pairs: columns `form_correct`, `form_incorrect`, `number`.
    """
    if not pairs["number"].isin(["singular", "plural"]).all():
        forms = pairs[["form_correct", "form_incorrect"]].astype(str)
        return (forms.min(axis=1) + " / " + forms.max(axis=1)).rename("verb")
    return pairs["form_correct"].where(pairs["number"] == "singular", pairs["form_incorrect"]).rename("verb")
