"""Random sentences to train the bundled tiny models on: `sources/tiny_corpus_grammar.yaml`, expanded.

The corpus is made so that it shows what Newman et al. (2021) describe. Verb frequencies follow Zipf's law, so
that a model sees most verbs rarely and inflects them less reliably. Like people, the corpus makes mistakes:
a verb sometimes agrees with the noun nearest to it (attraction) instead of with its subject.
"""

import itertools
import random
import re
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
import yaml

from builders.grammar import NUMBERS, inflect

SCRIPTS = Path(__file__).resolve().parent.parent
LEMMAS = SCRIPTS.parent / "datasets" / "verb_lemmas" / "clean" / "train.parquet"
# The verbs that lead the frequency list; the rest follow in random order.
FREQUENT = (
    "have do say go like know see think love want make hate get laugh take come admire find use bring need give "
    "smile look work swim enjoy write interest help call try ask keep let feel mean leave show play move live "
    "believe hold meet run sit stand pay hear read walk talk visit watch follow stop speak win teach open hurt"
).split()
# The list of verbs lacks them, but Marvin & Linzen use them.
NOT_LISTED = {"swim": "swims|swim", "smile": "smiles|smile", "admire": "admires|admire"}
ZIPF_EXPONENT = 1.25
SLIP = 0.02  # chance of the wrong number where nothing attracts
ATTRACTION = 0.2  # ... and where the nearest noun has the other number
NOUNS = frozenset({"person", "other_person", "speaker", "thing", "relation", "pronoun"})
VERBS = frozenset(
    {"verb", "copula", "be", "auxiliary", "liking", "person_predicate", "thing_predicate", "long_predicate"}
)
_PART = re.compile(r"<(\w+)(?::(\w+))?>|([^<]+)")


class Choice(NamedTuple):
    """What a symbol may become: alternatives as lists of (symbol, number, text), and running weights."""

    alternatives: list[list[tuple[str, str, str]]]
    cumulative: list[float]


def read_choices(seed: int) -> dict[str, Choice]:
    """Return the compiled grammar; `seed` decides which of the less common verbs are rare."""
    corpus = yaml.safe_load((SCRIPTS / "sources" / "tiny_corpus_grammar.yaml").read_text(encoding="utf-8"))
    templates = yaml.safe_load(
        (SCRIPTS / "sources" / "marvin_linzen_grammar.yaml").read_text(encoding="utf-8")
    )
    lexicon = {name: list(words) for name, words in templates["lexicon"].items()}
    lexicon["person"] += lexicon.pop("other_person")
    for name, words in corpus["lexicon"].items():
        lexicon[name] = lexicon.get(name, []) + words
    weighted = {name: dict.fromkeys(words, 1.0) for name, words in lexicon.items()} | corpus["rules"]
    weighted["verb"] = verb_weights(seed)
    weighted["infinitive"] = {item.split("|")[1]: weight for item, weight in weighted["verb"].items()}
    return {symbol: _compile(alternatives) for symbol, alternatives in weighted.items()}


def verb_weights(seed: int) -> dict[str, float]:
    """Return `singular|plural` of every one-word lemma with its relative frequency, most frequent first."""
    table = pq.read_table(LEMMAS, columns=["lemma", "singular", "plural"]).to_pylist()
    forms = {row["lemma"]: f"{row['singular']}|{row['plural']}" for row in table if row["lemma"].isalpha()}
    forms |= NOT_LISTED
    frequent = [lemma for lemma in FREQUENT if lemma in forms]
    others = [lemma for lemma in forms if lemma not in FREQUENT]
    random.Random(seed).shuffle(others)
    return {forms[lemma]: 1 / rank**ZIPF_EXPONENT for rank, lemma in enumerate([*frequent, *others], start=3)}


class Corpus:
    """An endless stream of random sentences, the same for the same seed."""

    def __init__(self, seed: int):
        self._choices = read_choices(seed)
        self._random = random.Random(seed)
        self._nearest = NUMBERS[0]  # number of the last noun

    def sentence(self) -> str:
        """Return a sentence, with a capital and a full stop."""
        text = self._expand("sentence", self._random.choice(NUMBERS))
        return text[0].upper() + text[1:]

    def sentences(self, count: int) -> list[str]:
        """Return the next `count` sentences."""
        return [self.sentence() for _ in range(count)]

    def _expand(self, symbol: str, number: str) -> str:
        if symbol in VERBS:
            number = self._spoken(number)
        choice = self._choices[symbol]
        (parts,) = self._random.choices(choice.alternatives, cum_weights=choice.cumulative)
        words = []
        for inner, chosen, text in parts:
            if text:
                words.append(inflect(text, number))
                continue
            inner_number = self._random.choice(NUMBERS) if chosen == "any" else chosen or number
            words.append(self._expand(inner, inner_number))
        if symbol in NOUNS:
            self._nearest = number
        return "".join(words)

    def _spoken(self, number: str) -> str:
        """Return the number that a verb gets which should have `number`."""
        slip = SLIP if self._nearest == number else ATTRACTION
        return NUMBERS[1 - NUMBERS.index(number)] if self._random.random() < slip else number


def _compile(alternatives: dict[str, float]) -> Choice:
    return Choice(
        [
            [(part[1] or "", part[2] or "", part[3] or "") for part in _PART.finditer(text)]
            for text in alternatives
        ],
        list(itertools.accumulate(alternatives.values())),
    )
