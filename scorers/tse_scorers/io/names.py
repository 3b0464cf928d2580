"""Names as parts of file names."""

import hashlib
import re

_LONGEST = 100
_DEVICES = {"CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(10))}


def slug(name: str) -> str:
    """Return a model's name as part of a file name: at most 100 ASCII letters, digits, dots, dashes, underscores.

    Where two different names would become one (non-ASCII letters, long names), a hash keeps them apart. A name that
    Windows reserves for a device gets one as well.

    >>> slug("org/My model@v1")
    'org--My-model-v1'
    >>> slug("модель") != slug("машина")
    True
    """
    made = re.sub(r"[^A-Za-z0-9._-]+", "-", name.strip("/.").replace("/", "--"))
    is_device = made.partition(".")[0].upper() in _DEVICES
    if name.isascii() and name.isprintable() and 0 < len(made) <= _LONGEST and not is_device:
        return made
    suffix = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    kept = made[-(_LONGEST - len(suffix) - 1) :].strip("-")
    if is_device:
        return f"{suffix}-{kept}"  # Windows looks at what stands before the first dot
    return f"{kept}-{suffix}" if kept else suffix
