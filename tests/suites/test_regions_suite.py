"""Suites of regions: formulas, tokens in regions, SyntaxGym's golden surprisals, results, refusals."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from ngrams import train_ngram
from run_records import read_results, table_path
from tiny import tiny_model
from typer.testing import CliRunner

import tse_scorers
from tse_scorers import Scorer, load_scorer
from tse_scorers.cli.app import app
from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.scorer import ScoredTokens
from tse_scorers.runs.comparing.compare import compare
from tse_scorers.suites.regions.averages import surprisal_rows
from tse_scorers.suites.regions.data import load
from tse_scorers.suites.regions.formulas import parse
from tse_scorers.suites.regions.scores import region_sums, score_regions

CONDITIONS = ("bare_near", "marked_near", "bare_far", "marked_far")
CRITERION = "attraction: [(2;%marked_near%) > (2;%bare_near%)] & [(verb;%marked_far%) > (verb;%bare_far%)]"


def write_design(path: Path, nouns=("author", "pilot", "guard")) -> Path:
    """A 2 x 2 design of a user: item, condition, region, text, and a column of their own."""
    rows = []
    for item, noun in enumerate(nouns):
        for condition in CONDITIONS:
            near = " near the senators" * condition.endswith("far")
            verb = "laugh." if condition.startswith("marked") else "laughs."
            rows.append((item, condition, "subject", f"The {noun}{near}", "a"))
            rows.append((item, condition, "verb", verb, "a"))
    frame = pd.DataFrame(rows, columns=["item", "condition", "region", "text", "list"])
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    return write_design(tmp_path_factory.mktemp("design") / "attraction.csv")


@pytest.fixture(scope="module")
def scorer() -> CausalScorer:
    return CausalScorer(*tiny_model("causal", "gpt2"), name="tiny", revision="1")


@pytest.fixture(scope="module")
def run(source, scorer, tmp_path_factory):
    """The folder of a run, its regions, and its results by metric and group."""
    out = tmp_path_factory.mktemp("run")
    tse_scorers.run(scorer, suite="regions", data=source, criteria=[CRITERION], out=out)
    regions = pd.read_parquet(table_path(out, "regions"))
    rows = {(row["metric"], row["group"]): row for row in read_results(out)["results"]}
    return out, regions, rows


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
    formula = parse(text)
    surprisals = values(formula)
    expected = FORMULAS[text](*surprisals.values())
    assert formula.holds(surprisals).tolist() == expected.tolist()
    assert 0 < expected.sum() < 50


def random_formula(rng, depth=0):
    """A formula, and its value read from left to right: surprisals -> bool, for `&` and `|` at one level."""
    parts = []
    for _ in range(rng.integers(1, 5)):
        if depth < 2 and rng.random() < 0.3:
            text, value = random_formula(rng, depth + 1)
            parts.append((f"[{text}]", value))
            continue
        regions = [str(number) for number in rng.integers(1, 6, 3)]
        signs, sign = rng.choice(["+", "-"], 1), rng.choice(["<", ">"])
        left = f"({regions[0]};%a%) {signs[0]} ({regions[1]};%a%)"

        def value(bits, regions=regions, plus=signs[0] == "+", less=sign == "<"):
            first, second, third = (bits[region, "a"] for region in regions)
            whole = first + second if plus else first - second
            return whole < third if less else whole > third

        parts.append((f"{left} {sign} ({regions[2]};%a%)", value))
    operators = rng.choice(["&", "|"], len(parts) - 1).tolist()
    text = parts[0][0] + "".join(
        f" {sign} {part}" for sign, (part, _) in zip(operators, parts[1:], strict=True)
    )

    def folded(bits):
        found = parts[0][1](bits)
        for sign, (_, part) in zip(operators, parts[1:], strict=True):
            found = (found and part(bits)) if sign == "&" else (found or part(bits))
        return found

    return text, folded


def test_and_and_or_are_read_from_left_to_right():
    """SyntaxGym has `&` and `|` at one level; `&` bound tighter here, so that 100 of 400 random formulas differed."""
    rng = np.random.default_rng(7)
    mixed = 0
    for _ in range(400):
        text, literal = random_formula(rng)
        bits = {(str(region), "a"): rng.integers(0, 5, 12).astype(float) for region in range(1, 6)}
        expected = [literal({name: column[row] for name, column in bits.items()}) for row in range(12)]
        assert parse(text).holds(bits).tolist() == expected, text
        mixed += "| " in text and "& " in text
    assert mixed > 100


def test_equal_sides_are_ties_of_a_strict_comparison_only():
    equal, apart = np.array([1.0, 1.0]), np.array([1.0, 2.0])
    strict, same = parse("(1;%a%) > (1;%b%)"), parse("(1;%a%) = (1;%b%)")
    found = {("1", "a"): equal, ("1", "b"): apart}
    assert strict.ties(found).tolist() == [True, False] and strict.holds(found).tolist() == [False, False]
    assert same.ties(found).tolist() == [False, False] and same.holds(found).tolist() == [True, False]
    assert parse("(1;%a%) = (1;%b%)").holds({("1", "a"): equal, ("1", "b"): equal + 9e-4}).all()
    # A comparison of two numbers has one value, not one per item.
    constants = parse("[(1;%a%) > (1;%b%)] & [2 > 1]")
    assert constants.ties(found).tolist() == [True, False] and constants.holds(found).tolist() == [
        False,
        False,
    ]
    assert parse("[(1;%a%) > (1;%b%)] | [2 > 2]").ties(found).tolist() == [True, True]


@pytest.mark.parametrize(
    "text, said",
    {
        "(1;%a%)": "is a number, not true or false",
        "(1;%a%) > (1;%b%) > 0": "has a side that is not of its kind",
        "(1;%a%) & (1;%b%)": "expected comparisons on both sides",
        "[(1;%a%) > 0": "']' is missing at the end",
        "(1;%a%) > ": "a region or a number is missing at the end",
        "__import__('os')": "'_' was not expected at character 1",
        "1 < 2": "names no region",
        " + ".join(["(1;%a%)"] * 300) + " > 0": "has 601 parts; expected at most 500",
        "[" * 99 + "(1;%a%) > 0" + "]" * 99: "more than 50 brackets",
        # Six thousand blanks took minutes, because the time grew with their cube.
        "(" + " " * 9_900 + "> 0": "'>' was not expected",
        "( ;%a%) > 0": "'( ;%a%)' was not expected",
        "(1;%a%) > " + " " * 10_000: "has 10,010 characters; expected at most 10,000",
        "(1;%a%) > " + "9" * 400: "a number of 400 digits is too large at character 11",
    }.items(),
)
def test_what_is_no_criterion_is_refused(text, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        parse(text)


# --- tokens and regions --------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_regions_sum_to_the_sentence_and_hold_their_own_tokens(family, source):
    """The plain way: each token's log-probability by itself, found in the text by decoding."""
    scorer = CausalScorer(*tiny_model("causal", family), name=family)
    scored = score_regions(scorer, load(source).regions)
    sentences = scored.groupby(["item", "condition"], sort=False)
    texts = [" ".join(own["text"]) for _, own in sentences]
    sums = sentences["logprob"].sum().to_numpy()
    np.testing.assert_allclose(sums, scorer.sentence_logprobs(texts), rtol=0, atol=1e-4)
    prefixes, verbs = (list(scored["text"][scored["region"] == name]) for name in ("subject", "verb"))
    expected = scorer.continuation_logprobs(prefixes, verbs)
    np.testing.assert_allclose(scored["logprob"][scored["region"] == "verb"], expected, rtol=0, atol=1e-4)
    assert scored["n_tokens"].to_numpy().min() >= 1 and scored["n_straddling"].sum() == 0


def literal_regions(scorer, parts):
    """Surprisals in bits, with tokens as syntaxgym-core assigns them: to the last region whose edge is not after them.

    The edge of a region is the space that joins it to the one before.
    """
    edges, place = [], 0
    for number, part in enumerate(parts):
        edges.append(place)
        place += len(part) + (number > 0 and part != "")
    text, sums, region = " ".join(filter(None, parts)), [0.0] * len(parts), 0
    encoded = scorer.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    (scored,) = scorer.token_logprobs([text])
    for (start, _), logprob in zip(encoded["offset_mapping"], scored.logprobs, strict=True):
        while region + 1 < len(edges) and start >= edges[region + 1]:
            region += 1
        sums[region] -= logprob / math.log(2)
    return sums


@pytest.mark.parametrize("name", ["numbers.csv", pytest.param("subordination", marks=pytest.mark.upstream)])
def test_a_space_that_is_a_token_counts_in_the_region_after_it(name, request, tmp_path):
    """Many tokenizers cut " 2" and " ." into two tokens; the space was counted in the region before (up to 16 bits)."""
    if name == "subordination":
        source = request.getfixturevalue("upstream") / "brain-score-syntaxgym" / "subordination_src-src.json"
    else:
        source = tmp_path / name
        texts = ["The author", "2", "pilots", "", ", who laugh", "."]
        pd.DataFrame({"item": 1, "condition": "a", "text": texts}).to_csv(source, index=False)
    scorer = load_scorer("tiny-causal")
    assert len(scorer.token_logprobs(["2 ."])[0].starts) == 3  # "2", " ", "."
    tse_scorers.run(scorer, suite="regions", data=source, out=tmp_path / "run", report=False)
    path = table_path(tmp_path / "run", "regions")
    found = pd.read_parquet(path)
    sentences = found.groupby(["item", "condition"], sort=False)["text"]
    expected = [bits for _, parts in sentences for bits in literal_regions(scorer, list(parts))]
    np.testing.assert_allclose(found["surprisal_bits"], expected, rtol=0, atol=1e-4)
    assert found["n_straddling"].sum() == 0


def test_a_token_belongs_to_the_region_in_which_it_begins():
    starts, ends = np.array([0, 4, 8, 17]), np.array([3, 7, 16, 17])
    tokens = ScoredTokens(starts, ends, np.array([-1.0, -2.0, -4.0, -8.0]))
    found = region_sums(["", "The cat", "sat", "", "down"], tokens)
    assert found.tolist() == [[0, 0, 0], [2, 0, -3], [1, 1, -4], [0, 0, 0], [1, 0, -8]]  # the end: last words


def test_an_ngram_model_scores_regions_by_words(tmp_path):
    bigram = load_scorer(train_ngram(tmp_path, 2, ["The author laughs.", "The pilot laughs."]))
    (tokens,) = bigram.token_logprobs(["The author laughs."])
    assert tokens.logprobs.sum() == pytest.approx(bigram.sentence_logprobs(["The author laughs."])[0])
    assert tokens.starts.tolist()[:3] == [0, 4, 11]


# --- SyntaxGym -----------------------------------------------------------------------------------------------


class GoldenScorer(Scorer):
    """Gives the surprisals of a file that SyntaxGym's own tools made (`data/test*/*surp_*.txt`)."""

    name, signature = "golden", {"model": "golden", "revision": "1", "kind": "causal"}

    def __init__(self, path: Path) -> None:
        frame = pd.read_csv(path, sep="\t")
        self._sentences = [own for _, own in frame.groupby("sentence_id")]

    def sentence_logprobs(self, sentences, progress=None):
        raise NotImplementedError

    def token_logprobs(self, sentences, progress=None):
        return [self._tokens(text, own) for text, own in zip(sentences, self._sentences, strict=True)]

    def _tokens(self, text, own):
        spans, place = [], 0
        for token in own["token"]:
            place += len(text[place:]) - len(text[place:].lstrip())
            length = {"<eos>": 0, "<unk>": len(text[place:].split(" ")[0])}.get(token, len(token))
            assert token in ("<eos>", "<unk>") or text[place:].startswith(token)
            spans.append((place, place + length))
            place += length
        starts, ends = np.array(spans).T
        return ScoredTokens(starts, ends, -own["surprisal"].to_numpy() * math.log(2))


@pytest.mark.upstream
@pytest.mark.parametrize("model", ["grnn", "transformer-xl"])
@pytest.mark.parametrize(
    "names",
    [
        ("test/test_in", "test/test_surp_{}", "test/test_out_{}"),
        ("test-unk/in", "test-unk/surp_{}", "test-unk/out_{}"),
    ],
    ids=["test", "test-unk"],
)
def test_surprisals_of_regions_are_those_of_syntaxgym(upstream, names, model):
    """`syntaxgym-core`: suite + surprisals of tokens -> surprisals of regions, published with the tool as its tests."""
    data = upstream / "syntaxgym-core" / "data"
    suite, surprisals, expected = (data / name.format(model) for name in names)
    design = load(suite.with_suffix(".json"))
    assert [each.formula.text for each in design.criteria] == ["(3;%that%) > (3;%what%)"]
    scored = score_regions(GoldenScorer(surprisals.with_suffix(".txt")), design.regions)
    found = {(row.item, row.condition, row.region_number): row.surprisal_bits for row in scored.itertuples()}
    golden = {
        (str(item["item_number"]), condition["condition_name"], region["region_number"]): region[
            "metric_value"
        ]["sum"]
        for item in json.loads(expected.with_suffix(".json").read_text())["items"]
        for condition in item["conditions"]
        for region in condition["regions"]
    }
    assert found == {key: pytest.approx(value, abs=1e-5) for key, value in golden.items()}
    assert len(golden) == 24
    # The published surprisals decide which items fulfil the criterion; so do ours.
    items = sorted({item for item, _, _ in golden})
    ours = {("3", name): np.array([found[item, name, 3] for item in items]) for name in ("that", "what")}
    published = [golden[item, "that", 3] > golden[item, "what", 3] for item in items]
    assert design.criteria[0].formula.holds(ours).tolist() == published


class GivenRegions(Scorer):
    """Gives each region of a table its surprisal, as if it were one token."""

    name, signature = "given", {"model": "given", "revision": "1", "kind": "causal"}

    def __init__(self, regions: pd.DataFrame, surprisals: pd.DataFrame) -> None:
        keys = regions.set_index(["item", "condition", "region_number"])["text"]
        found = surprisals.set_index(["item", "condition", "region"])["surprisal_bits"]
        assert keys.index.difference(found.index).empty and len(keys) == len(found)
        of_sentence = regions.assign(bits=found.reindex(keys.index).to_numpy()).groupby(["item", "condition"])
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
    """DistilGPT2's regions and accuracies, computed with syntaxgym-core, are in the tests of brain-score/language.

    `brainscore_language/benchmarks/syntaxgym/test.py`, REFERENCE_DISTILGPT2_REGION_TOTALS and _SCORES (MIT).
    """
    source = upstream / "brain-score-syntaxgym" / f"{suite}.json"
    surprisals = pd.read_csv(upstream.parent / "published" / "distilgpt2_syntaxgym_regions.csv")
    own = (
        surprisals[surprisals["suite"] == suite].rename(columns={"item_index": "item"}).astype({"item": str})
    )
    scorer = GivenRegions(load(source).regions, own)
    tse_scorers.run(scorer, suite="regions", data=source, out=tmp_path, report=False)
    rows = read_results(tmp_path)["results"]
    (accuracy,) = {row["score"] for row in rows if row["metric"] == "criterion_accuracy"}
    assert accuracy == pytest.approx(published, abs=5e-7)


@pytest.mark.upstream
def test_the_suites_of_2020_load_with_all_items_of_the_published_results(upstream):
    """JSON and CSV are the same suite; `sg_results` has one row per item."""
    folder = upstream / "syntactic-generalization"
    published = pd.read_csv(folder / "data/raw/sg_results/syntaxgym_results_gpt-2-pretrained_.csv")
    design = load(folder / "test_suites" / "json")
    items = design.regions.groupby("suite")["item"].nunique()
    assert items.to_dict() == published["suite"].value_counts().reindex(items.index).to_dict()
    assert len(design.criteria) == 6
    tables = load(folder / "test_suites" / "csv").regions
    columns = ["suite", "item", "condition", "region_number", "text"]
    ours, theirs = (
        frame[columns].sort_values(columns[:4]).reset_index(drop=True) for frame in (design.regions, tables)
    )
    pd.testing.assert_frame_equal(ours, theirs)


@pytest.mark.upstream
def test_criteria_of_2020_mean_what_python_makes_of_them(upstream):
    """The authors evaluated them by `eval`, with round brackets and `==`; on whole numbers both agree."""
    for criterion in load(upstream / "syntactic-generalization/test_suites/json").criteria:
        surprisals = values(criterion.formula)
        literal = criterion.formula.text.replace("[", "(").replace("]", ")").replace("=", "==")
        literal = re.sub(r"\(\s*(\d+);%([\w-]+)%\s*\)", r"v['\1', '\2']", literal)
        rows = [{name: column[row] for name, column in surprisals.items()} for row in range(50)]
        expected = [bool(eval(literal, {"v": row})) for row in rows]
        assert criterion.formula.holds(surprisals).tolist() == expected


# --- a run ---------------------------------------------------------------------------------------------------


def test_a_table_comes_out_with_one_row_per_item_condition_and_region(run):
    _, regions, _ = run
    assert len(regions) == 3 * 4 * 2
    assert not regions.duplicated(["item", "condition", "region_number"]).any()
    assert (regions["list"] == "a").all()
    np.testing.assert_allclose(regions["surprisal_bits"], -regions["logprob"] / math.log(2))


def test_means_criteria_and_the_interaction_equal_a_plain_computation(run):
    _, regions, rows = run
    wide = regions[regions["region"] == "verb"].pivot(
        index="item", columns="condition", values="surprisal_bits"
    )
    bare, marked = ("bare_near", "bare_far"), ("marked_near", "marked_far")
    right = (wide[marked[0]] > wide[bare[0]]) & (wide[marked[1]] > wide[bare[1]])
    assert rows["criterion_accuracy", "criterion:attraction/attraction"]["score"] == pytest.approx(
        right.mean()
    )
    mean = rows["region_surprisal", "region:attraction/bare_far/2 verb"]
    assert mean["score"] == pytest.approx(wide["bare_far"].mean()) and mean["n_units"] == 3
    effect = (wide["bare_near"] - wide["bare_far"]) - (wide["marked_near"] - wide["marked_far"])
    found = rows["region_interaction", "interaction:attraction/2 verb"]
    margin = 4.302653 * effect.std() / math.sqrt(3)  # t(0.975, 2)
    assert found["score"] == pytest.approx(effect.mean())
    assert (found["ci_low"], found["ci_high"]) == pytest.approx(
        (effect.mean() - margin, effect.mean() + margin)
    )
    assert mean["unit"] == rows["criterion_accuracy", "all"]["unit"] == "items"  # of one suite
    before = rows["region_interaction", "interaction:attraction/1 subject"]
    assert before["score"] == pytest.approx(0, abs=1e-4)


def test_the_report_shows_criteria_regions_and_interactions(run):
    out, _, _ = run
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Is the model surprised at the words" in page and "tokens across two regions" in page
    assert "attraction: mean surprisal of each region by condition" in page
    tables = pd.read_csv(out / "tables.csv")
    assert tables.loc[tables["table"] == "regions_criteria", "label"].tolist() == [
        "Overall"
    ]  # of one criterion
    assert "regions_interactions" in set(tables["table"])


def test_a_comparison_has_the_criteria(run, source, tmp_path):
    other = CausalScorer(*tiny_model("causal", "llama"), name="other", revision="1")
    tse_scorers.run(other, suite="regions", data=source, criteria=[CRITERION], out=tmp_path, report=False)
    rows = compare([run[0], tmp_path]).rows
    (row,) = rows[rows["group"] == "all"].to_dict("records")
    assert (row["measure"], row["n_items"]) == ("criteria", 3)


# --- refusals ------------------------------------------------------------------------------------------------


def refused(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["run", "--suite", "regions", *map(str, arguments)])
    assert done.exit_code != 0
    return str(done.exception)


def test_a_masked_model_is_refused(source):
    said = refused("--data", source, "--model", "tiny-masked", "--device", "cpu")
    assert "tiny-masked has no surprisals: a masked model sees the words after a region" in said


@pytest.mark.parametrize(
    "criterion, said",
    {
        "(2;%bare%) > (2;%marked_near%)": "names the condition 'bare'; its conditions are 'bare_near'",
        "(7;%bare_near%) > 0": "needs region 7 in condition 'bare_near'; item 0 does not have it",
    }.items(),
)
def test_a_criterion_that_does_not_fit_is_refused_before_a_model_is_loaded(source, criterion, said):
    assert said in refused("--data", source, "--criteria", criterion, "--model", "there/is-none")


def test_data_that_cannot_be_used_is_refused(tmp_path):
    assert "has no default data" in refused()
    (tmp_path / "bad.json").write_text('{"meta": {}, "items": []}')
    assert "is not a SyntaxGym suite ('predictions'); expected" in refused("--data", tmp_path / "bad.json")
    frame = pd.read_csv(write_design(tmp_path / "design.csv")).assign(region_number=1)
    frame.to_csv(tmp_path / "twice.csv", index=False)
    assert "has region 1 twice in item 0, condition bare_near" in refused("--data", tmp_path / "twice.csv")
    mixed = frame.drop(columns="region_number").iloc[[0, 2, 1, 3]]
    mixed.to_csv(tmp_path / "mixed.csv", index=False)
    assert "goes back to item 0, condition bare_near in row 3" in refused("--data", tmp_path / "mixed.csv")
    frame.assign(surprisal_bits=0).to_csv(tmp_path / "taken.csv", index=False)
    assert "surprisal_bits" in refused("--data", tmp_path / "taken.csv")


def test_an_infinite_surprisal_makes_the_mean_infinite(run):
    """A text of probability 0 is not left out of the mean: its score is null in results, and says why."""
    _, regions, _ = run
    verbs = regions["region"] == "verb"
    first = verbs & (regions["condition"] == "bare_far") & (regions["item"] == regions["item"].iloc[0])
    assert first.sum() == 1
    certain = regions.assign(surprisal_bits=regions["surprisal_bits"].mask(first, math.inf))
    rows = {(row["metric"], row["group"]): row for row in surprisal_rows("attraction", certain)}
    mean = rows["region_surprisal", "region:attraction/bare_far/2 verb"]
    assert (mean["score"], mean["n"], mean["n_excluded"], mean["n_infinite"]) == (math.inf, 3, 0, 1)
    assert math.isnan(mean["se"]) and math.isnan(mean["ci_low"])
    other = rows["region_surprisal", "region:attraction/bare_near/2 verb"]
    assert math.isfinite(other["score"]) and other["n_infinite"] == 0
    assert rows["region_interaction", "interaction:attraction/2 verb"]["score"] == -math.inf


@pytest.mark.parametrize(
    "content", ["[" * 20_000 + "]" * 20_000, '{"x": ' * 200 + "1" + "}" * 200, r'{"x": "\ud800"}']
)
def test_a_file_that_is_nested_too_deeply_or_has_half_a_character_is_refused(tmp_path, content):
    (tmp_path / "suite.json").write_text(content)
    with pytest.raises(ValueError, match=r"nested|half of a character"):
        load(tmp_path / "suite.json")
