"""What a package that adds a suite imports; the reference page "Extension contracts" explains each name."""

from .io.score_columns import Values, described
from .io.table_files import require_among, require_columns, require_text, require_words
from .models.answers import continuation_logprobs, sentence_logprobs, word_logprobs
from .models.base import ContinuationScorer, GapScorer, Scorer, TokenCounter, WordScorer
from .statistics import Estimate, Units, correlation
from .suites.checks import Finding
from .suites.contract import Items, KnownData, Measure, Scored, Shown, Suite, Text
from .suites.hub_data import own_table
from .suites.items import Group
from .suites.options import (
    SuiteOptions,
    config_option,
    data_option,
    groups_option,
    limit_option,
    option,
    source_option,
)

__all__ = [
    "ContinuationScorer",
    "Estimate",
    "Finding",
    "GapScorer",
    "Group",
    "Items",
    "KnownData",
    "Measure",
    "Scored",
    "Scorer",
    "Shown",
    "Suite",
    "SuiteOptions",
    "Text",
    "TokenCounter",
    "Units",
    "Values",
    "WordScorer",
    "config_option",
    "continuation_logprobs",
    "correlation",
    "data_option",
    "described",
    "groups_option",
    "limit_option",
    "option",
    "own_table",
    "require_among",
    "require_columns",
    "require_text",
    "require_words",
    "sentence_logprobs",
    "source_option",
    "word_logprobs",
]
