"""Lemmas whose forms have different numbers of tokens in a masked model, by whole sentences."""

import json

import numpy as np
import pandas as pd
import pytest
from test_all_forms import LEMMAS, PAIRS, pair, scorer_of

from tse_scorers import make_suite
from tse_scorers.report.inputs import read_runs
from tse_scorers.runs.run import Run
from tse_scorers.suites.agreement.ask import unequal_forms
from tse_scorers.suites.agreement.options import AgreementOptions
from tse_scorers.suites.agreement.suite import AgreementSuite


def suite_in(folder, pairs=PAIRS, **options):
    pairs.to_csv(folder / "pairs.csv", index=False)
    LEMMAS[:-1].to_csv(folder / "lemmas.csv", index=False)
    own = {"lemmas": str(folder / "lemmas.csv"), "allow_unverified": True, "forms": "all"}
    return make_suite("agreement", data=folder / "pairs.csv", **own, **options)


def rows_of(out):
    return pd.DataFrame(json.loads((out / "results.json").read_text())["results"])


def test_they_are_scored_by_the_sentences_and_nothing_else_changes(tmp_path):
    scorer = scorer_of("masked")
    for name, options in (("plain", {}), ("sentences", {"sentence_pll": True})):
        Run(suite_in(tmp_path, **options), tmp_path / name).add(scorer)
    rows = rows_of(tmp_path / "sentences")
    own = rows[rows["metric"] == "ew_different_lengths"].set_index("group")
    lengths = [scorer.form_lengths(list(pair)) for pair in LEMMAS[:-1].values.tolist()]
    unlike = [pair for pair, n in zip(LEMMAS.values.tolist(), lengths, strict=False) if n[0] != n[1]]
    assert unlike and set(own["n_lemmas"]) == {len(unlike)}
    right = {}
    for _, row in PAIRS.iterrows():
        for forms in unlike:
            one, other = (
                scorer.sentence_logprobs([f"{row['prefix']} {form}{row['suffix']}"])[0] for form in forms
            )
            is_right = one > other if row["number"] == "singular" else other > one
            right.setdefault(row["group"], []).append(is_right)
    for group, found in right.items():
        assert own.loc[group, "score"] == pytest.approx(sum(found) / len(found))
    others = rows[rows["metric"] != "ew_different_lengths"].reset_index(drop=True)
    plain = rows_of(tmp_path / "plain")
    pd.testing.assert_frame_equal(others[list(plain)], plain, check_dtype=False)
    parts = {
        part.title: part
        for part in AgreementSuite.views(read_runs([tmp_path / "sentences"])).in_report().views
    }
    [table] = parts["EW by number of tokens"].blocks
    assert "different lengths, by whole sentences" in [name for _, name in table.values]


def test_each_context_is_asked_with_its_own_sentences(tmp_path, monkeypatch):
    """A gap that opens a sentence has its verb in capitals, and only such a gap."""
    scorer = scorer_of("masked")
    asked, real = [], type(scorer).sentence_logprobs
    monkeypatch.setattr(
        type(scorer),
        "sentence_logprobs",
        lambda self, texts, progress=None: asked.extend(texts) or real(self, texts),
    )
    opening = pd.DataFrame([pair("Question", "", " the author tall?", "singular", "is", "are")])
    Run(suite_in(tmp_path, pd.concat([PAIRS, opening]), sentence_pll=True), tmp_path / "out").add(scorer)
    assert asked and all(text[0].isupper() and not text.startswith(" ") for text in asked)
    inside = [text for text in asked if not text.endswith(" the author tall?")]
    assert {text.partition(" ")[0] for text in inside} == {"The"} and len(inside) < len(asked)


def test_a_sentence_without_a_log_probability_is_no_error_of_the_model(tmp_path, monkeypatch):
    """Its lemma counted as wrong."""
    scorer = scorer_of("masked")
    real = type(scorer).sentence_logprobs

    def without_the_first(self, sentences, progress=None):
        found = real(self, sentences, progress)
        found[0] = np.nan
        return found

    monkeypatch.setattr(type(scorer), "sentence_logprobs", without_the_first)
    Run(suite_in(tmp_path, sentence_pll=True), tmp_path / "out").add(scorer)
    own = rows_of(tmp_path / "out").query("metric == 'ew_different_lengths' and group == 'all'")
    assert own[["n", "n_excluded"]].to_numpy().tolist() == [[len(PAIRS) - 1, 1]]


def test_the_option_is_refused_where_it_has_no_meaning_or_no_end(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"--sentence-pll .*single tokens .*--forms all"):
        AgreementOptions(sentence_pll=True)
    with pytest.raises(ValueError, match=r"--sentence-pll .*masked model .*causal is not"):
        suite_in(tmp_path, sentence_pll=True).check_scorer(scorer_of("causal"))
    monkeypatch.setattr(unequal_forms, "MOST", 7)
    with pytest.raises(ValueError, match=r"--sentence-pll .*at most 7.*--lemma-sample"):
        Run(suite_in(tmp_path, sentence_pll=True), tmp_path / "out").add(scorer_of("masked"))
