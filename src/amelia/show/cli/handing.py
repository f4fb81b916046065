"""Hands bytes on that somebody else wrote: as they are to a program or a file, safe to a terminal."""

import sys

import click

from amelia.show.text import printable


def hand_on(data: bytes) -> None:
    """Writes data to standard output."""
    if sys.stdout.isatty():
        for line in data.decode(errors="replace").splitlines():
            click.echo(printable(line.expandtabs()))
        return
    sys.stdout.buffer.write(data)
    sys.stdout.flush()
