"""Wrong input never becomes a score: each fault of a table with what comes of it.

A fault is refused with the rows named, or counted and said, never scored in silence. Each row of the tables of faults
is a change of a table that is right, and what must be said of it.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tse_scorers import evaluate
from tse_scorers.loading import load_scorer
from tse_scorers.runs import score_sentences as scoring
from tse_scorers.runs.score_regions import read_regions, score_regions
from tse_scorers.suites.agreement.checks import check_numbers
from tse_scorers.suites.agreement.data import load_lemmas
from tse_scorers.suites.agreement.suite import AgreementSuite
from tse_scorers.suites.checks import DataWarning, findings_of
from tse_scorers.suites.minimal_pairs.suite import MinimalPairSuite
from tse_scorers.suites.published_scores import load_published
from tse_scorers.suites.registry import make_suite
from tse_scorers.suites.variation_sets.suite import VariationSetSuite

AGREEMENT = pd.DataFrame(
    [
        ("Simple", "The author", ".", "laughs", "laugh", "singular", 11, "a"),
        ("Simple", "The authors", ".", "laugh", "laughs", "plural", 12, "b"),
        ("Near", "The pilot near the guards", " tall.", "is", "are", "singular", 13, "a"),
        ("Near", "The pilots near the guard", " tall.", "are", "is", "plural", 14, "b"),
    ],
    columns=[
        "table_row",
        "prefix",
        "suffix",
        "verb_correct",
        "verb_incorrect",
        "number",
        "item",
        "condition",
    ],
)
PAIRS = pd.DataFrame(
    [
        ("agree", "agreement", "morphology", "The author laughs.", "The author laugh.", 5, "a"),
        ("agree", "agreement", "morphology", "The pilot swims.", "The pilot swim.", 6, "b"),
        ("order", "word_order", "syntax", "The guard is tall.", "The guard are tall.", 5, "a"),
    ],
    columns=["UID", "linguistics_term", "field", "sentence_good", "sentence_bad", "item", "condition"],
)
PUBLISHED = PAIRS.assign(pairID=[0, 1, 0], prob_good=[-9.0, -8.0, -7.0], prob_bad=[-10.0, -9.0, -8.0])
REGIONS = pd.DataFrame(
    [
        (1, "a", 1, "The author"),
        (1, "a", 2, "near the senators"),
        (1, "a", 3, "laughs."),
        (1, "b", 1, "The authors"),
        (1, "b", 2, "laugh."),
    ],
    columns=["item", "condition", "region_number", "text"],
)


def put(column, value, row=0):
    """Write a value into a cell."""

    def change(table):
        table[column] = table[column].astype(object)
        table.loc[row, column] = value
        return table

    return change


def every(column, value):
    return lambda table: table.assign(**{column: value})


def without(column):
    return lambda table: table.drop(columns=column)


def again(row=0):
    return lambda table: pd.concat([table, table.iloc[[row]]], ignore_index=True)


def swap_numbers(table):
    return table.assign(number=table["number"].map({"singular": "plural", "plural": "singular"}))


def exchange(first, second):
    return lambda table: table.assign(**{first: table[second], second: table[first]})


def other_language(table):
    return table.assign(
        verb_correct=table["verb_correct"] + "ar", verb_incorrect=table["verb_incorrect"] + "or"
    )


def behind(table):
    """Subjects behind the gap: the prefix is the same for both numbers."""
    return table.assign(prefix="Near the wall", suffix=" the author.")


def added(name, value=1):
    return lambda table: table.assign(**{name: value})


def save(table, path: Path) -> Path:
    if path.suffix == ".jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_csv(path, index=False)
    return path


REFUSED_AGREEMENT = {
    "all numbers swapped": (swap_numbers, r"contradicts the verbs in 4 of 4 rows: row 1 .*row 2 .*row 3 .*; …"),
    "one number swapped": (put("number", "plural"), r"contradicts the verbs in 1 of 4 rows: row 1 .*number=plural"),
    "verbs swapped": (exchange("verb_correct", "verb_incorrect"), "contradicts the verbs in 4 of 4 rows"),
    "both forms singular": (put("verb_incorrect", "walks"), "contradicts the verbs in 1 of 4 rows"),
    "both forms plural": (put("verb_correct", "walk"), "contradicts the verbs in 1 of 4 rows"),
    "a capital does not hide it": (put("verb_incorrect", "Walks"), "contradicts the verbs in 1 of 4 rows"),
    "identical forms": (put("verb_incorrect", "laughs"), r"same form .* in 1 of 4 rows: row 1 .*Expected two"),
    "no verb is listed": (other_language, "no verb that is in the lemma list.*--lemmas FILE.*--allow-unverified"),
    "an unknown number": (put("number", "dual"), "holds 'dual' in column 'number' of row 1; expected sing"),
    "no number": (put("number", None), "no value in column 'number' of row 1"),
    "a space after the prefix": (put("prefix", "The author "), "no space at either end"),
    "a space before the verb": (put("verb_correct", " laughs"), "a word, with no space at either end"),
    "an empty verb": (put("verb_correct", ""), "no value in column 'verb_correct' of row 1|a word"),
    "a blank verb": (put("verb_correct", " "), "a word, with no space at either end"),
    "a suffix without its space": (put("suffix", "tall."), "a space or a punctuation mark first"),
    "a group named all": (put("table_row", "all"), "'all' in column 'table_row' of row 1; this name is taken"),
    "a group named ALL": (put("table_row", "ALL"), "this name is taken by the average over all groups"),
    "a blank group": (put("table_row", "  "), "expected the name of a group"),
    "no prefixes": (without("prefix"), "lacks the column prefix"),
    "no rows": (lambda table: table.iloc[:0], "has no rows"),
    "numbers as verbs": (every("verb_correct", 3), r"holds 3 \(.*\) in column 'verb_correct' of row 1; expected"),
    "a column named ew_top_1": (added("ew_top_1"), "ew_top_1, which the output would replace.*my_ew_top_1"),
    "a column named tse": (added("tse"), "tse, which the output would replace"),
    "a column named context_id": (added("context_id"), "context_id, which the output would replace"),
    "a pair without its pair_id": (lambda table: table.assign(pair_id=[1, None, 2, 3]), "no value in column 'pair_id'"),
}  # fmt: skip

SAID_AGREEMENT = {
    "a verb that is not listed": (
        lambda table: put("verb_correct", "zibs")(put("verb_incorrect", "zib")(table)),
        "pairs whose verbs are not in the lemma list: 1",
    ),
    "a group of other verbs": (
        lambda table: pd.concat([table, other_language(table).assign(table_row="Other")], ignore_index=True),
        "groups with no verb of their own in the lemma list: 1 .*Other.*average over other verbs",
    ),
    "subjects behind the gap": (behind, "prefixes that occur with both numbers in the group 'Simple': 1 .*0.50"),
    "a repeated row": (again(), "rows that repeat an earlier row: 1 "),
    "three repeated rows": (
        lambda table: pd.concat([table, table.iloc[:3]], ignore_index=True),
        "rows that repeat an earlier row: 3 ",
    ),
    "a pair_id for two pairs": (
        lambda table: pd.concat([table, table.assign(prefix="Some " + table["prefix"])]).assign(pair_id=1),
        "pairs with the pair_id of another pair",
    ),
    "the same forms with both numbers": (
        lambda table: pd.concat(
            [table, table[:2].assign(verb_correct="zib", verb_incorrect="zab", prefix="X")], ignore_index=True),
        "correct and incorrect in the same order with both numbers: 1 .*zib / zab",
    ),
    "a double space": (put("prefix", "The  author"), "white space other than one space between words: 1 .*row 1"),
    "a double space in the suffix": (put("suffix", " very  tall."), "white space other than one space"),
    "a non-breaking space": (put("prefix", "The\u00a0author"), "white space other than one space"),
    "a tab": (put("prefix", "The\tauthor"), "white space other than one space"),
    "a line break": (put("prefix", "The\nauthor"), "white space other than one space"),
    "a space without width": (put("prefix", "The auth\u200bor"), "white space other than one space"),
    "a soft hyphen": (put("prefix", "The au\u00adthor"), "white space other than one space"),
    "a space at the end": (put("suffix", ". "), "white space other than one space"),
    "no capital": (put("prefix", "the author"), "sentences that begin with a small letter: 1 "),
    "no full stop": (put("suffix", " here"), "sentences without a final mark such as a full stop: 1 "),
}  # fmt: skip

REFUSED_PAIRS = {
    "an empty sentence": (put("sentence_good", " "), "an empty sentence_good in row 1"),
    "no sentence": (put("sentence_bad", None), "no value in column 'sentence_bad' of row 1"),
    "a number as sentence": (put("sentence_bad", 3), r"holds 3 \(int\) in column 'sentence_bad' of row 1; expected"),
    "a paradigm with a colon": (every("UID", "field:syntax"), "'field:syntax' in column 'UID' of row 1.*Rename it"),
    "one paradigm with a colon": (put("UID", "a:b", 2), "'a:b' in column 'UID' of row 3"),
    "a paradigm named all": (every("UID", "all"), "'all' in column 'UID' of row 1; this name is taken"),
    "a blank paradigm": (put("UID", " "), "expected the name of a group"),
    "no phenomena": (without("linguistics_term"), "not all BLiMP's.*lacks the column linguistics_term"),
    "no fields": (without("field"), "lacks the column field"),
    "a missing phenomenon": (put("linguistics_term", None), "no value in column 'linguistics_term' of row 1"),
    "a number twice": (every("pairID", 1), "pair 1 of agree occurs twice.*its own number"),
    "a number that is none": (every("pairID", "x"), "expected a whole number"),
    "a column named correct": (added("correct"), "correct, which the output would replace"),
    "a column named method": (added("method"), "method, which the output would replace"),
    "a column named tie": (added("tie"), "tie, which the output would replace"),
    "prefixes of another sentence": (
        lambda table: table.assign(one_prefix_method=True, one_prefix_prefix="A cat", one_prefix_word_good="eats",
                                   one_prefix_word_bad="eat"),
        "is not the beginning of the sentence_good",
    ),
    "a method that is neither true nor false": (every("one_prefix_method", "maybe"), "expected true or false"),
}  # fmt: skip

SAID_PAIRS = {
    "identical sentences": (put("sentence_bad", "The author laughs."), "two identical sentences: 1 .*They are ties"),
    "a repeated pair": (again(), "pairs that repeat an earlier pair of their paradigm: 1 "),
    "an exchanged pair": (
        lambda table: pd.concat([table, exchange("sentence_good", "sentence_bad")(table.iloc[[0]])], ignore_index=True),
        "a second time with the two sentences exchanged: 1 ",
    ),
    "several words differ": (put("sentence_bad", "The pilot laugh."), "differ in more than one word, of 3: 1 "),
    "rows out of step": (
        lambda table: table.assign(sentence_bad=table["sentence_bad"].to_numpy()[[1, 2, 0]]),
        "differ in more than one word, of 3: 3 ",
    ),
    "another mark at the end": (put("sentence_bad", "The author laugh!"), "different punctuation marks, of 3: 1 "),
    "a mark in one only": (put("sentence_bad", "The author laugh"), "different punctuation marks, of 3: 1 "),
    "a double space": (put("sentence_good", "The  author laughs."), "white space other than one space"),
    "a space at the end": (put("sentence_bad", "The author laugh. "), "white space other than one space"),
    "a space at the beginning": (put("sentence_bad", " The author laugh."), "white space other than one space"),
    "a non-breaking space": (put("sentence_good", "The\u00a0author laughs."), "white space other than one space"),
    "no capital": (put("sentence_good", "the author laughs."), "begin with a small letter: 1 "),
    "no full stop": (put("sentence_good", "The author laughs"), "without a final mark such as a full stop: 1 "),
}  # fmt: skip

REFUSED_PUBLISHED = {
    "NaN": (put("prob_bad", float("nan")), r"'prob_bad' that are not finite, in 1 of 3 rows: 1 \(nan\)"),
    "minus infinity": (put("prob_good", float("-inf"), 2), r"'prob_good' that are not finite, in 1 of 3 rows: 3"),
    "all missing": (every("prob_good", float("nan")), r"not finite, in 3 of 3 rows: 1 \(nan\), 2 \(nan\), 3 \(nan\)"),
    "a word": (put("prob_good", "low"), "not a number"),
    "numbers of other pairs": (
        lambda table: table.assign(pairID=[1, 0, 0]),
        "2 of 3 pairs have other sentences.*pair 0 of agree: 'The pilot swims.'.*'The author laughs.'",
    ),
    "numbers that are not there": (every("pairID", [7, 8, 9]), "have no score in .*pair 0 of agree"),
    "another paradigm": (every("UID", ["agree", "agree", "other"]), "1 of 3 pairs have no score.*pair 0 of order"),
}  # fmt: skip

REFUSED_REGIONS = {
    "no items": (without("item"), "lacks the column item"),
    "no texts": (without("text"), "lacks the column text"),
    "a number as text": (put("text", 3), "expected text"),
    "a region twice": (put("region_number", 2, 0), "region_number 2 twice in item 1, condition a .row 2"),
    "numbers that are words": (every("region_number", "one"), "does not hold numbers"),
    "back to an earlier sentence": (
        lambda table: pd.concat([table, table.iloc[[0]]], ignore_index=True).drop(columns="region_number"),
        "goes back to item 1, condition a in row 6",
    ),
    "a sentence without words": (every("text", ["", "", "", "The authors", "laugh."]), "no words in item 1"),
    "a column named logprob": (added("logprob"), "logprob, which the output would replace"),
}  # fmt: skip


def faults(table):
    return pytest.mark.parametrize(("change", "said"), list(table.values()), ids=list(table))


def lines(suite):
    return [str(finding) for finding in findings_of(suite)]


@faults(REFUSED_AGREEMENT)
def test_agreement_pairs_are_refused(tmp_path, change, said):
    with pytest.raises(ValueError, match=said):
        AgreementSuite(str(save(change(AGREEMENT.copy()), tmp_path / "own.csv")))


@faults(SAID_AGREEMENT)
def test_of_agreement_pairs_it_is_said(tmp_path, change, said):
    suite = AgreementSuite(str(save(change(AGREEMENT.copy()), tmp_path / "own.jsonl")))
    assert any(pd.Series([line]).str.contains(said).all() for line in lines(suite)), lines(suite)


@faults(REFUSED_PAIRS)
def test_minimal_pairs_are_refused(tmp_path, change, said):
    with pytest.raises(ValueError, match=said):
        MinimalPairSuite(save(change(PAIRS.copy()), tmp_path / "own.jsonl"))


@faults(SAID_PAIRS)
def test_of_minimal_pairs_it_is_said(tmp_path, change, said):
    suite = MinimalPairSuite(save(change(PAIRS.copy()), tmp_path / "own.jsonl"))
    assert any(pd.Series([line]).str.contains(said).all() for line in lines(suite)), lines(suite)


@faults(REFUSED_PUBLISHED)
def test_published_scores_are_refused(tmp_path, change, said):
    suite = MinimalPairSuite(save(PAIRS.assign(pairID=[0, 1, 0]), tmp_path / "own.jsonl"))
    with pytest.raises(ValueError, match=said):
        suite.score(
            load_published(save(change(PUBLISHED.copy()), tmp_path / "scores.csv")), lambda done, total: None
        )


@faults(REFUSED_REGIONS)
def test_regions_are_refused(tmp_path, change, said):
    with pytest.raises(ValueError, match=said):
        scoring.read_sentences(str(save(change(REGIONS.copy()), tmp_path / "r.jsonl")), "text", "region")


@pytest.mark.parametrize(
    ("by", "columns"),
    [
        ("sentence", ["logprob", "n_tokens", "surprisal_nats", "surprisal_bits", "pll_nats", "pll_bits"]),
        ("word", ["sentence_id", "word_id", "word", "logprob"]),
    ],
)
def test_columns_of_the_output_are_reserved(tmp_path, by, columns):
    for column in columns:
        path = save(pd.DataFrame({"sentence": ["It rains."], column: [1]}), tmp_path / "s.csv")
        with pytest.raises(ValueError, match=f"{column}, which the output would replace"):
            scoring.read_sentences(str(path), "sentence", by)


def test_of_right_tables_nothing_is_said(tmp_path):
    assert lines(AgreementSuite(str(save(AGREEMENT, tmp_path / "own.csv")))) == []
    assert lines(MinimalPairSuite(save(PAIRS, tmp_path / "own.jsonl"))) == []


def test_of_the_shipped_data_nothing_is_said():
    for lemmas in ("released", "clean"):
        assert lines(AgreementSuite(lemmas=lemmas)) == []
    assert lines(VariationSetSuite()) == []


@pytest.mark.upstream
def test_blimp_has_seven_pairs_of_identical_sentences(upstream):
    (line,) = lines(MinimalPairSuite(upstream / "blimp"))
    assert line.startswith("pairs of two identical sentences: 7 ")


def test_unverified_numbers_are_allowed_and_counted(tmp_path):
    path = str(save(other_language(AGREEMENT), tmp_path / "own.csv"))
    allowed = AgreementSuite(path, allow_unverified=True)
    assert lines(allowed)[0].startswith("pairs whose verbs are not in the lemma list: 4 ")
    own_list = pd.DataFrame({"singular": ["laughsar", "isar"], "plural": ["laughor", "areor"]})
    listed = AgreementSuite(path, lemmas=str(save(own_list, tmp_path / "list.csv")))
    assert lines(listed)[0].startswith("pairs whose verbs are not in the lemma list: 2 ")


def test_english_pairs_are_verified_beside_a_list_of_other_verbs(tmp_path):
    """Where the list of --lemmas has other verbs, a pair whose two forms are an English lemma is known."""
    others = str(save(pd.DataFrame({"singular": ["eats"], "plural": ["eat"]}), tmp_path / "list.csv"))
    suite = AgreementSuite(str(save(AGREEMENT, tmp_path / "own.csv")), lemmas=others)
    assert [line.split(":")[0] for line in lines(suite)] == [
        "groups with no verb of their own in the lemma list"
    ]
    with pytest.raises(ValueError, match="contradicts the verbs in 4 of 4 rows"):
        AgreementSuite(str(save(swap_numbers(AGREEMENT), tmp_path / "bad.csv")), lemmas=others)


def test_a_form_of_another_language_is_not_taken_for_an_english_one(tmp_path):
    """Spanish *come* (eats) is spelled as an English plural."""
    spanish = AGREEMENT.iloc[:1].assign(verb_correct="come", verb_incorrect="comen")
    listed = str(save(pd.DataFrame({"singular": ["come"], "plural": ["comen"]}), tmp_path / "list.csv"))
    assert lines(AgreementSuite(str(save(spanish, tmp_path / "own.csv")), lemmas=listed)) == []


def test_a_contradiction_is_refused_whatever_is_allowed(tmp_path):
    path = str(save(swap_numbers(AGREEMENT), tmp_path / "own.csv"))
    with pytest.raises(ValueError, match="contradicts"):
        AgreementSuite(path, allow_unverified=True)


def test_the_permission_is_not_part_of_the_signature(tmp_path):
    path, scorer = str(save(AGREEMENT, tmp_path / "own.csv")), load_scorer("tiny-causal")
    first, second = (
        AgreementSuite(path, allow_unverified=allowed).signature(scorer) for allowed in (False, True)
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
    pairs = pd.DataFrame(rows, columns=["verb_correct", "verb_incorrect", "number"]).assign(
        table_row="g", prefix="p"
    )
    assert check_numbers(pairs, lemmas, "It") == []
    flipped = data.draw(st.sets(st.sampled_from(range(len(pairs))), min_size=1))
    wrong = pairs["number"].where(~pairs.index.isin(flipped), swap_numbers(pairs)["number"])
    with pytest.raises(ValueError, match=f"in {len(flipped)} of {len(pairs)} rows: row {min(flipped) + 1} "):
        check_numbers(pairs.assign(number=wrong), lemmas, "It")


# The user's columns


def test_own_columns_of_agreement_pairs_come_out(tmp_path):
    save(AGREEMENT.assign(frequency=[0.5, 0.25, None, 2.0]), tmp_path / "own.csv")
    out = tmp_path / "out"
    evaluate("tiny-causal", dataset=str(tmp_path / "own.csv"), out=out, report=False)
    pairs = pq.read_table(next(out.glob("scores/*.pairs.parquet"))).to_pandas()
    assert pairs["pair_id"].tolist() == pairs["item"].tolist() == [11, 12, 13, 14]
    assert pairs["condition"].tolist() == ["a", "b", "a", "b"]
    np.testing.assert_array_equal(pairs["frequency"], [0.5, 0.25, np.nan, 2.0])


def test_a_context_has_the_columns_that_all_its_pairs_agree_in(tmp_path):
    two = pd.concat(
        [AGREEMENT.iloc[:1].assign(verb_correct="likes", verb_incorrect="like", item=20), AGREEMENT]
    )
    save(two, tmp_path / "own.csv")
    evaluate("tiny-causal", dataset=str(tmp_path / "own.csv"), out=tmp_path, report=False)
    contexts = pq.read_table(next(tmp_path.glob("scores/*.contexts.parquet")))
    assert contexts["item"].to_pylist() == [None, 12, 13, 14]
    assert contexts["condition"].to_pylist() == ["a", "b", "a", "b"]


@pytest.mark.parametrize("suite", ["agreement", "blimp"])
def test_own_columns_have_one_type_in_every_shard(tmp_path, suite):
    own = AGREEMENT if suite == "agreement" else PAIRS
    path = save(own.assign(note=[None] * (len(own) - 1) + ["x"], n=range(len(own))), tmp_path / "own.jsonl")
    option = {"dataset": str(path)} if suite == "agreement" else {"source": path}
    scorer, schemas = load_scorer("tiny-causal"), []
    for number in (1, 2, 3, 9):
        part = make_suite(suite, **option)
        part.keep_shard(number, 9)
        tables = part.score(scorer, lambda done, total: None)
        schemas.append([table.schema for table in tables.values()])
    assert all(schema == schemas[0] for schema in schemas)
    assert {"item", "condition", "note", "n"} <= set(schemas[0][0].names)


def test_own_columns_of_minimal_pairs_come_out(tmp_path):
    path = save(PAIRS, tmp_path / "own.jsonl")
    evaluate("tiny-causal", suite="blimp", source=path, out=tmp_path / "out", report=False)
    (scores,) = (tmp_path / "out" / "scores").glob("*.parquet")
    found = pq.read_table(scores).to_pandas()
    assert found["pair_id"].tolist() == found["item"].tolist() == [5, 6, 5]
    assert found["condition"].tolist() == ["a", "b", "a"]


def test_other_own_columns_are_scored_anew(tmp_path):
    scorer = load_scorer("tiny-causal")
    first = AgreementSuite(str(save(AGREEMENT, tmp_path / "own.csv"))).signature(scorer)
    second = AgreementSuite(str(save(AGREEMENT.assign(condition="c"), tmp_path / "own.csv"))).signature(
        scorer
    )
    assert {key for key in first if first[key] != second[key]} == {"own_columns"}


def test_shipped_data_has_the_columns_and_the_signature_that_it_had():
    suite = AgreementSuite(limit=1, groups=["Simple"])
    scorer = load_scorer("tiny-causal")
    assert "own_columns" not in suite.signature(scorer)
    contexts, pairs, *_ = suite.score(scorer, lambda done, total: None).values()
    assert pairs.column_names[-1] == "tse" and contexts.column_names[-1] == "n_nonfinite"


def test_what_is_remarkable_is_warned_about_in_python(tmp_path):
    path = save(PAIRS.assign(sentence_bad=PAIRS["sentence_good"]), tmp_path / "own.jsonl")
    with pytest.warns(DataWarning, match="two identical sentences: 3 "):
        evaluate("tiny-causal", suite="blimp", source=path, out=tmp_path / "out", report=False)


def test_an_ngram_model_is_refused_before_another_model_runs(tmp_path):
    class Unanswerable:
        name = "sentences-only"
        signature = {"model": "sentences-only", "revision": "1"}  # noqa: RUF012

        def sentence_logprobs(self, sentences, progress=None):
            return np.zeros(len(sentences))

    with pytest.raises(ValueError, match="sentences-only only scores whole sentences"):
        evaluate(["tiny-causal", Unanswerable()], limit=1, out=tmp_path, report=False)
    assert not (tmp_path / "scores").exists()


# tse score


def regions(table):
    return read_regions(table, "text", "It")


@pytest.mark.parametrize("model", ["tiny-causal", "tiny-masked"])
def test_regions_are_sums_of_their_words(model):
    scorer = load_scorer(model)
    found = scoring.score(scorer, regions(REGIONS), "text", by="region")
    first, second = scorer.word_logprobs(["The author near the senators laughs.", "The authors laugh."])
    values = [[value for _, value in words] for words in (first, second)]
    expected = [sum(values[0][:2]), sum(values[0][2:5]), values[0][5], sum(values[1][:2]), values[1][2]]
    np.testing.assert_allclose(found["logprob"], expected)
    assert found["n_words"].tolist() == [2, 3, 1, 2, 1]
    assert found["condition"].tolist() == REGIONS["condition"].tolist()
    measure = "pll_nats" if model == "tiny-masked" else "surprisal_nats"
    assert found.columns[-1] == measure and sum("surprisal" in name for name in found) == (
        model == "tiny-causal"
    )


class Lengths:
    """A word's log-probability is minus its length; as an n-gram model, it scores the sentence's end."""

    name = "lengths"
    signature = {"model": "lengths", "revision": "1"}  # noqa: RUF012

    def sentence_logprobs(self, sentences, progress=None):
        return np.array([sum(score for _, score in words) for words in self.word_logprobs(sentences)])

    def word_logprobs(self, sentences, progress=None):
        return [[*((word, -float(len(word))) for word in text.split()), ("</s>", -0.5)] for text in sentences]


@given(
    st.lists(
        st.lists(st.lists(st.text("ab", min_size=1), max_size=3), min_size=1, max_size=4),
        min_size=1,
        max_size=4,
    )
)
def test_regions_of_a_sentence_sum_to_the_sentence(sentences):
    rows = [
        (item, "  ".join(words)) for item, parts in enumerate(sentences) for words in [["x"], *parts]
    ]  # white space in regions does not matter
    frame = regions(pd.DataFrame(rows, columns=["item", "text"]))
    found = score_regions(Lengths(), frame, "text")
    whole = [" ".join(["x", *(word for words in parts for word in words)]) for parts in sentences]
    np.testing.assert_allclose(found.groupby("item")["logprob"].sum(), Lengths().sentence_logprobs(whole))
    assert (found.loc[found["n_words"] == 0, "logprob"] == 0).all()


def test_regions_are_put_into_the_order_of_their_numbers():
    shuffled = REGIONS.iloc[[2, 0, 4, 1, 3]].reset_index(drop=True)
    found = score_regions(Lengths(), regions(shuffled), "text")
    expected = score_regions(Lengths(), regions(REGIONS), "text")
    pd.testing.assert_frame_equal(found, expected)


def test_own_columns_are_repeated_for_each_word():
    frame = pd.DataFrame({"item": [1, 2], "sentence": ["aa b", "c"], "condition": ["x", "y"]})
    found = scoring.score(Lengths(), frame, by="word")
    assert list(found) == ["item", "condition", "sentence_id", "word_id", "word", "logprob", "surprisal_nats"]
    assert found["item"].tolist() == [1, 1, 1, 2, 2]
    assert found["condition"].tolist() == ["x", "x", "x", "y", "y"]


def test_a_masked_models_numbers_are_not_called_surprisals():
    scorer = load_scorer("tiny-masked")
    frame = pd.DataFrame({"sentence": ["The author laughs."]})
    for by in ("sentence", "word"):
        nats, bits = (scoring.score(scorer, frame, by=by, bits=bits) for bits in (False, True))
        assert not any("surprisal" in name for name in [*nats, *bits])
        np.testing.assert_allclose(nats["pll_nats"], nats["logprob"])
        np.testing.assert_allclose(bits["pll_bits"], bits["logprob"] / np.log(2))


def test_a_double_space_is_said_of_sentences():
    frame = pd.DataFrame({"sentence": ["The author laughs.", "The author  laughs."]})
    (finding,) = scoring.inspect(frame, "sentence")
    assert finding.count == 1 and "row 2" in str(finding)
    assert scoring.inspect(frame[:1], "sentence") == []


def test_the_signature_lies_beside_the_table(tmp_path):
    source = save(REGIONS, tmp_path / "r.csv")
    scorer = load_scorer("tiny-causal")
    asked = {"source": str(source), "column": "text", "by": "region", "bits": False, "n_rows": 5}
    scoring.write_signature(scorer, tmp_path / "x.csv", asked)
    written = json.loads((tmp_path / "x.csv.signature.json").read_text())
    assert written.items() >= (asked | scorer.signature | {"scores": "x.csv"}).items()
    assert len(written["source_sha256"]) == 64


def test_the_tables_are_long_enough():
    tables = (
        REFUSED_AGREEMENT,
        SAID_AGREEMENT,
        REFUSED_PAIRS,
        SAID_PAIRS,
        REFUSED_PUBLISHED,
        REFUSED_REGIONS,
    )
    assert sum(map(len, tables)) >= 80
    with warnings.catch_warnings():  # the right tables are right
        warnings.simplefilter("error")
        regions(REGIONS.copy())
