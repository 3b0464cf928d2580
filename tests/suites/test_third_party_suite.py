"""The packages of `examples/` (`word_order`: a suite and a metric) work in every command, and with every tool."""

import math
import re
import shutil
import subprocess
import sys
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import evaluate
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from command_line import refused
from run_records import SINGLE, table_path
from small_training import logged, train
from synthetic_runs import agreement_rows, write_run
from typer.testing import CliRunner

import tse_scorers
from tse_scorers import Results, SyntaxEvaluationCallback, load_data, make_suite
from tse_scorers.cli.app import app
from tse_scorers.io.records import read_records, write_record
from tse_scorers.io.results import read_results
from tse_scorers.report.inputs import read_runs
from tse_scorers.report.tables import ScoredItems
from tse_scorers.runs.merge import merge
from tse_scorers.runs.report import write_report
from tse_scorers.runs.run import Run
from tse_scorers.suites.contract import Measure, Suite
from tse_scorers.suites.item_files import files_of, items_of_rows, read_files
from tse_scorers.suites.items import Group
from tse_scorers.suites.options import SuiteOptions, limit_option, option
from tse_scorers.suites.registry import GROUP, all_suites, find_suite, section_of, suite_names
from tse_scorers.suites.shown import Shown

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "word_order" / "word_order"
N_SENTENCES = 6


def install(site: Path, package: str, source: str, **suites: str) -> None:
    """Put a package with entry points into a folder, as pip does."""
    (site / package).mkdir(parents=True)
    (site / package / "__init__.py").write_text(source, encoding="utf-8")
    about = site / f"{package}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [f"{name} = {package}:{attribute}" for name, attribute in suites.items()]
    (about / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines]) + "\n")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder in which the suite's package is installed."""
    site = tmp_path_factory.mktemp("site")
    install(site, "word_order", "", word_order="WordOrder")
    shutil.copytree(EXAMPLE, site / "word_order", dirs_exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(site)
        yield site
    for name in [name for name in sys.modules if name.partition(".")[0] == "word_order"]:
        del sys.modules[name]


class ShorterIsBetter:
    """A scorer that inherits from nothing: each letter costs one nat, each small first letter ten."""

    name = "shorter"
    signature = {"model": "shorter", "revision": "1"}  # noqa: RUF012

    def sentence_logprobs(self, sentences, progress=None):
        costs = [len(text) + 10 * (not text.startswith("The ")) for text in sentences]
        return -np.array(costs, dtype=np.float64)


def tse(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_help_shows_its_options(site):
    """Those that have a name on the command line, and the one that stands for the others."""
    shown = CliRunner().invoke(app, ["run", "--suite", "word_order", "--help"], terminal_width=80).output
    assert "--limit" in shown and "--suite-option" in shown
    assert "--lemmas" not in shown and "--source" not in shown


@pytest.fixture(scope="module")
def run(site, tmp_path_factory):
    """The output folder of `tse run` and what it printed."""
    out = tmp_path_factory.mktemp("run") / "tiny"
    said = tse("run", "--suite", "word_order", "--model", "tiny-causal", "--device", "cpu", "--out", out)
    return out, said


def test_it_is_found_by_its_name(site):
    assert suite_names() == ["agreement", "minimal_pairs", "german", "regions", "word_order"]
    assert find_suite("word_order") in all_suites() and find_suite("word_order").title == "Order of words"
    assert make_suite("word_order", limit=1).n_items == 2
    with pytest.raises(ValueError, match=r"groups .*no effect .*suite='word_order'; remove"):
        make_suite("word_order", groups=["short"])


def test_it_has_options_of_its_own(site, tmp_path):
    command = ["run", "--suite", "word_order", "--model", "tiny-causal", "--device", "cpu", "--no-report"]
    tse(*command, "--suite-option", "length=short", "--out", tmp_path)
    results = read_results(tmp_path)
    assert [row["group"] for row in results["results"]] == ["all", "length:short"]
    (model,) = results["signature"]["models"]
    assert model["request"]["partial_reasons"] == ["--length short"]
    for given, said in (
        ("lengths=short", "lengths has no effect with suite='word_order'"),
        ("limit=3", "Write --limit."),
        ("short", "Got --suite-option 'short'; expected NAME=VALUE"),
    ):
        done = CliRunner().invoke(app, [*command, "--suite-option", given, "--out", str(tmp_path)])
        assert isinstance(done.exception, ValueError)
        assert said in str(done.exception)


class ThresholdOptions(SuiteOptions):
    limit: int | None = limit_option()
    threshold: float | None = option("Above which a word counts as known", "0", "each word is then known")
    strict: bool | None = option("Whether short words count", "no", "few do")


class Known(Suite):
    name, title, Options = "known", "Known words", dataclass(frozen=True)(ThresholdOptions)
    measures = (Measure("known"),)
    levels = ("source", "length")

    def load(self):
        self.levels = ("length",)
        return pd.DataFrame({"word": ["a", "bb", "cc"], "length": ["1", "2", "2"]})

    def ask(self, scorer, items, progress):
        return items.assign(known=items["word"].str.len() > (self.options.threshold or 0))


def test_options_of_other_packages_become_what_they_are_annotated_with(monkeypatch, tmp_path):
    """A number stayed a text, which failed after the model had run; a wrong one was named as an option there is not."""
    monkeypatch.setattr("tse_scorers.suites.registry._installed", lambda: {"known": Known})
    monkeypatch.setattr("tse_scorers.suites.registry._loaded", lambda declared: declared)
    command = [
        "run",
        "--suite",
        "known",
        "--model",
        "tiny-causal",
        "--device",
        "cpu",
        "--no-report",
        "--out",
        tmp_path,
    ]
    tse(*command, "--suite-option", "threshold=1.5")
    rows = {row["group"]: row["score"] for row in read_results(tmp_path)["results"]}
    assert rows == {"all": pytest.approx(2 / 3), "length:1": 0, "length:2": 1}, "load left out a level"
    (row,) = read_results(tmp_path)["signature"]["models"]
    assert row["request"]["suite_options"] == {"threshold": 1.5}
    for given, said in (
        ("threshold=high", "'high'.*finite number"),
        ("threshold=nan", "finite"),
        ("strict=1", "True or False"),
    ):
        done = CliRunner().invoke(app, [*map(str, command), "--suite-option", given])
        assert isinstance(done.exception, TypeError) and re.search(said, str(done.exception))
    assert "--suite-option thresold=… has no effect" in refused(*command, "--suite-option", "thresold=3")
    shown = CliRunner().invoke(app, ["run", "--suite", "known", "--help"], terminal_width=80).output
    assert "threshold=VALUE" in shown and "Above which a word counts" in shown and "--limit" in shown


def test_a_shell_offers_it(site):
    asked = {"_TSE_COMPLETE": "complete_bash", "COMP_WORDS": "tse run --suite word_", "COMP_CWORD": "3"}
    assert CliRunner().invoke(app, prog_name="tse", env=asked, args=[]).output.split() == ["word_order"]


def test_help_names_it(site):
    command = [sys.executable, "-m", "tse_scorers", "run", "--help"]
    script = f"import sys, runpy; sys.path.insert(0, {str(site)!r}); sys.argv = {command[2:]!r}; "
    script += "runpy.run_module('tse_scorers', run_name='__main__', alter_sys=True)"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "word_order" in said


def test_a_run_has_its_scores_results_and_section(run):
    out, said = run
    rows = {row["group"]: row for row in read_results(out)["results"]}
    assert list(rows) == ["all", "length:short", "length:long"]
    items = pd.read_parquet(table_path(out))
    assert len(items) == rows["all"]["n"] == N_SENTENCES and rows["all"]["unit"] == "items"
    assert rows["all"]["score"] == pytest.approx(items["in_order"].mean())
    assert "Order of words" in said and "in order" in said
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "A sentence should be more probable" in page and "in order of groups" in page
    assert (out / "word_order_in_order.csv").is_file()


def test_shards_are_merged(site, run, tmp_path):
    for number in (1, 2):
        shard = ("--out", tmp_path, "--shard", f"{number}/2")
        tse("run", "--suite", "word_order", "--model", "tiny-causal", "--device", "cpu", *shard)
    merged = {row["group"]: row["score"] for row in merge([tmp_path], tmp_path / "whole")}
    assert merged == {row["group"]: pytest.approx(row["score"]) for row in read_results(run[0])["results"]}


def test_a_scorer_that_inherits_from_nothing_is_compared(run, tmp_path):
    """Of the sentences, the plain scorer finds all in order: its reversals do not begin with `The`."""
    rows = tse_scorers.run(
        ShorterIsBetter(), suite=find_suite("word_order"), out=tmp_path / "other", report=False
    )
    assert rows[0]["score"] == 1.0
    said = tse("compare", run[0], tmp_path / "other", "--out", tmp_path / "compared")
    assert "Order of words, on the items shared with tiny-causal" in said
    row, *groups = pd.read_csv(tmp_path / "compared" / "comparison.csv").to_dict("records")
    assert [group["group"] for group in groups] == ["length:short", "length:long"]
    wrong = round(N_SENTENCES * (1 - read_results(run[0])["results"][0]["score"]))
    assert (row["measure"], row["test"], row["n_items"]) == ("in order", "cluster-robust t test", N_SENTENCES)
    assert row["n_ties"] == N_SENTENCES - wrong
    assert "A sentence should be more probable" in (tmp_path / "compared" / "report.html").read_text("utf-8")


def test_its_live_key_is_logged_by_a_trainer(site, tmp_path):
    callback = SyntaxEvaluationCallback(suites=["word_order"], by_group=True)
    trainer = train(
        tmp_path, callback, metric_for_best_model="eval_word_order/in_order", save_strategy="best"
    )
    assert [step for step, _ in logged(trainer, "eval_word_order/in_order")] == [2, 4]
    assert all(0 <= score <= 1 for _, score in logged(trainer, "eval_word_order/in_order/short"))


def test_it_is_published(run):
    said = tse("publish", run[0], "--model-repo", "org/tiny-causal")
    assert said.count("  + ") == 1
    assert "id: someone/word_order" in said and "task_id: word_order_in_order" in said


def test_impossible_scores_in_its_record_are_named(run, tmp_path):
    """Its measure is a mean of scores that are 0 or 1; only suites of this package had such checks."""
    record = read_records(run[0])[0]
    table = record.tables[SINGLE].read()
    place = table.column_names.index("in_order")
    for value, expected in ((7.0, "0 to 1"), (0.5, "0 or 1")):
        changed = table.set_column(place, "in_order", pa.array([value] * len(table)))
        edited = write_record(tmp_path / "edited", record.signature, {SINGLE: changed})
        with pytest.raises(ValueError, match=rf"has {value} .*'in_order'; expected {expected}"):
            edited.read()
    with pytest.raises(ValueError, match="in_order"):
        tse("compare", run[0], "--by", "in_order", "--out", tmp_path / "by")


class Impossible(Known):
    def ask(self, scorer, items, progress):
        return items.assign(known=7.0)


def test_impossible_scores_of_a_suite_are_not_written(tmp_path):
    """Its file was called damaged, with the advice to run the same command again."""
    run = Run(Impossible(Impossible.Options()), tmp_path / "out")
    with pytest.raises(ValueError, match=r"'known' returned .* row 1 has 7.0 .*expected 0 to 1.*`ask`"):
        run.add(ShorterIsBetter())
    assert not (tmp_path / "out").exists()


def test_its_items_are_read_and_its_conditions_contrasted(run, tmp_path):
    items = Results.load(run[0]).items("word_order")
    assert {"model", "sentence", "length", "logprob_reversed", "in_order"} <= set(items)
    said = tse("compare", run[0], "--by", "length", "--out", tmp_path / "by")
    assert "short" in said and "long" in said


def test_its_metric_gives_the_score_of_the_run(run):
    items = pd.read_parquet(table_path(run[0]))
    metric = evaluate.load(str(EXAMPLE / "share_in_order.py"))
    found = metric.compute(forward=items["logprob"], backward=items["logprob_reversed"])
    assert found == {"in_order": pytest.approx(read_results(run[0])["results"][0]["score"]), "n": N_SENTENCES}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"load": lambda self: pd.DataFrame({"sentence": []})}, "has no rows"),
        (
            {"load": lambda self: pd.DataFrame({"sentence": ["A.", "A."], "length": "a"})},
            "has 1 item more than once",
        ),
        ({"load": lambda self: pd.DataFrame({"sentence": ["A."]})}, "length"),
        ({"ask": lambda self, scorer, items, progress: items}, "no column in_order, .*measure"),
        ({"ask": lambda self, scorer, items, progress: items.assign(in_order=1)[:1]}, "returned 1 rows"),
        (
            {"ask": lambda self, scorer, items, progress: items.assign(in_order=1, length=0)},
            "other values in length, .* Rename",
        ),
    ],
)
def test_a_declaration_that_gives_what_it_should_not_is_refused(site, change, said):
    suite = type("Changed", (find_suite("word_order"),), {"measures": (Measure("in_order"),)} | change)
    with pytest.raises(ValueError, match=said):
        suite(suite.Options()).score(ShorterIsBetter(), lambda done, total: None)


def test_columns_of_the_data_may_come_back_as_another_type_and_in_another_order(site):
    rows = pd.DataFrame(
        {"sentence": list("abc"), "length": "s", "rating": [1.0, np.nan, 3.0], "order": [2, 1, 3]}
    )
    members = {
        "load": lambda self: rows,
        "ask": lambda self, scorer, items, progress: items.assign(
            in_order=1, order=items["order"].astype(float), length=items["length"].astype("category")
        ).sort_values("order"),
    }
    suite = type("Sorted", (find_suite("word_order"),), members)
    table = suite(suite.Options()).score(ShorterIsBetter(), lambda done, total: None)[SINGLE]
    assert table["sentence"].to_pylist() == ["b", "a", "c"]


def test_groups_by_any_column_are_added_as_the_documentation_shows(site, tmp_path):
    """A column that is no level, with a gap; for a mean, `groups` did not even get it."""

    class Registers(find_suite("word_order")):
        def load(self):
            return super().load().assign(register=["high", "low", "high", None, "low", "high"])

        @classmethod
        def groups(cls, items):
            whole, *others = super().groups(items)
            yield from (whole, *others)
            for value in items["register"].dropna().unique() if "register" in items else ():
                is_value = (items["register"] == value).to_numpy()
                yield Group("register", value, items[is_value], whole.units.of(is_value))

    made = Registers(Registers.Options())
    rows = made.aggregate(made.score(ShorterIsBetter(), lambda done, total: None))
    assert [(row.level, row.value, row.n) for row in rows] == [
        ("all", "", 6), ("length", "short", 4), ("length", "long", 2), ("register", "high", 3), ("register", "low", 2),
    ]  # fmt: skip


def test_its_items_are_shown_as_the_documentation_shows(site, tmp_path):
    """Each sentence stands beside its reversal, in the rows of its group and of all."""

    def pairs(suite, runs, measure, rows):
        def read(system):
            items = read_files(
                files_of(runs, suite.name, system), ["sentence", "reversal", "length", "in_order"]
            )
            return items.rename(columns={"sentence": "good", "reversal": "bad", "in_order": "score"})

        return ScoredItems(suite.name, items_of_rows(rows), read, {"score": measure.label}, "sentences")

    class WithReversals(find_suite("word_order")):
        shown = Shown(items=pairs)

        def ask(self, scorer, items, progress):
            scored = super().ask(scorer, items, progress)
            return scored.assign(reversal=[text.split()[-1] for text in items["sentence"]])

    Run(WithReversals(WithReversals.Options()), tmp_path).add(ShorterIsBetter())
    (table,) = WithReversals.views(read_runs([tmp_path])).views[0].chosen("in order", "length")
    assert table.items.rows == {"short": {"length": "short"}, "long": {"length": "long"}, "Overall": {}}
    items = table.items.read("shorter")
    assert items.loc[items["length"] == "long", ["good", "bad", "score"]].values.tolist() == [
        ["The author near the guards laughs.", "laughs.", 1.0],
        ["The pilots that like the chef swim and smile.", "smile.", 1.0],
    ]


def test_several_columns_make_an_item_the_same_in_two_runs():
    """A word is there once for each length; without the key, its first column would be the item."""

    class Pairs(Known):
        key, levels = ("word", "length"), ("length",)

        def load(self):
            return pd.DataFrame({"word": ["a", "a", "bb"], "length": ["1", "2", "2"]})

    made = Pairs(Pairs.Options())
    tables = made.score(ShorterIsBetter(), lambda done, total: None)
    (scored,) = Pairs.scored(tables)
    assert list(scored.item_scores(*scored.columns).items.index) == [("a", "1"), ("a", "2"), ("bb", "2")]
    once = type("Once", (Pairs,), {"key": ("word",)})
    with pytest.raises(ValueError, match=r"1 item more than once \(columns word\)"):
        once(once.Options())


def test_a_table_in_memory_is_for_run_only(judgments):
    """The message was the whole data frame, and did not say what takes one."""
    with pytest.raises(TypeError, match=r"^Got a DataFrame as data; .*`run` takes a table in memory"):
        make_suite("judgments", data=pd.read_csv(judgments))


def test_a_sentence_that_a_model_cannot_score_is_excluded(site):
    """`ask` was refused for a score that is NaN, with the advice to remove the row, after the model had run."""

    class OneUnknown(ShorterIsBetter):
        def sentence_logprobs(self, sentences, progress=None):
            return np.where(np.array(sentences) == sentences[0], np.nan, super().sentence_logprobs(sentences))

    suite = make_suite("word_order")
    whole = suite.aggregate(suite.score(OneUnknown(), lambda done, total: None))[0]
    assert (whole.n, whole.n_excluded, whole.score) == (N_SENTENCES - 1, 1, 1.0)


def test_scores_derived_from_all_items_are_one_for_each(site):
    measure = Measure("in_order", derived=lambda items: items["logprob"][:1])
    suite = type("Short", (find_suite("word_order"),), {"measures": (measure,)})
    made = suite(suite.Options())
    tables = made.score(ShorterIsBetter(), lambda done, total: None)
    with pytest.raises(ValueError, match=r"in_order .*shape \(1,\); .*6 rows"):
        made.aggregate(tables)


def test_an_item_without_a_score_is_counted_and_a_unit_is_one_in_all_groups(site):
    """Items of two units, one of them in both groups: the units of the overall score are two."""
    rows = pd.DataFrame(
        {"sentence": list("abcdef"), "length": list("ssslll"), "cluster": list("xxyxyy"),
         "in_order": [1.0, 0.0, None, 1.0, 1.0, 0.0]}
    )  # fmt: skip
    table = {"scores": pa.Table.from_pandas(rows)}
    found = {row.group: row for row in find_suite("word_order").aggregate(table)}
    whole, short = found["all"], found["length:s"]
    assert (whole.score, whole.n, whole.n_excluded) == (pytest.approx(0.6), 5, 1)
    assert (whole.unit, whole.n_units) == ("clusters", 2)
    assert (short.score, short.n, short.n_excluded, short.n_units) == (0.5, 2, 1, 1)


def test_its_learning_curve_is_drawn(run, tmp_path):
    record = read_records(run[0])[0]
    for step in (10, 100, 1000):
        named = {
            "identity": record.identity | {"revision": f"step{step}"},
            "series": f"tiny-causal@step{step}",
        }
        made = write_record(tmp_path / "series", {**record.signature, **named}, {})
        made.with_rows([replace(row, score=math.log10(step) / 4) for row in record.rows()])
    tse("report", tmp_path / "series")
    page = (tmp_path / "series" / "report.html").read_text(encoding="utf-8")
    assert "Over the course of training" in page and "tiny-causal: Order of words" in page


def test_the_tab_shows_the_scores(run):
    from tse_scorers.report.inputs import read_runs

    (view,) = find_suite("word_order").views(read_runs([run[0]])).views
    (table,) = view.chosen("in order", "length")
    overall, *groups = [row["score"] for row in read_results(run[0])["results"]]
    assert table.cells["score"].tolist() == [*groups, overall]
    assert table.cells["label"].tolist() == ["short", "long", "Overall"] and table.totals == ["Overall"]


def test_the_tab_shows_groups_of_its_own(run):
    """Where `groups` gives others than `levels`, results had them, and the tab did not."""
    from tse_scorers.report.inputs import read_runs

    suite = type("Own", (find_suite("word_order"),), {"levels": ()})
    (view,) = suite.views(read_runs([run[0]])).views
    assert view.chosen("in order", "length")[0].cells["label"].tolist() == ["short", "long", "Overall"]


def test_groups_of_two_levels_with_one_value_are_told_apart(run):
    """A table had the row of one level with the score of the other, and no word of it."""
    from tse_scorers.report.inputs import read_runs

    runs = read_runs([run[0]])
    of_length = runs.rows[runs.rows["level"] == "length"]
    of_source = of_length.assign(level="source", group="source:" + of_length["value"], score=0.25)
    runs = replace(runs, rows=pd.concat([runs.rows, of_source.iloc[:1]], ignore_index=True))
    (view,) = find_suite("word_order").views(runs).views
    cells = view.chosen("in order", "all groups")[0].cells.set_index("label")["score"]
    value = of_length["value"].iloc[0]
    assert cells[f"source: {value}"] == 0.25
    assert cells[f"length: {value}"] == of_length["score"].iloc[0]


def test_levels_that_the_class_does_not_list_are_refused():
    """`load` may leave out a level. One that it added was in no result, without a word."""

    class Added(Known):
        def load(self):
            loaded = super().load()
            self.levels = ("length", "word")
            return loaded

    with pytest.raises(ValueError, match=r"Added\.load .*levels length, word; .*List word"):
        Added(Known.Options())


class Chosen(Known):
    """Its options decide which measures a run has."""

    measures = (
        Measure("known"),
        Measure("long"),
        Measure("longer", derived=lambda items: items["word"] > "b"),
    )

    def load(self):
        left_out = "known" if self.options.strict else "long"
        self.measures = [measure for measure in self.measures if measure.name != left_out]
        return super().load()

    def ask(self, scorer, items, progress):
        names = [measure.name for measure in self.measures if measure.derived is None]
        return items.assign(**dict.fromkeys(names, 1.0))


def test_a_run_has_the_measures_that_load_has_chosen(tmp_path):
    """Averages were of all measures of the class, which failed after the model had run."""
    for strict, name in ((True, "long"), (False, "known")):
        suite = Chosen(Chosen.Options(strict=strict))
        rows = suite.aggregate(suite.score(ShorterIsBetter(), lambda done, total: None))
        assert {row.metric for row in rows} == {name, "longer"}


@pytest.mark.parametrize(
    "chosen, said",
    [
        ((Measure("known"),), r"Wrong\.load left out the measure longer, which is derived"),
        (
            (Measure("other"),),
            r"Wrong\.load set the measures other; expected .*known, long, longer.* List other",
        ),
    ],
)
def test_measures_that_results_on_disk_cannot_have_are_refused(chosen, said):
    class Wrong(Chosen):
        def load(self):
            loaded = super().load()
            self.measures = chosen
            return loaded

    with pytest.raises(ValueError, match=said):
        Wrong(Wrong.Options())


def test_the_users_column_is_not_replaced_by_derived_scores():
    class WithColumn(Chosen):
        def load(self):
            return super().load().assign(longer="yes")

    with pytest.raises(ValueError, match="has the column 'longer', in which the scores of longer stand"):
        WithColumn(WithColumn.Options())


def test_its_items_are_behind_its_scores(run):
    from tse_scorers.report.inputs import read_runs

    (shown,) = find_suite("word_order").views(read_runs([run[0]])).views
    (view,) = shown.of(*(list(control.choices.values())[-1] for control in shown.controls))
    for cell in view.cells.itertuples():
        items = view.items.read(cell.system)
        wanted = view.items.rows[cell.label].items()
        of_row = items[
            [all(item[column] == value for column, value in wanted) for item in items.to_dict("records")]
        ]
        assert (len(of_row), of_row["score"].mean()) == (cell.n, pytest.approx(cell.score))
        assert of_row["good"].is_unique
    assert shown.headlines and view.compared == "in order"


def test_the_explorer_has_its_tab(run, tmp_path):
    tse("explore", run[0], "--export", tmp_path / "page")
    assert '"Order of words"' in (tmp_path / "page" / "data" / "start.js").read_text(encoding="utf-8")


def test_a_failure_in_its_code_names_the_line(site, tmp_path, monkeypatch):
    """A suite's author was told to report a bug of this package."""
    monkeypatch.setitem(find_suite("word_order").load.__globals__, "SENTENCES", None)
    said = refused("run", "--suite", "word_order", "--out", tmp_path, code=70)
    assert "This is a bug" not in said
    said = "".join(said.split())  # lines break at the terminal's width
    source = (EXAMPLE / "__init__.py").read_text("utf-8").splitlines()
    line = next(number for number, text in enumerate(source, 1) if "SENTENCES.items()" in text)
    assert (
        f"asuiteorananalysisofanotherpackage({site}/word_order/__init__.py,line{line}:AttributeError" in said
    )


@pytest.mark.parametrize(
    "shown, name, left",
    [
        (Shown(views=lambda runs: {}["oops"]), "shown.views", ["Scores by group"]),
        (Shown(lambda runs: {}["oops"]), "views", None),
    ],
)
def test_what_it_shows_is_left_out_where_it_fails(run, monkeypatch, shown, name, left):
    from tse_scorers.report.inputs import read_runs

    suite = find_suite("word_order")
    monkeypatch.setattr(suite, "shown", shown)
    with pytest.warns(UserWarning, match=rf"The suite 'word_order' .* failed in `{name}` \(KeyError: 'oops'"):
        section = section_of(suite, read_runs([run[0]]))
    assert (section and [view.title for view in section.views]) == left


# --- packages that are broken --------------------------------------------------------------------------------


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """Install a package with one broken suite and return a function that asks for it."""

    def ask(name: str, source: str) -> str:
        package = f"broken_{name}"
        install(tmp_path, package, source, **{name: "Suite"})
        monkeypatch.syspath_prepend(tmp_path)
        with pytest.raises(ValueError) as refused:
            find_suite(name)
        with pytest.warns(UserWarning, match=package):
            found = [suite.name for suite in all_suites()]
        assert found[:3] == ["agreement", "minimal_pairs", "german"] and name not in found
        return str(refused.value)

    return ask


@pytest.mark.slow
@pytest.mark.usefixtures("no_pictures")
def test_a_broken_suite_without_results_does_not_matter(broken, tmp_path):
    broken("unused", "import a_module_that_is_not_there")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_report(write_run(tmp_path / "run", agreement_rows("m"), {}))


def test_a_package_that_cannot_be_imported_is_named(broken):
    said = broken("absent", "import a_module_that_is_not_there")
    assert "could not be imported: ModuleNotFoundError" in said
    assert "Update or uninstall broken_absent." in said


def test_a_class_without_all_of_a_suite_is_refused_with_what_it_lacks(broken):
    source = "from tse_scorers.suites import contract\nclass Suite(contract.Suite):\n    name, measures = 'half', ()\n"
    said = broken("half", source)
    assert (
        "lacks title, Options, ask, load;" in said
        and "Add them to the class, if the package is yours." in said
    )
    assert "expected a subclass of tse_scorers.suites.contract.Suite" in broken("other", "class Suite: ...\n")


def test_a_suite_under_another_name_than_its_own_is_refused(broken):
    source = (
        (EXAMPLE / "__init__.py").read_text("utf-8").replace(".share_in_order", "word_order.share_in_order")
    )
    source += "\nSuite = WordOrder\n"
    assert "calls itself 'word_order'; expected the name of its entry point" in broken("wrong", source)


def test_the_names_of_this_package_cannot_be_taken(tmp_path, monkeypatch):
    install(tmp_path, "taking", "class Suite: ...\n", blimp="Suite", minimal_pairs="Suite")
    monkeypatch.syspath_prepend(tmp_path)
    assert [name for name in suite_names() if name in ("blimp", "minimal_pairs")] == ["minimal_pairs"]
    assert find_suite("minimal_pairs") is find_suite("blimp")
    assert find_suite("minimal_pairs").__module__ == "tse_scorers.suites.minimal_pairs.suite"


@pytest.fixture
def judgments(tmp_path, monkeypatch):
    """A suite whose data is a table of the user's own, and whose measure is no mean; returns the table."""
    install(tmp_path / "site", "judgments", "", judgments="Judgments")
    shutil.copytree(
        EXAMPLE.parents[1] / "judgments" / "judgments", tmp_path / "site" / "judgments", dirs_exist_ok=True
    )
    monkeypatch.syspath_prepend(tmp_path / "site")
    pairs = load_data("agreement_templates", "marvin_linzen").to_pandas().drop_duplicates("sentence_good")
    pairs = pairs.drop_duplicates("sentence_bad").groupby("group").head(4)
    rows = [(getattr(pair, f"sentence_{side}"), int(side == "good"), pair.group)
            for side in ("good", "bad") for pair in pairs.itertuples()]  # fmt: skip
    pd.DataFrame(rows, columns=["sentence", "label", "group"]).to_csv(tmp_path / "cola.csv", index=False)
    yield tmp_path / "cola.csv"
    sys.modules.pop("judgments", None)  # a second test uses the class that the first one imported


def test_matthews_correlation_of_single_sentences(judgments, tmp_path):
    """The columns choose the suite; the correlation is that of the table of the second half, also from shards."""
    with pytest.raises(ValueError, match=r"no default data; expected a table\. Choose one with data"):
        make_suite("judgments")
    said = tse("run", "--data", judgments, "-m", "tiny-causal", "--out", tmp_path / "out", "--no-report")
    assert "Suite: judgments, by the columns of" in said
    rows = {
        (row["metric"], row["group"]): row
        for row in read_results(tmp_path / "out")["results"]
        if row["level"] == "all"
    }
    (record,) = read_records(tmp_path / "out")
    items = record.read()[SINGLE].to_pandas()
    first, second = items[items["half"] == 0], items[items["half"] == 1]
    best = max(
        sorted(first["per_word"]), key=lambda s: ((first["per_word"] >= s) == (first["label"] == 1)).sum()
    )
    table = pd.crosstab(second["per_word"] >= best, second["label"]).to_numpy(dtype=float)
    expected = np.linalg.det(table) / np.sqrt(table.sum(0).prod() * table.sum(1).prod())
    row = rows["matthews", "all"]
    assert row["score"] == pytest.approx(expected) and row["ci_low"] < expected < row["ci_high"]
    assert (row["dataset"], row["config"], row["n"]) == (str(judgments), "cola", len(second))
    for number in (1, 2):
        tse(
            "run",
            "--data",
            judgments,
            "-m",
            "tiny-causal",
            "--out",
            tmp_path / "parts",
            "--shard",
            f"{number}/2",
        )
    tse("merge", tmp_path / "parts", "--out", tmp_path / "whole")
    merged = [row for row in read_results(tmp_path / "whole")["results"] if row["metric"] == "matthews"]
    assert merged[0]["score"] == pytest.approx(expected)
    right = (second["per_word"] >= best) == (second["label"] == 1)
    assert rows["accuracy", "all"]["score"] == pytest.approx(right.mean())
    of_groups = [row for row in read_results(tmp_path / "out")["results"] if row["metric"] == "accuracy"]
    by_group = right.groupby(second["group"], sort=False).mean()
    assert {row["value"]: row["score"] for row in of_groups[1:]} == pytest.approx(by_group.to_dict())
    found = Results.load(tmp_path / "out").items()
    assert found["is_right"].dropna().tolist() == right.tolist() and found["accepted"].isna().sum() == len(
        first
    )


def test_judgments_that_cannot_be_scored_are_named(judgments):
    """A label 2 was scored without a word."""
    table = pd.read_csv(judgments)
    wrong = {
        r"holds 2 in column 'label' of row 3; expected 0 or 1": {"label": [1, 0, 2]},
        "holds '' in column 'sentence' of row 2; expected a text with at least one word": {
            "sentence": ["a", "", "c"]
        },
    }
    for said, columns in wrong.items():
        table.head(3).assign(**columns).to_csv(judgments, index=False)
        with pytest.raises(ValueError, match=said):
            make_suite("judgments", data=str(judgments))
    table[["sentence", "label"]].to_csv(judgments, index=False)
    assert make_suite("judgments", data=str(judgments)).levels == ()


def test_the_page_shows_the_judgments_as_they_are(root):
    """The page shows the estimate of the correlation."""
    page = (root / "docs" / "architecture.md").read_text(encoding="utf-8")
    (shown,) = (
        block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "def matthews" in block
    )
    lines = (
        (root / "examples" / "judgments" / "judgments" / "__init__.py")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    assert set(shown.splitlines()) <= set(lines)


def test_judgments_are_compared_by_their_accuracy_and_their_correlation(judgments, tmp_path):
    """An accuracy whose threshold is chosen on other items had nothing to compare, and a correlation was left out."""
    models = ("-m", "tiny-causal", "-m", "tiny-masked")
    tse("run", "--data", judgments, *models, "--out", tmp_path / "out", "--no-report")
    scores = {}
    for row in read_results(tmp_path / "out")["results"]:
        scores.setdefault((row["metric"], row["group"]), []).append(row)
    tse("compare", tmp_path / "out", "--out", tmp_path / "compared")
    rows = pd.read_csv(tmp_path / "compared" / "comparison.csv").set_index(["measure", "group"])
    for label, metric in (("accuracy", "accuracy"), ("Matthews' r", "matthews")):
        first, second = scores[metric, "all"]
        row = rows.loc[(label, "all")]
        assert (row["n_items"], row["score"]) == (first["n"], pytest.approx(second["score"]))
        assert row["difference"] == pytest.approx(second["score"] - first["score"])
        assert row["ci_low"] < row["difference"] < row["ci_high"] and 0 < row["p"] <= 1
    assert rows.loc[("Matthews' r", "all"), "test"] == "jackknife t test"
    groups = [group for label, group in rows.index if label == "Matthews' r"]
    assert groups == [group for label, group in rows.index if label == "accuracy"] and len(groups) > 2


def test_a_measure_that_is_no_mean_has_no_conditions(judgments, tmp_path):
    """With `--measure` it had "no scores of items", which was false; without, it was missing without a word."""
    out = tmp_path / "out"
    tse("run", "--data", judgments, "-m", "tiny-causal", "--out", out, "--no-report")
    said = tse("compare", out, "--by", "label", "--out", tmp_path / "compared")
    assert "Not compared by label: Matthews' r, because conditions are compared by means of items." in said
    assert set(pd.read_csv(tmp_path / "compared" / "conditions.csv")["measure"]) == {"accuracy"}
    with pytest.raises(ValueError, match=r"Matthews' r cannot be compared by label, .*: accuracy\."):
        Results.load(out).compare(by="label", measure="matthews")


class Knowing:
    """Scores the sentences of a table as it was told."""

    def __init__(self, name, logprobs):
        self.name, self.signature, self.logprobs = name, {"model": name, "revision": "1"}, logprobs

    def sentence_logprobs(self, sentences, progress=None):
        return np.array([self.logprobs[text] for text in sentences])


def test_a_correlation_without_an_interval_says_why(judgments, tmp_path):
    """Its `reliable` was true; undefined scores had "too few units", were drawn, and were missing from LaTeX alone."""
    rng = np.random.default_rng(0)
    labels = [int(label) for label in rng.integers(2, size=90)]
    groups = ["right"] * 30 + ["mixed"] * 30 + ["constant"] * 30
    labels[60:] = [1] * 30
    sentences = [f"Sentence {i} ." for i in range(90)]
    table = pd.DataFrame({"sentence": sentences, "label": labels, "group": groups})
    out = tmp_path / "out"
    for name, is_wrong in (("a", lambda i: 30 <= i < 36), ("b", lambda i: 30 <= i < 50)):
        logprobs = {text: -5.0 - 3 * ((labels[i] == 0) != is_wrong(i)) for i, text in enumerate(sentences)}
        tse_scorers.run(Knowing(name, logprobs), suite="judgments", data=table, out=out, report=False)
    results = read_results(out)["results"]
    rows = {(row["model"], row["value"]): row for row in results if row["metric"] == "matthews"}
    right, constant = rows["a", "right"], rows["a", "constant"]
    assert (right["score"], right.get("se"), right["reliable"]) == (1.0, None, False)
    assert (constant.get("score"), constant["reliable"]) == (None, False)
    said = tse("compare", out, "--out", tmp_path / "compared")
    assert (
        "2 have no test, because a score is undefined or does not vary." in said
        and "too few units" not in said
    )
    tse("report", out, "--paper", "column")
    methods = (out / "paper" / "methods.tex").read_text(encoding="utf-8")
    assert "intervals of Matthews' r are by a jackknife over sentences, on Fisher's z scale." in methods
    assert "intervals of accuracy are cluster-robust" in methods and "data data" not in methods
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "–: undefined over these items, as is a correlation with a constant side" in page
    assert "at an end of its scale, or undefined without some unit, has no interval" in page
    assert "constant" in (out / "judgments_matthews.tex").read_text(encoding="utf-8")


def test_a_report_of_a_correlation_names_only_what_it_shows(judgments, tmp_path, monkeypatch):
    """It explained bars, pictures and other measures that were not there, and points that a measure has not."""
    suite = find_suite("judgments")
    monkeypatch.setattr(suite, "measures", suite.measures[:1])
    out = tmp_path / "out"
    tse("run", "--data", judgments, "-m", "tiny-causal", "--out", out)
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Matthews&#39; r: on a scale of its own. Below" in page
    assert not re.search("The bar is the score|all others from 0|pictures", page)
    tse("explore", out, "--export", tmp_path / "page")
    data = [file.read_text(encoding="utf-8") for file in (tmp_path / "page" / "data").rglob("*.js")]
    shares = {value for text in data for value in re.findall(r'"shares": ?(\w+)', text)}
    assert shares == {"false"}, "its cells are not shaded as shares are"
    with pytest.raises(ValueError, match=r"expected one of: matthews\.( |$)"):
        Results.load(out).compare(by="label", measure="accepted")
