"""Pages made from the project itself: first page, commands, metrics' cards, contributing, changelog, columns of tables.

They are written at build time, so that they cannot be out of date.
"""

import re
from collections.abc import Iterator
from importlib.metadata import version
from inspect import getdoc
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.main import get_command

from tse_scorers.cli.app import app
from tse_scorers.cli.help import by_panel
from tse_scorers.cli.usage import PANELS
from tse_scorers.io.result_row import ResultRow
from tse_scorers.io.store import ROWS
from tse_scorers.models.options import Described, ModelOptions, described_options
from tse_scorers.suites.registry import built_in_options, find_suite

ROOT = Path(__file__).resolve().parents[2]
_EXAMPLE = re.compile(
    r'^```bash\n(?P<code>.*?)^```$(?P<output>\n+```text title="Output"\n.*?^```$)?', re.MULTILINE | re.DOTALL
)


def on_config(config: MkDocsConfig) -> None:
    """Show the version in the header, the repository in the footer, and the pages of commands in the navigation."""
    config.site_name += f" {version('refined-tse')}"
    if config.repo_url:  # the theme's own link would ask the repository's host for its number of stars
        config.copyright = f'<a href="{config.repo_url}">Repository</a>'
        config.repo_url = config.repo_name = None
    [reference] = (section["Reference"] for section in config.nav or [] if "Reference" in section)
    [commands] = (section["Commands"] for section in reference if "Commands" in section)
    for panel, names in PANELS.items():
        commands.append({panel: [{f"tse {name}": _page_of(name)} for name in names]})


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    pages = {"reference/command-line.md": command_line()}
    pages |= {_page_of(name): command_page(name) for name in get_command(app).commands}
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        pages[name.lower()] = with_links_of_the_site(_read(ROOT / name))
    pages["index.md"] = with_links_of_the_site(_read(ROOT / "README.md"))
    for card in sorted(ROOT.glob("metrics/*/README.md")):
        pages[f"reference/metrics/{card.parent.name}.md"] = _without_front_matter(_read(card))
    for path, content in pages.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put a table in the place of `{{ columns: module.NAME }}`, rows of one in that of `| {{ … }} |`.

    They are the columns of a declared table of scores, the declared options of a model or of suites, the metrics that
    suites declare, and the keys of a row of results.
    """
    header = "| column | type | meaning |\n|---|---|---|\n"
    markdown = re.sub(r"^(\{\{ columns: .*? \}\})$", rf"{header}| \1 |", markdown, flags=re.MULTILINE)
    markdown = re.sub(r"^\| \{\{ columns: ([\w.]+)\.(\w+) \}\} \|$", _columns, markdown, flags=re.MULTILINE)
    markdown = re.sub(r"^\| \{\{ options: (model|suites) \}\} \|$", _options, markdown, flags=re.MULTILINE)
    markdown = re.sub(r"^\| \{\{ rows \}\} \|$", _rows, markdown, flags=re.MULTILINE)
    return re.sub(r"^\| \{\{ metrics \}\} \|$", _metrics, markdown, flags=re.MULTILINE)


def on_page_content(html: str, **_: Any) -> str:
    """Keep the two ends of an interval in a table on one line."""

    def cell(match: re.Match[str]) -> str:
        return re.sub(r"\[([−+<>\d.]+), ([−+<>\d.]+)\]", "[\\1,\N{NO-BREAK SPACE}\\2]", match[0])

    return re.sub(r"<td[^>]*>[^<]*</td>", cell, html)


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


def _metrics(_: re.Match[str]) -> str:
    return "\n".join(
        f"| `{metric.name}` | {suite} | {metric.metadata[b'meaning'].decode()} |"
        for suite in built_in_options()
        for metric in find_suite(suite).declared_columns(ROWS)
    )


def _rows(_: re.Match[str]) -> str:
    about = " ".join((getdoc(ResultRow) or "").partition("Attributes:\n")[2].split("\n        "))
    described = re.findall(r"^ {4}(\w+)(?: \(([\w, ]+)\))?: (.*?)\.?$", about, re.MULTILINE)
    return "\n".join(
        f"| `{name}` | {suites or 'all'} | {meaning} |"
        for name, suites, meaning in described
        if name != "more"
    )


def command_line() -> str:
    """Return the page that lists the commands, in the groups of `tse --help`."""
    commands = get_command(app).commands
    parts = [
        "# Command line",
        "For everybody who uses `tse`. Afterwards you know which command does what. Each page has an example and all "
        "options, in the groups of `--help`. `python -m tse_scorers` is the same program, for launchers such as "
        "`torchrun`.",
    ]
    for panel, names in PANELS.items():
        rows = [f"| [`tse {name}`](commands/{name}.md) | {commands[name].help} |" for name in names]
        parts += [f"## {panel}", "\n".join(["| command | what it does |", "|---|---|", *rows])]
    return "\n\n".join(parts) + "\n"


def command_page(name: str) -> str:
    """Return the page of a command; one section for each command in a group."""
    command = get_command(app).commands[name]
    parts = [f"# tse {name}", str(command.help), *_example(name)]
    if hasattr(command, "commands"):
        for inner, each in command.commands.items():
            parts += [f"## tse {name} {inner}", str(each.help), *_described(f"{name} {inner}", each)]
    else:
        parts += ["## Options", *_described(name, command)]
    return "\n\n".join(parts) + "\n"


def _example(name: str) -> Iterator[str]:
    """Yield a command of the documentation, with its output where one is shown, and where it is from.

    Outputs in the documentation are tested, so they are shown here, too: rather a table, rather of a single command.
    """
    found = [
        (
            not match["output"],
            "──" not in match[0],
            match["code"].count("\n"),
            str(page.relative_to(ROOT)),
            match[0],
        )
        for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
        for match in _EXAMPLE.finditer(_read(page))
        if re.search(rf"^tse {name}\b", match["code"], re.MULTILINE)
    ]
    if found:
        without_output, *_, path, block = min(
            found, key=lambda example: example[:3]
        )  # the first of equal ones
        if without_output:  # only its own line of a list of commands
            lines = re.findall(rf"^tse {name}\b.*$", block, re.MULTILINE)
            block = "\n".join(["```bash", *lines, "```"])
        title = _read(ROOT / path).partition("\n")[0].removeprefix("# ")
        page = "index.md" if path == "README.md" else path.removeprefix("docs/")
        yield f"## Example\n\n{block}\n\nFrom [{title}](../../{page})."


def _page_of(name: str) -> str:
    return f"reference/commands/{name}.md"


def _described(name: str, command: Any) -> Iterator[str]:
    yield f"```text\ntse {name} {_usage(command)}\n```"
    for panel, parameters in by_panel([p for p in command.params if p.name != "help"]).items():
        rows = [f"| {_names(p)} | {_told(p)} |" for p in parameters]
        yield "\n".join([f"| {panel} | what it does |", "|---|---|", *rows])


def _usage(command: Any) -> str:
    words = [_argument(p) for p in command.params if p.param_type_name == "argument"]
    words += [f"{p.opts[0]} …" for p in command.params if p.param_type_name == "option" and p.required]
    return " ".join([*words, "[options]"])


def _argument(parameter: Any) -> str:
    name = f"{str(parameter.name).upper()}{'…' if parameter.nargs == -1 else ''}"
    return name if parameter.required else f"[{name}]"


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


def with_links_of_the_site(text: str) -> str:
    """Point links into docs/ to the site's pages; after the text of a link to another file stands where it is."""

    def link(match: re.Match[str]) -> str:
        path = match["path"].removeprefix("./")
        if path.startswith("docs/") or path in ("CONTRIBUTING.md", "CHANGELOG.md"):
            return f"[{match['text']}]({path.removeprefix('docs/') if '/' in path else path.lower()})"
        return f"{match['text']} (`{path}`)"

    return re.sub(r"\[(?P<text>[^\]]+)\]\((?!\w+:|#)(?P<path>[^)]+)\)", link, text)


def _without_front_matter(card: str) -> str:
    return re.sub(r"\A---\n.*?\n---\n", "", card, flags=re.DOTALL)
