"""A picture's SVG as an element of an HTML page."""

import re
from xml.etree import ElementTree

from ..io.files import printable
from .line_styles import FAINT, GRID, INK, MUTED, PAPER

_PAGE_COLOURS = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    FAINT: "var(--faint)",
    GRID: "var(--grid)",
    PAPER: "var(--paper)",
}
_BACKGROUND = f"fill: {PAPER}"
"""The style of what lies behind a figure; on the page, this is the page itself."""


def inline(svg: str, name: str, alt: str) -> str:
    """Turn an SVG file's text into an element of an HTML page.

    Identifiers get `name` as prefix (several pictures share the page), neutral colours become the page's variables;
    namespaces, metadata and the background go, and `alt` becomes the accessible name.
    """
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            if _local(child.tag) in ("metadata", "style") or child.get("style") == _BACKGROUND:
                parent.remove(child)
    for element in root.iter():
        element.tag = _local(element.tag)
        attributes = {
            _local(key): _adapted(_local(key), value, name) for key, value in element.attrib.items()
        }
        element.attrib.clear()
        element.attrib.update(attributes)
    width = root.get("width", "")
    for attribute in ("width", "height", "version"):
        root.attrib.pop(attribute, None)
    # Below three quarters of its size the text gets too small to read: from there on the picture scrolls.
    size = f"max-width:{width};min-width:calc(0.75 * {width})"
    root.attrib.update({"role": "img", "aria-label": printable(alt), "style": size})
    return ElementTree.tostring(root, encoding="unicode")


def _local(tag: str) -> str:
    return tag.rsplit("}", 1)[-1]


def _adapted(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key == "href":
        return re.sub(r"^#", f"#{name}-", value)
    value = re.sub(r"url\(#", f"url(#{name}-", value)
    if key == "style":
        value = re.sub("|".join(_PAGE_COLOURS), lambda colour: _PAGE_COLOURS[colour[0]], value)
        value = re.sub(r"font-family:[^;]*;?\s*", "", value)  # the page has one
        value = re.sub(r"(font:[^;]*?)'DejaVu Sans'[^;]*", r"\1system-ui, sans-serif", value)
    return value
