"""One login, two files: the user's, and the copy that an agent behind a wall has; kept in step both ways.

A provider that renews a token makes the old one worthless. So a token that was renewed inside has to reach
the user's file, and one that was renewed outside the copy, while a turn goes on, not only at its end.

- What both had in common last is written down where the agent cannot write; whoever differs from it has
  changed, and is copied to the other, if that has not changed itself. If both have, the later one counts.
- The user's file is replaced only by something of the same shape, and only if it is what was read before.
- Several runs may do this at the same time: a lock on the user's directory lets one after the other do it.
"""

import fcntl
import json
import os
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import cast

_PAUSE = 0.25
_LARGEST = 1_000_000
_PATIENCE = 5.0


@dataclass(frozen=True, slots=True)
class Login:
    """The user's file, the copy, and the file with what both had in common last."""

    users: Path
    inside: Path
    common: Path

    def step(self) -> None:
        """Brings both files in step, as far as they can be read and written."""
        with suppress(OSError), _locked(self.users.parent):
            self._step()

    def forget(self) -> None:
        """Removes the copy, unless it holds something that could not be brought to the user's file."""
        inside = _read(self.inside)
        if inside is not None and inside == _read(self.users):
            for copy in (self.inside, self.common):
                copy.unlink(missing_ok=True)

    def _step(self) -> None:
        users, inside, common = _read(self.users), _read(self.inside), _read(self.common)
        newest = inside if self._is_renewed_inside(users, inside, common=common) else users
        if newest is None:
            return
        if users != newest and _read(self.users) == users:
            _write(self.users, newest)
        if inside != newest:
            _write(self.inside, newest)
        if common != newest:
            _write(self.common, newest)

    def _is_renewed_inside(self, users: bytes | None, inside: bytes | None, *, common: bytes | None) -> bool:
        if users is None or inside is None or inside == common or not _is_alike(users, inside):
            return False
        return users == common or _changed(self.inside) > _changed(self.users)


@contextmanager
def in_step(login: Login | None) -> Generator[None]:
    """Keeps a login in step for the length of a block, and once more at its end; then the copy is gone."""
    if login is None:
        yield
        return
    is_over = Event()

    def go_on() -> None:
        seen: object = None
        while not is_over.wait(_PAUSE):
            now = _changed(login.users), _changed(login.inside)
            if now != seen:
                login.step()
                seen = now

    login.step()
    thread = Thread(target=go_on, name="login", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join(_PATIENCE)
        login.step()
        login.forget()


@contextmanager
def _locked(folder: Path) -> Generator[None]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _read(path: Path) -> bytes | None:
    """Returns what is in a file; None if it is no file of its own, or too large to be a login."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        data = file.read(_LARGEST + 1)
    return data if data and len(data) <= _LARGEST else None


def _changed(path: Path) -> int:
    try:
        return path.lstat().st_mtime_ns
    except OSError:
        return 0


def _write(path: Path, data: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        file.write(data)
    Path(file.name).replace(path)


def _is_alike(users: bytes | None, inside: bytes) -> bool:
    """Says whether what an agent has may take the place of the user's login: it holds the same names."""
    before, after = _shape(users), _shape(inside)
    return before is not None and after is not None and before <= after


def _shape(data: bytes | None) -> frozenset[str] | None:
    try:
        value: object = json.loads(data or b"")
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    table = cast("dict[str, object]", value)
    inner = {
        f"{name}.{key}"
        for name, each in table.items()
        if isinstance(each, dict)
        for key in cast("dict[str, object]", each)
    }
    return frozenset({*table, *inner})
