"""What the code never does: run what it reads, trust a repository's code unasked, wait for ever, show a token."""

import ast
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    path
    for folder in ("scorers", "metrics", "push_scripts", "benchmarks", "examples")
    for path in (ROOT / folder).rglob("*.py")
    if "_bundle" not in path.parts
)
TOKEN = "hf_" + "pLaNtEdSeCrEt" * 3
NEVER = """eval exec compile os.system os.popen marshal.loads dill.load dill.loads pickle.load pickle.loads
    pickle.Unpickler joblib.load pd.read_pickle shelve.open yaml.load yaml.load_all yaml.unsafe_load""".split()
WITH_TIMEOUT = ("requests.", "httpx.", "urllib.request.urlopen")


def faults(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the lines of a module that do what the code never does."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = ast.unparse(call.func)
        options = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
        wrong = {
            name: name in NEVER,
            "torch.load without weights_only": name == "torch.load" and options.get("weights_only") != "True",
            "no timeout": name.startswith(WITH_TIMEOUT) and "timeout" not in options,
            **{of: options.get(of) == "True" for of in ("allow_pickle", "shell", "trust_remote_code")},
        }
        yield from ((call.lineno, what) for what, is_wrong in wrong.items() if is_wrong)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_runs_what_it_reads(path):
    assert list(faults(ast.parse(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize(
    "code",
    [
        "pickle.load(f)", "torch.load(f)", "torch.load(f, weights_only=False)", "eval(x)", "yaml.load(f)",
        "subprocess.run(x, shell=True)", "AutoModel.from_pretrained(x, trust_remote_code=True)", "requests.get(x)",
        "np.load(f, allow_pickle=True)", "urllib.request.urlopen(x)",
    ],
)  # fmt: skip
def test_the_audit_finds_what_it_looks_for(code):
    assert list(faults(ast.parse(code)))


def test_the_only_unpickler_knows_its_names():
    """It reads old LSTM checkpoints and makes descriptions of tensors; a subclass that finds no class by itself."""
    users = [path for path in FILES if "import pickle" in path.read_text(encoding="utf-8")]
    assert [path.name for path in users] == ["lstm_convert.py"]
    assert "def find_class" in users[0].read_text(encoding="utf-8")


def tse(commands: list[list[str]], home: Path, **variables: str) -> list[str]:
    """Run commands with a planted token; return all that each said."""
    own = {"HF_TOKEN": TOKEN, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1", "NO_PROXY": "127.0.0.1"}
    said = []
    for arguments in commands:
        ended = subprocess.run(
            [sys.executable, "-m", "tse_scorers", *arguments],
            env=os.environ | own | variables | {"PYTHONPATH": str(ROOT / "scorers")},
            capture_output=True,
            text=True,
            cwd=home,
            timeout=240,
        )
        said.append(ended.stdout + ended.stderr)
    return said


def test_a_token_is_in_no_file_and_no_message(tmp_path):
    from loopback_hub import LoopbackHub

    with LoopbackHub() as hub:
        hub.create("models", "org/tiny")
        endpoint = {"HF_ENDPOINT": hub.url}
        out = str(tmp_path / "out")
        commands = [
            ["run", "--model", "tiny-causal", "--groups", "Simple", "--limit", "1", "--out", out],
            ["publish", out, "--results-repo", "org/results"],
            ["publish", out, "--results-repo", "org/results", "--yes"],
            ["run", "--model", "org/none", "--groups", "Simple", "--limit", "1", "--out", out],
        ]
        said, dry, failed, missing = tse(commands, tmp_path, **endpoint)
        assert "Report:" in said and "Nothing was sent" in dry and "org/none" in missing
        assert "could not be sent" in failed and "Traceback" not in failed  # the Hub does not know this token
        asked = [entry for entry in hub.log if entry[2] == 401]
        assert asked
    assert all(TOKEN not in text for text in (said, dry, failed, missing))
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert TOKEN.encode() not in path.read_bytes(), path


def test_a_lock_without_hash_is_refused_and_pins_are_in_it(tmp_path):
    """By `.ci/audit.py`, which is not on the path of imports."""
    audit = runpy.run_path(str(ROOT / ".ci" / "audit.py"))
    versions = audit["locked"]()
    pins = re.findall(r"^([\w.-]+)==(\S+)", (ROOT / ".ci" / "constraints.txt").read_text(), re.MULTILINE)
    assert [pin for pin in pins if pin[0] != "torch" and versions.get(pin[0], pin[1]) != pin[1]] == []
    (tmp_path / "requirements.lock").write_text(
        "numpy==2.0 \\\n    --hash=sha256:" + "a" * 64 + "\npandas==2.2\n"
    )
    with pytest.raises(ValueError, match=r"'pandas==2\.2'; expected name==version with a SHA-256"):
        audit["locked"](tmp_path / "requirements.lock")
