"""What a setup made in a worktree stays there from check to check; what tests leave behind does not.

Git keeps tracked files as they are in the tree, and removes those that are neither tracked nor ignored. Here
it is about all others: a list of them is made after the setup, and before every check whatever is not in the
list is removed. Where something in the list is gone or not as the setup left it, all of it goes, and the
setup runs anew.

- A file is the same if its inode, size, mode and times are. The time of its last change cannot be set by
  programs, but changes with the number of its names: files that share their contents with a cache of packages
  have a digest in the list, which decides when only that time differs.
- Links are never followed. Directories are listed only so that they stay.
"""

import json
import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias, cast

Managed: TypeAlias = Callable[[Path], Collection[str]]
"""Returns the paths in a worktree that git keeps or removes by itself: tracked, or not ignored."""

Mark: TypeAlias = list[int | str]
"""What tells a file from another one, or from the same one after a change."""

_CHUNK = 1 << 20


class Leftovers:
    """The files of one worktree that git does not care for; the list of those to keep is in a file."""

    def __init__(self, worktree: Path, kept: Path, managed: Managed) -> None:
        self._root = worktree
        self._kept = kept
        self._managed = managed

    def keep(self) -> None:
        """Lists what is there now, to be kept."""
        found = {path: _mark(entry, is_listed=True) for path, entry in self._others()}
        self._kept.parent.mkdir(parents=True, exist_ok=True)
        self._kept.write_text(json.dumps(found), encoding="ascii")

    def clear(self) -> bool:
        """Removes what is not in the list, or everything, and says whether what is listed is as it was."""
        listed = self._listed()
        strays = None if listed is None else self._strays(listed)
        if strays is None:
            self._kept.unlink(missing_ok=True)
            self._remove([path for path, _ in self._others()])
            return False
        self._remove(strays)
        return True

    def _listed(self) -> Mapping[str, Mark] | None:
        try:
            return cast("dict[str, Mark]", json.loads(self._kept.read_bytes()))
        except (OSError, ValueError):
            return None

    def _strays(self, listed: Mapping[str, Mark]) -> list[str] | None:
        """Returns what is there beside what is listed; None if that is not as it was."""
        missing = {path for path, mark in listed.items() if mark}
        strays: list[str] = []
        for path, entry in self._others():
            if path not in listed:
                strays.append(path)
            elif _is_same(entry, listed[path]):
                missing.discard(path)
            else:
                return None
        return None if missing else strays

    def _others(self) -> Iterator[tuple[str, os.DirEntry[str]]]:
        """Yields what git does not care for, directories before what is in them."""
        managed = frozenset(path.rstrip("/") for path in self._managed(self._root))
        around = _folders_of(managed)
        waiting = [("", str(self._root))]
        while waiting:
            start, folder = waiting.pop()
            for entry in _entries(folder):
                path = f"{start}{entry.name}"
                if path in managed or path == ".git":
                    continue
                if path not in around:
                    yield path, entry
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((f"{path}/", entry.path))

    def _remove(self, paths: Sequence[str]) -> None:
        for path in reversed(paths):
            place = self._root / path
            try:
                _remove(place)
            except PermissionError:
                place.parent.chmod(0o700)
                _remove(place)


def _folders_of(paths: Collection[str]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except PermissionError:
        Path(folder).chmod(0o700)
        with os.scandir(folder) as entries:
            return list(entries)


def _remove(place: Path) -> None:
    if stat.S_ISDIR(place.lstat().st_mode):
        place.rmdir()
    else:
        place.unlink()


def _mark(entry: os.DirEntry[str], *, is_listed: bool = False) -> Mark:
    """Returns the mark of a file; one that has other names gets a digest when it is listed."""
    found = entry.stat(follow_symlinks=False)
    if stat.S_ISDIR(found.st_mode):
        return []
    if stat.S_ISLNK(found.st_mode):
        return ["link", str(Path(entry.path).readlink())]
    mark: Mark = [found.st_ino, found.st_size, found.st_mode, found.st_mtime_ns, found.st_ctime_ns]
    has_others = is_listed and stat.S_ISREG(found.st_mode) and found.st_nlink > 1
    return [*mark, _digest(entry)] if has_others else mark


def _is_same(entry: os.DirEntry[str], listed: Mark) -> bool:
    now = _mark(entry)
    if now == listed[:5]:
        return True
    # One who gives a file another name changes its last time, too.
    return now[:4] == listed[:4] and len(listed) > 5 and _digest(entry) == listed[5]  # noqa: PLR2004 - see `_mark`


def _digest(entry: os.DirEntry[str]) -> str:
    digest = blake2b(digest_size=16)
    with Path(entry.path).open("rb") as file:
        while part := file.read(_CHUNK):
            digest.update(part)
    return digest.hexdigest()
