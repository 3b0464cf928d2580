"""Masked language models: pseudo-log-likelihood, one token masked at a time.

PLL(sentence) = sum over tokens i of log P(w_i | all other tokens) (Salazar et al. 2020), or with the later
tokens of the same word masked too (`within_word_l2r`, Kauf & Ivanova 2023), so that the end of a word with several
tokens does not reveal its beginning. In scripts that are written without spaces (`tokens.is_unspaced`), each token is
a word, because a tokenizer's words there are whole sentences.

At a gap, it reads one mask token in place of the word, or one for each of its tokens.
"""

import copy
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..engine.arrays import Indices, Values
from ..engine.plan import Plan, RowPlan
from ..engine.progress import Progress, parts, progress_of_part
from ..engine.readers import DistributionReader, Reader, TokenReader
from .base import Logprobs, SlotFunction
from .forms import Reads, State, Step
from .options import Option, OptionError, PseudoLikelihood, checked_value
from .pretrained import PretrainedScorer
from .queries import Slot
from .tokens import (
    is_unspaced,
    joined_pairs,
    require_offsets,
    sum_by_word,
    words_by_script,
    words_of_tokens,
)
from .words import TextWarning, checked_texts

if TYPE_CHECKING:
    from transformers import BatchEncoding, PreTrainedTokenizerBase
    from typing_extensions import Self

    from .own_model import LanguageModel

PLACEHOLDER = "is"
"""Fills a gap while its sentence is tokenized."""
PLANNED = 2**25
"""Ids in the masked copies of texts that are planned together; building the plan takes about a gigabyte."""


class MaskedScorer(PretrainedScorer):
    """Scores with a masked language model.

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
        model: "LanguageModel",
        tokenizer: "PreTrainedTokenizerBase",
        *,
        name: str = "model",
        revision: str | None = None,
        pll: PseudoLikelihood | None = None,
        mntp: bool = False,
        leading_space: bool = False,
        batch_tokens: int | None = None,
    ) -> None:
        self._mask = require_mask(tokenizer, name)
        super().__init__(model, tokenizer, name=name, revision=revision, batch_tokens=batch_tokens)
        self._pll_is_default = pll is None
        self._mntp = mntp
        self.leading_space = leading_space
        self.signature |= {"kind": "masked", "leading_space": leading_space}
        self._use_pll(checked_value("pll", pll, PseudoLikelihood | None) or "within_word_l2r")
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
            inside = [column for column, (first, last) in enumerate(offsets) if last > start and first < stop]
            rows.append([*ids[: inside[0]], self._mask, *ids[inside[-1] + 1 :]])
            columns.append(inside[0])
        return rows, columns

    def _mask_texts(self, slots: Sequence[Slot]) -> tuple[list[list[int]], list[int]]:
        """Return the same for a tokenizer that does not give the positions of its tokens in the text."""
        mask = str(self.tokenizer.mask_token)
        texts = [
            f"{slot.prefix} {mask}{slot.suffix}" if slot.prefix else mask + slot.suffix for slot in slots
        ]
        rows = self.tokenizer([self._spaced(text) for text in texts])["input_ids"]
        columns = []
        for ids, text in zip(rows, texts, strict=True):
            places = [column for column, token in enumerate(ids) if token == self._mask]
            if len(places) != 1:
                raise ValueError(
                    f"{self.name}'s tokenizer finds {len(places)} masks in {text!r}; expected one."
                )
            columns += places
        return rows, columns

    def steps_of(self, ids: Sequence[int]) -> list[Step]:
        """Return the steps of a form; a state is the form's number of tokens, and the ids of those before."""
        return [((len(ids), *ids[:index]), token) for index, token in enumerate(ids)]

    def ids_at_gaps(self, slots: Sequence[Slot], states: Sequence[State]) -> list[int]:
        """Return how many ids each slot has in its longest state; raises ValueError if they are too many."""
        more = max((length for length, *_ in states), default=1) - 1
        rows, _ = self.slot_ids(slots)
        sequences = [[*ids, *ids[:1] * more] for ids in rows]
        self.check_inputs(sequences, [f"{slot.prefix} …{slot.suffix}" for slot in slots])
        return list(map(len, sequences))

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
        prefixes, texts = joined_pairs(prefixes, continuations)
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
        self.check_inputs(rows, [f"{slot.prefix} …{slot.suffix}" for slot in slots])
        plan = RowPlan(rows, self.read_at(columns))
        return self.run(plan, DistributionReader(plan.read_of, width, function, plan.n_reads), progress)

    def plan_reads(self, slots: Sequence[Slot], reads: Reads) -> tuple[Plan, Reader]:
        """Plan reads at the first mask that each state leaves at each gap."""
        blocks, columns = [], []
        for ids, column in zip(*self.slot_ids(slots), strict=True):
            for length, *filled in reads.states:
                masks = [self._mask] * (length - len(filled))
                blocks.append([*ids[:column], *filled, *masks, *ids[column + 1 :]])
                columns.append(column + len(filled))
        plan = RowPlan(blocks, self.read_at(columns))
        read_of = plan.read_of.reshape(len(slots), -1)[:, reads.state].ravel()
        return plan, TokenReader(read_of, np.tile(reads.token, len(slots)), plan.n_reads)

    def word_logprobs(
        self, sentences: Iterable[str], progress: Progress | None = None
    ) -> list[list[tuple[str, float]]]:
        """Return, for each sentence, its words between white space, each with its pseudo-log-likelihood.

        Raises:
            ValueError: a sentence is empty or longer than the model's maximum.
        """
        texts = checked_texts(sentences)
        if not texts:
            return []
        values, owner, spans = self._token_logprobs(texts, [0] * len(texts), progress)
        ends = np.maximum(spans[:, 1] - self.leading_space, 0)
        return [
            sum_by_word(values[owner == index], *words_of_tokens(text, ends[owner == index]))
            for index, text in enumerate(texts)
        ]

    def _sums(self, texts: list[str], boundaries: list[int], progress: Progress | None) -> Logprobs:
        """Return, for each text, the sum over all tokens, or those past its boundary; NaN without any."""
        if not texts:
            return np.zeros(0)
        values, owner, _ = self._token_logprobs(texts, boundaries, progress)
        sums = np.bincount(owner, weights=values, minlength=len(texts))
        return np.where(np.bincount(owner, minlength=len(texts)) > 0, sums, np.nan)

    def _token_logprobs(
        self, texts: list[str], boundaries: list[int], progress: Progress | None
    ) -> tuple[Logprobs, Indices, Indices]:
        """Return, over the tokens past each text's boundary: log-probability, index of its text, its start and end."""
        require_offsets(self.tokenizer, self.name)
        if self.pll == "within_word_l2r" and any(map(is_unspaced, texts)):
            warnings.warn(
                f"{self.name}: in scripts without spaces between words, each token is scored as a separate word "
                f"({self.pll} there equals original).",
                TextWarning,
                stacklevel=3,
            )
        spaced = [self._spaced(text) for text in texts]
        encoded = self.tokenizer(
            spaced, return_special_tokens_mask=True, return_offsets_mapping=True, verbose=False
        )
        self.check_inputs(encoded["input_ids"], texts)
        sizes = [len(ids) ** 2 for ids in encoded["input_ids"]]  # a copy for each token
        work, part_values = 0, []
        for part in parts(sizes, PLANNED):
            size = sum(sizes[index] for index in part)
            part_progress = progress_of_part(progress, work, size, sum(sizes))
            part_values.append(self._part_logprobs(spaced, encoded, part, boundaries, part_progress))
            work += size
        values, owner, token_spans = (np.concatenate(columns) for columns in zip(*part_values, strict=True))
        return values, owner, token_spans

    def _part_logprobs(
        self,
        spaced: Sequence[str],
        encoded: "BatchEncoding",
        part: Sequence[int],
        boundaries: Sequence[int],
        progress: Progress | None,
    ) -> tuple[Logprobs, Indices, Indices]:
        """Return the same for some of the texts."""
        blocks, columns, tokens, owner, token_spans = [], [], [], [], []
        for index in part:
            ids = np.array(encoded["input_ids"][index], dtype=np.int32)  # there are millions of copies
            spans = np.array(encoded["offset_mapping"][index])
            end = spans[:, 1]
            past = boundaries[index] + (self.leading_space and boundaries[index] > 0)
            special = np.array(encoded["special_tokens_mask"][index], dtype=bool)
            scored = np.nonzero(~special & ((end > past) | (past == 0)))[
                0
            ]  # a space before a text has no end
            words = words_by_script(spaced[index], spans, encoded.tokens(index), encoded.word_ids(index))
            blocks.append(self._masked_once_each(ids, scored, words))
            columns.append(self.read_at(scored))
            tokens.append(ids[scored])
            owner.append(np.full(len(scored), index))
            token_spans.append(spans[scored])
        plan = RowPlan(blocks, np.concatenate(columns))
        del blocks  # the copies may be large
        reader = TokenReader(plan.read_of, np.concatenate(tokens).astype(np.int64), plan.n_reads)
        values = self.run(plan, reader, progress)[:, 0]
        return values, np.concatenate(owner), np.concatenate(token_spans)

    def _masked_once_each(self, ids: NDArray[np.int32], scored: Indices, word: Indices) -> NDArray[np.int32]:
        """Return the ids, masked in each scored column (and up to its word's end), (scored, tokens)."""
        columns = np.arange(len(ids))
        hidden = columns == scored[:, None]
        if self.pll == "within_word_l2r":
            hidden |= (columns > scored[:, None]) & (word == word[scored, None])
        return np.where(hidden, ids.dtype.type(self._mask), ids)


def require_mask(tokenizer: "PreTrainedTokenizerBase", name: str) -> int:
    """Return the id of a tokenizer's mask token; raise ValueError where it has none."""
    if tokenizer.mask_token_id is None:
        raise OptionError(
            f"The tokenizer of {name} has no mask token, which a masked model needs. If the model reads from "
            f"left to right, load it as a causal one ({Option('kind', 'causal')}). If not, set the "
            "tokenizer's mask_token and save it."
        )
    return int(tokenizer.mask_token_id)
