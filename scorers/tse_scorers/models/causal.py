"""Causal language models: the chain rule over tokens. Prefixes that texts share are computed once.

log P(sentence) = sum over i of log P(w_i | w_<i). What w_1 is conditioned on is said in `causal_inputs`, and so is what
the w_<i are in texts that are longer than the model's window.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from ..engine.arrays import Indices, Values, concatenate, expand_ranges
from ..engine.plan import Plan, TriePlan
from ..engine.progress import Progress
from ..engine.readers import DistributionReader, Reader, TokenReader
from ..engine.trie import PrefixTrie, build_trie
from .base import Logprobs, ScoredTokens, SlotFunction
from .causal_inputs import CausalInputs
from .forms import END, Reads, reader_of_steps
from .queries import Slot
from .tokens import (
    boundary_ids,
    checked_pairs,
    joined,
    name_straddling,
    require_offsets,
    sum_by_word,
    words_of_tokens,
)
from .words import checked_texts


class CausalScorer(CausalInputs):
    """Scores with a causal language model; the arguments are those of `CausalInputs`."""

    def sentence_logprobs(self, sentences: Iterable[str], progress: Progress | None = None) -> Logprobs:
        """Return log P of each sentence, (sentences,) float64, natural logs; NaN if no token can be scored.

        Raises:
            ValueError: a sentence is empty or longer than the model's maximum.
        """
        texts = checked_texts(sentences)
        sequences = self.sentence_ids(texts)
        self.check_inputs(sequences, texts, in_windows=True)
        return self._sum_from(sequences, np.ones(len(sequences), dtype=np.int64), progress)

    def continuation_logprobs(
        self, prefixes: Iterable[str], continuations: Iterable[str], progress: Progress | None = None
    ) -> Logprobs:
        """Return log P(continuation | prefix) of each pair, (pairs,) float64, natural logs.

        Raises:
            ValueError: a text is empty or too long, or there are not as many prefixes as continuations.
        """
        prefixes, continuations = checked_pairs(prefixes, continuations)
        texts = joined(prefixes, continuations)
        sequences = self.sentence_ids(texts)
        self.check_inputs(sequences, texts, in_windows=True)
        ends = self._token_ends(texts)
        boundaries = [len(prefix) + (self.leading_space and len(prefix) > 0) for prefix in prefixes]
        first = [np.searchsorted(end, past, side="right") for end, past in zip(ends, boundaries, strict=True)]
        start = np.array(first, dtype=np.int64) + (self.start_token is not None)
        return self._sum_from(sequences, np.maximum(start, 1), progress)

    def token_logprobs(
        self, sentences: Iterable[str], progress: Progress | None = None
    ) -> list[ScoredTokens]:
        """Return the tokens of each sentence with log P(token | tokens before), natural logs, without a correction.

        The first token is NaN for a model without a start token.

        Raises:
            ValueError: a sentence is empty or too long, or the tokenizer does not give the positions of its tokens.
        """
        texts = checked_texts(sentences)
        sequences = self.sentence_ids(texts)
        self.check_inputs(sequences, texts, in_windows=True)
        spans = self._token_spans(texts)
        unscored = int(self.start_token is None)
        first = np.ones(len(sequences), dtype=np.int64)
        owner, logprobs = self._scored_tokens(sequences, first, progress)
        of_text = np.split(logprobs, np.cumsum(np.bincount(owner, minlength=len(texts)))[:-1])
        scored = []
        for span, token_values in zip(spans, of_text, strict=True):
            starts, ends = (np.maximum(edge - self.leading_space, 0) for edge in span.T)
            padded = np.append(np.full(unscored, np.nan), token_values)
            scored.append(ScoredTokens(starts, ends, padded))
        return scored

    def word_logprobs(
        self,
        sentences: Iterable[str],
        progress: Progress | None = None,
        words: Sequence[Sequence[str]] | None = None,
    ) -> list[list[tuple[str, float]]]:
        """Return, for each sentence, its words, each with log P(word | words before).

        Words are separated at white space, or given in `words`.

        If tokens include the space before them, P(token) of a word's first token includes the probability that
        the previous word has ended, and the probability of the word's own end is missing. The correction is
        P(word) = P(tokens) * P(a space or the end comes next | tokens) / P(a space comes | before the word)
        (Oh & Schuler 2024; Pimentel & Meister 2024), so that the words' probabilities sum to one. Between given words
        without a space, there is none, nor at the end of a text in a script without spaces.

        Raises:
            ValueError: a sentence is empty or too long, words do not spell their sentence, or the tokenizer does not
                give the positions of its tokens.
        """
        texts = checked_texts(sentences)
        require_offsets(self.tokenizer, self.name)
        if not texts:
            return []
        sequences = self.sentence_ids(texts)
        self.check_inputs(sequences, texts, in_windows=True)
        rows, row_of, column_of = self.windows(sequences)
        trie = build_trie(rows)
        logprob, ends_here = self._logprobs_and_ends(trie, progress)
        after = trie.first[row_of] + column_of  # where the distribution after each token is
        of_text = np.split(after, np.cumsum([len(ids) for ids in sequences])[:-1])
        start = int(self.start_token is not None)
        all_spans = [np.maximum(spans - self.leading_space, 0) for spans in self._token_spans(texts)]
        texts_words = [
            words_of_tokens(text, spans, None if words is None else words[index])
            for index, (text, spans) in enumerate(zip(texts, all_spans, strict=True))
        ]
        name_straddling(self.name, texts_words)
        scored = []
        for text_words, places in zip(texts_words, of_text, strict=True):
            # A token is scored in the window where the distribution before it is.
            nodes = trie.places[np.append(places[:1], places[:-1] + 1)][start:]
            ends_after = ends_here[trie.places[places]][start:]
            word = text_words.of_token
            last = np.append(
                (word[1:] != word[:-1]) & text_words.after_space[word[1:]], text_words.ends_marked
            )
            later = np.append(False, last[:-1])  # first token of a word that is not the first
            before = np.where(later, ends_here[trie.parent[nodes]], 0.0)
            corrected = logprob[nodes] + last * ends_after - before
            scored.append(sum_by_word(corrected, text_words))
        return scored

    def _logprobs_and_ends(self, trie: PrefixTrie, progress: Progress | None) -> tuple[Logprobs, Logprobs]:
        """Return, at each node, log P(its token | tokens before) and log P(a space or the end comes next).

        Both have the shape (nodes,). The second is 0 everywhere if tokens do not include spaces.
        """
        inner = np.nonzero(trie.parent >= 0)[0]
        leaves = np.unique(trie.ends)
        read_of = np.concatenate([trie.parent[inner], leaves])
        token = np.concatenate([trie.token[inner], np.zeros_like(leaves)])
        boundary = boundary_ids(self.tokenizer)
        is_read = np.zeros(len(trie), dtype=bool)
        is_read[read_of] = True
        reader = TokenReader(read_of, token, len(trie), beside=boundary if len(boundary) else None)
        values = self.run(TriePlan(trie, is_read, self._capacity(trie)), reader, progress)
        logprob = np.full(len(trie), np.nan)
        logprob[inner] = values[: len(inner), 0]
        ends_here = np.zeros(len(trie))
        if len(boundary):
            ends_here[read_of] = values[:, 1]
        return logprob, ends_here

    def read_slots(
        self, slots: Iterable[Slot], function: SlotFunction, width: int, progress: Progress | None = None
    ) -> Values:
        """Apply `function` to the distribution at each gap and return (slots, width).

        Args:
            slots: sentences with a gap; the suffix is not seen.
            function: computes numbers from logits; see `SlotFunction`.
            width: number of values per slot.
            progress: called with (tokens done, tokens in all).

        Raises:
            ValueError: a prefix is too long, or empty without a start token before it (`bos`).
        """
        prefixes = [slot.prefix for slot in slots]
        if not prefixes:
            return np.zeros((0, width))
        sequences = self.slot_ids(prefixes)
        self.check_inputs(sequences, prefixes)
        trie = build_trie(sequences)
        is_read = np.zeros(len(trie), dtype=bool)
        is_read[trie.ends] = True
        reader = DistributionReader(trie.ends, width, function, len(trie))
        return self.run(TriePlan(trie, is_read, self._capacity(trie)), reader, progress)

    def plan_reads(
        self, slots: Sequence[Slot], reads: Reads, cutoffs: Sequence[float] = ()
    ) -> tuple[Plan, Reader]:
        """Plan reads after each context and the tokens of each state."""
        contexts = self.slot_ids([slot.prefix for slot in slots])
        trie = build_trie([[*context, *state] for context in contexts for state in reads.states])
        read_of = trie.ends.reshape(len(slots), -1)[:, reads.state].ravel()
        is_read = np.zeros(len(trie), dtype=bool)
        is_read[read_of] = True
        group = ~self._continuing if (reads.token == END).any() else None
        reader = reader_of_steps(read_of, np.tile(reads.token, len(slots)), len(trie), cutoffs, group)
        return TriePlan(trie, is_read, self._capacity(trie)), reader

    def _sum_from(self, sequences: list[list[int]], start: Indices, progress: Progress | None) -> Logprobs:
        """Sum log P(token | tokens before) over each sequence from position `start` (at least 1) on.

        A sequence's last token is predicted, but is not an input.
        """
        scored = np.array([len(sequence) for sequence in sequences], dtype=np.int64) > start
        sums = np.where(scored, 0.0, np.nan)
        owner, logprobs = self._scored_tokens(sequences, start, progress)
        np.add.at(sums, owner, logprobs)
        return sums

    def _scored_tokens(
        self, sequences: list[list[int]], start: Indices, progress: Progress | None
    ) -> tuple[Indices, Logprobs]:
        """Return the sequence of each token from position `start` on, and log P(token | tokens before).

        Both have the shape (tokens,), one sequence after the other.
        """
        ids, first = concatenate(sequences)
        n_scored = np.maximum(np.diff(first) - start, 0)
        owner, column = expand_ranges(n_scored, start)
        if not len(owner):
            return owner, np.zeros(0)
        rows, row_of, column_of = self.windows(sequences)
        trie = build_trie([row[:-1] for row in rows])
        # Each pair of prefix and next token is computed once.
        token, before = ids[first[owner] + column], first[owner] + column - 1
        node_and_token = (
            trie.places[trie.first[row_of[before]] + column_of[before]] * (token.max() + 1) + token
        )
        edges, edge_of = np.unique(node_and_token, return_inverse=True)
        nodes, tokens = np.divmod(edges, token.max() + 1)
        is_read = np.zeros(len(trie), dtype=bool)
        is_read[nodes] = True
        plan = TriePlan(trie, is_read, self._capacity(trie))
        logprobs = self.run(plan, TokenReader(nodes, tokens, len(trie)), progress)[:, 0]
        return owner, logprobs[edge_of]
