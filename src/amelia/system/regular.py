"""Opens files of others: plans, issues, settings, and what lies in repositories and worktrees.

A name may belong to a named pipe, which keeps whoever opens it waiting, or to a device, which may do anything
when it is opened. What is no regular file is refused, before it is opened and once more after that.
"""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a directory",
}


class NotRegularError(OSError):
    """Something was to be read that is no regular file."""

    def __init__(self, path: Path, mode: int) -> None:
        super().__init__(errno.EINVAL, f"it is {kind_of(mode)}, and no regular file", str(path))

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


def open_regular(path: Path) -> BinaryIO:
    """Opens a regular file, or what a link leads to, without waiting for anybody."""
    _check(path, path.stat())
    file = open(path, "rb", opener=lambda name, _: os.open(name, _FLAGS))  # noqa: SIM115
    try:
        _check(path, os.fstat(file.fileno()))
    except NotRegularError:
        file.close()
        raise
    return file


def read_regular(path: Path, limit: int = -1) -> bytes:
    """Returns the first bytes of a regular file, or all of them."""
    with open_regular(path) as file:
        return file.read(limit)


def kind_of(mode: int) -> str:
    """Says what something is that is no regular file."""
    return _KINDS.get(stat.S_IFMT(mode), "something else")


def _check(path: Path, found: os.stat_result) -> None:
    if stat.S_ISREG(found.st_mode):
        return
    # The empty file that everybody has, and many name where they want to name none.
    if not stat.S_ISCHR(found.st_mode) or found.st_rdev != Path(os.devnull).stat().st_rdev:
        raise NotRegularError(path, found.st_mode)
