"""What the README shows works as it is written: its Python runs, its commands exist and take those options."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from tse_scorers.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
COMMANDS = [
    command.strip()
    for line in re.findall(r"^    (.*)$", README, re.MULTILINE) + re.findall(r"`(tse [^`]+)`", README)
    for command in re.sub(r"^accelerate launch -m tse_scorers ", "tse ", line).split("&&")
    if command.strip().startswith("tse ")
]
# What the block on training loops takes as given: a Trainer, its model and its tokenizer.
GIVEN = """
import sys
sys.path.insert(0, {tests!r})
from tiny import SENTENCES
from small_training import fresh_model
from transformers import DataCollatorForLanguageModeling, Trainer, TrainingArguments

model, tokenizer = fresh_model()
rows = [{{"input_ids": ids}} for ids in tokenizer(SENTENCES)["input_ids"]]
arguments = TrainingArguments(
    "trainer", max_steps=1, eval_strategy="steps", eval_steps=1, report_to=[], use_cpu=True, save_strategy="no"
)
collator = DataCollatorForLanguageModeling(tokenizer, mlm=False)
data = {{"data_collator": collator, "train_dataset": rows, "eval_dataset": rows[:2]}}
trainer = Trainer(model, arguments, processing_class=tokenizer, **data)
"""
AFTER = """
assert {"eval_tse/tse", "eval_tse/ew", "eval_tse/mw"} <= set().union(*trainer.state.log_history)
assert set(scores) >= {"tse/tse", "tse/ew", "tse/mw"}
"""


@pytest.fixture
def checkout(tmp_path) -> Path:
    """A folder that looks like the checkout's root, so that nothing is written into the real one."""
    for name in ("datasets", "metrics"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def test_every_block_of_python_runs_offline(checkout):
    """All in one process, each in a namespace of its own."""
    assert len(BLOCKS) >= 6
    blocks = [
        f"{GIVEN.format(tests=str(ROOT / 'tests/support'))}{block}{AFTER}" if "trainer." in block else block
        for block in BLOCKS
    ]
    program = f"for block in {blocks!r}:\n    exec(compile(block, block, 'exec'), {{'__name__': 'readme'}})"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    offline = {"HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1", "HF_ENDPOINT": "http://127.0.0.1:9"}
    own = {"HF_HOME": str(checkout / "hf"), "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env=kept | offline | own,
        cwd=checkout,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert (checkout / "simple" / "report.html").is_file()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_its_options(command):
    _, name, *arguments = shlex.split(command, comments=True)
    group = get_command(app)
    known = group.get_command(group.make_context("tse", ["--help"], resilient_parsing=True), name)
    assert known is not None, f"there is no command {name}"
    known.make_context(name, arguments)


def test_every_command_is_shown():
    shown = {shlex.split(command, comments=True)[1] for command in COMMANDS}
    assert shown == set(get_command(app).commands)
