"""What the code never does: run what it reads, trust a repository's code unasked, wait for ever, show a token."""

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("scorers", "metrics", "push_scripts", "benchmarks", "examples")
FILES = sorted(
    path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if "_bundle" not in path.parts
)
TOKEN = "hf_" + "pLaNtEdSeCrEt" * 3


def name_of(function: ast.expr) -> str:
    """The dotted name of what is called: `torch.load`."""
    if isinstance(function, ast.Attribute):
        return f"{name_of(function.value)}.{function.attr}"
    return function.id if isinstance(function, ast.Name) else "?"


def option(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def is_true(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is True


def faults(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the lines of a module that do what the code never does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from ((node.lineno, what) for what in faults_of_call(node))
        if isinstance(node, ast.FunctionDef):
            arguments = node.args
            defaults = zip(reversed(arguments.args), reversed(arguments.defaults), strict=False)
            for argument, default in (
                *defaults,
                *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
            ):
                if argument.arg == "trust_remote_code" and is_true(default):
                    yield node.lineno, "trust_remote_code by default"


def faults_of_call(call: ast.Call) -> Iterator[str]:
    name = name_of(call.func)
    last = name.rpartition(".")[2]
    if name in (
        "eval",
        "exec",
        "compile",
        "os.system",
        "os.popen",
        "marshal.loads",
        "dill.load",
        "dill.loads",
    ):
        yield name
    if name in (
        "pickle.load",
        "pickle.loads",
        "pickle.Unpickler",
        "joblib.load",
        "pd.read_pickle",
        "shelve.open",
    ):
        yield name
    if last in ("load", "load_all") and name.startswith("yaml.") and not name.endswith("safe_load"):
        yield name
    if name == "torch.load" and not is_true(option(call, "weights_only")):
        yield "torch.load without weights_only=True"
    if last == "load" and name.startswith(("np.", "numpy.")) and is_true(option(call, "allow_pickle")):
        yield "np.load with pickles"
    if is_true(option(call, "shell")):
        yield "a shell"
    if is_true(option(call, "trust_remote_code")):
        yield "trust_remote_code=True"
    if name.startswith(("requests.", "httpx.", "urllib.request.urlopen")) and option(call, "timeout") is None:
        yield f"{name} without a timeout"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_runs_what_it_reads(path):
    assert list(faults(ast.parse(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize(
    "code",
    [
        "pickle.load(f)", "torch.load(f)", "torch.load(f, weights_only=False)", "eval(x)", "exec(x)",
        "yaml.load(f)", "yaml.load(f, Loader=yaml.UnsafeLoader)", "subprocess.run(x, shell=True)", "os.system(x)",
        "AutoModel.from_pretrained(x, trust_remote_code=True)", "def f(a, trust_remote_code=True): ...",
        "def f(*, trust_remote_code=True): ...", "requests.get(x)", "np.load(f, allow_pickle=True)",
        "urllib.request.urlopen(x)", "pd.read_pickle(f)",
    ],
)  # fmt: skip
def test_the_audit_finds_what_it_looks_for(code):
    assert list(faults(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    ["torch.load(f, weights_only=True)", "yaml.safe_load(f)", "json.load(f)", "requests.get(x, timeout=1)"],
)
def test_the_audit_leaves_the_rest_alone(code):
    assert not list(faults(ast.parse(code)))


def test_the_only_unpickler_knows_its_names():
    """It reads old LSTM checkpoints and makes descriptions of tensors; a subclass that finds no class by itself."""
    users = [path for path in FILES if "import pickle" in path.read_text(encoding="utf-8")]
    assert [path.name for path in users] == ["convert.py"]
    assert "def find_class" in users[0].read_text(encoding="utf-8")


# --- tokens ------------------------------------------------------------------------------------------------


COMMANDS = """
import json, sys
from tse_scorers.cli.app import main

for arguments in json.loads(sys.argv[1]):
    sys.argv = ["tse", *arguments]
    try:
        main()
    except SystemExit:
        pass
    for stream in (sys.stdout, sys.stderr):
        print("=== next", file=stream, flush=True)
"""


def tse(commands: list[list[str]], home: Path, **variables: str) -> list[str]:
    """Run commands in one process with a planted token; return all that each said."""
    own = {"HF_TOKEN": TOKEN, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1", "NO_PROXY": "127.0.0.1"}
    ended = subprocess.run(
        [sys.executable, "-c", COMMANDS, json.dumps(commands)],
        env=os.environ | own | variables,
        capture_output=True,
        text=True,
        cwd=home,
        timeout=240,
    )
    said, told = (text.split("=== next")[:-1] for text in (ended.stdout, ended.stderr))
    return [left + right for left, right in zip(said, told, strict=True)]


def test_a_token_is_in_no_file_and_no_message(tmp_path):
    from loopback_hub import LoopbackHub

    with LoopbackHub() as hub:
        hub.content.create("models", "org/tiny")
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


def lock_checks():
    """`.ci/audit.py`, which is not on the path of imports."""
    spec = importlib.util.spec_from_file_location("ci_audit", ROOT / ".ci" / "audit.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_dependency_is_locked_in_the_version_that_is_pinned():
    audit = lock_checks()
    versions = audit.locked()
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / ".ci" / "constraints.txt").read_text(), re.M))
    assert len(pins) > 10 and {n: versions.get(n, v) for n, v in pins.items() if n != "torch"} == {
        n: v for n, v in pins.items() if n != "torch"
    }
    project = (ROOT / "pyproject.toml").read_text()
    extras = project[project.index("[project.optional-dependencies]") : project.index("[project.scripts]")]
    needed = (
        project[project.index("dependencies = [") : project.index("[project.optional-dependencies]")] + extras
    )
    names = {audit.normal(name) for name in re.findall(r'^  "([\w-]+)[\[\]\w,]*(?:>=|")', needed, re.M)}
    names -= {"lm-eval", "tomli", *audit.WITHOUT_HASH}  # for benchmarks alone; for Python 3.10
    assert len(names) > 30 and names - versions.keys() == set()
    assert f"{len(versions)} packages, each with its version" in (ROOT / "SECURITY.md").read_text()


def test_a_lock_without_hash_and_an_unlocked_package_are_found(tmp_path):
    audit = lock_checks()
    lock = tmp_path / "requirements.lock"
    lock.write_text("numpy==2.0 \\\n    --hash=sha256:" + "a" * 64 + "\npandas==2.2\n")
    with pytest.raises(ValueError, match=r"'pandas==2\.2'; expected name==version with a SHA-256"):
        audit.locked(lock)
    lock.write_text("numpy==0.0 \\\n    --hash=sha256:" + "a" * 64 + "\n")
    found = audit.unlocked(audit.locked(lock))
    assert any(line.startswith("numpy ") and line.endswith("(locked: 0.0)") for line in found)
    assert any(line.startswith("pandas ") and line.endswith("(locked: no)") for line in found)
