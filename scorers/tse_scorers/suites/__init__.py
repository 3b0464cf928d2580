"""From a data set to results.

suite.py          what `tse run` drives: a suite by its name;  *_suite.py  each with its data and options
sampling.py       a share or a sample of the data that stands for the whole
tables.py         a user's table, read and checked
agreement*.py     TSE, EW and MW at gaps;  top_forms.py  what a model would say there
blimp*.py         accuracy on minimal pairs
german.py         AUC of variation sets

The scores are defined in the metrics' modules; what is done here is asking models and averaging.
"""
