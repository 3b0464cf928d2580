"""The page in a browser: accessible, without a sideways scroll or the network, wide and narrow, light and dark."""

import pytest
from browser import chromium, opened, violations
from run_records import copied

from tse_scorers import Results
from tse_scorers.report.page import write_report


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def pages(results, three_suites, tmp_path_factory):
    """Pages of one, three and eight models in three suites, and of a series, by name."""
    found = {}
    for n in (1, 3, 8):
        folder = tmp_path_factory.mktemp(f"n{n}")
        names = [f"organisation/model-with-a-long-name-{k}" for k in range(n)]
        found[str(n)] = write_report(folder, Results.load(copied(three_suites, folder / "run", names)))
    folder = tmp_path_factory.mktemp("series")
    steps = [f"step{step}" for step in (1, 8, 64, 512)]
    found["series"] = write_report(
        folder, Results.load(copied(results.folders[0], folder / "r", steps, revisions=True))
    )
    return found


@pytest.mark.parametrize(("width", "scheme"), [("wide", "light"), ("narrow", "dark")])
@pytest.mark.parametrize("name", ["1", "3", "8", "series"])
def test_a_page_is_accessible_and_fits(browser, pages, name, width, scheme):
    with opened(browser, pages[name].as_uri(), width, scheme) as page:
        page.evaluate("document.querySelectorAll('details').forEach(of => of.open = true)")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
        assert violations(page) == []
        assert page.evaluate("[...document.images].every(image => image.complete && image.naturalWidth > 0)")
