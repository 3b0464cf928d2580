"""Published sets of minimal pairs: where each is, which columns it has, how its authors score it.

No sentence is shipped: a set is downloaded once from its authors, at a commit, which names its content, so that sets
whose licence forbids sharing can be used, too. `source` names a copy instead.
"""

import io
import json
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from ..io.bundle import snapshot, split_revision
from ..io.suggestions import unknown_name

GITHUB = "https://github.com"
DAMAGED = (zipfile.BadZipFile, tarfile.TarError, zlib.error)
"""What reading an archive that is cut off or no archive raises, beside OSError and EOFError."""


@dataclass(frozen=True)
class PairSet:
    """A set of minimal pairs.

    Texts may have columns in braces: `{config}`, `{language}`, `{file}` (the file's name without its ending), `{path}`
    (below the fixed part of `files`), `{top}` (its first folder), or a column of the set.

    Attributes:
        title: its name in texts.
        citation: the paper.
        licence: of the data; where none is stated, copies may not be shared.
        at: `hub:owner/name[@commit]` or `github:owner/name[@commit]`.
        files: pattern of its files; of several, separated by `|`, the first one with files counts.
        n_pairs: how many pairs it has; 0 where nobody has counted.
        configs: configuration -> language (ISO 639-3); empty if each folder is one, named by its language.
        default: the configurations that are loaded if none is named; all by default.
        good, bad: columns of the sentences, or texts.
        paradigm, phenomenon, field, cluster: texts.
        linking: how its authors compare sentences; empty for a function that is not here: then by the sum.
        pll: the pseudo-log-likelihood of masked models that its authors use; empty if they state none.
        read: reads a file, given its name and content.
        is_blimp: whether it has BLiMP's own columns, which are all kept.
        note: what else is known of how its authors score it, what goes wrong easily, which pairs are known to be wrong.
    """

    title: str
    citation: str
    licence: str
    at: str
    files: str
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
    read: Callable[[str, bytes], pd.DataFrame] = lambda name, content: table_of(name, content)
    is_blimp: bool = False
    note: str = ""

    @property
    def address(self) -> str:
        """The page where a person finds the data."""
        kind, _, where = self.at.partition(":")
        return f"https://{'huggingface.co/datasets' if kind == 'hub' else 'github.com'}/{split_revision(where)[0]}"

    def chosen(self, configs: Sequence[str] | None) -> tuple[str, ...]:
        """Return the configurations that are loaded; ValueError where one is unknown."""
        for name in configs or ():
            if self.configs and name not in self.configs:
                raise ValueError(unknown_name(f"configuration of {self.title}", name, self.configs))
        return tuple(dict.fromkeys(configs or self.default or self.configs))

    def files_in(self, folder: Path, config: str) -> list[tuple[Path, str]]:
        """Return the files of a configuration in a copy of the repository, and their paths below the fixed part."""
        for pattern in self.files.replace("{config}", config).split("|"):
            fixed = folder / pattern.partition("*")[0].rpartition("/")[0]
            if paths := sorted(folder.glob(pattern)):
                return [(path, path.relative_to(fixed).as_posix()) for path in paths]
        return []

    def __str__(self) -> str:
        """Return what there is to know of it, a line for each fact."""
        configs = ", ".join(f"{name} ({language})" for name, language in self.configs.items())
        at = f"{self.address} {split_revision(self.at)[1] or ''}"
        facts = {**vars(self), "configs": configs, "default": ", ".join(self.default), "at": at}
        facts |= {"read": "", "is_blimp": ""}
        return "\n".join(f"{name:<10} {fact}" for name, fact in facts.items() if fact)


# Readers: of a file's name and content


def table_of(name: str, content: bytes, separator: str = "", **options: Any) -> pd.DataFrame:
    """Read a table by the ending of its name; fields of text files are texts."""
    file = io.BytesIO(content)
    if name.endswith(".parquet"):
        return pd.read_parquet(file)
    if name.endswith((".jsonl", ".json")):
        return pd.read_json(file, lines=name.endswith("l"), dtype=False)
    separator = separator or ("," if name.endswith(".csv") else "\t")
    as_text = {"dtype": str, "keep_default_na": False, "index_col": False, "encoding": "utf-8-sig"}
    return pd.read_csv(file, sep=separator, **as_text, **options)


def side_by_side(frame: pd.DataFrame, is_good: Any, sentence: str, name: str) -> pd.DataFrame:
    """Put the n-th acceptable and the n-th unacceptable row into one, with `sentence_good` and `sentence_bad`."""
    good, bad = (frame[mask].reset_index(drop=True) for mask in (is_good, ~is_good))
    if len(good) != len(bad):
        counts = f"{len(good)} acceptable sentences and {len(bad)} others"
        raise ValueError(f"{name} has {counts}; expected as many of each. Check that the file is complete.")
    return good.assign(sentence_good=good[sentence], sentence_bad=bad[sentence])


def labelled(name: str, content: bytes, label: str, good: str, sentence: str) -> pd.DataFrame:
    """Read a row per sentence, which a column labels."""
    frame = table_of(name, content)
    return side_by_side(frame, frame[label].str.strip() == good, sentence, name)


def bare(name: str, content: bytes, good: int) -> pd.DataFrame:
    """Read lines of sentences; of each two, the acceptable one is line `good`, 0 or 1."""
    lines = [line.strip() for line in content.decode("utf-8-sig").split("\n") if line.strip()]
    frame = pd.DataFrame({"sentence": lines}, dtype=object)
    return side_by_side(frame, frame.index % 2 == good, "sentence", name)


def read_clams(name: str, content: bytes) -> pd.DataFrame:
    """Read separated words in lower case, a row per sentence, and write them as sentences."""
    frame = table_of(name, content, names=["label", "words"], quoting=3)
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
    """Read columns 0 to 3; one file has bare sentences."""
    if "ba_construction" in name:
        return bare(name, content, good=0).assign(phenomenon="ba_construction", paradigm="ba_construction")
    return labelled(name, content, "3", "1", "2").rename(columns={"0": "phenomenon", "1": "paradigm"})


def read_turblimp(name: str, content: bytes) -> pd.DataFrame:
    """Read fields between semicolons or, in the experimental files, commas."""
    return table_of(name, content, ";" if b";" in content.split(b"\n")[0] else ",")


def read_nocola(name: str, content: bytes) -> pd.DataFrame:
    """Read lines without a header; those with # are comments."""
    frame = table_of(name, content, names=["sentence_bad", "sentence_good", "error_type"], quoting=3)
    return frame[~frame["sentence_bad"].str.startswith("#")]


def read_nested(name: str, content: bytes) -> pd.DataFrame:
    """Read lists of [[prefix, prefix], [good end, bad end]]."""
    rows = [(start[0], *ends) for start, ends in json.loads(content)]
    return pd.DataFrame(rows, columns=["prefix", "good", "bad"])


# The sets

_QFRBLIMP = "github:davebulaval/QFrBLiMP@bd14729271b8620c18037beb7d1ebe129ac39e6a"
_UNSCORED = "Its authors do not score the first token, unless the tokenizer adds a start token."
SETS = {
    "blimp": PairSet(
        "BLiMP", "Warstadt et al. (2020), TACL 8", "CC-BY-4.0",
        "hub:nyu-mll/blimp@877fba0801ffb7cbd8c39c1ff314a46f053f6036", "*/*.parquet|data/*.jsonl|*.jsonl",
        n_pairs=67_000, paradigm="{UID}", phenomenon="{linguistics_term}", field="{field}", is_blimp=True,
        note="7 pairs are two identical sentences, and 161 have 'out in the open' before a noun. All are scored, as in "
        "published accuracies. A copy of github.com/alexwarstadt/blimp can be the source, too.",
    ),
    "blimp-nl": PairSet(
        "BLiMP-NL", "Suijkerbuijk et al. (2025), Computational Linguistics", "none stated for this copy", _QFRBLIMP,
        "datastore/BLiMP-NL/Phenomenon*.csv", n_pairs=8_400, configs={"all": "nld"},
        paradigm="{Number (paradigm)} {Paradigm}", phenomenon="{Phenomenon}", linking="",
        read=partial(labelled, label="Grammaticality", good="Grammatical", sentence="Sentence"),
        note="Its authors compare syntactic log-odds ratios (SLOR); here sentences are compared by the sum, which is "
        "not its authors' function. A third-party copy. 11 pairs are two equal sentences; 46 have spaces at an end.",
    ),
    "clams": PairSet(
        "CLAMS", "Mueller et al. (2020), ACL", "Apache-2.0",
        "github:aaronmueller/clams@36b5c9a56ecc51d3eedb6c1a85b805085d631c71", "{config}_evalset/*.txt", n_pairs=335_466,
        configs={"de": "deu", "en": "eng", "fr": "fra", "he": "heb", "ru": "rus"}, paradigm="{language}/{file}",
        field="morphology", read=read_clams,
        note="Its authors count ties as right, append ' .' and <eos>, and score mBERT by one masked word; here the "
        "lower-case words get a capital and a full stop. German: 2,800 pairs are in two paradigms; in 2,100 of "
        "prep_anim the acceptable side is wrong (dative plural); in 560 of obj_rel_within_anim both are right (die "
        "Leiter). French: two words differ in 16,140 pairs. Hebrew: prefixes are separate words.",
    ),
    "climp": PairSet(
        "CLiMP", "Xiang et al. (2021), EACL", "none stated",
        "github:beileixiang/CLiMP@094a9e93a4598f23f86eb715d4782b358634c810", "CLiMP_corpus.zip", n_pairs=16_000,
        configs={"all": "zho"}, paradigm="{paradigm}", phenomenon="{phenomenon}", read=read_climp,
        note="The repository has no scoring code. The sentences have no final punctuation mark.",
    ),
    "freq-blimp": PairSet(
        "freq-BLiMP", "The repository names no paper.", "none stated",
        "github:TimeTravelerTy/freq-blimp@cea2d0596ca0e4f7a23ca19d8ba4eaadc27ebfbb",
        "data/processed/freq_blimp_{config}_zipf*_generated.jsonl",
        configs=dict.fromkeys(("head", "tail", "xtail"), "eng"), good="good_freq", bad="bad_freq",
        paradigm="{config}/{subtask}", phenomenon="{phenomenon}", field="{field}",
        note=f"{_UNSCORED} Zipf frequencies are 3.6 to 5.0 (head), 2.2 to 3.0 (tail), 1.2 to 2.0 (xtail).",
    ),
    "jblimp": PairSet(
        "JBLiMP", "Someya & Oseki (2023), Findings of EACL",
        "none granted: copyright stays with the authors of the excerpts",
        "github:osekilab/JBLiMP@80dbcd80f161511d9130691181a6492cae2c6dcc",
        "data/validated/validated_minimal_pairs.jsonl", n_pairs=331, configs={"all": "jpn"}, good="good_sentence",
        bad="bad_sentence", paradigm="{phenomenon}/{paradigm}", phenomenon="{phenomenon}",
        note="The repository has no scoring code. In 64 pairs (interpretation, coreference) one reading is fine.",
    ),
    "lindsea": PairSet(
        "LINDSEA (BHASA), syntax", "Leong et al. (2023), arXiv:2309.06085", "CC-BY-4.0",
        "github:aisingapore/BHASA@beb96cdec8f4efbe680b2e7ca66d3f42c0f7493e", "lindsea/{config}/syntax/*.jsonl",
        n_pairs=850, configs={"id": "ind", "ta": "tam"}, good="correct", bad="wrong",
        paradigm="{language}/{category}/{subcategory}", phenomenon="{linguistic_phenomenon}",
        note="The authors ask a chat model which sentence is acceptable; sums are this project's choice. No sentence "
        "has a full stop; one Tamil pair is two identical sentences; a paradigm has 1 to 10 pairs.",
    ),
    "multiblimp": PairSet(
        "MultiBLiMP 1.0", "Jumelet et al. (2025), arXiv:2504.02768", "CC-BY-4.0", "hub:jumelet/multiblimp",
        "{config}/data.tsv", configs={}, good="sen", bad="wrong_sen", paradigm="{language}/{phenomenon}",
        phenomenon="{phenomenon}", field="morphology",
        note=f"{_UNSCORED} The newest version on the Hub is loaded; multiblimp@COMMIT pins one. Languages have between "
        "7 and 4,615 pairs. Texts are joined from treebank tokens: split clitics such as 'is n't' remain.",
    ),
    "nocola": PairSet(
        "NoCoLA_zero", "Jentoft & Samuel (2023), NoDaLiDa", "none stated",
        "github:ltgoslo/nocola@79894ce0b221fd87677986afe14c2819305a8149", "datasets/NoCoLa_zero.txt",
        configs={"all": "nob"}, paradigm="{error_type}", phenomenon="{error_type}", field="learner errors",
        linking="mean_token", pll="original", read=read_nocola,
        note="Its authors score masked models only, leave out identical pairs, and ask for a difference above 1e-8.",
    ),
    "qfrblimp": PairSet(
        "QFrBLiMP", "Beauchemin et al. (2026), arXiv preprint", "CC-BY-NC-SA-4.0", _QFRBLIMP,
        "datastore/QFrBLiMP/human_llm_annotations.tsv", n_pairs=1_761, configs={"all": "fra"}, paradigm="type {type}",
        phenomenon="type {type}", linking="mean_token",
        note=f"{_UNSCORED} They score masked models by the loss over the unmasked sentence. 18 pairs are identical.",
    ),
    "rublimp": PairSet(
        "RuBLiMP", "Taktasheva et al. (2024), EMNLP",
        "Apache-2.0; sentences of public corpora stay with their authors or publishers",
        "github:RussianNLP/RuBLiMP@9f0d8dfa993b2c0f0acf12660258540376779543", "datasets/*.csv", n_pairs=45_000,
        configs={"all": "rus"}, good="source_sentence", bad="target_sentence", paradigm="{PID}",
        phenomenon="{phenomenon}", field="{level}", linking="mean_token", pll="original",
        note="Its authors give causal models the text '</s>' before each sentence; here they have their own start "
        "token. The pairs were selected with 25 named models. Do not compare these with other models on them.",
    ),
    "sling": PairSet(
        "SLING", "Song et al. (2022), EMNLP", "MIT",
        "github:Yixiao-Song/SLING_Data_Code@5a7f791fbb9db6d2fee66e128fe89c80ac1f993b", "SLING_Data/**/*.jsonl",
        n_pairs=40_560, configs={"all": "zho"}, paradigm="{path}", phenomenon="{top}", field="{field}",
        linking="mean_token", pll="original",
        note=f"{_UNSCORED} They count ties as right; here they are wrong. 24 pairs are two identical sentences. "
        "Paradigms, 40 of 1,000 pairs and 14 of 40, are named by their files.",
    ),
    "syntaxgym-ml": PairSet(
        "Controlled evaluation in Basque, Hindi and Swahili", "Kryvosheieva & Levy (2024), arXiv:2411.07474",
        "none stated",
        "github:dariakryvosheieva/syntactic_generalization_multilingual@7f440157f4925f094ca05d91087ea6847317cf45",
        "suites/{config}-*.json", n_pairs=22_000, configs={"basque": "eus", "hindi": "hin", "swahili": "swh"},
        good="{prefix} {good}", bad="{prefix} {bad}", phenomenon="{config}", field="morphology",
        linking="mean_continuation", pll="within_word_l2r", read=read_nested,
        note="Its authors use no start token; a prefix is always before the scored words.",
    ),
    "turblimp": PairSet(
        "TurBLiMP", "Başar et al. (2025), EMNLP", "CC-BY-4.0",
        "github:ezgibasar/TurBLiMP@297de13fb7a0ce524fe32e8b175c6b5255d66960", "data/{config}/*.csv", n_pairs=18_200,
        configs={"base": "tur", "experimental": "tur"}, default=["base"], good="good_sentence", bad="bad_sentence",
        phenomenon="{phenomenon}", cluster="{file} {good_cue} {bad_cue} {critical_region}", pll="within_word_l2r",
        read=read_turblimp,
        note=f"{_UNSCORED} A file of base is about 100 items in about ten variants each, which are one unit here. 831 "
        "rows of base repeat another row; 20 pairs of base and 10 of experimental are two identical sentences.",
    ),
    "xcomps": PairSet(
        "XCOMPS", "He et al. (2025), arXiv preprint", "MIT",
        "github:LinyangHe/XCOMPS@60c8ce9cc3b693f8f45f4213c8218f6af1ceabea", "data/comps_{config}.json",
        configs={"ar": "ara", "ca": "cat", "de": "deu", "el": "ell", "es": "spa", "fa": "fas", "fr": "fra",
                 "he": "heb", "hu": "hun", "ja": "jpn", "ko": "kor", "nl": "nld", "ru": "rus", "tr": "tur", "uk": "ukr",
                 "vi": "vie", "zh": "zho"},
        good="acceptable_sent", bad="unacceptable_sent", paradigm="{language}/concepts", phenomenon="concepts",
        field="semantics",
        note="The repository has no scoring code. The pairs test properties of concepts, not grammar.",
    ),
    "zhoblimp": PairSet(
        "ZhoBLiMP", "Liu et al. (2024), arXiv:2411.06096", "none stated",
        "github:sjtu-compling/ZhoBLiMP@e8402762a563c13def19080a31e2cbb8d89e4ef3", "data/ZhoBLiMP.tar.gz",
        n_pairs=35_400, configs={"all": "zho"}, paradigm="zho/{UID}", phenomenon="{phenomenon}", linking="slln",
        note="Its authors cut sentences to 64 tokens, and do not count tokens of log-probability 0. In a third of the "
        "pairs sentences differ in length, so that sums favour the shorter one.",
    ),
    "zorro": PairSet(
        "Zorro", "Huebner et al. (2021), BabyBERTa, CoNLL", "MIT", "github:phueb/Zorro", "sentences/babyberta/*.txt",
        n_pairs=46_000, read=partial(bare, good=1),
        note="No version is pinned: name a copy of the repository as source. Not verified against it: the folder, "
        "2,000 pairs a file, how its authors compare sentences and treat ties.",
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
            f"{found.title} is not loaded from the Hub. Remove @{revision}, or name a copy as source."
        )
    return replace(found, at=f"{split_revision(found.at)[0]}@{revision}") if revision else found


def load_set(
    name: str, configs: Sequence[str] | None = None, source: Path | str | None = None
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the tables of a set, each with its name, in BLiMP's columns, and `language` and `cluster` where known.

    Args:
        name: a key of `SETS`; `name@commit` for another version of a set on the Hub.
        configs: only these configurations.
        source: a copy of its repository; None downloads it once.

    Raises:
        ValueError: the set or a configuration is unknown, or the data is not there or cannot be read.
    """
    pairs = find_set(name)
    chosen = pairs.chosen(configs)
    folder = Path(source) if source is not None else _downloaded(pairs, chosen)
    chosen = chosen or tuple(sorted(path.parent.name for path in folder.glob("*/*")))
    files = [(config, *file) for config in chosen for file in pairs.files_in(folder, config)]
    if not files:
        raise ValueError(
            f"There are no files {pairs.files} of {pairs.title} in {folder}. Name a copy of {pairs.address} as source "
            "(--source)."
        )
    for config, path, inside in files:
        try:
            for member, content in _members(path, inside):
                frame = pairs.read(member, content)
                frame = frame if pairs.is_blimp else _in_columns(pairs, frame, config, member)
                yield f"{pairs.title}, {member}", frame
        except (OSError, EOFError, KeyError, TypeError, ValueError, *DAMAGED) as error:
            why = f"{type(error).__name__}: {error}"
            raise ValueError(f"{path} could not be read as a file of {pairs.title} ({why}).") from error


def _in_columns(pairs: PairSet, frame: pd.DataFrame, config: str, name: str) -> pd.DataFrame:
    path, language = Path(name).with_suffix(""), pairs.configs.get(config, config)
    frame = frame.assign(
        config=config, language=language, path=path.as_posix(), top=path.parts[0], file=path.name
    )
    rows = frame.fillna("none").astype(str).map(str.strip).to_dict("records")
    wanted = {"UID": pairs.paradigm, "linguistics_term": pairs.phenomenon, "field": pairs.field}
    wanted |= {"cluster": pairs.cluster} if pairs.cluster else {}
    found: dict[str, Any] = {
        column: [text.format_map(row) for row in rows] for column, text in wanted.items()
    }
    for column, text in (("sentence_good", pairs.good), ("sentence_bad", pairs.bad)):
        found[column] = [text.format_map(row) for row in rows] if "{" in text else frame[text].tolist()
    return pd.DataFrame(found | {"language": language})


def _members(path: Path, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the content of a file, or of each table in an archive."""
    if path.suffix not in (".zip", ".gz"):
        yield name, path.read_bytes()
        return
    from datasets import DownloadManager  # takes a second

    members = sorted((of, file.read()) for of, file in DownloadManager().iter_archive(path))
    yield from (member for member in members if member[0].endswith((".csv", ".jsonl")))


def _downloaded(pairs: PairSet, configs: Sequence[str]) -> Path:
    """Return the folder with a set in the cache: a snapshot of the Hub, or a repository on GitHub at a commit."""
    kind, _, where = pairs.at.partition(":")
    if kind == "hub":
        pattern = pairs.files.split("|")[0]
        return snapshot(
            where, "dataset", [pattern.replace("{config}", config) for config in configs or ["*"]]
        )
    from datasets import DownloadConfig, DownloadManager  # takes a second

    repository, commit = split_revision(where)
    advice = f"name a copy of {pairs.address} as source (--source)"
    if commit is None:
        raise ValueError(f"No version of {pairs.title} is pinned, so it is not downloaded. Please {advice}.")
    url = f"{GITHUB}/{repository}/archive/{commit}.zip"
    try:  # a commit has one content: no server is asked whether it is the newest
        manager = DownloadManager(download_config=DownloadConfig(use_etag=False))
        (whole,) = Path(manager.download_and_extract(url)).iterdir()
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"{url} could not be downloaded: {error}. Check the connection, or {advice}."
        ) from error
    return whole
