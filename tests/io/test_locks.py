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


def test_the_folder_of_a_lock_may_be_removed_by_the_process_that_had_it(tmp_path, monkeypatch):
    """Two processes that began at once: one failed with "No such file or directory" as the other ended."""
    path = tmp_path / "new" / "lock"
    removals, open_file = iter([path.parent.rmdir]), os.open

    def opened(*arguments):
        for remove in removals:
            remove()
        return open_file(*arguments)

    monkeypatch.setattr(os, "open", opened)
    with held(path, "the scores"):
        assert path.exists()
    assert not path.parent.exists()
