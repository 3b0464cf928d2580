"""BLiMP with the bundled models: the paper's four agreement paradigms and one paradigm of every phenomenon."""

import numpy as np
import pytest
from scoring_tables import evaluate_pairs

from tse_scorers import load_scorer
from tse_scorers.io.bundle import metric_modules
from tse_scorers.suites.minimal_pairs import scores as blimp

AGREEMENT = (
    "distractor_agreement_relational_noun",
    "distractor_agreement_relative_clause",
    "irregular_plural_subject_verb_agreement_1",
    "regular_plural_subject_verb_agreement_1",
)


@pytest.fixture(scope="module")
def pairs(upstream):
    paradigms = metric_modules("minimal_pair_accuracy").definitions.BLIMP_PARADIGMS
    one_of_each = {phenomenon: uid for uid, (phenomenon, _) in paradigms.items()}
    table = blimp.load(upstream / "blimp", groups=[*AGREEMENT, *one_of_each.values()], limit=12)
    assert set(table["phenomenon"]) == {phenomenon for phenomenon, _ in paradigms.values()}
    return table


@pytest.mark.slow
@pytest.mark.upstream
@pytest.mark.parametrize("model", ["tiny-causal", "tiny-masked", "tiny-lstm"])
def test_every_phenomenon_is_scored_by_every_method(pairs, model):
    scorer = load_scorer(model)
    examples, rows = evaluate_pairs(scorer, pairs)
    scored = {(row["method"], row["group"]): row for row in rows}
    for phenomenon in pairs["phenomenon"].unique():
        row = scored["full", f"phenomenon:{phenomenon}"]
        assert 0 <= row["score"] <= 1
        assert row["n"] == 12 * pairs.loc[pairs["phenomenon"] == phenomenon, "paradigm"].nunique()
    assert ("one_prefix", AGREEMENT[0]) in scored
    assert ("two_prefix", "all") in scored
    # The pairs' own sentences, asked for one by one, decide the same way.
    frame = examples.to_pandas().query("method == 'full'")
    some = frame.iloc[:: max(len(frame) // 5, 1)]
    alone = [
        [scorer.sentence_logprobs([sentence])[0] for sentence in (pair.sentence_good, pair.sentence_bad)]
        for pair in some.itertuples()
    ]
    np.testing.assert_allclose(some[["logprob_good", "logprob_bad"]].to_numpy(), alone, atol=1e-4)
