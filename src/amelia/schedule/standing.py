"""Where a run, its units and its tasks stand: the only place that finds the words which views show.

Everything follows from the state of the run. Costs grow with units and dependencies.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypedDict

from amelia.model.outcome import Reason
from amelia.model.plan import DONE, Mode, TaskId, TaskStatus, Unit, UnitId, milestone_status
from amelia.model.standing import MilestoneStanding, RunStanding, UnitStanding, UnitStatus
from amelia.model.state import (
    Evaluating,
    Landed,
    Landing,
    Parked,
    Resting,
    Reviewing,
    RunState,
    Skipped,
    Track,
    UnitState,
    Verifying,
    Waiting,
    counters_of,
)
from amelia.schedule.budget import is_held
from amelia.schedule.decide import is_over

Blocked = Mapping[UnitId, tuple[UnitId, ...]]
_TASK_STATUSES = {
    UnitStatus.PENDING: TaskStatus.PENDING,
    UnitStatus.BLOCKED: TaskStatus.BLOCKED,
    UnitStatus.RUNNING: TaskStatus.IN_PROGRESS,
    UnitStatus.RETRYING: TaskStatus.IN_PROGRESS,
    UnitStatus.RESTING: TaskStatus.IN_PROGRESS,
    UnitStatus.HELD: TaskStatus.PENDING,
    UnitStatus.STOPPED: TaskStatus.PENDING,
    UnitStatus.ASKING: TaskStatus.BLOCKED,
    UnitStatus.FAILED: TaskStatus.FAILED,
    UnitStatus.COMPLETED: TaskStatus.COMPLETED,
    UnitStatus.SKIPPED: TaskStatus.SKIPPED,
}
_UNDER_WAY = frozenset({UnitStatus.RUNNING, UnitStatus.RETRYING, UnitStatus.RESTING})


class TaskSummary(TypedDict):
    """The tasks of a run by their status, and the one that is under way."""

    total: int
    pending: list[TaskId]
    in_progress: list[TaskId]
    completed: list[TaskId]
    failed: list[TaskId]
    blocked: list[TaskId]
    skipped: list[TaskId]
    current_task_id: TaskId | None


@dataclass(frozen=True, slots=True)
class TaskStanding:
    """The status of a task as the plan has it, and its units: more than one where the task was split."""

    status: TaskStatus
    units: tuple[Unit, ...]


def run_standing(run: RunState) -> RunStanding:
    """Returns where a run and all its units stand."""
    blocked = blocked_units(run)
    units = {unit.id: unit_standing(run, unit, blocked) for unit in run.facts.units}
    words = run.outcome.in_words if run.outcome is not None else run_status(run)
    return RunStanding(run_status(run), words, units, tuple(_milestones(run, units)))


def run_status(run: RunState) -> str:
    """Returns the outcome of a run, or else `paused` or `running`."""
    if run.outcome is not None:
        return str(run.outcome)
    return "paused" if run.is_paused else "running"


def unit_standing(run: RunState, unit: Unit, blocked: Blocked) -> UnitStanding:
    """Returns where a unit stands."""
    state, status = run.units[unit.id], unit_status(run, unit.id, blocked)
    track = _track_of(state)
    told = dict(track.subtasks if track is not None else ())
    is_phase = run.facts.mode is Mode.PHASED
    return UnitStanding(
        status=status,
        task_status=_task_status(state, status),
        counters=counters_of(state),
        subtasks={
            task: _subtask_status(told.get(task), status) if is_phase else status for task in unit.tasks
        },
        unreported=_unreported(state),
        reason=state.reason if isinstance(state, Parked) else None,
        detail=state.detail if isinstance(state, Parked) else "",
        blocked_by=blocked.get(unit.id, ()),
        by_person=state.by_person if isinstance(state, Landed) else track is not None and track.by_person,
        accepted=state.accepted if isinstance(state, Landed) else (),
    )


def blocked_units(run: RunState) -> Blocked:
    """Returns the units that cannot start by themselves, with the failed or skipped ones that block them.

    Of a need that is itself blocked the first unit to blame is named, so that there are never more names than
    needs.
    """
    if not any(_is_culprit(run.units[unit.id]) for unit in run.facts.units):
        return {}
    blocked: dict[UnitId, tuple[UnitId, ...]] = {}
    for unit in run.facts.units:
        if not isinstance(run.units[unit.id], Waiting):
            continue
        culprits = (
            need if _is_culprit(run.units[need]) else blocked[need][0]
            for need in unit.depends_on
            if need in blocked or (need in run.units and _is_culprit(run.units[need]))
        )
        if named := tuple(dict.fromkeys(culprits)):
            blocked[unit.id] = named
    return blocked


def unit_status(run: RunState, unit: UnitId, blocked: Blocked) -> UnitStatus:
    """Returns the status of a unit."""
    state = run.units[unit]
    match state:
        case Landed():
            return UnitStatus.COMPLETED
        case Skipped():
            return UnitStatus.SKIPPED
        case Parked(reason=reason):
            return UnitStatus.ASKING if reason is Reason.QUESTION else UnitStatus.FAILED
        case Waiting():
            return UnitStatus.BLOCKED if unit in blocked else _status_of_waiting(run, unit, state)
        case _ if is_over(run):
            return UnitStatus.STOPPED
        case Resting():
            return UnitStatus.RESTING
        case _:
            return UnitStatus.RETRYING if _is_retry(state.track) else UnitStatus.RUNNING


def task_standings(run: RunState, units: Mapping[UnitId, UnitStanding]) -> dict[TaskId, TaskStanding]:
    """Returns where the tasks of the plan stand; one that was split is as far as all its pieces are."""
    units_of: dict[TaskId, list[Unit]] = {}
    for unit in run.facts.units:
        for task in unit.tasks:
            units_of.setdefault(task, []).append(unit)
    return {
        task: TaskStanding(_joint({units[each.id].task_status for each in some}), tuple(some))
        for task, some in units_of.items()
    }


def get_task_summary(statuses: Mapping[TaskId, TaskStatus]) -> TaskSummary:
    """Returns how many tasks there are, and which have which status."""

    def having(status: TaskStatus) -> list[TaskId]:
        return [task for task, found in statuses.items() if found is status]

    running = having(TaskStatus.IN_PROGRESS)
    return TaskSummary(
        total=len(statuses),
        pending=having(TaskStatus.PENDING),
        in_progress=running,
        completed=having(TaskStatus.COMPLETED),
        failed=having(TaskStatus.FAILED),
        blocked=having(TaskStatus.BLOCKED),
        skipped=having(TaskStatus.SKIPPED),
        current_task_id=running[0] if running else None,
    )


def _milestones(run: RunState, units: Mapping[UnitId, UnitStanding]) -> Iterator[MilestoneStanding]:
    """Yields the milestones; tasks of theirs that are in no unit were done before the run."""
    statuses = {piece.id: units[unit.id].task_status for unit in run.facts.units for piece in unit.pieces}
    statuses |= {task: standing.status for task, standing in task_standings(run, units).items()}
    pieces = {unit.id: units[unit.id].task_status for unit in run.facts.units if unit.piece_of is not None}
    for stone in run.facts.milestones:
        of_stone = [statuses.get(task) or _status_of_pieces(task, pieces) for task in stone.task_ids]
        done = sum(status in DONE for status in of_stone)
        yield MilestoneStanding(stone, milestone_status(of_stone), done)


def _status_of_pieces(task: TaskId, pieces: Mapping[UnitId, TaskStatus]) -> TaskStatus:
    """Returns the status of a piece that was split again, by the units that are called after it."""
    parts = {status for unit, status in pieces.items() if unit.startswith(f"{task}-")}
    return _joint(parts) if parts else TaskStatus.COMPLETED


def _is_culprit(state: UnitState) -> bool:
    match state:
        case Parked() | Skipped(satisfies=False):
            return True
        case _:
            return False


def _status_of_waiting(run: RunState, unit: UnitId, state: Waiting) -> UnitStatus:
    if state.turns == 0:
        return UnitStatus.PENDING
    if is_held(run, unit):
        return UnitStatus.HELD
    if is_over(run):
        return UnitStatus.STOPPED
    is_retry = state.then is None or _is_retry(state.then.track)
    return UnitStatus.RETRYING if is_retry else UnitStatus.PENDING


def _is_retry(track: Track) -> bool:
    return track.was_reset or track.counters.attempts > 1


def _task_status(state: UnitState, status: UnitStatus) -> TaskStatus:
    """Returns the status of a unit's tasks; one that waits for a lane to be tried again is pending."""
    is_waiting = isinstance(state, Waiting) and status is UnitStatus.RETRYING
    return TaskStatus.PENDING if is_waiting else _TASK_STATUSES[status]


def _track_of(state: UnitState) -> Track | None:
    match state:
        case Landed() | Skipped():
            return None
        case Waiting(then=then):
            return then.track if then is not None else None
        case _:
            return state.track


def _unreported(state: UnitState) -> tuple[TaskId, ...]:
    """Returns the tasks that the last turn said nothing of, if it ended well."""
    match state:
        case Landed(unreported=tasks):
            return tasks
        case Verifying() | Reviewing() | Evaluating() | Landing():
            return state.track.unreported
        case _:
            return ()


def _subtask_status(told: UnitStatus | None, whole: UnitStatus) -> UnitStatus:
    """Returns the status of a task of a phase: what the present turn reports, until the phase is judged.

    A task that a failed phase does not report as done has failed with it.
    """
    if whole in {UnitStatus.COMPLETED, UnitStatus.SKIPPED}:
        return whole
    if told is UnitStatus.COMPLETED:
        return told
    return (told or UnitStatus.PENDING) if whole in _UNDER_WAY else whole


def _joint(statuses: set[TaskStatus]) -> TaskStatus:
    """Returns the status of a task whose pieces have several."""
    if len(statuses) == 1:
        return next(iter(statuses))
    for decisive in (TaskStatus.FAILED, TaskStatus.BLOCKED):
        if decisive in statuses:
            return decisive
    return TaskStatus.SKIPPED if statuses <= DONE else TaskStatus.IN_PROGRESS
