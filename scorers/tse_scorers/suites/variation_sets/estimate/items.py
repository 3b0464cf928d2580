"""What makes a variation set the same in two runs."""

import hashlib

import pandas as pd


def with_texts(sets: pd.DataFrame, sentences: pd.DataFrame) -> pd.DataFrame:
    """Add the column `text`: templates with other sentences are other units, even if their numbers are equal."""
    texts = sentences.groupby("template", sort=False)["sentence"].agg(_short_text)
    return sets.assign(text=sets["template"].map(texts))


def _short_text(sentences: "pd.Series[str]") -> str:
    """Name a template's sentences by one of them and a hash of all, of which there are about 144.

    >>> _short_text(pd.Series(["…, dass der Koch schläft.", "…, dass den Koch schläft."]))
    '…, dass den Koch schläft. (one of 2 sentences, 2654dd78)'
    """
    ordered = sorted(sentences)
    name = hashlib.sha256("\n".join(ordered).encode()).hexdigest()[:8]
    return f"{ordered[0]} (one of {len(ordered)} sentences, {name})"
