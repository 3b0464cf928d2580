"""A model behind a server: log P of sentences and continuations, over HTTP.

    tse run --suite minimal_pairs --model http://localhost:8000/v1#my-model

The server tokenizes the text. Whether it puts a start token before it is its own choice; if it does, or if
`start_token` is given, the first token of a sentence is scored too. A server does not give whole distributions, so
TSE, EW and MW are refused.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any
from urllib.parse import urldefrag, urlsplit

import numpy as np

from ..engine.arrays import Indices
from ..engine.progress import Progress
from .base import Logprobs, MapsDataSets
from .completions import SPACES, Completions, Echo
from .options import NO_TOKEN, Option, OptionError
from .server_session import KEY
from .tokens import joined_pairs
from .words import checked_texts

CONCURRENT = 16
"""Requests that wait for an answer at one time; servers put them into batches."""
REMEMBERED = 2**18
"""Texts whose answers are kept; each takes a few hundred bytes."""
PROBE = "The author laughs."


def refuse_secrets(name: str) -> None:
    """Raise ValueError if an address contains a user name, a password or a query: names of models are written."""
    parts = urlsplit(name)
    if parts.username or parts.password or parts.query:
        raise ValueError(
            "The address of the server contains a user name, a password or a query, which would be written into "
            f"results; expected http://host:port/v1#model. Give the server's key in the environment variable {KEY}."
        )


class RemoteScorer(MapsDataSets):
    """Scores with a model behind a server that speaks OpenAI's completions API with `echo` and `logprobs`.

    Attributes:
        name: address and model.
        first_token: what the first token of a sentence is conditioned on, for people to read.
        signature: everything that is known to decide the scores. The revision is None: a server does not say it, so
            scores are never reused.

    Args:
        address: `http://host:port/v1#model`; without `#model`, the server must serve only one.
        start_token: text of the token to put before each text; None leaves it to the server. It must be a single token
            there.
        leading_space: put a space before the first word of every text.

    Raises:
        ValueError: the server cannot be reached, or gives no log-probabilities of a text.
    """

    def __init__(
        self,
        address: str,
        *,
        start_token: str | None = None,
        leading_space: bool = False,
    ) -> None:
        url, model = urldefrag(address)
        refuse_secrets(url)
        self._api = Completions(url, model or None)
        self.name = f"{url.rstrip('/')}#{self._api.model}"
        self._start = "" if start_token in (None, NO_TOKEN) else str(start_token)
        self._space = " " if leading_space else ""
        # The same sentence is asked for by several methods of a suite.
        self._echo = lru_cache(REMEMBERED)(lambda text: self._api.echo(text, self._start + self._space))
        probe = self._echo(PROBE)
        if self._start and probe.first != 1:
            raise OptionError(
                f"{self.name} reads {probe.first} tokens before a text with {start_token!r}; expected one. "
                f"Change {Option('start_token')} to a token of the model, as its tokenizer writes it."
            )
        if start_token == NO_TOKEN and probe.first:
            raise OptionError(
                f"{self.name} puts a start token before each text; expected none with "
                f"{Option('start_token', NO_TOKEN)}. Remove {Option('start_token')}."
            )
        unscored = bool(np.isnan(probe.logprobs[0]))
        self.signature: dict[str, Any] = {
            "model": self.name,
            "revision": None,
            "architecture": "unknown (remote)",
            "dtype": "unknown (remote)",
            "kind": "causal",
            "first_token": "unscored" if unscored else "given the start token",
            "leading_space": leading_space,
        }
        if start_token is not None:
            self.signature["start_token"] = start_token
        before = self._start or "the token that the server puts before it"
        self.first_token = (
            "the server puts no token before a text, so the first token of a sentence is not scored (see --start-token)"
            if unscored
            else f"first token of a sentence: conditioned on {before}"
        )
        self.execution: dict[str, Any] = {"device": "remote"}

    def sentence_logprobs(self, sentences: Iterable[str], progress: Progress | None = None) -> Logprobs:
        """Return log P of each sentence, (sentences,) float64, natural logs; NaN if no token can be scored.

        Raises:
            ValueError: a sentence is empty, or the server does not answer.
        """
        texts = checked_texts(sentences)
        return np.array([_sum(echo.logprobs) for echo in self._echoes(texts, progress)], dtype=np.float64)

    def continuation_logprobs(
        self, prefixes: Iterable[str], continuations: Iterable[str], progress: Progress | None = None
    ) -> Logprobs:
        """Return log P(continuation | prefix) of each pair, (pairs,) float64, natural logs.

        Raises:
            ValueError: a text is empty, there are not as many prefixes as continuations, or the server does not answer.
        """
        prefixes, texts = joined_pairs(prefixes, continuations)
        logprobs = np.zeros(len(texts))
        for index, echo in enumerate(self._echoes(texts, progress)):
            logprobs[index] = _sum(echo.logprobs[_first_after(prefixes[index], echo.ends) :])
        return logprobs

    def token_counts(self, sentences: Iterable[str]) -> Indices:
        """Return the number of tokens of each sentence, (sentences,), without a start token."""
        return np.array([len(echo.ends) for echo in self._echoes(list(sentences), None)], dtype=np.int64)

    def _echoes(self, texts: Sequence[str], progress: Progress | None) -> Iterator[Echo]:
        """Yield what the server read for each text, in their order."""
        with ThreadPoolExecutor(CONCURRENT) as pool:
            futures = [pool.submit(self._echo, text) for text in texts]
            try:
                for index, future in enumerate(futures):
                    yield future.result()
                    if progress is not None:
                        progress(index + 1, len(texts))
            finally:
                for future in futures:
                    future.cancel()


def _first_after(prefix: str, ends: Indices) -> int:
    """Return the index of the first token that is not only the prefix's; one of the space between is not."""
    size = len(prefix.translate(SPACES))
    if not size:
        return 0
    last = int(np.searchsorted(ends, size))  # has the prefix's last character, and perhaps more
    return last + int(ends[last] == size)


def _sum(logprobs: Logprobs) -> float:
    """Return the sum over the tokens that are scored; NaN if none is."""
    scored = logprobs[~np.isnan(logprobs)]
    return float(scored.sum()) if len(scored) else float("nan")
