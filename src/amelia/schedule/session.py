"""Facts that the developer's session tells while its turn is under way: tasks that are done, tokens used."""

from dataclasses import replace

from amelia.model import events as ev
from amelia.model.agents import total
from amelia.model.standing import UnitStatus
from amelia.model.state import Driving, UnitState

_SUBTASK = {
    ev.SubtaskStarted: UnitStatus.RUNNING,
    ev.SubtaskCompleted: UnitStatus.COMPLETED,
    ev.SubtaskFailed: UnitStatus.FAILED,
}


def reported(
    state: UnitState, event: ev.SubtaskStarted | ev.SubtaskCompleted | ev.SubtaskFailed
) -> UnitState:
    """Notes the status of a task of a phase as the developer's turn reports it."""
    if not isinstance(state, Driving):
        return state
    subtasks = {**dict(state.track.subtasks), event.task: _SUBTASK[type(event)]}
    return replace(state, track=replace(state.track, subtasks=tuple(subtasks.items())))


def accounted(state: UnitState, event: ev.SessionOpened | ev.SessionReplaced | ev.UsageReported) -> UnitState:
    """Counts what the developer's session uses; a session that is not gone on with begins at nothing."""
    if not isinstance(state, Driving):
        return state
    match event:
        case ev.UsageReported(usage=usage):
            used = total(state.track.session_used, usage)
        case ev.SessionOpened() if state.session is not None:
            return state
        case _:
            used = None
    return replace(state, track=replace(state.track, session_used=used))
