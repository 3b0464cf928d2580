"""A run's folder: what is there stays, unless it is to be replaced, and results and scores fit together."""

import json

import numpy as np
import pandas as pd
import pytest
from run_records import record_of

import tse_scorers
from tse_scorers import Scorer, load_data, make_suite
from tse_scorers.report.page import write_report
from tse_scorers.runs.jobs import Failure, Job, not_scored, remember_failures
from tse_scorers.runs.merge import merge
from tse_scorers.runs.run import Run
from tse_scorers.suites.registry import names

PAIRS = pd.DataFrame(
    {
        "UID": ["passive_1", "passive_1", "wh_island"],
        "sentence_good": ["A ab.", "A abc.", "A b."],
        "sentence_bad": ["A a.", "A abcd.", "A bc."],
    }
)


class Lengths(Scorer):
    """A scorer without a model: the longer, the more probable."""

    def __init__(self, name="lengths", revision="1", dtype="float32"):
        self.name = name
        self.signature = {"model": name, "revision": revision, "dtype": dtype}
        self.asked = 0

    def sentence_logprobs(self, sentences, progress=None):
        self.asked += len(sentences)
        return np.array([float(len(sentence)) for sentence in sentences]) - 100


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "pairs.jsonl"
    PAIRS.to_json(path, orient="records", lines=True)
    return path


def results(out):
    content = json.loads((out / "results.json").read_text())
    return pd.DataFrame(content["results"]), content["signature"]["models"]


def test_the_journal_of_a_run_that_was_killed_after_its_scores_is_removed(source, tmp_path):
    """Killed between its last score file and the removal of its journal, a run left that folder for ever."""
    out = tmp_path / "out"
    Run(make_suite("minimal_pairs", data=source), out).add(Lengths())
    there = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    journal = record_of(out).folder / "journal" / "digest"
    journal.mkdir(parents=True)
    (journal / "answers.journal").write_bytes(b"answers")
    again = Lengths()
    Run(make_suite("minimal_pairs", data=source), out).add(again)
    assert not again.asked
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == there


def test_scores_made_otherwise_are_not_lost(source, tmp_path):
    """A look at a few pairs replaced the scores of a whole run without a word."""
    out = tmp_path / "out"
    Run(make_suite("minimal_pairs", data=source), out).add(Lengths())
    there = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    looking = Lengths()
    with pytest.raises(ValueError, match=r"--limit was not given and is 1.*--out.*--overwrite") as refused:
        Run(make_suite("minimal_pairs", data=source, limit=1), out).add(looking)
    assert "\n" not in str(refused.value) and not looking.asked
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == there
    Run(make_suite("minimal_pairs", data=source, limit=1), out, overwrite=True).add(looking)
    assert looking.asked
    assert results(out)[0].query("group == 'all'")["n"].tolist() == [2]


def test_other_data_of_the_same_size_are_other_data(source, tmp_path):
    Run(make_suite("minimal_pairs", data=source, groups=["wh_island"]), tmp_path / "out").add(Lengths())
    PAIRS.assign(sentence_good="Other.").to_json(source, orient="records", lines=True)
    with pytest.raises(ValueError, match=r"\(the data have changed\)"):
        Run(make_suite("minimal_pairs", data=source, groups=["wh_island"]), tmp_path / "out").add(Lengths())


@pytest.mark.parametrize("other", [{"dtype": "bfloat16"}, {"revision": "2"}])
def test_another_dtype_or_revision_is_refused_and_replaced_on_demand(source, tmp_path, other):
    out = tmp_path / "out"
    Run(make_suite("minimal_pairs", data=source), out).add(Lengths())
    with pytest.raises(ValueError, match=f'{next(iter(other))} was .* and is "{next(iter(other.values()))}"'):
        Run(make_suite("minimal_pairs", data=source), out).add(Lengths(**other))
    Run(make_suite("minimal_pairs", data=source), out, overwrite=True).add(Lengths(**other))
    rows, signatures = results(out)
    # The old scores are gone, and so are their rows.
    assert len(signatures) == 1 and rows["revision"].unique().tolist() == [other.get("revision", "1")]
    assert record_of(out).described == signatures[0]


def test_other_models_suites_and_series_stay_beside(source, tmp_path):
    out = tmp_path / "out"
    Run(make_suite("minimal_pairs", data=source), out).add(Lengths())
    Run(make_suite("minimal_pairs", data=source), out).add(Lengths("other"))
    for step in ("step1", "step2"):
        job = Job("lengths", Lengths, in_memory=True, series="lengths", revision=step)
        Run(make_suite("minimal_pairs", data=source), out).add(job.load(), job)
    rows, signatures = results(out)
    assert len(signatures) == 4 and len(list((out / "runs").iterdir())) == 4
    assert set(rows[["model", "revision"]].itertuples(index=False, name=None)) == {
        ("lengths", "1"), ("other", "1"), ("lengths", "step1"), ("lengths", "step2"),
    }  # fmt: skip


def test_shards_are_put_beside_what_is_there_and_lose_nothing(source, tmp_path):
    out = tmp_path / "out"
    Run(make_suite("minimal_pairs", data=source), out).add(Lengths("other"))
    for number in (1, 2):
        Run(make_suite("minimal_pairs", data=source), tmp_path / "shards", shard=(number, 2)).add(Lengths())
    merge([tmp_path / "shards"], out)
    assert set(results(out)[0]["model"]) == {"other", "lengths"}
    Run(make_suite("minimal_pairs", data=source, limit=1), out, overwrite=True).add(Lengths())
    with pytest.raises(ValueError, match=r"--limit was 1 and is not given"):
        merge([tmp_path / "shards"], out)
    merge([tmp_path / "shards"], out, overwrite=True)
    rows = results(out)[0]
    assert rows[rows["group"] == "all"].set_index("model")["n"].to_dict() == {"other": 3, "lengths": 3}


def test_pairs_of_ones_own_are_not_called_blimp(source, tmp_path):
    """They were published as BLiMP's, and replaced the scores of BLiMP in the same folder."""
    own = tmp_path / "word order.csv"
    labels = {"UID": "my_paradigm", "linguistics_term": "word_order", "field": "syntax"}
    PAIRS.assign(**labels).to_csv(own, index=False)
    suite = make_suite("minimal_pairs", data=source)
    assert (suite.dataset, suite.config) == ("blimp", "blimp")
    out = tmp_path / "out"
    Run(make_suite("minimal_pairs", data=source), out).add(Lengths())
    Run(make_suite("minimal_pairs", data=own), out).add(Lengths())
    rows, signatures = results(out)
    assert set(rows["dataset"]) == {"blimp", str(own)}
    assert set(rows["config"]) == {"blimp", "word-order"}
    assert len(signatures) == 2
    names = {path.name for path in (out / "runs").iterdir()}
    assert names == {"lengths.minimal_pairs.blimp", "lengths.minimal_pairs.word-order"}
    page = write_report(out).read_text()
    assert ">Minimal pairs: word-order</h2>" in page and ">BLiMP</h2>" in page


def released(dataset, config, key):
    """The rows of the first pair or template of a data set."""
    rows = load_data(dataset, config).to_pandas()
    return rows[rows[key] == rows[key].iloc[0]]


@pytest.mark.parametrize(
    "suite, name, rows",
    [
        ("minimal_pairs", "blimp", lambda: PAIRS),
        ("agreement", "marvin_linzen", lambda: released("agreement_templates", "marvin_linzen", "pair_id")),
        ("german", "ours", lambda: released("german_argument_structure", "ours", "template")),
    ],
)
def test_a_file_that_is_called_like_released_data_is_ones_own(tmp_path, suite, name, rows):
    """Pairs of one's own in a file blimp.csv stood under the heading BLiMP."""
    path = tmp_path / f"{name}.csv"
    rows().assign(**({"UID": "own"} if suite == "minimal_pairs" else {})).to_csv(path, index=False)
    config = make_suite(suite, data=str(path)).config
    assert config == f"own-{name}" and names().heading(suite, config).endswith(f": own-{name}")


@pytest.mark.parametrize("column, value", [("UID", 7), ("sentence_good", 7), ("sentence_good", ["A", "b"])])
def test_pairs_that_are_no_text_cost_no_model_time(tmp_path, column, value):
    path = tmp_path / "pairs.jsonl"
    known = {"linguistics_term": "word_order", "field": "syntax"}
    PAIRS.assign(**known, **{column: [value] * 3}).to_json(path, orient="records", lines=True)
    with pytest.raises(ValueError, match=f"'{column}' of row 1; expected text"):
        make_suite("minimal_pairs", data=path)


def test_a_source_that_is_not_there(tmp_path):
    with pytest.raises(ValueError, match="There is no file or folder"):
        make_suite("minimal_pairs", data=tmp_path / "nothing.jsonl")


@pytest.mark.parametrize(
    "options, error, said",
    [
        ({"groups": "Simple"}, TypeError, r"Write \['Simple'\]"),
        ({"limit": "3"}, TypeError, r"limit='3' \(str\); .*whole number"),
        ({"source": "folder"}, ValueError, "source has no effect with suite='agreement'"),
        (
            {"suite": "agreement", "source": "folder", "data": "pairs.csv"},
            ValueError,
            "source has no effect with suite='agreement'",
        ),
        (
            {"suite": "german", "data": "pairs.csv"},
            ValueError,
            "There is no file pairs.csv",
        ),
        ({"suite": "minimal_pairs", "data": "pairs.csv"}, ValueError, "no file or folder pairs.csv"),
        (
            {"suite": "german", "groups": ["N"], "lemmas": "clean"},
            ValueError,
            "groups, lemmas have no effect",
        ),
        ({"suite": "minimal_pairs", "methods": "full"}, TypeError, r"Write \['full'\]"),
        ({"suite": "german", "source": "nothing.csv"}, ValueError, "There is no file"),
        (
            {"suite": "german", "source": "x.csv", "data": "y.csv"},
            ValueError,
            "source has no effect with data",
        ),
        ({"suite": "german", "data": "mine"}, ValueError, "'mine'.*: ours, rochereau2020, or a file"),
        ({"suite": "minimal_pairs", "data": "turblmp"}, ValueError, "Did you mean turblimp"),
        (
            {"suite": "minimal_pairs", "data": "x.csv", "config": "deu"},
            ValueError,
            "config has no effect with data",
        ),
        (
            {"suite": "minimal_pairs", "data": "x.csv", "source": "y"},
            ValueError,
            "source has no effect with data",
        ),
    ],
)
def test_options_that_have_no_effect_are_refused(options, error, said):
    with pytest.raises(error, match=said):
        make_suite(**options)


def test_the_data_decide_which_suite_is_made(tmp_path):
    """A file of minimal pairs was refused for lacking the columns of agreement, though `run` reads it."""
    path = tmp_path / "pairs.csv"
    path.write_text("sentence_good,sentence_bad\nThe author laughs.,The author laugh.\n", encoding="utf-8")
    assert make_suite(data=path).name == make_suite(data=str(path)).name == "minimal_pairs"
    assert make_suite(limit=1).name == "agreement"
    with pytest.raises(TypeError, match="a DataFrame as data; expected the path"):
        make_suite(data=pd.read_csv(path))


def test_nothing_to_run(tmp_path):
    with pytest.raises(ValueError, match="Got no model"):
        tse_scorers.run([], out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_place_for_scores_that_is_none_is_told_in_a_paragraph(source, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "runs").touch()
    with pytest.raises(ValueError, match=r"lock .*Not a directory.*another place"):
        Run(make_suite("minimal_pairs", data=source), out).add(Lengths())


def test_results_of_somebody_else_are_replaced_on_demand_only(source, tmp_path):
    """They were taken in, as rows that nothing says the origin of."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "results.json").write_text('{"results": [{"model": "other", "score": 0.5}]}')
    with pytest.raises(ValueError, match=r"results\.json .*not .*refined-tse.*--overwrite"):
        Run(make_suite("minimal_pairs", data=source), out).add(Lengths())
    Run(make_suite("minimal_pairs", data=source), out, overwrite=True).add(Lengths())
    rows, signatures = results(out)
    assert set(rows["model"]) == {"lengths"} and len(signatures) == 1


@pytest.mark.parametrize(
    "signature", [{}, {"model": "m"}, {"revision": "1"}, {"model": 1, "revision": "1"}, None]
)
def test_a_scorer_that_does_not_say_which_model_it_is(signature, tmp_path):
    """It failed with KeyError: 'model'."""

    class Plain(Scorer):
        name = "plain"

        def sentence_logprobs(self, sentences, progress=None):
            return np.zeros(len(sentences))

    scorer = Plain()
    scorer.signature = signature
    with pytest.raises(TypeError, match=r"'plain' .*signature .*dict with 'model'"):
        Run(make_suite("german", limit=1), tmp_path).add(scorer)
    assert not (tmp_path / "results.json").exists()


def test_models_that_failed_are_remembered_until_they_are_scored(tmp_path):
    failures = [Failure("a", ValueError("no weights")), Failure("b", OSError("no file"))]
    remember_failures(tmp_path, ["a", "b", "c"], failures)
    assert list(not_scored(tmp_path)) == ["a", "b"] and "no weights" in not_scored(tmp_path)["a"]
    remember_failures(tmp_path, ["a"], [])
    assert list(not_scored(tmp_path)) == ["b"]
    remember_failures(tmp_path, ["b"], [])
    assert not_scored(tmp_path) == {} and not [path for path in tmp_path.iterdir() if path.suffix == ".json"]
