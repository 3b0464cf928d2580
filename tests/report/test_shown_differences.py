"""What the terminal shows of a comparison."""

import synthetic_runs as made

from tse_scorers.report.differences import for_terminal
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


def test_the_families_of_several_models_are_counted(tmp_path):
    comparison = compare(folders(tmp_path, ["first", "second", "third"]))
    clear = comparison.rows["p_adjusted"].lt(0.05) & comparison.rows["reliable"].astype(bool)
    overall = clear & comparison.rows["level"].eq("all")
    said = [block for block in for_terminal(comparison) if isinstance(block, str)]
    assert any(f"accuracy, models: {overall.sum()} of 2 differ" in sentence for sentence in said)


def test_the_terminal_has_a_table_and_a_sentence_for_each_measure(tmp_path):
    comparison = compare(folders(tmp_path, ["first", "second"]))
    table, *sentences = for_terminal(comparison)
    assert table.title == "BLiMP: second on the items shared with first" and table.frame["n"].tolist() == [
        "300"
    ]
    assert sentences[0].startswith("second is above first in accuracy (+0.")
    assert any(sentence.startswith("accuracy: square-and-add interval over") for sentence in sentences)
