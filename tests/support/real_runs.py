"""Folders of real runs, and of copies of their records under other names with other scores."""

from pathlib import Path

import pandas as pd
import pytest

from tse_scorers import Agreement, German, MinimalPairs, Results, run

GROUPS = ["Simple", "VP coordination"]


def blimp() -> pd.DataFrame:
    """Pairs with the labels of eleven paradigms of BLiMP."""
    paradigms = (
        "anaphor_gender_agreement anaphor_number_agreement causative drop_argument inchoative intransitive passive_1 "
        "passive_2 transitive wh_island adjunct_island"
    ).split()
    frame = pd.DataFrame([(of, n) for of in paradigms for n in range(8)], columns=["UID", "pairID"])
    words = ["author", "pilot", "chef", "guard", "clerk", "actor", "judge", "nurse"]
    good = [
        f"The {words[n]} of the {of.split('_')[0]} laughs."
        for of, n in zip(frame["UID"], frame["pairID"], strict=True)
    ]
    frame = frame.assign(sentence_good=good)
    frame["sentence_bad"] = frame["sentence_good"].str.replace("laughs", "laugh")
    frame.attrs["name"] = "pairs"
    return frame


@pytest.fixture(scope="session")
def results(tmp_path_factory) -> Results:
    """Two models on agreement."""
    suite = Agreement(groups=GROUPS, limit=40)
    return run(["tiny-causal", "tiny-masked"], suite, tmp_path_factory.mktemp("report") / "r", report=False)


@pytest.fixture(scope="session")
def three_suites(tmp_path_factory) -> Path:
    """The folder of one model on three suites."""
    out = tmp_path_factory.mktemp("three")
    suites = [Agreement(groups=GROUPS, limit=10), MinimalPairs(data=blimp()), German(limit=6)]
    run("tiny-causal", suites, out, report=False)
    return out
