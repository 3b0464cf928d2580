"""Compare a language's verb lemmas, and the subjects of its templates, with a second, independent source.

    python push_scripts/builders/check_lemmas.py LANGUAGE [--sample 200] [--seed 0] [--source FILE]

It prints what the second source inflects in another way, verbs with several forms of one number there, and what can
be read in the other number: a form of a verb that is a predicate of the other number as well (*il pressent* of
*pressentir*, *ils pressent* of *presser*), and a subject whose article and noun are a subject of the other number as
well (*die Leiter*: the heads, the ladder). With either, the sentence that should be wrong is grammatical.

| language | verbs | subjects |
|---|---|---|
| German | the conjugator `ablaut` 0.11.0 | the nouns of `german-nouns` 1.2.5 |
| French | the tables of Verbiste in `mlconjug3` 4.0.1 | the article decides |
| Russian | `pymorphy3` 2.0.6 with pymorphy3-dicts-ru 2.4.417150.4580142 | the same |
| Hebrew | the program `hspell` 1.4, or with `--source` the UniMorph file `heb` (commit b2bff12338ca) | the same |

The packages are installed with `pip` (`mlconjug3` and `german-nouns` with `--no-deps`), hspell with `apt`. None of them
is needed to build the data, and nothing is copied from them.
"""

import argparse
import csv
import importlib.util
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from builders.grammar import NUMBERS, inflect, read_grammar
from builders.lemma_lists import LANGUAGES, VERBS, Verb, excluded_lemmas, read_facts, read_verbs

SINGULAR, PLURAL = NUMBERS


class Source(Protocol):
    """What a second source knows."""

    def forms(self, verb: Verb) -> tuple[set[str], set[str]]:
        """The singulars and the plurals of a verb; both are empty where the source does not have it."""

    def predicates(self, form: str) -> set[str]:
        """The numbers of subjects that a form can be the predicate of."""

    def subjects(self, phrase: str) -> set[str]:
        """The numbers that a phrase can have as a subject (or while a sentence has no subject beside it)."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="Compare verb lemmas and subjects with a second source.")
    parser.add_argument("language", choices=LANGUAGES)
    parser.add_argument(
        "--sample",
        type=int,
        default=200,
        help="how many verbs that the second source has (default: 200)",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample (default: 0)")
    parser.add_argument(
        "--source",
        type=Path,
        help="Hebrew: the UniMorph file `heb`; German: a file of nouns like that of german-nouns",
    )
    options = parser.parse_args(arguments)
    language = options.language
    facts = read_facts(language)
    excluded = excluded_lemmas(facts)
    verbs = [verb for verb in read_verbs(language, facts) if verb.lemma not in excluded]
    source: Source = SOURCES[language](options.source)
    shared_verbs = [verb for verb in verbs if any(source.forms(verb))]
    sample = random.Random(options.seed).sample(shared_verbs, min(options.sample, len(shared_verbs)))
    print(f"{language}, sample: {report(sample, source)}")
    print(f"{language}, all: {report(verbs, source)}")
    several = [(verb.lemma, *map(sorted, source.forms(verb))) for verb in shared_verbs]
    _print_list(
        language, "verbs with several forms of one number", (s for s in several if max(map(len, s[1:])) > 1)
    )
    _print_list(
        language, "forms that are a predicate in the other number too", other_number_forms(verbs, source)
    )
    _print_list(language, "subjects that can have the other number", other_number_subjects(language, source))
    return 0


def report(verbs: list[Verb], second: Source) -> str:
    """How many verbs the second source has, and which of them it inflects in another way."""
    forms_of = {verb: forms for verb in verbs if any(forms := second.forms(verb))}
    differences = [
        f"{verb.lemma} {verb.singular}/{verb.plural}, there {[sorted(singulars), sorted(plurals)]}"
        for verb, (singulars, plurals) in forms_of.items()
        if verb.singular not in singulars or verb.plural not in plurals
    ]
    return (
        f"{len(verbs)} verbs, {len(forms_of)} in the second source, {len(differences)} differ. "
        f"{'; '.join(differences)}"
    )


def other_number_forms(verbs: Iterable[Verb], second: Source) -> Iterator[str]:
    """The forms that are a predicate of the other number as well, be it of a listed verb or not."""
    for verb in verbs:
        for form, other in ((verb.singular, PLURAL), (verb.plural, SINGULAR)):
            if other in second.predicates(form):
                yield f"{form} ({verb.lemma})"


def other_number_subjects(language: str, second: Source) -> Iterator[str]:
    """The subjects of a language's templates that can have the other number as well."""
    for phrase, number in _subjects(language):
        if set(NUMBERS) - {number} <= second.subjects(phrase):
            yield phrase


def _subjects(language: str) -> Iterator[tuple[str, str]]:
    """What the tested verbs of a language's templates agree with, each once, and its number."""
    constructions = read_grammar(VERBS.parent / f"clams_{language}_grammar.yaml")
    slots = [construction.slots for construction in constructions]
    groups = [next(slot.group for slot in pattern if slot.gap) for pattern in slots]
    subjects = [
        next(s.items for s in pattern if s.group == group)
        for pattern, group in zip(slots, groups, strict=True)
    ]
    for item in dict.fromkeys(item for items in subjects for item in items):
        for number in NUMBERS:
            yield inflect(item, number), number


def _print_list(language: str, title: str, findings: Iterable[object]) -> None:
    lines = list(map(str, findings))
    print(f"{language}, {title}: {len(lines)}. {'; '.join(lines)}")


class German:
    """`ablaut`, and the nouns of `german-nouns`."""

    def __init__(self, nouns: Path | None) -> None:
        with (nouns or _package("german_nouns") / "nouns.csv").open(encoding="utf-8", newline="") as file:
            self._feminine = {
                form
                for row in csv.DictReader(file)
                if "f" in (row[column] for column in row if column.startswith("genus"))
                for column, form in row.items()
                if column.startswith("nominativ singular")
            }

    def forms(self, verb: Verb) -> tuple[set[str], set[str]]:
        """Two forms from rules."""
        import ablaut

        try:
            present = ablaut.conjugate(verb.lemma, lang="deu").present
        except ValueError:
            return set(), set()
        return {present[2]}, {present[5]}

    def predicates(self, form: str) -> set[str]:
        """By the ending: no plural but *sind* ends in anything but -n, and no singular but *kann* in -n."""
        return {PLURAL if form == "sind" or (form.endswith("n") and form != "kann") else SINGULAR}

    def subjects(self, phrase: str) -> set[str]:
        """*der* is singular in the nominative; *die* is plural, or singular before a feminine noun."""
        article, noun = phrase.split(" ", 1)
        if article == "der":
            return {SINGULAR}
        return {PLURAL, SINGULAR} if noun in self._feminine else {PLURAL}


class French:
    """Verbiste, as `mlconjug3` has it."""

    def __init__(self, _: Path | None) -> None:
        folder = _package("mlconjug3") / "data" / "conjug_manager"
        endings = {
            template.attrib["name"]: [
                (number, cell.text or "")
                for number, person in zip(NUMBERS, template.findall("Indicatif/Présent/p")[2::3], strict=True)
                for cell in person.findall("i")
            ]
            for template in ElementTree.parse(folder / "conjugation-fr.xml").iter("template")
            if len(template.findall("Indicatif/Présent/p")) == 6
        }
        self._verbs: dict[str, dict[str, set[str]]] = {}
        self._numbers: dict[str, set[str]] = defaultdict(set)
        for entry in ElementTree.parse(folder / "verbs-fr.xml").iter("v"):
            lemma, name = entry.findtext("i", ""), entry.findtext("t", "")
            cells = self._verbs.setdefault(lemma, {number: set() for number in NUMBERS})
            for number, ending in endings.get(name, ()):
                form = lemma.removesuffix(name.split(":")[1]) + ending
                cells[number].add(form)
                self._numbers[form].add(number)

    def forms(self, verb: Verb) -> tuple[set[str], set[str]]:
        """All forms that the table has."""
        cells = self._verbs.get(verb.lemma, {})
        return cells.get(SINGULAR, set()), cells.get(PLURAL, set())

    def predicates(self, form: str) -> set[str]:
        """By all 7,000 verbs."""
        return self._numbers[form]

    def subjects(self, phrase: str) -> set[str]:
        """*le* and *l'* are singular, *les* is plural, whatever the noun."""
        return {PLURAL if phrase.startswith("les ") else SINGULAR}


class Russian:
    """`pymorphy3`."""

    def __init__(self, _: Path | None) -> None:
        import pymorphy3

        self._analyzer = pymorphy3.MorphAnalyzer(lang="ru")
        self._numbers = dict(zip(("sing", "plur"), NUMBERS, strict=True))

    def forms(self, verb: Verb) -> tuple[set[str], set[str]]:
        """All forms of the imperfective verbs with this infinitive, substandard ones among them."""
        forms: dict[str, set[str]] = {number: set() for number in NUMBERS}
        for parse in self._analyzer.parse(verb.lemma):
            if parse.is_known and {"INFN", "impf"} <= set(parse.tag.grammemes):
                for form in parse.lexeme:
                    if {"VERB", "pres", "3per"} <= form.tag.grammemes:
                        forms[self._numbers[form.tag.number]].add(form.word.replace("ё", "е"))
        return forms[SINGULAR], forms[PLURAL]

    def predicates(self, form: str) -> set[str]:
        """Verbs, short participles and short adjectives."""
        parses = [parse for parse in self._analyzer.parse(form) if parse.is_known]
        return {
            self._numbers[p.tag.number]
            for p in parses
            if p.tag.POS in ("VERB", "PRTS", "ADJS") and p.tag.number
        }

    def subjects(self, phrase: str) -> set[str]:
        """Nouns in the nominative; in the accusative, a sentence can be without a subject, in either number."""
        tags = [
            parse.tag for parse in self._analyzer.parse(phrase) if parse.is_known and parse.tag.POS == "NOUN"
        ]
        nominative = {self._numbers[tag.number] for tag in tags if tag.case == "nomn"}
        return set(NUMBERS) if any(tag.case == "accs" for tag in tags) else nominative


class Hebrew:
    """The masculine present in UniMorph, or in the program `hspell`."""

    def __init__(self, unimorph: Path | None) -> None:
        self._readings: dict[str, set[tuple[str, str, str]]] = defaultdict(set)  # form -> kind, lemma, number
        self._forms: dict[tuple[str, str], set[str]] = defaultdict(set)  # lemma and number of verbs -> forms
        for form, kind, lemma, number in _from_unimorph(unimorph) if unimorph else _from_hspell():
            self._readings[form].add((kind, lemma, number))
            if kind == "verb":
                self._forms[lemma, number].add(form)

    def forms(self, verb: Verb) -> tuple[set[str], set[str]]:
        """All forms of the verbs that have this singular."""
        readings = self._readings.get(verb.singular, ())
        lemmas = {lemma for kind, lemma, number in readings if (kind, number) == ("verb", SINGULAR)}
        singulars, plurals = (set().union(*(self._forms[lemma, n] for lemma in lemmas)) for n in NUMBERS)
        return singulars, plurals

    def predicates(self, form: str) -> set[str]:
        """Verbs, and adjectives and nouns, which need no verb beside them."""
        return {number for _, _, number in self._readings.get(form, ())}

    def subjects(self, phrase: str) -> set[str]:
        """The noun after the article."""
        return {
            number for kind, _, number in self._readings.get(phrase.removeprefix("ה"), ()) if kind == "noun"
        }


def _from_unimorph(path: Path) -> Iterator[tuple[str, str, str, str]]:
    tags = dict(zip(("V;SG;PRS;MASC", "V;PL;PRS;MASC", "N;SG;NDEF", "N;PL;NDEF"), NUMBERS * 2, strict=True))
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            lemma, form, tag = line.split("\t")
            if tag in tags:
                yield form, "verb" if tag.startswith("V") else "noun", lemma, tags[tag]


def _from_hspell() -> Iterator[tuple[str, str, str, str]]:
    """What `hspell -l` says of every form and every subject; construct states and suffixed forms do not count."""
    words = [form for verb in read_verbs("hebrew", read_facts("hebrew")) for form in verb[1:3]]
    words += [phrase.removeprefix("ה") for phrase, _ in _subjects("hebrew")]
    text = "\n".join(words).encode("iso-8859-8")
    output = subprocess.run(["hspell", "-l"], input=text, capture_output=True, check=True).stdout.decode(
        "iso-8859-8"
    )
    numbers = {"יחיד": SINGULAR, "רבים": PLURAL}
    kinds = {("פ", "הווה"): "verb", ("ת",): "adjective", ("ע",): "noun"}
    word = None
    for line in output.splitlines():
        if not line.startswith("\t"):
            word = line.removeprefix("מילה חוקית: ") if line.startswith("מילה חוקית: ") else None
        elif word and (match := re.fullmatch(r"\t(.+)\((.)(?:,ז)?,(יחיד|רבים)(?:,(הווה))?\)", line)):
            lemma, kind, number, tense = match.groups()
            if name := kinds.get((kind, tense) if tense else (kind,)):
                yield word, name, lemma, numbers[number]


def _package(name: str) -> Path:
    """The folder of an installed package, which is not imported."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"The package {name} is not installed; see the head of this file.")
    return Path(spec.submodule_search_locations[0])


SOURCES: dict[str, Callable[[Path | None], Source]] = {
    "german": German,
    "french": French,
    "russian": Russian,
    "hebrew": Hebrew,
}

if __name__ == "__main__":
    sys.exit(main())
