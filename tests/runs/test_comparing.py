"""`tse compare`: on the same items only, over the units that they share, for each group and overall."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from run_records import drop_tables, record_of
from statsmodels.stats.multitest import multipletests
from synthetic_runs import blimp_rows, blimp_scores, write_run
from typer.testing import CliRunner

import tse_scorers
from tse_scorers.cli.app import app
from tse_scorers.io.store import read_records
from tse_scorers.runs.comparing.compare import as_json, compare, with_families, with_own_lemmas
from tse_scorers.statistics import Units, difference
from tse_scorers.suites.registry import find_suite

PATTERNS = ["".join(cases) for cases in product("NDA", repeat=3) if len(set(cases)) > 1]
ORDERS = ["".join(cases) for cases in permutations("NDA")]
ABOUT = {
    "suite": "minimal_pairs",
    "dataset": "blimp",
    "config": "blimp",
    "metric": "accuracy",
    "method": "full",
}


def blimp_run(folder, model: str, correct: list[int], first: int = 0, paradigms: list[str] | None = None):
    frame = pd.DataFrame({"correct": correct})
    frame["pair_id"] = frame.index + first
    frame["paradigm"], frame["method"] = paradigms or "anaphor_number_agreement", "full"
    # As many critical words as pairs: noun0/noun0s, …
    frame["sentence_good"] = "Noun" + frame["pair_id"].astype(str) + "s."
    frame["sentence_bad"] = "Noun" + frame["pair_id"].astype(str) + "."
    score = float(np.mean(correct))
    rows = [{**ABOUT, "model": model, "revision": None, "group": "all", "score": score, "n": len(correct)}]
    return write_run(folder / model, rows, {f"{model}.minimal_pairs": frame})


def contexts_run(
    folder,
    model: str,
    ew: list[float],
    suffixes: list[str | None],
    per_prefix: int = 1,
    **scores: list[float],
):
    frame = pd.DataFrame({"ew_top_1": ew, "mw_top_1": 0.5, "suffix": suffixes, "number": "singular"})
    frame = frame.assign(**{name.replace("_0", "_0."): values for name, values in scores.items()})
    frame["prefix"] = [f"The author {place // per_prefix}" for place in range(len(ew))]
    about = {
        **ABOUT,
        "suite": "agreement",
        "config": "mine",
        "metric": "ew",
        "method": None,
        "forms": "single",
        "cutoff_side": "top",
        "cutoff": 1.0,
    }
    rows = [about | {"model": model, "revision": None, "group": "all", "score": 0.5, "n": len(ew)}]
    return write_run(folder / model, rows, {f"{model}.agreement.mine.contexts": frame})


def german_run(
    folder, model: str, aucs: list[float], sentence: str = "", without_acceptable: int | None = None
):
    """A run in which every variation set of each template has the same AUC: 0, 0.5 or 1 (NaN scores: 0)."""
    acceptable = {0.0: -2.0, 0.5: -1.0, 1.0: 0.0}
    rows = [
        {
            "template": str(template),
            "case_order": cases,
            "positions": positions,
            "acceptable": cases in ORDERS,
        }
        | {"logprob": acceptable.get(auc, auc) if cases in ORDERS else -1.0}
        for template, auc in enumerate(aucs)
        for positions, cases in product(map("".join, permutations("123")), PATTERNS)
        if template != without_acceptable or cases not in ORDERS
    ]
    frame = pd.DataFrame(rows)
    frame["sentence"] = sentence + frame["template"] + frame["case_order"] + frame["positions"]
    about = {**ABOUT, "suite": "german", "config": "ours", "metric": "auc", "method": None}
    rows = [about | {"model": model, "revision": None, "group": "all", "score": 0.5, "n": len(frame)}]
    return write_run(folder / model, rows, {f"{model}.german.ours": frame})


def expected(score: list[float], reference: list[float], **units) -> tuple[float, float]:
    """Standard error and p of the difference of items; each is a unit, or of those that are given."""
    found = difference(score, reference, Units(**{"labels": range(len(score)), **units}))
    return found.se, found.p


def test_pairs_of_one_paradigm_are_compared_over_their_critical_words(tmp_path):
    # Of 12 shared pairs, 3 are right for the second alone.
    first = blimp_run(tmp_path, "first", [1] * 9 + [0] * 3)
    second = blimp_run(tmp_path, "second", [0] * 5 + [1] * 12, first=-5)
    rows = compare([first, second]).rows.set_index("group")
    assert list(rows.index) == ["all", "anaphor_number_agreement"]
    row = rows.loc["all"]
    assert (row["system"], row["reference"], row["n_items"], row["n_units"]) == ("second", "first", 12, 12)
    assert (row["score"], row["reference_score"], row["difference"]) == (1.0, 0.75, 0.25)
    assert (row["se"], row["p"]) == pytest.approx(expected([1] * 12, [1] * 9 + [0] * 3))
    assert (row["n_ties"], row["n_excluded"]) == (9, 5)  # five pairs were put to the second alone
    assert row["unit"] == "critical words" and row["test"] == "square-and-add interval"
    assert row["ci_low"] < 0.25 < row["ci_high"] and row["minimum_detectable"] > 0


def test_over_several_paradigms_the_overall_difference_is_that_of_their_means(tmp_path):
    """Pooled pairs would give 0.1; the mean of the paradigms' differences, 0 and 0.5, is 0.25."""
    paradigms = ["anaphor_number_agreement"] * 8 + ["wh_island"] * 2
    first = blimp_run(tmp_path, "first", [1] * 8 + [1, 0], paradigms=paradigms)
    second = blimp_run(tmp_path, "second", [1] * 10, paradigms=paradigms)
    rows = compare([first, second]).rows.set_index("group")
    assert rows["difference"].to_dict() == {"all": 0.25, "anaphor_number_agreement": 0.0, "wh_island": 0.5}
    assert (rows.loc["all", "unit"], rows.loc["all", "n_units"]) == ("paradigms", 2)
    assert rows.loc["all", "se"] > 0 and not rows.loc["all", "reliable"]
    # Holm: of two paradigms the smaller p counts twice.
    assert rows.loc["wh_island", "p_adjusted"] == pytest.approx(min(1, 2 * rows.loc["wh_island", "p"]))
    assert rows.loc["all", "p_adjusted"] == rows.loc["all", "p"]


def test_pairs_of_one_number_but_other_sentences_are_not_the_same(tmp_path):
    first = blimp_run(tmp_path, "first", [1, 0])
    second = blimp_run(tmp_path, "second", [0, 1], first=2)
    with pytest.raises(ValueError, match=r"no two models .*same items"):
        compare([first, second])


def test_a_system_without_shared_items_is_named_with_the_reason(tmp_path):
    """It was once ignored silently."""
    alike = [blimp_run(tmp_path, model, [1, 0, 1]) for model in ("a", "b")]
    apart = blimp_run(tmp_path, "c", [1, 0], first=9)
    alone = german_run(tmp_path, "d", [0.5, 1.0])
    empty = blimp_run(tmp_path, "e", [1, 0])
    drop_tables(record_of(empty), ["scores"])
    found = compare([*alike, apart, alone, empty])
    assert set(found.rows["system"]) == {"b"}
    of_c, of_d, of_e = found.not_compared
    assert re.match(r"Not compared: c on BLiMP, .*no items with a; .*same data", of_c)
    of_german = "Not compared: d on German: sentences of refined-tse, because"
    assert of_d == f"{of_german} no other model in these folders was run on it."
    assert of_e == "Not compared: e on BLiMP, because its record has no scores of items."
    (of_d,) = compare([*alike, alone], reference="b").not_compared
    assert of_d == "Not compared: d on German: sentences of refined-tse, because b was not run on it."


def test_own_scores_are_found_where_a_group_is_called_all():
    """Two rows of scores then have one name; looking rows up by it raised an error of pandas."""
    key = {"suite": "agreement", "config": "mine", "group": "all", "measure": "EW", "system": "a"}
    own = [key | {"lemmas": "own", "score": score, "n_lemmas": 7} for score in (0.5, 0.25)]
    rows = pd.DataFrame([key | {"reference": "b"}])
    (row,) = with_own_lemmas(rows, pd.DataFrame(own)).to_dict("records")
    assert (row["score_own_lemmas"], row["n_lemmas_own"]) == (0.5, 7)
    assert np.isnan(row["reference_score_own_lemmas"])


def test_equal_systems_do_not_differ(tmp_path):
    runs = [blimp_run(tmp_path, model, [1, 0, 1]) for model in ("a", "b")]
    for row in compare(runs).rows.to_dict("records"):
        assert row["difference"] == 0 and row["p"] == 1


def test_scores_between_0_and_1_are_compared_context_by_context(tmp_path):
    """Without outcomes of lemmas, scores are compared as they are. NaN is none; a missing suffix is an empty one."""
    first = contexts_run(tmp_path, "first", [0.1, 0.1, 0.1, 0.9], [".", None, ".", "."])
    second = contexts_run(tmp_path, "second", [0.2, 0.3, 0.4, float("nan")], [".", None, ".", "."])
    found = compare([first, second]).rows.set_index("measure")
    ew, mw = found.loc["EW"], found.loc["MW"]
    assert (ew["n_items"], ew["difference"], ew["n_excluded"]) == (3, pytest.approx(0.2), 1)
    assert (ew["se"], ew["p"]) == pytest.approx(expected([0.2, 0.3, 0.4], [0.1] * 3))
    assert ew["unit"] == "left contexts (these lemmas)"
    assert (mw["n_items"], mw["p"], mw["difference"], mw["n_ties"]) == (4, 1, 0, 4)


def test_a_masked_model_meets_a_causal_one_on_the_mean_of_its_suffixes(tmp_path):
    """Version 0.1 compared the causal context with whichever suffix came first: 0.058 in place of 0.15."""
    causal = contexts_run(tmp_path, "causal", [0.5, 0.5], [".", "."])
    masked = contexts_run(tmp_path, "masked", [0.6, 1.0, 0.2, 0.4], [".", "!", ".", "!"], per_prefix=2)
    ew = compare([causal, masked]).rows.set_index("measure").loc["EW"]
    assert (ew["n_items"], ew["n_excluded"]) == (2, 0)
    assert (ew["score"], ew["difference"]) == pytest.approx((0.55, 0.05))
    assert (ew["se"], ew["p"]) == pytest.approx(expected([0.8, 0.3], [0.5, 0.5]))
    back = compare([masked, causal]).rows.set_index("measure").loc["EW"]
    assert (back["difference"], back["p"]) == pytest.approx((-0.05, ew["p"]))


@pytest.fixture(scope="module")
def of_one_list(tmp_path_factory):
    """Two bundled models over lemmas that both score."""
    folder = tmp_path_factory.mktemp("one_list")
    (folder / "lemmas.csv").write_text("singular,plural\nlaughs,laugh\nsmiles,smile\nlikes,like\nis,are\n")
    tse_scorers.run(
        ["tiny-causal", "tiny-lstm"], suite="agreement", groups=["Simple"], lemmas=folder / "lemmas.csv",
        out=folder / "run", report=False,
    )  # fmt: skip
    return folder / "run"


def test_a_measure_is_compared_at_the_point_that_its_name_says(of_one_list, tmp_path):
    """Only the asked measures are compared, each in a family of its own."""
    means = {
        record.identity["model"]: record.read()["contexts"]
        .to_pandas()
        .drop_duplicates("context_id")["ew_top_0.9"]
        .mean()
        for record in read_records(of_one_list)
    }
    rows = compare([of_one_list], measures=["ew@top-0.9", "ew@top-0.90"]).rows
    assert set(rows["measure"]) == {"EW@top-0.9"} and rows["n_lemmas"].eq(4).all()
    assert rows["score"][0] == pytest.approx(means["tiny-lstm"])
    assert rows["reference_score"][0] == pytest.approx(means["tiny-causal"])
    both = compare([of_one_list], measures=["mw@top-0.95", "ew"]).rows
    assert set(both["measure"]) == {"EW", "MW@top-0.95"}
    assert set(compare([of_one_list], measures=["ew@top-1"]).rows["measure"]) == {"EW"}
    asked = [
        "compare",
        of_one_list,
        "--out",
        tmp_path / "out",
        "--measure",
        "ew@top-0.9",
        "--csv",
        tmp_path / "rows.csv",
    ]
    done = CliRunner().invoke(app, list(map(str, asked)))
    assert done.exit_code == 0, done.output
    assert "EW@top-0.9" in done.stdout and "TSE" not in done.stdout
    pd.testing.assert_series_equal(pd.read_csv(tmp_path / "rows.csv")["score"], rows["score"])


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("eww", "Did you mean ew"),
        ("ew@0.9", "expected ew@top-1, or another point"),
        ("ew@top-much", "expected ew@top-1, or another point"),
        ("tse@top-1", "expected tse."),
        ("ew@top-0.33", "name a point that they have"),
    ],
)
def test_a_measure_that_is_not_there_is_refused(of_one_list, measure, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        compare([of_one_list], measures=["tse", measure])


def test_scores_at_a_cut_off_are_over_one_list_of_lemmas(of_one_list, tmp_path):
    """What lies above a cut-off is stored of all lemmas of a model only."""
    with pytest.raises(ValueError, match="without a cut-off"):
        compare([of_one_list], over_common_lemmas=True, measures=["ew@top-0.9"])
    for model in ("one", "two"):  # their lemmas are not known
        contexts_run(tmp_path, model, [0.5] * 4, [None] * 4, ew_top_09=[0.5] * 4)
    folders = [tmp_path / "one", tmp_path / "two"]
    assert set(compare(folders, measures=["ew"]).rows["measure"]) == {"EW"}
    with pytest.raises(ValueError, match="cannot be compared"):
        compare(folders, measures=["ew@top-0.9"])


def test_a_suite_without_the_measure_is_passed_over(of_one_list, tmp_path):
    for model in ("one", "two"):
        blimp_run(tmp_path, model, [1, 0, 1, 1])
    folders = [of_one_list, tmp_path / "one", tmp_path / "two"]
    compared = compare(folders, measures=["tse"])
    assert set(compared.rows["suite"]) == {"agreement"} and not compared.not_compared


def test_german_scores_are_compared_template_by_template(tmp_path):
    first = german_run(tmp_path, "first", [0.5, 0.5, 0.0, 1.0])
    second = german_run(tmp_path, "second", [1.0, 1.0, 0.5, 1.0, 1.0])
    rows = compare([first, second]).rows
    found = rows[rows["group"] == "all"]
    assert found["measure"].tolist() == [
        "AUC",
        "AUC nominative twice",
        "AUC accusative twice",
        "AUC dative twice",
    ]
    templates = {"labels": np.repeat(range(4), 36), "strata": np.tile(range(36), 4), "weighting": "strata"}
    aucs = [np.repeat(of, 36) for of in ([1.0, 1.0, 0.5, 1.0], [0.5, 0.5, 0.0, 1.0])]
    for row in found.to_dict("records"):
        assert (row["suite"], row["config"], row["system"]) == ("german", "ours", "second")
        assert (row["n_units"], row["n_items"], row["unit"]) == (4, 4 * 36, "templates")
        assert (row["score"], row["reference_score"], row["difference"]) == pytest.approx((0.875, 0.5, 0.375))
        assert (row["se"], row["p"]) == pytest.approx(expected(*aucs, **templates))
    assert set(rows["group"].str.partition(":")[0]) == {"all", "case_order", "role", "cell"}
    assert found["n_excluded"].tolist() == [36] * 4


def test_a_german_score_that_is_no_number_is_no_right_answer(tmp_path):
    first = german_run(tmp_path, "first", [0.5, 0.5])
    second = german_run(tmp_path, "second", [0.5, float("nan")])
    row = compare([first, second]).rows.iloc[0]
    assert (row["score"], row["reference_score"]) == pytest.approx((0.25, 0.5))
    assert row["n_units"] == 2


def test_templates_of_other_sentences_are_not_the_same(tmp_path):
    first = german_run(tmp_path, "first", [0.5])
    with pytest.raises(ValueError, match=r"no two models .*same items"):
        compare([first, german_run(tmp_path, "second", [1.0], sentence="Other ")])


def test_a_template_without_an_acceptable_sentence_is_no_item(tmp_path):
    runs = [german_run(tmp_path, model, [0.5, 0.5], without_acceptable=1) for model in ("a", "b")]
    rows = compare(runs).rows
    assert rows.loc[rows["group"] == "all", "n_units"].tolist() == [1] * 4


def test_one_item_says_nothing(tmp_path):
    runs = [contexts_run(tmp_path, model, [ew], ["."]) for model, ew in (("a", 0.25), ("b", 0.75))]
    (ew, _) = as_json(compare(runs).rows)
    assert ew["difference"] == 0.5
    assert [ew[key] for key in ("se", "ci_low", "ci_high", "p", "p_adjusted")] == [None] * 5


def test_the_reference_can_be_chosen(tmp_path):
    runs = [blimp_run(tmp_path, model, [1, 0, answer]) for model, answer in (("a", 0), ("b", 1), ("c", 1))]
    rows = compare(runs, reference="b").rows
    assert rows.loc[rows["group"] == "all", ["system", "reference"]].to_numpy().tolist() == [
        ["a", "b"],
        ["c", "b"],
    ]
    with pytest.raises(ValueError, match=r"named d; .*: a, b, c"):
        compare(runs, reference="d")


def sign(folder, **signature):
    """Give the scores of a run a signature."""
    record = record_of(folder)
    replace(record, signature={**record.signature, **signature}).with_rows(record.rows())


def test_different_data_or_lemmas_are_refused_unless_asked_for(tmp_path, monkeypatch):
    runs = [contexts_run(tmp_path, model, [0.1, 0.4], [".", "!"]) for model in ("a", "b")]
    sign(runs[0], dataset_fingerprint="1", lemmas="released", dtype="float32")
    sign(runs[1], dataset_fingerprint="2", lemmas="clean", dtype="float16")
    with pytest.raises(ValueError, match=r"b and a .*data, lemma list .*--allow-different"):
        compare(runs)
    with monkeypatch.context() as patch:  # before any item is read
        patch.setattr(
            find_suite("agreement"), "compared_items", staticmethod(lambda file: pytest.fail("read items"))
        )
        with pytest.raises(ValueError, match="different data"):
            compare(runs)
    assert set(compare(runs, allow_different=True).rows["different"]) == {"data, lemma list"}
    sign(runs[1], dataset_fingerprint="1", lemmas="released", dtype="float16")  # a model's own
    assert set(compare(runs).rows["different"]) == {""}


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ({}, {"linking": "mean_token"}, "--linking"),
        ({"linking": "slln"}, {"linking": "mean_token"}, "--linking"),
        ({"linking": "sum"}, {}, ""),  # the sum is not named
    ],
)
def test_runs_with_another_linking_function_are_told_apart(tmp_path, one, other, said):
    runs = [contexts_run(tmp_path, model, [0.1, 0.4], [".", "!"]) for model in ("a", "b")]
    sign(runs[0], dataset_fingerprint="1", **one)
    sign(runs[1], dataset_fingerprint="1", **other)
    assert set(compare(runs, allow_different=True).rows["different"]) == {said}
    if said:
        with pytest.raises(ValueError, match=f"were run with different {said} "):
            compare(runs)


CONTRACT = [
    "suite", "dataset", "config", "measure", "group", "system", "reference", "score", "reference_score", "difference",
    "se", "ci_low", "ci_high", "p", "p_adjusted", "unit", "n_units", "n_items", "n_lemmas", "test",
]  # fmt: skip


def test_the_command_prints_and_writes(tmp_path):
    frame = blimp_scores(n=400)
    better = frame.copy()
    changed_rows = frame.index[frame["correct"] == 0][:4]
    better.loc[changed_rows, "correct"] = 1
    better.loc[changed_rows, "logprob_good"] = better.loc[changed_rows, "logprob_bad"] + 1
    folders = [
        str(write_run(tmp_path / model, blimp_rows(model), {f"{model}.minimal_pairs": scores}))
        for model, scores in (
            ("a", frame),
            ("b", better),
            ("c", frame.assign(pair_id=frame["pair_id"] + 999)),
        )
    ]
    files = {kind: tmp_path / f"differences.{kind}" for kind in ("json", "csv")}
    options = [text for kind, path in files.items() for text in (f"--{kind}", str(path))]
    said = CliRunner().invoke(
        app, ["compare", *folders, "--out", str(tmp_path / "out"), *options], catch_exceptions=False
    )
    changed = better["correct"] - frame["correct"]
    expected = changed.groupby(frame["paradigm"]).mean().mean()
    assert "BLiMP: b on the items shared with a" in said.output and f"+{expected:.3f}" in said.output
    assert "accuracy: square-and-add interval over" in said.output
    row = next(line for line in said.output.splitlines() if f"+{expected:.3f}" in line)
    assert row.rstrip().endswith(" 400")  # n
    text = " ".join(said.output.split())
    assert re.search(r"Not compared: c on BLiMP, .*no items with a;", text)
    assert f"b is not shown to differ from a in accuracy (+{expected:.3f} [" in text
    written = json.loads(files["json"].read_text())
    assert list(written[0])[: len(CONTRACT)] == CONTRACT
    assert (written[0]["group"], written[0]["n_items"]) == ("all", 400)
    assert written[0]["difference"] == pytest.approx(expected)
    assert list(pd.read_csv(files["csv"]).columns)[: len(CONTRACT)] == CONTRACT
    assert (tmp_path / "out" / "comparison.csv").read_bytes() == files["csv"].read_bytes()
    items = pd.read_csv(tmp_path / "out" / "comparison_items.csv")
    assert items["difference"].tolist() == [1.0] * 4


def test_files_of_the_runs_are_not_replaced(tmp_path):
    """`--json` replaced a record of a run without a word."""
    first, second = (blimp_run(tmp_path, model, [1, 0] * 6) for model in ("first", "second"))
    (record,) = second.glob("runs/*/record.json")
    data = tmp_path / "pairs.csv"
    data.write_text("mine\n")
    before = record.read_bytes()
    for options, said in (
        (
            ["--json", record],
            "belongs to a run that is compared, and would be replaced. Name another file with",
        ),
        (["--json", second / "results.json"], "belongs to a run that is compared"),
        (["--json", data], "pairs.csv ends in '.csv'; expected one of: .json"),
        (["--csv", tmp_path / "out.txt"], "out.txt ends in '.txt'"),
    ):
        asked = ["compare", first, second, "--out", tmp_path / "out", *options]
        refused = CliRunner().invoke(app, list(map(str, asked)))
        assert isinstance(refused.exception, ValueError) and said in str(refused.exception)
        assert "items shared" not in refused.output  # nothing is computed before
    assert record.read_bytes() == before and data.read_text() == "mine\n"
    assert not (second / "results.json").exists()


def test_a_folder_named_twice_is_one(tmp_path):
    """A system was compared with itself, and a third one twice."""
    first, second = (blimp_run(tmp_path, model, [1, 0] * 6) for model in ("first", "second"))
    rows = compare([first, second, first.parent / "second" / ".." / "first"]).rows
    assert rows["system"].unique().tolist() == ["second"]
    with pytest.raises(
        ValueError, match=r"nothing to compare: .* a single model, first\. Add .* or compare .* by\."
    ):
        compare([first, first])


def test_comparing_loads_no_library_that_runs_models(tmp_path):
    """Most of the time of `tse compare` went into loading torch and datasets, which it does not use."""
    folders = [contexts_run(tmp_path, name, [ew, 0.5], ["x", "y"]) for name, ew in (("a", 0.4), ("b", 0.6))]
    asked = "import sys; from tse_scorers.cli.app import app; app(sys.argv[1:], standalone_mode=False)\n"
    asked += "from tse_scorers.suites.registry import all_suites; all_suites()\n"
    asked += "print(sorted({'torch', 'accelerate', 'transformers', 'datasets'} & set(sys.modules)))"
    command = [sys.executable, "-c", asked, "compare", *map(str, folders), "--out", str(tmp_path / "out")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "on the items shared with a" in done.stdout and done.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
def test_a_series_against_its_reference_is_one_family(tmp_path):
    """Holm's adjustment was within one system: half of the series without any difference named one."""
    rng = np.random.default_rng(3)
    folders = [
        blimp_run(tmp_path, name, rng.integers(0, 2, 40).tolist(), paradigms=["wh_island"] * 40)
        for name in ("reference", *(f"step{n}" for n in range(15)))
    ]
    rows = compare(folders).rows
    overall = rows[rows["group"] == "all"]
    assert overall["n_family"].tolist() == [15] * 15 and overall["family"].nunique() == 1
    adjusted = multipletests(overall["p"], method="holm")[1]
    assert overall["p_adjusted"].to_numpy() == pytest.approx(adjusted)
    fewer = compare(folders[:3]).rows
    assert set(fewer["n_family"]) == {2}  # a system nobody asked about is in nobody's family


def test_groups_with_a_colon_in_their_name_are_of_one_family(tmp_path):
    """The text before a colon was taken for the level of a group, so each such group was a family by itself."""
    rows = with_families(
        pd.DataFrame(
            {
                "suite": "agreement",
                "dataset": "own",
                "config": "own",
                "measure": "EW",
                "reference": "a",
                "level": ["all", "group", "group", "group"],
                "group": ["all", "far: 1", "near: 1", "near"],
                "p": [0.001, 0.01, 0.02, 0.03],
            }
        )
    )
    assert rows["p_adjusted"].to_list() == pytest.approx([0.001, 0.03, 0.04, 0.04])
    assert rows["n_family"].to_list() == [1, 3, 3, 3]
