"""One login, two files: the user's, and the copy that an agent behind a wall has; kept in step both ways.

A provider that renews a token makes the old one worthless. So a token that was renewed inside has to reach
the user's file, and one that was renewed outside the copy, while a turn goes on, not only at its end.

- What both had in common last is written down where the agent cannot write; whoever differs from it has
  changed, and is copied to the other, if that has not changed itself. If both have, the later one counts.
- The user's file is replaced only by something of the same shape, and only if it is what was read before.
- Several runs may do this at the same time: a lock on the user's directory lets one after the other do it.
  Programs behind a wall can hold that lock too, so nobody waits for it long: a step that does not get it is
  taken later.
"""

import fcntl
import json
import os
import stat
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import cast

_PAUSE = 0.25
_LARGEST = 1_000_000
_USUAL = 64 * 1024
_GROWTH = 4
_PATIENCE = 5.0
_LOCK_PATIENCE = 2.0
_LOCK_PAUSE = 0.02


@dataclass(frozen=True, slots=True)
class Login:
    """The user's file, the copy, and the file with what both had in common last."""

    users: Path
    inside: Path
    common: Path

    def step(self) -> bool:
        """Brings both files in step, as far as they can be read and written; says whether it could."""
        try:
            with _locked(self.users.parent):
                self._step()
        except OSError:
            return False
        return True

    def forget(self) -> None:
        """Removes the copy, unless it holds something that could not be brought to the user's file."""
        inside = _read(self.inside)
        if inside is not None and inside == _read(self.users):
            self.remove()

    def remove(self) -> None:
        """Removes the copy, whatever it holds."""
        for copy in (self.inside, self.common):
            with suppress(OSError):
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
            if now != seen and login.step():
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
        _lock(handle)
        yield
    finally:
        os.close(handle)


def _lock(handle: int) -> None:
    """Locks a directory; raises `BlockingIOError` if somebody else holds it for too long."""
    deadline = time.monotonic() + _LOCK_PATIENCE
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_LOCK_PAUSE)


def _read(path: Path) -> bytes | None:
    """Returns what is in a file; None if it is no file of its own, or too large to be a login."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        with os.fdopen(handle, "rb", closefd=False) as file:
            data = file.read(_LARGEST + 1)
    except OSError:
        return None
    finally:
        os.close(handle)
    return data if data and len(data) <= _LARGEST else None


def _changed(path: Path) -> int:
    try:
        return path.lstat().st_mtime_ns
    except OSError:
        return 0


def _write(path: Path, data: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        file.write(data)
    try:
        Path(file.name).replace(path)
    except OSError:  # such as a directory in its place
        Path(file.name).unlink(missing_ok=True)
        raise


def _is_alike(users: bytes, inside: bytes) -> bool:
    """Says whether what an agent has may take the place of the user's login.

    It has the same names at the top and no name less in the tables there, values of the same kind, no empty
    text where the user has one, and is not much larger.
    """
    if len(inside) > max(_USUAL, _GROWTH * len(users)):
        return False
    before, after = _table(users), _table(inside)
    if before is None or after is None or before.keys() != after.keys():
        return False
    return all(_is_like(value, after[name]) for name, value in before.items())


def _is_like(before: object, after: object) -> bool:
    """Says whether a value may take the place of one at the top: a table is compared name by name."""
    if not _is_of_kind(before, after):
        return False
    if not isinstance(before, dict):
        return True
    old, new = cast("dict[str, object]", before), cast("dict[str, object]", after)
    # What is not known yet, such as the name of an account, may be told with a renewed token.
    return all(
        name in new and (_is_of_kind(value, new[name]) or (value is None and isinstance(new[name], str)))
        for name, value in old.items()
    )


def _is_of_kind(before: object, after: object) -> bool:
    return _kind(before) == _kind(after) and (after != "" or before == "")


def _kind(value: object) -> type:
    return float if type(value) is int else type(value)


def _table(data: bytes) -> dict[str, object] | None:
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", value) if isinstance(value, dict) else None
