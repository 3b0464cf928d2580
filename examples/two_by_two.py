"""A 2 x 2 experiment: does a noun between subject and verb make the wrong verb less surprising?

    python examples/two_by_two.py --model gpt2

Each item is one lexical filling of four conditions; each condition is a row of regions. The criterion says what each
item should show, the interaction how large the effect is.
"""

import argparse
from itertools import product
from pathlib import Path

import pandas as pd

from tse_scorers import Regions, run

ITEMS = [("author", "senators", "laughs", "laugh"), ("pilot", "guards", "swims", "swim"),
         ("farmer", "skaters", "smiles", "smile"), ("guard", "chefs", "laughs", "laugh")]  # fmt: skip
CRITERION = "[(verb;%mismatch_near%) > (verb;%match_near%)] & [(verb;%mismatch_far%) > (verb;%match_far%)]"


def design() -> pd.DataFrame:
    """Return one row per item, condition and region."""
    rows = []
    for (noun, other, right, wrong), agreement, place in product(
        ITEMS, ("match", "mismatch"), ("near", "far")
    ):
        subject = f"The {noun}" + f" near the {other}" * (place == "far")
        texts = {"subject": subject, "verb": right if agreement == "match" else wrong, "end": "and smiles."}
        rows += [(noun, f"{agreement}_{place}", region, text) for region, text in texts.items()]
    return pd.DataFrame(rows, columns=["item", "condition", "region", "text"])


def main() -> None:
    """Print the share of items that fulfil the criterion, and the interaction at the verb."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="tiny-causal")
    parser.add_argument("--out", type=Path, default=Path("two-by-two"))
    options = parser.parse_args()
    suite = Regions(data=design(), criteria=[CRITERION])
    frame = run(options.model, suite, options.out, report=False).frame
    (fulfilled,) = frame[frame["level"] == "criterion"].itertuples()
    print(f"accuracy of the criterion: {fulfilled.score:.2f} over {fulfilled.n:.0f} items")
    (effect,) = frame[frame["level"].eq("interaction") & frame["value"].str.endswith("verb")].itertuples()
    print(f"interaction at the verb: {effect.score:.2f} bits [{effect.ci_low:.2f}, {effect.ci_high:.2f}]")


if __name__ == "__main__":
    main()
