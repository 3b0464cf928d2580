"""The explorer: what it reads, shows and says; see test_explore_browser.py for the page in a browser."""

import base64
import importlib.util
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import synthetic_runs as made
from scipy import stats
from tiny import tiny_model
from typer.testing import CliRunner

import tse_scorers

pytest.importorskip("starlette", reason="needs starlette (pip install 'refined-tse[explore]')")

from run_records import table_path

import push_space
from tse_scorers import Slot
from tse_scorers.cli.app import app as command_line
from tse_scorers.explore import gap_cards
from tse_scorers.explore.bundle import UNREADABLE, Bundle
from tse_scorers.explore.export import PAGE, PAGE_FILES, check_export
from tse_scorers.explore.gap_answers import ask
from tse_scorers.explore.gap_cards import notice
from tse_scorers.explore.questions import Questions
from tse_scorers.explore.runs import models_of, read_folder, read_folders, warnings_of
from tse_scorers.explore.server import app, launch
from tse_scorers.explore.view_data import blocks_data, correlation, system_items
from tse_scorers.report.blocks import Chart, View
from tse_scorers.report.tables import ScoredItems, Table
from tse_scorers.runs.comparing.compare import compare

KEYS = Slot("The keys to the cabinet", " on the table.")
LISTED, ALL = "listed verbs", "all words"
"""Which words a card shows."""


def explore(*arguments: object) -> str:
    """Run the command; return what it prints. Its errors are raised."""
    done = CliRunner().invoke(command_line, ["explore", *map(str, arguments)], catch_exceptions=False)
    return done.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A run of two models on everything, with made-up numbers."""
    rows = [row for i, model in enumerate(("org/one", "two")) for row in _rows(model, i)]
    scores = {
        "two.minimal_pairs": made.blimp_scores(),
        "two.agreement.marvin_linzen.top_forms": made.top_forms(),
    }
    return made.write_run(tmp_path_factory.mktemp("runs") / "synthetic", rows, scores)


def _rows(model, seed):
    return (
        made.agreement_rows(model, seed=seed) + made.blimp_rows(model, seed) + made.german_rows(model, seed)
    )


@pytest.fixture(scope="module")
def bundle(folder) -> Bundle:
    """What the page may ask for."""
    return Bundle([folder])


@pytest.fixture(scope="module")
def scored(tmp_path_factory) -> Path:
    """A real run of a bundled model, one pair of each row of Table 2."""
    out = tmp_path_factory.mktemp("scored") / "tiny"
    tse_scorers.run("tiny-causal", suite="agreement", out=out, limit=1, report=False)
    return out


@pytest.fixture(scope="module")
def causal():
    return gap_cards.load("tiny-causal")


@pytest.mark.parametrize("host", ["256.1.1.1", "no such host", "192.0.2.1", "a" * 300])
def test_a_host_that_is_not_this_machine_is_an_error_at_once(host):
    begun = time.monotonic()
    with pytest.raises(ValueError, match=r"--host .*address.*127\.0\.0\.1"):
        launch(app([]), host)
    assert time.monotonic() - begun < 30


# --- one model at one gap ----------------------------------------------------------------------------------


def test_a_model_that_cannot_answer_says_so_beside_one_that_can():
    good, bad = (gap_cards.answer(name, KEYS, "plural", LISTED) for name in ("tiny-causal", "no/such/model"))
    assert good.count("<article") == 1 and "✓" in good and "✗" in good
    assert 'role="alert"' in bad and "no/such/model" in bad and "Traceback" not in bad
    if importlib.util.find_spec("kenlm"):
        ngram = Path(__file__).parents[1] / "golden" / "tiny_trigram.arpa"
        refused = gap_cards.answer(str(ngram), KEYS, "plural")
        assert "only scores whole sentences. Choose a masked or causal" in refused


def test_a_model_that_was_scored_otherwise_is_marked():
    """A model trained on since the run has other scores than the run says."""
    shown = gap_cards.answer("tiny-causal", KEYS, "plural", signatures={"tiny-causal": {"lemmas": "clean"}})
    assert "scored this model with other settings" in shown


def test_a_card_names_its_scores_and_escapes_the_sentence(causal):
    slot = Slot("The <b>keys</b>", ".")
    shown = gap_cards.answer("tiny-causal", slot, "plural", ALL, "is")
    assert "&lt;b&gt;keys" in shown and "<b>keys" not in shown
    logprobs = ask(causal, slot, "plural").logprobs
    k = (logprobs[causal.inflections.plural] > logprobs[causal.inflections.singular]).sum()
    n, z2 = len(causal.inflections), stats.norm.ppf(0.975) ** 2
    # The ends p of Wilson's interval solve (k/n - p)² = z² p (1 - p) / n.
    low, high = sorted(np.roots([1 + z2 / n, -(2 * k + z2) / n, (k / n) ** 2]))
    for said in (
        "EW",
        "MW",
        f"of {len(causal.inflections)} verbs",
        f"95 % interval over the verbs: {low:.2f} to {high:.2f};",
        "not judged",
        "least probable 0.0001 %",
        "P(are) =",
    ):
        assert said in shown


# --- picking contexts --------------------------------------------------------------------------------------


def test_a_tab_says_which_scores_do_not_compare(scored):
    """Only for the tabs of the suite that was run on a part of the data, in the words of the report."""
    bundle = Bundle([scored])
    said = "Partial run (--limit 1): tiny-causal. Not comparable with published numbers."
    views = [name for name in bundle.names() if name.startswith("view/")]
    assert views and all(f'"warnings": ["{said}"]' in bundle.data(name) for name in views)
    assert warnings_of(bundle.runs, "minimal_pairs") == []


# --- views -----------------------------------------------------------------------------------------------------

CELLS = pd.DataFrame(
    {
        "label": ["Total", "b", "a", "a"],
        "system": ["model", "model", "model", "people"],
        "score": [0.5, np.nan, 0.905, 0.25],
        "n": [1500, 0, 1500, np.nan],
        "n_excluded": [3, 5, np.nan, np.nan],
        "n_ties": [0, 0, 1, np.nan],
        "ci_low": [0.4, np.nan, 0.9, np.nan],
        "ci_high": [0.6, np.nan, 0.91, np.nan],
        "reliable": [False, False, True, np.nan],
    }
)


def test_every_table_comes_with_what_its_scores_mean(tmp_path):
    rows = made.agreement_rows("org/m") + made.blimp_rows("org/m") + made.german_rows("org/m")
    tabs = loaded(Bundle([made.write_run(tmp_path / "run", rows, {})]), "start")["tabs"]
    board, *tables = [tab for tab in tabs if not tab["part"]]
    assert {"EW (systematicity)", "Accuracy", "AUC"} <= set(board["terms"])
    explained = {
        tab["title"]: {"EW (systematicity)", "Accuracy", "AUC"} & set(tab["terms"]) for tab in tables
    }
    assert explained == {"Agreement": {"EW (systematicity)"}, "BLiMP": {"Accuracy"}, "German": {"AUC"}}


def test_a_table_of_systems_has_what_each_score_rests_on():
    data = blocks_data([Table.of_scores(CELLS, "A caption.", "Row", unit="pairs", totals=["Total"])])
    shown = [(system["name"], system["published"]) for system in data["systems"]]
    assert shown == [("model", False), ("people", True)]
    assert [(row["name"], row["total"]) for row in data["rows"]] == [
        ("Total", True),
        ("b", False),
        ("a", False),
    ]
    assert data["cells"] == [
        [[0.5, 1500, 3, 0, 0.4, 0.6, 0, ["few units"]], None],
        [[None, 0, 5, 0, None, None, 0, []], None],
        [[0.905, 1500, None, 1, 0.9, 0.91, 1, []], [0.25, None, None, None, None, None, None, []]],
    ]
    assert data["items"] is None


@pytest.mark.parametrize(("chance", "tied"), [(0.5, []), (0.25, ["all ties"]), (None, [])])
def test_a_score_of_ties_alone_is_one_at_the_chance_of_its_measure(chance, tied):
    """The page had a rule of its own, for which every measure's chance was 0.5."""
    cells = CELLS.assign(score=0.25, n=40, n_ties=40, reliable=True)
    data = blocks_data([Table.of_scores(cells, "A caption.", "Row", chance=chance)])
    assert {tuple(cell[7]) for row in data["cells"] for cell in row if cell} == {tuple(tied)}


def test_curves_keep_their_points_and_mark_missing_ones():
    points = pd.DataFrame(
        {
            "label": "one",
            "side": ["top", "bottom"],
            "x": [1.0, 1e-6],
            "y": [0.8, np.nan],
            "n": [40, 0],
        }
    )
    data = blocks_data([Chart("cutoffs", "c", {"EW": points}, "What is drawn.")])
    assert (
        data["places"] == [("bottom 0.0001 %", 0), ("top 100 %", 2)] == data["ticks"]
    )  # a place is empty between
    assert data["points"] == [
        ["EW", "one", "top", 1, 0.8, 40, None, None, None],
        ["EW", "one", "bottom", 0, None, 0, None, None, None],
    ]


def test_numbers_are_placed_on_a_logarithmic_axis_with_zero_before_the_first():
    x = [1000.0, 0.0, 100.0, 64000.0]
    points = pd.DataFrame({"label": "one", "x": x, "y": 0.5, "ci_low": 0.4, "ci_high": 0.6})
    data = blocks_data([Chart("lines", "c", {"EW": points}, "What is drawn.", x="step")])
    assert [name for name, _ in data["places"]] == ["0", "100", "1,000", "64,000"]
    assert [name for name, _ in data["ticks"]] == ["0", "100", "1k", "64k"]
    places = dict(data["places"])
    assert places["0"] < places["100"] == 2 and places["1,000"] == 3
    assert data["points"][0] == ["EW", "one", "", 2, 0.5, None, 0.4, 0.6, None]


def points_of(x, y, **options):
    frame = pd.DataFrame({"item": [f"item {i}" for i in range(len(x))], "label": "all", "x": x, "y": y})
    return Chart("scatter", "s", {"": frame}, "Two of them.", x="across", y="up", unit="pairs", **options)


def test_points_are_shown_with_the_correlation_that_scipy_finds():
    x, y = np.random.default_rng(0).random((2, 20))
    r = f"Pearson's r {stats.pearsonr(x, y).statistic:.2f}".replace("-", "−")
    said = correlation(points_of(x, y).panels[""], "pairs")
    assert said.startswith(r) and said.endswith("20 pairs.")
    data = blocks_data([points_of(x, y)])
    assert data["columns"]["item"][19] == "item 19" and r in data["caption"]
    assert "Too few pairs" in blocks_data([points_of(x[:2], y[:2])])["caption"]
    assert "one side is the same everywhere" in blocks_data([points_of(x, np.ones(20))])["caption"]


def test_points_on_one_scale_have_their_difference_in_the_table():
    headings = {"item": "Item", "x": "people", "y": "model", "label": "group"}
    data = blocks_data([points_of([0.5, 0.25], [0.25, 0.5], headings=headings, same_scale=True)])
    assert data["headings"] == {**headings, "difference": "model − people"}
    assert data["columns"]["difference"] == [-0.25, 0.25]


def test_a_bad_folder_is_named_and_the_others_are_shown(folder, tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "results.json").write_text("{")
    bundle = Bundle([tmp_path / "none", folder, tmp_path / "broken", folder])
    assert len(bundle.runs.runs) == 1
    assert (
        loaded(bundle, "start")["problems"] == []
    )  # a page for others does not name folders of this machine
    bundle.live = {}
    none, broken = loaded(bundle, "start")["problems"]
    assert "does not contain results" in none and "no folder runs" in broken


def test_a_damaged_record_is_named_on_the_page(tmp_path):
    """Its scores were missing from the page without a word: the terminal alone had a warning."""
    run = made.write_run(tmp_path / "run", made.blimp_rows("org/m") + made.german_rows("org/m"), {})
    damaged = next(run.glob("runs/*german*/record.json"))
    damaged.write_text(damaged.read_text()[:100])
    runs, problems = read_folders([run])
    assert set(runs.rows["suite"]) == {"minimal_pairs"}
    assert len(problems) == 1 and f"{damaged} is not valid JSON" in problems[0]


def test_other_warnings_are_not_problems_of_a_folder(folder, monkeypatch):
    """They stood on the page as if a record were damaged, and were not shown in the terminal."""

    def reading(path):
        warnings.warn("a default will change", FutureWarning, stacklevel=1)
        return read_folder(path)

    monkeypatch.setattr("tse_scorers.explore.runs.read_folder", reading)
    with pytest.warns(FutureWarning, match="a default will change"):
        assert read_folders([folder])[1] == []


def test_models_of_a_run_are_named_as_they_load(tmp_path):
    rows = [
        *made.agreement_rows("org/hub", "0123abc"),
        *made.agreement_rows("tiny-causal", "sha256:00"),
        *made.agreement_rows(str(tmp_path), "sha256:00"),
    ]
    runs, _ = read_folders([made.write_run(tmp_path / "run", rows, {})])
    assert list(models_of(runs).values()) == ["org/hub@0123abc", "tiny-causal", str(tmp_path)]


# --- items behind scores -----------------------------------------------------------------------------------------


def numbers(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype="<f4")


def loaded(bundle: Bundle, name: str):
    script = bundle.data(name)
    assert script.startswith(f'tse.add("{name}", ') and script.endswith(");\n")
    return json.loads(script[len(f'tse.add("{name}", ') : -3])


def test_the_items_behind_a_score_average_to_it(scored):
    """Each cell of the table opens exactly the items that it is the mean of."""
    bundle = Bundle([scored])
    for score, name in (("1-1-0", "agreement.ew.top_1"), ("1-0-0", "agreement.tse")):
        view = loaded(bundle, f"view/{score}")
        assert view["items"]["name"] == name
        values = loaded(bundle, f"items/{name}/{view['systems'][0]['file']}")
        texts = loaded(bundle, f"texts/{values['texts']}")
        scores, checked = numbers(values["values"]["score"]), 0
        for row, cells in zip(view["rows"], view["cells"], strict=True):
            own = np.ones(len(scores), dtype=bool)
            for column, value in view["items"]["rows"][row["name"]].items():
                label = texts["labels"][column]
                codes = np.frombuffer(base64.b64decode(label["codes"]), dtype=f"<u{label['width']}")
                own &= codes == label["names"].index(value)
            if not row["total"]:
                checked += 1
                assert own.sum() == cells[0][1] and scores[own].mean() == pytest.approx(cells[0][0], abs=1e-6)
        assert checked == 9


def cell_of(view, model, config):
    """The row over everything of some data, and the cell of a model in it."""
    (row,) = (n for n, row in enumerate(view["rows"]) if row["place"] in ([config, "all"], [config, "BLiMP"]))
    (column,) = (n for n, system in enumerate(view["systems"]) if system["name"] == model)
    return view["rows"][row]["name"], view["cells"][row][column]


def test_each_score_of_the_leaderboard_leads_to_the_table_that_has_it(folder):
    """There was no page on which the models could be seen with all their scores."""
    bundle = Bundle([folder])
    board = loaded(bundle, "view/0")
    models = [row["name"] for row in board["rows"]]
    assert sorted(models) == ["org/one", "two"]
    assert board["cells"][0][0][0] > board["cells"][1][0][0]  # best first
    headings = {column["heading"] for column in board["systems"]}
    assert len(board["systems"]) == 3 + 3 + 3 + 4 and len(headings) == 4  # agreement twice, BLiMP, German
    for place, column in enumerate(board["systems"]):
        link = dict(column["link"])
        title, config = link.pop("tab"), link.pop("whole")
        (number,) = (n for n, view in enumerate(bundle.views) if view.tab == title and not view.part)
        chosen = zip(bundle.views[number].controls, link.values(), strict=True)
        choices = [list(control.choices).index(label) for control, label in chosen]
        view = loaded(bundle, "view/" + "-".join(map(str, [number, *choices])))
        for model, cells in zip(models, board["cells"], strict=True):
            row, cell = cell_of(view, model, config)
            assert row in view["items"]["rows"]
            if (
                config != "newman2021"
            ):  # its only group, which the table has in place of the mean, was made up apart
                assert cells[place][:7] == cell[:7] and set(cell[7]) <= set(cells[place][7])


def test_a_series_has_curves_of_any_measure_and_group(tmp_path):
    rows = [row for step in (0, 8, 64, 512) for row in made.agreement_rows("org/m", f"step{step}", seed=step)]
    rows += [row | {"revision": f"step{n}"} for n in (8, 64, 512) for row in made.blimp_rows("org/m", n)]
    bundle = Bundle([made.write_run(tmp_path / "run", rows, {})])
    parts = {view.part: (n, view) for n, view in enumerate(bundle.views) if view.tab == "Training"}
    assert len(parts) == 3  # each data has its groups
    number, tab = next(own for part, own in parts.items() if "agreement" not in part.lower())
    score, of = (list(control.choices) for control in tab.controls)
    assert score == ["accuracy", "one prefix", "two prefixes"]
    view = loaded(bundle, f"view/{number}-1-{of.index('each field')}")
    fields = {row["value"] for row in rows if row["level"] == "field"}
    assert {label.lower() for _, label, *_ in view["points"]} == {
        name.replace("_", " ").lower() for name in fields
    }
    overall = loaded(bundle, f"view/{number}-0-{of.index('everything')}")
    scores = [row["score"] for row in rows if (row["group"], row.get("method")) == ("all", "full")]
    assert [point[4] for point in overall["points"]] == pytest.approx(scores, abs=1e-6)
    assert [name for name, _ in overall["places"]] == ["8", "64", "512"]
    of_agreement = next(own for part, (_, own) in parts.items() if "agreement" in part.lower())
    assert {"TSE", "EW", "EW@top-0.1"} <= set(of_agreement.controls[0].choices)  # headline measures alone
    single = next(name for name in of if name.startswith("paradigm: "))
    assert len(loaded(bundle, f"view/{number}-0-{of.index(single)}")["points"]) == 3


def test_without_a_series_there_are_no_curves_over_training(folder):
    assert "Training" not in {view.tab for view in Bundle([folder]).views}


@pytest.fixture(scope="module")
def two(scored, tmp_path_factory) -> list[Path]:
    """Runs of two models on the same items."""
    out = tmp_path_factory.mktemp("scored") / "masked"
    tse_scorers.run("tiny-masked", suite="agreement", out=out, limit=1, report=False)
    return [scored, out]


@pytest.mark.slow
def test_a_difference_has_the_interval_of_a_comparison(two):
    """Differences had no intervals."""
    bundle, rows = Bundle(two), compare(two, reference="tiny-masked").rows
    for place, measure in enumerate(("TSE", "EW", "MW")):
        view = loaded(bundle, f"view/1-{place}-0")
        files = {system["name"]: system["file"] for system in view["systems"]}
        name = f"difference/{view['compared']}/{files['tiny-causal']}/{files['tiny-masked']}"
        found = {group: numbers for _, group, *numbers in loaded(bundle, name)["rows"]}
        of_measure = rows[rows["measure"] == measure].set_index("group")
        assert set(found) == set(of_measure.index) and {row["place"][1] for row in view["rows"]} <= set(found)
        for group, row in of_measure.iterrows():
            expected = [row["difference"], row["ci_low"], row["ci_high"], row["n_items"], row["reliable"]]
            shown = [np.nan if value is None else value for value in found[group]]
            assert shown == pytest.approx([float(value) for value in expected], abs=1e-6, nan_ok=True)
    assert not loaded(bundle, "view/1-3-0")["compared"]  # a cut-off, which is not compared


def test_a_page_for_few_models_has_their_differences(two, monkeypatch):
    """A page without a server had no intervals of differences."""
    monkeypatch.setattr("tse_scorers.explore.bundle.MOST_COMPARED", 1)
    bundle = Bundle(two)
    assert not loaded(bundle, "start")["has_differences"]
    assert not any(name.startswith("difference/") for name in bundle.names())
    monkeypatch.setattr("tse_scorers.explore.bundle.MOST_COMPARED", 2)
    bundle = Bundle(two)
    needed = ("start", "view/", "difference/")
    written = {name: loaded(bundle, name) for name in bundle.names() if name.startswith(needed)}
    compared = {own["compared"] for name, own in written.items() if own.get("compared")}
    found = {
        name.split("/")[1]: own["rows"] for name, own in written.items() if name.startswith("difference/")
    }
    assert written["start"]["has_differences"] and len(compared) == 3
    assert set(found) == compared and all(found.values())


def test_unlike_runs_have_no_interval_and_the_page_says_why(two, tmp_path):
    other = tmp_path / "other"
    tse_scorers.run("tiny-masked", suite="agreement", out=other, limit=2, groups=["Simple"], report=False)
    bundle = Bundle([two[0], other])
    view = loaded(bundle, "view/1-1-0")
    files = [system["file"] for system in view["systems"] if system["file"]]
    assert "different" in loaded(bundle, f"difference/{view['compared']}/{files[0]}/{files[1]}")["problem"]


def probabilities(model, slot: Slot, singular: bool) -> tuple[dict[str, float], dict[str, float]]:
    """The probability of each correct and each incorrect form of the listed verbs at a gap."""
    scorer = model.scorer

    def whole(logits, _):
        return logits.double().softmax(-1).numpy()

    (shares,) = scorer.read_slots([slot], whole, scorer.vocabulary_size)
    forms = [
        {scorer.token_text(token).strip(): shares[token] for token in ids}
        for ids in (model.inflections.singular.tolist(), model.inflections.plural.tolist())
    ]
    return (forms[0], forms[1]) if singular else (forms[1], forms[0])


def test_right_is_what_the_log_probabilities_say(scored):
    bundle = Bundle([scored])
    (system,) = (own["file"] for own in loaded(bundle, "view/1-0-0")["systems"] if not own["published"])
    values = loaded(bundle, f"items/agreement.tse/{system}")["values"]
    good, bad, score = (numbers(values[name]) for name in ("logprob_good", "logprob_bad", "score"))
    assert np.array_equal(score, (good > bad).astype(float)) and len(score) == 9


def test_items_that_were_not_stored_are_explained(folder):
    bundle = Bundle([folder])
    system = loaded(bundle, "view/1-1-0")["systems"][0]["file"]
    assert (
        "does not contain scores of single items"
        in loaded(bundle, f"items/agreement.ew.top_1/{system}")["problem"]
    )


def test_systems_with_the_same_items_share_their_texts():
    frame = pd.DataFrame({"good": ["a b"], "bad": ["a c"], "score": [1.0], "kind": ["x"]})
    items = ScoredItems("n", {}, lambda system: frame.assign(score=len(system)), {"score": "right"})
    one, other = system_items(items, "one"), system_items(items, "other")
    assert one.texts_name == other.texts_name and one.columns == ("kind",)
    assert numbers(one.numbers()["values"]["score"]) == [3]


def test_an_unknown_name_is_refused_without_looking_into_all_views(folder, monkeypatch):
    """It took 5 seconds, in which no other request was answered: all views were made to look for it."""
    bundle = Bundle([folder])
    file = loaded(bundle, "view/1-1-0")["systems"][0]["file"]
    monkeypatch.setattr(Bundle, "_view", failing)
    for name in (
        "items/x",
        "items/no/0",
        f"items/other/{file}",
        "items/agreement.ew.top_1/0",
    ):
        with pytest.raises(KeyError):
            bundle.data(name)
    assert "problem" in loaded(bundle, f"items/agreement.ew.top_1/{file}")  # a known one is still answered


@pytest.mark.parametrize(
    "name",
    [
        "nothing",
        "view/99-0",
        "view/1",
        "view/x",
        "difference/0/a/b",
        "difference/1-0-0/a",
        "difference/1-0-0/a/b",
        f"view/{'9' * 5000}",
        "view/",
        "items/no/0",
        "texts/0",
        "items/x",
    ],
)
def test_data_that_does_not_exist_is_refused(bundle, name):
    with pytest.raises(KeyError):
        bundle.data(name)


def test_a_damaged_file_is_named_to_who_exports_a_page_and_not_in_it(tmp_path):
    run = made.write_run(
        tmp_path / "run", made.blimp_rows("org/m"), {"org/m.minimal_pairs": made.blimp_scores()}
    )
    file = table_path(run)
    file.write_bytes(file.read_bytes()[:100])
    said = " ".join(explore(run, "--export", tmp_path / "page").split())
    assert said.count(f"Not in the page: {file} is damaged") == 1
    written = [path.read_text(encoding="utf-8") for path in (tmp_path / "page").rglob("*.js")]
    assert any(UNREADABLE in content for content in written)
    assert not any(str(tmp_path) in content for content in written)


def failing(*_):
    raise OSError("the disk is full")


def test_a_suite_of_another_package_may_label_its_systems_as_it_likes(scored):
    """The names of all files of data were those of labels that our own suites use."""
    frame = pd.DataFrame({"good": ["a b"], "bad": ["a c"], "score": [1.0]})
    cells = pd.DataFrame({"label": ["all"], "system": ["renamed"], "score": [1.0], "n": [1.0]})
    items = ScoredItems("other.items", {"all": {}}, lambda system: frame, {"score": "right"})
    bundle = Bundle([scored])
    bundle.views[:] = [View("Other", "", [Table.of_scores(cells, "c", "Row", items=items)], tab="Other")]
    # A name may follow from what came before it.
    found = {name: loaded(bundle, name) for name in bundle.names()}
    (file,) = (name for name in found if name.startswith("items/"))
    assert found[file]["values"].keys() == {"score"} and f"texts/{found[file]['texts']}" in found


def test_scores_of_a_part_of_the_data_are_marked_in_every_page(scored):
    """Badges were on the report only."""
    view = loaded(Bundle([scored]), "view/1-1-0")
    assert [system["partial"] for system in view["systems"] if not system["published"]] == [True]
    assert {"partial", "few items", "all ties"} <= set(view["badges"])


def test_an_export_holds_every_file_that_the_page_may_ask_for(scored, tmp_path, monkeypatch):
    out = tmp_path / "page"
    explore(scored, "--export", out)
    assert {path.name for path in out.iterdir()} == {*PAGE_FILES, "data"}
    for name in (name for name in Bundle([scored]).names() if name.startswith("view/")):
        content = (out / "data" / f"{name}.js").read_text(encoding="utf-8")
        assert content.startswith(f'tse.add("{name}", ')
        if '"kind": "table"' in content:
            view = json.loads(content[len(f'tse.add("{name}", ') : -3])
            files = [system["file"] for system in view["systems"] if system.get("file")]
            assert (files or view["across"]) and all(
                (out / "data" / "items" / view["items"]["name"] / f"{file}.js").is_file() for file in files
            )
    with pytest.raises(ValueError, match="already holds a page"):
        explore(scored, "--export", out)
    check_export(out, overwrite=True)
    monkeypatch.setattr(Bundle, "data", failing)
    with pytest.raises(OSError, match="disk"):
        explore(scored, "--export", out, "--overwrite")
    assert {path.name for path in out.iterdir()} == {*PAGE_FILES, "data"}  # the earlier page is still whole
    assert (out / "data" / "start.js").is_file()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("")
    with pytest.raises(ValueError, match="holds other files"):
        check_export(tmp_path / "other", overwrite=True)
    (tmp_path / "site" / "data").mkdir(parents=True)
    (tmp_path / "site" / "data" / "start.js").write_text("// not written by tse")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "data").symlink_to(out / "data", target_is_directory=True)
    for folder in ("site", "linked"):  # `data` would be deleted
        with pytest.raises(ValueError, match="holds other files"):
            check_export(tmp_path / folder, overwrite=True)
    with pytest.raises(ValueError, match="needs results"):
        explore("--export", tmp_path / "new")


# --- questions and server ------------------------------------------------------------------------------------------


SERVE = """
import sys
from tse_scorers.explore.bundle import UNREADABLE, Bundle
from tse_scorers.explore.server import app

app(sys.argv[1:])
for name in ("start", "view/1-1-0"):
    Bundle(sys.argv[1:]).data(name)
print(*{"torch", "transformers", "datasets", "scipy.stats", "matplotlib"} & set(sys.modules))
"""


def test_a_table_is_shown_before_anything_is_imported_that_runs_a_model(scored):
    """Until the page was served, 4.6 s of a processor were spent, most of them on what only a question needs."""
    served = subprocess.run([sys.executable, "-c", SERVE, scored], capture_output=True, text=True, check=True)
    assert served.stdout.split() == []


def test_a_local_model_is_called_by_its_name_not_its_path(tmp_path):
    path = tmp_path / "models" / "m.gguf"
    path.parent.mkdir()
    path.touch()
    questions = Questions([str(path)])
    assert questions.choices["names"][str(path)] == "m.gguf"
    asked = {"sentence": "The keys ___ here.", "number": "plural", "words": LISTED, "verb": ""}
    assert "m.gguf: " in (said := questions.gap(asked | {"model": str(path)})["html"]) and "<p" in said


def test_questions_are_answered_by_chosen_models_only():
    questions = Questions(["org/extra"])
    assert {"org/extra", "tiny-masked"} <= set(questions.choices["models"])
    asked = {"sentence": "The keys ___ here.", "number": "plural", "words": LISTED, "verb": ""}
    with pytest.raises(ValueError, match="Choose models from the list"):
        questions.gap(asked | {"model": "no/other"})
    assert (
        "constructions" not in questions.choices
    )  # the shipped templates are read when somebody picks a sentence
    found = questions.contexts({"row": "", "order": "as listed", "models": ["tiny-causal"]})
    assert 0 < len(found["choices"]) <= 200 and len(found["choices"]) <= found["n"]
    with pytest.raises(ValueError, match="There is no order"):
        questions.contexts({"row": "Simple", "order": "backwards", "models": ["tiny-causal"]})


def test_words_have_the_log_probabilities_of_the_scorer(causal):
    sentence = "The author laughs."
    (words,) = Questions([]).words({"model": "tiny-causal", "sentences": [sentence]})["words"]
    assert " ".join(word for word, _ in words) == sentence
    assert words == causal.scorer.word_logprobs([sentence])[0]


def post(address, path, body, kind="application/json"):
    request = urllib.request.Request(address + path, body, {"Content-Type": kind})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def status(url, host):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers={"Host": host})) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_what_is_served_comes_from_this_machine_alone(folder):
    served = launch(app([folder]))
    try:
        assert served.address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(served.address) as answer:
            policy, html = answer.headers["Content-Security-Policy"], answer.read().decode()
            assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        # A site whose name is made to lead to this machine would be of the same origin.
        for host, code in (("evil.example", 400), ("127.0.0.1.evil.example", 400), ("localhost", 200)):
            assert status(served.address + "data/start.js", host) == code
        assert urllib.request.urlopen(served.address + "data/start.js").read().startswith(b"tse.add(")
        # A form on another site can only send other types.
        assert post(served.address, "api/gap", b"{}", "text/plain")[0] == 415
        assert post(served.address, "api/gap", b"{}", "Application/JSON; charset=utf-8")[0] == 400
        assert post(served.address, "api/gap", b"{}")[0] == 400
        assert "not a JSON object" in post(served.address, "api/gap", b"[]")[1]["problem"]
        assert "too long" in post(served.address, "api/gap", b" " * 200_000)[1]["problem"]
        assert "too deeply" in post(served.address, "api/gap", b"[" * 90_000)[1]["problem"]
        half = json.dumps({"sentence": "The \ud800 ___."}).encode()
        assert "half a character" in post(served.address, "api/gap", half)[1]["problem"]
        empty = json.dumps({"row": "Simple", "order": "as listed", "models": []}).encode()
        assert "at least one model" in post(served.address, "api/contexts", empty)[1]["problem"]
        long = f"data/view/{'9' * 5000}.js"
        for missing in (
            "data/nothing.js",
            "data/items/x.js",
            "items/x",
            "../server.py",
            "data/view/99.js",
            long,
        ):
            with pytest.raises(urllib.error.HTTPError, match="404") as refused:
                urllib.request.urlopen(served.address + missing)
            assert "Open the page at /; if it is open, reload it" in refused.value.read().decode()
    finally:
        served.close()
    assert "default-src 'none'" in policy and "http" not in policy
    loaded = re.findall(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"([^\"]*)", html)
    own = {url for url in loaded if not url.startswith("data:")}
    assert own == {*PAGE_FILES, "data/start.js"} - {"index.html"}
    assert {path.name for path in PAGE.iterdir()} == set(PAGE_FILES)


_WITHOUT_MODEL = {"verb": "", "number": "plural", "words": LISTED, "sentence": "The keys ___."}
WRONG_QUESTIONS = [
    ("gap", b"", 200, "not JSON"),
    ("gap", b'{"model":', 200, "not JSON"),
    ("gap", b"\xff\xfe", 200, "not JSON"),
    ("gap", b"9" * 5000, 200, "not JSON"),
    ("gap", b"{}", 400, "no 'sentence'"),
    ("gap", json.dumps(_WITHOUT_MODEL).encode(), 400, "no 'model'"),
    (
        "gap",
        json.dumps({"sentence": 3}).encode(),
        200,
        "Got 3 as 'sentence' of the question; expected a text",
    ),
    ("words", b'{"sentences": NaN}', 200, "expected a list of texts"),
    ("words", b'{"sentences": "The keys"}', 200, "expected a list of texts"),
    ("contexts", b'{"order": "as listed", "models": [null]}', 200, "expected a list of texts"),
    ("contexts", b'{"order": "as listed", "models": ["m"]}', 400, "no 'row'"),
]


def test_a_question_that_the_page_would_not_ask_is_explained():
    """Python's own words came back, such as `'sentence'` and `'int' object is not iterable`."""
    served = launch(app([]))
    try:
        for route, body, code, said in WRONG_QUESTIONS:
            answered, content = post(served.address, f"api/{route}", body)
            assert answered == code and said in content["problem"], body
    finally:
        served.close()


def half_a_question(address):
    """Return a connection over which a question has begun."""
    host, port = address.removeprefix("http://").strip("/").split(":")
    connection = socket.create_connection((host, int(port)))
    head = f"POST /api/gap HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n"
    connection.sendall(head.encode() + b"{")
    return connection


def test_a_client_that_leaves_is_not_worth_a_word(capfd):
    """It printed a traceback."""
    served = launch(app([]))
    half_a_question(served.address).close()
    assert post(served.address, "api/gap", b"{}")[0] == 400
    served.close()
    assert capfd.readouterr() == ("", "")


def test_data_are_served_while_many_questions_wait_for_a_model(monkeypatch):
    """Forty questions to a server that did not answer kept the page from loading."""
    answers = threading.Event()
    monkeypatch.setattr(Questions, "gap", lambda self, question: {"html": str(answers.wait(60))})
    served = launch(app([]))
    found: list[tuple[int, dict[str, str]]] = []
    asking = [
        threading.Thread(target=lambda: found.append(post(served.address, "api/gap", b"{}")))
        for _ in range(50)
    ]
    try:
        for thread in asking:
            thread.start()
        time.sleep(1)
        with urllib.request.urlopen(served.address + "data/start.js", timeout=20) as answer:
            assert answer.read().startswith(b"tse.add(")
        assert not found
        answers.set()
        for thread in asking:
            thread.join(20)
        assert found == [(200, {"html": "True"})] * 50
    finally:
        answers.set()
        served.close()


def test_the_end_does_not_wait_for_clients(capfd):
    """Ctrl+C took 18 seconds where a client had asked half a question, or a model was at work."""
    served = launch(app([]))
    client = half_a_question(served.address)
    assert post(served.address, "api/gap", b"{}")[0] == 400
    served.close()
    assert served.wait() is False  # it has ended, although the client is still there
    client.close()
    assert capfd.readouterr() == ("", "")


def test_after_ctrl_c_the_command_does_not_wait_for_models(monkeypatch, capsys):
    ended = []
    served = SimpleNamespace(address="http://127.0.0.1:7860/", wait=lambda: True)
    monkeypatch.setattr("tse_scorers.explore.server.launch", lambda *_: served)
    monkeypatch.setattr(os, "_exit", ended.append)
    explore()
    assert ended == [0]


def test_files_that_only_results_name_are_not_read(tmp_path):
    name = str(tmp_path / "model.arpa")
    run = made.write_run(tmp_path / "run", made.agreement_rows(name), {})
    of_words = {"model": name, "sentences": ["The author laughs."]}
    of_gap = {"sentence": "The author ___.", "number": "singular", "words": "", "verb": ""}
    for method in ("words", "gap"):
        with pytest.raises(ValueError, match=f"start `tse explore` with --model {re.escape(name)}"):
            getattr(Questions([], read_folders([run])[0]), method)(of_words | of_gap)


def test_a_checkpoint_of_a_series_can_be_asked(tmp_path):
    """All checkpoints in a folder were offered as the folder, which cannot be loaded."""
    training = tmp_path / "training"
    for number in (1, 2):
        model, tokenizer = tiny_model("causal", "gpt2")
        model.save_pretrained(training / f"step{number}")
        tokenizer.save_pretrained(training / f"step{number}")
    out, pairs = tmp_path / "run", tmp_path / "pairs.csv"
    header = "UID,linguistics_term,field,sentence_good,sentence_bad"
    pairs.write_text(
        f"{header}\nsimple,agreement,syntax,The author laughs.,The author laugh.\n", encoding="utf-8"
    )
    arguments = [
        "--suite",
        "minimal_pairs",
        "--data",
        pairs,
        "--model",
        training,
        "--revisions",
        "step*",
        "--out",
        out,
    ]
    assert CliRunner().invoke(command_line, ["run", *map(str, arguments)]).exit_code == 0
    runs = read_folders([out])[0]
    assert list(models_of(runs).values()) == [str(training / "step1"), str(training / "step2")]
    asked = {"model": str(training / "step2"), "sentences": ["The author laughs."]}
    with pytest.raises(ValueError, match="start `tse explore` with --model"):
        Questions([], runs).words(asked)
    questions = Questions([str(training)], runs)
    assert questions.choices["names"][asked["model"]] == f"{training.name}@step2"
    assert str(training) not in questions.choices["models"]  # it holds checkpoints, and is no model
    assert [word for word, _ in questions.words(asked)["words"][0]] == ["The", "author", "laughs."]


def test_a_taken_port_is_explained():
    served = launch(app([]))
    port = int(served.address.rsplit(":", 1)[1].strip("/"))
    try:
        with pytest.raises(
            ValueError, match=r"served: [A-Z]\D*\. .*--port"
        ):  # without the number of the error
            launch(app([]), port=port)
    finally:
        served.close()


def test_without_a_server_the_command_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=re.escape("pip install 'refined-tse[explore]'")):
        explore()


def test_the_space_can_be_pushed_and_asks_for_what_the_package_needs(root, folder):
    upload = push_space.upload(push_space.EXPLORER, "org/explorer", [folder])
    assert {
        "app.py",
        "requirements.txt",
        "tse_scorers/explore/server.py",
        "tse_scorers/explore/page/index.html",
        "results/synthetic/runs/two.minimal_pairs.blimp/record.json",
    } <= set(upload.files)
    (block,) = re.findall(r"^dependencies = \[\n(.*?)^\]", (root / "pyproject.toml").read_text(), re.M | re.S)
    needed = re.findall(r'"([^"]+)"', block)
    assert upload.content("requirements.txt").decode().split() == sorted(needed)


def test_notices_are_announced():
    assert 'role="alert"' in notice("Wrong <b>.") and "&lt;b&gt;" in notice("Wrong <b>.")
    assert "alert" not in notice("Fine.", "remark")


def test_the_command_refuses_folders_of_which_none_can_be_read(tmp_path, monkeypatch):
    """It served a page that had nothing to show."""

    def serve(*_):
        raise AssertionError("a server was started")

    monkeypatch.setattr("tse_scorers.explore.server.launch", serve)
    with pytest.raises(ValueError, match=r"nores does not contain results.*other does not contain results"):
        explore(tmp_path / "nores", tmp_path / "other", tmp_path / "nores")
