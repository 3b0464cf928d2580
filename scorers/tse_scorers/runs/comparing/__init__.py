"""Differences between systems and between conditions.

paired_scores.py  the measures of two systems on the same data, unless they were run differently
conditions.py     scores and contrasts of conditions within each system
compare.py        `tse compare`: differences between systems on the same items
"""
