"""What the README shows works as it is written: its commands exist, take those options, and lead to pages that exist.

Its blocks of code run in `test_docs.py`, with those of the pages.
"""

import re
from pathlib import Path

import pytest
from doc_snippets import blocks, commands
from test_docs import require_known

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    command for block in blocks(README) if block.language == "bash" for command in commands(block.content)
]
COMMANDS += re.findall(r"`(tse [^`]+)`", README)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_its_options(command):
    require_known(command)


def test_the_two_commands_of_a_clone_are_targets_of_the_makefile():
    targets = re.findall(r"^    make (\S+)", README, re.MULTILINE)
    assert targets == ["demo", "test"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


def test_it_shows_first_what_most_readers_need_first():
    """A picture, two commands, a data set to a score, one's own pairs, a Trainer."""
    order = ["docs/assets/overview.svg", "make demo", "load_dataset(", "mine.csv", ").add_to(trainer)"]
    places = [README.index(text) for text in order]
    assert places == sorted(places)
    assert len([block for block in blocks(README) if block.language == "python"]) >= 3


def test_relative_links_lead_to_files():
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", README) if "://" not in link]
    assert len(links) >= 15
    assert [link for link in links if not (ROOT / link).is_file()] == []


def test_it_leads_to_every_tutorial_and_concept():
    """The README names the two lists, and each list has all pages of its folder."""
    for folder in ("tutorials", "concepts"):
        assert f"docs/{folder}/index.md" in README
        listed = (ROOT / "docs" / folder / "index.md").read_text(encoding="utf-8")
        pages = [path.name for path in (ROOT / "docs" / folder).glob("*.md") if path.name != "index.md"]
        assert len(pages) >= 7 and [page for page in pages if f"]({page})" not in listed] == []
