"""The papers' tables and figures, and their published scores as rows."""

import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
import synthetic_runs as made

from tse_scorers import run
from tse_scorers.io.runs import read_runs
from tse_scorers.report.blocks import Plain, Plot, Table
from tse_scorers.report.scores import best_first, files_of, tidy, with_published
from tse_scorers.suites.registry import paper_of

MADE = {
    "agreement": lambda model, seed: made.agreement(model),
    "minimal_pairs": lambda model, seed: made.with_ends(made.blimp_rows(model, seed)),
    "german": lambda model, seed: made.with_ends(made.german_rows(model, seed)),
}


def of_folder(folder):
    """Return the tidy rows of a folder with one data set, published ones among them, and the blocks by name."""
    runs = read_runs([folder])
    rows = best_first(tidy(runs))
    suite, config = rows["suite"].iloc[0], rows["config"].iloc[0]
    rows = with_published(rows, paper_of(suite).published(rows))
    parts = paper_of(suite).parts(rows, lambda table: files_of(runs, suite, config, table))
    blocks = {block.name: block for of in parts.values() for block in of if not isinstance(block, str)}
    shown = {Table: "scores", Plain: "frame", Plot: "points"}
    assert not [name for name, block in blocks.items() if getattr(block, shown[type(block)]).empty]
    return rows, blocks


def made_of(suite, folder, n=2, scores=None):
    rows = [row for seed in range(n) for row in MADE[suite](f"model-{seed}", seed)]
    return of_folder(made.write_run(folder, rows, scores or {}))


def y(plot, *names):
    return plot.points.set_index(list(names))["y"].astype(float).sort_index(kind="stable")


def of_group(rows, system, value, measure):
    return rows.query("system == @system and value == @value and measure == @measure")["score"].item()


def test_constructions_stand_in_the_order_of_the_paper(tmp_path):
    rows, blocks = made_of("agreement", tmp_path)
    table = blocks["table2"].pivot("score")
    assert list(table.index) == [*made.TABLE_ROWS, "All constructions"]
    assert list(dict.fromkeys(measure for measure, _ in table)) == ["EW", "MW", "TSE"]
    assert table.loc["Simple", ("EW", "model-1")] == of_group(rows, "model-1", "Simple", "EW")
    theirs = blocks["table2_published"].text().loc["VP coordination", "TSE"]
    assert list(theirs) == ["0.90", "0.90", "0.93", "0.97"]


def test_published_means_are_over_the_constructions_of_a_run_by_its_contexts(tmp_path):
    rows, _ = made_of("agreement", tmp_path, 1)
    few = rows[rows["source"].eq("run") & rows["value"].isin(["Simple", "VP coordination"])]
    published = paper_of("agreement").published
    found = published(few).set_index(["system", "measure", "value"])["score"]
    assert found["gpt2-xl", "EW", ""] == pytest.approx((140 * 0.86 + 2140 * 0.87) / 2280)  # contexts
    assert found["roberta-large", "TSE", ""] == pytest.approx((140 * 1.00 + 2140 * 0.93) / 2280)
    assert published(few.assign(forms="all")).empty and published(few.assign(dataset="own.csv")).empty


def test_a_curve_goes_from_the_rarest_verbs_to_all(tmp_path):
    rows, blocks = made_of("agreement", tmp_path)
    curve = y(blocks["cutoffs_ew"], "panel", "label", "piece")["Simple", "model-0"]
    assert len(curve) == len(made.BOTTOM) + len(made.TOP)
    assert curve["top"].iloc[-1] == of_group(rows, "model-0", "Simple", "EW")
    assert curve["bottom"].iloc[0] == of_group(rows, "model-0", "Simple", "EW@bottom-1e-06")
    assert list(blocks["cutoffs_mw"].ticks.values()) == [
        "rarest\n0.0001 %",
        "rarest\n50 %",
        "likeliest\n50 %",
        "all",
    ]


def test_probable_words_begin_with_those_of_the_paper(tmp_path):
    forms = {"model-0.agreement.marvin_linzen.top_forms": made.top_forms()}
    words = made_of("agreement", tmp_path, 1, forms)[1]["table3"].frame["most probable words"]
    gap = "The senators that the skater ___ are young."
    assert words.index[0] == ("bert-large-cased", gap)
    assert words["model-0", gap].startswith("✓ meets 0.200, ✓ encounters 0.057, ✓ sees 0.057, ✗ meet 0.048")


def test_blimp_stands_beside_published_models_and_people(tmp_path):
    rows, blocks = made_of("minimal_pairs", tmp_path, 2, {"model-0.minimal_pairs.blimp": made.blimp_scores()})
    overall = blocks["pairs_table"].text().loc["Overall"]
    assert list(overall["published"]) == ["0.61", "0.70", "0.70", "0.83"]  # as printed and released
    assert overall["people", "people, individual"] == "0.89"
    assert of_group(rows, "pythia-12b", "", "accuracy") == pytest.approx(0.8313, abs=1e-4)
    paradigms = blocks["pairs_paradigms"].scores.query("level == 'paradigm'")
    wide = paradigms.pivot(index="value", columns="system", values="score").astype(float)
    r = y(blocks["blimp_figure1"], "label", "x")
    assert r["model-0", "GPT-2"] == pytest.approx(np.corrcoef(wide["model-0"], wide["GPT-2"])[0, 1])
    between = y(blocks["blimp_figure3"], "label", "series")["GPT-2", "adjective between"]
    assert between == pytest.approx(wide.loc[wide.index.str.contains("with_adj"), "GPT-2"].mean())
    six = made.blimp_scores().query("n_tokens_good == 7")  # with the full stop
    predictors = y(blocks["blimp_figure2"], "panel", "x")
    assert predictors["length (words)", 6.0] == pytest.approx(six["correct"].mean())
    assert len(predictors["confidence"]) == 10


def test_prefixes_are_compared_on_the_same_paradigms(tmp_path):
    rows, blocks = made_of("minimal_pairs", tmp_path, 1)
    single = rows[rows["source"].eq("run") & rows["level"].eq("paradigm")]
    both = single.pivot(index="value", columns="method", values="score").dropna(subset=["one_prefix"])
    means = both.groupby(both.index.map(lambda of: made.paradigms()[of][0])).mean()
    found = y(blocks["blimp_figure6_one_prefix"], "label", "series")
    assert found["Island effects", "whole sentence"] == pytest.approx(means.loc["island_effects", "full"])
    assert found["Mean of these", "one prefix"] == pytest.approx(means["one_prefix"].mean())


def test_gain_per_doubling_is_the_slope_over_revisions(tmp_path):
    rows = tidy(read_runs([made.write_run(tmp_path, MADE["minimal_pairs"]("model", 0), {})]))
    series = pd.concat([rows.assign(revision=f"step{2**n}", score=0.5 + 0.1 * n) for n in range(4)])
    (figure,) = paper_of("minimal_pairs").growth(series)
    slopes = y(figure, "series", "label")
    assert slopes["model"].to_numpy() == pytest.approx(0.1)
    assert slopes["LSTM (published)", "Anaphor agreement"] == 0.0623 and len(slopes) == 13 + 9
    assert paper_of("minimal_pairs").growth(rows) == []


def test_german_cells_and_their_means(tmp_path):
    _, blocks = made_of("german", tmp_path)
    r = blocks["german_table5"].text()["all six"]
    assert " ".join(r[-5:]) == "−0.26 0.58 0.71 0.73 0.81"  # unigram, bigram, LSTM, BERT, DistilBERT
    table2 = blocks["german_table2"].pivot("score")
    cells = y(blocks["german_cells"], "panel", "label", "x")
    assert list(table2) == [*paper_of("german").ORDERS, "mean"] and table2.index[2] == "people"
    for system in ("model-1", "people"):
        assert table2.loc[system, "NAD"] == pytest.approx(cells[system, "NAD"].mean())
        assert table2.loc[system, "mean"] == pytest.approx(cells[system].mean())
    first = cells["people"].unstack().loc[["NAD", "NDA"]].to_numpy().mean()
    last = cells["people"].unstack().loc[["DAN", "ADN"]].to_numpy().mean()
    contrasts = blocks["german_contrasts"].pivot("score").loc["people", "NOMALIGN"]
    assert contrasts["effect"] == pytest.approx(first - last) == contrasts["nominative first"] - last


@pytest.mark.parametrize("suite", MADE)
def test_with_many_models_figures_have_the_best_and_tables_all(suite, tmp_path):
    _, blocks = made_of(suite, tmp_path, 9)
    tables = [block for block in blocks.values() if isinstance(block, Table) and block.rows == "system"]
    assert tables and all((block.scores["source"] == "run").sum() >= 9 for block in tables)
    for plot in (block for block in blocks.values() if isinstance(block, Plot)):
        drawn = {str(name) for column in plot.points for name in plot.points[column]}
        drawn = {name for name in drawn if name.startswith("model-")}
        assert 4 <= len(drawn) <= 7 and re.search(
            rf" Here: the {len(drawn)} of 9 models with the highest (EW|accuracy|AUC)\.", plot.title
        )


def test_own_pairs_have_nothing_of_the_paper(tmp_path):
    pairs = pd.DataFrame({"sentence_good": ["Dogs bark."], "sentence_bad": ["Dogs barks."]})
    rows, blocks = of_folder(run("tiny-causal", data=pairs, out=tmp_path, report=False).folder)
    assert set(rows["source"]) == {"run"} and not [of for of in blocks.values() if isinstance(of, Plot)]


def test_regions_by_condition_and_their_interaction(tmp_path):
    texts = [
        (noun, f"{verb}_{place}", region, text)
        for noun, verb, place in product(("author", "pilot", "guard"), ("laughs", "laugh"), ("near", "far"))
        for region, text in {"noun": f"The {noun}", "verb": f"{verb} {place} me."}.items()
    ]
    design = tmp_path / "center_embed.csv"
    pd.DataFrame(texts, columns=["item", "condition", "region", "text"]).to_csv(design, index=False)
    criteria = ["(verb;%laugh_near%) > (verb;%laughs_near%)"]
    run("tiny-causal", "regions", data=design, criteria=criteria, out=tmp_path / "out", report=False)
    rows, blocks = of_folder(tmp_path / "out")
    (file,) = read_runs([tmp_path / "out"]).scores("regions", "regions")
    bits = file.read(["condition", "region", "surprisal_bits"]).query("region == 'verb'")
    mean = bits.groupby("condition")["surprisal_bits"].mean()
    assert y(blocks["regions_1"], "label", "x").xs(1, level="x").to_dict() == pytest.approx(mean.to_dict())
    interaction = mean["laughs_near"] - mean["laughs_far"] - mean["laugh_near"] + mean["laugh_far"]
    assert blocks["regions_interactions"].scores["score"].iloc[-1] == pytest.approx(interaction)
    theirs = rows.query("system == 'gpt-2' and value == 'center_embed/1'")
    assert theirs["score"].item() == pytest.approx(26 / 28)  # items, as released
