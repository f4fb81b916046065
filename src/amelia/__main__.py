"""Lets `python -m amelia` be the same program as `amelia`."""

from amelia.show.cli import main

main()
