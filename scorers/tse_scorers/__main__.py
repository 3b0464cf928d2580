"""`python -m tse_scorers` is the command `tse`."""

from .cli import main

main()
