"""`tse frequency`: adds the frequencies of lemmas to a run, from a word list or from counts, without the model."""

import math
import unicodedata
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow as pa

from ..io.records import Record, commit, read_records, writing
from ..io.table_files import fingerprint, read_counts
from ..suites.agreement.estimate.frequency import FREQUENCIES

WORDFREQ = "wordfreq"
Zipf = Callable[[str], float]
"""From a word to its frequency: log10 of occurrences per billion words, NaN if it is unknown."""


def add_frequencies(out: Path, counts: str = WORDFREQ, language: str | None = None) -> int:
    """Write the frequencies of all scored lemmas of an output folder next to its scores; return how many tables.

    Args:
        out: output folder of `tse run`.
        counts: `wordfreq`, or a table with columns `word` and `count`.
        language: of wordfreq's list; None: en.

    Raises:
        ValueError: the folder has no scores of agreement or scores of a contrast of the user's own, wordfreq is
            missing, the file is not a table of counts or has no scored lemma, or a language is given for it.
    """
    zipf, source = word_list(counts, language, "--counts")
    records = [record for record in read_records(out) if "lemmas" in record.tables and not record.is_shard]
    if not records:
        raise ValueError(
            f"{out} does not contain lemmas of --suite agreement. Make scores with `tse run --out {out}`."
        )
    for record in records:
        _require_numbers(record)
    tables = []
    for record in records:
        columns = ["opening", "singular", "plural"]
        lemmas = record.tables["lemmas"].read(columns).to_pandas().drop_duplicates()
        if lemmas["opening"].nunique() > 1:
            raise ValueError(
                f"The scores in {record.folder} have gaps at the beginning of sentences and other gaps, which have "
                "different lemmas; tse frequency expects one kind. Score each kind into a separate folder."
            )
        forms = [lemmas["singular"], lemmas["plural"]]
        frequencies = [column.map(zipf).astype(float) for column in forms]
        if not np.isfinite(frequencies).all(axis=0).any():
            first = f", for example {forms[0].iloc[0]} and {forms[1].iloc[0]}" if len(lemmas) else ""
            raise ValueError(
                f"{source} has both forms of none of the {len(lemmas):,} lemmas that are scored in {record.folder}"
                f"{first}; expected some of them. Name counts of the lemmas' language with --counts or --language."
            )
        arrays = [pa.array(column, from_pandas=True) for column in (*forms, *frequencies)]
        tables.append(pa.table([*arrays, pa.array([source] * len(lemmas))], FREQUENCIES))
    for record, table in zip(records, tables, strict=True):
        with writing(record.folder, record.identity["model"], None):
            commit(record, {**record.tables, "frequencies": table}, "tse frequency")
    return len(records)


def word_list(counts: str, language: str | None, option: str) -> tuple[Zipf, str]:
    """Return how frequent words are, and where that is known from.

    Args:
        counts: `wordfreq`, or a table with columns `word` and `count`.
        language: of wordfreq's list; None: en.
        option: the option of the command that takes the counts, for messages.
    """
    if counts != WORDFREQ and language is not None:
        raise ValueError(
            f"--language has no effect with {option} {counts}; it names a list of wordfreq. Remove it."
        )
    return _wordfreq(language or "en", option) if counts == WORDFREQ else _counted(counts)


def per_million(zipf: Zipf, word: str) -> float:
    """Return how often a word occurs in a million words, NaN if it is unknown.

    Punctuation at its ends is left out. A word that is unknown as it is written is looked up in small letters.

    >>> per_million(lambda word: {"the": 7.0}.get(word, math.nan), "The,")
    10000.0
    """
    bare = word.strip("".join(sign for sign in word if unicodedata.category(sign)[0] in "PSZ")) or word
    frequencies = (zipf(form) for form in (bare, bare.lower()))
    return next((10.0 ** (frequency - 3) for frequency in frequencies if not math.isnan(frequency)), math.nan)


def _require_numbers(record: Record) -> None:
    """Raise ValueError if scores are not of singular and plural, or if groups have lemmas of their own."""
    for key, content in (
        ("contrast", "two other values than the numbers"),
        ("lemma_groups", "lemmas for each group"),
    ):
        if key in record.signature:
            raise ValueError(
                f"The scores in {record.folder} have {content} ({key} in their signature); tse frequency expects "
                "singular and plural forms of one list. Name another output folder."
            )


def _wordfreq(language: str, option: str) -> tuple[Zipf, str]:
    try:
        import wordfreq
    except ImportError as error:
        raise ValueError(
            "The word list wordfreq is not installed: pip install 'refined-tse[frequency]', or name a table of counts "
            f"with {option} FILE (columns word and count)."
        ) from error
    if language not in wordfreq.available_languages():
        raise ValueError(
            f"wordfreq has no list for {language!r}; expected one of: "
            f"{', '.join(sorted(wordfreq.available_languages()))}."
        )

    try:
        wordfreq.zipf_frequency("a", language)
    except ImportError as error:
        raise ValueError(
            f"wordfreq needs more packages for {language!r} ({error}): pip install 'wordfreq[cjk]', or name a table "
            f"of counts with {option} FILE (columns word and count)."
        ) from error

    def zipf(word: str) -> float:
        return wordfreq.zipf_frequency(word, language) or math.nan  # 0 is an unknown word

    return zipf, f"wordfreq {version('wordfreq')} ({language})"


def _counted(path: str) -> tuple[Zipf, str]:
    counts = read_counts(Path(path), "word", whole_numbers=False)
    per_billion = 1e9 / float(counts.sum())
    frequencies: Mapping[str, float] = {
        word: math.log10(n * per_billion) for word, n in counts.items() if n > 0
    }
    source = f"{Path(path).name} ({fingerprint(counts.reset_index())})"
    return lambda word: frequencies.get(word, math.nan), source
