"""Push the page to explore results to the Hub as a Space, together with the package that it uses.

    python push_scripts/push_space.py --org ORG [--name NAME] [--results DIR …] [--folder DIR] [--tag TAG] [--yes]

The Space is `hub/explorer/`, or another folder with README.md and app.py. If its code imports `tse_scorers`, the
package and its bundle are pushed too, laid out as in a wheel, so that page and package have the same version; the
package's dependencies become the Space's requirements. Result folders of `tse run` go to `results/<name of the
folder>/`. Dry run by default: nothing is uploaded without --yes.
"""

import re
import sys
import warnings
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from hub.cards import check_text, split_card
from hub.client import Refused, Upload, committed, refuse_if
from hub.publish import parser, publish

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
EXPLORER = ROOT / "push_scripts" / "hub" / "explorer"
PACKAGE = {
    "scorers/tse_scorers": "tse_scorers",
    "datasets": "tse_scorers/_bundle/datasets",
    "metrics": "tse_scorers/_bundle/metrics",
}
RESULTS = ("runs/*/record.json", "runs/*/*.parquet")


def package_files() -> dict[str, Path | bytes]:
    """Return the package and its bundle, by their paths in a wheel, and the package's requirements."""
    # From the checkout: the installed version may be an earlier one.
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    files: dict[str, Path | bytes] = {"requirements.txt": "\n".join([*sorted(needed), ""]).encode()}
    for source, target in PACKAGE.items():
        for name in committed(ROOT / source):
            if (ROOT / source / name).is_file() and not name.endswith(".pyc"):
                files[f"{target}/{name}"] = ROOT / source / name
    return files


def result_files(folder: Path) -> dict[str, Path | bytes]:
    """Return the files of a result folder that the page shows."""
    paths = [path for pattern in RESULTS for path in sorted(folder.glob(pattern))]
    if not any(path.name == "record.json" for path in paths):
        raise Refused(f"{folder} is not a result folder of `tse run`: it has no runs/*/record.json")
    return {f"results/{folder.resolve().name}/{path.relative_to(folder).as_posix()}": path for path in paths}


def upload(folder: Path, repo_id: str, results: list[Path]) -> Upload:
    """Return the Space of one page; raises `Refused` with all its problems."""
    refuse_if(check_text(folder, ("title", "sdk", "app_file"), {}), str(folder))
    head, _ = split_card((folder / "README.md").read_text(encoding="utf-8"))
    if not (folder / head["app_file"]).is_file():
        raise Refused(f"{folder} has no {head['app_file']}, which its README.md names as `app_file`")
    files: dict[str, Path | bytes] = {name: folder / name for name in sorted(committed(folder))}
    if any(
        re.search(r"^(from|import) tse_scorers\b", path.read_text(), re.M) for path in folder.rglob("*.py")
    ):
        files = package_files() | files
    if len({path.resolve().name for path in results}) < len(results):
        raise Refused("two result folders have the same name, which the page shows. Rename one")
    for path in results:
        files |= result_files(path)
    return Upload(repo_id, "space", files, "space", sdk=head["sdk"])


def uploads(options: Namespace) -> Iterator[Upload]:
    """Yield the Space of the chosen page."""
    name = options.name or options.folder.resolve().name
    yield upload(options.folder, f"{options.org}/{name}", options.results)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    command = parser("Push the page to explore results to the Hub as a Space.", several=False)
    command.add_argument(
        "--folder",
        type=Path,
        default=EXPLORER,
        help="folder with README.md and app.py; default: hub/explorer",
    )
    command.add_argument("--name", help="name of the Space; default: the name of the folder")
    command.add_argument("--results", nargs="+", type=Path, default=[], metavar="DIR", help="from `tse run`")
    options = command.parse_args(arguments)
    with warnings.catch_warnings():  # the package's data files belong into this Space
        warnings.filterwarnings("ignore", message="It seems that you are about to commit a data file")
        return publish(uploads(options), options)


if __name__ == "__main__":
    sys.exit(main())
