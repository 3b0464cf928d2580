"""Wrong input never becomes a score: each fault of a table with what comes of it.

A fault is refused with the rows named, or counted and said, never scored in silence. Each row of the tables of faults
is a change of a table that is right, and what must be said of it.
"""

import pandas as pd
import pyarrow.parquet as pq
import pytest
from faults.scorers import ANSWERS, Lengths
from faults.tables import (
    PAIRS,
    PUBLISHED,
    REFUSED_PAIRS,
    REFUSED_PUBLISHED,
    SAID_PAIRS,
    again,
    save,
)
from run_records import table_path
from transformers import GPT2Config, GPT2Model
from tse_scorers.suites.checks import DataWarning
from typer.testing import CliRunner

from tse_scorers import Scorer, load_scorer, make_suite, run
from tse_scorers.cli.app import app
from tse_scorers.suites.published_scores import load_published


def faults(table):
    return pytest.mark.parametrize(("change", "said"), list(table.values()), ids=list(table))


def lines(suite):
    return [str(finding) for finding in suite.findings]


@faults(REFUSED_PAIRS)
def test_minimal_pairs_are_refused(tmp_path, change, said):
    with pytest.raises(ValueError, match=said):
        make_suite("minimal_pairs", data=save(change(PAIRS.copy()), tmp_path / "own.jsonl"))


@faults(SAID_PAIRS)
def test_of_minimal_pairs_it_is_said(tmp_path, change, said):
    suite = make_suite("minimal_pairs", data=save(change(PAIRS.copy()), tmp_path / "own.jsonl"))
    assert any(pd.Series([line]).str.contains(said).all() for line in lines(suite)), lines(suite)


@faults(REFUSED_PUBLISHED)
def test_published_scores_are_refused(tmp_path, change, said):
    suite = make_suite("minimal_pairs", data=save(PAIRS.assign(pairID=[0, 1, 0]), tmp_path / "own.jsonl"))
    with pytest.raises(ValueError, match=said):
        suite.score(
            load_published(save(change(PUBLISHED.copy()), tmp_path / "scores.csv")), lambda done, total: None
        )


def test_of_right_tables_nothing_is_said(tmp_path):
    assert (
        lines(make_suite("minimal_pairs", data=save(PAIRS.drop(columns="item"), tmp_path / "own.jsonl")))
        == []
    )
    (line,) = lines(make_suite("minimal_pairs", data=save(PAIRS, tmp_path / "items.jsonl")))
    assert line.startswith(f"items that occur in several of the {len(PAIRS)} rows (column item)")


# The user's columns


def test_own_columns_of_minimal_pairs_come_out(tmp_path):
    path = save(PAIRS, tmp_path / "own.jsonl")
    run("tiny-causal", suite="minimal_pairs", data=path, out=tmp_path / "out", report=False)
    scores = table_path(tmp_path / "out")
    found = pq.read_table(scores).to_pandas()
    assert found["pair_id"].tolist() == found["item"].tolist() == [5, 6, 5]
    assert found["condition"].tolist() == ["a", "b", "a"]


def test_what_is_remarkable_is_warned_about_in_python(tmp_path):
    path = save(again()(PAIRS), tmp_path / "own.jsonl")
    with pytest.warns(DataWarning, match="rows that repeat an earlier row: 1 "):
        run("tiny-causal", suite="minimal_pairs", data=path, out=tmp_path / "out", report=False)


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("suite", ["minimal_pairs", "german"])
def test_a_wrong_answer_of_a_scorer_is_refused(tmp_path, answer, suite):
    class Wrong(Scorer):
        name = "wrong"
        signature = {"model": "wrong", "revision": "1"}  # noqa: RUF012

        def sentence_logprobs(self, sentences, progress=None):
            return answer(list(sentences))

    option = {"data": save(PAIRS[:2], tmp_path / "own.jsonl")} if suite == "minimal_pairs" else {"limit": 1}
    with pytest.raises(TypeError, match=r"wrong returned .*; expected natural log-probabilities"):
        run(Wrong(), suite=suite, out=tmp_path / "out", report=False, **option)
    assert not list(tmp_path.glob("out/**/*.parquet"))


def test_two_scorers_of_one_name_are_refused(tmp_path):
    """The scores of the second one replaced those of the first."""
    with pytest.raises(ValueError, match=r"2 .*scorers .*named 'lengths'"):
        run([Lengths(), Lengths()], suite="german", limit=1, out=tmp_path, report=False)
    assert not list(tmp_path.iterdir())


def test_a_model_without_output_layer_and_a_tokenizer_of_another_kind_are_refused():
    scorer = load_scorer("tiny-causal")
    with pytest.raises(ValueError, match=r"GPT2Model, .*hidden states.*AutoModelForCausalLM"):
        load_scorer(GPT2Model(GPT2Config(n_layer=1, n_embd=8, n_head=1, vocab_size=20)), scorer.tokenizer)
    with pytest.raises(TypeError, match=r"builtins\.list as tokenizer; .*transformers"):
        load_scorer(scorer.model, ["The", "author"])


@pytest.mark.slow
@pytest.mark.parametrize("model", ["tiny-lstm", "tiny-masked"])
def test_words_that_a_model_does_not_know_are_named_in_every_command(model, tmp_path):
    """Five context nouns were read as the unknown token: "TSE 1.00, n 10" without a word. Each is named once."""
    odd, runner = "glorp日", CliRunner()
    pairs = (
        f"group,number,prefix,suffix,form_correct,form_incorrect\nsimple,singular,The {odd},.,laughs,laugh\n"
    )
    (tmp_path / "ag.csv").write_text(pairs, encoding="utf-8")
    sentences = (
        f"UID,linguistics_term,field,sentence_good,sentence_bad\na,b,c,The {odd} laughs.,The {odd} laugh.\n"
    )
    (tmp_path / "pairs.csv").write_text(sentences, encoding="utf-8")
    (tmp_path / "texts.txt").write_text(f"The {odd} laughs.\nThe author laughs.\n", encoding="utf-8")
    commands = (
        f"run --data {tmp_path}/ag.csv --out {tmp_path}/ag",
        f"estimate --data {tmp_path}/ag.csv",
        f"run --suite minimal_pairs --data {tmp_path}/pairs.csv --out {tmp_path}/pairs",
        f"score {tmp_path}/texts.txt --out {tmp_path}/scored.csv",
    )
    for command in commands:
        with pytest.warns(UserWarning, match=rf"{model} .*not know 1 words, .* '{odd}'") as said:
            done = runner.invoke(app, [*command.split(), "--model", model])
        assert done.exit_code == 0, done.output
        assert sum("does not know" in str(each.message) for each in said) == 1
    with pytest.warns(UserWarning, match=f"'{odd}'"):
        run(model, suite="minimal_pairs", data=tmp_path / "pairs.csv", out=tmp_path / "python", report=False)
