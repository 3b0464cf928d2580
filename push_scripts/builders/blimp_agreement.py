"""The subject-verb agreement pairs of BLiMP whose two sentences differ in the verb (Warstadt et al. 2020).

Config `newman2021` is the copy that Newman et al. (2021) evaluate; `blimp` is BLiMP's own. They differ in
`distractor_agreement_relative_clause`, of which the copy holds another sample.
"""

import json
from pathlib import Path

import pyarrow as pa

from builders import upstream
from builders.agreement import agreement_table
from builders.grammar import Pair
from builders.inflection import third_person_singular

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
NOT_A_NUMBER_PAIR = {("sing", "singing"): "plural"}


def build(source: Path | None) -> dict[str, dict[str, pa.Table]]:
    """Return both configs, from the pinned upstream files below `source`."""
    return {
        config: {
            "test": agreement_table(
                (paradigm, "BLiMP", pair)
                for paradigm in PARADIGMS
                for pair in _read_pairs(upstream.locate(source, f"{folder}/{paradigm}.jsonl"))
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
    if (correct, incorrect) in NOT_A_NUMBER_PAIR:
        return NOT_A_NUMBER_PAIR[correct, incorrect]
    number, other = AUXILIARIES.get(correct), AUXILIARIES.get(incorrect)
    if number and other and number != other:
        return number
    if correct == third_person_singular(incorrect):
        return "singular"
    if incorrect == third_person_singular(correct):
        return "plural"
    raise ValueError(f"{correct!r} / {incorrect!r}: expected a singular and a plural form of one verb.")


def split_pair(good: str, bad: str) -> Pair:
    """Return the gap of two sentences that differ in one word, and its context.

    Particles belong to the context, as in Newman et al. (2021): in "looks like", the gap is "looks". Raises
    `ValueError` if the sentences do not differ in exactly one word.
    """
    good_words, bad_words = good.removesuffix(".").split(" "), bad.removesuffix(".").split(" ")
    places = [i for i, (a, b) in enumerate(zip(good_words, bad_words, strict=False)) if a != b]
    if (
        len(good_words) != len(bad_words)
        or len(places) != 1
        or not (good.endswith(".") and bad.endswith("."))
    ):
        raise ValueError(f"{good!r} / {bad!r}: expected two sentences that differ in one word.")
    (gap,) = places
    suffix = "".join(f" {word}" for word in good_words[gap + 1 :]) + "."
    correct, incorrect = good_words[gap], bad_words[gap]
    return Pair(" ".join(good_words[:gap]), suffix, correct, incorrect, derive_number(correct, incorrect))


def _read_pairs(path: Path) -> list[Pair]:
    """Return the pairs of one paradigm, in the order of the upstream file."""
    examples = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [split_pair(example["sentence_good"], example["sentence_bad"]) for example in examples]
