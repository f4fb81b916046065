"""What a replay in files may write: inside its repository, and nowhere else.

- A name is relative, does not climb, and does not lead into `.git`; a link leads to such a name.
- A file of the base is new, and no link is on the way to it: one after the other, links could lead anywhere.
"""

from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import cast

from amelia.app.replay.scripts import Table

_NAMING = ("write", "append", "delete")
_GIT = ".git"
_TOP = PurePosixPath()


class OutsideError(ValueError):
    """A name or a link leads out of the repository."""


def check_turns(turns: Iterable[Table]) -> None:
    """Raises an `OutsideError` unless everything that turns of a script write or delete is inside."""
    for turn in turns:
        check_acts(cast("list[Table]", turn.get("do", [])))


def check_acts(acts: Iterable[Table]) -> None:
    """Raises an `OutsideError` unless everything that acts of a script write or delete is inside."""
    for act in acts:
        for name in (cast("str", act[word]) for word in _NAMING if word in act):
            link = cast("str | None", act.get("link"))
            if not _is_name(PurePosixPath(name)):
                raise OutsideError(f"{name!r} is not a name inside the repository")
            if link is not None and not _is_inside(PurePosixPath(link), start=PurePosixPath(name).parent):
                raise OutsideError(f"{name!r}: a link to {link!r} leads out of the repository")


def new_place(top: Path, name: str) -> Path:
    """Returns where a new file of a tree is to be, with the directories on the way."""
    path = top.resolve() / name
    if path.parent.resolve() != path.parent:
        raise OutsideError(f"{name!r} is behind a link")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _is_name(path: PurePosixPath) -> bool:
    return bool(path.parts) and ".." not in path.parts and _is_inside(path, start=_TOP)


def _is_inside(path: PurePosixPath, *, start: PurePosixPath) -> bool:
    """Says whether a path from a directory inside stays inside, as it is written."""
    way = list(start.parts)
    for part in path.parts:
        if part != "..":
            way.append(part)
        elif way:
            way.pop()
        else:
            return False
    return not path.is_absolute() and _GIT not in map(str.casefold, way)
