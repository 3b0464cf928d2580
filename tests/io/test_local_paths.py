"""Paths and addresses that belong to one machine, and the names that stand for them."""

import pytest

from tse_scorers.io.local_paths import require_distinct


def test_two_servers_of_one_model_are_not_mixed_up():
    require_distinct(["http://a/v1#m", "http://a/v1#n", "org/m", "http://a/v1#m"])
    with pytest.raises(ValueError, match=r"named remote#m.*one folder"):
        require_distinct(["http://a/v1#m", "http://b/v1#m"])
