"""Several processes and one place: a second one waits, or says which process it would have to wait for."""

import os
import threading

import pytest

from tse_scorers.io.locks import BusyError, held


def test_a_second_run_of_the_same_model_waits(tmp_path):
    path, told, entered = tmp_path / "lock", [], threading.Event()
    with held(path, "the scores"):
        with pytest.raises(BusyError, match=rf"process {os.getpid()} .*the scores.*--out"):
            with held(path, "the scores"):
                raise AssertionError("two hold it")

        def second():
            with held(path, "the scores", told.append):
                entered.set()

        waiting = threading.Thread(target=second)
        waiting.start()
        assert not entered.wait(1.0) and "Waiting until it ends" in told[0]
    assert entered.wait(10)
    waiting.join()
    assert not path.exists()
