"""Minimal pairs: reading them, finding prefixes and critical words, asking a scorer, averaging."""

import json
import zlib

import numpy as np
import pandas as pd
import pytest
from own_tables import write_table
from white_space import SPACES

from tse_scorers import Scorer, load_scorer, run
from tse_scorers.io.bundle import metric_modules
from tse_scorers.suites.data import DataWarning
from tse_scorers.suites.minimal_pairs import MinimalPairs
from tse_scorers.suites.prefixes import COLUMNS, critical_word, shared_start, with_prefixes

PARADIGMS = metric_modules("minimal_pair_accuracy").definitions.BLIMP_PARADIGMS


class HashScorer(Scorer):
    """Scores that depend on the text alone, and what was asked."""

    name = "hash"
    signature = {"model": "hash", "revision": "1"}  # noqa: RUF012

    def __init__(self):
        self.sentences, self.continuations = [], []

    @staticmethod
    def logprob(text):
        return -float(zlib.crc32(text.encode()) % 10_000) / 100

    def sentence_logprobs(self, sentences, progress=None):
        self.sentences += sentences
        return np.array([self.logprob(sentence) for sentence in sentences])

    def continuation_logprobs(self, prefixes, continuations, progress=None):
        self.continuations += zip(prefixes, continuations, strict=True)
        return np.array([self.logprob(f"{p}|{c}") for p, c in zip(prefixes, continuations, strict=True)])


class Sentences(Scorer):
    """Knows given sentences only, no prefixes."""

    name = "sentences"
    signature = {"model": "sentences", "revision": "1"}  # noqa: RUF012

    def __init__(self, scores):
        self.scores = scores

    def sentence_logprobs(self, sentences, progress=None):
        return np.array([self.scores[sentence] for sentence in sentences])


def pair(paradigm, good, bad, number=0, **more):
    row = {"sentence_good": good, "sentence_bad": bad, "UID": paradigm, "pairID": str(number)}
    return row | {"one_prefix_method": False, "two_prefix_method": False} | more


ONE = pair("npi_present_2", "Ann really sings.", "Ann ever sings.", one_prefix_method=True, one_prefix_prefix="Ann",
           one_prefix_word_good="really", one_prefix_word_bad="ever")  # fmt: skip
TWO = pair("transitive", "Some girls greet Tom.", "Some girls giggle Tom.", two_prefix_method=True,
           two_prefix_prefix_good="Some girls greet", two_prefix_prefix_bad="Some girls giggle",
           two_prefix_word=" Tom")  # fmt: skip
FULL = pair("passive_1", "Tom was greeted.", "Tom was giggled.")


def write(folder, *pairs, name=None):
    for row in pairs:
        with (folder / f"{name or row['UID']}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    return str(folder)


def scored(scorer, data, **options):
    """Return the items with their scores, and the score, n, excluded and ties of each measure and group."""
    suite = MinimalPairs(data=data, **options)
    tables = suite.ask(scorer, suite.items)
    rows = suite.rows(tables, suite.own_levels)
    return tables["items"], {(row["measure"], row["level"], row["value"]): row for row in rows}


# Reading


def test_pairs_are_read_with_labels_and_prefixes(tmp_path):
    """Files may lie in `data`. Labels follow the paper: the release has s-selection for argument structure."""
    (tmp_path / "data").mkdir()
    write(tmp_path / "data", ONE, TWO, FULL | {"linguistics_term": "s-selection"})
    suite = MinimalPairs(data=str(tmp_path))
    one, full, two = (row for _, row in suite.items.iterrows())
    assert [row["paradigm"] for row in (one, full, two)] == ["npi_present_2", "passive_1", "transitive"]
    assert [row["phenomenon"] for row in (one, full, two)] == ["npi_licensing", *["argument_structure"] * 2]
    assert [row["field"] for row in (one, full, two)] == ["semantics", "syntax", "syntax"]
    assert one[[*COLUMNS["one_prefix"]]].tolist() == ["Ann", "really", "ever"]
    assert two["two_prefix_word"] == "Tom"  # the release writes a space before some
    assert full[[*COLUMNS["one_prefix"], *COLUMNS["two_prefix"]]].isna().all()
    assert suite.dataset == str(tmp_path) and suite.own_levels == []
    named = MinimalPairs(data="blimp", source=tmp_path)
    assert named.items.equals(suite.items) and named.config == "blimp"


def test_two_sentences_are_enough(tmp_path):
    """The file is one paradigm."""
    name = paradigm = "mine"
    frame = pd.DataFrame({"sentence_good": ["A b.", "C d."], "sentence_bad": ["B a.", "D c."], "mood": "x"})
    path = write_table(frame, tmp_path / f"{name}.csv")
    suite = MinimalPairs(data=str(path))
    assert suite.items[["paradigm", "phenomenon"]].drop_duplicates().values.tolist() == [[paradigm, paradigm]]
    assert "field" not in suite.items and suite.items["mood"].tolist() == ["x", "x"]
    assert suite.config == name
    _, rows = scored(HashScorer(), str(path))
    assert rows.keys() == {("accuracy", level, of) for level, of in
                           (("all", ""), ("phenomenon", paradigm), ("paradigm", paradigm))}  # fmt: skip


def test_other_data_bring_their_own_labels_languages_and_conditions():
    rows = [pair(f"p{n % 2}", f"A b {n}.", f"B a {n}.", n, linguistics_term="order", field="syntax", language="eng",
                 mood="xy"[n // 2 % 2]) for n in range(8)]  # fmt: skip
    _, found = scored(HashScorer(), rows)
    assert {level for _, level, _ in found} == {"all", "language", "field", "phenomenon", "paradigm", "mood"}
    assert found["accuracy", "phenomenon", "order"]["score"] == found["accuracy", "all", ""]["score"]
    assert found["accuracy", "mood", "x"]["n"] == 4


def test_groups_and_limit_choose_pairs(tmp_path):
    many = [pair("passive_1", f"Tom was greeted {n}.", f"Tom was giggled {n}.", n) for n in range(20)]
    source = write(tmp_path, ONE, TWO, *many)
    assert set(MinimalPairs(data=source, groups=["npi_licensing"]).items["paradigm"]) == {"npi_present_2"}
    assert set(MinimalPairs(data=source, groups=["syntax"]).items["paradigm"]) == {"transitive", "passive_1"}
    first, again = (MinimalPairs(data=source, groups=["passive_1"], limit=5).items for _ in range(2))
    assert first.equals(again) and len(first) == 5 and "stands_for" not in first
    with pytest.raises(ValueError, match="passive_3"):
        _ = MinimalPairs(data=source, groups=["passive_3"]).items


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sentence_bad": " "}, "'sentence_bad' of row 1; .*at least one word"),
        ({"sentence_bad": None}, "no value in column 'sentence_bad'"),
        (
            {"one_prefix_prefix": "Somebody else"},
            "'Somebody else' .*row 1; expected the beginning of the sentence",
        ),
        ({"UID": "mine", "linguistics_term": None}, "no value in column 'linguistics_term'"),
        ({"UID": ["npi_present_2"]}, "in column 'UID' of row 1; expected text"),
        ({"sentence_good": 7}, r"7 \(int\) .*'sentence_good' .*row 1; .*text"),
        ({"pairID": "x"}, "file.jsonl .*x.* in column 'pairID' of row 1; expected a whole number"),
        ({"pairID": 1.5}, "1.5 .*in column 'pairID'"),
        ({"ties": True}, "has the column ties, which the output would replace"),
        ({"context": 7}, "7 .*column 'context' of row 1; expected text"),
        ({"one_prefix_method": "perhaps"}, "'perhaps' .*in column 'one_prefix_method'"),
    ],
)
def test_bad_rows_are_refused(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        MinimalPairs(data=write(tmp_path, {**ONE, **change}, name="file")).load()


def test_missing_columns_empty_and_repeated_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match="no tables in"):
        MinimalPairs(data=str(tmp_path)).load()
    (tmp_path / "passive_1.jsonl").write_text(
        '{"UID": "passive_1", "sentence_good": "A."}\n', encoding="utf-8"
    )
    with pytest.raises(ValueError, match="lacks the column sentence_bad;"):
        MinimalPairs(data=str(tmp_path)).load()
    (tmp_path / "passive_1.jsonl").unlink()
    write(tmp_path, FULL)
    write(tmp_path, FULL, name="copy")
    with pytest.raises(ValueError, match=r"'passive_1 0' .* of row 2; expected each pair once"):
        MinimalPairs(data=str(tmp_path)).load()
    with pytest.raises(ValueError, match=r"minimal pairs 'blimb'.*blimp"):
        MinimalPairs(data="blimb").load()
    (own := tmp_path / "own").mkdir()
    with pytest.raises(ValueError, match=r"own is no copy of BLiMP"):
        MinimalPairs(source=write(own, pair("mine", "A b.", "B a."))).load()
    with pytest.raises(ValueError, match="source and configs have no effect"):
        MinimalPairs(data=str(own), source=own).load()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"sentence_good": "The cat  sat."},
            r"rows with white space other than one space between words: 4 \(the first is row 1, "
            r"'The cat  sat\. The cat 0 sit\.'\)",
        ),
        ({"sentence_good": "A b.", "sentence_bad": "B a."}, "pairs that repeat an earlier one: 3 "),
        ({}, "4 rows, 1 critical words, .*column `item` says which rows are versions of one item"),
    ],
)
def test_what_is_odd_is_warned_about(changes, message):
    frame = pd.DataFrame({"sentence_good": [f"The cat {n} sits." for n in range(4)], "place": ["a", "b"] * 2})
    frame["sentence_bad"] = frame["sentence_good"].str.replace("sits", "sit")
    with pytest.warns(DataWarning, match=message):
        MinimalPairs(data=frame.assign(**changes)).load()


def test_own_columns_and_numbers_come_out(tmp_path, recwarn):
    pairs = {"sentence_good": ["A cat is.", "A dog is."], "sentence_bad": pd.Categorical(["A are.", "A am."])}
    pd.DataFrame(pairs).to_parquet(tmp_path / "pairs.parquet")
    items = MinimalPairs(data=str(tmp_path / "pairs.parquet")).items
    assert items["bad"].tolist() == ["A are.", "A am."] and items["pair_id"].tolist() == [0, 1]
    numbered = pd.DataFrame(
        {"sentence_good": ["A is.", "B is."], "sentence_bad": ["A are.", "B are."], "pair_id": [5, 6]}
    )
    suite = MinimalPairs(data=numbered.assign(condition=["a", "b"]))
    found = run("tiny-causal", suite, tmp_path, report=False).items()
    assert found["pair_id"].tolist() == [5, 6] and found["condition"].tolist() == ["a", "b"]
    assert not [warning for warning in recwarn if warning.category is DataWarning]


# Prefixes and critical words, worked out by hand; sentences of the same build as BLiMP's


@pytest.mark.parametrize("space", SPACES)
def test_any_white_space_separates_words(space):
    good, bad = (text.replace(" ", space) for text in ("The cat eats.", "The cat eat."))
    assert shared_start(good, bad) == ("The cat", "eats.", "eat.")
    assert critical_word(good, bad) == critical_word("The cat eats.", "The cat eat.")


def test_only_released_pairs_have_prefixes_without_columns():
    """The number of a pair of BLiMP is not enough: the sentences must be the released ones."""
    row = pair(
        "animate_subject_trans", "Some girl was leaving.", "Some sock was leaving.", 1, two_prefix_method=True
    )
    with pytest.raises(
        ValueError, match="column 'two_prefix_method' of row 1; expected false; only pairs of BLiMP"
    ):
        MinimalPairs(data=[row]).load()


@pytest.mark.slow
@pytest.mark.upstream
def test_all_of_blimp_is_read_and_without_its_prefixes_has_the_words_of_the_release(upstream):
    """67 paradigms of 1,000 pairs; 20 support one-prefix, 20 two-prefix (Warstadt et al. 2020, Table 4).

    7 pairs do not differ, so that no accuracy can reach 1 in two paradigms.
    """
    items = MinimalPairs(source=upstream / "blimp").items
    assert items.groupby("paradigm").size().eq(1000).all() and set(items["paradigm"]) == set(PARADIGMS)
    bare = items.drop(columns=[*COLUMNS["one_prefix"], *COLUMNS["two_prefix"]])
    for method in ("one_prefix", "two_prefix"):
        supported = items[items[f"{method}_method"]]
        assert len(supported) == 20_000 and supported["paradigm"].nunique() == 20
        again = with_prefixes(bare, method, "bare")[[*COLUMNS[method]]]
        assert again.astype(object).equals(items[[*COLUMNS[method]]].astype(object))
    same = items[items["good"] == items["bad"]]
    assert same.groupby("paradigm").size().to_dict() == {"passive_1": 2, "principle_A_case_2": 5}
    n_words = (
        items.assign(word=[*map(critical_word, items["good"], items["bad"])])
        .groupby("paradigm")["word"]
        .nunique()
    )
    assert n_words.index[n_words < 10].tolist() == ["irregular_past_participle_adjectives"]


@pytest.mark.parametrize(
    ("good", "bad", "word"),
    [
        ("Raymond is selling this sketch.", "Raymond is selling this sketches.", "sketch/sketches"),
        ("Raymond is selling these sketches.", "Raymond is selling these sketch.", "sketch/sketches"),
        ("Some turtles alarm Kimberley.", "Some turtles come here Kimberley.", "alarm"),
        ("Some dog stunned this committee.", "Some dog stunned these committee.", "committee"),
        ("Katherine can't help herself.", "Katherine can't help himself.", "help"),
        (
            "Who should Derek hug after shocking Richard?",
            "Who should Derek hug Richard after shocking?",
            "shocking",
        ),
        ("Only Bill would ever complain.", "Even Bill would ever complain.", "bill"),
        ("The men work.", "The man work.", "man/men"),
        ("It is.", "It was.", "it is"),
        ("They sleep.", "They sleep.", "sleep"),
        ("They sleep.", "They sleep loudly.", "loudly"),
    ],
)
def test_critical_words(good, bad, word):
    assert critical_word(good, bad) == word


def test_the_rest_of_a_sentence_that_the_other_goes_on_with_has_a_word():
    assert shared_start("The cat sat", "The cat sat down") == ("The cat", "sat", "sat down")


# Scoring


def test_each_method_asks_what_it_says(tmp_path):
    scorer = HashScorer()
    items, rows = scored(scorer, write(tmp_path, ONE, TWO, FULL))
    assert len(scorer.sentences) == 6
    assert scorer.continuations == [
        ("Ann", "really"), ("Ann", "ever"), ("Some girls greet", "Tom"), ("Some girls giggle", "Tom")
    ]  # fmt: skip
    _, full, two = items.to_dict("records")
    assert two["logprob_good_two_prefix"] == scorer.logprob("Some girls greet|Tom")
    assert two["two_prefix"] == (two["logprob_good_two_prefix"] > two["logprob_bad_two_prefix"])
    assert full["full"] == (full["logprob_good"] > full["logprob_bad"]) and np.isnan(full["two_prefix"])
    assert (two["n_tokens_good"], two["n_tokens_bad"]) == (4, 4)  # words, as this scorer counts no tokens
    groups = {(level, value) for measure, level, value in rows if measure == "accuracy@one_prefix"}
    assert groups == {
        ("all", ""),
        ("field", "semantics"),
        ("phenomenon", "npi_licensing"),
        ("paradigm", "npi_present_2"),
    }


def test_rows_are_means_of_paradigms_and_ties_and_nan_are_not_right(tmp_path):
    """npi_present_2 1 of 1; passive_1 0 of 1 (a tie); transitive 1 of 2: all (1 + 0 + 1/2) / 3."""
    second = pair("transitive", "Some men greet Tom.", "Some men giggle Tom.", 1)
    rows = [ONE, FULL, TWO, second]
    scores = {row["sentence_bad"]: -2.0 for row in rows}
    scores |= dict(zip((row["sentence_good"] for row in rows), [-1.0, -2.0, -1.0, -3.0], strict=True))
    _, found = scored(Sentences(scores), write(tmp_path, *rows))
    assert {measure for measure, *_ in found} == {"accuracy"}  # this scorer knows no prefixes
    assert found["accuracy", "paradigm", "transitive"]["score"] == 0.5
    assert found["accuracy", "phenomenon", "argument_structure"]["score"] == 0.25
    overall = found["accuracy", "all", ""]
    assert overall["score"] == pytest.approx(0.5)
    assert (overall["n"], overall["n_excluded"], overall["n_ties"], overall["unit"]) == (4, 0, 1, "paradigms")
    _, found = scored(Sentences(dict.fromkeys(scores, np.nan)), str(tmp_path))
    assert (found["accuracy", "all", ""]["score"], found["accuracy", "all", ""]["n_ties"]) == (0.0, 0)


def test_what_has_no_prefix_is_excluded_and_counted(tmp_path):
    source = write(tmp_path, ONE, ONE | {"pairID": "1", "one_prefix_word_bad": None})
    _, rows = scored(HashScorer(), source, methods=["one_prefix"])
    assert {(row["n"], row["n_excluded"]) for row in rows.values()} == {(1, 1)}


def test_what_cannot_be_asked_is_refused(tmp_path):
    data = write(tmp_path, ONE)
    with pytest.raises(ValueError, match="expected full or one_prefix or two_prefix"):
        MinimalPairs(data=data, methods=["ful"])
    with pytest.raises(ValueError, match="linking is 'product'; expected sum or"):
        MinimalPairs(data=data, linking="product")
    with pytest.raises(ValueError, match="supports two_prefix"):
        MinimalPairs(data=data, methods=["two_prefix"]).load()
    for options in (
        {"methods": ["one_prefix"]},
        {"linking": "mean_continuation"},
        {"data": [{**FULL, "context": "A."}]},
    ):
        with pytest.raises(ValueError, match="sentences only scores whole sentences, and"):
            scored(Sentences({}), **{"data": data, **options})


# Linking functions, contexts


REST = {
    "The author laughs.": ("The author", "laughs.", "laugh."),
    "The farmer near the pilots smiles.": ("The", "farmer near the pilots smiles.", "pilots laughs."),
    "It rains.": ("It", "rains.", "rains."),
}


@pytest.mark.parametrize("model", ["tiny-causal", "tiny-masked"])
def test_sentences_are_compared_by_the_linking_function(model):
    scorer = load_scorer(model)
    pairs = [(f"{start} {good}", f"{start} {bad}") for start, good, bad in REST.values()]
    frame = pd.DataFrame(pairs, columns=["sentence_good", "sentence_bad"])
    for linking in ("mean_token", "mean_byte", "slln", "mean_continuation"):
        items, _ = scored(scorer, frame, linking=linking)
        for side, place in (("good", 1), ("bad", 2)):
            n_tokens, n_bytes = items[f"n_tokens_{side}"], items[side].map(lambda text: len(text.encode()))
            expected = items[f"logprob_{side}"] / {"mean_byte": n_bytes, "slln": np.sqrt(n_tokens)}.get(
                linking, n_tokens
            )
            if linking == "mean_continuation":  # Kryvosheieva & Levy (2024)
                starts, rests = zip(*((row[0], row[place]) for row in REST.values()), strict=True)
                before = scorer.token_counts([*starts])
                expected = scorer.continuation_logprobs([*starts], [*rests]) / (n_tokens - before)
            np.testing.assert_allclose(items[f"score_{side}"], expected, rtol=1e-6)
        assert (items["full"] == (items["score_good"] > items["score_bad"])).all()
        assert items["ties"].tolist() == [False, False, True]


CONTEXTS = ["", "The pilot swims.", "The movie is old. The guards laugh."]
AFTER = pd.DataFrame(
    [("a", "The author laughs.", "The author laugh."), ("b", "The author laughs.", "The author laugh."),
     ("b", "The old guard swims.", "The old guard swim.")], columns=["UID", "sentence_good", "sentence_bad"],
).assign(
    context=CONTEXTS, one_prefix_method=True, one_prefix_prefix=["The author", "The author", "The old guard"],
    one_prefix_word_good=["laughs", "laughs", "swims"], one_prefix_word_bad=["laugh", "laugh", "swim"],
)  # fmt: skip


@pytest.mark.parametrize("model", ["tiny-causal", "tiny-masked"])
def test_pairs_stand_after_their_contexts(model):
    scorer = load_scorer(model)
    items, _ = scored(scorer, AFTER, linking="mean_token")
    for side in ("good", "bad"):
        sentences = items[side].tolist()
        alone = scorer.sentence_logprobs(sentences[:1])
        after = scorer.continuation_logprobs(CONTEXTS[1:], sentences[1:])
        np.testing.assert_allclose(items[f"logprob_{side}"], [*alone, *after], atol=1e-4)
        n_tokens = scorer.token_counts([f"{c} {s}".strip() for c, s in zip(CONTEXTS, sentences, strict=True)])
        n_tokens[1:] -= scorer.token_counts(CONTEXTS[1:])
        np.testing.assert_allclose(items[f"score_{side}"], items[f"logprob_{side}"] / n_tokens, rtol=1e-9)
    expected = scorer.continuation_logprobs(["The pilot swims. The author"], ["laughs"])
    assert items["logprob_good_one_prefix"][1] == pytest.approx(expected[0], abs=1e-4)
    asked = [
        MinimalPairs(data=frame).asked()["data"]
        for frame in (AFTER, AFTER.assign(context="The guards laugh."))
    ]
    assert asked[0] != asked[1]


def test_pairs_with_and_without_contexts_are_paired_up_by_what_both_have():
    tables = [{"items": scored(HashScorer(), frame)[0]} for frame in (AFTER, AFTER.drop(columns="context"))]
    items, others, _ = MinimalPairs.pair_up(*tables, MinimalPairs.measure("accuracy"))
    assert items["good"].tolist() == others["good"].tolist() == AFTER["sentence_good"].tolist()
    assert (items["logprob_good"] != others["logprob_good"]).tolist() == [False, True, True]


# Units


def own_pairs(paradigms, **columns):
    """Four pairs of each paradigm, and the rows of their scores by group."""
    frame = pd.DataFrame({"UID": np.repeat(list(paradigms), 4), "linguistics_term": "x", "field": "syntax"})
    nouns, verbs = (
        ["author", "pilot", "guard", "chef"] * len(paradigms),
        ["laughs", "swims", "smiles"] * len(frame),
    )
    frame["sentence_good"] = [f"The {noun} {verb}." for noun, verb in zip(nouns, verbs, strict=False)]
    frame["sentence_bad"] = frame["sentence_good"].str.replace("s.", ".", regex=False)
    _, rows = scored(HashScorer(), frame.assign(**columns), methods=["full"])
    return {
        value or "all": row
        for (_, level, value), row in rows.items()
        if level in ("all", "paradigm", "phenomenon")
    }


def test_many_paradigms_are_units_and_few_are_fixed():
    many, few = own_pairs("abcdefghij"), own_pairs("abc")
    assert (many["all"]["unit"], many["all"]["n_units"]) == ("paradigms", 10)
    assert many["x"]["unit"] == many["a"]["unit"] == few["all"]["unit"] == "critical words"
    assert few["all"]["n_units"] == 3  # three verbs, each one unit in all paradigms
    assert few["all"]["score"] == pytest.approx(np.mean([few[name]["score"] for name in "abc"]))


@pytest.mark.parametrize("column", ["item", "cluster"])
def test_versions_of_an_item_are_one_unit_in_all_paradigms(column):
    """Four items in each of four paradigms were 16 units, so that the interval was too short."""
    rows = own_pairs("abcdefghijk", **{column: [1, 2, 3, 4] * 11})
    assert {(row["unit"], row["n_units"]) for row in rows.values()} == {(f"{column}s", 4)}
