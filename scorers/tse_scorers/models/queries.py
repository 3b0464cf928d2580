"""Questions about one text that a model answers.

There are three kinds of question; all answers are natural logs:

* log P(sentence): a string;
* log P(continuation | prefix): two strings; the scorer adds one space between them, unless there is white space;
* the distribution at the gap of a sentence: a `Slot`.
"""

from typing import NamedTuple


class Slot(NamedTuple):
    """A sentence with a gap for one word: `prefix`, the word with a space before it, `suffix`.

    Attributes:
        prefix: the text before the gap, without a space at its end, for instance `The author`. If it is
            empty, the word opens the sentence, with a capital and without a space before it.
        suffix: the text right after the word, for instance ` tall.` or `.`; a causal model does not see it.
    """

    prefix: str
    suffix: str


CARRIER = Slot("The author", ".")
"""A neutral sentence. Words are put into its gap to find out which of them are single tokens."""
