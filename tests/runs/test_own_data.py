"""A section on one's own data begins with one's own conditions and sentences, which were nowhere on its page."""

from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from tse_scorers import run
from tse_scorers.report.inputs import read_runs
from tse_scorers.runs.own_data import own_data_view
from tse_scorers.runs.report import write_report
from tse_scorers.runs.request import users_columns
from tse_scorers.suites.registry import find_suite

NOUNS = ("author", "pilot", "guard", "chef", "senator", "farmer")


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    rows = [
        {
            "item": noun, "attractor": attractor, "freq": 1000 * place + len(attractor),
            "sentence_good": f"The {noun} near the {other} laughs.",
            "sentence_bad": f"The {noun} near the {other} laugh.",
        }
        for place, noun in enumerate(NOUNS)
        for attractor, other in (("same", "skater"), ("other", "skaters"))
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(folder / "mine.csv", index=False)
    run("tiny-causal", "minimal_pairs", data=folder / "mine.csv", out=folder / "out", report=False)
    return folder / "out"


def _view_of(runs, name):
    suite = find_suite(name)
    return own_data_view(runs, suite, suite.views(runs))


def _view(out):
    return _view_of(read_runs([out]), "minimal_pairs")


def test_conditions_have_the_means_of_their_items(out):
    """Columns that tell items apart (freq), and those that say which belong together (item), are no conditions."""
    conditions, _ = _view(out).blocks
    runs = read_runs([out])
    (file,) = runs.scores("minimal_pairs")
    items = file.read(["attractor", "correct"])
    expected = items.astype({"correct": float}).groupby("attractor")["correct"].mean()
    assert list(conditions.values.index) == ["attractor: same", "attractor: other"]
    for name, value in conditions.values["tiny-causal"].items():
        assert value == pytest.approx(expected[name.removeprefix("attractor: ")])


def test_columns_that_a_suite_added_are_no_conditions(out):
    """What `ask` added to the rows stood among the user's own columns."""
    runs = read_runs([out])
    (signature,) = runs.signatures.values()
    assert {"item", "attractor", "freq"} <= set(signature["request"]["own_columns"])
    request = signature["request"] | {"own_columns": ["item", "freq"]}
    signatures = {key: signature | {"request": request} for key in runs.signatures}
    (sentences,) = _view_of(replace(runs, signatures=signatures), "minimal_pairs").blocks
    assert sentences.caption == "The first of your pairs."


def test_columns_that_another_package_adds_when_it_loads_are_no_users(tmp_path):
    """Columns that `load` had added were called the user's."""
    table = tmp_path / "mine.csv"
    pd.DataFrame({"text": ["A b."], "freq": [1]}).to_csv(table, index=False)
    items = SimpleNamespace(own_columns=(), frame=pd.DataFrame(columns=["text", "frequency", "n_words"]))
    options = SimpleNamespace(data=str(table), renamed_columns={"freq": "frequency"})
    suite = SimpleNamespace(name="of_a_package", items=items, options=options)
    assert users_columns(suite) == ["text", "frequency"]
    suite.options.data = str(tmp_path / "absent.csv")
    assert users_columns(suite) == []
    suite.name = "minimal_pairs"
    assert users_columns(suite) == ["text", "frequency", "n_words"]


def test_sentences_have_their_scores(out):
    _, sentences = _view(out).blocks
    runs = read_runs([out])
    (file,) = runs.scores("minimal_pairs")
    items = file.read(["sentence_good", "logprob_good", "logprob_bad"])
    assert sentences.caption == "The first of your pairs." and "has all 12" in sentences.note
    assert "in natural logs." in sentences.note
    assert list(sentences.text.index)[:2] == [
        "The author near the skater laughs / laugh.", "The author near the skaters laughs / laugh."
    ]  # fmt: skip
    margin = (items["logprob_good"] - items["logprob_bad"]).iloc[0]
    mark, text = sentences.text["tiny-causal"].iloc[0].split()
    assert mark == ("✓" if margin > 0 else "✗")
    assert float(text.replace("−", "-")) == pytest.approx(margin, abs=0.005)


def test_they_come_first_on_the_page(out):
    page = write_report(out, figures=False).read_text(encoding="utf-8")
    assert 0 < page.index(">Your data<") < page.index(">Accuracy</h3>")


def test_released_data_have_no_such_part(tmp_path):
    run("tiny-causal", "agreement", limit=1, out=tmp_path, report=False)
    runs = read_runs([tmp_path])
    assert _view_of(runs, "agreement") is None


def test_sentences_of_regions_are_shown_with_the_words_of_all_conditions(tmp_path):
    """Items of regions were named by numbers."""
    rows = [
        {"item": item, "condition": condition, "region": region, "text": text}
        for item, noun in enumerate(NOUNS[:2], 1)
        for condition, verb in (("match", "laughs"), ("mismatch", "laugh"))
        for region, text in (
            ("subject", f"The {noun}"),
            ("that", "" if verb == "laugh" else "who"),
            ("verb", verb),
        )
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "mine.csv", index=False)
    criteria = ["agreement: (verb;%mismatch%) > (verb;%match%)"]
    run(
        "tiny-causal",
        "regions",
        data=tmp_path / "mine.csv",
        criteria=criteria,
        out=tmp_path / "out",
        report=False,
    )
    (sentences,) = _view_of(read_runs([tmp_path / "out"]), "regions").blocks
    assert list(sentences.text.index) == [
        "The author who / – laughs / laugh (mine · agreement · 1)",
        "The pilot who / – laughs / laugh (mine · agreement · 2)",
    ]
    assert set(sentences.text["tiny-causal"]) <= {"✓", "✗"} and "conditions" in sentences.note
