"""Linking functions: against literal formulas, in runs, and from stored scores without a model."""

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from ngrams import train_ngram
from run_records import read_table, signature_of
from typer.testing import CliRunner

from tse_scorers import load_scorer, make_suite, run
from tse_scorers.cli.app import app
from tse_scorers.io.bundle import metric_modules
from tse_scorers.suites.minimal_pairs.ask.linking import Linking, linked_accuracies, load_unigrams, n_scored

linking = metric_modules("minimal_pair_accuracy").linking
TEXT = "The author laughs.\nThe author smiles.\nThe pilots laugh.\n"
SENTENCE = "Ünï is 走."
LITERAL = {
    "sum": -12.0,
    "mean_token": -12.0 / 5,
    "mean_char": -12.0 / 9,
    "mean_byte": -12.0 / 13,
    "mean_continuation": -7.0 / 2,
    "slln": -12.0 / math.sqrt(5),
    "slln:0.25": -12.0 / 5**0.25,
    "slor": (-12.0 + 20.0) / 5,
    "morcela": (-12.0 + 20.0) / 5,
    "morcela:0.5,3": (-12.0 + 0.5 * 20.0 + 3) / 5,
}


@pytest.fixture
def unigrams(tmp_path):
    return train_ngram(tmp_path, 1, TEXT.splitlines())


@pytest.fixture
def pairs(tmp_path):
    rows = [
        ("The author laughs.", "The author laugh."),
        ("The farmer near the pilots smiles.", "The pilots laughs."),
    ]
    frame = pd.DataFrame(rows, columns=["sentence_good", "sentence_bad"])
    path = tmp_path / "own.csv"
    frame.assign(UID=["a", "b"], linguistics_term="t", field="f").to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", LITERAL)
def test_each_function_is_its_formula(name):
    assert len(SENTENCE) == 9 and len(SENTENCE.encode()) == 13
    of = linking.SentenceStatistics(*(np.array([x]) for x in (-12.0, 5, 9, 13, -20.0, -7.0, 2)))
    assert linking.parse_linking(name)(of).tolist() == pytest.approx([LITERAL[name]], rel=1e-12)
    assert set(LITERAL) >= set(linking.LINKING_FUNCTIONS)


def test_names_are_read_and_written():
    for name in ("sum", "slln:0.5", "morcela:0.8,4"):
        assert str(linking.parse_linking(name)) == name
    with pytest.raises(ValueError, match=r"linking function 'product'; .*: sum, mean_token"):
        linking.parse_linking("product")
    with pytest.raises(ValueError, match=r"'slln:a'; .*1 number\. Write slln:0\.5"):
        linking.parse_linking("slln:a")
    with pytest.raises(ValueError, match=r"'sum:2'; .*no numbers\. Write sum\."):
        linking.parse_linking("sum:2")


def test_a_sentence_without_scored_tokens_has_no_score():
    of = linking.SentenceStatistics(*(np.array([x]) for x in (0.0, 0, 1, 1)))
    assert np.isnan(linking.parse_linking("mean_token")(of)).all()
    with pytest.raises(ValueError, match="slor needs the unigram log-probability"):
        linking.parse_linking("slor")(of)
    with pytest.raises(
        ValueError, match=r"mean_continuation .*\(continuation_logprob, n_continuation_tokens\)"
    ):
        linking.parse_linking("mean_continuation")(of)


@pytest.mark.parametrize(
    "name",
    ["slor:", "slor:beta=x", "slor:abc", "slor:1", "slln:", "slln:0.5,", "morcela:", "morcela:1", "sum:x"],
)
def test_what_follows_the_colon_is_numbers_or_refused(name, unigrams, pairs):
    """`slor:` and `slor:beta=x` were read as `slor`."""
    arguments = [
        "run",
        "--suite",
        "minimal_pairs",
        "--data",
        str(pairs),
        "--linking",
        name,
        "--unigram",
        str(unigrams),
    ]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code != 0
    assert f"Got the linking function {name!r}; {name.partition(':')[0]} takes" in str(done.exception)


@pytest.mark.parametrize("counts", ["the,5\nthe,7\n", "the,5\nthe,5\n"])
def test_a_word_that_is_counted_twice_is_refused(counts, tmp_path):
    """One table was summed; another reader would take the last row."""
    (tmp_path / "counts.csv").write_text(f"word,count\na,2\n{counts}")
    said = "counts the word 'the' several times, in rows 2, 3; expected each word once"
    with pytest.raises(ValueError, match=said):
        load_unigrams(tmp_path / "counts.csv")
    done = CliRunner().invoke(
        app, ["data", "linkings", str(tmp_path), "--unigram", str(tmp_path / "counts.csv")]
    )
    assert done.exit_code != 0 and said in str(done.exception)


CORPUS = "The author laughs.\nThe pilots laugh near the farmer.\nThe guards smile.\n" * 3


def literal_slor(scorer, counts, sentence):
    """(log P - log U) / T over the same tokens, with add-one unigrams."""
    ids = scorer.tokenizer(sentence, add_special_tokens=False)["input_ids"]
    tokens = scorer.tokenizer.convert_ids_to_tokens(ids)
    total = sum(counts.values()) + len(counts) + 1
    log_u = sum(math.log((counts.get(token, 0) + 1) / total) for token in tokens)
    (log_p,) = scorer.sentence_logprobs([sentence])
    return (log_p - log_u) / len(tokens)


@pytest.mark.parametrize("model", ["tiny-causal", "tiny-masked"])
@pytest.mark.parametrize("kind", ["text", "table"])
def test_unigrams_are_over_the_tokens_that_are_scored(model, kind, pairs, tmp_path):
    """SLOR divided the unigrams of words by the number of tokens; its authors' code has tokens in both places."""
    scorer = load_scorer(model)
    counts = Counter()
    for line in CORPUS.split("\n"):
        counts.update(scorer.tokenizer.tokenize(line))
    (tmp_path / "corpus.txt").write_text(CORPUS)
    table = pd.DataFrame({"token": list(counts), "count": list(counts.values())})
    table.to_csv(tmp_path / "counts.csv", index=False)
    given = tmp_path / ("corpus.txt" if kind == "text" else "counts.csv")
    out = tmp_path / "out"
    run(
        scorer,
        "minimal_pairs",
        out,
        report=False,
        data=str(pairs),
        methods=["full"],
        linking="slor",
        unigram=given,
    )
    scores, signature = read_table(out), signature_of(out)
    found = scores.to_pandas()
    for side in ("good", "bad"):
        expected = [literal_slor(scorer, counts, sentence) for sentence in found[f"sentence_{side}"]]
        np.testing.assert_allclose(found[f"score_{side}"], expected, rtol=0, atol=1e-5)
    assert signature["unigrams"]["unit"] == "token"
    # The stored log-probabilities of unigrams give SLOR and MORCELA without the model.
    stored = linked_accuracies(scores, signature)
    assert stored["slor"]["accuracy"] == found["correct"].mean() and "morcela:1,0" in stored
    with pytest.raises(ValueError, match=r"Unigrams of tokens .*model's tokenizer.*--unigram"):
        linked_accuracies(scores, signature, load_unigrams(given))


def test_unigrams_in_context_are_over_the_tokens_after_it(tmp_path):
    """The first token of a sentence has a space before it there, and is another token."""
    scorer = load_scorer("tiny-causal")
    (tmp_path / "corpus.txt").write_text(CORPUS)
    unigrams = load_unigrams(tmp_path / "corpus.txt")
    text, prefix = "The author laughs.", "The guards smile."
    whole, before = scorer.tokens([f"{prefix} {text}", prefix])
    after = unigrams.logprobs(scorer, [text], [prefix])
    both = unigrams.logprobs(scorer, [f"{prefix} {text}", prefix])
    assert whole[: len(before)] == before and after == pytest.approx(both[0] - both[1])


def test_counts_of_another_tokenizer_are_refused(pairs, tmp_path):
    (tmp_path / "counts.csv").write_text("token,count\n##augh,3\n[CLS],4\n")
    with pytest.raises(ValueError, match=r"tokens .*no count, .*'The'.*--unigram"):
        run(
            "tiny-causal", "minimal_pairs", tmp_path / "out", data=str(pairs), linking="slor",
            unigram=tmp_path / "counts.csv",
        )  # fmt: skip


def test_only_scored_tokens_count():
    assert n_scored([3, 0], {"first_token": "unscored"}).tolist() == [2, 0]
    assert n_scored([3], {"sentence_end": "scored"}).tolist() == [4]
    assert n_scored([3], {"first_token": "given the start token"}).tolist() == [3]


def test_unigrams_of_a_table_are_those_of_the_text(unigrams, tmp_path):
    words = "the author laughs . the author smiles . the pilots laugh .".replace("the", "The").split()
    counts = pd.Series(words).value_counts().rename_axis("word").reset_index(name="count")
    counts.to_csv(tmp_path / "counts.tsv", sep="\t", index=False)
    sentences = ["The author laughs.", "Ann laughs."]
    trained, given = (load_unigrams(path) for path in (unigrams, tmp_path / "counts.tsv"))
    np.testing.assert_allclose(given.of_words(sentences), trained.of_words(sentences))
    (tmp_path / "bad.csv").write_text("word,count\nthe,many\n")
    with pytest.raises(ValueError, match=r"many .*'count' .*row 1; .*whole number"):
        load_unigrams(tmp_path / "bad.csv")
    bigrams = train_ngram(tmp_path, 2, TEXT.splitlines())
    with pytest.raises(ValueError, match=r"2-gram\.json .*order 2; .*--order 1"):
        load_unigrams(bigrams)


def test_functions_and_unigrams_must_fit(unigrams):
    with pytest.raises(ValueError, match=r"slor .*no unigrams .*--unigram"):
        Linking("slor")
    with pytest.raises(ValueError, match=r"--unigram .*no effect .*function sum; .*--linking"):
        Linking("sum", load_unigrams(unigrams))
    with pytest.raises(ValueError, match=r"authors of BLiMP-NL .*slor.*--linking sum"):
        make_suite("minimal_pairs", data="blimp-nl")


@pytest.mark.parametrize("model", ["tiny-causal", "tiny-masked"])
def test_stored_scores_give_what_runs_give(pairs, unigrams, tmp_path, model):
    """All functions from one run without a model, against a run by each function."""
    run(model, "minimal_pairs", tmp_path / "sum", report=False, data=str(pairs))
    out = tmp_path / "sum"
    found = linked_accuracies(read_table(out), signature_of(out), load_unigrams(unigrams))
    assert list(found) == ["sum", "mean_token", "mean_char", "mean_byte", "slln:0.5", "slor", "morcela:1,0"]
    scorer = load_scorer(model)
    for name, values in found.items():
        given = unigrams if name.startswith(("slor", "morcela")) else None
        suite = make_suite("minimal_pairs", data=pairs, linking=name, unigram=given)
        tables = suite.score(scorer, lambda done, total: None)
        rows = {(row["method"], row["group"]): row["score"] for row in suite.aggregate(tables)}
        assert rows["full", "all"] == values["accuracy"]
    assert len({round(values["accuracy"], 6) for values in found.values()}) > 1  # they do differ


REST = {
    "The author laughs.": ("The author", "laughs.", "laugh."),
    "The farmer near the pilots smiles.": ("The", "farmer near the pilots smiles.", "pilots laughs."),
    "Some words are here.": ("", "Some words are here.", "Many words are here."),
    "It rains.": ("It", "rains.", "rains."),
}


def _their_means(model, scorer):
    minicons, tokenizer = pytest.importorskip("minicons.scorer"), scorer.tokenizer
    if model == "tiny-causal":
        theirs = minicons.IncrementalLMScorer(scorer.model, "cpu", tokenizer=tokenizer)
        return lambda start, rest: theirs.conditional_score([start], [rest], bos_token=True)[0]
    theirs = minicons.MaskedLMScorer(scorer.model, "cpu", tokenizer=tokenizer)

    def masked(start, rest):  # its conditional_score calls a method that transformers 5 has no more
        n_tokens = len(tokenizer.tokenize(rest))
        return theirs.sequence_score(
            tokenizer([f"{start} {rest}"], padding=True),
            reduction=lambda logprobs: logprobs[-n_tokens:].mean().item(),
            PLL_metric="within_word_l2r",
        )[0]

    return masked


@pytest.mark.parametrize("model", ["tiny-causal", "tiny-masked"])
def test_the_mean_over_a_continuation_is_that_of_its_authors_code(model, tmp_path):
    """Kryvosheieva & Levy call `partial_score` of minicons, now `conditional_score`; by default it is a mean."""
    pairs = [(f"{start} {good}".strip(), f"{start} {bad}".strip()) for start, good, bad in REST.values()]
    frame = pd.DataFrame(pairs, columns=["sentence_good", "sentence_bad"]).assign(
        UID="a", linguistics_term="t"
    )
    frame.assign(field="f").to_csv(tmp_path / "own.csv", index=False)
    scorer = load_scorer(model)
    suite = make_suite(
        "minimal_pairs", data=tmp_path / "own.csv", methods=["full"], linking="mean_continuation"
    )
    (table,) = suite.score(scorer, lambda done, total: None).values()
    found = table.to_pandas()
    theirs = _their_means(model, scorer)
    for side, place in (("good", 1), ("bad", 2)):
        expected = {number: theirs(row[0], row[place]) for number, row in enumerate(REST.values()) if row[0]}
        np.testing.assert_allclose(found[f"score_{side}"][list(expected)], list(expected.values()), atol=1e-4)
    whole = found["logprob_good"] / n_scored(found["n_tokens_good"], scorer.signature)
    assert found["score_good"][2] == pytest.approx(whole[2]), "no word is shared at the start"
    assert found["tie"].tolist() == [False, False, False, True]
    assert (found["correct"] == (found["score_good"] > found["score_bad"])).all()
    signature = suite.signature(scorer)
    of_run = linked_accuracies(table, signature)["mean_continuation"]
    assert (of_run["n"], of_run["accuracy"]) == (4, found["correct"].mean())


def test_continuations_are_refused_where_they_cannot_be_scored(pairs):
    class Sentences:
        name, signature = "sentences", {"model": "sentences", "revision": "1"}

        def sentence_logprobs(self, sentences, progress=None):
            raise AssertionError("the model was asked")

    with pytest.raises(ValueError, match="sentences only scores whole sentences"):
        make_suite("minimal_pairs", data=pairs, linking="mean_continuation").score(
            Sentences(), lambda done, total: None
        )
    with pytest.raises(ValueError, match="in context, whole sentences are compared"):
        make_suite(
            "minimal_pairs", data=pairs, context=["matched"], context_lengths="1", linking="mean_continuation"
        )
