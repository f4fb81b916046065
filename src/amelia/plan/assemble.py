"""Places in a document become tasks: their exact section, fields, group, status and unique ids.

Every Markdown dialect only finds the places; what is the same for all of them is done here, once.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from amelia.model.diagnostics import Diagnostic, info
from amelia.model.plan import Task, TaskId, TaskStatus
from amelia.plan.outline import Outline
from amelia.plan.reading import Reading


@dataclass(frozen=True, slots=True)
class Place:
    """Where a task stands; an empty `id` is numbered by position."""

    line: int
    end_line: int
    id: str
    title: str
    done: bool | None = None
    dropped: bool = False
    parallel: bool = False
    boxes_are_steps: bool = True
    needs: tuple[str, ...] = ()


def assemble(
    outline: Outline, places: Sequence[Place], *, name: str, diagnostics: Sequence[Diagnostic] = ()
) -> Reading:
    """Turns places into a reading, in document order."""
    document = outline.document
    places = _distinct(outline, places)
    groups = list(outline.groups())
    group_lines = [line for line, _, _ in groups]
    boxes = [item for item in document.items if item.box is not None]
    box_lines = [item.line for item in boxes]
    tasks: list[Task] = []
    for number, place in enumerate(places, start=1):
        end_line = document.last_text_line(place.line, place.end_line)
        index = bisect_right(group_lines, place.line) - 1
        _, phase, milestone = groups[index] if index >= 0 else (0, None, None)
        ticks = [
            item.box for item in boxes[bisect_left(box_lines, place.line) : bisect_right(box_lines, end_line)]
        ]
        task_id = place.id or str(number)
        said: dict[str, Any] = {"phase": phase, "milestone": milestone}
        said |= outline.fields.describe(task_id, place.line, end_line)
        said["depends_on"] = tuple(dict.fromkeys((*map(TaskId, place.needs), *said["depends_on"])))
        said["status"] = _status(place, said.get("status"), ticks if place.boxes_are_steps else ())
        tasks.append(
            Task(
                id=TaskId(task_id),
                title=place.title,
                line=place.line,
                end_line=end_line,
                section=document.slice(place.line, end_line),
                parallel=place.parallel,
                **said,
            )
        )
    tasks, notes = _unique(tasks)
    tasks = _without_prose(_with_statements(outline, tasks))
    return Reading(name, tuple(tasks), outline.title, (*diagnostics, *notes))


def _distinct(outline: Outline, places: Sequence[Place]) -> Sequence[Place]:
    """Drops the poorer mention of a task that two sections name, as an overview and a detailed part do."""
    best: dict[tuple[str, str], Place] = {}
    for place in places:
        key = (place.id, place.title.casefold())
        other = best.get(key)
        if other is None or not place.id or place.end_line - place.line > other.end_line - other.line:
            best[key] = place
    kept = {id(place) for place in best.values()}
    homes = {id(place): outline.home(place.line) for place in places}
    return [
        place
        for place in places
        if id(place) in kept
        or not place.id
        or homes[id(place)] == homes[id(best[place.id, place.title.casefold()])]
    ]


def _status(place: Place, stated: TaskStatus | None, ticks: Sequence[str | None]) -> TaskStatus:
    """Decides a status: open boxes outrank a tick in the heading, which may be decoration."""
    if place.dropped:
        return TaskStatus.SKIPPED
    has_open = any(not (tick or "").strip() for tick in ticks)
    all_done = bool(ticks) and all(tick in {"x", "X"} for tick in ticks)
    if has_open or place.done is False:
        return TaskStatus.PENDING
    if all_done or place.done:
        return TaskStatus.COMPLETED
    return stated or TaskStatus.PENDING


def _unique(tasks: list[Task]) -> tuple[list[Task], list[Diagnostic]]:
    """Gives tasks whose numbering starts again in every phase ids of their own; other duplicates stay."""
    counts = Counter(task.id for task in tasks)
    repeated = {task_id for task_id, count in counts.items() if count > 1}
    if not repeated:
        return tasks, []
    phases = list(dict.fromkeys(task.phase for task in tasks))
    if len({(task.phase, task.id) for task in tasks}) < len(tasks) or len(phases) < 2:  # noqa: PLR2004
        return tasks, []
    number = {phase: index for index, phase in enumerate(phases, start=1)}
    renamed = [replace(task, id=TaskId(f"p{number[task.phase]}-{task.id}")) for task in tasks]
    siblings = {(task.phase, task.id) for task in tasks}
    renamed = [
        replace(
            new,
            depends_on=tuple(
                TaskId(f"p{number[old.phase]}-{need}") if (old.phase, need) in siblings else need
                for need in old.depends_on
            ),
        )
        for old, new in zip(tasks, renamed, strict=True)
    ]
    message = f"task numbers start again in every phase; {len(tasks)} tasks get ids like {renamed[0].id}"
    return renamed, [
        info("renumbered", message, line=tasks[0].line, hint="number tasks through the whole plan")
    ]


def _without_prose(tasks: list[Task]) -> list[Task]:
    """Drops words behind "depends on" that cannot be ids here, such as the name of a library."""
    if any(task.id.isalpha() for task in tasks):
        return tasks
    return [
        replace(task, depends_on=tuple(need for need in task.depends_on if not need.isalpha()))
        if any(need.isalpha() for need in task.depends_on)
        else task
        for task in tasks
    ]


def _with_statements(outline: Outline, tasks: list[Task]) -> list[Task]:
    """Adds dependencies that the plan states outside the task they are about."""
    said: dict[str, list[str]] = {}
    for subject, needs in outline.fields.stated_elsewhere(tasks):
        said.setdefault(subject, []).extend(needs)
    if not said:
        return tasks
    return [
        replace(task, depends_on=tuple(dict.fromkeys((*task.depends_on, *map(TaskId, said[task.id])))))
        if task.id in said
        else task
        for task in tasks
    ]
