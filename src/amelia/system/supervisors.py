"""Supervisors, which wait for what they are to start: see `supervise` for what they do then.

- One takes longer to come up than git takes for most of what we ask of it. While they are kept `at_hand`, the
  next one is started as soon as one got its order, and comes up while there is other work to do.
- One that waits ends with us, and does no harm before: it has no lock and no program.
- What a program is given goes through a pipe, and what it reads is in a file without a name: nobody else
  finds a key in the arguments of a process, or on the disk after a crash.
"""

import os
import secrets
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import IO, Self

import anyio
import anyio.abc
from anyio.lowlevel import RunVar

from amelia.model.walls import Wall
from amelia.system import supervise
from amelia.system.environment import behind_wall, clean_environment
from amelia.system.wall import entries_of, find_kernel

GRACE = timedelta(seconds=2)
"""How long a program may take to end by itself once it was asked to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A program to start, its wall and its input.

    `keeps_errors` sets its messages apart; one that `reports` gets a pipe of its own for it.
    """

    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    stdin: bytes = b""
    keeps_errors: bool
    lock: Path | None
    wall: Wall | None = None
    reports: bool = False

    def written(self, token: str) -> bytes:
        """Returns the order as the supervisor reads it; every process it leads to carries the token."""
        env, entries = self.env, ()
        if self.wall is not None:
            env, entries = behind_wall(env, self.wall), entries_of(self.wall, find_kernel())
        environment = {**env, supervise.MARK: token}
        fields = (
            str(self.cwd.absolute()),
            str(self.lock.absolute()) if self.lock is not None else "",
            "0" if self.keeps_errors else "1",
            "1" if self.reports else "0",
            str(len(self.argv)),
            str(len(entries)),
            *self.argv,
            *entries,
            *(f"{name}={value}" for name, value in environment.items()),
        )
        if any("\0" in field for field in fields):
            raise ValueError("a program can be given no NUL")
        return supervise.write_order([os.fsencode(field) for field in fields])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Supervisor:
    """A supervisor, our ends of its pipes, and the files its program reads from and complains to."""

    process: anyio.abc.Process
    token: str
    control: int
    report: int
    stdin: IO[bytes]
    errors: IO[bytes]

    @classmethod
    async def start(cls) -> Self:
        """Starts one that waits for its order."""
        token = secrets.token_hex(8)
        with ExitStack() as parts:
            stdin, errors = (parts.enter_context(tempfile.TemporaryFile()) for _ in range(2))
            reader, writer = os.pipe()
            parts.callback(os.close, writer)
            report, reported = os.pipe()
            parts.callback(os.close, report)
            process = await _spawn((reader, reported), token=token, stdin=stdin, errors=errors)
            parts.pop_all()
        for ours in (writer, report):
            os.set_blocking(ours, False)
        return cls(process=process, token=token, control=writer, report=report, stdin=stdin, errors=errors)

    async def takes(self, order: Order) -> bool:
        """Gives it its order; says whether it is still there to take it."""
        rest = order.written(self.token)
        self.stdin.write(order.stdin)
        self.stdin.seek(0)
        while rest:
            try:
                rest = rest[os.write(self.control, rest) :]
            except BlockingIOError:
                await anyio.wait_writable(self.control)
            except BrokenPipeError:
                return False
        return True

    def tell(self, word: bytes) -> None:
        """Says something to it that it hears while its program runs."""
        with suppress(OSError):  # it has gone, and with it the tree
            os.write(self.control, word)

    async def close(self) -> None:
        """Lets go of it; one that did not get its order to the end has started nothing, and may be killed."""
        if self.process.returncode is None:
            self.process.kill()  # before its pipe ends: asyncio loses a process that ends while it is killed
        os.close(self.control)
        os.close(self.report)
        self.stdin.close()
        self.errors.close()
        with anyio.CancelScope(shield=True):
            await self.process.aclose()


_AT_HAND: RunVar[list[Supervisor]] = RunVar("supervisors at hand")


@asynccontextmanager
async def at_hand() -> AsyncGenerator[None]:
    """Has supervisors wait for the programs of a block, as many as were started at the same moment before."""
    waiting: list[Supervisor] = []
    before = _AT_HAND.set(waiting)
    try:
        yield
    finally:
        _AT_HAND.reset(before)
        for supervisor in waiting:
            await supervisor.close()


@asynccontextmanager
async def ordered(order: Order) -> AsyncGenerator[Supervisor]:
    """Gives an order to a supervisor, which is let go at the end of the block."""
    waiting = _AT_HAND.get(None)
    async with AsyncExitStack() as owned:
        while True:
            is_new = not waiting
            supervisor = waiting.pop() if waiting else await Supervisor.start()
            owned.push_async_callback(supervisor.close)
            if await supervisor.takes(order) or is_new:
                break
        yield supervisor


async def prepare_next() -> None:
    """Starts the supervisor of the next program, where they are kept at hand."""
    waiting = _AT_HAND.get(None)
    if waiting is not None:
        with suppress(OSError):  # then the next program has to wait for its supervisor
            waiting.append(await Supervisor.start())


async def _spawn(
    pipes: tuple[int, int], *, token: str, stdin: IO[bytes], errors: IO[bytes]
) -> anyio.abc.Process:
    process = None
    try:
        # A cancellation in the middle would leave a process that nobody owns.
        with anyio.CancelScope(shield=True):
            process = await anyio.open_process(
                supervisor_command(*pipes),
                env=clean_environment({supervise.MARK: token}),
                stdin=stdin,
                stderr=errors,
                pass_fds=pipes,
                start_new_session=True,
            )
    finally:
        for end in pipes:
            os.close(end)  # it has them now: writing to one that is gone is to be an error
    assert process is not None
    return process


def supervisor_command(control: int, report: int) -> list[str]:
    """Returns how a supervisor is started that reads its order from a pipe, and hands on one for a report."""
    return [
        sys.executable,
        "-I",  # neither the caller's PYTHON… variables nor the current directory
        "-S",  # no site-packages: a third of the time to start
        "-c",
        supervise.BOOT,
        str(Path(supervise.__file__).parent),
        str(control),
        str(report),
        str(GRACE.total_seconds()),
    ]
