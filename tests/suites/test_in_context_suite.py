"""Minimal pairs in context: equal to naive concatenation, at the cost of contexts and suffixes, and refused in time."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from plain_loop import causal_sum, float64_model
from run_records import table_path
from tiny import tiny_model
from typer.testing import CliRunner

import tse_scorers
from tse_scorers import make_suite
from tse_scorers.cli.app import app
from tse_scorers.io.results import read_results
from tse_scorers.models.causal import CausalScorer
from tse_scorers.report.inputs import read_runs
from tse_scorers.report.summary import headlines
from tse_scorers.runs.comparing.compare import compare
from tse_scorers.runs.merge import merge
from tse_scorers.runs.run import Run
from tse_scorers.suites.minimal_pairs.data.contexts import PARTS
from tse_scorers.suites.minimal_pairs.measures import IN_CONTEXT
from tse_scorers.suites.minimal_pairs.suite import MinimalPairSuite
from tse_scorers.suites.registry import all_measures

TEMPLATE = "The author knows that {sentence}"
NOUNS = ["author", "pilot", "guard", "movie"]


def write_pairs(path: Path, n: int = 12) -> Path:
    """Two paradigms of two phenomena."""
    rows = []
    for uid, begin in (("simple", "The {}"), ("across", "The {} near the senators")):
        for number in range(n):
            start = begin.format(["", "old ", "young ", "tall "][number // 4 % 4] + NOUNS[number % 4])
            verb = ["laugh", "swim", "know"][number // 4 % 3]
            rows.append(
                {"UID": uid, "linguistics_term": f"of_{uid}", "field": "syntax", "pairID": number}
                | {"sentence_good": f"{start} {verb}s.", "sentence_bad": f"{start} {verb}."}
            )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    return write_pairs(tmp_path_factory.mktemp("pairs") / "pairs.jsonl")


@pytest.fixture(scope="module")
def scorer() -> CausalScorer:
    model, tokenizer = float64_model("causal", "llama"), tiny_model("causal", "llama")[1]
    return CausalScorer(model, tokenizer, name="tiny", revision="1", share_prefixes=True)


@pytest.fixture(scope="module")
def run(source, scorer, tmp_path_factory):
    """The folder of a run and its scores."""
    out = tmp_path_factory.mktemp("run")
    tse_scorers.run(scorer, suite="minimal_pairs", data=source, context_lengths="1,3", template=[TEMPLATE], limit=8,
             context=["matched", "ungrammatical", "mismatched"], out=out)  # fmt: skip
    return out, pd.read_parquet(table_path(out, IN_CONTEXT))


def test_ones_own_clusters_are_the_units_in_context_too(source, scorer, tmp_path):
    """In context, the units were critical words even where the user's table named others."""
    pairs = pd.read_json(source, lines=True).assign(cluster=lambda rows: rows["pairID"] % 4)
    pairs.to_json(tmp_path / "own.jsonl", orient="records", lines=True)
    options = {
        "suite": "minimal_pairs",
        "data": tmp_path / "own.jsonl",
        "context": ["matched"],
        "context_lengths": "1",
    }
    rows = tse_scorers.run(scorer, **options, out=tmp_path / "run", report=False)
    alone = next(row for row in rows if (row["group"], row["context"]) == ("all", "none"))
    assert (alone["unit"], alone["n_units"]) == ("clusters (these paradigms)", 4)
    after = next(row for row in rows if (row["group"], row["context"]) == ("simple", "matched"))
    assert after["unit"] == "clusters x contexts"


def test_scores_equal_naive_concatenation(run, scorer):
    _, scores = run
    checked = scores.sample(24, random_state=0)
    for row in checked[~checked["context"].str.startswith("template")].itertuples():
        for sentence, found in ((row.sentence_good, row.logprob_good), (row.sentence_bad, row.logprob_bad)):
            before = scorer.tokenizer(row.prefix, add_special_tokens=False)["input_ids"] if row.prefix else []
            text = f"{row.prefix} {sentence}".strip()
            ids = [scorer.start_token, *scorer.tokenizer(text, add_special_tokens=False)["input_ids"]]
            assert ids[1 : len(before) + 1] == before
            assert found == pytest.approx(causal_sum(scorer.model, ids, 1 + len(before)), abs=1e-5)
    row = scores[scores["context"] == f"template: {TEMPLATE}"].iloc[0]
    ids = scorer.tokenizer(TEMPLATE.replace("{sentence}", row["sentence_good"]), add_special_tokens=False)
    expected = causal_sum(scorer.model, [scorer.start_token, *ids["input_ids"]])
    assert row["logprob_good"] == pytest.approx(expected, abs=1e-5)


def test_a_context_holds_what_its_name_says(run, source):
    _, scores = run
    pairs = pd.read_json(source, lines=True)
    good, bad = (
        dict(zip(pairs[side], pairs["UID"], strict=True)) for side in ("sentence_good", "sentence_bad")
    )
    for row in scores[scores["length"] > 0].itertuples():
        sentences = re.findall(r"[^.]+\.", row.prefix)
        sentences = [sentence.strip() for sentence in sentences]
        known = bad if row.context == "ungrammatical" else good
        same = [known[sentence] == row.paradigm for sentence in sentences]
        assert len(sentences) == row.length and all(same) != (row.context == "mismatched")
        assert row.sentence_good not in sentences and row.sentence_bad not in sentences
    chains = scores[scores["length"] > 0].sort_values("length").groupby(["chain", "pair_id"])["prefix"]
    assert all(longer.startswith(shorter) for shorter, longer in chains.apply(list))


@pytest.mark.parametrize("clusters", [False, True])
def test_no_pair_has_its_sentences_or_a_variant_before_it(clusters, tmp_path, scorer):
    """Sets repeat sentences: 21 pairs of TurBLiMP stood after themselves, and 2,016 after a variant of their item.

    All other pairs keep their contexts.
    """
    source = write_pairs(tmp_path / "pairs.jsonl", 40)  # each sentence occurs more than once
    rows = [json.loads(line) for line in source.read_text().splitlines()]
    for number, row in enumerate(rows):
        row["cluster"] = f"item {number // 3}" if clusters else f"item {number}"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = {"data": source, "context_lengths": [1, 4]}
    suite = make_suite("minimal_pairs", context=["matched", "ungrammatical", "mismatched"], **options)
    scores = suite.score(scorer, lambda done, total: None)[IN_CONTEXT].to_pandas()
    item = {(row["UID"], row["pairID"]): row["cluster"] for row in rows}
    items_of = {}
    for row in rows:
        for side in ("sentence_good", "sentence_bad"):
            items_of.setdefault(row[side], set()).add(row["cluster"])
    longest = scores[scores["length"] == 4]
    for row in longest.itertuples():
        before = {f"{sentence}." for sentence in row.prefix.removesuffix(".").split(". ")}
        assert not {row.sentence_good, row.sentence_bad} & before
        if clusters:
            assert all({item[row.paradigm, row.pair_id]} != items_of[sentence] for sentence in before)
    common = longest.groupby("chain")["prefix"].agg(lambda prefixes: prefixes.value_counts().iloc[0])
    assert (common > 1).all(), "most pairs of a part share their chain"
    (tmp_path / "lines.txt").write_text("\n".join(row["sentence_good"] for row in rows[:12]))
    suite = make_suite("minimal_pairs", context=[str(tmp_path / "lines.txt")], **options)
    scores = suite.score(scorer, lambda done, total: None)[IN_CONTEXT].to_pandas()
    assert not any(row.sentence_good in row.prefix for row in scores[scores["length"] > 0].itertuples())


def test_a_sweep_costs_about_contexts_and_suffixes_not_their_product(tmp_path, scorer, monkeypatch):
    """40 pairs in 10 parts, 6 lengths: naive concatenation runs the product of all of them."""
    lengths = [0, 1, 2, 3, 4, 5, 6]
    source = write_pairs(tmp_path / "many.jsonl", 40)
    suite = make_suite(
        "minimal_pairs", data=source, groups=["simple"], context=["matched"], context_lengths=lengths
    )
    plans, run = [], scorer.run
    monkeypatch.setattr(scorer, "run", lambda plan, *asked: plans.append(plan) or run(plan, *asked))
    scores = suite.score(scorer, lambda done, total: None)[IN_CONTEXT].to_pandas()
    plan = plans[0]
    nodes, computed = len(plan.trie), int(plan.lengths.sum())
    longest = scores[scores["length"] == 6].drop_duplicates("chain")
    contexts = int(longest["n_context_tokens"].sum())
    suffixes = len(lengths) * sum(
        map(len, scorer.sentence_ids([*scores["sentence_good"][:40], *scores["sentence_bad"][:40]]))
    )
    product = int(2 * scores["n_context_tokens"].sum()) + suffixes
    assert contexts < nodes <= contexts + suffixes
    assert computed <= 1.5 * (contexts + suffixes) and computed < 0.5 * product


def test_accuracies_and_changes_equal_a_plain_computation(run):
    out, scores = run
    rows = read_results(out)["results"]
    right = scores.assign(right=scores["logprob_good"] > scores["logprob_bad"])
    for row in rows:
        own = right[(right["context"] == row["context"]) & (right["length"] == row["length"])]
        means = own.groupby("paradigm")["right"].mean()
        if row["metric"] == "accuracy_in_context" and row["group"] == "all":
            assert row["score"] == pytest.approx(means.mean()) and row["n"] == 16
            assert row["context_tokens"] == pytest.approx(own["n_context_tokens"].mean())
        elif row["metric"] == "accuracy_change":
            alone = right[right["context"] == "none"].groupby("paradigm")["right"].mean()
            assert row["score"] == pytest.approx(means.mean() - alone.mean())
    found = {(row["context"], row["length"]) for row in rows}
    kinds = ("matched", "ungrammatical", "mismatched")
    assert found == {
        ("none", 0),
        (f"template: {TEMPLATE}", 0),
        *((kind, n) for kind in kinds for n in (1, 3)),
    }


def test_the_signature_and_the_report_have_the_contexts(run):
    out, _ = run
    (signature,) = read_results(out)["signature"]["models"]
    assert signature["contexts"] == ["matched", "ungrammatical", "mismatched"]
    assert (signature["context_lengths"], signature["templates"]) == ([1, 3], [TEMPLATE])
    assert signature["context_parts"] == PARTS and len(signature["contexts_fingerprint"]) == 16
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Accuracy against length" in page and "Inside templates" in page
    # without a context, and in the template
    assert len(pd.read_csv(out / "in_context_templates.csv")) == 2
    assert (out / "figures" / "in_context.svg").is_file()


@pytest.mark.usefixtures("no_pictures")
def test_the_terminal_says_after_how_many_sentences(run, tmp_path):
    out = shutil.copytree(run[0], tmp_path / "run")
    said = CliRunner().invoke(app, ["report", str(out)], catch_exceptions=False).output
    assert "sentences of context 3; 16 pairs" in " ".join(said.split())


def test_the_tab_shows_each_context_and_length(run):
    by_length, inside = MinimalPairSuite.views(read_runs([run[0]])).views
    assert by_length.tab == inside.tab == "In context"
    (templates,) = inside.chosen("all")
    assert templates.cells["label"].tolist() == ["none", TEMPLATE]
    view, curves = by_length.chosen("all")
    assert view.cells["label"].tolist()[:3] == ["none", "matched · 1", "matched · 3"]
    assert set(curves.panels["tiny"]["label"]) == {"matched", "ungrammatical", "mismatched"}
    cell = view.cells.set_index("label").loc["matched · 3"]
    items = view.items.read(cell["system"])
    of_row = items[(items["context"] == "matched") & (items["length"] == "3")]
    assert view.items.rows["matched · 3"] == {"context": "matched", "length": "3"}
    assert (len(of_row), of_row["score"].mean()) == (cell["n"], pytest.approx(cell["score"]))
    assert (of_row["good"].str.count(r"\.") == 4).all()  # with its context


def test_each_score_of_the_leaderboard_leads_to_the_row_that_it_is_about(run):
    """In the explorer, the scores after contexts led to the pairs without one."""
    runs = read_runs([run[0]])
    (by_length, inside) = MinimalPairSuite.views(runs).views
    lines = headlines(runs.rows, all_measures()).set_index("measure")
    rows = {"no context": "none", "matched": "matched · 3", "mismatched": "mismatched · 3"}
    assert by_length.headline_rows == rows | {"ungrammatical": "ungrammatical · 3"}
    assert inside.headline_rows == {"no context": "none"}
    cells = by_length.chosen(*by_length.headlines["matched"])[0].cells.set_index("label")
    for measure, row in by_length.headline_rows.items():
        assert cells.loc[row, "score"] == lines.loc[measure, "score"]


def test_a_run_is_compared_after_its_longest_contexts(run, source, tmp_path):
    other = CausalScorer(*tiny_model("causal", "gpt2"), name="other", revision="1")
    tse_scorers.run(other, suite="minimal_pairs", data=source, context_lengths="1,3", limit=8, context=["matched"],
             out=tmp_path, report=False)  # fmt: skip
    rows = compare([run[0], tmp_path], allow_different=True).rows
    assert set(rows["measure"]) == {"no context", "matched"}
    assert (rows[rows["group"] == "all"]["n_items"] == 16).all()


def test_scores_in_context_never_stand_for_those_of_pairs_by_themselves(run, source, scorer, tmp_path):
    """Both are minimal pairs of the same data: one folder holds both, and no comparison takes one for the other."""
    options = {
        "suite": "minimal_pairs",
        "data": source,
        "limit": 8,
        "out": tmp_path / "both",
        "report": False,
    }
    tse_scorers.run(scorer, **options)
    tse_scorers.run(scorer, **options, context=["matched"], context_lengths="1")
    runs = read_runs([tmp_path / "both"])
    metrics = runs.rows.groupby("config")["metric"].unique().map(sorted)
    assert metrics.to_dict() == {
        "pairs": ["accuracy"], "pairs-in-context": ["accuracy_change", "accuracy_in_context"]
    }  # fmt: skip
    shown = MinimalPairSuite.views(runs)
    assert {view.tab for view in shown.in_report().views} >= {"In context"}
    alone, *_ = (view for view in shown.views if view.tab == "Minimal pairs")
    after = next(view for view in shown.views if view.tab == "In context")
    for view, choice in ((alone, ("accuracy",)), (after, ("all",))):
        cells = view.chosen(*choice)[0].cells
        assert set(cells["system"]) == {"tiny"}
    lines = headlines(runs.rows, all_measures())
    assert dict(zip(lines["measure"], lines["config"], strict=True)) == {
        "accuracy": "pairs", "no context": "pairs-in-context", "matched": "pairs-in-context"
    }  # fmt: skip
    tse_scorers.run(CausalScorer(scorer.model, scorer.tokenizer, name="other", revision="1"),
             **options | {"out": tmp_path / "alone"})  # fmt: skip
    with pytest.raises(ValueError, match="There is nothing to compare"):
        compare([tmp_path / "alone", run[0]], allow_different=True)


def test_shards_draw_the_same_contexts(source, scorer, run, tmp_path):
    for number in (1, 2):
        options = {"context": ["matched"], "context_lengths": "1,3", "limit": 8}
        Run(make_suite("minimal_pairs", data=source, **options), tmp_path, shard=(number, 2)).add(scorer)
    merged = {
        (row["context"], row["length"], row["group"]): row["score"]
        for row in merge([tmp_path], tmp_path / "whole")
    }
    whole = {
        (row["context"], row["length"], row["group"]): row["score"] for row in read_results(run[0])["results"]
    }
    assert len(merged) > 9 and merged.items() <= whole.items()


def test_sentences_of_a_file_are_a_context(source, scorer, tmp_path):
    (tmp_path / "other.txt").write_text("The movie is old.\n\nThe pilot swims.\n")
    suite = make_suite(
        "minimal_pairs", data=source, context=[str(tmp_path / "other.txt")], context_lengths=[2], limit=2
    )
    scores = suite.score(scorer, lambda done, total: None)[IN_CONTEXT].to_pandas()
    assert set(scores["prefix"]) == {"", "The movie is old. The pilot swims."}
    assert np.isfinite(scores["logprob_good"]).all()


@pytest.mark.parametrize(
    "options, said",
    [
        (
            {"context": ["similar"]},
            "Unknown context 'similar'; expected one of: matched, mismatched, ungrammatical, or a text",
        ),
        ({"context": ["matched"], "context_lengths": "1,x"}, "Got the context lengths '1,x'"),
        (
            {"context": ["matched"], "context_lengths": "30"},
            "The longest matched context has 30 sentences, but only 10 can be drawn for the paradigm simple.",
        ),
        ({"template": ["It is {}."]}, "The template 'It is {}.' has {sentence} 0 times; expected once"),
        (
            {"template": ["{sentence}"], "context_lengths": "2"},
            "--context-lengths has no effect without --context",
        ),
        (
            {"context": ["matched"], "methods": ["full"]},
            "methods has no effect with context; remove it.",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_before_a_model_is_loaded(source, options, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        make_suite("minimal_pairs", data=source, **options)


@pytest.mark.parametrize("start_token", [None, "none"])
def test_a_linking_function_is_over_the_sentence_alone(source, scorer, run, start_token):
    """Literally: the tokens after the context, of which only the first of a bare sentence may be unscored."""
    if start_token is not None:
        scorer = CausalScorer(scorer.model, scorer.tokenizer, name="bare", start_token=start_token)
    options = {"context": ["matched"], "context_lengths": [2], "template": [TEMPLATE], "limit": 3}
    suite = make_suite("minimal_pairs", data=source, linking="mean_token", **options)
    scores = suite.score(scorer, lambda done, total: None)[IN_CONTEXT].to_pandas()
    assert suite.signature(scorer)["linking"] == "mean_token"

    def n_tokens(text):
        return len(scorer.tokenizer(text, add_special_tokens=False)["input_ids"]) if text else 0

    for row in scores.itertuples():
        text = (
            TEMPLATE.replace("{sentence}", row.sentence_bad)
            if "template" in row.context
            else row.sentence_bad
        )
        n = n_tokens(f"{row.prefix} {text}".strip()) - n_tokens(row.prefix)
        n -= start_token == "none" and not row.prefix
        assert row.score_bad == pytest.approx(row.logprob_bad / n, rel=1e-9)
    assert (scores["correct"] == (scores["score_good"] > scores["score_bad"])).all()
    assert {row["linking"] for row in suite.aggregate({IN_CONTEXT: pa.Table.from_pandas(scores)})} == {
        "mean_token"
    }
    if start_token is None:  # nothing else changes
        plain = run[1].merge(
            scores, on=["paradigm", "pair_id", "context", "sentence_good"], suffixes=("", "_linked")
        )
        alone = plain[plain["context"] == "none"]
        assert len(alone) and alone["logprob_good"].equals(alone["logprob_good_linked"])
        assert "linking" not in run[1]


def test_a_registered_set_is_scored_in_context_by_its_authors_rule(tmp_path, scorer):
    rows = [f"A{number} laughs.\tA{number} laugh.\tSV-#" for number in range(4)]
    for language in ("deu", "fra"):
        (tmp_path / language).mkdir()
        (tmp_path / language / "data.tsv").write_text("\n".join(["sen\twrong_sen\tphenomenon", *rows]))
    options = {"data": "multiblimp", "source": tmp_path, "context": ["matched"], "context_lengths": [1]}
    suite = make_suite("minimal_pairs", groups=["language:deu"], **options)
    assert (suite.config, suite.dataset, suite.n_items) == ("multiblimp-in-context", "multiblimp", 4)
    signature = suite.signature(scorer)
    assert (signature["linking"], signature["linking_of"]) == ("sum", "the authors")
    scores = suite.score(scorer, lambda done, total: None)[IN_CONTEXT].to_pandas()
    assert set(scores["paradigm"]) == {"deu/SV-#"} and set(scores["length"]) == {0, 1}


def test_other_suites_have_no_contexts():
    with pytest.raises(ValueError, match="context has no effect with suite='german'"):
        make_suite("german", context=["matched"])
    np.testing.assert_equal(make_suite("german", limit=1).name, "german")
