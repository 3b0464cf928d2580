"""Push the bundled models to the Hub, one repository each.

    python push_scripts/push_models.py --org ORG [--only NAME …] [--tag TAG] [--yes]

Without --yes nothing is sent: it says what would be.
"""

import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from cards import check_model
from hub import Refused, Upload
from publish import parser, publish, select

ROOT = Path(__file__).resolve().parent.parent


def upload(folder: Path, org: str) -> Upload:
    """The repository for one model; raises `Refused` with everything that is wrong with it."""
    if problems := check_model(folder):
        raise Refused(f"{folder.name} is not fit to be pushed: {'; '.join(problems)}")
    files: dict[str, Path | bytes] = {path.name: path for path in sorted(folder.iterdir()) if path.is_file()}
    card = (folder / "README.md").read_text(encoding="utf-8")
    files["README.md"] = card.replace(f'"{folder.name}"', f'"{org}/{folder.name}"').encode()
    return Upload(f"{org}/{folder.name}", "model", files, "model")


def uploads(options: Namespace, folder: Path) -> Iterator[Upload]:
    """The repositories of the chosen models."""
    for name in select([path.name for path in sorted(folder.iterdir()) if path.is_dir()], options.only):
        yield upload(folder / name, options.org)


def main(
    arguments: list[str] | None = None, folder: Path = ROOT / "scorers/tse_scorers/bundled_models"
) -> int:
    """Run the command line over the models in `folder`; returns the exit status."""
    options = parser("Push the bundled models to the Hub.").parse_args(arguments)
    return publish(uploads(options, folder), options)


if __name__ == "__main__":
    sys.exit(main())
