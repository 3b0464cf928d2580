"""The explorer in a real browser: read, sort, pick, type, compare, and what is said of bad input."""

import pytest
import synthetic_runs as made

pytest.importorskip("gradio", reason="needs gradio (pip install 'refined-tse[explore]')")

from browser import chromium, opened, sideways

from tse_scorers import evaluate
from tse_scorers.explore.app import app
from tse_scorers.explore.serve import launch

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

MODELS = ["tiny-causal", "tiny-masked", "./not-there"]
TABS = ("Agreement", "BLiMP", "German", "Curves", "People", "Sentences", "Runs")


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def address(tmp_path_factory, browser):
    """The page of a real run of a bundled model, a made-up run of another, and a folder without results."""
    folder = tmp_path_factory.mktemp("explored")
    evaluate("tiny-causal", suite="agreement", out=folder / "real", limit=2)
    rows = (
        made.agreement_rows("org/made-up") + made.blimp_rows("org/made-up") + made.german_rows("org/made-up")
    )
    made.write_run(folder / "synthetic", rows, {})
    page = app([folder / "real", folder / "synthetic", folder / "missing"], MODELS)
    yield launch(page)
    page.close()


def go_to(page, tab):
    """Open a tab; in a narrow window most are behind the button with the dots."""
    page.get_by_role("tab").first.wait_for()
    name = page.get_by_role("tab", name=tab, exact=True)
    if name.is_visible():
        name.click()
    else:
        page.locator(".overflow-menu > button").click()
        page.locator(".overflow-dropdown button", has_text=tab).click()


def column(page, number):
    return page.locator(
        f"table.tse-table >> visible=true >> nth=0 >> tbody tr > :nth-child({number})"
    ).evaluate_all("cells => cells.map(cell => cell.dataset.order)")


def choose(page, label, option):
    box = page.get_by_label(label, exact=True)
    box.click()
    page.locator(f"#{box.get_attribute('aria-controls')}").get_by_role(
        "option", name=option, exact=True
    ).click()


@pytest.mark.parametrize(("width", "scheme"), [("wide", "light"), ("narrow", "light"), ("narrow", "dark")])
def test_every_tab_fits_its_window(browser, address, width, scheme):
    with opened(browser, address, width, scheme) as page:
        for tab in TABS:
            go_to(page, tab)
            panel = page.get_by_role("tabpanel").locator("visible=true")
            inside = {"Curves": "svg", "People": "svg", "Sentences": "button", "Runs": "summary"}
            panel.locator(inside.get(tab, "table")).first.wait_for()
            assert sideways(page) <= 0, tab
        colour = page.evaluate(
            "getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).map(Number)"
        )
        assert (sum(colour[:3]) < 150) == (scheme == "dark")


def test_a_folder_without_results_is_named_on_the_page(browser, address):
    with opened(browser, address) as page:
        alert = page.get_by_role("alert")
        assert "missing holds no results.json" in alert.inner_text()


def test_tables_are_sorted_by_any_heading_without_a_mouse(browser, address):
    with opened(browser, address) as page:
        heading = page.get_by_role("columnheader", name="tiny-causal")
        heading.wait_for()
        before = column(page, 2)
        heading.get_by_role("button").focus()
        for pressed, expected in (("Enter", "descending"), ("Space", "ascending"), ("Enter", "none")):
            page.keyboard.press(pressed)
            assert heading.get_attribute("aria-sort") == expected
            assert column(page, 1)[-1] == "All of Marvin & Linzen"  # the total, wherever it would be sorted
            *in_order, _ = column(page, 2)
            numbers = [float(order) for order in in_order if order]
            if expected == "none":
                assert column(page, 2) == before
            else:
                assert numbers == sorted(numbers, reverse=expected == "descending")
                assert in_order[: len(numbers)] == [order for order in in_order if order]
        page.get_by_role("columnheader", name="Templates").get_by_role("button").press("Enter")
        *rows, total = column(page, 1)
        assert rows == sorted(rows) and total == "All of Marvin & Linzen" < rows[-1]


def test_tables_follow_their_controls(browser, address):
    with opened(browser, address) as page:
        page.get_by_role("radio", name="TSE, the template's own verb").check()
        page.get_by_text("TSE by construction, 0 to 1.").wait_for()
        assert "pairs · 0 excluded" in page.locator("table.tse-table").first.inner_text()
        page.get_by_role("radio", name="MW, likely behaviour").check()
        choose(page, "EW and MW of the verbs within", "most probable 90 %")
        page.get_by_text("MW by construction, 0 to 1; verbs within the most probable 90 %.").wait_for()
        go_to(page, "BLiMP")
        page.get_by_role("radio", name="field").check()
        page.get_by_text("BLiMP accuracy in % by field.").wait_for()


def test_a_sentence_is_typed_and_compared_by_keyboard_alone(browser, address):
    with opened(browser, address) as page:
        page.get_by_role("tab", name="Agreement").focus()
        for _ in range(80):  # Tab reaches the tab, whatever lies before it
            if page.evaluate("document.activeElement.innerText.trim()") == "Sentences":
                break
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.get_by_label("Sentence with a gap").wait_for()
        for _ in range(20):
            if page.evaluate("document.activeElement.closest('label')?.innerText.startsWith('Sentence')"):
                break
            page.keyboard.press("Tab")
        page.keyboard.press("Control+A")
        page.keyboard.type("The author near the guards ___ tall.")
        page.keyboard.press("Tab")  # to the subject's number
        page.keyboard.press("Space")
        assert page.get_by_role("radio", name="singular").is_checked()
        for _ in range(2):  # past `plural`
            page.keyboard.press("Tab")
        page.keyboard.type("are")
        page.keyboard.press("Enter")
        cards = page.get_by_role("article")
        cards.nth(1).wait_for()
        for card in cards.all():
            text = card.inner_text()
            assert "The author near the guards ___ tall." in text and "P(is)" in text
            assert (
                card.get_by_role("img", name="correct", exact=True).count() and "✓" in text and "EW" in text
            )


def test_two_models_are_compared_on_a_picked_context(browser, address):
    with opened(browser, address) as page:
        go_to(page, "Sentences")
        page.get_by_role("button", name="Pick a sentence").click()
        choose(page, "Order", "lowest EW first")
        page.wait_for_timeout(1000)  # for the contexts in their new order
        context = page.get_by_label("Context (2 of 2 are offered)")
        context.click()
        first = page.locator(f"#{context.get_attribute('aria-controls')}").get_by_role("option").first
        label = first.inner_text().strip()
        first.click()
        cards = page.get_by_role("article")
        cards.nth(1).wait_for()
        sentence, ew, mw = label.split(" · ")
        text = cards.first.inner_text()
        assert page.get_by_label("Sentence with a gap").input_value() == sentence.removeprefix("✓").strip()
        for score in (ew, mw):  # what is computed now is what the run says
            assert f"{score[:2]}\n{score[3:]} of" in text
        headings = [card.get_by_role("heading").inner_text() for card in cards.all()]
        assert headings == ["tiny-causal", "tiny-masked"]
        page.get_by_role("radio", name="all words").check()
        page.get_by_role("button", name="Compare").click()
        cards.first.get_by_text("· not judged").wait_for()


@pytest.mark.parametrize(("width", "beside"), [("wide", True), ("narrow", False)])
def test_two_answers_stand_beside_each_other_where_there_is_room(browser, address, width, beside):
    with opened(browser, address, width) as page:
        go_to(page, "Sentences")
        page.get_by_role("button", name="Compare").click()
        answers = page.get_by_role("article")
        answers.nth(1).wait_for()
        first, second = (answer.bounding_box() for answer in answers.all())
        assert (first["y"] == second["y"]) == beside
        assert sideways(page) <= 0


BAD_INPUT = [
    ("", "", "There is no sentence."),
    ("The keys are here.", "", "has no gap"),
    ("The ___ keys ___ here.", "", "has 2 gaps"),
    ("The keys ___ here.", "greenly", "'greenly' is not a form of"),
]


def test_bad_input_is_explained_on_the_page(browser, address):
    with opened(browser, address) as page:
        go_to(page, "Sentences")
        for sentence, verb, said in BAD_INPUT:
            page.get_by_label("Sentence with a gap").fill(sentence)
            page.get_by_label("One verb to look up").fill(verb)
            page.get_by_role("button", name="Compare").click()
            page.get_by_role("alert").filter(has_text=said).wait_for()
            assert "Traceback" not in page.content() and not page.get_by_role("article").count()


def test_a_model_that_cannot_be_loaded_says_so_in_its_place(browser, address):
    with opened(browser, address) as page:
        go_to(page, "Sentences")
        choose(page, "Model", "./not-there")
        page.get_by_role("button", name="Compare").click()
        page.get_by_role("article").wait_for()
        assert "./not-there: There is no folder" in page.get_by_role("alert").last.inner_text()


def test_people_and_curves_follow_their_controls(browser, address):
    with opened(browser, address) as page:
        go_to(page, "People")
        page.get_by_text("67 paradigms.").first.wait_for()
        page.get_by_role("radio", name="BLiMP pairs").check()
        page.get_by_role("alert").filter(has_text="single pairs").wait_for()  # neither judgments nor scores
        assert not page.get_by_text("67 paradigms.").first.is_visible()
        page.get_by_role("radio", name="German cells").check()
        page.get_by_text("36 cells.").first.wait_for()
        page.get_by_role("radio", name="doubled dative").last.check()
        page.get_by_text("sets of doubled dative").first.wait_for(state="attached")
        go_to(page, "Curves")
        page.get_by_role("radio", name="constructions, for one model").check()
        page.locator("figcaption", has_text="tiny-causal: EW and MW").wait_for()
        page.get_by_role("radio", name="org/made-up").locator("visible=true").check()
        page.locator("figcaption", has_text="org/made-up: EW and MW").wait_for()
        page.get_by_text("The numbers").last.click()
        page.get_by_text("MW by cut-off.").wait_for()
