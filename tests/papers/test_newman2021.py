"""The tables and figures of Newman et al. (2021): what they say and draw."""

import pandas as pd
from synthetic_runs import agreement_rows, top_forms, write_run

from tse_scorers.papers.newman2021.cutoffs import ROW_LINES, lines_of
from tse_scorers.papers.newman2021.examples import example_view, published_examples
from tse_scorers.papers.newman2021.table2 import lemma_counts
from tse_scorers.report.inputs import read_runs
from tse_scorers.suites.agreement.data.paper_examples import TABLE_3


def test_constructions_have_lines_of_their_own():
    """Constructions with and without `that` share a hue; no two share a marker."""
    assert len({line.marker for line in ROW_LINES.values()}) == len(ROW_LINES)
    for name in ("Across object relative", "In object relative"):
        whole, short = ROW_LINES[f"{name} clause"], ROW_LINES[f"{name} (no that)"]
        assert whole.colour == short.colour and not whole.dashes and short.dashes
    assert len({line.colour for line in ROW_LINES.values()}) == len(ROW_LINES) - 2


def test_own_groups_have_lines_of_their_own():
    lines = lines_of(["Simple", "mine", "yours", "All of data"])
    assert lines["Simple"] == ROW_LINES["Simple"] and len({*lines.values()}) == 4
    assert lines["mine"].colour != lines["yours"].colour


def test_the_number_of_lemmas_is_said_once_where_all_models_have_the_same():
    rows = pd.DataFrame({"metric": "ew", "system": ["a", "b"], "n_lemmas": [872, 872]})
    assert lemma_counts(rows) == "EW and MW: over 872 lemmas."
    said = lemma_counts(rows.assign(n_lemmas=[872, 1000]))
    assert said == "Verb lists differ between vocabularies. Lemmas behind EW and MW: a 872, b 1,000."


def test_table_3_comes_first_with_the_papers_own_forms(tmp_path):
    """The contexts of these made-up forms have the first sentence of Table 3."""
    run = write_run(
        tmp_path / "run", agreement_rows("m"), {"m.agreement.marvin_linzen.top_forms": top_forms()}
    )
    part = example_view(read_runs([run]))
    items = part.of()[0].items
    assert [(item.system, item.forms[0].form) for item in items[:2]] == [
        ("bert-large-cased (published)", "meets"), ("bert-large-cased (published)", "pilots"),
    ]  # fmt: skip
    assert items[2].system == "m" and (items[2].prefix, items[2].suffix.strip()) == TABLE_3[0]
    assert items[:2] == published_examples()
    assert {len(item.forms) for item in items[2:]} == {10}  # of its own context alone
