"""The explorer with names that are code: no dialog opens, no handler is there, and the page says them as text."""

import pytest
import synthetic_runs as made

pytest.importorskip("starlette", reason="needs starlette (pip install 'refined-tse[explore]')")

from browser import chromium
from hostile import HOSTILE

from tse_scorers.explore.server import app, launch

pytestmark = pytest.mark.browser
TABS = ("Agreement", "German", "Curves", "Sentences", "Runs")
NAMES = [
    HOSTILE[key] for key in ("script", "image", "svg", "style", "template", "link", "rtl", "NUL", "long")
]


def test_no_name_runs_in_the_browser(tmp_path):
    rows = [row for name in NAMES for row in made.agreement_rows(name)] + made.german_rows(HOSTILE["script"])
    rows += [row | {"group": name} for name in NAMES for row in made.agreement_rows("org/model")[:1]]
    run = made.write_run(tmp_path / HOSTILE["image"].replace("/", "_"), rows, {})
    (tmp_path / "<img src=x onerror=alert(2)>").mkdir()
    page = app([run, tmp_path / "<img src=x onerror=alert(2)>"], [HOSTILE["image"]])
    served = launch(page)
    try:
        with chromium() as browser:
            shown = browser.new_context().new_page()
            dialogs: list[str] = []
            shown.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
            shown.goto(served.address)
            for tab in TABS:
                name = shown.get_by_role("tab", name=tab, exact=True)
                name.wait_for()
                name.click()
                shown.wait_for_timeout(500)
            injected = "() => [...document.querySelectorAll('[onerror], [onload], img[src=x]')].length"
            text = shown.locator("body").inner_text()
            assert not dialogs and shown.evaluate(injected) == 0
            assert "\u202e" not in text and "does not contain results" in text
    finally:
        served.close()
