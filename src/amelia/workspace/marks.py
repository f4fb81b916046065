"""Marks by which a change is noticed: the other times of a file can be set by an agent, but not this one."""

import os
from pathlib import Path
from typing import TypeAlias

Mark: TypeAlias = tuple[int, int, int]


def mark_of(path: str) -> Mark:
    """Returns the mark of a file, a link or a directory; what changes it, or its entries, changes that."""
    # Not by way of `Path`, which takes several times as long: this is done for many files in every turn.
    seen = os.lstat(path)
    return seen.st_ino, seen.st_ctime_ns, seen.st_size


def marks_below(directory: Path) -> dict[str, Mark]:
    """Returns the marks of everything in a directory."""
    return {
        path: mark_of(path)
        for folder, folders, files in os.walk(directory)
        for path in (f"{folder}/{name}" for name in (*folders, *files))
    }
