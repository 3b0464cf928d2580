"""Serves the page: to this machine only by default, and without fetching anything from elsewhere."""

import socket

import gradio as gr
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Gradio's own scripts are inline and evaluated. The browser refuses everything that comes from another server.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; worker-src 'self' blob:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; object-src 'none'; "
    "base-uri 'self'; form-action 'self'"
)
FONTS = ("system-ui", "-apple-system", "Segoe UI", "Roboto", "Noto Sans", "sans-serif")
MONOSPACE = ("ui-monospace", "SFMono-Regular", "Menlo", "DejaVu Sans Mono", "monospace")


class ContentPolicy:
    """Adds the policy to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def send_with_policy(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message.get("headers", []),
                    (b"content-security-policy", POLICY.encode()),
                ]
            await send(message)

        await self.app(scope, receive, send_with_policy)


def launch(page: gr.Blocks, host: str | None = None, port: int | None = None) -> str:
    """Serve the page until the program ends or `page.close()`, and return its address at once.

    Args:
        page: as `app.app` returns it.
        host: address to listen on; None is this machine only (a Space sets `GRADIO_SERVER_NAME`).
        port: None takes the first free one from 7860 on.

    Raises:
        ValueError: the host is not an address of this machine, or the port is taken.
    """
    if host is not None:
        _check_host(host)
    theme = gr.themes.Base(primary_hue="blue", font=FONTS, font_mono=MONOSPACE)
    try:
        _, address, _ = page.launch(
            server_name=host,
            server_port=port,
            theme=theme,
            footer_links=[],
            ssr_mode=False,
            share=False,
            quiet=True,
            prevent_thread_lock=True,
            app_kwargs={"middleware": [Middleware(ContentPolicy)]},
        )
    except OSError as error:
        raise ValueError(
            f"The page cannot be served: {error}. Choose another port with --port, or omit --port to take a free one."
        ) from error
    return address


def _check_host(host: str) -> None:
    """Raise ValueError where no page can be served at an address: Gradio would try it for minutes."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.bind(address)
    except (OSError, UnicodeError) as error:
        raise ValueError(
            f"Cannot listen on --host {host}: {getattr(error, 'strerror', None) or error}. Expected an address of this "
            "machine: 127.0.0.1 for this machine only, or 0.0.0.0 for all its networks."
        ) from error
