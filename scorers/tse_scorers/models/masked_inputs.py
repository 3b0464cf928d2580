"""What a masked model reads at a gap: one mask token in place of the word, or one for each of its pieces."""

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.arrays import Indices
from .form_queries import FormQueries
from .forms import State, Step
from .options import Option, OptionError, PseudoLikelihood, check_pseudo_likelihood
from .queries import Slot

if TYPE_CHECKING:
    from typing_extensions import Self

PLACEHOLDER = "is"
"""Fills a gap while its sentence is tokenized."""


class MaskedInputs(FormQueries):
    """What a masked language model reads at a gap; `MaskedScorer` says what it answers.

    Args:
        model: what `AutoModelForMaskedLM` loads.
        tokenizer: its tokenizer.
        name: the model's name in results.
        revision: commit, or hash of the weights.
        pll: the kind of pseudo-log-likelihood; `original` is the kind in the papers. None: `within_word_l2r`, or what
            the authors of a data set use.
        mntp: read each token one position before it (masked next-token prediction).
        leading_space: put a space before the first word of a text, as Newman et al.'s code does for RoBERTa.
        batch_tokens: tokens in one batch; None chooses by free memory.

    Raises:
        ValueError: the tokenizer has no mask token, or `pll` is unknown.
    """

    context_columns = ("prefix", "suffix")
    """The parts of a gap's context that the model sees."""
    state_at_gap: State = (1,)
    reads_word_ends = False

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        name: str = "model",
        revision: str | None = None,
        pll: PseudoLikelihood | None = None,
        mntp: bool = False,
        leading_space: bool = False,
        batch_tokens: int | None = None,
    ) -> None:
        require_mask(tokenizer, name)
        if pll is not None:
            check_pseudo_likelihood(pll)
        super().__init__(model, tokenizer, name=name, revision=revision, batch_tokens=batch_tokens)
        self._pll_is_default = pll is None
        self._mntp = mntp
        self.leading_space = leading_space
        self.signature |= {"kind": "masked", "leading_space": leading_space}
        self._use_pll(pll or "within_word_l2r")
        if mntp:
            self.signature["mntp"] = True

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

    def _checked_stride(self, window: int, stride: int | None) -> int:
        if stride is not None:
            raise OptionError(
                f"{Option('stride')} has no effect on {self.name}, a masked model: each token of a long text "
                "is read in a window around it. Remove it."
            )
        return 1

    def read_at(self, columns: Sequence[int] | Indices) -> Indices:
        """Return the positions that answer for masks in these columns."""
        positions = np.asarray(columns, dtype=np.int64) - self._mntp
        if positions.size and positions.min() < 0:
            raise OptionError(
                f"{self.name} predicts each token one position before it ({Option('mntp')}), but its "
                "tokenizer puts no token before a text; expected a start token such as [CLS] or <s>. Use the "
                "tokenizer that the model was trained with."
            )
        return positions

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

    def steps_of(self, ids: Sequence[int], word_end: bool) -> list[Step]:
        """Return the steps of a form; a state is the form's number of tokens, and the ids of those before."""
        return [((len(ids), *ids[:index]), token) for index, token in enumerate(ids)]

    def ids_at_gaps(self, slots: Sequence[Slot], states: Sequence[State]) -> list[int]:
        """Return how many ids each slot has in its longest state; raises ValueError if they are too many."""
        more = max((length for length, *_ in states), default=1) - 1
        rows, _ = self.slot_ids(slots)
        sequences = [[*ids, *ids[:1] * more] for ids in rows]
        self.check_inputs(sequences, [f"{slot.prefix} …{slot.suffix}" for slot in slots])
        return list(map(len, sequences))


def require_mask(tokenizer: Any, name: str) -> None:
    """Raise ValueError where a tokenizer has no mask token."""
    if tokenizer.mask_token_id is None:
        raise OptionError(
            f"The tokenizer of {name} has no mask token, which a masked model needs. If the model reads from "
            f"left to right, load it as a causal one ({Option('kind', 'causal')}). If not, set the "
            "tokenizer's mask_token and save it."
        )
