"""Events of a journal as JSON: one object for each, in order, for `amelia run --json` and other streams.

What happens to a unit is said of a phase or of a task, as the mode of the run has it. Keys without a value
are left out. Keys and types may be added; none changes its meaning.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec

from amelia.model import drafts as dr
from amelia.model import events as ev
from amelia.model import records as rc
from amelia.model.delivery import DeliveryRefused, FinishChosen, RunDelivered, RunUndone
from amelia.model.facts import RunId
from amelia.model.journal import Recorded
from amelia.model.plan import Mode, Unit
from amelia.show.run.times import instant

# Every type of event there is; braces stand for the word that the mode has for a unit.
_NAMES: Mapping[type[ev.Event], str] = {
    dr.RunProposed: "run_proposed",
    dr.DraftStarted: "draft_started",
    dr.PlanDrafted: "plan_drafted",
    dr.ArchitectFailed: "architect_failed",
    dr.DraftFailed: "draft_failed",
    dr.PlanRejected: "plan_rejected",
    dr.PlanApproved: "plan_approved",
    dr.PlanHandedOver: "plan_handed_over",
    ev.RunStarted: "run_started",
    ev.RunResumed: "run_resumed",
    ev.PauseRequested: "pause_requested",
    ev.RunPaused: "run_paused",
    ev.CancelRequested: "cancel_requested",
    ev.AbortRequested: "abort_requested",
    ev.BudgetChanged: "budget_changed",
    ev.RunFinished: "run_finished",
    ev.UnitStarted: "{}_started",
    ev.SubtaskStarted: "subtask_started",
    ev.SubtaskCompleted: "subtask_completed",
    ev.SubtaskFailed: "subtask_failed",
    ev.StepStarted: "step_started",
    ev.SessionOpened: "session_opened",
    ev.SessionReplaced: "session_replaced",
    ev.UsageReported: "usage_reported",
    ev.AttemptEnded: "attempt_ended",
    ev.AttemptVerified: "attempt_verified",
    ev.AttemptReviewed: "attempt_reviewed",
    ev.ReviewFailed: "review_failed",
    ev.AnswerDelayed: "answer_delayed",
    ev.FindingsEvaluated: "findings_evaluated",
    ev.RestEnded: "rest_ended",
    ev.UnitRested: "{}_rested",
    ev.UnitHeld: "{}_held",
    ev.UnitRetried: "{}_retry",
    ev.UnitIterated: "{}_iterated",
    ev.LandingRefused: "landing_refused",
    ev.UnitLanded: "{}_completed",
    ev.UnitParked: "{}_failed",
    ev.StepBroke: "step_broke",
    ev.UnitReset: "{}_reset",
    ev.UnitSkipped: "{}_skipped",
    ev.UnitFixed: "{}_fixed",
    ev.QuestionAnswered: "question_answered",
    ev.UnitSplit: "{}_split",
    ev.BranchCheckStarted: "branch_check_started",
    ev.BranchVerified: "branch_verified",
    FinishChosen: "finish_chosen",
    RunDelivered: "run_delivered",
    DeliveryRefused: "delivery_refused",
    RunUndone: "run_undone",
    rc.RecordStarted: "record_started",
    rc.RecordCommitted: "record_committed",
    rc.RecordRefused: "record_refused",
}
_NO_VALUES: tuple[object, ...] = (None, "", (), [], {})
_UNIT_WORDS = ("phase", "task")
_UNIT_KEYS = ("id", "title", "tasks", "depends_on", "group")
_OUTCOME_KEYS = ("outcome", "result", "reason")

_PAGE = """\
# Events of a run

`amelia run --json` writes one JSON object per line for every event of the run's journal, in order.
Every object has `seq` (from 1, without gaps), `ts` (UTC), `run` and `type`;
then the keys of its type, without those that have no value.
In phased mode a unit is a phase, and its events are called `phase_…`; in the other modes `task_…`.
`attempt` is the number of the developer's turn on the unit, counted for ever, as in refs and transcripts: a
retry, an iteration and an answered question each begin a turn. How many attempts were made, and how many
iterations the present one had, is in the [execution state](status-json.md).
Types and keys may be added; none changes its meaning.

| type | what happened | keys |
|---|---|---|
"""


def event_type(kind: type[ev.Event], mode: Mode) -> str:
    """Returns the name of a type of events in a mode: `phase_started`, `task_started`, `run_finished`."""
    return _NAMES[kind].format("phase" if mode is Mode.PHASED else "task")


def event_json(recorded: Recorded, *, run: RunId, mode: Mode) -> dict[str, Any]:
    """Returns a recorded event with nothing in it but what JSON knows."""
    event = recorded.event
    return {
        "seq": recorded.seq,
        "ts": instant(recorded.at),
        "run": run,
        "type": event_type(type(event), mode),
        **{key: value for key, value in _body(event).items() if value not in _NO_VALUES},
    }


def events_page() -> str:
    """Returns the reference of all events, which is `docs/reference/events.md`."""
    return _PAGE + "".join(_row(kind, name) for kind, name in _NAMES.items())


def _body(event: ev.Event) -> dict[str, Any]:
    match event:
        case ev.RunFinished(outcome):
            return {"outcome": str(outcome), "result": outcome.result.value, "reason": outcome.reason}
        case dr.RunProposed():
            return {key: value for key, value in _plain(event).items() if key != "settings"}
        case ev.RunStarted(units=units):
            # The tasks that run, whole, are in the plan; here they would be most of the stream.
            slim = _plain(dataclasses.replace(event, units=(), footprints={}))
            return {**slim, "units": [_unit(unit) for unit in units]}
        case ev.UnitSplit(unit, pieces):
            return {"unit": unit, "pieces": [_unit(piece) for piece in pieces]}
        case ev.AttemptEnded() | ev.UnitFixed():
            told = _plain(event)
            work = {key: value for key, value in told["work"].items() if value not in _NO_VALUES}
            return {**told, "work": work}
        case _:
            return _plain(event)


def _plain(event: ev.Event) -> dict[str, Any]:
    return cast("dict[str, Any]", msgspec.to_builtins(event))


def _unit(unit: Unit) -> dict[str, Any]:
    return {key: getattr(unit, key) for key in _UNIT_KEYS}


def _row(kind: type[ev.Event], name: str) -> str:
    names = dict.fromkeys(name.format(word) for word in _UNIT_WORDS)
    meaning = (kind.__doc__ or "").partition("\n")[0].replace("|", "\\|")
    return f"| {_quoted(names)} | {meaning} | {_quoted(_keys(kind))} |\n"


def _keys(kind: type[ev.Event]) -> tuple[str, ...]:
    if kind is ev.RunFinished:
        return _OUTCOME_KEYS
    hidden = {"run", "footprints", "settings"}
    return tuple(field.name for field in dataclasses.fields(kind) if field.name not in hidden)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
