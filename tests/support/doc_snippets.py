"""The code of the documentation, found and run.

A page is one session: its blocks run in order, in one folder and one namespace.

* ```` ```python ```` runs.
* ```` ```bash ```` is parsed: each `tse …` line must be a command with these options. Where an output follows, it
  runs.
* ```` ```text title="Output" ```` is what the block before it prints; spaces may differ, and `[…]` stands for anything.
* any other block with a title that is a file name becomes that file, which later blocks can import.
* `<!-- not run: reason -->` above a block leaves it out; `<!-- setup: NAME -->` prepares what a page takes as given.

    python tests/support/doc_snippets.py REPORT FOLDER PAGE…

runs pages and writes what went wrong and what was printed to REPORT (JSON).
"""

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(
    r"^(?:[ \t]*<!-- not run: (?P<reason>[^\n]+?) -->\n+)?"
    r"^(?P<indent>[ \t]*)```(?P<language>\w+)(?:[ \t]+title=\"(?P<title>[^\"]+)\")?[^\n`]*\n"
    r"(?P<content>.*?)^(?P=indent)```[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_BETWEEN = re.compile(r"(?:&&|;|\|)(?=(?:[^']*'[^']*')*[^']*$)")
"""What separates commands: not between single quotes."""
LAUNCHERS = (
    r"accelerate launch(?: --\S+ \d+)* -m tse_scorers ",
    r"torchrun(?: --\S+ \d+)* -m tse_scorers ",
    r"srun ",
)

_TRAINING = """
import sys
sys.path.insert(0, {tests!r})
from tiny import SENTENCES
from small_training import fresh_model
from transformers import DataCollatorForLanguageModeling, PrinterCallback, Trainer, TrainingArguments

model, tokenizer = fresh_model()
rows = [{{"input_ids": ids}} for ids in tokenizer(SENTENCES)["input_ids"]]
arguments = TrainingArguments(
    "trainer", max_steps=2, eval_strategy="steps", eval_steps=1, report_to=[], use_cpu=True, save_strategy="no",
    disable_tqdm=True,
)
collator = DataCollatorForLanguageModeling(tokenizer, mlm=False)
data = {{"data_collator": collator, "train_dataset": rows, "eval_dataset": rows[:2]}}
trainer = Trainer(model, arguments, processing_class=tokenizer, **data)
trainer.remove_callback(PrinterCallback)
"""
_LOGS = """
import shutil
shutil.copytree({logs!r}, "lm_eval")
"""
SETUPS = {
    "training": _TRAINING.format(tests=str(ROOT / "tests" / "support")),
    "logs": _LOGS.format(logs=str(ROOT / "tests" / "golden" / "lm_eval")),
}
"""What a page takes as given, by the name that its comment says."""
EMPTY_PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="1pt"/>'


@dataclass(frozen=True)
class Block:
    """A block of code. `start` and `stop` are where its content is in the page."""

    language: str
    title: str
    content: str
    not_run: str
    line: int
    start: int
    stop: int
    indent: str


def blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    return [
        Block(
            language=match["language"],
            title=match["title"] or "",
            content=textwrap.dedent(match["content"]),
            not_run=match["reason"] or "",
            line=text.count("\n", 0, match.start("language")) + 1,
            start=match.start("content"),
            stop=match.end("content"),
            indent=match["indent"],
        )
        for match in _BLOCK.finditer(text)
    ]


def commands(script: str, *starts: str) -> list[str]:
    """Return the `tse …` commands (or `starts`) of a shell block, without launchers, comments and continued lines.

    >>> commands("tse run --criteria '(2;%a%) > 0' && tse report out")
    ["tse run --criteria '(2;%a%) > 0'", 'tse report out']
    """
    lines = re.sub(r"\\\n\s*", "", script).splitlines()
    parts = [part.strip() for line in lines for part in _BETWEEN.split(line.split(" #")[0])]
    for launcher in LAUNCHERS:
        parts = [re.sub(rf"^{launcher}", "tse ", part) for part in parts]
    return [part.replace("tse tse ", "tse ") for part in parts if part.startswith(starts or "tse ")]


def same_output(expected: str, found: str) -> bool:
    """Whether two outputs are the same but for spaces, what `[…]` stands for, and what differs between processors.

    Float32 sums differ in their last bits: a decimal number may differ by one in the last digit shown, and two equal
    log-probabilities among 100,000 may not be equal elsewhere. Counts, and how many digits there are, are the same.

    >>> same_output("EW 0.50 of […] kB", "EW  0.50 of 12 kB"), same_output("EW 0.50", "EW 0.51; ties 1")
    (True, True)
    >>> [same_output("EW 0.50, n 12", other) for other in ("EW 0.52, n 12", "EW 0.501, n 12", "EW 0.50, n 13")]
    [False, False, False]
    """
    left, right = (
        re.sub(r"\s+", " ", re.sub(r";\s+ties\s+1\b", "", text)).strip() for text in (expected, found)
    )
    decimal = r"\d+\.\d+"
    parts = re.split(rf"({decimal}|\[…\])", left)
    patterns = [
        ".*?" if part == "[…]" else f"({decimal})" if re.fullmatch(decimal, part) else re.escape(part)
        for part in parts
    ]
    match = re.fullmatch("".join(patterns), right)
    if match is None:
        return False
    for shown, printed in zip(re.findall(decimal, left), match.groups(), strict=True):
        digits = Decimal(shown).as_tuple().exponent
        if (
            Decimal(printed).as_tuple().exponent != digits
            or abs(Decimal(shown) - Decimal(printed)).scaleb(-digits) > 1
        ):
            return False
    return True


def with_outputs(text: str, printed: dict[int, str]) -> str:
    """Return a page whose outputs (by line) are what was printed."""
    for block in reversed(blocks(text)):
        if block.line in printed:
            new = textwrap.indent(
                printed[block.line].rstrip() + "\n", block.indent, lambda line: bool(line.strip())
            )
            text = text[: block.start] + new + text[block.stop :]
    return text


def run_page(path: Path, folder: Path) -> Iterator[dict[str, Any]]:
    """Run a page in a folder; yield each failure (`line`, `error`) and each output (`line`, `expected`, `found`)."""
    text = path.read_text(encoding="utf-8")
    found = blocks(text)
    sys.path.insert(0, str(folder))
    namespace: dict[str, Any] = {"__name__": path.stem}
    for setup in re.findall(r"<!-- setup: (\w+) -->", text):
        exec(compile(SETUPS[setup], setup, "exec"), namespace)
    for block, after in zip(found, [*found[1:], None], strict=False):
        output = after if after is not None and after.title == "Output" else None
        if block.not_run or block.title == "Output":
            continue
        try:
            printed = _run_block(block, namespace, folder, has_output=output is not None)
        except BaseException:
            yield {"line": block.line, "error": traceback.format_exc()[-3000:]}
            return
        if output is not None:
            yield {"line": output.line, "expected": output.content, "found": printed}


def _run_block(block: Block, namespace: dict[str, Any], folder: Path, has_output: bool) -> str:
    printed = io.StringIO()
    is_file = re.fullmatch(r"[\w-]+\.\w+", block.title) is not None
    if block.language == "python" and not is_file:
        with contextlib.redirect_stdout(printed):
            exec(compile(block.content, f"line {block.line}", "exec"), namespace)
    elif block.language == "bash" and has_output:
        with contextlib.redirect_stdout(printed):
            for command in commands(block.content, "tse ", "mkdir ", "cp "):
                if command.startswith("tse "):
                    _run_command(command)
                else:
                    subprocess.run(command, shell=True, check=True)
    elif is_file:
        (folder / block.title).write_text(block.content, encoding="utf-8")
    return "\n".join(line.rstrip() for line in printed.getvalue().splitlines() if line.strip())


def _run_command(command: str) -> None:
    from tse_scorers.cli import main

    before, sys.argv = sys.argv, shlex.split(command)
    try:
        main()
    except SystemExit as stop:
        if stop.code:
            raise RuntimeError(f"{command!r} ended with {stop.code}") from stop
    finally:
        sys.argv = before


def draft(plot: Any) -> str:
    """Stand for `tse_scorers.report.page.svg`: draw a figure, but write an empty one."""
    from tse_scorers.report.draw import draw

    draw(plot)
    return EMPTY_PICTURE


def main(report: Path, folder: Path, pages: list[Path]) -> None:
    """Run pages, each in an empty folder of its own."""
    patch("tse_scorers.report.page.svg", draft).start()  # writing SVG and PNG is most of a run's time
    results: dict[str, Any] = {}
    for page in pages:
        own = folder / f"{len(results)}-{page.stem}"
        own.mkdir(parents=True)
        os.chdir(own)
        results[str(page)] = list(run_page(page, own))
    report.write_text(json.dumps(results), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), [Path(name) for name in sys.argv[3:]])
