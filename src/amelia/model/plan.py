"""What the author asked for: tasks, as read from a plan, and the units that would carry them out.

Everything here is immutable. A plan's text never changes after it was read; what a task's section says
is a function of the plan and the task's id.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

TaskId = NewType("TaskId", str)
UnitId = NewType("UnitId", str)

# Between a label and its title; "1.5", "1-2" and "1–2" are other labels than "1".
_SEPARATOR = re.compile(r"\s*[:：]|\s+[—–―-]+|[.)—–―-]+(?=\s)|[—–―]+(?=\D)|\s")


class TaskType(StrEnum):
    """What kind of work a task is; decides how it is verified."""

    TEST = "test"
    IMPL = "impl"
    REFACTOR = "refactor"
    DOCS = "docs"
    CHORE = "chore"


PROVED_BY_TESTS = frozenset({TaskType.TEST, TaskType.IMPL, TaskType.REFACTOR})
"""The types of work that are not accepted unless tests ran."""


class TaskStatus(StrEnum):
    """Where a task stands. `blocked` is derived from dependencies, never written by an author."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"
    BLOCKED = "blocked"
    SKIPPED = "skipped"


DONE = frozenset({TaskStatus.COMPLETED, TaskStatus.SKIPPED})
"""Statuses of tasks for which nothing is left to do."""


class Priority(StrEnum):
    """How urgent a task is; more urgent first."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Mode(StrEnum):
    """How a plan is cut into units; a mode is only a policy."""

    SINGLE = "single"
    TASKS = "tasks"
    PHASED = "phased"
    LIFECYCLE = "lifecycle"


class Level(StrEnum):
    """How hard a task is, by its complexity score."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def action(self) -> str:
        """Says what to do about a task of this level."""
        return _ACTIONS[self]


_ACTIONS = {
    Level.LOW: "safe for autonomous execution",
    Level.MEDIUM: "requires monitoring",
    Level.HIGH: "consider decomposition",
    Level.CRITICAL: "must decompose",
}


@dataclass(frozen=True, slots=True)
class Complexity:
    """A complexity score from 0 to 13, with the parts it is the sum of."""

    file_scope: float = 0.0
    cross_file_deps: float = 0.0
    semantic_complexity: float = 0.0
    requirement_uncertainty: float = 0.0
    token_penalty: float = 0.0

    @property
    def total(self) -> float:
        """Returns the sum of the parts."""
        return (
            self.file_scope
            + self.cross_file_deps
            + self.semantic_complexity
            + self.requirement_uncertainty
            + self.token_penalty
        )

    @property
    def level(self) -> Level:
        """Returns the band of the total: below 5, below 8, below 11, and the rest."""
        total = self.total
        if total < 5:  # noqa: PLR2004 - the bands are the definition
            return Level.LOW
        if total < 8:  # noqa: PLR2004
            return Level.MEDIUM
        return Level.HIGH if total < 11 else Level.CRITICAL  # noqa: PLR2004


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One item of the plan. `line` and `end_line` are 1-based and inclusive.

    An `independent` task depends on nothing by its author's own word, not only for want of one.
    """

    id: TaskId
    title: str
    line: int = 1
    end_line: int = 1
    section: str = ""
    type: TaskType | None = None
    status: TaskStatus = TaskStatus.PENDING
    depends_on: tuple[TaskId, ...] = ()
    files_to_create: tuple[str, ...] = ()
    files_to_modify: tuple[str, ...] = ()
    test_files: tuple[str, ...] = ()
    acceptance_criteria: tuple[str, ...] = ()
    user_story: str = ""
    milestone: str | None = None
    priority: Priority = Priority.MEDIUM
    phase: str | None = None
    parallel: bool = False
    independent: bool = False
    waiver: str | None = None
    complexity: Complexity = Complexity()
    max_attempts: int = 3
    attempts: int = 0
    implementation_notes: str = ""
    error: str | None = None
    linear_issue_id: str | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """Returns every file the task declares, each once: created, modified, then tests."""
        return tuple(dict.fromkeys((*self.files_to_create, *self.files_to_modify, *self.test_files)))

    @property
    def is_proved_by_tests(self) -> bool:
        """Says whether the task is not accepted unless tests ran; a waiver excuses all but writing tests."""
        return self.type in PROVED_BY_TESTS and (self.waiver is None or self.type is TaskType.TEST)

    @property
    def estimated_complexity(self) -> Level:
        """Returns the level of the task's complexity score."""
        return self.complexity.level


@dataclass(frozen=True, slots=True)
class Milestone:
    """A named group of tasks; its status is derived from theirs."""

    id: str
    name: str
    description: str
    task_ids: tuple[TaskId, ...]
    status: TaskStatus


def milestone_title(milestone: Milestone) -> str:
    """Returns id and name of a milestone, `M1 Core`, or the id alone if it has no other name."""
    return milestone.id if milestone.name == milestone.id else f"{milestone.id} {milestone.name}"


def milestone_status(statuses: Iterable[TaskStatus]) -> TaskStatus:
    """Returns where a group stands: failed, before in progress or mixed, before completed, before pending."""
    present = set(statuses)
    if TaskStatus.FAILED in present:
        return TaskStatus.FAILED
    if TaskStatus.IN_PROGRESS in present or (present & DONE and present - DONE):
        return TaskStatus.IN_PROGRESS
    return TaskStatus.COMPLETED if present & DONE else TaskStatus.PENDING


@dataclass(frozen=True, slots=True)
class Unit:
    """What one agent session carries out and what is verified, reviewed and landed as one.

    `tasks` are ids of the plan's tasks as read; `pieces` are the tasks as they would run, which differ
    from them only where a task was split. `group` is the level of the unit in the graph, from 1. `piece_of`
    names the unit that the plan asks for, of which this is a piece.
    """

    id: UnitId
    title: str
    tasks: tuple[TaskId, ...]
    depends_on: tuple[UnitId, ...]
    group: int
    pieces: tuple[Task, ...] = field(default=(), repr=False)
    piece_of: UnitId | None = None


def unit_label(unit: UnitId, mode: Mode) -> str:
    """Returns what a unit is called for short: `Phase 2`, `Task 3`, or `Plan`."""
    if mode is Mode.SINGLE:
        return "Plan"
    if mode is Mode.PHASED:
        return f"Phase {unit.removeprefix('phase-')}"
    return unit if unit.casefold().startswith("task") else f"Task {unit}"


def unit_title(unit: Unit, mode: Mode) -> str:
    """Returns the title of a unit without the label that its author may have put before it."""
    label = unit_label(unit.id, mode)
    before, rest = unit.title[: len(label)], unit.title[len(label) :]
    separator = _SEPARATOR.match(rest) if before.casefold() == label.casefold() else None
    return (rest[separator.end() :].strip() if separator else "") or unit.title


def unit_heading(unit: Unit, mode: Mode) -> str:
    """Returns label and title of a unit: `Phase 2: Models`, `Task 3: Sign up`, or the title of the plan."""
    return unit.title if mode is Mode.SINGLE else f"{unit_label(unit.id, mode)}: {unit_title(unit, mode)}"


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan as its author wrote it, and the tasks that were read from it.

    `descriptions` holds what the author says about milestones, by their names as tasks give them; `product`
    is the path of the product's page that the plan refers to, `tracker` the id it states for itself.
    """

    text: str = field(repr=False)
    hash: str
    format: str
    goal: str
    tasks: tuple[Task, ...]
    descriptions: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    product: str | None = None
    tracker: str | None = None
