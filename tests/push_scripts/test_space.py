"""The Space as it is pushed, laid out in a folder of its own, serves the page."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

import push_space
from hub.client import committed
from tse_scorers.io.records import write_record
from tse_scorers.io.result_row import ResultRow

pytest.importorskip("starlette", reason="needs the extra explore (pip install -e '.[explore]')")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def space(tmp_path) -> Path:
    """The Space's files with one result folder, outside of the checkout."""
    if "explore/server.py" not in committed(ROOT / "scorers/tse_scorers"):
        pytest.skip("the page is not committed yet")
    results = tmp_path / "one-run"
    row = {"suite": "german", "dataset": "german_word_order", "config": "ours", "model": "m", "revision": "1"}
    row |= {
        "group": "all",
        "level": "all",
        "value": "",
        "metric": "auc",
        "score": 0.5,
        "n": 10,
        "n_excluded": 0,
        "n_ties": 0,
    }
    identity = {key: row[key] for key in ("suite", "dataset", "config", "model", "revision")}
    write_record(results, {"model": "m", "identity": identity}, {}).with_rows([ResultRow.from_json(row)])
    upload = push_space.upload(push_space.EXPLORER, "org/explorer", [results])
    for name in upload.files:
        path = tmp_path / "space" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(upload.content(name))
    return tmp_path / "space"


def test_the_page_is_served_from_the_space_alone(space):
    """The package beside app.py comes first on Python's path, before an installed one."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "PYTHON"))}
    variables = {"GRADIO_SERVER_PORT": str(port), "HF_HOME": str(space / "home"), "HF_HUB_OFFLINE": "1"}
    with open(space / "log", "w") as log:
        page = subprocess.Popen(
            [sys.executable, "app.py"], cwd=space, env=kept | variables, stdout=log, stderr=log
        )
    try:
        text = ""
        deadline = time.monotonic() + 120
        while not text and time.monotonic() < deadline and page.poll() is None:
            try:
                text = urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10).read().decode()
            except OSError:
                time.sleep(0.3)
        assert "Targeted syntactic evaluation" in text, (space / "log").read_text()[-3000:]
    finally:
        page.terminate()
        page.wait()
