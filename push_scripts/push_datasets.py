"""Push the data sets to the Hub, one repository each.

    python push_scripts/push_datasets.py --org ORG [--only NAME …] [--with NAME/CONFIG …] [--tag TAG] [--yes]

Dry run by default: nothing is uploaded without --yes. A config is pushed if its files are committed. A config that is
built from other people's data is pushed only if --with names it and its card states a licence.
"""

import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from hub.cards import check_dataset, licence, split_card
from hub.client import Refused, Upload, committed, refuse_if
from hub.publish import for_readers, parser, publish, select
from tse_scorers.publishing import benchmark

ROOT = Path(__file__).resolve().parent.parent

# Configs that may be built and used, but not redistributed.
NOT_REDISTRIBUTABLE = {
    "german_argument_structure/rochereau2020": "its release (Rochereau et al. 2020) states no licence",
}
EVAL_YAML = "eval.yaml"


def data_files(config: dict[str, Any]) -> list[str]:
    """Return the paths of a config in a card's head."""
    return [entry["path"] for entry in config["data_files"]]


def choose(folder: Path, head: dict[str, Any], also: list[str]) -> tuple[list[str], list[str]]:
    """Return the names of the configs to push, and of those to exclude (neither committed nor named with --with)."""
    files = set(committed(folder))
    names = [config["config_name"] for config in head["configs"]]
    also_here = [name.partition("/")[2] for name in also if name.partition("/")[0] == folder.name]
    if unknown := sorted(set(also_here) - set(names)):
        raise Refused(f"{folder.name} has no config {', '.join(unknown)}; its card names: {', '.join(names)}")
    chosen = [
        config["config_name"]
        for config in head["configs"]
        if config["config_name"] in also_here or files.issuperset(data_files(config))
    ]
    return chosen, [name for name in names if name not in chosen]


def card_for(text: str, chosen: list[str]) -> str:
    """Return the card with only the chosen configs in its head: the Hub cannot load configs without files."""
    head, body = split_card(text)
    configs = [config for config in head["configs"] if config["config_name"] in chosen]
    if len(configs) == len(head["configs"]):
        return text
    infos = [info for info in head["dataset_info"] if info["config_name"] in chosen]
    head |= {"configs": configs, "dataset_info": infos}
    return f"---\n{yaml.safe_dump(head, sort_keys=False, allow_unicode=True)}---\n{body}"


def first_paragraph(body: str) -> str:
    r"""Return the first paragraph below a card's title as one line, without marks of emphasis.

    >>> first_paragraph("# Pairs\n\nPairs of *two*\nsentences.\n\nMore.")
    'Pairs of two sentences.'
    """
    paragraphs = [part.strip() for part in body.split("\n\n")]
    text = next((part for part in paragraphs if part and not part.startswith("#")), "")
    return " ".join(text.replace("*", "").replace("`", "").split())


def require_redistributable(config: str, licence: str | None) -> None:
    """Raise `Refused` for a config (`name/config`) that may not be redistributed."""
    if reason := NOT_REDISTRIBUTABLE.get(config):
        raise Refused(f"{config} may not be redistributed: {reason}. You can still build and use it.")
    if licence is None:
        raise Refused(f"{config} may not be redistributed: its card states no licence that allows it")


def upload(folder: Path, org: str, also: list[str]) -> Upload | None:
    """Return the upload of one data set, or None if there is nothing to push; raises `Refused`."""
    try:
        text = (folder / "README.md").read_text(encoding="utf-8")
        head, body = split_card(text)
        chosen, left_out = choose(folder, head, also)
    except (OSError, ValueError, KeyError) as error:
        if isinstance(error, Refused):
            raise
        raise Refused(f"{folder.name}: its card is not valid: {error}") from error
    for name in chosen:
        require_redistributable(f"{folder.name}/{name}", licence(head, body, name))
    if not chosen:
        return None
    refuse_if(check_dataset(folder, chosen), folder.name)
    configs = {config["config_name"]: data_files(config) for config in head["configs"]}
    paths = {path for name in chosen for path in configs[name]}
    paths |= set(committed(folder)) - {path for files in configs.values() for path in files}
    files: dict[str, Path | bytes] = {path: folder / path for path in sorted(paths)}
    files["README.md"] = for_readers(card_for(text, chosen), org).encode()
    tasks = benchmark(folder.name, chosen, head["pretty_name"], first_paragraph(body))
    files |= {} if tasks is None else {EVAL_YAML: tasks}
    notes = tuple(f"config {name} is excluded: its files are not committed (see --with)" for name in left_out)
    return Upload(f"{org}/{folder.name}", "dataset", files, "dataset", notes=notes)


def uploads(options: Namespace, folder: Path) -> Iterator[Upload]:
    """Yield the uploads of the chosen data sets that have data to push."""
    for name in options.also:
        require_redistributable(name, "still to be read from its card")
    names = [path.parent.name for path in sorted(folder.glob("*/README.md"))]
    select(names, [name.partition("/")[0] for name in options.also])
    for name in select(names, options.only):
        dataset = upload(folder / name, options.org, options.also)
        if dataset is not None:
            yield dataset
        elif options.only:
            raise Refused(f"{name} has no committed data. Build it and name its configs with --with")
        else:
            print(f"{name}: excluded, its data are built, not committed (see --with)")


def main(arguments: list[str] | None = None, folder: Path = ROOT / "datasets") -> int:
    """Run the command line over the data sets in `folder`; returns the exit status."""
    command = parser("Push the data sets to the Hub.")
    command.add_argument(
        "--with",
        nargs="+",
        dest="also",
        metavar="NAME/CONFIG",
        default=[],
        help="also push these built configs",
    )
    options = command.parse_args(arguments)
    return publish(uploads(options, folder), options)


if __name__ == "__main__":
    sys.exit(main())
