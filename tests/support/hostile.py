"""Names that are code, markup or a path to somebody who reads them."""

import csv
import io
import re

HOSTILE = {
    "script": "<script>alert('owned')</script>",
    "image": '"><img src=x onerror=alert(1)>',
    "svg": "</svg><svg onload=alert(1)>",
    "style": "</style></title><h1>owned</h1>",
    "style attribute": 'm style="}*{all:unset}"',
    "template": "{{ 7 * 7 }}{% raw %}",
    "formula": '=HYPERLINK("http://owned";"x")',
    "formula after a tab": "\t=1+1",
    "formula at": "@SUM(1)",
    "formula minus": "-2+3+cmd|' /C calc'!A0",
    "input": r"\input{/etc/passwd}",
    "write18": r"\immediate\write18{owned}",
    "caret": r"^^5cinput{x}",
    "shell": "$(rm -rf owned)`owned`;owned",
    "link": "](javascript:alert(1))",
    "markdown image": "![x](http://owned)",
    "cell": "a | b",
    "math": "$x$",
    "ansi": "\x1b[31mred\x1b]0;title\x07",
    "c1": "\x9b31mred",
    "rtl": "gpt\u202e2-xl\u2066",
    "emoji": "💥",
    "newline": "one\ntwo\r\nthree\u2028four",
    "form feed": "a\x0cb\x0bc",
    "NUL": "a\0b",
    "long": "n" * 300,
    "up": "../../owned",
    "absolute": "/etc/owned",
    "windows": "CON",
    "windows path": "C:\\owned\\x",
    "markup": "[red]owned[/red][/nothing]",
    "hidden": "_hidden",
    "empty": " ",
}
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What no output for people holds; a line end and a tab are layout."""


def require_harmless_cells(text: str, delimiter: str) -> None:
    """Check that a table of two rows has no cell that a spreadsheet runs, and no unseen characters."""
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", text)
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    assert len(rows) == 2
    for cell in (cell for row in rows for cell in row if cell not in ("0.5", "-0.5")):
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
