"""`tse report`: the averages of an output folder, computed again from its scores."""

import warnings
from contextlib import suppress
from pathlib import Path

from ..io.locks import BusyError
from ..io.records import DamagedFileError, read_record, read_records, writing
from ..io.results import CannotAggregateError, export_results
from ..io.runs import OutputFolder, folder_of
from ..suites.registry import aggregate


def refresh_results(out: Path) -> OutputFolder | None:
    """Compute the averages of all records in an output folder again, and write `results.json`, if there are any.

    Damaged scores are named in a warning and keep their averages; the next `tse run` computes them again. A record that
    another process is writing gets its averages from there.

    Returns:
        The folder as it was exported; None without records.

    Raises:
        ValueError: no scores can be used, or `results.json` is not ours or cannot be written.
    """
    records = read_records(out)
    wholes = [record for record in records if record.scores and not record.is_shard]
    for record in wholes:
        try:
            with suppress(BusyError), writing(record.folder, record.identity["model"], None):
                read_record(record.folder).averaged(aggregate)
        except DamagedFileError as error:
            if len(wholes) == 1:
                raise
            warnings.warn(str(error), stacklevel=2)
        except CannotAggregateError as error:
            warnings.warn(f"{record.folder} is skipped: {error}", stacklevel=2)
    return folder_of(out, *export_results(out)) if records else None
