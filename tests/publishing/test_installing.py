"""`tse install-metrics`: bare names load with no network, also after another version was installed."""

import os
import subprocess
import sys

LOAD = """
import sys
sys.modules["transformers"] = None  # evaluate is imported in a third of the time, and does not need it here
import evaluate
del sys.modules["transformers"]
def value():
    predictions = [{"correct": [-0.5, -2.3], "incorrect": [-3.0, -1.4]}]
    return evaluate.load("refined_tse").compute(predictions=predictions)["ew"]
"""
INSTALL = """
try:
    value()
except FileNotFoundError:
    print("not found")
from tse_scorers.publishing import install_metrics
for _ in range(2):
    said = install_metrics()
folder = next(path for path in said if "refined_tse" in path.parent.name)
newer = folder.with_name("0" * 64)  # another version, loaded later
newer.mkdir()
(newer / "refined_tse.py").write_text("raise ImportError('the other version')")
install_metrics()
print(len(said))
"""


def run(home, code):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    refused = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(home / "hf"), "NO_PROXY": "127.0.0.1"}
    settings = kept | refused | {"HF_UPDATE_DOWNLOAD_COUNTS": "0", "OMP_NUM_THREADS": "1", "COLUMNS": "500"}
    ended = subprocess.run(
        [sys.executable, "-c", code], env=settings, cwd=home, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    return ended.stdout.split("\n")[:-1]


def test_bare_names_load_without_a_network(tmp_path):
    assert run(tmp_path, LOAD + INSTALL) == ["not found", "4"]
    assert run(tmp_path, LOAD + "print(value())") == ["0.5"]
