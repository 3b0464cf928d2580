"""Data sets in, data sets out: the rows of a data set with a model's scores as further columns."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import pandas as pd
import pyarrow as pa
from datasets import Dataset, Features, IterableDataset, IterableDatasetDict
from datasets.fingerprint import Hasher, generate_random_fingerprint

from .engine.progress import Progress, bars
from .io.bundle import metric_modules
from .io.suggestions import suggesting_keywords
from .io.tables import fingerprint, require_columns, require_text, require_unreserved, require_words
from .loading import load_scorer
from .models.own_model import GivenModel
from .models.scorer import Scorer, ask_continuations, ask_sentences, ask_words, each_once
from .models.text import TooLongError, refusing_by_row
from .suites.agreement import check_numbers, check_pairs, load_lemmas
from .suites.gaps import MEASURES, NUMBERS, score_columns, score_gaps

OF_A_STREAM = 10_000
"""Rows of a stream that are scored at a time."""
TABLE = "The data set"
VERBS = ("form_correct", "form_incorrect")
Data = TypeVar("Data")
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

    Equal inputs are computed once. The result for a `Dataset` is cached by `datasets`, by its content, the model's
    signature and these options; with a model whose revision is unknown, such as one in memory, it is scored at every
    call. Each process of a launch scores what it is given.

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
            word's characters, from `starts_<column>` to before `ends_<column>`.
        context: with `columns`, the column of the texts before them: log P(text | context).
        cutoffs: with `lemmas`, also EW, MW and covered mass at each cut-off (`ew_top_0.9`, …), as in `tse run`.
        progress: called with (tokens done, tokens in all); None shows bars, unless `datasets.disable_progress_bars()`
            was called.

    Returns:
        The same type.

    Raises:
        TypeError: the data set has another type.
        ValueError: a column is missing, has values that are no text, or would be replaced; there are no rows; not
            exactly one of `columns`, `lemmas` and `surprisals` is given, or an option has no effect on it; a text is
            too long for the model; or the model cannot answer.
    """
    kinds = {"columns": columns, "lemmas": lemmas, "surprisals": surprisals}
    given = [name for name, value in kinds.items() if value is not None]
    if len(given) != 1:
        raise ValueError(
            f"Got {' and '.join(given) or 'none of columns, lemmas and surprisals'}; expected one of columns "
            "(whole texts), lemmas (gaps) and surprisals (words). For several, call it once for each."
        )
    for option, value, kind in (("context", context, "columns"), ("cutoffs", cutoffs, "lemmas")):
        if value and given != [kind]:
            raise ValueError(f"{option} has no effect with {given[0]}; remove it.")
    if isinstance(dataset, IterableDataset | IterableDatasetDict):
        scorer = model if isinstance(model, Scorer) else load_scorer(model)
        options: dict[str, Any] = {**kinds, "context": context, "cutoffs": cutoffs, "progress": progress}

        def scored(batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
            return cast(
                dict[str, list[Any]], score_dataset(pd.DataFrame(batch), scorer, **options).to_dict("list")
            )

        return cast(Data, dataset.map(scored, batched=True, batch_size=OF_A_STREAM))
    splits = dataset if isinstance(dataset, dict) else {"": dataset}  # a DatasetDict
    frames = {split: _rows(part) for split, part in splits.items()}
    questions = {}
    for split, frame in frames.items():
        if lemmas is not None:
            questions[split] = _gaps(_lemma_table(lemmas), {*VERBS} <= {*frame.columns}, cutoffs)
        elif columns is not None:
            questions[split] = _texts(_names("columns", columns), context)
        else:
            questions[split] = _words(_names("surprisals", surprisals))
        questions[split].check(frame)
    scorer = model if isinstance(model, Scorer) else load_scorer(model)
    results = {
        split: _mapped(part, frames[split], questions[split], scorer, progress)
        for split, part in splits.items()
    }
    return type(dataset)(results) if isinstance(dataset, dict) else cast(Data, results[""])


def _rows(dataset: object) -> pd.DataFrame:
    """Return the rows of a data set."""
    if isinstance(dataset, Dataset):
        return cast(pd.DataFrame, dataset.with_format(None).to_pandas())
    if isinstance(dataset, list) and all(isinstance(row, Mapping) for row in dataset):
        if not dataset:
            raise ValueError(f"{TABLE} has no rows; expected at least one.")
        return pd.DataFrame([dict(row) for row in dataset], dtype=object)  # as it is, half characters too
    if not isinstance(dataset, pd.DataFrame):
        raise TypeError(
            f"Got a {type(dataset).__name__}; expected a Dataset, DatasetDict, IterableDataset, data frame, or list of "
            "dicts. Read files with datasets.load_dataset."
        )
    if dataset.columns.nlevels > 1 or not dataset.columns.is_unique:
        raise ValueError(f"{TABLE} has two columns with one name, or names of several levels. Rename them.")
    return dataset


def _names(option: str, named: object) -> list[str]:
    """Return the columns that an option names."""
    names = [named] if isinstance(named, str) else list(named) if isinstance(named, list | tuple) else []
    if not names or not all(isinstance(name, str) for name in names):
        raise TypeError(f"Got {option}={named!r:.80}; expected a text or a list of texts.")
    return list(dict.fromkeys(names))


def _lemma_table(lemmas: Lemmas) -> pd.DataFrame:
    """Return a checked lemma list."""
    if not isinstance(lemmas, list | pd.DataFrame | Dataset):
        raise ValueError(
            f"Got a {type(lemmas).__name__} as lemmas; expected a table with the columns singular and plural. Give one "
            "split of a data set, a data frame, or a list of dicts."
        )
    frame = load_lemmas(lemmas)
    if (frame["singular"] == frame["plural"]).all():
        raise ValueError("All lemmas of the list have two equal forms; expected different ones.")
    return frame


@dataclass
class _Question:
    """What is asked about each row of a data set.

    Attributes:
        needed: the columns that are read.
        types: the columns that are added, `n_tokens_…` only where the model has tokens.
        require: called with the rows; raises ValueError where no model can score them.
        answers: called with a scorer, rows and progress; returns the columns that are added.
        identity: what decides the answers besides data and model.
    """

    needed: list[str]
    types: dict[str, pa.DataType]
    require: Callable[[pd.DataFrame], None]
    answers: Callable[[Scorer, pd.DataFrame, Progress], Columns]
    identity: object

    def check(self, frame: pd.DataFrame) -> None:
        """Raise ValueError where the rows cannot be scored by any model."""
        require_unreserved(frame, list(self.types), TABLE)
        require_columns(frame, self.needed, TABLE)
        require_text(frame, self.needed, TABLE)
        self.require(frame)


def _mapped(
    dataset: Any, frame: pd.DataFrame, question: _Question, scorer: Scorer, progress: Progress | None
) -> Any:
    """Return the data set with the scores of its rows, which have been checked."""
    counts = scorer.can("token_counts")
    types = {
        name: kind for name, kind in question.types.items() if counts or not name.startswith("n_tokens_")
    }

    def score(rows: pd.DataFrame) -> pa.Table:
        shown = bars(f"Scoring with {scorer.name}") if progress is None else nullcontext(progress)
        with shown as report:
            answers = question.answers(scorer, rows, report)
        return pa.table({name: answers[name] for name in types}, schema=pa.schema(types))

    if isinstance(dataset, pd.DataFrame):
        return pd.concat([dataset, score(frame).to_pandas().set_axis(dataset.index)], axis=1)
    if isinstance(dataset, list):
        return [{**row, **new} for row, new in zip(dataset, score(frame).to_pylist(), strict=True)]
    features = Features({**dataset.features, **Features.from_arrow_schema(pa.schema(types))})
    reusable = scorer.signature.get("revision") is not None
    data = dataset._fingerprint, fingerprint(frame[question.needed])  # a folder's own one ignores its content
    identity = Hasher.hash([*data, scorer.signature, question.identity, list(types)])
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


def _texts(columns: list[str], context: str | None) -> _Question:
    """Ask for log-probabilities of whole texts, or of texts after a context."""
    if context in columns:
        raise ValueError(
            f"The column {context!r} is named as text and as context; expected two different columns."
        )

    def answers(scorer: Scorer, frame: pd.DataFrame, progress: Progress) -> Columns:
        if context and not scorer.can("continuation_logprobs"):
            raise ValueError(
                f"{scorer.name} scores no text after a context. Remove context, or use another model."
            )
        texts = [text for column in columns for text in frame[column]]
        with refusing_by_row(lambda place: place % len(frame)):
            if context:
                before = [*frame[context]] * len(columns)
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
            for column, part in zip(columns, np.split(values, len(columns)), strict=True)
        }

    kinds = {"logprob": pa.float64(), "n_tokens": pa.int64()}
    types = {f"{kind}_{column}": kinds[kind] for column in columns for kind in kinds}
    needed = [*columns, *([context] if context else [])]
    return _Question(
        needed, types, lambda frame: require_words(frame, columns, TABLE), answers, (columns, context)
    )


def _words(columns: list[str]) -> _Question:
    """Ask for surprisals of the words of texts."""

    def answers(scorer: Scorer, frame: pd.DataFrame, progress: Progress) -> Columns:
        if not scorer.can("word_logprobs") or scorer.signature.get("kind") == "masked":
            raise ValueError(
                f"{scorer.name} gives no surprisals of words, for which a model must read from left to right. Score "
                "whole texts with columns, or use another model."
            )
        texts = [text for column in columns for text in frame[column]]
        with refusing_by_row(lambda place: place % len(frame)):
            scored = ask_words(scorer, texts, progress)
        facts = [_spans(text, words) for text, words in zip(texts, scored, strict=True)]
        return {
            f"{kind}_{column}": [of_text[kind] for of_text in facts[first : first + len(frame)]]
            for column, first in zip(columns, range(0, len(facts), len(frame)), strict=True)
            for kind in ("surprisals", "starts", "ends")
        }

    kinds = {"surprisals": pa.float64(), "starts": pa.int32(), "ends": pa.int32()}
    types = {f"{kind}_{column}": pa.list_(kinds[kind]) for column in columns for kind in kinds}
    return _Question(
        columns, types, lambda frame: require_words(frame, columns, TABLE), answers, ("words", columns)
    )


def _spans(text: str, words: Sequence[tuple[str, float]]) -> dict[str, Sequence[float]]:
    """Return the surprisals of the words of a text, and where they stand."""
    starts: list[int] = []
    ends = [0]
    for word, _ in words:
        start = text.find(word, ends[-1])
        if start < 0:
            raise ValueError(
                f"The model returned the word {word!r}, which {text!r:.80} does not have after character {ends[-1]}; "
                "expected the words of the text. Correct word_logprobs."
            )
        starts.append(start)
        ends.append(start + len(word))
    return {"surprisals": [0.0 - logprob for _, logprob in words], "starts": starts, "ends": ends[1:]}


def _gaps(lemmas: pd.DataFrame, has_verbs: bool, cutoffs: bool) -> _Question:
    """Ask for EW, MW and covered mass at gaps, and the log-probabilities of the rows' own verbs."""
    needed = ["prefix", "suffix", "number", *(VERBS if has_verbs else ())]
    scores = [*MEASURES, *(score_columns() if cutoffs else ())]
    scores += ["logprob_correct", "logprob_incorrect"] if has_verbs else []
    counts = dict.fromkeys(("n_lemmas", "n_ties"), pa.int32())
    types = {"context": pa.int64(), **dict.fromkeys(scores, pa.float64()), **counts}

    def require(frame: pd.DataFrame) -> None:
        pairs = frame[needed].assign(group="gaps")
        if not has_verbs:  # checked with those of a lemma, of which nothing is kept
            usable = lemmas[lemmas["singular"] != lemmas["plural"]].iloc[0]
            pairs = pairs.assign(**dict(zip(VERBS, usable[[*NUMBERS]], strict=True)))
        check_pairs(pairs, TABLE)
        if has_verbs:
            check_numbers(pairs, lemmas, TABLE)

    def answers(scorer: Scorer, frame: pd.DataFrame, progress: Progress) -> Columns:
        if not scorer.can("read_slots"):
            raise ValueError(
                f"EW and MW need the distribution at the gap; {scorer.name} does not give it. Score whole texts with "
                "columns, or use another model."
            )
        try:
            scored = score_gaps(scorer, frame[needed], lemmas, progress=progress, cutoffs=cutoffs)
        except TooLongError as error:
            seen = frame[[*scorer.context_columns]].agg(" …".join, axis=1)
            raise ValueError(f"Row {(seen == error.text).to_numpy().argmax() + 1}: {error}") from error
        keys = scored.contexts[[*scorer.context_columns, "number"]].itertuples(index=False)
        digests = [blake2b("\0".join(key).encode(), digest_size=8).digest() for key in keys]
        contexts = scored.contexts.assign(
            context=[int.from_bytes(digest, "little", signed=True) for digest in digests],
            **{measure: scored.contexts[f"{measure}_top_1"] for measure in MEASURES},
        )
        rows = contexts.iloc[scored.rows["context"]]
        of_contexts = {name: rows[name].to_numpy() for name in types if name in contexts}
        return of_contexts | {name: scored.rows[name].to_numpy() for name in scored.rows if name != "context"}

    version = metric_modules("refined_tse").definitions.VERSION
    return _Question(needed, types, require, answers, (fingerprint(lemmas), needed, cutoffs, version))
