"""The printed report: its own size, nothing clipped, and a word about what is left out."""

import re
import zlib

import pandas as pd
import pytest
from browser import chromium
from many_models import base_scores, write_many

from tse_scorers.report.print_blocks import MOST_PRINTED, naming_columns, print_blocks
from tse_scorers.report.tables import Table, formatted, score
from tse_scorers.runs.report import write_report

PAGE = 703
"""CSS pixels across a page of A4 within margins of 12 mm."""
WIDER = """() => [...document.querySelectorAll("body *")]
  .filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map(e => `${e.tagName} ${e.textContent.slice(0, 60)}`)"""
UNSCALED = 300 / 96
"""How Chromium's PDF scales CSS pixels where it does not shrink the page."""


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """Real scores of a tiny model in all three suites."""
    return base_scores(tmp_path_factory.mktemp("base"))


@pytest.mark.browser
@pytest.mark.parametrize(("n", "most_pages"), [(1, 30), (24, 120)])
@pytest.mark.slow
def test_a_report_is_printed_at_its_own_size_on_so_many_pages(base, tmp_path, n, most_pages):
    """One element that is wider than the page made Chromium shrink all pages; 24 models took 176 of them."""
    written = write_report(write_many(base, tmp_path / "run", n))
    with chromium() as browser:
        page = browser.new_page(viewport={"width": PAGE, "height": 1000}, color_scheme="dark")
        page.set_default_timeout(300_000)
        page.emulate_media(media="print")
        page.goto(written.as_uri())
        assert page.evaluate(WIDER) == []
        background = "getComputedStyle(document.body).backgroundColor"
        assert page.evaluate(background) == "rgb(255, 255, 255)"
        pdf = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type /Page\b", pdf)) <= most_pages
    assert _scale(pdf) == pytest.approx(UNSCALED, abs=1e-3)
    left_out = re.findall(r"Not printed, because it has (\d+) rows", written.read_text(encoding="utf-8"))
    assert bool(left_out) == (n > 8) and all(int(rows) > MOST_PRINTED for rows in left_out)


def _scale(pdf):
    """By how much the first page with text scales CSS pixels, in its second matrix."""
    for found in re.finditer(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL):
        try:
            content = zlib.decompress(found[1])
        except zlib.error:
            continue
        matrices = re.findall(rb"([\d.]+) 0 0 [-\d.]+ [-\d.]+ [-\d.]+ cm", content)
        if b"BT" in content and len(matrices) > 1:
            return float(matrices[1])
    raise AssertionError("the PDF has no page with text")


def test_every_block_repeats_what_tells_rows_apart():
    """The second part of a comparison's table had measures and no systems."""
    columns = ["system", *(f"a heading {place}" for place in range(30))]
    text = pd.DataFrame([[name, *["0.50"] * 30] for name in "ab"], index=["TSE", "TSE"], columns=columns)
    table = Table("Differences.", text, text)
    blocks = print_blocks(table)
    assert naming_columns(table) == 1 and len(blocks) > 1
    assert all(list(block.text["system"]) == ["a", "b"] for block in blocks)
    shown = [column for block in blocks for column in block.text.columns if column != "system"]
    assert shown == columns[1:]


def test_long_names_of_columns_do_not_take_a_page_each():
    names = [f"an-organisation/a-model-with-a-long-name-{place}" for place in range(8)]
    values = pd.DataFrame(0.5, index=["a"], columns=names)
    assert len(print_blocks(Table("Scores.", values, formatted(values, score)))) == 1
