"""What happened in a run: facts in the past tense, never changed once written.

The journal holds these and nothing else. Their meaning never changes: a new fact is a new class, a changed
one a new version with an upcast in `record.codec`. Texts in them are bounded by whoever makes them.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from amelia.model.agents import Ending, Role, SessionId, Usage
from amelia.model.delivery import DeliveryEvent
from amelia.model.drafts import DraftEvent
from amelia.model.evidence import Problem, TestEdits
from amelia.model.facts import RunStarted as RunStarted  # noqa: PLC0414 - an event like those here
from amelia.model.findings import Finding, Ruling
from amelia.model.git import CommitId
from amelia.model.git import Work as Work  # noqa: PLC0414 - part of events
from amelia.model.interventions import QuestionAnswered as QuestionAnswered  # noqa: PLC0414 - an event, too
from amelia.model.interventions import UnitFixed as UnitFixed  # noqa: PLC0414 - an event, too
from amelia.model.interventions import UnitReset as UnitReset  # noqa: PLC0414 - an event, too
from amelia.model.interventions import UnitSkipped as UnitSkipped  # noqa: PLC0414 - an event, too
from amelia.model.interventions import UnitSplit as UnitSplit  # noqa: PLC0414 - an event, too
from amelia.model.outcome import Cause, Outcome, Reason
from amelia.model.plan import TaskId, UnitId
from amelia.model.policy import Budget
from amelia.model.questions import Question
from amelia.model.records import RecordEvent


class Step(StrEnum):
    """One arrow of a unit's way, carried out by the shell."""

    DRIVE = "drive"
    VERIFY = "verify"
    REVIEW = "review"
    EVALUATE = "evaluate"
    LAND = "land"
    REST = "rest"


@dataclass(frozen=True, slots=True)
class RunResumed:
    """A coordinator took the run over; what was under way before is not any more."""

    process: int


@dataclass(frozen=True, slots=True)
class PauseRequested:
    """A person or a signal asked the run to stop after the steps under way."""


@dataclass(frozen=True, slots=True)
class RunPaused:
    """The run stopped where it was, to go on when it is resumed."""


@dataclass(frozen=True, slots=True)
class CancelRequested:
    """A person cancelled the run."""


@dataclass(frozen=True, slots=True)
class AbortRequested:
    """A person gave the run up."""

    unit: UnitId | None = None


@dataclass(frozen=True, slots=True)
class BudgetChanged:
    """A person gave the run another budget; what it does not speak of stays as it was."""

    budget: Budget


@dataclass(frozen=True, slots=True)
class RunFinished:
    """Nothing of the run is under way: it is over, or waits for a person."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class UnitStarted:
    """A unit got a lane, and the commit its work starts from."""

    unit: UnitId
    lane: int
    base: CommitId


@dataclass(frozen=True, slots=True)
class SubtaskStarted:
    """A task of a phase was handed to the session that carries out the phase."""

    unit: UnitId
    task: TaskId
    attempt: int


@dataclass(frozen=True, slots=True)
class SubtaskCompleted:
    """The agent reports a task of a phase as done; whether it is, verification says."""

    unit: UnitId
    task: TaskId
    attempt: int


@dataclass(frozen=True, slots=True)
class SubtaskFailed:
    """A task of a phase was not done by this attempt."""

    unit: UnitId
    task: TaskId
    attempt: int


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A step is about to be carried out."""

    unit: UnitId
    attempt: int
    step: Step


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOpened:
    """An agent's session has its id, in most cases before the agent said a word."""

    unit: UnitId
    attempt: int
    role: Role
    session: SessionId
    driver: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReplaced:
    """The session to go on with was not there any more; a fresh one began, and was told everything."""

    unit: UnitId
    attempt: int
    session: SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReported:
    """What an agent used since it last told of it, as soon as it told; None if a turn told nothing."""

    unit: UnitId
    attempt: int
    role: Role
    session: SessionId | None
    usage: Usage | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptEnded:
    """The developer's turn is over, and what it left is kept; it may have ended with a question.

    `finished` are the tasks that need not be done again if the turn goes on; `promised` says that the agent
    declared its work to be done, which proves nothing, `progressed` that the turn changed a file, `reported`
    that there was a report if it ended well. `denied` are paths that the wall kept it from writing.
    """

    unit: UnitId
    attempt: int
    ending: Ending
    work: Work
    summary: str = ""
    refused: str | None = None
    session: SessionId | None = None
    until: str | None = None
    question: Question | None = None
    finished: tuple[TaskId, ...] = ()
    promised: bool = False
    progressed: bool = True
    reported: bool = True
    denied: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptVerified:
    """The checks ran on a clean checkout of the attempt's tree; `proof` is the digest of the receipt.

    `edits` are what the work changed of the tests that it is judged by.
    """

    unit: UnitId
    attempt: int
    passed: bool
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    feedback: str = ""
    red: tuple[str, ...] = ()
    results: str = ""
    receipt: str | None = None
    proof: str | None = None
    edits: TestEdits = field(default=TestEdits())


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptReviewed:
    """The reviewer answered."""

    unit: UnitId
    attempt: int
    approved: bool
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewFailed:
    """The reviewer gave no valid answer; that is never an approval."""

    unit: UnitId
    attempt: int
    detail: str


@dataclass(frozen=True, slots=True)
class AnswerDelayed:
    """An agent that was asked something reached a limit; that is no answer, and is waited out."""

    unit: UnitId
    attempt: int
    until: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingsEvaluated:
    """Every open finding was ruled exactly once."""

    unit: UnitId
    attempt: int
    rulings: tuple[Ruling, ...]


@dataclass(frozen=True, slots=True)
class RestEnded:
    """The time a unit had to wait for has come, and it goes on in the lane that it kept meanwhile."""

    unit: UnitId


@dataclass(frozen=True, slots=True)
class UnitRested:
    """The time a unit had to wait for has come; it goes on when there is a lane for it."""

    unit: UnitId


@dataclass(frozen=True, slots=True)
class UnitHeld:
    """A unit needs an agent and has nothing left to pay it with; it gives its lane back until it has."""

    unit: UnitId


@dataclass(frozen=True, slots=True)
class UnitRetried:
    """A unit gets another attempt: why, on which base, from which tree, and in which session."""

    unit: UnitId
    attempt: int
    cause: Cause
    base: CommitId
    start: CommitId
    session: SessionId | None = None


@dataclass(frozen=True, slots=True)
class UnitIterated:
    """The checks failed, and the attempt goes on from what there is, in a fresh session."""

    unit: UnitId
    attempt: int
    iteration: int
    start: CommitId


@dataclass(frozen=True, slots=True)
class LandingRefused:
    """The work does not fit, or does not pass, on top of what landed meanwhile."""

    unit: UnitId
    attempt: int
    cause: Cause
    feedback: str


@dataclass(frozen=True, slots=True)
class UnitLanded:
    """The unit is one commit on the branch of the run."""

    unit: UnitId
    attempt: int
    commit: CommitId


@dataclass(frozen=True, slots=True)
class UnitParked:
    """The unit waits for a person, who may be asked something."""

    unit: UnitId
    reason: Reason
    detail: str
    question: Question | None = None


@dataclass(frozen=True, slots=True)
class StepBroke:
    """A step could not be carried out for a reason that no attempt of an agent can mend."""

    unit: UnitId
    step: Step
    detail: str
    reason: Reason = Reason.BROKEN


@dataclass(frozen=True, slots=True)
class BranchCheckStarted:
    """All units are done, and the whole branch is about to be verified."""

    tip: CommitId


@dataclass(frozen=True, slots=True)
class BranchVerified:
    """The whole branch was verified."""

    passed: bool
    feedback: str = ""
    receipt: str | None = None


UnitEvent: TypeAlias = (
    UnitStarted
    | SubtaskStarted
    | SubtaskCompleted
    | SubtaskFailed
    | StepStarted
    | SessionOpened
    | SessionReplaced
    | UsageReported
    | AttemptEnded
    | AttemptVerified
    | AttemptReviewed
    | ReviewFailed
    | AnswerDelayed
    | FindingsEvaluated
    | RestEnded
    | UnitRested
    | UnitHeld
    | UnitRetried
    | UnitIterated
    | LandingRefused
    | UnitLanded
    | UnitParked
    | StepBroke
    | UnitReset
    | UnitSkipped
    | UnitFixed
    | QuestionAnswered
)
RunEvent: TypeAlias = (
    RunStarted
    | RunResumed
    | PauseRequested
    | RunPaused
    | CancelRequested
    | AbortRequested
    | BudgetChanged
    | UnitSplit
    | RunFinished
    | BranchCheckStarted
    | BranchVerified
    | DeliveryEvent
    | RecordEvent
)
Event: TypeAlias = UnitEvent | RunEvent | DraftEvent
