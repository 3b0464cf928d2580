"""Asks a server for the log-probabilities of the tokens of a text, by OpenAI's completions API with `echo`.

vLLM, SGLang and llama-cpp-python's server answer such requests. Servers of chat models and of llama.cpp itself refuse
`echo` or return no log-probabilities of the text.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from requests import RequestException, Response
from urllib3.exceptions import HTTPError

from ..engine.arrays import Indices
from ..io import limits
from ..io.declared import parse
from ..io.transfers import received, within
from .answers import require_logprobs
from .base import Logprobs
from .server_session import BUSY, KEY, make_session

CONNECT_SECONDS, READ_SECONDS = 10.0, 300.0
RETRIES = 4
"""Of a request that the server could not answer for now."""
_ADDED = 64
"""Tokens that a server may put before a text, and generate after it."""
SPACES = str.maketrans("", "", " \u0120\u2581\n\t")
"""What is ignored where tokens and text are compared: servers write the spaces of tokens differently, or not at all."""


@dataclass(frozen=True)
class _Logprobs:
    tokens: tuple[str, ...]
    token_logprobs: tuple[Any, ...]


@dataclass(frozen=True)
class _Choice:
    logprobs: _Logprobs


@dataclass(frozen=True)
class _Completion:
    """The answer to a request for completions: of what it holds, what is read."""

    choices: tuple[_Choice, ...]


@dataclass(frozen=True)
class _Model:
    id: str


@dataclass(frozen=True)
class _Models:
    """The answer to a request for the list of models."""

    data: tuple[_Model, ...]


class Echo(NamedTuple):
    """The tokens that a server read for a text.

    Attributes:
        first: index of the first token of the text; before it are those that were put before the text.
        ends: characters of the text, without spaces, up to the end of each token from `first` on.
        logprobs: log P(token | tokens before) of the same tokens, natural logs; NaN for a token that follows nothing.
    """

    first: int
    ends: Indices
    logprobs: Logprobs


class Completions:
    """A model behind a server.

    Args:
        url: the API's address, as in `http://localhost:8000/v1`.
        model: the model's name there; None takes the only one that the server lists.

    Attributes:
        model: the model's name there.

    Raises:
        ValueError: the address is not one, or the server cannot be reached or serves no such model.
    """

    def __init__(self, url: str, model: str | None = None) -> None:
        if not urlsplit(url).hostname:
            raise ValueError(f"{url!r} is not the address of a server; expected http://host:port/v1#model.")
        self._url = url.rstrip("/")
        self._session = make_session(RETRIES)
        self.model = model or self._only_model()

    def echo(self, text: str, before: str = "") -> Echo:
        """Return the tokens of a text as the server reads it.

        Args:
            text: the text.
            before: what to put before it.

        Raises:
            ValueError: the server does not answer, or not with log-probabilities of the text.
        """
        request: dict[str, str | int] = {
            "model": self.model,
            "prompt": before + text,
            "max_tokens": 1,
            "temperature": 0,
            "echo": True,
            "logprobs": 1,
        }
        answer = self._request("POST", "completions", request)
        try:
            choices = parse(_Completion, answer, "the answer").choices
            if not choices:
                raise ValueError("choices is an empty list")
            scored = choices[0].logprobs
            tokens, values = [token.translate(SPACES) for token in scored.tokens], scored.token_logprobs
            if len(values) != len(tokens) or any(value is None or value != value for value in values[1:]):
                raise ValueError("there is not one log-probability for each token after the first")
        except ValueError as error:
            raise ValueError(
                f"{self._url} returned no log-probabilities of the text; expected choices[0].logprobs with tokens and "
                f"token_logprobs, one for each token after the first, but {error}. {SERVERS}"
            ) from error
        if len(tokens) > len((before + text).encode()) + _ADDED:
            raise ValueError(
                f"{self._url} returned {len(tokens):,} tokens for {text!r:.100}; expected at most one for each byte of "
                "the text. Check that it is a server of models."
            )
        # The first one may be None, which becomes NaN.
        logprobs = require_logprobs(
            values, (len(tokens),), f"{self._url}#{self.model}", lambda place: f"{tokens[place]} in {text}"
        )
        first, last = _places(tokens, text.translate(SPACES), self._url)
        ends = np.cumsum([len(token) for token in tokens[first:last]])
        return Echo(first, ends, logprobs[first:last])

    def _only_model(self) -> str:
        try:
            names = [model.id for model in parse(_Models, self._request("GET", "models"), "the answer").data]
        except ValueError as error:
            raise ValueError(
                f"{self._url} does not list its models; expected one. Write its name: {self._url}#model. {error}."
            ) from error
        if len(names) != 1:
            raise ValueError(
                f"{self._url} serves {len(names)} models ({', '.join(names[:5])}); expected one. Write the name of the "
                f"one that you mean: {self._url}#{names[0] if names else 'model'}."
            )
        return names[0]

    def _request(self, method: str, path: str, body: Mapping[str, str | float] | None = None) -> object:
        try:
            answer, content = within(limits.ANSWER_SECONDS, lambda: self._answer(method, path, body))
        except TimeoutError as error:
            raise ValueError(
                f"The server at {self._url} did not finish its answer within {limits.ANSWER_SECONDS:.0f} seconds. "
                "Check that it runs, and ask again later."
            ) from error
        except (RequestException, HTTPError) as error:
            raise ValueError(
                f"The server at {self._url} does not answer ({type(error).__name__}, after {RETRIES} more attempts). "
                "Check that it runs and that its address is right."
            ) from error
        if answer.status_code in BUSY:
            raise ValueError(
                f"The server at {self._url} is busy or broken. It answered {RETRIES + 1} attempts with status "
                f"{answer.status_code}. {_reason(answer, content)} Run the same command again later."
            )
        if answer.status_code != 200:
            raise ValueError(
                f"The server at {self._url} refused the request with status {answer.status_code}: "
                f"{_reason(answer, content)} Check the name of the model, the key in {KEY}, and that the server "
                f"supports echo and logprobs. {SERVERS}"
            )
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"{self._url}/{path} did not answer in JSON; expected OpenAI's completions API. Check the address: it "
                "usually ends in /v1."
            ) from error

    def _answer(
        self, method: str, path: str, body: Mapping[str, str | float] | None
    ) -> tuple[Response, bytes]:
        waits = (CONNECT_SECONDS, READ_SECONDS)
        # A redirect would carry the key and the texts to another host.
        with self._session.request(
            method, f"{self._url}/{path}", json=body, timeout=waits, allow_redirects=False, stream=True
        ) as answer:
            try:
                return answer, b"".join(received(answer, limits.ANSWER_BYTES))
            except ValueError as error:
                raise ValueError(
                    f"The server at {self._url} sent an answer that is not read: {error}. Check that it is a server "
                    "of models."
                ) from error


SERVERS = (
    "vLLM, SGLang and llama-cpp-python (with logits_all) support them; the server of llama.cpp does not."
)


def _places(tokens: Sequence[str], text: str, url: str) -> tuple[int, int]:
    """Return the index of the first token of a text, and of the one after its last, which the server had to generate.

    Args:
        tokens: without spaces.
        text: without spaces.
        url: of the server.
    """
    ends = np.cumsum([len(token) for token in tokens])
    spelled = "".join(tokens)
    for last, end in enumerate(ends.tolist(), start=1):
        if end >= len(text) and spelled.endswith(text, 0, end):
            first = int(np.searchsorted(ends, end - len(text), side="right"))
            while first > 1 and not tokens[first - 1]:  # a space that is a token of its own
                first -= 1
            return first, last
    raise ValueError(
        f"The tokens that {url} returned spell {spelled[:80]!r}; expected {text[:80]!r} (without spaces). Servers do "
        "so for characters that a model splits into bytes, and for words that it does not know; they cannot be scored "
        "there. Remove such texts, or load the model itself."
    )


def _reason(answer: Response, content: bytes) -> str:
    """Return the beginning of the server's own message, in one line, without the key that it was sent."""
    key = str(answer.request.headers.get("Authorization", "")).removeprefix("Bearer ")
    text = content.decode("utf-8", "replace")
    text = text.replace(key, "…") if key else text
    return " ".join(text.split())[:300].rstrip(".") + "."
