"""Data sets in, data sets out: the rows of a data set with a model's scores as further columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import pandas as pd
import pyarrow as pa
from datasets import Dataset, Features, IterableDataset
from datasets.fingerprint import Hasher, generate_random_fingerprint

from .engine.processes import single_process
from .engine.progress import Progress, bars
from .io.bundle import metric_modules
from .io.declared import HALF_CHARACTER, has_half_character
from .io.suggestions import suggesting_keywords
from .io.table_files import (
    fingerprint,
    require_columns,
    require_text,
    require_unreserved,
    require_words,
)
from .loading import load_scorer
from .models.own_model import GivenModel
from .models.scorer import Scorer, ask_continuations, ask_sentences, ask_words, each_once
from .models.text import refusing_by_row
from .suites.agreement.data.checks import check_numbers
from .suites.agreement.data.tables import check_pairs, require_once
from .suites.gaps import MEASURES, NUMBERS, score_columns, score_gaps

CHUNK = 10_000
"""Rows of a stream that are scored together."""
TABLE = "The data set"
GAPS = ("prefix", "suffix", "number")
VERBS = ("form_correct", "form_incorrect")
Data = TypeVar("Data")
Types = dict[str, pa.DataType]
Columns = dict[str, Any]
Lemmas: TypeAlias = Dataset | pd.DataFrame | list[dict[str, str]]


@suggesting_keywords
def score_dataset(
    dataset: Data,
    model: GivenModel | Scorer,
    columns: str | Sequence[str] | None = None,
    *,
    lemmas: Lemmas | None = None,
    surprisals: str | Sequence[str] | None = None,
    context: str | None = None,
    cutoffs: bool = False,
    progress: Progress | None = None,
) -> Data:
    """Score every row of a data set; return the same type, rows and order, with columns added.

    Give one of `columns` (whole texts), `lemmas` (a gap between `prefix` and `suffix`) and `surprisals` (words).

    Equal inputs are computed once, over the data set, or over each 10,000 rows of a stream. The result for a `Dataset`
    is cached by `datasets`, by its content, the model's signature and these options; with a model whose revision is
    unknown, such as one in memory, it is scored at every call. Each process of a launch scores what it is given.

    Args:
        dataset: a `Dataset`, `DatasetDict`, `IterableDataset`, data frame, or list of dicts.
        model: what `load_scorer` takes, or a scorer.
        columns: columns of texts. Adds `logprob_<column>`, natural logs, and `n_tokens_<column>`, where the model
            has tokens.
        lemmas: a table with `singular` and `plural`: a data set, data frame, or list of dicts. The data set then has
            `prefix`, `suffix`, `number` (`singular` or `plural`) and may have `form_correct` and `form_incorrect`.
            Adds `context` (int64, equal for rows that are one question to this model), `ew`, `mw`, `covered_mass`
            over the whole distribution, `n_lemmas`, `n_ties`, and for the row's own verbs `logprob_correct` and
            `logprob_incorrect`, NaN where a form is not a single token.
        surprisals: columns of texts. Adds lists with one number for each word: `surprisals_<column>` in nats, and the
            word's characters, from `starts_<column>` to before `ends_<column>`. The end of the sentence, if an n-gram
            model scores it, is a last word without characters.
        context: with `columns`, the column of the texts before them: log P(text | context).
        cutoffs: with `lemmas`, also EW, MW and covered mass at each cut-off (`ew_top_0.9`, …), as in `tse run`.
        progress: called with (tokens done, tokens in all); None shows bars, unless `datasets.disable_progress_bars()`
            was called.

    Returns:
        The same type. A stream is scored while it is read.

    Raises:
        TypeError: the data set or `progress` has another type.
        ValueError: a column is missing, has values that are no text, or would be replaced; there are no rows; not
            exactly one of `columns`, `lemmas` and `surprisals` is given, or an option has no effect on it; a text is
            too long for the model; or the model cannot answer.
    """
    if progress is not None and not callable(progress):
        raise TypeError(
            f"Got progress={progress!r}; expected a function of (done, in all), or None for bars."
        )
    splits = dataset if isinstance(dataset, dict) else {"": dataset}  # DatasetDict and IterableDatasetDict
    frames = {split: _rows(part) for split, part in splits.items()}
    questions = {
        split: _question(list(frame.columns), columns, lemmas, surprisals, context, cutoffs)
        for split, frame in frames.items()
    }
    for split, question in questions.items():
        question.check(frames[split])
    scorer = model if isinstance(model, Scorer) else load_scorer(model)
    results = {
        split: _mapped(part, frames[split], questions[split], scorer, progress)
        for split, part in splits.items()
    }
    return type(dataset)(results) if isinstance(dataset, dict) else cast(Data, results[""])


def _rows(dataset: object) -> pd.DataFrame:
    """Return the rows of a data set; of a stream, the first one."""
    if isinstance(dataset, IterableDataset):
        return pd.DataFrame(list(dataset.with_format(None).take(1)))
    if isinstance(dataset, Dataset):
        return cast(pd.DataFrame, dataset.with_format(None).to_pandas())
    if isinstance(dataset, list) and not dataset:
        raise ValueError(f"{TABLE} has no rows; expected at least one.")
    if isinstance(dataset, list) and all(isinstance(row, Mapping) for row in dataset):
        for number, row in enumerate(dataset, 1):
            _refuse_half_characters(dict(row), number)
        return pd.DataFrame.from_records(dataset)
    if not isinstance(dataset, pd.DataFrame):
        raise TypeError(
            f"Got a {type(dataset).__name__}; expected a Dataset, DatasetDict, IterableDataset, data frame, or list of "
            "dicts. Read files with datasets.load_dataset."
        )
    if dataset.columns.nlevels > 1 or not dataset.columns.is_unique:
        raise ValueError(
            f"{TABLE} has two columns with one name, or names of several levels: "
            f"{', '.join(map(str, dataset.columns))}; expected one name for each column. Rename them."
        )
    for number, row in enumerate(dataset.select_dtypes(["object", "str"]).to_dict("records"), 1):
        _refuse_half_characters(row, number)
    return dataset


def _refuse_half_characters(row: object, number: int) -> None:
    if has_half_character(row):
        raise ValueError(
            f"{TABLE} holds {HALF_CHARACTER} in row {number}; expected a text with whole characters. Fix this row."
        )


def _mapped(
    dataset: Any, frame: pd.DataFrame, question: "_Question", scorer: Scorer, progress: Progress | None
) -> Any:
    """Return the data set with the scores of its rows, which have been checked; those of a stream are while read."""
    types = question.types(scorer)

    def score(rows: pd.DataFrame) -> pa.Table:
        with single_process():
            if progress is not None:
                answers = question.answers(scorer, rows, progress)
            else:
                with bars(f"Scoring with {scorer.name}") as bar:
                    answers = question.answers(scorer, rows, bar)
        return pa.table({name: answers[name] for name in types}, schema=pa.schema(types))

    if isinstance(dataset, pd.DataFrame):
        return pd.concat([dataset, score(frame).to_pandas().set_axis(dataset.index)], axis=1)
    if isinstance(dataset, list):
        return [{**row, **new} for row, new in zip(dataset, score(frame).to_pylist(), strict=True)]
    features = dataset.features and Features(
        {**dataset.features, **Features.from_arrow_schema(pa.schema(types))}
    )
    if isinstance(dataset, IterableDataset):

        def scored(batch: Mapping[str, list[object]]) -> Columns:
            rows = pd.DataFrame(dict(batch))
            question.check(rows)
            return cast(Columns, score(rows).to_pydict())

        return dataset.map(scored, batched=True, batch_size=CHUNK, features=features)
    reusable = scorer.signature.get("revision") is not None
    data = dataset._fingerprint, fingerprint(frame[question.needed])  # a folder's own one ignores its content
    identity = Hasher.hash([*data, scorer.signature, question.identity(), list(types)])
    all_scores: list[pa.Table] = []

    def lookup(batch: pa.Table, places: list[int]) -> pa.Table:
        """Add the columns; the first look-up scores all rows, and a cached result has none."""
        if not all_scores:
            all_scores.append(score(frame))
        added = all_scores[0].slice(places[0], len(places))
        return pa.table(
            [*batch.itercolumns(), *added.itercolumns()], [*batch.column_names, *added.column_names]
        )

    result = dataset.with_format("arrow").map(
        lookup,
        with_indices=True,
        batched=True,
        features=features,
        new_fingerprint=identity if reusable else generate_random_fingerprint(),
        load_from_cache_file=None if reusable else False,
        desc=f"Scoring with {scorer.name}",
    )
    shown = dataset.format
    return result.with_format(shown["type"], **shown["format_kwargs"])


class _Question:
    """What is asked about each row of a data set.

    Attributes:
        needed: the columns that are read.
    """

    needed: list[str]

    def types(self, scorer: Scorer | None = None) -> Types:
        """Return the columns that are added; without a scorer, all that one may add."""
        raise NotImplementedError

    def check(self, frame: pd.DataFrame) -> None:
        """Raise ValueError where the rows cannot be scored by any model."""
        require_unreserved(frame, list(self.types()), TABLE)
        require_columns(frame, self.needed, TABLE)
        require_text(frame, self.needed, TABLE)

    def answers(self, scorer: Scorer, frame: pd.DataFrame, progress: Progress | None) -> Columns:
        """Return the columns that are added.

        Raises:
            ValueError: the model cannot answer, or a text is too long.
        """
        raise NotImplementedError

    def identity(self) -> object:
        """Return what decides the answers besides data and model."""
        return type(self).__name__, self.needed


@dataclass
class _Texts(_Question):
    """Log-probabilities of whole texts, or of texts after a context."""

    texts: list[str]
    context: str | None

    def __post_init__(self) -> None:
        self.needed = list(dict.fromkeys([*self.texts, *([self.context] if self.context else [])]))

    def identity(self) -> object:
        return "texts", self.texts, self.context

    def types(self, scorer: Scorer | None = None) -> Types:
        kinds: Types = {"logprob": pa.float64(), "n_tokens": pa.int64()}
        if scorer is not None and not scorer.can("token_counts"):
            del kinds["n_tokens"]
        return {f"{kind}_{text}": kinds[kind] for text in self.texts for kind in kinds}

    def check(self, frame: pd.DataFrame) -> None:
        if self.context in self.texts:
            raise ValueError(
                f"The column {self.context!r} is named as text and as context; expected two different columns."
            )
        super().check(frame)
        require_words(frame, self.texts, TABLE)

    def answers(self, scorer: Scorer, frame: pd.DataFrame, progress: Progress | None) -> Columns:
        if self.context and not scorer.can("continuation_logprobs"):
            raise ValueError(
                f"{scorer.name} only scores whole texts, and no text after a context. Remove context, or use another "
                "model."
            )
        texts = [text for column in self.texts for text in frame[column]]
        with refusing_by_row(lambda place: place % len(frame)):
            if self.context:
                before = [*frame[self.context]] * len(self.texts)
                logprobs = ask_continuations(scorer, zip(before, texts, strict=True), progress)
            else:
                logprobs = ask_sentences(scorer, texts, progress)
        found = {"logprob": logprobs}
        if scorer.can("token_counts"):
            counts, places = each_once(texts, scorer.token_counts)
            found["n_tokens"] = np.asarray(counts)[places]
        return {
            f"{kind}_{column}": part
            for kind, values in found.items()
            for column, part in zip(self.texts, np.split(values, len(self.texts)), strict=True)
        }


@dataclass
class _Words(_Question):
    """Surprisals of the words of texts."""

    needed: list[str]

    def types(self, scorer: Scorer | None = None) -> Types:
        kinds = {"surprisals": pa.float64(), "starts": pa.int32(), "ends": pa.int32()}
        return {f"{kind}_{text}": pa.list_(kinds[kind]) for text in self.needed for kind in kinds}

    def check(self, frame: pd.DataFrame) -> None:
        super().check(frame)
        require_words(frame, self.needed, TABLE)

    def answers(self, scorer: Scorer, frame: pd.DataFrame, progress: Progress | None) -> Columns:
        if not scorer.can("word_logprobs") or scorer.signature.get("kind") == "masked":
            raise ValueError(
                f"{scorer.name} gives no surprisals of words, for which a model must read from left to right. Score "
                "whole texts with columns, or use another model."
            )
        texts = [text for column in self.needed for text in frame[column]]
        with refusing_by_row(lambda place: place % len(frame)):
            scored = ask_words(scorer, texts, progress)
        facts = [_spans(text, words) for text, words in zip(texts, scored, strict=True)]
        return {
            f"{kind}_{column}": [of_text[kind] for of_text in facts[first : first + len(frame)]]
            for column, first in zip(self.needed, range(0, len(facts), len(frame)), strict=True)
            for kind in ("surprisals", "starts", "ends")
        }


def _spans(text: str, words: Sequence[tuple[str, float]]) -> dict[str, Sequence[float]]:
    """Return the surprisals of the words of a text, and where they stand; its end has no characters."""
    starts: list[int] = []
    ends = [0]
    for number, (word, _) in enumerate(words, 1):
        start = text.find(word, ends[-1])
        if start < 0 and number == len(words) and not text[ends[-1] :].strip():
            start, word = len(text), ""
        if start < 0:
            raise ValueError(
                f"The model returned the word {word!r}, which {text!r:.80} does not have after character {ends[-1]}; "
                "expected the words of the text. Correct word_logprobs."
            )
        starts.append(start)
        ends.append(start + len(word))
    return {"surprisals": [0.0 - logprob for _, logprob in words], "starts": starts, "ends": ends[1:]}


@dataclass
class _Gaps(_Question):
    """EW, MW and covered mass at gaps, and the log-probabilities of the rows' own verbs."""

    lemmas: pd.DataFrame
    has_verbs: bool
    cutoffs: bool

    def __post_init__(self) -> None:
        self.needed = [*GAPS, *(VERBS if self.has_verbs else ())]

    def identity(self) -> object:
        version = metric_modules("refined_tse").definitions.VERSION
        return "gaps", fingerprint(self.lemmas), self.needed, self.cutoffs, version

    def types(self, scorer: Scorer | None = None) -> Types:
        scores = [*MEASURES, *(score_columns() if self.cutoffs else ())]
        scores += ["logprob_correct", "logprob_incorrect"] if self.has_verbs else []
        counts = dict.fromkeys(("n_lemmas", "n_ties"), pa.int32())
        return {"context": pa.int64(), **dict.fromkeys(scores, pa.float64()), **counts}

    def check(self, frame: pd.DataFrame) -> None:
        super().check(frame)
        pairs = frame[self.needed].assign(group="gaps")
        if not self.has_verbs:  # checked with those of a lemma, of which nothing is kept
            usable = self.lemmas[self.lemmas["singular"] != self.lemmas["plural"]].iloc[0]
            pairs = pairs.assign(**dict(zip(VERBS, usable[[*NUMBERS]], strict=True)))
        check_pairs(pairs, TABLE, "number")
        if self.has_verbs:
            check_numbers(pairs, self.lemmas, TABLE, allow_unverified=True)

    def answers(self, scorer: Scorer, frame: pd.DataFrame, progress: Progress | None) -> Columns:
        if not scorer.can("read_slots"):
            raise ValueError(
                f"EW and MW need the distribution at the gap; {scorer.name} does not give it. Score whole texts with "
                "columns, or use another model."
            )
        scored = score_gaps(scorer, frame[self.needed], self.lemmas, progress=progress)
        keys = scored.contexts[[*scorer.context_columns, "number"]].itertuples(index=False)
        digests = [blake2b("\0".join(key).encode(), digest_size=8).digest() for key in keys]
        contexts = scored.contexts.assign(
            context=[int.from_bytes(digest, "little", signed=True) for digest in digests],
            **{measure: scored.contexts[f"{measure}_top_1"] for measure in MEASURES},
        )
        rows = contexts.iloc[scored.rows["context"]]
        of_contexts = {name: rows[name].to_numpy() for name in self.types() if name in contexts}
        return of_contexts | {name: scored.rows[name].to_numpy() for name in scored.rows if name != "context"}


def _question(
    names: Sequence[str],
    columns: str | Sequence[str] | None,
    lemmas: Lemmas | None,
    surprisals: str | Sequence[str] | None,
    context: str | None,
    cutoffs: bool,
) -> _Question:
    """Return what is asked about each row of a data set with these columns.

    Raises:
        ValueError: that is not one thing, or an option has no effect on it.
    """
    asked = {"columns": columns, "lemmas": lemmas, "surprisals": surprisals}
    kinds = [name for name, value in asked.items() if value is not None]
    if len(kinds) != 1:
        raise ValueError(
            f"Got {' and '.join(kinds) or 'none of columns, lemmas and surprisals'}; expected one of columns "
            "(whole texts), lemmas (gaps) and surprisals (words). For several, call it once for each."
        )
    for option, value, kind in (("context", context, "columns"), ("cutoffs", cutoffs, "lemmas")):
        if value and kinds != [kind]:
            raise ValueError(f"{option} has no effect with {kinds[0]}; remove it.")
    if lemmas is not None:
        return _Gaps(_lemma_table(lemmas), set(VERBS) <= set(names), cutoffs)
    named = columns if surprisals is None else surprisals
    texts = [named] if isinstance(named, str) else named if isinstance(named, list | tuple) else []
    if not texts or not all(isinstance(name, str) for name in [*texts, context or ""]):
        raise TypeError(
            f"Got {kinds[0]}={named!r:.80} ({type(named).__name__}); expected a text or a list of texts."
        )
    texts = list(dict.fromkeys(texts))
    return _Words(texts) if columns is None else _Texts(texts, context)


def _lemma_table(lemmas: Lemmas) -> pd.DataFrame:
    """Return a checked lemma list."""
    if not isinstance(lemmas, list | pd.DataFrame | Dataset):
        raise ValueError(
            f"Got a {type(lemmas).__name__} as lemmas; expected a table with the columns singular and plural. Give one "
            "split of a data set, a data frame, or a list of dicts."
        )
    frame = pd.DataFrame(lemmas.to_pandas() if isinstance(lemmas, Dataset) else lemmas)
    for require in (require_columns, require_text, require_once):
        require(frame, [*NUMBERS], "The lemma list")
    if (frame["singular"] == frame["plural"]).all():
        raise ValueError(
            "All lemmas of the list have two equal forms, which are never compared; expected two different ones. "
            "Correct the columns singular and plural."
        )
    return frame[[*NUMBERS]].reset_index(drop=True)
