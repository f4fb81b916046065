"""A directory that is shown in a lane for an agent to read, and is no part of its tree.

- It is taken out before the lane's files are kept, whatever they say about what git is to ignore.
- It is put there only where real directories lead to it: no link of an agent makes us write elsewhere.
- What an agent did to it is noticed by what it cannot forge, the time of the change, and undone.
"""

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from amelia.system.git_places import Lane
from amelia.workspace.marks import Mark, mark_of
from amelia.workspace.removal import remove

_GLOB = frozenset("\\*?[]!# ")


@dataclass(slots=True)
class Shown:
    """What was put into one lane: the version of each file, and the marks by which changes are noticed."""

    versions: dict[str, int] = field(default_factory=dict[str, int])
    marks: dict[str, Mark] = field(default_factory=dict[str, Mark])

    @property
    def names(self) -> set[str]:
        """What is at the top."""
        return {name.partition("/")[0] for name in self.marks}


def exclude(git_dir: Path, path: str) -> None:
    """Lets git ignore a directory in every lane of a store, as far as no file of the tree says otherwise."""
    place = git_dir / "info" / "exclude"
    line = f"/{''.join(map(_escaped, path))}/"
    known = place.read_text(encoding="utf-8", errors="surrogateescape") if place.is_file() else ""
    if line not in known.splitlines():
        place.parent.mkdir(exist_ok=True)
        text = "\n".join([*known.splitlines(), line, ""])
        place.write_text(text, encoding="utf-8", errors="surrogateescape")


def put_in(lane: Lane, path: str, *, master: Path, versions: Mapping[str, int], shown: Shown) -> bool:
    """Shows the files of the master copy in a lane; says whether there is a way to put them there."""
    top = lane.directory / path
    if not _is_open(lane, path, makes=True):
        return False
    if not top.exists() and not top.is_symlink():
        with suppress(OSError):
            _aside(lane).rename(top)
    if not _is_untouched(top, shown):
        remove(top, within=lane.store.directory)
        shown.versions.clear()
        shown.marks.clear()
    top.mkdir(exist_ok=True)
    new = [name for name, version in versions.items() if shown.versions.get(name) != version]
    for name in new:
        (top / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(master / name, top / name)
        shown.versions[name] = versions[name]
    for name in {*new, *(str(PurePosixPath(name).parent) for name in new)} - {"."}:
        shown.marks[name] = mark_of(f"{top}/{name}")
    return True


def take_out(lane: Lane, path: str) -> None:
    """Takes a directory out of a lane, to be put there again."""
    top = lane.directory / path
    if not _is_open(lane, path, makes=False) or top.is_symlink() or not top.is_dir():
        return
    remove(_aside(lane), within=lane.store.directory)
    top.rename(_aside(lane))
    for parent in list(top.parents)[: len(PurePosixPath(path).parts) - 1]:
        with suppress(OSError):  # somebody else's files are there, too
            parent.rmdir()


def _escaped(char: str) -> str:
    return f"\\{char}" if char in _GLOB else char


def _is_open(lane: Lane, path: str, *, makes: bool) -> bool:
    """Says whether real directories lead to a path, which may be made for it."""
    way = lane.directory
    for part in PurePosixPath(path).parts[:-1]:
        way /= part
        if way.is_symlink() or (way.exists() and not way.is_dir()):
            return False
        if makes:
            way.mkdir(exist_ok=True)
    return True


def _is_untouched(top: Path, shown: Shown) -> bool:
    try:
        found = set(os.listdir(top))  # noqa: PTH208 - names are all that is needed, and there may be many
        is_ours = found == shown.names and not top.is_symlink()
        return is_ours and all(mark_of(f"{top}/{name}") == mark for name, mark in shown.marks.items())
    except OSError:
        return False


def _aside(lane: Lane) -> Path:
    return lane.git_dir / "guest"
