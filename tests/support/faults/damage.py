"""Errors that nobody expects, with the exit code and what is said of each."""

UNEXPECTED = [
    (KeyError("pairs"), 70, "This is a bug: please report it with the output of `tse --debug report"),
    (RecursionError("deep"), 70, "This is a bug"),
    (MemoryError(), 71, "Memory ran out"),
    (OSError(28, "No space left on device", "x.csv"), 74, "x.csv: No space left on device"),
]
