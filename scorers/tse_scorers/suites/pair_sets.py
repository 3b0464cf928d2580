"""Published sets of minimal pairs: where each is, which columns it has, how its authors score it.

No sentence is shipped: a set is loaded from its authors, pinned by a commit. One on the Hub is in the cache of the Hub.
Of a repository on GitHub, the files of the set are unpacked into the same cache once and checked by a checksum over all
of them; so sets whose licence forbids sharing can be used, too. `source` names a copy instead.
"""

import csv
import hashlib
import io
import json
import re
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd

from ..io.bundle import download, snapshot, split_revision
from ..io.files import blob_id, check_folder
from ..io.suggestions import unknown_name
from ..io.tables import require_columns

Reader = Callable[[str, bytes], pd.DataFrame]
"""Reads a file, given its name in the set and its content."""


@dataclass(frozen=True)
class PairSet:
    """A set of minimal pairs.

    Texts in braces stand for columns: `{config}`, `{language}`, `{file}` (the file's name without its ending), `{path}`
    (below the fixed part of `files`), `{top}` (its first folder), or a column of the set.

    Attributes:
        title: its name in texts.
        citation: the paper.
        licence: of the data; with `none`, copies may not be shared.
        at: `hub:owner/name[@commit]` or `github:owner/name[@commit]`; without a commit, a copy on GitHub must be named.
        files: pattern of its files; several, of which the first one with files counts, are separated by `|`.
        checksum: of all files together, see `checksum_of`; empty on the Hub.
        n_pairs: how many pairs it has; 0 where nobody has counted.
        configs: configuration -> language (ISO 639-3); empty if each folder is one, named by its language.
        default: the configurations that are loaded if none is named; all by default.
        good, bad, paradigm, phenomenon, field, cluster: columns, or texts with columns in braces.
        linking: how its authors compare sentences; empty if theirs is another function: then by the sum.
        pll: the pseudo-log-likelihood of masked models that its authors use; empty if they state none.
        scoring: what else is known of how its authors score it.
        read: reads its files.
        is_blimp: whether it has BLiMP's own columns, which are all kept.
        note: what goes wrong easily, and which pairs are known to be wrong.
    """

    title: str
    citation: str
    licence: str
    at: str
    files: str
    checksum: str = ""
    n_pairs: int = 0
    configs: Mapping[str, str] = field(default_factory=lambda: {"all": "eng"})
    default: Sequence[str] = ()
    good: str = "sentence_good"
    bad: str = "sentence_bad"
    paradigm: str = "{file}"
    phenomenon: str = "{file}"
    field: str = "syntax"
    cluster: str = ""
    linking: str = "sum"
    pll: str = ""
    scoring: str = ""
    read: Reader = lambda name, content: table_of(name, content)
    is_blimp: bool = False
    note: str = ""

    @property
    def address(self) -> str:
        """The page where a person finds the data."""
        kind, _, where = self.at.partition(":")
        return f"https://{'huggingface.co/datasets' if kind == 'hub' else 'github.com'}/{split_revision(where)[0]}"

    def chosen(self, configs: Sequence[str] | None) -> tuple[str, ...]:
        """Return the configurations that are loaded; ValueError where one is unknown."""
        unknown = [name for name in configs or () if self.configs and name not in self.configs]
        if unknown:
            raise ValueError(unknown_name(f"configuration of {self.title}", unknown[0], self.configs))
        return tuple(dict.fromkeys(configs or self.default or self.configs))

    def __str__(self) -> str:
        """Return what there is to know of it, a line for each fact."""
        languages = ", ".join(f"{name} ({language})" for name, language in self.configs.items())
        facts = {
            "title": self.title,
            "paper": self.citation,
            "source": " at ".join(filter(None, (self.address, split_revision(self.at)[1]))),
            "licence": self.licence,
            "pairs": f"{self.n_pairs:,}" if self.n_pairs else "not counted",
            "configurations": languages or "each language, by its ISO 639-3 code",
            "by default": ", ".join(self.default),
            "acceptable": self.good,
            "unacceptable": self.bad,
            "levels": f"paradigm {self.paradigm}, phenomenon {self.phenomenon}, field {self.field}",
            "linking": self.linking or "sum, which is not its authors' function",
            "masked models": self.pll,
            "authors": self.scoring,
            "note": self.note,
        }
        return "\n".join(f"{name:<15} {fact}" for name, fact in facts.items() if fact)


# Readers


def table_of(name: str, content: bytes, separator: str = "") -> pd.DataFrame:
    """Read a table by the ending of its name; fields of text files are texts."""
    if name.endswith(".parquet"):
        return pd.read_parquet(io.BytesIO(content))
    if name.endswith((".jsonl", ".json")):
        return pd.read_json(io.BytesIO(content), lines=name.endswith("l"), dtype=False)
    rows = _rows(content, separator or ("," if name.endswith(".csv") else "\t"), csv.QUOTE_MINIMAL)
    if not rows:
        raise ValueError(f"{name} has no rows")
    return _frame(rows[0], rows[1:], name)


def _rows(content: bytes, separator: str, quoting: Any = csv.QUOTE_NONE) -> list[list[str]]:
    # Sentences may hold other characters that end lines for `splitlines`.
    lines = io.StringIO(content.decode("utf-8-sig"), newline="")
    return [row for row in csv.reader(lines, delimiter=separator, quoting=quoting) if any(row)]


def _frame(columns: Sequence[str], rows: Sequence[Sequence[str]], name: str) -> pd.DataFrame:
    if short := [n for n, row in enumerate(rows, 1) if len(row) < len(columns)]:
        raise ValueError(f"row {short[0]} of {name} has fewer than {len(columns)} fields")
    return pd.DataFrame([row[: len(columns)] for row in rows], columns=list(columns), dtype=object)


def side_by_side(frame: pd.DataFrame, is_good: "pd.Series[bool]", sentence: str, name: str) -> pd.DataFrame:
    """Put the n-th acceptable and the n-th unacceptable row into one, with `sentence_good` and `sentence_bad`."""
    good, bad = (frame[mask].reset_index(drop=True) for mask in (is_good, ~is_good))
    if len(good) != len(bad) or not len(good):
        raise ValueError(
            f"{name} has {len(good)} acceptable sentences and {len(bad)} others; expected as many of each"
        )
    return good.assign(sentence_good=good[sentence], sentence_bad=bad[sentence])


def read_clams(name: str, content: bytes) -> pd.DataFrame:
    """Read separated words in lower case, a row per sentence, and write them as sentences."""
    frame = _frame(["label", "words"], _rows(content, "\t"), name)
    frame["sentence"] = frame["words"].map(sentence_case)
    return side_by_side(frame, frame["label"].str.strip() == "True", "sentence", name)


def sentence_case(words: str) -> str:
    """Write separated lower-case words as a sentence: a capital, no space before punctuation, a full stop.

    >>> sentence_case("the author , who laughs"), sentence_case("l' auteur rit")
    ('The author, who laughs.', "L'auteur rit.")
    """
    text = re.sub(r"\s+([,.;:!?])", r"\1", words.strip())
    text = re.sub(r"(?<=\w')\s+", "", text)  # the French article: l' auteur
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def read_climp(name: str, content: bytes) -> pd.DataFrame:
    """Read columns 0 to 3; one file has bare sentences, the acceptable one of each pair first."""
    if PurePosixPath(name).name != "ba_construction_1000.csv":
        frame = table_of(name, content)
        return side_by_side(frame, frame["3"].str.strip() == "1", "2", name)
    lines = _lines(content).to_frame("2").assign(**{"0": "ba_construction", "1": "ba_construction"})
    return side_by_side(lines, pd.Series(lines.index % 2 == 0), "2", name)


def read_zorro(name: str, content: bytes) -> pd.DataFrame:
    """Read bare sentences, the unacceptable one of each pair first."""
    lines = _lines(content).to_frame("sentence").assign(phenomenon=PurePosixPath(name).stem.partition("-")[0])
    return side_by_side(lines, pd.Series(lines.index % 2 == 1), "sentence", name)


def _lines(content: bytes) -> "pd.Series[str]":
    return pd.Series(
        [line.strip() for line in content.decode("utf-8-sig").split("\n") if line.strip()], dtype=object
    )


def read_blimp_nl(name: str, content: bytes) -> pd.DataFrame:
    """Read a row per sentence, which a column labels."""
    frame = table_of(name, content)
    require_columns(frame, ("Grammaticality", "Sentence"), name)
    return side_by_side(frame, frame["Grammaticality"].str.strip() == "Grammatical", "Sentence", name)


def read_nocola(name: str, content: bytes) -> pd.DataFrame:
    """Read lines without a header; those with # are comments."""
    rows = [row for row in _rows(content, "\t") if not row[0].startswith("#")]
    return _frame(["sentence_bad", "sentence_good", "error_type"], rows, name)


def read_nested(name: str, content: bytes) -> pd.DataFrame:
    """Read lists of [[prefix, prefix], [good end, bad end]]."""
    rows = [[*starts[:1], *ends] for starts, ends in json.loads(content)]
    return _frame(["prefix", "good", "bad"], rows, name)


# The sets

_QFRBLIMP = "github:davebulaval/QFrBLiMP@bd14729271b8620c18037beb7d1ebe129ac39e6a"
_FIRST_UNSCORED = "The first token is not scored, unless the tokenizer adds a start token."
_UNSTATED = "The repository has no scoring code."
SETS = {
    "blimp": PairSet(
        "BLiMP", "Warstadt, Parrish, Liu, Mohananey, Peng, Wang & Bowman (2020), BLiMP: The Benchmark of Linguistic "
        "Minimal Pairs for English, TACL 8", "CC-BY-4.0",
        "hub:nyu-mll/blimp@877fba0801ffb7cbd8c39c1ff314a46f053f6036", "*/*.parquet|data/*.jsonl", n_pairs=67_000,
        paradigm="{UID}", phenomenon="{linguistics_term}", field="{field}", is_blimp=True,
        scoring="Ties are wrong (section 4).",
        note="The overall accuracy is the mean of the 67 paradigms. 7 pairs are two identical sentences, so that two "
        "paradigms cannot be fully right; 161 have 'out in the open' before a noun. All are scored, as in published "
        "accuracies. The authors' repository is github.com/alexwarstadt/blimp; a copy of it can be the source.",
    ),
    "blimp-nl": PairSet(
        "BLiMP-NL", "Suijkerbuijk, Prins, de Heer Kloots, Zuidema & Frank (2025), BLiMP-NL: A Corpus of Dutch Minimal "
        "Pairs and Acceptability Judgments for Language Model Evaluation, Computational Linguistics",
        "none stated for this copy", _QFRBLIMP, "datastore/BLiMP-NL/Phenomenon*.csv",
        "f8bf57e17d6de8fc9863f7bbaef475a9", 8_400, {"all": "nld"},
        paradigm="{Number (paradigm)} {Paradigm}", phenomenon="{Phenomenon}", linking="", read=read_blimp_nl,
        scoring="The paper compares syntactic log-odds ratios (SLOR).",
        note="SLOR needs unigram probabilities; here sentences are compared by the sum, which is not its authors' "
        "function. This is a third-party copy. 11 pairs are two identical sentences; 46 have spaces at an end.",
    ),
    "clams": PairSet(
        "CLAMS", "Mueller, Nicolai, Petrou-Zeniou, Talmina & Linzen (2020), Cross-Linguistic Syntactic Evaluation of "
        "Word Prediction Models, ACL", "Apache-2.0", "github:aaronmueller/clams@36b5c9a56ecc51d3eedb6c1a85b805085d631c71",
        "{config}_evalset/*.txt", "c836068a8b8b19f21d21b74819ed5abe", 335_466,
        {"de": "deu", "en": "eng", "fr": "fra", "he": "heb", "ru": "rus"},
        paradigm="{language}/{file}", field="morphology", read=read_clams,
        scoring="Ties are right. The authors append ' .' and <eos>, and score mBERT by one masked word.",
        note="The files hold lower-case words; here they get a capital, a full stop, and punctuation after its word. "
        "German: 2,800 pairs are in two paradigms; in 2,100 of prep_anim the acceptable side is not (dative plural); in "
        "560 of obj_rel_within_anim both sides are (die Leiter). French: two words differ in 16,140 pairs. Hebrew: "
        "prefixes are separate words.",
    ),
    "climp": PairSet(
        "CLiMP", "Xiang, Yang, Li, Warstadt & Kann (2021), CLiMP: A Benchmark for Chinese Language Model Evaluation, EACL",
        "none stated", "github:beileixiang/CLiMP@094a9e93a4598f23f86eb715d4782b358634c810", "CLiMP_corpus.zip",
        "3b96c336ce48257a97c3864bd151387c", 16_000, {"all": "zho"}, paradigm="{1}", phenomenon="{0}", read=read_climp,
        scoring=_UNSTATED, note="The sentences have no final punctuation mark. The columns are named 0 to 3.",
    ),
    "freq-blimp": PairSet(
        "freq-BLiMP", "The repository names no paper.", "none stated",
        "github:TimeTravelerTy/freq-blimp@cea2d0596ca0e4f7a23ca19d8ba4eaadc27ebfbb",
        "data/processed/freq_blimp_{config}_zipf*_generated.jsonl", "git:7042604080a5153e5a44d2a217c1244f",
        configs=dict.fromkeys(("head", "tail", "xtail"), "eng"), good="good_freq", bad="bad_freq",
        paradigm="{config}/{subtask}", phenomenon="{phenomenon}", field="{field}",
        scoring=f"{_FIRST_UNSCORED} Ties are wrong. Batches are padded on the left without position ids.",
        note="The configurations are windows of word frequency on the Zipf scale: 3.6 to 5.0 (head), 2.2 to 3.0 (tail), "
        "1.2 to 2.0 (xtail).",
    ),
    "jblimp": PairSet(
        "JBLiMP", "Someya & Oseki (2023), JBLiMP: Japanese Benchmark of Linguistic Minimal Pairs, Findings of EACL",
        "none granted: copyright stays with the authors of the excerpts",
        "github:osekilab/JBLiMP@80dbcd80f161511d9130691181a6492cae2c6dcc", "data/validated/validated_minimal_pairs.jsonl",
        "0e0f9a5516ee5d9fe2d51293fd11a831", 331, {"all": "jpn"}, "", "good_sentence", "bad_sentence",
        "{phenomenon}/{paradigm}", "{phenomenon}", scoring=_UNSTATED,
        note="In 64 pairs (types interpretation and coreference), a sentence is bad only under one reading, which its "
        "probability cannot show.",
    ),
    "lindsea": PairSet(
        "LINDSEA (BHASA), syntax", "Leong et al. (2023), BHASA: A Holistic Southeast Asian Linguistic and Cultural "
        "Evaluation Suite for Large Language Models, arXiv:2309.06085", "CC-BY-4.0",
        "github:aisingapore/BHASA@beb96cdec8f4efbe680b2e7ca66d3f42c0f7493e", "lindsea/{config}/syntax/*.jsonl",
        "c09e0b4dbac56e7a31f32d00b66bd005", 850, {"id": "ind", "ta": "tam"}, "", "correct", "wrong",
        "{language}/{category}/{subcategory}", "{linguistic_phenomenon}",
        scoring="The authors ask a chat model which sentence is acceptable; sums are this project's choice.",
        note="The sentences have no full stops. One Tamil pair is two identical sentences. A paradigm has 1 to 10 pairs.",
    ),
    "multiblimp": PairSet(
        "MultiBLiMP 1.0", "Jumelet, Weissweiler, Nivre & Bisazza (2025), MultiBLiMP 1.0: A Massively Multilingual "
        "Benchmark of Linguistic Minimal Pairs, arXiv:2504.02768", "CC-BY-4.0", "hub:jumelet/multiblimp",
        "{config}/data.tsv", configs={}, good="sen", bad="wrong_sen", paradigm="{language}/{phenomenon}",
        phenomenon="{phenomenon}", field="morphology", scoring=f"{_FIRST_UNSCORED} Ties are wrong.",
        note="The newest version on the Hub is loaded; multiblimp@COMMIT pins one. Languages have between 7 and 4,615 "
        "pairs. Texts are joined from treebank tokens: split clitics such as \"is n't\" remain.",
    ),
    "nocola": PairSet(
        "NoCoLA_zero", "Jentoft & Samuel (2023), NoCoLA: The Norwegian Corpus of Linguistic Acceptability, NoDaLiDa",
        "none stated", "github:ltgoslo/nocola@79894ce0b221fd87677986afe14c2819305a8149", "datasets/NoCoLa_zero.txt",
        "git:f950b8808a70bcbd16f95db2a8b73bef", configs={"all": "nob"}, paradigm="{error_type}",
        phenomenon="{error_type}", field="learner errors", linking="mean_token", pll="original", read=read_nocola,
        scoring="Masked models only. Identical pairs are left out, and a difference must be above 1e-8.",
        note="Sentences are by learners: one may hold several errors.",
    ),
    "qfrblimp": PairSet(
        "QFrBLiMP", "Beauchemin, Veilleux, Khoury & Roy (2026), QFrBLiMP: a Quebec-French Benchmark of Linguistic Minimal "
        "Pairs, arXiv preprint", "CC-BY-NC-SA-4.0", _QFRBLIMP, "datastore/QFrBLiMP/human_llm_annotations.tsv",
        "4cc635be6ed06d24cc1e3b7f218029b3", 1_761, {"all": "fra"}, paradigm="type {type}", phenomenon="type {type}",
        linking="mean_token", scoring=f"{_FIRST_UNSCORED} Ties are wrong. Masked models are scored by their loss over the "
        "unmasked sentence, which is not a pseudo-log-likelihood.",
        note="18 pairs are two identical sentences. The column label is the opinion of annotators; it is not read.",
    ),
    "rublimp": PairSet(
        "RuBLiMP", "Taktasheva et al. (2024), RuBLiMP: Russian Benchmark of Linguistic Minimal Pairs, EMNLP",
        "Apache-2.0; sentences of public corpora stay with their authors or publishers",
        "github:RussianNLP/RuBLiMP@9f0d8dfa993b2c0f0acf12660258540376779543", "datasets/*.csv",
        "dcbfbf4b9c6a5d0c64564ed73a12c143", 45_000, {"all": "rus"}, "", "source_sentence", "target_sentence", "{PID}",
        "{phenomenon}", "{level}", linking="mean_token", pll="original",
        scoring="Ties are wrong. Causal models get the text '</s>' before each sentence; here their own start token.",
        note="The pairs were selected with 25 named models. Do not compare these with other models on them.",
    ),
    "sling": PairSet(
        "SLING", "Song, Krishna, Bhatt & Iyyer (2022), SLING: Sino Linguistic Evaluation of Large Language Models, EMNLP",
        "MIT", "github:Yixiao-Song/SLING_Data_Code@5a7f791fbb9db6d2fee66e128fe89c80ac1f993b", "SLING_Data/**/*.jsonl",
        "1199be3d002dfaa9ff1f1fff898c97e1", 40_560, {"all": "zho"}, paradigm="{path}", phenomenon="{top}",
        field="{field}", linking="mean_token", pll="original",
        scoring=f"{_FIRST_UNSCORED} Ties are right; here they are wrong. Each accuracy that the released program prints "
        "is over all files so far.",
        note="24 pairs are two identical sentences. The files have 40 paradigms of 1,000 pairs and 14 reflexive ones of "
        "40; they are named by their files, since the column paradigm is 'Plural' in 12.",
    ),
    "syntaxgym-ml": PairSet(
        "Controlled evaluation in Basque, Hindi and Swahili", "Kryvosheieva & Levy (2024), Controlled Evaluation of "
        "Syntactic Knowledge in Multilingual Language Models, arXiv:2411.07474", "none stated",
        "github:dariakryvosheieva/syntactic_generalization_multilingual@7f440157f4925f094ca05d91087ea6847317cf45",
        "suites/{config}-*.json", "6487cea04f163309304cafdb59d07716", 22_000,
        {"basque": "eus", "hindi": "hin", "swahili": "swh"}, "", "{prefix} {good}", "{prefix} {bad}",
        phenomenon="{config}", field="morphology", linking="mean_continuation", pll="within_word_l2r", read=read_nested,
        scoring="Without a start token; a prefix is always before the scored words. Ties are wrong.",
        note="Pairs of a prefix and two continuations that differ in their first word. A Hindi sentence ends in a danda.",
    ),
    "turblimp": PairSet(
        "TurBLiMP", "Başar, Padovani, Jumelet & Bisazza (2025), TurBLiMP: A Turkish Benchmark of Linguistic Minimal Pairs, "
        "EMNLP", "CC-BY-4.0", "github:ezgibasar/TurBLiMP@297de13fb7a0ce524fe32e8b175c6b5255d66960", "data/{config}/*.csv",
        "da774649609f744225ff3bee17c5439e", 18_200, {"base": "tur", "experimental": "tur"}, ["base"], "good_sentence",
        "bad_sentence", phenomenon="{phenomenon}", cluster="{file} {good_cue} {bad_cue} {critical_region}",
        pll="within_word_l2r", scoring=f"{_FIRST_UNSCORED} Ties are wrong.",
        read=lambda name, content: table_of(name, content, ";" if b";" in content.split(b"\n")[0] else ","),
        note="A file of base is about 100 items in about ten variants each, which are one unit here. 831 rows of base "
        "repeat another row; 20 pairs of base and 10 of experimental are two identical sentences.",
    ),
    "xcomps": PairSet(
        "XCOMPS", "He et al. (2025), XCOMPS: A Multilingual Benchmark of Conceptual Minimal Pairs, arXiv preprint", "MIT",
        "github:LinyangHe/XCOMPS@60c8ce9cc3b693f8f45f4213c8218f6af1ceabea", "data/comps_{config}.json",
        "git:3a52823819dbcfbfc14627e0d23c8bb3",
        configs={"ar": "ara", "ca": "cat", "de": "deu", "el": "ell", "es": "spa", "fa": "fas", "fr": "fra", "he": "heb",
                 "hu": "hun", "ja": "jpn", "ko": "kor", "nl": "nld", "ru": "rus", "tr": "tur", "uk": "ukr", "vi": "vie",
                 "zh": "zho"},
        good="acceptable_sent", bad="unacceptable_sent", paradigm="{language}/concepts", phenomenon="concepts",
        field="semantics", scoring=_UNSTATED, note="The pairs test properties of concepts, not grammar.",
    ),
    "zhoblimp": PairSet(
        "ZhoBLiMP", "Liu et al. (2024), ZhoBLiMP: a Systematic Assessment of Language Models with Linguistic Minimal Pairs "
        "in Chinese, arXiv:2411.06096", "none stated",
        "github:sjtu-compling/ZhoBLiMP@e8402762a563c13def19080a31e2cbb8d89e4ef3", "data/ZhoBLiMP.tar.gz",
        "5097a6cbc9b17ebfc616a8b17ab54f3d", 35_400, {"all": "zho"}, paradigm="zho/{UID}", phenomenon="{phenomenon}",
        linking="slln", scoring="After the start token, or the end token of a model without one. Ties are wrong. Sentences "
        "are cut to 64 tokens, and a token whose log-probability is exactly 0 is not counted.",
        note="A third of the pairs differ in length, so that sums favour the shorter sentence.",
    ),
    "zorro": PairSet(
        "Zorro", "Huebner, Sulem, Fisher & Roth (2021), BabyBERTa: Learning More Grammar With Small-Scale Child-Directed "
        "Language, CoNLL", "MIT", "github:phueb/Zorro", "sentences/babyberta/*.txt", n_pairs=46_000,
        phenomenon="{phenomenon}", read=read_zorro,
        note="23 files of lines, the unacceptable sentence of each pair first; words are those of child-directed speech. "
        "No version is pinned: name a copy of the repository as source. Not verified against it: the folder "
        "sentences/babyberta, 2,000 pairs a file, how its authors compare sentences and treat ties.",
    ),
}  # fmt: skip
"""Name -> set."""


# Files


def find_set(name: str) -> PairSet:
    """Return a set by its name; `name@commit` is another version of one on the Hub. ValueError if there is none."""
    name, revision = split_revision(name)
    if name not in SETS:
        raise ValueError(unknown_name("set of minimal pairs", name, SETS, "the path of your own pairs"))
    found = SETS[name]
    if revision and not found.at.startswith("hub:"):
        raise ValueError(
            f"{found.title} is not loaded from the Hub, so that @{revision} has no effect. Remove it, or give a copy of "
            "that version as source."
        )
    return replace(found, at=f"{split_revision(found.at)[0]}@{revision}") if revision else found


def load_set(
    name: str, configs: Sequence[str] | None = None, source: Path | str | None = None
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the tables of a set, each with its name, in BLiMP's columns; `language` and, where known, `cluster`, too.

    Args:
        name: a key of `SETS`; `name@commit` for another version of a set on the Hub.
        configs: only these configurations.
        source: a copy of its repository, or of the folder with its files; None downloads it once.

    Raises:
        ValueError: the set or a configuration is unknown, or the data is not there or cannot be read.
    """
    pairs = find_set(name)
    chosen = pairs.chosen(configs)
    folder = Path(source) if source is not None else _downloaded(name, pairs, chosen)
    found = [
        (config, *file)
        for config in chosen or _folders(pairs, folder)
        for file in _matching(pairs, folder, config)
    ]
    if not found:
        raise ValueError(
            f"There are no files {pairs.files} of {pairs.title} in {folder}. Name a copy of {pairs.address} as source "
            "(--source)."
        )
    for config, path, inside in found:
        try:
            for member, content in _members(path, inside):
                title = f"{pairs.title}, {member}"
                frame = pairs.read(member, content)
                yield title, frame if pairs.is_blimp else _in_columns(pairs, frame, config, member, title)
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{path} is not text in UTF-8. Check that it is a file of {pairs.title}."
            ) from error
        except (
            OSError,
            KeyError,
            TypeError,
            csv.Error,
            tarfile.TarError,
            zipfile.BadZipFile,
            EOFError,
        ) as error:
            raise ValueError(f"{path} could not be read as a file of {pairs.title}: {error}.") from error


def _in_columns(pairs: PairSet, frame: pd.DataFrame, config: str, name: str, title: str) -> pd.DataFrame:
    language = pairs.configs.get(config, config)
    path = re.sub(r"(\.tar)?\.\w+$", "", name)
    values = {
        "config": config,
        "language": language,
        "path": path,
        "top": path.split("/")[0],
        "file": Path(path).name,
    }
    wanted = {
        "UID": pairs.paradigm, "linguistics_term": pairs.phenomenon, "field": pairs.field, "sentence_good": pairs.good,
        "sentence_bad": pairs.bad, **({"cluster": pairs.cluster} if pairs.cluster else {}),
    }  # fmt: skip
    table = {}
    for column, text in wanted.items():
        if column.startswith("sentence") and "{" not in text:
            require_columns(frame, (text,), title)
            table[column] = frame[text]
            continue
        filled = pd.Series("", frame.index, dtype=object)
        for n, part in enumerate(re.split(r"\{([^{}]+)\}", text)):
            if n % 2 and part not in values:
                if part not in frame:
                    raise ValueError(
                        f"{title} lacks the column {part}; it has {', '.join(frame)}. Use another version."
                    )
                filled += frame[part].fillna("none").astype(str).str.strip()
            else:
                filled += values[part] if n % 2 else part
        table[column] = filled.str.strip()
    return pd.DataFrame(table).assign(language=language)


def _matching(pairs: PairSet, folder: Path, config: str) -> list[tuple[Path, str]]:
    """Return the files of a configuration, with their path below what is fixed; the folder may be an inner one."""
    for pattern in pairs.files.split("|"):
        parts = pattern.split("/")
        for depth, part in enumerate(parts):
            inner = "/".join(parts[depth:]).replace("{config}", config)
            fixed = re.match(r"(?:[^*/]+/)*", inner)
            if paths := sorted(path for path in folder.glob(inner) if path.is_file()):
                return [
                    (path, path.relative_to(folder).as_posix()[len(fixed[0]) if fixed else 0 :])
                    for path in paths
                ]
            if "{config}" in part and len(pairs.configs) != 1:
                break  # without its folder, a file could be of any configuration
    return []


def _folders(pairs: PairSet, folder: Path) -> list[str]:
    """Return the configurations in a folder, of a set that does not list them."""
    return sorted(path.parent.name for path in folder.glob(pairs.files.replace("{config}", "*")))


def _members(path: Path, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the content of a file, or of each table in an archive."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            yield from (
                (inside, archive.read(inside)) for inside in sorted(filter(_is_table, archive.namelist()))
            )
    elif path.name.endswith(".tar.gz"):
        with tarfile.open(path, "r:gz") as archive:
            for member in sorted(archive.getmembers(), key=lambda member: member.name):
                if _is_table(member.name) and (content := archive.extractfile(member)) is not None:
                    yield member.name, content.read()
    else:
        yield name, path.read_bytes()


def _is_table(name: str) -> bool:
    path = PurePosixPath(name)  # archives made on a Mac have resource files
    return (
        path.suffix in (".csv", ".tsv", ".txt", ".jsonl")
        and "__MACOSX" not in path.parts
        and path.name[0] != "."
    )


def checksum_of(folder: Path, pairs: PairSet) -> str:
    """Return the checksum of the files of a set: 32 digits of the SHA-256 of a line `HASH PATH` for each, sorted.

    HASH is the file's SHA-256, or git's name of its content where the set's checksum begins with `git:`.
    """
    is_git, lines = pairs.checksum.startswith("git:"), {}
    for config in pairs.configs:
        for path in folder.glob(pairs.files.replace("{config}", config)):
            content = path.read_bytes()
            digest = blob_id(content) if is_git else hashlib.sha256(content).hexdigest()
            lines[path.relative_to(folder).as_posix()] = digest
    listing = "\n".join(f"{digest} {name}" for name, digest in sorted(lines.items()))
    return ("git:" if is_git else "") + hashlib.sha256(listing.encode()).hexdigest()[:32]


def _downloaded(name: str, pairs: PairSet, configs: Sequence[str]) -> Path:
    """Return the folder with a set: a snapshot of the Hub, or the unpacked files of a commit on GitHub."""
    from huggingface_hub.constants import HF_HOME

    kind, _, where = pairs.at.partition(":")
    if kind == "hub":
        first = pairs.files.split("|")[0]
        return snapshot(where, "dataset", [first.replace("{config}", config) for config in configs or ["*"]])
    repository, commit = split_revision(where)
    folder = Path(HF_HOME) / "refined-tse" / f"{split_revision(name)[0]}-{commit}"
    if folder.is_dir():
        return folder
    url, advice = (
        f"https://github.com/{repository}/archive/{commit}.zip",
        f"name a copy of {pairs.address} as source",
    )
    if commit is None:
        raise ValueError(
            f"No version of {pairs.title} is pinned, so it is not downloaded. Please {advice} (--source)."
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        try:
            download(url, f"{scratch}/archive.zip")
            with zipfile.ZipFile(f"{scratch}/archive.zip") as archive:
                archive.extractall(f"{scratch}/whole")
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise ValueError(
                f"{url} could not be downloaded: {str(error)[:300]}. Check the connection, or {advice} (--source)."
            ) from error
        (whole,) = Path(scratch, "whole").iterdir()
        if checksum_of(whole, pairs) != pairs.checksum:
            raise ValueError(
                f"{url} does not have the files of {pairs.title} that are pinned. Try again, or {advice}."
            )
        _copied(pairs, whole, Path(scratch, "set"))
        with suppress(OSError):  # another process was faster
            Path(scratch, "set").rename(folder)
    return folder


def _copied(pairs: PairSet, folder: Path, out: Path) -> list[Path]:
    patterns = {pairs.files.replace("{config}", config) for config in pairs.configs or ["*"]}
    written = []
    for pattern in sorted(one for several in patterns for one in several.split("|")):
        for path in sorted(folder.glob(pattern)):
            written.append(out / path.relative_to(folder))
            written[-1].parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, written[-1])
    return written


def fetch(name: str, out: Path) -> list[Path]:
    """Download a set, copy its files into a folder, which can be the `source` of runs, and return their paths.

    Raises:
        ValueError: the set is unknown, it cannot be downloaded, or `out` cannot be written.
    """
    pairs = find_set(name)
    check_folder(out)
    return _copied(pairs, _downloaded(name, pairs, tuple(pairs.configs)), out)
