"""`tse score`: the log-probabilities of any sentences, of their words, or of their regions.

Surprisal is -log P, in nats (natural logs) or in bits (divided by ln 2); its column says which. Masked models have
pseudo-log-likelihoods, which are not surprisals: their column is `pll_nats` or `pll_bits`.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..engine.progress import Progress
from ..io.bundle import load_data
from ..io.declared import parse
from ..io.files import read_text, write_text
from ..io.signature_words import described_differences
from ..io.table_files import (
    is_table,
    read_table,
    require_columns,
    require_text,
    require_unreserved,
    word_lists,
)
from ..models.answers import sentence_logprobs, word_logprobs
from ..models.base import Scorer, TokenCounter, WordScorer
from ..models.options import Purpose, asked_signature
from ..models.tokens import joined_words
from ..suites.checks import WHITE_SPACE, Finding, require_spelled, unsplit, white_space
from .frequency import Zipf, per_million
from .score_regions import read_regions, score_regions

SENTENCES = Purpose(frozenset({"sentence"}), "`tse score`, which scores whole sentences")
"""What a model is asked."""
DEFAULT_COLUMNS = {"sentence": "sentence", "word": "sentence", "region": "text"}
"""What is scored -> the column that holds its texts."""
_MEASURES = ("logprob", "surprisal_nats", "surprisal_bits", "pll_nats", "pll_bits")
_ADDED = {
    "sentence": ("n_tokens", *_MEASURES),
    "word": ("sentence_id", "word_id", "word", *_MEASURES),
    "region": ("sentence_id", "n_words", *_MEASURES),
}
"""What is scored -> columns that are added to the user's."""


def parse_by(by: str | None, of_words: Sequence[str] = ()) -> str:
    """Return what is scored: words, where options that only they have were given, else sentences.

    Raises:
        ValueError: that is unknown, or these options have no effect on it.
    """
    by = by or ("word" if of_words else "sentence")
    if of_words and by != "word":
        raise ValueError(f"{' and '.join(of_words)} has no effect with --by {by}; remove one of the two.")
    if by not in DEFAULT_COLUMNS:
        raise ValueError(f"Cannot score by {by!r}; expected one of: {', '.join(DEFAULT_COLUMNS)}.")
    return by


def is_text_file(source: str) -> bool:
    """Whether a source is a file of plain text, which has no columns."""
    return Path(source).suffix in (".txt", ".text", "") and Path(source).is_file()


def read_sentences(
    source: str,
    column: str = "sentence",
    by: str = "sentence",
    words: str | None = None,
    facts: Sequence[str] = (),
) -> pd.DataFrame:
    """Read sentences from a text file (one a line), a table or a Hub data set `org/name[@revision]`.

    Args:
        source: file or data set.
        column: the column that holds the sentences, or the regions. Where only the words are there, it is made of them.
        by: `sentence`, `word` or `region`.
        words: the column that holds lists with the words of the sentences.
        facts: columns that are added beside the scores, `frequency` and `length`.

    Returns:
        All columns of the source; of a text file, the column `sentence`.

    Raises:
        ValueError: the source is not there, is not UTF-8, has no such column, no rows, what is not text, an empty
            sentence, or a column with the name of one that is added.
    """
    path = Path(source)
    if is_text_file(source):
        lines = read_text(path).split("\n")  # a sentence may hold any of Unicode's rarer line breaks
        frame = pd.DataFrame({column: [line.strip() for line in lines if line.strip()]})
    elif is_table(source) or "/" not in source:
        frame = read_table(path, texts=[words] if words else [])
    else:
        frame = load_data(source).to_pandas()
    quoted = f"{source!r}"
    if by == "region":
        frame = read_regions(frame, column, quoted)
    else:
        if words is not None:
            require_columns(frame, [words], quoted)
            lists = word_lists(frame, words, quoted)
            frame = frame.assign(**{words: lists, column: frame.get(column, lists.map(joined_words))})
        require_columns(frame, [column], quoted)
        require_text(frame, [column], quoted)
        if words is not None:
            require_spelled(frame[column], frame[words], quoted)
    require_unreserved(frame, [*_ADDED[by], *facts], quoted)
    return frame


def inspect(
    frame: pd.DataFrame,
    column: str,
    by: str = "sentence",
    words: str | None = None,
    zipf: Zipf | None = None,
) -> list[Finding]:
    """Return what limits the scores of these texts; regions are joined by one space, whatever stands in them."""
    if by == "region":
        return []
    is_split = by != "word" or words is not None
    findings = [*white_space(frame, {column: WHITE_SPACE}), *([] if is_split else unsplit(frame, column))]
    different = (
        {} if zipf is None else dict.fromkeys(chain(*(frame[words] if words else frame[column].str.split())))
    )
    unknown = [word for word in different if zipf and math.isnan(per_million(zipf, word))]
    if unknown:
        description = f"words without a frequency, of {len(different):,} different ones"
        advice = "Their frequency is left empty. Check the language and the spelling of the counts."
        findings.append(Finding(description, len(unknown), repr(unknown[0]), advice))
    return findings


def score(
    scorer: Scorer,
    frame: pd.DataFrame,
    column: str = "sentence",
    *,
    by: str = "sentence",
    words: str | None = None,
    zipf: Zipf | None = None,
    length: bool = False,
    bits: bool = False,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Score the sentences of a table, their words, or their regions.

    Args:
        scorer: the model; words and regions need a `WordScorer`.
        frame: what `read_sentences` returns.
        column: the column that holds the texts.
        by: `sentence`, `word` or `region`.
        words: by word, the column that holds lists of the words; None: those between white space.
        zipf: by word, adds a column `frequency` (per million words).
        length: by word, adds a column `length` (characters).
        bits: whether surprisals are in bits instead of nats.
        progress: called with (work done, work in all).

    Returns:
        The table's columns, then by sentence `logprob` (natural log) and `n_tokens`; by word, one row per word without
        the sentence itself, `sentence_id`, `word_id`, `word` and `logprob`; by region `sentence_id`, `n_words` and
        `logprob`. Then the surprisal, or a masked model's pseudo-log-likelihood.

    Raises:
        ValueError: the scorer does not score words, cannot score one of the sentences, or a column has the name of
            one that is added.
    """
    facts: dict[str, Callable[[str], float]] = (
        {} if zipf is None else {"frequency": partial(per_million, zipf)}
    )
    facts |= {"length": len} if length else {}
    require_unreserved(frame, [*_ADDED[parse_by(by)], *facts], "The table")
    if by != "sentence" and not isinstance(scorer, WordScorer):
        raise ValueError(
            f"{scorer.name} only has scores of whole sentences, not of words. Use --by sentence, or another model."
        )
    if by == "region":
        assert isinstance(scorer, WordScorer)
        return _with_units(scorer, score_regions(scorer, frame, column, progress), bits)
    sentences = frame[column].astype(str).tolist()
    if by == "word":
        assert isinstance(scorer, WordScorer)
        other_columns = frame.drop(columns=[column, *([words] if words else [])]).reset_index(drop=True)
        split = None if words is None else frame[words].tolist()
        scored_words = _words(other_columns, word_logprobs(scorer, sentences, progress, split))
        for name, fact in facts.items():  # before the log-probability
            scored_words.insert(len(scored_words.columns) - 1, name, scored_words["word"].map(fact))
        return _with_units(scorer, scored_words, bits)
    scored = frame.assign(logprob=sentence_logprobs(scorer, sentences, progress))
    if isinstance(scorer, TokenCounter):
        scored["n_tokens"] = scorer.token_counts(sentences)
    return _with_units(scorer, scored, bits)


def _with_units(scorer: Scorer, scored: pd.DataFrame, bits: bool) -> pd.DataFrame:
    unit = "bits" if bits else "nats"
    logprobs = scored["logprob"] / (math.log(2) if bits else 1.0)
    is_masked = scorer.signature.get("kind") == "masked"
    return scored.assign(**{f"pll_{unit}": logprobs} if is_masked else {f"surprisal_{unit}": 0.0 - logprobs})


def _words(own: pd.DataFrame, scored: Iterable[Sequence[tuple[str, float]]]) -> pd.DataFrame:
    rows = [
        (sentence_id, word_id, word, logprob)
        for sentence_id, words in enumerate(scored)
        for word_id, (word, logprob) in enumerate(words)
    ]
    words = pd.DataFrame(rows, columns=["sentence_id", "word_id", "word", "logprob"])
    repeated = own.iloc[words["sentence_id"].to_numpy(dtype=np.int64)].reset_index(drop=True)
    return pd.concat([repeated, words], axis=1)


def signature_path(out: Path) -> Path:
    """Return where the signature of a table of scores lies: `x.csv.signature.json` beside `x.csv`."""
    return out.with_name(out.name + ".signature.json")


def check_ours(out: Path) -> None:
    """Raise ValueError where a file that `tse score` did not write would be replaced."""
    if out.exists() and not signature_path(out).is_file():
        raise ValueError(
            f"{out} already exists, and `tse score` did not write it. Choose another file with --out, or replace it "
            "with --overwrite."
        )


def check_not_lost(scorer: Scorer, out: Path, asked: dict[str, Any]) -> None:
    """Raise ValueError where scores of other sentences, of another model or with other options would be replaced."""
    if not out.exists():
        return
    path = signature_path(out)
    try:
        stored = parse(Mapping[str, Any], json.loads(read_text(path)))
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{path} is not what `tse score` wrote beside {out} ({str(error).rstrip('.')}). Choose another file with "
            "--out, or replace both with --overwrite."
        ) from error
    differing = described_differences(stored, _signature(scorer, out, asked), ignored=("n_rows",))
    if differing:
        raise ValueError(
            f"{out} already holds scores computed on other data or with different options ({'; '.join(differing)}). "
            "Choose another file with --out, or replace it with --overwrite."
        )


def write_signature(scorer: Scorer, out: Path, asked: dict[str, Any]) -> None:
    """Write what decided the scores of a table beside it, as JSON.

    Args:
        scorer: the model.
        out: the table.
        asked: what was scored: `source`, `column`, `by`, `words`, `frequency`, `length`, `bits` and `n_rows`. Of a
            file, its SHA-256 is added.
    """
    content = _signature(scorer, out, asked)
    write_text(signature_path(out), json.dumps(content, indent=2, ensure_ascii=False, default=str) + "\n")


def _signature(scorer: Scorer, out: Path, asked: dict[str, Any]) -> dict[str, Any]:
    source = Path(asked["source"])
    digest = {"source_sha256": hashlib.sha256(source.read_bytes()).hexdigest()} if source.is_file() else {}
    scorer_signature = asked_signature(scorer.signature, SENTENCES.questions)
    return {"scores": out.name, **asked, **digest, **scorer_signature}
