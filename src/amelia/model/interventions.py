"""What a person does about a unit that waits for one: facts like all events, asked for through the mailbox.

Their meaning never changes (`model.events`, which has them in its union).
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from amelia.model.findings import FindingId
from amelia.model.git import Work
from amelia.model.plan import Unit, UnitId


@dataclass(frozen=True, slots=True)
class UnitReset:
    """A person lets a parked unit try again, with all its attempts, and may have something to say to it.

    `granted` are files of tests that it may change from now on, besides what the plan says.
    """

    unit: UnitId
    note: str = ""
    granted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnitSkipped:
    """A person takes a unit out; with consent, what depends on it runs all the same."""

    unit: UnitId
    satisfies: bool


class Accepted(StrEnum):
    """A doubt about work by hand that its person has set aside."""

    UNCHANGED = "unchanged"
    MISSING_FILES = "missing_files"


@dataclass(frozen=True, slots=True)
class UnitFixed:
    """A person did a parked unit's work by hand, and says which doubts about it do not count.

    Without that, work that changes nothing or lacks a file of the plan is not accepted.
    """

    unit: UnitId
    work: Work
    accepted: tuple[Accepted, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionAnswered:
    """A unit's question was answered, by a person or with its default; `dismissed` findings are ruled out.

    `attempt` is the one that asked, so that nobody answers a later question with what they say to this one.
    `granted` are files of tests that the unit may change from now on; only a person grants any.
    """

    unit: UnitId
    answer: str
    dismissed: tuple[FindingId, ...] = ()
    by_default: bool = False
    attempt: int | None = None
    granted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnitSplit:
    """A person had a parked unit carried out in pieces; what needed it needs the last of them."""

    unit: UnitId
    pieces: tuple[Unit, ...]
    footprints: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


Intervention: TypeAlias = UnitReset | UnitSkipped | UnitFixed | QuestionAnswered | UnitSplit
