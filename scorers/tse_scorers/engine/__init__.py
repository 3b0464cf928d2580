"""Every answer from the least work.

Plan over the whole data set, run each distinct input once, read only what is asked.

    trie.py           equal prefixes of causal inputs become one node; nodes are packed into rows
    tree_probe.py     whether a model's scores stay the same along packed rows
    plan.py           rows of similar length become batches of a token budget
    forward.py        one batch through the model, the output layer only at the positions that are read
    layers.py         the layers of a model: compiled, or the last of them only where it is read
    distributions.py  what the output layer gives, computed as far as it is read
    read.py           from logits to the numbers asked for
    journal.py        finished answers on disk, to go on after a stop
    processes.py      several processes: shares, failures told, one answer to what all ask, answers put together
    run.py            the loop: memory, processes, progress

A new question to a model is a method of its scorer that makes a plan (which ids, which places are read) and a
reader (which numbers a read gives), as `read_slots` in `causal.py` and `masked.py` does. A new packing is a plan.
"""
