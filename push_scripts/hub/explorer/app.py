"""The page to explore results, as a Space: every folder in `results/` is the output of one `tse run`."""

import os
from pathlib import Path

from tse_scorers.explore.server import app, launch

page = app(sorted(path.parent for path in Path(__file__).parent.glob("results/*/runs")))

if __name__ == "__main__":  # a Space says in these variables where it expects the page
    host = os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1")
    launch(page, host, int(os.environ.get("GRADIO_SERVER_PORT", "7860"))).wait()
