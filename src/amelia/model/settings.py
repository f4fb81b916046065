"""The settings that decide how a plan is checked and cut; read from files by `config`, used by `plan`."""

from dataclasses import dataclass
from enum import StrEnum


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
