"""What an architect answers: the schema it is asked by, and the same answer validated here all the same.

As strict as `answers`. Everything that becomes part of a line of the plan is one line, and bounded.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from amelia.judge.answers import Invalid, json_list, json_object, or_null
from amelia.model.plan import Priority, Task, TaskId, TaskType
from amelia.plan.declared import spelled_out

_TEXT = {"type": "string"}
_TEXT_OR_NULL = or_null(_TEXT)
_MOST_TASKS = 500
_MOST = 200
_LONGEST_LINE = 1000
_LONGEST_TEXT = 20_000

PLAN_SCHEMA: Mapping[str, object] = json_object(
    goal=_TEXT,
    tasks=json_list(
        json_object(
            id=_TEXT,
            title=_TEXT,
            type={"type": "string", "enum": list(TaskType)},
            phase=_TEXT_OR_NULL,
            depends_on=json_list(_TEXT),
            independent={"type": "boolean"},
            files_to_create=json_list(_TEXT),
            files_to_modify=json_list(_TEXT),
            test_files=json_list(_TEXT),
            acceptance_criteria=json_list(_TEXT),
            description=_TEXT,
            user_story=_TEXT_OR_NULL,
            priority={"type": "string", "enum": list(Priority)},
            milestone=_TEXT_OR_NULL,
        )
    ),
)


@dataclass(frozen=True, slots=True)
class PlannedWork:
    """What an architect proposes; the description of a task is in its `implementation_notes`."""

    goal: str
    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True)
class _PlannedTask:
    id: str
    title: str
    type: TaskType | None = None
    phase: str | None = None
    depends_on: tuple[str, ...] = ()
    independent: bool = False
    files_to_create: tuple[str, ...] = ()
    files_to_modify: tuple[str, ...] = ()
    test_files: tuple[str, ...] = ()
    acceptance_criteria: tuple[str, ...] = ()
    description: str = ""
    user_story: str | None = None
    priority: Priority = Priority.MEDIUM
    milestone: str | None = None


@dataclass(frozen=True, slots=True)
class _Plan:
    tasks: tuple[_PlannedTask, ...]
    goal: str = ""


def read_planned(report: Mapping[str, object] | None) -> PlannedWork | Invalid:
    """Returns the work that an architect proposes."""
    if report is None:
        return Invalid("the architect gave no plan")
    try:
        plan = msgspec.convert(report, _Plan)
    except msgspec.ValidationError as problem:
        return Invalid(f"the plan is not as asked for: {problem}")
    if not plan.tasks:
        return Invalid("the plan has no tasks")
    if len(plan.tasks) > _MOST_TASKS:
        return Invalid(f"the plan has {len(plan.tasks)} tasks; at most {_MOST_TASKS} are possible")
    tasks = tuple(map(_task, plan.tasks))
    if unnamed := next((n for n, task in enumerate(tasks, start=1) if not (task.id and task.title)), None):
        return Invalid(f"the task number {unnamed} has no id or no title")
    return PlannedWork(_line(plan.goal), tasks)


def _task(planned: _PlannedTask) -> Task:
    needs = tuple(map(TaskId, _lines(planned.depends_on)))
    return Task(
        id=TaskId(_line(planned.id)),
        title=_line(planned.title),
        type=planned.type,
        phase=_line(planned.phase or "") or None,
        depends_on=needs,
        independent=planned.independent and not needs,
        files_to_create=_paths(planned.files_to_create),
        files_to_modify=_paths(planned.files_to_modify),
        test_files=_paths(planned.test_files),
        acceptance_criteria=_lines(planned.acceptance_criteria),
        user_story=_line(planned.user_story or ""),
        priority=planned.priority,
        milestone=_line(planned.milestone or "") or None,
        implementation_notes=planned.description[:_LONGEST_TEXT],
    )


def _lines(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for text in texts[:_MOST] if (line := _line(text))))


def _paths(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for line in _lines(texts) for path in spelled_out(line)))


def _line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_LINE].strip()
