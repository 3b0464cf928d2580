"""Commands that read results of other tools: `tse import …`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..models.options import DATA, MODEL, OUTPUT
from . import terminal
from .help import App
from .options import Overwrite, SuiteNames, option, takes_suite_options
from .several_suites import make_suites
from .shown_report import show_report
from .usage import Commands

if TYPE_CHECKING:
    from ..importing.choices import Logs
    from ..importing.imported_records import Imported

app = App(cls=Commands, no_args_is_help=True, help="Read results of other tools.")

Out = Annotated[Path, option("Output folder, as of `tse run`.", OUTPUT)]
Name = Annotated[
    str | None,
    option("How results call the model. Default: as the log does.", MODEL, "--name"),
]
_LM_EVAL, _INSPECT = Path("tse-lm-eval"), Path("tse-inspect")


@app.command("lm-eval")
@takes_suite_options
def lm_eval(
    *,
    logs: Annotated[
        Path, typer.Argument(help="Folder that lm-eval wrote: --output_path, with --log_samples.")
    ],
    out: Out = _LM_EVAL,
    task: Annotated[
        list[str] | None,
        option("Only this task or group of tasks; repeatable. Default: all.", DATA, "--task"),
    ] = None,
    name: Name = None,
    suite: SuiteNames = None,
    suite_options: dict[str, Any],
    overwrite: Overwrite = False,
) -> None:
    """Read logs of lm-evaluation-harness: choices between two answers, with their log-probabilities.

    Items are found by their texts in the data that --suite or --data name; without these, in the data of
    `tse export lm-eval`, else the texts are the data.
    """
    with terminal.waiting("Reading the logs"):
        from ..importing.lm_eval_logs import read_lm_eval

        imported_logs = read_lm_eval(logs, task or ())
    _write(imported_logs, out, suite, suite_options, overwrite, name)


@app.command("inspect")
@takes_suite_options
def inspect(
    *,
    log: Annotated[Path, typer.Argument(help="Log of Inspect, .eval or .json.")],
    out: Out = _INSPECT,
    scorer: Annotated[
        str | None,
        option("Whose scores are read. Default: those of the only one.", DATA),
    ] = None,
    name: Name = None,
    suite: SuiteNames = None,
    suite_options: dict[str, Any],
    overwrite: Overwrite = False,
) -> None:
    """Read a log of Inspect: right or wrong for each item with two choices.

    Items are found by their texts in the data that --data names; without these, the texts are the data.
    """
    with terminal.waiting("Reading the log"):
        from ..importing.inspect_logs import read_inspect

        imported_logs = read_inspect(log, scorer)
    _write(imported_logs, out, suite, suite_options, overwrite, name)


def _write(
    imported_logs: "Logs",
    out: Path,
    suite: Sequence[str] | None,
    suite_options: dict[str, Any],
    overwrite: bool,
    name: str | None,
) -> None:
    from ..importing.imported_records import import_log

    models = {log.model for log in imported_logs.logs}
    if name is not None and len(models) > 1:
        raise ValueError(f"The logs have several models ({', '.join(models)}); --name is for one. Remove it.")
    for sentence in imported_logs.left_out:
        terminal.say(sentence)
    for log in imported_logs.logs:
        # Made for each log, because it keeps only its own items.
        suites_made = (
            make_suites(suite or [imported_logs.suite], suite_options) if suite or suite_options else []
        )
        for imported in import_log(log, out, suites_made, overwrite, name):
            _print_imported(imported)
    show_report(out)


def _print_imported(imported: "Imported") -> None:
    """Print what was imported, by which convention, and what was not."""
    log, convention = imported.log, imported.log.convention
    n_choices = len(log.choices)
    terminal.say(
        f"{imported.model} on {log.data}, scored by {log.tool}: {n_choices - imported.n_unmatched:,} of {n_choices:,} "
        "items of the log."
    )
    if imported.n_unmatched:
        terminal.say(
            f"Not in the data: {imported.n_unmatched:,} items of the log, for instance {imported.unmatched!r:.200}."
        )
    if imported.n_data > imported.n_items:
        n_absent = imported.n_data - imported.n_items
        terminal.say(f"Not in the log: {n_absent:,} of the {imported.n_data:,} items of the data.")
    for key, label in (
        ("scored", "answers"),
        ("first_token", "first token of a sentence"),
        ("num_fewshot", "examples"),
    ):
        if key in convention:
            terminal.say(f"{label}: {convention[key]}")
    if "leading_space" in convention and "first_token" not in convention:
        terminal.say(
            "first token of a sentence: the log does not say; the harness takes bos_token, else eos_token"
        )
    if convention.get("leading_space"):
        terminal.say("Sentences begin with a space, as in a run with --leading-space.")
    if imported.n_ties:
        right = (
            ""
            if imported.n_right is None
            else f"; {log.tool} counts {imported.n_right:,} items as right in all"
        )
        terminal.say(f"Ties: {imported.n_ties:,}, which are not correct here{right}.")
    if imported.source is not None:
        terminal.say(f"The items as data: {imported.source}; score your own models on them with --data.")
