"""Which unit each pair or context of agreement data belongs to.

The subject is the noun that the tested verb agrees with. In the constructions of Marvin & Linzen (2018) it is either
the noun of the sentence's first noun phrase (The *pilots* that the guard loves [are] …) or that of the last one before
the gap (The pilots that the *guard* [loves] …; The banker knew the *pilot* [swims]).
"""

import pandas as pd

from .clustered import Units

FIRST_NOUN = r"^The (?P<noun>\S+)"
"""subjects of a main clause are of one word"""
LAST_NOUN = r"(?:^The|\bthe) (?P<noun>(?:taxi )?\S+)$"
"""subjects of an embedded clause may be of two: taxi driver"""
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
"""construction -> where its subject stands in the prefix"""


def subject_nouns(pairs: pd.DataFrame) -> "pd.Series[str]":
    """Find the subject noun of each pair or context, as it stands in the prefix.

    Args:
        pairs: columns `construction`, `prefix`. A column `cluster` is taken as it is. In a construction that is not
            Marvin & Linzen's, where its rule finds nothing, and where `cluster` is empty, the prefix is the unit.

    >>> subject_nouns(pd.DataFrame({"construction": ["sent_comp"], "prefix": ["The banker knew the pilots"]})).item()
    'pilots'
    """
    if "cluster" in pairs:
        given = pairs["cluster"].astype(object).where(pairs["cluster"].notna(), pairs["prefix"])
        return given.astype(str).rename("subject")
    contexts = pairs[["construction", "prefix"]].drop_duplicates()
    found = contexts["prefix"].astype(object).copy()
    for construction, rule in SUBJECT_RULES.items():
        own = contexts["construction"] == construction
        found[own] = contexts.loc[own, "prefix"].str.extract(rule)["noun"].fillna(found[own])
    keys = pd.MultiIndex.from_frame(contexts)
    of_context = pd.Series(found.to_numpy(dtype=object), index=keys)
    rows = pd.MultiIndex.from_frame(pairs[["construction", "prefix"]])
    return pd.Series(of_context.reindex(rows).to_numpy(), index=pairs.index, name="subject").astype(str)


def subject_clusters(pairs: pd.DataFrame, within_construction: bool = True) -> "pd.Series[str]":
    """Label each pair or context with its cluster: construction and subject noun, both numbers of it together.

    The noun is what another set of templates would have others of; its singular and plural come together. (In Marvin
    & Linzen's lexicon every plural is the singular and s.)

    Args:
        pairs: columns `construction`, `prefix`, `number`; `cluster` if units are given.
        within_construction: whether a noun is another unit in each construction. If a system treats a noun alike in
            all constructions, standard errors over several constructions are then too small; with False, the noun is
            one unit everywhere (29 in Marvin & Linzen's data instead of 147). Within one construction it is the same.
    """
    nouns = subject_nouns(pairs)
    if "cluster" not in pairs:
        plural = (pairs["number"] == "plural") & (nouns != pairs["prefix"])
        nouns = nouns.mask(plural, nouns.str.removesuffix("s"))
    labels = pairs["construction"].astype(str) + " / " + nouns if within_construction else nouns
    return labels.rename("cluster")


def verb_lemmas(pairs: pd.DataFrame) -> "pd.Series[str]":
    """Name each pair's verb by its third person singular, so that both numbers are one unit.

    Args:
        pairs: columns `verb_correct`, `verb_incorrect`, `number`.
    """
    return pairs["verb_correct"].where(pairs["number"] == "singular", pairs["verb_incorrect"]).rename("verb")


def declared_units(items: pd.DataFrame, group: str | None = None) -> Units:
    """Say which units a user's own data have: its cluster columns, else its groups, else each item by itself.

    Args:
        items: one row per item; columns `cluster` and `cluster_2` hold units of one or two crossed kinds.
        group: column of the groups, which are the units if there is no `cluster`; None for none.
    """
    if "cluster" in items:
        crossed = items["cluster_2"].to_numpy() if "cluster_2" in items else None
        name = "cluster" if crossed is None else "cluster x cluster_2"
        return Units(items["cluster"].to_numpy(), name, crossed)
    if group is not None and group in items and items[group].nunique() > 1:
        return Units(items[group].to_numpy(), f"groups ({group})")
    return Units(range(len(items)), "items")
