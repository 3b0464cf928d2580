"""What answers questions about texts.

In reading order:

    queries.py          what can be asked about one text: the gap (`Slot`)
    base.py             the protocols: what a scorer can do
    options.py          how a model is loaded and asked
    model_source.py     where a model is: a folder, the package, or the Hub
    from_pretrained.py  from a name to weights in memory
    pretrained.py       what masked and causal scorers share
    causal.py           causal models: the chain rule, shared prefixes computed once
    masked.py           masked models: pseudo-log-likelihoods, and one mask token at a gap
    tokens.py           between texts, their words and their tokens
    words.py            what a word is for LSTMs and n-gram models
    revisions.py        the checkpoints of one model
    lstm/               LSTMs as models of `transformers`, and converters from published checkpoints
    ngram/              n-gram models: our own, and files of KenLM
"""
