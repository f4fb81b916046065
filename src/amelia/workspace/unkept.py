"""Work in a lane that no snapshot holds yet.

A lane is marked before anybody works in it, and unmarked once what they left is kept. Whoever wants to fill
or remove a marked lane keeps it first, whatever happened in between: a crash, a cancelled run, a full disk.
"""

from dataclasses import dataclass
from pathlib import Path

from amelia.model.git import CommitId
from amelia.system.git_places import Lane, Purpose, Store


@dataclass(frozen=True, slots=True)
class Unkept:
    """What work in a lane is based on, and the ref under which it is to be kept."""

    base: CommitId
    ref: str


def mark(lane: Lane, unkept: Unkept) -> None:
    """Says that somebody works in a lane from now on."""
    _mark(lane).write_text(f"{unkept.base}\n{unkept.ref}\n", encoding="utf-8")


def unmark(lane: Lane) -> None:
    """Says that everything in a lane is kept."""
    _mark(lane).unlink(missing_ok=True)


def unkept_in(lane: Lane) -> Unkept | None:
    """Returns what is not kept yet in a lane, if there is anything."""
    try:
        base, ref = _mark(lane).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return None  # a mark that was cut off was written before anybody worked
    return Unkept(CommitId(base), ref)


def lanes_of(store: Store) -> list[Lane]:
    """Returns the lanes of a store in which somebody has worked."""
    numbers = [path.name.partition("-")[0] for path in (store.git_dir / "lanes").glob(f"*-{Purpose.WORK}")]
    return [Lane(store, int(number), Purpose.WORK) for number in sorted(numbers, key=int)]


def _mark(lane: Lane) -> Path:
    return lane.git_dir / "unkept"
