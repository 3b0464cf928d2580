"""What the scores of agreement rest on."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from ...report.blocks import View
from ...report.charts import MANY
from ...report.tables import Table, count, formatted, spread
from ...suites.agreement.ask.listing import COUNTS
from ...suites.agreement.estimate.measures import without_cutoff
from ...suites.agreement.options import CONFIG_NAMES

_COVERAGE_TEXT = (
    "The items behind the scores. Contexts are those that differ for the model and are averaged; without verb: no "
    "listed verb was eligible, so the context has no EW and MW; tied: lemmas whose two forms were equally "
    "probable, which never count as right. Pairs excluded: a form is not a single token of the vocabulary."
)


def lemma_counts(rows: pd.DataFrame) -> str:
    """Say how many lemmas EW and MW are over, for each system or, of many, from least to most."""
    is_over_lemmas = rows["metric"].isin(["ew", "mw"]) & rows["n_lemmas"].notna()
    over_lemmas = rows[is_over_lemmas].drop_duplicates("system")
    counts = dict(zip(over_lemmas["system"], over_lemmas["n_lemmas"].astype(int), strict=True))
    if not counts:
        return ""
    least, most = min(counts.values()), max(counts.values())
    if least == most:
        return f"EW and MW: over {least:,} lemmas."
    numbers = (f"{system} {n:,}" for system, n in counts.items())
    shown = f"{least:,} to {most:,}" if len(counts) > MANY else ", ".join(numbers)
    return f"Verb lists differ between vocabularies. Lemmas behind EW and MW: {shown}."


def by_metric(rows: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Return the results of some metrics as cells, which a table has in the order of `names`, with `measure`."""
    rows = rows[rows["metric"].isin(list(names))]
    order = [rows["metric"].map(list(names).index), pd.factorize(rows["label"])[0]]
    return rows.assign(measure=rows["metric"].map(names)).iloc[np.lexsort(order)]


def _items(rows: pd.DataFrame) -> Table:
    uncut = without_cutoff(rows)
    names = {
        "ew": {"n": "contexts", "n_excluded": "without verb", "n_ties": "tied lemmas"},
        "tse": {"n": "pairs", "n_excluded": "pairs excluded", "n_ties": "tied pairs"},
    }
    uncut = uncut[uncut["metric"].isin(list(names))]
    counts = pd.concat(
        [
            uncut[uncut["metric"] == metric].assign(
                count=lambda of_metric, column=column: of_metric[column], named=title
            )
            for metric, columns in names.items()
            for column, title in columns.items()
        ]
    )
    values = spread(counts, "count", ("system", "named")).reindex(pd.unique(uncut["label"]))
    values = values.rename_axis("Templates")
    return Table(
        "Contexts and pairs behind the scores.", values, formatted(values, count),
        file="table2_coverage",
    )  # fmt: skip


def coverage_view(rows: pd.DataFrame) -> View:
    """Return the contexts, pairs and lemmas behind the scores."""
    return View("Coverage", _COVERAGE_TEXT, lambda: [_items(rows), *_lemmas(rows)])


def _lemmas(rows: pd.DataFrame) -> Iterator[Table]:
    """Yield the lemmas of each system: how many are scored, and why the others are not."""
    if "n_lemmas_listed" not in rows:
        return
    over_list = without_cutoff(rows)
    over_list = over_list[(over_list["metric"] == "ew") & over_list["n_lemmas_listed"].notna()]
    if over_list.empty:
        return
    names = {"n_lemmas_listed": "listed", "n_lemmas": "scored"}
    names |= {key: reason for reason, key in COUNTS.items()}
    over_list = over_list.drop_duplicates(["system", "config"], keep="last")
    places = over_list["system"] + ", " + over_list["config"].replace(CONFIG_NAMES)
    values = (
        over_list[list(names)].rename(columns=names).astype(float).set_index(places.rename("Model, data"))
    )
    text = formatted(values.loc[:, values.ne(0).any()], count)
    text["scored lemmas"] = over_list["lemmas_scored"].tolist()
    note = "Models with the same fingerprint in the last column are scored over the same lemmas."
    yield Table("Lemmas behind EW and MW.", values, text, note=note, file="lemmas")
