"""`tse watch`: score the checkpoints of a model as they appear, and draw its curve.

A checkpoint is scored when it is complete and its files have not changed for a while. What an earlier watch or run has
scored is recognized.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from ...models.revisions import Revision, Settling, matching
from ..jobs import Failure, Job, remember_failures
from ..run import Run, run_all

REPORT_SHARE = 0.1
"""Of the time, which reports may take; the first one is drawn at once."""
INCOMPLETE = (
    "its files are not complete; expected config.json and weights as long as their headers say. Save it again, and "
    "repeat the command."
)


@dataclass
class Watch:
    """A folder in which checkpoints appear.

    Args:
        folder: its path.
        pattern: for the names of checkpoints.
        runs: the run of each suite.
        job: makes the job of a checkpoint.
        report: draws the curve; called after checkpoints were scored, so rarely that it takes a tenth of the time, and
            at the end.
        note: called with a sentence about each event.
        every: seconds between two looks at the folder.
        settle: seconds for which the files of a checkpoint must stay as they are.
        idle: seconds without a new checkpoint until the watch ends; None: it does not end.
    """

    folder: str
    pattern: str
    runs: Sequence[Run]
    job: Callable[[Revision], Job]
    report: Callable[[], object]
    note: Callable[[str], object]
    every: float = 10.0
    settle: float = 10.0
    idle: float | None = None
    done: set[str] = field(default_factory=set)
    failures: list[Failure] = field(default_factory=list)

    def until(self, number: int | None = None) -> list[Failure]:
        """Score checkpoints until there are `number`, or until there was no new one for the idle time.

        Returns:
            The checkpoints that could not be scored, also those that were still not complete after the idle time. One
            that was deleted before is not among them.
        """
        with ExitStack() as stack:
            for run in self.runs:
                stack.enter_context(run.several_models())
            settling, drawn, last, report_due = Settling(self.settle), 0, time.monotonic(), 0.0
            try:
                while number is None or len(self.done) < number:
                    untried = self._untried()
                    settled = settling.settled(checkpoint.model for checkpoint in untried)
                    new = [checkpoint for checkpoint in untried if checkpoint.model in settled]
                    if new:
                        self._score(new if number is None else new[: number - len(self.done)])
                        last = time.monotonic()
                    elif self.idle is not None and time.monotonic() - last > self.idle:
                        self._keep(
                            [
                                Failure(checkpoint.model, ValueError(INCOMPLETE))
                                for checkpoint in self._untried()
                            ]
                        )
                        break
                    else:
                        time.sleep(self.every)
                    if len(self.done) > drawn and (start := time.monotonic()) >= report_due:
                        self.report()
                        end = time.monotonic()
                        drawn, report_due = len(self.done), end + (end - start) * (1 / REPORT_SHARE - 1)
            finally:
                if len(self.done) > drawn:
                    self.report()
        return self.failures

    def _keep(self, failures: Sequence[Failure], tried: Sequence[str] = ()) -> None:
        self.failures += failures
        remember_failures(self.runs[0].out, tried, failures)

    def _untried(self) -> list[Revision]:
        tried = self.done | {failure.model for failure in self.failures}
        return [
            checkpoint
            for checkpoint in matching(Path(self.folder), self.pattern)
            if checkpoint.model not in tried
        ]

    def _score(self, revisions: Sequence[Revision]) -> None:
        failures = run_all(self.runs, [self.job(checkpoint) for checkpoint in revisions], keep_going=True)
        failed = {failure.model for failure in failures}
        self.done |= {checkpoint.model for checkpoint in revisions} - failed
        for failure in failures:
            is_there = Path(failure.model).is_dir()
            became = f"{failure} This checkpoint is skipped."
            self.note(became if is_there else f"{failure.model} was deleted before it was scored.")
        self._keep(
            [checkpoint for checkpoint in failures if Path(checkpoint.model).is_dir()],
            [checkpoint.model for checkpoint in revisions],
        )
        self.note(f"{len(self.done)} checkpoints are scored. Waiting for the next one (Ctrl-C ends).")
