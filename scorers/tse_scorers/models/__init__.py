"""The models that answer questions about texts.

scorer.py        the contract: what a model is asked, and how answers are checked
text.py          checked texts; which tokens belong to a word
words.py         splits texts into words for LSTMs and n-gram models
options.py       options for loading and querying a model
model_source.py  finds a model: in a folder, the package, or the Hub
load.py          loads a model of `transformers` by its name
own_model.py     functions from ids to logits as models
start_tokens.py  the token that a sentence begins with
pretrained.py    the common part of masked and causal scorers
forms.py         words of several tokens at a gap, as steps that forms share
causal.py        causal models: the chain rule, shared prefixes computed once
masked.py        masked models: pseudo-log-likelihoods, and one mask token at a gap
seq2seq.py       encoder-decoder models: the decoder as a causal model
revisions.py     the checkpoints of one model
lstm/            LSTMs as models of `transformers`, and converted checkpoints
ngram/           n-gram models: our own, their training, and files of KenLM
"""
