"""Push the bundled models to the Hub, one repository each.

    python push_scripts/push_models.py --org ORG [--only NAME …] [--tag TAG] [--yes]

Dry run by default: nothing is uploaded without --yes.
"""

import sys
from pathlib import Path

from hub.cards import check_model
from hub.client import Upload, refuse_if
from hub.publish import each_folder, parser, publish

ROOT = Path(__file__).resolve().parent.parent


def upload(folder: Path, org: str) -> Upload:
    """Return the repository of one model; raises `Refused` with all its problems."""
    refuse_if(check_model(folder), folder.name)
    files: dict[str, Path | bytes] = {path.name: path for path in sorted(folder.iterdir()) if path.is_file()}
    card = (folder / "README.md").read_text(encoding="utf-8")
    files["README.md"] = card.replace(f'"{folder.name}"', f'"{org}/{folder.name}"').encode()
    return Upload(f"{org}/{folder.name}", "model", files, "model")


def main(
    arguments: list[str] | None = None, folder: Path = ROOT / "scorers/tse_scorers/bundled_models"
) -> int:
    """Run the command line over the models in `folder`; returns the exit status."""
    options = parser("Push the bundled models to the Hub.").parse_args(arguments)
    return publish(each_folder(options, folder, upload), options)


if __name__ == "__main__":
    sys.exit(main())
