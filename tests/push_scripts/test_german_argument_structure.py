"""German sentences: the design, the three cases, what the paper prints, and the released data set."""

import csv

import pandas as pd
import pytest

from builders import german_argument_structure
from builders import upstream as pinned

ARTICLES = {"der": ("der", "dem", "den"), "ein": ("ein", "einem", "einen")}


@pytest.fixture(scope="module")
def ours(root) -> pd.DataFrame:
    return pd.read_parquet(root / "datasets" / "german_argument_structure" / "ours" / "test.parquet")


@pytest.fixture(scope="module")
def templates() -> list[dict[str, str]]:
    with german_argument_structure.TEMPLATES.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def released(upstream) -> pd.DataFrame:
    path = pinned.locate(upstream, german_argument_structure.RELEASED)
    return pd.read_csv(path, dtype={"positions": str})


def test_templates(templates):
    """50 of them, with other clauses and verbs; articles, and nouns whose three cases can be told apart."""
    assert len({template["verb"] for template in templates}) == 50 == len(templates)
    assert len({template["matrix"] for template in templates}) == 50
    phrases = [template[f"phrase_{i}"].split(" / ") for template in templates for i in (1, 2, 3)]
    nouns = []
    for cases in phrases:
        articles, (nominative, dative, accusative) = zip(*(case.split() for case in cases), strict=True)
        first = articles[0]
        endings = ARTICLES.get(first, (first, f"{first}em", f"{first}en"))
        assert articles == endings and dative == accusative and len(set(cases)) == 3
        ends = ("", "n", "en") if first == "der" or not nominative.endswith("r") else ("", "n", "en", "r")
        assert accusative.removeprefix(nominative.removesuffix("r")).removeprefix("r") in ends
        nouns.append((first, nominative == dative))
    assert pd.Series([first for first, _ in nouns]).value_counts().to_dict() == {
        "der": 96, "ein": 46, "sein": 6, "ihr": 1, "mein": 1,
    }  # fmt: skip
    assert sum(same for _, same in nouns) == 117  # else weak (29) or adjectival (4)


def test_design(ours):
    assert len(ours) == 7200 and ours["grammatical"].sum() == 1800
    assert ours["sentence"].is_unique and ours["sentence_id"].is_unique
    assert ours["index"].tolist() == list(range(7200))
    assert ours.groupby("template").size().eq(144).all() and ours["template"].nunique() == 50
    pattern = ours.groupby(["cases", "positions"]).size()
    assert len(pattern) == 144 and pattern.eq(50).all()
    assert ours.groupby("template")["animated"].first().sum() == 15
    assert ours["sentence"].str.fullmatch(r"[A-ZÄÖÜ]\S*( \S+)+, \w+( \S+){6}( \S+){1,2}\.").all()


def test_columns_that_follow_from_the_cases(ours):
    right, wrong = ours[ours["grammatical"]], ours[~ours["grammatical"]]
    assert (right["case_order"] == right["cases"]).all() and right["case_order"].nunique() == 6
    assert right.groupby(["case_order", "role_assignment"]).size().eq(50).all()
    assert right[["doubled_case", "missing_case"]].isna().all(axis=None)
    assert wrong[["case_order", "role_assignment"]].isna().all(axis=None)
    for row in wrong.drop_duplicates("cases").itertuples():
        assert row.cases.count(row.doubled_case) == 2 and row.missing_case not in row.cases
    example = ours.set_index("sentence_id").loc["00-DNA-213"]
    assert example["sentence"] == "Es ist nett, dass dem Gast der Koch einen Löffel reicht."
    assert example["role_assignment"] == "ag1,re2,pa3"


def test_human_cells_are_those_of_the_published_results(root):
    """Of Tables 1, 11, 17 and 23."""
    human = pd.read_parquet(root / "datasets/german_human_judgments/published_auc/test.parquet")
    published = pd.read_parquet(root / "datasets/published_results/rows/train.parquet").query(
        "source == 'people'"
    )
    assert human["auc"].tolist() == published["score"].tolist() and len(human) == 144
    assert human["paper_table"].unique().tolist() == [1, 11, 17, 23]


@pytest.mark.upstream
def test_ours_shares_nothing_with_the_release(upstream, ours, templates, released):
    assert not set(ours["sentence"]) & set(released["sentence"])
    theirs = pd.read_csv(pinned.locate(upstream, "probing-LM-syntax/src/data/templates.csv"))
    assert not {template["matrix"] for template in templates} & set(theirs["principal"])
    assert not {template["verb"] for template in templates} & set(theirs["verb"])


@pytest.mark.upstream
def test_the_released_config_is_the_release_word_for_word(upstream, released):
    """In the order of ours; 48 sentences of one template have two spaces."""
    built = german_argument_structure.build(upstream)
    theirs, ours = (built[config]["test"].to_pandas() for config in ("rochereau2020", "ours"))
    for column in ("index", "template", "cases", "positions", "sentence", "grammatical", "animated"):
        assert theirs[column].tolist() == released[column].tolist()
    assert theirs["sentence_id"].equals(ours["sentence_id"])
    assert theirs.loc[theirs["sentence"].str.contains("  "), "template"].tolist() == [5] * 48
