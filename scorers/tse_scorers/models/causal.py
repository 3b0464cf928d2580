"""Causal language models: the chain rule over tokens. Prefixes that texts share are computed once.

log P(sentence) = sum over i of log P(w_i | w_<i).

The first token of a sentence is conditioned on one start token, also where the tokenizer does not add it by itself
(GPT-2). `start_tokens` decides which token that is. For a model without any start token, the first token is not scored,
and the signature says so. At a gap, a start token is there only if the tokenizer adds one by default, as in Newman et
al.'s code.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..engine.forward import Forward
from ..engine.plan import Indices, Plan, capacity_for, prefix_rows
from ..engine.probe import packing_is_exact, sees_what_follows
from ..engine.progress import Progress
from ..engine.run import TokenReader
from .forms import END, State, Step
from .options import NO_TOKEN, Option, OptionError
from .pretrained import PretrainedScorer, one_at_a_time
from .scorer import CARRIER, Logprobs, ScoredTokens, Slot
from .start_tokens import choose_start_token, opens_chat_turns, own_start_token
from .text import boundary_ids, checked_texts, continuing_ids, joined_pairs, sum_by_word, words_of_tokens

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from .own_model import LanguageModel


class CausalScorer(PretrainedScorer):
    """Scores with a causal language model.

    Args:
        model: what `AutoModelForCausalLM` loads.
        tokenizer: its tokenizer.
        bos: at a gap, put the start token before the left context (sentences always have it).
        start_token: the token that texts begin with, `none` for none; None uses the model's own, unless it opens the
            turns of a chat.
        share_prefixes: compute shared prefixes of texts once, by attention along a prefix tree, where a test finds that
            this is exact for the model.
        **options: of `PretrainedScorer`.
    """

    state_at_gap: State = ()
    reads_word_ends = True

    def __init__(
        self,
        model: "LanguageModel",
        tokenizer: "PreTrainedTokenizerBase",
        *,
        bos: bool = False,
        start_token: str | None = None,
        share_prefixes: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(model, tokenizer, **options)
        self._own_start = own_start_token(model, tokenizer)
        self.start_token = choose_start_token(self._own_start, tokenizer, self.name, start_token)
        self._start = [] if self.start_token is None else [self.start_token]
        self.bos = bos
        self._may_share = share_prefixes
        self._longest_probed = 0
        if bos and self.start_token is None:
            raise OptionError(
                f"{self.name} has no start token to put before the left context of a gap; remove {Option('bos')}."
            )
        plain, default = (
            tokenizer(CARRIER.prefix, add_special_tokens=special)["input_ids"][0] for special in (False, True)
        )
        self.signature |= {
            "kind": "causal",
            "first_token": "unscored" if self.start_token is None else "given the start token",
            "bos_at_gap": self.start_token is not None and (bos or plain != default == self._own_start),
        }
        if self.start_token != self._own_start:
            self.signature["start_token"] = self.start_token_text

    @property
    def start_token_text(self) -> str:
        """The token that the first token of a sentence is conditioned on, `none` for none."""
        if self.start_token is None:
            return NO_TOKEN
        return str(self.tokenizer.convert_ids_to_tokens(self.start_token))

    @property
    def avoids_chat_token(self) -> bool:
        """Whether another token replaces the model's start token, because its own opens the turns of a chat."""
        own = self._own_start
        return own is not None and self.start_token != own and opens_chat_turns(self.tokenizer, own)

    def _probed(self) -> Forward:
        forward = super()._probed()
        if sees_what_follows(forward):
            raise OptionError(
                f"In {self.name} each token attends to the tokens after it, so the chain rule does not give "
                f"the probability of a sentence. Load it as a masked model ({Option('kind', 'masked')}). If "
                "it can also be a decoder, set is_decoder in its configuration. (8-bit layers of bitsandbytes look at "
                "all tokens of a batch too: use 4 bits.)"
            )
        return forward

    def sentence_logprobs(self, sentences: Iterable[str], progress: Progress | None = None) -> Logprobs:
        """Return log P of each sentence, (sentences,); NaN if no token can be scored. See `Scorer`."""
        texts = checked_texts(sentences)
        sequences = self.sentence_ids(texts)
        self.check_inputs(sequences, texts)
        return self._sum_from(sequences, [1] * len(sequences), progress)

    def continuation_logprobs(
        self, prefixes: Iterable[str], continuations: Iterable[str], progress: Progress | None = None
    ) -> Logprobs:
        """Return log P(continuation | prefix) of each pair, (pairs,): of the tokens that end after the prefix."""
        prefixes, texts = joined_pairs(prefixes, continuations)
        sequences, spans = self._with_spans(texts)
        starts = [
            int(np.searchsorted(of_text[:, 1], len(prefix), side="right")) if prefix else 0
            for prefix, of_text in zip(prefixes, spans, strict=True)
        ]
        starts = [max(start + len(self._start), 1) for start in starts]
        return self._sum_from(sequences, starts, progress)

    def token_logprobs(
        self, sentences: Iterable[str], progress: Progress | None = None
    ) -> list[ScoredTokens]:
        """Return the tokens of each sentence with log P(token | tokens before), without a correction.

        The first token is NaN for a model without a start token.
        """
        texts = checked_texts(sentences)
        if not texts:
            return []
        sequences, spans = self._with_spans(texts)
        plan, owner, tokens = self._reads(sequences, [1] * len(texts))
        logprobs = self.run(plan, TokenReader(tokens), progress)
        first = [] if self._start else [np.nan]
        return [
            ScoredTokens(of_text[:, 0], of_text[:, 1], np.append(first, logprobs[owner == index]))
            for index, of_text in enumerate(spans)
        ]

    def word_logprobs(
        self, sentences: Iterable[str], progress: Progress | None = None
    ) -> list[list[tuple[str, float]]]:
        """Return, for each sentence, its words between white space, each with log P(word | words before).

        If tokens include the space before them, P(token) of a word's first token includes the probability that
        the previous word has ended, and the probability of the word's own end is missing. The correction is
        P(word) = P(tokens) * P(a space or the end comes next | tokens) / P(a space comes | before the word)
        (Oh & Schuler 2024; Pimentel & Meister 2024), so that the words' probabilities sum to one.
        """
        texts = checked_texts(sentences)
        if not texts:
            return []
        sequences, spans = self._with_spans(texts)
        plan, owner, tokens = self._reads(sequences, [1] * len(texts), last=True)
        values = self.run(plan, TokenReader(tokens), progress)
        ends_here = np.zeros(len(values))
        if len(boundary := boundary_ids(self.tokenizer)):
            group = np.isin(np.arange(self.vocabulary_size), boundary)
            ends_here = self.run(plan, TokenReader(np.full(len(values), END), group))
        first = [] if self._start else [np.nan]
        scored = []
        for index, (text, of_text) in enumerate(zip(texts, spans, strict=True)):
            logprobs = np.append(first, values[owner == index][:-1])
            ends = np.append(first, ends_here[owner == index])
            words, word = words_of_tokens(text, of_text[:, 1])
            last = np.append(word[1:] != word[:-1], True)
            later = np.append(False, last[:-1])  # first token of a word that is not the first
            corrected = logprobs + np.where(last, ends[1:], 0.0) - np.where(later, ends[:-1], 0.0)
            scored.append(sum_by_word(corrected, words, word))
        return scored

    def sentence_ids(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the ids that the model reads for each sentence, the start token first."""
        texts = [self._spaced(sentence) for sentence in sentences]
        rows = self.tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"] if texts else []
        return [self._start + row for row in rows]

    def _with_spans(self, texts: Sequence[str]) -> tuple[list[list[int]], list[Indices]]:
        """Return the same, and start and end of each token's characters in its text, (tokens, 2)."""
        if not self.tokenizer.is_fast:
            raise ValueError(
                f"The tokenizer of {self.name} does not give the positions of its tokens in the text, which words and "
                "texts after a context require. Use a fast tokenizer (one with a tokenizer.json)."
            )
        if not texts:
            return [], []
        spaced = [self._spaced(text) for text in texts]
        encoded = self.tokenizer(spaced, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        sequences = [self._start + ids for ids in encoded["input_ids"]]
        self.check_inputs(sequences, texts)
        return sequences, [
            np.maximum(np.array(offsets, dtype=np.int64).reshape(-1, 2) - self.leading_space, 0)
            for offsets in encoded["offset_mapping"]
        ]

    def slot_ids(self, prefixes: Sequence[str]) -> list[list[int]]:
        """Return the ids that the model reads before each gap."""
        # If a gap opens its sentence, the leading space belongs to its word.
        rows = self.opened([prefix and self._spaced(prefix) for prefix in prefixes])
        if self.start_token != self._own_start:
            # The tokenizer may add its own start token, which may differ from the chosen one.
            rows = [self._start + ids[1:] if ids[:1] == [self._own_start] else ids for ids in rows]
        if self.bos:
            rows = [ids if ids[:1] == self._start else self._start + ids for ids in rows]
        if not all(rows):
            raise OptionError(
                "A gap that opens its sentence leaves a causal model without any context. Use "
                f"{Option('bos')}, or remove such sentences."
            )
        return rows

    def plan_reads(self, slots: Sequence[Slot], states: Sequence[State]) -> Plan:
        """Plan a read after each gap's prefix and the tokens of each state."""
        prefixes = [slot.prefix for slot in slots]
        sequences = [[*ids, *state] for ids in self.slot_ids(prefixes) for state in states]
        self.check_inputs(sequences, [prefix for prefix in prefixes for _ in states])
        rows, nodes = prefix_rows(sequences, self._capacity(sequences))
        return Plan(rows, np.array([of_text[-1] for of_text in nodes]))

    def steps_of(self, ids: Sequence[int]) -> list[Step]:
        """Return the steps of a form; a state is the ids of the tokens before."""
        steps: list[Step] = [(tuple(ids[:index]), token) for index, token in enumerate(ids)]
        # Where no token can continue a word, its end is certain.
        return [*steps, (tuple(ids), END)] if ids and not self.word_ends.all() else steps

    @cached_property
    def word_ends(self) -> NDArray[np.bool_]:
        """(vocabulary,) which ids end a word that they follow."""
        (anchor,) = self.opened([CARRIER.prefix])
        return ~continuing_ids(self.tokenizer, anchor[-1:], self.vocabulary_size)

    def _sum_from(
        self, sequences: list[list[int]], starts: Sequence[int], progress: Progress | None
    ) -> Logprobs:
        """Sum log P(token | tokens before) over each sequence from a place (at least 1) on; NaN without any."""
        sums = np.where([len(ids) > start for ids, start in zip(sequences, starts, strict=True)], 0.0, np.nan)
        if np.isnan(sums).all():
            return sums
        plan, owner, tokens = self._reads(sequences, starts)
        np.add.at(sums, owner, self.run(plan, TokenReader(tokens), progress))
        return sums

    def _reads(
        self, sequences: list[list[int]], starts: Sequence[int], last: bool = False
    ) -> tuple[Plan, Indices, Indices]:
        """Return a plan that reads each token from a place on, and for each answer its sequence and its token.

        A sequence's last token is predicted, but no input, unless the distribution after it is wanted (`last`).
        """
        inputs = [ids if last else ids[:-1] for ids in sequences]
        rows, nodes = prefix_rows(inputs, self._capacity(inputs))
        pairs = list(zip(nodes, sequences, starts, strict=True))
        read_of = np.concatenate([of_text[start - 1 :] for of_text, _, start in pairs])
        following = [[*ids[start:], *([0] if last else [])] for _, ids, start in pairs]
        owner = np.repeat(np.arange(len(sequences)), [len(tokens) for tokens in following])
        tokens = np.array([token for of_text in following for token in of_text], dtype=np.int64)
        return Plan(rows, read_of), owner, tokens

    def _capacity(self, sequences: list[list[int]]) -> int | None:
        """Return the tokens of a packed row; None runs each text by itself if sharing saves little or is not exact."""
        capacity = capacity_for(sequences) if self._may_share and len(sequences) > 1 else None
        with one_at_a_time:  # a probe runs the model
            longest = max(map(len, sequences))
            # Longer texts need a new probe: a sliding window has no effect on texts that are shorter.
            if capacity is not None and longest > self._longest_probed:
                texts = [ids for ids in sequences if ids]
                # A sharded model's processes must make the same batches, so none decides by what it computed.
                self._may_share = not self.forward.sharded and packing_is_exact(self.forward, texts, capacity)
                self._longest_probed = 2 * longest
            self.execution["prefixes_shared"] = capacity is not None and self._may_share
        return capacity if self._may_share else None
