"""The page to explore results, as a Space: every folder in `results/` is the output of one `tse run`."""

from pathlib import Path

from tse_scorers.explore.app import app
from tse_scorers.explore.serve import launch

page = app(sorted(path.parent for path in Path(__file__).parent.glob("results/*/results.json")))

if __name__ == "__main__":
    launch(page)
    page.block_thread()  # `launch` returns at once, and a Space ends with its program
