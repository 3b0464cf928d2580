"""`tse score`: the log-probabilities of any sentences, of their words, or of their tokens.

Surprisal is -log P, in nats (natural logs) or in bits (divided by ln 2); its column says which. Masked models have
pseudo-log-likelihoods, which are not surprisals: their column is `pll_nats` or `pll_bits`.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from ..engine.progress import Progress
from ..io.bundle import load_data
from ..io.files import read_text, write_text
from ..io.store import as_written, differences
from ..io.tables import is_table, read_table, require_columns, require_text, require_unreserved
from ..models.scorer import Scorer, ask_sentences, ask_tokens, ask_words
from ..models.text import refusing_by_row
from ..suites.checks import WHITE_SPACE, Finding, white_space

"""What a model is asked."""
_MEASURES = ("logprob", "surprisal_nats", "surprisal_bits", "pll_nats", "pll_bits")
_ADDED = {
    "sentence": ("n_tokens", *_MEASURES),
    "word": ("sentence_id", "word_id", "word", *_MEASURES),
    "token": ("sentence_id", "token_id", "token", "start", "end", *_MEASURES),
}
"""What is scored -> columns that are added to the user's."""


@dataclass(frozen=True)
class ScoreRequest:
    """What `tse score` is asked for.

    Attributes:
        source: a text file (one sentence a line), a table or a Hub data set `org/name[@revision]`.
        column: the column that holds the sentences.
        by: `sentence`, `word` or `token`.
        bits: whether surprisals are in bits instead of nats.

    Raises:
        ValueError: `by` is unknown.
    """

    source: str = ""
    column: str = "sentence"
    by: str = "sentence"
    bits: bool = False

    def __post_init__(self) -> None:
        if self.by not in _ADDED:
            raise ValueError(f"Cannot score by {self.by!r}; expected one of: {', '.join(_ADDED)}.")

    def read(self) -> pd.DataFrame:
        """Return all columns of the source; of a text file, the column `sentence`.

        Raises:
            ValueError: the source is not there, is not UTF-8, has no such column, no rows, what is not text, an empty
                sentence, or a column with the name of one that is added.
        """
        path, quoted = Path(self.source), repr(self.source)
        if path.suffix in (".txt", ".text", "") and path.is_file():
            if self.column != "sentence":
                raise ValueError(
                    f"--column has no effect with {self.source}, a text without columns; remove it."
                )
            lines = read_text(path).split("\n")  # a sentence may hold any of Unicode's rarer line breaks
            frame = pd.DataFrame({self.column: [line.strip() for line in lines if line.strip()]})
        elif is_table(self.source) or "/" not in self.source:
            frame = read_table(path)
        else:
            frame = load_data(self.source).to_pandas()
        require_columns(frame, [self.column], quoted)
        require_text(frame, [self.column], quoted)
        require_unreserved(frame, _ADDED[self.by], quoted)
        return frame

    def inspect(self, frame: pd.DataFrame) -> list[Finding]:
        """Return what limits the scores of these texts."""
        return white_space(frame, {self.column: WHITE_SPACE})

    def score(self, scorer: Scorer, frame: pd.DataFrame, progress: Progress | None = None) -> pd.DataFrame:
        """Score the sentences of a table, their words, or their tokens.

        Args:
            scorer: the model; words need a `Scorer`, tokens a `Scorer`.
            frame: what `read` returns.
            progress: called with (work done, work in all).

        Returns:
            By sentence the table's columns, `logprob` (natural log) and `n_tokens`. By word or token, one row for each:
            the other columns of its sentence, `sentence_id`, `word_id` or `token_id`, `word` or `token`, of a token
            `start` and `end` (its characters in the sentence), and `logprob`. Then the surprisal, or a masked model's
            pseudo-log-likelihood.

        Raises:
            ValueError: the scorer does not score words or tokens, or cannot score one of the sentences.
        """
        sentences = frame[self.column].astype(str).tolist()
        with refusing_by_row(lambda place: place):
            if self.by == "sentence":
                scored = frame.assign(logprob=ask_sentences(scorer, sentences, progress))
                if scorer.can("token_counts"):
                    scored["n_tokens"] = scorer.token_counts(sentences)
            else:
                scored = self._parts(scorer, frame.drop(columns=self.column), sentences, progress)
        unit = "bits" if self.bits else "nats"
        logprobs = scored["logprob"] / (math.log(2) if self.bits else 1.0)
        is_masked = scorer.signature.get("kind") == "masked"
        return scored.assign(
            **{f"pll_{unit}": logprobs} if is_masked else {f"surprisal_{unit}": 0.0 - logprobs}
        )

    def _parts(
        self, scorer: Scorer, others: pd.DataFrame, sentences: Sequence[str], progress: Progress | None
    ) -> pd.DataFrame:
        """Return a row for each word or token, with the other columns of its sentence."""
        parts: list[list[tuple[object, ...]]]
        if self.by == "word" and scorer.can("word_logprobs"):
            names = ["word", "logprob"]
            parts = [list(words) for words in ask_words(scorer, sentences, progress)]
        elif self.by == "token" and scorer.can("token_logprobs"):
            names = ["token", "start", "end", "logprob"]
            parts = [
                [(text[a:b].strip(), int(a), int(b), logprob) for a, b, logprob in zip(*tokens, strict=True)]
                for text, tokens in zip(sentences, ask_tokens(scorer, sentences, progress), strict=True)
            ]
        else:
            raise ValueError(
                f"{scorer.name} has no scores of {self.by}s, only of whole sentences. Use --by sentence, or another "
                "model."
            )
        rows = [
            (at, number, *part) for at, of_text in enumerate(parts) for number, part in enumerate(of_text)
        ]
        table = pd.DataFrame(rows, columns=["sentence_id", f"{self.by}_id", *names])
        repeated = others.iloc[table["sentence_id"].to_numpy(dtype=np.int64)].reset_index(drop=True)
        return pd.concat([repeated, table], axis=1)

    def check_not_lost(self, scorer: Scorer, out: Path) -> None:
        """Raise ValueError where scores of other sentences, another model or other options would be replaced."""
        if not out.exists():
            return
        path = signature_path(out)
        try:
            stored = dict(json.loads(read_text(path)))
        except (ValueError, TypeError, RecursionError) as error:
            raise ValueError(
                f"{path} is not the signature that `tse score` wrote with {out}. Choose another file with --out, or "
                "replace both with --overwrite."
            ) from error
        current = {**as_written(self._signature(scorer, out)), "n_rows": stored.get("n_rows")}
        if differing := [*differences(stored, current)]:
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
        options = asdict(self)
        source = Path(self.source)
        if source.is_file():
            options["source_sha256"] = hashlib.sha256(source.read_bytes()).hexdigest()
        return {"scores": out.name, **options, **scorer.signature}


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
