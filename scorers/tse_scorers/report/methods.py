"""The paragraph on methods of a paper: what was measured on which data, over what, and with which programs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from .basis import alike, over
from .comparable import OF_DATA, Heading, scored_part
from .inputs import SignatureKey
from .names import plain_heading
from .numbers import count

_PROGRAMS = ("torch", "transformers", "datasets")
_INTERVALS = (
    "95 % confidence intervals are cluster-robust over the units that items share, with degrees of freedom from their "
    "effective number, 1 / Σw²; those of proportions are Korn and Graubard's (1998)."
)


def methods_paragraph(
    lines: pd.DataFrame,
    signatures: Mapping[SignatureKey, Mapping[str, Any]],
    heading: Heading = plain_heading,
) -> str:
    """Say in plain sentences what a run measured, for the section on methods of a paper.

    Args:
        lines: its headline scores, as `summary.headlines` returns them.
        signatures: what decided the scores of each (system, suite, configuration).
        heading: names the data.

    Returns:
        Models and precision, versions of programs; for each data set its fingerprint, items, lemmas, exclusions, ties
        and units; how intervals were computed. A number that differs between models is given as a range. What a
        signature does not hold, as in results of other tools, is left out. Empty without headline scores.
    """
    if lines.empty:
        return ""
    of_lines = {
        key: signature
        for key, signature in signatures.items()
        if key[0] in set(lines["system"]) and isinstance(signature, Mapping)
    }
    sentences = [_models(of_lines), _programs(list(of_lines.values()))]
    for (suite, config), of_data in lines.groupby(["suite_name", "config"], sort=False, dropna=False):
        of_systems = {
            system: signature
            for (system, of_suite, of), signature in of_lines.items()
            if of_suite == suite and of == config
        }
        about = "; ".join(_data(of_systems, config))
        name = str(of_data["suite"].iloc[0])
        texts = alike(of_data, lambda line: ", ".join(over(line)))
        measured = "; ".join(f"{_and(names)} over {text}" for text, names in texts.items())
        sentences.append(f"{name[:1].upper()}{name[1:]}{f' ({about})' if about else ''}: {measured}.")
    sentences.append(_INTERVALS)
    few = lines[lines["reliable"].eq(False) & lines["ci_low"].notna()]
    if len(few):
        where = dict.fromkeys(f"{line['measure']} ({line['suite']})" for line in few.to_dict("records"))
        sentences.append(
            f"Over too few units for a usable interval of some or all models: {', '.join(where)}."
        )
    return " ".join(filter(None, sentences))


def _models(signatures: Mapping[SignatureKey, Mapping[str, Any]]) -> str:
    of_dtype: dict[str, dict[str, None]] = {}
    for (system, *_), signature in signatures.items():
        of_dtype.setdefault(str(signature.get("dtype") or ""), {})[_with_revision(system, signature)] = None
    model_lists = [
        f"{_and(list(models))}{f' in {dtype}' if dtype else ''}" for dtype, models in of_dtype.items()
    ]
    return f"Models: {'; '.join(model_lists)}." if model_lists else ""


def _with_revision(system: str, signature: Mapping[str, Any]) -> str:
    revision = signature.get("revision")
    return system if not revision or str(revision) in system else f"{system} (revision {revision})"


def _programs(signatures: Sequence[Mapping[str, Any]]) -> str:
    """Name the program and the libraries, with all versions that computed scores."""
    environments = [(signature.get("request") or {}).get("environment") or {} for signature in signatures]
    versions = {
        name: list(
            dict.fromkeys(str(environment[name]) for environment in environments if name in environment)
        )
        for name in ("refined-tse", *_PROGRAMS)
    }
    program, *libraries = [
        f"{name} {_and(of_program)}" for name, of_program in versions.items() if of_program
    ] or [""]
    with_libraries = f", with {', '.join(libraries)}" if libraries else ""
    return f"Scored with {program}{with_libraries}." if program else ""


def _data(signatures: Mapping[str, Mapping[str, Any]], config: object) -> Iterator[str]:
    """Yield what identifies data, besides its configuration; its options, and what is not released."""
    if any((signature.get("request") or {}).get("own_data") for signature in signatures.values()):
        yield "our own data"
    for key, words in (
        ("dataset", "data {}"),
        ("dataset_fingerprint", "fingerprint {}"),
        ("n_lemmas_listed", "{} listed lemmas"),
        ("lemmas_fingerprint", "their fingerprint {}"),
    ):
        values = [signature[key] for signature in signatures.values() if signature.get(key) is not None]
        shown = [count(value) if key.startswith("n_") else str(value) for value in values if value != config]
        if shown:
            yield words.format(_and(list(dict.fromkeys(shown))))
    options = [(signature.get("suite_options") or {}).items() for signature in signatures.values()]
    chosen = [f"{name} {value}" for of_system in options for name, value in of_system if name not in OF_DATA]
    if chosen:
        yield f"options: {_and(list(dict.fromkeys(chosen)))}"
    of_part: dict[str, list[str]] = {}
    for system, signature in signatures.items():
        if part := scored_part(signature):
            of_part.setdefault(part, []).append(system)
    for part, systems in of_part.items():
        yield f"only a part of it ({part})" + (
            "" if len(systems) == len(signatures) else f" for {_and(systems)}"
        )


def _and(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
