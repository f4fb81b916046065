"""Starts other programs and owns them: every process below one is gone when its block ends.

- A supervised program runs under `supervise`, which also ends it when Amelia itself is killed.
- Ending takes a bounded time, also under cancellation. If the supervisor is gone or hangs, the tree is found
  by the token that all its processes carry in their environment.
- A process is known by its id *and* its start time; an id alone may belong to somebody else by now.
"""

import fcntl
import json
import os
import signal
import time
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import IO, Self, cast

import anyio

from amelia.model.errors import AmeliaError
from amelia.model.walls import Wall
from amelia.system import supervise
from amelia.system.awake import awake_for
from amelia.system.supervisors import GRACE, Order, Supervisor, ordered, prepare_next

REPORT_LIMIT = 64 * 1024 * 1024
"""How many bytes of a command's report are read; a longer one is not a report."""

OUTPUT_LIMIT = 50_000_000
"""How many bytes of a command's output are kept."""

PATIENCE = 5.0  # seconds beyond the grace for a supervisor to end a tree, or for a lock to become free
PULSE = 1.0  # seconds between two looks whether the supervisor is still there
CHUNK = 65_536
PAUSE = 0.005


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended; `exit_code` is None when its time was up, `truncated` when output was cut.

    `report` is all that came through its own pipe, if it was given one.
    """

    exit_code: int | None
    timed_out: bool
    seconds: float
    truncated: bool
    report: bytes = b""


def process_start_time(pid: int) -> int | None:
    """Returns when a process started, in the system's ticks; None if it does not live."""
    process = supervise.read_process(pid)
    return None if process is None or process.is_zombie else process.started


def is_alive(pid: int, start_time: int) -> bool:
    """Tells whether this very process still runs; a zombie does not."""
    return process_start_time(pid) == start_time


class Supervised:
    """A program that runs under a supervisor."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._process = supervisor.process

    @property
    def stdout(self) -> AsyncGenerator[bytes, None]:
        """What the program writes, in pieces as they come, until its end."""
        return self._output()

    @property
    def errors(self) -> IO[bytes]:
        """The file that gets the program's messages, unless they come with its output."""
        return self._supervisor.errors

    async def read_report(self, into: bytearray) -> None:
        """Reads the report to its end, which comes with that of the program; too much of it is cut."""
        source = self._supervisor.report
        while True:
            await anyio.wait_readable(source)
            if not (chunk := os.read(source, CHUNK)):
                return
            into += chunk[: REPORT_LIMIT + 1 - len(into)]

    async def wait(self) -> int:
        """Waits for the end of the whole tree and returns the program's exit code, 128 + n after signal n."""
        code = await self._process.wait()
        return code if code >= 0 else 128 - code

    def interrupt(self) -> None:
        """Asks the program to stop what it is doing, as Ctrl-C does."""
        self._supervisor.tell(b"interrupt\n")

    async def stop(self, grace: timedelta = GRACE) -> None:
        """Ends the whole tree: asks the program, and kills what is left after the grace."""
        seconds = grace.total_seconds()
        self._supervisor.tell(b"stop %f\n" % seconds)
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(seconds + PATIENCE):
                await self._process.wait()
            if self._process.returncode is None:
                self._process.kill()
            if await self._process.wait() < 0:
                await _end_trees(self._supervisor.token)

    async def _output(self) -> AsyncGenerator[bytes, None]:
        assert self._process.stdout is not None
        while True:
            chunk = b""
            with anyio.move_on_after(PULSE):
                try:
                    chunk = await self._process.stdout.receive(CHUNK)
                except anyio.EndOfStream:
                    return
            if chunk:
                yield chunk
            elif self._process.returncode is not None:
                return  # somebody killed the supervisor, and something below it keeps our pipe open


@asynccontextmanager
async def supervised(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes = b"",
    keeps_errors: bool = False,
    lock: Path | None = None,
    wall: Wall | None = None,
    reports: bool = False,
) -> AsyncGenerator[Supervised, None]:
    """Runs a program for the length of a block; its whole tree ends with the block.

    Unless its errors are kept, its messages come with its output. One that `reports` finds the number of a
    descriptor for that in `AMELIA_REPORT`.
    """
    _check_places(cwd, lock)
    order = Order(
        argv=argv,
        cwd=cwd,
        env=env,
        stdin=stdin,
        keeps_errors=keeps_errors,
        lock=lock,
        wall=wall,
        reports=reports,
    )
    async with ordered(order) as supervisor:
        running = Supervised(supervisor)
        try:
            await prepare_next()
            yield running
        finally:
            await running.stop()


async def run_supervised(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout: timedelta,  # noqa: ASYNC109 - a timeout is an outcome here, not an exception
    output: Path,
    lock: Path | None = None,
    wall: Wall | None = None,
    reports: bool = False,
) -> Finished:
    """Runs a command to its end or its time, whichever comes first, with all its output in a file."""
    started = time.monotonic()
    exit_code, report = 0, bytearray()
    with _Sink(output) as sink:
        async with (
            awake_for(timeout.total_seconds()) as scope,
            supervised(argv, cwd=cwd, env=env, lock=lock, wall=wall, reports=reports) as process,
        ):
            try:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(process.read_report, report)
                    async for chunk in process.stdout:
                        sink.write(chunk)
                    exit_code = await process.wait()
            except ExceptionGroup as problems:  # a disk that is full
                raise problems.exceptions[0] from problems
    is_cut, seconds = scope.cancelled_caught, time.monotonic() - started
    return Finished(None if is_cut else exit_code, is_cut, seconds, sink.truncated, bytes(report))


def spawn_detached(argv: Sequence[str], *, env: Mapping[str, str], log: Path) -> int:
    """Starts a program that survives us, in a session of its own, and returns its process id."""
    appending = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    return os.posix_spawnp(
        argv[0],
        list(argv),
        dict(env),
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log), appending, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
        setsigdef=[signal.SIGPIPE],
    )


def run_attached(argv: Sequence[str], *, env: Mapping[str, str]) -> int:
    """Runs a program that talks to the person at this terminal, and returns its exit code."""
    process = os.posix_spawnp(argv[0], list(argv), env)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


async def end_stale(lock: Path) -> None:
    """Ends what a killed Amelia or a killed supervisor has left behind under this lock, and only that."""
    with anyio.move_on_after(PATIENCE):
        while _is_held(lock):  # noqa: ASYNC110 - a lock of another process gives no event
            await anyio.sleep(PAUSE)
    if (record := _read_record(lock)) and (left := await _end_trees(record.token, record.processes)):
        raise AmeliaError(
            f"{lock}: processes of an earlier run do not end: {', '.join(map(str, sorted(left)))}",
            hint="they hang in the system itself, often on a network disk; free or reboot it, then resume",
        )


async def _end_trees(token: str, known: Iterable[tuple[int, int]] = ()) -> set[int]:
    """Kills the known processes, those that carry the token, and all below them; returns what did not end."""
    known = tuple(known)
    found: set[int] = set()
    with anyio.move_on_after(PATIENCE):
        while True:
            roots = {pid for pid, started in known if is_alive(pid, started)} | supervise.carriers(token)
            found = roots | supervise.descendants(roots)
            if not found:
                break
            supervise.kill(found)
            await anyio.sleep(PAUSE)
    return found


@dataclass(frozen=True, slots=True)
class _Record:
    """What a supervisor wrote into its lock file: the processes by id and start time, and their token."""

    processes: tuple[tuple[int, int], ...]
    token: str


def _read_record(lock: Path) -> _Record | None:
    """Returns the record, unless there is none or it tells of processes before the last boot."""
    try:
        record = cast("dict[str, str | int]", json.loads(lock.read_bytes()))
        processes = (
            (int(record["supervisor"]), int(record["supervisor_started"])),
            (int(record["child"]), int(record["child_started"])),
        )
        is_of_today = record["boot"] == supervise.boot_id()
        return _Record(processes, str(record["token"])) if is_of_today else None
    except (OSError, ValueError, KeyError, TypeError):
        return None  # nothing was started under it: the record is written before the program runs


def _is_held(lock: Path) -> bool:
    try:
        with lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def _check_places(cwd: Path, lock: Path | None) -> None:
    cwd.stat()  # a folder that is not there is our mistake, and none of the program
    if lock is not None:
        lock.parent.mkdir(parents=True, exist_ok=True)


class _Sink:
    """A file that takes any amount of output and keeps a bounded part of it."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._left = OUTPUT_LIMIT
        self.truncated = False

    def write(self, chunk: bytes) -> None:
        self._file.write(chunk[: self._left])
        self.truncated = self.truncated or len(chunk) > self._left
        self._left -= min(len(chunk), self._left)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
