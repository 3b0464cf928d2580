"""What is made from the project itself: command line, metrics' cards, contributing, changelog, columns of tables.

They are written at build time, so that they cannot be out of date.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.main import get_command

from tse_scorers.cli.app import app
from tse_scorers.models.options import Described, ModelOptions, described_options
from tse_scorers.suites.registry import built_in_options

ROOT = Path(__file__).resolve().parents[2]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    pages = {"reference/command-line.md": command_line()}
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        pages[name.lower()] = _with_links_of_the_site(_read(ROOT / name))
    for card in sorted(ROOT.glob("metrics/*/README.md")):
        pages[f"reference/metrics/{card.parent.name}.md"] = _without_front_matter(_read(card))
    for path, content in pages.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put rows in the place of `| {{ columns: module.NAME }} |` and `| {{ options: model }} |`.

    They are the columns of a declared table of scores, and the declared options of a model or of suites.
    """
    markdown = re.sub(r"^\| \{\{ columns: ([\w.]+)\.(\w+) \}\} \|$", _columns, markdown, flags=re.MULTILINE)
    return re.sub(r"^\| \{\{ options: (model|suites) \}\} \|$", _options, markdown, flags=re.MULTILINE)


def _options(match: re.Match[str]) -> str:
    declared = built_in_options() if match[1] == "suites" else {"": ModelOptions}
    owners: dict[str, list[str]] = {}
    texts: dict[str, Described] = {}
    for owner, options in declared.items():
        for name, described in described_options(options).items():
            owners.setdefault(name, []).append(owner)
            texts[name] = described
    return "\n".join(
        " | ".join(
            ["", f"`{name}`", *filter(None, [", ".join(owners[name])])]
            + [part.replace("|", "\\|") for part in (text.text, text.without, text.because)]
            + [""]
        ).strip()
        for name, text in texts.items()
    )


def _columns(match: re.Match[str]) -> str:
    schema = resolve_name(f"{match[1]}:{match[2]}")
    kinds = (re.sub(r"list<\w+: (\w+)>", r"list of \1", str(field.type)) for field in schema)
    meanings = (field.metadata[b"meaning"].decode() for field in schema)
    return "\n".join(
        f"| `{name}` | {kind} | {meaning} |"
        for name, kind, meaning in zip(schema.names, kinds, meanings, strict=True)
    )


def command_line() -> str:
    """Return the page on the command line, one section per command."""
    group = get_command(app)
    parts = [
        "# Command line",
        "Every command prints this text with `--help`. `python -m tse_scorers` is the same program as `tse`, for "
        "launchers such as `torchrun`.",
    ]
    for name, command in _commands(group):
        parts += [f"## tse {name}", str(command.help), f"```text\ntse {name} {_usage(command)}\n```"]
        parts += list(_parameters(command))
    return "\n\n".join(parts) + "\n"


def _commands(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each command with its whole name; of a group, the commands in it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def _usage(command: Any) -> str:
    words = [_argument(p) for p in command.params if p.param_type_name == "argument"]
    words += [f"{p.opts[0]} …" for p in command.params if p.param_type_name == "option" and p.required]
    return " ".join([*words, "[options]"])


def _argument(parameter: Any) -> str:
    name = f"{str(parameter.name).upper()}{'…' if parameter.nargs == -1 else ''}"
    return name if parameter.required else f"[{name}]"


def _parameters(command: Any) -> Iterator[str]:
    for kind, heading in (("argument", "Argument"), ("option", "Option")):
        found = [p for p in command.params if p.param_type_name == kind and p.name != "help"]
        if found:
            rows = [f"| {_names(p)} | {_told(p)} |" for p in found]
            yield "\n".join([f"| {heading} | |", "|---|---|", *rows])


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{_argument(parameter)}`"
    return ", ".join(f"`{name}`" for name in parameter.opts)


def _told(parameter: Any) -> str:
    help_text = (parameter.help or "").replace("|", "\\|")
    default = parameter.default
    hidden = default in (None, False, ()) or callable(default) or not getattr(parameter, "show_default", True)
    shown = "" if hidden else f" Default: `{default}`."
    needed = " Required." if parameter.required and parameter.param_type_name == "option" else ""
    return re.sub(r"(?<!\w)\*|\*(?!\w)", r"\\*", help_text) + shown + needed


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _with_links_of_the_site(text: str) -> str:
    """Point links into docs/ to the site's pages; links to other files of the repository become their text."""

    def link(match: re.Match[str]) -> str:
        path = match["path"].removeprefix("./")
        if path.startswith("docs/") or path in ("CONTRIBUTING.md", "CHANGELOG.md"):
            return f"[{match['text']}]({path.removeprefix('docs/') if '/' in path else path.lower()})"
        return match["text"]

    return re.sub(r"\[(?P<text>[^\]]+)\]\((?!\w+:|#)(?P<path>[^)]+)\)", link, text)


def _without_front_matter(card: str) -> str:
    return re.sub(r"\A---\n.*?\n---\n", "", card, flags=re.DOTALL)
