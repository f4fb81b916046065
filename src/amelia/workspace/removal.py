"""Removes and opens what is in the directories that Amelia made, and nothing else.

- Whatever is removed lies in a marked directory, or is one; `within` names it, and its mark is looked at.
- The way from there is walked directory by directory. A link on it is refused by name and never followed.
"""

import errno
import fcntl
import os
import shutil
import stat
import sys
from array import array
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path

from amelia.system.ownership import MARK, link_refused, open_owned, retire

_WALK = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LOOK = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PEEK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_TOO_DEEP = frozenset({errno.ENAMETOOLONG, errno.EMFILE, errno.ENFILE})
_GET_FLAGS, _SET_FLAGS = 0x80086601, 0x40086602  # FS_IOC_GETFLAGS and its counterpart
_FROZEN = 0x10 | 0x20  # immutable, append only


def remove(path: Path, *, within: Path) -> None:
    """Removes a file, a link or a whole directory, whatever its permissions are; nothing there is fine.

    The mark of a directory that goes as a whole goes last.
    """
    with suppress(FileNotFoundError):
        if path != within:
            with _way_to(path, within) as parent:
                _remove(path.name, parent)
            return
        with open_owned(within) as owned:
            for name in os.listdir(owned.itself):  # noqa: PTH208 - of a descriptor
                if name != MARK:
                    _remove(name, owned.itself)
            retire(within, owned)


def real_directory(path: Path, *, within: Path) -> Path:
    """Makes sure that a path is a directory of its own, not a link to one."""
    with _way_to(path, within, makes=True) as parent:
        _make(path.name, parent)
        if not stat.S_ISDIR(_mode(path.name, parent)):
            os.unlink(path.name, dir_fd=parent)
            _make(path.name, parent)
    return path


def open_up(directory: Path, *, within: Path) -> None:
    """Gives us back what an agent took from itself: access to the directories and files it owns."""
    with suppress(FileNotFoundError), _way_to(directory, within) as parent:
        _open_up(directory.name, parent)


@contextmanager
def _way_to(path: Path, within: Path, *, makes: bool = False) -> Generator[int]:
    """Opens the directory in which a path lies, by way of real directories only, which may be made."""
    parts = path.relative_to(within).parts
    assert parts, path
    assert ".." not in parts, path
    with open_owned(within) as owned, ExitStack() as opened:
        parent, here = owned.itself, within
        for part in parts[:-1]:
            here /= part
            if makes:
                _make(part, parent)
            parent = _enter(part, parent, here)
            opened.callback(os.close, parent)
        yield parent


def _enter(name: str, parent: int, here: Path) -> int:
    try:
        return os.open(name, _WALK, dir_fd=parent)
    except OSError as problem:
        if stat.S_ISLNK(_mode(name, parent)):
            raise link_refused(here) from problem
        if isinstance(problem, NotADirectoryError):
            raise FileNotFoundError(problem.errno, problem.strerror, str(here)) from problem
        raise


def _make(name: str, parent: int) -> None:
    with suppress(FileExistsError):  # also by a neighbour, a moment ago
        os.mkdir(name, dir_fd=parent)


def _mode(name: str, parent: int) -> int:
    return os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode


def _remove(name: str, parent: int) -> None:
    if not stat.S_ISDIR(_mode(name, parent)):
        os.unlink(name, dir_fd=parent)
        return
    with suppress(OSError, RecursionError):
        shutil.rmtree(name, dir_fd=parent)
        return
    _open_up(name, parent)
    with suppress(RecursionError):
        try:
            shutil.rmtree(name, dir_fd=parent)
        except OSError as problem:
            if problem.errno not in _TOO_DEEP:
                raise
        else:
            return
    _flatten(name, parent)


def _flatten(name: str, parent: int) -> None:
    """Removes a directory that is too deep to walk: what is in a directory of it comes up, level by level."""
    top = os.open(name, _LOOK, dir_fd=parent)
    try:
        numbers = count()
        while names := os.listdir(top):  # noqa: PTH208 - of a descriptor
            for inner in names:
                _lift(inner, top, numbers)
    finally:
        os.close(top)
    os.rmdir(name, dir_fd=parent)


def _lift(name: str, top: int, numbers: Iterator[int]) -> None:
    """Removes something directly in a directory; the directories in it are directly there afterwards."""
    if not stat.S_ISDIR(_mode(name, top)):
        os.unlink(name, dir_fd=top)
        return
    _allow(name, stat.S_IRWXU, top)
    here = os.open(name, _LOOK, dir_fd=top)
    try:
        for inner in os.listdir(here):  # noqa: PTH208 - of a descriptor
            if stat.S_ISDIR(_mode(inner, here)):
                _allow(inner, stat.S_IRWXU, here)
                os.rename(inner, f".lifted-{next(numbers)}", src_dir_fd=here, dst_dir_fd=top)
            else:
                os.unlink(inner, dir_fd=here)
    finally:
        os.close(here)
    os.rmdir(name, dir_fd=top)


def _open_up(name: str, parent: int) -> None:
    with suppress(OSError, RecursionError):  # too deep to walk; the upper directories are open by then
        _open_all(name, parent)


def _open_all(name: str, parent: int) -> None:
    _allow(name, stat.S_IRWXU, parent)
    for _, folders, files, here in os.fwalk(name, dir_fd=parent):
        for folder in folders:
            _allow(folder, stat.S_IRWXU, here)
        for file in files:
            _allow(file, stat.S_IRUSR | stat.S_IWUSR, here)


def _allow(name: str, wanted: int, parent: int) -> None:
    with suppress(OSError):
        mode = _mode(name, parent)
        if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
            _unfreeze(name, parent)
        if not stat.S_ISLNK(mode) and mode & wanted != wanted:
            os.chmod(name, stat.S_IMODE(mode) | wanted, dir_fd=parent)


def _unfreeze(name: str, parent: int) -> None:
    """Lets a file be changed and removed again that was made immutable, where the system lets us."""
    if sys.platform != "linux":
        return
    try:
        descriptor = os.open(name, _PEEK, dir_fd=parent)
    except OSError:
        return
    try:
        flags = array("l", [0])
        fcntl.ioctl(descriptor, _GET_FLAGS, flags)
        if flags[0] & _FROZEN:
            flags[0] &= ~_FROZEN
            fcntl.ioctl(descriptor, _SET_FLAGS, flags)
    except OSError:
        pass  # another file system, or nothing that we may do
    finally:
        os.close(descriptor)
