"""Speed of this package and of other tools on the same work, in one run: `python -m benchmarks`.

options.py data.py models.py   the options, the sentences and the models
peers.py                       minicons and lm-eval
sentences.py gaps.py           comparisons: all tools on the same work
scaling.py dtypes.py memory.py processes.py metric_cost.py   what one answer costs, and whether it stays the same
series.py                      what one more checkpoint costs in a long series
machine.py work.py             matrix products a second, memory; what a run computed
cpu.py gpu.py                  the benchmarks by name
gpu_checks.py gpu_session.py   determinism, compiling, memory; all of it on a GPU in one call
tables.py                      results for people
"""
