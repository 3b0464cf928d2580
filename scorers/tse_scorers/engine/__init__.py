"""Every answer from the least work.

Plan over the whole data set, run each distinct input once, read only what is asked.

    trie.py     equal prefixes of causal inputs become one node; nodes are packed into rows
    plan.py     rows of similar length become batches of a token budget
    forward.py  one batch through the model, the output layer only at the positions that are read
    layers.py   the layers of a model: compiled, or the last of them only where it is read
    read.py     from logits to the numbers asked for
    journal.py  finished answers on disk, to go on after a stop
    run.py      the loop: memory, processes, progress
"""
