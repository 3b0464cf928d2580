"""An option acts or is refused: a walk over every option of every suite, model and command.

The options are those of the code: parameters of suites, fields of `ModelOptions`, parameters of commands. An option
without values here fails the test. With each value, an option must change scores together with their signature, or what
its command does, or it must be refused by name. Values that only name a default, and options that change how scores are
computed, must change neither scores nor signature.
"""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from option_walk import MODEL_VALUES, as_arguments, bases, load_once, suite_values, tse, walk, write_data
from typer.main import get_command

from tse_scorers import make_suite
from tse_scorers.cli.app import app
from tse_scorers.io.bundle import bundle_path
from tse_scorers.loading import load_with_options, options_of_models
from tse_scorers.models.options import ModelOptions
from tse_scorers.runs.run import Run
from tse_scorers.suites.checks import purpose_of
from tse_scorers.suites.registry import all_measures, find_suite


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    return write_data(tmp_path_factory.mktemp("data"))


@pytest.fixture
def loaded_once(monkeypatch) -> None:
    load_once(monkeypatch)


# ---- what is asked, with which values ---------------------------------------------------------------------

MODELS = ("tiny-causal", "tiny-masked", "tiny-lstm")
NAMES_A_DEFAULT = {
    ("kind", "causal"), ("kind", "masked"), ("pll", "within_word_l2r"), ("bos", False),
    ("linking", "sum"),
}  # fmt: skip
"""Values that may be there anyway."""
EXECUTION = {"device", "batch_tokens", "device_map"}
"""Options that decide how scores are computed, and change none."""
PERMISSIONS = {"trust_remote_code", "allow_unverified"}
"""Options that let happen what is refused without them, and change no score."""


def test_every_option_has_values(data):
    """A new option needs values here."""
    assert set(MODEL_VALUES) == {field.name for field in fields(ModelOptions)}
    walked = {(bases(data)[base][0], option) for base, option, *_ in suite_values(data)}
    own = {"agreement", "minimal_pairs", "german", "regions"}
    declared = {name: fields(find_suite(name).Options) for name in own & all_measures().keys()}
    assert walked == {(name, option.name) for name, options in declared.items() for option in options}
    assert {option for _, option in walked} == SUITE_OPTIONS


MODEL_OPTIONS = {option.name for option in fields(ModelOptions)}
SUITE_OPTIONS = {option.name for suite in all_measures() for option in fields(find_suite(suite).Options)}


# ---- what an option did -----------------------------------------------------------------------------------


@cache
def loaded(model: str, option: str = "", value: object = None):
    """Return a scorer, or the error of its options."""
    try:
        return load_with_options(model, ModelOptions(**({option: value} if option else {})))
    except (ValueError, TypeError, ImportError) as error:
        return error


def scored(suite, scorer, folder: Path):
    """Return the signature and the tables of a suite's scores."""
    signature = Run(suite, folder).signature(scorer)
    tables = suite.score(scorer, lambda done, total: None)
    return signature, {
        name: table if isinstance(table, pd.DataFrame) else table.to_pandas()
        for name, table in tables.items()
    }


def differences(one: Mapping[str, object], other: Mapping[str, object]) -> list[str]:
    """Return the keys that differ in two signatures, as files hold them; how scores were computed is none."""
    found = [json.loads(json.dumps(signature, default=str)) for signature in (one, other)]
    return sorted(
        key
        for key in {*found[0], *found[1]} - {"computed", "request"}
        if found[0].get(key) != found[1].get(key)
    )


def largest_difference(one: dict[str, pd.DataFrame], other: dict[str, pd.DataFrame]) -> float:
    """Return the largest difference of two numbers in tables, infinity where anything else differs."""
    found = 0.0
    if one.keys() != other.keys():
        return np.inf
    for name, left in one.items():
        right = other[name]
        if left.shape != right.shape or list(left) != list(right):
            return np.inf
        numbers = left.select_dtypes("number").columns
        if not left.drop(columns=numbers).map(repr).equals(right.drop(columns=numbers).map(repr)):
            return np.inf
        for column in numbers:
            apart = (left[column] - right[column]).abs()
            if not left[column].isna().equals(right[column].isna()):
                return np.inf
            found = max(found, float(apart.where(left[column] != right[column], 0).fillna(0).max()))
    return found


def is_named(option: str, value: object, error: Exception) -> bool:
    """Whether an error names an option or its value."""
    said = str(error).replace("-", "_").replace(" ", "_")
    if option == "kind" and "masked_model" in said:
        return True
    return option in said or (bool(value) and str(value).replace("-", "_").replace(" ", "_") in said)


NOISE = 1e-4
"""Float32 in batches of other texts."""


def check_model_option(suite, model: str, option: str, value: object, default, folder: Path) -> str:
    """Check one value of a model's option on one suite; return what became of it."""
    what = f"{option}={value!r} of {model} on {suite.name}"
    before, scores = default
    try:
        options = ModelOptions(**{option: value})
        used = options_of_models([model], options, purpose=purpose_of([suite]))
    except (ValueError, TypeError) as error:
        assert is_named(option, value, error), f"{what}: {error}"
        scorer = loaded(model, option, value)
        if not isinstance(scorer, Exception):  # it acts on other questions
            signature, tables = scored(suite, scorer, folder)
            assert not differences(before, signature), f"{what} changes the signature of another suite's run"
            assert largest_difference(scores, tables) == 0, f"{what} is refused, but acts"
        return "refused"
    assert used == [options]
    scorer = loaded(model, option, value)
    if isinstance(scorer, Exception):
        assert is_named(option, value, scorer), f"{what}: {scorer}"
        return "refused"
    try:
        signature, tables = scored(suite, scorer, folder)
    except ValueError as error:
        assert is_named(option, value, error), f"{what}: {error}"
        return "refused"
    changed, apart = bool(differences(before, signature)), largest_difference(scores, tables)
    if option in EXECUTION | PERMISSIONS:
        assert not changed and apart < NOISE, f"{what}: {apart}, {differences(before, signature)}"
        return "same"
    if (option, value) in NAMES_A_DEFAULT and not changed:
        assert apart == 0, what
        return "same"
    assert changed and apart > 0, f"{what}: other signature {changed}, scores apart {apart}"
    return "acts"


@pytest.mark.slow
@pytest.mark.parametrize("model", walk(MODELS))
def test_options_of_models(model, data, tmp_path, record_property):
    """Each option, each value, each suite."""
    found: dict[tuple[str, str], list[str]] = {}
    wrong = []
    for base, (name, asked) in bases(data).items():
        if model == "tiny-lstm" and base not in ("agreement", "minimal_pairs", "regions"):
            continue  # it differs from tiny-causal in its tokenizer alone
        suite, scorer = make_suite(name, **asked), loaded(model)
        try:
            suite.check_scorer(scorer)
        except ValueError:
            continue  # the model cannot answer this suite
        default = scored(suite, scorer, tmp_path)
        for option, values in MODEL_VALUES.items():
            for value in values:
                try:
                    outcome = check_model_option(suite, model, option, value, default, tmp_path)
                except AssertionError as error:
                    wrong.append(f"{base}: {error}")
                    continue
                found.setdefault((option, outcome), []).append(base)
    assert not wrong, "\n".join(wrong)
    acting = {option for option, outcome in found if outcome == "acts"}
    expected = {
        "tiny-causal": {"dtype", "bos", "start_token", "leading_space"},
        "tiny-masked": {"dtype", "pll", "mntp"},
        "tiny-lstm": {"dtype", "start_token"},
    }
    assert acting == expected[model]
    record_property("combinations", sum(map(len, found.values())))


OF_SUITES = [
    "agreement", "agreement, all forms", "minimal_pairs", "german", "regions", "regions, folder"
]  # fmt: skip


def outcome_in_python(data: Path, folder: Path, base: str, option: str, value: object, needed: dict):
    """Return what became of a value of a suite's option: "refused", "acts" or "same", and the signature."""
    name, asked = bases(data)[base]
    scorer = loaded("tiny-causal")
    what = f"{option}={value!r} of {base}"
    try:
        suite = make_suite(name, **(asked | needed | {option: value}))
        suite.check_scorer(scorer)
        signature, tables = scored(suite, scorer, folder)
    except (ValueError, TypeError) as error:
        assert is_named(option, value, error), f"{what}: {type(error).__name__} {error}"
        return "refused", None
    try:
        before, scores = scored(make_suite(name, **(asked | needed)), scorer, folder)
    except ValueError:
        return "acts", signature  # without the option, nothing can be scored
    changed, apart = differences(before, signature), largest_difference(scores, tables)
    is_named_default = not isinstance(value, list) and (option, value) in NAMES_A_DEFAULT
    if option in PERMISSIONS or is_named_default:
        assert not changed and apart == 0, f"{what}: {changed}, scores apart {apart}"
        return "same", signature
    assert changed and apart > 0, f"{what}: {changed or 'the same signature'}, scores apart {apart}"
    return "acts", signature


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("runs/*/*.parquet")}


@pytest.fixture(scope="module")
def defaults(data, tmp_path_factory):
    """A folder with the scores of each base, made by the command line."""
    made: dict[tuple, Path] = {}

    def folder_of(base: str, model: str = "tiny-causal", **needed: object) -> Path:
        key = (base, model, repr(needed))
        if key not in made:
            name, asked = bases(data)[base]
            made[key] = tmp_path_factory.mktemp("default")
            arguments = as_arguments(asked | needed)
            code, said = tse(
                "run", "--suite", name, *arguments, "-m", model, "--no-report", "--out", made[key]
            )
            assert code == 0, said
        return made[key]

    return folder_of


@pytest.mark.parametrize(
    "base",
    [
        pytest.param("agreement", marks=pytest.mark.slow),
        *walk(base for base in OF_SUITES if base != "agreement"),
    ],
)
def test_options_of_suites(base, data, defaults, loaded_once, tmp_path, record_property):
    """Each option and value: in Python, on the command line beside the scores without it, and with another suite."""
    wrong, n = [], 0
    for number, (of_base, option, value, needed) in enumerate(suite_values(data)):
        if of_base != base:
            continue
        try:
            outcome, signature = outcome_in_python(data, tmp_path, base, option, value, needed)
            n += 1
            if option in SUITE_OPTIONS and value != [] and value is not False:
                folder = tmp_path / str(number)
                n += walk_on_command_line(
                    data, defaults, folder, (base, option, value, needed), outcome, signature
                )
        except AssertionError as error:
            wrong.append(str(error).split("\nassert")[0])
    assert not wrong, "\n".join(wrong)
    record_property("combinations", n)


def walk_on_command_line(data, defaults, folder: Path, case: tuple, outcome: str, signature) -> int:
    """Check a value of a suite's option on the command line, alone and with the suite german; return the number."""
    base, option, value, needed = case
    name, asked = bases(data)[base]
    what = f"--{option} {value} of {base}"
    model = "tiny-causal"
    whole = asked | needed | {option: value}
    try:
        before = defaults(base, model, **needed)
    except AssertionError:  # without the option, nothing can be scored
        before = defaults(base, model)
    shutil.copytree(before, folder)
    there = files_of(folder)
    run = ("run", "-m", model, "--no-report", "--out", folder)
    code, said = tse(*run, "--suite", name, *as_arguments(whole))
    now = files_of(folder)
    assert {file: now.get(file) for file in there} == there or outcome == "same", f"{what} replaced scores"
    if outcome == "refused":
        assert code == 2 and now == there, f"{what} is refused in Python alone: {said}"
        return 1
    if outcome == "acts":  # the scores of the default are not reused
        assert (code == 2 and "already holds scores" in said) or now.keys() > there.keys(), f"{what}: {said}"
    if outcome == "more":
        assert code == 0 and now.keys() > there.keys(), f"{what}: {said}"
    if name == "german":
        return 1
    together = folder.with_name(folder.name + "-together")
    shutil.copytree(defaults("german", model), together)
    of_german = files_of(together)
    limit = {} if "limit" in whole else {"limit": 1}
    code, said = tse(
        *run[:-1], together, "--suite", name, "--suite", "german", *as_arguments(whole | limit, name)
    )
    assert code == 0, f"{what} with german: {said}"
    now = files_of(together)
    assert {file: now.get(file) for file in of_german} == of_german, f"{what} changes german"
    suite = make_suite(name, **(whole | limit))
    expected = Run(suite, together).signature(loaded(model))
    models = json.loads((together / "results.json").read_text())["signature"]["models"]
    (own,) = (each for each in models if each["identity"]["suite"] == suite.name)
    assert not differences(own, expected), f"{what} with german: {differences(own, expected)}"
    return 2


@pytest.mark.parametrize(
    "model, suite, other", [("tiny-causal", "agreement", "german"), ("tiny-masked", "german", "agreement")]
)
def test_options_of_models_on_the_command_line(
    model, suite, other, data, defaults, tmp_path, record_property
):
    """Each option and value beside the scores without it, which are never reused; some with a second suite."""
    name, asked = bases(data)[suite]
    n = 0
    for option, values in MODEL_VALUES.items():
        for value in values:
            if value is False or (option in EXECUTION | PERMISSIONS and value not in (0, "")):
                continue  # the command line has no False
            folder = tmp_path / f"{option}{n}"
            shutil.copytree(defaults(suite, model), folder)
            there = files_of(folder)
            run = ("run", "-m", model, "--no-report", "--out", folder, "--suite", name)
            code, said = tse(*run, *as_arguments(asked | {option: value}))
            n += 1
            assert files_of(folder) == there, f"--{option} {value!r} replaced scores"
            assert code == 2 or (option, value) in NAMES_A_DEFAULT, f"--{option} {value!r}: {said}"
            refused = is_named(option, value, ValueError(said))
            assert "already holds scores" in said or refused or code == 0, f"--{option} {value!r}: {said}"
    record_property("combinations", n)


# ---- commands ---------------------------------------------------------------------------------------------

OWN = ["--data", "pairs.csv", "--lemmas", "lemmas.csv"]
COMMANDS: dict[str, tuple[list[str], dict[str, list[str]]]] = {
    "run": (
        [*OWN, "-m", "tiny-causal", "--no-report", "--out", "new"],
        {"model": ["-m", "tiny-lstm"], "suite": ["--suite", "german"]}
        | {"out": ["--out", "newer"], "revisions": ["--revisions", "step*"], "shard": ["--shard", "1/2"]},
    ),
    "score": (
        ["sentences.csv", "-m", "tiny-causal"],
        {"out": ["--out", "new.csv"], "by": ["--by", "word"], "column": ["--column", "other"], "bits": ["--bits"]}
        | {"overwrite": ["--overwrite"], "model": ["-m", "tiny-lstm"]},
    ),
    "merge": (["parts", "--out", "new"], {"out": ["--out", "newer"]}),
    "report": (["one", "--paper", "new"], {"paper": ["--paper", "newer"], "width": ["--width", "text"]}),
    "compare": (
        ["one", "two", "--out", "new"],
        {"out": ["--out", "newer"], "json_file": ["--json", "new.json"], "csv_file": ["--csv", "new.csv"]}
        | {"reference": ["--reference", "tiny-lstm"], "by": ["--by", "number"]}
        | {"common_lemmas": ["--common-lemmas"], "measure": ["--measure", "tse"]},
    ),
    "publish": (
        ["one", "--results-repo", "org/results"],
        {"model_repo": ["--model-repo", "org/model"], "results_repo": ["--results-repo", "org/other"]}
        | {"data_org": ["--data-org", "org"], "other_repo": ["--other-repo"], "create_pr": ["--create-pr"]},
    ),
    "train-ngram": (
        ["text.txt", "--out", "new.json"],
        {"order": ["--order", "1"], "vocabulary_size": ["--vocabulary-size", "3"], "lowercase": ["--lowercase"]}
        | {"out": ["--out", "newer.json"]},
    ),
}  # fmt: skip
"""Command -> arguments that it runs with, and its options with what gives each another value."""

ALLOWED: dict[tuple[str, str], tuple[list[str], list[str]]] = {
    ("run", "overwrite"): (
        [*OWN[:2], "--lemmas", "fewer.csv", "-m", "tiny-causal", "--no-report", "--out", "one"], ["--overwrite"]
    ),
    ("score", "overwrite"): (["sentences.csv", "-m", "tiny-causal", "--out", "counts.csv"], ["--overwrite"]),
    ("merge", "overwrite"): (["parts", "--out", "fewer"], ["--overwrite"]),
    ("compare", "allow_different"): (["two", "fewer", "--out", "new"], ["--allow-different"]),
    ("train-ngram", "overwrite"): (["text.txt", "--out", "counts.json"], ["--overwrite"]),
}  # fmt: skip
"""Command and option -> arguments that fail without the option, and the option that lets them pass."""

ELSEWHERE: dict[str, list[tuple[str, str]]] = {
    "runs/test_many_checkpoints.py": [("run", "no_report")],
    "test_explore.py": [("explore", name) for name in ("model", "port", "no_browser")],
    "papers/test_reproduce.py": [
        ("reproduce", name) for name in ("table", "listed", "models", "out", "source", "limit")
    ]
    + [("fetch", "out"), ("fetch", "source")],
    "runs/test_doctor.py": [("doctor", "json_file")],
    "lstm_converter/test_convert.py": [
        ("convert-lstm", name) for name in ("vocabulary", "out", "kind", "overwrite")
    ],
    "publishing/test_installing.py": [("install-metrics", "yes"), ("install-metrics", "remove")],
    "publishing/test_no_misleading.py": [("publish", "yes")],
}
"""Test -> options that it gives, with checkpoints that appear, papers' models, or a Hub."""


def commands():
    """Yield the name and the options of each command."""

    def walk(command, name):
        for part, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, f"{name} {part}".strip())
        if not hasattr(command, "commands"):
            yield name, [option for option in command.params if option.name != "help"]

    return walk(get_command(app), "")


def test_every_option_of_a_command_is_tested():
    """Options of models and suites are walked above; a new option of a command needs values here, or a test."""
    tests = Path(__file__).parent.parent
    elsewhere = {case: tests / path for path, cases in ELSEWHERE.items() for case in cases}
    walked = {(command, option) for command, (_, options) in COMMANDS.items() for option in options}
    walked |= {*ALLOWED}
    take_all = {
        "run",
        "score",
        "doctor",
    }  # options of models and suites
    of_all_suites = {*MODEL_OPTIONS, *SUITE_OPTIONS, "suite_option"}
    known, unknown = set(), []
    for command, options in commands():
        for option in options:
            if option.param_type_name == "argument":
                continue
            known.add(case := (command, option.name))
            flags = (*option.opts, f"{option.name}=")
            if case in elsewhere and any(flag in elsewhere[case].read_text() for flag in flags):
                continue
            of_all = option.name in of_all_suites and command in take_all
            if not of_all and case not in walked:
                unknown.append(f"tse {command} {option.opts[0]}")
    assert not unknown
    assert {*walked, *elsewhere} <= known


@pytest.fixture(scope="module")
def with_runs(data, tmp_path_factory) -> Path:
    """The folder of data, with what commands leave there: runs, shards, checkpoints, a page."""
    folder = shutil.copytree(data, tmp_path_factory.mktemp("made") / "folder")
    (folder / "counts.json").write_text("{}")
    for number in (1, 2):
        shutil.copytree(bundle_path("models", "tiny-causal"), folder / "saved" / f"checkpoint-{number}")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run = ("run", *OWN, "--no-report", "-m")
        for arguments in (
            (*run, "tiny-causal", "--out", "one"),
            (*run, "tiny-lstm", "--out", "two"),
            ("run", "--suite", "minimal_pairs", "--data", "blimp.jsonl", *run[-2:], "tiny-causal", "--out", "three"),
            (*run[:3], "--lemmas", "fewer.csv", "--no-report", "-m", "tiny-causal", "--out", "fewer"),
            (*run, "tiny-causal", "--shard", "1/2", "--out", "parts"),
            (*run, "tiny-causal", "--shard", "2/2", "--out", "parts"),
        ):  # fmt: skip
            code, said = tse(*arguments)
            assert code == 0, said
    return folder


VOLATILE = re.compile(
    rb'"(created|checksum|command|seconds|retrieved_timestamp|evaluation_id)": .*|\d+:\d\d:\d\d'
)
"""What differs between two runs of the same command."""


@pytest.fixture
def in_a_copy(with_runs, tmp_path, monkeypatch, no_pictures, loaded_once):
    """Run a command in a copy of the folder; return the exit code, what it said, and what it wrote."""

    def run(name: str, *arguments: str) -> tuple[int, str, dict[str, bytes]]:
        folder = shutil.copytree(with_runs, tmp_path / name)
        monkeypatch.chdir(folder)
        code, said = tse(*arguments)
        written = {
            str(path.relative_to(folder)): VOLATILE.sub(b"", path.read_bytes())
            for path in folder.rglob("*")
            if path.is_file() and "saved" not in path.parts
        }
        return code, VOLATILE.sub(b"", said.encode()).decode(), written

    return run


@pytest.mark.parametrize("command", walk(COMMANDS))
def test_options_of_commands(command, in_a_copy, record_property):
    """Each changes what is printed or written, or is refused by name."""
    base, options = COMMANDS[command]
    before, again = (in_a_copy(name, *command.split(), *base) for name in ("before", "again"))
    assert before[0] == 0, before[1]
    changing = [path for path in before[2] if before[2][path] != again[2].get(path)]
    assert before[1] == again[1] and not changing, changing
    wrong = []
    for option, more in options.items():
        code, said, written = in_a_copy(option, *command.split(), *base, *more)
        refused = code == 2 and (is_named(option, more[-1], ValueError(said)) or more[0] in said)
        if not refused and (code or (said, written) == before[1:]):
            wrong.append(f"tse {command} {' '.join(more)}: {code}, {said[-300:]}")
    assert not wrong, "\n".join(wrong)
    record_property("combinations", len(options))


@pytest.mark.slow
@pytest.mark.parametrize("command, option", walk(ALLOWED))
def test_options_that_let_commands_pass(command, option, in_a_copy):
    """Without it, the command fails and replaces nothing; with it, it does what was asked."""
    base, more = ALLOWED[command, option]
    before = in_a_copy("before", "--version")[2]
    code, said, written = in_a_copy("without", *command.split(), *base)
    assert code and (more[0] in said or is_named(option, "", ValueError(said))), said
    kept = [
        path for path in before if not path.startswith("seen/") or "runs" in path
    ]  # the report is made again
    assert {path: written.get(path) for path in kept} == {path: before[path] for path in kept}
    code, said, _ = in_a_copy("with", *command.split(), *base, *more)
    assert code == 0, said
