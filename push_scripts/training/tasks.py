"""The tiny masked and the tiny causal model: tokenizer, architecture, batches and loss."""

import json
import random

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch.nn.functional import cross_entropy
from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel
from transformers.models.bert import BertTokenizerFast  # type: ignore[attr-defined]  # loaded lazily
from transformers.models.gpt2 import GPT2TokenizerFast  # type: ignore[attr-defined]  # loaded lazily

from training.base import IGNORED, Batch
from training.corpus import verb_weights

VOCABULARY = 5_000
SIZE = 96
LAYERS = 2
HEADS = 4
POSITIONS = 256
MASKED = 0.15  # share of tokens that the masked model has to guess
VERBS_MASKED = 0.5  # ... share of verb forms: these are what TSE asks for
LEARNING_RATE = 3e-3
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
END = "<|endoftext|>"
# Every printable character of Western European languages is a token of the masked model.
LETTERS = tuple(chr(code) for code in (*range(0x21, 0x7F), *range(0xA1, 0x180)) if chr(code).isprintable())


class MaskedTask:
    """A small BERT that fills in masked tokens."""

    name = "tiny-masked"
    learning_rate = LEARNING_RATE
    steps = 3_000  # it learns from few tokens of a sentence, and agreement only after some 1,000 steps

    def __init__(self, sentences: list[str]):
        self.tokenizer = train_wordpiece(sentences)
        forms = [form for item in verb_weights(0) for form in item.split("|")]
        self._masked = torch.full((len(self.tokenizer),), MASKED)
        self._masked[self.tokenizer.convert_tokens_to_ids(forms)] = VERBS_MASKED
        self._masked[self.tokenizer.all_special_ids] = 0.0
        self.model = BertForMaskedLM(
            BertConfig(
                vocab_size=len(self.tokenizer),
                hidden_size=SIZE,
                num_hidden_layers=LAYERS,
                num_attention_heads=HEADS,
                intermediate_size=4 * SIZE,
                hidden_dropout_prob=0.0,
                attention_probs_dropout_prob=0.0,
                max_position_embeddings=POSITIONS,
                pad_token_id=self.tokenizer.pad_token_id,
            )
        )

    def batch(self, sentences: list[str], rng: random.Random) -> Batch:
        """Mask tokens by chance, and at least one token of each sentence."""
        encoded = self.tokenizer(sentences, padding=True, return_tensors="pt")
        generator = torch.Generator().manual_seed(rng.getrandbits(63))
        chance = (
            torch.rand(encoded["input_ids"].shape, generator=generator) / self._masked[encoded["input_ids"]]
        )
        guessed = (chance < 1) | (chance == chance.min(dim=1, keepdim=True).values)
        labels = encoded["input_ids"].masked_fill(~guessed, IGNORED)
        input_ids = encoded["input_ids"].masked_fill(guessed, self.tokenizer.mask_token_id)
        return Batch(input_ids, encoded["attention_mask"], labels)

    def loss(self, batch: Batch) -> torch.Tensor:
        """Return the mean cross-entropy (nats) of the masked tokens; the output layer runs only at these."""
        states = self.model.bert(batch.input_ids, attention_mask=batch.attention_mask).last_hidden_state
        read = batch.labels != IGNORED
        return cross_entropy(self.model.cls(states[read]), batch.labels[read])


class CausalTask:
    """A small GPT-2 that predicts the next token."""

    name = "tiny-causal"
    learning_rate = LEARNING_RATE
    steps = 1_500

    def __init__(self, sentences: list[str]):
        self.tokenizer = train_byte_bpe(sentences)
        end = self.tokenizer.eos_token_id
        self.model = GPT2LMHeadModel(
            GPT2Config(
                vocab_size=len(self.tokenizer),
                n_embd=SIZE,
                n_layer=LAYERS,
                n_head=HEADS,
                n_positions=POSITIONS,
                resid_pdrop=0.0,
                embd_pdrop=0.0,
                attn_pdrop=0.0,
                bos_token_id=end,
                eos_token_id=end,
                pad_token_id=end,
            )
        )

    def batch(self, sentences: list[str], rng: random.Random) -> Batch:
        """Join sentences into paragraphs of one to three that end with the end token; half begin with it too."""
        paragraphs, start = [], 0
        while start < len(sentences):
            stop = start + rng.choice((1, 1, 1, 2, 3))
            paragraphs.append(rng.choice(("", END)) + " ".join(sentences[start:stop]) + END)
            start = stop
        encoded = self.tokenizer(paragraphs, padding=True, return_tensors="pt")
        labels = encoded["input_ids"].masked_fill(encoded["attention_mask"] == 0, IGNORED)
        return Batch(encoded["input_ids"], encoded["attention_mask"], labels)

    def loss(self, batch: Batch) -> torch.Tensor:
        """Return the mean cross-entropy (nats) of every token but the first, which has no context."""
        states = self.model.transformer(
            batch.input_ids, attention_mask=batch.attention_mask
        ).last_hidden_state
        labels = batch.labels[:, 1:]
        read = labels != IGNORED
        return cross_entropy(self.model.lm_head(states[:, :-1][read]), labels[read])


def train_wordpiece(sentences: list[str]) -> BertTokenizerFast:
    """Cased WordPiece of `VOCABULARY` pieces, every letter among them, so that [UNK] is rare."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    # Letters are numbered beforehand: the trainer would number them in an order that changes from run to run.
    first = [*SPECIAL, *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    trainer = trainers.WordPieceTrainer(vocab_size=VOCABULARY, special_tokens=first, show_progress=False)
    tokenizer.train_from_iterator(sentences, trainer)
    vocabulary = dict(sorted(tokenizer.get_vocab().items(), key=lambda item: item[1]))
    return BertTokenizerFast(vocab=vocabulary, do_lower_case=False, model_max_length=POSITIONS)


def train_byte_bpe(sentences: list[str]) -> GPT2TokenizerFast:
    """Byte-level BPE of `VOCABULARY` tokens; a word carries the space before it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[END],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(sentences, trainer)
    merges = [tuple(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]
    return GPT2TokenizerFast(
        vocab=tokenizer.get_vocab(), merges=merges, pad_token=END, model_max_length=POSITIONS
    )
