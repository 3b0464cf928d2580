"""Push the bundle's metrics to the Hub, one Space each: `evaluate.load("ORG/NAME")` reads them from there.

    python push_scripts/push_metrics.py --org ORG [--only NAME …] [--tag TAG] [--yes]

Without --yes nothing is sent: it says what would be.
"""

import doctest
import importlib
import os
import re
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from cards import check_metric, split_card
from hub import Refused, Upload
from publish import for_readers, parser, publish, select

ROOT = Path(__file__).resolve().parent.parent


def check_module(folder: Path) -> list[str]:
    """Problems of a metric's code: `evaluate` must load it and its examples must hold.

    The examples run where a reader of the repository runs them: `metrics/NAME` is a path there.
    """
    import evaluate

    folder, here = folder.resolve(), Path.cwd()
    try:
        metric = evaluate.load(str(folder))
    except Exception as error:  # whatever stops a reader from loading it is the problem
        return [f"evaluate cannot load it: {type(error).__name__}: {error}"]
    package = type(metric).__module__.rpartition(".")[0]
    problems = []
    os.chdir(folder.parent.parent)
    try:
        for path in sorted(folder.glob("*.py")):
            if path.name != "app.py":
                failed, _ = doctest.testmod(importlib.import_module(f"{package}.{path.stem}"))
                problems += [f"{failed} examples in {path.name} fail"] if failed else []
    finally:
        os.chdir(here)
    return problems


def upload(folder: Path, org: str) -> Upload:
    """The Space for one metric; raises `Refused` with everything that is wrong with it."""
    if problems := check_metric(folder) or check_module(folder):
        raise Refused(f"{folder.name} is not fit to be pushed: {'; '.join(problems)}")
    card = (folder / "README.md").read_text(encoding="utf-8")
    found = [path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    files: dict[str, Path | bytes] = {path.relative_to(folder).as_posix(): path for path in found}
    files["README.md"] = for_readers(card, org).encode()
    return Upload(f"{org}/{folder.name}", "space", files, "metric", sdk=split_card(card)[0]["sdk"])


def uploads(options: Namespace, folder: Path) -> Iterator[Upload]:
    """The Spaces of the chosen metrics; raises `Refused` for a tag that would hide later releases."""
    if options.tag and re.match(r"v?\d+\.\d+\.\d+", options.tag):
        raise Refused(
            f"a metric cannot be tagged {options.tag}: evaluate.load without a revision first asks for "
            "the tag v<its own version>, so some readers would never see a later release; use release-…"
        )
    for name in select([path.name for path in sorted(folder.iterdir()) if path.is_dir()], options.only):
        yield upload(folder / name, options.org)


def main(arguments: list[str] | None = None, folder: Path = ROOT / "metrics") -> int:
    """Run the command line over the metrics in `folder`; returns the exit status."""
    options = parser("Push the metrics to the Hub.").parse_args(arguments)
    return publish(uploads(options, folder), options)


if __name__ == "__main__":
    sys.exit(main())
