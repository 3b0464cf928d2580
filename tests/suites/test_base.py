"""What every suite keeps: options, groups, samples, chunks, levels, units; each option acts or is refused."""

import json
import sys
from dataclasses import dataclass, fields
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tse_scorers import Results, Scorer, load_data, run, suites
from tse_scorers.runs.compare import compare
from tse_scorers.suites.base import SUITES, Measure, Suite
from tse_scorers.suites.german import German
from tse_scorers.suites.regions import Regions

sys.path.append(str(Path(__file__).resolve().parents[2] / "examples"))
REGIONS = pd.DataFrame(
    [
        (item, condition, text)
        for item in "12"
        for condition in "ab"
        for text in (f"The {condition}{item}", "laughs.")
    ],
    columns=["item", "condition", "text"],
)


@dataclass(frozen=True, kw_only=True)
class Lengths(Suite):
    """The word with more letters."""

    least: int = 1
    """the least number of letters"""

    name, title, needs = "lengths", "Lengths", ("word", "kind")
    measures = (Measure("long", right_or_wrong=True), Measure("size", bounded=False, headline=False))
    levels, together, key = ("kind",), ("word",), ("word",)

    def load(self):
        frame = pd.DataFrame(self.data)
        return frame[frame["word"].str.len() >= self.least]

    def ask(self, scorer, items, progress=None):
        return {"items": items.assign(long=items["word"].str.len() > 5, size=items["word"].str.len())}


WORDS = pd.DataFrame(
    {"word": [f"{'w' * (n % 9 + 1)}{n}" for n in range(3_000) for _ in "12"], "side": ["l", "r"] * 3_000}
)
WORDS = WORDS.assign(kind=np.where(np.arange(6_000) < 1_500, "few", "many"), item=np.arange(6_000) // 20)


class Fixed(Scorer):
    """Scores by letters."""

    name, signature = "fixed", {"model": "fixed", "revision": "1"}

    def sentence_logprobs(self, sentences, progress=None):
        return np.array([-float(sum(map(ord, sentence)) % 97) for sentence in sentences])

    def token_counts(self, sentences):
        return np.array([len(sentence.split()) for sentence in sentences])


@pytest.mark.parametrize(
    ("option", "error", "said"),
    [
        ({"limt": 1}, TypeError, "Lengths has no option 'limt'.*Did you mean limit?"),
        ({"limit": 0}, ValueError, "limit is 0; expected .*at least 1"),
        ({"limit": True}, TypeError, "limit is True"),
        ({"least": "2"}, TypeError, "least is '2'; expected a whole number"),
        ({"groups": "few"}, TypeError, "groups is 'few'; expected a list"),
        ({"groups": []}, ValueError, "a list with a value"),
        (
            {"groups": ["fwe"]},
            ValueError,
            "Unknown group 'fwe'; expected one of: few, many.*Did you mean few?",
        ),
    ],
)
def test_options_are_checked_and_suggested(option, error, said):
    with pytest.raises(error, match=said):
        _ = Lengths(data=WORDS, **option).items


def test_chunks_are_cut_by_the_data_alone_and_part_no_whole():
    suite = Lengths(data=WORDS.sample(frac=1, random_state=1))
    chunks = suite.chunks()
    assert len(chunks) > 2 and sorted(pd.concat(chunks)["row"]) == list(range(6_000))
    assert sum(chunk["word"].nunique() for chunk in chunks) == 3_000
    again = Lengths(data=suite.data, groups=["few", "many"]).chunks()
    assert [chunk["row"].tolist() for chunk in chunks] == [chunk["row"].tolist() for chunk in again]
    assert [len(chunk) for chunk in Lengths(data=WORDS[:8]).chunks(at_least=4)] == [2, 2, 2, 2]
    joined = suite.joined([suite.ask(None, chunk) for chunk in chunks])["items"]
    pd.testing.assert_frame_equal(joined, suite.ask(None, suite.items)["items"])


def test_a_limit_keeps_wholes_of_each_group_with_what_they_stand_for():
    kept, part = Lengths(data=WORDS, limit=30).items, Lengths(data=WORDS).sampled(120).items
    assert kept.groupby("kind")["word"].nunique().tolist() == [30, 30] and len(kept) == 120
    assert kept.groupby("kind")["stands_for"].sum().to_dict() == {"few": 1_500, "many": 4_500}
    assert len(part) == 120 and set(part["kind"]) == {"few", "many"}
    assert set(part["word"]) <= set(Lengths(data=WORDS).sampled(500).items["word"])
    with pytest.raises(ValueError, match="A budget of 1 items leaves nothing"):
        Lengths(data=WORDS).sampled(1)
    uneven = pd.DataFrame({"word": [f"{'w' * n}" for n in range(1, 40) for _ in range(n)], "kind": "k"})
    assert [len(Lengths(data=uneven).sampled(n, seed=1).items) <= n for n in (60, 200, 500)] == [True] * 3


def test_own_columns_are_levels_and_units(tmp_path):
    frame = run(Fixed(), Lengths(data=WORDS), tmp_path, report=False).frame
    rows = frame[frame["measure"] == "long"].set_index(["level", "value"])
    assert list(rows.index) == [("all", ""), ("kind", "few"), ("kind", "many"), ("side", "l"), ("side", "r")]
    assert set(rows["unit"]) == {"items"} and rows.loc[("all", ""), "n_units"] == 300
    assert rows.loc[("kind", "few"), "score"] == (WORDS["word"][:1_500].str.len() > 5).mean()
    assert frame["measure"].tolist()[-1] == "size"  # headlines first
    clustered = run(Fixed(), Lengths(data=WORDS.assign(cluster="c")), tmp_path / "c", report=False).frame
    assert set(clustered["unit"]) == {"clusters"} and clustered["n_units"][0] == 1


SENTENCES = {"sentence_good": ["It is."], "item": [1], "condition": ["a"]}


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"sentence_bda": "x"}, r"minimal_pairs, lacks sentence_bad\. Did you mean sentence_bda\?"),
        ({}, r"minimal_pairs, lacks sentence_bad\.$"),
        ({"sentence_bad": "x", "text": "x"}, "are those of minimal_pairs and regions"),
    ],
)
def test_columns_of_no_suite_are_told_with_the_one_that_is_missing(columns, said):
    with pytest.raises(ValueError, match=said):
        suites.suite_of(pd.DataFrame(SENTENCES).assign(**columns))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [("own.json", "{", "own.json could not be read as json"), ("own.csv", "", "own.csv .* it is empty")],
)
def test_files_that_cannot_be_read_are_named(tmp_path, name, content, said):
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=said):
        suites.suite_of(tmp_path / name)


def test_text_among_numbers_is_told_with_its_row():
    for column, suite in (("region_number", Regions), ("stands_for", Regions), ("stands_for", Lengths)):
        data = (REGIONS if suite is Regions else WORDS).assign(**{column: "abc"})
        with pytest.raises(ValueError, match=f"'abc' .*column '{column}' of row 1; expected a .*number"):
            _ = suite(data=data).items


# For each field: a value that changes what is asked and the scores. (suite, its options, changes)
GERMAN = load_data("german_argument_structure", "ours").to_pandas().query("template < 3")
ACTS = [
    (German, {"data": GERMAN}, {"data": GERMAN.query("template < 2"), "limit": 1}),
    (Regions, {"data": REGIONS, "criteria": ["(2;%a%) > (2;%b%)"]},
     {"data": REGIONS.query("item == '1'"), "criteria": ["(2;%a%) < (2;%b%)"], "limit": 1}),
    (Lengths, {"data": WORDS}, {"data": WORDS[:9], "groups": ["few"], "limit": 9, "least": 7}),
]  # fmt: skip
REFUSED = [(German, {"groups": ["NDA"]}), (German, {"source": "a.csv"}), (Regions, {"groups": ["none"]})]


def test_each_field_of_each_suite_changes_signature_and_scores_or_is_refused(tmp_path):
    class Tokens(Fixed):
        def token_logprobs(self, sentences, progress=None):
            from tse_scorers.models.scorer import ScoredTokens

            ends = [np.flatnonzero([*(letter == " " for letter in text), True]) for text in sentences]
            values = self.sentence_logprobs(sentences) / 7
            return [
                ScoredTokens(np.r_[0, e[:-1]], e, np.full(len(e), v))
                for e, v in zip(ends, values, strict=True)
            ]

    for suite, given, changes in ACTS:
        tried = {*changes} | {name for of, options in REFUSED for name in options if of is suite}
        assert tried == {option.name for option in fields(suite)}, suite
        plain = suite(**given)
        before = plain.asked(), json.dumps(suite.rows(plain.ask(Tokens(), plain.items)), default=float)
        for name, value in changes.items():
            other = suite(**{**given, name: value})
            after = other.asked(), json.dumps(suite.rows(other.ask(Tokens(), other.items)), default=float)
            assert before[0] != after[0] and before[1] != after[1], (suite, name)
    for suite, options in REFUSED:
        with pytest.raises(ValueError, match=next(iter(options)).rstrip("s")):
            _ = suite(**{"data": REGIONS if suite is Regions else "ours", **options}).items


def test_a_suite_must_load_and_ask():
    class Loads(Suite):
        load = Lengths.load

    class Asks(Suite):
        ask = Lengths.ask

    for suite, missing in ((Loads, "ask"), (Asks, "load")):
        with pytest.raises(TypeError, match=missing):
            suite()


def test_a_suite_of_ones_own_runs_by_class_and_by_entry_point(tmp_path, monkeypatch):
    from grammaticality import Grammaticality, matthews

    sentences = [
        f"The {noun} {verb}." for noun in ("author", "pilot", "guard", "chef") for verb in ("laughs", "laugh")
    ]
    table = pd.DataFrame({"sentence": sentences, "label": [1, 0] * 4, "kind": ["a"] * 4 + ["b"] * 4})
    table.to_csv(tmp_path / "cola.csv", index=False)
    frame = run("tiny-causal", Grammaticality(data=tmp_path / "cola.csv"), tmp_path / "out").frame
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "By kind" in page and "MCC: tiny-causal " in page
    for measures in ((), "mcc"):
        with pytest.raises(ValueError, match=r"nothing to compare.*no headline measure of it is a share"):
            compare([tmp_path / "out"], measures=measures)
    assert frame[["measure", "level", "value"]].values.tolist() == [
        ["mcc", "all", ""], ["mcc", "kind", "a"], ["mcc", "kind", "b"]
    ]  # fmt: skip
    scores = Results.load(tmp_path / "out").items()["score"].to_numpy()
    cuts = np.quantile(scores, np.linspace(0.05, 0.95, 19))
    labels = table["label"].to_numpy(float)
    best = max(np.corrcoef(labels, scores > cut)[0, 1] for cut in cuts)
    assert frame["score"][0] == pytest.approx(best) and frame["reliable"].sum() == 0
    assert matthews(labels, labels == 1) == pytest.approx(1) and matthews(labels, labels == 2) == 0
    point = EntryPoint("grammaticality", "grammaticality:Grammaticality", suites.GROUP)
    monkeypatch.setattr(suites, "entry_points", lambda group: [point])
    monkeypatch.delitem(SUITES, "grammaticality")
    monkeypatch.delitem(sys.modules, "grammaticality")
    suites._installed.cache_clear()
    try:
        assert suites.suite_of(table).name == "grammaticality" == suites.find_suite("grammaticality").name
    finally:
        suites._installed.cache_clear()
    with pytest.raises(ValueError, match=r"grammaticaly.*Did you mean grammaticality\?"):
        suites.find_suite("grammaticaly")
    with pytest.raises(ValueError, match=r"the table holds 2 .*in column 'label'"):
        run("tiny-causal", Grammaticality(data=table.assign(label=2)), tmp_path / "bad", report=False)
