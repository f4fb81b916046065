"""The port to the journal: what happened, in order, and what others ask of a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeAlias

from amelia.model.delivery import FinishChosen
from amelia.model.drafts import PlanApproved, PlanHandedOver, PlanRejected
from amelia.model.events import (
    AbortRequested,
    BudgetChanged,
    CancelRequested,
    Event,
    PauseRequested,
    QuestionAnswered,
    RunStarted,
    UnitFixed,
    UnitReset,
    UnitSkipped,
    UnitSplit,
)

Wanted: TypeAlias = (
    PauseRequested
    | CancelRequested
    | AbortRequested
    | BudgetChanged
    | FinishChosen
    | UnitReset
    | UnitSkipped
    | UnitFixed
    | UnitSplit
    | QuestionAnswered
    | PlanApproved
    | PlanRejected
    | PlanHandedOver
)


@dataclass(frozen=True, slots=True)
class Recorded:
    """One event of a journal. Numbers start at 1 and have no gaps."""

    seq: int
    at: datetime
    event: Event


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody else wants of a run: an event that becomes one if it fits when its turn comes.

    `refused` says why it does not; who wished can then be told.
    """

    id: int
    wanted: Wanted
    refused: str | None = None


def since_start(past: Sequence[Recorded]) -> Sequence[Recorded]:
    """Returns what happened since a run started, without the draft of its plan; nothing if it has not."""
    starts = (n for n, recorded in enumerate(past) if isinstance(recorded.event, RunStarted))
    return past[start:] if (start := next(starts, None)) is not None else ()


class Journal(Protocol):
    """The journal of one run, open for its only writer."""

    def read(self) -> Sequence[Recorded]:
        """Returns everything that happened."""
        ...

    def append(self, events: Sequence[Event], *, answering: Sequence[Request] = ()) -> Sequence[Recorded]:
        """Writes events, all or none, for good, and takes the requests they answer out of the mailbox."""
        ...

    def requests(self) -> Sequence[Request]:
        """Returns what is in the mailbox."""
        ...
