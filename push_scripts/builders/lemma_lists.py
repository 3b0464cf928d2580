"""Verb lemmas of languages other than English: a config for each, and the config `excluded` with what is left out.

The verbs are listed in `sources/verbs/<language>.yaml`, with the forms of irregular ones; the modules
`builders/<language>_verbs.py` inflect the others. A verb whose name is under `excluded` there is left out, for the
reason that is given. The builder refuses what must not go unnoticed: a verb twice, two equal forms, and a form that
two verbs share.
"""

import importlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import yaml

VERBS = Path(__file__).resolve().parent.parent / "sources" / "verbs"
LANGUAGES = ("german", "french", "russian", "hebrew")
SCHEMA = pa.schema(
    [
        ("lemma_id", pa.int32()),
        ("lemma", pa.string()),
        ("singular", pa.string()),
        ("plural", pa.string()),
        ("regular", pa.bool_()),
        ("past_homograph", pa.bool_()),
        ("sources", pa.string()),
        ("flag", pa.string()),
        ("note", pa.string()),
    ]
)
EXCLUDED = pa.schema(
    [(name, pa.string()) for name in ("language", "lemma", "singular", "plural", "flag", "note")]
)


class Verb(NamedTuple):
    """A verb, its two forms, and whether rules gave them."""

    lemma: str
    singular: str
    plural: str
    regular: bool


def build() -> dict[str, dict[str, pa.Table]]:
    """Every language's config and `excluded`."""
    configs, excluded = {}, []
    for language in LANGUAGES:
        facts = read_facts(language)
        flags = excluded_lemmas(facts)
        verbs = read_verbs(language, facts)
        listed = [verb for verb in verbs if verb.lemma not in flags]
        check(language, listed)
        configs[language] = {"train": _table(listed)}
        excluded += _excluded(language, verbs, flags)
    return configs | {"excluded": {"train": pa.Table.from_pylist(excluded, schema=EXCLUDED)}}


def read_facts(language: str) -> dict[str, Any]:
    """The verb file of a language."""
    facts: dict[str, Any] = yaml.safe_load((VERBS / f"{language}.yaml").read_text(encoding="utf-8"))
    return facts


def read_verbs(language: str, facts: Mapping[str, Any]) -> list[Verb]:
    """Every verb of the file in alphabetical order, those with an `excluded` entry among them."""
    module = importlib.import_module(f"builders.{language}_verbs")
    return sorted(Verb(*verb) for verb in module.verbs(facts))


def excluded_lemmas(facts: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """`{lemma: (flag, reason)}` of what the verb file excludes."""
    return {
        lemma: (flag, entry["reason"])
        for flag, entry in facts["excluded"].items()
        for lemma in entry["lemmas"].split()
    }


def check(language: str, verbs: Iterable[Verb]) -> None:
    """Raise ValueError where a verb's forms are equal, or where a lemma or a form occurs twice."""
    verb_of: dict[tuple[str, str], Verb] = {}
    for verb in verbs:
        if verb.singular == verb.plural:
            raise ValueError(
                f"{language}.yaml: the forms of {verb.lemma!r} are equal. They must differ; list it as excluded."
            )
        for key in (("lemma", verb.lemma), ("form", verb.singular), ("form", verb.plural)):
            if key in verb_of:
                raise ValueError(
                    f"{language}.yaml: {verb.lemma!r} and {verb_of[key].lemma!r} share the {key[0]} {key[1]!r}. "
                    "Every one must occur once; list a verb as excluded or take it out."
                )
            verb_of[key] = verb


def _table(verbs: Iterable[Verb]) -> pa.Table:
    rows = [
        verb._asdict() | {"lemma_id": number, "past_homograph": False, "sources": "refined_tse"}
        for number, verb in enumerate(verbs)
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _excluded(
    language: str, verbs: Iterable[Verb], flags: Mapping[str, tuple[str, str]]
) -> list[dict[str, str | None]]:
    verb_of = {verb.lemma: verb for verb in verbs}
    rows = []
    for lemma, (flag, note) in flags.items():
        verb = verb_of.get(lemma)
        forms = (verb.singular, verb.plural) if verb else (None, None)
        rows.append(dict(zip(EXCLUDED.names, (language, lemma, *forms, flag, note), strict=True)))
    return rows
