"""One module per data set of the bundle; each has `build(source)`."""

NAMES = (
    "verb_lemmas",
    "agreement_templates",
    "blimp_agreement",
    "published_results",
    "blimp_human_judgments",
    "german_argument_structure",
    "german_human_judgments",
)


class SourceMissing(ValueError):
    """The upstream files that a data set is built from are not there; the message says how to get them."""
