"""Finds what would keep git waiting for ever: a pipe, a socket or a device in the place of a file of its.

Git reads `.gitignore` and its kin wherever it looks, and opens whatever has such a name. Of a repository
inside a worktree it may open any file.
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
    for entry, path in _below(top):
        is_gits = entry.name.lower() in _READ_BY_GIT
        if not is_gits and "/.git/" not in path:
            continue
        mode = entry.stat(follow_symlinks=False).st_mode
        is_endless = stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode)
        if is_endless or (is_gits and stat.S_ISSOCK(mode)):
            yield path, kind_of(mode)


def find_repositories(top: Path) -> list[str]:
    """Returns the directories below one that git takes for repositories of their own, by their `.git`."""
    ends = len("/.git")
    return [path[:-ends] for entry, path in _below(top) if entry.name == ".git" and path != ".git"]


def _below(top: Path) -> Iterator[tuple["os.DirEntry[str]", str]]:
    """Yields everything below a directory but what is in its own `.git`."""
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
                yield entry, path
                if path != ".git" and entry.is_dir(follow_symlinks=False):
                    waiting.append(path)


def remove_pipes(top: Path) -> list[str]:
    """Removes what git must not open from a worktree of ours, and returns the paths."""
    found = [path for path, _ in find_pipes(top)]
    for path in found:
        with suppress(OSError):
            (top / path).unlink()
    return found
