"""Runs models over texts and computes nothing twice.

It plans over the whole data set, runs each distinct input once, and reads only the positions that are asked for.

In reading order:

    arrays.py         array types, and arithmetic on rows of different lengths
    trie.py           equal prefixes of causal inputs become one node; nodes are packed into rows
    plan.py           rows of similar length become batches of a token budget
    layers.py         the layers of a model: compiles them, or runs the last one only at read positions
    sharding.py       models whose parameters are sharded over processes
    distributions.py  the output layer's distributions, computed only as far as they are read
    forward.py        one batch through the model, the output layer only at the positions that are read
    readers.py        from logits to answers
    progress.py       work in parts, and how far it has come
    journal.py        finished answers on disk, to continue after a stop
    processes.py      several processes: shares, failures, common decisions, collected answers
    meeting.py        notices within seconds that only some processes came
    run.py            BatchRunner: joins plan, forward pass and reader
    tree_probe.py     whether a model's scores stay the same along packed rows

A new kind of question is a method of the scorer that makes a plan (which ids, which positions are read) and a
reader (which numbers each position gives), as `read_slots` in `causal.py` and `masked.py` does. A new kind of
packing is a plan.
"""
