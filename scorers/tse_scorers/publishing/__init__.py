"""`tse publish`: a run's results where people look for them, in a model's repository and in a data set of results.

    org/model                .eval_results/refined_tse_SUITE_CONFIG.yaml   scores over whole released data sets
    datasets/org/results     data/HASH.parquet                             every row with its signature

A file of the data set holds one model on one suite and is named by the hash of its rows and their signature. So
publishing twice adds nothing, publishing again after another model has run adds that model's rows, and no file is ever
replaced. The entries of a model are replaced by those of its next run.

    publications.py     what goes where, and which of a run's models a repository holds
    entries.py          a run's results as entries of a model's repository
    benchmark_tasks.py  eval.yaml: the tasks that entries name
    results_dataset.py  a run's results as files of a data set
    sending.py          to the Hub, if the token may write there
    install_metrics.py  metrics in the cache of `evaluate`
"""

from .publications import Publication, publications
from .sending import publish

__all__ = ["Publication", "publications", "publish"]
