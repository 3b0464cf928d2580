"""Draw sentences that stand before minimal pairs (Sinha et al. 2023), and write the pairs with a column `context`.

python examples/pairs_in_context.py pairs.csv --kind ungrammatical --length 4 --out pairs-in-context.csv
tse run --data pairs-in-context.csv --model gpt2
"""

import argparse

import pandas as pd


def contexts(pairs: pd.DataFrame, kind: str, length: int) -> list[str]:
    """Return the text before each pair: sentences of other pairs, the same at every call.

    `matched` are acceptable sentences of its paradigm (UID), `ungrammatical` the unacceptable ones of the same pairs,
    and `mismatched` acceptable ones of other paradigms. No pair stands after one of its own sentences.
    """
    drawn = []
    for number, pair in enumerate(pairs.itertuples()):
        pool = pairs[(pairs["UID"] == pair.UID) != (kind == "mismatched")]
        own = pool[["sentence_good", "sentence_bad"]].isin([pair.sentence_good, pair.sentence_bad])
        chosen = pool[~own.any(axis=1)].sample(length, random_state=number)
        drawn.append(" ".join(chosen["sentence_bad" if kind == "ungrammatical" else "sentence_good"]))
    return drawn


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pairs", help="a CSV file with the columns UID, sentence_good and sentence_bad")
    parser.add_argument("--kind", default="matched", choices=["matched", "ungrammatical", "mismatched"])
    parser.add_argument("--length", type=int, default=4, help="sentences before each pair")
    parser.add_argument("--out", default="pairs-in-context.csv")
    options = parser.parse_args()
    table = pd.read_csv(options.pairs, keep_default_na=False)
    table.assign(context=contexts(table, options.kind, options.length)).to_csv(options.out, index=False)
