"""Starts the command line of Amelia and kills it at one point of its life; a program, not a module.

    launch.py LOG [TAG COUNT MOMENT] -- AMELIA ARGUMENTS

- A point is an append to the journal, a git command, the start of an agent or a check, or a file of the record
  or of the draft. It carries tags: `journal` and the types of the events, `git` and the verb, `process` and the
  program, `file` and what becomes of it (`written`, `shown` in a lane, `moved` into a lane or out of it). The
  COUNT-th point that carries the TAG is the one to die at; if none is given, the process lives.
- A moment is `before`, `during` or `after`. During a git command: git has been started and goes on alone.
  During an append: everything is written, nothing is committed. While a file is written or shown: half of it is
  there. A start and a move are too short for a moment during them.
- Every point is written to the log before its first moment, so that the last line tells where a process died.
"""

import os
import shutil
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from amelia.model.events import Event
from amelia.model.journal import Recorded, Request
from amelia.record.codec import type_name
from amelia.record.journal import SqliteJournal
from amelia.show.cli import main
from amelia.system import git, process, supervisors


@dataclass(frozen=True, slots=True)
class Target:
    """The point to die at, and when."""

    tag: str
    count: int
    moment: str


class Fate:
    """Counts points, from whatever thread, and tells at which moment of one to die."""

    def __init__(self, log: Path, target: Target | None) -> None:
        self._log = log
        self._target = target
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    def moment_at(self, tags: Sequence[str]) -> str | None:
        """Notes a point that is about to happen; returns the moment to die, if this is the point."""
        with self._lock:
            self._seen.update(set(tags))
            with self._log.open("a") as log:
                log.write(" ".join(tags) + "\n")
            target = self._target
            is_it = target is not None and target.tag in tags and self._seen[target.tag] == target.count
            return target.moment if target is not None and is_it else None


def die() -> NoReturn:
    """Ends this process as nothing else does: at once, without a word."""
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()
    raise AssertionError


def watch_git(fate: Fate) -> None:
    """Makes every git command a point."""
    run, wait = git._run, git._wait  # pyright: ignore[reportPrivateUsage]
    moments = threading.local()

    def verb(argv: Sequence[str]) -> str:
        words = list(argv[2:])
        while words[0] == "-c":
            words = words[2:]
        return words[0]

    def watched_run(argv: Sequence[str], *args: object, **named: object) -> object:
        moments.now = fate.moment_at(["git", verb(argv)])
        if moments.now == "before":
            die()
        answer = run(argv, *args, **named)  # pyright: ignore[reportArgumentType]
        if moments.now == "after":
            die()
        return answer

    def watched_wait(*args: object) -> object:
        if moments.now == "during":
            die()
        return wait(*args)  # pyright: ignore[reportArgumentType]

    setattr(git, "_run", watched_run)  # noqa: B010 - the type checker need not know
    setattr(git, "_wait", watched_wait)  # noqa: B010


def watch_journal(fate: Fate) -> None:
    """Makes every append to a journal a point."""
    append = SqliteJournal.append

    def watched(
        self: SqliteJournal, events: Sequence[Event], *, answering: Sequence[Request] = ()
    ) -> list[Recorded]:
        moment = fate.moment_at(["journal", *(type_name(type(event)) for event in events)])
        if moment == "before":
            die()
        if moment == "during":
            base = self._base  # pyright: ignore[reportPrivateUsage]
            base.set_trace_callback(lambda sql: die() if sql == "COMMIT" else None)
        recorded = append(self, events, answering=answering)
        if moment == "after":
            die()
        return recorded

    SqliteJournal.append = watched


def watch_processes(fate: Fate) -> None:
    """Makes the start of every supervised program a point."""
    written, begin = supervisors.Order.written, process.Supervised.__init__
    is_doomed = False

    def watched_order(self: supervisors.Order, token: str) -> bytes:
        nonlocal is_doomed
        moment = fate.moment_at(["process", Path(self.argv[0]).name])
        if moment == "before":
            die()
        is_doomed = is_doomed or moment == "after"
        return written(self, token)

    def watched_begin(self: process.Supervised, supervisor: supervisors.Supervisor) -> None:
        if is_doomed:
            die()
        begin(self, supervisor)

    setattr(supervisors.Order, "written", watched_order)  # noqa: B010 - the type checker need not know
    setattr(process.Supervised, "__init__", watched_begin)  # noqa: B010


def watch_files(fate: Fate) -> None:
    """Makes everything that happens to a file of the record a point."""
    replace, copy, rename = os.replace, shutil.copyfile, Path.rename

    def at(what: str, act: Callable[[], object], *, half: tuple[Path, Path] | None = None) -> None:
        moment = fate.moment_at(["file", what])
        if moment == "before":
            die()
        if moment == "during" and half is not None:
            origin, path = half
            data = origin.read_bytes()
            path.write_bytes(data[: len(data) // 2])
            die()
        act()
        if moment == "after":
            die()

    def watched_replace(unfinished: Path, path: Path) -> None:
        at("written", lambda: replace(unfinished, path), half=(unfinished, unfinished))

    def watched_copy(origin: Path, path: Path) -> None:
        if "docs/amelia" not in path.as_posix():
            copy(origin, path)
            return
        at("shown", lambda: copy(origin, path), half=(origin, path))

    def watched_rename(self: Path, path: Path) -> Path:
        if "guest" in {self.name, path.name} and self.exists():
            at("moved", lambda: rename(self, path))
            return path
        return rename(self, path)

    setattr(os, "replace", watched_replace)  # noqa: B010 - the type checker need not know
    setattr(shutil, "copyfile", watched_copy)  # noqa: B010
    setattr(Path, "rename", watched_rename)  # noqa: B010


def start() -> None:
    """Does what the command line says."""
    own, given = sys.argv[1 : sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1 :]
    log, *rest = own
    target = Target(rest[0], int(rest[1]), rest[2]) if rest else None
    fate = Fate(Path(log), target)
    watch_git(fate)
    watch_journal(fate)
    watch_processes(fate)
    watch_files(fate)
    sys.argv = ["amelia", *given]
    main()


if __name__ == "__main__":
    start()
