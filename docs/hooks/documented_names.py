"""A public name without documentation fails the build, as does a description of what is returned that is cut in two.

Public are the names of `tse_scorers.__all__` and every class and function of the modules of contracts. Each must
be on a page of the reference; it and its public members must have a docstring.
"""

import logging
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

log = logging.getLogger("mkdocs.hooks.documented_names")
CONTRACTS = ("tse_scorers.models.scorer", "tse_scorers.suites.contract")
_shown: set[str] = set()


@cache
def package() -> griffe.Object:
    """Return what `tse_scorers` holds, read without importing it."""
    scorers = Path(__file__).resolve().parents[2] / "scorers"
    found = griffe.load("tse_scorers", search_paths=[scorers])
    assert isinstance(found, griffe.Object)
    return found


def public_names() -> Iterator[str]:
    """Yield the names that a page of the reference must show."""
    yield from (f"tse_scorers.{name}" for name in _listed(package().members["__all__"]))
    for module in CONTRACTS:
        for name, member in package()[module.removeprefix("tse_scorers.")].members.items():
            is_own = not name.startswith("_") and not member.is_alias and name not in package().members
            if is_own and (member.is_class or member.is_function):
                yield f"{module}.{name}"


def undocumented(name: str) -> Iterator[str]:
    """Yield the name and those of its public members that have no docstring."""
    found = package()[name.removeprefix("tse_scorers.")]
    found = found.final_target if found.is_alias else found
    if not found.has_docstring:
        yield name
    if found.is_class:
        about = found.docstring.value if found.docstring else ""
        for member in found.members.values():
            is_told = member.has_docstring or re.search(rf"^ *{member.name}: ", about, re.MULTILINE)
            if member.is_function and not member.name.startswith("_") and not is_told:
                yield f"{name}.{member.name}"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> None:
    """Note which names a page shows."""
    _shown.update(re.findall(r"^::: ([\w.]+)", markdown, re.MULTILINE))


def cut_returns(html: str) -> Iterator[str]:
    """Yield each list of what a function returns that has several items, or words where its type belongs.

    The parser takes each line for an item unless it is told not to, and what stands before a colon for a type.
    """
    for shown in re.findall(r"Returns:</span></p>\s*<ul>(.*?)</ul>", html, re.DOTALL):
        if shown.count("<li") > 1 or re.search(r"<li[^>]*>\s*<code>[^<]+</code>", shown):
            yield " ".join(re.sub(r"<[^>]+>", "", shown).split())


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> None:
    """Warn of what a function returns where it is cut in two."""
    for shown in cut_returns(html):
        log.warning("%s: Returns is cut in two; write it without a colon: %s", page.file.src_uri, shown)


def on_post_build(config: MkDocsConfig) -> None:
    """Warn (and so fail, since the build is strict) of names that no page shows or that say nothing."""
    for name in public_names():
        if name not in _shown:
            log.warning("%s is public, but no page of the reference shows it: add '::: %s'.", name, name)
        for missing in undocumented(name):
            log.warning("%s has no docstring.", missing)


def _listed(names: griffe.Object | griffe.Alias) -> list[str]:
    return re.findall(r"""['"](\w+)['"]""", str(names.value))  # type: ignore[union-attr]
