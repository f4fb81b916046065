"""Finds every process of a test, wherever it has hidden."""

import os
import re
import signal
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import pytest

from amelia.system import supervise
from amelia.system.environment import clean_environment
from amelia.system.process import process_start_time

T = TypeVar("T")


def wait_until(condition: Callable[[], T], seconds: float = 10.0) -> T:
    """Waits for a true value and returns it."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.005)
    return value


class Trace:
    """Marks the environment of a test's programs, and finds them and their supervisors by it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mark = uuid.uuid4().hex
        self.env = clean_environment({"AMELIA_TRACE": self.mark})
        self._tokens: set[str] = set()

    def living(self) -> set[int]:
        """Returns the processes of this test that run."""
        living = {pid: seen for pid, seen in _environments() if process_start_time(pid)}
        own = {pid for pid, seen in living.items() if self.mark in seen}
        self._tokens |= {
            token for pid in own for token in re.findall(rf"{supervise.MARK}=(\w+)", living[pid])
        }
        return own | {pid for pid, seen in living.items() if any(token in seen for token in self._tokens)}

    def read(self, name: str) -> str:
        """Waits until a file of the test holds a whole line, and returns its text."""
        path = self.folder / name
        return wait_until(
            lambda: path.read_text() if path.exists() and path.read_bytes()[-1:] == b"\n" else ""
        )

    def wait_until_gone(self, seconds: float = 10.0) -> None:
        """Waits until none of them runs."""
        wait_until(lambda: not self.living(), seconds)


def _environments() -> Iterator[tuple[int, str]]:
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            yield int(entry.name), (entry / "environ").read_bytes().decode(errors="replace")


@pytest.fixture
def trace(tmp_path: Path) -> Iterator[Trace]:
    """Gives a trace, and holds the test to it that nothing outlives it."""
    trace = Trace(tmp_path)
    yield trace
    left = trace.living()
    for pid in left:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    assert not left, "processes outlived their test"


@pytest.fixture
def anyio_backend() -> str:
    """Runs asynchronous tests as the product runs."""
    return "asyncio"
