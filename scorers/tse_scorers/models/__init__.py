"""The models that answer questions about texts.

scorer.py        the contract: what a model is asked, and how answers are checked
text.py          checked texts; which tokens belong to a word
options.py       options for loading and querying a model
model_source.py  finds a model: in a folder, the package, or the Hub; the checkpoints of a series
load.py          loads a model of `transformers` by its name
own_model.py     functions from ids to logits as models, and the decoders of encoder-decoder models
pretrained.py    the common part of masked and causal scorers
causal.py        causal models: the chain rule, start tokens, shared prefixes computed once
masked.py        masked models: pseudo-log-likelihoods, and one mask token at a gap
words.py         splits texts into words for LSTMs and n-gram models
lstm.py          LSTMs as models of `transformers`; lstm_convert.py converts published checkpoints
ngram.py         unigram and bigram models, and their training
"""
