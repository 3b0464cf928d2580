"""How the push scripts publish to the Hub: check, compare, commit, read back, tag.

cards.py      checks of cards and of the data or code that they describe
client.py     a repository as it should be, how it differs from the Hub's, and the commit that changes it
publish.py    options, order of steps and error messages of all push scripts
read_back.py  loads what was pushed in a fresh process
"""
