"""Compare the verb lemmas of a language with a second, independent source, and report how often the two differ.

    python push_scripts/builders/check_lemmas.py LANGUAGE [--sample 200] [--seed 0] [--source FILE]

German and French are compared with the conjugator `ablaut` (`pip install ablaut`, version 0.11.0 gave the published
rates), Russian with the dictionary of `pymorphy3` (`pip install pymorphy3`, 2.0.6 with pymorphy3-dicts-ru
2.4.417150.4580142), Hebrew with the UniMorph file `heb` (`--source FILE`, github.com/unimorph/heb at commit
b2bff12338ca). None of them is needed to build the data, and nothing is copied from them.
"""

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from builders.lemma_lists import LANGUAGES, Verb, excluded_lemmas, read_facts, read_verbs

# From a verb to the pairs of forms that the second source gives; the set is empty where it does not have the verb.
Source = Callable[[Verb], set[tuple[str, str]]]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="Compare verb lemmas with a second source.")
    parser.add_argument("language", choices=LANGUAGES)
    parser.add_argument(
        "--sample",
        type=int,
        default=200,
        help="how many verbs that the second source has (default: 200)",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample (default: 0)")
    parser.add_argument("--source", type=Path, help="the UniMorph file `heb` (Hebrew)")
    options = parser.parse_args(arguments)
    if options.language == "hebrew" and options.source is None:
        parser.error("Hebrew is compared with the UniMorph file `heb`; name it with --source.")
    facts = read_facts(options.language)
    excluded = excluded_lemmas(facts)
    verbs = [verb for verb in read_verbs(options.language, facts) if verb.lemma not in excluded]
    second = _unimorph(options.source) if options.language == "hebrew" else SOURCES[options.language]()
    known = [verb for verb in verbs if second(verb)]
    chosen = random.Random(options.seed).sample(known, min(options.sample, len(known)))
    print(f"{options.language}, sample: {report(chosen, second)}")
    print(f"{options.language}, all: {report(verbs, second)}")
    return 0


def report(verbs: list[Verb], second: Source) -> str:
    """How many verbs the second source has, and which of them it inflects in another way."""
    found = {verb: forms for verb in verbs if (forms := second(verb))}
    differ = [verb for verb, forms in found.items() if (verb.singular, verb.plural) not in forms]
    listed = "; ".join(f"{v.lemma} {v.singular}/{v.plural}, there {sorted(found[v])}" for v in differ)
    return f"{len(verbs)} verbs, {len(found)} in the second source, {len(differ)} differ. {listed}"


def _ablaut(language: str) -> Source:
    import ablaut

    def forms(verb: Verb) -> set[tuple[str, str]]:
        try:
            present = ablaut.conjugate(verb.lemma, lang=language).present
        except ValueError:
            return set()
        return {(present[2], present[5])}

    return forms


def _pymorphy() -> Source:
    import pymorphy3

    analyzer = pymorphy3.MorphAnalyzer(lang="ru")

    def forms(verb: Verb) -> set[tuple[str, str]]:
        found = set()
        for parse in analyzer.parse(verb.lemma) if analyzer.word_is_known(verb.lemma) else ():
            if parse.tag.POS == "INFN" and parse.tag.aspect == "impf":
                both = [parse.inflect({"VERB", "pres", "3per", number}) for number in ("sing", "plur")]
                if all(both):
                    found.add(tuple(form.word.replace("ё", "е") for form in both))
        return found

    return forms


def _unimorph(path: Path) -> Source:
    cells: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            lemma, form, tags = line.split("\t")
            cells[lemma][tags].add(form)
    pairs: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for forms in cells.values():
        for singular in forms["V;SG;PRS;MASC"]:
            pairs[singular] |= {(singular, plural) for plural in forms["V;PL;PRS;MASC"]}
    return lambda verb: pairs[verb.singular]


SOURCES: dict[str, Callable[[], Source]] = {
    "german": lambda: _ablaut("deu"),
    "french": lambda: _ablaut("fra"),
    "russian": _pymorphy,
}

if __name__ == "__main__":
    sys.exit(main())
