"""What a package that adds a suite imports; the reference page "Extension contracts" explains each name."""

from .io.result_row import ResultRow
from .io.results import CannotAggregateError
from .io.score_columns import Values, described
from .io.table_files import require_among, require_columns, require_text, require_words
from .models.answers import continuation_logprobs, sentence_logprobs, word_logprobs
from .models.base import ContinuationScorer, GapScorer, Scorer, TokenCounter, WordScorer
from .report.blocks import Chart, Control, ScoredItems, View
from .report.inputs import Runs, ScoreFile
from .report.tables import Table
from .statistics import Estimate, Units, correlation
from .suites.analyses import Analyses
from .suites.checks import Finding
from .suites.contract import Items, KnownData, Measure, Scored, Shown, Suite, Text
from .suites.hub_data import ReleasedData, own_table
from .suites.item_files import files_of, items_of_rows, read_files
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
    "Analyses",
    "CannotAggregateError",
    "Chart",
    "ContinuationScorer",
    "Control",
    "Estimate",
    "Finding",
    "GapScorer",
    "Group",
    "Items",
    "KnownData",
    "Measure",
    "ReleasedData",
    "ResultRow",
    "Runs",
    "ScoreFile",
    "Scored",
    "ScoredItems",
    "Scorer",
    "Shown",
    "Suite",
    "SuiteOptions",
    "Table",
    "Text",
    "TokenCounter",
    "Units",
    "Values",
    "View",
    "WordScorer",
    "config_option",
    "continuation_logprobs",
    "correlation",
    "data_option",
    "described",
    "files_of",
    "groups_option",
    "items_of_rows",
    "limit_option",
    "option",
    "own_table",
    "read_files",
    "require_among",
    "require_columns",
    "require_text",
    "require_words",
    "sentence_logprobs",
    "source_option",
    "word_logprobs",
]
