"""Data sets in, data sets out: the rows of a data set with a model's scores as further columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import pandas as pd
import pyarrow as pa
from datasets import Dataset, Features, IterableDataset, Value
from datasets.fingerprint import Hasher, generate_random_fingerprint
from numpy.typing import NDArray

from .engine.processes import is_main, rank_and_size
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
from .models.options import checked_fields
from .models.own_model import GivenModel
from .models.scorer import Scorer, ask_continuations, ask_sentences, ask_words, each_once
from .models.text import refusing_by_row
from .suites.agreement.ask.columns import COUNTS, MEASURES, score_columns
from .suites.agreement.ask.scores import score_contexts
from .suites.agreement.data.checks import check_numbers
from .suites.agreement.data.tables import check_pairs, require_once

CHUNK = 10_000
"""Rows of a stream that are scored together."""
_WHAT = "The data set"
_GAPS = ("prefix", "suffix", "number")
_VERBS = ("form_correct", "form_incorrect")
_LOGPROBS = ("logprob_correct", "logprob_incorrect")
Data = TypeVar("Data")
Split: TypeAlias = Dataset | IterableDataset | pd.DataFrame | list[dict[str, object]]
"""One table of rows."""
LemmaTable: TypeAlias = Dataset | pd.DataFrame | list[dict[str, str]]


@suggesting_keywords
def score_dataset(
    dataset: Data,
    model: GivenModel | Scorer,
    columns: str | Sequence[str] | None = None,
    *,
    lemmas: LemmaTable | None = None,
    surprisals: str | Sequence[str] | None = None,
    context: str | None = None,
    cutoffs: bool = False,
    progress: Progress | None = None,
) -> Data:
    """Score every row of a data set; return the same type, rows and order, with columns added.

    Give one of `columns` (whole texts), `lemmas` (a gap between `prefix` and `suffix`) and `surprisals` (words).

    Equal inputs are computed once, over the data set, or over each 10,000 rows of a stream. The result for a `Dataset`
    on disk is cached by `datasets`, by its content, the model's signature and these options; with a model whose
    revision is unknown, such as one in memory, it is scored at every call. If `torch.distributed` is in use, all
    processes must call it: they share the work, and each gets all rows.

    Args:
        dataset: a `Dataset`, `DatasetDict`, `IterableDataset`, data frame, or list of dicts.
        model: what `load_scorer` takes, or a scorer.
        columns: columns of texts. Adds `logprob_<column>`, natural logs, and `n_tokens_<column>`, where the model
            has tokens.
        lemmas: a table with `singular` and `plural`: a data set, data frame, or list of dicts. The data set then has
            `prefix`, `suffix`, `number` (`singular` or `plural`) and may have `form_correct` and `form_incorrect`.
            Adds `context` (int64, equal for rows that are one question to this model), `ew`, `mw`, `covered_mass`
            over the whole distribution, `n_lemmas`, `n_ties`, `n_nonfinite`, and for the row's own verbs
            `logprob_correct` and `logprob_incorrect`, NaN where a form is not a single token.
        surprisals: columns of texts. Adds lists with one number for each word: `surprisals_<column>` in nats, and the
            word's characters, from `starts_<column>` to before `ends_<column>`. The end of the sentence, if an n-gram
            model scores it, is a last word without characters.
        context: with `columns`, the column of the texts before them: log P(text | context).
        cutoffs: with `lemmas`, also EW, MW and covered mass at each cut-off (`ew_top_0.9`, …), as in `tse run`.
        progress: called with (work done, work in all); None shows bars, unless `datasets.disable_progress_bars()` was
            called.

    Returns:
        The same type. A stream is scored while it is read.

    Raises:
        TypeError: the data set has another type.
        ValueError: a column is missing, has values that are no text, or would be replaced; there are no rows; not
            exactly one of `columns`, `lemmas` and `surprisals` is given, or an option has no effect on it; a text is
            too long for the model; or the model cannot answer.
    """
    request = Request(columns, lemmas, surprisals, context, cutoffs)
    splits = dataset if isinstance(dataset, dict) else {"": dataset}  # DatasetDict and IterableDatasetDict
    questions = {split: _questions(data, request) for split, data in splits.items()}
    scorer = model if isinstance(model, Scorer) else load_scorer(model)
    for _, question in questions.values():
        question.check_scorer(scorer)
    results = {
        split: _mapped(splits[split], rows, question, scorer, progress)
        for split, (rows, question) in questions.items()
    }
    return type(dataset)(results) if isinstance(dataset, dict) else cast(Data, results[""])


def _questions(dataset: Split, request: "Request") -> tuple[pd.DataFrame, "_Question"]:
    """Return the rows of one data set, and what is asked about each, checked without a model."""
    rows = _rows(dataset)
    if rows.columns.nlevels > 1 or not rows.columns.is_unique:
        raise ValueError(
            f"{_WHAT} has two columns with one name, or names of several levels: {', '.join(map(str, rows.columns))}; "
            "expected one name for each column. Rename them."
        )
    question = request.about(list(rows.columns))
    require_unreserved(rows, question.schema().names, _WHAT)
    if isinstance(dataset, Dataset) and set(question.columns) <= set(rows.columns):
        rows = _frame(dataset, question.columns)
    question.check(rows)
    return rows, question


def _rows(dataset: Split) -> pd.DataFrame:
    """Return the columns of a data set: of a stream with the first row, of a `Dataset` with none, else with all."""
    if isinstance(dataset, IterableDataset):
        return pd.DataFrame(list(dataset.take(1)))
    if isinstance(dataset, Dataset):
        return pd.DataFrame(columns=dataset.column_names)
    if isinstance(dataset, pd.DataFrame):
        return dataset
    if isinstance(dataset, list) and all(isinstance(row, Mapping) for row in dataset):
        try:
            return pd.DataFrame(dataset)
        except UnicodeEncodeError as error:
            number = next(number for number, row in enumerate(dataset, 1) if has_half_character(dict(row)))
            raise ValueError(
                f"{_WHAT} holds {HALF_CHARACTER} in row {number}; expected a text with whole characters. Fix this row."
            ) from error
    raise TypeError(
        f"Got a {type(dataset).__name__}; expected a Dataset, DatasetDict, IterableDataset, data frame, or list of "
        "dicts. Read files with datasets.load_dataset."
    )


def _frame(dataset: Dataset, names: Sequence[str]) -> pd.DataFrame:
    """Return columns of a data set."""
    frame = dataset.with_format(None).select_columns(list(names)).to_pandas()
    assert isinstance(frame, pd.DataFrame), "it is not read in batches"
    lists = [name for name in names if not isinstance(dataset.features[name], Value)]
    # A fingerprint takes tuples, not arrays.
    return frame.assign(**{name: frame[name].map(tuple, na_action="ignore") for name in lists})


def _mapped(
    dataset: Split, rows: pd.DataFrame, question: "_Question", scorer: Scorer, progress: Progress | None
) -> Split:
    """Return the data set with the scores of its rows, which have been checked; those of a stream are while read."""

    def score(frame: pd.DataFrame) -> pa.Table:
        if progress is not None or not is_main():
            return question.answers(scorer, frame, progress)
        with bars(f"Scoring with {scorer.name}") as bar_progress:
            return question.answers(scorer, frame, bar_progress)

    if isinstance(dataset, pd.DataFrame):
        return pd.concat([dataset, score(rows).to_pandas().set_axis(dataset.index)], axis=1)
    if isinstance(dataset, list):
        return [{**row, **new} for row, new in zip(dataset, score(rows).to_pylist(), strict=True)]
    features = dataset.features and Features(
        {**dataset.features, **Features.from_arrow_schema(question.schema(scorer))}
    )
    if isinstance(dataset, IterableDataset):

        def scored(batch: Mapping[str, list[object]]) -> dict[str, list[object]]:
            frame = pd.DataFrame({name: batch[name] for name in question.columns})
            question.check(frame)
            columns: dict[str, list[object]] = score(frame).to_pydict()
            return columns

        return dataset.map(scored, batched=True, batch_size=CHUNK, features=features)
    # Processes with caches of their own could disagree on whether there is something to compute together.
    reusable = scorer.signature.get("revision") is not None and rank_and_size()[1] == 1
    data = dataset._fingerprint, fingerprint(rows)  # a folder's own one ignores its content
    identity = Hasher.hash([*data, scorer.signature, question.identity()])
    all_scores: list[pa.Table] = []

    def lookup(batch: pa.Table, places: list[int]) -> pa.Table:
        """Add the columns; the first look-up scores all rows, and a cached result has none."""
        if not all_scores:
            all_scores.append(score(rows))
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
    dataset_format = dataset.format
    return result.with_format(dataset_format["type"], **dataset_format["format_kwargs"])


@dataclass(frozen=True)
class _Texts:
    """Log-probabilities of whole texts."""

    texts: tuple[str, ...]
    context: str | None

    @property
    def columns(self) -> list[str]:
        return [*self.texts, *([self.context] if self.context else [])]

    def identity(self) -> tuple[object, ...]:
        return "texts", self.texts, self.context

    def schema(self, scorer: Scorer | None = None) -> pa.Schema:
        """Return the columns that are added; without a scorer, all that one may add."""
        types = {"logprob": pa.float64()}
        if scorer is None or scorer.can("token_counts"):
            types["n_tokens"] = pa.int64()
        return pa.schema([(f"{kind}_{text}", types[kind]) for text in self.texts for kind in types])

    def check(self, frame: pd.DataFrame) -> None:
        require_columns(frame, self.columns, _WHAT)
        require_text(frame, self.columns, _WHAT)
        require_words(frame, self.texts, _WHAT)

    def check_scorer(self, scorer: Scorer) -> None:
        if self.context and not scorer.can("continuation_logprobs"):
            raise ValueError(
                f"{scorer.name} only scores whole texts, and no text after a context. Remove context, or use another "
                "model."
            )

    def answers(self, scorer: Scorer, frame: pd.DataFrame, progress: Progress | None) -> pa.Table:
        before = frame[self.context] if self.context else pd.Series("", index=frame.index)
        parts = [pd.DataFrame({"before": before, "text": frame[text]}) for text in self.texts]
        questions = pd.concat(parts, ignore_index=True)
        with refusing_by_row(lambda place: place % len(frame)):
            if self.context:
                logprobs = ask_continuations(scorer, questions.itertuples(index=False, name=None), progress)
            else:
                logprobs = ask_sentences(scorer, questions["text"], progress)
        columns_values: dict[str, NDArray[Any]] = {"logprob": logprobs}
        if scorer.can("token_counts"):
            counts, places = each_once(questions["text"], scorer.token_counts)
            columns_values["n_tokens"] = np.asarray(counts)[places]
        cut = {kind: np.split(values, len(self.texts)) for kind, values in columns_values.items()}
        table = {f"{kind}_{text}": cut[kind][at] for at, text in enumerate(self.texts) for kind in cut}
        return pa.table(table, schema=self.schema(scorer))


@dataclass(frozen=True)
class _Words:
    """Surprisals of the words of texts."""

    texts: tuple[str, ...]

    @property
    def columns(self) -> list[str]:
        return list(self.texts)

    def identity(self) -> tuple[object, ...]:
        return "words", self.texts

    def schema(self, _: Scorer | None = None) -> pa.Schema:
        types = {"surprisals": pa.float64(), "starts": pa.int32(), "ends": pa.int32()}
        return pa.schema([(f"{kind}_{text}", pa.list_(types[kind])) for text in self.texts for kind in types])

    def check(self, frame: pd.DataFrame) -> None:
        require_columns(frame, self.columns, _WHAT)
        require_words(frame, self.texts, _WHAT)

    def check_scorer(self, scorer: Scorer) -> None:
        if not scorer.can("word_logprobs") or scorer.signature.get("kind") == "masked":
            raise ValueError(
                f"{scorer.name} gives no surprisals of words, for which a model must read from left to right. Score "
                "whole texts with columns, or use another model."
            )

    def answers(self, scorer: Scorer, frame: pd.DataFrame, progress: Progress | None) -> pa.Table:
        texts = [text for column in self.texts for text in frame[column]]
        with refusing_by_row(lambda place: place % len(frame)):
            scored = ask_words(scorer, texts, progress)
        facts_of = {text: self._facts(text, of_text) for text, of_text in zip(texts, scored, strict=True)}
        table = {
            f"{kind}_{column}": [facts_of[text][kind] for text in frame[column]]
            for column in self.texts
            for kind in ("surprisals", "starts", "ends")
        }
        return pa.table(table, schema=self.schema(scorer))

    def _facts(self, text: str, words: Sequence[tuple[str, float]]) -> dict[str, Sequence[float]]:
        """Return, for the words of a text, their surprisals, and the characters where they begin and end.

        The end of the sentence, which n-gram models may score as a last word, is empty, after the last character.
        """
        starts: list[int] = []
        ends = [0]
        for number, (word, _) in enumerate(words, 1):
            start = text.find(word, ends[-1])
            if start < 0 and number == len(words) and not text[ends[-1] :].strip():
                start, word = len(text), ""
            if start < 0:
                raise ValueError(
                    f"The model returned the word {word!r}, which {text!r:.80} does not have after character "
                    f"{ends[-1]}; expected the words of the text. Correct word_logprobs."
                )
            starts.append(start)
            ends.append(start + len(word))
        surprisals = [0.0 - logprob for _, logprob in words]
        return {"surprisals": surprisals, "starts": starts, "ends": ends[1:]}


@dataclass(frozen=True)
class _Gaps:
    """EW and MW at gaps, as the suite agreement computes them."""

    lemmas: pd.DataFrame
    has_verbs: bool
    cutoffs: bool

    @property
    def columns(self) -> list[str]:
        return [*_GAPS, *(_VERBS if self.has_verbs else ())]

    def identity(self) -> tuple[object, ...]:
        version = metric_modules("refined_tse").scores.VERSION
        return "gaps", fingerprint(self.lemmas), self.columns, self.cutoffs, version

    def schema(self, _: Scorer | None = None) -> pa.Schema:
        scores = [
            *MEASURES,
            *(score_columns() if self.cutoffs else ()),
            *(_LOGPROBS if self.has_verbs else ()),
        ]
        types = {
            "context": pa.int64(),
            **dict.fromkeys(scores, pa.float64()),
            **dict.fromkeys(COUNTS, pa.int32()),
        }
        return pa.schema(types)

    def check(self, frame: pd.DataFrame) -> None:
        require_columns(frame, self.columns, _WHAT)
        pairs = self._pairs(frame)
        check_pairs(pairs, _WHAT, "number")
        if self.has_verbs:
            check_numbers(pairs, self.lemmas, _WHAT, allow_unverified=True)

    def _pairs(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return rows as pairs of one group; without verbs, with those of the first lemma, of which nothing is kept."""
        added = {"group": "gaps", "construction": "gaps", "pair_id": np.arange(len(frame))}
        if not self.has_verbs:
            usable_lemmas = self.lemmas[self.lemmas["singular"] != self.lemmas["plural"]]
            added |= dict(zip(_VERBS, usable_lemmas[["singular", "plural"]].iloc[0], strict=True))
        return frame[self.columns].assign(**added).reset_index(drop=True)

    def check_scorer(self, scorer: Scorer) -> None:
        if not scorer.can("read_slots"):
            raise ValueError(
                f"EW and MW need the distribution at the gap; {scorer.name} does not give it. Score whole texts with "
                "columns, or use another model."
            )

    def answers(self, scorer: Scorer, frame: pd.DataFrame, progress: Progress | None) -> pa.Table:
        pairs = self._pairs(frame)
        scores = score_contexts(scorer, pairs, self.lemmas, progress)
        contexts = scores.contexts.to_pandas()
        keys = contexts[[*scorer.context_columns, "number"]].itertuples(index=False)
        digests = [blake2b("\0".join(key).encode(), digest_size=8).digest() for key in keys]
        contexts["context"] = [int.from_bytes(digest, "little", signed=True) for digest in digests]
        contexts = contexts.rename(columns={f"{measure}_top_1": measure for measure in MEASURES})
        for measure in MEASURES if self.cutoffs else ():
            contexts[f"{measure}_top_1"] = contexts[measure]
        rows = contexts.set_index("context_id").loc[scores.pairs["context_id"].to_numpy()]
        verb_logprobs = scores.pairs.select(_LOGPROBS).to_pandas()
        table = {name: rows[name].to_numpy() for name in self.schema().names if name in rows}
        table |= {name: verb_logprobs[name].to_numpy() for name in _LOGPROBS if self.has_verbs}
        return pa.table(table, schema=self.schema())


_Question = _Texts | _Words | _Gaps
_WITH_EFFECT = {
    "columns": ("context",),
    "lemmas": ("cutoffs",),
    "surprisals": (),
}
"""What is asked -> the other options that have an effect on it."""


@dataclass(frozen=True)
class Request:
    """The options of `score_dataset`, which explains them."""

    columns: str | Sequence[str] | None = None
    lemmas: LemmaTable | None = None
    surprisals: str | Sequence[str] | None = None
    context: str | None = None
    cutoffs: bool = False

    def __post_init__(self) -> None:
        checked_fields(self)

    def about(self, names: Sequence[str]) -> _Question:
        """Return what is asked about each row of a data set with these columns.

        Raises:
            ValueError: that is not one thing, or an option has no effect on it.
        """
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        options = [name for name, value in values.items() if value is not None and value is not False]
        kinds = [kind for kind in _WITH_EFFECT if kind in options]
        if len(kinds) != 1:
            raise ValueError(
                f"Got {' and '.join(kinds) or 'none of columns, lemmas and surprisals'}; expected one of columns "
                "(whole texts), lemmas (gaps) and surprisals (words). For several, call it once for each."
            )
        (kind,) = kinds
        if unused := [name for name in options if name not in (kind, *_WITH_EFFECT[kind])]:
            raise ValueError(f"{' and '.join(unused)} has no effect with {kind}; remove it.")
        if self.lemmas is not None:
            return _Gaps(_lemma_table(self.lemmas), set(_VERBS) <= set(names), self.cutoffs)
        named = (self.columns if self.surprisals is None else self.surprisals) or ()
        texts = tuple(dict.fromkeys([named] if isinstance(named, str) else named))
        return _Texts(texts, self.context) if self.surprisals is None else _Words(texts)


def _lemma_table(lemmas: LemmaTable) -> pd.DataFrame:
    """Return a checked lemma list."""
    if not isinstance(lemmas, list | pd.DataFrame | Dataset):
        raise ValueError(
            f"Got a {type(lemmas).__name__} as lemmas; expected a table with the columns singular and plural. Give one "
            "split of a data set, a data frame, or a list of dicts."
        )
    frame = lemmas.to_pandas() if isinstance(lemmas, Dataset) else pd.DataFrame(lemmas)
    forms = ["singular", "plural"]
    require_columns(frame, forms, "The lemma list")
    require_text(frame, forms, "The lemma list")
    require_once(frame, forms, "The lemma list")
    if (frame["singular"] == frame["plural"]).all():
        raise ValueError(
            "All lemmas of the list have two equal forms, which are never compared; expected two different ones. "
            "Correct the columns singular and plural."
        )
    return frame[forms].reset_index(drop=True)
