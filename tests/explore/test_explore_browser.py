"""The explorer in a real browser: from a score to its items, by mouse and by keyboard, served and opened from disk."""

import re
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import synthetic_runs as made

pytest.importorskip("starlette", reason="needs starlette (pip install 'refined-tse[explore]')")

from browser import chromium, opened, sideways, violations

from tse_scorers import run
from tse_scorers.explore.bundle import Bundle
from tse_scorers.explore.export import export
from tse_scorers.explore.server import app, launch
from tse_scorers.report.blocks import View
from tse_scorers.report.tables import Table

pytestmark = pytest.mark.browser

MODELS = ["tiny-causal", "tiny-masked", "./not-there"]
TABS = ("Models", "Agreement", "BLiMP", "German", "Curves", "People", "Sentences", "Runs")
INSIDE = {"Curves": "svg", "People": "svg", "Sentences": "form", "Runs": "summary"}


def intervals_as_numbers(page):
    page.locator("summary", has_text="Display").click()
    page.get_by_label("Intervals", exact=True).select_option("text")
    page.locator("td small").first.wait_for()


def differences_from_published_scores(page):
    page.get_by_label("Difference from").select_option("humans")
    page.get_by_text("Differences from humans.").wait_for()


def items_of_two_models(page):
    page.locator("tbody button.cell").first.click()
    page.get_by_label("B", exact=True).select_option(index=2)
    page.get_by_role("button", name="All models, word by word").first.click()
    page.locator(".tse-models").wait_for()


def numbers_of_points(page):
    page.get_by_text("The numbers: ").click()


def answered(page):
    page.get_by_text("Pick a sentence").click()
    page.get_by_label("Order").wait_for()
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("article").nth(1).wait_for()
    page.get_by_text("EW and MW under cut-offs").first.click()


STATES = {
    "Models": intervals_as_numbers,
    "Agreement": items_of_two_models,
    "German": differences_from_published_scores,
    "People": numbers_of_points,
    "Sentences": answered,
}
"""What a reader opens on a tab; faults of contrast, headings and landmarks were in these alone."""

UNNAMED = (
    "[...document.querySelectorAll('input,select,button')]"
    ".filter(each => !(each.labels?.length || each.ariaLabel || each.textContent.trim())).length"
)
"""how many controls have no name"""

OUTSIDE = """[...document.querySelectorAll('td .track')].filter(bar => { const [a, b] = [bar, bar.closest('td')].map(
each => each.getBoundingClientRect()); return a.left < b.left || a.right > b.right || a.bottom > b.bottom; }).length"""
"""how many bars of intervals are not inside their cells"""

IN_WINDOW = "document.getElementById('items-title').getBoundingClientRect().top < innerHeight / 2"


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def folders(tmp_path_factory, browser):
    """A real run of two bundled models, a made-up run of another, and a folder without results."""
    folder = tmp_path_factory.mktemp("explored")
    for model in ("tiny-causal", "tiny-masked"):
        run(model, suite="agreement", out=folder / "real", limit=2, report=False)
    rows = (
        made.agreement_rows("org/made-up") + made.blimp_rows("org/made-up") + made.german_rows("org/made-up")
    )
    made.write_run(folder / "synthetic", rows, {"org/made-up.minimal_pairs": made.blimp_scores()})
    return [folder / "real", folder / "synthetic", folder / "missing"]


@pytest.fixture(scope="module")
def address(folders):
    served = launch(app(folders, MODELS))
    yield served.address
    served.close()


@pytest.fixture(scope="module")
def exported(folders, tmp_path_factory):
    """The page on disk, with some views of one tab only: others take longer to make."""
    bundle, out = Bundle(folders), tmp_path_factory.mktemp("export")
    tab = bundle.views[1]  # its choices are constants of the suite
    controls = [replace(each, choices=dict(list(each.choices.items())[:2])) for each in tab.controls]
    bundle.views[:] = [replace(tab, controls=controls)]
    list(export(bundle, out))
    return (out / "index.html").as_uri()


def go_to(page, tab):
    page.get_by_role("tab", name=tab, exact=True).click()
    page.locator(f"#panel {INSIDE.get(tab, 'table')}").first.wait_for()


def until(page, expression):
    """Wait for JavaScript to be true; the page's policy forbids what Playwright does for this."""
    deadline = time.monotonic() + 60
    while not page.evaluate(expression):
        assert time.monotonic() < deadline, expression
        page.wait_for_timeout(50)


def rows(page):
    return page.locator("table.tse-table tr > th[scope=row]").all_inner_texts()


@pytest.mark.parametrize(
    ("width", "scheme"), [pytest.param("wide", "light", marks=pytest.mark.slow), ("narrow", "dark")]
)
def test_every_tab_fits_its_window_and_has_no_serious_fault_of_access(browser, address, width, scheme):
    with opened(browser, address, width, scheme) as page:
        for tab in TABS:
            go_to(page, tab)
            assert sideways(page) <= 0, tab
            assert page.evaluate(UNNAMED) == 0, tab
            assert not (found := violations(page)), (tab, found)
            STATES.get(tab, lambda page: None)(page)
            assert sideways(page) <= 0, tab
            assert not (found := violations(page)), (tab, found)
        colour = page.evaluate(
            "getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).map(Number)"
        )
        assert (sum(colour[:3]) < 150) == (scheme == "dark")


def test_a_folder_without_results_is_named_on_the_page(browser, address):
    with opened(browser, address) as page:
        assert "missing does not contain results" in page.get_by_role("alert").inner_text()


def test_from_a_score_to_its_items_to_a_sentence(browser, address):
    with opened(browser, address) as page:
        go_to(page, "Agreement")
        page.get_by_text("TSE of groups.").wait_for()
        page.locator("tfoot td.opens").first.click(position={"x": 2, "y": 2})  # the whole cell opens it
        count = page.get_by_test_id("count")
        count.wait_for()
        assert count.inner_text().startswith("18 of 18 pairs")
        page.get_by_label("B", exact=True).select_option("tiny-masked")
        page.get_by_role("columnheader", name="B: margin", exact=True).wait_for()
        kept = {}
        for kind in ("a-only", "b-only", "both", "neither"):
            page.get_by_label("Show items").select_option(kind)
            kept[kind] = int(count.inner_text().split(" ")[0])
        assert sum(kept.values()) == 18 and len({*kept.values()}) > 1
        page.get_by_label("Show items").select_option("all")
        noun = page.locator(".item").first.inner_text().split()[1]
        page.get_by_label("Find a text").fill(noun)
        until(
            page, f"[...document.querySelectorAll('.item')].every(each => each.innerText.includes('{noun}'))"
        )
        assert page.locator(".item").count() == int(count.inner_text().split(" ")[0]) > 0
        page.get_by_role("button", name="All models, word by word").first.click()
        page.get_by_role("button", name="Show the words").click()
        page.locator(".word").first.wait_for()
        page.get_by_role("link", name="Ask models about this gap").click()
        page.get_by_role("article").nth(1).wait_for()
        assert noun in page.get_by_label("Sentence with a gap").input_value()


def test_the_address_restores_what_was_seen(browser, address):
    with opened(browser, address) as page:
        go_to(page, "BLiMP")
        page.get_by_label("By", exact=True).select_option("paradigm")
        page.get_by_role("columnheader", name="org/made-up").get_by_role("button").click()
        page.get_by_label("Difference from").select_option("org/made-up")
        page.get_by_label("Find a row").fill("island")
        until(page, "location.hash.includes('q=island')")
        seen, link = rows(page), page.url
        assert 1 < len(seen) < 20 and seen[-1] == "Overall"
        with opened(browser, link) as again:
            again.locator("table.tse-table").wait_for()
            assert rows(again) == seen
            assert again.get_by_role("tab", selected=True).inner_text() == "BLiMP"
            again.get_by_role("tab", name="German").click()
            again.get_by_text("AUC of groups.").first.wait_for()
            again.go_back()
            again.get_by_text("accuracy of groups.").first.wait_for()
            assert rows(again) == seen


def test_an_address_of_items_that_are_not_there_says_so(browser, address):
    """Of a row, nothing was said; of a model, that the server might not be running."""
    for place, said in (
        ("row=No+such&a=x", "no items of “No such”"),
        ("row=Simple&a=org%2Fx", "no scores of org/x"),
    ):
        with opened(browser, f"{address}#tab=Agreement&{place}") as page:
            page.get_by_role("alert").filter(has_text=said).wait_for()


def test_the_first_tab_has_all_models_and_each_score_leads_to_its_items(browser, address):
    """The page began with one suite, and no table had all scores of a model."""
    with opened(browser, address) as page:
        assert page.get_by_role("tab", selected=True).inner_text() == "Models"
        page.locator("table.tse-table").wait_for()
        assert sorted(rows(page)) == ["org/made-up", "tiny-causal", "tiny-masked"]
        accuracy = page.get_by_role("columnheader", name="accuracy")
        accuracy.get_by_role("button").click()
        assert accuracy.get_attribute("aria-sort") == "descending" and rows(page)[0] == "org/made-up"
        page.get_by_label("Find a model").fill("MASKED")
        until(page, "document.querySelectorAll('table.tse-table tbody tr').length === 1")
        score = page.locator("tbody a.cell").nth(1)
        shown = score.inner_text()
        score.focus()
        assert "95 % interval" in page.get_by_role("tooltip").inner_text()
        score.click()
        page.get_by_role("heading", name="Items behind “All of Marvin & Linzen”").wait_for()
        assert page.get_by_role("tab", selected=True).inner_text() == "Agreement"
        assert page.get_by_label("A", exact=True).input_value() == "tiny-masked"
        cell = page.locator("tfoot .cell").nth(1).inner_text()
        assert shown == cell
        page.go_back()
        page.get_by_label("Find a model").wait_for()


def test_differences_have_intervals_which_are_computed_for_the_shown_models(browser, address):
    with opened(browser, address) as page:
        go_to(page, "Agreement")
        page.get_by_label("Measure", exact=True).select_option("EW")
        page.get_by_label("Difference from").select_option("tiny-causal")
        page.locator(".track.middle").first.wait_for()
        until(page, "!document.body.innerText.includes('More intervals are being computed')")
        page.locator("tbody .cell").nth(1).hover()
        said = page.get_by_role("tooltip").inner_text()
        assert "Difference from tiny-causal" in said and "that both scored" in said
        page.get_by_text("Differences with an interval (95 %) are over what both models scored").wait_for()
        differences = page.locator("tbody tr").first.locator(".cell").all_inner_texts()
        assert (
            sum(bool(re.fullmatch(r"[+−]?0\.\d{3}", text)) for text in differences) >= 2
        )  # as in the report
        page.get_by_text("Why one model has no intervals").click()  # the made-up one; it stood in the note
        page.locator("details[open] li").filter(
            has_text="org/made-up and tiny-causal share no scores"
        ).wait_for()
        assert not violations(page)
        page.get_by_label("Measure", exact=True).select_option(index=3)  # at a cut-off
        page.get_by_text("Differences have no interval here").wait_for()


def test_a_series_has_curves_with_bands(browser, tmp_path):
    series = [
        row | {"ci_low": 0.9 * row["score"], "ci_high": min(1, 1.1 * row["score"])}
        for step in (1, 10, 100)
        for row in made.blimp_rows("org/m", step, prefixes=False)
        for row in [row | {"revision": f"step{step}"}]
    ]
    served = launch(app([made.write_run(tmp_path / "run", series, {})]))
    with opened(browser, served.address) as page:
        page.get_by_text("1 run, 3 models (each checkpoint counts; 1 name).").wait_for()
        page.get_by_role("tab", name="Training").click()
        page.locator(".chart .band").wait_for()
        assert page.locator(".chart .dot").count() == 3
        page.get_by_label("Of", exact=True).select_option("each field")
        page.get_by_role("checkbox", name="Syntax", exact=True).wait_for()
        assert page.locator(".chart .dot").count() > 6 and not violations(page)
    served.close()


def test_the_note_on_asking_stays_until_the_last_answer(browser, address):
    """It was gone before the first model was loaded, which takes longest."""
    with opened(browser, address) as page:
        go_to(page, "Sentences")
        waiting = []
        page.route("**/api/gap", lambda route: waiting.append(route))
        page.get_by_role("button", name="Compare").click()
        for place, model in enumerate(MODELS[:2]):
            page.get_by_text(f"Asking {model}; a model is loaded when it is first asked").wait_for()
            assert page.get_by_role("article").count() == place
            while not waiting:
                page.wait_for_timeout(20)
            waiting.pop().continue_()
        page.get_by_role("article").nth(1).wait_for()
        page.locator(".asking").wait_for(state="detached")


def test_without_results_the_page_opens_with_an_answered_example(browser):
    """A Space without results opened with a form and nothing else."""
    served = launch(app([]))
    with opened(browser, served.address) as page:
        page.get_by_role("article").nth(1).wait_for()
        assert (
            page.get_by_label("Sentence with a gap").input_value()
            == "The keys to the cabinet ___ on the table."
        )
        assert page.locator(".tse-correct").count() and page.get_by_text("type a sentence").count()
    served.close()


def test_by_keyboard_alone(browser, address):
    """Tabs by arrow keys, sorting, from cell to cell, into the items and back to the cell."""
    with opened(browser, address) as page:
        page.get_by_role("tab", name="Agreement").focus()
        page.keyboard.press("End")
        assert page.get_by_role("tab", selected=True).inner_text() == "Runs"
        assert page.evaluate("document.activeElement.innerText") == "Runs"
        page.keyboard.press("ArrowRight")
        assert page.get_by_role("tab", selected=True).inner_text() == "Models"
        page.keyboard.press("ArrowRight")
        heading = page.get_by_role("columnheader", name="tiny-causal")
        heading.get_by_role("button").focus()
        for expected in ("descending", "ascending", "none"):
            page.keyboard.press("Enter")
            assert heading.get_attribute("aria-sort") == expected
            assert rows(page)[-1] == "All of Marvin & Linzen"  # the total, wherever it would be sorted
        for _ in range(12):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.classList.contains('cell')"):
                break
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowRight")
        assert "In a sentential complement" in page.get_by_role("tooltip").inner_text()
        page.keyboard.press("Enter")
        page.locator(".tse-items").wait_for()
        until(page, "document.activeElement.id === 'items-title'")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # closes the items
        until(page, "document.activeElement.dataset.key?.startsWith('cell:In a sentential complement')")


def test_models_are_chosen_and_a_table_is_downloaded(browser, address):
    with opened(browser, address) as page:
        go_to(page, "Agreement")
        page.get_by_label("Measure", exact=True).select_option("EW")
        page.locator("summary", has_text="Models: 3 of 3").click()
        page.get_by_role("checkbox", name="tiny-masked").uncheck()
        page.locator("summary", has_text="Models: 2 of 3").wait_for()
        assert not page.get_by_role("columnheader", name="tiny-masked").count()
        with page.expect_download() as download:
            page.get_by_role("button", name="Download CSV").click()
        assert download.value.suggested_filename == "agreement-ew-by-group.csv"
        lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
        assert lines[0].startswith("Group,system,EW,n,") and not any("tiny-masked" in line for line in lines)
        go_to(page, "Curves")
        with page.expect_download() as download:
            page.get_by_role("button", name="Download SVG").first.click()
        assert download.value.suggested_filename == "curves-ew-all-of-marvin-linzen.svg"
        drawn = Path(download.value.path()).read_text(encoding="utf-8")
        assert "polyline" in drawn and "● tiny-causal</text>" in drawn  # its legend, too
        assert "tiny-masked</text>" not in drawn  # as in the tables
        page.get_by_text("EW: the numbers").click()
        cutoffs = page.locator("details[open] th[scope=col]").all_inner_texts()
        top = [float(name.split()[1]) for name in cutoffs if name.startswith("top")]
        assert len(top) > 2 and top == sorted(top) and cutoffs[-1] == "top 100 %"  # as in the report


def test_downloaded_items_are_named_by_their_measure_and_have_no_empty_column(browser, address):
    with opened(browser, address) as page:
        go_to(page, "Agreement")
        page.get_by_label("Measure", exact=True).select_option("EW")
        page.get_by_text("EW of groups.").wait_for()
        page.locator("button.cell").first.click()
        page.locator(".tse-items").wait_for()
        with page.expect_download() as download:
            page.get_by_role("button", name="Download items").click()
        assert download.value.suggested_filename == "items-agreement-ew-by-group-simple.csv"
        header, first, *_ = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
        assert header == "text,config,group,number,EW tiny-causal,MW tiny-causal" and "___" in first
        page.get_by_label("Find a text").fill("no such text")
        page.get_by_test_id("count").get_by_text("0 of").wait_for()
        with page.expect_download() as download:  # of no items, the columns are known all the same
            page.get_by_role("button", name="Download items").click()
        assert Path(download.value.path()).read_text(encoding="utf-8").strip() == header


PAIRS = """UID,linguistics_term,field,sentence_good,sentence_bad
simple,agreement,syntax,The pilot laughs.,The pilot laugh.
simple,agreement,syntax,The senators smile.,The senators smiles.
rc,agreement,syntax,The author that the guards like laughs.,The author that the guards like laugh.
"""


def test_a_mean_over_paradigms_says_so_beside_its_pairs(browser, tmp_path):
    """A score of 0.833 stood above items of which 4 of 5 were right."""
    (tmp_path / "pairs.csv").write_text(PAIRS, encoding="utf-8")
    run("tiny-causal", suite="minimal_pairs", data=tmp_path / "pairs.csv", out=tmp_path / "run", report=False)
    served = launch(app([tmp_path / "run"]))
    with opened(browser, served.address) as page:
        go_to(page, "Minimal pairs")
        page.locator("tbody button.cell").first.click()
        page.get_by_text("The score is the mean over its 2 paradigms").wait_for()
        page.get_by_label("By", exact=True).select_option("paradigm")
        page.get_by_role("columnheader", name="Paradigm").wait_for()
        page.locator("tbody button.cell").first.click()
        page.locator(".tse-items").wait_for()
        assert not page.get_by_text("The score is the mean over").count()
    served.close()


def test_a_curve_is_broken_between_its_sides_and_faded_where_few_contexts_are(browser, address):
    """A line joined the bottom 50 % to the top 10 %: a steep jump that is not there."""
    with opened(browser, address) as page:
        go_to(page, "Curves")
        few, many = (
            page.locator(".chart").first.locator(f'g[data-line="{name}"] polyline')
            for name in ("tiny-causal", "org/made-up")
        )
        assert few.count() >= 2 and few.first.get_attribute("class") == "line few"
        assert [each.get_attribute("class") for each in many.all()] == ["line", "line"]
        ends = [
            [float(point.split(",")[0]) for point in each.get_attribute("points").split()]
            for each in many.all()
        ]
        scales = [each.locator("svg > g > text").all_inner_texts() for each in page.locator(".chart").all()]
        assert len(scales) == 2 and scales[0] == scales[1]  # EW and MW began at other numbers
        assert ends[1][0] - ends[0][-1] > 1.5 * (ends[0][1] - ends[0][0])
        page.get_by_text("Faded points rest on fewer than 30 contexts").wait_for()


def test_no_pinned_row_covers_the_last_row(browser, address):
    with opened(browser, address, "narrow") as page:
        go_to(page, "Agreement")
        page.set_viewport_size({"width": 390, "height": 480})
        page.locator("tbody button.cell").first.focus()
        for _ in range(page.locator("tbody tr").count() - 1):
            page.keyboard.press("ArrowDown")
        place = "document.activeElement.getBoundingClientRect()"
        seen = f"document.elementFromPoint({place}.left + 3, {place}.bottom - 3)"
        until(page, f"document.activeElement.parentElement.contains({seen})")
        assert (
            page.locator("tfoot td").first.evaluate("each => getComputedStyle(each).position") == "relative"
        )
        assert page.evaluate(OUTSIDE) == 0  # of the row over everything, they crossed the whole page


@pytest.mark.slow
def test_few_of_many_models_are_chosen_by_name(browser, tmp_path):
    """All others had to be unchosen one by one, and the search was empty again after each."""
    names = [f"org/model-{place}" for place in range(7)]
    rows = [row for place, name in enumerate(names) for row in made.agreement_rows(name, seed=place)]
    served = launch(app([made.write_run(tmp_path / "run", rows, {})]))
    with opened(browser, served.address) as page:
        go_to(page, "Agreement")
        page.locator("summary", has_text="Models: 7 of 7").click()
        page.get_by_role("button", name="No models").click()
        page.locator("summary", has_text="Models: 0 of 7").wait_for()
        page.get_by_role("checkbox", name="Published scores").uncheck()
        page.get_by_text("No model is chosen.").wait_for()
        page.get_by_label("Find a model").fill("model-4")
        page.get_by_role("checkbox", name=names[4]).check()
        assert page.get_by_label("Find a model").input_value() == "model-4"
        assert page.locator(".choices label:visible").count() == 1
        page.keyboard.press("Escape")
        assert not page.locator(".menu[open]").count()
        go_to(page, "Curves")
        first = page.locator(".chart svg").first
        assert first.locator("g[data-line]").evaluate_all("all => all.map(line => line.dataset.line)") == [
            names[4]
        ]
    served.close()


def test_curves_show_no_model_and_leave_systems_without_curves_chosen(browser, tmp_path):
    """`No models` left all curves, and unchoosing one curve left other systems out of all tables."""
    rows = [*made.agreement_rows("a"), *made.agreement_rows("b"), *made.blimp_rows("only-blimp")]
    served = launch(app([made.write_run(tmp_path / "run", rows, {})]))
    with opened(browser, served.address) as page:
        go_to(page, "Curves")
        lines = page.locator(".chart svg").first.locator("g[data-line]")
        legend = page.get_by_role("group", name="Lines")
        assert lines.count() == 2
        legend.get_by_role("checkbox", name="a", exact=True).uncheck()
        assert lines.count() == 1
        go_to(page, "BLiMP")
        page.locator("summary", has_text="Models: 2 of 3").wait_for()
        go_to(page, "Curves")
        legend.get_by_role("checkbox", name="b", exact=True).uncheck()
        assert lines.count() == 0
        go_to(page, "BLiMP")
        page.locator("summary", has_text="Models: 1 of 3").click()
        page.get_by_role("button", name="No models").click()
        page.locator("summary", has_text="Models: 0 of 3").wait_for()
        go_to(page, "Curves")
        assert lines.count() == 0 and legend.get_by_role("checkbox").count() == 2
        legend.get_by_role("checkbox", name="a", exact=True).check()
        assert lines.count() == 1
    served.close()


@pytest.mark.parametrize("width", [pytest.param("wide", marks=pytest.mark.slow), "narrow"])
def test_no_name_reaches_into_the_scores_and_each_warning_is_explained(browser, tmp_path, width):
    """A long name covered the first score of its row; a sign for a part of the data was explained as few items."""
    names = [
        "an-organisation-with-a-long-name/babylm-baseline-10m-gpt2-strict-small-20-epochs-seed-1",
        "org/m",
    ]
    rows = [row | {"reliable": name == "org/m"} for name in names for row in made.agreement_rows(name)]
    served = launch(app([made.write_run(tmp_path / "run", rows, {})]))
    with opened(browser, served.address, width) as page:
        name = page.locator("tbody .name").filter(has_text="babylm")
        first = page.locator("tbody td").first
        assert name.evaluate("each => each.getBoundingClientRect().right") <= first.evaluate(
            "each => each.getBoundingClientRect().left"
        )
        doubts = set(page.locator(".doubt").evaluate_all("all => all.map(each => each.ariaLabel)"))
        assert doubts == {"few units"}
        assert (
            page.locator("tbody th .doubt").count() == page.locator(".doubt").count() == 1
        )  # not at each score
        meanings = page.locator(".meaning").all_inner_texts()
        assert len(meanings) == 1 and meanings[0].startswith("⚠ few units: The interval is over fewer than")
    served.close()


def test_changes_and_bits_are_not_shown_as_shares(browser, tmp_path):
    """A fall of 0.5 was -0.50 on the darkest shade without a bar; 0.997 bits were >0.99."""
    scores = {"one": (-0.5, -0.6, -0.4), "two": (0.997, 0.9, 1.0)}
    cells = pd.DataFrame(
        {"label": name, "system": "m", "score": s, "ci_low": low, "ci_high": high, "n": 40}
        for name, (s, low, high) in scores.items()
    )
    bundle = Bundle([made.write_run(tmp_path / "run", made.blimp_rows("m", prefixes=False), {})])
    bundle.views[:] = [View("Bits", "", [Table.of_scores(cells, "c", "Row")], tab="Bits")]
    list(export(bundle, tmp_path / "page"))
    with opened(browser, (tmp_path / "page" / "index.html").as_uri()) as page:
        page.locator("table.tse-table").wait_for()
        assert page.locator("tbody .cell").all_inner_texts() == ["−0.50", "1.00"]
        assert page.locator("tbody td .track > i").evaluate_all(
            "all => all.map(each => each.style.left)"
        ) == [
            "0%",
            "93.75%",
        ]
        assert not page.locator("[class*=low]").count()
        page.get_by_text("1 run, 1 model.").wait_for()


def test_a_model_in_two_runs_is_counted_as_the_tables_do(browser, tmp_path):
    """Of two runs of one model, the page said that each checkpoint counts."""
    runs = {"a": made.german_rows("m"), "b": [*made.blimp_rows("m"), *made.blimp_rows("n")]}
    served = launch(app([made.write_run(tmp_path / name, rows, {}) for name, rows in runs.items()]))
    with opened(browser, served.address) as page:
        page.get_by_text("2 runs, 3 models (each run counts; 2 names).").wait_for()
        page.locator("summary", has_text="Models: 3 of 3").wait_for()
        assert len(rows(page)) == 3
    served.close()


def test_a_checkpoint_is_found_and_chosen_among_many_models(browser, tmp_path):
    """All checkpoints of a series stood in a box that showed a few of them."""
    rows = [
        row | {"revision": f"step{step}"}
        for step in range(1, 9)
        for row in made.blimp_rows("org/m", step, prefixes=False)
    ]
    served = launch(app([made.write_run(tmp_path / "run", rows, {})]))
    with opened(browser, served.address) as page:
        go_to(page, "Sentences")
        models = page.locator("fieldset")
        n = models.get_by_role("checkbox").count()
        models.get_by_text(f"Models to ask: 2 of {n}").wait_for()
        models.get_by_label("Find a model").fill("step7")
        assert models.locator("label:visible").all_inner_texts() == ["org/m@step7"]
        models.get_by_role("checkbox", name="org/m@step7").check()
        models.get_by_text(f"Models to ask: 3 of {n}").wait_for()
        assert "model=org%2Fm%40step7" in page.url
    served.close()


@pytest.mark.parametrize("width", [pytest.param("wide", marks=pytest.mark.slow), "narrow"])
def test_a_difference_opens_both_models_with_their_difference(browser, address, width):
    with opened(browser, address, width) as page:
        go_to(page, "Agreement")
        page.get_by_label("Measure", exact=True).select_option("EW")
        page.get_by_label("Difference from").select_option("tiny-masked")
        page.get_by_text("Differences from tiny-masked.").wait_for()
        page.locator("tfoot td.opens").first.click()
        page.locator(".tse-items").wait_for()
        assert page.get_by_label("A", exact=True).input_value() == "tiny-causal"
        assert page.get_by_label("B", exact=True).input_value() == "tiny-masked"
        cells = page.locator("[data-name='A − B: EW']")
        shown = [abs(float(text.replace("−", "-"))) for text in cells.all_inner_texts() if text != "–"]
        assert shown == sorted(shown, reverse=True)
        assert cells.first.is_visible() and page.evaluate(IN_WINDOW)  # below the table, they were not seen
        assert sideways(page) <= 0


def test_the_bars_of_all_models_have_one_scale(browser, address):
    """Each card's longest bar filled it, so that models that differ looked alike."""
    with opened(browser, address) as page:
        go_to(page, "Sentences")
        page.get_by_role("button", name="Compare").click()
        page.get_by_role("article").nth(1).wait_for()
        bars = page.locator(".tse-bar").evaluate_all(
            "all => all.map(bar => [Number(bar.dataset.probability), parseFloat(bar.style.width)])"
        )
        most = max(probability for probability, _ in bars)
        assert [width for _, width in bars] == pytest.approx([100 * p / most for p, _ in bars], abs=0.01)


@pytest.mark.slow
def test_a_point_that_focus_scrolls_into_view_keeps_its_tip(browser, address):
    """The scrolling hid what focus had shown, so that on a narrow window no point said its numbers by keyboard."""
    with opened(browser, address, "narrow") as page:
        go_to(page, "Curves")
        point = page.locator(".chart").last.locator("[data-tip]").first
        page.evaluate("scrollTo(0, 0)")
        point.focus()
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert page.get_by_role("tooltip").inner_text() == point.get_attribute("data-tip")
        page.keyboard.press("Escape")
        assert page.get_by_role("tooltip").count() == 0


def test_of_many_curves_the_best_have_colours_and_a_name_finds_its_line(browser, tmp_path):
    """24 lines had 8 colours and 3 marks; a heading with a whole name took eleven lines."""
    names = [f"an-organisation/a-model-with-a-long-name-of-one-series-seed-{place}" for place in range(14)]
    rows = [row for place, name in enumerate(names) for row in made.agreement_rows(name, seed=place)]
    served = launch(app([made.write_run(tmp_path / "run", rows, {})]))
    with opened(browser, served.address) as page:
        go_to(page, "Agreement")
        heading = page.get_by_role("columnheader", name="seed-13").get_by_role("button")
        assert "…" in heading.inner_text() and heading.get_attribute("title") == names[13]
        go_to(page, "Curves")
        first = page.locator(".chart svg").first
        assert (first.locator("g[data-line]").count(), first.locator("g.rest").count()) == (14, 9)
        page.get_by_role("checkbox", name=names[13]).focus()
        assert first.locator("g.on").get_attribute("data-line") == names[13]
    served.close()


def test_an_export_opens_from_disk_without_a_server_or_network(browser, exported):
    with opened(browser, exported) as page:  # checks that nothing else was asked for
        assert page.url.startswith("file:")
        page.context.set_offline(True)
        page.locator("table.tse-table").wait_for()
        assert not page.get_by_role("tab", name="Sentences").count()
        page.get_by_label("Measure", exact=True).select_option("EW")
        page.get_by_text("EW of groups.").wait_for()
        page.locator("button.cell").first.click()
        page.locator(".tse-items").wait_for()
        page.get_by_label("B", exact=True).select_option("tiny-masked")
        page.get_by_role("columnheader", name="B: EW", exact=True).wait_for()
        page.get_by_role("button", name="All models, word by word").first.click()
        page.get_by_text("Word by word: open these results").wait_for()
        page.get_by_label("Order").select_option("down")
        first = page.locator(".item").first.inner_text()
        page.reload()  # the address holds what was seen, on disk as well
        page.get_by_role("columnheader", name="B: EW", exact=True).wait_for()
        assert (
            page.get_by_label("Order").input_value() == "down"
            and page.locator(".item").first.inner_text() == first
        )


BAD_INPUT = [
    ("", "", "There is no sentence."),
    ("The keys are here.", "", "has no gap"),
    ("The keys ___ here.", "greenly", "'greenly' is not a form of"),
]


@pytest.mark.slow
def test_questions_and_bad_input_are_answered_on_the_page(browser, address):
    with opened(browser, address) as page:
        go_to(page, "Sentences")
        for sentence, verb, said in BAD_INPUT:
            page.get_by_label("Sentence with a gap").fill(sentence)
            page.get_by_label("One verb to look up").fill(verb)
            page.get_by_role("button", name="Compare").click()
            page.get_by_role("alert").filter(has_text=said).wait_for()
            assert not page.get_by_role("article").count()
        page.get_by_role("checkbox", name="not-there").check()
        page.get_by_label("One verb to look up").fill("exist")
        page.get_by_role("button", name="Compare").click()
        page.get_by_role("alert").filter(has_text="not-there: There is no folder").wait_for()
        assert page.get_by_role("article").count() == 2
        page.get_by_text("Pick a sentence").click()
        page.get_by_label("Order").select_option("lowest EW first")
        page.get_by_label("Context (2 of 2 are offered)").select_option(index=1)
        page.get_by_role("alert").filter(has_text="not a form").wait_for(state="detached")
        assert "___" in page.get_by_label("Sentence with a gap").input_value()
        refused = {"problem": "The runs cannot be read."}
        page.route("**/api/contexts", lambda route: route.fulfill(json=refused))
        page.get_by_label("Order").select_option("as listed")  # nothing was said: the old choices stayed
        page.get_by_role("alert").filter(has_text="The runs cannot be read.").wait_for()
