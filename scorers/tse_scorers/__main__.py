"""`python -m tse_scorers` is the command `tse`."""

from .cli.app import main

main()
