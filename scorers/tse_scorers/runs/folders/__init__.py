"""Many output folders.

watch.py    `tse watch`: checkpoints as they appear
collect.py  `tse collect`: the output folders of many jobs, joined
merge.py    `tse merge`: the shards of a run, put together
"""
