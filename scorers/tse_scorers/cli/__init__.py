"""The command `tse`."""

from .app import main

__all__ = ["main"]
