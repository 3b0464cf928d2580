"""Targeted syntactic evaluation of language models: scorers for the refined-tse data sets and metrics."""
