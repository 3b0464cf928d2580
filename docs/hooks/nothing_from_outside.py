"""A page that loads something from another server fails the build: the documentation works offline."""

import logging
import re

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page

log = logging.getLogger("mkdocs.hooks.nothing_from_outside")
_LOADED = re.compile(r"<(?:script|img|iframe|link)\b[^>]*?(?:src|href)=[\"']?(?:https?:)?//[^>]+>")


def warn_of_what_is_loaded(html: str, name: str) -> None:
    """Warn (and so fail, since the build is strict) of what a page loads from another server."""
    for tag in _LOADED.findall(html):
        if 'rel="canonical"' not in tag:
            log.warning("%s loads something from outside: %s. Put it into the page.", name, tag)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> None:
    """Check a page of the documentation."""
    warn_of_what_is_loaded(output, page.file.src_uri)


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> None:
    """Check a page of the theme, such as the one of addresses that do not exist."""
    warn_of_what_is_loaded(output_content, template_name)
