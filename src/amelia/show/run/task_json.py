"""The tasks of a run and its milestones as JSON: what the plan says of them, and where they stand.

A task that was split has the files and criteria of all its pieces, and stands where the first of them stands
that is not done.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from amelia.model.plan import DONE, Milestone, Task, TaskId, Unit, UnitId
from amelia.model.policy import Policy
from amelia.model.standing import Counters, MilestoneStanding, UnitStanding
from amelia.model.state import RunState
from amelia.schedule.standing import TaskStanding
from amelia.show.json import complexity_json
from amelia.show.run.standing import error_of
from amelia.show.run.times import Timeline

Json = dict[str, Any]

_MARK = re.compile(r"^(.*) \(\d+/\d+\)(?:: .*)?$")


def task_json(
    task: TaskId,
    standing: TaskStanding,
    *,
    run: RunState,
    units: Mapping[UnitId, UnitStanding],
    timeline: Timeline,
) -> Json:
    """Returns one task of the plan."""
    unit = _present_unit(standing.units, units)
    pieces = pieces_of(task, standing.units)
    mine = units[unit.id]
    return {
        "id": task,
        "title": pieces[0].title if pieces and pieces[0].id == task else _whole_title(task, unit),
        "type": next((piece.type for piece in pieces), None),
        "status": standing.status,
        "unit": unit.id,
        **_as_planned(task, pieces, run.facts.milestones),
        **counters_json(mine.counters, run.facts.policy),
        "implementation_notes": timeline.of(unit.id).said,
        "error": error_of(run.units[unit.id]),
        "blocked_by": list(mine.blocked_by),
    }


def counters_json(counters: Counters, policy: Policy) -> Json:
    """Returns the numbers of attempts, of iterations and of turns, with the limits that there are."""
    return {
        "attempts": counters.attempts,
        "max_attempts": policy.attempts,
        "iterations": counters.iterations,
        "max_iterations": policy.iterations,
        "turns": counters.turns,
    }


def milestone_json(standing: MilestoneStanding) -> Json:
    """Returns a milestone."""
    stone = standing.milestone
    return {
        "id": stone.id,
        "name": stone.name,
        "description": stone.description,
        "task_ids": list(stone.task_ids),
        "status": standing.status,
        "done": standing.done,
    }


def pieces_of(task: TaskId, units: Iterable[Unit]) -> list[Task]:
    """Returns a task as it runs: itself, or the pieces that it was split into."""
    pieces = [piece for unit in units for piece in unit.pieces]
    return [piece for piece in pieces if piece.id == task] or pieces


def _present_unit(some: Sequence[Unit], units: Mapping[UnitId, UnitStanding]) -> Unit:
    """Returns the first of a task's units that is not done, or else the last."""
    return next((unit for unit in some if units[unit.id].task_status not in DONE), some[-1])


def _as_planned(task: TaskId, pieces: Sequence[Task], milestones: Iterable[Milestone]) -> Json:
    """Returns what the plan says of a task."""
    names = {task, *(piece.id for piece in pieces)}
    stone = next((each for each in milestones if not names.isdisjoint(each.task_ids)), None)
    first = pieces[0] if pieces else Task(id=task, title="")
    hardest = max(
        (piece.complexity for piece in pieces), key=lambda score: score.total, default=first.complexity
    )
    return {
        "user_story": first.user_story,
        "acceptance_criteria": [text for piece in pieces for text in piece.acceptance_criteria],
        "files_to_create": _each_once(path for piece in pieces for path in piece.files_to_create),
        "files_to_modify": _each_once(path for piece in pieces for path in piece.files_to_modify),
        "test_files": _each_once(path for piece in pieces for path in piece.test_files),
        "depends_on": _each_once(need for piece in pieces for need in piece.depends_on if need not in names),
        "milestone": stone.id if stone is not None else None,
        "milestone_name": stone.name if stone is not None else None,
        "priority": first.priority,
        "estimated_complexity": hardest.level,
        "complexity": complexity_json(hardest),
    }


def _each_once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _whole_title(task: TaskId, unit: Unit) -> str:
    """Returns the title of a split task, which its pieces carry; every split put a mark behind it."""
    mark = unit.id.removeprefix(f"{task}-")
    title = unit.title.removesuffix(f" ({mark})")  # as runs of older versions marked them
    for _ in mark.split("-"):
        title = _MARK.sub(r"\1", title)
    return title
