"""Papers: their tables and figures on our results, and published tables next to our numbers. The core imports none.

papers.py     the papers that can be reproduced (reproductions.json)
reproduce.py  `tse reproduce`: published tables beside our numbers
fetch.py      `tse fetch`: data of published tables that is not shipped
published.py  published numbers

newman2021/      tables and figures of Newman et al. (2021), on results of the suite `agreement`
warstadt2020/    tables and figures of Warstadt et al. (2020), on results of the suite `minimal_pairs`
rochereau2020/   tables and figures of Rochereau et al. (2020), on results of the suite `german`

The folders reach report and explorer by entry points of the group `tse_scorers.analyses`.
"""
