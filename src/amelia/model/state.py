"""Where a run and its units stand: a union of stages, each holding only what is true in it.

State is `fold(evolve, events)` and nothing else; it grows with the number of units, not with what they say.
A stage that `is_busy` has a step under way; one that is not waits for `decide` to start it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

from amelia.model.agents import SessionId, Spent, Usage
from amelia.model.delivery import Delivery
from amelia.model.events import RunStarted, Step, Work
from amelia.model.evidence import TestEdits
from amelia.model.findings import Finding, FindingId, Ruling
from amelia.model.git import CommitId
from amelia.model.interventions import Accepted
from amelia.model.outcome import Cause, Outcome, Reason
from amelia.model.plan import TaskId, UnitId
from amelia.model.policy import Budget
from amelia.model.questions import Answered, Question
from amelia.model.standing import Counters, UnitStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """What a unit carries along from attempt to attempt.

    `attempt` counts the developer's turns for ever, as events do; `spent` counts attempts that failed against
    the limit, and it `is_spent` if the last one is among them; `iteration` counts the rounds of the present
    attempt. A person who lets the unit try again has `spent` start anew, and it `was_reset`. `refusals`
    counts landings that did not fit, `rests` limits that were waited out in a row, `questions` those that
    were answered. `subtasks` is the status of the unit's tasks as the present turn reports it;
    `edits` are what its work changed of the tests that it is judged by, `to_grant` the files that only a
    person can let it change, if its last turn weakened tests.
    `seen` are the fingerprints of rounds that failed, `ruled` the findings that were ruled out, `findings`
    those that are open, and `reviewed` is the snapshot the last review saw. Work that is `by_person` was done
    by hand; `accepted` are the doubts about it that the person set aside. `session_used` is what the
    developer's session used in all its turns, `answers` is what a person said to the unit.
    """

    lane: int
    base: CommitId
    attempt: int = 1
    spent: int = 0
    is_spent: bool = False
    was_reset: bool = False
    iteration: int = 1
    refusals: int = 0
    rests: int = 0
    questions: int = 0
    seen: tuple[str, ...] = ()
    ruled: tuple[FindingId, ...] = ()
    findings: tuple[Finding, ...] = ()
    reviewed: CommitId | None = None
    by_person: bool = False
    accepted: tuple[Accepted, ...] = ()
    session_used: Usage | None = None
    answers: tuple[Answered, ...] = ()
    subtasks: tuple[tuple[TaskId, UnitStatus], ...] = ()
    edits: TestEdits = field(default=TestEdits())
    to_grant: tuple[str, ...] = ()

    @property
    def unreported(self) -> tuple[TaskId, ...]:
        """The tasks that are still under way; once the turn has ended well, those that it did not report."""
        running = (task for task, status in self.subtasks if status is UnitStatus.RUNNING)
        return () if self.by_person else tuple(running)

    @property
    def counters(self) -> Counters:
        """The numbers of attempts, iterations and turns."""
        return Counters(
            attempts=self.spent + (not self.is_spent),
            failed=self.spent,
            iterations=self.iteration,
            turns=self.attempt,
        )


@dataclass(frozen=True, slots=True)
class Waiting:
    """Not under way: what it needs has not landed, or no lane is free.

    A unit that a person set going again remembers its turns, and the stage it goes on with if there is
    one; otherwise it starts anew, with the feedback of its last attempt.
    """

    turns: int = 0
    feedback: str = ""
    ruled: tuple[FindingId, ...] = ()
    then: "Active | None" = None
    answers: tuple[Answered, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Driving:
    """The developer's turn; the workspace starts from `start`, in `session` or in a fresh one.

    It `is_again` after it was cut off, and `is_answer` after the developer's question; `finished` are the
    tasks of the unit that are done there.
    """

    track: Track
    start: CommitId
    session: SessionId | None = None
    feedback: str = ""
    is_again: bool = False
    is_answer: bool = False
    finished: tuple[TaskId, ...] = ()
    is_busy: bool = False
    step = Step.DRIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifying:
    """The attempt's tree is checked by running it."""

    track: Track
    work: Work
    session: SessionId | None
    is_promised: bool = False
    is_busy: bool = False
    step = Step.VERIFY


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewing:
    """Another agent reads the attempt; `results` stands for what verification saw."""

    track: Track
    work: Work
    session: SessionId | None
    results: str
    red: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    tries: int = 0
    is_busy: bool = False
    step = Step.REVIEW


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluating:
    """The findings of a rejection are ruled."""

    track: Track
    work: Work
    session: SessionId | None
    results: str
    red: tuple[str, ...] = ()
    is_busy: bool = False
    step = Step.EVALUATE


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """Accepted, and in the queue for the branch."""

    track: Track
    work: Work
    red: tuple[str, ...] = ()
    is_busy: bool = False
    step = Step.LAND


@dataclass(frozen=True, slots=True, kw_only=True)
class Resting:
    """An agent's limit is waited out; then the stage goes on, under the same attempt."""

    track: Track
    until: str
    then: "Driving | Reviewing | Evaluating"
    is_busy: bool = False
    step = Step.REST


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A question of a unit, and what it needs to go on once that is answered.

    `red` are the tests that its work leaves red by design, `finished` the tasks of it that are done.
    """

    question: Question
    session: SessionId | None
    red: tuple[str, ...] = ()
    finished: tuple[TaskId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """An attempt was not good enough; the policy decides whether there is another."""

    track: Track
    work: Work | None
    session: SessionId | None
    cause: Cause
    feedback: str
    fingerprint: str | None = None
    asking: Asking | None = None


Active: TypeAlias = Driving | Verifying | Reviewing | Evaluating | Landing | Resting
Stage: TypeAlias = Active | Failing


@dataclass(frozen=True, slots=True, kw_only=True)
class Parked:
    """Waits for a person. What broke on the way stays as it was (`stage`), to go on from there."""

    track: Track
    reason: Reason
    detail: str
    work: Work | None = None
    feedback: str = ""
    stage: Active | None = None
    asking: Asking | None = None


@dataclass(frozen=True, slots=True)
class Landed:
    """One commit on the branch of the run; work that is `by_person` was done by hand, and not reviewed.

    `unreported` are the tasks of which the turn that landed said nothing.
    """

    commit: CommitId
    attempt: int
    by_person: bool = False
    accepted: tuple[Accepted, ...] = ()
    counters: Counters = field(default=Counters(), compare=False)
    unreported: tuple[TaskId, ...] = ()
    edits: TestEdits = field(default=TestEdits())


def landed(track: Track, attempt: int, commit: CommitId) -> Landed:
    """Returns a unit that landed, with what is told of it from then on."""
    return Landed(
        commit,
        attempt,
        by_person=track.by_person,
        accepted=track.accepted,
        counters=track.counters,
        unreported=track.unreported,
        edits=track.edits,
    )


@dataclass(frozen=True, slots=True)
class Skipped:
    """Taken out by a person; `satisfies` says whether its dependants run all the same."""

    satisfies: bool
    counters: Counters = field(default=Counters(), compare=False)


UnitState: TypeAlias = Waiting | Stage | Parked | Landed | Skipped


def counters_of(state: UnitState) -> Counters:
    """Returns the numbers of a unit's attempts, iterations and turns; a turn counts once it has begun."""
    match state:
        case Landed(counters=counters) | Skipped(counters=counters):
            return counters
        case Waiting(turns=turns, then=then):
            return Counters(turns=turns) if then is None else replace(then.track.counters, turns=turns)
        case _:
            return state.track.counters


class Wish(StrEnum):
    """What a person or a signal asked of the whole run."""

    PAUSE = "pause"
    CANCEL = "cancel"
    ABORT = "abort"


class Branch(StrEnum):
    """Whether the whole branch was verified, and then whether the record of the run is on top of it."""

    UNVERIFIED = "unverified"
    CHECKING = "checking"
    GREEN = "green"
    RED = "red"
    RECORDING = "recording"
    RECORDED = "recorded"
    UNRECORDED = "unrecorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """Where a run stands.

    `implementers` names, for every unit that writes tests for others, the units that implement them;
    `chains` tells how much work stands behind a unit, itself included.
    `open` holds the units that are under way, failing or parked, `queue` the accepted ones in the order in
    which they were accepted, `red` the tests that a landed unit wrote for an implementation to come,
    `rulings` the findings that were rejected or deferred, for the report; `spent` what every unit used;
    `granted` the files of tests that a person lets a unit change.
    `record_reason` tells why the record is not on the branch, where that was refused.
    `is_halted` says that a unit was parked since a person last did something about one.
    """

    facts: RunStarted
    implementers: Mapping[UnitId, frozenset[UnitId]]
    chains: Mapping[UnitId, float]
    units: Mapping[UnitId, UnitState]
    open: tuple[UnitId, ...] = ()
    tip: CommitId
    queue: tuple[UnitId, ...] = ()
    budget: Budget
    spent: Mapping[UnitId, Spent]
    spent_in_all: Spent
    red: Mapping[UnitId, tuple[str, ...]]
    delivery: Delivery
    rulings: tuple[tuple[UnitId, Finding, Ruling], ...] = ()
    granted: Mapping[UnitId, tuple[str, ...]] = field(default_factory=dict[UnitId, tuple[str, ...]])
    wish: Wish | None = None
    is_paused: bool = False
    is_halted: bool = False
    branch: Branch = Branch.UNVERIFIED
    branch_feedback: str = ""
    record_reason: Reason = Reason.BROKEN
    outcome: Outcome | None = None

    @property
    def is_final(self) -> bool:
        """Says whether the run is over for good, so that nobody can act on it any more."""
        return self.outcome is not None and self.outcome.is_final

    def __repr__(self) -> str:
        kinds = [type(state).__name__.lower() for state in self.units.values()]
        counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
        return f"<Run {self.facts.run} {self.outcome or 'going'} | {counts}>"
