"""Papers: their tables and figures on our results, and published tables next to our numbers. The core imports none.

papers.py     the papers that can be reproduced (reproductions.json)
reproduce.py  `tse reproduce`: published tables beside our numbers
fetch.py      `tse fetch`: data of published tables that is not shipped
published.py  published numbers, as tables
numbers.py    published numbers that `tse reproduce` compares ours with: what each paper declares
hu2020.py     those of Hu et al. (2020)

newman2021/      tables and figures of Newman et al. (2021), on results of the suite `agreement`
warstadt2020/    tables and figures of Warstadt et al. (2020), on results of the suite `minimal_pairs`
rochereau2020/   tables and figures of Rochereau et al. (2020), on results of the suite `german`

The report finds the folders by the name of their suite (`suites/registry.py`).
"""
