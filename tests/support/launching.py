"""Several processes on the CPU, as `torchrun` starts them."""

import os
import subprocess
import sys
from pathlib import Path


def launched(count: int, *arguments: object) -> str:
    """Run a script, or `-m` and a module, in so many processes; return what all of them print.

    They find the same modules as this process, and those beside the tests. None may fail.
    """
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count)]
    threads = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    modules = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    done = subprocess.run(
        [*launch, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | threads | modules,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
