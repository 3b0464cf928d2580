"""Papers: their tables and figures on our results, and published tables next to our numbers. The core imports none.

published.py      published numbers, as rows
papers.py         the papers that can be reproduced (reproductions.json)
reproduce.py      `tse reproduce`: published tables beside our numbers
fetch.py          `tse fetch`: data of published tables that is not shipped
newman2021.py     tables and figures of Newman et al. (2021), on results of the suite `agreement`
warstadt2020.py   those of Warstadt et al. (2020), of `minimal_pairs`
rochereau2020.py  those of Rochereau et al. (2020), of `german`
hu2020.py         those of Hu et al. (2020), of `regions`

The report finds a paper by the name of its suite (`suites/registry.py`).
"""
