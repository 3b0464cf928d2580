"""The files of scores per item of one system, for the explorer."""

import pandas as pd

from ..report.inputs import Runs, ScoreFile


def files_of(runs: Runs, suite: str, system: str, kind: str | None = None) -> list[ScoreFile]:
    """Return the files of a system, by its label or by its label with a configuration (`inputs.configs_apart`).

    Raises:
        ValueError: there are none.
    """
    found = [
        file
        for file in runs.scores(suite, kind)
        if system in (file.system, f"{file.system} ({file.config})") and (kind or file.kind is None)
    ]
    if not found:
        raise ValueError(
            f"The folder of {system} holds no scores of single items; expected a record of the suite {suite} in runs/. "
            "Copy it there, or run the suite again."
        )
    return found


def read_files(files: list[ScoreFile], columns: list[str]) -> pd.DataFrame:
    """Read those of the columns that are there, with the file's `config`."""
    frames = [file.read_known(columns).assign(config=file.config or "") for file in files]
    return pd.concat(frames, ignore_index=True)
