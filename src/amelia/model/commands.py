"""What the machine wants done: wishes in the imperative, carried out by the shell."""

from dataclasses import dataclass
from typing import TypeAlias

from amelia.model.agents import UNBOUNDED, Allowance, SessionId, Usage
from amelia.model.events import Event, Step, Work
from amelia.model.findings import Finding
from amelia.model.git import CommitId
from amelia.model.interventions import Accepted
from amelia.model.plan import TaskId, Unit, UnitId
from amelia.model.questions import Answered


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What is to be seen when a unit's tests run, by the order of tests and implementations in the plan.

    `red_tasks` write tests that a later unit implements; the tests in `must_be_green` were written for this
    unit to implement; those in `may_be_red` wait for somebody else.
    """

    red_tasks: tuple[TaskId, ...] = ()
    must_be_green: tuple[str, ...] = ()
    may_be_red: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is when a unit's step begins: the unit's place in the plan, and how many are done.

    A run that `is_in_order` has completed exactly what stands before the unit in the plan: `first` to `last`.
    Where ids are not their places in the plan, `name` is the unit's own.
    """

    position: int = 1
    total: int = 1
    done: int = 0
    is_in_order: bool = True
    name: str = ""
    first: str = ""
    last: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a step belongs: the unit and its turn, the lane it runs in, and the base it started from.

    `attempt` is the number of the turn, as in events; `number` that of the attempt it is part of. `red_tasks`
    are those of the unit's tasks that write tests for a later unit to implement. The work of a unit that is
    `by_person` was done by hand, and the person set aside the doubts that are `accepted`. `granted` are files
    of tests that a person lets the unit change.
    """

    assigned: Unit
    lane: int
    attempt: int
    base: CommitId
    progress: Progress = Progress()
    number: int = 1
    by_person: bool = False
    accepted: tuple[Accepted, ...] = ()
    red_tasks: tuple[TaskId, ...] = ()
    granted: tuple[str, ...] = ()

    @property
    def unit(self) -> UnitId:
        """The id of the unit."""
        return self.assigned.id


@dataclass(frozen=True, slots=True)
class StartTurn:
    """Put `start` into the lane's workspace and let the developer take its turn on the unit.

    `before` is what the session to go on with has used; a turn that `is_again` was cut off, one that
    `is_answer` goes on with the last of the answers. What is `finished` of the unit is in the files already;
    tasks of it that have `begun` in this turn are not told to begin once more.
    """

    at: Place
    start: CommitId
    session: SessionId | None
    feedback: str
    is_again: bool
    before: Usage | None = None
    allowance: Allowance = UNBOUNDED
    answers: tuple[Answered, ...] = ()
    is_answer: bool = False
    finished: tuple[TaskId, ...] = ()
    begun: tuple[TaskId, ...] = ()
    step = Step.DRIVE


@dataclass(frozen=True, slots=True)
class VerifyWork:
    """Check the tree by running it; the developer may have declared it done."""

    at: Place
    work: Work
    expected: Expected
    is_promised: bool = False
    step = Step.VERIFY


@dataclass(frozen=True, slots=True)
class ReviewWork:
    """Let another agent read the work; later rounds see what changed since `reviewed`.

    `red` are the tests that fail as they should: a later unit implements what they test. `changed_tests` were
    changed by the work and fail as they were; the reviewer rules on each.
    """

    at: Place
    work: Work
    reviewed: CommitId | None
    open_findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    red: tuple[str, ...] = ()
    changed_tests: tuple[str, ...] = ()
    allowance: Allowance = UNBOUNDED
    step = Step.REVIEW


@dataclass(frozen=True, slots=True)
class EvaluateFindings:
    """Have every finding ruled."""

    at: Place
    work: Work
    findings: tuple[Finding, ...]
    red: tuple[str, ...] = ()
    allowance: Allowance = UNBOUNDED
    step = Step.EVALUATE


@dataclass(frozen=True, slots=True)
class LandWork:
    """Put the work on the tip of the branch, verified there if the tip is not its base.

    The reviewer has ruled on the `changed_tests`.
    """

    at: Place
    work: Work
    tip: CommitId
    expected: Expected
    changed_tests: tuple[str, ...] = ()
    step = Step.LAND


@dataclass(frozen=True, slots=True)
class Rest:
    """Wait until a moment, and then go on with the attempt."""

    at: Place
    until: str
    rests: int = 1
    step = Step.REST


@dataclass(frozen=True, slots=True)
class VerifyBranch:
    """Verify the whole branch: no test is red any more, but for those whose implementation was skipped.

    `restored` are the files of tests that units changed and were not to: as they were before the run, the
    tests that passed then have to pass, but for those in `licensed` files.
    """

    tip: CommitId
    base: CommitId
    open_red: tuple[str, ...] = ()
    waived: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    licensed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """Put the record of the run on top of the verified branch."""

    tip: CommitId


@dataclass(frozen=True, slots=True)
class Record:
    """Nothing is to be done but to write down what was decided."""

    event: Event


StepCommand: TypeAlias = StartTurn | VerifyWork | ReviewWork | EvaluateFindings | LandWork | Rest
RunCommand: TypeAlias = VerifyBranch | CommitRecord
AnyStep: TypeAlias = StepCommand | RunCommand
Command: TypeAlias = AnyStep | Record
