"""The version of a release stands once; what repeats it says the same."""

import re
from pathlib import Path

import pytest
import yaml
from command_line import tse

import tse_scorers
from tse_scorers.io.store import Record

ROOT = Path(__file__).resolve().parents[2]
VERSION = tse_scorers.__version__
PAGES = [
    ROOT / "README.md",
    ROOT / "SECURITY.md",
    ROOT / "RELEASING.md",
    *ROOT.glob("docs/**/*.md"),
    *ROOT.glob("[dm]*s/*/README.md"),
]


def test_the_package_says_its_version(tmp_path):
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)
    assert f"(refined-tse) {VERSION}" in tse("--version")[1]
    assert Record(tmp_path, {}, {}).environment["refined-tse"] == VERSION


def test_the_build_reads_it():
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '[tool.hatch.version]\npath = "scorers/tse_scorers/__init__.py"' in settings
    assert not re.search(r"^version\s*=", settings, re.MULTILINE)


def test_citation_and_changelog_are_of_it():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == VERSION
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)", changelog, re.MULTILINE)[0] in (VERSION, "Unreleased")
    assert f"\n## {VERSION}\n" in changelog


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_and_cards_name_no_other_version(page):
    found = re.findall(r"refined[-_]tse[ =-]+v?(\d+\.\d+\.\d+)|\bv(\d+\.\d+\.\d+)\b", page.read_text("utf-8"))
    assert {one or other for one, other in found} <= {VERSION}


def test_the_citation_has_what_the_format_requires():
    """https://github.com/citation-file-format: Zenodo and GitHub read these keys."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "title", "message", "authors", "license", "version"} <= set(citation)
    for reference in citation["references"]:
        assert {"type", "title", "authors", "year"} <= set(reference)
