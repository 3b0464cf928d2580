"""How suites, their data and their groups are called in headings and sentences."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass


def plain_group(level: str, value: str) -> str:
    """Return the name of a group as words.

    >>> plain_group("case_order", "NDA"), plain_group("suite", "wh_gap")
    ('NDA', 'wh gap')
    """
    return "all" if level == "all" else value.replace("_", " ")


def with_levels(names: Sequence[str], levels: Sequence[str]) -> list[str]:
    """Return the names of groups; where groups of several levels share one, with the level in front.

    >>> with_levels(["order", "order", "web"], ["all", "source", "source"])
    ['order', 'source: order', 'web']
    """
    levels_of: dict[str, set[str]] = {}
    for name, level in zip(names, levels, strict=True):
        levels_of.setdefault(name, set()).add(level)
    return [
        name if level == "all" or len(levels_of[name]) == 1 else f"{level.replace('_', ' ')}: {name}"
        for name, level in zip(names, levels, strict=True)
    ]


_PLURALS = {"criterion": "criteria", "phenomenon": "phenomena"}
"""Of the levels of groups that do not end in an s."""


def groups_of(level: str) -> str:
    """Return what the groups of a level are called; of all levels together, groups.

    >>> groups_of("case_order"), groups_of("phenomenon"), groups_of("")
    ('case orders', 'phenomena', 'groups')
    """
    return _PLURALS.get(level, f"{level.replace('_', ' ') or 'group'}s")


@dataclass(frozen=True)
class Names:
    """What suites call their data and groups; by default, the names in results.

    Attributes:
        title: names a suite, given the configurations of its data.
        group: names a group of a suite, given its level and value.
        data: names a configuration of a suite, given its name in results.
    """

    title: Callable[[str, Collection[str | None]], str] = lambda suite, _: suite
    group: Callable[[str, str, str], str] = lambda suite, level, value: plain_group(level, value)
    data: Callable[[str, str], str] = lambda _, config: config

    def groups(self, suite: str, levels: Iterable[str], values: Iterable[str]) -> list[str]:
        """Return the names of groups of a suite, no two levels with the same one.

        >>> Names().groups("acceptability", ["phenomenon", "source", "source"], ["order", "order", "web"])
        ['phenomenon: order', 'source: order', 'web']
        """
        levels = list(levels)
        return with_levels([self.group(suite, *group) for group in zip(levels, values, strict=True)], levels)

    def heading(self, suite: str, config: str | None) -> str:
        """Return the title of a suite, with its data where this says more.

        >>> plain_heading("word_order", "word_order"), plain_heading("agreement", "marvin_linzen")
        ('word_order', 'agreement: marvin_linzen')
        """
        title = self.title(suite, [config])
        data = title if config in (None, "all", suite) else self.data(suite, config)
        return title if data == title else f"{title}: {data}"


plain_heading = Names().heading
"""Names data by its suite and configuration, as results do."""
