"""The user's checkout as walls need to know it: the files with secrets in it, and the caches it needs.

Directories are looked at level by level. The upper levels are always looked at, the others as long as that is
cheap: a wall is made for every program that is started.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from amelia.app.caches import MANIFESTS

_SKIPPED = frozenset(
    {".git", ".venv", "venv", "node_modules", "target", "vendor", "__pycache__", ".tox", ".nox", ".gradle"}
)
_DEPTH = 3
_MOST_FOLDERS = 3000
_SECRET = re.compile(r"\.env(rc)?(\..+)?|.+\.env", re.IGNORECASE)
_PATTERNS = frozenset({"example", "sample", "template", "tmpl", "dist", "test"})
"""The last word of names of files that are there to be copied, or hold nothing that is secret."""


def find_secrets(top: Path, *, without: Path) -> tuple[Path, ...]:
    """Returns the files with variables (`.env`, `.envrc`, `name.env`) below a directory, but one in it."""
    skipped = str(without)
    return tuple(
        Path(entry.path)
        for _, entry in _entries(top, skipped)
        if _is_secret(entry.name) and not entry.is_dir()
    )


def find_manifests(top: Path) -> frozenset[str]:
    """Returns the names of files that tell which package managers a checkout uses, not too deep in it."""
    return frozenset(
        entry.name for depth, entry in _entries(top) if depth <= _DEPTH and entry.name in MANIFESTS
    )


def _is_secret(name: str) -> bool:
    words = [word for word in re.split(r"[._-]", name.lower()) if word not in {"", "env", "envrc"}]
    return _SECRET.fullmatch(name) is not None and not (words and words[-1] in _PATTERNS)


def _entries(top: Path, skipped: str = "") -> Iterator[tuple[int, os.DirEntry[str]]]:
    """Yields what lies in directories, with the depth of those; links to directories are not followed."""
    level, depth, seen = [str(top)], 0, 0
    while level:
        below: list[str] = []
        for folder in level:
            if depth > _DEPTH and seen >= _MOST_FOLDERS:
                return
            seen += 1
            for entry in _entries_in(folder):
                yield depth, entry
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_folder and entry.name not in _SKIPPED and entry.path != skipped:
                    below.append(entry.path)
        level, depth = below, depth + 1


def _entries_in(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
