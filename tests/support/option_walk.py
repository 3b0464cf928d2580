"""Every option of suites and models with values of each kind, and small data for them."""

import json
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from tse_scorers import load_data, loading
from tse_scorers.cli.app import app

LONG = "The unforgettable author"
"""Words of several tokens, so that both kinds of pseudo-log-likelihood differ."""


def write_data(folder: Path) -> Path:
    """Write small data for every suite; return their folder."""
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
    (folder / "text.txt").write_text("The author laughs.\nThe authors laugh.\n")
    (folder / "sentences.csv").write_text("sentence,other\nThe author laughs.,The authors laugh.\n")
    return folder


def bases(data: Path) -> dict[str, tuple[str, dict]]:
    """Questions to models: name -> (suite, the options that it is made with)."""
    agreement = {"data": str(data / "pairs.csv"), "lemmas": str(data / "lemmas.csv")}
    pairs = {"data": str(data / "blimp.jsonl")}
    criteria = ["(2;%mismatch%) > (2;%match%)"]
    return {
        "agreement": ("agreement", agreement),
        "agreement, all forms": ("agreement", agreement | {"forms": "all"}),
        "minimal_pairs": ("minimal_pairs", pairs),
        "german": ("german", {"limit": 1}),
        "regions": ("regions", {"data": str(data / "design" / "one.csv"), "criteria": criteria}),
        "regions, folder": ("regions", {"data": str(data / "design")}),
    }


SLOW = {
    "tiny-masked", "minimal_pairs", "compare", "report", "merge", 
    ("compare", "allow_different"),
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
}


def suite_values(data: Path) -> list[tuple[str, str, object, dict]]:
    """Values of options of suites: (name of a base, option, value, other options that it needs)."""
    own = {"data": str(data / "own.yaml"), "source": data / "own"}
    found: list[tuple[str, str, object, dict]] = [
        *(("agreement", "data", value, {}) for value in (str(data / "two.csv"), "nosuch.csv", "")),
        *(("agreement", "lemmas", value, {}) for value in (str(data / "fewer.csv"), "nosuch.csv", "")),
        *(("agreement", "source", value, {}) for value in (data, "")),
        ("agreement", "allow_unverified", True, {}),
        *(("agreement", "forms", value, {}) for value in ("all", "")),
        *(("german", "data", value, {}) for value in (str(data / "german.csv"), "rochereau2020", "")),
        *(("german", "source", value, {"data": "rochereau2020"}) for value in (data / "german.csv", "")),
        ("german", "source", data, {}),
        *(("german", "limit", value, {}) for value in (2, 0, False)),
        *(("minimal_pairs", "methods", value, {}) for value in (["full"], [])),
        *(("regions", "data", value, {}) for value in (str(data / "design" / "two.csv"), "nosuch", "")),
        *(("regions", "criteria", value, {}) for value in (["(1;%mismatch%) > (1;%match%)"], [])),
        *(("regions, folder", "groups", value, {}) for value in (["one"], [])),
    ]
    found += [("minimal_pairs", "data", value, {}) for value in (str(data / "some.jsonl"), "nosuch", "")]
    found += [("minimal_pairs", "data", own["data"], {"source": data / "own"})]
    found += [("minimal_pairs", "source", value, own) for value in (data / "other", "")]
    found += [("minimal_pairs", "source", data / "own", {})]
    found += [("minimal_pairs", "config", value, own) for value in ("deu", "")] + [
        ("minimal_pairs", "config", "deu", {})
    ]
    found += [("minimal_pairs", "linking", value, {}) for value in ("mean_token", "sum", "nosuch", "")]
    for base in ("agreement", "minimal_pairs"):
        found += [(base, "groups", value, {}) for value in (["Simple"], [])]
    for base in ("agreement", "minimal_pairs", "regions"):
        found += [(base, "limit", value, {}) for value in (1, 0, False)]
    return found


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


def load_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `tse run`, which checks its options before, load each model only once."""
    load = cache(loading.load_with_options)
    monkeypatch.setattr(loading, "load_with_options", lambda model, options, **_: load(model, options))
