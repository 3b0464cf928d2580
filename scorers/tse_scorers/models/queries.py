"""What can be asked of a model about one text.

Three kinds of question, all answered in natural logs:

* log P(sentence): a string;
* log P(continuation | prefix): two strings, the single space between them is the scorer's business;
* the distribution at the gap of a sentence: a `Slot`.
"""

from typing import NamedTuple


class Slot(NamedTuple):
    """A sentence with a gap for one word: `prefix`, the word with a space before it, `suffix`.

    Attributes:
        prefix: what stands before the gap, without a space at its end, for instance `The author`. With an empty
            one the word opens the sentence: no space before it, and a capital.
        suffix: what follows the word at once, for instance ` tall.` or `.`; a causal model does not see it.
    """

    prefix: str
    suffix: str
