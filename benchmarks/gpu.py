"""Speed on one CUDA GPU, in float32 and bfloat16: all of BLiMP with GPT-2 small, all gaps of Marvin & Linzen with BERT.

    python benchmarks/gpu.py [JOB ...] [--blimp FOLDER]

It works as speed.py does; without a GPU, `--limit 20` tries the code. minicons and lm-eval score every 33rd sentence.
The literal loop runs on the CPU in float32: it checks the scores, and its times say nothing about a GPU.
"""

import sys
from dataclasses import replace

import torch
from speed import about, arguments, show
from work import Job

SENTENCES = {"ours": None, "minicons": 4096, "lm-eval": 4096, "literal": 40}
JOBS = [
    Job(f"{name}-{dtype}", name, systems, dtype=dtype)
    for dtype in ("float32", "bfloat16")
    for name, systems in (("blimp", SENTENCES), ("gaps", {"ours": None, "literal": 40}))
]


def main() -> int:
    """Measure the jobs."""
    given = arguments(__doc__, [job.name for job in JOBS]).parse_args()
    device, name = ("cuda", torch.cuda.get_device_name()) if torch.cuda.is_available() else ("cpu", "no GPU")
    return show([replace(job, device=device) for job in JOBS], f"{name}, {about(given.before)}", given)


if __name__ == "__main__":
    sys.exit(main())
