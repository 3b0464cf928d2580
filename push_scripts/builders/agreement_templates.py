"""Subject-verb agreement pairs from grammars: Marvin & Linzen (2018) and CLAMS (Mueller et al. 2020).

The constructions of CLAMS are in German, French, Russian and Hebrew; the grammars are
`sources/marvin_linzen_grammar.yaml` and `sources/clams_<language>_grammar.yaml`.
"""

from pathlib import Path

import pyarrow as pa

from builders.agreement import agreement_table
from builders.grammar import read_grammar

SOURCES = Path(__file__).resolve().parent.parent / "sources"
CONFIGS = ("marvin_linzen", "clams_german", "clams_french", "clams_russian", "clams_hebrew")


def build(source: Path | None = None) -> dict[str, dict[str, pa.Table]]:
    """Generate every pair of every grammar; `source` is not used."""
    return {config: {"test": _table(config)} for config in CONFIGS}


def _table(config: str) -> pa.Table:
    pairs = (
        (construction.name, construction.group, pair)
        for construction in read_grammar(SOURCES / f"{config}_grammar.yaml")
        for pair in construction.pairs()
    )
    # English needs no column of clusters: its plurals are the singular and s.
    return agreement_table(pairs, clusters=config != "marvin_linzen")
