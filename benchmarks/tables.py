"""Results as tables for people."""

import sys
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table

SYSTEMS = ("ours", "minicons", "lm-eval", "literal loop", "ranked once")


def show(results: dict[str, Any], console: Console | None = None) -> None:
    """Print all comparisons in three tables, then whatever else benchmarks returned, each in its own."""
    console = console or Console(width=None if sys.stdout.isatty() else 150)
    seconds = Table("benchmark", *SYSTEMS, title="seconds (times ours); ~ from a sample")
    shares = Table(
        "benchmark", "matmul GFLOP/s", "ours", "forward pass", "all but it", "ratios at that rate", "GB before",
        "GB above",
        title="share of the matmul rate, time of all but the forward pass over its own, what the ratios would be "
        "if all our time were products at that rate, peak memory",
    )  # fmt: skip
    kinds = Table("benchmark", "where our time goes", title="shares of our time by kind of operation")
    others: list[Table] = []
    for name, result in results.items():
        if _is_comparison(result):
            seconds.add_row(name, *_seconds(result))
            shares.add_row(name, *_shares(result))
            kinds.add_row(
                name, ", ".join(f"{kind} {part:.1%}" for kind, part in result["time_by_kind"].items())
            )
        rows = {key: value for key, value in result.items() if _is_rows(value)}
        others += [_of_rows(f"{name}: {key}", value) for key, value in rows.items()]
        if not rows and not _is_comparison(result):
            others.append(_of_values(name, result))
    for table in [seconds, shares, kinds, *others] if seconds.row_count else others:
        console.print(table)


def markdown(results: dict[str, Any]) -> str:
    """Return results as Markdown: one table of all comparisons, then a list of whatever else was returned."""
    head = ("work", "ours, s", "minicons", "lm-eval", "share of the matmul rate", "forward pass alone", "all but it",
            "GB above the model", "where the time goes")  # fmt: skip
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name, result in results.items():
        if _is_comparison(result):
            lines.append("| " + " | ".join([name, *_cells(result)]) + " |")
    for name, result in results.items():
        if not _is_comparison(result):
            lines += ["", f"**{name}**", *_items(result)]
    return "\n".join(lines) + "\n"


def _cells(result: dict[str, Any]) -> Iterator[str]:
    sampled = "~" if "peers_extrapolated_from" in result else ""
    ratios = result["ratio"]
    yield text(result["seconds"]["ours"])
    for peer in ("minicons", "lm-eval"):
        yield f"{sampled}{text(ratios[peer])} x" if peer in ratios else "–"
    yield f"{result['share_of_matmul_rate']:.0%} of {text(result['matmul_gflops'])} GFLOP/s"
    yield f"{result['forward_share_of_matmul_rate']:.0%}"
    yield f"{result['all_but_forward']:.1%}"
    yield text(result.get("gb_above"))
    yield ", ".join(f"{kind} {part:.0%}" for kind, part in result["time_by_kind"].items())


def _items(result: dict[str, Any]) -> Iterator[str]:
    for name, value in result.items():
        rows = value if _is_rows(value) else [value]
        for row in rows:
            told = (
                ", ".join(f"{k}: {text(v)}" for k, v in row.items()) if isinstance(row, dict) else text(row)
            )
            yield f"- {name}: {told}"


def _is_comparison(result: Any) -> bool:
    return isinstance(result, dict) and isinstance(result.get("seconds"), dict)


def _seconds(result: dict[str, Any]) -> Iterator[str]:
    sampled = "~" if "peers_extrapolated_from" in result else ""
    for system in SYSTEMS:
        took, ratio = result["seconds"].get(system), result["ratio"].get(system)
        yield text(took) if ratio is None else f"{sampled}{text(took)} ({text(ratio)} x)"


def _shares(result: dict[str, Any]) -> Iterator[str]:
    yield text(result["matmul_gflops"])
    yield f"{result['share_of_matmul_rate']:.0%}"
    yield f"{result['forward_share_of_matmul_rate']:.0%}"
    yield f"{result['all_but_forward']:.1%}"
    yield ", ".join(f"{text(ratio)} x" for ratio in result["ratio_at_matmul_rate"].values()) or text(None)
    yield from (text(result[name]) for name in ("gb_before", "gb_above"))


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _of_rows(title: str, rows: list[dict[str, Any]]) -> Table:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    table = Table(*columns, title=title)
    for row in rows:
        table.add_row(*(text(row.get(column)) for column in columns))
    return table


def _of_values(title: str, result: dict[str, Any]) -> Table:
    table = Table("what", "value", title=title)
    for name, value in result.items():
        table.add_row(
            name,
            ", ".join(f"{k}: {text(v)}" for k, v in value.items())
            if isinstance(value, dict)
            else text(value),
        )
    return table


def text(value: Any) -> str:
    """Return a value for people.

    >>> text(0.012345), text(1234567), text(12.345), text(None)
    ('0.0123', '1,234,567', '12.3', '–')
    """
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
