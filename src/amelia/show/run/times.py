"""When things happened in a run, and the little else of its journal that its state does not keep.

A timeline is a fold over recorded events, as the state is. It grows with the number of units.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from amelia.model import events as ev
from amelia.model.agents import Ending
from amelia.model.git import CommitId
from amelia.model.journal import Recorded
from amelia.model.plan import TaskId, TaskStatus, UnitId

_MINUTE, _HOUR, _DAY = 60, 3600, 86400


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtaskTimes:
    """When a task of a phase was last under way, and what the agent reports of it."""

    attempt: int
    status: TaskStatus
    started_at: datetime | None = None
    ended_at: datetime | None = None
    is_unreported: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitTimes:
    """When a unit first started and last ended, and when the step began that is under way.

    `landed_on` is the commit the unit's own was put on, `review` the last answer of the reviewer.
    """

    started_at: datetime | None = None
    ended_at: datetime | None = None
    step_started_at: datetime | None = None
    attempts: int = 0
    landed_on: CommitId | None = None
    review: ev.AttemptReviewed | None = None
    subtasks: Mapping[TaskId, SubtaskTimes] = field(default_factory=dict[TaskId, SubtaskTimes])


NEVER = UnitTimes()


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """When a run and its units started and ended; `last_at` is when anything happened last."""

    started_at: datetime | None = None
    finished_at: datetime | None = None
    last_at: datetime | None = None
    tip: CommitId | None = None
    units: Mapping[UnitId, UnitTimes] = field(default_factory=dict[UnitId, UnitTimes])

    def of(self, unit: UnitId) -> UnitTimes:
        """Returns the times of a unit, also of one that has none yet."""
        return self.units.get(unit, NEVER)

    def after(self, records: Iterable[Recorded]) -> "Timeline":
        """Returns the timeline that also tells of what happened next."""
        line, units = self, dict(self.units)
        for recorded in records:
            event, at = recorded.event, recorded.at
            if isinstance(event, ev.UnitEvent):
                units[event.unit] = _of_unit(units.get(event.unit, NEVER), event, at=at, tip=line.tip)
            elif isinstance(event, ev.RunResumed):
                units = {unit: replace(times, step_started_at=None) for unit, times in units.items()}
            line = replace(_of_run(line, event, at), last_at=at)
        return replace(line, units=units)


def instant(at: datetime) -> str:
    """Writes a moment as machines do: UTC, to the millisecond, `2026-11-02T12:04:31.120Z`."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def lasted(start: datetime | None, end: datetime | None) -> timedelta | None:
    """Returns how long something took; never less than nothing, whatever the clocks did."""
    if start is None or end is None:
        return None
    return max(end - start, timedelta(0))


def duration(time: timedelta) -> str:
    """Writes how long something took with its two largest units: `42s`, `1m 12s`, `2h 05m`, `3d 04h`."""
    seconds = int(time.total_seconds())
    if seconds < _MINUTE:
        return f"{seconds}s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE}m {seconds % _MINUTE:02}s"
    if seconds < _DAY:
        return f"{seconds // _HOUR}h {seconds % _HOUR // _MINUTE:02}m"
    return f"{seconds // _DAY}d {seconds % _DAY // _HOUR:02}h"


def _of_run(line: Timeline, event: ev.Event, at: datetime) -> Timeline:
    match event:
        case ev.RunStarted(base=base):
            return replace(line, started_at=at, finished_at=None, tip=base)
        case ev.RunFinished() | ev.RunPaused():
            return replace(line, finished_at=at)
        case ev.RunResumed() | ev.UnitReset() | ev.UnitSkipped() | ev.UnitFixed():
            return replace(line, finished_at=None)
        case ev.QuestionAnswered() | ev.UnitSplit():
            return replace(line, finished_at=None)
        case ev.UnitLanded(commit=commit):
            return replace(line, tip=commit)
        case _:
            return line


def _of_unit(times: UnitTimes, event: ev.UnitEvent, *, at: datetime, tip: CommitId | None) -> UnitTimes:
    match event:
        case ev.UnitStarted():
            return replace(times, started_at=times.started_at or at, ended_at=None)
        case ev.StepStarted(attempt=attempt):
            return replace(times, attempts=max(times.attempts, attempt), step_started_at=at)
        case ev.SubtaskStarted() | ev.SubtaskCompleted() | ev.SubtaskFailed():
            subtask = _of_subtask(times.subtasks.get(event.task), event, at)
            return replace(times, subtasks={**times.subtasks, event.task: subtask})
        case ev.AttemptReviewed():
            return replace(times, review=event, step_started_at=None)
        case ev.UnitLanded():
            return replace(times, ended_at=at, landed_on=tip, step_started_at=None)
        case ev.UnitParked() | ev.UnitSkipped() | ev.StepBroke():
            return replace(times, ended_at=at, step_started_at=None)
        case ev.UnitReset() | ev.UnitFixed() | ev.QuestionAnswered():
            return replace(times, ended_at=None)
        case _:
            return replace(times, subtasks=_after_turn(times.subtasks, event), step_started_at=None)


def _after_turn(
    subtasks: Mapping[TaskId, SubtaskTimes], event: ev.UnitEvent
) -> Mapping[TaskId, SubtaskTimes]:
    """Returns the tasks of a turn; one that is still under way when it ended well was not reported."""
    match event:
        case ev.AttemptEnded(ending=Ending.OK, question=None):
            return {
                task: replace(seen, is_unreported=seen.status is TaskStatus.IN_PROGRESS)
                for task, seen in subtasks.items()
            }
        case _:
            return subtasks


def _of_subtask(
    before: SubtaskTimes | None,
    event: ev.SubtaskStarted | ev.SubtaskCompleted | ev.SubtaskFailed,
    at: datetime,
) -> SubtaskTimes:
    if isinstance(event, ev.SubtaskStarted):
        return SubtaskTimes(attempt=event.attempt, status=TaskStatus.IN_PROGRESS, started_at=at)
    is_done = isinstance(event, ev.SubtaskCompleted)
    return SubtaskTimes(
        attempt=event.attempt,
        status=TaskStatus.COMPLETED if is_done else TaskStatus.FAILED,
        started_at=before.started_at if before else None,
        ended_at=at,
    )
