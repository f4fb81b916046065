"""The journal of a run: one append-only SQLite file.

- Written before acting: what is not in it did not happen. A batch of events is one transaction, on disk when
  `append` returns (WAL, synchronous FULL).
- Numbers have no gaps. Rows are never changed or deleted.
- One writer: whoever opens it for writing holds an operating-system lock on the file for as long as it is
  open. Everybody else reads, and leaves requests in the mailbox.
"""

import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias, cast

from amelia.model.errors import JournalError
from amelia.model.events import Event
from amelia.model.journal import Recorded, Request, Wanted
from amelia.record.codec import VERSION, decode, encode

_FORMAT = 1
_LOCK_TRIES = 10
_LOCK_PAUSE = 0.03
_DAMAGED = "restore the file from a copy"
_SCHEMA = f"""
    PRAGMA journal_mode = WAL;
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS events (
        seq INTEGER PRIMARY KEY, at TEXT NOT NULL,
        type TEXT NOT NULL, version INTEGER NOT NULL, body BLOB NOT NULL
    );
    CREATE TABLE IF NOT EXISTS mailbox (
        id INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, version INTEGER NOT NULL, body BLOB NOT NULL
    );
    CREATE TABLE IF NOT EXISTS refused (id INTEGER PRIMARY KEY, reason TEXT NOT NULL);
    PRAGMA user_version = {_FORMAT};
    COMMIT;
"""

_Row: TypeAlias = tuple[int, str, str, int, bytes]


class JournalBusyError(JournalError):
    """Another process drives the run."""


class SqliteJournal:
    """A journal open for its only writer; a context manager that holds the lock."""

    def __init__(self, path: Path, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._path = path
        self._now = now
        with ExitStack() as opened, _clear_errors(path):
            # Let go last, since closing any descriptor of the file drops the locks SQLite holds on it.
            opened.callback(os.close, _lock(path))
            self._base = opened.enter_context(closing(_connect(path)))
            _check_format(self._base, path)
            self._base.executescript(_SCHEMA)
            self._last = cast(
                "int", self._base.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]
            )
            self._opened = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.close()

    def read(self) -> list[Recorded]:
        """Returns everything that happened."""
        with _clear_errors(self._path):
            return _events(self._base, self._path)

    def append(self, events: Sequence[Event], *, answering: Sequence[Request] = ()) -> list[Recorded]:
        """Writes events, all or none, for good, and takes the requests they answer out of the mailbox."""
        at = self._now()
        recorded = [Recorded(self._last + n, at, event) for n, event in enumerate(events, start=1)]
        rows = [
            (r.seq, at.isoformat(), kind, VERSION, body) for r in recorded for kind, body in [encode(r.event)]
        ]
        refused = [(r.id, r.refused) for r in answering if r.refused is not None]
        with _clear_errors(self._path), self._base:
            self._base.execute("BEGIN IMMEDIATE")
            self._base.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", rows)
            self._base.executemany("DELETE FROM mailbox WHERE id = ?", [(r.id,) for r in answering])
            self._base.executemany("INSERT OR IGNORE INTO refused VALUES (?, ?)", refused)
        self._last += len(recorded)
        return recorded

    def requests(self) -> list[Request]:
        """Returns what is in the mailbox."""
        with _clear_errors(self._path):
            rows = self._base.execute("SELECT id, type, version, body FROM mailbox ORDER BY id").fetchall()
        return list(_known_requests(rows))


def read_journal(path: Path, *, after: int = 0, at_most: int = -1) -> list[Recorded]:
    """Returns what happened after an event, without disturbing the writer."""
    with _visiting(path) as base:
        return _events(base, path, after=after, at_most=at_most) if _format(base) else []


def leave_request(path: Path, wanted: Wanted) -> int:
    """Puts a wish into the mailbox of a run, and returns its number there."""
    kind, body = encode(wanted)
    with _visiting(path) as base:
        left = base.execute(
            "INSERT INTO mailbox (type, version, body) VALUES (?, ?, ?)", (kind, VERSION, body)
        )
        assert left.lastrowid is not None
        return left.lastrowid


def is_answered(path: Path, number: int) -> bool:
    """Says whether a wish is out of the mailbox of a run: it was fulfilled, or refused."""
    with _visiting(path) as base:
        return base.execute("SELECT 1 FROM mailbox WHERE id = ?", (number,)).fetchone() is None


def why_refused(path: Path, number: int) -> str | None:
    """Returns why a wish was refused; None if it was not, or an older Amelia did not say so."""
    with _visiting(path) as base:
        if base.execute("SELECT 1 FROM sqlite_master WHERE name = 'refused'").fetchone() is None:
            return None
        row = base.execute("SELECT reason FROM refused WHERE id = ?", (number,)).fetchone()
    return cast("str", row[0]) if row is not None else None


def is_driven(path: Path) -> bool:
    """Says whether some process drives the run now."""
    if not path.exists():
        return False
    try:
        os.close(_lock(path))
    except JournalBusyError:
        return True
    return False


@contextmanager
def _visiting(path: Path) -> Generator[sqlite3.Connection]:
    """Opens a journal for somebody who is not its writer."""
    if not path.is_file():
        raise JournalError(f"{path}: there is no journal", hint=_DAMAGED)
    with _clear_errors(path), closing(_connect(path)) as base:
        _check_format(base, path)
        yield base


def _connect(path: Path) -> sqlite3.Connection:
    base = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    base.execute("PRAGMA synchronous = FULL")
    return base


def _format(base: sqlite3.Connection) -> int:
    """Returns the format of a journal; 0 if whoever was to write it was killed before the first word."""
    return cast("int", base.execute("PRAGMA user_version").fetchone()[0])


def _check_format(base: sqlite3.Connection, path: Path) -> None:
    found = _format(base)
    if found > _FORMAT:
        raise JournalError(
            f"{path}: the journal was written by a newer Amelia (format {found}, known: {_FORMAT})",
            hint="use that version, or a newer one; nothing was changed",
        )


def _events(base: sqlite3.Connection, path: Path, *, after: int = 0, at_most: int = -1) -> list[Recorded]:
    rows = base.execute(
        "SELECT seq, at, type, version, body FROM events WHERE seq > ? ORDER BY seq LIMIT ?",
        (after, at_most),
    ).fetchall()
    return list(_without_gaps(rows, path, after=after))


def _without_gaps(rows: Iterable[_Row], path: Path, *, after: int) -> Generator[Recorded]:
    for expected, (seq, at, kind, version, body) in enumerate(rows, start=after + 1):
        if seq != expected:
            raise JournalError(f"{path}: event {expected} is missing", hint=_DAMAGED)
        try:
            when = datetime.fromisoformat(at)
        except (TypeError, ValueError) as problem:
            raise JournalError(
                f"{path}: the time of event {seq} is damaged: {at}", hint=_DAMAGED
            ) from problem
        yield Recorded(seq, when, decode(kind, version, body))


def _known_requests(rows: Iterable[tuple[int, str, int, bytes]]) -> Generator[Request]:
    """Yields what can be understood; a wish of a newer version waits for a newer coordinator."""
    for number, kind, version, body in rows:
        with suppress(JournalError):
            yield Request(number, cast("Wanted", decode(kind, version, body)))


def _lock(path: Path) -> int:
    """Takes the writer's lock; a process that only looks whether it is free holds it for a moment."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as problem:
        raise JournalError(f"{path}: cannot be opened: {problem.strerror}") from problem
    for attempt in range(_LOCK_TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if attempt < _LOCK_TRIES - 1:
                time.sleep(_LOCK_PAUSE)
        else:
            return descriptor
    os.close(descriptor)
    raise JournalBusyError(f"{path}: another process drives this run", hint="watch it with `amelia status`")


@contextmanager
def _clear_errors(path: Path) -> Generator[None]:
    """Turns what SQLite says into what a person can act on."""
    try:
        yield
    except sqlite3.OperationalError as problem:
        raise JournalError(
            f"{path}: {problem}",
            hint="make room on the disk or mend its permissions, then run `amelia resume`",
        ) from problem
    except sqlite3.DatabaseError as problem:
        raise JournalError(f"{path}: {problem}", hint=_DAMAGED) from problem
