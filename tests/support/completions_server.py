"""A server of OpenAI's completions API on this machine, with a model of `transformers`; it echoes as vLLM does.

with CompletionsServer(model, tokenizer) as server:
load_scorer(f"{server.url}#tiny")
"""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import torch


class CompletionsServer:
    """The server.

    Attributes:
        url: its address.
        failures: statuses with which it answers the next requests, the first one first.
        retry_after: the wait in seconds that it asks for when it fails, or None.
        key: what it expects as a key, or None.
        respond: writes the answer in place of the server, given the handler of the request, or None.
        echoes: whether it supports `echo`, which the server of llama.cpp does not.
        requests: the headers of the requests for completions, in their order.
    """

    def __init__(self, model: Any, tokenizer: Any, key: str | None = None) -> None:
        self.model, self.tokenizer, self.key = model, tokenizer, key
        self.failures: list[int] = []
        self.retry_after: int | None = None
        self.echoes = True
        self.respond: Callable[[BaseHTTPRequestHandler], None] | None = None
        self.requests: list[dict[str, str]] = []
        self.lock = threading.Lock()
        handler = type("BoundHandler", (_Handler,), {"served": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> "CompletionsServer":
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._http.shutdown()
        self._http.server_close()

    def complete(self, prompt: str) -> dict[str, Any]:
        """Return the choice with the tokens of the prompt and a generated one."""
        ids = self.tokenizer(prompt)["input_ids"]
        with self.lock, torch.no_grad():
            logprobs = torch.log_softmax(self.model(torch.tensor([ids])).logits[0].double(), dim=-1)
        following = int(logprobs[-1].argmax())
        values = [float(logprobs[place, token]) for place, token in enumerate([*ids[1:], following])]
        tokens = [self.tokenizer.decode([index]) for index in [*ids, following]]
        return {"text": "".join(tokens), "logprobs": {"tokens": tokens, "token_logprobs": [None, *values]}}


class _Handler(BaseHTTPRequestHandler):
    served: CompletionsServer

    def do_GET(self) -> None:
        self._answer(200, {"object": "list", "data": [{"id": "tiny", "object": "model"}]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.served.lock:
            self.served.requests.append(dict(self.headers))
            failure = self.served.failures.pop(0) if self.served.failures else 200
        if self.served.respond is not None:
            self.served.respond(self)
        elif failure != 200:
            self._answer(failure, {"error": "not now"})
        elif self.served.key and self.headers["Authorization"] != f"Bearer {self.served.key}":
            self._answer(
                401, {"error": f"wrong key: {self.headers['Authorization'].removeprefix('Bearer ')}"}
            )
        elif asked["model"] != "tiny":
            self._answer(404, {"error": f"The model {asked['model']} does not exist."})
        elif not self.served.echoes:
            self._answer(200, {"choices": [{"text": " a", "logprobs": None}]})
        else:
            assert asked["echo"] and asked["logprobs"] and asked["max_tokens"] == 1
            self._answer(200, {"choices": [self.served.complete(asked["prompt"])]})

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if status != 200 and self.served.retry_after is not None:
            self.send_header("Retry-After", str(self.served.retry_after))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Write nothing."""
