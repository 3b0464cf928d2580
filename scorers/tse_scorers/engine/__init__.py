"""Runs models over texts and computes nothing twice.

plan.py       texts as a prefix tree, its rows and batches
forward.py    one batch through the model, the output layer only at the places that are read
run.py        all batches of a plan, within the memory; readers turn logits into records
probe.py      whether a causal model looks back only, and can be run along packed rows
progress.py   how far a piece of work has come
"""
