"""A run as one JSON object: the execution state that `amelia status --json` and other programs read.

Keys may be added; none changes its meaning. Everything is derived from the state of the run and the times of
its journal, and only from them. Numbers of phases start at 1, as their ids and directories do.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from amelia.model import events as ev
from amelia.model.agents import Spent
from amelia.model.findings import Disposition, Finding
from amelia.model.git import CommitId, branch_ref
from amelia.model.plan import DONE, Mode, TaskId, Unit, UnitId
from amelia.model.standing import RunStanding, UnitStanding, UnitStatus
from amelia.model.state import Active, Failing, Landed, Parked, Resting, RunState, Skipped, UnitState, Waiting
from amelia.schedule.pick import blockers
from amelia.schedule.standing import (
    Blocked,
    TaskStanding,
    TaskSummary,
    blocked_units,
    get_task_summary,
    run_standing,
    task_standings,
)
from amelia.show.run.rows import groups_of
from amelia.show.run.standing import error_of, exits_of, exits_of_run, question_json
from amelia.show.run.task_json import counters_json, milestone_json, task_json
from amelia.show.run.times import NEVER_BEGUN, Timeline, instant, lasted

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _View:
    """A run with what is derived from it once."""

    run: RunState
    timeline: Timeline
    blocked: Blocked
    standing: RunStanding
    tasks: Mapping[TaskId, TaskStanding]

    @property
    def units(self) -> Mapping[UnitId, UnitStanding]:
        """Where the units stand."""
        return self.standing.units


def status_json(run: RunState, timeline: Timeline) -> Json:
    """Returns where a run stands, with nothing in it but what JSON knows."""
    standing = run_standing(run)
    tasks = task_standings(run, standing.units)
    view = _View(run, timeline, blocked_units(run), standing, dict(sorted(tasks.items(), key=_group)))
    summary = get_task_summary({task: each.status for task, each in view.tasks.items()})
    return {
        **_head(view),
        **_progress(view, summary),
        "tasks": [
            task_json(task, each, run=run, units=view.units, timeline=timeline)
            for task, each in view.tasks.items()
        ],
        **_ids(summary),
        "milestones": [milestone_json(each) for each in standing.milestones],
        **_phases(view),
        "units": [_unit(unit, view) for group in groups_of(run) for unit in group.units],
        "open_red_tests": {unit: list(tests) for unit, tests in run.red.items()},
        "deferred_findings": _ruled(run, Disposition.DEFER),
        "rejected_findings": _ruled(run, Disposition.REJECT),
        "spent": _spent(run.spent_in_all),
        "budget": asdict(run.budget),
        "policy": asdict(run.facts.policy),
    }


def _group(task: tuple[TaskId, TaskStanding]) -> int:
    """Returns the group in which a task stands first, as in the tree."""
    return min(unit.group for unit in task[1].units)


def _head(view: _View) -> Json:
    run, timeline = view.run, view.timeline
    time = lasted(timeline.started_at, timeline.finished_at or timeline.last_at)
    return {
        "run": run.facts.run,
        "outcome": view.standing.status,
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


def _progress(view: _View, summary: TaskSummary) -> Json:
    """Counts tasks; what was skipped is as good as done."""
    run, tasks = view.run, list(view.tasks.values())
    current = next((n for n, task in enumerate(tasks) if task.status not in DONE), len(tasks))
    done = len(summary["completed"]) + len(summary["skipped"])
    return {
        "progress": f"{100 * done // len(tasks) if tasks else 100}%",
        "summary": {
            "total": summary["total"],
            "completed": len(summary["completed"]),
            "failed": len(summary["failed"]),
            "in_progress": len(summary["in_progress"]),
            "pending": len(summary["pending"]),
            "blocked": len(summary["blocked"]),
            "skipped": len(summary["skipped"]),
        },
        "total_tasks": summary["total"],
        "current_task_index": current,
        "task_review_iteration": _failed_attempts(tasks[current], view) if current < len(tasks) else 0,
        "max_task_review_iterations": run.facts.policy.attempts,
    }


def _failed_attempts(task: TaskStanding, view: _View) -> int:
    """Returns how many attempts of a task that is not done are over."""
    standings = (view.units[unit.id] for unit in task.units)
    return next(each.counters.failed for each in standings if each.task_status not in DONE)


def _ids(summary: TaskSummary) -> Json:
    running = summary["in_progress"]
    return {
        "completed_task_ids": summary["completed"],
        "failed_task_ids": summary["failed"],
        "blocked_task_ids": summary["blocked"],
        "in_flight_task_ids": running,
        "current_task_ids": running,
        "current_task_id": summary["current_task_id"],
    }


def _phases(view: _View) -> Json:
    units = view.run.facts.units if view.run.facts.mode is Mode.PHASED else ()
    current = next((unit for unit in units if view.units[unit.id].task_status not in DONE), None)
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
        "status": view.units[unit.id].status,
        "subtasks": [_subtask(task, unit.id, view) for task in unit.tasks],
        "pre_phase_commit": before,
        "post_phase_commit": state.commit if isinstance(state, Landed) else None,
        "review_result": _review(times.review) if times.review else None,
    }


def _subtask(task: TaskId, unit: UnitId, view: _View) -> Json:
    """Returns a task of a phase; it is completed as soon as reported so, and accepted with its phase."""
    standing, seen = view.units[unit], view.timeline.of(unit).subtasks.get(task, NEVER_BEGUN)
    status = standing.subtasks[task]
    is_done = status is UnitStatus.COMPLETED
    return {
        "subtask_id": task,
        "status": status,
        "accepted": standing.status is UnitStatus.COMPLETED,
        "unreported": task in standing.unreported,
        "attempt": standing.counters.attempts if seen.started_at is not None else 0,
        "started_at": _instant(seen.started_at),
        "completed_at": _instant(seen.ended_at) if is_done else None,
        "error": None if is_done else error_of(view.run.units[unit]),
    }


def _review(review: ev.AttemptReviewed) -> Json:
    return {
        "turn": review.attempt,
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
    state, times, standing = run.units[unit.id], view.timeline.of(unit.id), view.units[unit.id]
    is_over = isinstance(state, Landed | Parked | Skipped)
    return {
        "id": unit.id,
        "title": unit.title,
        "tasks": list(unit.tasks),
        "group": unit.group,
        "status": standing.status,
        "state": type(state).__name__.lower(),
        **counters_json(standing.counters, run.facts.policy),
        "lane": state.track.lane if isinstance(state, Active | Failing) else None,
        "base": _base(state),
        "commit": state.commit if isinstance(state, Landed) else None,
        "by_person": standing.by_person,
        "reviewed": standing.is_reviewed,
        "accepted": list(standing.accepted),
        "reason": standing.reason,
        "detail": standing.detail if standing.reason is not None else None,
        "question": _question(state),
        "waiting_for": list(blockers(run, unit)) if isinstance(state, Waiting) else [],
        "waiting_until": (state.until or None) if isinstance(state, Resting) else None,
        "blocked_by": list(standing.blocked_by),
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
