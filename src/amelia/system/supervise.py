"""Starts one program when it is told to, and ends it together with everything it has started.

A program of its own (`python -I -S`, standard library only) between Amelia and an agent, because an agent
puts its tools into sessions where no signal to a process group reaches them. What it is to start comes
through its control pipe, so that it can be there before that is known.

- On Linux it is the reaper of every orphan below it; elsewhere it ends the process group only.
- It outlives nobody: the end of the control pipe (Amelia is gone, however it went) ends the tree.
- Nothing runs before the lock file says which processes these are, so that whoever finds the file after a
  `kill -9` of the supervisor itself can end them (`process.end_stale`). The lock is held as long as it lives.
- It ends with the program's exit code, 128 + n after signal n; only when nothing below it is left.

Programs wait for it, so imports are counted, and `BOOT` lets Python keep the compiled file.
"""

from __future__ import annotations

import fcntl
import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Iterable, Iterator, Sequence
else:
    # The same without its enumerations, which take longer to make than everything else here.
    import _signal as signal

if TYPE_CHECKING or __package__:
    from amelia.system.messages import Messages
else:
    from messages import Messages  # beside this file, which is the whole program

BOOT = "import sys; sys.path.append(sys.argv.pop(1)); import supervise; supervise.run(sys.argv[1:])"
"""Runs this file, which lies in the directory that is the first argument."""

REPORT = "AMELIA_REPORT"
"""The environment variable that tells a program the descriptor through which it reports, if it is to."""

MARK = "AMELIA_SUPERVISED"
"""The environment variable that all processes of one tree have in common; its value is the tree's token."""

CANNOT_START, LOCK_IS_HELD = 127, 125
ASKS_TO_END = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
EXPECTED = (*ASKS_TO_END, signal.SIGQUIT, signal.SIGPIPE, signal.SIGXFSZ)
"""What a program expects to have its usual effect, whatever Python or `nohup` ignores for us."""

PR_SET_CHILD_SUBREAPER = 36
PAUSE, SIZE = 0.002, 10  # seconds, and digits that say how long an order is


class Process:
    """One line of the process table."""

    __slots__ = ("is_zombie", "parent", "pid", "started")

    def __init__(self, pid: int, parent: int, started: int, *, is_zombie: bool) -> None:
        self.pid = pid
        self.parent = parent
        self.started = started
        self.is_zombie = is_zombie


def read_process(pid: int) -> Process | None:
    """Returns what the system knows of a process; None if there is none, or no `/proc` to ask."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - pathlib costs more than the rest of us
            text = file.read()
    except OSError:
        return None
    # The name stands in parentheses and may hold any byte; what follows the last one is plain.
    fields = text[text.rindex(b")") + 2 :].split()
    return Process(pid, int(fields[1]), int(fields[19]), is_zombie=fields[0] in (b"Z", b"X"))


def read_processes() -> Iterator[Process]:
    """Returns all processes there are."""
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - see above
    except OSError:
        names = []
    for name in names:
        if name.isdigit() and (process := read_process(int(name))) is not None:
            yield process


def descendants(roots: Iterable[int]) -> set[int]:
    """Returns the living processes below the given ones."""
    children: dict[int, list[Process]] = {}
    for process in read_processes():
        children.setdefault(process.parent, []).append(process)
    found: set[int] = set()
    waiting = list(roots)
    while waiting:
        for process in children.get(waiting.pop(), ()):
            if process.pid not in found and not process.is_zombie:
                found.add(process.pid)
                waiting.append(process.pid)
    return found


def carriers(token: str) -> set[int]:
    """Returns the living processes that have the token in their environment."""
    mark = f"{MARK}={token}".encode()
    found: set[int] = set()
    for process in read_processes():
        try:
            with open(f"/proc/{process.pid}/environ", "rb") as file:  # noqa: PTH123 - see above
                environment = file.read()
        except OSError:
            continue  # gone, or not ours to look into
        if not process.is_zombie and mark in environment.split(b"\0"):
            found.add(process.pid)
    return found


def kill(pids: Iterable[int], number: int = signal.SIGKILL) -> None:
    """Sends a signal to processes that may have gone already."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            continue


def boot_id() -> str:
    """Returns what tells this run of the machine from the next, in which process ids begin anew."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:  # noqa: PTH123 - see above
            return file.read().strip()
    except OSError:
        return ""


def become_reaper() -> None:
    """Makes every orphan below this process its child."""
    if sys.platform == "linux":
        import _ctypes  # noqa: PLC0415 - on Linux only; `ctypes` itself takes six times as long

        prctl = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # pyright: ignore[reportArgumentType]
        _ctypes.call_function(prctl, (PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))


def is_closed(control: int) -> bool:
    """Says whether nobody is at the other end of the control pipe any more."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    return any(events & select.POLLHUP for _, events in poll.poll(0))


def take_lock(path: bytes) -> int | None:
    """Returns the open lock file, or None if another process holds it."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return None
    return lock


def write_record(lock: int, child: int) -> None:
    """Tells in the lock file which processes these are."""
    own, other = read_process(os.getpid()), read_process(child)
    record = (
        f'{{"supervisor": {os.getpid()}, "supervisor_started": {own.started if own else 0}, '
        f'"child": {child}, "child_started": {other.started if other else 0}, '
        f'"token": "{os.environ[MARK]}", "boot": "{boot_id()}"}}\n'
    )
    os.ftruncate(lock, 0)
    os.pwrite(lock, record.encode(), 0)


class Order:
    """The program to start: where, with which environment, the lock and the wall, if any."""

    __slots__ = ("argv", "directory", "environment", "is_merged", "lock", "reports", "wall")

    def __init__(self, fields: list[bytes]) -> None:
        self.directory, self.lock, merged, reports, words, entries, *rest = fields
        self.is_merged = merged == b"1"
        self.reports = reports == b"1"
        self.argv, rest = rest[: int(words)], rest[int(words) :]
        self.wall, rest = rest[: int(entries)], rest[int(entries) :]
        self.environment = dict(pair.split(b"=", 1) for pair in rest)


def write_order(order: Sequence[bytes]) -> bytes:
    """Returns the fields of an order as they go through the pipe."""
    body = b"\0".join(order)
    return b"%*d" % (SIZE, len(body)) + body


def read_order(control: int) -> Order | None:
    """Waits for the order, and takes no more than it from the pipe; None if there will be none."""
    size = read_exactly(control, SIZE)
    body = read_exactly(control, int(size)) if size else b""
    return Order(body.split(b"\0")) if body else None


def read_exactly(source: int, size: int) -> bytes:
    """Returns so many bytes; none if the source ends before."""
    parts: list[bytes] = []
    while size:
        if not (part := os.read(source, size)):
            return b""
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def start(order: Order, gate: tuple[int, int], *, report: int, messages: int | None = None) -> int:
    """Forks a child that becomes the program once a byte comes through the gate."""
    child = os.fork()
    if child:
        os.close(report)  # else its reader would wait for us
        return child
    try:
        if messages is not None:
            os.dup2(messages, 2)
        os.close(gate[1])  # else the child would hold its own gate open after our death
        os.setsid()
        for number in EXPECTED:
            signal.signal(number, signal.SIG_DFL)
        if order.reports:
            order.environment[REPORT.encode()] = b"%d" % report
        else:
            os.close(report)
        if os.read(gate[0], 1):
            raise_wall(order.wall)
            os.chdir(order.directory)
            os.execvpe(order.argv[0], order.argv, order.environment)  # noqa: S606 - an argument list, no shell
    except Exception as error:  # noqa: BLE001 - a child that only vanished would be a riddle
        why = error.strerror if isinstance(error, OSError) else repr(error)
        complain(f"cannot start {os.fsdecode(order.argv[0])!r}: {why}")
    finally:
        os._exit(CANNOT_START)


def raise_wall(entries: list[bytes]) -> None:
    """Confines this process as an order says; without a wall not even the code for it is read."""
    if entries:
        os.get_exec_path({})  # imports what `os.execvpe` needs, while we can still read it
        from confine import confine  # noqa: PLC0415 # pyright: ignore - it lies beside this file

        confine(entries)


def complain(problem: str) -> None:
    """Says what went wrong where the program's own messages go."""
    os.write(2, f"{problem}\n".encode(errors="replace"))


class Watch:
    """Waits for the end of one child, or for the wish to end it."""

    def __init__(self, child: int, control: int, grace: float, *, messages: Messages | None = None) -> None:
        self.child = child
        self.grace = grace
        self.deadline: float | None = None
        self.status: int | None = None
        self.control = control
        self.wake = signal_pipe()
        self.poll = select.poll()
        self.poll.register(control, select.POLLIN)
        self.poll.register(self.wake, select.POLLIN)
        self.messages = messages
        if messages is not None:
            self.poll.register(messages.reader, select.POLLIN)

    def until_the_end(self) -> int:
        """Returns the child's wait status; after a deadline the child is killed for it."""
        self.reap()
        while self.status is None:
            left = None if self.deadline is None else self.deadline - time.monotonic()
            if left is not None and left <= 0:
                kill([self.child])
            for source, _ in self.poll.poll(None if left is None else max(left * 1000, 10)):
                self.hear(source)
            self.reap()
        return self.status

    def hear(self, source: int) -> None:
        """Takes in what woke us: a message, a signal, a word from Amelia, or its end."""
        if self.messages is not None and source == self.messages.reader:
            if not self.messages.take():
                self.poll.unregister(source)
            return
        said = os.read(source, 4096)
        if source == self.wake:
            if any(number in ASKS_TO_END for number in said):
                self.end_within(self.grace)
            return
        if not said:
            self.poll.unregister(source)
            self.end_within(self.grace)
        for word in said.split(b"\n"):
            if word == b"interrupt":
                kill([self.child], signal.SIGINT)
            elif word.startswith(b"stop "):
                self.end_within(float(word[5:]))

    def end_within(self, grace: float) -> None:
        """Asks the child to end, and sets or shortens its time for that."""
        deadline = time.monotonic() + grace
        if self.deadline is None:
            kill([self.child], signal.SIGTERM)
            self.deadline = deadline
        self.deadline = min(self.deadline, deadline)

    def reap(self) -> None:
        """Takes the status of every child that has ended, orphans included."""
        for pid, status in ended_children():
            if pid == self.child:
                self.status = status


def note(number: int, frame: object) -> None:
    """Does nothing: a signal with a handler is written to the pipe."""


def signal_pipe() -> int:
    """Returns a file descriptor from which the numbers of arriving signals can be read."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, *ASKS_TO_END):
        signal.signal(number, note)
    return reader


def ended_children() -> Iterator[tuple[int, int]]:
    """Returns id and wait status of the children that have ended."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        yield pid, status


def end_all(child: int) -> None:
    """Kills whatever is left below this process, again and again, until nothing is."""
    if sys.platform != "linux":
        kill([-child])  # its process group: all that can be known without `/proc`
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return  # orphans are our children, so that none is left without a look at all processes
        kill(left := descendants([os.getpid()]), signal.SIGSTOP)  # else a script would go on
        kill(left)
        time.sleep(PAUSE)


def main(arguments: list[str]) -> int:
    """Supervises one program: `CONTROL-FD REPORT-FD GRACE-SECONDS`, the order through its pipe."""
    control, report, grace = int(arguments[0]), int(arguments[1]), float(arguments[2])
    os.set_inheritable(control, False)  # noqa: FBT003 - that is its signature
    become_reaper()
    order = read_order(control)
    if order is None:
        return CANNOT_START  # nobody needs us, or Amelia is gone
    if order.is_merged:
        os.dup2(1, 2)
    lock = take_lock(order.lock) if order.lock else None
    if order.lock and lock is None:
        complain(f"{os.fsdecode(order.lock)}: another process still works under this lock")
        return LOCK_IS_HELD
    if is_closed(control):
        return CANNOT_START  # Amelia is gone by now; whoever resumes the run works without us
    gate = os.pipe()
    messages = None if order.is_merged else Messages()
    child = start(order, gate, report=report, messages=messages.writer if messages else None)
    if messages:
        os.close(messages.writer)
    watch = Watch(child, control, grace, messages=messages)
    if lock is not None:
        write_record(lock, child)
    os.write(gate[1], b"!")
    status = watch.until_the_end()
    end_all(child)
    if messages:
        messages.close()
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def run(arguments: list[str]) -> None:
    """Is the whole program; ends without tidying up an interpreter that nobody needs any more."""
    try:
        os._exit(main(arguments))
    finally:
        kill([os.getpid()])  # something broke: after a death like that, whoever started us ends what is left
