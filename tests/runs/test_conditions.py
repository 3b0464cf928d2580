"""`tse compare --by`: conditions of a design within each model, over the items that they share."""

import json

import pandas as pd
import pytest
from run_records import table_path
from typer.testing import CliRunner

import tse_scorers
from tse_scorers.cli.app import app
from tse_scorers.runs.comparing.compare import compare


@pytest.fixture(scope="module")
def two_by_two(tmp_path_factory):
    """A run on eight items, each in the four conditions of number x attractor, and the table of its scores."""
    folder = tmp_path_factory.mktemp("design")
    rows = []
    for item, noun in enumerate(
        ["author", "pilot", "guard", "chef", "senator", "farmer", "doctor", "skater"]
    ):
        for number, attractor in (("sg", "same"), ("sg", "other"), ("pl", "same"), ("pl", "other")):
            subject, verbs = (
                (noun, ("laughs", "laugh")) if number == "sg" else (f"{noun}s", ("laugh", "laughs"))
            )
            near = "manager" if (number == "sg") == (attractor == "same") else "managers"
            good, bad = (f"The {subject} near the {near} {verb}." for verb in verbs)
            about = {
                "UID": f"{number}_{attractor}",
                "linguistics_term": "agreement",
                "field": "syntax",
                "item": item,
            }
            about |= {"number": number, "attractor": attractor, "sentence_good": good, "sentence_bad": bad}
            rows.append(about)
    pd.DataFrame(rows).to_csv(folder / "mine.csv", index=False)
    tse_scorers.run(
        "tiny-lstm",
        suite="minimal_pairs",
        data=folder / "mine.csv",
        out=folder / "run",
        report=False,
        methods=["full"],
    )
    return folder / "run", pd.read_parquet(table_path(folder / "run"))


def test_a_model_without_the_column_is_not_left_out_in_silence(two_by_two, tmp_path):
    """A run on an earlier form of the table was missing from the page, without a word."""
    run, _ = two_by_two
    table = pd.read_csv(run.parent / "mine.csv").drop(columns="attractor")
    table.to_csv(tmp_path / "mine.csv", index=False)
    earlier = {"suite": "minimal_pairs", "data": tmp_path / "mine.csv", "methods": ["full"], "report": False}
    tse_scorers.run("tiny-causal", out=tmp_path / "run", **earlier)
    with pytest.raises(ValueError, match=r"tiny-causal .*\(mine\) .*column 'attractor'.*tiny-lstm"):
        compare([run, tmp_path / "run"], by=["number", "attractor"], allow_different=True)


def test_a_design_has_scores_differences_and_an_interaction(two_by_two):
    """Items in several conditions were independent units, and nothing compared conditions within a model."""
    run, scores = two_by_two
    rows = compare([run], by=["number", "attractor"]).conditions.set_index(["kind", "condition"])
    wide = scores.pivot(index="item", columns=["number", "attractor"], values="correct").astype(float)
    for (number, attractor), correct in wide.items():
        assert rows.loc[("score", f"{number}, {attractor}"), "value"] == pytest.approx(correct.mean())
    assert set(rows["n_units"]) == {8} and set(rows["unit"]) == {"items (these paradigms)"}
    differences = rows.loc["difference"]
    assert len(differences) == 4 and set(differences["n_family"]) == {4}
    attracted = wide["sg", "other"] - wide["sg", "same"]
    assert differences.loc["sg, other − sg, same", "value"] == pytest.approx(attracted.mean())
    (interaction,) = rows.loc["interaction"].to_dict("records")
    by_item = (wide["pl", "other"] - wide["pl", "same"]) - attracted
    assert interaction["value"] == pytest.approx(by_item.mean())
    assert interaction["n_family"] == 1 and interaction["p_adjusted"] == interaction["p"]
    assert interaction["ci_low"] < interaction["value"] < interaction["ci_high"]


def test_the_command_compares_conditions_of_a_single_model(two_by_two, tmp_path):
    run, _ = two_by_two
    asked = [
        "--by",
        "number",
        "--by",
        "attractor",
        "--out",
        str(tmp_path / "out"),
        "--json",
        str(tmp_path / "d.json"),
    ]
    said = CliRunner().invoke(app, ["compare", str(run), *asked], catch_exceptions=False)
    assert said.exit_code == 0 and "accuracy by number x attractor" in said.output
    assert "95 % intervals are over 8 items" in said.output and "Interactions: " in said.output
    rows = json.loads((tmp_path / "d.json").read_text())
    assert [row["kind"] for row in rows].count("interaction") == 1
    assert "accuracy by number x attractor: interactions" in said.output
    table = pd.read_csv(tmp_path / "out" / "conditions.csv")
    assert len(table) == len(rows) == 9


@pytest.mark.parametrize(
    "column, words",
    [
        ("atractor", ["Unknown column", "'atractor'", "attractor"]),
        ("field", ["field", "single value", "syntax"]),
        ("logprob_good", ["'logprob_good' holds scores", "number, attractor"]),
        ("score", ["Unknown column 'score'", "number, attractor"]),
        ("correct", ["'correct' holds scores", "number, attractor"]),
        ("item", ["8 conditions of item cannot be compared", "several units (here items"]),
        (
            "sentence_good",
            ["32 conditions of sentence_good cannot be compared", "whose values many items share"],
        ),
    ],
)
def test_a_column_that_makes_no_conditions_is_refused(two_by_two, column, words):
    with pytest.raises(ValueError) as refused:
        compare([two_by_two[0]], by=[column])
    assert all(word in str(refused.value) for word in words)


def test_items_without_a_value_of_the_factor_are_counted(two_by_two, tmp_path):
    """Pairs without a value were left out, and only the numbers of items showed it."""
    table = pd.read_csv(two_by_two[0].parent / "mine.csv")
    table.loc[table["item"].isin([1, 5]) & (table["number"] == "pl"), "attractor"] = None
    table.to_csv(tmp_path / "mine.csv", index=False)
    run = tmp_path / "run"
    tse_scorers.run(
        "tiny-lstm",
        suite="minimal_pairs",
        data=tmp_path / "mine.csv",
        out=run,
        report=False,
        methods=["full"],
    )
    asked = ["--by", "attractor", "--out", str(tmp_path / "out"), "--json", str(tmp_path / "d.json")]
    said = CliRunner().invoke(app, ["compare", str(run), *asked], catch_exceptions=False).output
    sentence = "Items excluded, because they have no value of attractor: 4."
    assert sentence in " ".join(said.split())
    rows = json.loads((tmp_path / "d.json").read_text())
    assert {(row["n_items"], row["n_without"]) for row in rows} == {(14, 4), (28, 4)}


def test_a_column_may_have_its_name_in_the_users_table(two_by_two):
    """UID, the paradigm in one's own table, was unknown, since tables of scores have another name for it."""
    run, scores = two_by_two
    rows = compare([run], by=["UID"]).conditions
    found = rows[rows["kind"] == "score"].set_index("condition")["value"]
    expected = scores.groupby("paradigm")["correct"].mean()
    assert found.to_dict() == pytest.approx(expected.to_dict()) and len(found) == 4


def test_numbers_of_contexts_are_no_conditions(tmp_path):
    tse_scorers.run("tiny-causal", groups=["Simple"], limit=2, report=False, out=tmp_path)
    with pytest.raises(ValueError, match=r"'context_id' holds scores, .* number") as refused:
        compare([tmp_path], by=["context_id"])
    assert "ew_top" not in str(refused.value)
