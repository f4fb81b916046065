"""A clock that stands still while this process does: stopped by Ctrl-Z or SIGSTOP, or with its machine.

Whoever waits for another program by the clock would otherwise end it for its silence, right after a pause in
which nobody listened. A pause is noticed by looks at the clock that come much later than they were to.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio

LOOK = 0.5  # seconds between two looks, at most
LONGEST = 2.0  # seconds between two looks of a process that was awake, however busy


class Awake:
    """Counts the seconds in which this process was awake; somebody has to look at it all the time."""

    def __init__(self) -> None:
        self._seen = anyio.current_time()
        self._lost = 0.0

    def now(self) -> float:
        """Returns the time; a pause before this look is not part of it."""
        here = anyio.current_time()
        if (gap := here - self._seen) > LONGEST:
            self._lost += gap
        self._seen = here
        return here - self._lost

    async def until(self, due: Callable[[], float]) -> None:
        """Waits until a moment by this clock, which may be moved meanwhile."""
        while (left := due() - self.now()) > 0:  # noqa: ASYNC110 - no event tells of a pause
            await anyio.sleep(min(left, LOOK))


@asynccontextmanager
async def awake_for(seconds: float) -> AsyncGenerator[anyio.CancelScope]:
    """Gives a block so many seconds in which this process is awake, and cancels it after that."""
    clock = Awake()
    due = clock.now() + seconds

    async def watch(scope: anyio.CancelScope) -> None:
        await clock.until(lambda: due)
        scope.cancel()

    try:
        async with anyio.create_task_group() as tasks:
            with anyio.CancelScope() as scope:
                tasks.start_soon(watch, scope)
                yield scope
            tasks.cancel_scope.cancel()
    except ExceptionGroup as group:
        raise group.exceptions[0] from None  # the block's own: the other task has none
