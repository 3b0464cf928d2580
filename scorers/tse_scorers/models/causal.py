"""Causal language models: the chain rule over tokens. Prefixes that texts share are computed once.

log P(sentence) = sum over i of log P(w_i | w_<i).

The first token of a sentence is conditioned on one start token, also where the tokenizer does not add it by itself
(GPT-2): the one that opened documents in pretraining. In some chat models the tokenizer's start token opens the turns
of a conversation instead: after SmolLM2-Instruct's `<|im_start|>`, the model expects a role such as `user`, so the
first word of any sentence is very improbable there, and another token takes its place. For a model without any start
token, the first token is not scored, and the signature says so. At a gap, a start token is there only if the tokenizer
adds one by default, as in Newman et al.'s code.
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
from .options import NO_TOKEN
from .pretrained import END, PretrainedScorer, State, Step, one_at_a_time
from .scorer import CARRIER, Logprobs, ScoredTokens, ScoredWords, Slot
from .text import boundary_ids, checked_texts, continuing_ids, joined_pairs, sum_by_word, words_of_tokens

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from .own_model import LanguageModel

TURN_TOKENS = frozenset({
    "<|im_start|>", "<start_of_turn>", "<|turn>", "<|start_header_id|>", "<|header_start|>", "<|start_of_role|>",
    "<|START_OF_TURN_TOKEN|>", "<|start|>", "<|user|>", "<|system|>", "<|assistant|>", "[INST]",
})  # fmt: skip
"""Tokens that open a turn in the chat formats of known models."""
DOCUMENT_TOKENS = ("<|endoftext|>", "<|begin_of_text|>", "<|startoftext|>", "<bos>", "<s>", "<|end_of_text|>")
"""Tokens that open or separate documents in pretraining, most frequent first."""


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

    Raises:
        ValueError: the vocabulary has no such start token, or `bos` is set and there is none.
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
        self._own_start = self._start_token_of_the_model()
        self.start_token = self._chosen_start_token(start_token)
        self._start = [] if self.start_token is None else [self.start_token]
        self.bos, self._may_share, self._longest_probed = bos, share_prefixes, 0
        if bos and self.start_token is None:
            raise ValueError(f"{self.name} has no start token to put before a gap's context; remove bos.")
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

    def _start_token_of_the_model(self) -> int | None:
        """Return the id of the tokenizer's start token, else of the one that the model's configuration names.

        An id that is an ordinary word of the tokenizer (dbmdz/german-gpt2 names one) is none.
        """
        if self.tokenizer.bos_token_id is not None:
            return int(self.tokenizer.bos_token_id)
        config, special = self.model.config.get_text_config(), self.tokenizer.added_tokens_decoder
        named = (getattr(config, name, None) for name in ("bos_token_id", "decoder_start_token_id"))
        return next((i for i in named if i in special), None)

    def _chosen_start_token(self, token: str | None) -> int | None:
        """Return the id that opens a text: of the token that was asked for, else as this module says; None for none."""
        if token == NO_TOKEN:
            return None
        if token is None and not self.opens_chat_turns(self._own_start):
            return self._own_start
        known: dict[str, int] = self.tokenizer.get_vocab()
        if token is None:
            return next((known[text] for text in DOCUMENT_TOKENS if text in known), self._own_start)
        if token not in known:
            raise ValueError(
                f"The vocabulary of {self.name} has no token {token!r}. Expected one of its tokens, as the tokenizer "
                f"writes it, or {NO_TOKEN!r}. Change start_token, or remove it to use the default."
            )
        return known[token]

    @property
    def start_token_text(self) -> str:
        """The token that the first token of a sentence is conditioned on, `none` for none."""
        return str(self.tokenizer.convert_ids_to_tokens(self._start)[0]) if self._start else NO_TOKEN

    def opens_chat_turns(self, token: int | None) -> bool:
        """Whether a token opens the turns of a chat, after which a role is expected."""
        return token is not None and self.tokenizer.convert_ids_to_tokens(token) in TURN_TOKENS

    @property
    def avoids_chat_token(self) -> bool:
        """Whether another token replaces the model's start token, because its own opens the turns of a chat."""
        return self.start_token != self._own_start and self.opens_chat_turns(self._own_start)

    def check_forward(self, forward: Forward) -> None:
        """Raise ValueError where tokens attend to those after them."""
        if sees_what_follows(forward):
            raise ValueError(
                f"In {self.name} each token attends to the tokens after it, so the chain rule does not give the "
                "probability of a sentence. Load it as a masked model (kind='masked', --kind masked), or set "
                "is_decoder in its configuration. (8-bit layers of bitsandbytes see a whole batch: use 4 bits.)"
            )

    def continuation_logprobs(
        self, prefixes: Iterable[str], continuations: Iterable[str], progress: Progress | None = None
    ) -> Logprobs:
        """Return log P(continuation | prefix) of each pair, (pairs,): of the tokens that end after the prefix."""
        prefixes, texts = joined_pairs(prefixes, continuations)
        sequences, spans = self._with_spans(texts)
        before = [
            int(np.searchsorted(of_text[:, 1], len(prefix), side="right")) if prefix else 0
            for prefix, of_text in zip(prefixes, spans, strict=True)
        ]
        values = self._read(sequences, [max(n + len(self._start), 1) for n in before], progress)
        return np.array([of_text.sum() if len(of_text) else np.nan for of_text in values])

    def token_logprobs(
        self, sentences: Iterable[str], progress: Progress | None = None
    ) -> list[ScoredTokens]:
        """Return the tokens of each sentence with log P(token | tokens before), without a correction.

        The first token is NaN for a model without a start token.
        """
        sequences, spans = self._with_spans(checked_texts(sentences))
        values = self._read(sequences, [1] * len(sequences), progress)
        first = [] if self._start else [np.nan]
        return [
            ScoredTokens(of_text[:, 0], of_text[:, 1], np.append(first, logprobs))
            for of_text, logprobs in zip(spans, values, strict=True)
        ]

    def word_logprobs(self, sentences: Iterable[str], progress: Progress | None = None) -> list[ScoredWords]:
        """Return, for each sentence, its words between white space, each with log P(word | words before).

        If tokens include the space before them, P(token) of a word's first token includes the probability that
        the previous word has ended, and the probability of the word's own end is missing. The correction is
        P(word) = P(tokens) * P(a space or the end comes next | tokens) / P(a space comes | before the word)
        (Oh & Schuler 2024; Pimentel & Meister 2024), so that the words' probabilities sum to one.
        """
        texts = checked_texts(sentences)
        tokens = self.token_logprobs(texts, progress)
        # An `END` after each token, the last one included; certain where tokens do not include spaces.
        sequences = [[*ids, END] for ids in self._with_spans(texts)[0]]
        group = np.isin(np.arange(self.vocabulary_size), boundary_ids(self.tokenizer))
        ends_here = [np.zeros(len(ids) - 1) for ids in sequences]
        if group.any():
            ends_here = self._read(sequences, [1] * len(texts), group=group)
        scored = []
        for text, of_text, here in zip(texts, tokens, ends_here, strict=True):
            ends = here if self._start else np.append(np.nan, here)
            words, word = words_of_tokens(text, of_text.ends)
            last = np.append(word[1:] != word[:-1], True)
            later = np.append(False, last[:-1])  # first token of a word that is not the first
            corrected = of_text.logprobs + np.where(last, ends[1:], 0.0) - np.where(later, ends[:-1], 0.0)
            scored.append(sum_by_word(corrected, words, word))
        return scored

    def _with_spans(self, texts: Sequence[str]) -> tuple[list[list[int]], list[Indices]]:
        """Return the ids that the model reads for each text, and start and end of its tokens' characters, (tokens, 2).

        The ids begin with the start token, which has no span.
        """
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
            raise ValueError(
                "A gap that opens its sentence leaves a causal model no context. Use bos, or remove it."
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
    def word_ends(self) -> NDArray[np.bool_]:  # type: ignore[override]  # here it is never None
        """(vocabulary,) which ids end a word that they follow."""
        (anchor,) = self.opened([CARRIER.prefix])
        return ~continuing_ids(self.tokenizer, anchor[-1:], self.vocabulary_size)

    def _read(
        self,
        sequences: list[list[int]],
        starts: Sequence[int],
        progress: Progress | None = None,
        group: NDArray[np.bool_] | None = None,
    ) -> list[Logprobs]:
        """Return log P(token | tokens before) of each sequence's tokens from a place (at least 1) on.

        With a group of ids, (vocabulary,), return its total probability in the place of each token.
        """
        counts = [max(len(ids) - start, 0) for ids, start in zip(sequences, starts, strict=True)]
        values = np.zeros(0)
        if any(counts):
            inputs = [ids[:-1] for ids in sequences]  # the last token is predicted, but no input
            rows, nodes = prefix_rows(inputs, self._capacity(inputs))
            read_of = np.concatenate([ns[start - 1 :] for ns, start in zip(nodes, starts, strict=True)])
            following = [i for ids, start in zip(sequences, starts, strict=True) for i in ids[start:]]
            tokens = np.array(following if group is None else [END] * len(following), dtype=np.int64)
            values = self.run(Plan(rows, read_of), TokenReader(tokens, group), progress)
        return np.split(values, np.cumsum(counts))[:-1]

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
