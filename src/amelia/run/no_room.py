"""Steps on a full disk: a fault of nobody who works in the run, told with the file system that is full."""

from pathlib import Path

from amelia.model import commands as cmd
from amelia.model import events as ev
from amelia.model.agents import Ending
from amelia.model.errors import AmeliaError
from amelia.model.outcome import Reason
from amelia.system.git_places import Store
from amelia.system.room import Room, temporary_place

_WAY = "make room there, then run `amelia resume`"


def room_places(store: Store) -> tuple[Path, ...]:
    """Returns the places that a run writes to: its worktrees, the user's repository, temporary files."""
    return (store.git_dir, store.source.common_dir, temporary_place())


def has_failed(event: ev.Event) -> bool:
    """Tells whether an event charges somebody with a failure."""
    match event:
        case ev.AttemptEnded(ending=ending):
            return ending not in {Ending.OK, Ending.LIMITED, Ending.OUT_OF_BUDGET}
        case ev.AttemptVerified(passed=False) | ev.BranchVerified(passed=False):
            return True
        case ev.ReviewFailed() | ev.LandingRefused() | ev.StepBroke():
            return True
        case _:
            return False


def without_room(command: cmd.AnyStep, room: Room | None) -> ev.StepBroke:
    """Returns the event of a step that found no room; raises for a step of no unit."""
    told = str(room) if room is not None else "no room is left on a disk"
    if isinstance(command, cmd.VerifyBranch | cmd.CommitRecord):
        raise AmeliaError(told, hint=_WAY)
    return ev.StepBroke(command.at.unit, command.step, f"{told}\n{_WAY}", Reason.DISK_FULL)
