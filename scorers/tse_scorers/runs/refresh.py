"""`tse report`: the averages of an output folder, which are computed again where another version has made them."""

import warnings
from contextlib import suppress
from pathlib import Path

from .. import __version__
from ..io.locks import BusyError
from ..io.records import ROWS, DamagedFileError, read_record, read_records, writing
from ..io.results import CannotAggregateError, export_results
from ..io.runs import OutputFolder, folder_of
from ..suites.registry import aggregate


def refresh_results(out: Path) -> OutputFolder | None:
    """Write the `results.json` of an output folder; averages that this version has not made are computed first.

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
        if ROWS in record.tables and record.environment.get("refined-tse") == __version__:
            continue
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
