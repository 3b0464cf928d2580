"""A picture's SVG as an element of an HTML page."""

import re
from xml.etree import ElementTree

from ..io.files import printable
from .plots import GRID, INK, MUTED, PAPER

_PAGE_COLOURS = {INK: "var(--ink)", MUTED: "var(--muted)", GRID: "var(--grid)", PAPER: "var(--paper)"}


def inline(svg: str, name: str, alt: str) -> str:
    """Turn an SVG file's text into an element of an HTML page.

    Identifiers get `name` as prefix (several pictures share the page), neutral colours become the page's
    variables; namespaces, metadata and identifiers that nothing refers to go, and `alt` becomes the accessible name.
    """
    root = ElementTree.fromstring(svg)
    width = root.get("width", "")
    for parent in list(root.iter()):
        for child in list(parent):
            if _local(child.tag) in ("metadata", "style"):
                parent.remove(child)
    used = set(re.findall(r"(?:href=\"|url\()#([^\")]+)", svg))
    for element in root.iter():
        element.tag = _local(element.tag)
        attributes = {
            _local(key): _adapted(_local(key), value, name)
            for key, value in element.attrib.items()
            if (_local(key) != "id" or value in used) and not value.startswith("rotate(-0 ")
        }
        element.attrib.clear()
        element.attrib.update(attributes)
        if element.tag != "text" and not (element.text or "").strip():
            element.text = None
        element.tail = None
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
    if key in ("d", "x", "y", "points", "transform"):
        value = re.sub(
            r"\d+\.\d{3,}", lambda match: f"{float(match[0]):.2f}", re.sub(r"\s+", " ", value).strip()
        )
    if key == "style":
        value = re.sub("|".join(_PAGE_COLOURS), lambda match: _PAGE_COLOURS[match[0]], value)
        value = re.sub(r"font-family:[^;]*;?\s*", "", value)  # the page has one
        value = re.sub(r"(font:[^;]*?)'DejaVu Sans'[^;]*", r"\1system-ui, sans-serif", value)
    return value
