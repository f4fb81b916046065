"""What is to be done now, given where a run stands; a pure question.

Asked whenever anything changed. What it answers changes the state by being recorded (a step that starts is
an event), so that it never answers the same twice. If it answers nothing, a step is under way, the run is
paused, or it has an outcome: never stuck.
"""

from collections.abc import Iterator
from typing import assert_never

from amelia.model import commands as cmd
from amelia.model import events as ev
from amelia.model.outcome import Outcome, Reason, Result
from amelia.model.plan import Mode, Unit, UnitId
from amelia.model.policy import OnFailure, Policy, SessionScope
from amelia.model.records import RecordStarted
from amelia.model.state import (
    Active,
    Branch,
    Driving,
    Evaluating,
    Failing,
    Landed,
    Landing,
    Parked,
    Resting,
    Reviewing,
    RunState,
    Skipped,
    Track,
    Verifying,
    Wish,
)
from amelia.schedule.budget import is_held, left_for
from amelia.schedule.pick import startable
from amelia.schedule.progress import progress_of
from amelia.schedule.red import changed_tests, expected, owed_and_waived, red_tasks
from amelia.schedule.retry import after_failure


def decide(run: RunState) -> list[cmd.Command]:
    """Returns what is to be done now."""
    if is_over(run):
        return []
    if verdicts := list(_verdicts(run)):
        return verdicts  # first and alone: a unit that is parked may keep the others from going on
    if run.wish in {Wish.CANCEL, Wish.ABORT}:
        if _is_landing(run) or run.branch is Branch.RECORDING:
            return []  # it may have happened already, and has to be told
        result = Result.CANCELLED if run.wish is Wish.CANCEL else Result.ABORTED
        return [cmd.Record(ev.RunFinished(Outcome(result)))]
    if run.wish is not None or is_halting(run):
        return [] if is_working(run) else [_closing(run)]
    commands = [*_next_steps(run), *_starts(run)]
    return commands or ([] if is_busy(run) else [_closing(run)])


def is_over(run: RunState) -> bool:
    """Says whether nothing will happen by itself any more: the run has an outcome, or is paused."""
    return run.outcome is not None or run.is_paused


def is_busy(run: RunState) -> bool:
    """Says whether a step is under way."""
    return is_working(run) or any(isinstance(state, Resting) for state in _under_way(run))


def is_working(run: RunState) -> bool:
    """Says whether a step is under way that a run which is to stop waits for; a rest is not."""
    is_at_branch = run.branch in {Branch.CHECKING, Branch.RECORDING}
    return is_at_branch or any(not isinstance(s, Resting) for s in _under_way(run))


def is_halting(run: RunState) -> bool:
    """Says whether a parked unit keeps everything else from going on, until a person does something."""
    return run.facts.policy.on_failure is OnFailure.HALT and run.is_halted and bool(_parked(run))


def opening(run: RunState, command: cmd.AnyStep) -> tuple[ev.Event, ...]:
    """Returns what is written down before a command is carried out."""
    if isinstance(command, cmd.VerifyBranch):
        return (ev.BranchCheckStarted(command.tip),)
    if isinstance(command, cmd.CommitRecord):
        return (RecordStarted(command.tip),)
    started = ev.StepStarted(command.at.unit, command.at.attempt, command.step)
    if not isinstance(command, cmd.StartTurn) or run.facts.mode is not Mode.PHASED:
        return (started,)
    unit = _unit(run, command.at.unit)
    if has_session_per_task(run.facts.policy, unit):
        return (started,)  # they start one after the other
    fresh = (task for task in unit.tasks if task not in command.begun)
    return (started, *(ev.SubtaskStarted(unit.id, task, command.at.attempt) for task in fresh))


def has_session_per_task(policy: Policy, unit: Unit) -> bool:
    """Says whether the tasks of a unit are carried out in sessions of their own."""
    return policy.session_scope is SessionScope.SUBTASK and len(unit.pieces) > 1


def _under_way(run: RunState) -> Iterator[Active]:
    states = (run.units[unit] for unit in run.open)
    return (state for state in states if isinstance(state, Active) and state.is_busy)


def _is_landing(run: RunState) -> bool:
    return any(isinstance(state, Landing) for state in _under_way(run))


def _verdicts(run: RunState) -> Iterator[cmd.Command]:
    """Yields what the policy says about attempts that were not good enough, also while a run halts."""
    policy = run.facts.policy
    for unit in run.open:
        state = run.units[unit]
        if isinstance(state, Failing):
            yield cmd.Record(after_failure(unit, state, policy=policy, tip=run.tip))
        elif isinstance(state, Reviewing) and not state.is_busy and state.tries >= policy.review_tries:
            detail = f"No valid answer came from the reviewer in {state.tries} tries."
            yield cmd.Record(ev.UnitParked(unit, Reason.REVIEW_UNAVAILABLE, detail))
        elif isinstance(state, Resting) and not state.is_busy and state.track.rests > policy.rests:
            detail = f"The agent's limit was waited out {policy.rests} times in a row."
            yield cmd.Record(ev.UnitParked(unit, Reason.USAGE_LIMIT, detail))


def _next_steps(run: RunState) -> Iterator[cmd.Command]:
    """Yields the next step of every unit that has none under way; one unit lands at a time, in turn.

    Who needs an agent that cannot be paid makes room for others.
    """
    for unit in run.open:
        state = run.units[unit]
        if not isinstance(state, Active) or state.is_busy:
            continue
        if isinstance(state, Landing) and unit != run.queue[0]:
            continue
        if is_held(run, unit):
            yield cmd.Record(ev.UnitHeld(unit))
        else:
            yield _step(run, _unit(run, unit), state)


def _starts(run: RunState) -> Iterator[cmd.Command]:
    return (cmd.Record(ev.UnitStarted(unit.id, lane, run.tip)) for unit, lane in startable(run))


def _step(run: RunState, unit: Unit, state: Active) -> cmd.Command:
    track = state.track
    at = _place(run, unit, track)
    match state:
        case Driving():
            return _turn(run, at, state)
        case Verifying(work=work, is_promised=is_promised):
            fit = expected(run, unit, base=track.base)
            return cmd.VerifyWork(at, work, fit, is_promised=is_promised)
        case Reviewing(work=work, notes=notes, red=red):
            return cmd.ReviewWork(
                at,
                work=work,
                notes=notes,
                red=red,
                changed_tests=track.edits.ruled,
                reviewed=track.reviewed,
                open_findings=track.findings,
                allowance=left_for(run, unit.id),
            )
        case Evaluating(work=work, red=red):
            left = left_for(run, unit.id)
            return cmd.EvaluateFindings(at, work=work, findings=track.findings, red=red, allowance=left)
        case Landing(work=work):
            fit = expected(run, unit, base=run.tip)
            return cmd.LandWork(at, work=work, tip=run.tip, expected=fit, changed_tests=track.edits.ruled)
        case Resting(until=until):
            return cmd.Rest(at, until, track.rests)
        case _:
            assert_never(state)


def _place(run: RunState, unit: Unit, track: Track) -> cmd.Place:
    return cmd.Place(
        unit,
        lane=track.lane,
        attempt=track.attempt,
        base=track.base,
        progress=progress_of(run, unit),
        number=track.counters.attempts,
        red_tasks=red_tasks(run, unit),
        by_person=track.by_person,
        accepted=track.accepted,
        granted=run.granted.get(unit.id, ()),
    )


def _turn(run: RunState, at: cmd.Place, state: Driving) -> cmd.StartTurn:
    return cmd.StartTurn(
        at,
        start=state.start,
        session=state.session,
        feedback=state.feedback,
        is_again=state.is_again,
        before=state.track.session_used if state.session is not None else None,
        allowance=left_for(run, at.unit),
        answers=state.track.answers,
        is_answer=state.is_answer,
        finished=state.finished,
        begun=tuple(task for task, _ in state.track.subtasks),
    )


def _closing(run: RunState) -> cmd.Command:
    """Returns how a run ends, or stops, for which there is nothing to do and nothing under way."""
    if run.wish is Wish.PAUSE:
        return cmd.Record(ev.RunPaused())
    if parked := _parked(run):
        return cmd.Record(ev.RunFinished(_stopped(run, parked[0].reason)))
    if any(is_held(run, unit) for unit in run.units):
        return cmd.Record(ev.RunFinished(Outcome(Result.HALTED, Reason.BUDGET)))
    if not all(isinstance(state, Landed | Skipped) for state in run.units.values()):
        return cmd.Record(ev.RunFinished(Outcome(Result.NEEDS_HUMAN, Reason.BLOCKED)))
    if run.branch is Branch.UNVERIFIED:
        edits = changed_tests(run)
        return cmd.VerifyBranch(
            run.tip,
            run.facts.base,
            *owed_and_waived(run),
            restored=edits.others,
            licensed=edits.licensed if edits.others else (),
        )
    return _conclusion(run)


def _conclusion(run: RunState) -> cmd.Command:
    """Returns how a run ends whose branch was verified; what landed gets its record first."""
    if run.branch is Branch.RED:
        return cmd.Record(ev.RunFinished(Outcome(Result.HALTED, Reason.BRANCH_RED)))
    if run.branch is Branch.UNRECORDED:
        return cmd.Record(ev.RunFinished(Outcome(Result.HALTED, run.record_reason)))
    has_landed = run.tip != run.facts.base
    if run.branch is Branch.GREEN and has_landed and run.facts.record_place.is_committed:
        return cmd.CommitRecord(run.tip)
    return cmd.Record(ev.RunFinished(Outcome(Result.COMPLETED)))


def _stopped(run: RunState, reason: Reason) -> Outcome:
    halts = run.facts.policy.on_failure is OnFailure.HALT and reason is not Reason.QUESTION
    return Outcome(Result.HALTED if halts else Result.NEEDS_HUMAN, reason)


def _parked(run: RunState) -> list[Parked]:
    return [state for unit in run.open if isinstance(state := run.units[unit], Parked)]


def _unit(run: RunState, wanted: UnitId) -> Unit:
    return next(unit for unit in run.facts.units if unit.id == wanted)
