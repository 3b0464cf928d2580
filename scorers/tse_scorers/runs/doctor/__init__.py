"""Is a model read and computed correctly?

checks.py       `tse doctor`: all checks of a model
inputs.py       the checks of its inputs
computation.py  the checks of its computation
diagnosis.py    one verdict on a model
"""
