"""From a data set to results: one module per suite, each with `load` and `evaluate`."""
