"""The command line as a person meets it: what it leaves, and one paragraph that says what to do for every error."""

import json
import os
import re
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch
import typer
from launching import forked
from run_records import read_results, table_path
from tiny import tiny_model

from tse_scorers import make_suite
from tse_scorers.cli import app as cli
from tse_scorers.cli.options import MODEL_OPTIONS, SUITE_OPTIONS, as_written
from tse_scorers.cli.usage import PANELS
from tse_scorers.models.options import ModelOptions
from tse_scorers.suites.registry import all_measures, find_suite

LEMMAS = "singular,plural\nlaughs,laugh\nlikes,like\nknows,know\nis,are\nhas,have\n"
PAIRS = (
    "group,prefix,suffix,form_correct,form_incorrect,number\n"
    "Simple,The author,.,laughs,laugh,singular\n"
    "Simple,The senators near the guard,.,laugh,laughs,plural\n"
    "Other,The movie near the pilot, old.,is,are,singular\n"
)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Folders of a masked and a causal model, and of one whose weights are NaN."""
    folder = tmp_path_factory.mktemp("models")
    for name, kind, family in (
        ("bert", "masked", "bert"),
        ("gpt2", "causal", "gpt2"),
        ("nan", "masked", "bert"),
    ):
        model, tokenizer = tiny_model(kind, family)
        model.save_pretrained(folder / name)
        tokenizer.save_pretrained(folder / name)
    from safetensors.torch import load_file, save_file

    weights = folder / "nan" / "model.safetensors"
    broken = {name: torch.full_like(tensor, torch.nan) for name, tensor in load_file(weights).items()}
    save_file(broken, weights, metadata={"format": "pt"})
    return folder


@pytest.fixture
def data(tmp_path):
    (tmp_path / "pairs.csv").write_text(PAIRS)
    (tmp_path / "lemmas.csv").write_text(LEMMAS)
    return tmp_path


@pytest.fixture
def tse(monkeypatch, capfd):
    """Call the command with these arguments; returns (exit code, standard output, standard error)."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["tse", *map(str, arguments)])
        try:
            cli.main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        return code, *capfd.readouterr()

    return call


@pytest.fixture
def refused(tse):
    """Call the command, which must fail with one paragraph; returns that."""

    def call(*arguments):
        code, _, error = tse(*arguments)
        assert code == 2
        assert "Traceback" not in error
        said = error[error.rindex("tse: ") :].strip() if "tse: " in error else error
        assert "\n" not in said, said
        assert len(said) < 1000
        return said

    return call


def run_on(data, model, *more):
    files = {"--data": data / "pairs.csv", "--lemmas": data / "lemmas.csv"}
    own = [part for option, file in files.items() if option not in more for part in (option, file)]
    return ("run", "--model", model, *own, "--no-report", "--out", data / "out", *more)


def test_a_run_leaves_results_scores_and_a_report(tse, data, models):
    command = run_on(data, models / "bert", "--model", models / "gpt2")
    code, output, error = tse(*(part for part in command if part != "--no-report"))
    assert code == 0, error
    out = data / "out"
    assert str(out / "report.html") in output
    assert {path.name for path in out.iterdir()} >= {"results.json", "runs", "report.html", "tables.csv"}
    results = json.loads((out / "results.json").read_text())
    assert {row["model"] for row in results["results"]} == {str(models / "bert"), str(models / "gpt2")}
    assert {row["group"] for row in results["results"]} == {"all", "Simple", "Other"}
    assert {key for row in results["results"] for key in row} == {
        "suite", "dataset", "config", "model", "revision", "group", "level", "value", "metric",
        "cutoff_side", "cutoff", "score", "n",
        "n_excluded", "n_ties", "se", "ci_low", "ci_high", "unit", "n_units", "n_units_effective", "n_lemmas",
        "reliable", "forms", "word_end", "lemmas_scored", "n_lemmas_listed", "n_different_lengths", "n_equal_forms",
        "n_several_tokens", "n_unknown",
    }  # fmt: skip
    assert len(list(out.glob("runs/*/*.parquet"))) == 12


def test_groups_and_limit(tse, data, models):
    code, _, error = tse(*run_on(data, models / "bert", "--groups", "Simple", "--limit", "1"))
    assert code == 0, error
    rows = json.loads((data / "out" / "results.json").read_text())["results"]
    assert {row["group"] for row in rows} == {"all", "Simple"}
    assert {row["n"] + row["n_excluded"] for row in rows} == {1}


def test_what_is_there_is_replaced_on_demand_only(tse, refused, data, models):
    assert tse(*run_on(data, models / "bert"))[0] == 0
    said = refused(*run_on(data, models / "bert", "--limit", "1"))
    assert "(limit was not given and is 1)" in said and "--out" in said and "--overwrite" in said
    code, _, error = tse(*run_on(data, models / "bert", "--limit", "1", "--overwrite"))
    assert code == 0, error


def test_version(tse):
    from importlib.metadata import version

    code, output, _ = tse("--version")
    assert code == 0 and output.strip() == f"tse (refined-tse) {version('refined-tse')}"


def test_help_waits_for_nothing_that_it_does_not_need():
    """Every `--help` and every mistyped option took seconds."""
    asked = "import sys, tse_scorers.cli"
    asked += "; print(*{'torch', 'datasets', 'pandas', 'transformers'} & set(sys.modules))"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", asked], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


@pytest.mark.parametrize("command", ["run", "score", "doctor"])
def test_each_option_says_its_default_and_why(command):
    options = typer.main.get_command(cli.app).commands[command].params
    chosen = [each for each in options if each.opts[0].startswith("--") and not each.required]
    silent = [
        each.opts[0] for each in chosen if not re.search(r"Default: .*\b(because|so that)\b", each.help)
    ]
    assert chosen and silent == []


def test_the_command_line_has_the_options_of_models_and_suites():
    of_suites = {each.name for suite in all_measures() for each in fields(find_suite(suite).Options)}
    assert set(SUITE_OPTIONS) == of_suites and set(MODEL_OPTIONS) == {
        each.name for each in fields(ModelOptions)
    }


@pytest.mark.parametrize("suite", ["", *all_measures(), "blimp", "variation_sets"])
def test_help_fits_two_screens(tse, suite, monkeypatch):
    """Everyday options come first; a suite's own are shown where it is named, before or after `--help`."""
    monkeypatch.setenv("COLUMNS", "80")
    named = ["--suite", suite] if suite else []
    _, shown, _ = tse("run", "--help", *named)
    assert len(shown.splitlines()) < 90
    everyday, _, others = shown.partition("─ Model ─")
    assert everyday.index("─ Everyday ─") < everyday.index("--model")
    groups = [] if suite in ("german", "variation_sets") else ["--groups"]
    eight = ["--model", "--suite", "--data", *groups, "--limit", "--out", "--device", "--dtype"]
    assert re.findall("│ (--[a-z]+)", everyday.split("╰")[0]) == eight
    assert ("--lemmas" in everyday) == (suite == "agreement") and "--start-token" in others
    assert ("--methods" in shown) == (suite in ("blimp", "minimal_pairs"))
    assert tse("run", *named, "--help")[1] == shown


def test_help_groups_all_commands(tse):
    _, shown, _ = tse("--help")
    assert shown.index("─ Evaluate ─") < shown.index(" run ") < shown.index("─ Compare ─")
    commands = {name for names in PANELS.values() for name in names}
    assert commands == set(typer.main.get_command(cli.app).commands)


def test_a_package_that_is_not_installed(refused, data, monkeypatch):
    monkeypatch.setitem(sys.modules, "kenlm", None)
    (data / "model.arpa").write_text("")
    said = refused(*run_on(data, data / "model.arpa"))
    assert "pip install 'refined-tse[ngram]'" in said


def test_no_command_shows_what_there_is(tse):
    code, output, error = tse()
    assert code in (0, 2) and "run" in output + error and "Traceback" not in error


def test_bad_model_id(refused, data):
    said = refused(*run_on(data, "org/no-such-model"))
    assert "'org/no-such-model' could not be loaded" in said and "tiny-masked" in said


def test_missing_model_folder(refused, data):
    assert "There is no folder" in refused(*run_on(data, data / "nothing-here"))


def test_model_without_mask_token(refused, data, models):
    said = refused(*run_on(data, models / "gpt2", "--kind", "masked"))
    assert "no mask token" in said and "--kind causal" in said


def test_masked_model_as_a_causal_one(refused, data, models):
    assert "--kind masked" in refused(*run_on(data, models / "bert", "--kind", "causal"))


def test_tokenizer_that_knows_none_of_the_verbs(refused, data, models):
    (data / "lemmas.csv").write_text("singular,plural\nzxqs,zxq\n")
    said = refused(*run_on(data, models / "bert"))
    assert "can score none of the 1 lemmas" in said and "--lemmas" in said and "--forms all" in said


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_empty_data_set(refused, data, models, ending):
    path = data / f"empty.{ending}"
    frame = pd.read_csv(data / "pairs.csv").iloc[:0]
    if ending == "csv":
        frame.to_csv(path, index=False)
    elif ending == "parquet":
        frame.to_parquet(path)
    else:
        path.write_text("")
    said = refused("run", "--model", models / "bert", "--data", path, "--out", data / "out")
    assert "has no rows" in said or "lacks the columns" in said or "the file is empty" in said


@pytest.mark.parametrize("column", PAIRS.splitlines()[0].split(","))
def test_missing_column(refused, data, models, column):
    pd.read_csv(data / "pairs.csv").drop(columns=column).to_csv(data / "pairs.csv", index=False)
    said = refused(*run_on(data, models / "bert"))
    assert f"lacks the column {column}" in said and "Rename or add" in said


def test_pairs_of_whole_sentences_belong_to_another_suite(refused, data, models):
    (data / "pairs.csv").write_text("UID,sentence_good,sentence_bad\nmine,Ann runs.,Ann run.\n")
    said = refused(*run_on(data, models / "bert", "--suite", "agreement"))
    assert f"--suite minimal_pairs --data {data / 'pairs.csv'}" in said and "Rename" not in said


@pytest.mark.parametrize("column", ["singular", "plural"])
def test_missing_lemma_column(refused, data, models, column):
    pd.read_csv(data / "lemmas.csv").drop(columns=column).to_csv(data / "lemmas.csv", index=False)
    assert f"lacks the column {column}" in refused(*run_on(data, models / "bert"))


def test_missing_value(refused, data, models):
    frame = pd.read_csv(data / "pairs.csv")
    frame.loc[1, "form_correct"] = None
    frame.to_csv(data / "pairs.csv", index=False)
    assert "no value in column 'form_correct' of row 2" in refused(*run_on(data, models / "bert"))


@pytest.mark.slow
def test_a_gap_that_opens_its_sentence(tse, refused, data, models):
    (data / "pairs.csv").write_text(PAIRS + "Other,, the author tall?,is,are,singular\n")
    assert "Use --bos" in refused(*run_on(data, models / "gpt2"))
    for model, options in (("bert", []), ("gpt2", ["--bos"])):
        code, _, error = tse(*run_on(data, models / model, "--out", data / model, *options))
        assert code == 0, error
        path = table_path(data / model, "contexts")
        assert pq.read_table(path)["prefix"].to_pylist()[-1] == ""


def test_number_that_is_neither(refused, data, models):
    (data / "pairs.csv").write_text(PAIRS.replace(",plural", ",pl"))
    assert "expected singular or plural" in refused(*run_on(data, models / "bert"))


def test_file_that_is_not_what_its_name_says(refused, data, models):
    (data / "pairs.parquet").write_text(PAIRS)
    said = refused("run", "--model", models / "bert", "--data", data / "pairs.parquet", "--out", data / "out")
    assert "could not be read as parquet" in said


def test_nan_logits(refused, data, models):
    said = refused(*run_on(data, models / "nan"))
    assert re.search(r"not scored.*'finite numbers' failed: .*weights", said)


FULL = OSError(28, "No space left on device")


def fail(*_, **__):
    raise FULL


@pytest.mark.slow
@pytest.mark.parametrize(
    "where",
    ["pyarrow.parquet.write_table", "os.replace", "tempfile.TemporaryFile", "os.fsync"],
)
def test_full_disk(refused, tse, data, models, monkeypatch, where):
    with monkeypatch.context() as patch:
        patch.setattr(where, fail)
        said = refused(*run_on(data, models / "bert"))
    assert "No space left on device" in said and "--out" in said
    code, _, error = tse(*run_on(data, models / "bert"))
    assert code == 0, error
    assert not list((data / "out").rglob("*.part"))


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--suite", "syntax"], "Unknown suite 'syntax'"),
        (["--groups", "Simpel"], "No table row 'Simpel'; choose from"),
        (["--dtype", "float7"], "Unknown dtype 'float7'"),
        (["--device", "abacus"], "'abacus' cannot be used here"),
        (["--kind", "decoder"], "Unknown --kind 'decoder'"),
        (["--pll", "full"], "Unknown --pll 'full'"),
        (["--lemmas", "mine"], "no configuration 'mine'; choose one of: clean, excluded, french, german"),
        (["--lemmas", "mine.csv"], "There is no file mine.csv"),
        (["--data", "mine"], "Unknown data 'mine'"),
        (["--part", "3/2"], "i/n with i from 1 to n"),
        (["--source", "folder"], "--source has no effect with --suite agreement --data"),
        (["--config", "ours"], "--config has no effect with --suite agreement; remove it."),
    ],
)
def test_unknown_values_of_options(refused, data, models, arguments, said):
    assert said in refused(*run_on(data, models / "bert", *arguments))


@pytest.mark.parametrize("arguments", [["--no-such-option"], ["--limit", "0"], ["--limit", "many"]])
def test_unknown_options(tse, data, models, arguments):
    code, _, error = tse(*run_on(data, models / "bert", *arguments))
    assert code == 2
    assert arguments[0] in error and "Traceback" not in error


def test_a_port_that_is_none(tse):
    """It ended in a traceback."""
    code, _, error = tse("explore", "results", "--port", "99999")
    assert code == 2 and "65535" in error and "Traceback" not in error


def test_unknown_command(tse):
    code, _, error = tse("rnu")
    assert code == 2 and "rnu" in error and "Traceback" not in error


def test_unwritable_out(refused, data, models):
    (data / "out").write_text("a file")
    said = refused(*run_on(data, models / "bert"))
    assert "cannot be written" in said and "--out" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ["--model", "org/no-such-model"],
        ["--model", "tiny-causal", "--groups", "Simpel"],
        ["--model", "tiny-causal", "--lemmas", "unknown.csv"],
    ],
)
def test_a_command_that_fails_leaves_no_folder(refused, data, arguments):
    """An empty one stayed behind."""
    (data / "unknown.csv").write_text("singular,plural\nzxqs,zxq\n")
    arguments = [str(data / argument) if argument.endswith(".csv") else argument for argument in arguments]
    refused("run", "--data", data / "pairs.csv", "--out", data / "new" / "out", *arguments)
    refused("compare", data, "--out", data / "new" / "out")
    assert not (data / "new").exists()


def test_a_place_that_cannot_be_written_is_refused_before_any_work(refused, data, monkeypatch):
    """A folder, a file that is no folder, another ending: known only when all had been scored."""
    (data / "file").touch()
    (data / "text.txt").write_text("The author laughs.\n")
    (data / "blank.txt").write_text("\n")  # no model can be trained on it

    def work(*_, **__):
        raise AssertionError("work was done")

    for name in ("loading.load_with_options", "runs.comparing.compare.compare"):
        monkeypatch.setattr(f"tse_scorers.{name}", work)
    score = ("score", data / "text.txt", "--model", "tiny-causal", "--out")
    assert "expected one of: .csv, .tsv, .jsonl, .parquet" in refused(*score, data / "scores.xlsx")
    (data / "scores.csv").mkdir()
    assert "is a folder; expected a regular file" in refused(*score, data / "scores.csv")
    inside = data / "file" / "scores.csv"
    for command in (
        run_on(data, "tiny-causal", "--out", inside),
        (*score, inside),
        ("compare", data, "--out", inside),
        ("train-ngram", data / "blank.txt", "--out", inside.with_suffix(".json")),
        ("convert-lstm", data / "absent.pt", "--vocabulary", data / "text.txt", "--out", inside),
    ):
        assert "Not a directory" in refused(*command), command


def test_scores_of_other_sentences_are_not_replaced_unasked(tse, refused, data):
    """`tse score --out` replaced another result, and files of others, without a word."""
    for name in ("one", "two"):
        (data / f"{name}.txt").write_text(f"The author likes {name}.\n")
    out = data / "scores.csv"
    out.write_text("mine\n")
    said = refused("score", data / "one.txt", "--model", "tiny-causal", "--out", out)
    assert re.search(r"scores\.csv already exists.*`tse score`.*--out", said)
    for _ in range(2):  # the same scores again
        assert tse("score", data / "one.txt", "--model", "tiny-causal", "--out", out, "--overwrite")[0] == 0
        assert tse("score", data / "one.txt", "--model", "tiny-causal", "--out", out)[0] == 0
    before = out.read_text()
    for options in (
        [data / "two.txt"],
        [data / "one.txt", "--bits"],
        [data / "one.txt", "--start-token", "none"],
    ):
        said = refused("score", *options, "--model", "tiny-causal", "--out", out)
        assert re.search(r"scores\.csv already holds .*other data .*options.*--overwrite", said)
        assert out.read_text() == before
    for option in (["--column", "text"], ["--overwrite"]):
        assert f"{option[0]} has no effect" in refused(
            "score", data / "one.txt", "-m", "tiny-causal", *option
        )


def test_a_report_that_cannot_be_written(tse, refused, data, models, monkeypatch):
    assert tse(*run_on(data, models / "bert"))[0] == 0
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fail)
        assert "No space left on device" in refused("report", data / "out")


def test_report_of_nothing(refused, data):
    assert "tse run" in refused("report", data / "nothing")


@pytest.fixture
def batches(monkeypatch):
    """The batches that models run; `batches.limit` is the one that Ctrl-C falls into."""

    class Batches(list):
        limit = None

    run = Batches()

    def note(*_):
        run.append(1)
        if len(run) == run.limit:
            raise KeyboardInterrupt

    initialize = torch.nn.Module.__init__

    def watched(module, *arguments, **options):
        initialize(module, *arguments, **options)
        if type(module).__name__ == "BertForMaskedLM":
            module.register_forward_pre_hook(note)

    monkeypatch.setattr(torch.nn.Module, "__init__", watched)
    return run


def test_a_stopped_run_goes_on(tse, data, models, batches):
    header, line, *_ = PAIRS.splitlines()
    lines = [line.replace("author", noun) for noun in ("author", "pilot", "guard", "movie", "senator")]
    (data / "pairs.csv").write_text("\n".join([header, *lines]))
    command = run_on(data, models / "bert", "--batch-tokens", "1")
    assert tse(*command, "--out", data / "whole")[0] == 0
    uninterrupted = len(batches)
    batches.clear()
    # The fourth of five contexts; the last two are for the most probable forms.
    batches.limit = uninterrupted - 3
    code, _, error = tse(*command)
    assert code == 130 and "Run the same command again" in error and "Traceback" not in error
    assert "reused" not in error
    batches.clear()
    batches.limit = None
    code, _, error = tse(*command)
    assert code == 0, error
    contexts = [pq.read_table(table_path(data / out, "contexts")).to_pandas() for out in ("out", "whole")]
    pd.testing.assert_frame_equal(*contexts, atol=1e-6)


def test_a_run_stopped_before_any_answer_promises_none(tse, data, models, batches):
    """It said that it uses what was already scored and saved, while the folder was empty."""
    batches.limit = 1
    code, _, error = tse(*run_on(data, models / "bert"))
    assert code == 130 and "computes only what is not saved yet" in error
    batches.limit = None
    code, _, error = tse(*run_on(data, models / "bert"))
    assert code == 0 and "reused" not in error


def test_a_run_again_names_the_models_that_it_reuses(tse, data, models):
    """It was silent, and only its speed showed that nothing was computed."""
    assert "reused" not in tse(*run_on(data, models / "bert", "--no-report"))[2].lower()
    both = run_on(data, models / "bert", "--no-report", "--model", models / "gpt2")
    bert, gpt2, out = models / "bert", models / "gpt2", data / "out"
    assert f"Reused from {out}: agreement of {bert}.\n" in tse(*both)[2]
    assert f"Reused from {out}: agreement of {bert}, {gpt2}.\n" in tse(*both)[2]


def test_scores_of_a_file(tse, data, models):
    """Other systems' line ends and byte order mark are no part of the sentences."""
    (data / "sentences.txt").write_bytes(b"\xef\xbb\xbfThe author laughs.\r\n\r\nThe author laugh.\r\n")
    out = data / "scores.csv"
    code, _, error = tse("score", data / "sentences.txt", "--model", models / "gpt2", "--out", out)
    assert code == 0, error
    scored = pd.read_csv(out)
    assert scored["sentence"].tolist() == ["The author laughs.", "The author laugh."]
    assert np.isfinite(scored["logprob"]).all()
    np.testing.assert_allclose(scored["surprisal_nats"], -scored["logprob"])


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["nothing.txt"], "nothing.txt"),
        (["empty.txt"], "has no rows"),
        (
            ["latin.txt"],
            "latin.txt is not UTF-8 text (byte 0xfc at position 6 of line 2). Save the file as UTF-8",
        ),
        (["sentences.txt", "--by", "letter"], "expected one of: sentence, word, token"),
        (["pairs.csv"], "lacks the column sentence"),
        (["sentences.txt", "--out", "scores.xlsx"], "ends in '.xlsx'"),
    ],
)
def test_files_that_cannot_be_scored(refused, data, models, monkeypatch, arguments, said):
    monkeypatch.chdir(data)
    (data / "sentences.txt").write_text("The author laughs.\n")
    (data / "empty.txt").write_text("\n")
    (data / "latin.txt").write_bytes("Good.\nDer M\xfcller.\n".encode("latin-1"))
    assert said in refused("score", *arguments, "--model", models / "gpt2")


def test_as_a_command_of_its_own(data, models):
    """In a process of its own: exit code, one paragraph, nothing else on standard output."""
    done = forked("-m", "tse_scorers", *run_on(data, models / "nan"))
    assert done.returncode == 2
    assert done.stdout == "" and "Traceback" not in done.stderr
    assert re.search(r"nan .*not scored.*'finite numbers' failed", done.stderr)


@pytest.mark.parametrize(
    "model, option, what",
    [("gpt2", ["--pll", "original"], "a causal model"), ("bert", ["--bos"], "a masked model")],
)
@pytest.mark.parametrize("command", ["run", "score"])
def test_options_without_effect(refused, data, models, command, model, option, what):
    (data / "text.txt").write_text("The author laughs.\n")
    arguments = {
        "run": run_on(data, models / model),
        "score": ("score", data / "text.txt", "-m", models / model),
    }[command]
    said = refused(*arguments, *option)
    assert re.match(rf"tse: {option[0]} .*no effect .*{model}, {what}; remove", said)
    assert not (data / "out").exists()


@pytest.mark.slow
def test_an_option_for_one_of_two_models(tse, data, models):
    code, _, error = tse(*run_on(data, models / "bert", "--model", models / "gpt2"), "--limit", "1", "--bos")
    assert code == 0, error
    signatures = read_results(data / "out")["signature"]["models"]
    assert {each["kind"]: each.get("bos_at_gap") for each in signatures} == {"masked": None, "causal": True}


def test_words_of_scores_that_are_of_sentences(refused, data):
    (data / "published.csv").write_text("sentence,logprob\nThe author laughs.,-7.5\n")
    (data / "text.txt").write_text("The author laughs.\n")
    said = refused("score", data / "text.txt", "-m", data / "published.csv", "--by", "word")
    assert re.search(r"published .*whole sentences\. .*--by sentence", said)


def test_a_warning_is_one_line_without_a_place_in_the_code():
    """It was `/path/suite.py:112: UserWarning: …`, followed by a line of code."""
    script = "import warnings; from tse_scorers.cli.errors import guarded; "
    script += "guarded(lambda: warnings.warn('Nothing to compare\\nthere.'))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "tse: warning: Nothing to compare there.\n")


def test_an_unexpected_error_is_told_without_importing_torch():
    """The message came seconds later, although nothing had used PyTorch."""
    script = "import sys\nfrom tse_scorers.cli.errors import guarded\n"
    script += "try: guarded(lambda: {}['gone'])\nfinally: print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (70, "False\n") and "This is a bug" in done.stderr


def test_wrong_data_is_refused_before_large_libraries_are_imported(tmp_path):
    """The error took seconds longer."""
    (tmp_path / "pairs.csv").write_text("sentence\nThe author laughs.\n")
    program = [sys.executable, "-X", "importtime", "-m", "tse_scorers", "run", "--data", "pairs.csv"]
    ended = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True)
    imported = set(re.findall(r"^import time:.*\| +(\S+)$", ended.stderr, re.MULTILINE))
    assert ended.returncode == 2 and "which are those of no suite" in ended.stderr
    large = {"torch", "transformers", "datasets", "scipy.stats", "matplotlib"}
    assert "pandas" in imported and not large & imported


def test_a_users_text_in_a_message_is_not_an_option():
    """A data set named `{source}.csv` was reported as `--source.csv`."""
    with pytest.raises(ValueError) as refused:
        make_suite("agreement", data="{source=x}.csv", source="data")
    assert "data='{source=x}.csv'; remove it" in str(refused.value)
    assert "--data {source=x}.csv; remove it" in refused.value.message(as_written)
