"""`tse score`: the log-probabilities of any sentences, of their words, or of their regions.

Surprisal is -log P, in nats (natural logs) or in bits (divided by ln 2); its column says which. Masked models have
pseudo-log-likelihoods, which are not surprisals: their column is `pll_nats` or `pll_bits`.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

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


def is_text_file(source: str) -> bool:
    """Whether a source is a file of plain text, which has no columns."""
    return Path(source).suffix in (".txt", ".text", "") and Path(source).is_file()


@dataclass(frozen=True)
class ScoreRequest:
    """What `tse score` is asked for.

    Attributes:
        source: a text file (one sentence a line), a table or a Hub data set `org/name[@revision]`.
        column: the column that holds the sentences, or the regions. Where only the words are there, it is made of them.
        by: `sentence`, `word` or `region`.
        words: by word, the column that holds lists of the words; None: those between white space.
        length: by word, whether a column `length` (characters) is added.
        bits: whether surprisals are in bits instead of nats.
    """

    source: str = ""
    column: str = "sentence"
    by: str = "sentence"
    words: str | None = None
    length: bool = False
    bits: bool = False

    @classmethod
    def of(
        cls,
        source: str,
        column: str | None = None,
        by: str | None = None,
        words: str | None = None,
        length: bool = False,
        bits: bool = False,
    ) -> "ScoreRequest":
        """Return a request from the options of the command; by word, where options that only words have were given.

        Raises:
            ValueError: `by` is unknown, or an option has no effect.
        """
        of_words = {"--words": words, "--length": length}
        word_options = [option for option, value in of_words.items() if value]
        by = by or ("word" if word_options else "sentence")
        if word_options and by != "word":
            raise ValueError(
                f"{' and '.join(word_options)} has no effect with --by {by}; remove one of the two."
            )
        if by not in DEFAULT_COLUMNS:
            raise ValueError(f"Cannot score by {by!r}; expected one of: {', '.join(DEFAULT_COLUMNS)}.")
        for option, value in (("--column", column), ("--words", words)):
            if value is not None and is_text_file(source):
                raise ValueError(f"{option} has no effect with {source}, a text without columns; remove it.")
        return cls(source, column or DEFAULT_COLUMNS[by], by, words, length, bits)

    @property
    def _facts(self) -> dict[str, Callable[[str], float]]:
        """Columns of words that are added beside their scores, and what computes them."""
        return {"length": len} if self.length else {}

    def read(self) -> pd.DataFrame:
        """Return all columns of the source; of a text file, the column `sentence`.

        Raises:
            ValueError: the source is not there, is not UTF-8, has no such column, no rows, what is not text, an empty
                sentence, or a column with the name of one that is added.
        """
        path, quoted = Path(self.source), repr(self.source)
        if is_text_file(self.source):
            lines = read_text(path).split("\n")  # a sentence may hold any of Unicode's rarer line breaks
            frame = pd.DataFrame({self.column: [line.strip() for line in lines if line.strip()]})
        elif is_table(self.source) or "/" not in self.source:
            frame = read_table(path, texts=[self.words] if self.words else [])
        else:
            frame = load_data(self.source).to_pandas()
        if self.by == "region":
            frame = read_regions(frame, self.column, quoted)
        else:
            if self.words is not None:
                require_columns(frame, [self.words], quoted)
                lists = word_lists(frame, self.words, quoted)
                sentences = frame.get(self.column, lists.map(joined_words))
                frame = frame.assign(**{self.words: lists, self.column: sentences})
            require_columns(frame, [self.column], quoted)
            require_text(frame, [self.column], quoted)
            if self.words is not None:
                require_spelled(frame[self.column], frame[self.words], quoted)
        require_unreserved(frame, [*_ADDED[self.by], *self._facts], quoted)
        return frame

    def inspect(self, frame: pd.DataFrame) -> list[Finding]:
        """Return what limits the scores of these texts; regions are joined by one space, whatever stands in them."""
        if self.by == "region":
            return []
        is_split = self.by != "word" or self.words is not None
        findings = white_space(frame, {self.column: WHITE_SPACE})
        return [*findings, *([] if is_split else unsplit(frame, self.column))]

    def score(self, scorer: Scorer, frame: pd.DataFrame, progress: Progress | None = None) -> pd.DataFrame:
        """Score the sentences of a table, their words, or their regions.

        Args:
            scorer: the model; words and regions need a `WordScorer`.
            frame: what `read` returns.
            progress: called with (work done, work in all).

        Returns:
            The table's columns, then by sentence `logprob` (natural log) and `n_tokens`; by word, one row per word
            without the sentence itself, `sentence_id`, `word_id`, `word` and `logprob`; by region `sentence_id`,
            `n_words` and `logprob`. Then the surprisal, or a masked model's pseudo-log-likelihood.

        Raises:
            ValueError: the scorer does not score words, or cannot score one of the sentences.
        """
        sentences = frame[self.column].astype(str).tolist()
        if self.by == "sentence":
            scored = frame.assign(logprob=sentence_logprobs(scorer, sentences, progress))
            if isinstance(scorer, TokenCounter):
                scored["n_tokens"] = scorer.token_counts(sentences)
        elif not isinstance(scorer, WordScorer):
            raise ValueError(
                f"{scorer.name} only has scores of whole sentences, not of words. Use --by sentence, or another model."
            )
        elif self.by == "region":
            scored = score_regions(scorer, frame, self.column, progress)
        else:
            other_columns = frame.drop(columns=[self.column, *([self.words] if self.words else [])])
            split = None if self.words is None else frame[self.words].tolist()
            scored = _words(other_columns, word_logprobs(scorer, sentences, progress, split))
            for name, fact in self._facts.items():  # before the log-probability
                scored.insert(len(scored.columns) - 1, name, scored["word"].map(fact))
        unit = "bits" if self.bits else "nats"
        logprobs = scored["logprob"] / (math.log(2) if self.bits else 1.0)
        is_masked = scorer.signature.get("kind") == "masked"
        return scored.assign(
            **{f"pll_{unit}": logprobs} if is_masked else {f"surprisal_{unit}": 0.0 - logprobs}
        )

    def check_not_lost(self, scorer: Scorer, out: Path) -> None:
        """Raise ValueError where scores of other sentences, another model or other options would be replaced."""
        if not out.exists():
            return
        path = signature_path(out)
        try:
            stored = parse(Mapping[str, object], json.loads(read_text(path)))
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"{path} is not the signature that `tse score` wrote with {out} ({str(error).rstrip('.')}). Choose "
                "another file with --out, or replace both with --overwrite."
            ) from error
        differing = described_differences(stored, self._signature(scorer, out), ignored=("n_rows",))
        if differing:
            raise ValueError(
                f"{out} already holds scores computed on other data or with different options "
                f"({'; '.join(differing)}). Choose another file with --out, or replace it with --overwrite."
            )

    def write_signature(self, scorer: Scorer, out: Path, n_rows: int) -> None:
        """Write what decided the scores of a table of `n_rows` rows beside it, as JSON."""
        content = self._signature(scorer, out) | {"n_rows": n_rows}
        write_text(signature_path(out), json.dumps(content, indent=2, ensure_ascii=False, default=str) + "\n")

    def _signature(self, scorer: Scorer, out: Path) -> dict[str, object]:
        """Return the scorer's signature with this request, and the SHA-256 of its source if that is a file."""
        options = {field.name: getattr(self, field.name) for field in fields(self)}
        source = Path(self.source)
        if source.is_file():
            options["source_sha256"] = hashlib.sha256(source.read_bytes()).hexdigest()
        return {"scores": out.name, **options, **asked_signature(scorer.signature, SENTENCES.questions)}


def _words(other_columns: pd.DataFrame, scored: Iterable[Sequence[tuple[str, float]]]) -> pd.DataFrame:
    """Return a row for each word, with the other columns of its sentence."""
    rows = [
        (sentence_id, word_id, word, logprob)
        for sentence_id, words in enumerate(scored)
        for word_id, (word, logprob) in enumerate(words)
    ]
    words = pd.DataFrame(rows, columns=["sentence_id", "word_id", "word", "logprob"])
    repeated = other_columns.iloc[words["sentence_id"].to_numpy(dtype=np.int64)].reset_index(drop=True)
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
