"""The explorer: what it reads, shows and says; see test_explore_browser.py for the page in a browser."""

import importlib.util
import re
import urllib.request
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import synthetic_runs as made
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

pytest.importorskip("gradio", reason="needs gradio (pip install 'refined-tse[explore]')")

import push_space
from builders import blimp_human_judgments
from tse_scorers import evaluate
from tse_scorers.cli import results as cli_results
from tse_scorers.explore import cards, contexts, curves, people, query_model, scatter
from tse_scorers.explore import score_tables as tables
from tse_scorers.explore.app import app
from tse_scorers.explore.markup import Cell, notice, table
from tse_scorers.explore.runs import models_of, read_folders
from tse_scorers.explore.serve import launch
from tse_scorers.io.results import read_results
from tse_scorers.models.queries import Slot
from tse_scorers.report.published import published, shipped
from tse_scorers.suites.minimal_pairs import scores as blimp

KEYS = Slot("The keys to the cabinet", " on the table.")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A run of two models on everything, with made-up numbers."""
    rows = [row for i, model in enumerate(("org/one", "two")) for row in _rows(model, i)]
    scores = {"two.blimp": made.blimp_scores(), "two.agreement.marvin_linzen.top_forms": made.top_forms()}
    return made.write_run(tmp_path_factory.mktemp("runs") / "synthetic", rows, scores)


def _rows(model, seed):
    return (
        made.agreement_rows(model, seed=seed) + made.blimp_rows(model, seed) + made.german_rows(model, seed)
    )


@pytest.fixture(scope="module")
def runs(folder):
    return read_folders([folder])[0]


@pytest.fixture(scope="module")
def scored(tmp_path_factory) -> Path:
    """A real run of a bundled model, one pair of each row of Table 2."""
    out = tmp_path_factory.mktemp("scored") / "tiny"
    evaluate("tiny-causal", suite="agreement", out=out, limit=1)
    return out


@pytest.fixture(scope="module")
def causal():
    return query_model.load("tiny-causal")


# --- sentences ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("", "There is no sentence"),
        (" \n ", "There is no sentence"),
        ("The keys are here.", "has no gap"),
        ("The keys _ here.", "has no gap"),
        ("The ___ to the cabinet ___ here.", "has 2 gaps"),
        (" ___ ", "Nothing stands beside the gap"),
        ("word " * 300 + "___.", "at most 1000"),
    ],
)
def test_a_sentence_that_cannot_be_asked_about_is_explained(sentence, said):
    with pytest.raises(ValueError, match=said):
        contexts.parse(sentence)


@pytest.mark.parametrize(
    ("sentence", "slot"),
    [
        ("The author ___.", Slot("The author", ".")),
        ("  The  author _____ tall. ", Slot("The author", " tall.")),
        ("The author___tall.", Slot("The author", " tall.")),
        ("The author ___", Slot("The author", "")),
        ("___ the author tall?", Slot("", " the author tall?")),
    ],
)
def test_a_typed_sentence_becomes_a_gap(sentence, slot):
    assert contexts.parse(sentence) == slot


WORDS = st.lists(st.text("abcXYZé'", min_size=1), min_size=1).map(" ".join)


@given(st.one_of(st.just(""), WORDS), st.one_of(st.just("."), WORDS.map(" {}.".format)))
def test_a_context_can_be_shown_and_read_back(prefix, suffix):
    assert contexts.parse(contexts.sentence_with_gap(prefix, suffix)) == Slot(prefix, suffix)


# --- one model at one gap ----------------------------------------------------------------------------------


def test_a_distribution_sums_to_one_and_words_come_in_its_order(causal):
    answer = query_model.ask(causal, KEYS, "plural")
    assert np.exp(answer.logprobs).sum() == pytest.approx(1, abs=1e-6)
    words = answer.most_probable(query_model.ALL, shown=20)
    assert [w.probability for w in words] == sorted((w.probability for w in words), reverse=True)
    assert words[0].probability == pytest.approx(np.exp(answer.logprobs.max()))
    verbs = answer.most_probable(query_model.LISTED, shown=20)
    assert {verb.status for verb in verbs} <= {"correct", "incorrect"}
    by_word = {verb.form: verb.status for verb in verbs}
    assert by_word["are"] == "correct" and by_word["is"] == "incorrect"


def test_the_number_of_the_subject_turns_right_and_wrong_around(causal):
    plural, singular = (query_model.ask(causal, KEYS, number) for number in ("plural", "singular"))
    ew = [float(answer.scores.top.ew[0, -1]) for answer in (plural, singular)]
    mw = [float(answer.scores.top.mw[0, -1]) for answer in (plural, singular)]
    ties = int(plural.scores.n_ties[0]) / int(plural.scores.n_lemmas[0])
    assert sum(ew) + ties == pytest.approx(1) and sum(mw) == pytest.approx(1)
    assert {f.form: f.status for f in singular.most_probable()}["is"] == "correct"


def test_a_context_of_a_run_gets_the_score_of_the_run(scored, causal):
    """What the page says of a picked sentence is what went into the run's mean."""
    runs, _ = read_folders([scored])
    frame = contexts.run_contexts(runs, models_of(runs), "tiny-causal")
    assert len(frame) >= 9
    for row in frame.itertuples():
        answer = query_model.ask(causal, Slot(row.prefix, row.suffix), row.number)
        assert float(answer.scores.top.ew[0, -1]) == pytest.approx(
            row.ew, abs=2e-3
        )  # one verb may be a tie by a hair
        assert float(answer.scores.top.mw[0, -1]) == pytest.approx(row.mw, abs=1e-5)


def test_one_verb_is_looked_up_by_either_form(causal):
    assert query_model.find_lemma("exist") == query_model.find_lemma(" exists ") == ("exists", "exist")
    answer = query_model.ask(causal, KEYS, "plural")
    found = cards.compare_forms(answer, ("is", "are"))
    ids = causal.scorer.single_token_ids(["are", "is"])
    right = answer.logprobs[ids[0]] > answer.logprobs[ids[1]]
    assert found["status"] == ("correct" if right else "incorrect")
    assert found["text"].startswith("✓ right: P(are)" if right else "✗ wrong: P(are)")
    assert (
        "not a single token" in cards.compare_forms(answer, ("photosynthesizes", "photosynthesize"))["text"]
    )


def test_a_tie_is_not_right(causal):
    answer = query_model.ask(causal, KEYS, "plural")
    tied = query_model.Answer(causal, KEYS, False, np.zeros_like(answer.logprobs), answer.scores)
    found = cards.compare_forms(tied, ("is", "are"))
    assert found["status"] == "incorrect" and "tie, which is not right" in found["text"]


def test_what_cannot_be_asked_is_explained(causal):
    with pytest.raises(ValueError, match="'greenly' is no form of the 1951 verbs"):
        query_model.find_lemma("greenly")
    with pytest.raises(ValueError, match="number is 'dual'"):
        query_model.ask(causal, KEYS, "dual")
    with pytest.raises(ValueError, match="longer than the"):
        query_model.ask(causal, Slot("The author " + "and the author " * 150, "."), "plural")


def test_a_model_that_cannot_answer_says_so_beside_one_that_can(tmp_path):
    ngram = Path(__file__).parents[1] / "golden" / "tiny_trigram.arpa"
    good, bad = cards.answers(["tiny-causal", "no/such/model"], KEYS, "plural", query_model.LISTED)
    assert good.count("<article") == 1 and "✓" in good and "✗" in good
    assert 'role="alert"' in bad and "no/such/model" in bad and "Traceback" not in bad
    if importlib.util.find_spec("kenlm"):
        with pytest.raises(ValueError, match="no distribution over words at a gap"):
            query_model.load(str(ngram))


def test_a_model_that_was_scored_otherwise_is_marked(scored, causal):
    """A model trained on since the run has other scores than the run says."""
    runs, _ = read_folders([scored])
    signature = contexts.run_signatures(runs, models_of(runs))["tiny-causal"]
    assert cards.otherwise(causal, signature) == ""
    said = cards.otherwise(causal, signature | {"revision": "sha256:0", "lemmas": "clean"})
    assert "revision sha256:0, here sha256:" in said and "lemmas clean, here released" in said
    (shown,) = cards.answers(["tiny-causal"], KEYS, "plural", signatures={"tiny-causal": {"lemmas": "clean"}})
    assert "scored this model otherwise" in shown


def test_a_card_names_its_scores_and_escapes_the_sentence(causal):
    shown = cards.card(
        query_model.ask(causal, Slot("The <b>keys</b>", "."), "plural"), query_model.ALL, ("is", "are")
    )
    assert "&lt;b&gt;keys" in shown and "<b>keys" not in shown
    for said in (
        "EW",
        "MW",
        f"of {len(causal.inflections)} verbs",
        "not judged",
        "least probable 0.0001 %",
        "P(are) =",
    ):
        assert said in shown


# --- picking contexts --------------------------------------------------------------------------------------

LISTED = pd.DataFrame(
    {
        "table_row": ["Simple"] * 3 + ["BLiMP"],
        "prefix": ["The a", "The a", "The b", "The c"],
        "suffix": [" tall.", ".", ".", "."],
        "number": ["singular", "singular", "plural", "plural"],
        "ew": [0.5, 0.2, np.nan, 0.1],
        "mw": [0.9, 0.8, 0.7, 0.6],
    }
)


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (contexts.LISTED, ["The a ___ tall.", "The a ___.", "The b ___."]),
        (contexts.EW_LOW, ["The a ___.", "The a ___ tall."]),
        (contexts.EW_HIGH, ["The a ___ tall.", "The a ___."]),
        (contexts.MW_LOW, ["The b ___.", "The a ___.", "The a ___ tall."]),
    ],
)
def test_contexts_are_offered_in_the_asked_order(order, expected):
    offered = contexts.choices(LISTED, LISTED[:0], "Simple", order)
    assert [contexts.chosen(choice)[0] for _, choice in offered] == expected
    assert contexts.chosen(offered[-1][1])[1] in ("singular", "plural")


def test_contexts_on_which_two_models_differ_come_first():
    """A causal model has one score for both of `The a ___ tall.` and `The a ___.`."""
    causal = LISTED[1:].assign(ew=[0.6, 0.3, 0.2])
    offered = contexts.choices(LISTED, causal, "Simple", contexts.APART)
    assert [label for label, _ in offered] == [
        "The a ___. · EW 0.20 · EW of the other 0.60 · MW 0.80",
        "The a ___ tall. · EW 0.50 · EW of the other 0.60 · MW 0.90",
    ]


def test_without_a_run_the_shipped_templates_are_offered(runs):
    assert contexts.run_contexts(runs, models_of(runs), "tiny-causal").empty
    shipped = contexts.shipped_contexts()
    offered = contexts.choices(shipped, shipped[:0], contexts.constructions([shipped])[0], contexts.LISTED)
    assert 0 < len(offered) <= contexts.SHOWN


# --- tables ------------------------------------------------------------------------------------------------


def test_the_agreement_table_holds_the_results_and_what_they_rest_on(folder, runs):
    results = pd.DataFrame(read_results(folder)["results"])
    cells = tables.agreement(runs, "ew")
    whole = results[(results.metric == "ew") & (results.cutoff == 1.0) & (results.cutoff_side == "top")]
    ours = cells[cells["n"].notna()].set_index(["label", "system"])["score"]
    for row in whole[whole["group"] != "all"].itertuples():
        assert ours[row.group, row.model] == pytest.approx(row.score)
    published = cells[cells["n"].isna()].set_index(["label", "system"])["score"]
    assert published["Simple", "bert-large-cased (published)"] == 0.94  # Newman et al. (2021), Table 2
    html = tables.agreement_table(runs, "ew")
    assert "140 contexts · 0 out · 0 ties" in html
    assert "(published)" not in tables.agreement_table(runs, "ew", ("top", 0.5))
    assert "no score" in tables.agreement_table(runs, "ew", ("bottom", 1e-6))


@pytest.mark.parametrize("level", ["phenomenon", "paradigm", "field"])
def test_blimp_tables_hold_people_and_published_models_for_whole_sentences(runs, level):
    cells = tables.blimp(runs, "full", level).set_index(["label", "system"])["score"]
    assert cells["Overall", "humans (individual)"] == pytest.approx(0.886, abs=5e-4)  # Warstadt et al., 3.4
    released = published("warstadt2020_models").query("model == 'gpt2-large'")["accuracy"].mean()
    assert cells["Overall", "GPT-2 (published)"] == pytest.approx(released)
    prefixes = tables.blimp(runs, "one_prefix", level)
    assert set(prefixes["system"]) == {"org/one", "two"}


@pytest.mark.parametrize(("level", "rows"), [("cell", 37), ("case_order", 7), ("role", 7), ("set", 4)])
def test_german_tables_have_people_beside(runs, level, rows):
    cells = tables.german(runs, "1-6", level)
    assert cells["label"].nunique() == rows
    human = cells.set_index(["label", "system"])["score"]
    overall = "all six" if level == "set" else "Overall"
    assert human[overall, "humans"] == pytest.approx(0.63, abs=0.005)  # Rochereau et al. (2020), Table 4


def test_tables_escape_names_and_sort_missing_numbers_last():
    html = table(
        "A <caption>",
        ["x", "org/<i>m"],
        [[Cell("a", "a"), Cell("0.5", 0.5)], [Cell("b", "b"), Cell("–", np.nan)]],
    )
    assert "<i>" not in html and "org/<wbr>&lt;i&gt;m" in html and "A &lt;caption&gt;" in html
    assert 'data-order="0.5"' in html and 'data-order=""' in html and "nan" not in html
    assert html.count("data-numeric") == 1


# --- curves and people -------------------------------------------------------------------------------------


def test_curves_are_drawn_for_a_construction_and_for_a_model(runs):
    rows = curves.curve_rows(runs)
    for column, value, lines in (
        ("label", "Simple", ("org/one", "two")),
        ("system", "two", ("Simple", "BLiMP")),
    ):
        html = curves.curves(rows, "EW and MW", column, value)
        assert html.count("<svg") == 1 and "var(--ink)" in html
        assert all(line in html for line in lines)
    with pytest.raises(ValueError, match="was not scored under cut-offs"):
        curves.curves(rows, "EW and MW", "label", "Nothing")


def test_people_beside_models_correlate_as_scipy_says(runs):
    points = people.paradigm_points(runs)
    assert {"org/one", "two", "GPT-2 (published)"} <= set(points) and not any(
        "human" in name for name in points
    )
    r = stats.pearsonr(points["two"]["x"], points["two"]["y"]).statistic
    assert f"Pearson's r {r:.2f}".replace("-", "−") in scatter.agreement(points["two"], "paradigms")
    cells = people.german_points(runs, "1-6")
    # Rochereau et al. (2020), Table 5.
    r = stats.pearsonr(cells["German BERT (published)"]["x"], cells["German BERT (published)"]["y"]).statistic
    assert r == pytest.approx(0.73, abs=0.005)
    assert "<svg" in scatter.german(cells["two"], "two", "1-6") and "<svg" in scatter.paradigms(
        points["two"], "two"
    )
    assert "Too few" in scatter.agreement(points["two"][:2], "paradigms")


def test_single_pairs_need_their_judgments(runs, monkeypatch):
    monkeypatch.setattr(people, "shipped", lambda name, config: pd.DataFrame())
    with pytest.raises(ValueError, match="built, not shipped"):
        people.pair_points(runs, "two")


def test_single_pairs_are_set_against_peoples_choices(tmp_path, monkeypatch):
    pairs = pd.DataFrame(
        {
            "paradigm": ["wh_island"] * 3, "method": ["full", "full", "one_prefix"], "pair_id": [0, 1, 0],
            "sentence_good": ["Good one.", "Good two.", "Good one."], "sentence_bad": ["Bad one.", "Bad two.", "x"],
            "logprob_good": [-5.0, -7.0, 0.0], "logprob_bad": [-6.0, -6.5, 0.0], "correct": [1, 0, 0],
        }
    )  # fmt: skip
    judged = pd.DataFrame(
        {
            "paradigm": "wh_island", "sentence_good": ["Good one."] * 4 + ["Good two."], "correct": [1, 1, 0, 0, 1],
            "sentence_bad": ["Bad one."] * 4 + ["Bad two."], "eligible": [True, True, True, False, True],
            "rejected": False, "attention_check": False,
        }
    )  # fmt: skip
    monkeypatch.setattr(people, "shipped", lambda name, config: judged.astype({"correct": bool}))
    out = made.write_run(tmp_path / "run", made.blimp_rows("two"), {"two.blimp": pairs})
    runs, _ = read_folders([out])
    points = people.pair_points(runs, "two").set_index("item")
    assert points["x"].to_dict() == {"Good one. ⁄ *Bad one.": 2 / 3, "Good two. ⁄ *Bad two.": 1.0}
    assert points["y"].tolist() == [1.0, -0.5] and points["n"].tolist() == [3, 1]
    html = scatter.pairs(points.reset_index(), "two")
    assert "✓ right" in html and "✗ not right" in html and "Too few pairs" in html
    monkeypatch.setattr(
        people, "shipped", lambda name, config: judged.assign(sentence_good="Other.", correct=True)
    )
    with pytest.raises(ValueError, match="scored none of the"):
        people.pair_points(runs, "two")


@pytest.mark.upstream
def test_all_judged_pairs_are_pairs_of_blimp(upstream, tmp_path, monkeypatch):
    judgments = blimp_human_judgments.build(upstream)["judgments"]["test"].to_pandas()
    monkeypatch.setattr(people, "shipped", lambda name, config: judgments)
    judged = people.judged_pairs()
    by_paradigm = judged.groupby("paradigm")["share"].mean()
    accuracy = shipped("blimp_human_judgments", "accuracy").set_index("paradigm")["individual_accuracy"]
    pd.testing.assert_series_equal(by_paradigm, accuracy, check_names=False, check_index_type=False)
    pairs = blimp.load(upstream / "blimp").assign(
        method="full", logprob_good=0.0, logprob_bad=-1.0, correct=1
    )
    runs, _ = read_folders([made.write_run(tmp_path / "run", made.blimp_rows("two"), {"two.blimp": pairs})])
    assert len(people.pair_points(runs, "two")) == len(judged) == 335


# --- the page ----------------------------------------------------------------------------------------------


def test_a_bad_folder_is_named_and_the_others_are_shown(folder, tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "results.json").write_text("{")
    runs, problems = read_folders([tmp_path / "none", folder, tmp_path / "broken", folder])
    assert len(runs.runs) == 1
    assert "holds no results.json" in problems[0] and "is not valid JSON" in problems[1] and len(problems) == 2
    page = app([tmp_path / "none", folder])
    assert "holds no results.json" in str(page.get_config_file())


def test_models_of_a_run_are_named_as_they_load(tmp_path):
    rows = [
        *made.agreement_rows("org/hub", "0123abc"),
        *made.agreement_rows("tiny-causal", "sha256:00"),
        *made.agreement_rows(str(tmp_path), "sha256:00"),
    ]
    runs, _ = read_folders([made.write_run(tmp_path / "run", rows, {})])
    assert list(models_of(runs).values()) == ["org/hub@0123abc", "tiny-causal", str(tmp_path)]


def test_the_page_without_results_still_asks_models():
    config = str(app([], ["org/extra"]).get_config_file())
    assert "Compare" in config and "org/extra" in config and "tiny-masked" in config
    assert "Curves" not in config


def test_what_is_served_comes_from_this_machine_alone(folder):
    page = app([folder])
    assert page.analytics_enabled is False
    address = launch(page)
    try:
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address) as answer:
            policy, html = answer.headers["Content-Security-Policy"], answer.read().decode()
    finally:
        page.close()
    assert "default-src 'self'" in policy and "http" not in policy
    loaded = re.findall(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"([^\"]*)", html)
    assert loaded and not [url for url in loaded if re.match(r"(https?:)?//", url)]
    assert "fonts.googleapis" not in html
    assert page.stylesheets == []


def test_a_taken_port_is_explained(folder):
    page = app([])
    port = int(launch(page).rsplit(":", 1)[1].strip("/"))
    try:
        with pytest.raises(ValueError, match="--port"):
            launch(app([]), port=port)
    finally:
        page.close()


def test_without_gradio_the_command_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=re.escape("pip install 'refined-tse[explore]'")):
        cli_results.explore([])


def test_the_space_can_be_pushed_and_asks_for_what_the_package_needs(root, folder):
    upload = push_space.upload(push_space.EXPLORER, "org/explorer", [folder])
    assert {
        "app.py",
        "requirements.txt",
        "tse_scorers/explore/app.py",
        "results/synthetic/results.json",
    } <= set(upload.files)
    (block,) = re.findall(r"^dependencies = \[\n(.*?)^\]", (root / "pyproject.toml").read_text(), re.M | re.S)
    needed = re.findall(r'"([^"]+)"', block)
    assert upload.content("requirements.txt").decode().split() == sorted(needed)


def test_notices_are_announced():
    assert 'role="alert"' in notice("Wrong <b>.") and "&lt;b&gt;" in notice("Wrong <b>.")
    assert "alert" not in notice("Fine.", "remark")
