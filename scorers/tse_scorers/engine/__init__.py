"""Runs models over texts and computes nothing twice.

plan.py       texts as a prefix tree, its rows and batches
forward.py    one batch through the model, the output layer only at the places that are read
run.py        all batches of a plan, within the memory; readers turn logits into records
probe.py      whether a causal model looks back only, and can be run along packed rows
progress.py   how far a piece of work has come
journal.py    finished answers on disk, to continue after a stop
processes.py  several processes: shares, failures, common decisions, collected answers
meeting.py    notices within seconds that only some processes came
sharding.py   models whose parameters are sharded over processes
"""
