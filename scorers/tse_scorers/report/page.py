"""The report as one self-contained page: sections and the summary, rendered."""

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from ..io.files import make_folder, printable, unwritable, write_text
from ..io.ours import require_own_page
from .blocks import Block, Chart, Example, Examples, Section, View
from .charts import MANY, heat_tables, save
from .comparable import MARKED, not_comparable
from .heat import html_tables
from .inline_svg import inline
from .inputs import Runs
from .leaderboard import Leaderboard
from .line_styles import colours_of
from .names import Names
from .observations import Answer
from .print_blocks import MOST_PRINTED, breakable, print_blocks
from .systems import are_revisions, shortened
from .table_forms import write_table
from .tables import Table, decimals

OPEN_PARTS = 2
"""Parts of a section that are not folded: its main scores come first."""
_MOST_FOLDED = 3
"""More folded blocks in a row than this are folded together."""
_WIDE = 16
"""A table with more columns than this is folded: the heat tables show its numbers."""


def folded_groups(view: View, n_systems: int) -> list[tuple[bool, list[tuple[Block, bool]]]]:
    """Return the blocks of a view in groups, each block with whether it is folded; long groups are folded as well."""
    shown = view.of()
    marked = [(block, _is_folded(shown, block, n_systems)) for block in shown]
    groups = [
        (folded, list(blocks)) for folded, blocks in groupby(marked, key=lambda marked_block: marked_block[1])
    ]
    return [(folded and len(blocks) > _MOST_FOLDED, blocks) for folded, blocks in groups]


def _is_folded(beside: Sequence[Block], block: Block, n_systems: int) -> bool:
    """Whether a block is shown only when the reader opens it: with many systems, all but a view's first picture."""
    pictures = [shown for shown in beside if isinstance(shown, Chart)]
    if isinstance(block, Table):
        is_repeated = n_systems > MANY and bool(pictures)
        return block.folded or is_repeated or len(block.headings) > _WIDE
    if isinstance(block, Chart):
        return block.folded or len(pictures) > MANY or (n_systems > MANY and block is not pictures[0])
    return False


def summary_of(block: Block) -> str:
    """Return what a reader sees of a folded block: its short caption or its first sentence, after its number."""
    first = getattr(block, "short", "") or re.split(r"(?<=\.) (?=[A-Z])", block.caption)[0]
    number = getattr(block, "number", "")
    return f"{number}. {first}" if number else first


_NAME = 44
"""Characters of a system's name in the page; the whole name is shown on hover and in the signature."""


_SORT = (Path(__file__).parent / "sort.js").read_text(encoding="utf-8")
"""The only script of the page, which may run because its hash is named there: it sorts the leaderboard."""


@dataclass(frozen=True)
class Summary:
    """The first screen of a report.

    Attributes:
        board: the headline numbers.
        answers: what they say of each suite.
        sentences: what they say besides.
        curves: the learning curves, where the runs are a series.
        names: what suites call their data.
    """

    board: Leaderboard
    answers: Sequence[Answer] = ()
    sentences: Sequence[str] = ()
    curves: Section | None = None
    names: Names = field(default_factory=Names)


def write_page(
    out: Path, runs: Runs, sections: Sequence[Section], summary: Summary, latex_intervals: bool = True
) -> Path:
    """Write tables, figures and `report.html`, and return the path of `report.html`.

    Args:
        out: where `report.html`, `figures/*.svg` and the tables (.md, .tex, .csv) go.
        runs: what is reported.
        sections: what the page shows below its summary, in this order; as `Section.in_report` returns them.
        summary: the first screen.
        latex_intervals: show intervals in LaTeX tables.

    Raises:
        ValueError: the report cannot be written.
    """
    try:
        require_own_page(out / "report.html")
        views = [view for section in filter(None, [summary.curves, *sections]) for view in section.views]
        with colours_of(list(summary.board.rows)):
            drawn = {name: svg for view in views for name, svg in _drawn(view, out).items()}
        for view in views:
            for block in view.of():
                for table in (block,) if isinstance(block, Table) else getattr(block, "tables", ()):
                    write_table(table, out, latex_intervals)
        path = out / "report.html"
        write_text(path, _page(runs, sections, drawn, summary))
        return path
    except OSError as error:
        raise unwritable(Path(error.filename or out), error) from error


def _drawn(view: View, out: Path) -> dict[str, str]:
    """Draw the pictures of a view, "" for those that the page shows as tables of coloured cells.

    Of many systems, each with its own picture, only the numbers are shown.
    """
    pictures = [block for block in view.of() if isinstance(block, Chart)]
    if len(pictures) > MANY:
        return {}
    figures, drawn = out / "figures", {chart.name: "" for chart in pictures}
    for chart in pictures:
        if not heat_tables(chart):
            make_folder(figures, out)
            drawn[chart.name] = inline(save(chart, figures), chart.name, chart.alt)
        elif not figures.is_symlink():  # a picture of fewer systems, which the page had before
            (figures / f"{chart.name}.svg").unlink(missing_ok=True)
    return drawn


@cache
def _template() -> Template:
    environment = templates("tse_scorers.report", ".")
    environment.filters |= {
        "kind": lambda block: {Table: "table", Chart: "picture", Examples: "examples"}[type(block)],
        "short": lambda name, width=_NAME: shortened(printable(name), width),
        "breakable": breakable,
        "by_system": _by_system,
        "print_blocks": print_blocks,
        "decimals": decimals,
        "summary": summary_of,
        "heat": lambda chart: html_tables(heat_tables(chart), chart.span, chart.digits),
    }
    return environment.get_template("template.html")


def _page(runs: Runs, sections: Sequence[Section], drawn: dict[str, str], summary: Summary) -> str:
    systems, heading = list(dict.fromkeys(runs.rows["system"])), summary.names.heading
    signatures = [
        {
            "name": run["name"],
            "id": _fingerprint(run["signature"]),
            "signature": folded_lists(run["signature"]),
            "environment": folded_lists(run["environment"]),
        }
        for run in runs.runs
    ]
    return _template().render(
        # Sections may leave out some.
        systems=_names(list(dict.fromkeys([*systems, *summary.board.rows]))) + _of_revisions(runs),
        pictures=any(drawn.values()),
        n_open=OPEN_PARTS,
        most_printed=MOST_PRINTED,
        summary=summary,
        is_sortable=len(summary.board.rows) > 1,
        sort_script=Markup(_SORT),
        sort_hash=f"sha256-{b64encode(hashlib.sha256(_SORT.encode()).digest()).decode()}",
        sections=sections,
        folded_groups=lambda view: folded_groups(view, len(systems)),
        drawn={name: Markup(svg) for name, svg in drawn.items()},
        signatures=signatures,
        partial=list(
            dict.fromkeys(
                line for run in runs.runs for line in not_comparable(run["signature"], heading, MARKED)
            )
        ),
    )


def templates(package: str, folder: str) -> Environment:
    """Return the templates of a folder of a package; texts in them are escaped, and printed as `shown` returns them."""
    return Environment(
        loader=PackageLoader(package, folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=shown,
    )


def shown(value: Any) -> Any:
    """Return a value for a page: in texts, characters that a browser hides or that reorder text become a mark."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _names(systems: Sequence[str]) -> str:
    """Name the systems of a page, or count them; of the revisions of one model, name that."""
    if len(systems) > 1 and are_revisions(systems):
        return f"{systems[0].rpartition('@')[0]}, {len(systems)} checkpoints"
    return ", ".join(systems) if len(systems) <= MANY else f"{len(systems)} models"


def _of_revisions(runs: Runs) -> str:
    """Count all systems where only the learning curves show the earlier revisions of a series."""
    if runs.all_revisions is None:
        return ""
    n = runs.all_revisions["system"].nunique()
    return f" ({n} with earlier revisions, which appear only in the learning curves)"


def _by_system(examples: Sequence[Example]) -> list[tuple[str, list[Example]]]:
    """Put examples of one system together."""
    systems = dict.fromkeys(example.system for example in examples)
    return [(system, [shown for shown in examples if shown.system == system]) for system in systems]


def folded_lists(content: Any) -> str:
    """Write JSON for people: indented, but a list of numbers or words on one line.

    >>> print(folded_lists({"cutoffs": [0.5, 1.0]}))
    {
      "cutoffs": [0.5, 1.0]
    }
    """
    indented = json.dumps(content, indent=2, ensure_ascii=False, sort_keys=True)
    flat = re.compile(r"\[\n\s+([^][{}]*?)\n\s+\]")  # a list without anything nested
    return flat.sub(lambda match: "[" + re.sub(r"\n\s+", " ", match[1]) + "]", indented)


def _fingerprint(signature: Any) -> str:
    """Return a short name for a signature, to be cited next to a number."""
    canonical = json.dumps(signature, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]
