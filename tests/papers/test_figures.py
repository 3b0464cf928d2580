"""The papers' tables and figures, and their published scores as rows."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from tse_scorers import Regions, Results, run
from tse_scorers.papers import newman2021, rochereau2020, warstadt2020
from tse_scorers.report.blocks import Plain, Plot, Table
from tse_scorers.report.scores import best_first, paper_of, tidy, with_published
from tse_scorers.suites import find_suite


def of_folder(folder, suite):
    """Return the tidy rows of a suite in a folder, published ones among them, and the blocks by name."""
    results = Results.load(folder)
    rows = best_first(tidy(results))
    rows, paper = rows[rows["suite"] == suite], paper_of(find_suite(suite))
    rows = with_published(rows, paper.published(rows))
    parts = paper.parts(rows, results.of(suite))
    blocks = {block.name: block for of in parts.values() for block in of if not isinstance(block, str)}
    shown = {Table: "scores", Plain: "frame", Plot: "points"}
    return rows, {name: of for name, of in blocks.items() if not getattr(of, shown[type(of)]).empty}


def y(plot, *names):
    return plot.points.set_index(list(names))["y"].astype(float).sort_index(kind="stable")


def of_group(rows, system, value, measure):
    return rows.query("system == @system and value == @value and measure == @measure")["score"].item()


def test_agreement_stands_beside_table_2(three_suites):
    rows, blocks = of_folder(three_suites, "agreement")
    table = blocks["table2"].pivot("score")
    assert list(table.index) == ["Simple", "VP coordination", "All constructions"]
    assert list(dict.fromkeys(measure for measure, _ in table)) == ["EW", "MW", "TSE"]
    assert table.loc["Simple", ("EW", "tiny-causal")] == of_group(rows, "tiny-causal", "Simple", "EW")
    theirs = blocks["table2_published"].text().loc["VP coordination", "TSE"]
    assert list(theirs) == ["0.90", "0.90", "0.93", "0.97"]
    ours = rows[rows["source"].eq("run") & rows["level"].eq("group")]
    n = ours[ours["name"] == "ew"].set_index("value")["n"]
    found = newman2021.published(ours).set_index(["system", "measure", "value"])["score"]
    mean = (n["Simple"] * 0.86 + n["VP coordination"] * 0.87) / n.sum()
    assert found["gpt2-xl", "EW", ""] == pytest.approx(mean), (
        "over the constructions of a run by its contexts"
    )
    assert newman2021.published(ours.assign(dataset="own.csv")).empty


def test_a_curve_goes_from_the_rarest_verbs_to_all(three_suites):
    rows, blocks = of_folder(three_suites, "agreement")
    curve = y(blocks["cutoffs_ew"], "panel", "label", "piece")["Simple", "tiny-causal"]
    assert curve["top"].iloc[-1] == of_group(rows, "tiny-causal", "Simple", "EW")
    assert curve["bottom"].iloc[-1] == of_group(rows, "tiny-causal", "Simple", "EW@bottom-0.5")
    assert list(blocks["cutoffs_mw"].ticks.values())[-1] == "all"
    words = blocks["table3"].frame["most probable words"]
    assert words.str.contains(r"[✓✗] \w+ 0\.\d{3}").all()


def test_pairs_stand_beside_published_models_and_people(three_suites):
    rows, blocks = of_folder(three_suites, "minimal_pairs")
    paradigms = blocks["pairs_paradigms"].scores.query("level == 'paradigm'")
    wide = paradigms.pivot(index="value", columns="system", values="score").astype(float)
    gpt2 = warstadt2020.published_rows("warstadt2020").query(
        "system == 'gpt2-large' and metric == 'accuracy'"
    )
    gpt2 = gpt2[gpt2["level"].eq("paradigm") & gpt2["value"].isin(wide.index)]["score"].mean()
    assert of_group(rows, "GPT-2", "", "accuracy") == pytest.approx(gpt2)
    r = y(blocks["blimp_figure1"], "label", "x")
    assert r["LSTM", "GPT-2"] == pytest.approx(np.corrcoef(wide["LSTM"], wide["GPT-2"])[0, 1])


def test_gain_per_doubling_is_the_slope_over_revisions(three_suites):
    rows = tidy(Results.load(three_suites)).query("suite == 'minimal_pairs'")
    series = pd.concat([rows.assign(revision=f"step{2**n}", score=0.5 + 0.1 * n) for n in range(4)])
    (figure,) = warstadt2020.growth(series)
    slopes = y(figure, "series", "label")
    assert slopes["tiny-causal"].to_numpy() == pytest.approx(0.1)
    assert slopes["LSTM (published)", "anaphor agreement"] == 0.0623
    assert warstadt2020.growth(rows) == []


def test_german_cells_and_their_means(three_suites):
    _, blocks = of_folder(three_suites, "german")
    r = blocks["german_table5"].text()["all six"]
    assert " ".join(r[-5:]) == "−0.26 0.58 0.71 0.73 0.81"  # unigram, bigram, LSTM, BERT, DistilBERT
    table2 = blocks["german_table2"].pivot("score")
    cells = y(blocks["german_cells"], "panel", "label", "x")
    assert list(table2) == [*rochereau2020.ORDERS, "mean"] and table2.index[1] == "people"
    for system in ("tiny-causal", "people"):
        assert table2.loc[system, "NAD"] == pytest.approx(cells[system, "NAD"].mean())
        assert table2.loc[system, "mean"] == pytest.approx(cells[system].mean())
    first = cells["people"].unstack().loc[["NAD", "NDA"]].to_numpy().mean()
    last = cells["people"].unstack().loc[["DAN", "ADN"]].to_numpy().mean()
    contrasts = blocks["german_contrasts"].pivot("score").loc["people", "NOMALIGN"]
    assert contrasts["effect"] == pytest.approx(first - last) == contrasts["nominative first"] - last


def test_own_pairs_have_nothing_of_the_paper(tmp_path):
    pairs = pd.DataFrame({"sentence_good": ["Dogs bark."], "sentence_bad": ["Dogs barks."]})
    rows, blocks = of_folder(
        run("tiny-causal", data=pairs, out=tmp_path, report=False).folders[0], "minimal_pairs"
    )
    assert set(rows["source"]) == {"run"} and not [of for of in blocks.values() if isinstance(of, Plot)]


def test_regions_by_condition_and_their_interaction(tmp_path):
    texts = [
        (noun, f"{verb}_{place}", region, text)
        for noun, verb, place in product(("author", "pilot", "guard"), ("laughs", "laugh"), ("near", "far"))
        for region, text in {"noun": f"The {noun}", "verb": f"{verb} {place} me."}.items()
    ]
    design = tmp_path / "center_embed.csv"
    pd.DataFrame(texts, columns=["item", "condition", "region", "text"]).to_csv(design, index=False)
    suite = Regions(data=design, criteria=["(verb;%laugh_near%) > (verb;%laughs_near%)"])
    results = run("tiny-causal", suite, out=tmp_path / "out", report=False)
    rows, blocks = of_folder(tmp_path / "out", "regions")
    bits = results.records[0].tables["regions"].read(["condition", "region", "surprisal_bits"])
    mean = bits.query("region == 'verb'").groupby("condition")["surprisal_bits"].mean()
    assert y(blocks["regions_1"], "label", "x").xs(1, level="x").to_dict() == pytest.approx(mean.to_dict())
    interaction = mean["laughs_near"] - mean["laughs_far"] - mean["laugh_near"] + mean["laugh_far"]
    assert blocks["regions_interactions"].scores["score"].iloc[-1] == pytest.approx(interaction)
    theirs = rows.query("system == 'gpt-2' and value == 'center_embed/1'")
    assert theirs["score"].item() == pytest.approx(26 / 28)  # items, as released
