"""The BLiMP suite: reading pairs, finding prefixes, asking a scorer, averaging. The scorers here are made up."""

import io
import json
import zlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hub_fixtures import read_from
from huggingface_hub import constants
from hypothesis import given
from hypothesis import strategies as st
from loopback_hub import LoopbackHub
from loopback_store import Blob
from run_records import SINGLE
from scoring_tables import evaluate_pairs

from tse_scorers import Scorer, make_suite
from tse_scorers.io.bundle import metric_modules
from tse_scorers.suites.minimal_pairs import scores as blimp
from tse_scorers.suites.minimal_pairs.data.pair_tables import PREFIX_COLUMNS, pair_table
from tse_scorers.suites.minimal_pairs.data.prefixes import OnePrefix, TwoPrefix, one_prefix, two_prefix
from tse_scorers.suites.minimal_pairs.data.tables import HUB_REVISION
from tse_scorers.suites.minimal_pairs.suite import MinimalPairSuite


class HashScorer(Scorer):
    """Scores that depend on the text alone, and what was asked."""

    name = "hash"
    signature = {"model": "hash", "revision": "1"}  # noqa: RUF012

    def __init__(self):
        self.sentences, self.continuations = [], []

    @staticmethod
    def logprob(text):
        return -float(zlib.crc32(text.encode()) % 10_000) / 100

    def sentence_logprobs(self, sentences):
        self.sentences += sentences
        return np.array([self.logprob(sentence) for sentence in sentences])

    def continuation_logprobs(self, prefixes, continuations):
        self.continuations += zip(prefixes, continuations, strict=True)
        return np.array([self.logprob(f"{p}|{c}") for p, c in zip(prefixes, continuations, strict=True)])


class SentenceScorer(Scorer):
    """Knows given sentences only, no prefixes."""

    name = "sentences"
    signature = {"model": "sentences", "revision": None}  # noqa: RUF012

    def __init__(self, scores):
        self.scores = scores

    def sentence_logprobs(self, sentences):
        return np.array([self.scores[sentence] for sentence in sentences])


def pair(paradigm, good, bad, number=0, **more):
    return {
        "sentence_good": good,
        "sentence_bad": bad,
        "UID": paradigm,
        "pairID": str(number),
        "one_prefix_method": False,
        "two_prefix_method": False,
        **more,
    }


ONE = pair(
    "npi_present_2",
    "Ann really sings.",
    "Ann ever sings.",
    one_prefix_method=True,
    one_prefix_prefix="Ann",
    one_prefix_word_good="really",
    one_prefix_word_bad="ever",
)
TWO = pair(
    "transitive",
    "Some girls greet Tom.",
    "Some girls giggle Tom.",
    two_prefix_method=True,
    two_prefix_prefix_good="Some girls greet",
    two_prefix_prefix_bad="Some girls giggle",
    two_prefix_word=" Tom",
)
FULL = pair("passive_1", "Tom was greeted.", "Tom was giggled.")


def write(folder, *pairs, name=None):
    for row in pairs:
        path = folder / f"{name or row['UID']}.jsonl"
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    return folder


def by_group(rows, method):
    return {row["group"]: row for row in rows if row["method"] == method}


# Reading


def test_pairs_are_read_with_labels_and_prefixes(tmp_path):
    table = blimp.load(write(tmp_path, ONE, TWO, FULL))
    assert table["paradigm"].tolist() == ["npi_present_2", "passive_1", "transitive"]
    assert table["phenomenon"].tolist() == ["npi_licensing", "argument_structure", "argument_structure"]
    assert table["field"].tolist() == ["semantics", "syntax", "syntax"]
    one, full, two = (row for _, row in table.iterrows())
    assert one[PREFIX_COLUMNS["one_prefix"]].tolist() == ["Ann", "really", "ever"]
    assert two["two_prefix_word"] == "Tom"  # the release writes a space before some
    assert full[PREFIX_COLUMNS["one_prefix"] + PREFIX_COLUMNS["two_prefix"]].isna().all()
    assert not table["prefixes_derived"].any()


def test_the_files_may_lie_in_data(tmp_path):
    (tmp_path / "data").mkdir()
    write(tmp_path / "data", FULL)
    assert len(blimp.load(tmp_path)) == 1


def test_phenomena_follow_the_paper_where_the_release_differs(tmp_path):
    """The release labels the animate_subject paradigms s-selection, the paper argument structure."""
    row = pair(
        "animate_subject_passive", "A is seen by B.", "A is seen by a lamp.", linguistics_term="s-selection"
    )
    assert blimp.load(write(tmp_path, row))["phenomenon"].tolist() == ["argument_structure"]


def test_other_data_bring_their_own_labels(tmp_path):
    row = pair("mine", "A b.", "B a.", linguistics_term="order", field="syntax")
    table = blimp.load(write(tmp_path, row))
    assert table.loc[0, ["paradigm", "phenomenon", "field"]].tolist() == ["mine", "order", "syntax"]


@pytest.mark.parametrize(
    ("name", "paradigm"), [("mine", "mine"), ("passive_1", "my_passive_1"), ("all", "my_all")]
)
def test_two_sentences_are_enough(tmp_path, name, paradigm):
    """The file is one paradigm, never one of BLiMP's, with which its scores would be put side by side."""
    path = tmp_path / f"{name}.csv"
    pd.DataFrame({"sentence_good": ["A b.", "C d."], "sentence_bad": ["B a.", "D c."], "mood": "x"}).to_csv(
        path
    )
    table = blimp.load(path)
    assert table[["paradigm", "phenomenon"]].drop_duplicates().values.tolist() == [[paradigm, paradigm]]
    assert table["field"].isna().all() and table["mood"].tolist() == ["x", "x"]
    suite = make_suite("minimal_pairs", data=str(path))
    assert (suite.config, suite.n_items) == (name, 2)
    _, rows = evaluate_pairs(HashScorer(), table)
    groups = {row.group for row in rows}
    assert groups == {"all", f"phenomenon:{paradigm}", paradigm}


def test_prefixes_may_be_there_for_some_pairs_only(tmp_path):
    """A column without any text is no column of texts for pandas."""
    path = tmp_path / "pairs.csv"
    pd.DataFrame([ONE | dict.fromkeys(TWO.keys() - FULL.keys()), FULL]).to_csv(path, index=False)
    table = blimp.load(path)
    assert table["one_prefix_prefix"].tolist() == ["Ann", None] and table["two_prefix_word"].isna().all()


def test_groups_and_limit_choose_pairs(tmp_path):
    many = [pair("passive_1", f"Tom was greeted {n}.", f"Tom was giggled {n}.", n) for n in range(20)]
    source = write(tmp_path, ONE, TWO, *many)
    assert set(blimp.load(source, groups=["phenomenon:npi_licensing"])["paradigm"]) == {"npi_present_2"}
    assert set(blimp.load(source, groups=["syntax"])["paradigm"]) == {"transitive", "passive_1"}
    first, again = (blimp.load(source, groups=["passive_1"], limit=5)["pair_id"].tolist() for _ in range(2))
    assert first == again and len(first) == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sentence_bad": " "}, "empty sentence_bad in row 1"),
        ({"sentence_bad": None}, "no value in column 'sentence_bad'"),
        ({"one_prefix_prefix": "Somebody else"}, "not the beginning of the sentence_good"),
        ({"UID": "mine", "linguistics_term": None}, "no value in column 'linguistics_term'"),
        ({"UID": ["npi_present_2"]}, r"\(list\) .*'UID' .*row 1; expected text"),
        ({"sentence_good": 7}, r"7 \(int64\) .*'sentence_good' .*row 1; .*text"),
        ({"pairID": "x"}, "file.jsonl .*x .*'pairID' .*row 1; .*whole"),
        ({"pairID": 1.5}, "holds 1.5 in column 'pairID'"),
        ({"pairID": None}, "holds nan in column 'pairID'"),
        ({"one_prefix_prefix": ["Ann"]}, r"\(list\) .*'one_prefix_prefix' of row 1"),
    ],
)
def test_bad_rows_are_refused(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        blimp.load(write(tmp_path, {**ONE, **change}, name="file"))


def test_missing_columns_empty_and_broken_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"no \*.jsonl files"):
        blimp.load(tmp_path)
    path = tmp_path / "passive_1.jsonl"
    path.write_text('{"sentence_good": "A."}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="lacks the column sentence_bad;"):
        blimp.load(tmp_path)
    path.write_text('{"UID": "passive_1", "sentence_good": "A."}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="lacks the column sentence_bad;"):  # BLiMP's own phenomena are known
        blimp.load(tmp_path)
    path.write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match=str(path)):
        blimp.load(tmp_path)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match="could not be read as jsonl"):
        blimp.load(tmp_path)


def test_a_pair_twice_and_an_unknown_group_are_refused(tmp_path):
    write(tmp_path, FULL)
    with pytest.raises(ValueError, match=r"No paradigm, phenomenon or field 'passive_3' .*values of UID"):
        blimp.load(tmp_path, groups=["passive_3"])
    write(tmp_path, FULL, name="copy")
    with pytest.raises(ValueError, match="pair 0 of passive_1 occurs twice"):
        blimp.load(tmp_path)


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """A Hub with two versions of BLiMP, and a reader whose cache begins empty."""
    with LoopbackHub() as hub:
        read_from(hub, tmp_path / "cache", monkeypatch)
        repo = hub.content.create("datasets", "nyu-mll/blimp")
        for version in ("first", "second"):
            repo.commit({path: Blob(data) for path, data in hub_files(version)}, version)
            repo.tags[version] = repo.branches["main"]
        yield hub


def hub_files(version):
    """Each paradigm with one pair; the Hub's copy has `pair_id` and no prefix columns."""
    keep = ("sentence_good", "sentence_bad", "one_prefix_method", "two_prefix_method")
    for paradigm in metric_modules("minimal_pair_accuracy").definitions.BLIMP_PARADIGMS:
        row = {"npi_present_2": ONE, "npi_present_1": ONE, "transitive": TWO}.get(paradigm, FULL)
        row = {key: row[key] for key in keep} | {"UID": paradigm, "pair_id": 0}
        row["sentence_good"] = row["sentence_good"].replace("greeted", f"greeted {version}")
        sink = io.BytesIO()
        pq.write_table(pa.Table.from_pylist([row]), sink)
        yield f"{paradigm}/train-00000-of-00001.parquet", sink.getvalue()


def test_from_the_hub_prefixes_are_derived(hub):
    table = blimp.load(None, groups=["npi_present_2", "transitive"], revision="first")
    assert table["paradigm"].tolist() == ["transitive", "npi_present_2"] and table["prefixes_derived"].all()
    transitive, npi = (row for _, row in table.iterrows())
    assert npi[PREFIX_COLUMNS["one_prefix"]].tolist() == ["Ann", "really", "ever"]
    assert transitive[PREFIX_COLUMNS["two_prefix"]].tolist() == [
        "Some girls greet",
        "Some girls giggle",
        "Tom",
    ]
    fetched = {path.split("/")[-2] for _, path, _ in hub.log if path.endswith(".parquet")}
    assert fetched == {"transitive", "npi_present_2"}
    assert len(blimp.load(None, revision="first")) == 67
    with pytest.raises(ValueError, match="no paradigm, phenomenon or field passive_3"):
        blimp.load(None, groups=["passive_3"])


def test_the_hubs_version_that_was_asked_for_or_an_error(hub, monkeypatch):
    """Offline, `datasets` gave the newest version in its cache, whatever the revision."""

    def sentence(revision):
        return blimp.load(None, groups=["passive_1"], revision=revision).loc[0, "sentence_good"]

    commits = [hub.repo("datasets", "nyu-mll/blimp").tags[version] for version in ("first", "second")]
    revisions = ["second", "first", *reversed(commits)]
    found = ["Tom was greeted second.", "Tom was greeted first."] * 2
    assert [sentence(revision) for revision in revisions] == found
    hub.log.clear()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert [sentence(revision) for revision in revisions] == found and not hub.log
    with pytest.raises(ValueError, match=r"'nyu-mll/blimp@third' .*Hub.*copy of BLiMP: .*--source"):
        sentence("third")
    with pytest.raises(ValueError, match=r"copy of BLiMP: .*--source"):
        blimp.load(None, groups=["passive_2"], revision="first")  # of which nothing is in the cache


def test_the_pinned_version_is_the_one_that_is_read(hub):
    with pytest.raises(ValueError, match=rf"'nyu-mll/blimp@{HUB_REVISION}' .*loaded from the Hub"):
        blimp.load(None)


def test_another_layout_on_the_hub_says_what_to_do(hub):
    hub.repo("datasets", "nyu-mll/blimp").commit({"README.md": Blob(b"moved")}, "third", "moved")
    with pytest.raises(ValueError, match=r"blimp@moved has no file anaphor_gender_agreement/\*\.parquet"):
        blimp.load(None, revision="moved")


# Prefixes, worked out by hand; sentences of the same build as BLiMP's


@pytest.mark.parametrize(
    ("good", "bad", "expected"),
    [
        ("The cat eats mice.", "The cat eat mice.", ("The cat", "eats", "eat")),
        ("Ann admires herself.", "Ann admires himself.", ("Ann admires", "herself", "himself")),
        ("Bo sells this lamp.", "Bo sells this lamps.", ("Bo sells this", "lamp", "lamps")),
        ("Who did Al say they met?", "Who did Al say who met?", ("Who did Al say", "they", "who")),
        ("Ed hid it.", "Ed hidden it.", ("Ed", "hid", "hidden")),
        (
            "A lamp was met by a girl.",
            "A lamp was met by a glass jar.",
            ("A lamp was met by a", "girl", "glass"),
        ),
    ],
)
def test_one_prefix_by_hand(good, bad, expected):
    assert one_prefix(good, bad) == OnePrefix(*expected)


@pytest.mark.parametrize(
    ("paradigm", "good", "bad", "expected"),
    [
        # the first word that both share again
        (
            "transitive",
            TWO["sentence_good"],
            TWO["sentence_bad"],
            ("Some girls greet", "Some girls giggle", "Tom"),
        ),
        ("animate_subject_trans", "Ann met Bo.", "The lamp met Bo.", ("Ann", "The lamp", "met")),
        (
            "determiner_noun_agreement_2",
            "Bo met this man.",
            "Bo met these man.",
            ("Bo met this", "Bo met these", "man"),
        ),
        (
            "determiner_noun_agreement_irregular_2",
            "All met that child.",
            "All met those child.",
            ("All met that", "All met those", "child"),
        ),
        (
            "irregular_past_participle_adjectives",
            "The hidden cat ran.",
            "The hid cat ran.",
            ("The hidden", "The hid", "cat"),
        ),
        (
            "regular_plural_subject_verb_agreement_2",
            "The girls run.",
            "The girl run.",
            ("The girls", "The girl", "run"),
        ),
        (
            "irregular_plural_subject_verb_agreement_2",
            "The men run.",
            "The man run.",
            ("The men", "The man", "run"),
        ),
        (
            "left_branch_island_echo_question",
            "Ed has met which man?",
            "Which has Ed met man?",
            ("Ed has met which", "Which has Ed met", "man"),
        ),
        (
            "matrix_question_npi_licensor_present",
            "Has Ed ever slept?",
            "Ed has ever slept.",
            ("Has Ed", "Ed has", "ever"),
        ),
        (
            "existential_there_object_raising",
            "Ed declared there to be guests.",
            "Ed obliged there to be guests.",
            ("Ed declared", "Ed obliged", "there"),
        ),
        (
            "sentential_negation_npi_licensor_present",
            "Ed had not ever slept.",
            "Ed had probably ever slept.",
            ("Ed had not", "Ed had probably", "ever"),
        ),
        (
            "sentential_negation_npi_scope",
            "The men who had met Ann have not ever slept.",
            "The men who had not met Ann have ever slept.",
            ("The men who had met Ann have not", "The men who had not met Ann have", "ever"),
        ),
        # a later one decides
        (
            "coordinate_structure_constraint_complex_left_branch",
            "What men has Ann met and Bo seen?",
            "What has Ann met men and Bo seen?",
            ("What men has Ann met and", "What has Ann met men and", "Bo"),
        ),
        (
            "determiner_noun_agreement_with_adj_2",
            "Bo reads these big books.",
            "Bo reads this big books.",
            ("Bo reads these big", "Bo reads this big", "books"),
        ),
        (
            "determiner_noun_agreement_with_adj_irregular_2",
            "Bo met this out in the open child.",
            "Bo met these out in the open child.",
            ("Bo met this out in the open", "Bo met these out in the open", "child"),
        ),
        (
            "expletive_it_object_raising",
            "Bo declared it to be clear that Ann ran.",
            "Bo urged it to be clear that Ann ran.",
            ("Bo declared it to be", "Bo urged it to be", "clear"),
        ),
        (
            "only_npi_licensor_present",
            "Only Bo would ever run.",
            "Even Bo would ever run.",
            ("Only Bo would", "Even Bo would", "ever"),
        ),
        (
            "only_npi_scope",
            "Only men who Bo meets ever run.",
            "Men who only Bo meets ever run.",
            ("Only men who Bo meets", "Men who only Bo meets", "ever"),
        ),
        (
            "principle_A_domain_3",
            "Bo says Ann won't hurt herself.",
            "Ann says Bo won't hurt herself.",
            ("Bo says Ann won't hurt", "Ann says Bo won't hurt", "herself"),
        ),
        (
            "superlative_quantifiers_2",
            "The man met at most six girls.",
            "No man met at most six girls.",
            ("The man met at", "No man met at", "most"),
        ),
    ],
)
def test_two_prefix_by_hand(paradigm, good, bad, expected):
    assert two_prefix(good, bad, paradigm) == TwoPrefix(*expected)


@pytest.mark.parametrize(
    ("good", "bad"),
    [("The cat sat.", "The cat sat."), ("Cats sit.", "Dogs sit."), ("The cat sat.", "The cat sat down.")],
)
def test_without_a_shared_beginning_and_two_words_there_is_no_one_prefix(good, bad):
    assert one_prefix(good, bad) is None


@pytest.mark.parametrize(
    ("good", "bad"),
    [("The cat sat.", "The cat sat."), ("Cats sit.", "Cats run."), ("the cat sat.", "cat sat.")],
)
def test_without_a_difference_and_then_a_shared_word_there_is_no_two_prefix(good, bad):
    assert two_prefix(good, bad) is None


words = st.lists(st.sampled_from(["the", "cat", "sat", "ran"]), min_size=1, max_size=6).map(" ".join)


@given(words, words)
def test_prefixes_open_their_sentences(good, bad):
    one, two = one_prefix(good, bad), two_prefix(good, bad)
    if one is not None:
        assert f"{good} ".startswith(f"{one.prefix} {one.word_good} ")
        assert f"{bad} ".startswith(f"{one.prefix} {one.word_bad} ")
        assert one.word_good != one.word_bad
    if two is not None:
        assert f"{good} ".startswith(f"{two.prefix_good} {two.word} ")
        assert f"{bad} ".startswith(f"{two.prefix_bad} {two.word} ")
        assert two.prefix_good != two.prefix_bad


# Scoring


def test_each_method_asks_what_it_says(tmp_path):
    scorer = HashScorer()
    table = blimp.load(write(tmp_path, ONE, TWO, FULL))
    examples, rows = evaluate_pairs(scorer, table)
    assert examples.schema.equals(blimp.EXAMPLES)
    assert len(scorer.sentences) == 6
    assert scorer.continuations == [
        ("Ann", "really"),
        ("Ann", "ever"),
        ("Some girls greet", "Tom"),
        ("Some girls giggle", "Tom"),
    ]
    found = {(row["paradigm"], row["method"]): row for row in examples.to_pylist()}
    assert set(found) == {
        ("npi_present_2", "full"),
        ("passive_1", "full"),
        ("transitive", "full"),
        ("npi_present_2", "one_prefix"),
        ("transitive", "two_prefix"),
    }
    row = found["transitive", "two_prefix"]
    assert row["logprob_good"] == scorer.logprob("Some girls greet|Tom")
    assert row["logprob_bad"] == scorer.logprob("Some girls giggle|Tom")
    assert row["correct"] == int(row["logprob_good"] > row["logprob_bad"])
    assert (row["n_tokens_good"], row["n_tokens_bad"]) == (4, 4)  # words, as this scorer counts no tokens
    assert by_group(rows, "one_prefix").keys() == {
        "all",
        "field:semantics",
        "phenomenon:npi_licensing",
        "npi_present_2",
    }


def test_a_sentence_is_asked_for_once(tmp_path):
    scorer = HashScorer()
    rows = [pair("passive_1", "Tom was greeted.", f"Tom was giggled {n}.", n) for n in range(3)]
    evaluate_pairs(scorer, blimp.load(write(tmp_path, *rows)), methods=("full",))
    assert len(scorer.sentences) == 4
    assert scorer.continuations == []


def test_rows_are_means_of_paradigms(tmp_path):
    """npi_present_2 1 of 1; passive_1 0 of 1 (a tie); transitive 1 of 2: all (1 + 0 + 1/2) / 3."""
    second = {**TWO, "pairID": "1", "sentence_good": "Some men greet Tom.", "two_prefix_method": False}
    second |= {"sentence_bad": "Some men giggle Tom.", "two_prefix_prefix_good": "Some men greet"}
    second["two_prefix_prefix_bad"] = "Some men giggle"
    table = blimp.load(write(tmp_path, ONE, TWO, second, FULL))
    good, bad = table["sentence_good"], table["sentence_bad"]
    scorer = SentenceScorer(
        dict(zip(good, [-1.0, -2.0, -1.0, -3.0], strict=True)) | dict(zip(bad, [-2.0] * 4, strict=True))
    )
    _, rows = evaluate_pairs(scorer, table)
    groups = by_group(rows, "full")
    assert len(rows) == len(groups)  # whole sentences only: this scorer knows no prefixes
    assert groups["transitive"]["score"] == 0.5
    assert groups["phenomenon:argument_structure"]["score"] == 0.25
    assert groups["all"]["score"] == pytest.approx(0.5)
    expected = {
        "n": 4,
        "n_excluded": 0,
        "n_ties": 1,
        "n_nonfinite": 0,
        "metric": "accuracy",
        "method": "full",
    }
    assert expected.items() <= groups["all"].items()


def test_nan_is_not_correct_and_reported(tmp_path):
    table = blimp.load(write(tmp_path, FULL))
    scorer = SentenceScorer({"Tom was greeted.": np.nan, "Tom was giggled.": np.nan})
    examples, rows = evaluate_pairs(scorer, table)
    assert examples["correct"].to_pylist() == [0]
    assert (rows[0]["score"], rows[0]["n"], rows[0]["n_nonfinite"]) == (0.0, 1, 1)


def test_what_has_no_prefix_is_excluded_and_counted(tmp_path):
    """Two pairs of npi_present_2, in one of which the sentences do not differ, as in a few of BLiMP's."""
    keep = ("UID", "sentence_good", "sentence_bad", "one_prefix_method")
    bare = {key: ONE[key] for key in keep}
    same = bare | {"sentence_bad": ONE["sentence_good"]}
    source = write(tmp_path, bare, same)
    examples, rows = evaluate_pairs(HashScorer(), blimp.load(source), methods=("one_prefix",))
    assert examples["correct"].null_count == examples["logprob_good"].null_count == 1
    assert {(row["n"], row["n_excluded"]) for row in rows} == {(1, 1)}
    (source / "npi_present_2.jsonl").unlink()
    write(source, same)
    _, rows = evaluate_pairs(HashScorer(), blimp.load(source), methods=("one_prefix",))
    assert {(row["n"], row["n_excluded"]) for row in rows} == {(0, 1)}
    assert all(np.isnan(row["score"]) for row in rows)


def test_results_come_from_the_written_scores(tmp_path):
    """The averages need nothing but the table of scores, also after it was on disk."""
    examples, rows = evaluate_pairs(HashScorer(), blimp.load(write(tmp_path, ONE, TWO, FULL)))
    pq.write_table(examples, tmp_path / "scores.parquet")
    again = MinimalPairSuite.aggregate({SINGLE: pq.read_table(tmp_path / "scores.parquet")})
    assert [row.to_json() for row in again] == [row.to_json() for row in rows]


@pytest.mark.parametrize(
    ("scorer", "methods", "message"),
    [
        (HashScorer(), ("ful",), "Unknown method 'ful'"),
        (SentenceScorer({}), ("one_prefix",), "only scores whole sentences"),
        (HashScorer(), ("two_prefix",), "supports two_prefix"),
    ],
)
def test_a_method_that_cannot_be_is_refused(tmp_path, scorer, methods, message):
    with pytest.raises(ValueError, match=message):
        evaluate_pairs(scorer, blimp.load(write(tmp_path, FULL)), methods=methods)


def test_the_signature_changes_with_the_pairs(tmp_path):
    folders = [tmp_path / "two", tmp_path / "one"]
    for folder in folders:
        folder.mkdir()
    first = make_suite("minimal_pairs", data=write(folders[0], ONE, TWO)).signature(HashScorer())
    second = make_suite("minimal_pairs", data=write(folders[1], ONE)).signature(HashScorer())
    assert first["dataset_fingerprint"] != second["dataset_fingerprint"]
    assert (first["model"], first["methods"], first["n_pairs"]) == ("hash", list(blimp.METHODS), 2)
    json.dumps(first)


def test_tokens_are_the_scorers_where_it_counts_them(tmp_path):
    class Counting(HashScorer):
        def token_counts(self, sentences):
            return np.array([len(sentence) for sentence in sentences])

    examples = blimp.score_pairs(Counting(), blimp.load(write(tmp_path, FULL)), methods=("full",))
    assert examples["n_tokens_good"].to_pylist() == [len(FULL["sentence_good"])]


# The real files


AUXILIARIES = (
    "is are was were has have had do does did ca can could wo will would might should must may sha shall"
).split()


@pytest.fixture(scope="module")
def released(upstream):
    return blimp.load(upstream / "blimp")


@pytest.mark.slow
@pytest.mark.upstream
def test_all_of_blimp_is_read(released):
    """67 paradigms of 1,000 pairs; 20 support one-prefix, 20 two-prefix (Warstadt et al. 2020, Table 4)."""
    assert released.groupby("paradigm").size().eq(1000).all()
    assert set(released["paradigm"]) == set(
        metric_modules("minimal_pair_accuracy").definitions.BLIMP_PARADIGMS
    )
    for method in ("one_prefix", "two_prefix"):
        supported = released[released[f"{method}_method"]]
        assert supported["paradigm"].nunique() == 20
        assert supported[PREFIX_COLUMNS[method]].notna().all(axis=None)
        assert released[~released[f"{method}_method"]][PREFIX_COLUMNS[method]].isna().all(axis=None)


@pytest.mark.upstream
def test_derived_prefixes_against_the_released_ones(released):
    """Of 20,000 each: prefixes that agree, words too (single words against lexical items), none derivable.

    Most other words of animate_subject_trans are auxiliaries, where the release has the verb after them.
    """
    counts, auxiliaries = {}, 0
    for method in ("one_prefix", "two_prefix"):
        rows = released[released[f"{method}_method"]]
        assert len(rows) == 20_000
        given = rows[PREFIX_COLUMNS[method]].itertuples(index=False, name=None)
        prefixes = words = none = 0
        for good, bad, paradigm, theirs in zip(
            rows["sentence_good"], rows["sentence_bad"], rows["paradigm"], given, strict=True
        ):
            ours = one_prefix(good, bad) if method == "one_prefix" else two_prefix(good, bad, paradigm)
            n_prefixes = 1 if method == "one_prefix" else 2
            none += ours is None
            prefixes += ours is not None and ours[:n_prefixes] == theirs[:n_prefixes]
            words += ours == theirs
            if paradigm == "animate_subject_trans" and ours != theirs:
                auxiliaries += ours.word.removesuffix("n't") in AUXILIARIES
        counts[method] = (prefixes, words, none)
    assert counts == {"one_prefix": (19_816, 19_073, 5), "two_prefix": (19_999, 18_341, 0)}
    assert auxiliaries == 613


@pytest.mark.upstream
def test_without_its_prefix_columns_blimp_has_the_words_of_the_release(released):
    """As the copy on the Hub: all 40,000 queries are those of the release, and none is derived."""
    columns = [column for names in PREFIX_COLUMNS.values() for column in names]
    bare = released.drop(columns=[*columns, "prefixes_derived", "phenomenon", "field"])
    table = pair_table(bare.rename(columns={"paradigm": "UID"}), "bare")
    assert not table["prefixes_derived"].any()
    pd.testing.assert_frame_equal(table[columns], released[columns])


def test_a_pair_with_other_sentences_is_derived(tmp_path):
    """The number of a pair of BLiMP is not enough: the sentences must be the released ones."""
    row = pair("animate_subject_trans", "Some girl was leaving.", "Some sock was leaving.", 1)
    table = blimp.load(write(tmp_path, row | {"two_prefix_method": True}))
    assert table["prefixes_derived"].tolist() == [True]


@pytest.mark.upstream
def test_seven_pairs_of_blimp_do_not_differ(released):
    """They are ties for every model, so that no accuracy can reach 1 in these two paradigms."""
    same = released[released["sentence_good"] == released["sentence_bad"]]
    assert same.groupby("paradigm").size().to_dict() == {"passive_1": 2, "principle_A_case_2": 5}


@pytest.mark.slow
@pytest.mark.upstream
def test_all_of_blimp_is_scored(released):
    scorer = HashScorer()
    examples, rows = evaluate_pairs(scorer, released)
    assert isinstance(examples, pa.Table) and examples.num_rows == 67_000 + 2 * 20_000
    assert (
        len(scorer.sentences)
        == len(set(scorer.sentences))
        == len(set(released["sentence_good"]) | set(released["sentence_bad"]))
    )
    full = by_group(rows, "full")
    assert len(full) == 1 + 4 + 12 + 67
    assert full["all"]["n"] == 67_000 and full["all"]["n_excluded"] == 0
    assert full["all"]["score"] == pytest.approx(
        np.mean([row["score"] for group, row in full.items() if group in set(released["paradigm"])])
    )
    one = by_group(rows, "one_prefix")
    assert one["all"]["n"] == 20_000
