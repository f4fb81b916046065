"""The first event of a run: what decides its course, as it was when the run began."""

from dataclasses import dataclass, field
from typing import NewType

from amelia.model.agents import AgentSettings, Clocks
from amelia.model.delivery import Finish
from amelia.model.evidence import TestCommand, VerifySettings
from amelia.model.git import CommitId
from amelia.model.plan import Milestone, Mode, TaskId, Unit
from amelia.model.policy import Budget, Policy
from amelia.model.walls import NO_WALL, WallSettings

RunId = NewType("RunId", str)
_ARTIFACTS = "docs/amelia"


@dataclass(frozen=True, slots=True)
class RecordPlace:
    """The execution directory of a run, as a path in its repository, and whether its branch gets it."""

    path: str
    is_committed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A run of a plan on a repository began; everything that decides its course stands here.

    `onto` is the branch that was checked out, `finish` what is to become of the run's own. `tasks` are the
    ids of the plan's tasks in its order, without those left out; `done_before` were completed already.
    `replay_of` is the repository of the run that is played again, or the directory it was saved in, if this
    is a replay; `repository` is the replay's own then. Runs of old had no `wall`.
    """

    run: RunId
    plan_hash: str
    plan_path: str
    goal: str
    mode: Mode
    policy: Policy
    base: CommitId
    units: tuple[Unit, ...]
    tasks: tuple[TaskId, ...] = ()
    done_before: tuple[TaskId, ...] = ()
    milestones: tuple[Milestone, ...] = ()
    footprints: dict[str, tuple[str, ...]]
    agents: dict[str, AgentSettings]
    budget: Budget = field(default_factory=Budget)
    clocks: Clocks = field(default_factory=Clocks)
    wall: WallSettings = NO_WALL
    test_command: TestCommand | None
    verify: VerifySettings = field(default_factory=VerifySettings)
    repository: str
    onto: str | None = None
    finish: Finish = Finish.LEAVE
    record: RecordPlace | None = None
    replay_of: str | None = None

    @property
    def record_place(self) -> RecordPlace:
        """The execution directory; runs of old have one, too, but only for their agents to read."""
        return self.record or RecordPlace(f"{_ARTIFACTS}/{self.run}", is_committed=False)

    def is_played(self, role: str) -> bool:
        """Says whether a role is played from a script, and costs nothing whatever it tells of that."""
        agent = self.agents.get(role)
        return agent is not None and agent.driver == "script"

    @property
    def is_all_played(self) -> bool:
        """Says whether every role is played from a script."""
        return all(map(self.is_played, self.agents))

    def unheld(self, untold: int) -> str:
        """Returns why a budget cannot hold if some turns told nothing of their use; empty if it can."""
        if not untold or self.is_all_played:
            return ""
        return f"the budget cannot hold: {untold} turn{'s' * (untold > 1)} did not tell what was used"
