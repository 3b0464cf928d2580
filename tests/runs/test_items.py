"""`Results.items` has the units and groups of the scores, so that a mixed model can be fitted to it."""

import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM

import tse_scorers

MODELS = ["tiny-causal", "tiny-masked"]
GROUPS = ["Simple", "VP coordination"]


@pytest.fixture(scope="module")
def agreement(tmp_path_factory):
    out = tmp_path_factory.mktemp("agreement")
    return tse_scorers.run(MODELS, groups=GROUPS, limit=60, out=out, report=False)


@pytest.fixture(scope="module")
def minimal_pairs(tmp_path_factory):
    nouns, verbs = ["author", "pilot", "guard", "chef"], ["laughs", "swims", "smiles", "knows"]
    pairs = pd.DataFrame([{"sentence_good": f"The {n} {v}.", "UID": v} for v in verbs for n in nouns])
    pairs["sentence_bad"] = pairs["sentence_good"].str.replace("s.", ".")
    sides = ["sentence_good", "sentence_bad"]
    pairs.loc[::3, sides] = pairs.loc[::3, sides[::-1]].to_numpy()  # so that some are wrong
    out = tmp_path_factory.mktemp("minimal_pairs")
    options = {"methods": ["full"], "out": out, "report": False}
    return tse_scorers.run(MODELS, "minimal_pairs", data=pairs, **options)


@pytest.mark.parametrize(
    ("table", "score", "metric"), [("pairs", "tse", "tse"), ("contexts", "mw_top_1", "mw")]
)
def test_means_and_units_of_items_are_those_of_the_results(agreement, table, score, metric):
    items = agreement.items(table=table)
    for row in agreement:
        if row.metric == metric and row.group in GROUPS and row.get("cutoff") in (None, 1.0):
            of_row = items[(items["model"] == row.model) & (items["group"] == row.group)]
            assert of_row[score].mean() == pytest.approx(row.score)
            counts = [of_row["unit"].nunique(), *([of_row["verb"].nunique()] if table == "pairs" else [])]
            assert row.n_units in counts


def test_pairs_have_their_critical_words(minimal_pairs):
    items = minimal_pairs.items()
    of_first = items[(items["model"] == MODELS[0]) & (items["paradigm"] == "laughs")]
    (row,) = (row for row in minimal_pairs if row.model == MODELS[0] and row.group == "laughs")
    assert (of_first["unit"].nunique(), of_first["correct"].mean()) == (row.n_units, row.score)


def test_ones_own_units_are_the_units(tmp_path):
    pairs = pd.DataFrame({"sentence_good": ["It is.", "He is."], "sentence_bad": ["It are.", "He are."]})
    options = {"methods": ["full"], "out": tmp_path, "report": False}
    results = tse_scorers.run(MODELS[0], "minimal_pairs", data=pairs.assign(cluster=["a", "b"]), **options)
    assert results.items()["unit"].tolist() == ["a", "b"]


def test_a_mixed_model_runs_on_the_items(agreement):
    pairs = agreement.items(table="pairs").dropna(subset=["tse"])
    effects = {"unit": "0 + C(unit)", "verb": "0 + C(verb)"}
    fitted = BinomialBayesMixedGLM.from_formula("tse ~ C(model)", effects, pairs).fit_vb()
    shares = pairs.groupby("model")["tse"].mean()
    assert np.sign(fitted.fe_mean[1]) == np.sign(shares["tiny-masked"] - shares["tiny-causal"]) != 0


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="needs R with lme4 (r-base-core, r-cran-lme4)")
def test_the_formulas_of_the_documentation_run_in_r(agreement, minimal_pairs, root, tmp_path):
    for table in ("pairs", "contexts"):
        agreement.items(table=table).to_csv(tmp_path / f"{table}.csv", index=False)
    minimal_pairs.items().to_csv(tmp_path / "blimp.csv", index=False)
    page = (root / "docs" / "concepts" / "statistics.md").read_text(encoding="utf-8")
    code = re.search(r"```r\n(.*?)```", page, re.DOTALL)[1]
    code = re.sub(r"^(g?lmer\(.*\))$", r"print(summary(\1))", code, flags=re.MULTILINE)
    (tmp_path / "model.R").write_text(code)
    done = subprocess.run(["Rscript", "model.R"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Random effects:") == 3
