"""A mode as a policy: how often a unit is tried, in which session and workspace, and what a failure stops.

Every value is a setting; the table holds the defaults. No other code asks which mode a run has in order to
decide what to do.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from amelia.model.agents import UNBOUNDED, Allowance
from amelia.model.plan import Mode


class RetrySession(StrEnum):
    """Which session a unit's next attempt is made in."""

    SAME = "same"
    FRESH = "fresh"


class SessionScope(StrEnum):
    """What one session of the developer carries out: the whole unit, or one task of it after the other."""

    UNIT = "unit"
    SUBTASK = "subtask"


class OnFailure(StrEnum):
    """What a parked unit means for the others: nothing new starts, or what is independent goes on."""

    HALT = "halt"
    CONTINUE = "continue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How a run treats its units.

    An attempt is at most so many `iterations`: while the checks fail, it goes on from what there is, in a
    fresh session.
    """

    attempts: int
    retry_session: RetrySession
    keeps_workspace: bool
    on_failure: OnFailure
    parallel_workers: int = 1
    review_tries: int = 2
    conflict_retries: int = 1
    rests: int = 100
    iterations: int = 1
    questions: int = 5
    session_scope: SessionScope = SessionScope.UNIT


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a unit may use, with all its attempts and reviews, and what the whole run may use."""

    unit: Allowance = UNBOUNDED
    run: Allowance = UNBOUNDED

    def changed_by(self, said: "Budget") -> "Budget":
        """Returns it with what was said of it."""
        return Budget(unit=self.unit.changed_by(said.unit), run=self.run.changed_by(said.run))


BUDGET = Budget(unit=Allowance(cost=10.0, tokens=20_000_000), run=Allowance(cost=100.0, tokens=200_000_000))
"""What a run may use unless a person says otherwise."""

POLICIES: Mapping[Mode, Policy] = {
    Mode.SINGLE: Policy(
        attempts=5, retry_session=RetrySession.SAME, keeps_workspace=True, on_failure=OnFailure.HALT
    ),
    Mode.TASKS: Policy(
        attempts=5, retry_session=RetrySession.SAME, keeps_workspace=True, on_failure=OnFailure.HALT
    ),
    Mode.PHASED: Policy(
        attempts=2, retry_session=RetrySession.FRESH, keeps_workspace=False, on_failure=OnFailure.HALT
    ),
    Mode.LIFECYCLE: Policy(
        attempts=3,
        retry_session=RetrySession.FRESH,
        keeps_workspace=False,
        on_failure=OnFailure.CONTINUE,
        iterations=10,
    ),
}
