"""`tse power`, `tse noise-ceiling` and `tse export mixed-models` on small real runs."""

import json
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from faults.tables import AGREEMENT, save
from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM
from statsmodels.stats.power import TTestPower
from typer.testing import CliRunner

import tse_scorers
from tse_scorers.cli.app import app
from tse_scorers.io.records import read_records
from tse_scorers.runs.comparing import power as planning
from tse_scorers.runs.comparing.power import Pilot, designs, given

MODELS = ["tiny-causal", "tiny-masked"]
CPU = {"device": "cpu"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two models on agreement templates, German templates and minimal pairs."""
    out = tmp_path_factory.mktemp("run")
    common = {"out": out, "report": False, "model_options": CPU}
    tse_scorers.run(MODELS, groups=["Simple", "VP coordination"], limit=60, **common)
    tse_scorers.run(MODELS[:1], suite="german", limit=2, **common)
    nouns, verbs = ["author", "pilot", "guard", "chef"], ["laughs", "swims", "smiles", "knows"]
    pairs = pd.DataFrame([{"good": f"The {n} {v}.", "UID": v} for v in verbs for n in nouns])
    pairs["sentence_good"], pairs["sentence_bad"] = pairs["good"], pairs["good"].str.replace("s.", ".")
    pairs.assign(linguistics_term="x", field="y").to_json(out / "p.jsonl", orient="records", lines=True)
    tse_scorers.run(MODELS[:1], suite="minimal_pairs", data=out / "p.jsonl", methods=["full"], **common)
    return out


def tse(*arguments):
    """Run a command and return what it printed."""
    done = CliRunner().invoke(app, [str(own) for own in arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def test_power_from_a_run(run, tmp_path):
    said = tse("power", run, "-d", 0.05, "--lemmas", 50, "--json", tmp_path / "p.json")
    assert "EW: " in said and "subject nouns x lemmas" in said
    rows = json.loads((tmp_path / "p.json").read_text())
    assert {row["measure"] for row in rows} == {"EW", "MW", "TSE"}
    for row in rows:
        assert row["n_units"] is None or row["n_units"] >= 4
    (of_pilot,) = (r for r in rows if r["measure"] == "EW" and r["n_lemmas"] == r["pilot_n_lemmas"])
    assert of_pilot["var_lemmas"] > 0 and 0 < of_pilot["pilot_detectable"] < 1
    assert (of_pilot["n_units"] or 1e9) > of_pilot["pilot_n_units"] or of_pilot["pilot_detectable"] <= 0.05


def _power(clusters, lemmas, cells, n_units, n_lemmas):
    """The power for a difference of 0.05 by statsmodels, with fewer units than lemmas."""
    se = np.sqrt(clusters**2 / n_units + lemmas**2 / n_lemmas + cells**2 / (n_units * n_lemmas))
    assert n_units < n_lemmas
    return TTestPower().power(0.05 / se / np.sqrt(n_units), n_units, 0.05)


def test_power_from_one_unit_is_refused(tmp_path):
    """It was said that an accuracy is no mean."""
    pairs = pd.DataFrame({"sentence_good": ["The author laughs.", "The pilots smile."], "item": "1"})
    pairs["sentence_bad"] = ["The author laugh.", "The pilots smiles."]
    pairs.to_csv(tmp_path / "mine.csv", index=False)
    out = tmp_path / "out"
    tse_scorers.run(MODELS, data=tmp_path / "mine.csv", out=out, report=False, model_options=CPU)
    with pytest.raises(ValueError, match="accuracy cannot be computed: these runs have a single unit"):
        tse("power", out, "--difference", "0.1")


def test_power_from_standard_deviations():
    assert given(0.1, 0, 0).about["unit"] == "clusters"
    assert given(0.1, 0.1, 0).about["unit"] == "clusters x lemmas"
    rows = designs(given(0.1, 0.1, 0.3), 0.05, [20, 200])
    assert rows[0]["n_units"] is None  # 20 lemmas do not reach it with any number of templates
    n_units = rows[1]["n_units"]
    enough, too_few = (_power(0.1, 0.1, 0.3, n, 200) for n in (n_units, n_units - 1))
    assert rows[1]["power"] == pytest.approx(enough) and enough >= 0.8 > too_few
    (alone,) = designs(given(0.1, 0, 0), 0.05)
    assert (alone["n_lemmas"], alone["n_units"]) == (None, 34)  # Cohen's d = 0.5, one sample, 80 %: n = 34
    assert "34" in tse("power", "-d", 0.05, "--sd-clusters", 0.1)


def test_a_pilot_that_says_nothing_says_so(tmp_path, monkeypatch):
    """Without variance it once promised 10 units and a power of 1; a least difference above 1 was printed as such."""
    alike = Pilot(
        {"unit": "nouns"}, given(1, 0, 0).components._replace(clusters=0.0), n_units=4, crossed=False
    )
    (row,) = designs(alike, 0.05)
    assert (row["n_units"], row["power"], row["pilot_detectable"]) == (None, None, None)
    wide = given(2, 2, 1).components
    unsure = Pilot({"unit": "nouns x lemmas"}, wide, 5, 2, 7.3, n_effective=1.8)
    sure = Pilot(
        {"unit": "nouns"}, given(0.1**0.5, 0, 0).components, n_units=4, crossed=False, n_effective=4.0
    )

    def said(pilot, *lemmas):
        monkeypatch.setattr(planning, "pilots", lambda *_: [pilot])
        return " ".join(tse("power", tmp_path, "-d", 0.05, *lemmas).split())

    of_alike, of_unsure = said(alike), said(unsure, "--lemmas", 20, "--lemmas", 50)
    assert "This run cannot tell: all its units differ by the same amount" in of_alike
    assert "1.000" not in of_alike + of_unsure and "reaches it" not in of_alike
    assert of_unsure.count("reaches it") == 1
    assert "with 2, 20, 50 lemmas; more lemmas are needed." in of_unsure
    assert "This run detects no possible difference with a power of 80 %." in of_unsure
    unreliable = "Do not rely on these numbers: the earlier run has 1.8 effective units (5 of"
    assert of_unsure.count(unreliable) == 1 and unreliable not in of_alike
    assert "Do not rely" not in said(sure)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-d", "0.05"], "neither; .*one of the two"),
        (["-d", "2", "--sd-clusters", "1"], "difference is 2; .*0 and 1"),
        (["-d", "0.1", "--sd-clusters", "-1"], "expected numbers from 0 up"),
        (["-d", "0.1", "--sd-clusters", "1", "--power", "1"], "The power is 1; expected"),
        (["-d", "0.1", "--sd-clusters", "1", "--lemmas", "1"], "expected whole numbers from 2 up"),
    ],
)
def test_designs_that_cannot_be_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        CliRunner().invoke(app, ["power", *options], catch_exceptions=False)


def test_an_unknown_group_is_refused(run):
    with pytest.raises(ValueError, match=r"group 'simple'; .*Simple, VP coord"):
        CliRunner().invoke(app, ["power", str(run), "-d", "0.1", "--group", "simple"], catch_exceptions=False)


def test_the_noise_ceiling_of_a_table(tmp_path):
    random = np.random.default_rng(0)
    ratings = random.normal(size=(200, 1)) + random.normal(size=(200, 8))
    items, raters = np.indices(ratings.shape)
    table = pd.DataFrame({"item": items.ravel(), "rater": raters.ravel(), "rating": ratings.ravel()})
    table.to_csv(tmp_path / "ratings.csv", index=False)
    said = tse("noise-ceiling", tmp_path / "ratings.csv", "--splits", 50, "--json", tmp_path / "c.json")
    (found,) = json.loads((tmp_path / "c.json").read_text())
    assert found["reliability"] == pytest.approx(8 / 9, abs=0.03)  # variance 1 of items, 1/8 of the means
    assert f"highest expected correlation {found['ceiling']:.3f}" in said


@pytest.fixture(scope="module")
def exported(run, tmp_path_factory):
    out = tmp_path_factory.mktemp("exported")
    said = tse("export", "mixed-models", run, "--out", out)
    assert said.count("Written") == 6
    return out


COLUMNS = {
    "agreement": {"construction", "noun", "number", "lemma", "n_items", "n_correct", "context", "pair_id"},
    "minimal_pairs": {"paradigm", "phenomenon", "word", "pair_id"},
    "german": {"template", "case_order", "role"},
}


@pytest.mark.parametrize("suite", COLUMNS)
def test_a_table_has_all_random_effects(exported, suite):
    table = pd.read_parquet(exported / f"{suite}.parquet")
    first = ["suite", "dataset", "config", "measure", "system"]
    assert list(table.columns[:5]) == first and COLUMNS[suite] | {"score"} <= set(table.columns)
    assert table["score"].between(0, 1).all()
    code = (exported / f"{suite}.R").read_text()
    for measure in table["measure"].unique():
        assert f'measure == "{measure}"' in code
    assert ("~ system +" in code) == (table["system"].nunique() > 1)


def test_means_of_the_table_are_the_scores(run, exported):
    """EW: weighted by contexts, over the lemmas of each system; TSE: pairs; MW: contexts."""
    table = pd.read_parquet(exported / "agreement.parquet")
    rows = json.loads((run / "results.json").read_text())["results"]
    overall = {
        (row["metric"].upper(), row["model"]): row["score"]
        for row in rows
        if row["suite"] == "agreement" and row["group"] == "all" and row.get("cutoff") in (None, 1.0)
    }
    for (measure, system), own in table.groupby(["measure", "system"]):
        assert np.average(own["score"], weights=own["n_items"]) == pytest.approx(overall[measure, system])
    ew = table[table["measure"] == "EW"]
    assert (ew["n_correct"] / ew["n_items"]).equals(ew["score"])
    (row,) = (r for r in rows if (r["metric"], r["group"], r["model"]) == ("tse", "all", "tiny-causal"))
    assert ew["noun"].nunique() == row["n_units"]


def test_contexts_without_a_value_of_ones_own_column_are_in_the_table(tmp_path):
    """Each context is in one cell of nouns and the user's columns; a missing value is a cell of its own."""
    pairs = AGREEMENT.assign(condition=["near", None, None, "near"])
    tse_scorers.run(
        MODELS[0],
        data=save(pairs, tmp_path / "own.csv"),
        out=tmp_path / "run",
        report=False,
        model_options=CPU,
    )
    tse("export", "mixed-models", tmp_path / "run", "--out", tmp_path / "tables")
    table = pd.read_parquet(tmp_path / "tables" / "agreement.parquet")
    ew = table[table["measure"] == "EW"]
    assert ew.groupby("lemma")["n_items"].sum().eq(len(pairs)).all()
    assert ew.groupby("lemma")["condition"].apply(lambda own: own.isna().sum()).eq(2).all()


def test_a_mixed_model_runs_on_the_table(exported):
    """Crossed random effects of nouns and lemmas, as the R code has them, on some lemmas."""
    table = pd.read_parquet(exported / "agreement.parquet")
    ew = table[table["measure"] == "EW"]
    lemmas = sorted(set.intersection(*(set(own["lemma"]) for _, own in ew.groupby("system"))))[:300:25]
    own = ew[ew["lemma"].isin(lemmas)].assign(correct=lambda cells: (cells["score"] > 0.5).astype(int))
    effects = {"noun": "0 + C(noun)", "lemma": "0 + C(lemma)"}
    model = BinomialBayesMixedGLM.from_formula("correct ~ C(system)", effects, own)
    fitted = model.fit_vb()
    shares = own.groupby("system")["correct"].mean()
    assert np.sign(fitted.fe_mean[1]) == np.sign(shares["tiny-masked"] - shares["tiny-causal"]) != 0
    of_nouns, of_lemmas = np.exp(fitted.vcp_mean)
    assert of_lemmas > of_nouns > 0  # lemmas differ more than nouns in these models


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="needs R with lme4 (r-base-core, r-cran-lme4)")
@pytest.mark.parametrize(
    "suite", [pytest.param("agreement", marks=pytest.mark.slow), "minimal_pairs", "german"]
)
def test_the_code_runs_in_r(exported, tmp_path, suite):
    """As it is written, but for the reader of the table: R of Linux distributions has no package arrow."""
    code = (exported / f"{suite}.R").read_text()
    table = pd.read_parquet(exported / f"{suite}.parquet")
    if suite == "agreement":  # 25 lemmas, which fit in seconds
        ew = table["measure"] == "EW"
        table = table[~ew | table["lemma"].isin(sorted(table.loc[ew, "lemma"].unique())[::30])]
    table.to_csv(tmp_path / f"{suite}.csv", index=False)
    code = code.replace("library(arrow)\n", "").replace(
        f'read_parquet("{suite}.parquet")', f'read.csv("{suite}.csv")'
    )
    (tmp_path / "model.R").write_text(code)
    done = subprocess.run(["Rscript", "model.R"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    is_constant = table.groupby("measure")["score"].nunique() == 1
    n_refused = done.stderr.count("Response is constant")
    assert done.stderr.count("Error in") <= 2 * n_refused <= 2 * is_constant.sum()
    assert done.stdout.count("Random effects:") == len(is_constant) - n_refused
    if table["system"].nunique() > 1:  # as in `tse compare`, the first system is the reference
        assert "systemtiny-masked" in done.stdout and "systemtiny-causal" not in done.stdout


def test_a_folder_without_scores_is_refused(run, tmp_path):
    shutil.copytree(run, tmp_path, dirs_exist_ok=True)
    for record in read_records(tmp_path):
        record.without(record.scores)
    with pytest.raises(ValueError, match=r"no scores of items .*`runs`"):
        CliRunner().invoke(app, ["export", "mixed-models", str(tmp_path)], catch_exceptions=False)


def test_a_noise_ceiling_of_one_rater_is_refused(tmp_path):
    """It printed "split-half correlation nan"."""
    rows = [{"item": item, "rater": "a", "rating": item} for item in range(5)]
    pd.DataFrame(rows).to_csv(tmp_path / "ratings.csv", index=False)
    with pytest.raises(ValueError, match=r"5 items .* 1 rating.*two raters"):
        tse("noise-ceiling", tmp_path / "ratings.csv")
