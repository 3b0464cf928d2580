"""Data sets in, data sets out: the rows of a data set with a model's scores as further columns."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from hashlib import blake2b
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

import pandas as pd
import pyarrow as pa
from datasets import Dataset, Features, IterableDataset, IterableDatasetDict
from datasets.fingerprint import Hasher, generate_random_fingerprint

from .engine.progress import Progress, bars
from .io.suggestions import suggesting_keywords
from .io.tables import fingerprint, require_columns, require_text, require_unreserved, require_words
from .loading import load_scorer
from .models.own_model import GivenModel
from .models.scorer import Scorer, ask_continuations, ask_sentences, ask_words, each_once
from .models.text import TooLongError, refusing_by_row
from .suites.agreement import check_numbers, check_pairs, load_lemmas
from .suites.gaps import MEASURES, definitions, score_columns, score_gaps

OF_A_STREAM = 10_000
"""Rows of a stream that are scored at a time."""
TABLE = "The data set"
VERBS = ["form_correct", "form_incorrect"]
Data = TypeVar("Data")
Columns = dict[str, Any]
Lemmas: TypeAlias = str | Dataset | pd.DataFrame | list[dict[str, str]]


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
        lemmas: a table with `singular` and `plural` (a data set, data frame, or list of dicts), or the name of a list,
            such as `released`. The data set then has `prefix`, `suffix`, `number` (`singular` or `plural`) and may have
            `form_correct` and `form_incorrect`.
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
            exactly one of `columns`, `lemmas` and `surprisals` is given, or an option has no effect on it; or a text
            is too long for the model.
        NotImplementedError: the model cannot answer.
    """
    asked = {"columns": columns, "lemmas": lemmas, "surprisals": surprisals}
    given = [name for name, value in asked.items() if value is not None]
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
        options: dict[str, Any] = {**asked, "context": context, "cutoffs": cutoffs, "progress": progress}

        def scored(batch: dict[str, list[Any]]) -> Columns:
            return cast(Columns, score_dataset(pd.DataFrame(batch), scorer, **options).to_dict("list"))

        return cast(Data, dataset.map(scored, batched=True, batch_size=OF_A_STREAM))

    def ask(rows: pd.DataFrame) -> _Question:
        if lemmas is not None:
            return _gaps(rows, load_lemmas(lemmas), cutoffs)
        if columns is not None:
            return _texts(rows, _names("columns", columns), context, by_word=False)
        return _texts(rows, _names("surprisals", surprisals), None, by_word=True)

    splits = dataset if isinstance(dataset, dict) else {"": dataset}  # a DatasetDict
    questions = {split: ask(_rows(part)) for split, part in splits.items()}
    scorer = model if isinstance(model, Scorer) else load_scorer(model)
    results = {split: _mapped(part, questions[split], scorer, progress) for split, part in splits.items()}
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
    names = [named] if isinstance(named, str) else named
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) for name in names):
        raise TypeError(f"Got {option}={named!r:.80}; expected a text or a list of texts.")
    return list(dict.fromkeys(names))


class _Question(NamedTuple):
    """What is asked about each row of a data set, before any model is loaded."""

    types: dict[str, pa.DataType]  # of the columns added, `n_tokens_…` only where the model has tokens
    answers: Callable[[Scorer, Progress], Columns]  # returns these columns, or more
    identity: object  # decides the answers of a scorer


def _mapped(dataset: Any, question: _Question, scorer: Scorer, progress: Progress | None) -> Any:
    """Return the data set with the scores of its rows."""
    counts = scorer.can("token_counts")
    types = {name: of for name, of in question.types.items() if counts or not name.startswith("n_tokens_")}

    def scores() -> pa.Table:
        shown = bars(f"Scoring with {scorer.name}") if progress is None else nullcontext(progress)
        with shown as report:
            answers = question.answers(scorer, report)
        return pa.table({name: answers[name] for name in types}, schema=pa.schema(types))

    def added(whole: pa.Table) -> pa.Table:
        table = scores()
        return pa.table({name: of[name] for of in (whole, table) for name in of.column_names})

    if isinstance(dataset, pd.DataFrame):
        return pd.concat([dataset, scores().to_pandas().set_axis(dataset.index)], axis=1)
    if isinstance(dataset, list):
        return [{**row, **new} for row, new in zip(dataset, scores().to_pylist(), strict=True)]
    reusable = scorer.signature.get("revision") is not None
    # The data set's own fingerprint ignores the content of a folder's files.
    identity = Hasher.hash([dataset._fingerprint, question.identity, scorer.signature, list(types)])
    result = dataset.with_format("arrow").map(
        added,
        batched=True,
        batch_size=None,  # planned as a whole, so that shared beginnings are computed once
        features=Features({**dataset.features, **Features.from_arrow_schema(pa.schema(types))}),
        new_fingerprint=identity if reusable else generate_random_fingerprint(),
        load_from_cache_file=None if reusable else False,
        desc=f"Scoring with {scorer.name}",
    )
    return result.with_format(dataset.format["type"], **dataset.format["format_kwargs"])


def _check(rows: pd.DataFrame, needed: list[str], added: Mapping[str, object]) -> None:
    """Raise ValueError where a column is missing, has values that are no text, or would be replaced."""
    require_unreserved(rows, list(added), TABLE)
    require_columns(rows, needed, TABLE)
    require_text(rows, needed, TABLE)


def _texts(rows: pd.DataFrame, columns: list[str], context: str | None, by_word: bool) -> _Question:
    """Ask for log-probabilities of whole texts, or of texts after a context, or for surprisals of their words."""
    if context in columns:
        raise ValueError(f"The column {context!r} is named as text and as context; expected two columns.")
    needed, number = [*columns, *([context] if context else [])], pa.float64()
    lists: dict[str, pa.DataType] = {name: pa.list_(pa.int32()) for name in ("starts", "ends")}
    kinds = (
        {"surprisals": pa.list_(number), **lists} if by_word else {"logprob": number, "n_tokens": pa.int64()}
    )
    types = {f"{kind}_{column}": of for column in columns for kind, of in kinds.items()}
    _check(rows, needed, types)
    require_words(rows, columns, TABLE)
    texts = [text for column in columns for text in rows[column]]

    def answers(scorer: Scorer, progress: Progress) -> Columns:
        found: Columns = {}
        with refusing_by_row(lambda place: place % len(rows)):
            if by_word:
                if scorer.signature.get("kind") == "masked":
                    raise ValueError(
                        f"{scorer.name} is a masked model, and surprisals are of words given those before. Score whole "
                        "texts with columns, or use a model that reads from left to right."
                    )
                spans = map(_spans, texts, ask_words(scorer, texts, progress))
                found = dict(zip(kinds, map(list, zip(*spans, strict=True)), strict=True))
            elif context:
                pairs = zip([*rows[context]] * len(columns), texts, strict=True)
                found["logprob"] = ask_continuations(scorer, pairs, progress)
            else:
                found["logprob"] = ask_sentences(scorer, texts, progress)
        if not by_word and scorer.can("token_counts"):
            found["n_tokens"] = each_once(texts, scorer.token_counts)
        n = len(rows)
        return {
            f"{kind}_{column}": values[place * n : (place + 1) * n]
            for place, column in enumerate(columns)
            for kind, values in found.items()
        }

    return _Question(types, answers, (columns, context, by_word, fingerprint(rows[needed])))


def _spans(text: str, words: Sequence[tuple[str, float]]) -> tuple[list[float], list[int], list[int]]:
    """Return the surprisals of the words of a text, where each begins, and where it ends."""
    starts: list[int] = []
    ends = [0]
    for word, _ in words:
        start = text.find(word, ends[-1])
        if start < 0:
            raise ValueError(
                f"word_logprobs gives {word!r}; {text!r:.60} lacks it after character {ends[-1]}."
            )
        starts.append(start)
        ends.append(start + len(word))
    return [0.0 - logprob for _, logprob in words], starts, ends[1:]


def _gaps(rows: pd.DataFrame, lemmas: pd.DataFrame, cutoffs: bool) -> _Question:
    """Ask for EW, MW and covered mass at gaps, and the log-probabilities of the rows' own verbs."""
    verbs = VERBS if {*VERBS} <= {*rows} else []
    needed = ["prefix", "suffix", "number", *verbs]
    scores = [*MEASURES, *(score_columns() if cutoffs else ()), *(f"logprob_{verb[5:]}" for verb in verbs)]
    counts = dict.fromkeys(("n_lemmas", "n_ties"), pa.int32())
    types = {"context": pa.int64(), **dict.fromkeys(scores, pa.float64()), **counts}
    _check(rows, needed, types)
    stand_ins = {"group": "gaps", **({} if verbs else dict(zip(VERBS, ("is", "are"), strict=True)))}
    check_pairs(rows[needed].assign(**stand_ins), TABLE)  # which wants columns that are not scored here
    if verbs:
        check_numbers(rows[needed], lemmas, TABLE)

    def answers(scorer: Scorer, progress: Progress) -> Columns:
        try:
            scored = score_gaps(scorer, rows[needed], lemmas, progress=progress, cutoffs=cutoffs)
        except TooLongError as error:
            seen = rows[[*scorer.context_columns]].agg(" …".join, axis=1)
            raise ValueError(f"Row {(seen == error.text).to_numpy().argmax() + 1}: {error}") from error
        keys = scored.contexts[[*scorer.context_columns, "number"]].itertuples(index=False)
        digests = [blake2b("\0".join(key).encode(), digest_size=8).digest() for key in keys]
        contexts = scored.contexts.assign(
            context=[int.from_bytes(digest, "little", signed=True) for digest in digests],
            **{measure: scored.contexts[f"{measure}_top_1"] for measure in MEASURES},
        )
        of_rows = contexts.iloc[scored.rows["context"]].reset_index(drop=True)
        own = scored.rows.drop(columns="context").reset_index(drop=True)
        return dict(pd.concat([of_rows, own], axis=1).items())

    identity = fingerprint(lemmas), fingerprint(rows[needed]), needed, cutoffs, definitions.VERSION
    return _Question(types, answers, identity)
