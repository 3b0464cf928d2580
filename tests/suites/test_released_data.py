"""Released data are known by their content, whatever file or folder they are in."""

import pandas as pd
import pytest

from tse_scorers import Scorer, load_scorer, make_suite
from tse_scorers.io.bundle import metric_modules
from tse_scorers.suites.agreement.data import tables as agreement
from tse_scorers.suites.agreement.data.tables import CLAMS
from tse_scorers.suites.hub_data import own_table
from tse_scorers.suites.minimal_pairs.data.pair_tables import pair_table
from tse_scorers.suites.minimal_pairs.data.tables import load
from tse_scorers.suites.minimal_pairs.scores import describe
from tse_scorers.suites.registry import all_suites, find_suite
from tse_scorers.suites.released_data import released_data, released_lists

RELEASED = {name: known for suite in all_suites() for name, known in suite.known_data.released.items()}
LEMMA_LISTS = released_lists(find_suite("agreement"))


def described(config: str, lemmas: str | None = None, **options: object) -> None:
    suite = make_suite(**options) if lemmas is None else make_suite(lemmas=lemmas, **options)
    signature = suite.signature(load_scorer("tiny-causal"))
    known = RELEASED[signature["dataset_fingerprint"]]
    assert (known.config, known.n) == (config, suite.n_items)
    assert lemmas is None or LEMMA_LISTS[signature["lemmas_fingerprint"]] == lemmas


def test_the_shipped_data_have_these_fingerprints():
    for name in ("released", "clean"):
        described("marvin_linzen", name, suite="agreement", data="marvin_linzen")
    for config, language in CLAMS.items():
        described(config, language, suite="agreement", data=config)
    described("ours", suite="german")
    assert set(LEMMA_LISTS.values()) == {"released", "clean", *CLAMS.values()}


def test_released_data_are_known_in_a_file_with_other_columns(tmp_path):
    """A copy of released data is released data, also with its columns in another order and one of the user's own."""
    table = agreement.load("clams_french")
    table = table[table.columns[::-1]].assign(mine=range(len(table)))
    table.to_csv(tmp_path / "copy.csv", index=False)
    options = {"suite": "agreement", "data": tmp_path / "copy.csv"}
    described("clams_french", "french", **options)
    table.assign(construction="another").to_csv(tmp_path / "copy.csv", index=False)
    with pytest.raises(KeyError):
        described("clams_french", "french", **options)


class Nothing(Scorer):
    name, signature = "nothing", {}

    def sentence_logprobs(self, sentences, progress=None):
        raise NotImplementedError


def test_the_data_of_others_have_these_fingerprints(upstream, tmp_path):
    import build_datasets

    build_datasets.build("blimp_agreement", upstream, tmp_path)
    for name in ("newman2021", "blimp"):
        described(name, suite="agreement", data=name, source=tmp_path)
    path = upstream / "probing-LM-syntax" / "src" / "data" / "dataset.csv"
    described("rochereau2020", suite="german", data=path)


@pytest.mark.slow
def test_blimp_has_its_fingerprints_with_and_without_prefixes(upstream):
    folder = upstream / "blimp" / "data"
    local = load(folder)
    paradigms = metric_modules("minimal_pair_accuracy").definitions.BLIMP_PARADIGMS
    frames = [own_table(str(folder / f"{name}.jsonl")) for name in paradigms]
    as_on_the_hub = [_without_prefixes(frame) for frame in frames]
    tables = [pair_table(frame, "hub") for frame in as_on_the_hub]
    for table in (local, pd.concat(tables, ignore_index=True)):
        known = RELEASED[describe(Nothing(), table)["dataset_fingerprint"]]
        assert (known.dataset, known.config, known.n) == ("blimp", "blimp", len(table))


def _without_prefixes(frame: pd.DataFrame) -> pd.DataFrame:
    kept = [column for column in frame if "prefix_" not in column or column.endswith("_method")]
    return frame[kept].rename(columns={"pairID": "pair_id"}).astype({"pair_id": "int32"})


def test_blimp_of_the_pinned_commit_is_whole_if_nothing_is_missing():
    identity = {"suite": "minimal_pairs", "dataset": "nyu-mll/blimp", "config": "blimp"}
    downloaded = {"identity": identity, "dataset_fingerprint": "fedcba9876543210", "n_paradigms": 67}
    assert released_data(downloaded | {"n_pairs": 67_000}) is not None
    assert released_data(downloaded | {"n_pairs": 66_999}) is None
    assert (
        released_data(downloaded | {"n_pairs": 67_000, "identity": identity | {"dataset": "blimp"}}) is None
    )
