"""Answers of models to HTML; everything is escaped by the templates."""

from functools import cache
from typing import Any

import jinja2

from ..report.page import shown
from ..report.tables import decimals


def notice(text: str, kind: str = "problem") -> str:
    """Return a paragraph that screen readers announce: a `problem`, or a `remark`."""
    return render("notice.html", text=text, kind=kind)


def render(template: str, **values: Any) -> str:
    """Fill a template of `templates/`; strings are escaped."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tse_scorers.explore", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=shown,
    )
    environment.filters["decimals"] = decimals
    return environment
