"""`tse export mixed-models` on small real runs."""

import json
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from faults.tables import AGREEMENT, save
from run_records import drop_tables
from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM
from typer.testing import CliRunner

import tse_scorers
from tse_scorers.cli.app import app
from tse_scorers.io.records import read_records

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
        drop_tables(record, record.scores)
    with pytest.raises(ValueError, match=r"no scores of items .*`runs`"):
        CliRunner().invoke(app, ["export", "mixed-models", str(tmp_path)], catch_exceptions=False)
