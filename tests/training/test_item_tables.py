"""Scores of items as tables of W&B and Trackio."""

import sys
from types import ModuleType

import pandas as pd
import pyarrow as pa
import pytest
from small_training import make_trainer, train

from tse_scorers import SyntaxEvaluationCallback
from tse_scorers.training.trainer import log_item_tables

PAIRS = 36


class Stub(ModuleType):
    """Stands for `wandb` or `trackio`: remembers what was logged."""

    def __init__(self, name):
        super().__init__(name)
        self.logged = []

    def Table(self, dataframe):
        assert isinstance(dataframe, pd.DataFrame)
        return dataframe

    def log(self, values):
        self.logged.append(values)


@pytest.mark.parametrize("reporter", ["wandb", "trackio"])
def test_each_evaluation_logs_its_items(tmp_path, monkeypatch, reporter):
    stub = Stub(reporter)
    monkeypatch.setitem(sys.modules, reporter, stub)
    trainer = make_trainer(tmp_path)
    trainer.args.report_to = [reporter]  # after the Trainer was made, so that it does not start a run itself
    SyntaxEvaluationCallback(budget=PAIRS, log_items=True).add_to(trainer)
    trainer.train()
    assert [values["train/global_step"] for values in stub.logged] == [2, 4]
    for values, step in zip(stub.logged, (2, 4), strict=True):
        pairs = values["tse_items/agreement.marvin_linzen.pairs"]
        entry = next(e for e in trainer.state.log_history if e["step"] == step and "eval_tse/tse" in e)
        assert len(pairs) == PAIRS
        assert pairs["tse"].mean() == pytest.approx(entry["eval_tse/tse"])
        contexts = values["tse_items/agreement.marvin_linzen.contexts"]
        assert {"prefix", "ew_top_1", "mw_top_1"} <= set(contexts.columns)
        assert {name.rpartition(".")[2] for name in values if "items" in name} == {
            "contexts",
            "pairs",
            "top_forms",
        }


@pytest.mark.slow
@pytest.mark.parametrize("reporter", ["wandb", "trackio"])
def test_the_packages_themselves_take_the_tables(tmp_path, monkeypatch, reporter):
    for name, value in {"WANDB_MODE": "offline", "WANDB_DIR": tmp_path, "TRACKIO_DIR": tmp_path}.items():
        monkeypatch.setenv(name, str(value))
    module = pytest.importorskip(reporter, reason=f"needs {reporter}")
    module.init(project="syntax")
    items = {"german": pa.table({"sentence": ["Der Hund bellt."], "logprob": [-9.5]})}
    log_item_tables([reporter], items, step=2)
    module.finish()
    assert any(path.is_file() for path in tmp_path.rglob("*"))


def test_without_a_reporter_of_tables_it_fails_before_training(tmp_path):
    with pytest.raises(ValueError, match=r"log_items=True .*report_to is \[\].*report_to=\['wandb'\]"):
        train(tmp_path, SyntaxEvaluationCallback(budget=PAIRS, log_items=True))
