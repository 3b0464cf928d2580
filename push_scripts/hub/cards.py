"""Checks of cards and of the data or code that they describe: everything is there, and what the card says is true.

Every check returns a list of all problems, in words; the list is empty if there are none.
"""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import yaml

# Licences that let a config be redistributed; "other" needs a name and a link as well.
REDISTRIBUTABLE = (
    "apache-2.0",
    "mit",
    "bsd-3-clause",
    "cc0-1.0",
    "cc-by-3.0",
    "cc-by-4.0",
    "cc-by-sa-4.0",
)
DATASET_KEYS = ("pretty_name", "language", "license", "size_categories", "tags", "configs", "dataset_info")
METRIC_KEYS = ("title", "sdk", "description", "tags")
METRIC_FILES = ("README.md", "requirements.txt")
MODEL_KEYS = ("license", "language", "library_name", "tags")
MODEL_FILES = ("config.json", "model.safetensors")
DATASET_SECTIONS = {
    "columns": r"columns|schema|fields",
    "how it was made": r"made|built|creation|source|origin",
    "limits": r"limit",
    "citation": r"cit(e|ing|ation)",
}
METRIC_SECTIONS = {
    "definition": r"defin|what it measures|formula",
    "inputs": r"input",
    "outputs": r"output",
    "published values": r"published|values from",
    "limits": r"limit",
    "citation": r"cit(e|ing|ation)",
}
EXECUTABLE_WEIGHTS = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt")


def split_card(text: str) -> tuple[dict[str, Any], str]:
    """Return the YAML head of a card and the text below it; raises ValueError if the head is not valid."""
    match = re.match(r"---\r?\n(.*?\n)---[ \t]*\r?\n(.*)", text, re.DOTALL)
    if match is None:
        raise ValueError("README.md does not start with a YAML head between two lines of ---")
    try:
        head = yaml.safe_load(match[1])
    except yaml.YAMLError as error:
        raise ValueError(f"the YAML head of README.md could not be read as YAML: {error}") from error
    if not isinstance(head, dict):
        raise ValueError("the YAML head of README.md is not a mapping of keys to values")
    return head, match[2]


def sections(body: str) -> dict[str, str]:
    """Return heading (lower case) -> text below it."""
    text = re.sub(r"^```.*?^```", "", body, flags=re.MULTILINE | re.DOTALL)  # without code
    parts = re.split(r"^#{1,4} +(.+?) *$", text, flags=re.MULTILINE)
    return {heading.lower(): part for heading, part in zip(parts[1::2], parts[2::2], strict=True)}


def licence_line(body: str, config: str) -> str | None:
    """Return the line of the card's licence section that names the config."""
    for heading, text in sections(body).items():
        if re.search(r"licen[cs]", heading):
            return next((line for line in text.splitlines() if f"`{config}`" in line), None)
    return None


def licence(head: dict[str, Any], body: str, config: str) -> str | None:
    """Return the licence that lets a config be redistributed: from its line in the licence section, or the head."""
    if line := licence_line(body, config):
        words = re.sub(r"[\s_-]+", "-", line.lower())  # "CC BY 4.0" and "cc-by-4.0" are the same licence
        return next((name for name in REDISTRIBUTABLE if name in words), None)
    stated = head.get("license")
    if stated == "other":
        return "other" if head.get("license_name") and head.get("license_link") else None
    return stated if stated in REDISTRIBUTABLE else None


def check_text(folder: Path, keys: tuple[str, ...], patterns: dict[str, str]) -> list[str]:
    """Return the problems of a README: its head, the keys in it, the sections below."""
    if not (folder / "README.md").is_file():
        return ["README.md is missing"]
    try:
        head, body = split_card((folder / "README.md").read_text(encoding="utf-8"))
    except ValueError as error:
        return [str(error)]
    problems = [f"the YAML head lacks `{key}`" for key in keys if not head.get(key)]
    headings = " | ".join(sections(body))
    return problems + [
        f"a section on {name} is missing (no heading matches {pattern!r})"
        for name, pattern in patterns.items()
        if not re.search(pattern, headings)
    ]


def check_dataset(folder: Path, built: Collection[str] | None = None) -> list[str]:
    """Return the problems of a data set's folder: its card, its licences, and whether its head is true of its files.

    Args:
        folder: the data set.
        built: names of the configs whose files and licence must be there; None means all of them.
    """
    problems = check_text(folder, DATASET_KEYS, DATASET_SECTIONS)
    if problems:
        return problems
    head, body = split_card((folder / "README.md").read_text(encoding="utf-8"))
    if not (head.get("task_ids") or head.get("task_categories")):
        problems.append("the YAML head lacks `task_ids` or `task_categories`")
    listed = head["dataset_info"] if isinstance(head["dataset_info"], list) else [head["dataset_info"]]
    infos = {info.get("config_name"): info for info in listed}

    def to_push(name: str) -> bool:
        return built is None or name in built

    for config in head["configs"]:
        name = config.get("config_name")
        if name is None:
            problems.append("an entry of `configs` has no `config_name`, which datasets requires")
            continue
        if licence(head, body, name) is None and (to_push(name) or licence_line(body, name) is None):
            problems.append(f"config {name}: the card states no licence that lets it be redistributed")
        if name not in infos:
            problems.append(f"config {name} is not in `dataset_info`")
            continue
        if to_push(name):
            config_problems = check_config(folder, config, infos[name], body)
            problems += [f"config {name}: {problem}" for problem in config_problems]
    unused = set(infos) - {config.get("config_name") for config in head["configs"]}
    problems += [f"`dataset_info` describes {name}, which `configs` does not have" for name in sorted(unused)]
    scripts = sorted(path.name for path in folder.rglob("*.py"))
    return problems + [f"{name} is code, which a data set must not hold" for name in scripts]


def check_config(folder: Path, config: dict[str, Any], info: dict[str, Any], body: str) -> list[str]:
    """Return the problems of one config: files, columns, and the sizes by which caches notice changed data."""
    import pyarrow.parquet as pq
    from datasets import Features

    problems: list[str] = []
    rows, size = {}, 0
    stated = {split["name"]: split for split in info.get("splits", [])}
    for entry in config["data_files"]:
        path = folder / str(entry.get("path"))
        if not path.is_file():
            return [
                f"data file {entry.get('path')} does not exist (give a file name; patterns are not allowed)"
            ]
        schema = pq.read_schema(path)
        rows[entry["split"]] = pq.read_metadata(path).num_rows
        size += path.stat().st_size
        features = Features._from_yaml_list(info.get("features", []))
        if features.arrow_schema.remove_metadata() != schema.remove_metadata():
            problems.append(f"the columns of {entry['path']} differ from `dataset_info`: {schema.names}")
        problems += [
            f"column `{name}` is not explained in the card"
            for name in schema.names
            if f"`{name}`" not in body
        ]
    if rows != {name: split.get("num_examples") for name, split in stated.items()}:
        problems.append(f"`splits` should have num_examples {rows}")
    if info.get("download_size") != size:
        problems.append(f"`download_size` should be {size}, the bytes of its files")
    total = sum(split.get("num_bytes") or 0 for split in stated.values())
    if not total or info.get("dataset_size") != total:
        problems.append(f"`dataset_size` should be {total}, the sum of the splits' num_bytes, and not 0")
    return problems


def check_metric(folder: Path) -> list[str]:
    """Return the problems of a metric's folder as a Space; `push_metrics.check_module` checks its code."""
    files = (*METRIC_FILES, f"{folder.name}.py")
    problems = [f"{name} is missing" for name in files if not (folder / name).is_file()]
    problems += check_text(folder, METRIC_KEYS, METRIC_SECTIONS)
    if problems:
        return problems
    head, _ = split_card((folder / "README.md").read_text(encoding="utf-8"))
    if not {"evaluate", "metric"} <= set(head["tags"]):
        problems.append("`tags` lacks evaluate or metric; the Hub lists metrics by these")
    if head["sdk"] != "static":
        problems.append(f"`sdk` is {head['sdk']}; expected static")
    return problems


def check_model(folder: Path) -> list[str]:
    """Return the problems of a model's folder: its card, safe weights, a tokenizer."""
    problems = [f"{name} is missing" for name in MODEL_FILES if not (folder / name).is_file()]
    problems += check_text(folder, MODEL_KEYS, {"limits": r"limit|not meant|intended"})
    if not list(folder.glob("tokenizer*")) and not list(folder.glob("vocab*")):
        problems.append("the tokenizer is missing")
    unsafe = [path.name for path in folder.rglob("*") if path.suffix in EXECUTABLE_WEIGHTS]
    return problems + [
        f"{name} may hold code that runs when it is loaded; use safetensors" for name in unsafe
    ]
