"""Where the critical words of BLiMP's prefix methods are, as numbers of words (Warstadt et al. 2020, section 6.4).

The release holds the prefixes and words as text; copies such as the Hub's do not. Each text is the first words of its
sentence, split at white space, the last one without its final mark. So whole numbers give back every released text.
"""

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from builders import upstream

UPSTREAM = tuple(
    f"blimp/{path}" for path in sorted(upstream.RELEASES["blimp"]["files"]) if path.startswith("data/")
)
SCHEMA = pa.schema(
    [
        ("paradigm", pa.string()),
        ("pair_id", pa.int32()),
        ("prefix_words_good", pa.int8()),
        ("prefix_words_bad", pa.int8()),
        ("words_good", pa.int8()),
        ("words_bad", pa.int8()),
        ("checksum", pa.uint32()),
    ]
)
_TEXTS = {
    "one_prefix": ("prefix", "prefix", "word_good", "word_bad"),
    "two_prefix": ("prefix_good", "prefix_bad", "word", "word"),
}


def build(source: Path | None) -> dict[str, dict[str, pa.Table]]:
    """Return one config per method, from the 67 pinned files in `source`.

    Raises:
        ValueError: the numbers do not give back a released prefix or word.
    """
    pairs = [json.loads(line) for name in UPSTREAM for line in upstream.lines(source, name)]
    return {
        method: {"test": pa.Table.from_pylist(list(_rows(pairs, method)), schema=SCHEMA)} for method in _TEXTS
    }


def _rows(pairs: list[dict[str, Any]], method: str) -> Iterator[dict[str, Any]]:
    for pair in pairs:
        if not pair[f"{method}_method"]:
            continue
        texts = [pair[f"{method}_{name}"].strip() for name in _TEXTS[method]]
        counts = [len(text.split()) for text in texts]
        sentences = pair["sentence_good"], pair["sentence_bad"]
        for side, sentence in enumerate(sentences):
            words, n_prefix, n_words = sentence.split(), counts[side], counts[2 + side]
            prefix, critical = " ".join(words[:n_prefix]), " ".join(words[n_prefix : n_prefix + n_words])
            if (prefix, critical.rstrip(".?!")) != (texts[side], texts[2 + side]):
                raise ValueError(f"{pair['UID']} {pair['pairID']}: {sentence!r} does not begin with {texts}.")
        about = {"paradigm": pair["UID"], "pair_id": int(pair["pairID"])}
        about["checksum"] = zlib.crc32("\n".join(sentences).encode())
        yield about | dict(zip(SCHEMA.names[2:6], counts, strict=True))
