"""What a report is made of: sections of explained tables, pictures and examples."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from .plots import Picture
from .tables import Table


@dataclass(frozen=True)
class Form:
    """One of the most probable forms at a gap."""

    form: str
    probability: float
    status: Literal["correct", "incorrect", "other"]


@dataclass(frozen=True)
class Example:
    """A context with its gap and the forms that a model finds most probable there."""

    system: str
    kind: str
    prefix: str
    suffix: str
    forms: Sequence[Form]


@dataclass(frozen=True)
class Examples:
    """A sample of contexts, shown as cards."""

    caption: str
    items: Sequence[Example]


@dataclass(frozen=True)
class Pair:
    """An item with two texts, of which a model prefers one.

    Attributes:
        good: the right one.
        bad: the wrong one.
        wrong_for: a model that prefers the wrong one; "" where the first model does not.
    """

    good: str
    bad: str
    wrong_for: str = ""


@dataclass(frozen=True)
class Part:
    """A headed piece of a section: a few sentences, then tables, pictures or examples."""

    title: str
    text: str
    blocks: Sequence[Table | Picture | Examples]


@dataclass(frozen=True)
class Section:
    """One suite's part of the report.

    Attributes:
        name: anchor.
        title: heading.
        lead: what is tested, for somebody who has never heard of it.
        terms: the measures and what they mean.
        parts: the content.
        source: the paper that the analyses follow.
        over: items, units and exclusions of the overall scores, in a sentence for measures that are alike.
        question: what is asked of a model, in a sentence; first on the page.
        example: an item that was scored.
    """

    name: str
    title: str
    lead: str
    terms: dict[str, str]
    parts: Sequence[Part]
    source: str = ""
    over: Sequence[str] = ()
    question: str = ""
    example: Pair | None = None

    def with_notice(self, notice: str, systems: Sequence[str]) -> "Section":
        """Return the section with what its tables and pictures need in files, which are read without the page.

        Args:
            notice: which models were run on a part of the data or on own data.
            systems: all that are shown.
        """
        return replace(
            self,
            parts=[
                replace(part, blocks=[_with_notice(block, notice, systems) for block in part.blocks])
                for part in self.parts
            ],
        )

    def with_tables_only(self) -> "Section":
        """Return the section with the folded tables of its pictures in place of these, which take long to draw."""
        return replace(
            self,
            parts=[
                replace(part, blocks=[shown for block in part.blocks for shown in _without_picture(block)])
                for part in self.parts
            ],
        )


def _with_notice(
    block: Table | Picture | Examples, notice: str, systems: Sequence[str]
) -> Table | Picture | Examples:
    def told(table: Table) -> Table:
        return replace(table, notice=notice, systems=systems)

    if isinstance(block, Picture):
        return replace(block, notice=notice, tables=list(map(told, block.tables)))
    return told(block) if isinstance(block, Table) else block


def _without_picture(block: Table | Picture | Examples) -> Sequence[Table | Picture | Examples]:
    if isinstance(block, Picture):
        return [replace(table, folded=True) for table in block.tables]
    return (block,)
