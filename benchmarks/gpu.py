"""Speed on one CUDA GPU, in float32 and bfloat16: all of BLiMP with GPT-2 small, all gaps of Marvin & Linzen with BERT.

    python benchmarks/gpu.py [JOB ...] [--blimp FOLDER] [--json FILE]
    python benchmarks/gpu.py --device cpu --limit 20        tries the code

It works as speed.py does. minicons and lm-eval score every 33rd sentence. The literal loop runs on the CPU in float32:
it checks the scores, and its times say nothing about a GPU.
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
    parser = arguments(__doc__, [job.name for job in JOBS])
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    given = parser.parse_args()
    name = torch.cuda.get_device_name() if given.device == "cuda" else "no GPU"
    return show([replace(job, device=given.device) for job in JOBS], f"{name}, {about(given.before)}", given)


if __name__ == "__main__":
    sys.exit(main())
