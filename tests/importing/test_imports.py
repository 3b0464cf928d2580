"""`tse import`: logs of other tools are compared with our own runs, item by item, and are not believed blindly.

The logs in `tests/golden/imports` were made by the tools themselves; `make_logs.py` there says how.
"""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from typer.testing import CliRunner

import tse_scorers
from tse_scorers import run
from tse_scorers.cli.app import app
from tse_scorers.importing import inspect_logs
from tse_scorers.io.records import read_records

pytestmark = pytest.mark.usefixtures("no_reports")  # `imported`, which is made before, writes them

LOGS = Path(__file__).resolve().parents[1] / "golden" / "imports"
PAIRS = LOGS / "pairs.jsonl"


def tse(*words: object) -> str:
    said = CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)
    assert said.exit_code == 0
    return " ".join(said.output.split())


def refused(*words: object) -> str:
    error = CliRunner().invoke(app, list(map(str, words))).exception
    assert isinstance(error, ValueError)
    return str(error)


def compared(tmp_path: Path, *words: object) -> pd.DataFrame:
    tse("compare", *words, "--out", tmp_path / "compared", "--json", tmp_path / "rows.json")
    return pd.DataFrame(json.loads((tmp_path / "rows.json").read_text()))


def scores(folder: Path, config: str) -> pd.DataFrame:
    (record,) = (each for each in read_records(folder) if each.identity["config"] == config)
    return record.read()["scores"].to_pandas().query("method == 'full'").reset_index(drop=True)


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """The harness's logs, imported, and our runs on the same items."""
    folder = tmp_path_factory.mktemp("imported")
    said = tse("import", "lm-eval", LOGS / "lm_eval", "--out", folder / "theirs")
    run("tiny-causal", suite="minimal_pairs", data=PAIRS, out=folder / "pairs", report=False)
    source = folder / "theirs" / "data" / "lm_syneval.jsonl"
    run("tiny-causal", suite="minimal_pairs", data=source, out=folder / "syneval", report=False)
    tse("compare", folder / "theirs", folder / "pairs", folder / "syneval", "--out", folder / "compared")
    assert all((folder / out / "report.html").is_file() for out in ("theirs", "compared"))
    return SimpleNamespace(folder=folder, theirs=folder / "theirs", said=said)


def edited_log(folder: Path, **changes: object) -> Path:
    """A copy of the harness's logs with other values in `results_….json`."""
    logs = folder / "logs"
    shutil.copytree(LOGS / "lm_eval", logs)
    (path,) = logs.rglob("results_*.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return logs


def edited_line(folder: Path, **changes: object) -> Path:
    """A copy of the harness's logs with other values in the first line of a task."""
    logs = edited_log(folder)
    (path,) = logs.rglob("samples_tse_pairs_order_*.jsonl")
    first, *rest = path.read_text().splitlines()
    path.write_text("\n".join([json.dumps(json.loads(first) | changes), *rest]) + "\n")
    return logs


# ---- lm-evaluation-harness -------------------------------------------------------------------------------


@pytest.mark.parametrize(("data", "own", "n"), [("pairs", "pairs", 12), ("lm_syneval", "syneval", 60)])
def test_logs_of_the_harness_equal_our_own_runs(imported, tmp_path, data, own, n):
    """Same model, same items: each group differs by 0, and each sentence has the same log-probability.

    `lm_syneval` is the harness's own Marvin and Linzen, on all of our 15 constructions. A tie is right there and wrong
    here, and is not in these 60 items.
    """
    rows = compared(tmp_path, imported.theirs, imported.folder / own)
    assert (rows["difference"] == 0).all() and rows["config"].unique().tolist() == [data]
    overall = rows[rows["group"] == "all"].iloc[0]
    assert overall["n_items"] == n and overall["n_excluded"] == 0 and not overall["different"]
    theirs, ours = scores(imported.theirs, data), scores(imported.folder / own, data)
    for side in ("good", "bad"):
        assert (theirs[f"sentence_{side}"] == ours[f"sentence_{side}"]).all()
        assert theirs[f"logprob_{side}"].to_numpy() == pytest.approx(
            ours[f"logprob_{side}"].to_numpy(), abs=1e-4
        )
    if data == "lm_syneval":
        groups = rows.loc[rows["level"] == "paradigm", "group"]
        assert len(groups) == 15 and "lm_syneval__agreement__simple_agrmt" in set(groups)


@pytest.mark.slow
def test_all_of_the_harness_marvin_and_linzen_is_our_own_run(upstream, tmp_path):
    """`lm_syneval` of lm-eval 0.4.13 as it is: 72 tasks in 22 constructions, 2,200 pairs, on tiny-causal.

    Its data set is on the Hub; the sentences are those of CLAMS, which has the same English constructions, shared
    between the tasks of each.
    """
    lm_eval = pytest.importorskip("lm_eval", reason="needs lm-evaluation-harness")
    of_harness = Path(lm_eval.__file__).parent / "tasks" / "lm_syneval"
    tasks = tmp_path / "tasks"
    shutil.copytree(of_harness, tasks)
    of_construction: dict[str, list[Path]] = {}
    for path in sorted(tasks.glob("lm_syneval__*.yaml")):
        of_construction.setdefault(path.name.split("__")[2], []).append(path)
    n_pairs = 0
    for construction, paths in of_construction.items():
        lines = (upstream / "clams" / "en_evalset" / f"{construction}.txt").read_text("utf-8").splitlines()
        texts = [line.split("\t")[1].strip() for line in lines if line.strip()]
        pairs = [
            {"sentence_good": good, "sentence_bad": bad}
            for good, bad in zip(texts[::2], texts[1::2], strict=True)
        ]
        pairs = list({tuple(pair.values()): pair for pair in pairs}.values())
        n_pairs += len(pairs)
        for number, path in enumerate(paths):
            data = path.with_suffix(".jsonl")
            data.write_text(
                "".join(json.dumps(pair) + "\n" for pair in pairs[number :: len(paths)]), encoding="utf-8"
            )
            own = f"dataset_path: json\ndataset_kwargs:\n  data_files:\n    test: {data}\n"
            kept = [line for line in path.read_text().splitlines() if not line.startswith("dataset_name")]
            path.write_text("\n".join(kept) + "\n" + own)
    assert len(of_construction) == 22 and sum(map(len, of_construction.values())) == 72
    bundled = Path(tse_scorers.__file__).parent / "bundled_models" / "tiny-causal"
    shutil.copytree(bundled, tmp_path / "tiny-causal")
    script = "import sys; from lm_eval.__main__ import cli_evaluate; sys.exit(cli_evaluate())"
    options = "run --model hf --model_args pretrained=tiny-causal,dtype=float32 --device cpu --batch_size 64 --tasks "
    options += "lm_syneval --include_path tasks --output_path logs --log_samples"
    subprocess.run([sys.executable, "-c", script, *options.split()], check=True, cwd=tmp_path)

    said = tse("import", "lm-eval", tmp_path / "logs", "--out", tmp_path / "theirs")
    assert f"{n_pairs:,} of {n_pairs:,} items of the log" in said
    run(
        "tiny-causal",
        suite="minimal_pairs",
        data=tmp_path / "theirs" / "data" / "lm_syneval.jsonl",
        out=tmp_path / "ours",
        report=False,
    )
    rows = compared(tmp_path, tmp_path / "theirs", tmp_path / "ours")
    overall = rows[rows["group"] == "all"].iloc[0]
    assert overall["n_items"] == n_pairs and (rows["difference"] == 0).all()
    assert (rows["level"] == "paradigm").sum() == 72
    theirs, ours = scores(tmp_path / "theirs", "lm_syneval"), scores(tmp_path / "ours", "lm_syneval")
    for side in ("good", "bad"):
        assert theirs[f"logprob_{side}"].to_numpy() == pytest.approx(
            ours[f"logprob_{side}"].to_numpy(), abs=1e-4
        )


def test_the_record_says_by_which_tool_and_convention_it_was_scored(imported):
    (record,) = (each for each in read_records(imported.theirs) if each.identity["config"] == "lm_syneval")
    said = {"tool": "lm-eval 0.4.13", "first_token": "given the start token", "normalization": "none"}
    assert said.items() <= record.signature.items() and record.signature["dtype"] == "float32"
    assert "scored by lm-eval 0.4.13: 12 of 12 items of the log" in imported.said
    assert (
        "Ties: 1, which are not correct here; lm-eval 0.4.13 counts 11 items as right in all" in imported.said
    )


def test_another_first_token_is_not_compared_without_a_word(imported, tmp_path):
    """Without a start token, the harness takes the end token; our scores are given something else."""
    logs = edited_log(tmp_path, tokenizer_bos_token=[None, "None"])
    tse("import", "lm-eval", logs, "--out", tmp_path / "theirs", "--task", "tse_pairs")
    folders = tmp_path / "theirs", imported.folder / "pairs"
    unlike = "first token (given the start token; given the end token)"
    assert unlike in refused("compare", *folders, "--out", tmp_path / "compared")
    rows = compared(tmp_path, *folders, "--allow-different")
    assert (rows["different"] == unlike).all() and (rows["difference"] == 0).all()


def test_a_start_token_that_opens_chat_turns_is_named(tmp_path):
    logs = edited_log(tmp_path, tokenizer_bos_token=["<|im_start|>", "1"])
    said = tse("import", "lm-eval", logs, "--out", tmp_path / "out", "--task", "tse_pairs")
    assert "first token of a sentence: given <|im_start|>, which opens turns of a chat" in said


def test_a_log_that_does_not_name_the_start_token_says_so(imported, tmp_path):
    """Logs of servers lack it; whether the first tokens are alike is then unknown, not unlike."""
    logs = edited_log(tmp_path, tokenizer_bos_token=None)
    said = tse("import", "lm-eval", logs, "--out", tmp_path / "theirs", "--task", "tse_pairs")
    assert (
        "first token of a sentence: the log does not say; the harness takes bos_token, else eos_token" in said
    )
    assert (compared(tmp_path, tmp_path / "theirs", imported.folder / "pairs")["difference"] == 0).all()


def test_an_import_is_not_run_again(imported):
    assert "was imported from a log of lm-eval 0.4.13" in refused("rerun", imported.theirs)


def test_items_are_found_in_named_data_and_what_is_not_there_is_counted(tmp_path):
    own = tmp_path / "half.jsonl"
    lines = PAIRS.read_text().splitlines()
    extra = json.dumps(
        json.loads(lines[0]) | {"pairID": 99, "sentence_good": "It is.", "sentence_bad": "It are."}
    )
    own.write_text("\n".join([*lines[:6], extra]) + "\n")
    said = tse(
        "import",
        "lm-eval",
        LOGS / "lm_eval",
        "--task",
        "tse_pairs",
        "--data",
        own,
        "--out",
        tmp_path / "out",
    )
    assert "6 of 12 items of the log" in said
    assert "Not in the data: 6 items of the log, for instance 'The author smiles.'" in said
    assert "Not in the log: 1 of the 7 items of the data" in said
    assert scores(tmp_path / "out", "half")["pair_id"].tolist() == list(range(6))


def test_exported_agreement_tasks_become_tse_of_the_same_pairs(tmp_path):
    """Many pairs have the same left context and verb; the number in the task says which of them was asked."""
    own = tmp_path / "own"
    run("tiny-causal", groups=["Simple", "VP coordination"], limit=2, out=own, report=False)
    (record,) = read_records(own)
    tables = {
        name: table.to_pandas() for name, table in record.read().items() if name in ("pairs", "contexts")
    }
    context = tables["contexts"].drop_duplicates("context_id").set_index("context_id")["prefix"]
    logs = tmp_path / "logs" / "tiny-causal"
    logs.mkdir(parents=True)
    (results,) = LOGS.rglob("results_*.json")
    content = json.loads(results.read_text())
    config = content["configs"]["tse_pairs_order"]
    kwargs = {"group": "Simple", "pairs": "tse_marvin_linzen.parquet"}
    task = {**config, "dataset_kwargs": kwargs, "metadata": {"suite": "agreement", "data": "marvin_linzen"}}
    (logs / "results_now.json").write_text(
        json.dumps(content | {"configs": {"tse_ml": task}, "group_subtasks": {}})
    )
    with (logs / "samples_tse_ml_now.jsonl").open("w") as file:
        for number, pair in enumerate(tables["pairs"].to_dict("records")):
            sides = [
                (f" {pair[f'form_{side}']}", pair[f"logprob_{side}"]) for side in ("incorrect", "correct")
            ]
            prefix = context[pair["context_id"]]
            arguments = {
                f"gen_args_{n}": {"arg_0": prefix, "arg_1": text} for n, (text, _) in enumerate(sides)
            }
            doc = {"group": pair["group"], "item": str(pair["pair_id"]), "context": prefix}
            answers = [[repr(value), "False"] for _, value in sides]
            line = {"doc_id": number, "doc": doc | {"choices": [text for text, _ in sides]}, "target": "1"}
            file.write(json.dumps(line | {"arguments": arguments, "filtered_resps": answers}) + "\n")
    said = tse("import", "lm-eval", tmp_path / "logs", "--out", tmp_path / "theirs")
    assert "tiny-causal on marvin_linzen, scored by lm-eval 0.4.13: 4 of 4 items" in said
    rows = compared(tmp_path, tmp_path / "theirs", own)
    assert set(rows["measure"]) == {"TSE"} and (rows["difference"] == 0).all()
    assert rows.loc[rows["group"] == "all", "n_items"].item() == 4
    words = ["import", "lm-eval", tmp_path / "logs", "--suite", "agreement", "--out", tmp_path / "other"]
    assert "forms has no effect on imported scores" in refused(*words, "--forms", "all")
    edited = (logs / "samples_tse_ml_now.jsonl").read_text().splitlines()
    first = json.loads(edited[0])
    first["filtered_resps"] = [["-2e6", "False"], ["-1e6", "False"]]
    (logs / "samples_tse_ml_now.jsonl").write_text("\n".join([json.dumps(first), *edited[1:]]) + "\n")
    said = refused("import", "lm-eval", tmp_path / "logs", "--out", tmp_path / "edited")
    assert "-2e+06" in said and "expected a natural log-probability" in said


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"acc": 1.0, "target": "0", "filtered_resps": [["-5", "False"], ["-4", "False"]]}, "has acc 1.0, but the"),
        ({"filtered_resps": [["0.5", "False"], ["-4", "False"]]}, "has the log-probability 0.5; expected"),
        ({"doc": ["a"]}, 'line 1: doc is ["a"]; expected keys and values'),
    ],
)  # fmt: skip
def test_a_log_that_contradicts_itself_is_refused(tmp_path, changes, message):
    logs = edited_line(tmp_path, **changes)
    assert message in refused("import", "lm-eval", logs, "--out", tmp_path / "out")
    assert not (tmp_path / "out" / "runs").exists()


def test_an_item_in_several_lines_is_refused(tmp_path):
    """Logs that were put together counted each item twice."""
    logs = edited_log(tmp_path)
    (path,) = logs.rglob("samples_tse_pairs_order_*.jsonl")
    path.write_text(path.read_text() * 2)
    said = refused("import", "lm-eval", logs, "--out", tmp_path / "out")
    assert "holds item 0 in several lines; expected one line for each item" in said


def test_tasks_that_are_no_choices_are_named(tmp_path):
    logs = edited_line(tmp_path, filtered_resps=["a text", "another"])
    said = tse("import", "lm-eval", logs, "--out", tmp_path / "out")
    assert "Not imported: tse_pairs_order, because its answers have no log-probabilities." in said
    assert len(scores(tmp_path / "out", "pairs")) == 6
    logs = edited_line(tmp_path / "none", filtered_resps=[])
    said = tse("import", "lm-eval", logs, "--out", tmp_path / "none" / "out")
    assert (
        "because its items have 0 scored answers; expected 2." in said
    )  # it said `have 2 answers; expected 2`


def test_what_is_no_log_is_refused_with_what_was_expected(tmp_path):
    assert "does not contain results_*.json; expected what lm-evaluation-harness" in refused(
        "import", "lm-eval", tmp_path
    )
    (tmp_path / "results_1.json").write_bytes(b"\x80\x04")
    assert "results_1.json: it is not UTF-8 text" in refused("import", "lm-eval", tmp_path)
    (tmp_path / "results_1.json").write_text("[" * 100_000)
    assert "the JSON is nested too deeply" in refused("import", "lm-eval", tmp_path)
    (tmp_path / "results_1.json").write_text(
        '{"config": {}, "configs": {"../../x": {}}, "group_subtasks": {"a": ["a"]}}'
    )
    assert "Run the harness again with --log_samples" in refused("import", "lm-eval", tmp_path)
    assert "Did you mean tse_pairs" in refused("import", "lm-eval", LOGS / "lm_eval", "--task", "tse_pair")


# ---- Inspect ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["eval", "json"])
def test_answers_in_a_log_of_inspect_are_the_choices_of_our_own_run(imported, tmp_path, ending):
    """The model answered with the sentence that `transformers` alone finds more probable."""
    said = tse("import", "inspect", LOGS / f"grammar.{ending}", "--data", PAIRS, "--out", tmp_path / "out")
    assert "scored by inspect_ai 0.3.285: 12 of 12 items" in said
    found, ours = scores(tmp_path / "out", "pairs"), scores(imported.folder / "pairs", "pairs")
    assert found["correct"].tolist() == ours["correct"].tolist() and found["correct"].sum() == 11
    assert found["logprob_good"].isna().all() and not found["tie"].any()
    (record,) = read_records(tmp_path / "out")
    (overall,) = (row for row in record.rows() if row.value == "" and row.level == "all")
    assert (overall.score, overall.n, overall.n_nonfinite, overall.n_ties) == (
        pytest.approx(11 / 12),
        12,
        0,
        0,
    )


def test_a_wrong_answer_in_a_log_of_inspect_is_one_wrong_item(tmp_path):
    log = json.loads((LOGS / "grammar.json").read_text())
    log["samples"][7]["scores"]["choice"]["value"] = "I"
    (tmp_path / "log.json").write_text(json.dumps(log))
    tse("import", "inspect", tmp_path / "log.json", "--data", PAIRS, "--out", tmp_path / "out")
    assert scores(tmp_path / "out", "pairs").query("correct == 0").index.tolist() == [6, 7]


def test_written_answers_are_not_compared_with_log_probabilities_without_a_word(imported, tmp_path):
    tse(
        "import",
        "inspect",
        LOGS / "grammar.eval",
        "--data",
        PAIRS,
        "--out",
        tmp_path / "out",
        "--name",
        "written",
    )
    folders = tmp_path / "out", imported.folder / "pairs"
    unlike = "kind of answer (log-probabilities; written answers (solver multiple_choice; scorer choice))"
    assert unlike in refused("compare", *folders, "--out", tmp_path / "compared")
    rows = compared(tmp_path, *folders, "--allow-different")
    assert rows.loc[rows["group"] == "all", "reference_score"].item() == pytest.approx(11 / 12)
    assert (rows["difference"] == 0).all()
    assert (rows["different"] == unlike).all()


def test_archives_that_are_damaged_or_too_large_are_refused(tmp_path, monkeypatch):
    packed = (LOGS / "grammar.eval").read_bytes()
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(LOGS / "grammar.eval") as archive:
        start = archive.getinfo("header.json").header_offset
    path.write_bytes(packed[: start + 60] + b"\0" * 20 + packed[start + 80 :])
    assert "could not be read" in refused("import", "inspect", path, "--out", tmp_path / "out")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("samples/1_epoch_1.json", "{}")
    assert "has no header.json; expected a log of inspect_ai" in refused("import", "inspect", path)
    monkeypatch.setattr(inspect_logs.limits, "ARCHIVE_BYTES", 1000)
    assert "unpacked" in refused("import", "inspect", LOGS / "grammar.eval", "--out", tmp_path / "out")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("lm-eval", LOGS / "lm_eval", "--task", "tse_pairs", "--suite", "german"), "german"),
        (("inspect", LOGS / "grammar.eval", "--scorer", "nobody"), "nobody"),
        (("inspect", LOGS / "grammar.eval", "--suite", "german"), "german"),
    ],
)
def test_what_does_not_fit_the_log_is_refused_by_name(tmp_path, words, said):
    assert said in refused("import", *words, "--out", tmp_path / "out")


@pytest.mark.parametrize(
    "log", [("lm-eval", LOGS / "lm_eval", "--task", "tse_pairs"), ("inspect", LOGS / "grammar.eval")]
)
def test_the_same_name_with_other_items_needs_overwrite(tmp_path, log):
    """As in a run: what is there is not replaced unasked, and is with --overwrite."""
    half = tmp_path / "mine.jsonl"
    half.write_text("\n".join(PAIRS.read_text().splitlines()[:6]) + "\n")
    common = ("--name", "theirs", "--out", tmp_path / "out", "--data", half)
    tse("import", *log, *common)
    assert "6 of 12 items of the log" in tse("import", *log, *common, "--overwrite")


# ---- what a stranger's folder or log may hold ------------------------------------------------------------


def test_data_are_not_written_through_a_link_out_of_the_folder(tmp_path):
    """A `data` folder that was a link let a stranger's folder choose where the pairs were written."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "data").symlink_to(tmp_path / "mine")
    error = refused("import", "lm-eval", LOGS / "lm_eval", "--out", tmp_path / "theirs")
    assert "is a link to" in error and not list((tmp_path / "mine").iterdir())


def test_a_text_with_half_a_character_is_refused(tmp_path):
    """Python writes no such text; the import ended in an error of the encoder."""
    logs = edited_line(
        tmp_path, doc={"sentence_good": "The \ud800 cat eats.", "sentence_bad": "The cat eat."}
    )
    error = refused("import", "lm-eval", logs, "--out", tmp_path / "theirs", "--task", "tse_pairs")
    assert "half of a character" in error and "samples_tse_pairs_order" in error
