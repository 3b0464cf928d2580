"""Push the metrics to the Hub, one Space each; `evaluate.load("ORG/NAME")` loads them from there.

    python push_scripts/push_metrics.py --org ORG [--only NAME …] [--tag TAG] [--yes]

Dry run by default: nothing is uploaded without --yes.
"""

import doctest
import html
import importlib
import os
import re
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from hub.cards import check_metric, split_card
from hub.client import Refused, Upload, refuse_if
from hub.publish import each_folder, for_readers, parser, publish

ROOT = Path(__file__).resolve().parent.parent


def check_module(folder: Path) -> list[str]:
    """Return the problems of a metric's code: `evaluate` must load it, and its doctests must pass.

    The doctests run in the root of the repository, because they load `metrics/NAME`.
    """
    import evaluate

    folder, here = folder.resolve(), Path.cwd()
    try:
        metric = evaluate.load(str(folder))
    except Exception as error:  # any error is a problem
        return [f"evaluate cannot load it: {type(error).__name__}: {error}"]
    package = type(metric).__module__.rpartition(".")[0]
    problems = []
    os.chdir(folder.parent.parent)
    try:
        for path in sorted(folder.glob("*.py")):
            failed, _ = doctest.testmod(importlib.import_module(f"{package}.{path.stem}"))
            problems += [f"{failed} doctests in {path.name} fail"] if failed else []
    finally:
        os.chdir(here)
    return problems


def upload(folder: Path, org: str) -> Upload:
    """Return the Space of one metric; raises `Refused` with all its problems."""
    refuse_if(check_metric(folder) or check_module(folder), folder.name)
    card = (folder / "README.md").read_text(encoding="utf-8")
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    files: dict[str, Path | bytes] = {path.relative_to(folder).as_posix(): path for path in paths}
    files |= {
        "README.md": for_readers(card, org).encode(),
        "index.html": page(card, f"{org}/{folder.name}").encode(),
    }
    return Upload(f"{org}/{folder.name}", "space", files, "metric")


def page(card: str, repo_id: str) -> str:
    """Return what a static Space shows: what the metric is, how to load it, a link to its card."""
    head, _ = split_card(card)
    title, description, metric = (html.escape(text) for text in (head["title"], head["description"], repo_id))
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<body style="font-family: sans-serif; max-width: 40em; margin: 2em auto; padding: 0 1em">
<h1>{title}</h1>
<p>{description}</p>
<pre>import evaluate

metric = evaluate.load("{metric}")</pre>
<p><a href="https://huggingface.co/spaces/{metric}/blob/main/README.md">Definition, inputs and limits</a></p>
</html>
"""


def uploads(options: Namespace, folder: Path) -> Iterator[Upload]:
    """Yield the Spaces of the chosen metrics; raises `Refused` for a tag that would hide later releases."""
    if options.tag and re.match(r"v?\d+\.\d+\.\d+", options.tag):
        raise Refused(
            f"a metric cannot have the tag {options.tag}: evaluate.load without a revision first looks for the tag "
            "v<version of evaluate>, so some users would never get a later release; use release-…"
        )
    yield from each_folder(options, folder, upload)


def main(arguments: list[str] | None = None, folder: Path = ROOT / "metrics") -> int:
    """Run the command line over the metrics in `folder`; returns the exit status."""
    options = parser("Push the metrics to the Hub.").parse_args(arguments)
    return publish(uploads(options, folder), options)


if __name__ == "__main__":
    sys.exit(main())
