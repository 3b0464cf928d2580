"""Check what CI has installed: each package is locked with its hash, and none has a known vulnerability.

    .venv/bin/python .ci/audit.py

The first check needs no network. For the second, pip-audit asks osv.dev; where that cannot be reached, the check is
skipped, and says so.
"""

import re
import socket
import subprocess
import sys
import tempfile
from importlib.metadata import distributions
from pathlib import Path

CI = Path(__file__).resolve().parent
LOCK = CI / "requirements.lock"
DATABASE = "api.osv.dev"
WITHOUT_HASH = {"torch", "refined-tse", "pip", "setuptools", "wheel"}
"""PyTorch is built for each kind of machine, so only its version is pinned. The others are this package and pip."""


def normal(name: str) -> str:
    """Return a package's name as PyPI compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(lock: Path = LOCK) -> dict[str, str]:
    """Return the version of each locked package.

    Raises:
        ValueError: one has no hash.
    """
    versions = {}
    for entry in re.split(r"\n(?=\S)", lock.read_text(encoding="utf-8").strip()):
        found = re.match(r"([\w.-]+)==([^\s;]+)", entry)
        if found is None or not re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry):
            raise ValueError(f"{lock} has the entry {entry[:60]!r}; expected name==version with a SHA-256.")
        versions[normal(found[1])] = found[2]
    return versions


def unlocked(versions: dict[str, str]) -> list[str]:
    """Return the installed packages that are not the locked ones."""
    installed = {normal(each.name): each.version for each in distributions()}
    return sorted(
        f"{name} {version} (locked: {versions.get(name, 'no')})"
        for name, version in installed.items()
        if name not in WITHOUT_HASH and versions.get(name) != version
    )


def is_reachable(host: str) -> bool:
    """Whether a server accepts connections."""
    try:
        socket.create_connection((host, 443), timeout=5).close()
    except OSError:
        return False
    return True


def audit() -> int:
    """Run pip-audit, in an environment of its own, over the locked packages; return its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = Path(folder) / "bin" / "python"
        tool = [
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--require-hashes",
            "-r",
            CI / "audit.lock",
        ]
        subprocess.run(tool, check=True)
        options = ["-r", LOCK, "--no-deps", "--disable-pip", "--vulnerability-service", "osv"]
        return subprocess.run([python, "-m", "pip_audit", *options]).returncode


def main() -> int:
    """Return 1 where a package is not locked or vulnerable."""
    versions = locked()
    if others := unlocked(versions):
        print(
            f"Installed without a hash in {LOCK.name}: {', '.join(others)}. CONTRIBUTING.md says how to lock them."
        )
        return 1
    print(f"{len(versions)} packages are locked with their hashes, and no others are installed.")
    if not is_reachable(DATABASE):
        print(
            f"SKIPPED: the search for known vulnerabilities, because {DATABASE} cannot be reached from here."
        )
        return 0
    return audit()


if __name__ == "__main__":
    sys.exit(main())
