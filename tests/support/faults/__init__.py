"""The table of faults: what is done wrong, and the outcome that is stated for it.

| module | a row is | outcome |
|---|---|---|
| `commands` | a command line | exit code and words; no score |
| `damage` | damage to a file that a run left | refused by name, or made again, equal to what was there |
| `tables` | a change of a user's table | refused with the rows named, or counted and said |
| `ngrams` | a change of an n-gram model's file | refused |
| `scorers` | what a scorer of one's own answers | refused |
"""
