"""The examples run, and show what they say.

After a change of what a notebook shows, `TSE_UPDATE_DOCS=1 pytest tests/project/test_examples.py -k notebook` stores
its output again; look at it before you commit it.
"""

import copy
import json
import os
import runpy
import shutil
import sys
from pathlib import Path

import datasets
import pandas as pd
import pytest
from doc_snippets import same_output
from tiny import tiny_model
from tokenizers import AddedToken, processors

from tse_scorers import Agreement, German, MinimalPairs, Results, load_scorer, run

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


@pytest.fixture
def example(monkeypatch):
    """Run an example as a program."""

    def start(name: str, *options: object) -> None:
        monkeypatch.setattr("sys.argv", [name, *map(str, options)])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")

    return start


def test_pairs_in_context(example, tmp_path):
    nouns, verbs = ("The author", "The pilot", "The guard"), {"a": "laugh", "b": "swim"}
    rows = [(uid, f"{noun} {verb}s.", f"{noun} {verb}.") for uid, verb in verbs.items() for noun in nouns]
    pairs = pd.DataFrame(rows, columns=["UID", "sentence_good", "sentence_bad"])
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    drawn = {}
    for kind in ("matched", "ungrammatical", "mismatched"):
        out = tmp_path / f"{kind}.csv"
        example("pairs_in_context.py", tmp_path / "pairs.csv", "--kind", kind, "--length", 2, "--out", out)
        drawn[kind] = pd.read_csv(out)["context"]
    for row, context in zip(pairs.itertuples(), drawn["matched"], strict=True):
        verb = verbs[row.UID]
        assert context.count(f"{verb}s.") == 2 and row.sentence_good not in context
        assert drawn["ungrammatical"][row.Index] == context.replace("s.", ".")
        assert verb not in drawn["mismatched"][row.Index]
    found = run("tiny-causal", data=tmp_path / "matched.csv", out=tmp_path / "out", report=False).frame
    assert set(found.query("level == 'all'")["n"]) == {6}


def test_a_suite_of_ones_own(example, tmp_path, monkeypatch):
    rows = [
        ("The author laughs.", 1),
        ("The author laugh.", 0),
        ("The pilots swim.", 1),
        ("The pilots swims.", 0),
    ]
    pd.DataFrame(rows, columns=["sentence", "label"]).to_csv(tmp_path / "cola.csv", index=False)
    monkeypatch.chdir(tmp_path)
    example("grammaticality.py", "cola.csv")
    (score,) = Results.load("grammaticality").frame.query("level == 'all'")["score"]
    assert score == pytest.approx(1.0)


@pytest.fixture
def oracle(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    import oracle

    yield oracle
    del sys.modules["oracle"]


def whole(results, level: str = "all") -> dict[str, float]:
    """The scores over all items."""
    return results.frame.query("level == @level").set_index("measure")["score"].to_dict()


@pytest.mark.parametrize("model", ["tiny-causal", pytest.param("tiny-masked", marks=pytest.mark.slow)])
def test_the_oracle_has_the_scores_of_a_run(model, oracle, tmp_path):
    """It shares no code with the package, and every definition is in it a second time."""
    loaded = oracle.Model(str(ROOT / "scorers" / "tse_scorers" / "bundled_models" / model))
    pairs = oracle.sampled(pd.read_parquet(oracle.PAIRS), "group", 2, together="prefix")
    found = whole(run(model, Agreement(limit=2), tmp_path / "agreement", report=False))
    expected = oracle.agreement(loaded, pairs, pd.read_parquet(oracle.LEMMAS))
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-6)

    sentences = pd.read_parquet(oracle.GERMAN)
    found = whole(run(model, German(limit=1), tmp_path / "german", report=False))
    expected = oracle.german(loaded, sentences[sentences["template"] < 1])
    names = {"1-6": "auc"} | {name: f"auc@{name}" for name in expected if name != "1-6"}
    assert {name: found[names[name]] for name in expected} == pytest.approx(expected, abs=1e-6)

    for side, form in (("good", "form_correct"), ("bad", "form_incorrect")):
        pairs[f"sentence_{side}"] = pairs["prefix"] + " " + pairs[form] + pairs["suffix"]
    pairs = pairs.assign(UID=pairs["construction"])[["UID", "sentence_good", "sentence_bad"]].iloc[::5]
    found = run(model, MinimalPairs(data=pairs, methods=["full"]), tmp_path / "blimp", report=False).frame
    found = found[found["level"].isin(["all", "paradigm"])]
    scores = dict(zip(found["value"].replace("", "all"), found["score"], strict=True))
    assert scores == pytest.approx(oracle.blimp(loaded, pairs), abs=1e-6)


@pytest.mark.parametrize(
    "kind, family",
    [("masked", "roberta"), ("masked", "albert"), ("causal", "llama"), ("causal", "gpt2"), ("causal", "opt")],
)
@pytest.mark.parametrize("trouble", ["none", "an end token", "no start token", "a mask without its space"])
def test_the_oracle_reads_tokenizers_of_all_kinds(kind, family, trouble, oracle, tmp_path):
    """A tokenizer that appends an end token, one without a start token, a mask that does not take its space."""
    model, tokenizer = copy.deepcopy(tiny_model(kind, family))
    if trouble == "an end token" and kind == "causal":
        end = tokenizer.convert_tokens_to_ids(tokenizer.eos_token)
        tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
            single=f"$A {tokenizer.eos_token}", special_tokens=[(tokenizer.eos_token, end)]
        )
    if trouble == "no start token" and kind == "causal":
        tokenizer.bos_token = model.config.bos_token_id = None
    if trouble == "a mask without its space" and kind == "masked":
        tokenizer.mask_token = AddedToken(str(tokenizer.mask_token), lstrip=False, special=True)
    for part in (model, tokenizer):
        part.save_pretrained(tmp_path / "model")
    pairs = pd.DataFrame(
        [
            ("The author", " tall.", "singular", "is", "are"),
            ("The senators", ".", "plural", "laugh", "laughs"),
        ],
        columns=["prefix", "suffix", "number", "form_correct", "form_incorrect"],
    ).assign(group="mine")
    lemmas = pd.DataFrame({"singular": ["laughs", "likes", "is"], "plural": ["laugh", "like", "are"]})
    loaded = oracle.Model(str(tmp_path / "model"))
    scorer = load_scorer(tmp_path / "model")
    scored = scorer.map(pairs, lemmas=lemmas)
    expected = oracle.agreement(loaded, pairs, lemmas)
    assert [scored[name].mean() for name in ("ew", "mw")] == pytest.approx(
        [expected["ew"], expected["mw"]], abs=1e-5
    )
    sentences = ["The author laughs.", "The senators near the guard are tall."]
    found = scorer.sentence_logprobs(sentences)
    assert found == pytest.approx([loaded.sentence(sentence) for sentence in sentences], abs=1e-4)


@pytest.mark.slow
@pytest.mark.real
def test_the_oracle_has_the_scores_of_a_run_of_smollm2(smollm2, oracle, tmp_path):
    pairs = pd.read_parquet(oracle.PAIRS).groupby("group").head(1)
    found = whole(run(smollm2, Agreement(data=pairs, lemmas="released"), tmp_path / "out", report=False))
    expected = oracle.agreement(oracle.Model(str(smollm2)), pairs, pd.read_parquet(oracle.LEMMAS))
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-6)


def test_a_job_scores_a_data_set_and_keeps_the_rows(example, monkeypatch, capsys, tmp_path):
    """As on a rented GPU, with the data, the metric and the model of a clone."""
    monkeypatch.chdir(ROOT)
    names = ("--data", "datasets/agreement_templates", "--lemmas", "datasets/verb_lemmas", "--metric")
    shown = ("--model", "tiny-causal", "--split", "test[:200]", "--out", tmp_path / "scored")
    example("hf_job.py", *names, "metrics/refined_tse", *shown)
    scores = json.loads(capsys.readouterr().out.splitlines()[-1])
    scored = datasets.load_from_disk(str(tmp_path / "scored"))
    assert set(scores) == {"tse", "ew", "mw"} and len(scored) == 200 and "ew" in scored.column_names


def shown(cell) -> str:
    """What a cell printed and returned, as text."""
    return "\n".join(output.get("text") or output["data"]["text/plain"] for output in cell.get("outputs", []))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_is_stored_with(path, tmp_path):
    """It runs beside the tables of `examples`; warnings and progress bars are not stored."""
    nbformat = pytest.importorskip("nbformat", reason="needs nbclient (pip install -e '.[test]')")
    from nbclient import NotebookClient

    for table in path.parent.glob("*.csv"):
        shutil.copy(table, tmp_path)
    stored = nbformat.read(path, as_version=4)
    found = copy.deepcopy(stored)
    where = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(found, timeout=900, record_timing=False, resources=where).execute()
    for cell in (cell for cell in found.cells if cell.cell_type == "code"):
        cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    if os.environ.get("TSE_UPDATE_DOCS"):
        found.metadata = stored.metadata
        nbformat.write(found, path)
        return
    for before, after in zip(stored.cells, found.cells, strict=True):
        assert same_output(shown(before), shown(after)), f"{before.source}\nprinted\n{shown(after)}"


def test_the_harness_computes_our_accuracies_on_tasks_of_a_table(example, tmp_path, capsys):
    """Also with a tie, which the harness counts as correct in its own tasks."""
    pytest.importorskip("lm_eval", reason="needs lm-eval (pip install -e '.[test]')")
    from lm_eval import simple_evaluate
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    pairs = [
        {"UID": group, "sentence_good": f"The {noun} {good}.", "sentence_bad": f"The {noun} {bad}."}
        for group, good, bad in (("agreement", "laughs", "laugh"), ("order", "smiles", "is"))
        for noun in ("author", "pilot", "surgeon")
    ]
    pairs[-1]["sentence_bad"] = pairs[-1]["sentence_good"]
    data, tasks = tmp_path / "pairs.csv", tmp_path / "tasks"
    pd.DataFrame(pairs).to_csv(data, index=False)
    example("lm_eval_tasks.py", data, tasks)
    assert capsys.readouterr().out == f"--tasks tse_pairs --include_path {tasks}\n"
    folder = ROOT / "scorers" / "tse_scorers" / "bundled_models" / "tiny-causal"
    scorer = HFLM(pretrained=str(folder), dtype="float32", device="cpu", batch_size=8)
    manager = TaskManager(include_path=str(tasks), include_defaults=False)
    theirs = simple_evaluate(scorer, tasks=["tse_pairs"], task_manager=manager)["results"]
    ours = run("tiny-causal", MinimalPairs(data=data, methods=["full"]), tmp_path / "out", report=False).frame
    ours = ours[ours["level"].isin(["all", "paradigm"])].set_index("value")
    assert ours["n_ties"][""] == 1
    for group in ("", "agreement", "order"):
        task = f"tse_pairs_{group}" if group else "tse_pairs"
        assert theirs[task]["acc,none"] == pytest.approx(ours["score"][group])
