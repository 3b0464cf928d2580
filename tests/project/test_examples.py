"""The examples run, and show what they say.

After a change of what a notebook shows, `TSE_UPDATE_DOCS=1 pytest tests/project/test_examples.py -k notebook` stores
its output again; look at it before you commit it.
"""

import copy
import json
import os
import re
import runpy
import shutil
import sys
from pathlib import Path

import datasets
import pandas as pd
import pytest
from doc_snippets import same_output
from packaging.requirements import Requirement
from tiny import tiny_model
from tokenizers import AddedToken, processors

import tse_scorers

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.ipynb"))


def run(monkeypatch, script, *options):
    monkeypatch.setattr("sys.argv", [script.name, *options])
    runpy.run_path(str(script), run_name="__main__")


@pytest.mark.slow
def test_a_tiny_model_is_trained_and_its_curves_drawn(root, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    options = ("--out", str(tmp_path), "--steps", "4", "--every", "2", "--budget", "36")
    run(monkeypatch, root / "examples" / "train_tiny_lm.py", *options)
    assert (tmp_path / "curves.png").stat().st_size > 10_000
    assert (tmp_path / "model.safetensors").exists()


def test_pairs_in_context(root, tmp_path, monkeypatch):
    pairs = pd.DataFrame(
        [
            {"UID": uid, "sentence_good": f"{noun} {verb}s.", "sentence_bad": f"{noun} {verb}."}
            for uid, verb in (("a", "laugh"), ("b", "swim"))
            for noun in ("The author", "The pilot", "The guard")
        ]
    )
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    drawn = {}
    for kind in ("matched", "ungrammatical", "mismatched"):
        options = ("--kind", kind, "--length", "2", "--out", str(tmp_path / f"{kind}.csv"))
        run(monkeypatch, root / "examples" / "pairs_in_context.py", str(tmp_path / "pairs.csv"), *options)
        drawn[kind] = pd.read_csv(tmp_path / f"{kind}.csv")
        pd.testing.assert_frame_equal(drawn[kind].drop(columns="context"), pairs)
    verbs = pairs["sentence_bad"].str.split(" ").str[-1]
    for number, context in enumerate(drawn["matched"]["context"]):
        assert context.count(verbs[number].replace(".", "s.")) == 2
        assert pairs["sentence_good"][number] not in context
        assert drawn["ungrammatical"]["context"][number] == context.replace("s.", ".")
        assert verbs[number].removesuffix(".") not in drawn["mismatched"]["context"][number]
    rows = tse_scorers.run(
        "tiny-causal", "minimal_pairs", tmp_path / "out", data=tmp_path / "matched.csv", report=False
    )
    assert {row["n"] for row in rows if row["group"] == "all"} == {6}


def test_a_two_by_two_experiment(root, tmp_path, monkeypatch, capsys):
    run(monkeypatch, root / "examples" / "two_by_two.py", "--out", str(tmp_path))
    fulfilled, effect = capsys.readouterr().out.strip().splitlines()
    assert fulfilled == "accuracy of the criterion: 1.00 over 4 items"
    assert effect.startswith("interaction at the verb: -2.7")


@pytest.mark.slow
def test_a_loop_by_hand(root, monkeypatch, capsys):
    options = ("--steps", "2", "--every", "1", "--budget", "36")
    run(monkeypatch, root / "examples" / "hand_written_loop.py", *options)
    lines = capsys.readouterr().out.strip().splitlines()
    assert len(lines) == 2 and all("tse/ew" in line for line in lines)


@pytest.fixture
def oracle(root, monkeypatch):
    monkeypatch.syspath_prepend(root / "examples")
    import oracle

    yield oracle
    del sys.modules["oracle"]


def run_scores(rows, names):
    """The scores over all items, at no cut-off."""
    return {
        row[names]: row.score
        for row in rows
        if row.level == "all" and (row.get("cutoff_side"), row.get("cutoff")) in ((None, None), ("top", 1.0))
    }


@pytest.mark.parametrize("model", ["tiny-causal", pytest.param("tiny-masked", marks=pytest.mark.slow)])
def test_the_oracle_has_the_scores_of_a_run(model, oracle, root, tmp_path):
    """It shares no code with the package, and every definition is in it a second time."""
    loaded = oracle.Model(str(root / "scorers" / "tse_scorers" / "bundled_models" / model))
    pairs = oracle.sampled(pd.read_parquet(oracle.PAIRS), "group", 8)
    found = run_scores(tse_scorers.run(model, limit=8, out=tmp_path / "agreement", report=False), "metric")
    expected = oracle.agreement(loaded, pairs, pd.read_parquet(oracle.LEMMAS))
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-6)

    sentences = pd.read_parquet(oracle.GERMAN)
    rows = tse_scorers.run(model, suite="german", limit=1, out=tmp_path / "german", report=False)
    found = {row.variation_set: row.score for row in rows if row.level == "all" and row.metric == "auc"}
    assert found == pytest.approx(oracle.german(loaded, sentences[sentences["template"] < 1]), abs=1e-6)

    about = {"field": "syntax", "linguistics_term": "agreement", "one_prefix_method": False}
    about |= {"two_prefix_method": False, "pairID": range(len(pairs)), "UID": pairs["construction"]}
    pairs = pairs.assign(**about)
    pairs.to_json(tmp_path / "pairs.jsonl", orient="records", lines=True)
    asked = {"data": tmp_path / "pairs.jsonl", "out": tmp_path / "blimp", "methods": ["full"]}
    rows = tse_scorers.run(model, suite="minimal_pairs", report=False, **asked)
    expected = oracle.blimp(loaded, pairs)
    assert {
        row.value or "all": row.score for row in rows if row.level in ("all", "paradigm")
    } == pytest.approx(expected, abs=1e-6)


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
    scorer = tse_scorers.load_scorer(tmp_path / "model")
    scored = scorer.map(pairs, lemmas=lemmas)
    expected = oracle.agreement(loaded, pairs, lemmas)
    assert scored["ew"].mean() == pytest.approx(expected["ew"]) and scored["mw"].mean() == pytest.approx(
        expected["mw"], abs=1e-5
    )
    sentences = ["The author laughs.", "The senators near the guard are tall."]
    found = scorer.sentence_logprobs(sentences)
    assert found == pytest.approx([loaded.sentence(sentence) for sentence in sentences], abs=1e-4)


@pytest.mark.slow
@pytest.mark.real
def test_the_oracle_has_the_scores_of_a_run_of_smollm2(smollm2, oracle, tmp_path):
    pairs = pd.read_parquet(oracle.PAIRS).groupby("group").head(1)
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    asked = {"data": tmp_path / "pairs.csv", "lemmas": "released", "out": tmp_path / "out"}
    found = run_scores(tse_scorers.run(smollm2, report=False, **asked), "metric")
    expected = oracle.agreement(oracle.Model(str(smollm2)), pairs, pd.read_parquet(oracle.LEMMAS))
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-6)


def test_a_job_scores_a_data_set_and_keeps_the_rows(root, monkeypatch, capsys, tmp_path):
    """As on a rented GPU, with the data, the metric and the model of a clone."""
    monkeypatch.chdir(root)
    names = (
        "--data",
        "datasets/agreement_templates",
        "--lemmas",
        "datasets/verb_lemmas",
        "--metric",
        "metrics/refined_tse",
    )
    shown = ("--model", "tiny-causal", "--split", "test[:200]", "--out", str(tmp_path / "scored"))
    run(monkeypatch, root / "examples" / "hf_job.py", *names, *shown)
    scores = json.loads(capsys.readouterr().out.splitlines()[-1])
    scored = datasets.load_from_disk(str(tmp_path / "scored"))
    assert set(scores) == {"tse", "ew", "mw"} and len(scored) == 200 and "ew" in scored.column_names


def test_a_job_names_versions_that_the_tests_run_with(root):
    """`uv run` installs the dependencies that the script's first lines name, without a lock file."""
    head = (root / "examples" / "hf_job.py").read_text(encoding="utf-8").partition('"""')[0]
    block = re.fullmatch(r"# /// script\n(.*)# ///\n", head, re.DOTALL)[1]
    named = [Requirement(text) for text in re.findall(r'^#     "(.+)",$', block, re.MULTILINE)]
    pinned = (root / ".ci" / "constraints.txt").read_text().split()
    lowest = (root / ".ci" / "minimum-versions.txt").read_text().split()
    tested = dict(line.split("==") for line in [*lowest, *pinned] if "==" in line)
    tested["refined-tse"] = tse_scorers.__version__
    assert [each.name for each in named] == ["refined-tse", "torch", "transformers", "datasets", "evaluate"]
    for each in named:
        assert tested[each.name] in each.specifier and any(one.operator == "<" for one in each.specifier)
    floors = re.findall(r'^  "([a-z_]+)(>=[0-9.]+)",', (root / "pyproject.toml").read_text(), re.MULTILINE)
    assert all(dict(floors)[each.name] in str(each.specifier) for each in named[1:])


def shown(cell) -> list[str]:
    """What a cell printed and returned, as text."""
    return [output.get("text") or output["data"]["text/plain"] for output in cell.get("outputs", [])]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_is_stored_with(path, tmp_path):
    """It runs beside the tables of `examples`; warnings and progress bars are not stored."""
    nbformat = pytest.importorskip(
        "nbformat", reason="needs nbclient and ipykernel (pip install -e '.[test]')"
    )
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
    assert any(
        "image/png" in output.get("data", {}) for cell in stored.cells for output in cell.get("outputs", [])
    )
    for before, after in zip(stored.cells, found.cells, strict=True):
        expected, printed = "\n".join(shown(before)), "\n".join(shown(after))
        assert same_output(expected, printed), f"{before.source}\nprinted\n{printed}"


def test_a_notebook_in_another_folder_says_which_file_it_needs(tmp_path, monkeypatch):
    """It ended in a traceback of pandas."""
    monkeypatch.chdir(tmp_path)
    cells = json.loads(NOTEBOOKS[0].read_text(encoding="utf-8"))["cells"]
    first = next("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    with pytest.raises(FileNotFoundError, match=r"attraction\.csv is not .*Start Jupyter in examples/"):
        exec(first, {})


def test_both_notebooks_are_there():
    assert [path.stem for path in NOTEBOOKS] == ["csv_to_figure", "model_to_learning_curve"]


def test_the_harness_computes_our_accuracies_on_tasks_of_a_table(root, tmp_path, monkeypatch, capsys):
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
    data = tmp_path / "pairs.csv"
    pd.DataFrame(pairs).to_csv(data, index=False)
    run(monkeypatch, root / "examples" / "lm_eval_tasks.py", str(data), str(tmp_path / "tasks"))
    assert capsys.readouterr().out == f"--tasks tse_pairs --include_path {tmp_path / 'tasks'}\n"
    folder = Path(tse_scorers.__file__).parent / "bundled_models" / "tiny-causal"
    scorer = HFLM(pretrained=str(folder), dtype="float32", device="cpu", batch_size=8)
    manager = TaskManager(include_path=str(tmp_path / "tasks"), include_defaults=False)
    theirs = simple_evaluate(scorer, tasks=["tse_pairs"], task_manager=manager)["results"]
    options = {"data": data, "methods": ["full"], "out": tmp_path / "out", "report": False}
    ours = {row.group: row for row in tse_scorers.run("tiny-causal", "minimal_pairs", **options)}
    assert ours["all"].n_ties == 1
    for group, task in (
        ("all", "tse_pairs"),
        *((name, f"tse_pairs_{name}") for name in ("agreement", "order")),
    ):
        assert theirs[task]["acc,none"] == pytest.approx(ours[group].score)
