"""The models that answer questions about texts.

In reading order:

    queries.py          the questions about one text; the gap (`Slot`)
    base.py             the protocols that scorers implement
    answers.py          checks what a scorer answers
    options.py          options for loading and querying a model
    model_source.py     finds a model: in a folder, the package, or the Hub
    from_pretrained.py  describes a named model, and loads its weights
    quantization.py     quantized weights
    own_model.py        functions from ids to logits as models
    start_tokens.py     the token that a sentence begins with
    forms.py            words of several tokens at a gap, as steps that forms share
    pretrained.py       the common part of masked and causal scorers
    causal.py           causal models: the chain rule, shared prefixes computed once
    masked.py           masked models: pseudo-log-likelihoods, and one mask token at a gap
    seq2seq.py          encoder-decoder models: the decoder as a causal model
    tokens.py           maps texts to words and tokens
    words.py            splits texts into words for LSTMs and n-gram models
    revisions.py        the checkpoints of one model, and whether they are complete
    lstm/               LSTMs as models of `transformers`, and converters from published checkpoints
    ngram/              n-gram models: our own, and files of KenLM
"""
