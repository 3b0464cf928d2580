"""Push the page to explore results to the Hub as a Space, with the package that it shows beside it.

    python push_scripts/push_space.py --org ORG [--name NAME] [--results DIR …] [--folder DIR] [--tag TAG] [--yes]

The Space is `explorer/` (or another folder with README.md and app.py). If its code imports `tse_scorers`, the
package goes along with its bundle, laid out as in a wheel, so that page and package are of one version; the
package's dependencies become the Space's requirements. Result folders of `tse run` go to `results/<name of the
folder>/`. Without --yes nothing is sent: it says what would be.
"""

import re
import sys
import warnings
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from cards import check_text, split_card
from hub import Refused, Upload
from publish import parser, publish
from push_datasets import committed

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
EXPLORER = ROOT / "push_scripts" / "explorer"
PACKAGE = {
    "scorers/tse_scorers": "tse_scorers",
    "datasets": "tse_scorers/_bundle/datasets",
    "metrics": "tse_scorers/_bundle/metrics",
}
RESULTS = ("results.json", "scores/*.parquet")


def package_files() -> dict[str, Path | bytes]:
    """The package and its bundle, by the paths that they have in a wheel, and what they require."""
    # Not from what is installed, which may be an earlier version than the checkout.
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    files: dict[str, Path | bytes] = {"requirements.txt": "\n".join([*sorted(needed), ""]).encode()}
    for source, target in PACKAGE.items():
        for name in committed(ROOT / source):
            if (ROOT / source / name).is_file() and not name.endswith(".pyc"):
                files[f"{target}/{name}"] = ROOT / source / name
    return files


def result_files(folder: Path) -> dict[str, Path | bytes]:
    """What the page shows of a result folder."""
    found = [path for pattern in RESULTS for path in sorted(folder.glob(pattern))]
    if folder / "results.json" not in found:
        raise Refused(f"{folder} is no result folder of `tse run`: it has no results.json")
    return {f"results/{folder.resolve().name}/{path.relative_to(folder).as_posix()}": path for path in found}


def upload(folder: Path, repo_id: str, results: list[Path]) -> Upload:
    """The Space for one page; raises `Refused` with everything that is wrong with it."""
    if problems := check_text(folder, ("title", "sdk", "app_file"), {}):
        raise Refused(f"{folder} is not fit to be pushed: {'; '.join(problems)}")
    head, _ = split_card((folder / "README.md").read_text(encoding="utf-8"))
    if not (folder / head["app_file"]).is_file():
        raise Refused(f"{folder} has no {head['app_file']}, which its README.md names as `app_file`")
    files: dict[str, Path | bytes] = {name: folder / name for name in sorted(committed(folder))}
    if any(
        re.search(r"^(from|import) tse_scorers\b", path.read_text(), re.M) for path in folder.rglob("*.py")
    ):
        files = package_files() | files
    if len({path.resolve().name for path in results}) < len(results):
        raise Refused("two result folders have the same name: rename one, the page shows them by it")
    for path in results:
        files |= result_files(path)
    return Upload(repo_id, "space", files, "space", sdk=head["sdk"])


def uploads(options: Namespace) -> Iterator[Upload]:
    """The Space for the chosen page."""
    name = options.name or options.folder.resolve().name
    yield upload(options.folder, f"{options.org}/{name}", options.results)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    command = parser("Push the page to explore results to the Hub as a Space.", several=False)
    command.add_argument("--folder", type=Path, default=EXPLORER, help="folder with README.md and app.py")
    command.add_argument("--name", help="name of the Space; default: the folder's")
    command.add_argument("--results", nargs="+", type=Path, default=[], metavar="DIR", help="of `tse run`")
    options = command.parse_args(arguments)
    with warnings.catch_warnings():  # data files belong to this Space: the package brings them
        warnings.filterwarnings("ignore", message="It seems that you are about to commit a data file")
        return publish(uploads(options), options)


if __name__ == "__main__":
    sys.exit(main())
