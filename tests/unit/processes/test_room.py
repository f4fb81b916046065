"""Room on file systems: who is full, and which errors tell of it."""

import errno
import sqlite3
from pathlib import Path

import pytest

from amelia.model.errors import AmeliaError
from amelia.system.room import FULL, Room, RoomWatch, is_out_of_room, tightest

PLACE = Path("/mnt")


def caused(problem: Exception) -> AmeliaError:
    error = AmeliaError("the transcript cannot be written")
    error.__cause__ = problem
    return error


@pytest.mark.parametrize(
    "problem",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        caused(OSError(errno.ENOSPC, "")),
        sqlite3.OperationalError("database or disk is full"),
        AmeliaError("git add failed: fatal: write error: No space left on device"),
    ],
)
def test_errors_of_a_full_disk_are_known(problem: Exception) -> None:
    assert is_out_of_room(problem)


@pytest.mark.parametrize("problem", [OSError(errno.EACCES, "no"), ValueError("full"), caused(ValueError())])
def test_other_errors_are_not(problem: Exception) -> None:
    assert not is_out_of_room(problem)


def test_a_full_file_system_says_how_much_is_missing() -> None:
    assert str(Room(PLACE, 10_000, 2_000_000_000, 5)) == (
        "no room is left on the file system at /mnt: 0.0 MB of 2000.0 MB are free, and 100.0 MB more are needed"
    )
    assert "all of its inodes are used" in str(Room(PLACE, 10**9, 10**10, 0))
    assert Room(PLACE, FULL - 1, 10**9, None).is_full
    assert Room(PLACE, 10**9, 10**10, 0).is_full
    assert not Room(PLACE, FULL, 10**9, 1).is_full


def test_room_is_that_of_the_file_system_a_place_would_be_on(tmp_path: Path) -> None:
    here, there = tightest([tmp_path]), tightest([tmp_path / "not" / "yet"])
    assert here is not None
    assert there is not None
    assert (here.mount, here.size) == (there.mount, there.size)
    assert tightest([]) is None


def test_a_watch_over_a_disk_with_room_finds_nothing(tmp_path: Path) -> None:
    with RoomWatch([tmp_path]) as room:
        assert room.full is None
