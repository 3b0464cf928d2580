"""Which columns of own data are the user's."""

from types import SimpleNamespace

import pandas as pd

from tse_scorers.runs.request import users_columns


def test_columns_that_another_package_adds_when_it_loads_are_no_users(tmp_path):
    """Columns that `load` had added were called the user's."""
    table = tmp_path / "mine.csv"
    pd.DataFrame({"text": ["A b."], "freq": [1]}).to_csv(table, index=False)
    items = SimpleNamespace(own_columns=(), frame=pd.DataFrame(columns=["text", "frequency", "n_words"]))
    options = SimpleNamespace(data=str(table), renamed_columns={"freq": "frequency"})
    suite = SimpleNamespace(name="of_a_package", items=items, options=options)
    assert users_columns(suite) == ["text", "frequency"]
    suite.options.data = str(tmp_path / "absent.csv")
    assert users_columns(suite) == []
    suite.name = "minimal_pairs"
    assert users_columns(suite) == ["text", "frequency", "n_words"]
