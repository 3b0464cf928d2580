"""Two small real runs that experiments stop, starve and damage, and what they leave, for comparing."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

RUN = (
    "run",
    "--model",
    "tiny-masked",
    "--device",
    "cpu",
    "--data",
    "pairs.csv",
    "--batch-tokens",
    "8",
    "--out",
    "out",
)
"""The command; its batches are small, so that there are many."""
MINIMAL_PAIRS = (
    "run",
    "--model",
    "tiny-causal",
    "--device",
    "cpu",
    "--suite",
    "minimal_pairs",
    "--data",
    "sentences.csv",
    "--batch-tokens",
    "8",
    "--out",
    "out",
)
"""A run that writes fewer files, so that the disk can be full at each single write."""

_SUBJECTS = (
    "author",
    "pilot",
    "guard",
    "senator",
    "teacher",
    "manager",
    "farmer",
    "officer",
    "customer",
    "surgeon",
)
_VERBS = (("laughs", "laugh"), ("likes", "like"), ("writes", "write"))


def write_pairs(folder: Path) -> None:
    """Write `pairs.csv`, sixty agreement pairs in forty contexts, and `sentences.csv`, twenty minimal pairs."""
    lines = ["group,prefix,suffix,form_correct,form_incorrect,number"]
    sentences = ["UID,linguistics_term,field,sentence_good,sentence_bad"]
    for number, noun in enumerate(_SUBJECTS):
        singular, plural = _VERBS[number % len(_VERBS)]
        for group, ending in (("Simple", ""), ("Near", " near the wall")):
            lines += [
                f"{group},The {noun}{ending},.,{singular},{plural},singular",
                f"{group},The {noun}s{ending},.,{plural},{singular},plural",
            ]
            sentences.append(
                f"{group},agreement,morphology,The {noun}{ending} {singular}.,The {noun}{ending} {plural}."
            )
            if group == "Simple":
                lines += [f"{group},The {noun},.,is,are,singular", f"{group},The {noun}s,.,are,is,plural"]
    (folder / "pairs.csv").write_text("\n".join(lines) + "\n")
    (folder / "sentences.csv").write_text("\n".join(sentences) + "\n")


RECORD = ("format", "request", "environment", "signature", "tables")


def left_by(folder: Path, exact: bool = True) -> dict[str, Any]:
    """Return what a run left in `out`: names of files, tables of scores, results, and the report.

    Args:
        folder: the folder with `out`.
        exact: compare bytes; otherwise values to five digits, because processes that share the work compute in other
            batches.
    """
    out = folder / "out"
    found: dict[str, Any] = {
        "files": sorted(_name(path, out, exact) for path in out.rglob("*") if path.is_file())
    }
    for path in sorted(out.glob("runs/*/*.parquet")):
        name = f"{path.parent.name}/{path.name.rpartition('-')[0]}"
        found[name] = (
            path.read_bytes() if exact else str(pq.read_table(path).to_pandas().round(5).to_dict("list"))
        )
    for path in sorted(out.glob("runs/*/record.json")):
        record = json.loads(path.read_text())
        found[path.parent.name] = {key: record[key] for key in (RECORD if exact else RECORD[:3])}
    results = json.loads((out / "results.json").read_text())
    if exact:
        pages = [*out.glob("*.csv"), *out.glob("*.md"), *out.glob("*.tex"), *out.glob("report.html")]
        return found | {"results.json": results} | {path.name: path.read_text() for path in pages}
    for row in results["results"]:
        row["score"] = None if row["score"] is None else round(row["score"], 5)
    return found | {"results.json": {key: results[key] for key in ("format", "environment", "results")}}


def _name(path: Path, out: Path, exact: bool) -> str:
    """Return the name of a file; a table's without its hash where values are compared to some digits."""
    name = str(path.relative_to(out))
    return name if exact or path.suffix != ".parquet" else name.rpartition("-")[0]


def differing(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Return what two runs left different."""
    lonely = set(one["files"]) ^ set(other["files"])
    return [f"only one has {name}" for name in sorted(lonely)] + [
        name for name in {**one, **other} if name != "files" and one.get(name) != other.get(name)
    ]
