"""`tse explore`: its frames against the results, what it serves, and what it says without gradio."""

import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from toy_suites import letters_run

explore = pytest.importorskip("tse_scorers.explore", reason="needs gradio (pip install '.[explore]')")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return letters_run(
        tmp_path_factory.mktemp("explored"), {"first": "abcdef", "second": "abc", "<b>third</b>": "a"}
    )


def test_scores_groups_and_items_are_those_of_the_results(results):
    explored = explore.Explored(results)
    assert explored.leaderboard()["model"].tolist() == ["first", "second", "<b>third</b>"]
    shown = explored.groups("Letters: own", "known", "kind").set_index(["system", "level", "value"])["score"]
    rows = results.frame[results.frame["level"].isin(["all", "kind"]) & results.frame["measure"].eq("known")]
    assert shown.to_dict() == rows.set_index(["system", "level", "value"])["score"].to_dict()
    items = explored.items("Letters: own", "known", "first", "second")
    assert len(items) == 12 and set(items["kind"]) == {"vowel", "consonant"}
    right = explore.found(items, "A right, B wrong")
    assert sorted(set(right["letter"])) == ["d", "e", "f"]
    assert set(explore.found(items, "all", "kind: vowel", "LATE")["place"]) == {"late"}
    assert explore.found(items, text=".*").empty
    with pytest.raises(ValueError, match="nobody does not contain items of known"):
        explored.items("Letters: own", "known", "nobody", "first")


def test_surprisals_of_words_sum_to_that_of_the_sentence():
    answer = explore.surprisals("tiny-causal", ["The author is tall.", "The author are tall."])
    for _, of_sentence in answer.groupby("sentence"):
        whole, *words = of_sentence["surprisal"]
        assert sum(words) == pytest.approx(whole, abs=0.05)  # the sentence's end besides


def test_the_page_answers_to_names_of_this_machine_alone(results):
    page = explore.app(results, ["tiny-causal"])
    try:
        address = explore.launch(page)
        assert urllib.request.urlopen(address).status == 200
        with pytest.raises(urllib.error.HTTPError, match="400"):
            urllib.request.urlopen(urllib.request.Request(address, headers={"Host": "evil.example"}))
    finally:
        page.close()


def test_a_folder_without_results_is_refused_in_a_sentence(tmp_path):
    command = [sys.executable, "-m", "tse_scorers", "explore", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "has no results" in done.stderr
