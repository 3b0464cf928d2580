"""German argument structure: AUCs of minimal variation sets for one model (Rochereau et al. 2020).

Every sentence gets its log-probability. The functions of `metrics/minimal_variation_auc` compute the AUCs.
"""

import hashlib
from collections.abc import Collection
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from ...engine.progress import Progress
from ...io.bundle import bundle_path, metric_modules, shipped_table
from ...io.files import require_exists, slug
from ...io.score_columns import Values, described
from ...io.suggestions import unknown_name
from ...io.tables import is_table, read_table, require_columns, require_text
from ...models.options import Option, OptionError
from ...models.scorer import Scorer, ask_sentences
from ..hub_data import is_hub_id, own_table
from ..own_columns import data_signature, own_columns, score_table
from .options import OWN, RELEASED

DATASET = "german_argument_structure"
RELEASED_SHA256 = "093f82ef43b8625e0f99835776b3571fceb0d0d64a2e5a713880985e24587556"
VIOLATIONS = 6
"""Unacceptable sentences for each acceptable one."""
COLUMNS = ("template", "cases", "positions", "sentence")
_SHIPPED = ("sentence_id", "animated", "case_order", "role_assignment", "doubled_case", "missing_case")
"""Additional columns of the shipped data set."""
_RESERVED = ("case_order", "role", "acceptable", "logprob", "n_tokens")
"""Columns of scores; a user's columns must not have these names."""


def config_of(data: str | Path = OWN) -> str:
    """Return the name of the data in results.

    A file is `rochereau2020` if its bytes are those of the released one; any other file has its own name, after `own-`
    where released data have this name.
    """
    path = Path(data)
    if data in (OWN, RELEASED) or not path.is_file():
        return slug(path.stem)
    released = hashlib.sha256(path.read_bytes()).hexdigest() == RELEASED_SHA256
    if released:
        return RELEASED
    return f"own-{path.stem}" if path.stem in (OWN, RELEASED) else path.stem


SENTENCES = described(
    ("template", "string", "template of the sentence"),
    ("case_order", "string", "the three cases in their order: `NDA`, or with one doubled: `NNA`"),
    ("positions", "string", "the numbers of the nouns in their order: `213`"),
    ("role", "string", "role assignment, `ag1,re2,pa3`; null for an unacceptable sentence"),
    ("acceptable", "bool", "each case occurs once", Values.ANY),
    ("sentence", "string", "the sentence"),
    ("logprob", "double", "log-probability (masked models: pseudo-log-likelihood)", Values.ANY),
    ("n_tokens", "int64", "tokens; null if the scorer does not count them", Values.COUNT),
)
"""Columns of the scores, before the user's own."""
METRICS = described(
    (
        "auc",
        "double",
        "mean area under the ROC curve of acceptable sentences against their violations",
        Values.SHARE,
    ),
    (
        "human_pearson",
        "double",
        "Pearson's correlation with the 36 cells of human judgments, −1 to 1",
        Values.CHANGE,
    ),
    ("human_spearman", "double", "the same, Spearman's", Values.CHANGE),
    ("human_kendall", "double", "the same, Kendall's", Values.CHANGE),
)
"""Metrics of the rows of results."""


def load(data: str | Path = OWN, source: Path | None = None, limit: int | None = None) -> pd.DataFrame:
    """Load the sentences of a set and check them before any model time is spent.

    Args:
        data: `ours` (shipped), `rochereau2020`, a file with the columns of the released CSV, or a data set of the Hub.
        source: a copy of a set that has a name: the file, or a folder that holds `dataset.csv` or the data set as the
            build script writes it.
        limit: at most this number of templates, the first ones.

    Returns:
        The columns `COLUMNS`, `template` and `positions` as strings; of a user's own file, its other columns too.

    Raises:
        ValueError: the data does not exist, lacks columns or rows, has a sentence twice, marks a sentence as
            grammatical although its cases are not, or lacks a violation of an acceptable sentence.
    """
    frame = _read(str(data), source)
    name = config_of(data)
    table_name = f"The data set {name!r}"
    require_columns(frame, COLUMNS, table_name)
    require_text(frame, ("cases", "sentence"), table_name)
    is_shipped = name == RELEASED or set(_SHIPPED) <= set(frame.columns)
    user_columns = own_columns(frame, frame.columns if is_shipped else COLUMNS, _RESERVED, table_name)
    frame = frame.assign(**user_columns).astype({"template": str, "positions": str})
    _check_sentences(frame, table_name)
    if limit is not None:
        frame = frame[frame["template"].isin(frame["template"].unique()[:limit])]
    # Unknown patterns, repetitions and gaps in the sets are found by the metric itself.
    metric_modules("minimal_variation_auc").definitions.variation_rows(
        np.zeros(len(frame)), frame["template"], frame["cases"], frame["positions"]
    )
    return frame[[*COLUMNS, *user_columns]].reset_index(drop=True)


def _read(data: str, source: Path | None) -> pd.DataFrame:
    if data not in (OWN, RELEASED):
        return _read_own(data, source)
    if source is None:
        if data == RELEASED and not (bundle_path("datasets", DATASET) / RELEASED).is_dir():
            raise ValueError(
                "The released sentences (rochereau2020) are not shipped, since their release states no licence. Name "
                "dataset.csv of https://github.com/crochereau/probing-LM-syntax with --source, or choose --data ours."
            )
        return shipped_table(DATASET, data).to_pandas()
    require_exists(source)
    if not source.is_dir():
        return read_table(source)
    built = [source / DATASET / data / "test.parquet", source / data / "test.parquet"]
    released = sorted(source.rglob("dataset.csv")) if data == RELEASED else []
    for path in (*built, *released):
        if path.is_file():
            return read_table(path)
    raise ValueError(
        f"Neither {DATASET}/{data}/test.parquet nor the released dataset.csv is below {source}. Name the file with "
        "the sentences, or a folder that holds one of the two."
    )


def _read_own(data: str, source: Path | None) -> pd.DataFrame:
    if source is not None:
        raise OptionError(Option("source"), " has no effect with ", Option("data", data), "; remove it.")
    if Path(data).is_dir():
        raise OptionError(
            f"{data} is a folder; expected a file with the columns {', '.join(COLUMNS)}. If it holds the released "
            "sentences, write ", Option("data", RELEASED), " and name it with ", Option("source"), "."
        )  # fmt: skip
    if not is_table(data) and not is_hub_id(data):
        names = (OWN, RELEASED)
        raise ValueError(
            unknown_name("data of German word order", data, names, "a file, or a data set org/name")
        )
    return own_table(data)


def _check_sentences(frame: pd.DataFrame, table_name: str) -> None:
    blank = frame["sentence"].str.strip() == ""
    if blank.any():
        raise ValueError(
            f"{table_name} has an empty sentence in row {int(blank.to_numpy().argmax()) + 1}. Fill it in or remove the "
            "row."
        )
    twice = frame["sentence"].duplicated()
    if twice.any():
        raise ValueError(
            f"{table_name} holds {int(twice.sum())} sentences more than once, the first: "
            f"{frame.loc[twice, 'sentence'].iloc[0]!r}. Each sentence may occur once; remove repetitions."
        )
    if "grammatical" in frame:
        labelled = frame["grammatical"].astype(str).str.lower().isin(("true", "1"))
        wrong = labelled != acceptable(frame["cases"])
        if wrong.any():
            row = frame[wrong].iloc[0]
            raise ValueError(
                f"{table_name} calls {row['sentence']!r} grammatical={row['grammatical']}, but its cases are "
                f"{row['cases']}: a sentence is grammatical if each case occurs once. Fix this column."
            )


def acceptable(cases: pd.Series) -> pd.Series:
    """Whether each of the three cases occurs once."""
    return cases.map(lambda pattern: len(set(pattern)) == len(pattern))


def describe(sentences: pd.DataFrame, user_columns: Collection[str], dataset: str) -> dict[str, object]:
    """Return what decides the scores besides the scorer; `user_columns` names the user's own columns."""
    return {
        "metric": "minimal_variation_auc",
        "metric_version": metric_modules("minimal_variation_auc").definitions.VERSION,
        "dataset": dataset,
        **data_signature(sentences, user_columns),
        "n_sentences": len(sentences),
    }


def score_variation_sentences(
    scorer: Scorer, sentences: pd.DataFrame, progress: Progress | None = None
) -> pa.Table:
    """Score every sentence with one model.

    Args:
        scorer: the model; a `TokenCounter` also counts tokens.
        sentences: what `load` returns.
        progress: called with (work done, work in all).

    Returns:
        `template`, `case_order` (the three cases, also of a violation), `positions`, `role` (null for a
        violation), `acceptable`, `sentence`, `logprob` (natural log), `n_tokens` (null if not known), and the
        user's own columns.
    """
    texts = sentences["sentence"].tolist()
    logprobs = ask_sentences(scorer, texts, progress)
    counts = scorer.token_counts(texts) if scorer.can("token_counts") else [None] * len(texts)
    role_assignment = metric_modules("minimal_variation_auc").definitions.role_assignment
    is_acceptable = acceptable(sentences["cases"])
    roles = [
        role_assignment(cases, positions) if right else None
        for cases, positions, right in zip(
            sentences["cases"], sentences["positions"], is_acceptable, strict=True
        )
    ]
    columns = {
        "template": sentences["template"],
        "case_order": sentences["cases"],
        "positions": sentences["positions"],
        "role": roles,
        "acceptable": is_acceptable,
        "sentence": texts,
        "logprob": logprobs,
        "n_tokens": counts,
    }
    return score_table(SENTENCES, columns, sentences.drop(columns=list(COLUMNS)))
