"""The subject-verb agreement pairs of BLiMP whose two sentences differ in the verb (Warstadt et al. 2020).

Config `newman2021` is the copy that Newman et al. (2021) evaluate; `blimp` is BLiMP's own. They differ in
`distractor_agreement_relative_clause`, of which the copy holds another sample.
"""

import json
from pathlib import Path

import pyarrow as pa

from builders import upstream
from builders.agreement import Pair, agreement_table

PARADIGMS = (
    "distractor_agreement_relational_noun",
    "distractor_agreement_relative_clause",
    "irregular_plural_subject_verb_agreement_1",
    "regular_plural_subject_verb_agreement_1",
)
FOLDERS = {"newman2021": "refining-tse/data/blimp", "blimp": "blimp/data"}
UPSTREAM = tuple(f"{folder}/{paradigm}.jsonl" for folder in FOLDERS.values() for paradigm in PARADIGMS)

# Forms whose number does not show in their spelling. Listed one by one, so that pairs that also differ in tense
# ("wasn't", "aren't") are recognised.
AUXILIARIES = {
    **dict.fromkeys(("is", "was", "has", "does", "isn't", "wasn't", "hasn't", "doesn't"), "singular"),
    **dict.fromkeys(("are", "were", "have", "do", "aren't", "weren't", "haven't", "don't"), "plural"),
}
# The one pair of BLiMP that does not differ in number ("All patients that hurts Steven sing / singing.").
NOT_A_NUMBER_PAIR = ("sing", "singing")


def build(source: Path | None) -> dict[str, dict[str, pa.Table]]:
    """Return both configs, from the pinned files in `source`."""
    return {
        config: {
            "test": agreement_table(
                (paradigm, "BLiMP", split_pair(pair["sentence_good"], pair["sentence_bad"]))
                for paradigm in PARADIGMS
                for pair in map(json.loads, upstream.lines(source, f"{folder}/{paradigm}.jsonl"))
            )
        }
        for config, folder in FOLDERS.items()
    }


def derive_number(correct: str, incorrect: str) -> str:
    """Return the grammatical number of `correct`, from the two forms.

    Raises `ValueError` if they are not a singular and a plural form in the third person.

    >>> derive_number("embarrass", "embarrasses"), derive_number("wasn't", "aren't")
    ('plural', 'singular')
    """
    if (correct, incorrect) == NOT_A_NUMBER_PAIR:
        return "plural"
    numbers = AUXILIARIES.get(correct), AUXILIARIES.get(incorrect)
    if numbers == ("singular", "plural") or correct in _singulars(incorrect):
        return "singular"
    if numbers == ("plural", "singular") or incorrect in _singulars(correct):
        return "plural"
    raise ValueError(f"{correct!r} / {incorrect!r}: expected a singular and a plural form of one verb.")


def _singulars(plural: str) -> tuple[str, ...]:
    """Return the spellings that a regular verb's singular can have."""
    return f"{plural}s", f"{plural}es", f"{plural[:-1]}ies"


def split_pair(good: str, bad: str) -> Pair:
    """Return the gap of two sentences that differ in one word, and its context.

    Particles belong to the context, as in Newman et al. (2021): in "looks like", the gap is "looks". Raises
    `ValueError` if the sentences do not differ in exactly one word.
    """
    words, others = good.removesuffix(".").split(" "), bad.removesuffix(".").split(" ")
    places = [place for place, (a, b) in enumerate(zip(words, others, strict=False)) if a != b]
    if len(words) != len(others) or len(places) != 1 or (good[-1], bad[-1]) != (".", "."):
        raise ValueError(f"{good!r} / {bad!r}: expected two sentences that differ in one word.")
    prefix, suffix = words[: places[0]], words[places[0] + 1 :]
    correct, incorrect = words[places[0]], others[places[0]]
    after = "".join(f" {word}" for word in suffix) + "."
    return Pair(" ".join(prefix), after, correct, incorrect, derive_number(correct, incorrect))
