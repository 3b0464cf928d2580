"""The tables of the suite agreement for a few pairs, without a record."""

from types import SimpleNamespace

from tse_scorers.suites.agreement.data.tables import load, load_lemmas  # noqa: F401
from tse_scorers.suites.agreement.options import AgreementOptions
from tse_scorers.suites.agreement.tables import lemma_tables, score_tables
from tse_scorers.suites.gaps import score_columns, score_gaps  # noqa: F401


def score_contexts(scorer, pairs, lemmas, progress=None, user_columns=(), options=None):
    """Return `contexts`, `pairs`, `outcomes`, `lemmas` and `listed` as tables."""
    options = options or AgreementOptions()
    scored = score_gaps(scorer, pairs, lemmas, options.whole_words, progress)
    tables = score_tables(scored, pairs, user_columns, options.whole_words)
    lists = lemma_tables(scored.listings, options.forms, options.word_end_for(scorer))
    return SimpleNamespace(**tables, **lists)
