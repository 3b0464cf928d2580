"""Draw the picture of the first page from a real run of the two bundled models (about a minute).

python docs/assets/draw_overview.py
"""

import shutil
import tempfile
from pathlib import Path

from tse_scorers import evaluate


def main() -> None:
    """Run the default suite and keep the overview of its report."""
    with tempfile.TemporaryDirectory() as folder:
        evaluate(["tiny-masked", "tiny-causal"], out=folder)
        shutil.copy(
            Path(folder) / "figures" / "agreement_overview.svg", Path(__file__).with_name("overview.svg")
        )


if __name__ == "__main__":
    main()
