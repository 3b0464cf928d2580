"""Masked language models: pseudo-log-likelihood, one token masked at a time.

PLL(sentence) = sum over tokens i of log P(w_i | all other tokens) (Salazar et al. 2020), or with the later
tokens of the same word masked too (`within_word_l2r`, Kauf & Ivanova 2023), so that the end of a word with several
tokens does not reveal its beginning.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engine.arrays import Indices, Values
from ..engine.plan import Plan, RowPlan
from ..engine.readers import DistributionReader, Reader, TokenReader
from ..engine.run import Progress
from .base import Logprobs, SlotFunction
from .form_queries import form_logprobs, form_nuclei
from .forms import Reads, State, Step, parts, progress_of_part, reader_of_steps
from .options import PseudoLikelihood, check_pseudo_likelihood
from .pretrained import PretrainedScorer
from .queries import Slot
from .tokens import checked_pairs, joined, require_offsets, sum_by_word
from .words import checked_texts

PLANNED = 2**25
"""Ids in the masked copies of texts that are planned together; building the plan takes about a gigabyte."""

PLACEHOLDER = "is"
"""Fills a gap while its sentence is tokenized."""


class MaskedScorer(PretrainedScorer):
    """Scores with a masked language model.

    Args:
        model: what `AutoModelForMaskedLM` loads.
        tokenizer: its tokenizer.
        name: the model's name in results.
        revision: commit, or hash of the weights.
        pll: the kind of pseudo-log-likelihood; `original` is the kind in the papers.
        leading_space: put a space before the first word of a text, as Newman et al.'s code does for RoBERTa.
        batch_tokens: tokens in one batch; None chooses by free memory.

    Raises:
        ValueError: the tokenizer has no mask token, or `pll` is unknown.
    """

    context_columns = ("prefix", "suffix")
    """the parts of a gap's context that the model sees"""
    state_at_gap: State = (1,)
    reads_word_ends = False
    """whether `word_end` has an effect on `form_logprobs`"""

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        name: str = "model",
        revision: str | None = None,
        pll: PseudoLikelihood = "within_word_l2r",
        leading_space: bool = False,
        batch_tokens: int | None = None,
    ) -> None:
        require_mask(tokenizer, name)
        check_pseudo_likelihood(pll)
        super().__init__(model, tokenizer, name=name, revision=revision, batch_tokens=batch_tokens)
        self.pll = pll
        self.leading_space = leading_space
        self.signature |= {"kind": "masked", "pll": pll, "leading_space": leading_space}

    def sentence_logprobs(self, sentences: Iterable[str], progress: Progress | None = None) -> Logprobs:
        """Return the pseudo-log-likelihood of each sentence, (sentences,) float64, natural logs.

        Raises:
            ValueError: a sentence is empty or longer than the model's maximum.
        """
        texts = checked_texts(sentences)
        return self._sums(texts, [0] * len(texts), progress)

    def continuation_logprobs(
        self, prefixes: Iterable[str], continuations: Iterable[str], progress: Progress | None = None
    ) -> Logprobs:
        """Return the pseudo-log-likelihood of each continuation after its prefix, without any text after it.

        Raises:
            ValueError: a text is empty or too long, or there are not as many prefixes as continuations.
        """
        prefixes, continuations = checked_pairs(prefixes, continuations)
        texts = joined(prefixes, continuations)
        return self._sums(texts, [len(prefix) for prefix in prefixes], progress)

    def read_slots(
        self, slots: Iterable[Slot], function: SlotFunction, width: int, progress: Progress | None = None
    ) -> Values:
        """Apply `function` to the distribution at each gap and return (slots, width).

        Args:
            slots: sentences with a gap.
            function: computes numbers from logits; see `SlotFunction`.
            width: number of values per slot.
            progress: called with (tokens done, tokens in all).

        Raises:
            ValueError: a text is too long, or the tokenizer splits the mask token.
        """
        slots = list(slots)
        if not slots:
            return np.zeros((0, width))
        rows, columns = self.slot_ids(slots)
        self.check_lengths(rows, [f"{slot.prefix} …{slot.suffix}" for slot in slots])
        plan = RowPlan(rows, columns)
        return self.run(plan, DistributionReader(plan.read_of, width, function, plan.n_reads), progress)

    def form_logprobs(
        self,
        slots: Iterable[Slot],
        forms: Sequence[str],
        word_end: bool = True,
        progress: Progress | None = None,
    ) -> Logprobs:
        """Return log P of each form at each gap, (slots, forms) float64, natural logs; NaN if it cannot be scored.

        P(form | c) = product over i of P(t_i | k masks of which the first i - 1 are filled), for a form of k tokens
        (Kauf & Ivanova 2023). Compare only forms of equal length: P(k) is unknown. `form_lengths` gives the lengths.

        Args:
            slots: sentences with a gap.
            forms: words; they get a capital where the gap opens its sentence.
            word_end: without effect, because the masks say where the word ends.
            progress: called with (work done, work in all).

        Raises:
            ValueError: as `read_slots`.
        """
        return form_logprobs(self, slots, forms, word_end, progress)

    def form_nuclei(
        self,
        slots: Iterable[Slot],
        forms: Sequence[str],
        cutoffs: Sequence[float],
        word_end: bool = True,
        progress: Progress | None = None,
    ) -> Logprobs:
        """Return log P of each form under nucleus sampling, (cut-offs, slots, forms), natural logs; -inf outside.

        A form is inside if each of its tokens is among the most probable ones that together hold the share p; their
        probabilities are divided by their sum (`metrics/refined_tse/sampler.py`, *sampler top p*).

        Args:
            slots: as in `form_logprobs`.
            forms: words.
            cutoffs: shares of the probability in (0, 1].
            word_end: as in `form_logprobs`.
            progress: called with (work done, work in all).

        Raises:
            ValueError: as `read_slots`.
        """
        return form_nuclei(self, slots, forms, cutoffs, word_end, progress)

    def steps_of(self, ids: Sequence[int], word_end: bool) -> list[Step]:
        """Return the steps of a form; a state is the form's number of tokens, and the ids of those before."""
        return [((len(ids), *ids[:index]), token) for index, token in enumerate(ids)]

    def ids_at_gaps(self, slots: Sequence[Slot], states: Sequence[State]) -> list[int]:
        """Return how many ids each slot has in its longest state; raises ValueError if they are too many."""
        more = max((length for length, *_ in states), default=1) - 1
        rows, _ = self.slot_ids(slots)
        sequences = [[*ids, *ids[:1] * more] for ids in rows]
        self.check_lengths(sequences, [f"{slot.prefix} …{slot.suffix}" for slot in slots])
        return list(map(len, sequences))

    def plan_reads(
        self, slots: Sequence[Slot], reads: Reads, cutoffs: Sequence[float] = ()
    ) -> tuple[Plan, Reader]:
        """Plan reads at the first mask that each state leaves at each gap."""
        mask, blocks, columns = self.tokenizer.mask_token_id, [], []
        for ids, column in zip(*self.slot_ids(slots), strict=True):
            for length, *filled in reads.states:
                masks = [mask] * (length - len(filled))
                blocks.append([*ids[:column], *filled, *masks, *ids[column + 1 :]])
                columns.append(column + len(filled))
        plan = RowPlan(blocks, columns)
        read_of = plan.read_of.reshape(len(slots), -1)[:, reads.state].ravel()
        return plan, reader_of_steps(read_of, np.tile(reads.token, len(slots)), plan.n_reads, cutoffs)

    def slot_ids(self, slots: Sequence[Slot]) -> tuple[list[list[int]], list[int]]:
        """Return (ids that the model reads for each sentence, the column of the mask in each)."""
        return self._masked_gaps(slots) if self.tokenizer.is_fast else self._mask_texts(slots)

    def _masked_gaps(self, slots: Sequence[Slot]) -> tuple[list[list[int]], list[int]]:
        """Return (ids of each sentence with one mask in its gap, the masks' columns).

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
            inside = [column for column, (left, right) in enumerate(offsets) if right > start and left < stop]
            rows.append([*ids[: inside[0]], self.tokenizer.mask_token_id, *ids[inside[-1] + 1 :]])
            columns.append(inside[0])
        return rows, columns

    def _mask_texts(self, slots: Sequence[Slot]) -> tuple[list[list[int]], list[int]]:
        """Return the same for a tokenizer that does not give the positions of its tokens in the text."""
        mask = self.tokenizer.mask_token
        texts = [
            f"{slot.prefix} {mask}{slot.suffix}" if slot.prefix else mask + slot.suffix for slot in slots
        ]
        rows = self.tokenizer([self._spaced(text) for text in texts])["input_ids"]
        columns = []
        for ids, text in zip(rows, texts, strict=True):
            places = [column for column, token in enumerate(ids) if token == self.tokenizer.mask_token_id]
            if len(places) != 1:
                raise ValueError(
                    f"{self.name}'s tokenizer finds {len(places)} masks in {text!r}; expected one."
                )
            columns += places
        return rows, columns

    def word_logprobs(
        self, sentences: Iterable[str], progress: Progress | None = None
    ) -> list[list[tuple[str, float]]]:
        """Return, for each sentence, its whitespace-separated words, each with its pseudo-log-likelihood.

        Raises:
            ValueError: a sentence is empty or longer than the model's maximum.
        """
        texts = checked_texts(sentences)
        if not texts:
            return []
        values, owner, ends = self._token_logprobs(texts, [0] * len(texts), progress)
        return [
            sum_by_word(text, values[owner == index], ends[owner == index] - self.leading_space)
            for index, text in enumerate(texts)
        ]

    def _sums(self, texts: list[str], boundaries: list[int], progress: Progress | None) -> Logprobs:
        """Return, for each text, the sum over tokens with a character at or past its boundary; NaN without any."""
        if not texts:
            return np.zeros(0)
        values, owner, _ = self._token_logprobs(texts, boundaries, progress)
        sums = np.bincount(owner, weights=values, minlength=len(texts))
        return np.where(np.bincount(owner, minlength=len(texts)) > 0, sums, np.nan)

    def _token_logprobs(
        self, texts: list[str], boundaries: list[int], progress: Progress | None
    ) -> tuple[Logprobs, Indices, Indices]:
        """Return, over the tokens past each text's boundary: log-probability, index of its text, end of the token."""
        require_offsets(self.tokenizer, self.name)
        spaced = [self._spaced(text) for text in texts]
        encoded = self.tokenizer(spaced, return_special_tokens_mask=True, return_offsets_mapping=True)
        self.check_lengths(encoded["input_ids"], texts)
        sizes = [len(ids) ** 2 for ids in encoded["input_ids"]]  # a copy for each token
        whole, done, found = sum(sizes), 0, []
        for part in parts(sizes, PLANNED):
            size = sum(sizes[index] for index in part)
            found.append(
                self._part_logprobs(encoded, part, boundaries, progress_of_part(progress, done, size, whole))
            )
            done += size
        values, owner, ends = (np.concatenate(each) for each in zip(*found, strict=True))
        return values, owner, ends

    def _part_logprobs(
        self, encoded: Any, part: Sequence[int], boundaries: Sequence[int], progress: Progress | None
    ) -> tuple[Logprobs, Indices, Indices]:
        """Return the same for some of the texts."""
        blocks, columns, tokens, owner, ends = [], [], [], [], []
        for index in part:
            ids = np.array(encoded["input_ids"][index], dtype=np.int32)  # there are millions of copies
            end = np.array(encoded["offset_mapping"][index])[:, 1]
            past = boundaries[index] + (self.leading_space and boundaries[index] > 0)
            special = np.array(encoded["special_tokens_mask"][index], dtype=bool)
            scored = np.nonzero(~special & (end > past))[0]
            blocks.append(self._masked_once_each(ids, scored, encoded.word_ids(index)))
            columns.append(scored)
            tokens.append(ids[scored])
            owner.append(np.full(len(scored), index))
            ends.append(end[scored])
        plan = RowPlan(blocks, np.concatenate(columns))
        del blocks  # the copies may be large
        reader = TokenReader(plan.read_of, np.concatenate(tokens).astype(np.int64), plan.n_reads)
        values = self.run(plan, reader, progress)[:, 0]
        return values, np.concatenate(owner), np.concatenate(ends)

    def _masked_once_each(
        self, ids: NDArray[np.int32], scored: Indices, words: list[int | None]
    ) -> NDArray[np.int32]:
        """Return a copy of `ids` for each scored column, masked there (and up to its word's end), (scored, tokens)."""
        columns = np.arange(len(ids))
        hidden = columns == scored[:, None]
        if self.pll == "within_word_l2r":
            word = np.array([-1 if w is None else w for w in words])
            hidden |= (columns > scored[:, None]) & (word == word[scored, None])
        return np.where(hidden, ids.dtype.type(self.tokenizer.mask_token_id), ids)


def require_mask(tokenizer: Any, name: str) -> None:
    """Raise ValueError where a tokenizer has no mask token."""
    if tokenizer.mask_token_id is None:
        raise ValueError(
            f"The tokenizer of {name} has no mask token, which a masked model needs. If the model reads from left to "
            "right, load it as a causal one (kind='causal', --kind causal). If not, set the tokenizer's mask_token "
            "and save it."
        )
