"""How the bundled tiny models are made: `python push_scripts/train_tiny_models.py`.

corpus.py     random sentences from a grammar, endless and the same for the same seed
base.py       what a task is: a model, its tokenizer, its batches and its loss
tasks.py      the tiny masked and the tiny causal Transformer
lstm.py       the tiny LSTM
languages.py  the text and the tiny models of German, French, Russian and Hebrew
loop.py       train a task, and save it with its training curve
"""
