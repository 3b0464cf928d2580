"""The table of faults: what is done wrong, and the outcome that is stated for it.

| module | a row is | outcome |
|---|---|---|
| `commands` | a command line | exit code and words; no score |
| `damage` | damage to a file that a run left | refused by name, or made again, equal to what was there |
| `tables` | a change of a user's table | refused with the rows named, or counted and said |
| `ngrams` | a change of an n-gram model's file | refused |
| `scorers` | what a scorer of one's own answers | refused |

`COUNTS` has the number of rows of each kind; the documentation's page of reliability shows it.
"""

from .commands import FILES, FOLDERS, OPTIONS
from .damage import RESULTS, SCORES, SHARDS, UNEXPECTED
from .ngrams import NGRAMS
from .scorers import ANSWERS
from .tables import (
    REFUSED_AGREEMENT,
    REFUSED_PAIRS,
    REFUSED_PUBLISHED,
    SAID_AGREEMENT,
    SAID_PAIRS,
)

COUNTS = {
    "wrong commands and options": len(OPTIONS),
    "files that cannot be used": len(FILES),
    "folders that cannot be used": len(FOLDERS),
    "tables of agreement pairs, refused": len(REFUSED_AGREEMENT),
    "tables of agreement pairs, counted and said": len(SAID_AGREEMENT),
    "tables of minimal pairs, refused": len(REFUSED_PAIRS),
    "tables of minimal pairs, counted and said": len(SAID_PAIRS),
    "published scores, refused": len(REFUSED_PUBLISHED),
    "answers of a scorer, refused": len(ANSWERS),
    "changed n-gram models, refused": len(NGRAMS),
    "damaged results.json": 2 * len(RESULTS),  # each is read by `tse report` and by `tse publish`
    "damaged files of scores": len(SCORES),
    "shards that do not fit": len(SHARDS),
    "errors that nobody expected": len(UNEXPECTED),
}
