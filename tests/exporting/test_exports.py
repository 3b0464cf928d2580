"""`tse export items`, `every-eval-ever` and `lm-eval`: what other tools get, and that they get the same scores."""

import hashlib
import json
import re
import runpy
from argparse import ArgumentParser
from functools import partial
from pathlib import Path

import jsonschema
import pandas as pd
import pytest
import yaml
from run_records import table_path
from typer.testing import CliRunner

import tse_scorers
from tse_scorers import load_data, run
from tse_scorers.cli.app import app
from tse_scorers.io.results import read_results

SCHEMAS = Path(__file__).resolve().parents[1] / "golden" / "every_eval_ever"
WORDS = ("The author", "The pilot", "The surgeon", "The farmer", "The manager", "The customer")


def own_pairs(path: Path) -> Path:
    """Twelve pairs of two paradigms, one of which is a tie."""
    rows = []
    for paradigm, (good, bad) in {"agreement": ("laughs", "laugh"), "order": ("smiles", "is")}.items():
        for number, subject in enumerate(WORDS):
            wrong = good if (paradigm, number) == ("order", 0) else bad
            rows.append(
                {"UID": paradigm, "pairID": number, "linguistics_term": "own", "field": "syntax"}
                | {"sentence_good": f"{subject} {good}.", "sentence_bad": f"{subject} {wrong}."}
            )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    pairs = own_pairs(folder / "pairs.jsonl")
    for model in ("tiny-causal", "tiny-masked"):
        run(model, limit=2, out=folder / "agreement", report=False)
    run(
        "tiny-causal",
        suite="minimal_pairs",
        data=pairs,
        methods=["full"],
        out=folder / "minimal_pairs",
        report=False,
    )
    run("tiny-masked", suite="german", limit=1, out=folder / "german", report=False)
    return folder


def tse(*words: object) -> str:
    said = CliRunner().invoke(app, ["export", *map(str, words)], catch_exceptions=False)
    assert said.exit_code == 0
    return said.output


# ---- items -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def items(runs) -> Path:
    tse("items", *(runs / name for name in ("agreement", "minimal_pairs", "german")), "--out", runs / "items")
    return runs / "items"


def templates() -> pd.DataFrame:
    return load_data("agreement_templates", "marvin_linzen").to_pandas()


@pytest.mark.slow
def test_items_of_pairs_have_their_sentences_and_their_model(items):
    found = pd.read_parquet(items / "agreement.pairs.parquet")
    assert found.columns[:5].tolist() == ["suite", "dataset", "config", "model", "revision"]
    assert set(found["model"]) == {"tiny-causal", "tiny-masked"}
    assert found["revision"].str.startswith("sha256:").all()
    shipped = templates().set_index("pair_id").loc[found["pair_id"]]
    for column in ("sentence_good", "sentence_bad"):
        assert found[column].tolist() == shipped[column].tolist()


def test_items_are_all_tables_that_have_items(items):
    names = {path.stem: pd.read_parquet(path) for path in items.iterdir()}
    assert set(names) == {"agreement.contexts", "agreement.pairs", "minimal_pairs", "german"}
    assert names["minimal_pairs"]["sentence_good"].notna().all() and len(names["minimal_pairs"]) == 12
    assert names["german"]["sentence"].notna().all()
    of_causal = names["agreement.contexts"].query("model == 'tiny-causal'")
    assert of_causal["sentence"].str.endswith("___").all(), "a causal model sees nothing after the gap"


def test_sentences_of_own_data_are_what_the_model_saw(tmp_path):
    """A causal model's contexts stand for all suffixes: which one a pair has is not stored."""
    pairs = pd.DataFrame(
        {
            "group": "own",
            "prefix": "The author",
            "suffix": [" today.", " here."],
            "form_correct": "laughs",
            "form_incorrect": "laugh",
            "number": "singular",
        }
    )
    pairs.to_csv(tmp_path / "own.csv", index=False)
    for model in ("tiny-causal", "tiny-masked"):
        run(model, data=str(tmp_path / "own.csv"), out=tmp_path / "run", report=False)
    tse("items", tmp_path / "run", "--out", tmp_path / "items")
    found = pd.read_parquet(tmp_path / "items" / "agreement.pairs.parquet").groupby("model")["sentence_good"]
    assert found.agg(list).to_dict() == {
        "tiny-causal": ["The author laughs", "The author laughs"],
        "tiny-masked": ["The author laughs today.", "The author laughs here."],
    }


def test_pairs_without_their_contexts_are_refused(runs, tmp_path):
    run("tiny-causal", limit=1, out=tmp_path, report=False)
    contexts = table_path(tmp_path, "contexts")
    contexts.unlink()
    said = CliRunner().invoke(app, ["export", "items", str(tmp_path), "--out", str(tmp_path / "items")])
    assert "it is missing. Run the same `tse run` command again" in str(said.exception)


# ---- Every Eval Ever -------------------------------------------------------------------------------------


def valid(content: dict, schema: str) -> None:
    jsonschema.Draft7Validator(json.loads((SCHEMAS / schema).read_text())).validate(content)


@pytest.fixture(scope="module")
def exported(runs) -> Path:
    folders = [runs / name for name in ("agreement", "minimal_pairs", "german")]
    tse(
        "every-eval-ever",
        *folders,
        "--organization",
        "me",
        "--items",
        "--out",
        runs / "eee",
    )
    return runs / "eee"


def records(folder: Path) -> dict[Path, dict]:
    return {path: json.loads(path.read_text()) for path in sorted(folder.rglob("*.json"))}


def test_records_are_valid_and_lie_where_the_datastore_wants_them(exported):
    found = records(exported)
    assert len(found) == 4
    for path, content in found.items():
        valid(content, "eval.schema.json")
        version = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
        place = path.relative_to(exported).as_posix()
        assert re.fullmatch(rf"data/refined-tse/local/tiny-(causal|masked)/{version}\.json", place)
        ids = [result["evaluation_result_id"] for result in content["evaluation_results"]]
        assert len(set(ids)) == len(ids)
        assert {
            result["metric_config"]["additional_details"]["level"] for result in content["evaluation_results"]
        } == {"overall", "group"}


def test_items_of_records_are_valid_and_belong_to_them(exported):
    with_items = 0
    for path, content in records(exported).items():
        reference = content.get("detailed_evaluation_results")
        if content["evaluation_id"].startswith("refined-tse.german"):
            assert reference is None, "a variation set is neither right nor wrong"
            continue
        with_items += 1
        written = (exported / reference["file_path"]).read_bytes()
        assert reference["file_path"] == f"{path.relative_to(exported).as_posix()[:-5]}_samples.jsonl"
        assert hashlib.sha256(written).hexdigest() == reference["checksum"]
        lines = [json.loads(line) for line in written.decode().splitlines()]
        assert len(lines) == reference["total_rows"]
        overall = {result["evaluation_result_id"]: result for result in content["evaluation_results"]}
        for line in lines[:20]:
            valid(line, "instance_level_eval.schema.json")
            assert line["evaluation_id"] == content["evaluation_id"]
        of_result = overall[lines[0]["evaluation_result_id"]]
        assert int(of_result["score_details"]["details"]["n"]) == len(lines)
        right = sum(line["evaluation"]["is_correct"] for line in lines) / len(lines)
        assert of_result["score_details"]["score"] == pytest.approx(right)
    assert with_items == 3


def test_exporting_twice_gives_the_same_files(exported, runs, tmp_path):
    tse("every-eval-ever", runs / "agreement", "--organization", "me", "--out", tmp_path)
    for path, content in records(tmp_path).items():
        before = json.loads((exported / path.relative_to(tmp_path)).read_text())
        assert content == {k: v for k, v in before.items() if k != "detailed_evaluation_results"}


def test_a_part_of_the_data_does_not_claim_to_be_the_released_data(exported):
    for content in records(exported).values():
        for result in content["evaluation_results"]:
            source = result["source_data"]
            assert source["source_type"] == "other"
            assert source["additional_details"]["whole_released_data"] == "false"


def test_records_hold_no_paths_of_this_machine(exported, runs):
    for content in records(exported).values():
        assert str(runs) not in json.dumps(content)


def test_an_unknown_relationship_is_refused(runs):
    asked = [
        "export",
        "every-eval-ever",
        str(runs / "minimal_pairs"),
        "--organization",
        "me",
        "--relationship",
        "self",
    ]
    assert "expected one of: first_party" in str(CliRunner().invoke(app, asked).exception)


# ---- lm-evaluation-harness -------------------------------------------------------------------------------


class _Tagged(yaml.SafeLoader):
    """Reads the harness's tag as the function's name."""


_Tagged.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


@pytest.fixture(scope="module")
def tasks(runs) -> Path:
    tse("lm-eval", runs / "lm-own", "--suite", "minimal_pairs", "--data", runs / "pairs.jsonl")
    tse("lm-eval", runs / "lm-tse", "--limit", 2)
    return runs


def test_tasks_are_one_for_each_group_and_one_for_all(tasks):
    files = {path.stem: yaml.load(path.read_text(), _Tagged) for path in (tasks / "lm-own").glob("*.yaml")}
    assert set(files) == {"tse_pairs", "tse_pairs_agreement", "tse_pairs_order"}
    assert files["tse_pairs"]["task"] == ["tse_pairs_agreement", "tse_pairs_order"]
    assert files["tse_pairs"]["aggregate_metric_list"][0]["weight_by_size"] is False  # mean over paradigms
    whole = yaml.safe_load((tasks / "lm-tse" / "tse_marvin_linzen.yaml").read_text())
    assert whole["aggregate_metric_list"][0]["weight_by_size"] is True  # mean over pairs
    assert len(whole["task"]) == 9


def test_a_task_loads_its_pairs_with_the_acceptable_answer_second(tasks):
    """Of equal scores the harness takes the first answer, and a tie must not be correct."""
    task = yaml.load((tasks / "lm-tse" / "tse_marvin_linzen_simple.yaml").read_text(), _Tagged)
    module, _, function = task["custom_dataset"].partition(".")
    load_pairs = runpy.run_path(str(tasks / "lm-tse" / f"{module}.py"))[function]
    rows = load_pairs(**task["metadata"], **task["dataset_kwargs"])[task["test_split"]]
    assert set(rows["group"]) == {"Simple"} and len(rows) == 2
    pair = templates().set_index("pair_id").loc[int(rows[0]["item"])]
    assert rows[0][task["doc_to_text"]] == pair["prefix"]
    assert rows[0][task["doc_to_choice"]] == [f" {pair['form_incorrect']}", f" {pair['form_correct']}"]
    assert task["doc_to_target"] == 1 and task["target_delimiter"] == ""


def test_groups_of_like_names_and_other_suites_in_the_folder_keep_their_tasks(tmp_path):
    for name, groups in (("one", ["Order", "order", "number"]), ("two", ["number"])):
        same = {"linguistics_term": "x", "field": "y", "sentence_good": "It is."}
        pairs = pd.DataFrame({"UID": groups, **same, "sentence_bad": f"It are {name}."})
        pairs.to_csv(tmp_path / f"{name}.csv", index=False)
        tse("lm-eval", tmp_path / "out", "--suite", "minimal_pairs", "--data", tmp_path / f"{name}.csv")
    tasks = [yaml.load(path.read_text(), _Tagged) for path in (tmp_path / "out").glob("tse_*.yaml")]
    load_pairs = runpy.run_path(str(tmp_path / "out" / "lm_eval_pairs.py"))["load"]
    found = sorted(
        (task["task"], task["task_alias"], load_pairs(**task["dataset_kwargs"])["test"]["choices"][0][0])
        for task in tasks
        if "dataset_kwargs" in task
    )
    assert [(name, group, text.split()[-1]) for name, group, text in found] == [
        ("tse_one_number", "number", "one."),
        ("tse_one_order", "Order", "one."),
        ("tse_one_order_2", "order", "one."),
        ("tse_two_number", "number", "two."),
    ]


def test_fewer_groups_leave_no_tasks_of_an_earlier_export(tmp_path):
    """Their pairs are not in the new table, so that such a task had no items."""
    out, asked = tmp_path / "out", ["--suite", "minimal_pairs", "--data", own_pairs(tmp_path / "pairs.jsonl")]
    tse("lm-eval", out, *asked)
    changed, mine = out / "tse_pairs_agreement.yaml", out / "tse_pairs_mine.yaml"
    changed.write_text(changed.read_text() + "# mine\n")
    mine.write_text("task: tse_pairs_mine\n")
    tse("lm-eval", out, *asked, "--groups", "agreement")
    assert {path.stem for path in out.glob("*.yaml")} == {
        "tse_pairs",
        "tse_pairs_agreement",
        "tse_pairs_mine",
    }
    tse("lm-eval", out, *asked)
    changed.write_text(changed.read_text() + "# mine\n")
    tse("lm-eval", out, *asked, "--groups", "order")
    assert {path.stem for path in out.glob("*.yaml")} == {
        "tse_pairs",
        "tse_pairs_agreement",
        "tse_pairs_mine",
        "tse_pairs_order",
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--suite", "german"], "which other tools compare; expected agreement or minimal_pairs"),
        (
            ["--suite", "minimal_pairs", "--data", "PAIRS", "--linking", "mean_token"],
            "compared by mean_token",
        ),
        (["--forms", "all"], "forms has no effect on tasks"),
        (["--lemmas", "clean"], "lemmas has no effect on tasks"),
    ],
)
def test_what_is_no_choice_by_sums_is_refused(runs, tmp_path, options, message):
    options = [str(runs / "pairs.jsonl") if word == "PAIRS" else word for word in options]
    said = CliRunner().invoke(app, ["export", "lm-eval", str(tmp_path / "out"), *options])
    assert message in str(said.exception) and not (tmp_path / "out").exists()


def test_the_harness_finds_the_tasks(tasks, capsys, monkeypatch):
    """`lm-eval validate`, in this process, without the thousands of tasks that the harness has, which take seconds."""
    pytest.importorskip("lm_eval", reason="needs lm-eval (pip install -e '.[test]')")
    from lm_eval._cli.validate import Validate
    from lm_eval.tasks import TaskManager

    monkeypatch.setattr("lm_eval.tasks.TaskManager", partial(TaskManager, include_defaults=False))
    parser = ArgumentParser()
    Validate(parser.add_subparsers())
    where = ["--include_path", str(tasks / "lm-tse")]
    asked = parser.parse_args(["validate", "--tasks", "tse_marvin_linzen,tse_marvin_linzen_simple", *where])
    asked.func(asked)
    assert "All tasks found and valid" in capsys.readouterr().out
    unknown = parser.parse_args(["validate", "--tasks", "tse_marvin_linzen,tse_nothing", *where])
    with pytest.raises(SystemExit):
        unknown.func(unknown)
    assert "Tasks not found: tse_nothing" in capsys.readouterr().out


def test_the_harness_computes_the_same_accuracies(tasks):
    """Also with a tie, which the harness counts as correct in its own tasks."""
    pytest.importorskip("lm_eval", reason="needs lm-eval (pip install -e '.[test]')")
    from lm_eval import simple_evaluate
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    model = Path(tse_scorers.__file__).parent / "bundled_models" / "tiny-causal"
    scorer = HFLM(pretrained=str(model), dtype="float32", device="cpu", batch_size=8)
    include = [str(tasks / "lm-own"), str(tasks / "lm-tse")]
    manager = TaskManager(include_path=include, include_defaults=False)
    found = simple_evaluate(scorer, tasks=["tse_pairs", "tse_marvin_linzen"], task_manager=manager)["results"]
    rows = read_results(tasks / "minimal_pairs")["results"]
    ours = {row["group"]: row for row in rows if row["metric"] == "accuracy"}
    assert ours["all"]["n_ties"] == 1 and 0 < ours["all"]["score"] < 1
    assert found["tse_pairs"]["acc,none"] == pytest.approx(ours["all"]["score"])
    for paradigm in ("agreement", "order"):
        theirs = found[f"tse_pairs_{paradigm}"]["acc,none"]
        assert theirs == pytest.approx(ours[paradigm]["score"])
    rows = read_results(tasks / "agreement")["results"]
    tse_rows = [row for row in rows if row["metric"] == "tse" and row["model"] == "tiny-causal"]
    (overall,) = (row["score"] for row in tse_rows if row["group"] == "all")
    assert found["tse_marvin_linzen"]["acc,none"] == pytest.approx(overall)
