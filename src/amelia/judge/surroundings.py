"""Which files of a tree tell how it is built and tested.

Looks at names only, in a fixed order, and neither into what tools put there nor further than a bound: the
tree is foreign, and may be made to be walked for ever.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from amelia.system.regular import read_regular

_SKIPPED = frozenset("__pycache__ build dist env node_modules site-packages target vendor venv".split())
_MOST_FILES = 50_000


def files_below(root: Path) -> Iterator[Path]:
    """Yields the files of a tree that are somebody's work, nearest to the top of each directory first."""
    seen = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.startswith("."))
        for name in sorted(names):
            seen += 1
            if seen > _MOST_FILES:
                return
            yield Path(folder, name)


def opening(path: Path, limit: int = 65_536) -> str:
    """Returns the start of a file as text, empty if it is not a regular file that can be read."""
    try:
        return read_regular(path, limit).decode(errors="replace")
    except OSError:
        return ""
