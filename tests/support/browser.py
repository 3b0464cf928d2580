"""A Chromium for the tests of pages; skips where there is none."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

import pytest

ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
WIDTHS = {"wide": 1440, "middle": 768, "narrow": 390}
"""pixels"""


@contextmanager
def chromium() -> Iterator[Any]:
    """Start a browser: CHROMIUM, or the one on the path."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs playwright (pip install playwright)"
    )
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("needs a Chromium on the path (apt-get install chromium) or in CHROMIUM")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def opened(browser: Any, address: str, width: str = "wide", scheme: str = "light") -> Iterator[Any]:
    """Open a page in a fresh profile; afterwards, it must have asked nobody else for anything."""
    context = browser.new_context(viewport={"width": WIDTHS[width], "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.set_default_timeout(60_000)  # a busy machine is slow, not wrong
    asked, errors = set(), []
    page.on("request", lambda request: asked.add(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.goto(address)
    try:
        yield page
    finally:
        context.close()
    own = urlsplit(address).netloc
    elsewhere = [url for url in asked if urlsplit(url).netloc not in ("", own)]
    assert not elsewhere
    assert not errors


def violations(page: Any) -> list[Any]:
    """Return what axe-core finds, of all impacts: impact, rule, number of elements, and the first of them."""
    pytest.importorskip("axe_playwright_python", reason="needs axe-core (pip install axe-playwright-python)")
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    return page.evaluate(
        "axe.run().then(r => r.violations.map(v => [v.impact, v.id, v.nodes.length, v.nodes[0].html]))"
    )


def sideways(page: Any) -> int:
    """By how many pixels the whole page is wider than the window."""
    return page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
