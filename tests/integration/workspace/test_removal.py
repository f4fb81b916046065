"""Removal keeps to the directories that Amelia made, and to the ways without links."""

import os
import subprocess  # noqa: TID251 - permissions hold only for who is not root
import sys
from pathlib import Path

import pytest

from amelia.system.ownership import MARK, NotOwnedError, OwnedKind, find_mark, make_owned
from amelia.workspace.removal import open_up, real_directory, remove
from stories import NOT_ROOT


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A directory that Amelia made."""
    make_owned(tmp_path / "own", OwnedKind.RUN)
    return tmp_path / "own"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A directory that somebody else made."""
    (tmp_path / "other" / "deep").mkdir(parents=True)
    (tmp_path / "other" / "deep" / "file").write_text("precious\n")
    return tmp_path / "other"


def is_whole(other: Path) -> bool:
    return (other / "deep" / "file").read_text() == "precious\n"


def test_what_lies_in_a_marked_directory_goes(own: Path, other: Path) -> None:
    (own / "a" / "b").mkdir(parents=True)
    (own / "a" / "b" / "link").symlink_to(other)
    (own / "file").touch()
    (own / "link").symlink_to(other)
    for name in ("a", "file", "link", "missing", "missing/deeper", "file/deeper"):
        remove(own / name, within=own)
    assert sorted(path.name for path in own.iterdir()) == [MARK]
    assert is_whole(other)


def test_a_marked_directory_goes_as_a_whole(own: Path, other: Path) -> None:
    (own / "a").mkdir()
    (own / "link").symlink_to(other)
    remove(own, within=own)
    assert not [path for path in own.parent.iterdir() if path.name not in {"home", "other"}]
    remove(own, within=own)
    assert is_whole(other)


def test_a_directory_without_a_mark_is_left(other: Path) -> None:
    for place in (other, other / "deep", other / "deep" / "file"):
        with pytest.raises(NotOwnedError, match="no mark"):
            remove(place, within=other)
        with pytest.raises(NotOwnedError, match="no mark"):
            open_up(other / "deep", within=other)
    with pytest.raises(NotOwnedError, match="no mark"):
        real_directory(other / "deep", within=other)
    assert is_whole(other)


@pytest.mark.parametrize(
    "mark",
    [
        b"",
        b"[" * 4000,
        b"{}",
        b"\xff",
        b'{"kind": "run", "name": "own", "begun": true}',
        b'{"kind": "run", "name": "other"}',
        b'{"kind": "house", "name": "other", "begun": true}',
        b'{"kind": "run", "name": "other", "begun": "yes"}',
        b'["run", "other", true]',
    ],
)
def test_a_mark_that_says_something_else_is_none(other: Path, mark: bytes) -> None:
    (other / MARK).write_bytes(mark)
    assert find_mark(other) is None
    with pytest.raises(NotOwnedError):
        remove(other, within=other)
    assert is_whole(other)


def test_a_mark_is_a_file_of_the_directory_itself(own: Path, other: Path) -> None:
    (other / MARK).symlink_to(own / MARK)
    renamed = own.rename(own.parent / "renamed")
    assert find_mark(other) is None
    assert find_mark(renamed) is None
    (other / MARK).unlink()
    os.mkfifo(other / MARK)
    assert find_mark(other) is None


def test_a_link_in_the_middle_is_refused_by_name(own: Path, other: Path) -> None:
    (own / "lanes").mkdir()
    (own / "lanes" / "1").symlink_to(other)
    for act in (remove, real_directory, open_up):
        with pytest.raises(NotOwnedError, match="lanes/1 is a link"):
            act(own / "lanes" / "1" / "deep", within=own)
        with pytest.raises(NotOwnedError, match="lanes/1 is a link"):
            act(own / "lanes" / "1" / "new" / "er", within=own)
    assert is_whole(other)
    assert sorted(path.name for path in other.iterdir()) == ["deep"]


def test_a_marked_directory_behind_a_link_is_refused(own: Path) -> None:
    (own / "file").touch()
    moved = own.parent / "elsewhere" / "own"
    moved.parent.mkdir()
    own.rename(moved)
    own.symlink_to(moved)
    for place in (own, own / "file"):
        with pytest.raises(NotOwnedError, match="own is a link"):
            remove(place, within=own)
    assert (moved / "file").exists()


def test_the_home_itself_may_be_reached_by_a_link(own: Path) -> None:
    (own / "file").touch()
    home = own.parent / "linked"
    home.symlink_to(own.parent)
    remove(home / "own" / "file", within=home / "own")
    assert not (own / "file").exists()
    remove(home / "own", within=home / "own")
    assert not own.exists()


def test_nothing_outside_of_the_marked_directory_can_be_meant(own: Path, other: Path) -> None:
    with pytest.raises(ValueError, match="is not in the subpath"):
        remove(other, within=own)
    with pytest.raises(AssertionError):
        remove(own / ".." / "other", within=own)
    assert is_whole(other)


def test_a_real_directory_is_made_in_the_place_of_a_link_or_a_file(own: Path, other: Path) -> None:
    (own / "link").symlink_to(other)
    (own / "file").touch()
    for name in ("link", "file", "new/deeper", "link"):
        place = real_directory(own / name, within=own)
        assert (place.is_dir(), place.is_symlink()) == (True, False)
    assert is_whole(other)


_CLOSED = """
import sys
from pathlib import Path
from amelia.workspace.removal import open_up, remove
own = Path(sys.argv[1])
for name in ("a", "b"):
    (own / name / "closed").mkdir(parents=True)
    (own / name / "closed" / "file").touch()
    (own / name / "link").symlink_to(own.parent / "other")
    (own / name / "closed").chmod(0)
    (own / name).chmod(0)
open_up(own / "a", within=own)
assert (own / "a" / "closed" / "file").exists()
remove(own / "b", within=own)
assert not (own / "b").exists()
"""


def test_permissions_do_not_keep_what_is_ours(own: Path, other: Path) -> None:
    (other / "deep").chmod(0o500)
    subprocess.run([*NOT_ROOT, sys.executable, "-c", _CLOSED, str(own)], check=True)
    assert is_whole(other)
    assert (other / "deep").stat().st_mode & 0o777 == 0o500


def test_what_is_too_deep_to_walk_or_was_frozen_goes_too(own: Path) -> None:
    here = os.open(own, os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("deeper", dir_fd=here)
        inner = os.open("deeper", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
        os.close(os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=here))
    os.close(here)
    (own / "ice").mkdir()
    (own / "ice" / "cube").touch()
    # Not everybody may do that, and not every file system can.
    subprocess.run(["chattr", "+i", own / "ice" / "cube", own / "ice"], check=False, capture_output=True)
    for name in ("deeper", "ice"):
        remove(own / name, within=own)
    assert sorted(path.name for path in own.iterdir()) == [MARK]
