"""The explorer as a Space: shows the runs in `results/` beside this file."""

from pathlib import Path

from tse_scorers.explore.app import app
from tse_scorers.explore.serve import launch

RESULTS = Path(__file__).with_name("results")

demo = app(sorted(folder for folder in RESULTS.glob("*") if folder.is_dir()))

if __name__ == "__main__":
    print(launch(demo))
    demo.block_thread()
