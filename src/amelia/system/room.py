"""Room on the file systems that a run works on: which of them is full, and how that is told."""

import errno
import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

FULL = 64 * 1024
"""A file system with fewer bytes free than this is full: nothing that a run does fits in."""

_WANTED = 100_000_000  # bytes that are asked for, on a large file system
_INTERVAL = 0.25
_MEGABYTE = 1_000_000
_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT})
_TEXTS = ("No space left on device", "Disk quota exceeded", "database or disk is full")


@dataclass(frozen=True, slots=True)
class Room:
    """The room on one file system; `files` is how many can still be made, if that is bounded."""

    mount: Path
    free: int
    size: int
    files: int | None

    @property
    def is_full(self) -> bool:
        """Tells whether nothing can be written any more."""
        return self.free < FULL or self.files == 0

    def __str__(self) -> str:
        if self.files == 0:
            return f"no more files can be made on the file system at {self.mount}: all of its inodes are used"
        missing = max(min(_WANTED, self.size // 4) - self.free, FULL)
        return (
            f"no room is left on the file system at {self.mount}: {_megabytes(self.free)} of "
            f"{_megabytes(self.size)} are free, and {_megabytes(missing)} more are needed"
        )


def temporary_place() -> Path:
    """Returns where temporary files are, without writing one, as Python does to find out."""
    return Path(os.environ.get("TMPDIR") or "/tmp")  # noqa: S108 - nothing is written there


def tightest(places: Iterable[Path]) -> Room | None:
    """Returns the file system with the least room of those that hold some places."""
    rooms = [room for place in places if (room := _room_at(place)) is not None]
    return min(rooms, key=lambda room: (not room.is_full, room.free), default=None)


def is_out_of_room(problem: BaseException) -> bool:
    """Tells whether an error comes from a file system without room."""
    seen: BaseException | None = problem
    while seen is not None:
        if isinstance(seen, OSError) and seen.errno in _ERRORS:
            return True
        if any(text in str(seen) for text in _TEXTS):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


class RoomWatch:
    """Notices that a file system was full at some time in a block, also if it is not any more."""

    def __init__(self, places: Iterable[Path]) -> None:
        self._places = tuple(places)
        self._found: Room | None = None
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="room", daemon=True)

    @property
    def full(self) -> Room | None:
        """The file system that is or was full; None if there always was room."""
        self._look()
        return self._found

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over.set()

    def _watch(self) -> None:
        while self._found is None and not self._is_over.wait(_INTERVAL):
            self._look()

    def _look(self) -> None:
        if self._found is None and (room := tightest(self._places)) is not None and room.is_full:
            self._found = room


def _room_at(place: Path) -> Room | None:
    place = next((folder for folder in (place, *place.parents) if folder.exists()), place)
    try:
        found = os.statvfs(place)
    except OSError:
        return None
    if not found.f_blocks:
        return None  # a file system that does not say
    free = found.f_bfree if os.geteuid() == 0 else found.f_bavail
    files = found.f_favail if found.f_files else None
    return Room(_mount_of(place), free * found.f_frsize, found.f_blocks * found.f_frsize, files)


def _mount_of(place: Path) -> Path:
    here = Path(os.path.realpath(place))
    return next((folder for folder in (here, *here.parents) if folder.is_mount()), here)


def _megabytes(size: int) -> str:
    return f"{size / _MEGABYTE:.1f} MB"
