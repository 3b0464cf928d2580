"""A registered set of minimal pairs as the data of a run: its pairs, its name in results, its linking function."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from ...io.bundle import split_revision
from ...io.files import slug
from ...models.scorer import Scorer
from .data.pair_tables import pair_table
from .data.released import WHOLE_SET
from .data.tables import select
from .options import MinimalPairOptions
from .registry import LoadedPairs, PairSet, find_set, load_pairs, set_names

_LANGUAGE = "language:"


@dataclass(frozen=True)
class SetPairs:
    """The pairs of a registered set.

    Attributes:
        pairs: what `data.load` returns for BLiMP.
        dataset: name in results.
        config: name of the configuration in results and files.
        linking: how sentences are compared.
        pll: the authors' pseudo-log-likelihood of masked models; "" where they state none.
        signature: what else decides the scores.
    """

    pairs: pd.DataFrame
    dataset: str
    config: str
    linking: str
    pll: str
    signature: dict[str, object]


def load_set(options: MinimalPairOptions, linking: str | None) -> SetPairs:
    """Load a registered set of minimal pairs.

    Args:
        options: `data` is a set, `set@commit` for another commit of its Hub data set, or a YAML file; `groups` may name
            languages, too.
        linking: how sentences are compared; None: as the authors do.

    Raises:
        ValueError: the set, a configuration or a group is unknown, or the data cannot be loaded.
    """
    name = str(options.data)
    pair_set = find_set(name) if name.endswith((".yaml", ".yml")) else _at_revision(name)
    used = linking or pair_set.convention.linking or "sum"
    loaded = load_pairs(pair_set, options.config, options.source)
    table = pair_table(loaded.table, pair_set.title)
    groups = options.groups or ()
    others = [group for group in groups if not group.startswith(_LANGUAGE)]
    is_all = options.config is None and not pair_set.default
    configs = "" if is_all or loaded.configs == ("all",) else "-" + "-".join(loaded.configs)
    return SetPairs(
        pairs=select(_of_languages(table, groups), others, options.limit),
        dataset=pair_set.id,
        config=slug(pair_set.id + configs),
        linking=used,
        pll=pair_set.convention.pll,
        signature=_described(pair_set, loaded.revision, linking) | _whole(name, pair_set, loaded),
    )


def as_authors(scorer: Scorer, pll: str) -> Scorer:
    """Return the scorer with the authors' pseudo-log-likelihood, if it has any and the user chose none."""
    return scorer.with_authors_pll(pll) if pll and isinstance(scorer, Scorer) else scorer


def _at_revision(name: str) -> PairSet:
    identifier, revision = split_revision(name)
    pair_set = find_set(identifier)
    if revision is None:
        return pair_set
    if not pair_set.source.hub:
        raise ValueError(
            f"{pair_set.title} is not loaded from the Hub, so that @{revision} has no effect. Remove it, or give a "
            "copy of that version with --source."
        )
    return replace(pair_set, source=replace(pair_set.source, revision=revision, checksums={}), expected={})


def _described(pair_set: PairSet, revision: str, linking: str | None) -> dict[str, object]:
    convention = pair_set.convention
    is_authors = convention.linking and linking in (None, convention.linking)
    return {
        "dataset_revision": revision or None,
        "linking_of": "the authors" if is_authors else linking and "the user",
        "authors_convention": {
            "linking": convention.linking or None,
            "pll": convention.pll or None,
            "first_token": convention.first_token,
            "ties": convention.ties,
        },
        "ties": "wrong",
        "sentences": pair_set.prepare or "unchanged",
    }


def _whole(name: str, pair_set: PairSet, loaded: LoadedPairs) -> dict[str, int]:
    """Return the number of pairs of the released configurations, where these are exactly what was loaded.

    They are known by their commit, to which only the checksums of all files or a download lead.
    """
    expected_counts = [pair_set.expected[config] for config in loaded.configs if config in pair_set.expected]
    n_pairs = sum(expected_counts) if len(expected_counts) == len(loaded.configs) else len(loaded.table)
    is_whole = bool(loaded.revision) and n_pairs == len(loaded.table)
    return {WHOLE_SET: n_pairs} if is_whole and split_revision(name)[0] in set_names() else {}


def _of_languages(table: pd.DataFrame, groups: Sequence[str]) -> pd.DataFrame:
    """Return the pairs of the languages among the groups; all where there are none.

    Raises:
        ValueError: a language is not in the data.
    """
    languages = [group.removeprefix(_LANGUAGE) for group in groups if group.startswith(_LANGUAGE)]
    if not languages:
        return table
    there = sorted(table["language"].unique()) if "language" in table else []
    unknown = sorted(set(languages) - set(there))
    if unknown:
        raise ValueError(
            f"No pairs in the language {', '.join(unknown)}; there are: {', '.join(there) or 'none'}."
        )
    return table[table["language"].isin(languages)]
