"""Suites of regions: formulas, tokens in regions, SyntaxGym's golden surprisals, results, refusals."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tiny import tiny_model

from tse_scorers import Scorer, load_scorer, run
from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.ngram import count_words
from tse_scorers.models.scorer import ScoredTokens
from tse_scorers.suites import suite_of
from tse_scorers.suites.formulas import Formula
from tse_scorers.suites.regions import Regions, interactions, region_sums, score_regions

CONDITIONS = ("bare_near", "marked_near", "bare_far", "marked_far")
SENTENCES = [{"condition_name": "a", "regions": [{"region_number": 1, "content": "The author laughs."}]}]
CRITERION = "attraction: [(2;%marked_near%) > (2;%bare_near%)] & [(verb;%marked_far%) > (verb;%bare_far%)]"


def design(nouns=("author", "pilot", "guard")) -> pd.DataFrame:
    """A 2 x 2 design of a user: item, condition, region, text, and a column of their own."""
    rows = []
    for item, noun in enumerate(nouns):
        for condition in CONDITIONS:
            near = " near the senators" * condition.endswith("far")
            verb = "laugh." if condition.startswith("marked") else "laughs."
            rows += [(item, condition, "subject", f"The {noun}{near}"), (item, condition, "verb", verb)]
    frame = pd.DataFrame(rows, columns=["item", "condition", "region", "text"])
    return frame.assign(length=np.where(frame["item"] < 2, "short", "long"))


def syntaxgym(path: Path, **changes) -> Path:
    """A suite of SyntaxGym with one item."""
    suite = {
        "meta": {"name": "own", "metric": "sum"},
        "region_meta": {"1": "whole"},
        "predictions": [{"type": "formula", "formula": "(1;%a%) > 0"}],
        "items": [{"item_number": 1, "conditions": SENTENCES}],
    }
    path.write_text(json.dumps(suite | changes))
    return path


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("design") / "attraction.csv"
    design().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def scored(source, tmp_path_factory):
    """The results of a run, by measure and value, and its regions."""
    scorer = CausalScorer(*tiny_model("causal", "gpt2"), name="tiny", revision="1")
    results = run(
        scorer, Regions(data=source, criteria=[CRITERION]), tmp_path_factory.mktemp("run"), report=False
    )
    rows = {(row["measure"], row["value"]): row for row in results.frame.to_dict("records")}
    return results, rows, results.items(table="regions")


# --- formulas ------------------------------------------------------------------------------------------------


def values(formula, seed=0, n=50):
    rng = np.random.default_rng(seed)
    return {reference: rng.integers(0, 4, n).astype(float) for reference in formula.references}


FORMULAS = {
    "(6;%a%) - (5;%a%) + (4;%a%) > 0.5": lambda six, five, four: (six - five) + four > 0.5,
    "(1;%a%) < (2;%b-c_d%) & (1;%a%) > (3;%a%) | (2;%b-c_d%) = (3;%a%)": lambda one, two, three: (
        ((one < two) & (one > three)) | (two == three)
    ),
    "(1;%a%) < (2;%a%) | (1;%a%) > (3;%a%) & (2;%a%) = (3;%a%)": lambda one, two, three: (
        ((one < two) | (one > three)) & (two == three)
    ),
    "[[(1;%a%) - (1;%b%)] > [(1;%c%) - (1;%d%)]] & ([(1;%a%) > (1;%b%)])": lambda a, b, c, d: (
        (a - b > c - d) & (a > b)
    ),
    "(*;%a%) > ( the verb ; %b% )": lambda whole, verb: whole > verb,
}


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_means_what_it_says(text):
    """Operators of one level group from the left, as in SyntaxGym: Python's `and` binds tighter than its `or`."""
    formula = Formula(text)
    surprisals = values(formula)
    expected = FORMULAS[text](*surprisals.values())
    assert formula.evaluate(surprisals)[0].tolist() == expected.tolist()
    assert 0 < expected.sum() < 50


def test_equal_sides_are_ties_of_a_strict_comparison_only():
    equal, apart = np.array([1.0, 1.0]), np.array([1.0, 2.0])
    found = {("1", "a"): equal, ("1", "b"): apart}
    answers = {text: [of.tolist() for of in Formula(text).evaluate(found)] for text in (
        "(1;%a%) > (1;%b%)", "(1;%a%) = (1;%b%)", "[(1;%a%) > (1;%b%)] & [2 > 1]", "[(1;%a%) > (1;%b%)] | [2 > 2]",
    )}  # fmt: skip
    assert [*answers.values()] == [
        [[False, False], [True, False]], [[True, False], [False, False]],
        [[False, False], [True, False]], [[False, False], [True, True]],
    ]  # fmt: skip
    assert Formula("(1;%a%) = (1;%b%)").evaluate({("1", "a"): equal, ("1", "b"): equal + 9e-4})[0].all()


@pytest.mark.parametrize(
    "text, said",
    {
        "(1;%a%)": "is a number, not true or false",
        "(1;%a%) > (1;%b%) > 0": "have to be surprisals or numbers",
        "(1;%a%) & (1;%b%)": "have to be comparisons",
        "[(1;%a%) > 0": "']' is missing",
        "(1;%a%) > ": "is missing at the end",
        "__import__('os')": "'_' was not expected",
        "1 < 2": "names no region",
        "(" + " " * 9_900 + "> 0": "'>' was not expected",
    }.items(),
)
def test_what_is_no_criterion_is_refused(text, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        Formula(text)


# --- tokens and regions --------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_regions_sum_to_the_sentence_and_hold_their_own_tokens(family, source):
    scorer = CausalScorer(*tiny_model("causal", family), name=family)
    scored = score_regions(scorer, Regions(data=source).items)
    sentences = scored.groupby(["item", "condition"], sort=False)
    texts = [" ".join(own["text"]) for _, own in sentences]
    np.testing.assert_allclose(sentences["logprob"].sum(), scorer.sentence_logprobs(texts), rtol=0, atol=1e-4)
    prefixes, verbs = (list(scored["text"][scored["region"] == name]) for name in ("subject", "verb"))
    expected = scorer.continuation_logprobs(prefixes, verbs)
    np.testing.assert_allclose(scored["logprob"][scored["region"] == "verb"], expected, rtol=0, atol=1e-4)
    assert scored["n_tokens"].min() >= 1


def test_a_space_that_is_a_token_counts_in_the_region_after_it():
    """Many tokenizers cut " 2" into two tokens; tokens are assigned as in syntaxgym-core."""
    scorer = load_scorer("tiny-causal")
    assert len(scorer.token_logprobs(["2 ."])[0].starts) == 3  # "2", " ", "."
    parts = ["The author", "2", "pilots", "", ", who laugh", "."]
    found = score_regions(
        scorer, Regions(data=[{"item": 1, "condition": "a", "text": part} for part in parts]).items
    )
    # Each after the space before it.
    edges = np.cumsum([0, *(len(part) + (part != "") for part in parts)])[:-1] - 1
    (tokens,) = scorer.token_logprobs([" ".join(filter(None, parts))])
    owner = [max(n for n, part in enumerate(parts) if part and edges[n] <= start) for start in tokens.starts]
    sums = np.bincount(owner, -tokens.logprobs / math.log(2), len(parts))
    np.testing.assert_allclose(found["surprisal_bits"], sums, rtol=0, atol=1e-4)


def test_a_token_belongs_to_the_region_in_which_it_begins():
    starts, ends = np.array([0, 4, 8, 17]), np.array([3, 7, 16, 17])
    tokens = ScoredTokens(starts, ends, np.array([-1.0, -2.0, -4.0, -8.0]))
    found = region_sums(["", "The cat", "sat", "", "down"], tokens)
    assert found.tolist() == [[0, 0], [2, -3], [1, -4], [0, 0], [1, -8]]  # the end: last words


@pytest.mark.parametrize("kind", ["lstm", "ngram"])
def test_lstms_and_ngrams_score_regions_and_each_sentence_once(kind):
    lines = ["The author laughs.", "The pilot laughs."]
    scorer = load_scorer("tiny-lstm") if kind == "lstm" else count_words(lines, 2)
    asked, plain = [], type(scorer).token_logprobs
    scorer.token_logprobs = lambda texts, progress=None: asked.extend(texts) or plain(scorer, texts)
    twice = pd.concat([design(), design().assign(item=lambda frame: frame["item"] + 3)])
    regions = Regions(data=twice).ask(scorer, Regions(data=twice).items)["regions"]
    assert len(regions) == 48 and len(asked) == len(set(asked)) == 12
    assert np.isfinite(regions["surprisal_bits"]).all()


# --- SyntaxGym -----------------------------------------------------------------------------------------------


class Golden(Scorer):
    """Gives the surprisals of a file that SyntaxGym's own tools made (`data/test*/*surp_*.txt`)."""

    name, signature = "golden", {"model": "golden", "revision": "1", "kind": "causal"}

    def __init__(self, path: Path) -> None:
        self._sentences = [own for _, own in pd.read_csv(path, sep="\t").groupby("sentence_id")]

    def sentence_logprobs(self, sentences, progress=None):
        raise NotImplementedError

    def token_logprobs(self, sentences, progress=None):
        return [self._tokens(text, own) for text, own in zip(sentences, self._sentences, strict=True)]

    def _tokens(self, text, own):
        spans, place = [], 0
        for token in own["token"]:
            place += len(text[place:]) - len(text[place:].lstrip())
            length = {"<eos>": 0, "<unk>": len(text[place:].split(" ")[0])}.get(token, len(token))
            spans.append((place, place + length))
            place += length
        return ScoredTokens(*np.array(spans).T, -own["surprisal"].to_numpy() * math.log(2))


@pytest.mark.upstream
@pytest.mark.parametrize("model", ["grnn", "transformer-xl"])
@pytest.mark.parametrize(
    "names",
    ["test/test_in test/test_surp_{} test/test_out_{}", "test-unk/in test-unk/surp_{} test-unk/out_{}"],
)
def test_surprisals_of_regions_are_those_of_syntaxgym(upstream, names, model):
    """`syntaxgym-core`: suite + surprisals of tokens -> surprisals of regions, published with the tool as its tests."""
    suite, surprisals, expected = (
        upstream / "syntaxgym-core/data" / name.format(model) for name in names.split()
    )
    regions = Regions(data=suite.with_suffix(".json"))
    assert regions.asked()["criteria"][0].endswith("/1: (3;%that%) > (3;%what%)")
    tables = regions.ask(Golden(surprisals.with_suffix(".txt")), regions.items)
    found = {
        (row.item, row.condition, row.region_number): row.surprisal_bits
        for row in tables["regions"].itertuples()
    }
    golden = {
        (str(item["item_number"]), condition["condition_name"], region["region_number"]): region["metric_value"]["sum"]
        for item in json.loads(expected.with_suffix(".json").read_text())["items"]
        for condition in item["conditions"] for region in condition["regions"]
    }  # fmt: skip
    assert (
        found == {key: pytest.approx(value, abs=1e-5) for key, value in golden.items()} and len(golden) == 24
    )
    right = [golden[item, "that", 3] > golden[item, "what", 3] for item in tables["criteria"]["item"]]
    assert tables["criteria"]["correct"].tolist() == right


class Given(Scorer):
    """Gives each region of a table its surprisal, as if it were one token."""

    name, signature = "given", {"model": "given", "revision": "1", "kind": "causal"}

    def __init__(self, regions: pd.DataFrame, surprisals: pd.DataFrame) -> None:
        keys = regions.set_index(["item", "condition", "region_number"])["text"]
        bits = (
            surprisals.set_index(["item", "condition", "region"])["surprisal_bits"]
            .reindex(keys.index)
            .to_numpy()
        )
        of_sentence = regions.assign(bits=bits).groupby(["item", "condition"])
        self._sentences = {" ".join(own["text"]): own for _, own in of_sentence}

    def sentence_logprobs(self, sentences, progress=None):
        raise NotImplementedError

    def token_logprobs(self, sentences, progress=None):
        return [self._tokens(self._sentences[sentence]) for sentence in sentences]

    def _tokens(self, own):
        lengths = own["text"].str.len().to_numpy()
        starts = np.cumsum(lengths + 1) - lengths - 1
        return ScoredTokens(starts, starts + lengths, -own["bits"].to_numpy() * math.log(2))


@pytest.mark.upstream
@pytest.mark.parametrize("suite, published", [("subordination_src-src", 0.565217), ("number_prep", 0.578947)])
def test_published_surprisals_of_distilgpt2_give_the_published_accuracies(
    upstream, tmp_path, suite, published
):
    """DistilGPT2's regions and accuracies, by syntaxgym-core, are in the tests of brain-score/language (MIT)."""
    regions = Regions(data=upstream / "brain-score-syntaxgym" / f"{suite}.json")
    bits = pd.read_csv(upstream.parent / "published" / "distilgpt2_syntaxgym_regions.csv")
    own = bits[bits["suite"] == suite].rename(columns={"item_index": "item"}).astype({"item": str})
    frame = run(Given(regions.items, own), regions, tmp_path, report=False).frame
    (accuracy,) = set(frame.loc[frame["measure"] == "criterion_accuracy", "score"])
    assert accuracy == pytest.approx(published, abs=5e-7)


@pytest.mark.upstream
def test_the_suites_of_2020_are_complete_and_mean_what_their_authors_made_of_them(upstream):
    """JSON and CSV are the same; the authors evaluated criteria by `eval`, with round brackets and `==`."""
    folder = upstream / "syntactic-generalization"
    published = pd.read_csv(folder / "data/raw/sg_results/syntaxgym_results_gpt-2-pretrained_.csv")
    suites = [Regions(data=folder / "test_suites" / kind) for kind in ("json", "csv")]
    items = suites[0].items.groupby("suite")["item"].nunique()
    assert items.to_dict() == published["suite"].value_counts().reindex(items.index).to_dict()
    columns = ["suite", "item", "condition", "region_number", "region", "text"]
    pd.testing.assert_frame_equal(*(suite.items[columns] for suite in suites))
    formulas = [formula for part in suites[0].parts for formula in part.formulas.values()]
    assert len(formulas) == 6
    for formula in formulas:
        surprisals = values(formula)
        literal = formula.text.replace("[", "(").replace("]", ")").replace("=", "==")
        literal = re.sub(r"\(\s*(\d+);%([\w-]+)%\s*\)", r"v['\1', '\2']", literal)
        rows = [{name: column[row] for name, column in surprisals.items()} for row in range(50)]
        assert formula.evaluate(surprisals)[0].tolist() == [bool(eval(literal, {"v": row})) for row in rows]


# --- a run ---------------------------------------------------------------------------------------------------


def test_means_criteria_and_the_interaction_equal_a_plain_computation(scored):
    results, rows, regions = scored
    assert len(regions) == 3 * 4 * 2 and not regions.duplicated(["item", "condition", "region_number"]).any()
    wide = regions[regions["region"] == "verb"].pivot(
        index="item", columns="condition", values="surprisal_bits"
    )
    right = (wide["marked_near"] > wide["bare_near"]) & (wide["marked_far"] > wide["bare_far"])
    assert rows["criterion_accuracy", "attraction/attraction"]["score"] == pytest.approx(right.mean())
    mean = rows["region_surprisal", "attraction/bare_far/2 verb"]
    assert mean["score"] == pytest.approx(wide["bare_far"].mean()) and mean["n_units"] == 3
    assert mean["unit"] == rows["criterion_accuracy", ""]["unit"] == "items"  # of one suite
    effect = (wide["bare_near"] - wide["bare_far"]) - (wide["marked_near"] - wide["marked_far"])
    found, margin = rows["region_interaction", "attraction/2 verb"], 4.302653 * effect.std() / math.sqrt(3)
    assert found["score"] == pytest.approx(effect.mean())  # t(0.975, 2)
    assert (found["ci_low"], found["ci_high"]) == pytest.approx(
        (effect.mean() - margin, effect.mean() + margin)
    )
    assert rows["region_interaction", "attraction/1 subject"]["score"] == pytest.approx(0, abs=1e-4)
    assert {level for _, level in rows} >= {"attraction"} and results.records[0].facts["levels"] == ["length"]
    assert {row["value"] for row in rows.values() if row["level"] == "length"} == {"short", "long"}


def test_several_suites_count_the_same_and_are_chosen_by_name_and_limit(tmp_path):
    syntaxgym(tmp_path / "own.json")
    design().to_csv(tmp_path / "design.csv", index=False)
    regions = Regions(data=tmp_path)
    assert regions.items["suite"].unique().tolist() == ["design", "own"]
    assert set(Regions(data=tmp_path, groups=["own"]).items["suite"]) == {"own"}
    limited = Regions(data=tmp_path, limit=2).items
    assert limited.groupby("suite")["item"].nunique().to_dict() == {"design": 2, "own": 1}
    assert set(limited.loc[limited["suite"] == "design", "stands_for"]) == {1.5}
    criteria = pd.DataFrame(
        {"suite": ["a", "a", "a", "b"], "item": ["1", "2", "3", "1"], "correct": [1.0, 1, 0, 0]}
    )
    criteria["criterion"] = criteria["suite"] + "/1"
    rows = {row["value"]: row for row in Regions.rows({"criteria": criteria})}
    assert rows[""]["score"] == pytest.approx(1 / 3) and rows[""]["unit"] == "items"


def test_an_infinite_surprisal_leaves_no_mean_and_is_counted(scored):
    """A text of probability 0 is not left out of the mean."""
    regions = scored[2].drop(columns="suite").rename(columns={"item_suite": "suite"})
    first = regions.eval("region == 'verb' and condition == 'bare_far'") & (
        regions["item"] == regions["item"][0]
    )
    certain = regions.assign(surprisal_bits=regions["surprisal_bits"].mask(first, math.inf))
    rows = {(row["measure"], row["value"]): row for row in Regions.rows({"regions": certain})}
    mean = rows["region_surprisal", "attraction/bare_far/2 verb"]
    assert (mean["n"], mean["n_excluded"]) == (2, 1)
    assert math.isnan(mean["score"]) and math.isnan(mean["ci_low"])
    assert math.isfinite(rows["region_surprisal", "attraction/bare_near/2 verb"]["score"])
    assert np.isinf(interactions(certain)["bits"]).sum() == 1


def test_a_region_without_a_number_leaves_its_criteria_undecided():
    """Without a start token the first token has no score, and what is summed with it has none either."""
    scorer = CausalScorer(*tiny_model("causal", "gpt2"), start_token="none")
    criteria = [f"{of}: ({of};%marked_near%) > ({of};%bare_near%)" for of in ("subject", "*", "verb")]
    regions = Regions(data=design(), criteria=criteria)
    found = regions.ask(scorer, regions.items)["criteria"]
    decided = found["correct"].notna().groupby(found["criterion"].str.rpartition("/")[2]).sum()
    assert decided.to_dict() == {"subject": 0, "*": 0, "verb": 3}


# --- data and refusals ---------------------------------------------------------------------------------------


def test_columns_and_keys_choose_the_suite(source, tmp_path):
    assert suite_of(str(source)) is suite_of(syntaxgym(tmp_path / "own.json")) is Regions
    names = {"item": "item_number", "condition": "condition_name", "region": "region_name", "text": "content"}
    renamed = design().rename(columns=names)
    assert suite_of(renamed) is Regions
    assert Regions(data=renamed).items["text"].tolist() == Regions(data=source).items["text"].tolist()


def refused(said, data, **options):
    with pytest.raises(ValueError, match=said):
        _ = Regions(data=data, **options).items


def test_a_masked_model_is_refused(source, tmp_path):
    with pytest.raises(
        ValueError, match="tiny-masked has no surprisals, for which a model must read from left"
    ):
        run("tiny-masked", Regions(data=source), tmp_path, report=False)


def test_what_does_not_fit_is_refused_before_a_model_is_loaded(source, tmp_path):
    refused("has no data of its own", None)
    refused(r"0 regions 2 in condition 'bare'.*Conditions are bare_near", source, criteria=["(2;%bare%) > 0"])
    refused("item 0 of attraction has 0 regions 7", source, criteria=["(7;%bare_near%) > 0"])
    refused("Two criteria are called 'a'", source, criteria=["a: (2;%bare_near%) > 0"] * 2)
    refused(
        "1 .*in column 'region_number' of row 2; expected each number once", design().assign(region_number=1)
    )
    refused("the regions of a sentence one after the other", design().iloc[[0, 2, 1, 3]])
    refused("in column 'region_number' of row 1; expected a whole number", design().assign(region_number=1.5))
    refused("lacks the columns? .*text", design().drop(columns="text"))
    design().to_csv(tmp_path / "a.csv", index=False)
    syntaxgym(tmp_path / "b.json")
    refused("suites a, own; expected one", tmp_path, criteria=["(1;%a%) > 0"])
    syntaxgym(tmp_path / "c.json")
    refused("suites a, own, own; expected each name once", tmp_path)


@pytest.mark.parametrize(
    "change, said",
    [
        ({"region_meta": None}, "NoneType"),
        ({"items": [{"conditions": SENTENCES}]}, "it lacks 'item_number'"),
        ({"meta": {"metric": "mean"}}, "its metric is not"),
    ],
)
def test_what_is_no_suite_of_syntaxgym_is_refused_with_its_path(change, said, tmp_path):
    refused(f"own.json is not a suite of SyntaxGym.*{said}", syntaxgym(tmp_path / "own.json", **change))


@pytest.mark.parametrize(
    "content", ["[" * 20_000 + "]" * 20_000, '{"x": ' * 200 + "1" + "}" * 200, "{", '{"x": 0' + "0" * 5000]
)
def test_a_file_that_is_nested_too_deeply_or_no_json_is_refused(tmp_path, content):
    (tmp_path / "suite.json").write_text(content)
    refused("is not a suite of SyntaxGym", tmp_path / "suite.json")


@pytest.mark.slow
@pytest.mark.upstream
@pytest.mark.real
def test_a_real_model_stumbles_over_the_garden_path(upstream, smollm2, tmp_path):
    """A missing comma costs more at the verb where the first verb has no object."""
    source = upstream / "syntactic-generalization/test_suites/json/npz_obj.json"
    frame = run(str(smollm2), Regions(data=source), tmp_path, report=False, device="cpu").frame.set_index(
        "value"
    )
    assert frame.loc["npz_obj/5 Verb", "score"] == pytest.approx(7.90, abs=0.05)
    assert frame.loc["npz_obj/1", "score"] == pytest.approx(22 / 24)
    assert frame.loc["npz_obj/1 Start", "score"] == pytest.approx(0, abs=1e-6)
