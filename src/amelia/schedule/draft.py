"""The draft of a run as a machine: facts fold into it, and it says what is to be done.

- The architect revises what cannot run or does not cover the product at most `REVISIONS` times; then a
  person decides. What a person rejects is not counted: people may be as particular as they like.
- Waiting for a person is an outcome: nothing is under way, and no process is held. Who wants to be asked
  nothing has said so when the goal was proposed.
- As strict as the machine of the run: what does not fit is a mistake of ours and raises.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import assert_never

from amelia.model import drafts as dr
from amelia.model import events as ev
from amelia.model.agents import Allowance
from amelia.model.commands import Record
from amelia.model.errors import InternalError
from amelia.model.outcome import Outcome, Reason, Result
from amelia.model.proposal import (
    Approved,
    AwaitArchitect,
    Delayed,
    Draft,
    DraftCommand,
    Drafting,
    DraftStage,
    HandedOver,
    Proposed,
    Stopped,
    WritePlan,
)
from amelia.model.state import Wish
from amelia.schedule.budget import least_of

REVISIONS = 3
RESTS = 100


def begin_draft(facts: dr.RunProposed) -> Draft:
    """Returns the draft of a run that was just proposed."""
    return Draft(facts=facts, budget=facts.settings.run.budget)


def fold_draft(events: Iterable[ev.Event]) -> Draft:
    """Returns the draft that a journal tells of, as far as it is one; it begins with a proposal."""
    iterator = iter(events)
    first = next(iterator, None)
    if not isinstance(first, dr.RunProposed):
        raise InternalError(f"a draft starts with RunProposed, not with {type(first).__name__}")
    draft = begin_draft(first)
    for event in iterator:
        if isinstance(event, ev.RunStarted):
            return replace(draft, has_begun=True)
        draft = evolve_draft(draft, event)
    return draft


def is_draft(events: Sequence[ev.Event]) -> bool:
    """Says whether a journal tells of a run that has no approved plan yet."""
    has_goal = bool(events) and isinstance(events[0], dr.RunProposed)
    return has_goal and not any(isinstance(event, ev.RunStarted) for event in events)


def is_draft_over(draft: Draft) -> bool:
    """Says whether nothing will happen by itself any more: it has an outcome, is paused, or may begin."""
    return draft.outcome is not None or draft.is_paused or draft.may_begin


def evolve_draft(draft: Draft, event: ev.Event) -> Draft:  # noqa: PLR0911 - a line per event
    """Returns the draft after an event."""
    match event:
        case ev.RunResumed():
            return _resumed(draft)
        case ev.BudgetChanged(budget):
            stage = draft.stage.then if isinstance(draft.stage, Stopped) else draft.stage
            changed = draft.budget.changed_by(budget)
            return replace(draft, budget=changed, stage=stage, outcome=_final(draft))
        case ev.UsageReported(usage=usage):
            return replace(draft, spent=draft.spent.plus(usage))
        case ev.PauseRequested():
            return replace(draft, wish=draft.wish or Wish.PAUSE)
        case ev.CancelRequested() | ev.AbortRequested():
            wish = Wish.CANCEL if isinstance(event, ev.CancelRequested) else Wish.ABORT
            return replace(draft, wish=wish, is_paused=False, outcome=_final(draft))
        case ev.RunPaused():
            return replace(draft, is_paused=True)
        case ev.RunFinished(outcome):
            return replace(draft, outcome=outcome)
        case ev.SessionOpened() | ev.SessionReplaced():
            return draft
        case _:
            return _of_turn(draft, event)


def _of_turn(draft: Draft, event: ev.Event) -> Draft:
    match event, draft.stage:
        case dr.DraftStarted(), Drafting(is_busy=False):
            return replace(draft, stage=Drafting(is_busy=True))
        case ev.AnswerDelayed(until=until), Drafting(is_busy=True):
            return replace(draft, stage=Delayed(until), rests=draft.rests + 1)
        case ev.StepStarted(), Delayed(until):
            return replace(draft, stage=Delayed(until, is_busy=True))
        case ev.UnitRested(), Delayed():
            return replace(draft, stage=Drafting())
        case dr.PlanDrafted(author=dr.Author.ARCHITECT), Drafting(is_busy=True):
            return _drafted(draft, event)
        case dr.ArchitectFailed(detail=detail), Drafting(is_busy=True):
            return replace(draft, stage=Drafting(), tries=draft.tries + 1, rests=0, failure=detail)
        case dr.DraftFailed(reason, detail), Drafting() | Delayed() | Approved() as stage:
            then = stage if isinstance(stage, Approved) else Drafting()
            return replace(draft, stage=Stopped(reason, detail, then))
        case _:
            return _of_person(draft, event)


def _of_person(draft: Draft, event: ev.Event) -> Draft:
    match event, draft.stage:
        case dr.PlanDrafted(author=dr.Author.PERSON), Proposed() | Stopped():
            heard = _heard(draft, Proposed())
            return replace(heard, versions=(*draft.versions, event))
        case dr.PlanRejected(feedback=feedback), Proposed() | Stopped():
            return replace(_heard(draft, Drafting()), feedback=feedback)
        case dr.PlanApproved(), Proposed() if draft.may_be_approved:
            return _heard(draft, Approved())
        case dr.PlanHandedOver(), Proposed() if draft.may_be_approved:
            return _heard(draft, HandedOver())
        case _:
            raise InternalError(f"{type(event).__name__} does not fit a draft that is {draft.stage}")


def _drafted(draft: Draft, event: dr.PlanDrafted) -> Draft:
    """Takes a version of the architect's; one with problems goes back to it, if it may try again."""
    tries = draft.tries + 1 if event.problems else 0
    stage = Drafting() if 0 < tries <= REVISIONS else Proposed()
    versions = (*draft.versions, event)
    return replace(draft, versions=versions, stage=stage, tries=tries, rests=0, failure="")


def _heard(draft: Draft, stage: DraftStage) -> Draft:
    """Goes where a person's word leads, who starts all counts anew."""
    return replace(draft, stage=stage, tries=0, rests=0, failure="", feedback="", outcome=_final(draft))


def _resumed(draft: Draft) -> Draft:
    """Takes back what was under way, a pause, and what a person cannot have wanted to last."""
    wish = None if draft.wish is Wish.PAUSE else draft.wish
    is_stopped = isinstance(draft.stage, Stopped)
    return replace(
        draft,
        stage=_going(draft.stage),
        wish=wish,
        is_paused=False,
        outcome=_final(draft),
        tries=0 if is_stopped else draft.tries,
        rests=0 if is_stopped else draft.rests,
    )


def _going(stage: DraftStage) -> DraftStage:
    match stage:
        case Drafting():
            return Drafting()
        case Delayed(until):
            return Delayed(until)
        case Stopped(then=then):
            return then
        case _:
            return stage


def _final(draft: Draft) -> Outcome | None:
    return draft.outcome if draft.outcome is not None and draft.outcome.is_final else None


def decide_draft(draft: Draft) -> list[DraftCommand | Record]:
    """Returns what is to be done now."""
    if is_draft_over(draft):
        return []
    if draft.wish in {Wish.CANCEL, Wish.ABORT}:
        result = Result.CANCELLED if draft.wish is Wish.CANCEL else Result.ABORTED
        return [Record(ev.RunFinished(Outcome(result)))]
    if draft.wish is Wish.PAUSE:
        is_writing = isinstance(draft.stage, Drafting) and draft.stage.is_busy
        return [] if is_writing else [Record(ev.RunPaused())]
    command = _next(draft)
    return [command] if command is not None else []


def _next(draft: Draft) -> DraftCommand | Record | None:
    match draft.stage:
        case Drafting(is_busy) | Delayed(is_busy=is_busy) if is_busy:
            return None
        case Drafting():
            return _turn(draft)
        case Delayed(until):
            if draft.rests > RESTS:
                detail = f"The architect's limit was waited out {RESTS} times in a row."
                return Record(dr.DraftFailed(Reason.USAGE_LIMIT, detail))
            return AwaitArchitect(draft.version + 1, until, draft.rests)
        case Proposed():
            return Record(_verdict(draft))
        case HandedOver():
            return Record(ev.RunFinished(Outcome(Result.COMPLETED)))
        case Stopped(reason):
            return Record(ev.RunFinished(Outcome(Result.HALTED, reason)))
        case Approved():  # pragma: no cover - asked only while it is not over
            return None
        case _:
            assert_never(draft.stage)


def _verdict(draft: Draft) -> ev.Event:
    """Returns what becomes of a version: a person is waited for, unless nobody wants to be asked."""
    if draft.may_be_approved and draft.facts.is_hands_off:
        return dr.PlanApproved(draft.version)
    reason = Reason.APPROVAL if draft.may_be_approved else Reason.PLAN_ERRORS
    return ev.RunFinished(Outcome(Result.NEEDS_HUMAN, reason))


def _turn(draft: Draft) -> DraftCommand | Record:
    if draft.tries > REVISIONS:
        return Record(dr.DraftFailed(Reason.NO_PLAN, draft.failure))
    if draft.budget.unit.is_used_up_by(draft.spent) or draft.budget.run.is_used_up_by(draft.spent):
        return Record(dr.DraftFailed(Reason.BUDGET, "The architect used up what it may use."))
    return WritePlan(
        draft.version + 1,
        old=draft.newest,
        feedback=draft.feedback,
        failure=draft.failure,
        allowance=_left(draft),
    )


def _left(draft: Draft) -> Allowance:
    return least_of(draft.budget.unit.without(draft.spent), draft.budget.run.without(draft.spent))


def draft_opening(draft: Draft, command: DraftCommand) -> tuple[ev.Event, ...]:  # noqa: ARG001 - as `decide.opening`
    """Returns what is written down before a command is carried out."""
    match command:
        case WritePlan(version):
            return (dr.DraftStarted(version),)
        case AwaitArchitect(version):
            return (ev.StepStarted(dr.DRAFT, version, ev.Step.REST),)
        case _:
            assert_never(command)
