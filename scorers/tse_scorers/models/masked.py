"""Masked language models: pseudo-log-likelihood, one token masked at a time.

PLL(sentence) = sum over tokens i of log P(w_i | all other tokens) (Salazar et al. 2020), or with the later
tokens of the same word masked too (`within_word_l2r`, Kauf & Ivanova 2023), so that the end of a word with several
tokens does not reveal its beginning. In scripts that are written without spaces (`text.UNSPACED`), each token is
a word, because a tokenizer's words there are whole sentences.

At a gap, it reads one mask token in place of the word, or one for each of its tokens.
"""

import copy
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.plan import Indices, Plan, plain_rows
from ..engine.progress import Progress, within
from ..engine.run import TokenReader
from .options import PseudoLikelihood
from .pretrained import PretrainedScorer, State, Step
from .scorer import Logprobs, ScoredWords, Slot
from .text import checked_texts, joined_pairs, sum_by_word, words_by_script, words_of_tokens

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase
    from typing_extensions import Self

    from .own_model import LanguageModel

PLACEHOLDER = "is"
"""Fills a gap while its sentence is tokenized."""
PLANNED = 2**23
"""Ids in the masked copies of texts that are planned together."""


class MaskedScorer(PretrainedScorer):
    """Scores with a masked language model.

    Args:
        model: what `AutoModelForMaskedLM` loads.
        tokenizer: its tokenizer.
        pll: the kind of pseudo-log-likelihood; `original` is the kind in the papers. None: `within_word_l2r`, or what
            the authors of a data set use.
        mntp: read each token one position before it (masked next-token prediction).
        **options: of `PretrainedScorer`; Newman et al.'s code puts a leading space before RoBERTa's texts.

    Raises:
        ValueError: the tokenizer has no mask token.
    """

    context_columns = ("prefix", "suffix")
    state_at_gap: State = (1,)

    def __init__(
        self,
        model: "LanguageModel",
        tokenizer: "PreTrainedTokenizerBase",
        *,
        pll: PseudoLikelihood | None = None,
        mntp: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(model, tokenizer, **options)
        if tokenizer.mask_token_id is None:
            raise ValueError(
                f"The tokenizer of {self.name} has no mask token, which a masked model needs. Set its mask_token and "
                "save it, or load the model as a causal one (kind='causal') if it reads from left to right."
            )
        self._mask, self._mntp, self._pll_is_default = int(tokenizer.mask_token_id), mntp, pll is None
        self.signature |= {"kind": "masked", **({"mntp": True} if mntp else {})}
        self._use_pll(pll or "within_word_l2r")

    def _use_pll(self, pll: str, pll_of: str | None = None) -> None:
        self.pll = pll
        # The rule for scripts without spaces is part of what `within_word_l2r` means.
        words = "by script" if pll == "within_word_l2r" else None
        self.signature = self.signature | {"pll": pll, "pll_words": words, "pll_of": pll_of}

    def with_authors_pll(self, pll: str) -> "Self":
        """Return a scorer with the pseudo-log-likelihood of a data set's authors, unless the user chose one."""
        if not self._pll_is_default:
            return self
        other = copy.copy(self)
        other._use_pll(pll, "the authors")
        return other

    def _plan(self, inputs: list[list[int]], columns: Sequence[int]) -> Plan:
        """Plan reads of the masks in these columns, one in each row of ids."""
        positions = np.array(columns, dtype=np.int64) - self._mntp
        if positions.min(initial=0) < 0:
            raise ValueError(
                f"{self.name} predicts each token one position before it (mntp), but its tokenizer puts no token "
                "before a text. Use the tokenizer that it was trained with."
            )
        return plain_rows(inputs, positions)

    def slot_ids(self, slots: Sequence[Slot]) -> tuple[list[list[int]], list[int]]:
        """Return (ids of each sentence with one mask in its gap, the column of the mask in each).

        A word fills the gap while the sentence is tokenized; then the mask replaces its tokens. The mask's
        own text would work for BERT and RoBERTa, but ALBERT, XLM-R and DeBERTa-v3 begin a new word after it, so
        they would not tokenize `[MASK].` like `is.`.
        """
        heads = [self._spaced(f"{slot.prefix} " if slot.prefix else "") for slot in slots]
        texts = [head + PLACEHOLDER + slot.suffix for head, slot in zip(heads, slots, strict=True)]
        encoded = self.tokenizer(texts, return_offsets_mapping=True)
        rows, columns = [], []
        for head, ids, offsets in zip(heads, encoded["input_ids"], encoded["offset_mapping"], strict=True):
            start, stop = len(head.rstrip()), len(head) + len(PLACEHOLDER)
            inside = [column for column, (first, last) in enumerate(offsets) if last > start and first < stop]
            rows.append([*ids[: inside[0]], self._mask, *ids[inside[-1] + 1 :]])
            columns.append(inside[0])
        return rows, columns

    def steps_of(self, ids: Sequence[int]) -> list[Step]:
        """Return the steps of a form; a state is the form's number of tokens, and the ids of those before."""
        return [((len(ids), *ids[:index]), token) for index, token in enumerate(ids)]

    def plan_reads(self, slots: Sequence[Slot], states: Sequence[State]) -> Plan:
        """Plan reads at the first mask that each state leaves at each gap."""
        inputs, columns = [], []
        for ids, column in zip(*self.slot_ids(slots), strict=True):
            for length, *filled in states:
                masks = [self._mask] * (length - len(filled))
                inputs.append([*ids[:column], *filled, *masks, *ids[column + 1 :]])
                columns.append(column + len(filled))
        self.check_inputs(inputs, [" …".join(slot) for slot in slots for _ in states])
        return self._plan(inputs, columns)

    def continuation_logprobs(
        self, prefixes: Iterable[str], continuations: Iterable[str], progress: Progress | None = None
    ) -> Logprobs:
        """Return the pseudo-log-likelihood of each continuation after its prefix, without any text after it."""
        prefixes, texts = joined_pairs(prefixes, continuations)
        values, owner, _ = self._token_logprobs(texts, [len(prefix) for prefix in prefixes], progress)
        sums = np.bincount(owner, weights=values, minlength=len(texts))
        return np.where(np.bincount(owner, minlength=len(texts)) > 0, sums, np.nan)

    def word_logprobs(self, sentences: Iterable[str], progress: Progress | None = None) -> list[ScoredWords]:
        """Return, for each sentence, its words between white space, each with its pseudo-log-likelihood."""
        texts = checked_texts(sentences)
        values, owner, token_ends = self._token_logprobs(texts, [0] * len(texts), progress)
        return [
            sum_by_word(values[owner == index], *words_of_tokens(text, token_ends[owner == index]))
            for index, text in enumerate(texts)
        ]

    def _token_logprobs(
        self, texts: list[str], boundaries: list[int], progress: Progress | None
    ) -> tuple[Logprobs, Indices, Indices]:
        """Return, over the tokens past each text's boundary: log-probability, index of its text, its end there."""
        if not texts:
            return np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64)
        spaced = [self._spaced(text) for text in texts]
        wanted = {"return_special_tokens_mask": True, "return_offsets_mapping": True}
        encoded = self.tokenizer(spaced, verbose=False, **wanted)
        self.check_inputs(encoded["input_ids"], texts)
        values, owner, token_ends = [], [], []
        sizes = np.cumsum([len(ids) ** 2 for ids in encoded["input_ids"]])  # a copy for each token
        for part in np.split(np.arange(len(texts)), np.flatnonzero(np.diff(sizes // PLANNED)) + 1):
            inputs, columns, tokens = [], [], []
            for index in part.tolist():
                ids, offsets = encoded["input_ids"][index], np.array(encoded["offset_mapping"][index])
                ends = np.maximum(offsets[:, 1] - self.leading_space, 0)
                special = np.array(encoded["special_tokens_mask"][index], dtype=bool)
                # A lone space that the tokenizer puts before a text has no characters, but is predicted.
                scored = np.flatnonzero(~special & ((ends > boundaries[index]) | (boundaries[index] == 0)))
                words = words_by_script(spaced[index], offsets, encoded[index])
                inputs += self._masked_once_each(ids, scored.tolist(), words.tolist())
                columns += scored.tolist()
                tokens += [ids[place] for place in scored]
                owner.append(np.full(len(scored), index))
                token_ends.append(ends[scored])
            done = sizes[part[0] - 1] if part[0] else 0
            of_part = within(progress, int(done), int(sizes[part[-1]]), int(sizes[-1]))
            reader = TokenReader(np.array(tokens, np.int64))
            values.append(self.run(self._plan(inputs, columns), reader, of_part))
        return np.concatenate(values), np.concatenate(owner), np.concatenate(token_ends)

    def _masked_once_each(self, ids: list[int], places: list[int], words: list[int]) -> list[list[int]]:
        """Return a copy of the ids for each place, masked there (and up to its word's end)."""
        ends = list(range(1, len(ids) + 1))
        if self.pll == "within_word_l2r":
            for place in range(len(ids) - 2, -1, -1):
                if words[place] == words[place + 1]:
                    ends[place] = ends[place + 1]
        return [[*ids[:at], *[self._mask] * (ends[at] - at), *ids[ends[at] :]] for at in places]
