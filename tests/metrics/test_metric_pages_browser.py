"""The metrics' pages in a real browser: the example, in a wide and in a narrow window."""

import importlib.util
from pathlib import Path

import pytest
from browser import chromium, opened, sideways

METRICS = Path(__file__).resolve().parents[2] / "metrics"
pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:gradio", "ignore::UserWarning:gradio"),
]

# What the page says of its first example; the values are worked out in the metrics' own tests and cards.
SAYS = {
    "human_correlation": "6 items, 0 excluded",
    "minimal_pair_accuracy": "Accuracy 0.50 over 6 pairs; 1 ties",
    "minimal_variation_auc": "0.66 [0.45, 0.87] (1-6) over 144 sets of 4 templates; 84 ties",
    "refined_tse": "MW 0.70",
}


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(
            name, marks=[] if name in ("minimal_variation_auc", "refined_tse") else [pytest.mark.slow]
        )
        for name in sorted(SAYS)
    ],
)
def served(request):
    """A metric's page: (its name, its address)."""
    pytest.importorskip("gradio", reason="needs gradio (pip install 'refined-tse[test]')")
    path = METRICS / request.param / "app.py"
    spec = importlib.util.spec_from_file_location(f"page_of_{request.param}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    _, address, _ = module.demo.launch(prevent_thread_lock=True, quiet=True, ssr_mode=False)
    yield request.param, address
    module.demo.close()


def test_every_metric_has_a_page():
    assert {path.parent.name for path in METRICS.glob("*/app.py")} == set(SAYS)


@pytest.mark.parametrize("width", [pytest.param("wide", marks=pytest.mark.slow), "narrow"])
def test_the_example_is_there_and_is_answered(browser, served, width):
    """As the page opens, it was empty until somebody pressed Submit."""
    name, address = served
    with opened(browser, address, width) as page:
        submit = page.get_by_role("button", name="Submit")
        submit.wait_for()
        if width == "narrow":  # cleared, then filled by a click on the example
            page.get_by_role("button", name="Clear").click()
            page.locator(".gallery button.gallery-item, .gallery-item, tr.tr-body").first.click()
            page.wait_for_timeout(1000)
            submit.click()
        page.get_by_text(SAYS[name].split(" ")[0]).first.wait_for()
        page.wait_for_function("text => document.body.innerText.includes(text)", arg=SAYS[name])
        assert sideways(page) <= 0
        assert not page.get_by_test_id("toast-body").count()
