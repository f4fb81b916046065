"""Marks of the directories that Amelia made; nothing else is ever removed.

- A marked directory holds a file `.amelia` that names the directory: a copy or a renamed one has no mark.
- A directory appears under its name with its mark in it: it is made under a reserved name, marked, renamed.
  Killed at any moment, that leaves nothing, a marked directory, or a reserved name with no more than a mark.
- A directory is looked at through its own descriptor, and never through a link in its place.
"""

import errno
import json
import os
import secrets
import stat
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from amelia.model.errors import AmeliaError

MARK = ".amelia"
RESERVED = ".amelia-new-"
_LARGEST = 4096
_LONG_AGO = 60.0  # seconds; nobody takes that long between the reserved name and the right one
_LOOK = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class NotOwnedError(AmeliaError):
    """Something was to be removed or overwritten that may not be Amelia's."""


class OwnedKind(StrEnum):
    """The purpose of a directory that Amelia made."""

    RUN = "run"
    REVIEW = "review"
    TEMPORARY = "temporary"


@dataclass(frozen=True, slots=True)
class OwnerMark:
    """The content of a mark; `is_begun` says that the journal in the directory has had its first event."""

    kind: OwnedKind
    name: str
    is_begun: bool = False


@dataclass(frozen=True, slots=True)
class OwnedDirectory:
    """Descriptors of a marked directory and of the directory it lies in."""

    parent: int
    itself: int


def make_owned(path: Path, kind: OwnedKind) -> None:
    """Makes a directory that nobody else may look into, with its mark."""
    path.parent.mkdir(parents=True, exist_ok=True)
    clear_reserved(path.parent)
    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    reserved = path.with_name(f"{RESERVED}{path.name}")
    reserved.mkdir(mode=0o700)
    try:
        _write(reserved / MARK, OwnerMark(kind, path.name))
        _flush(reserved)
        reserved.rename(path)
    except OSError:
        _clear(reserved)
        raise
    _flush(path.parent)


def write_mark(path: Path, mark: OwnerMark) -> None:
    """Puts a mark into a directory, in the place of the one that is there."""
    if path.is_symlink():
        raise NotOwnedError(f"{path} is a link; it gets no mark")
    whole = path / f"{MARK}-{secrets.token_hex(4)}"
    try:
        _write(whole, mark)
        whole.replace(path / MARK)
    except OSError:
        whole.unlink(missing_ok=True)
        raise
    _flush(path)


def find_mark(path: Path) -> OwnerMark | None:
    """Returns the mark of a directory; None for one that has no mark of its own, and for links."""
    try:
        with open_owned(path) as owned:
            return _read(owned.itself)
    except (OSError, NotOwnedError):
        return None


@contextmanager
def open_owned(path: Path) -> Generator[OwnedDirectory]:
    """Opens a marked directory; whatever has no mark with its name is refused."""
    with ExitStack() as opened:
        parent = os.open(path.parent, _LOOK)
        opened.callback(os.close, parent)
        if stat.S_ISLNK(os.stat(path.name, dir_fd=parent, follow_symlinks=False).st_mode):
            raise link_refused(path)
        itself = os.open(path.name, _LOOK | os.O_NOFOLLOW, dir_fd=parent)
        opened.callback(os.close, itself)
        mark = _read(itself)
        if mark is None or mark.name != path.name:
            raise NotOwnedError(
                f"{path} has no mark of Amelia's with its name; nothing in it is removed or overwritten",
                hint=f"a run works under its own name only: see {path / MARK}, and rename it back",
            )
        yield OwnedDirectory(parent, itself)


def link_refused(link: Path) -> NotOwnedError:
    """Returns the error that names a link in the place of a directory that Amelia made."""
    return NotOwnedError(
        f"{link} is a link; nothing is removed or overwritten through it",
        hint="put the directory itself there; if nobody needs what the link leads to, remove the link",
    )


def retire(path: Path, owned: OwnedDirectory) -> None:
    """Removes a marked directory that holds nothing but its mark."""
    reserved = f"{RESERVED}{path.name}"
    os.rename(path.name, reserved, src_dir_fd=owned.parent, dst_dir_fd=owned.parent)
    os.unlink(MARK, dir_fd=owned.itself)
    os.rmdir(reserved, dir_fd=owned.parent)


def clear_reserved(parent: Path) -> None:
    """Removes reserved names that a killed process left; one with anything but a mark in it stays."""
    for path in parent.glob(f"{RESERVED}*"):
        with suppress(OSError):
            if time.time() - path.lstat().st_mtime > _LONG_AGO:
                _clear(path)


def _clear(reserved: Path) -> None:
    if reserved.is_symlink() or set(os.listdir(reserved)) - {MARK}:  # noqa: PTH208 - names are all that is needed
        return
    (reserved / MARK).unlink(missing_ok=True)
    reserved.rmdir()


def _write(path: Path, mark: OwnerMark) -> None:
    told = {"kind": mark.kind, "name": mark.name, "begun": mark.is_begun}
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(json.dumps(told).encode("ascii") + b"\n")
        file.flush()
        os.fsync(descriptor)


def _flush(directory: Path) -> None:
    """Makes sure that the names in a directory are on the disk."""
    descriptor = os.open(directory, _LOOK)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(directory: int) -> OwnerMark | None:
    try:
        # A pipe in the place of the mark would keep us waiting.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(MARK, flags, dir_fd=directory)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return _understood(file.read(_LARGEST))


def _understood(data: bytes) -> OwnerMark | None:
    try:
        told: Any = json.loads(data)
    except (ValueError, RecursionError):
        return None
    match told:
        case {"kind": str(kind), "name": str(name), "begun": bool(is_begun)} if kind in set(OwnedKind):
            return OwnerMark(OwnedKind(kind), name, is_begun)
        case _:
            return None
