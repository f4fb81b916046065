"""The line to an agent that was started with pipes: requests and answers of JSON-RPC, one to a line.

- One request is on its way at a time; whatever comes in between is heard while its answer is awaited.
- Any bytes are taken: a line that is no message is handed on as noise, and never an exception.
- An interrupt ends the wait: at once, or, if there is a request to cancel, after a bounded time.
"""

import os
import select
import signal
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec

from amelia.drive.acp.updates import Table, table_of
from amelia.drive.stream import Line, Lines, read_object

UNKNOWN_METHOD = -32601
TIME_TO_CANCEL = 3.0
TIME_TO_LEAVE = 2.0
CHUNK = 65_536
PAUSE = 0.01


class AnsweredWithError(Exception):
    """The agent answered a request with an error."""

    def __init__(self, error: Table) -> None:
        super().__init__(error.get("message"))
        self.error = error


class AgentIsGone(Exception):  # noqa: N818 - a fact, not a mistake
    """The agent has closed its end of the line."""


class TookTooLong(Exception):  # noqa: N818 - a fact, not a mistake
    """The agent did not answer a request in the time it had for it."""


class WasInterrupted(Exception):  # noqa: N818 - a wish of somebody, not a mistake
    """Somebody asked to stop, and the agent has had its time for that."""


class Wire:
    """A running agent.

    `hear` takes its notifications, and its requests with the answer as a result; None is a method that is
    not known here. `noise` takes every line that is no message.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        hear: Callable[[str, Table], Table | None],
        noise: Callable[[Line], None],
    ) -> None:
        self.cancellation: Table | None = None
        self._hear = hear
        self._noise = noise
        self._lines = Lines()
        self._waiting: deque[Line] = deque()
        self._number = 0
        self._deadline: float | None = None
        self._due: float | None = None
        self._wake = _interrupts()
        self._agent, self._input, self._output = _start(command)
        self._poll = select.poll()
        self._poll.register(self._wake, select.POLLIN)
        self._poll.register(self._output, select.POLLIN)

    @property
    def is_interrupted(self) -> bool:
        """Says whether the agent was asked to stop."""
        return self._deadline is not None

    def request(self, method: str, params: Table, *, within: float | None = None) -> Table:
        """Sends a request and returns the result, once everything that came before it is dealt with.

        An agent that does not answer `within` so many seconds, if there is such a bound, `TookTooLong`.
        """
        self._due = None if within is None else time.monotonic() + within
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while True:
            message = self._receive()
            if "method" in message:
                self._answer(message)
            elif message.get("id") == self._number:
                if "error" in message:
                    raise AnsweredWithError(table_of(message["error"]))
                return table_of(message.get("result"))

    def leave(self) -> int | None:
        """Lets the agent end by itself within a bounded time; returns its exit code, None if it stays.

        After signal n the code is 128 + n.
        """
        os.close(self._input)
        self._poll.unregister(self._wake)
        deadline = time.monotonic() + TIME_TO_LEAVE
        while (left := deadline - time.monotonic()) > 0:
            if not self._poll.poll(left * 1000) or not os.read(self._output, CHUNK):
                break
        while not (ended := os.waitpid(self._agent, os.WNOHANG))[0] and time.monotonic() < deadline:
            time.sleep(PAUSE)
        code = os.waitstatus_to_exitcode(ended[1]) if ended[0] else None
        return 128 - code if code is not None and code < 0 else code

    def _answer(self, message: Table) -> None:
        result = self._hear(str(message["method"]), table_of(message.get("params")))
        if "id" not in message:
            return
        if result is None:
            error = {"code": UNKNOWN_METHOD, "message": "this client does not offer that"}
            self._send({"id": message["id"], "error": error})
        else:
            self._send({"id": message["id"], "result": result})

    def _receive(self) -> Table:
        while True:
            while not self._waiting:
                self._waiting.extend(self._lines.feed(self._read()))
            line = self._waiting.popleft()
            message = read_object(line)
            if message is not None and message.keys() & {"method", "result", "error"}:
                return message
            if line.data.strip():
                self._noise(line)

    def _read(self) -> bytes:
        """Waits for the agent to write something, and for interrupts meanwhile."""
        while True:
            ends = [end for end in (self._deadline, self._due) if end is not None]
            left = min(ends) - time.monotonic() if ends else None
            if left is not None and left <= 0:
                raise TookTooLong if self._deadline is None else WasInterrupted
            ready = {source for source, _ in self._poll.poll(None if left is None else left * 1000)}
            if self._wake in ready:
                os.read(self._wake, CHUNK)
                self._interrupt()
            if self._output in ready:
                if chunk := os.read(self._output, CHUNK):
                    return chunk
                raise AgentIsGone

    def _interrupt(self) -> None:
        if self.cancellation is None:
            raise WasInterrupted
        if self._deadline is None:
            self._deadline = time.monotonic() + TIME_TO_CANCEL
            self._send(self.cancellation)

    def _send(self, message: Table) -> None:
        data = memoryview(msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n")
        with suppress(BrokenPipeError):  # it is gone; its last words can still be read
            while data:
                data = data[os.write(self._input, data) :]


def read_output(command: Sequence[str], *, within: float) -> bytes:
    """Returns what another program prints in a bounded time; all that it starts ends with the turn."""
    try:
        program, theirs, output = _start(command)
    except OSError:
        return b""
    os.close(theirs)
    poll, end, parts = select.poll(), time.monotonic() + within, list[bytes]()
    poll.register(output, select.POLLIN)
    while (left := end - time.monotonic()) > 0 and poll.poll(left * 1000):
        if not (chunk := os.read(output, CHUNK)):
            os.waitpid(program, 0)
            break
        parts.append(chunk)
    os.close(output)
    return b"".join(parts)


def _start(command: Sequence[str]) -> tuple[int, int, int]:
    """Starts the agent; returns its process id and our ends of its standard input and output."""
    theirs, ours = os.pipe()
    reader, writer = os.pipe()
    try:
        agent = os.posix_spawnp(
            command[0],
            list(command),
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, theirs, 0), (os.POSIX_SPAWN_DUP2, writer, 1)],
            setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
        )
    finally:
        os.close(theirs)
        os.close(writer)
    return agent, ours, reader


def _note(number: int, frame: object) -> None:
    """Does nothing: a signal with a handler is written to the pipe."""


def _interrupts() -> int:
    """Returns a file descriptor that can be read once somebody interrupts this program."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGINT, _note)
    return reader
