"""What happens before a run starts: a goal is proposed, plans are drafted, a person approves one or does not.

These events come first in the journal of a run that begins with a goal, and `RunStarted` follows when a plan
is approved. What an agent uses, what it waits for and what a person asks of the run are told by the same
events as later; whatever concerns the architect is said of the unit `DRAFT`.
The text of a version is a file of the run that was on disk before its event; the event holds its digest.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from amelia.model.facts import RunId
from amelia.model.git import CommitId
from amelia.model.outcome import Reason
from amelia.model.plan import Mode, UnitId
from amelia.model.settings import Settings

DRAFT = UnitId("draft")
"""What the architect's turns are told of as their unit; its attempts are the versions of the plan."""


class Author(StrEnum):
    """Who wrote a version of a plan."""

    ARCHITECT = "architect"
    PERSON = "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProposed:
    """A person stated a goal; everything that decides what becomes of it stands here.

    `issue` is the digest of the text that came with the goal, which the run keeps as a file. Where it
    `is_hands_off`, the first plan that can run is approved without asking.
    """

    run: RunId
    goal: str
    tracker_id: str | None = None
    issue: str | None = None
    repository: str
    base: CommitId
    mode: Mode | None = None
    settings: Settings
    is_hands_off: bool = False


@dataclass(frozen=True, slots=True)
class DraftStarted:
    """The architect is about to write a version of the plan."""

    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDrafted:
    """There is a new version of the plan; `errors` forbid to run it, `gaps` are what it does not cover."""

    version: int
    hash: str
    author: Author
    errors: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """All that the architect is asked to mend."""
        return (*self.errors, *self.gaps)


@dataclass(frozen=True, slots=True)
class ArchitectFailed:
    """The architect's turn gave no valid plan."""

    version: int
    detail: str


@dataclass(frozen=True, slots=True)
class DraftFailed:
    """There will be no plan unless a person does something: why, and what happened."""

    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class PlanRejected:
    """A person wants another plan, and says why; version 0 is none at all."""

    version: int
    feedback: str


@dataclass(frozen=True, slots=True)
class PlanApproved:
    """A person wants this version of the plan to run."""

    version: int


@dataclass(frozen=True, slots=True)
class PlanHandedOver:
    """A person took this version of the plan as a file, and wants no run of it here."""

    version: int
    path: str


DraftEvent: TypeAlias = (
    RunProposed
    | DraftStarted
    | PlanDrafted
    | ArchitectFailed
    | DraftFailed
    | PlanRejected
    | PlanApproved
    | PlanHandedOver
)
