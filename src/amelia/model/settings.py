"""What a person decides about plans and runs; read from files by `config`, used by everybody below.

Everything has a default, so that no file is needed. `RunSettings.policies` holds every mode.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from amelia.model.agents import AgentSettings, Clocks, Role
from amelia.model.delivery import Finish
from amelia.model.evidence import VerifySettings
from amelia.model.plan import Mode
from amelia.model.policy import BUDGET, POLICIES, Budget, Policy
from amelia.model.walls import WallSettings


class TddRule(StrEnum):
    """What happens to an implementation that no test precedes."""

    STRICT = "strict"
    WARN = "warn"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class SizeLimits:
    """The soft limits of a task, and the score above which it is split (`task_size_limits`)."""

    max_files_to_create: int = 5
    max_files_to_modify: int = 8
    max_acceptance_criteria: int = 7
    max_input_tokens: int = 6000
    max_time_minutes: float = 5.0
    complexity_threshold: float = 5.0
    auto_split: bool = True


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """Everything the compiler may be told besides the plan itself."""

    limits: SizeLimits = SizeLimits()
    tdd: TddRule = TddRule.STRICT
    enable_phased_execution: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """Everything a run may be told besides its plan."""

    agents: Mapping[Role, AgentSettings] = field(default_factory=lambda: dict.fromkeys(Role, AgentSettings()))
    budget: Budget = BUDGET
    parallel_workers: int = 1
    policies: Mapping[Mode, Policy] = field(default_factory=lambda: POLICIES)
    verify: VerifySettings = field(default_factory=VerifySettings)
    clocks: Clocks = field(default_factory=Clocks)
    wall: WallSettings = field(default_factory=WallSettings)
    finish: Finish = Finish.LEAVE
    prompts: Mapping[str, str] = field(default_factory=dict[str, str])
    artifacts_dir: str = "docs/amelia"
    commit_record: bool = True

    def with_agents(self, **changes: object) -> "RunSettings":
        """Returns settings in which the agents of all roles differ in the same way."""
        agents = {role: replace(agent, **changes) for role, agent in self.agents.items()}
        return replace(self, agents=agents)

    def with_workers(self, count: int) -> "RunSettings":
        """Returns settings that let so many units run at the same time, in every mode."""
        policies = {mode: replace(policy, parallel_workers=count) for mode, policy in self.policies.items()}
        return replace(self, parallel_workers=count, policies=policies)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that hold in one directory."""

    plan: PlanSettings = PlanSettings()
    run: RunSettings = field(default_factory=RunSettings)
