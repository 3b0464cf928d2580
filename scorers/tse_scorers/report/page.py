"""The report as one self-contained page: sections and the summary, rendered."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ..io.files import printable, unwritable, write_text
from ..io.ours import require_own_page
from .inputs import Runs, partial_runs
from .plots import Picture, inline, save
from .section import Examples, Section
from .tables import MISSING, Table, write_table


def write_page(out: Path, runs: Runs, sections: Sequence[Section], summary: pd.DataFrame) -> Path:
    """Write tables, figures and `report.html`, and return the path of `report.html`.

    Args:
        out: where `report.html`, `figures/*.svg|png` and the tables (.md, .tex, .csv) go.
        runs: what is reported.
        sections: what the page shows, in this order.
        summary: as `summary.headlines` returns it.

    Raises:
        ValueError: the report cannot be written.
    """
    try:
        return _write(out, runs, sections, summary)
    except OSError as error:
        raise unwritable(Path(error.filename or out), error) from error


def _write(out: Path, runs: Runs, sections: Sequence[Section], summary: pd.DataFrame) -> Path:
    require_own_page(out / "report.html")
    figures = out / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    drawn = {}
    for section in sections:
        for part in section.parts:
            for block in part.blocks:
                if isinstance(block, Picture):
                    drawn[block.name] = Markup(inline(save(block, figures), block.name, block.alt))
                for table in (block,) if isinstance(block, Table) else getattr(block, "tables", ()):
                    write_table(table, out)
    path = out / "report.html"
    write_text(path, _page(runs, sections, drawn, summary))
    return path


def _page(runs: Runs, sections: Sequence[Section], drawn: dict[str, Markup], summary: pd.DataFrame) -> str:
    environment = Environment(
        loader=PackageLoader("tse_scorers.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=shown,
    )
    environment.filters["kind"] = _kind
    signatures = [
        {
            "name": run["name"],
            "id": _fingerprint(run["signature"]),
            "signature": _pretty(run["signature"]),
            "environment": _pretty(run["environment"]),
        }
        for run in runs.runs
    ]
    return environment.get_template("template.html").render(
        systems=list(dict.fromkeys(runs.rows["system"])),
        summaries=list(_summaries(summary)),
        sections=sections,
        drawn=drawn,
        signatures=signatures,
        partial=list(dict.fromkeys(line for run in runs.runs for line in partial_runs(run["signature"]))),
    )


def shown(value: Any) -> Any:
    """Return a value for a page: in texts, characters that a browser hides or that reorder text become a mark."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _summaries(lines: pd.DataFrame) -> Iterator[Table]:
    """Yield one table per suite, models down and measures across."""
    for suite, part in lines.groupby("suite", sort=False):
        once = part.drop_duplicates(["system", "measure"], keep="last")
        wide = {
            what: once.pivot(index="system", columns="measure", values=what) for what in ("score", "text")
        }
        for what, frame in wide.items():
            wide[what] = frame.reindex(index=pd.unique(once["system"]), columns=pd.unique(once["measure"]))
            wide[what].index.name = "Model"
        yield Table(str(suite), wide["score"], wide["text"].fillna(MISSING))


def _kind(block: Any) -> str:
    return {Table: "table", Picture: "picture", Examples: "examples"}[type(block)]


def _pretty(content: Any) -> str:
    """Write JSON for people: indented, but a list of numbers or words on one line.

    >>> print(_pretty({"cutoffs": [0.5, 1.0]}))
    {
      "cutoffs": [0.5, 1.0]
    }
    """
    indented = json.dumps(content, indent=2, ensure_ascii=False, sort_keys=True)
    flat = re.compile(r"\[\n\s+([^][{}]*?)\n\s+\]")  # a list without anything nested
    return flat.sub(lambda found: "[" + re.sub(r"\n\s+", " ", found[1]) + "]", indented)


def _fingerprint(signature: Any) -> str:
    """Return a short name for a signature, to be cited next to a number."""
    canonical = json.dumps(signature, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]
