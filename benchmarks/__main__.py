"""`python -m benchmarks [NAME ...] [--blimp DIR] [--out FILE]`: everybody on the same work, in turn, in one run.

Models have random weights and real sizes; nothing is downloaded but, without --blimp, BLiMP itself. Results are
printed as JSON, one object per benchmark, with the machine and the versions; RESULTS.md keeps dated ones.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from tse_scorers.bundle import load_data
from tse_scorers.results import environment
from tse_scorers.suites import agreement, blimp

from . import causal_sentences, masked_models, models, processes


def blimp_sentences(folder: Path | None, paradigms: int = 20, pairs: int = 100) -> list[str]:
    """Return the sentences of some pairs of the first paradigms."""
    table = blimp.load(folder)
    chosen = table[table["paradigm"].isin(sorted(table["paradigm"].unique())[:paradigms])]
    rows = chosen.groupby("paradigm").head(pairs)
    return [
        sentence
        for pair in zip(rows["sentence_good"], rows["sentence_bad"], strict=True)
        for sentence in pair
    ]


def marvin_linzen_sentences() -> list[str]:
    """Return both sentences of the pairs of three constructions."""
    pairs = load_data("agreement_templates", "marvin_linzen").to_pandas()
    kept = pairs[pairs["construction"].isin(["simple_agrmt", "vp_coord", "long_vp_coord"])]
    return [*kept["sentence_good"], *kept["sentence_bad"]]


def main() -> None:
    """Run the benchmarks named, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--blimp", type=Path, help="folder with BLiMP's *.jsonl; else from the Hub")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    german = load_data("german_argument_structure", "ours")["sentence"][:7200:24]
    again = {"repeats": options.repeats}

    def gaps() -> Any:
        pairs = agreement.load("marvin_linzen", groups=["Simple", "VP coordination"])
        return masked_models.gaps(pairs, agreement.load_lemmas("released"), models.bert("base"))

    def memory() -> Any:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.memory"], capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout.strip().splitlines()[-1])

    benchmarks: dict[str, Callable[[], Any]] = {
        "blimp-tiny": lambda: causal_sentences.compare(
            blimp_sentences(options.blimp), models.gpt2("tiny"), **again
        ),
        "blimp-small": lambda: causal_sentences.compare(
            blimp_sentences(options.blimp), models.gpt2("small"), **again
        ),
        "marvin-linzen-small": lambda: causal_sentences.compare(
            marvin_linzen_sentences(), models.gpt2("small"), against=["lm-eval"], repeats=1
        ),
        "gaps-base": gaps,
        "german-base": lambda: masked_models.pseudo_likelihoods(german, models.bert("base"), 1),
        "german-tiny": lambda: masked_models.pseudo_likelihoods(german, models.bert("tiny"), **again),
        "memory": memory,
        "processes": processes.compare,
    }
    unknown = set(options.names) - set(benchmarks)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are: {', '.join(benchmarks)}")
    results: dict[str, Any] = {"environment": environment(), "threads": torch.get_num_threads()}
    for name in options.names or benchmarks:
        results[name] = benchmarks[name]()
        print(json.dumps({name: results[name]}, indent=1), flush=True)
    if options.out is not None:
        options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
