"""`compare` and `tse compare`: on the same items, over the units that they share, by group and by condition."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests
from toy_suites import WORDS, letters_run

from tse_scorers.io.store import Record, write_results
from tse_scorers.results import Results
from tse_scorers.runs.comparable import all_notices, different
from tse_scorers.runs.compare import COLUMNS, CONDITION_KEYS, as_json, compare
from tse_scorers.statistics import Units, contrast, difference
from tse_scorers.suites.agreement import Agreement
from tse_scorers.suites.german import German

KEYS = [
    "suite", "dataset", "config", "measure", "group", "system", "reference", "score", "reference_score", "difference",
    "se", "ci_low", "ci_high", "p", "p_adjusted", "unit", "n_units", "n_items", "n_lemmas", "test",
]  # fmt: skip


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """Three models: one that knows all letters, one that knows a to c, one that knows a."""
    return letters_run(tmp_path_factory.mktemp("three"), {"all": "abcdef", "abc": "abc", "a": "a"})


def overall(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["level"] == "all"].set_index("system")


# ---- models ---------------------------------------------------------------------------------------------------


def test_models_are_compared_item_by_item_and_group_by_group(three):
    rows = compare(three).rows
    row = overall(rows).loc["abc"]
    assert (row["reference"], row["score"], row["reference_score"], row["difference"]) == (
        "all",
        0.5,
        1.0,
        -0.5,
    )
    known = WORDS["letter"].isin([*"abc"]).astype(float)
    found = difference(known, np.ones(12), Units(np.arange(12)))
    assert [row[name] for name in ("se", "ci_low", "ci_high", "p")] == [
        found.se,
        found.low,
        found.high,
        found.p,
    ]
    assert (row["n_items"], row["n_ties"], row["n_units"], row["unit"]) == (12, 6, 12, "items")
    assert row["minimum_detectable"] == found.minimum_detectable > 0
    kinds = rows[(rows["system"] == "abc") & (rows["level"] == "kind")].set_index("value")["difference"]
    assert kinds.to_dict() == {"vowel": -0.5, "consonant": -0.5}
    assert set(rows["level"]) == {"all", "kind", "place"}  # the user's own columns as well


def test_p_values_are_adjusted_within_a_measure_a_level_and_a_reference(three):
    rows = compare(three).rows
    for _, family in rows.groupby("level"):
        assert family["family"].nunique() == 1 and set(family["n_family"]) == {len(family)}
        assert family["p_adjusted"].to_numpy() == pytest.approx(multipletests(family["p"], method="holm")[1])
    fewer = compare(three.only(["all", "abc"])).rows  # what is not compared is in no family
    assert set(overall(fewer)["n_family"]) == {1}


def test_the_reference_can_be_chosen_by_system(three):
    rows = compare(three, reference="abc").rows
    assert overall(rows)["difference"].to_dict() == {"all": 0.5, "a": pytest.approx(-1 / 3)}
    with pytest.raises(ValueError, match=r"Unknown model 'b'; expected one of: all, abc, a"):
        compare(three, reference="b")


def test_only_the_asked_measures_are_compared(three):
    assert set(compare(three).rows["measure"]) == {"known"}
    rows = compare(three, measures=["other"]).rows
    assert set(rows["measure"]) == {"other"} and overall(rows)["n_items"].eq(10).all()  # f has no score
    with pytest.raises(
        ValueError, match=r"Unknown measure 'knwn'; expected one of: known, other. Did you mean known"
    ):
        compare(three, measures=["knwn"])
    with pytest.raises(ValueError, match="Unknown measure 'bits'"):  # no share, so that no interval fits
        compare(three, measures=["bits"])


def test_items_that_only_one_model_was_asked_are_left_out(three, tmp_path):
    other = letters_run(tmp_path, {"late": "abc"}, WORDS.iloc[3:].assign(more="x"))
    folders = [three.folders[0], tmp_path]
    with pytest.raises(ValueError, match=r"late was run on different data than all; .*--allow-different"):
        compare(folders)
    rows = overall(compare(folders, allow_different=True).rows)
    assert rows.loc["late", ["n_items", "different"]].tolist() == [9, "data"]
    assert rows.loc["late", "score"] == other.frame["score"][0] == pytest.approx(1 / 3)
    assert rows.loc["abc", ["n_items", "different"]].tolist() == [12, ""]


def test_items_that_only_one_model_has_a_score_for_are_counted_in_each_group(tmp_path):
    record = letters_run(tmp_path, {"all": "abcdef", "abc": "abc"}).records[1]
    items = record.read()["items"]
    record.write({"items": items.assign(known=items["known"].mask(items["letter"].isin(["a", "b"])))})
    rows = compare([tmp_path]).rows.set_index(["level", "value"])
    assert rows.loc[("all", ""), ["n_items", "n_excluded"]].tolist() == [8, 4]
    assert rows.loc["kind", "n_excluded"].to_dict() == {"vowel": 2, "consonant": 2}
    assert rows.loc["place", "n_excluded"].to_dict() == {"early": 2, "late": 2}


def test_models_without_shared_items_are_named_with_the_reason(three, tmp_path):
    letters_run(tmp_path, {"apart": "abc"}, WORDS.assign(word=WORDS["word"] + "!"))
    found = compare([three.folders[0], tmp_path], allow_different=True)
    assert set(found.rows["system"]) == {"abc", "a"}
    (sentence,) = found.not_compared
    assert sentence.startswith(
        "Not compared: known of apart and all on Letters: own, because they share no items;"
    )
    with pytest.warns(UserWarning, match="known of apart and all"):
        Results.load(three.folders[0], tmp_path).compare(allow_different=True)
    with pytest.raises(
        ValueError, match=r"There is nothing to compare\. Not compared: a on .* no other model"
    ):
        compare(three.only(["a"]))


def test_a_folder_named_twice_is_one(three):
    folder = three.folders[0]
    assert len(compare([folder, folder]).rows) == len(compare(three).rows)


def test_a_single_item_says_nothing(tmp_path):
    rows = as_json(compare(letters_run(tmp_path, {"one": "a", "other": ""}, WORDS[:1])))
    assert rows[0]["difference"] == -1.0
    assert [rows[0][key] for key in ("se", "ci_low", "ci_high", "p", "p_adjusted")] == [None] * 5


def test_german_sets_are_compared_over_templates(tmp_path):
    from tse_scorers.running import run

    results = run(["tiny-causal-german", "tiny-lstm"], German(limit=4), out=tmp_path, report=False)
    row = overall(compare(results).rows).iloc[0]
    scores = results.frame[(results.frame["level"] == "all") & (results.frame["measure"] == "auc")]["score"]
    assert (row["reference_score"], row["score"]) == pytest.approx(tuple(scores))
    assert (row["unit"], row["n_units"], row["n_items"]) == ("templates", 4, 4 * 36)
    assert set(compare(results, measures=["auc@1-2_dative"]).rows["measure"]) == {"auc@1-2_dative"}


# ---- lemmas ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gaps(tmp_path_factory):
    """Two models with unlike vocabularies."""
    from tse_scorers.running import run

    out = tmp_path_factory.mktemp("gaps")
    return run(["tiny-causal", "tiny-masked"], Agreement(groups=["Simple"]), out=out, report=False)


def test_ew_is_compared_over_the_lemmas_of_both_and_mw_is_not(gaps):
    found = compare(gaps)
    rows = overall(found.rows.set_index("measure", drop=False).loc[["ew"]])
    lists = [
        set(record.tables["lemmas"].read().query("excluded == ''")["singular"]) for record in gaps.records
    ]
    assert rows["n_lemmas"].tolist() == [len(set.intersection(*lists))]
    assert rows["unit"].tolist() == ["subject nouns x lemmas"]
    (sentence,) = found.not_compared
    assert "mw of tiny-masked and tiny-causal" in sentence and "tse run agreement --lemmas" in sentence
    for asked in (["mw"], ["ew", "mw"]):
        with pytest.raises(
            ValueError, match=r"nothing to compare on mw\. .*different lemmas.*tse run agreement --lemmas"
        ):
            compare(gaps, measures=asked)


def test_over_common_lemmas_two_models_have_the_same_scores_as_over_those_of_both(gaps):
    row = overall(compare(gaps, measures=["ew"], common_lemmas=True).rows).iloc[0]
    plain = overall(compare(gaps, measures=["ew"]).rows).iloc[0]
    assert row["difference"] == pytest.approx(plain["difference"]) and row["n_lemmas"] == plain["n_lemmas"]


# ---- conditions -----------------------------------------------------------------------------------------------


def test_one_column_and_one_measure_are_texts(three):
    one = compare(three.only(["abc"]), measures="known", by="kind").rows
    assert one.equals(compare(three.only(["abc"]), measures=["known"], by=["kind"]).rows)


def test_a_design_has_scores_differences_and_an_interaction_within_a_model(three):
    rows = compare(three.only(["abc"]), by=["kind", "place"]).rows
    of = {kind: part.set_index("value") for kind, part in rows.groupby("kind")}
    known = WORDS["letter"].isin([*"abc"]).astype(float)
    label = WORDS["kind"] + ", " + WORDS["place"]
    assert of["score"]["score"].to_dict() == pytest.approx(known.groupby(label).mean().to_dict())
    name = "vowel, late − vowel, early"
    found = contrast(known, Units(np.arange(12)), label, {"vowel, late": 1, "vowel, early": -1})
    row = of["difference"].loc[name]
    assert (row["difference"], row["se"], row["p"], row["n_items"]) == (found.mean, found.se, found.p, 4)
    assert len(of["difference"]) == 4 == row["n_family"]
    (interaction,) = of["interaction"].to_dict("records")
    weights = {"consonant, late": 1, "consonant, early": -1, "vowel, late": -1, "vowel, early": 1}
    assert interaction["se"] == contrast(known, Units(np.arange(12)), label, weights).se
    assert interaction["n_family"] == 1 and interaction["p_adjusted"] == interaction["p"]


def test_units_that_are_in_several_conditions_are_compared_with_themselves(tmp_path):
    data = WORDS.assign(item=WORDS["letter"])
    rows = compare(letters_run(tmp_path, {"abc": "abc"}, data), by=["place"]).rows
    assert set(rows["unit"]) == {"items"} and set(rows["n_units"]) == {6}
    row = rows[rows["kind"] == "difference"].iloc[0]
    assert (row["difference"], row["p"]) == (0.0, 1.0)


def test_models_are_compared_within_conditions_and_across_them(three):
    rows = compare(three, by=["kind"]).rows.set_index(["kind", "level", "system", "value"])
    assert rows.loc[("models", "kind", "a", "vowel"), "difference"] == -0.5
    assert rows.loc[("models", "kind", "a", "consonant"), "difference"] == -1.0
    row = rows.loc[("models x conditions", "kind", "a", "consonant − vowel")]
    assert row["difference"] == -0.5 and row["reference"] == "all"
    both = compare(three, by=["kind", "place"]).rows
    assert (both["kind"].eq("models") & both["level"].eq("kind x place")).sum() == 2 * 4


def test_items_without_a_value_are_counted(tmp_path):
    data = WORDS.assign(kind=WORDS["kind"].mask(WORDS["letter"].isin(["a", "f"])))
    rows = compare(letters_run(tmp_path, {"abc": "abc"}, data), by=["kind"]).rows
    assert set(rows["n_without"]) == {4} and set(rows.loc[rows["kind"] == "difference", "n_items"]) == {8}


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("knd", "Unknown column 'knd'; expected one of: .*Did you mean kind"),
        ("known", "Unknown column 'known'; expected one of: letter, word, kind, place"),
        ("item", "at most one of the 12 conditions has items of several units"),
        ("same", "same has the single value 'x' in its items"),
    ],
)
def test_columns_that_make_no_conditions_are_refused(tmp_path, column, said):
    data = WORDS.assign(item=[f"{n}" for n in range(12)], same="x")
    with pytest.raises(ValueError, match=said):
        compare(letters_run(tmp_path, {"abc": "abc"}, data), by=[column])


def test_a_model_without_the_column_is_not_left_out_in_silence(three, tmp_path):
    letters_run(tmp_path, {"earlier": "abc"}, WORDS.drop(columns="place"))
    found = compare([three.folders[0], tmp_path], by=["place"], allow_different=True)
    assert any("conditions of earlier by place" in sentence for sentence in found.not_compared)


# ---- what does not compare ------------------------------------------------------------------------------------


def record(system="m", facts=None, options=None, **signature) -> Record:
    about = {"suite": "german", "dataset": "german_argument_structure", "config": "ours", "model": system}
    about |= {"revision": "1", "data": "1", "options": options or {}}
    return Record(None, about | signature, {"dtype": "float32"} | (facts or {}))


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (record(revision="2", facts={"dtype": "float16"}), []),
        (record(facts={"pll": "original"}), []),  # the other is no masked model
        (record(data="2"), ["data"]),
        (record(data="2", dataset="mine.csv"), ["data set"]),
        (record(dataset="copy.csv"), []),
        (record(data="2", options={"limit": 5}), ["part of the data"]),
        (record(lemmas="2", options={"lemmas": "clean"}), ["lemma list"]),
        (record(options={"linking": "slln", "methods": ["full"]}), ["--linking"]),
    ],
)
def test_what_makes_scores_incomparable_is_named(other, said):
    assert different(record(), other) == different(other, record()) == said
    masked = record(facts={"pll": "original"}), record(facts={"pll": "within_word_l2r"})
    assert different(*masked) == ["--pll"]


def test_there_is_one_notice_for_each_cause(tmp_path, monkeypatch):
    part = {"options": {"limit": 5}, "data": "5"}
    records = [
        record("a", facts={"pll": "x"}),
        record("b", **part),
        record("c", **part),
        record("d", facts={"pll": "x"}),
    ]
    records += [record("e"), record("f", facts={"pll": "y"}), record("g", dataset="mine.csv", data="2")]
    records = [
        of.__class__(tmp_path / "runs" / of.signature["model"], of.signature, of.facts) for of in records
    ]
    assert all_notices(Results(records)) == [
        "Part of the data (at most 5 items of each group): b, c. Not comparable with published numbers.",
        "f was run with a different --pll than a; do not compare their scores.",
        "g was run on a different data set than a; do not compare their scores.",
    ]


def test_only_different_revisions_are_said_to_hold_the_same_weights(tmp_path):
    for folder in ("one", "again"):
        letters_run(tmp_path / folder, {"abc": "abc"})
    results = Results.load(tmp_path / "one", tmp_path / "again")
    assert len(results.systems) == 2 and all_notices(results) == []
    other = results.records[1]
    replace(other, signature={**other.signature, "revision": "2"}).write()
    (said,) = all_notices(Results.load(tmp_path / "one", tmp_path / "again"))
    assert said.startswith("abc@abc, abc@2 have the same score on every item")


# ---- the command ----------------------------------------------------------------------------------------------


def tse(*arguments) -> subprocess.CompletedProcess:
    code = "import toy_suites\nfrom tse_scorers.cli import main\nmain()"
    command = [sys.executable, "-c", code, "compare", *map(str, arguments)]
    environment = {"PYTHONPATH": ":".join(sys.path), "COLUMNS": "200"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_the_command_prints_sentences_and_writes_json(three, tmp_path):
    file = tmp_path / "found.json"
    done = tse(three.folders[0], "--by", "kind,place", "--measure", "known", "--json", file)
    assert done.returncode == 0, done.stderr
    for text in (
        "Reference: all (choose another with --reference). Tables of items shared with it compare models: difference",
        "Tables by kind x place compare conditions within each model: difference = first condition − second",
        "known by kind x place: interactions", "known: 95 % intervals over 2 to 12 items.",
        "known, models: 2 of 2 differ (p below 0.05 after Holm's adjustment of 2 tests).",
    ):  # fmt: skip
        assert text in done.stdout, done.stdout
    rows = json.loads(file.read_text())
    models, conditions = ([row for row in rows if ("kind" in row) == has] for has in (False, True))
    assert list(models[0]) == list(COLUMNS) and list(COLUMNS[: len(KEYS)]) == KEYS
    assert {tuple(row)[: len(CONDITION_KEYS)] for row in conditions} == {CONDITION_KEYS}
    assert {row["condition"]: row["value"] for row in conditions if row["kind"] == "score"}[
        "vowel, late"
    ] == 0.5
    assert isinstance(models[0]["n_items"], int) and models[0]["measure"] == "known"


def test_the_command_says_what_is_wrong_and_loads_no_pytorch(three, tmp_path):
    done = tse(three.folders[0], "--reference", "nobody")
    assert done.returncode == 2 and "Unknown model 'nobody'" in done.stderr
    done = tse(tmp_path / "none")
    assert done.returncode == 2 and "has no results" in done.stderr
    write_results(three.folders[0])
    code = (
        "import sys, tse_scorers.runs.compare, tse_scorers.report.differences\nprint('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
