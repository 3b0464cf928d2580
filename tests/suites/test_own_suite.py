"""A suite of somebody else: a class that `run` gets, or that the entry point of another package names."""

from dataclasses import dataclass
from importlib.metadata import EntryPoint

import pandas as pd
import pytest
from typer.testing import CliRunner

from tse_scorers import Results, make_suite, run
from tse_scorers.cli.app import app
from tse_scorers.models.scorer import ask_sentences
from tse_scorers.suites import registry
from tse_scorers.suites.contract import Suite
from tse_scorers.suites.measure import Measure
from tse_scorers.suites.options import SuiteOptions, limit_option, option

SENTENCES = {
    "short": ["The author laughs.", "The pilots swim.", "The guard smiles.", "The chef is young."],
    "long": ["The author near the guards laughs.", "The pilots that like the chef swim and smile."],
}


@dataclass(frozen=True)
class WordOrderOptions(SuiteOptions):
    limit: int | None = limit_option()
    length: str | None = option("Only these sentences: short or long", "both", "the study has both")


class WordOrder(Suite):
    """Is a sentence more probable than its words in reverse order?"""

    name, title, Options = "word_order", "Order of words", WordOrderOptions
    measures = (Measure("in_order", "in order", right_or_wrong=True),)
    levels = ("length",)

    def load(self):
        rows = [(text, length) for length, texts in SENTENCES.items() for text in texts]
        frame = pd.DataFrame(rows, columns=["sentence", "length"])
        return frame if self.options.length is None else frame[frame["length"] == self.options.length]

    def ask(self, scorer, items, progress):
        texts = items["sentence"].tolist()
        reversals = [" ".join(text.rstrip(".").split()[::-1]) + "." for text in texts]
        forward = ask_sentences(scorer, texts, progress)
        return items.assign(in_order=forward > ask_sentences(scorer, reversals, progress))


@pytest.fixture(autouse=True)
def unknown(monkeypatch):
    """No suite was given before, and none is installed."""
    monkeypatch.setattr(registry, "_given", {})
    registry._installed.cache_clear()
    yield
    registry._installed.cache_clear()


@pytest.mark.usefixtures("no_pictures")
def test_a_class_is_run_and_its_scores_are_averaged_shown_and_compared(tmp_path):
    models = ["tiny-causal", "tiny-masked"]
    rows = run(models, suite=WordOrder, out=tmp_path)
    assert [row.group for row in rows[:3]] == ["all", "length:short", "length:long"]
    found = Results.load(tmp_path)
    items = found.items()
    of_first = items[items["model"] == "tiny-causal"]
    assert len(of_first) == rows[0].n == 6 and rows[0].score == pytest.approx(of_first["in_order"].mean())
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Order of words" in page and "By length" in page
    assert found.compare()["measure"].unique().tolist() == ["in order"]


def test_a_class_has_its_options_and_a_name_of_its_own():
    assert make_suite(WordOrder, length="long").n_items == 2
    with pytest.raises(ValueError, match=r"groups .*no effect .*suite='word_order'; remove"):
        make_suite(WordOrder, groups=["short"])
    taking = type("Taking", (WordOrder,), {"name": "german"})
    with pytest.raises(ValueError, match="Taking has the name of the suite 'german'"):
        make_suite(taking)


def test_the_entry_point_of_a_package_names_a_suite_for_the_command_line(monkeypatch, tmp_path):
    points = [EntryPoint(name, f"{__name__}:WordOrder", registry.GROUP) for name in ("word_order", "blimp")]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    assert registry.suite_names() == ["agreement", "minimal_pairs", "german", "regions", "word_order"]
    command = ["run", "--suite", "word_order", "-m", "tiny-causal", "--suite-option", "length=short"]
    done = CliRunner().invoke(app, [*command, "--no-report", "--out", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    assert [row.group for row in Results.load(tmp_path)] == ["all", "length:short"]
