"""`score_dataset` and `scorer.map`: data sets in, data sets out, straight into the metrics."""

import evaluate as hf_evaluate
import numpy as np
import pandas as pd
import pytest
from datasets import Dataset, DatasetDict, IterableDataset, load_dataset

from tse_scorers import Agreement, German, MinimalPairs, Scorer, load_scorer, run, score_dataset

REAL = pytest.param("smollm2", marks=[pytest.mark.real, pytest.mark.slow])


def loaded_scorer(request, name):
    return load_scorer(request.getfixturevalue(name) if name == "smollm2" else name)


@pytest.fixture(scope="module", params=["tiny-causal", "tiny-masked", REAL])
def scorer(request):
    return loaded_scorer(request, request.param)


@pytest.fixture(scope="module")
def causal():
    return load_scorer("tiny-causal")


@pytest.fixture(scope="module")
def lemmas(root):
    return Dataset.from_parquet(str(root / "datasets/verb_lemmas/released/train.parquet"))


@pytest.fixture(scope="module")
def pairs(root, tmp_path_factory):
    data = pd.read_parquet(root / "datasets/agreement_templates/marvin_linzen/test.parquet")
    folder = tmp_path_factory.mktemp("pairs")
    data.groupby("group").head(6).to_parquet(folder / "pairs.parquet")
    return folder / "pairs.parquet"


def loaded(path, cache) -> Dataset:
    return load_dataset("parquet", data_files=str(path), cache_dir=str(cache), split="train")


def metric(root, name):
    return hf_evaluate.load(str(root / "metrics" / name))


def of_run(results, level="group"):
    """Return the rows of a run by the name of their group (`all` for all items) and their measure."""
    rows = results.frame[results.frame["level"].isin(["all", level])]
    return {(row.value or "all", row.measure): row for row in rows.itertuples()}


def check_agreement(root, results, scored):
    """The metric over scored rows has the scores of a run, over all pairs and in each group, at each cut-off."""
    expected = of_run(results)
    found = metric(root, "refined_tse").compute(predictions=scored, groups="group")
    for name in ("ew", "mw", "covered_mass"):
        assert found[name] == pytest.approx(expected["all", name].score, abs=1e-6)
    for group in ("all", *found["groups"]):
        of_group = found if group == "all" else found["groups"][group]
        row = expected[group, "tse"]
        assert of_group["tse"] == pytest.approx(row.score, abs=1e-6, nan_ok=True)
        assert (of_group["n_pairs"], of_group["n_pairs_excluded"]) == (row.n, row.n_excluded)
    for row in found["rows"]:
        side, cutoff = row["cutoff_side"], row["cutoff"]
        measure = row["metric"] + (f"@{side}-{cutoff:g}" if cutoff != 1 else "")
        if np.isnan(row["score"]):
            assert (row["group"], measure) not in expected
            continue
        same = expected[row["group"], measure]
        assert row["score"] == pytest.approx(same.score, abs=1e-6)
        assert (row["n"], row["n_excluded"]) == (same.n, same.n_excluded)
    names, with_score = (
        {row["metric"] for row in found["rows"]},
        [~np.isnan(row["score"]) for row in found["rows"]],
    )
    assert sum(with_score) == sum(measure.partition("@")[0] in names for _, measure in expected)


def test_map_and_metric_equal_a_run(root, scorer, pairs, lemmas, tmp_path):
    """EW and MW over contexts and TSE over rows are those of `tse run`, for all pairs and in each group."""
    results = run(scorer, Agreement(data=str(pairs)), tmp_path / "out", report=False)
    check_agreement(root, results, scorer.map(loaded(pairs, tmp_path), lemmas=lemmas, cutoffs=True))


def test_the_type_the_rows_and_their_order_stay(causal, pairs, lemmas, tmp_path):
    """Whatever holds the rows comes back with them and the same new columns, formats and index included."""
    data = loaded(pairs, tmp_path).select(range(12)).with_format("numpy")
    frame = data.with_format(None).to_pandas().set_axis(range(100, 112))
    of_data = causal.map(data, lemmas=lemmas)
    assert of_data.format["type"] == "numpy"
    expected = of_data.with_format(None).to_pandas()
    assert expected["context"].dtype == np.int64
    assert expected[list(frame.columns)].equals(frame.reset_index(drop=True))
    of_frame = score_dataset(frame, causal, lemmas=lemmas.to_list())
    assert list(of_frame.index) == list(frame.index)
    of_list = pd.DataFrame(score_dataset(frame.to_dict("records"), "tiny-causal", lemmas=lemmas.to_pandas()))
    of_dict = causal.map(DatasetDict(a=data, b=data), lemmas=lemmas)
    assert isinstance(of_dict, DatasetDict)
    for made in (of_frame, of_list, of_dict["b"].with_format(None).to_pandas()):
        pd.testing.assert_frame_equal(made.reset_index(drop=True), expected, check_dtype=False, rtol=1e-6)


def test_gaps_need_no_verbs(causal, pairs, lemmas, tmp_path):
    data = loaded(pairs, tmp_path).select(range(5))
    without = causal.map(data.select_columns(["prefix", "suffix", "number"]), lemmas=lemmas)
    assert "logprob_correct" not in without.column_names
    assert without["ew"] == causal.map(data, lemmas=lemmas)["ew"]


@pytest.mark.filterwarnings("error::tse_scorers.models.text.TextWarning")
def test_pairs_of_sentences_equal_a_run(root, scorer, tmp_path):
    """Accuracy over a scored data set is that of `tse run`; a text after its context is conditional on it."""
    data = pd.DataFrame(
        {
            "UID": ["passive_1", "passive_1", "wh_island"],
            "sentence_good": ["The author laughs.", "The pilots laugh.", "The guard is old."],
            "sentence_bad": ["The author laugh.", "The pilots laughs.", "The guard are old."],
        }
    )
    data.to_csv(tmp_path / "own.csv", index=False)
    scored = scorer.map(Dataset.from_pandas(data), columns=["sentence_good", "sentence_bad"])
    assert scored["n_tokens_sentence_good"] == scorer.token_counts(data["sentence_good"]).tolist()
    assert scored["logprob_sentence_bad"][:] == pytest.approx(
        scorer.sentence_logprobs(data["sentence_bad"].tolist()), abs=1e-4
    )
    results = run(scorer, MinimalPairs(data=tmp_path / "own.csv"), tmp_path / "out", report=False)
    total = of_run(results)["all", "accuracy"]
    found = metric(root, "minimal_pair_accuracy").compute(predictions=scored, groups="UID")
    assert found["accuracy"] == pytest.approx(total.score, abs=1e-6)


@pytest.mark.parametrize("model", ["tiny-causal-german", REAL])
def test_german_sentences_equal_a_run(root, request, model, tmp_path):
    """The AUC over a scored data set is that of `tse run`."""
    data = pd.read_parquet(root / "datasets/german_argument_structure/ours/test.parquet")
    data = data[(data["template"] < 1) & (data["positions"].isin(["123", "213"]))]
    data.to_csv(tmp_path / "own.csv", index=False)
    scorer = loaded_scorer(request, model)
    results = run(scorer, German(data=tmp_path / "own.csv"), tmp_path / "out", report=False)
    scored = scorer.map(Dataset.from_pandas(data, preserve_index=False), columns="sentence")
    found = metric(root, "minimal_variation_auc").compute(predictions=scored)
    expected = of_run(results)
    for kind, auc in found["auc"].items():
        measure = "auc" if kind == "1-6" else f"auc@{kind}"
        assert auc == pytest.approx(expected["all", measure].score, abs=1e-6)
    assert len(found["auc"]) > 1


def test_words_have_their_characters(causal):
    scored = causal.map([{"text": "The author  laughs."}], surprisals="text")[0]
    words = [scored["text"][a:b] for a, b in zip(scored["starts_text"], scored["ends_text"], strict=True)]
    of_words = causal.word_logprobs([scored["text"]])[0]
    assert words == [word for word, _ in of_words] == ["The", "author", "laughs."]
    assert scored["surprisals_text"] == pytest.approx([-logprob for _, logprob in of_words])


@pytest.mark.parametrize("model", ["tiny-causal", "tiny-masked"])
def test_a_gap_in_a_text_that_is_too_long_is_refused_by_its_row(model):
    lemmas = [{"singular": "laughs", "plural": "laugh"}]
    rows = [
        {"prefix": prefix, "suffix": ".", "number": "plural"}
        for prefix in ("The pilots", "The author", "The pilots swim. " * 200 + "The pilots")
    ]
    with pytest.raises(ValueError, match=r"^Row 3: .*longer than the"):
        load_scorer(model).map(rows, lemmas=lemmas)
    found = load_scorer(model).map(rows[:2], lemmas=lemmas)
    cut = load_scorer(model).map(rows[:2], lemmas=lemmas, cutoffs=True)
    for name in ("ew", "mw", "covered_mass"):
        assert [row[name] for row in found] == pytest.approx([row[f"{name}_top_1"] for row in cut], abs=1e-6)


@pytest.mark.parametrize("what", [{"columns": ["a", "b"]}, {"surprisals": ["a", "b"]}])
def test_a_text_that_is_too_long_is_refused_by_its_row(causal, what):
    long, short = "The pilots swim. " * 200, "The author laughs."
    rows = [{"a": short, "b": short}, {"a": short, "b": short}, {"a": short, "b": long}]
    with pytest.raises(ValueError, match=r"^Row 3: .*longer than the 256 positions .*context="):
        causal.map(rows, **what)
    with pytest.raises(ValueError, match=r"^Row 3: "):
        causal.map(rows, "b", context="a")


def test_other_words_than_the_texts_are_refused():
    class Lowering(Counted):
        def word_logprobs(self, sentences, progress=None):
            return [[(word.lower(), -1.0) for word in sentence.split()] for sentence in sentences]

    with pytest.raises(ValueError, match=r"'the'.*'The author\.'.*character 0"):
        score_dataset([{"text": "The author."}], Lowering(), surprisals="text")


class Counted(Scorer):
    """A scorer that counts the texts it is asked about."""

    name = "counted"

    def __init__(self, revision="1") -> None:
        self.signature = {"model": "counted", "revision": revision}
        self.asked: list[str] = []

    def sentence_logprobs(self, sentences, progress=None):
        self.asked += sentences
        return -np.array([float(len(sentence)) for sentence in sentences])


def test_a_cached_result_asks_no_model(tmp_path):
    """The same rows, model and options are read from the cache; a model without a revision is asked again."""
    pd.DataFrame({"text": ["a b", "c", "c"]}).to_parquet(tmp_path / "a.parquet")
    data = loaded(tmp_path / "a.parquet", tmp_path / "cache")
    scorer = Counted()
    first = score_dataset(data, scorer, "text")
    assert scorer.asked == ["a b", "c"] and first["logprob_text"][:] == [-3.0, -1.0, -1.0]
    assert score_dataset(data, scorer, "text")["logprob_text"][:] == [-3.0, -1.0, -1.0]
    assert len(scorer.asked) == 2
    other = Counted("2")
    score_dataset(data, other, "text")
    score_dataset(data.select([1]), other, "text")
    assert other.asked == ["a b", "c", "c"]
    in_memory = Counted(None)
    for _ in range(2):
        score_dataset(data, in_memory, "text")
    assert len(in_memory.asked) == 4


def test_other_lemmas_and_options_are_asked_again(causal, pairs, lemmas, tmp_path):
    """Each number depends on the lemmas and the options; what was asked in the same way is read from the cache."""
    data = loaded(pairs, tmp_path).select(range(12))
    first, second = lemmas.select(range(200)), lemmas.select(range(200, 400))
    ways = [{"lemmas": first}, {"lemmas": second}, {"lemmas": first, "cutoffs": True}]
    found = [causal.map(data, **way) for way in ways]
    assert found[0]["ew"] != found[1]["ew"] and "ew_top_0.9" in found[2].column_names
    renamed = {"lemmas": first.map(lambda row, at: {"lemma": f"{at}"}, with_indices=True)}
    for result, way in zip([*found, found[0]], [*ways, renamed], strict=True):
        assert causal.map(data, **way)._fingerprint == result._fingerprint


TEXT, GAP = [{"text": "a"}], {"prefix": "The cat", "suffix": " here.", "number": "singular"}
IS = {"lemmas": [{"singular": "is", "plural": "are"}]}
TWO_COLUMNS = pd.DataFrame([["a", "b"]], columns=["text", "text"])
FORMS = {"number": "plural", "form_correct": "is", "form_incorrect": "are"}
REFUSED = [
    (TEXT, {}, "none of columns, lemmas and surprisals"),
    (TEXT, {"columns": "text", "surprisals": "text"}, "columns and surprisals"),
    (TEXT, {"columns": "sentence"}, "lacks the column sentence"),
    ([{"text": "a", "logprob_text": 1.0}], {"columns": "text"}, "would replace"),
    ([{"text": 1}], {"columns": "text"}, "text"),
    ([{"text": None}], {"columns": "text"}, "row 1"),
    ([{"text": "a"}, {"text": " "}], {"columns": "text"}, "row 2; .*at least one word"),
    ([{"text": "a"}, {"text": "b\ud800"}], {"columns": "text"}, "row 2; .*text with whole"),
    ([], {"columns": "text"}, "has no rows"),
    (("a",), {"columns": "text"}, "expected a Dataset"),
    (TWO_COLUMNS, {"columns": "text"}, "two columns with one name"),
    (TEXT, {"columns": "text", "cutoffs": True}, "cutoffs has no effect"),
    (TEXT, {"surprisals": "text", "context": "text"}, "context has no effect"),
    (TEXT, {"columns": "text", "context": "text"}, "as text and as context"),
    (TEXT, {"surprisals": "text"}, "does not score words"),
    ([{"text": "a", "before": "b"}], {"columns": "text", "context": "before"}, "texts after other texts"),
    (TEXT, {"columns": 5}, r"columns=5; .*text or a list"),
    (TEXT, {"columns": ["text", None]}, "columns=.*text or a list"),
    (TEXT, IS, "lacks the columns prefix, suffix, number"),
    ([GAP | {"number": "one"}], IS, "expected singular or plural"),
    ([GAP], IS, "does not score the distribution at a gap"),
    ([GAP | FORMS], IS, "column 'form_correct' of row 1; expected the correct form"),
    (TEXT, {"lemmas": [{"singular": "is"}]}, "lemma list lacks the column plural"),
    (TEXT, {"lemmas": "blimp"}, "Unknown lemma list 'blimp'"),
    (TEXT, {"lemmas": IS["lemmas"] * 2}, "column 'singular' of row 2; expected each lemma once"),
]


@pytest.mark.parametrize(("rows", "options", "said"), REFUSED)
def test_what_cannot_be_scored_is_said_before_a_model_is_asked(rows, options, said):
    scorer = Counted()
    with pytest.raises((ValueError, TypeError, NotImplementedError), match=said):
        score_dataset(rows, scorer, **options)
    assert scorer.asked == []


@pytest.mark.parametrize(
    ("columns", "said"), [("wrong", "column wrong; .*text, n"), ("n", "row 1; expected text")]
)
@pytest.mark.parametrize("kind", ["Dataset", "DatasetDict"])
def test_what_a_data_set_lacks_is_said_before_the_model_is_loaded(kind, columns, said):
    """The model's name is wrong too, but the columns are checked first, those of each split."""
    rows, wrong = Dataset.from_dict({"text": ["a"], "n": ["b"]}), Dataset.from_dict({"text": ["a"], "n": [1]})
    data = wrong if kind == "Dataset" else DatasetDict(train=rows, test=wrong)
    with pytest.raises(ValueError, match=said):
        score_dataset(data, "no/such-model", columns)


def test_a_data_set_with_a_transform_is_scored_as_it_is_stored():
    data = Dataset.from_dict({"text": ["The author laughs.", "b"]})
    shouting = data.with_transform(lambda batch: {name: [f"{v}!" for v in batch[name]] for name in batch})
    found = score_dataset(shouting, Counted(None), "text")
    assert found.with_format(None)["logprob_text"][:] == [-18.0, -1.0]


def test_a_stream_is_asked_in_parts():
    """100,000 rows of a stream are read and scored 10,000 at a time."""
    read = []

    def rows():
        for number in range(100_000):
            read.append(number)
            yield {"text": f"t {number % 7}"}

    scorer = Counted()
    stream = iter(score_dataset(IterableDataset.from_generator(rows), scorer, "text"))
    assert next(stream)["logprob_text"] == -3.0
    assert len(scorer.asked) == 7 and len(read) < 20_100
    assert sum(1 for _ in stream) == 99_999 and len(scorer.asked) == 70
