"""What a program says on its standard error, in a file that stays small.

A part of the program `supervise`: standard library only, and few imports.
"""

from __future__ import annotations

import os
import select

KEPT = 500_000
"""How many bytes of a program's messages are kept, of their beginning and of their end."""


class Messages:
    """Keeps the beginning and the end of what a program says on its standard error, and tells what is not."""

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)
        self.size = 0
        self.tail = b""

    def take(self) -> bool:
        """Takes in what is there; says whether more may come."""
        try:
            data = os.read(self.reader, 65536)
        except BlockingIOError:
            return True
        first = data[: max(0, KEPT - self.size)]
        self.keep(first)
        self.size += len(data)
        self.tail = (self.tail + data[len(first) :])[-KEPT:]
        return bool(data)

    def close(self) -> None:
        """Takes in the rest, once nobody is left who could say more, and keeps the end."""
        while self.take() and is_ready(self.reader):
            pass
        left_out = self.size - KEPT - len(self.tail)
        self.keep(b"\n[%d bytes are left out here]\n" % left_out if left_out > 0 else b"")
        self.keep(self.tail)

    def keep(self, data: bytes) -> None:
        """Writes to our own standard error, which is a file; a full disk ends nobody."""
        try:
            while data:
                data = data[os.write(2, data) :]
        except OSError:
            self.size = max(self.size, KEPT)


def is_ready(source: int) -> bool:
    """Says whether there is something to read."""
    return bool(select.select([source], [], [], 0)[0])
