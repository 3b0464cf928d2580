"""A picture's SVG as an element of an HTML page."""

import re
from collections import Counter
from collections.abc import Mapping
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


def share_styles(pictures: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """Replace the styles that occur more than once in pictures by classes.

    Args:
        pictures: elements of the page, as `inline` returns them.

    Returns:
        The pictures, and the rules of the classes for the page's style sheet.
    """
    # Inside tags only: the text of a picture, a model's name for one, may look like an attribute.
    pattern = re.compile(r'(<[^<>]*) style="([^"]*)"')
    counts = Counter(style for svg in pictures.values() for _, style in pattern.findall(svg))
    often = [style for style, n in counts.most_common() if n > 1]
    classes = {style: f"s{number}" for number, style in enumerate(often)}

    def named(match: re.Match[str]) -> str:
        return f'{match[1]} class="{classes[match[2]]}"' if match[2] in classes else match[0]

    rules = [f".{name}{{{style.replace(': ', ':').replace('; ', ';')}}}" for style, name in classes.items()]
    return {name: pattern.sub(named, svg) for name, svg in pictures.items()}, "\n".join(rules)
