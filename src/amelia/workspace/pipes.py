"""Finds what would keep git waiting for ever: a pipe, a socket or a device in the place of a file of its.

Git reads `.gitignore` and its kin wherever it looks, and opens whatever has such a name.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from amelia.system.regular import kind_of

_READ_BY_GIT = frozenset({".gitignore", ".gitattributes", ".gitmodules", ".mailmap"})


def find_pipes(top: Path) -> Iterator[tuple[str, str]]:
    """Yields the path of everything below a directory that git must not open, and what it is."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            entries = os.scandir(top / folder)
        except OSError:  # no access, or deeper than the system allows: git does not get there either
            continue
        with entries:
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != ".git":
                        waiting.append(path)
                elif entry.name.lower() in _READ_BY_GIT:
                    mode = entry.stat(follow_symlinks=False).st_mode
                    if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
                        yield path, kind_of(mode)


def remove_pipes(top: Path) -> list[str]:
    """Removes what git must not open from a worktree of ours, and returns the paths."""
    found = [path for path, _ in find_pipes(top)]
    for path in found:
        with suppress(OSError):
            (top / path).unlink()
    return found
