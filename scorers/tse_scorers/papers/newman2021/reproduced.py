"""The numbers of Tables 2 and 3 of Newman et al. (2021), for `tse reproduce`."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ...io.bundle import shipped_table
from ...io.records import read_records
from ...suites.agreement.data.paper_examples import TABLE_3, positions
from ..numbers import PaperNumbers, with_keys


def _published(frame: pd.DataFrame, table: str | None) -> pd.DataFrame:
    """Return TSE, EW and MW by construction (Table 2), and the probable words at two gaps (Table 3)."""
    keys = {"group": frame["construction"], "metric": frame["metric"].str.lower()}
    scores = pd.DataFrame({"system": frame["model"], **keys, "published": frame["score"]})
    if table == "2":
        return scores
    forms = shipped_table("published_results", "newman2021_table3").to_pandas()
    forms = _at_gaps(forms).assign(system="bert-large-cased", published=forms["probability"])
    return with_keys(forms if table == "3" else pd.concat([scores, forms]))


def _at_gaps(forms: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of `KEYS` for words at gaps."""
    group = forms["prefix"].str.strip() + " … " + forms["suffix"].str.strip()
    return pd.DataFrame({"group": group, "metric": "probability", "form": forms["form"]})


def _probable_forms(out: Path, config: str, models: Collection[str]) -> list[Mapping[str, Any]]:
    """Return a run's probable words at the gaps of Table 3 of Newman et al. (2021), as rows of results."""
    rows: list[Mapping[str, Any]] = []
    for record in read_records(out):
        if "top_forms" not in record.tables or record.identity["config"] != config:
            continue
        if record.identity["model"] not in models:
            continue
        forms = record.tables["top_forms"].read().to_pandas().fillna({"prefix": "", "suffix": ""})
        contexts = forms.drop_duplicates("context_id")
        for context in contexts.iloc[positions(contexts)].itertuples():
            prefix = str(context.prefix).strip()
            suffix = dict(TABLE_3)[prefix]
            reads_suffix = record.signature.get("kind") in ("masked", "seq2seq")
            if reads_suffix and str(context.suffix).strip() != suffix:
                continue  # to this model, another gap
            of_gap = forms[forms["context_id"] == context.context_id].assign(prefix=prefix, suffix=suffix)
            about = {"model": record.identity["model"], "score": of_gap["probability"], "n": 1}
            rows += _at_gaps(of_gap).assign(**about).to_dict("records")
    return rows


def _selected(rows: pd.DataFrame) -> pd.DataFrame:
    """Return TSE, probable words, and EW and MW over the whole distribution."""
    is_whole = rows["cutoff_side"].eq("top") & rows["cutoff"].eq(1.0)
    return rows[rows["metric"].isin(("tse", "probability")) | is_whole]


NUMBERS = PaperNumbers(_published, _selected, _probable_forms)
