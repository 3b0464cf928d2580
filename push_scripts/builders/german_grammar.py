"""German sentences with three arguments in every order and every case: acceptable ones and violations.

A sentence is `matrix clause + conjunction, three noun phrases, clause-final verb`. All noun phrases are singular
and masculine, the one gender and number whose nominative (N), dative (D) and accusative (A) differ:

              N      D       A
    definite  der    dem     den
    ein-words ein    einem   einen      (so are mein, sein, ihr, …)
    strong    Koch   Koch    Koch
    weak      Held   Helden  Helden     (Herr, dem Herrn: an ending of its own)
    adjective der Fremde, ein Fremder; dem, einem, den, einen Fremden

The design is that of Rochereau, Sagot & Dupoux (2020), section 3: from one template 6 noun orders x 6 case
orders = 36 acceptable sentences, and 6 noun orders x 18 case patterns with a doubled case = 108 unacceptable
ones.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FACTS = Path(__file__).resolve().parent.parent / "sources" / "german_templates.json"

# In the order of the released data set, so that the n-th sentence here is the n-th one there.
CASE_ORDERS = ("NDA", "NAD", "DNA", "DAN", "AND", "ADN")
DOUBLED = (
    *("NNA", "NND", "NAN", "NDN", "ANN", "DNN"),
    *("AAN", "AAD", "ANA", "ADA", "NAA", "DAA"),
    *("DDN", "DDA", "DND", "DAD", "NDD", "ADD"),
)
POSITIONS = ("123", "213", "132", "231", "312", "321")

DEFINITE = {"N": "der", "D": "dem", "A": "den"}
EIN_ENDINGS = {"N": "", "D": "em", "A": "en"}
EIN_WORDS = ("ein", "kein", "mein", "dein", "sein", "ihr", "unser")


@dataclass(frozen=True)
class Noun:
    """A masculine noun's singular, and its nominative plural (None: not in use)."""

    nominative: str
    oblique: str  # dative and accusative, which are the same for every masculine noun
    plural: str | None
    adjectival: bool = False


@dataclass(frozen=True)
class Template:
    """One sentence with its three noun phrases as (article, noun) in the nominative."""

    matrix: str
    phrases: tuple[tuple[str, str], ...]
    verb: str
    all_animate: bool


def read_lexicon() -> dict[str, Noun]:
    """Return every noun's forms, by its citation form (for adjectival nouns the form after `ein`)."""
    facts = json.loads(FACTS.read_text(encoding="utf-8"))
    lexicon = {noun: Noun(noun, noun, plural) for noun, plural in facts["strong"].items()}
    lexicon |= {noun: Noun(noun, plural, plural) for noun, plural in facts["weak"].items()}
    lexicon |= {noun: Noun(noun, **forms) for noun, forms in facts["irregular"].items()}
    for noun in facts["adjectival"]:
        stem = noun.removesuffix("r")  # ein Fremder, der Fremde, die Fremden
        lexicon[noun] = Noun(noun, f"{stem}n", f"{stem}n", adjectival=True)
    return lexicon


def read_templates() -> list[Template]:
    """Return our own templates."""
    facts = json.loads(FACTS.read_text(encoding="utf-8"))
    return [
        Template(
            template["matrix"],
            tuple(tuple(phrase.split()) for phrase in template["nouns"]),
            template["verb"],
            template["all_animate"],
        )
        for template in facts["templates"]
    ]


def decline(article: str, noun: Noun, case: str) -> str:
    """Return a noun phrase, given in the nominative, in another case.

    Raises:
        ValueError: the article is neither `der` nor an ein-word.

    >>> decline("der", Noun("Fremder", "Fremden", "Fremden", adjectival=True), "N")
    'der Fremde'
    >>> decline("sein", Noun("Herr", "Herrn", "Herren"), "D")
    'seinem Herrn'
    """
    if article != "der" and article not in EIN_WORDS:
        raise ValueError(f"No declension for the article {article!r}; there are der, {', '.join(EIN_WORDS)}.")
    definite = article == "der"
    form = DEFINITE[case] if definite else article + EIN_ENDINGS[case]
    if case != "N":
        return f"{form} {noun.oblique}"
    # The ending -r that marks the nominative is on the article or, where that has none, on the adjective.
    return f"{form} {noun.nominative.removesuffix('r') if noun.adjectival and definite else noun.nominative}"


def plural_reading(article: str, noun: Noun, case: str) -> str | None:
    """Return the plural case that a singular noun phrase could also be: `dative`, `genitive` or None.

    `den Studenten` is the student (A) or the students (dative); `der Fahrer` the driver (N) or the drivers'.
    If so, a sentence that is meant as a violation may have an acceptable reading.
    """
    if noun.plural is None or article == "ein":  # ein has no plural
        return None
    dative_plural = noun.plural if noun.plural.endswith(("n", "s")) else f"{noun.plural}n"
    if case == "A" and noun.oblique == dative_plural:
        return "dative"
    if case == "N" and article == "der" and not noun.adjectival and noun.nominative == noun.plural:
        return "genitive"
    return None


def sentence(template: Template, lexicon: dict[str, Noun], cases: str, positions: str) -> str:
    """Build one sentence: its i-th noun phrase is phrase number `positions[i]` in the case `cases[i]`."""
    phrases = [
        decline(article, lexicon[noun], case)
        for case, number in zip(cases, positions, strict=True)
        for article, noun in [template.phrases[int(number) - 1]]
    ]
    return " ".join([template.matrix, *phrases, template.verb]) + "."


def patterns() -> Iterator[tuple[str, str]]:
    """Yield the 144 (cases, positions) of a template: the acceptable ones first, as in the released data."""
    for group in (CASE_ORDERS, DOUBLED):
        for positions in POSITIONS:
            for cases in group:
                yield cases, positions
