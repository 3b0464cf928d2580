"""Pages of the site that stand elsewhere in the repository: README, contributing, changelog, cards of metrics."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages."""
    pages = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
    for path, page in pages.items():
        content = with_links_of_the_site((ROOT / path).read_text(encoding="utf-8"))
        files.append(File.generated(config, page, content=content))
    for card in sorted(ROOT.glob("metrics/*/README.md")):
        content = re.sub(r"\A---\n.*?\n---\n", "", card.read_text(encoding="utf-8"), flags=re.DOTALL)
        files.append(File.generated(config, f"reference/metrics/{card.parent.name}.md", content=content))
    return files


def with_links_of_the_site(text: str) -> str:
    """Point links into docs/ to the site's pages; after the text of a link to another file stands where it is."""

    def link(match: re.Match[str]) -> str:
        path = match["path"].removeprefix("./")
        if path.startswith("docs/") or path in ("CONTRIBUTING.md", "CHANGELOG.md"):
            return f"[{match['text']}]({path.removeprefix('docs/') if '/' in path else path.lower()})"
        return f"{match['text']} (`{path}`)"

    return re.sub(r"\[(?P<text>[^\]]+)\]\((?!\w+:|#)(?P<path>[^)]+)\)", link, text)
