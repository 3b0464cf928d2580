"""Items of a suite behind its scores."""

from types import SimpleNamespace

import pandas as pd

from tse_scorers.suites.item_files import example


def test_the_example_is_an_item_that_a_model_is_wrong_about_if_there_is_one():
    items = pd.DataFrame({"good": ["A runs.", "B runs."], "bad": ["A run.", "B run."], "score": [1.0, 0.0]})
    runs = SimpleNamespace(scores=lambda suite: [SimpleNamespace(system="m")])
    wrong = example(runs, "minimal_pairs", lambda system: items)
    assert (wrong.good, wrong.bad, wrong.system, wrong.verdict) == ("B runs.", "B run.", "m", "wrong")
    right = example(runs, "minimal_pairs", lambda system: items.assign(score=1.0))
    assert (right.good, right.system, right.verdict) == ("A runs.", "m", "right")
    unknown = example(runs, "minimal_pairs", lambda system: items.assign(score=float("nan")))
    assert (unknown.good, unknown.verdict) == ("A runs.", "")


def test_the_example_is_of_the_system_that_is_named_where_its_items_are_stored():
    """A page showed an item of a checkpoint before training, which its answer does not name."""
    items = pd.DataFrame({"good": ["A runs."], "bad": ["A run."], "score": [0.0]})
    runs = SimpleNamespace(
        scores=lambda suite: [SimpleNamespace(system=name) for name in ("step0", "step1", "step2")]
    )

    def read(system):
        if system == "step2":
            raise ValueError("No scores.")
        return items

    assert [example(runs, "minimal_pairs", read, first).system for first in ("step1", "step2")] == [
        "step1",
        "step0",
    ]
