"""Which paths a wall kept a program from writing, by what the program says.

The kernel tells nobody but the program, which complains in its own words: a line that says so and names an
absolute path. A path counts if we could write it ourselves, and the wall does not allow it: whatever else is
forbidden has another reason.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from amelia.model.walls import Wall

_SIGNS = re.compile(rb"permission denied|EACCES|EROFS|read-only file system", re.IGNORECASE)
_PATH = re.compile(rb"(?<![\w./~-])/[^\s'\"`:;,()<>|\\\x00-\x1f]{1,400}")
_LONGEST_LINE = 20_000
_MOST = 5
_OF_THE_KERNEL = ("/dev", "/proc", "/sys")


class Denials:
    """Collects the paths that a wall denied to one program, as its output comes; none without a wall."""

    def __init__(self, wall: Wall | None) -> None:
        self._wall = wall
        self._found: dict[str, None] = {}

    @property
    def paths(self) -> tuple[str, ...]:
        """The first of them, in the order in which they were told of."""
        return tuple(self._found)

    def hear(self, data: bytes) -> None:
        """Looks at some whole lines of output."""
        if self._wall is None or not _SIGNS.search(data):
            return
        for part in re.split(rb"\n|\\n", data):
            if len(self._found) < _MOST and len(part) <= _LONGEST_LINE and _SIGNS.search(part):
                self._look_at(_PATH.findall(part), self._wall)

    def _look_at(self, paths: Iterable[bytes], wall: Wall) -> None:
        for path in map(os.fsdecode, paths):
            if len(self._found) < _MOST and _is_denied(path.rstrip("."), wall):
                self._found[path.rstrip(".")] = None


def denials_in(file: Path, wall: Wall | None) -> tuple[str, ...]:
    """Returns the paths that a wall denied to a program whose output is in a file."""
    denials = Denials(wall)
    if wall is not None:
        with file.open("rb") as lines:
            for line in lines:
                denials.hear(line)
    return denials.paths


def denial_note(paths: Iterable[str]) -> str:
    """Returns what is said of denied paths, with the setting that would allow them; empty without any."""
    named = tuple(paths)
    if not named:
        return ""
    return (
        f"The wall kept this program from writing {', '.join(named)}. It may write its worktree and its "
        "temporary directory ($TMPDIR); if it should write more: `[wall] writes` in your own settings file "
        "(~/.config/amelia/config.toml, or the one that $AMELIA_CONFIG names)."
    )


def _is_denied(path: str, wall: Wall) -> bool:
    real = os.path.realpath(path)
    layers = (layer.place for layer in wall.layers)
    allowed = (*wall.writes, *layers, wall.temporary or "/dev", *_OF_THE_KERNEL)
    if any(Path(real).is_relative_to(os.path.realpath(place)) for place in allowed):
        return False
    if real.startswith("/tmp/") and wall.replaces_tmp:  # noqa: S108 - the place itself
        return False
    there = next(place for place in (Path(real), *Path(real).parents) if place.exists())
    return there != Path("/") and os.access(there, os.W_OK)
