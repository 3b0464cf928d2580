"""`docs/reference/output-files.md` names every column of every output file, and no other one."""

import csv
import json
import re
import shlex
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from command_line import tse
from doc_snippets import EMPTY_PICTURE, ROOT
from generated_pages import on_page_markdown
from tiny_gguf import write_tiny_gguf

from tse_scorers import Results, load_data
from tse_scorers.io.records import read_records

PAGE = on_page_markdown((ROOT / "docs" / "reference" / "output-files.md").read_text(encoding="utf-8"))
COMMANDS = """
tse train-ngram text.txt --order 2 --out bigram.json
tse run --groups Simple --limit 2 --model tiny-causal --model tiny-masked --out agreement
tse run --groups Simple --limit 2 --model tiny-causal --shard 1/1 --out shard
tse run --groups Simple --limit 2 --model series --revisions checkpoint-* --out series-run
tse run --suite blimp --data blimp.jsonl --model tiny-causal --model bigram.json --model scores.csv --out minimal_pairs
tse run --suite minimal_pairs --data blimp.jsonl --model series --revisions checkpoint-* --out series-blimp
tse run --suite german --limit 2 --model tiny-causal --model tiny-masked --out german
tse run --suite blimp --data own.yaml --source own.tsv --linking mean_token -m bigram.json --no-report --out linked
tse run --suite regions --data design.csv --criteria '(2;%a_c%) > 0' --model tiny-causal \
  --model bigram.json --out regions
tse compare agreement --out comparison
tse score sentences.csv --model tiny-causal --out by-sentence.csv
tse score sentences.csv --model tiny-causal --by word --bits --out by-word.csv
tse score sentences.csv --model tiny-causal --by token --out by-token.csv
tse run --data own.csv --lemmas words.csv --model tiny-causal --no-report --out own
tse run -g Simple --limit 2 -m tiny-causal -m tiny-masked --forms all --lemmas few.csv --out forms
tse run --suite german --limit 1 --model tiny.gguf --start-token none --no-report --out gguf
tse doctor tiny-causal --json doctor.json
"""
PARADIGMS = {
    "distractor_agreement_relational_noun": ("The author near the senators", "laughs", "laugh"),
    "distractor_agreement_relative_clause": ("The pilot that the guards like", "smiles", "smile"),
    **{
        f"{kind}_plural_subject_verb_agreement_{n}": (f"The {noun}", "laugh", "laughs")
        for kind, noun in (("regular", "authors"), ("irregular", "women"))
        for n in (1, 2)
    },
    **{
        f"determiner_noun_agreement_{name}": (f"The author likes {what}", "pilot", "pilots")
        for kind in ("", "irregular_")
        for name, what in {
            f"{kind}1": "this",
            f"{kind}2": "that",
            f"with_{'adj_irregular_1' if kind else 'adjective_1'}": "this tall",
            f"with_adj_{kind}2": "that tall",
        }.items()
    },
}
"""BLiMP's own names, so that the report writes every table that it can."""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory) -> Path:
    """A folder with the output of every command that writes files, on a few items."""
    folder = tmp_path_factory.mktemp("outputs")
    _write_inputs(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr("tse_scorers.report.page.svg", lambda plot: EMPTY_PICTURE)  # no column is in it
        for line in COMMANDS.strip().splitlines():
            code, said = tse(*shlex.split(line)[1:])
            assert code == 0, f"{line}\n{said}"
    return folder


def _write_inputs(folder: Path) -> None:
    pairs = []
    for paradigm, (prefix, good, bad) in PARADIGMS.items():
        for number, opening in enumerate(("The", "Some", "Many")):
            begin = prefix.replace("The", opening, 1)
            prefixes = dict(zip(("prefix", "word_good", "word_bad"), (begin, good, bad), strict=True))
            pairs.append(
                {"UID": paradigm, "pairID": number, "one_prefix_method": True, "two_prefix_method": False}
                | {"sentence_good": f"{begin} {good}.", "sentence_bad": f"{begin} {bad}."}
                | {f"one_prefix_{name}": value for name, value in prefixes.items()}
            )
    (folder / "blimp.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    sentences = list(dict.fromkeys(pair[s] for pair in pairs for s in ("sentence_good", "sentence_bad")))
    scores = [f"{sentence},{-10 - number}" for number, sentence in enumerate(sentences)]
    (folder / "scores.csv").write_text("\n".join(["sentence,logprob", *scores]))
    (folder / "sentences.csv").write_text(
        "\n".join(["item,sentence", *(f"1,{text}" for text in sentences[:2])])
    )
    rows = [f"1,{condition},The author\n1,{condition},laughs." for condition in ("a_c", "b_c", "a_d", "b_d")]
    (folder / "design.csv").write_text("\n".join(["item,condition,text", *rows]))
    header = "group,prefix,suffix,form_correct,form_incorrect,value,item"
    pairs = "Own,The author,.,laughs,laugh,one,7\nOwn,The authors,.,laugh,laughs,many,8"
    (folder / "own.csv").write_text(f"{header}\n{pairs}\n")
    (folder / "words.csv").write_text("one,many\nlaughs,laugh\nswims,swim\n")
    registered = "licence: {name: own, share: allowed}\nconfigs: {all: eng}\nlayout: {files: own.tsv}\n"
    columns = "columns: {good: correct, bad: wrong, paradigm: '{topic}', phenomenon: '{topic}'}\n"
    (folder / "own.yaml").write_text(f"id: own\ntitle: Own\n{registered}{columns}")
    (folder / "own.tsv").write_text("topic\tcorrect\twrong\nverbs\tThe author laughs.\tThe author laugh.\n")
    write_tiny_gguf(folder / "tiny.gguf")
    lemmas = load_data("verb_lemmas", "clean").to_pandas()
    lemmas.iloc[::65].to_csv(folder / "few.csv", index=False)
    (folder / "text.txt").write_text("\n".join(sentences))
    model = next((ROOT / "scorers/tse_scorers").glob("*/tiny-causal/config.json")).parent
    for step in (1, 2, 3):
        checkpoint = folder / "series" / f"checkpoint-{step}"
        checkpoint.mkdir(parents=True)
        for file in model.iterdir():
            (checkpoint / file.name).symlink_to(file)


def section(title: str) -> str:
    found = re.search(rf"^#+ {title}\n(.*?)(?=^#+ |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, f"the page has no section {title!r}"
    return found[1]


def documented(title: str) -> set[str]:
    """The names in code in the first cells of a section's table."""
    cells = re.findall(r"^\| (`.*?) \|", section(title), re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def require_same(documented_names: set[str], real: set[str], what: str) -> None:
    """Both ways: each column is documented, and what is documented is there; `<…>` stands for anything."""
    patterns = {name: re.sub(r"<.*?>", ".+", re.escape(name)) for name in documented_names}
    unknown = {column for column in real if not any(re.fullmatch(p, column) for p in patterns.values())}
    absent = {name for name, p in patterns.items() if not any(re.fullmatch(p, column) for column in real)}
    assert (unknown, absent) == (set(), set()), f"{what}: not documented, and documented but not there"


@pytest.mark.parametrize(
    "title, pattern",
    {
        "Agreement: contexts": "agreement/runs/*/contexts-*.parquet",
        "Agreement: pairs": "agreement/runs/*/pairs-*.parquet",
        "Agreement: most probable forms": "agreement/runs/*/top_forms-*.parquet",
        "Agreement: outcomes": "agreement/runs/*/outcomes-*.parquet",
        "Agreement: lemmas": "agreement/runs/*/lemmas-*.parquet",
        "Agreement: listed lemmas": "agreement/runs/*/listed-*.parquet",
        "BLiMP": "minimal_pairs/runs/*/scores-*.parquet",
        "German": "german/runs/*/scores-*.parquet",
        "Regions: regions": "regions/runs/*/regions-*.parquet",
        "Regions: criteria": "regions/runs/*/criteria-*.parquet",
    }.items(),
)
def test_columns_of_scores(outputs, title, pattern):
    files = list(outputs.glob(pattern))
    assert len(files) >= 2
    for file in files:
        require_same(documented(title), set(pq.read_schema(file).names), file.name)


def test_columns_of_linked_scores(outputs):
    (file,) = outputs.glob("linked/runs/*/scores-*.parquet")
    require_same(
        documented("BLiMP") | documented("Linking functions"), set(pq.read_schema(file).names), "linked"
    )


def test_types_of_scores(outputs):
    schema = pq.read_schema(next(outputs.glob("german/runs/*/scores-*.parquet")))
    types = dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", section("German"), re.MULTILINE))
    assert types == {field.name: str(field.type) for field in schema}


def _results(outputs: Path) -> list[dict]:
    return [json.loads(path.read_text()) for path in outputs.glob("*/results.json")]


def test_keys_of_results(outputs):
    contents = _results(outputs)
    assert len(contents) >= 4
    rows = [row for content in contents for row in content["results"]]
    require_same(documented("Rows"), set().union(*rows), "rows")
    require_same(documented("Metrics"), {row["metric"] for row in rows}, "metrics")
    for content in contents:
        require_same(documented("Results"), set(content), "results.json")
        require_same(documented("Environment"), set(content["environment"]), "environment")


@pytest.mark.parametrize("suite", ["agreement", "minimal_pairs", "german", "regions"])
def test_keys_of_rows_are_those_of_their_suite(outputs, suite):
    cells = re.findall(r"^\| (`.*?) \| ([\w, ]+) \|", section("Rows"), re.MULTILINE)
    suites = [(key, where) for keys, where in cells for key in re.findall(r"`(\w+)`", keys)]
    told = {key for key, where in suites if where == "all" or suite in where.split(", ")}
    rows = json.loads((outputs / suite / "results.json").read_text())["results"]
    assert told == set().union(*rows)


def test_keys_of_signatures(outputs):
    signatures = [record.described for path in outputs.glob("*/runs") for record in read_records(path.parent)]
    signatures += [signature for content in _results(outputs) for signature in content["signature"]["models"]]
    # The number of pairs of a set is there only for exactly the released files, which no test may carry. The keys of
    # two kinds of models are asserted with these models (test_encoder_decoders, test_mntp).
    elsewhere = {"n_pairs_of_set", "encoder_input", "mntp"}
    require_same(documented("Signature"), elsewhere.union(*signatures), "signatures")
    execution = set().union(*(signature.get("computed", {}) for signature in signatures))
    row = next(line for line in section("Signature").splitlines() if line.startswith("| `computed`"))
    assert set(re.findall(r"`(\w+)`", row)) - {"computed"} == execution


@pytest.mark.parametrize("folder", ["agreement", "minimal_pairs", "german", "series-run", "regions"])
def test_a_report_writes_its_tables_as_numbers(outputs, folder):
    tables = pd.read_csv(outputs / folder / "tables.csv", low_memory=False)
    assert {"table", "source", "system", "measure", "score", "is_best"} <= set(tables)
    assert "headlines" in set(tables["table"]) and tables["score"].notna().any()


def test_a_paper_has_a_file_for_each_table_and_figure(outputs):
    code, said = tse("report", outputs / "agreement", "--paper", outputs / "paper", "--width", "text")
    assert code == 0 and f"Paper: {outputs / 'paper'}" in said.replace("\n", "")
    for table in pd.read_csv(outputs / "paper" / "tables.csv", low_memory=False)["table"].unique():
        text = (outputs / "paper" / f"{table}.tex").read_text(encoding="utf-8")
        assert rf"\label{{tab:{table}}}" in text and r"\toprule" in text
    figures = list((outputs / "paper").glob("*.pdf"))
    assert figures and all(path.read_bytes().startswith(b"%PDF") for path in figures)


def test_columns_of_a_comparison(outputs):
    columns = next(csv.reader((outputs / "comparison" / "comparison.csv").open(encoding="utf-8")))
    assert documented("Comparison") - {"comparison.csv"} == set(columns)


def test_columns_of_sentence_word_and_token_scores(outputs):
    by_sentence, by_word, by_token = (
        set(next(csv.reader((outputs / name).open(encoding="utf-8"))))
        for name in ("by-sentence.csv", "by-word.csv", "by-token.csv")
    )
    assert documented("Sentence scores") == by_sentence - {"item", "sentence"}
    bits = {name.replace("_nats", "_bits") for name in documented("Word scores")}
    assert bits == by_word - {"item"}
    assert documented("Token scores") == by_token - {"item"}


def test_keys_of_findings(outputs):
    findings = json.loads((outputs / "doctor.json").read_text())["findings"]
    require_same(documented("Doctor"), set().union(*findings), "doctor.json")


TABLES = {
    ("agreement", "contexts"): "Agreement: contexts",
    ("agreement", "pairs"): "Agreement: pairs",
    ("minimal_pairs", None): "BLiMP",
    ("german", None): "German",
    ("regions", "regions"): "Regions: regions",
    ("regions", "criteria"): "Regions: criteria",
}


@pytest.mark.parametrize(("folder", "table"), TABLES)
def test_columns_of_items(outputs, folder, table):
    told = documented(TABLES[folder, table])
    places = {"all", table or ("minimal_pairs" if folder == "minimal_pairs" else "")}
    for names, where in re.findall(r"^\| (`.*?) \| ([\w, ]+) \|", section("Items"), re.MULTILINE):
        if places & {*where.split(", ")}:
            told = told | set(re.findall(r"`([^`]+)`", names))
    require_same(told, set(Results.load(outputs / folder).items(table=table)), f"{folder}, {table}")
