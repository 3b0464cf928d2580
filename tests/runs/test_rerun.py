"""`tse rerun` repeats runs from their recipes."""

import hashlib
import json
import re
import shutil

import pandas as pd
import pytest
from command_line import refused
from completions_server import CompletionsServer
from run_records import edit
from tiny import tiny_model
from typer.testing import CliRunner

import tse_scorers
from tse_scorers import load_scorer, make_suite
from tse_scorers.cli.app import app
from tse_scorers.io import limits
from tse_scorers.io.bundle import bundle_path
from tse_scorers.runs import recipe
from tse_scorers.runs.granted import Granted
from tse_scorers.runs.merge import merge
from tse_scorers.runs.recipe import command_line, partial_reasons
from tse_scorers.runs.rerun import compare_rows, rerun

pytestmark = pytest.mark.usefixtures("no_pictures")

CPU = {"device": "cpu"}


def test_a_run_made_again_is_equal_to_the_last_digit(tmp_path):
    tse_scorers.run("tiny-causal", out=tmp_path / "run", limit=1, report=False, model_options=CPU)
    (compared,) = rerun(tmp_path / "run", tmp_path / "again")
    assert compared.differences == [] and compared.n_scores > 300 and compared.changed == []
    path = tmp_path / "run" / "results.json"
    content = json.loads(path.read_text())
    written = content["signature"]["models"][0]["recipe"]
    assert written["partial"] and written["partial_reasons"] == ["--limit 1"]
    content["results"][0]["score"] = 0.123
    content["results"][1]["score"] += 1e-9
    del content["checksum"]  # as the message says to do after an edit by hand
    path.write_text(json.dumps(content))
    (compared,) = rerun(path, tmp_path / "once more")
    assert len(compared.differences) == 2 and "score was 0.123 and is" in compared.differences[0]


def test_results_that_are_not_what_their_records_say_are_refused(run, tmp_path):
    """All scores of a folder were "equal to the last digit", while its `results.json` showed another one."""
    path, command = run / "results.json", ["rerun", str(run)]
    content = json.loads(path.read_text())
    two = [row | {"score": 0.123} for row in content["results"][:2]]
    for change in ({"results": two + content["results"][2:]},
                   {"results": content["results"][1:]},
                   {"signature": {"models": [content["signature"]["models"][0] | {"dtype": "float64"}]}}):  # fmt: skip
        path.write_text(json.dumps(content))
        edit(path, lambda edited, change=change: edited.update(change))
        said = str(CliRunner().invoke(app, command).exception)
        assert "does not match the records in its folder" in said and f"`tse report {run}`" in said
        assert re.search(
            r"score was .* and is 0.123.*\(1 more rows differ|is missing from this file|Its signatures differ",
            said,
        )
    path.write_text(json.dumps(content | {"results": []}))
    assert "does not match its checksum" in str(CliRunner().invoke(app, command).exception)
    assert CliRunner().invoke(app, ["report", str(run)]).exit_code == 0
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0 and "equal to the last digit" in done.output
    path.unlink()  # records alone are enough
    assert CliRunner().invoke(app, command).exit_code == 0


def test_scores_that_are_there_are_not_taken_for_new_ones(tmp_path):
    """In a folder with scores of the same model, no model was run, but all scores were reported as equal."""
    tse_scorers.run(
        "tiny-causal", out=tmp_path / "run", limit=1, groups=["Simple"], report=False, model_options=CPU
    )
    shutil.copytree(tmp_path / "run", tmp_path / "copy")
    with pytest.raises(ValueError, match=r"copy holds scores.*--out"):
        rerun(tmp_path / "run", tmp_path / "copy")


def test_a_model_that_stayed_on_another_machine_is_named(tmp_path, monkeypatch):
    """A model folder of another machine was searched on the Hub; the message now says to copy the folder."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(bundle_path("models", "tiny-causal"), tmp_path / "models" / "mine")
    tse_scorers.run(
        "models/mine", out=tmp_path / "run", limit=1, groups=["Simple"], report=False, model_options=CPU
    )
    shutil.rmtree(tmp_path / "models")
    with pytest.raises(ValueError, match=r"not here.*to models/mine"):
        rerun(tmp_path / "run", tmp_path / "again", granted=Granted(files=[tmp_path]))
    with pytest.raises(ValueError, match="no file or folder absent"):
        rerun(tmp_path / "run", tmp_path / "again", granted=Granted(files=["absent"]))


def test_a_merged_run_made_again_is_equal_up_to_the_noise_of_shards(tmp_path, monkeypatch):
    """Differences of 1e-9 were reported as changed results; only larger ones are."""
    for number in (1, 2):
        command = ["run", "-m", "tiny-causal", "-g", "Simple", "--limit", "8", "--device", "cpu", "--shard"]
        done = CliRunner().invoke(app, [*command, f"{number}/2", "--out", str(tmp_path / "parts")])
        assert done.exit_code == 0, done.output
    merge([tmp_path / "parts"], tmp_path / "run")
    path = tmp_path / "run" / "results.json"
    for change, code, said in ((1e-9, 0, "equal up to 1e-06"), (1e-3, 1, "1 differences in")):
        content = json.loads(path.read_text())
        row = next(row for row in content["results"] if 0.1 < (row["score"] or 0) < 0.9)
        row["score"] += change
        content.pop("checksum", None)
        path.write_text(json.dumps(content))
        done = CliRunner().invoke(app, ["rerun", str(path)])
        assert done.exit_code == code and said in " ".join(done.output.split()), done.output


def test_rows_that_are_only_in_one_run():
    row = {"group": "all", "metric": "ew", "score": 0.5, "n": 3}
    assert compare_rows([row], [row]) == []
    assert compare_rows([row], []) == ["all, ew is missing from the new run."]
    assert compare_rows([], [row]) == ["all, ew is only in the new run."]
    assert compare_rows([row | {"se": 0.1}], [row | {"se": 0.2}]) == ["all, ew: se was 0.1 and is 0.2."]
    assert compare_rows([row | {"score": None}], [row | {"score": float("nan")}]) == []
    # The last of several rows was compared, so that another one could say anything.
    said = ["all, ew is in 2 rows of the results; expected one."]
    assert compare_rows([row | {"score": 0.9}, row], [row]) == said


def test_secrets_are_not_in_the_command(monkeypatch):
    secret = "hf_" + "abcdefgh" * 4
    monkeypatch.setattr("sys.argv", ["/bin/tse", "run", "-m", secret, "--data", "https://me:pw@host/x"])
    assert command_line() == ["tse", "run", "-m", "<secret>", "--data", "https://<secret>@host/x"]
    for secret, written in (
        ("https://host/x?key=abc", "https://host/x?key=<secret>"),
        ("Bearer abc", "Bearer <secret>"),
        ("sk-" + "a1" * 10, "<secret>"),
    ):
        monkeypatch.setattr("sys.argv", ["/bin/tse", "run", secret])
        assert command_line() == ["tse", "run", written]


def test_a_changed_copy_of_released_data_is_a_partial_run(tmp_path, root):
    """A hash of the content, not the name of the folder, tells whether data is the released data."""
    folder = tmp_path / "german_argument_structure" / "ours"
    folder.mkdir(parents=True)
    sentences = pd.read_parquet(root / "datasets" / "german_argument_structure" / "ours" / "test.parquet")
    sentences.loc[0, "sentence"] = sentences.loc[0, "sentence"].replace("der", "die", 1)
    sentences.to_parquet(folder / "test.parquet")
    scorer = load_scorer("tiny-causal")
    for options, reasons in (({}, []), ({"data": "ours", "source": tmp_path}, ["not a released data set"])):
        suite = make_suite("german", **options)
        assert partial_reasons(options, suite, None, suite.signature(scorer)) == reasons


def test_a_partial_run_is_marked_wherever_its_numbers_go(tmp_path):
    (tmp_path / "lemmas.csv").write_text("singular,plural\nlaughs,laugh\nsmiles,smile\n")
    options = [
        "--limit",
        "1",
        "--groups",
        "Simple",
        "--lemmas",
        str(tmp_path / "lemmas.csv"),
        "--device",
        "cpu",
    ]
    run = CliRunner().invoke(app, ["run", *options, "--out", str(tmp_path / "run")], catch_exceptions=False)
    sentence = (
        "Partial run (--groups Simple, --limit 1, not a released lemma list): tiny-masked, tiny-causal. Not "
        "comparable with published numbers."
    )
    compared = CliRunner().invoke(
        app, ["compare", str(tmp_path / "run"), "--out", str(tmp_path / "compared")], catch_exceptions=False
    )
    assert sentence in run.stdout and sentence in compared.stdout
    for page in ("run", "compared"):
        assert sentence in (tmp_path / page / "report.html").read_text()


# Results of others


def results_of_others(run, signature=(), **changed):
    """Write the results of a run as a stranger could: with another recipe and a valid checksum."""

    def change(content):
        (known,) = content["signature"]["models"]
        known |= dict(signature)
        known["recipe"] |= changed

    edit(run / "results.json", change)
    return str(run / "results.json")


@pytest.fixture
def run(tmp_path):
    tse_scorers.run(
        "tiny-causal", out=tmp_path / "run", limit=1, groups=["Simple"], report=False, model_options=CPU
    )
    return tmp_path / "run"


@pytest.fixture
def coded(tmp_path):
    """A model folder with Python code that creates a file when it runs."""
    folder = tmp_path / "theirs"
    shutil.copytree(bundle_path("models", "tiny-causal"), folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {"auto_map": {"AutoConfig": "code.Config"}, "model_type": "theirs"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "code.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w').close()\n"
        "from transformers import GPT2Config\nclass Config(GPT2Config): ...\n"
    )
    return folder


def test_code_of_others_is_not_run(run, coded, tmp_path):
    """The Python code of a model was run because a stranger's results.json named it; its checksum was valid."""
    asked = {"model": str(coded), "model_options": CPU | {"trust_remote_code": True}}
    results = results_of_others(run, {"model": str(coded)}, **asked)
    assert "add --trust-remote-code." in refused("rerun", results)
    assert "add --trust-remote-code." in refused("rerun", results, "--files", str(coded))
    said = refused("rerun", results, "--trust-remote-code")
    assert re.search(rf"names {coded}, .*only files in folders .*--files {coded} ", said)
    granted = ["--trust-remote-code", "--files", str(tmp_path)]
    changed = re.search(
        rf"names {coded}, .*no longer .*\(revision: (sha256:\w+) ", refused("rerun", results, *granted)
    )
    assert changed and not (tmp_path / "ran").exists()
    results_of_others(run, {"revision": changed[1]})
    CliRunner().invoke(app, ["rerun", results, *granted])
    assert (tmp_path / "ran").exists()  # what the user granted, and no other version of it


def test_results_under_another_models_name_are_not_made_again(run):
    said = refused("rerun", results_of_others(run, model="tiny-masked"))
    assert re.search(r"names tiny-masked, .*no longer .*scores .*tiny-causal", said)


def test_servers_and_keys_are_the_users_own(run, monkeypatch):
    """The key in TSE_API_KEY was sent to a host named in a stranger's results.json."""
    monkeypatch.setenv("TSE_API_KEY", "secret")
    with CompletionsServer(*tiny_model("causal", "gpt2")) as server:
        named = {"model": f"{server.url}#tiny", "revision": None}
        asked = {"model": f"{server.url}#tiny", "suite": "german", "suite_options": {"limit": 1}}
        results = results_of_others(run, named, **asked, model_options={})
        host = server.url.removesuffix("/v1").removeprefix("http://")
        assert re.search(rf"--server {server.url}, .*TSE_API_HOSTS", refused("rerun", results))
        for other in (f"https://{host}", "127.0.0.1:9", "example.org", f"{host}0"):
            assert "only servers that you name are asked" in refused("rerun", results, "--server", other)
            monkeypatch.setenv("TSE_API_HOSTS", f"{other}, ")
            assert "only servers that you name are asked" in refused("rerun", results)
        assert not server.requests
        monkeypatch.delenv("TSE_API_HOSTS")
        for typed, listed in ((["--server", server.url], ""), ([], f"example.org, {host}")):
            monkeypatch.setenv("TSE_API_HOSTS", listed)
            CliRunner().invoke(app, ["rerun", results, *typed])
            assert server.requests.pop()["Authorization"] == "Bearer secret"


@pytest.mark.parametrize(
    "option, value",
    [
        ("data", "/usr"),
        ("data", "{secret}"),
        ("lemmas", "{secret}"),
        ("lemmas", "common:run, {secret}"),
        ("unigram", "{secret}"),
        ("linking", "slor:{secret}"),
        ("source", "{link}"),
        ("data", "{link}"),
        ("data", "{linked}"),
        ("config", "../.."),
        ("context", ["{secret}"]),
        ("data", "missing.csv"),
        ("data", "private@main"),
    ],
)
def test_only_files_in_folders_that_the_user_names_are_read(run, tmp_path, monkeypatch, option, value):
    """A recipe with the source /usr ran without end, and showed 12 digits of the hash of any file."""
    inside = tmp_path / "inside"
    (inside / "linked").mkdir(parents=True)
    secret = tmp_path / "secret.csv"
    secret.write_text("password\n")
    (inside / "link").symlink_to(secret)
    (inside / "linked" / "pairs.csv").symlink_to(secret)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "private").mkdir()
    places = {"secret": secret, "link": inside / "link", "linked": inside / "linked"}
    value = [each.format(**places) for each in value] if isinstance(value, list) else value.format(**places)
    source = {"option": option, "path": str(value), "sha256": "0" * 64}
    results = results_of_others(run, suite_options={option: value}, sources=[source])
    monkeypatch.setattr(recipe, "sha256", lambda path: pytest.fail(f"{path} was read"))
    for typed in ([], ["--files", str(inside)]):
        said = refused("rerun", results, *typed)
        assert re.search(r"only files in folders .*add --files ", said)
        assert f"({option}) names " in said
    assert hashlib.sha256(secret.read_bytes()).hexdigest()[:12] not in said


def test_a_folder_is_not_read_as_a_model_with_a_revision(run, tmp_path, monkeypatch):
    """`theirs@main` passed the check for paths, and was then loaded from the folder `theirs`."""
    shutil.copytree(bundle_path("models", "tiny-causal"), tmp_path / "theirs")
    monkeypatch.chdir(tmp_path)
    results = results_of_others(run, {"model": "theirs@main"}, model="theirs@main")
    said = refused("rerun", results)
    assert "names theirs, which your command does not;" in said and "sha256" not in said


@pytest.mark.parametrize(
    "changed, words",
    [
        ({"suite_options": {"limit": -3}}, "limit"),
        ({"suite_options": {"banana": 1}}, "banana has no effect"),
        ({"model_options": {"pll": "banana"}}, "Unknown pll 'banana'"),
        ({"model_options": {"dtype": "banana"}}, "Unknown dtype 'banana'"),
        ({"model_options": {"banana": 1}}, "Unknown model option 'banana'"),
    ],
)
def test_options_that_cannot_be_used_are_refused_before_a_model_is_loaded(run, monkeypatch, changed, words):
    """Wrong options of a second model were refused only after the first model was loaded and scored."""
    results_of_others(run)

    def add_a_model(content):
        (known,) = content["signature"]["models"]
        wrong = known | {"recipe": known["recipe"] | changed}
        content["signature"]["models"].append(wrong | {"identity": known["identity"] | {"revision": "other"}})

    results = run / "results.json"
    edit(results, add_a_model)
    monkeypatch.setattr("tse_scorers.runs.rerun.load_with_options", lambda *_: pytest.fail("it was loaded"))
    assert words in (said := refused("rerun", str(results))) and "The recipe of tiny-causal in " in said


def test_a_hash_is_not_shown_and_a_folder_has_a_limit(run, tmp_path, monkeypatch):
    (tmp_path / "pairs.csv").write_text("password\n")
    source = {"option": "data", "path": str(tmp_path / "pairs.csv"), "sha256": "0" * 64}
    results = results_of_others(run, suite_options={"data": source["path"]}, sources=[source])
    said = refused("rerun", results, "--files", str(tmp_path))
    assert "has changed since tiny-causal was scored on it" in said
    assert hashlib.sha256(b"password\n").hexdigest()[:12] not in said
    results_of_others(run, suite_options={"data": str(tmp_path)})
    monkeypatch.setattr(limits, "SOURCE_FILES", 2)
    assert f"{tmp_path} holds more than 2 files" in refused("rerun", results, "--files", str(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize(
    "changed", [{"suite_options": []}, {"model_options": "cpu"}, {"sources": {}}, {"sources": ["/usr"]}]
)
def test_recipes_that_tse_run_did_not_write(run, changed):
    assert "is not one that `tse run` wrote" in refused("rerun", results_of_others(run, **changed))


@pytest.mark.slow
@pytest.mark.real
def test_a_run_of_a_real_model_made_again_is_equal_to_the_last_digit(tmp_path, smollm2):
    tse_scorers.run(str(smollm2), out=tmp_path / "run", limit=1, report=False, model_options=CPU)
    (compared,) = rerun(tmp_path / "run", tmp_path / "again", granted=Granted(files=[smollm2.parent]))
    assert compared.differences == [] and compared.n_scores > 300
