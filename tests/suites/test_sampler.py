"""Whole words under nucleus sampling, and forms that stand under two lemmas."""

import json
import math
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from ngrams import train_ngram
from test_all_forms import LEMMAS, PAIRS, scorer_of

from tse_scorers import Slot, load_scorer, make_suite
from tse_scorers.io.bundle import metric_modules
from tse_scorers.report.inputs import read_runs
from tse_scorers.runs.run import Run
from tse_scorers.suites.agreement.ask import scores as agreement
from tse_scorers.suites.agreement.ask.columns import RESERVED, score_columns
from tse_scorers.suites.agreement.options import AgreementOptions
from tse_scorers.suites.agreement.suite import AgreementSuite

SAMPLER = AgreementOptions(forms="all", sampler=True)
TWICE = pd.DataFrame([("is", "are"), ("is", "be"), ("has", "have")], columns=["singular", "plural"])
GIVEN = {"is": 0.3, "are": 0.15, "be": 0.05, "has": 0.06, "have": 0.04}


class GivenScorer:
    """Gives each form the same probability at all gaps; a nucleus of less than a half has only *is* and *are*."""

    name = "given"
    signature = MappingProxyType({"model": "given", "revision": "1"})
    context_columns = ("prefix",)
    reads_word_ends = True

    def __init__(self, unknown=()):
        self.unknown = set(unknown)

    def sentence_logprobs(self, sentences, progress=None):
        raise AssertionError("no sentence is asked for")

    def form_lengths(self, forms, opening=False):
        return np.ones(len(forms), dtype=np.int64)

    def form_logprobs(self, slots, forms, word_end=True, progress=None):
        if progress is not None:
            progress(len(slots), len(slots))
        row = [math.nan if form in self.unknown else math.log(GIVEN.get(form, 1e-3)) for form in forms]
        return np.tile(row, (len(slots), 1))

    def form_nuclei(self, slots, forms, cutoffs, word_end=True, progress=None):
        whole = self.form_logprobs(slots, forms, progress=progress)
        inside = np.isin(forms, ["is", "are"])
        return np.stack([np.where((cutoff >= 0.5) | inside, whole, -np.inf) for cutoff in cutoffs])


def contexts_of(scorer, lemmas, options):
    found = agreement.score_contexts(scorer, PAIRS, lemmas, options=options)
    return found.contexts.to_pandas().set_index("number")


@pytest.mark.parametrize("number", ["singular", "plural"])
def test_a_form_of_two_lemmas_is_covered_once(number):
    """0.3 + 0.15 + 0.05 + 0.06 + 0.04, not 0.9: *is* stands under two lemmas, and MW counts it in both."""
    rows = contexts_of(GivenScorer(), TWICE, SAMPLER).loc[[number]]
    singular, plural = 2 * 0.3 + 0.06, 0.15 + 0.05 + 0.04
    correct = singular if number == "singular" else plural
    for name in ("top_1", "sampler_top_0.5"):
        assert rows[f"covered_mass_{name}"].to_numpy() == pytest.approx(0.6)
        assert rows[f"mw_{name}"].to_numpy() == pytest.approx(correct / (singular + plural))
        assert rows[f"ew_{name}"].to_numpy() == pytest.approx(1.0 if number == "singular" else 0.0)
    assert rows["covered_mass_list_top_0.97"].between(0, 1).all()
    assert rows["covered_mass_sampler_top_0.1"].to_numpy() == pytest.approx(0.45)


def test_a_score_over_unknown_probabilities_is_no_number():
    """EW and MW are NaN together; a context with nothing inside is excluded, and covers nothing."""
    nothing = contexts_of(GivenScorer(), TWICE[2:], SAMPLER)
    assert nothing[["ew_sampler_top_0.1", "mw_sampler_top_0.1"]].isna().all(axis=None)
    assert (nothing["covered_mass_sampler_top_0.1"] == 0).all() and nothing[
        "ew_sampler_top_0.9"
    ].notna().all()
    unknown = contexts_of(GivenScorer(unknown={"have"}), TWICE, SAMPLER)
    columns = [f"{measure}_sampler_top_0.9" for measure in ("ew", "mw", "covered_mass")]
    assert unknown[columns].isna().all(axis=None)


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_scores_under_nucleus_sampling_follow_their_definition(kind):
    """Each form asked for by itself; `form_nuclei` has its own literal test with the models."""
    scorer = scorer_of(kind)
    found = agreement.score_contexts(scorer, PAIRS, LEMMAS, options=SAMPLER)
    lemmas = found.lemmas.select(["singular", "plural"]).to_pandas().values.tolist()
    n_cut = 0
    for _, row in found.contexts.to_pandas().iterrows():
        slot = [Slot(row["prefix"], row["suffix"])]
        correct = 0 if row["number"] == "singular" else 1
        for cutoff in (0.3, 0.9):
            both = [
                [math.exp(scorer.form_nuclei(slot, [form], (cutoff,))[0, 0, 0]) for form in pair]
                for pair in lemmas
            ]
            inside = [pair for pair in both if sum(pair)]
            right = [pair[correct] > pair[1 - correct] for pair in inside]
            mass = sum(map(sum, inside))
            expected = (
                sum(right) / len(right) if right else math.nan,
                sum(pair[correct] for pair in inside) / mass if mass else math.nan,
                mass,
            )
            got = [row[f"{measure}_sampler_top_{cutoff:g}"] for measure in ("ew", "mw", "covered_mass")]
            assert got == pytest.approx(expected, abs=1e-6, nan_ok=True)
            n_cut += len(inside) < len(both)
    assert n_cut, "the cut-offs must cut"
    plain = agreement.score_contexts(scorer, PAIRS, LEMMAS, options=AgreementOptions(forms="all"))
    assert plain.contexts.equals(found.contexts.select(plain.contexts.column_names)), (
        "the others stay as they are"
    )
    assert set(score_columns(True, sampler=True)) <= set(RESERVED)


def test_the_sampler_is_in_results_tables_and_signature(tmp_path):
    PAIRS.to_csv(tmp_path / "pairs.csv", index=False)
    LEMMAS[:-1].to_csv(tmp_path / "lemmas.csv", index=False)
    suite = make_suite(
        "agreement",
        data=tmp_path / "pairs.csv",
        lemmas=str(tmp_path / "lemmas.csv"),
        allow_unverified=True,
        forms="all",
        sampler=True,
    )
    cutoffs = list(metric_modules("refined_tse").sampler.SAMPLER_TOP)
    assert suite.signature(scorer_of("causal"))["cutoffs_sampler_top"] == cutoffs
    Run(suite, tmp_path / "out").add(scorer_of("causal"))
    rows = pd.DataFrame(json.loads((tmp_path / "out" / "results.json").read_text())["results"])
    own = rows[(rows["cutoff_side"] == "sampler_top") & (rows["group"] == "all")]
    assert own[own["metric"] == "ew"]["cutoff"].tolist() == cutoffs
    assert set(own["metric"]) == {"ew", "mw", "covered_mass", "share_without_lemmas"}
    runs = read_runs([tmp_path / "out"])
    titles = [part.title for part in AgreementSuite.views(runs).in_report().views]
    assert "Scores under nucleus sampling" in titles and "Scores at list percentiles" in titles
    assert "EW@sampler_top-0.9" in AgreementSuite.views(runs).views[0].controls[0].choices


def test_the_sampler_is_refused_where_it_has_no_meaning(tmp_path):
    with pytest.raises(ValueError, match=r"--sampler .*whole words.*--forms all"):
        AgreementOptions(sampler=True)
    with pytest.raises(ValueError, match=r"--sampler .*distribution over tokens.*1-gram.*Remove"):
        SAMPLER.word_end_for(load_scorer(train_ngram(tmp_path, 1, ["The author laughs ."])))


def test_progress_ends_at_the_number_of_contexts_that_are_asked():
    """Each context is asked twice: for probabilities, and for those under nucleus sampling."""
    told = []
    agreement.score_contexts(GivenScorer(), PAIRS, TWICE, lambda *done: told.append(done), options=SAMPLER)
    assert told and told[-1][0] == told[-1][1]
