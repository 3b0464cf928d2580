"""A picture's SVG as an element of an HTML page, in few characters."""

import re
from collections import Counter
from collections.abc import Mapping
from itertools import groupby
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
_BACKGROUND = f"fill: {_PAGE_COLOURS[PAPER]}"
"""The style of what lies behind a figure, which is the page itself."""
_INVISIBLE = {_BACKGROUND, "fill: none"}


def inline(svg: str, name: str, alt: str) -> str:
    """Turn an SVG file's text into an element of an HTML page.

    Identifiers get `name` as prefix (several pictures share the page), neutral colours become the page's
    variables; namespaces, metadata, identifiers that nothing refers to, and groups without a purpose go, and `alt`
    becomes the accessible name.
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
    _flatten(root)
    for attribute in ("width", "height", "version"):
        root.attrib.pop(attribute, None)
    # Below three quarters of its size the text gets too small to read: from there on the picture scrolls.
    size = f"max-width:{width};min-width:calc(0.75 * {width})"
    root.attrib.update({"role": "img", "aria-label": printable(alt), "style": size})
    return ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")


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

    def named(found: re.Match[str]) -> str:
        return f'{found[1]} class="{classes[found[2]]}"' if found[2] in classes else found[0]

    rules = [f".{name}{{{style.replace(': ', ':').replace('; ', ';')}}}" for style, name in classes.items()]
    return {name: pattern.sub(named, svg) for name, svg in pictures.items()}, "\n".join(rules)


def _flatten(element: ElementTree.Element) -> None:
    """Take children out of groups that say nothing, drop what is not seen, and clip neighbours together."""
    children: list[ElementTree.Element] = []
    for child in element:
        _flatten(child)
        if child.tag == "g" and not child.attrib:
            children += list(child)
        elif not (child.tag in ("g", "defs") and len(child) == 0) and not _is_invisible(child):
            children.append(child)
    element[:] = []
    for clip, group in groupby(children, key=lambda child: child.get("clip-path")):
        own = list(group)
        parent = element
        if clip is not None and len(own) > 1 and element.tag != "defs":
            parent = ElementTree.SubElement(element, "g", {"clip-path": clip})
            for child in own:
                del child.attrib["clip-path"]
        parent.extend(own)


def _is_invisible(element: ElementTree.Element) -> bool:
    return element.tag == "path" and "id" not in element.attrib and element.get("style") in _INVISIBLE


def _local(tag: str) -> str:
    return tag.rsplit("}", 1)[-1]


def _adapted(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key == "href":
        return re.sub(r"^#", f"#{name}-", value)
    value = re.sub(r"url\(#", f"url(#{name}-", value)
    if key in ("x", "y", "points"):
        value = _rounded(" ".join(value.split()))
    if key == "transform":
        value = _shorter_transform(value)
    if key == "d":
        value = _shorter_path(value)
    if key == "style":
        value = re.sub("|".join(_PAGE_COLOURS), lambda match: _PAGE_COLOURS[match[0]], value)
        value = re.sub(r"font-family:[^;]*;?\s*", "", value)  # the page has one
        value = re.sub(r"(font:[^;]*?)'DejaVu Sans'[^;]*", r"\1system-ui, sans-serif", value)
    return value


def _shorter_transform(transform: str) -> str:
    """Round places and angles; the factors of a scale or a matrix are small, and stay.

    >>> _shorter_transform("translate(120.256 10) scale(0.015625 -0.015625)")
    'translate(120.3 10) scale(0.015625 -0.015625)'
    """
    transform = " ".join(transform.split())
    return re.sub(r"(translate|rotate)\([^)]*\)", lambda match: _rounded(match[0]), transform)


def _shorter_path(path: str) -> str:
    """Shorten a path; one of straight lines says each point by its distance from the last one.

    >>> _shorter_path("M 46.65 117.23 L 212.53 15.08 L 212.53 10 L 46.65 10 z")
    'M46.6 117.2l165.9-102.1v-5.1h-165.9z'
    >>> _shorter_path("M 0 2.25 C 0.5967 1 2 3")
    'M0 2.25C0.6 1 2 3'
    """
    path = " ".join(path.split())
    if not set(re.findall("[A-Za-z]", path)) - set("MLz"):
        return _relative(path)
    return re.sub(r" ?([A-Za-z]) ?", r"\1", _rounded(path))


def _relative(path: str) -> str:
    """Write a path of straight lines with relative coordinates, in tenths, or in hundredths if it is small."""
    tokens = re.findall(r"[MLz]|-?[\d.]+", path)
    unit = (
        10 if max((abs(float(token)) for token in tokens if token not in "MLz"), default=0.0) >= 10 else 100
    )
    said, at, commands = [], (0, 0), iter(tokens)
    for command in commands:
        if command == "z":
            said.append("z")
            continue
        x, y = (round(float(next(commands)) * unit) for _ in range(2))
        if command == "M":
            said.append(f"M{x / unit:g}{_after(y / unit)}")
        elif y == at[1]:
            said.append(f"h{(x - at[0]) / unit:g}")
        elif x == at[0]:
            said.append(f"v{(y - at[1]) / unit:g}")
        else:
            said.append(f"l{(x - at[0]) / unit:g}{_after((y - at[1]) / unit)}")
        at = x, y
    return "".join(said)


def _after(number: float) -> str:
    """Write a number behind another one: a minus separates them."""
    return f"{number:g}" if number < 0 else f" {number:g}"


def _rounded(numbers: str) -> str:
    """Round the numbers of an attribute to tenths of a point; those of small shapes, such as markers, to hundredths."""
    found = [float(number) for number in re.findall(r"\d+\.?\d*", numbers)]
    digits = 1 if max(found, default=0.0) >= 10 else 2
    return re.sub(r"\d+\.\d+", lambda match: f"{round(float(match[0]), digits):g}", numbers)
