"""Where a run stands that has no plan yet, or none that was approved.

A union of stages as in `model.state`: one that `is_busy` has a step under way, one that is not waits for
`schedule.draft` to start it. State grows with the number of versions, not with what they say.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

from amelia.model.agents import UNBOUNDED, Allowance, Spent
from amelia.model.drafts import PlanDrafted, RunProposed
from amelia.model.outcome import Outcome, Reason
from amelia.model.policy import Budget
from amelia.model.state import Wish


@dataclass(frozen=True, slots=True)
class Drafting:
    """The architect writes the next version."""

    is_busy: bool = False


@dataclass(frozen=True, slots=True)
class Delayed:
    """A limit of the architect is waited out."""

    until: str
    is_busy: bool = False


@dataclass(frozen=True, slots=True)
class Proposed:
    """The newest version waits for a person."""


@dataclass(frozen=True, slots=True)
class Approved:
    """The newest version is to run; the run has not started yet."""


@dataclass(frozen=True, slots=True)
class HandedOver:
    """A person took the newest version elsewhere."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """It could not go on; after a person did something about it, it goes on with `then`."""

    reason: Reason
    detail: str
    then: Drafting | Approved = Drafting()


DraftStage: TypeAlias = Drafting | Delayed | Proposed | Approved | HandedOver | Stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Where the draft of a run stands.

    `feedback` is what a person last said of a plan, `tries` counts the architect's turns since then that
    gave no plan worth showing, `rests` limits that were waited out in a row, and `failure` is why the last
    turn gave no plan at all. `has_begun` says that the run has started, and the draft is history.
    """

    facts: RunProposed
    versions: tuple[PlanDrafted, ...] = ()
    feedback: str = ""
    tries: int = 0
    rests: int = 0
    failure: str = ""
    budget: Budget
    spent: Spent = field(default_factory=Spent)
    stage: DraftStage = Drafting()
    wish: Wish | None = None
    is_paused: bool = False
    outcome: Outcome | None = None
    has_begun: bool = False

    @property
    def newest(self) -> PlanDrafted | None:
        """The newest version, if there is one."""
        return self.versions[-1] if self.versions else None

    @property
    def version(self) -> int:
        """The number of the newest version; 0 if there is none."""
        return self.versions[-1].version if self.versions else 0

    @property
    def may_be_approved(self) -> bool:
        """Says whether there is a version that waits for a person and can run."""
        return isinstance(self.stage, Proposed) and self.newest is not None and not self.newest.errors

    @property
    def may_begin(self) -> bool:
        """Says whether its plan is approved, and nobody has stopped it since."""
        is_stopped = self.outcome is not None or self.is_paused or self.wish in {Wish.CANCEL, Wish.ABORT}
        return isinstance(self.stage, Approved) and not is_stopped


@dataclass(frozen=True, slots=True)
class WritePlan:
    """Let the architect write a version; it is told the old one, what is wrong with it, and what was said."""

    version: int
    old: PlanDrafted | None = None
    feedback: str = ""
    failure: str = ""
    allowance: Allowance = UNBOUNDED


@dataclass(frozen=True, slots=True)
class AwaitArchitect:
    """Wait until a moment, and then ask the architect again."""

    version: int
    until: str
    rests: int = 1


DraftCommand: TypeAlias = WritePlan | AwaitArchitect
