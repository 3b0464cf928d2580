"""What is shown of a comparison: on the page and in the terminal."""

import pytest
import synthetic_runs as made
from hostile import HOSTILE

from tse_scorers.report.blocks import Plain, Plot
from tse_scorers.report.differences import for_terminal, sections
from tse_scorers.report.page import write_report
from tse_scorers.runs.comparing.compare import compare


def folders(tmp_path, names):
    """Write a run of 300 pairs for each model; each is right about more of them than the one before."""
    pairs = made.blimp_scores(n=300)
    found = []
    for place, name in enumerate(names):
        correct = pairs["correct"].where(pairs.index >= 40 * place, 1)
        scores = pairs.assign(correct=correct, logprob_good=pairs["logprob_bad"] + 2 * correct - 1)
        rows = made.blimp_rows(name, prefixes=False)
        tables = {f"{name}.minimal_pairs": scores}
        found.append(made.write_run(tmp_path / f"run{place}", rows, tables))
    return found


def blocks_of(section):
    return [block for part in section.parts.values() for block in part]


def test_all_differences_are_in_the_table_and_the_largest_in_the_figure(tmp_path):
    comparison = compare(folders(tmp_path, ["first", "second", "third"]))
    (section,) = sections(comparison)
    assert section.title == "BLiMP, against first"
    (figure,) = (block for block in blocks_of(section) if isinstance(block, Plot))
    assert figure.chance == 0 and set(figure.points["series"]) == {"second", "third"}
    labels = figure.points.groupby("label")["y"].agg(lambda of: of.abs().max()).drop("Overall")
    left_out = comparison.rows[comparison.rows["level"] != "all"].groupby("value")["difference"]
    assert len(labels) == 24 and labels.min() >= left_out.agg(lambda of: of.abs().max()).nlargest(25).min()
    table = next(block for block in blocks_of(section) if isinstance(block, Plain))
    assert (
        len(table.frame) == len(comparison.rows) - 4
    )  # the only phenomenon and field are the overall row again
    clear = comparison.rows["p_adjusted"].lt(0.05) & comparison.rows["reliable"].astype(bool)
    overall = clear & comparison.rows["level"].eq("all")
    assert any(f"accuracy, models: {overall.sum()} of 2 differ" in str(block) for block in blocks_of(section))


def test_of_very_many_models_the_figure_has_the_overall_differences_the_highest_first(tmp_path):
    comparison = compare(folders(tmp_path, [f"model{n}" for n in range(9)]))
    (figure,) = (block for block in blocks_of(sections(comparison)[0]) if isinstance(block, Plot))
    assert figure.points["label"].tolist() == [f"model{n}" for n in range(8, 0, -1)]
    assert figure.points["y"].is_monotonic_decreasing and "Overall differences only" in figure.title


def test_the_terminal_has_a_table_and_a_sentence_for_each_measure(tmp_path):
    comparison = compare(folders(tmp_path, ["first", "second"]))
    table, *sentences = for_terminal(comparison)
    assert table.title == "BLiMP: second on the items shared with first" and table.frame["n"].tolist() == [
        "300"
    ]
    assert sentences[0].startswith("second is above first in accuracy (+0.")
    assert any(sentence.startswith("accuracy: square-and-add interval over") for sentence in sentences)


@pytest.mark.parametrize("name", ["script", "image", "template", "rtl"])
def test_names_are_only_text(name, tmp_path):
    runs = folders(tmp_path, [HOSTILE[name], "other"])
    page = write_report(tmp_path / "out", runs, compare(runs)).read_text(encoding="utf-8")
    assert not any(bad in page for bad in ("<script>alert", "<img src=x", "\u202e"))
    assert "against" in page
