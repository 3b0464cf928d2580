"""A section on one's own data has one's own conditions."""

from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from tse_scorers import run
from tse_scorers.io.runs import read_runs
from tse_scorers.report.page import report_of, write_report
from tse_scorers.runs.request import users_columns

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


def conditions(runs):
    """Return the scores of the user's conditions, if the section has any."""
    (section,) = report_of(runs).sections
    return [block.scores for block in section.parts.get("Your conditions", ())]


def test_conditions_have_the_means_of_their_items(out):
    """Columns that tell items apart (freq), and those that say which belong together (item), are no conditions."""
    runs = read_runs([out])
    (found,) = conditions(runs)
    (file,) = runs.scores("minimal_pairs")
    items = file.read(["attractor", "correct"])
    expected = items.astype({"correct": float}).groupby("attractor")["correct"].mean()
    scores = found[found["label"].str.startswith("attractor")].set_index("label")["score"]
    assert {name.removeprefix("attractor: "): score for name, score in scores.items()} == pytest.approx(
        expected.to_dict()
    )


def test_columns_that_a_suite_added_are_no_conditions(out):
    """What `ask` added to the rows stood among the user's own columns."""
    runs = read_runs([out])
    (signature,) = runs.signatures.values()
    assert {"item", "attractor", "freq"} <= set(signature["request"]["own_columns"])
    request = signature["request"] | {"own_columns": ["item", "freq"]}
    signatures = {key: signature | {"request": request} for key in runs.signatures}
    assert conditions(replace(runs, signatures=signatures)) == []


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


def test_they_are_on_the_page_of_own_data_only(out, tmp_path):
    assert ">Your conditions<" in write_report(out).read_text(encoding="utf-8")
    run("tiny-causal", "agreement", limit=1, out=tmp_path, report=False)
    assert conditions(read_runs([tmp_path])) == []
