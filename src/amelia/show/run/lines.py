"""A run for logs: one plain line for every change a person wants to know of, nothing for the others.

A line says when, which unit, which turn of its developer, and what happened. It is made of the event alone
wherever that says enough; the state it is drawn with is the one right after the event.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import assert_never

from amelia.judge.receipts import changed_by_unit
from amelia.model import events as ev
from amelia.model import records as rc
from amelia.model.agents import Ending
from amelia.model.delivery import (
    DeliveryEvent,
    DeliveryRefused,
    FinishChosen,
    RunDelivered,
    RunUndone,
)
from amelia.model.drafts import DraftEvent
from amelia.model.findings import Ruling
from amelia.model.journal import Recorded
from amelia.model.questions import Question
from amelia.model.standing import by_hand
from amelia.model.state import Landed, RunState, UnitState, counters_of
from amelia.show.run.scene import clock_time
from amelia.show.run.spans import UNICODE, Charset
from amelia.show.text import counted

_LONGEST = 160
_COMMIT = 10


def draw_change(
    recorded: Recorded, run: RunState, *, charset: Charset = UNICODE, zone: tzinfo | None = None
) -> str | None:
    """Draws what happened, at its time in a zone, by default the local one; nothing if nobody cares."""
    event, at = recorded.event, recorded.at.astimezone(zone)
    if isinstance(event, DraftEvent):
        return None
    text = _of_unit(event, run, at) if isinstance(event, ev.UnitEvent) else _of_run(event, run)
    if text is None:
        return None
    who = event.unit if isinstance(event, ev.UnitEvent) else run.facts.run
    turn = getattr(event, "attempt", None)
    return line_of(at, who, "" if turn is None else f"turn {turn}", text, charset=charset)


def line_of(at: datetime, *parts: str, charset: Charset) -> str:
    """Writes when and what, in one line that a terminal can take."""
    shown = (charset.shown(part) for part in (f"{at:%H:%M:%S}", *parts) if part)
    return charset.cut("  ".join(shown), _LONGEST)


def _checked(*, passed: bool, first: str, notes: Sequence[str]) -> str:
    more = f" (and {len(notes) - 1} more)" if len(notes) > 1 else ""
    noted = f"; noted: {notes[0]}{more}" if notes else ""
    return f"checks passed{noted}" if passed else f"checks failed: {first}"


def _of_branch(event: ev.BranchVerified, run: RunState) -> str:
    if not event.passed:
        return f"the whole branch fails: {event.feedback}"
    if run.facts.test_command is None:
        return "nothing was executed: there is no test command, and only files were checked"
    red = sum(len(tests) for tests in run.red.values())
    given_up = f", but for {counted(red, 'test')} of skipped work" if red else ""
    return f"the whole branch passes{given_up}"


def _of_record(event: rc.RecordEvent) -> str | None:
    match event:
        case rc.RecordStarted():
            return None
        case rc.RecordCommitted(commit, detail):
            return f"the record of the run is {commit}" if commit else f"there is no record: {detail}"
        case rc.RecordRefused(detail):
            return f"the record cannot be put on the branch: {detail}"


def _of_run(event: ev.RunEvent, run: RunState) -> str | None:  # noqa: C901, PLR0911 - a line per event
    match event:
        case ev.RunStarted(goal=goal):
            return (
                f"started: {counted(len(run.units), 'unit')}, {run.facts.mode}{f': {goal}' if goal else ''}"
            )
        case ev.RunResumed():
            return "resumed"
        case ev.PauseRequested():
            return "pausing: what is under way is finished first"
        case ev.RunPaused():
            return f"paused: amelia resume {run.facts.run}"
        case ev.BudgetChanged():
            return "has another budget"
        case ev.UnitSplit(unit, pieces):
            return f"{unit} is split into {', '.join(piece.id for piece in pieces)}"
        case ev.CancelRequested() | ev.AbortRequested():
            return "stopping"
        case ev.BranchCheckStarted():
            return "testing the whole branch"
        case ev.BranchVerified():
            return _of_branch(event, run)
        case rc.RecordStarted() | rc.RecordCommitted() | rc.RecordRefused():
            return _of_record(event)
        case ev.RunFinished(outcome):
            return outcome.in_words
        case _:
            return _of_delivery(event)


def _of_delivery(event: DeliveryEvent) -> str:
    match event:
        case FinishChosen(finish):
            return f"when it is completed: {finish.replace('_', ' ')}"
        case RunDelivered(finish, where=where):
            return f"merged into {where}" if finish.is_merge else f"pull request: {where}"
        case DeliveryRefused(detail=detail):
            return f"not delivered: {detail}"
        case RunUndone(kept=kept, revert=None):
            return f"taken back: the branch is kept as {kept}"
        case RunUndone(revert=revert):
            return f"taken back by {revert[:_COMMIT] if revert else ''}"
        case _:
            assert_never(event)


def _unheld(event: ev.UnitEvent, run: RunState) -> str | None:
    """Says once that a budget cannot hold: with the first turn of which nobody knows what it used."""
    if not isinstance(event, ev.UsageReported) or event.usage is not None or run.spent_in_all.untold != 1:
        return None
    says = f"the {event.role} does not tell what its turn used: the budget cannot hold for that"
    return None if run.facts.is_played(event.role) else says


def _of_unit(  # noqa: C901, PLR0911, PLR0912 - a line per event
    event: ev.UnitEvent, run: RunState, at: datetime
) -> str | None:
    match event:
        case ev.SubtaskStarted() | ev.SubtaskCompleted() | ev.StepStarted() | ev.RestEnded():
            return None
        case ev.UnitRested() | ev.SessionOpened() | ev.UsageReported():
            return _unheld(event, run)
        case ev.SessionReplaced():
            return "the agent's session is gone; a fresh one is told everything"
        case ev.UnitStarted(unit=unit):
            title = next((each.title for each in run.facts.units if each.id == unit), "")
            return f"started: {title}"
        case ev.SubtaskFailed(task=task):
            return f"task {task} was not done"
        case ev.AttemptEnded():
            return _ended(event, at)
        case ev.AttemptVerified(passed=passed, problems=problems, notes=notes, feedback=feedback):
            first = problems[0].message if problems else feedback
            own = [changed_by_unit(event.edits.ruled)] if event.edits.ruled else []
            return _checked(passed=passed, first=first, notes=(*own, *notes))
        case ev.AttemptReviewed(approved=approved, findings=findings):
            verdict = "approved" if approved else "rejected"
            return f"{verdict}: {counted(len(findings), 'finding')}" if findings else verdict
        case ev.ReviewFailed(detail=detail):
            return f"no review: {detail}"
        case ev.AnswerDelayed(until=until):
            return f"no answer yet{_until(until, at)}"
        case ev.FindingsEvaluated(rulings=rulings):
            return f"findings ruled: {_ruled(rulings)}"
        case ev.UnitLanded(unit=unit, commit=commit):
            return f"landed as {commit[:_COMMIT]}{_by_hand(run.units.get(unit))}"
        case ev.UnitRetried(unit=unit, cause=cause):
            number, limit = counters_of(run.units[unit]).attempts, run.facts.policy.attempts
            return f"tries again, attempt {number}/{limit}: {_words(cause)}"
        case ev.UnitIterated(iteration=iteration):
            return f"goes on from what there is, iteration {iteration}/{run.facts.policy.iterations}"
        case _:
            return _of_decision(event)


def _of_decision(  # noqa: PLR0911 - a line per event
    event: ev.LandingRefused
    | ev.UnitHeld
    | ev.UnitParked
    | ev.StepBroke
    | ev.UnitReset
    | ev.UnitSkipped
    | ev.UnitFixed
    | ev.QuestionAnswered,
) -> str:
    match event:
        case ev.LandingRefused(cause=cause, feedback=feedback):
            return f"cannot land: {_words(cause)}: {feedback}"
        case ev.UnitHeld():
            return "its budget is used up"
        case ev.UnitParked(question=Question(text=text)):
            return f"asks you: {text}"
        case ev.UnitParked(reason=reason):
            return f"waits for you: {reason.meaning}"
        case ev.StepBroke(step=step, detail=detail, reason=reason):
            return f"waits for you: {reason.meaning}: {step}: {detail}"
        case ev.UnitReset(note=note, granted=granted):
            return f"to be tried again{_granted(granted)}{f': {note}' if note else ''}"
        case ev.UnitSkipped(satisfies=satisfies):
            return "skipped; what needs it goes on" if satisfies else "skipped, with what needs it"
        case ev.UnitFixed(accepted=accepted):
            doubts = f" ({', '.join(map(_words, accepted))} accepted)" if accepted else ""
            return f"done by hand, to be checked{doubts}"
        case ev.QuestionAnswered(answer=answer, by_default=by_default, granted=granted):
            return f"answered{' with the default' if by_default else ''}{_granted(granted)}: {answer}"
        case _:
            assert_never(event)


def _granted(files: Sequence[str]) -> str:
    return f", and may change {', '.join(files)}" if files else ""


def _by_hand(state: UnitState | None) -> str:
    if isinstance(state, Landed) and state.by_person:
        return f", {by_hand(state.accepted)}"
    return ""


def _ended(event: ev.AttemptEnded, at: datetime) -> str:
    said = f": {event.summary}" if event.summary else ""
    if event.question is not None:
        return f"stopped with a question{said}"
    if event.ending is Ending.LIMITED:
        return f"the agent has to wait{_until(event.until, at)}{said}"
    if event.ending is not Ending.OK:
        return f"the agent did not finish ({_words(event.ending)}){said}"
    if event.refused:
        return f"refused by a commit hook: {event.refused}"
    return f"written{said}{_denied(event.denied)}"


def _denied(paths: Sequence[str]) -> str:
    return f"; the wall denied {', '.join(paths)} (`[wall] writes` would allow it)" if paths else ""


def _until(until: str | None, at: datetime) -> str:
    time = clock_time(until or "", now=at)
    return f", goes on at {time}" if time and datetime.fromisoformat(until or "") > at else ""


def _ruled(rulings: Sequence[Ruling]) -> str:
    counts = Counter(ruling.disposition for ruling in rulings)
    return ", ".join(f"{number} {_words(disposition)}" for disposition, number in counts.items()) or "none"


def _words(name: str) -> str:
    return name.replace("_", " ").lower()
