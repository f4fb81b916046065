"""Puts aside what cannot stay where it is and must not be lost: in the run's directory, to be looked at."""

from itertools import count
from pathlib import Path

from amelia.system.git_places import Lane
from amelia.workspace.removal import open_up, remove
from amelia.workspace.unkept import unmark


def free_place(lane: Lane, suffix: str = "") -> Path:
    """Returns a path at which nothing is yet, for something of a lane."""
    aside = lane.store.directory / "aside"
    aside.mkdir(exist_ok=True)
    names = (aside / f"{lane.number}-{lane.purpose}-{number}{suffix}" for number in count(1))
    return next(name for name in names if not name.exists() and not name.is_symlink())


def set_aside(lane: Lane) -> Path | None:
    """Moves the files of a lane away, so that it can be made anew; returns where they are."""
    place = free_place(lane)
    try:
        _move(lane, place)
    except FileNotFoundError:
        return None
    finally:
        lane.index.unlink(missing_ok=True)
        lane.index.with_name(f"{lane.index.name}.lock").unlink(missing_ok=True)
        remove(lane.git_dir / "modules", within=lane.store.directory)
    unmark(lane)
    return place


def _move(lane: Lane, place: Path) -> None:
    try:
        lane.directory.rename(place)
    except PermissionError:
        open_up(lane.directory, within=lane.store.directory)
        lane.directory.rename(place)
