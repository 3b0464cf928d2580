"""Published tables beside our numbers. Only commands import this.

papers.py     the papers that can be reproduced (reproductions.json)
reproduce.py  `tse reproduce`: published tables beside our numbers
fetch.py      `tse fetch`: data of published tables that is not shipped
"""
