"""Subject-verb agreement pairs from a grammar: Marvin & Linzen (2018), as in Newman et al. (2021)."""

from pathlib import Path

import pyarrow as pa

from builders.agreement import agreement_table
from builders.grammar import read_grammar

GRAMMAR = Path(__file__).resolve().parent.parent / "sources" / "marvin_linzen_grammar.yaml"


def build(source: Path | None = None) -> dict[str, dict[str, pa.Table]]:
    """Generate every pair of the 15 constructions; `source` is not used."""
    pairs = (
        (construction.name, construction.table_row, pair)
        for construction in read_grammar(GRAMMAR)
        for pair in construction.pairs()
    )
    return {"marvin_linzen": {"test": agreement_table(pairs)}}
