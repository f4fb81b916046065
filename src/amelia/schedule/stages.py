"""The way of one unit: which stage follows from a stage and an event.

    Waiting ─▶ Driving ─▶ Verifying ─▶ Reviewing ─▶ Evaluating ─▶ Landing ─▶ Landed
                  ▲          │             │            │            │
                  │          ▼             ▼            ▼            ▼
                  └─────── Failing ─▶ Parked ─▶ (a person) ─▶ Waiting or Skipped

Resting stands between a stage and itself. What does not fit raises.
"""

from dataclasses import replace
from typing import TypeAlias, assert_never

from amelia.model import events as ev
from amelia.model.agents import Ending, SessionId
from amelia.model.errors import InternalError
from amelia.model.evidence import ProblemCode, files_to_grant
from amelia.model.findings import Disposition, Weight
from amelia.model.git import CommitId
from amelia.model.outcome import Cause, Reason
from amelia.model.state import (
    Active,
    Asking,
    Driving,
    Evaluating,
    Failing,
    Landing,
    Parked,
    Resting,
    Reviewing,
    Skipped,
    Track,
    UnitState,
    Verifying,
    Waiting,
    counters_of,
    landed,
)
from amelia.schedule.questions import about_findings, answered, bullets
from amelia.schedule.retry import COUNTED
from amelia.schedule.session import accounted, reported

_CONTINUABLE = frozenset({Ending.OK, Ending.FAILED})  # sessions that ended in any other way are not
# The turn goes on where it was cut off, under the same attempt.
_CUT_OFF = frozenset({Ending.LIMITED, Ending.OUT_OF_BUDGET})
_OfAttempt: TypeAlias = (
    ev.StepStarted
    | ev.AttemptEnded
    | ev.AttemptVerified
    | ev.AttemptReviewed
    | ev.ReviewFailed
    | ev.AnswerDelayed
    | ev.FindingsEvaluated
    | ev.LandingRefused
    | ev.UnitLanded
)
_RULED_OUT = frozenset({Disposition.REJECT, Disposition.DEFER})


def unit_after(state: UnitState, event: ev.UnitEvent) -> UnitState:  # noqa: C901, PLR0911, PLR0912 - a line per event
    """Returns where a unit stands after an event about it."""
    _assert_same_attempt(state, event)
    match event, state:
        case ev.SubtaskStarted() | ev.SubtaskCompleted() | ev.SubtaskFailed(), _:
            return reported(state, event)
        case ((ev.SessionOpened() | ev.SessionReplaced() | ev.UsageReported()), _):
            return accounted(state, event)
        case ev.StepStarted(
            step=step
        ), Driving() | Verifying() | Reviewing() | Evaluating() | Landing() | Resting():
            if step is state.step and not state.is_busy:
                return replace(state, is_busy=True)
        case ev.UnitHeld(), Driving() | Reviewing() | Evaluating():
            return _without_lane(replace(state, is_busy=False))
        case ev.AttemptEnded(), Driving(is_busy=True):
            return _after_turn(state, event)
        case ev.AttemptVerified(), Verifying(is_busy=True):
            return _after_verification(state, event)
        case _, Reviewing(is_busy=True) | Evaluating(is_busy=True):
            return _after_answer(state, event)
        case ev.RestEnded(), Resting(is_busy=True):
            return state.then
        case ev.UnitRested(), Resting(is_busy=True, then=stage):
            return _without_lane(stage)
        case ev.LandingRefused(), Landing(is_busy=True):
            return _after_refusal(state, event)
        case ev.UnitLanded(_, attempt, commit), Landing(is_busy=True):
            return landed(state.track, attempt, commit)
        case _:
            return _after_decision(state, event)
    raise _misfit(state, event)


def _without_lane(stage: Active) -> Waiting:
    """Returns a unit that goes on with a stage once there is a lane for it."""
    track = stage.track
    return Waiting(track.attempt, ruled=track.ruled, then=stage, answers=track.answers)


def _after_answer(state: Reviewing | Evaluating, event: ev.UnitEvent) -> UnitState:
    """Handles what a reviewer or an evaluator answered, or did not."""
    match event, state:
        case ev.AttemptReviewed(), Reviewing():
            return _after_review(state, event)
        case ev.ReviewFailed(), Reviewing():
            return _without_answer(state)
        case ev.AnswerDelayed(until=until), _:
            return _resting(state, until)
        case ev.FindingsEvaluated(), Evaluating():
            return _after_evaluation(state, event)
        case _:
            return _after_decision(state, event)


def _after_decision(state: UnitState, event: ev.UnitEvent) -> UnitState:  # noqa: PLR0911 - a line per event
    """Handles what the policy or a person decided, and what broke."""
    match event, state:
        case ev.UnitStarted(_, lane, base), Waiting():
            return _started(state, lane, base)
        case ev.UnitRetried(), Failing():
            return _tried_again(state, event)
        case ev.UnitIterated(), Failing():
            return _iterated(state, event)
        case ev.UnitParked(), Failing() | Reviewing() | Resting():
            return _parked(state, event)
        case ev.QuestionAnswered(), Parked(asking=Asking() as asking):
            return answered(state, asking, event)
        case ev.StepBroke(), Driving() | Verifying() | Reviewing() | Evaluating() | Landing() | Resting():
            return _broken(state, event)
        case ev.UnitReset(_, note), Parked():
            return _unparked(state, note)
        case ev.UnitFixed(_, work, accepted), Parked():
            track = replace(state.track, by_person=True, accepted=accepted)
            return Waiting(state.track.attempt, then=Verifying(track=track, work=work, session=None))
        case ev.UnitSkipped(_, satisfies), Parked() | Waiting() | Skipped(satisfies=False):
            return Skipped(satisfies, counters_of(state))
        case _:
            raise _misfit(state, event)


def _broken(state: Active, event: ev.StepBroke) -> Parked:
    """Parks a unit at the stage that broke; without the work that was to go on, there is none."""
    stage = None if event.reason is Reason.WORK_LOST else at_rest(state)
    work = None if stage is None or isinstance(state, Driving | Resting) else state.work
    return Parked(track=state.track, reason=event.reason, detail=event.detail, work=work, stage=stage)


def interrupted(state: UnitState) -> UnitState:
    """Returns where a unit stands when somebody else takes the run over: what broke may go on."""
    match state:
        case Driving() | Verifying() | Reviewing() | Evaluating() | Landing() | Resting():
            return at_rest(state)
        case Parked(stage=stage) if stage is not None:
            return _unparked(state)
        case _:
            return state


def at_rest(state: Active) -> Active:
    """Returns a stage with nothing under way: a turn that was cut off is made again, in a fresh session."""
    if isinstance(state, Driving) and state.is_busy:
        return replace(state, is_busy=False, is_again=True, session=None)
    return replace(state, is_busy=False)


def _started(state: Waiting, lane: int, base: CommitId) -> UnitState:
    if state.then is not None:
        return _in_lane(state.then, lane)
    track = Track(
        lane=lane,
        base=base,
        attempt=state.turns + 1,
        was_reset=state.turns > 0,
        ruled=state.ruled,
        answers=state.answers,
    )
    return Driving(track=track, start=base, feedback=state.feedback)


def _in_lane(stage: Active, lane: int) -> Active:
    """Returns a stage that goes on in a lane; a session stays where it was, agents find it by its place."""
    track = replace(stage.track, lane=lane)
    match stage:
        case Resting(then=then):
            session = then.session if lane == stage.track.lane else None
            return replace(stage, track=track, then=replace(then, track=track, session=session))
        case Landing():
            return replace(stage, track=track)
        case _:
            session = stage.session if lane == stage.track.lane else None
            return replace(stage, track=track, session=session)


def _tried_again(state: Failing, event: ev.UnitRetried) -> Driving:
    """Starts the next attempt; on a new base no review has seen anything of the unit yet."""
    before = _remembering(state)
    track = replace(
        _counted(state, before),
        attempt=event.attempt,
        iteration=1,
        subtasks=(),
        base=event.base,
        reviewed=before.reviewed if event.base == before.base else None,
    )
    return Driving(track=track, start=event.start, session=event.session, feedback=state.feedback)


def _iterated(state: Failing, event: ev.UnitIterated) -> Driving:
    track = replace(_remembering(state), attempt=event.attempt, iteration=event.iteration, subtasks=())
    return Driving(track=track, start=event.start, feedback=state.feedback)


def _counted(state: Failing, track: Track) -> Track:
    """Counts an attempt that failed against the limit, once, now that it does not go on."""
    return replace(track, spent=track.spent + (state.cause in COUNTED))


def _is_spent(state: Failing) -> bool:
    return state.track.is_spent or state.cause in COUNTED


def _remembering(state: Failing) -> Track:
    """Returns a track that knows the round that failed."""
    seen = state.track.seen
    return replace(state.track, seen=seen if state.fingerprint is None else (*seen, state.fingerprint))


def _parked(state: Failing | Reviewing | Resting, event: ev.UnitParked) -> Parked:
    parked = Parked(track=state.track, reason=event.reason, detail=event.detail)
    match state:
        case Failing(work=work, asking=asking):
            # What was asked is what was recorded, whatever words it would be asked in today.
            question = event.question
            asking = replace(asking, question=question) if asking and question is not None else None
            track = replace(_counted(state, state.track), is_spent=_is_spent(state))
            return replace(parked, track=track, work=work, feedback=event.detail, asking=asking)
        case Reviewing(work=work):
            return replace(parked, work=work, stage=replace(state, tries=0))
        case Resting(then=then):
            rested = replace(then, track=replace(then.track, rests=0))
            return replace(parked, track=rested.track, stage=rested)
        case _:
            assert_never(state)


def _unparked(state: Parked, note: str = "") -> Waiting:
    told = "\n\n".join(part for part in (state.feedback, note) if part)
    track = state.track
    return Waiting(track.attempt, feedback=told, ruled=track.ruled, then=state.stage, answers=track.answers)


def _after_turn(state: Driving, event: ev.AttemptEnded) -> UnitState:
    session = event.session if _is_continuable(event) else None
    if event.ending in _CUT_OFF:
        again = replace(
            state,
            start=event.work.commit,
            session=event.session,
            is_again=True,
            is_answer=False,
            finished=event.finished,
        )
        if event.ending is Ending.LIMITED:
            return _resting(again, event.until or "")
        return replace(again, is_busy=False)
    track = replace(state.track, rests=0, to_grant=())
    if event.question is not None:
        asking = Asking(question=event.question, session=session, finished=event.finished)
        return _asking(track, event.work, asking, feedback=event.question.text)
    if event.ending is not Ending.OK:
        return _failing(track, event.work, session, cause=Cause.AGENT_FAILED, feedback=event.summary)
    if event.refused is not None:
        seen = f"{event.work.tree}:{event.refused}"
        return _failing(
            track, event.work, session, cause=Cause.CHECKS_FAILED, feedback=event.refused, seen=seen
        )
    return Verifying(track=track, work=event.work, session=session, is_promised=event.promised)


def _is_continuable(event: ev.AttemptEnded) -> bool:
    """Says whether feedback goes to the same session: not if that changed nothing and asked nothing."""
    return event.ending in _CONTINUABLE and (event.progressed or event.question is not None)


def _resting(state: Driving | Reviewing | Evaluating, until: str) -> Resting:
    """Waits for an agent's limit to pass, before the same stage goes on; how often in a row is counted."""
    track = replace(state.track, rests=state.track.rests + 1)
    return Resting(track=track, until=until, then=replace(state, track=track, is_busy=False))


def _after_verification(state: Verifying, event: ev.AttemptVerified) -> UnitState:
    if state.track.by_person:
        return _after_verified_fix(state, event)
    if event.passed:
        return Reviewing(
            track=replace(state.track, edits=event.edits),
            work=state.work,
            session=state.session,
            results=event.results,
            red=event.red,
            notes=event.notes,
        )
    cause = Cause.CHECKS_FAILED
    if any(problem.code is ProblemCode.NO_CHANGES for problem in event.problems):
        cause = Cause.NO_CHANGES
    return _failing(
        replace(state.track, to_grant=files_to_grant(event.problems, event.edits)),
        state.work,
        state.session,
        cause=cause,
        feedback=event.feedback,
        seen=f"{state.work.tree}:{event.results}",
    )


def _after_verified_fix(state: Verifying, event: ev.AttemptVerified) -> UnitState:
    """Lets a person's work land without a review; what is wrong with it is theirs to mend."""
    if event.passed:
        return Landing(track=replace(state.track, edits=event.edits), work=state.work, red=event.red)
    return _fix_refused(state, event.feedback)


def _after_refusal(state: Landing, event: ev.LandingRefused) -> Failing:
    if state.track.by_person:
        return _fix_refused(state, event.feedback)
    track = replace(state.track, refusals=state.track.refusals + 1)
    return Failing(track=track, work=state.work, session=None, cause=event.cause, feedback=event.feedback)


def _fix_refused(state: Verifying | Landing, feedback: str) -> Failing:
    """Hands a person's work back: it counts against no limit, and no agent's work takes its place."""
    return Failing(
        track=state.track, work=state.work, session=None, cause=Cause.FIX_REFUSED, feedback=feedback
    )


def _after_review(state: Reviewing, event: ev.AttemptReviewed) -> UnitState:
    """Accepts an approval that nothing blocks, and a rejection of which everything was ruled out before.

    A rejection that finds nothing is no valid answer: with nothing to rule, it would come out as accepted.
    """
    if not event.approved and not event.findings:
        return _without_answer(state)
    findings = tuple(found for found in event.findings if found.id not in state.track.ruled)
    is_blocked = any(found.weight is Weight.BLOCKING for found in findings)
    track = replace(state.track, findings=findings, reviewed=state.work.commit, rests=0)
    if (event.approved and not is_blocked) or not findings:
        return Landing(track=track, work=state.work, red=state.red)
    return Evaluating(
        track=track, work=state.work, session=state.session, results=state.results, red=state.red
    )


def _without_answer(state: Reviewing) -> Reviewing:
    return replace(state, is_busy=False, tries=state.tries + 1)


def _after_evaluation(state: Evaluating, event: ev.FindingsEvaluated) -> UnitState:
    """Goes on by the rulings; a finding without a valid one is to be implemented."""
    ruled = {ruling.finding: ruling.disposition for ruling in event.rulings}
    out = tuple(found.id for found in state.track.findings if ruled.get(found.id) in _RULED_OUT)
    left = tuple(found for found in state.track.findings if found.id not in out)
    track = replace(state.track, findings=left, ruled=(*state.track.ruled, *out), rests=0)
    if not left:
        return Landing(track=track, work=state.work, red=state.red)
    unclear = tuple(found for found in left if ruled.get(found.id) is Disposition.CLARIFY)
    if unclear:
        asking = Asking(question=about_findings(unclear, event.rulings), session=state.session, red=state.red)
        return _asking(track, state.work, asking, feedback=asking.question.text)
    ids = ",".join(sorted(found.id for found in left))
    seen = f"{state.work.tree}:{state.results}:{ids}"
    return _failing(track, state.work, state.session, cause=Cause.REJECTED, feedback=bullets(left), seen=seen)


def _failing(
    track: Track,
    work: ev.Work,
    session: SessionId | None,
    *,
    cause: Cause,
    feedback: str,
    seen: str | None = None,
) -> Failing:
    return Failing(track=track, work=work, session=session, cause=cause, feedback=feedback, fingerprint=seen)


def _asking(track: Track, work: ev.Work, asking: Asking, *, feedback: str) -> Failing:
    return Failing(
        track=track, work=work, session=None, cause=Cause.QUESTION, feedback=feedback, asking=asking
    )


def _assert_same_attempt(state: UnitState, event: ev.UnitEvent) -> None:
    if isinstance(event, _OfAttempt) and isinstance(state, Active) and event.attempt != state.track.attempt:
        raise InternalError(f"{type(event).__name__} is not of attempt {state.track.attempt}")


def _misfit(state: UnitState, event: ev.UnitEvent) -> InternalError:
    return InternalError(f"{type(event).__name__} does not fit a unit that is {type(state).__name__}")
