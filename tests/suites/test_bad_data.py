"""Wrong input never becomes a score: each fault of a table with what comes of it.

A fault is refused with the rows named, or counted and said, never scored in silence. Each row of the tables of faults
is a change of a table that is right, and what must be said of it.
"""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from faults.scorers import ANSWERS, Lengths
from faults.tables import (
    AGREEMENT,
    PAIRS,
    REFUSED_AGREEMENT,
    SAID_AGREEMENT,
    other_language,
    save,
    swap_numbers,
)
from hypothesis import given
from hypothesis import strategies as st
from run_records import table_path
from transformers import GPT2Config, GPT2Model
from tse_scorers.suites.agreement.data.checks import check_numbers, inspect
from tse_scorers.suites.agreement.data.tables import load, load_lemmas
from typer.testing import CliRunner

from tse_scorers import Scorer, load_scorer, make_suite, run
from tse_scorers.cli.app import app


def faults(table):
    return pytest.mark.parametrize(("change", "said"), list(table.values()), ids=list(table))


def lines(suite):
    return [str(finding) for finding in suite.findings]


@faults(REFUSED_AGREEMENT)
def test_agreement_pairs_are_refused(tmp_path, change, said):
    with pytest.raises(ValueError, match=said):
        make_suite("agreement", data=str(save(change(AGREEMENT.copy()), tmp_path / "own.csv")))


@faults(SAID_AGREEMENT)
def test_of_agreement_pairs_it_is_said(tmp_path, change, said):
    suite = make_suite("agreement", data=str(save(change(AGREEMENT.copy()), tmp_path / "own.jsonl")))
    assert any(pd.Series([line]).str.contains(said).all() for line in lines(suite)), lines(suite)


def test_of_right_tables_nothing_is_said(tmp_path):
    assert lines(make_suite("agreement", data=str(save(AGREEMENT, tmp_path / "own.csv")))) == []


def test_of_the_shipped_data_nothing_is_said():
    for lemmas in ("released", "clean"):
        assert lines(make_suite("agreement", lemmas=lemmas)) == []
    assert inspect(load("marvin_linzen")) == []  # so that a suite need not do it
    assert lines(make_suite("german")) == []


def test_unverified_numbers_are_allowed_and_counted(tmp_path):
    path = str(save(other_language(AGREEMENT), tmp_path / "own.csv"))
    allowed = make_suite("agreement", data=path, allow_unverified=True)
    assert lines(allowed)[0].startswith("pairs whose verbs are not in the lemma list: 4 ")
    own_list = pd.DataFrame({"singular": ["laughsar", "isar"], "plural": ["laughor", "areor"]})
    listed = make_suite("agreement", data=path, lemmas=str(save(own_list, tmp_path / "list.csv")))
    assert lines(listed)[0].startswith("pairs whose verbs are not in the lemma list: 2 ")


def test_english_pairs_are_verified_beside_a_list_of_other_verbs(tmp_path):
    """Where the list of --lemmas has other verbs, a pair whose two forms are an English lemma is known."""
    others = str(save(pd.DataFrame({"singular": ["eats"], "plural": ["eat"]}), tmp_path / "list.csv"))
    suite = make_suite("agreement", data=str(save(AGREEMENT, tmp_path / "own.csv")), lemmas=others)
    assert lines(suite) == []
    with pytest.raises(ValueError, match=r"contradicts .*4 of 4 rows"):
        make_suite("agreement", data=str(save(swap_numbers(AGREEMENT), tmp_path / "bad.csv")), lemmas=others)


def test_a_form_of_another_language_is_not_taken_for_an_english_one(tmp_path):
    """Spanish *come* (eats) is spelled as an English plural."""
    spanish = AGREEMENT.iloc[:1].assign(form_correct="come", form_incorrect="comen")
    listed = str(save(pd.DataFrame({"singular": ["come"], "plural": ["comen"]}), tmp_path / "list.csv"))
    assert lines(make_suite("agreement", data=str(save(spanish, tmp_path / "own.csv")), lemmas=listed)) == []


def test_a_contradiction_is_refused_whatever_is_allowed(tmp_path):
    path = str(save(swap_numbers(AGREEMENT), tmp_path / "own.csv"))
    with pytest.raises(ValueError, match="contradicts"):
        make_suite("agreement", data=path, allow_unverified=True)


def test_the_permission_is_not_part_of_the_signature(tmp_path):
    path, scorer = str(save(AGREEMENT, tmp_path / "own.csv")), load_scorer("tiny-causal")
    first, second = (
        make_suite("agreement", data=path, allow_unverified=allowed).signature(scorer)
        for allowed in (False, True)
    )
    assert first == second


@given(st.lists(st.tuples(st.sampled_from(range(40)), st.booleans()), min_size=1, max_size=30), st.data())
def test_every_flipped_number_is_found(chosen, data):
    """Whichever rows are wrong, exactly these are counted; without one, nothing is refused."""
    lemmas = load_lemmas("clean").head(40)
    rows = [
        (*(forms if is_singular else forms[::-1]), "singular" if is_singular else "plural")
        for forms, is_singular in ((tuple(lemmas.iloc[row][["singular", "plural"]]), s) for row, s in chosen)
    ]
    pairs = pd.DataFrame(rows, columns=["form_correct", "form_incorrect", "number"]).assign(
        group="g", prefix="p"
    )
    assert check_numbers(pairs, lemmas, "It") == []
    flipped = data.draw(st.sets(st.sampled_from(range(len(pairs))), min_size=1))
    wrong = pairs["number"].where(~pairs.index.isin(flipped), swap_numbers(pairs)["number"])
    with pytest.raises(ValueError, match=rf"\b{len(flipped)} of {len(pairs)} rows: row {min(flipped) + 1} "):
        check_numbers(pairs.assign(number=wrong), lemmas, "It")


# The user's columns


def test_own_columns_of_agreement_pairs_come_out(tmp_path):
    save(AGREEMENT.assign(frequency=[0.5, 0.25, None, 2.0]), tmp_path / "own.csv")
    out = tmp_path / "out"
    run("tiny-causal", data=str(tmp_path / "own.csv"), out=out, report=False)
    pairs = pq.read_table(table_path(out, "pairs")).to_pandas()
    assert pairs["pair_id"].tolist() == pairs["item"].tolist() == [11, 12, 13, 14]
    assert pairs["condition"].tolist() == ["a", "b", "a", "b"]
    np.testing.assert_array_equal(pairs["frequency"], [0.5, 0.25, np.nan, 2.0])


def test_a_context_has_the_columns_that_all_its_pairs_agree_in(tmp_path):
    two = pd.concat(
        [AGREEMENT.iloc[:1].assign(form_correct="likes", form_incorrect="like", item=20), AGREEMENT]
    )
    save(two, tmp_path / "own.csv")
    run("tiny-causal", data=str(tmp_path / "own.csv"), out=tmp_path, report=False)
    contexts = pq.read_table(table_path(tmp_path, "contexts"))
    assert contexts["item"].to_pylist() == [None, 12, 13, 14]
    assert contexts["condition"].to_pylist() == ["a", "b", "a", "b"]


def test_other_own_columns_are_scored_anew(tmp_path):
    scorer = load_scorer("tiny-causal")
    first, second = (
        make_suite("agreement", data=str(save(table, tmp_path / "own.csv"))).signature(scorer)
        for table in (AGREEMENT, AGREEMENT.assign(condition="c"))
    )
    assert {key for key in first if first[key] != second[key]} == {"own_columns"}


def test_shipped_data_has_the_columns_and_the_signature_that_it_had():
    suite = make_suite("agreement", limit=1, groups=["Simple"])
    scorer = load_scorer("tiny-causal")
    assert "own_columns" not in suite.signature(scorer)
    contexts, pairs, *_ = suite.score(scorer, lambda done, total: None).values()
    assert pairs.column_names[-1] == "tse" and contexts.column_names[-1] == "n_ties"


def test_an_ngram_model_is_refused_before_another_model_runs(tmp_path):
    class Unanswerable(Scorer):
        name = "sentences-only"
        signature = {"model": "sentences-only", "revision": "1"}  # noqa: RUF012

        def sentence_logprobs(self, sentences, progress=None):
            return np.zeros(len(sentences))

    with pytest.raises(ValueError, match="sentences-only only scores whole sentences"):
        run(["tiny-causal", Unanswerable()], limit=1, out=tmp_path, report=False)
    assert not (tmp_path / "runs").exists()


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


def test_undecidable_contexts_are_found_over_all_groups(tmp_path):
    """The groups "subject m" and "subject f" had the same prefixes, one value each: 0.00 and 1.00, without a word."""
    rows = [
        "subject m,singular,The sheep,.,laughs,laugh",
        "subject f,plural,The sheep,.,laugh,laughs",
        "subject f,plural,The fish, here.,laugh,laughs",
        "subject m,singular,The fish, there.,laughs,laugh",
    ]
    header = "group,number,prefix,suffix,form_correct,form_incorrect"
    (tmp_path / "ag.csv").write_text("\n".join([header, *rows]), encoding="utf-8")
    found = [str(finding) for finding in make_suite("agreement", data=str(tmp_path / "ag.csv")).findings]
    for said in (
        "prefixes that occur with both numbers: 2 (the first: row 2, 'The sheep'). A causal model sees only",
        "pairs of prefix and suffix that occur with both numbers: 1 (the first: row 2, 'The sheep'). Neither causal",
    ):
        assert any(said in line for line in found), found
