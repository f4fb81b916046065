"""What becomes of the branch of a completed run: what a person wants, what was done, and its taking back.

A run's outcome says how its work ended, and nothing here changes it: a run whose delivery was refused is
completed all the same, and can be delivered later.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias, assert_never

from amelia.model.git import CommitId


class Finish(StrEnum):
    """What is done with the branch of a run that is completed."""

    LEAVE = "leave"
    MERGE = "merge"
    PR = "pr"


@dataclass(frozen=True, slots=True)
class FinishChosen:
    """A person said what is to become of the branch."""

    finish: Finish


@dataclass(frozen=True, slots=True)
class RunDelivered:
    """The branch was merged into another one, or a pull request was opened; `where` names it."""

    finish: Finish
    commit: CommitId
    where: str


@dataclass(frozen=True, slots=True)
class DeliveryRefused:
    """The branch stays as it is: what was in the way, and the commands that a person can type."""

    finish: Finish
    detail: str
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunUndone:
    """What landed was taken back, by a commit that reverts it or with the branch; `kept` holds the work."""

    kept: str
    revert: CommitId | None = None


DeliveryEvent: TypeAlias = FinishChosen | RunDelivered | DeliveryRefused | RunUndone


@dataclass(frozen=True, slots=True)
class Delivery:
    """How far the delivery of a run is."""

    wanted: Finish = Finish.LEAVE
    done: RunDelivered | None = None
    refused: DeliveryRefused | None = None
    undone: RunUndone | None = None

    @property
    def is_due(self) -> bool:
        """Says whether something is wanted that has not been done."""
        return self.wanted is not Finish.LEAVE and (self.done is None or self.done.finish is not self.wanted)

    def after(self, event: DeliveryEvent) -> "Delivery":
        """Returns how far it is after an event."""
        match event:
            case FinishChosen(finish):
                return replace(self, wanted=finish, refused=None)
            case RunDelivered():
                return Delivery(self.wanted, done=event)
            case DeliveryRefused():
                return replace(self, refused=event)
            case RunUndone():
                return Delivery(undone=event)
            case _:
                assert_never(event)
