"""One module for each data set of the bundle, each with `build(source)`, and what they share.

Data sets:

    verb_lemmas.py                the verb lemmas of Newman et al. (2021), and of four more languages
    agreement_templates.py        the agreement pairs of Marvin & Linzen (2018), and of CLAMS in four languages
    blimp_agreement.py            the agreement pairs of BLiMP
    published_results.py          numbers from papers
    blimp_human_judgments.py      the judgments that validated BLiMP
    blimp_critical_words.py       where the words of BLiMP's prefix methods are
    german_argument_structure.py  German sentences with three arguments
    german_human_judgments.py     human judgments of these

Shared:

    upstream.py        files of other projects, pinned by commit and checksum
    grammar.py         minimal pairs from a grammar of patterns
    agreement.py       the columns of agreement pairs
    inflection.py      the third person present of English verbs
    lemma_lists.py     the verb lemmas of German, French, Russian and Hebrew
    german_verbs.py, french_verbs.py, russian_verbs.py, hebrew_verbs.py
                       the rules that inflect them
    check_lemmas.py    a command that compares them with a second source
    german_grammar.py  German noun phrases and sentences
"""

NAMES = (
    "verb_lemmas",
    "agreement_templates",
    "blimp_agreement",
    "published_results",
    "blimp_human_judgments",
    "blimp_critical_words",
    "german_argument_structure",
    "german_human_judgments",
)


class SourceMissing(ValueError):
    """The upstream files that a data set is built from are missing; the message says how to get them."""
