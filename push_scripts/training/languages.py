"""Tiny models of other languages: `tiny-causal-german`, `tiny-masked-german`, and so on.

Their text is the language's grammar (`sources/clams_<language>_grammar.yaml`): in most sentences, a verb of the lemma
list replaces the tested verb. As in `corpus.py`, the frequencies of these verbs follow Zipf's law, and some verbs agree
with the nearest noun instead of their subject. The vocabulary is whole words.
"""

import itertools
import random
from collections.abc import Mapping

import pyarrow.parquet as pq
import torch
from tokenizers import Tokenizer, models, processors
from transformers import (
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
)

from builders.grammar import NUMBERS, Construction, make_pair, read_grammar
from training.corpus import ATTRACTION, SCRIPTS, SLIP, ZIPF_EXPONENT
from training.tasks import END, MASKED, SPECIAL, VERBS_MASKED, CausalTask, MaskedTask
from tse_scorers.models.words import WordSplitter, splitter

STEPS = {"german": (800, 1_500), "french": (800, 1_500), "russian": (1_000, 1_500), "hebrew": (1_000, 1_500)}
"""language -> steps of the causal and of the masked model"""
LEARNING_RATES = {"german": 3e-3, "french": 3e-3, "russian": 1e-2, "hebrew": 1e-2}
"""higher where subjects have no article, so that the number of each noun has to be learned"""
LEMMAS = 500
"""lemmas of the list that are in the text and in the vocabulary"""
UNKNOWN = "<unk>"
REPLACED = 0.7
"""share of sentences whose tested verb is replaced by one of the lemma list"""
SIZE = 32
HEADS = 4
LAYERS = 2
POSITIONS = 96


def verbs_of(language: str) -> list[tuple[str, str]]:
    """Return the two forms of every verb in the text, in the order of their frequencies."""
    path = SCRIPTS.parent / "datasets" / "verb_lemmas" / language / "train.parquet"
    rows = pq.read_table(path, columns=["singular", "plural"]).to_pylist()
    chosen = random.Random(language).sample(rows, LEMMAS)
    return [(row["singular"], row["plural"]) for row in chosen]


class LanguageCorpus:
    """An endless stream of random sentences of a language's grammar, the same for the same seed."""

    def __init__(self, language: str, seed: int) -> None:
        by_name: dict[str, list[Construction]] = {}
        for construction in read_grammar(SCRIPTS / "sources" / f"clams_{language}_grammar.yaml"):
            by_name.setdefault(construction.name, []).append(construction)
        self._patterns = list(by_name.values())
        self._verbs = verbs_of(language)
        ranks = range(1, len(self._verbs) + 1)
        self._cumulative = list(itertools.accumulate(1 / rank**ZIPF_EXPONENT for rank in ranks))
        self._random = random.Random(seed)

    def sentence(self) -> str:
        """Return a sentence, with a capital and a full stop."""
        chance = self._random
        slots = chance.choice(chance.choice(self._patterns)).slots  # constructions are equally frequent
        number_of = {group: chance.choice(NUMBERS) for group in sorted({s.group for s in slots if s.group})}
        pair = make_pair(slots, tuple(chance.choice(slot.items) for slot in slots), number_of)
        attracted = len(set(number_of.values())) > 1
        slipped = chance.random() < (ATTRACTION if attracted else SLIP)
        verb = pair.form_incorrect if slipped else pair.form_correct
        if chance.random() < REPLACED:
            (forms,) = chance.choices(self._verbs, cum_weights=self._cumulative)
            verb = forms[(pair.number == NUMBERS[1]) != slipped]
        return f"{pair.prefix} {verb}{pair.suffix}"

    def sentences(self, count: int) -> list[str]:
        """Return the next `count` sentences."""
        return [self.sentence() for _ in range(count)]


class LanguageCausalTask(CausalTask):
    """A GPT-2 whose tokens are the words of one language's sentences."""

    def __init__(self, language: str, sentences: list[str]) -> None:
        self.name, self.steps = f"tiny-causal-{language}", STEPS[language][0]
        self.learning_rate = LEARNING_RATES[language]
        vocabulary = words_of(sentences, language, [END, UNKNOWN])
        self.tokenizer = word_tokenizer(
            vocabulary, bos_token=END, eos_token=END, pad_token=END, unk_token=UNKNOWN
        )
        self.model = GPT2LMHeadModel(
            GPT2Config(
                vocab_size=len(vocabulary), n_positions=POSITIONS, n_embd=SIZE, n_layer=LAYERS, n_head=HEADS,
                n_inner=2 * SIZE, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                bos_token_id=0, eos_token_id=0, pad_token_id=0,
            )
        )  # fmt: skip


class LanguageMaskedTask(MaskedTask):
    """A BERT whose tokens are the words of one language's sentences."""

    def __init__(self, language: str, sentences: list[str]) -> None:
        self.name, self.steps = f"tiny-masked-{language}", STEPS[language][1]
        self.learning_rate = LEARNING_RATES[language]
        vocabulary = words_of(sentences, language, list(SPECIAL))
        names = dict(
            zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True)
        )
        self.tokenizer = word_tokenizer(vocabulary, **names)
        around = [(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")]
        self.tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=around
        )
        forms = [form for verb in verbs_of(language) for form in verb]
        self._masked = torch.full((len(vocabulary),), MASKED)
        self._masked[self.tokenizer.convert_tokens_to_ids(forms)] = VERBS_MASKED
        self._masked[self.tokenizer.all_special_ids] = 0.0
        self.model = BertForMaskedLM(
            BertConfig(
                vocab_size=len(vocabulary), hidden_size=SIZE, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
                intermediate_size=2 * SIZE, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
                max_position_embeddings=POSITIONS, pad_token_id=0,
            )
        )  # fmt: skip


def words_of(sentences: list[str], language: str, special: list[str]) -> dict[str, int]:
    """Return the id of each word of the sentences and of each verb; the special tokens are first."""
    split = WordSplitter()
    words = {word for sentence in sentences for word in split(sentence)}
    words |= {form for verb in verbs_of(language) for form in verb}
    return {word: index for index, word in enumerate([*special, *sorted(words)])}


def word_tokenizer(vocabulary: Mapping[str, int], unk_token: str, **special: str) -> PreTrainedTokenizerFast:
    """Return a tokenizer of whole words, without tokens around a text."""
    tokenizer = Tokenizer(models.WordLevel(dict(vocabulary), unk_token=unk_token))
    tokenizer.pre_tokenizer = splitter()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token=unk_token,
        model_max_length=POSITIONS,
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
        **special,
    )
