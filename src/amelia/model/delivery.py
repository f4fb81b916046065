"""What becomes of the branch of a completed run: what a person wants, what was done, and its taking back.

A run's outcome says how its work ended, and nothing here changes it: a run whose delivery was refused is
completed all the same, and can be delivered later.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias, assert_never

from amelia.model.git import CommitId


class Finish(StrEnum):
    """What is done with the branch of a run that is completed: `merge` is a fast-forward."""

    LEAVE = "leave"
    MERGE = "merge"
    SQUASH = "squash"
    MERGE_COMMIT = "merge_commit"
    PR = "pr"

    @property
    def is_merge(self) -> bool:
        """Says whether another branch gets the work."""
        return self in MERGES.values()


MERGES: Mapping[str, Finish] = {
    "ff": Finish.MERGE,
    "squash": Finish.SQUASH,
    "commit": Finish.MERGE_COMMIT,
}
"""The kinds of a merge, as the option `--merge` names them."""


@dataclass(frozen=True, slots=True)
class FinishChosen:
    """A person said what is to become of the branch, and whether the record of the run is left out."""

    finish: Finish
    without_record: bool = False

    @property
    def options(self) -> tuple[str, ...]:
        """The options of a command that say the same."""
        kinds = {finish: ("--merge", kind) for kind, finish in MERGES.items()}
        ways = {Finish.LEAVE: ("--leave",), Finish.PR: ("--pr",), **kinds}
        return (*ways[self.finish], *(("--without-record",) if self.without_record else ()))


@dataclass(frozen=True, slots=True)
class RunDelivered:
    """The branch was merged into another one, or a pull request was opened; `where` names it.

    `commit` is what the other branch got: the last commit of the run, or the one that squashes or merges it.
    """

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
    without_record: bool = False
    done: RunDelivered | None = None
    refused: DeliveryRefused | None = None
    undone: RunUndone | None = None

    @property
    def is_due(self) -> bool:
        """Says whether something is wanted that has not been done."""
        return self.wanted is not Finish.LEAVE and not self.has(self.wanted)

    @property
    def wish(self) -> FinishChosen:
        """What is wanted, as a person would say it."""
        return FinishChosen(self.wanted, self.without_record)

    def has(self, finish: Finish) -> bool:
        """Says whether that was done; what is merged is not merged once more in another way."""
        done = None if self.done is None else self.done.finish
        return done is finish or (done is not None and done.is_merge and finish.is_merge)

    def after(self, event: DeliveryEvent) -> "Delivery":
        """Returns how far it is after an event."""
        match event:
            case FinishChosen(finish, without_record):
                return replace(self, wanted=finish, without_record=without_record, refused=None)
            case RunDelivered():
                return Delivery(self.wanted, self.without_record, done=event)
            case DeliveryRefused():
                return replace(self, refused=event)
            case RunUndone():
                return Delivery(undone=event)
            case _:
                assert_never(event)
