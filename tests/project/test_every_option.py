"""An option acts or is refused: a walk over every option of every suite, model and command.

The options are those of the code: parameters of suites, fields of `ModelOptions`, parameters of commands. An option
without values here fails the test. With each value, an option must change scores together with their signature, or what
its command does, or it must be refused by name. Values that only name a default, and options that change how scores are
computed, must change neither scores nor signature.
"""

import json
import re
import shutil
from dataclasses import fields
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from tse_scorers import load_data, loading
from tse_scorers.cli.app import app
from tse_scorers.cli.option_groups import MODEL_OPTIONS, SUITE_OPTIONS
from tse_scorers.io.bundle import bundle_path
from tse_scorers.io.records import differences
from tse_scorers.loading import load_with_options, options_of_models
from tse_scorers.models.options import ModelOptions
from tse_scorers.runs.estimate import estimate
from tse_scorers.runs.run import Run
from tse_scorers.suites.checks import purpose_of
from tse_scorers.suites.registry import make_suite, options_of_suite, suite_names

LONG = "The unforgettable author"
"""Words of several tokens, so that both kinds of pseudo-log-likelihood differ."""


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """A folder with small data for every suite."""
    folder = tmp_path_factory.mktemp("data")
    pairs = [
        ("Simple", "The author", "laughs", "laugh", "singular"),
        ("Simple", "The authors", "laugh", "laughs", "plural"),
        ("Long", LONG, "smiles", "smile", "singular"),
        ("Long", f"{LONG}s", "smile", "smiles", "plural"),
    ]
    columns = ["group", "prefix", "form_correct", "form_incorrect", "number"]
    frame = pd.DataFrame(pairs, columns=columns).assign(suffix=".")
    frame.to_csv(folder / "pairs.csv", index=False)
    frame[:2].to_csv(folder / "two.csv", index=False)
    verbs = ["laugh", "smile", "swim", "like"]
    lemmas = pd.DataFrame({"singular": [f"{verb}s" for verb in verbs], "plural": verbs})
    lemmas.to_csv(folder / "lemmas.csv", index=False)
    lemmas[:3].to_csv(folder / "fewer.csv", index=False)
    sentences = []
    for number, (paradigm, prefix, good, bad, _) in enumerate(pairs):
        about = {"UID": paradigm, "field": "syntax", "linguistics_term": "agreement", "pairID": number}
        about |= {"one_prefix_method": True, "two_prefix_method": False}
        of_prefix = {"one_prefix_prefix": prefix, "one_prefix_word_good": good, "one_prefix_word_bad": bad}
        whole = {"sentence_good": f"{prefix} {good}.", "sentence_bad": f"{prefix} {bad}."}
        sentences.append(about | of_prefix | whole)
    lines = [json.dumps(sentence) + "\n" for sentence in sentences]
    (folder / "blimp.jsonl").write_text("".join(lines))
    (folder / "some.jsonl").write_text("".join(lines[:2]))
    same = {"sentence_bad": "sentence_good", "one_prefix_word_bad": "one_prefix_word_good"}
    identical = [
        one | {bad: one[good] for bad, good in same.items()} | {"pairID": one["pairID"] + 9}
        for one in sentences
    ]
    (folder / "flawed.jsonl").write_text("".join(lines + [json.dumps(one) + "\n" for one in identical]))
    described = (
        "id: own\ntitle: Own\nlicence: {name: own, share: allowed}\nconfigs: {deu: deu, fra: fra}\n"
        "layout: {files: '{config}.tsv'}\n"
        "columns: {good: correct, bad: wrong, paradigm: '{topic}', phenomenon: '{topic}'}\n"
    )
    (folder / "own.yaml").write_text(described)
    for name, there in {"own": sentences, "other": sentences[::-1]}.items():
        (folder / name).mkdir()
        for config in ("deu", "fra"):
            rows = [f"verbs\t{one['sentence_good']}\t{one['sentence_bad']}\n" for one in there[:3]]
            (folder / name / f"{config}.tsv").write_text("topic\tcorrect\twrong\n" + "".join(rows))
    german = load_data("german_argument_structure", "ours").to_pandas()
    german[german["template"] == german["template"].iloc[-1]].to_csv(folder / "german.csv", index=False)
    words = ["the", "author", "authors", "laugh", "laughs", "smile", "smiles", "unforgettable"]
    counts = "".join(f"{word},{2**place}\n" for place, word in enumerate(words))
    (folder / "counts.csv").write_text(f"word,count\n{counts}")
    (folder / "design").mkdir()
    for name in ("one", "two"):
        rows = [
            f"{item},{condition},{region}\n"
            for item, noun in enumerate(("author", name))
            for condition, verb in (("match", "laughs"), ("mismatch", "laugh"))
            for region in (f"The {noun}", f"{verb}.")
        ]
        (folder / "design" / f"{name}.csv").write_text("item,condition,text\n" + "".join(rows))
    (folder / "context.txt").write_text("The pilot smiles.\nThe guards laugh.\n")
    (folder / "text.txt").write_text("The author laughs.\nThe authors laugh.\n")
    (folder / "sentences.csv").write_text("sentence,other\nThe author laughs.,The authors laugh.\n")
    return folder


# ---- what is asked, with which values ---------------------------------------------------------------------


def bases(data: Path) -> dict[str, tuple[str, dict]]:
    """Questions to models: name -> (suite, the options that it is made with)."""
    agreement = {"data": str(data / "pairs.csv"), "lemmas": str(data / "lemmas.csv")}
    pairs = {"data": str(data / "blimp.jsonl")}
    criteria = ["(2;%mismatch%) > (2;%match%)"]
    return {
        "agreement": ("agreement", agreement),
        "agreement, all forms": ("agreement", agreement | {"forms": "all"}),
        "agreement, sentences": ("agreement", agreement | {"forms": "all", "sentence_pll": True}),
        "minimal_pairs": ("minimal_pairs", pairs),
        "german": ("german", {"limit": 1}),
        "in_context": ("minimal_pairs", pairs | {"context": ["matched"], "context_lengths": "1"}),
        "regions": ("regions", {"data": str(data / "design" / "one.csv"), "criteria": criteria}),
        "regions, folder": ("regions", {"data": str(data / "design")}),
    }


SLOW = {
    "tiny-masked", "minimal_pairs", "in_context", "compare", "watch", "report", "collect", "merge", "explore",
    "export lm-eval",
    "frequency", ("watch", "overwrite"), ("explore", "overwrite"), ("compare", "allow_different"),
    ("merge", "overwrite")
}  # fmt: skip
"""What takes most of the walk's time, and passes no line of the program that the rest of the tests does not pass."""


def walk(steps):
    """Return parameters of a walk; `make test` leaves out the slow ones."""
    return [
        pytest.param(
            *(step if isinstance(step, tuple) else [step]), marks=[pytest.mark.slow] if step in SLOW else []
        )
        for step in steps
    ]


MODELS = ("tiny-causal", "tiny-masked", "tiny-lstm")
MODEL_VALUES: dict[str, list] = {
    "kind": ["seq2seq", "masked", "causal", ""],
    "device": ["nosuch", ""],
    "dtype": ["float64", "bfloat16", "nosuch", ""],
    "pll": ["original", "within_word_l2r", ""],
    "mntp": [True],
    "encoder_input": ["mask", "empty", ""],
    "bos": [True, False],
    "start_token": [".", "none", ""],
    "leading_space": [True],
    "trust_remote_code": [True],
    "device_map": ["nosuch", ""],
    "quantization": ["8bit", "4bit", ""],
    "batch_tokens": [1, 0, -1],
    "torch_compile": [],  # takes a compiler and a minute: tests/engine/test_compiled.py
}
NAMES_A_DEFAULT = {
    ("kind", "causal"), ("kind", "masked"), ("pll", "within_word_l2r"), ("bos", False), ("lemma_sample", 100),
    ("linking", "sum"),
}  # fmt: skip
"""Values that may be there anyway."""
EXECUTION = {"device", "batch_tokens", "device_map", "torch_compile"}
"""Options that decide how scores are computed, and change none."""
PERMISSIONS = {"trust_remote_code", "allow_unverified"}
"""Options that let happen what is refused without them, and change no score."""


def suite_values(data: Path) -> list[tuple[str, str, object, dict]]:
    """Values of options of suites: (name of a base, option, value, other options that it needs)."""
    own = {"data": str(data / "own.yaml"), "source": data / "own"}
    slor = {"linking": "slor", "unigram": data / "counts.csv"}
    found: list[tuple[str, str, object, dict]] = [
        *(("agreement", "data", value, {}) for value in (str(data / "two.csv"), "nosuch.csv", "")),
        *(("agreement", "lemmas", value, {}) for value in (str(data / "fewer.csv"), "nosuch.csv", "")),
        *(("agreement", "source", value, {}) for value in (data, "")),
        ("agreement", "allow_unverified", True, {}),
        *(("agreement", "forms", value, {}) for value in ("all", "")),
        ("agreement", "word_end", True, {}),
        ("agreement, all forms", "word_end", False, {}),
        *(("agreement", "lemma_sample", value, {}) for value in (2, 100, 0, False)),
        ("agreement", "keep_forms", True, {}),
        ("agreement", "sampler", True, {}),
        ("agreement, all forms", "sampler", True, {}),
        ("agreement", "sentence_pll", True, {}),
        ("agreement, all forms", "sentence_pll", True, {}),
        *(("german", "data", value, {}) for value in (str(data / "german.csv"), "rochereau2020", "")),
        *(("german", "source", value, {"data": "rochereau2020"}) for value in (data / "german.csv", "")),
        ("german", "source", data, {}),
        *(("german", "limit", value, {}) for value in (2, 0, False)),
        *(("minimal_pairs", "methods", value, {}) for value in (["full"], [])),
        *(
            ("in_context", "context", value, {})
            for value in (["mismatched"], [str(data / "context.txt")], [])
        ),
        ("minimal_pairs", "context", ["matched"], {"context_lengths": "1"}),
        ("minimal_pairs", "context_lengths", "1", {"context": ["matched"]}),
        ("minimal_pairs", "template", ["See: {sentence}"], {}),
        *(("in_context", "context_lengths", value, {}) for value in ("0", "")),
        *(("in_context", "template", value, {}) for value in (["See: {sentence}"], [])),
        *(("regions", "data", value, {}) for value in (str(data / "design" / "two.csv"), "nosuch", "")),
        *(("regions", "criteria", value, {}) for value in (["(1;%mismatch%) > (1;%match%)"], [])),
        *(("regions, folder", "groups", value, {}) for value in (["one"], [])),
    ]
    for base in ("minimal_pairs", "in_context"):
        found += [(base, "data", value, {}) for value in (str(data / "some.jsonl"), "nosuch", "")]
        found += [(base, "data", own["data"], {"source": data / "own"})]
        found += [(base, "source", value, own) for value in (data / "other", "")]
        found += [(base, "source", data / "own", {})]
        found += [(base, "config", value, own) for value in ("deu", "")] + [(base, "config", "deu", {})]
        found += [(base, "linking", value, {}) for value in ("mean_token", "sum", "nosuch", "")]
        found += [(base, "unigram", value, {"linking": "slor"}) for value in (data / "counts.csv", "")]
        found += [(base, "unigram", data / "counts.csv", {})]
        found += [(base, "without_flawed", True, {"data": str(data / "flawed.jsonl")})]
        found += [(base, "linking", "slln:0.5", slor)]
    for base in ("agreement", "minimal_pairs", "in_context"):
        found += [(base, "groups", value, {}) for value in (["Simple"], [])]
    for base in ("agreement", "minimal_pairs", "in_context", "regions"):
        found += [(base, "limit", value, {}) for value in (1, 0, False)]
    return found


def test_every_option_has_values(data):
    """A new option needs values here."""
    assert set(MODEL_VALUES) == {field.name for field in fields(ModelOptions)} == set(MODEL_OPTIONS)
    walked = {(bases(data)[base][0], option) for base, option, *_ in suite_values(data)}
    declared = {(name, option) for name in suite_names() for option in options_of_suite(name)}
    assert walked == {
        (name, option)
        for name, option in declared
        if name in {"agreement", "minimal_pairs", "german", "regions"}
    }
    assert {option for _, option in walked} == set(SUITE_OPTIONS)


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
    "agreement", "agreement, all forms", "minimal_pairs", "german", "in_context", "regions", "regions, folder"
]  # fmt: skip


def outcome_in_python(data: Path, folder: Path, base: str, option: str, value: object, needed: dict):
    """Return what became of a value of a suite's option: "refused", "acts" or "same", and the signature."""
    name, asked = bases(data)[base]
    scorer = loaded(
        "tiny-masked" if (base, option) == ("agreement, all forms", "sentence_pll") else "tiny-causal"
    )
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
    if option == "keep_forms":
        assert not changed and len(tables) == len(scores) + 1, what
        return "more", signature
    assert changed and apart > 0, f"{what}: {changed or 'the same signature'}, scores apart {apart}"
    return "acts", signature


def as_arguments(options: dict, suite: str = "") -> list[str]:
    """Return options as the command line spells them, with the name of a suite where they may have one."""
    found = []
    for option, value in options.items():
        flag = "--" + option.replace("_", "-")
        if value is True:
            found.append(flag)
        elif value is False:
            found.append(flag.replace("--", "--no-", 1))
        elif isinstance(value, int):
            found += [flag, str(value)]
        else:
            for each in value if isinstance(value, list) else [value]:
                found += [flag, f"{suite}={each}" if suite else str(each)]
    return found


def tse(*arguments: object):
    """Run a command; return the exit code and everything that it printed."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    said = done.output + ("" if done.exception is None else str(done.exception))
    return (2 if isinstance(done.exception, ValueError | TypeError) else done.exit_code), said


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("runs/*/*.parquet")}


@pytest.fixture
def loaded_once(monkeypatch):
    """Let `tse run`, which checks its options before, load each model only once."""
    load = cache(lambda model, options: load_with_options(model, options))
    monkeypatch.setattr(
        "tse_scorers.loading.load_with_options", lambda model, options, **_: load(model, options)
    )


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
            if option in SUITE_OPTIONS and value != [] and (value is not False or option == "word_end"):
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
    model = "tiny-masked" if (base, option) == ("agreement, all forms", "sentence_pll") else "tiny-causal"
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
    assert {file: now.get(file) for file in there} == there or outcome in ("same", "more"), (
        f"{what} replaced scores"
    )
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
        [*OWN, "-m", "tiny-causal", "--out", "new"],
        {"no_report": ["--no-report"], "model": ["-m", "tiny-lstm"], "suite": ["--suite", "german"]}
        | {"out": ["--out", "newer"], "revisions": ["--revisions", "step*"], "shard": ["--shard", "1/2"]},
    ),
    "score": (
        ["sentences.csv", "-m", "tiny-causal"],
        {"out": ["--out", "new.csv"], "by": ["--by", "word"], "column": ["--column", "other"], "bits": ["--bits"]}
        | {"overwrite": ["--overwrite"], "model": ["-m", "tiny-lstm"]},
    ),
    "data linkings": (["three"], {"unigram": ["--unigram", "counts.csv"], "out": ["--out", "new.csv"]}),
    "data check": (
        ["own.yaml", "--source", "own"],
        {"config": ["--config", "deu"], "source": ["--source", "design"], "flawed": ["--flawed", "new.csv"]},
    ),
    "merge": (["parts", "--out", "new"], {"out": ["--out", "newer"]}),
    "report": (["one"], {"plain_latex": ["--plain-latex"], "paper": ["--paper", "text"]}),
    "frequency": (
        ["one", "--counts", "frequencies.csv"],
        {"counts": ["--counts", "fewer.csv"], "language": ["--language", "de"]},
    ),
    "compare": (
        ["one", "two", "--out", "new"],
        {"out": ["--out", "newer"], "json_file": ["--json", "new.json"], "csv_file": ["--csv", "new.csv"]}
        | {"reference": ["--reference", "tiny-lstm"], "by": ["--by", "number"], "paper": ["--paper", "text"]}
        | {"common_lemmas": ["--common-lemmas"], "figures": ["--figures"]},
    ),
    "explore": (
        ["one", "--export", "page"],
        {"model": ["--model", "tiny-lstm"], "host": ["--host", "127.0.0.1"], "port": ["--port", "7861"]}
        | {"export": ["--export", "other"]},
    ),
    "watch": (
        ["saved", *OWN, "--out", "new", "--settle", "0", "--every", "0.01", "--until", "1"],
        {"revisions": ["--revisions", "step*", "--idle", "0"], "suite": ["--suite", "german"]}
        | {"out": ["--out", "newer"], "until": ["--until", "2"]},
    ),
    "collect": (["one", "two", "--out", "new"], {"out": ["--out", "newer"], "no_report": ["--no-report"]}),
    "rerun": (["three", "--files", "."], {"out": ["--out", "new"]}),
    "publish": (
        ["one", "--results-repo", "org/results"],
        {"model_repo": ["--model-repo", "org/model"], "results_repo": ["--results-repo", "org/other"]}
        | {"data_org": ["--data-org", "org"], "other_repo": ["--other-repo"], "create_pr": ["--create-pr"]},
    ),
    "power": (
        ["-d", "0.1", "--sd-clusters", "0.1", "--sd-lemmas", "0.1"],
        {"difference": ["-d", "0.2"], "sd_clusters": ["--sd-clusters", "0.2"], "sd_lemmas": ["--sd-lemmas", "0.2"]}
        | {"sd_cells": ["--sd-cells", "0.2"], "lemmas": ["--lemmas", "7"], "target": ["--power", "0.5"]}
        | {"reference": ["--reference", "m"], "group": ["--group", "all"], "json_file": ["--json", "new.json"]},
    ),
    "noise-ceiling": (
        ["ratings.csv"],
        {"splits": ["--splits", "7"], "json_file": ["--json", "new.json"]},
    ),
    "train-ngram": (
        ["text.txt", "--out", "new.json"],
        {"order": ["--order", "1"], "vocabulary_size": ["--vocabulary-size", "3"], "lowercase": ["--lowercase"]}
        | {"out": ["--out", "newer.json"]},
    ),
    "export mixed-models": (["one"], {"out": ["--out", "new"], "by": ["--by", "number"]}),
    "export items": (["one"], {"out": ["--out", "new"]}),
    "export every-eval-ever": (
        ["three", "--organization", "me"],
        {"organization": ["--organization", "you"], "relationship": ["--relationship", "first_party"]}
        | {"data_org": ["--data-org", "org"], "items": ["--items"], "out": ["--out", "new"]},
    ),
    "export lm-eval": (
        ["tasks", *OWN],
        {"groups": ["--groups", "Simple"], "limit": ["--limit", "1"], "suite": ["--suite", "minimal_pairs"]}
        | {"forms": ["--forms", "all"], "word_end": ["--no-word-end"], "lemma_sample": ["--lemma-sample", "2"]}
        | {"keep_forms": ["--keep-forms"], "sampler": ["--sampler"], "linking": ["--linking", "sum"]}
        | {"sentence_pll": ["--sentence-pll"], "source": ["--source", "own"]}
        | {"context": ["--context", "matched"], "context_lengths": ["--context-lengths", "1"]}
        | {"template": ["--template", "{sentence}"], "unigram": ["--unigram", "counts.csv"]}
        | {"criteria": ["--criteria", "(1;%a%) > 0"], "config": ["--config", "deu"]},
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
    ("explore", "overwrite"): (["one", "--export", "page"], ["--overwrite"]),
    ("watch", "overwrite"): (
        ["saved", *OWN[:2], "--lemmas", "fewer.csv", "--out", "seen", "--settle", "0", "--until", "1"],
        ["--overwrite"],
    ),
    ("rerun", "files"): (["three"], ["--files", "."]),
    ("train-ngram", "overwrite"): (["text.txt", "--out", "counts.json"], ["--overwrite"]),
}  # fmt: skip
"""Command and option -> arguments that fail without the option, and the option that lets them pass."""

ELSEWHERE: dict[str, list[tuple[str, str]]] = {
    "runs/test_many_checkpoints.py": [("watch", option) for option in ("idle", "settle", "every")],
    "runs/test_rerun.py": [("rerun", "server"), ("rerun", "trust_remote_code")],
    "runs/test_reproducing.py": [
        ("reproduce", name) for name in ("table", "listed", "models", "out", "source", "limit")
    ]
    + [("fetch", "out"), ("fetch", "source")],
    "runs/test_doctor.py": [("doctor", "json_file")],
    "importing/test_imports.py": [
        (f"import {tool}", option)
        for tool, own in (("lm-eval", "task"), ("inspect", "scorer"))
        for option in (own, "out", "name", "suite", "overwrite")
    ],
    "models/test_windows.py": [("score", "stride")],
    "models/test_given_words.py": [("score", name) for name in ("words", "frequency", "language", "length")],
    "models/test_lstm.py": [("convert-lstm", name) for name in ("vocabulary", "out", "kind", "overwrite")],
    "publishing/test_installing.py": [("install-metrics", "yes"), ("install-metrics", "remove")],
    "publishing/test_no_misleading.py": [("publish", "yes")],
}
"""Test -> options that it gives, with servers, checkpoints that appear, papers' models, or a Hub."""


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
    walked |= {*ALLOWED, *(("estimate", option) for option in ("model", "suite", "budget"))}
    take_all = {
        "run",
        "estimate",
        "score",
        "doctor",
        "watch",
        "export lm-eval",
        "import lm-eval",
        "import inspect",
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
    ratings = "".join(f"{item},{rater},{item * rater % 4}\n" for item in range(9) for rater in range(4))
    (folder / "ratings.csv").write_text("item,rater,rating\n" + ratings)
    (folder / "frequencies.csv").write_text("word,count\nlaughs,9\nlaugh,8\nlikes,3\nlike,700\n")
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
            ("watch", "saved", *OWN, "--settle", "0", "--until", "1", "--out", "seen"),
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
    if (command, option) == ("explore", "overwrite"):
        assert in_a_copy("page", "explore", *base)[0] == 0
        code, said = tse("explore", *base)
        assert code == 2 and "--overwrite" in said
        assert tse("explore", *base, *more)[0] == 0
        return
    code, said, written = in_a_copy("without", *command.split(), *base)
    assert code and (more[0] in said or is_named(option, "", ValueError(said))), said
    kept = [
        path for path in before if not path.startswith("seen/") or "runs" in path
    ]  # the report is made again
    assert {path: written.get(path) for path in kept} == {path: before[path] for path in kept}
    code, said, _ = in_a_copy("with", *command.split(), *base, *more)
    assert code == 0, said


@pytest.mark.parametrize(
    "base",
    [
        pytest.param("agreement", marks=pytest.mark.slow),
        *walk(["agreement, all forms", "minimal_pairs", "in_context", "regions"]),
    ],
)
def test_options_of_an_estimate(base, data, loaded_once, monkeypatch, record_property):
    """`tse estimate` refuses what a run refuses, and plans what a run with this option plans."""
    monkeypatch.setattr("tse_scorers.runs.estimate._measure", lambda runner, clock: (0.0, 0.0))
    name, asked = bases(data)[base]
    wrong, n = [], 0
    cases = [({option: value} | needed, {}) for of, option, value, needed in suite_values(data) if of == base]
    if base in ("agreement", "minimal_pairs"):  # gaps, sentences
        cases += [({}, {option: value}) for option, values in MODEL_VALUES.items() for value in values]
    for of_suite, of_model in cases:
        if [] in of_suite.values() or False in (of_suite | of_model).values() or "methods" in of_suite:
            continue  # the command line has no empty list, and no False
        n += 1
        try:
            suite = make_suite(name, **(asked | of_suite))
            options = options_of_models(
                ["tiny-causal"], ModelOptions(**of_model), purpose=purpose_of([suite])
            )[0]
            scorer = loading.load_with_options("tiny-causal", options)  # once
            suite.check_scorer(scorer)
            found = estimate(scorer, suite)
            expected = [
                f"{number:,}" for number in (found.n_examples, found.n_inputs, found.n_tokens, found.n_reads)
            ]
        except (ValueError, TypeError, ImportError):
            expected = []
        arguments = as_arguments(asked | of_suite | of_model)
        code, said = tse("estimate", "-m", "tiny-causal", "--suite", name, *arguments)
        if code != (0 if expected else 2) or not set(expected) <= set(said.split()):
            wrong.append(f"{of_suite | of_model}: {code}, {expected}, {said[-300:]}")
    assert not wrong, "\n".join(wrong)
    record_property("combinations", n)


def test_the_budget_of_an_estimate(data):
    """A sample of each suite is planned."""
    asked = ("estimate", "-m", "tiny-causal", "--suite", "minimal_pairs", "--data", data / "blimp.jsonl")
    rows = [
        next(line.split() for line in tse(*asked, *more)[1].splitlines() if line.startswith(" tiny-causal"))
        for more in ((), ("--budget", "2"))
    ]
    assert [row[1] for row in rows] == ["4", "2"]
