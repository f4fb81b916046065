"""Where a unit stands: one status and the numbers of its tries, as every view says them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from amelia.model.interventions import Accepted
from amelia.model.outcome import Reason
from amelia.model.plan import Milestone, TaskId, TaskStatus, UnitId


class UnitStatus(StrEnum):
    """The status of a unit.

    `running` is its first attempt, `retrying` any later one, also one that a person asked for and that has
    not begun. A `resting` unit waits for an agent's limit to pass, a `held` one for more budget, a `stopped`
    one was under way when the run stopped. `asking` waits for a person's answer, `failed` for a person's
    decision.
    """

    PENDING = "pending"
    BLOCKED = "blocked"
    RUNNING = "running"
    RETRYING = "retrying"
    RESTING = "resting"
    HELD = "held"
    STOPPED = "stopped"
    ASKING = "asking"
    FAILED = "failed"
    COMPLETED = "completed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """How often a unit was tried: three numbers that are never mixed up.

    `attempts` are those that failed and count against the limit (`failed`) and the present one; a person who
    lets the unit try again resets them. `iterations` are the rounds of the present attempt. `turns` are all
    turns that the developer has begun; events, refs and transcripts are named by the number of the turn,
    which they call `attempt`.
    """

    attempts: int = 0
    failed: int = 0
    iterations: int = 0
    turns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitStanding:
    """Where a unit stands.

    `reason` and `detail` say why it waits for a person, `blocked_by` names the failed or skipped units that
    keep it from starting. Its tasks are completed in `subtasks` when the agent reports them as done; they
    are accepted only once the unit has landed; `unreported` are those of which a turn that ended well said
    nothing. `task_status` is the status of the tasks that the unit
    carries out, as a plan has it. Work that is `by_person` was done by hand; of what landed, `accepted` are
    the doubts that the person set aside.
    """

    status: UnitStatus
    task_status: TaskStatus
    counters: Counters
    subtasks: Mapping[TaskId, UnitStatus]
    unreported: tuple[TaskId, ...] = ()
    reason: Reason | None = None
    detail: str = ""
    blocked_by: tuple[UnitId, ...] = ()
    by_person: bool = False
    accepted: tuple[Accepted, ...] = ()

    @property
    def is_reviewed(self) -> bool:
        """Says whether the unit landed after a review; what a person did by hand is not reviewed."""
        return self.status is UnitStatus.COMPLETED and not self.by_person


def by_hand(accepted: Collection[Accepted]) -> str:
    """Returns who did work that landed by hand, and what nobody looked at, in a few words."""
    if Accepted.UNCHANGED in accepted:
        done = "accepted by hand as the agent left it, without an approving review"
    else:
        done = "done by hand, not reviewed"
    return f"{done}; declared files are missing" if Accepted.MISSING_FILES in accepted else done


@dataclass(frozen=True, slots=True)
class MilestoneStanding:
    """A milestone with its status, and how many of its tasks are done."""

    milestone: Milestone
    status: TaskStatus
    done: int


@dataclass(frozen=True, slots=True)
class RunStanding:
    """Where a run, its units and its milestones stand; `status` is its outcome, `paused` or `running`."""

    status: str
    in_words: str
    units: Mapping[UnitId, UnitStanding]
    milestones: tuple[MilestoneStanding, ...] = ()
