"""How a model judges minimal pairs after other sentences, of the same kind or ungrammatical.

    python examples/pairs_in_context.py --model gpt2

The pairs are drawn from the shipped templates; `--data` takes a table of your own, or a set of `tse data list`.
"""

import argparse
from pathlib import Path

from tse_scorers import load_data, run


def main() -> None:
    """Print the accuracy by context and number of its sentences."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="tiny-causal")
    parser.add_argument("--data", help="a table of your own pairs, or a set of minimal pairs")
    parser.add_argument("--limit", type=int, default=20, help="pairs of each paradigm")
    parser.add_argument("--out", type=Path, default=Path("in-context"))
    options = parser.parse_args()

    rows = run(
        options.model, suite="minimal_pairs", data=options.data or shipped_pairs(), limit=options.limit,
        context=["matched", "ungrammatical"], context_lengths=[1, 4], out=options.out,
    )  # fmt: skip
    for row in rows:
        if row["metric"] == "accuracy_in_context" and row["group"] == "all":
            print(f"{row['context']:14} {row['length']} sentences: {row['score']:.3f} over {row['n']} pairs")


def shipped_pairs():
    """Return pairs of two constructions in BLiMP's columns."""
    pairs = load_data("agreement_templates", "marvin_linzen").to_pandas()
    chosen = pairs[pairs["construction"].isin(["simple_agrmt", "prep_anim"])]
    names = {"construction": "UID", "sentence_good": "sentence_good", "sentence_bad": "sentence_bad"}
    return chosen[list(names)].rename(columns=names).assign(linguistics_term="agreement", field="syntax")


if __name__ == "__main__":
    main()
