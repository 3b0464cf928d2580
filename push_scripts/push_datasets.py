"""Push the bundle's data sets to the Hub, one repository each.

    python push_scripts/push_datasets.py --org ORG [--only NAME …] [--with NAME/CONFIG …] [--tag TAG] [--yes]

Without --yes nothing is sent: it says what would be. Configs whose files are committed are pushed; one that
is built from other people's data goes only if it is named with --with and its card states a licence.
"""

import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from cards import check_dataset, licence, split_card
from hub import Refused, Upload
from publish import for_readers, parser, publish, select

ROOT = Path(__file__).resolve().parent.parent

# What may be built and used, but not passed on.
NOT_REDISTRIBUTABLE = {
    "german_argument_structure/rochereau2020": "its release (Rochereau et al. 2020) states no licence",
}


def committed(folder: Path) -> list[str]:
    """The files of `folder` that git tracks, or all of them where there is no repository."""
    listed = subprocess.run(["git", "-C", folder, "ls-files", "-z"], capture_output=True, text=True)
    if listed.returncode == 0:
        return [name for name in listed.stdout.split("\0") if name]
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


def data_files(config: dict[str, Any]) -> list[str]:
    """The paths that a config of a card's head names."""
    return [entry["path"] for entry in config["data_files"]]


def choose(folder: Path, head: dict[str, Any], also: list[str]) -> tuple[list[str], list[str]]:
    """The names of the configs to push and of those to leave out (neither committed nor asked for)."""
    files = set(committed(folder))
    names = [config["config_name"] for config in head["configs"]]
    asked = [name.partition("/")[2] for name in also if name.partition("/")[0] == folder.name]
    if unknown := sorted(set(asked) - set(names)):
        raise Refused(f"{folder.name} has no config {', '.join(unknown)}; its card names: {', '.join(names)}")
    chosen = [
        config["config_name"]
        for config in head["configs"]
        if config["config_name"] in asked or files.issuperset(data_files(config))
    ]
    return chosen, [name for name in names if name not in chosen]


def card_for(text: str, chosen: list[str]) -> str:
    """The card with only the chosen configs in its head, since the Hub cannot load what it does not have."""
    head, body = split_card(text)
    kept = [config for config in head["configs"] if config["config_name"] in chosen]
    if len(kept) == len(head["configs"]):
        return text
    infos = [info for info in head["dataset_info"] if info["config_name"] in chosen]
    head |= {"configs": kept, "dataset_info": infos}
    return f"---\n{yaml.safe_dump(head, sort_keys=False, allow_unicode=True)}---\n{body}"


def require_redistributable(config: str, licence: str | None) -> None:
    """Raise `Refused` for a config (`name/config`) that may not be passed on."""
    if reason := NOT_REDISTRIBUTABLE.get(config):
        raise Refused(f"{config} may not be passed on: {reason}. It is for building and using only.")
    if licence is None:
        raise Refused(f"{config} may not be passed on: its card states no licence that allows it")


def upload(folder: Path, org: str, also: list[str]) -> Upload | None:
    """The repository for one data set, or None where there is nothing to push; raises `Refused`."""
    try:
        text = (folder / "README.md").read_text(encoding="utf-8")
        head, body = split_card(text)
        chosen, left_out = choose(folder, head, also)
    except (OSError, ValueError, KeyError) as error:
        if isinstance(error, Refused):
            raise
        raise Refused(f"{folder.name}: its card cannot be used: {error}") from error
    for name in chosen:
        require_redistributable(f"{folder.name}/{name}", licence(head, body, name))
    if not chosen:
        return None
    if problems := check_dataset(folder, chosen):
        raise Refused(f"{folder.name} is not fit to be pushed: {'; '.join(problems)}")
    configs = {config["config_name"]: data_files(config) for config in head["configs"]}
    paths = {path for name in chosen for path in configs[name]}
    paths |= set(committed(folder)) - {path for files in configs.values() for path in files}
    files: dict[str, Path | bytes] = {path: folder / path for path in sorted(paths)}
    files["README.md"] = for_readers(card_for(text, chosen), org).encode()
    notes = tuple(f"config {name} is left out: its files are not committed (see --with)" for name in left_out)
    return Upload(f"{org}/{folder.name}", "dataset", files, "dataset", notes=notes)


def uploads(options: Namespace, folder: Path) -> Iterator[Upload]:
    """The repositories of the chosen data sets that have data to push."""
    for name in options.also:
        require_redistributable(name, "still to be read from its card")
    names = [path.parent.name for path in sorted(folder.glob("*/README.md"))]
    select(names, [name.partition("/")[0] for name in options.also])
    for name in select(names, options.only):
        made = upload(folder / name, options.org, options.also)
        if made is not None:
            yield made
        elif options.only:
            raise Refused(f"{name} has no committed data: build it and name its configs with --with")
        else:
            print(f"{name}: left out, its data are built, not committed (see --with)")


def main(arguments: list[str] | None = None, folder: Path = ROOT / "datasets") -> int:
    """Run the command line over the data sets in `folder`; returns the exit status."""
    command = parser("Push the data sets to the Hub.")
    command.add_argument(
        "--with", nargs="+", dest="also", metavar="NAME/CONFIG", default=[], help="built configs"
    )
    options = command.parse_args(arguments)
    return publish(uploads(options, folder), options)


if __name__ == "__main__":
    sys.exit(main())
