"""Runs one program to its end under a supervisor, for callers in a thread: see `supervise`.

Nothing that the program started outlives the call, whatever it did to leave its group; nor does it outlive
this process, however that ends.
"""

import os
import secrets
import subprocess  # noqa: TID251 - a supervisor without an event loop
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from threading import Event, Thread
from typing import IO

from amelia.system import supervise
from amelia.system.awake import LONGEST, LOOK
from amelia.system.environment import clean_environment
from amelia.system.supervisors import GRACE, Order, supervisor_command

_BEYOND = 5.0  # seconds beyond the grace for a supervisor to end its tree


@dataclass(frozen=True, slots=True)
class Streams:
    """The files that a program reads from and writes to."""

    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]


def run_guarded(order: Order, streams: Streams, *, patience: timedelta) -> int | None:
    """Returns the exit code of a program, 128 + n after signal n; None if its time was up."""
    token = secrets.token_hex(8)
    reader, writer = os.pipe()
    try:
        process = _start(reader, token, streams)
        with bounded(patience, lambda: _say(writer, b"stop %f\n" % GRACE.total_seconds())) as is_up:
            _say(writer, order.written(token))
            with bounded(patience + GRACE + timedelta(seconds=_BEYOND), process.kill):
                code = process.wait()
    finally:
        os.close(writer)
    if code < 0:  # somebody killed the supervisor, and nobody ends what is below it
        end_carriers(token)
    return None if is_up.is_set() else code if code >= 0 else 128 - code


def _start(control: int, token: str, streams: Streams) -> "subprocess.Popen[bytes]":
    nobody = os.open(os.devnull, os.O_WRONLY)
    try:
        return subprocess.Popen(  # noqa: S603 - an argument list, no shell
            supervisor_command(control, report=nobody),
            env=clean_environment({supervise.MARK: token}),
            stdin=streams.stdin,
            stdout=streams.stdout,
            stderr=streams.stderr,
            pass_fds=[control, nobody],
            start_new_session=True,
        )
    finally:
        os.close(nobody)
        os.close(control)  # it has it now: writing to one that is gone is to be an error


@contextmanager
def bounded(patience: timedelta, end: Callable[[], None]) -> Generator[Event]:
    """Has something done if a block takes longer; the event says so. A pause of this process is no part."""
    is_done, is_up = Event(), Event()

    def watch() -> None:
        left = patience.total_seconds()
        while left > 0:
            before = time.monotonic()
            if is_done.wait(min(left, LOOK)):
                return
            if (gap := time.monotonic() - before) <= LONGEST:
                left -= gap
        is_up.set()
        end()

    # A wait with a timeout polls, and costs more than git itself.
    Thread(target=watch, daemon=True).start()
    try:
        yield is_up
    finally:
        is_done.set()


def end_carriers(token: str) -> None:
    """Kills all processes that carry a token, and what is below them, for as long as there are some."""
    deadline = time.monotonic() + _BEYOND
    while (found := supervise.carriers(token)) and time.monotonic() < deadline:
        supervise.kill(found | supervise.descendants(found))
        time.sleep(supervise.PAUSE)


def _say(control: int, word: bytes) -> None:
    with suppress(OSError):  # it has gone, and with it the tree
        while word:
            word = word[os.write(control, word) :]
