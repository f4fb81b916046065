"""A run as one JSON object: the execution state that `amelia status --json` and other programs read.

Keys may be added; none changes its meaning. Everything is derived from the state of the run and the times of
its journal, and only from them. Numbers of phases start at 1, as their ids and directories do.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from amelia.model import events as ev
from amelia.model.agents import Spent
from amelia.model.findings import Disposition, Finding
from amelia.model.git import CommitId, branch_ref
from amelia.model.plan import Mode, TaskId, TaskStatus, Unit, UnitId
from amelia.model.state import Active, Failing, Landed, Parked, Resting, RunState, Skipped, UnitState, Waiting
from amelia.plan.graph import DONE, milestone_status
from amelia.schedule.pick import blockers
from amelia.show.run.standing import (
    Blocked,
    attempt_number,
    blocked_units,
    error_of,
    exits_of,
    exits_of_run,
    finished_attempts,
    last_attempt,
    outcome_text,
    question_json,
    subtask_status,
    unit_status,
)
from amelia.show.run.times import Timeline, instant, lasted

Json = dict[str, Any]

_MARK = re.compile(r"^(.*) \(\d+/\d+\)(?:: .*)?$")


class PhaseStatus(StrEnum):
    """Where a phase, or a task of one, stands; `retrying` is any attempt after the first."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    RETRYING = "retrying"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class _View:
    """A run with what is derived from it once."""

    run: RunState
    timeline: Timeline
    blocked: Blocked
    statuses: Mapping[UnitId, TaskStatus]


def execution_state(run: RunState, timeline: Timeline) -> Json:
    """Returns where a run stands, with nothing in it but what JSON knows."""
    blocked = blocked_units(run)
    statuses = {unit.id: unit_status(run, unit.id, blocked) for unit in run.facts.units}
    view = _View(run, timeline, blocked, statuses)
    tasks = _tasks(view)
    return {
        **_head(view),
        **_progress(view, tasks),
        "tasks": tasks,
        **_ids(tasks),
        "milestones": _milestones(view, tasks),
        **_phases(view),
        "units": [_unit(unit, view) for unit in run.facts.units],
        "open_red_tests": {unit: list(tests) for unit, tests in run.red.items()},
        "deferred_findings": _ruled(run, Disposition.DEFER),
        "rejected_findings": _ruled(run, Disposition.REJECT),
        "spent": _spent(run.spent_in_all),
        "budget": asdict(run.budget),
        "policy": asdict(run.facts.policy),
    }


def _head(view: _View) -> Json:
    run, timeline = view.run, view.timeline
    time = lasted(timeline.started_at, timeline.finished_at or timeline.last_at)
    return {
        "run": run.facts.run,
        "outcome": outcome_text(run),
        "waits_for_person": _waits(view),
        "goal": run.facts.goal,
        "plan_hash": run.facts.plan_hash,
        "mode": run.facts.mode,
        "base": run.facts.base,
        "branch": branch_ref(run.facts.run).removeprefix("refs/heads/"),
        "tip": run.tip,
        "delivery": _delivery(run),
        "executed": run.facts.test_command is not None,
        "started_at": _instant(timeline.started_at),
        "finished_at": _instant(timeline.finished_at),
        "seconds": None if time is None else round(time.total_seconds(), 3),
    }


def _delivery(run: RunState) -> Json:
    delivery = run.delivery
    done = {delivery.done.finish.is_merge: delivery.done.where} if delivery.done else {}
    return {
        "wanted": delivery.wanted,
        "merged_into": done.get(True),
        "pull_request": done.get(False),
        "refused": delivery.refused.detail if delivery.refused else None,
        "undone": delivery.undone.revert or delivery.undone.kept if delivery.undone else None,
    }


def _waits(view: _View) -> list[str]:
    """Returns everything that a person can type to let the run go on."""
    ways = [*exits_of_run(view.run)]
    for unit in view.run.units:
        ways += exits_of(view.run, unit, view.blocked)
    return list(dict.fromkeys(way.command for way in ways))


def _instant(at: datetime | None) -> str | None:
    return None if at is None else instant(at)


def _progress(view: _View, tasks: Sequence[Json]) -> Json:
    """Counts tasks. A blocked task is pending in the counts; what was skipped is as good as done."""
    run = view.run
    statuses = [task["status"] for task in tasks]
    current = next((n for n, status in enumerate(statuses) if status not in DONE), len(tasks))
    unit = tasks[current]["unit"] if current < len(tasks) else None
    done = sum(status in DONE for status in statuses)
    return {
        "progress": f"{100 * done // len(tasks) if tasks else 100}%",
        "summary": {
            "total": len(tasks),
            "completed": statuses.count(TaskStatus.COMPLETED),
            "failed": statuses.count(TaskStatus.FAILED),
            "in_progress": statuses.count(TaskStatus.IN_PROGRESS),
            "pending": statuses.count(TaskStatus.PENDING) + statuses.count(TaskStatus.BLOCKED),
            "skipped": statuses.count(TaskStatus.SKIPPED),
        },
        "total_tasks": len(tasks),
        "current_task_index": current,
        "task_review_iteration": finished_attempts(run.units[unit], view.timeline.of(unit)) if unit else 0,
        "max_task_review_iterations": run.facts.policy.attempts,
    }


def _ids(tasks: Sequence[Json]) -> Json:
    def having(status: TaskStatus) -> list[TaskId]:
        return [task["id"] for task in tasks if task["status"] is status]

    running = having(TaskStatus.IN_PROGRESS)
    return {
        "completed_task_ids": having(TaskStatus.COMPLETED),
        "failed_task_ids": having(TaskStatus.FAILED),
        "blocked_task_ids": having(TaskStatus.BLOCKED),
        "in_flight_task_ids": running,
        "current_task_ids": running,
        "current_task_id": running[0] if running else None,
    }


def _tasks(view: _View) -> list[Json]:
    """Returns the tasks as read from the plan; one that was split is as far as all its pieces are."""
    units_of: dict[TaskId, list[Unit]] = {}
    for unit in view.run.facts.units:
        for task in unit.tasks:
            units_of.setdefault(task, []).append(unit)
    return [_task(task, units, view) for task, units in units_of.items()]


def _task(task: TaskId, units: Sequence[Unit], view: _View) -> Json:
    """Describes a task by the first of its units that is not done, or else the last."""
    statuses = view.statuses
    unit = next((unit for unit in units if statuses[unit.id] not in DONE), units[-1])
    state, times = view.run.units[unit.id], view.timeline.of(unit.id)
    piece = next((piece for piece in unit.pieces if piece.id == task), None)
    kind = piece.type if piece else next((piece.type for piece in unit.pieces), None)
    return {
        "id": task,
        "title": piece.title if piece else _whole_title(task, unit),
        "type": kind,
        "status": _joint({statuses[unit.id] for unit in units}),
        "unit": unit.id,
        "attempts": attempt_number(state, times),
        "max_attempts": last_attempt(view.run, state, times),
        "error": error_of(state),
        "blocked_by": list(view.blocked.get(unit.id, ())),
    }


def _whole_title(task: TaskId, unit: Unit) -> str:
    """Returns the title of a split task, which its pieces carry; every split put a mark behind it."""
    mark = unit.id.removeprefix(f"{task}-")
    title = unit.title.removesuffix(f" ({mark})")  # as runs of older versions marked them
    for _ in mark.split("-"):
        title = _MARK.sub(r"\1", title)
    return title


def _joint(statuses: set[TaskStatus]) -> TaskStatus:
    """Returns where a task stands whose pieces stand here and there."""
    if len(statuses) == 1:
        return next(iter(statuses))
    for decisive in (TaskStatus.FAILED, TaskStatus.BLOCKED):
        if decisive in statuses:
            return decisive
    return TaskStatus.SKIPPED if statuses <= DONE else TaskStatus.IN_PROGRESS


def _milestones(view: _View, tasks: Sequence[Json]) -> list[Json]:
    """Returns the milestones; tasks of theirs that are in no unit were done before the run."""
    standing: dict[TaskId, TaskStatus] = {task["id"]: task["status"] for task in tasks}
    for unit in view.run.facts.units:
        standing.update((piece.id, view.statuses[unit.id]) for piece in unit.pieces)
    return [
        {
            "id": stone.id,
            "name": stone.name,
            "description": stone.description,
            "task_ids": list(stone.task_ids),
            "status": milestone_status(standing.get(task, TaskStatus.COMPLETED) for task in stone.task_ids),
        }
        for stone in view.run.facts.milestones
    ]


def _phases(view: _View) -> Json:
    units = view.run.facts.units if view.run.facts.mode is Mode.PHASED else ()
    current = next((unit for unit in units if view.statuses[unit.id] not in DONE), None)
    return {
        "phases": [list(unit.tasks) for unit in units],
        "phase_states": [_phase(unit, view) for unit in units],
        "current_phase_index": _phase_index(current) if current else None,
    }


def _phase_index(unit: Unit) -> int:
    return int(unit.id.removeprefix("phase-").partition("-")[0])  # a piece of a phase has its number


def _phase(unit: Unit, view: _View) -> Json:
    state, times = view.run.units[unit.id], view.timeline.of(unit.id)
    before = times.landed_on if isinstance(state, Landed) else _base(state)
    return {
        "phase_index": _phase_index(unit),
        "status": _phase_status(unit.id, view),
        "subtasks": [_subtask(task, unit.id, view) for task in unit.tasks],
        "pre_phase_commit": before,
        "post_phase_commit": state.commit if isinstance(state, Landed) else None,
        "review_result": _review(times.review) if times.review else None,
    }


def _phase_status(unit: UnitId, view: _View) -> PhaseStatus:
    number = attempt_number(view.run.units[unit], view.timeline.of(unit))
    match view.statuses[unit]:
        case TaskStatus.COMPLETED:
            return PhaseStatus.COMPLETED
        case TaskStatus.SKIPPED:
            return PhaseStatus.SKIPPED
        case TaskStatus.FAILED:
            return PhaseStatus.FAILED
        case TaskStatus.IN_PROGRESS:
            return PhaseStatus.RUNNING if number <= 1 else PhaseStatus.RETRYING
        case TaskStatus.PENDING | TaskStatus.BLOCKED:
            return PhaseStatus.RETRYING if number else PhaseStatus.PENDING


def _subtask(task: TaskId, unit: UnitId, view: _View) -> Json:
    state, times = view.run.units[unit], view.timeline.of(unit)
    seen = times.subtasks.get(task)
    status = subtask_status(task, unit, run=view.run, timeline=view.timeline)
    return {
        "subtask_id": task,
        "status": _PHASE_STATUSES[status],
        "attempt": seen.attempt if seen else 0,
        "started_at": _instant(seen.started_at) if seen else None,
        "completed_at": _instant(seen.ended_at) if seen and status is TaskStatus.COMPLETED else None,
        "error": error_of(state) if status is not TaskStatus.COMPLETED else None,
    }


_PHASE_STATUSES = {
    TaskStatus.PENDING: PhaseStatus.PENDING,
    TaskStatus.BLOCKED: PhaseStatus.PENDING,
    TaskStatus.IN_PROGRESS: PhaseStatus.RUNNING,
    TaskStatus.COMPLETED: PhaseStatus.COMPLETED,
    TaskStatus.FAILED: PhaseStatus.FAILED,
    TaskStatus.SKIPPED: PhaseStatus.SKIPPED,
}


def _review(review: ev.AttemptReviewed) -> Json:
    return {
        "attempt": review.attempt,
        "approved": review.approved,
        "findings": [_finding(found) for found in review.findings],
    }


def _finding(found: Finding) -> Json:
    return {
        "id": found.id,
        "text": found.text,
        "file": found.file,
        "line": found.line,
        "weight": found.weight,
    }


def _ruled(run: RunState, disposition: Disposition) -> list[Json]:
    return [
        {"unit": unit, **_finding(found), "reason": ruling.reason}
        for unit, found, ruling in run.rulings
        if ruling.disposition is disposition
    ]


def _unit(unit: Unit, view: _View) -> Json:
    run = view.run
    state, times = run.units[unit.id], view.timeline.of(unit.id)
    is_waiting = isinstance(state, Waiting)
    is_over = isinstance(state, Landed | Parked | Skipped)
    return {
        "id": unit.id,
        "title": unit.title,
        "tasks": list(unit.tasks),
        "group": unit.group,
        "state": type(state).__name__.lower(),
        "attempt": attempt_number(state, times),
        "lane": state.track.lane if isinstance(state, Active | Failing) else None,
        "base": _base(state),
        "commit": state.commit if isinstance(state, Landed) else None,
        "reason": state.reason if isinstance(state, Parked) else None,
        "detail": state.detail if isinstance(state, Parked) else None,
        "question": _question(state),
        "iteration": state.track.iteration if isinstance(state, Active) else None,
        "waiting_for": list(blockers(run, unit)) if is_waiting else [],
        "waiting_until": (state.until or None) if isinstance(state, Resting) else None,
        "blocked_by": list(view.blocked.get(unit.id, ())),
        "spent": _spent(run.spent.get(unit.id, Spent())),
        "waits_for_person": [way.command for way in exits_of(run, unit.id, view.blocked)],
        "started_at": _instant(times.started_at),
        "finished_at": _instant(times.ended_at) if is_over else None,
    }


def _question(state: UnitState) -> Json | None:
    asking = state.asking if isinstance(state, Parked) else None
    return question_json(asking.question) if asking is not None else None


def _spent(spent: Spent) -> Json:
    return {
        "cost": spent.cost,
        "tokens_of_unknown_cost": spent.unpriced,
        "turns_of_unknown_use": spent.untold,
    }


def _base(state: UnitState) -> CommitId | None:
    return state.track.base if isinstance(state, Active | Failing | Parked) else None
