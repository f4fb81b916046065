"""A draft goes to and fro between the architect and a person, and never for ever by itself."""

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce

import pytest

from amelia.model import drafts as dr
from amelia.model import events as ev
from amelia.model.agents import Allowance, Role, SessionId, Usage
from amelia.model.commands import Record
from amelia.model.errors import InternalError
from amelia.model.facts import RunId
from amelia.model.git import CommitId
from amelia.model.outcome import Outcome, Reason, Result
from amelia.model.policy import Budget
from amelia.model.proposal import (
    Approved,
    AwaitArchitect,
    Delayed,
    Draft,
    Drafting,
    Proposed,
    Stopped,
    WritePlan,
)
from amelia.model.settings import RunSettings, Settings
from amelia.schedule.draft import (
    RESTS,
    REVISIONS,
    begin_draft,
    decide_draft,
    draft_opening,
    evolve_draft,
    fold_draft,
    is_draft,
    is_draft_over,
)
from amelia.schedule.machine import fold
from runs import started, unit

BUDGET = Budget(unit=Allowance(tokens=1000), run=Allowance(tokens=5000))
PROPOSED = dr.RunProposed(
    run=RunId("demo"),
    goal="Sign up",
    repository="/repository",
    base=CommitId("b" * 40),
    settings=Settings(run=RunSettings(budget=BUDGET)),
)
UNTIL = "2026-11-02T14:00:00+00:00"
DELAYED = ev.AnswerDelayed(dr.DRAFT, 1, UNTIL)


def by_architect(version: int, *errors: str, gaps: tuple[str, ...] = ()) -> dr.PlanDrafted:
    return dr.PlanDrafted(version=version, hash="h", author=dr.Author.ARCHITECT, errors=errors, gaps=gaps)


def by_person(version: int, *errors: str) -> dr.PlanDrafted:
    return dr.PlanDrafted(version=version, hash="h", author=dr.Author.PERSON, errors=errors)


def used(tokens: int) -> ev.UsageReported:
    usage = Usage(tokens, 0)
    return ev.UsageReported(
        unit=dr.DRAFT, attempt=1, role=Role.ARCHITECT, session=SessionId("s"), usage=usage
    )


def after(*events: ev.Event) -> Draft:
    """Returns the draft after events, with everything that follows from each of them by itself."""
    return reduce(hear, events, settled(begin_draft(PROPOSED)))


def hear(draft: Draft, event: ev.Event) -> Draft:
    return settled(evolve_draft(draft, event))


def settled(draft: Draft) -> Draft:
    while decided := decide_draft(draft):
        (command,) = decided
        told = (command.event,) if isinstance(command, Record) else draft_opening(draft, command)
        draft = reduce(evolve_draft, told, draft)
    return draft


def waiting() -> Draft:
    return after(by_architect(1))


def test_the_architect_is_asked_first() -> None:
    draft = begin_draft(PROPOSED)
    assert decide_draft(draft) == [WritePlan(1, allowance=Allowance(tokens=1000))]
    assert after().stage == Drafting(is_busy=True)
    assert decide_draft(after()) == []


def test_a_plan_that_can_run_waits_for_a_person() -> None:
    draft = waiting()
    assert draft.stage == Proposed()
    assert draft.outcome == Outcome(Result.NEEDS_HUMAN, Reason.APPROVAL)
    assert draft.may_be_approved
    assert is_draft_over(draft)


def test_an_approved_plan_is_to_begin() -> None:
    draft = hear(waiting(), dr.PlanApproved(1))
    assert draft.stage == Approved()
    assert draft.outcome is None
    assert is_draft_over(draft)


def test_who_wants_to_be_asked_nothing_approves_the_first_plan_that_can_run() -> None:
    draft = settled(begin_draft(replace(PROPOSED, is_hands_off=True)))
    draft = hear(draft, by_architect(1, "a cycle"))
    assert draft.stage == Drafting(is_busy=True)
    draft = evolve_draft(draft, by_architect(2))
    assert decide_draft(draft) == [Record(dr.PlanApproved(2))]
    assert settled(draft).may_begin


@pytest.mark.parametrize("said", [ev.CancelRequested(), ev.AbortRequested()])
def test_what_was_approved_does_not_begin_once_it_was_given_up(said: ev.Event) -> None:
    draft = hear(waiting(), dr.PlanApproved(1))
    assert draft.may_begin
    given_up = evolve_draft(draft, said)
    assert not given_up.may_begin
    assert not settled(given_up).may_begin


def test_errors_go_back_to_the_architect_three_times_and_then_to_a_person() -> None:
    draft = after()
    for version in range(1, REVISIONS + 1):
        draft = evolve_draft(draft, by_architect(version, "a cycle"))
        (command,) = decide_draft(draft)
        assert isinstance(command, WritePlan)
        assert (command.version, command.old) == (version + 1, by_architect(version, "a cycle"))
        draft = settled(draft)
    draft = hear(draft, by_architect(REVISIONS + 1, "a cycle"))
    assert draft.stage == Proposed()
    assert draft.outcome == Outcome(Result.NEEDS_HUMAN, Reason.PLAN_ERRORS)
    assert not draft.may_be_approved


def test_what_the_product_asks_for_goes_back_too_but_does_not_forbid_the_plan() -> None:
    draft = after()
    for version in range(1, REVISIONS + 2):
        draft = hear(draft, by_architect(version, gaps=("nobody does AC-1",)))
    assert draft.outcome == Outcome(Result.NEEDS_HUMAN, Reason.APPROVAL)
    assert draft.may_be_approved


def test_people_may_reject_as_often_as_they_like() -> None:
    draft = waiting()
    for version in range(1, 20):
        draft = evolve_draft(draft, dr.PlanRejected(version, f"no {version}"))
        (command,) = decide_draft(draft)
        assert isinstance(command, WritePlan)
        assert command.feedback == f"no {version}"
        draft = hear(settled(draft), by_architect(version + 1))
    assert draft.stage == Proposed()
    assert draft.version == 20


def test_what_a_person_said_is_told_until_a_person_speaks_again() -> None:
    draft = hear(waiting(), dr.PlanRejected(1, "smaller"))
    draft = evolve_draft(draft, by_architect(2, "a cycle"))
    (command,) = decide_draft(draft)
    assert isinstance(command, WritePlan)
    assert command.feedback == "smaller"
    draft = hear(settled(draft), by_architect(3))
    assert hear(draft, by_person(4)).feedback == ""


def test_what_a_person_wrote_is_the_newest_version() -> None:
    draft = hear(waiting(), by_person(2))
    assert draft.newest == by_person(2)
    assert draft.may_be_approved
    assert hear(draft, dr.PlanApproved(2)).stage == Approved()


def test_what_a_person_wrote_goes_back_to_nobody() -> None:
    draft = hear(waiting(), by_person(2, "a cycle"))
    assert draft.stage == Proposed()
    assert draft.outcome == Outcome(Result.NEEDS_HUMAN, Reason.PLAN_ERRORS)


def test_a_plan_that_was_handed_over_ends_the_run() -> None:
    draft = hear(waiting(), dr.PlanHandedOver(1, "plan.md"))
    assert draft.outcome == Outcome(Result.COMPLETED)
    assert hear(draft, ev.RunResumed(1)).outcome == Outcome(Result.COMPLETED)


def test_an_architect_without_a_plan_is_asked_again_and_then_given_up() -> None:
    draft = after()
    for _ in range(REVISIONS):
        draft = evolve_draft(draft, dr.ArchitectFailed(1, "no JSON"))
        (command,) = decide_draft(draft)
        assert isinstance(command, WritePlan)
        assert (command.version, command.failure) == (1, "no JSON")
        draft = settled(draft)
    draft = hear(draft, dr.ArchitectFailed(1, "still no JSON"))
    assert draft.stage == Stopped(Reason.NO_PLAN, "still no JSON")
    assert draft.outcome == Outcome(Result.HALTED, Reason.NO_PLAN)


def test_a_draft_that_stopped_tries_again_when_it_is_resumed_rejected_or_written_by_hand() -> None:
    stopped = after(dr.DraftFailed(Reason.AUTH, "401"))
    assert stopped.outcome == Outcome(Result.HALTED, Reason.AUTH)
    assert hear(stopped, ev.RunResumed(1)).stage == Drafting(is_busy=True)
    assert hear(stopped, dr.PlanRejected(0, "again")).stage == Drafting(is_busy=True)
    assert hear(stopped, by_person(1)).may_be_approved


def test_a_run_that_could_not_begin_stays_approved() -> None:
    draft = hear(hear(waiting(), dr.PlanApproved(1)), dr.DraftFailed(Reason.BROKEN, "no tests"))
    assert draft.outcome == Outcome(Result.HALTED, Reason.BROKEN)
    assert hear(draft, ev.RunResumed(1)).stage == Approved()


def test_a_limit_is_waited_out_and_counts_for_nothing() -> None:
    draft = evolve_draft(after(), DELAYED)
    assert decide_draft(draft) == [AwaitArchitect(1, UNTIL, 1)]
    draft = settled(draft)
    assert draft.stage == Delayed(UNTIL, is_busy=True)
    assert decide_draft(draft) == []
    draft = hear(draft, ev.UnitRested(dr.DRAFT))
    assert draft.stage == Drafting(is_busy=True)
    assert draft.tries == 0


def test_a_limit_without_an_end_is_a_reason() -> None:
    draft = after()
    for _ in range(RESTS):
        draft = hear(hear(draft, DELAYED), ev.UnitRested(dr.DRAFT))
    draft = hear(draft, DELAYED)
    assert draft.outcome == Outcome(Result.HALTED, Reason.USAGE_LIMIT)


def test_what_is_used_up_stops_it_until_there_is_more() -> None:
    draft = after(used(1000), by_architect(1, "a cycle"))
    assert draft.outcome == Outcome(Result.HALTED, Reason.BUDGET)
    more = ev.BudgetChanged(Budget(unit=Allowance(tokens=3000)))
    draft = evolve_draft(draft, more)
    (command,) = decide_draft(draft)
    assert isinstance(command, WritePlan)
    assert command.allowance == Allowance(tokens=2000)


def test_another_budget_does_not_disturb_a_turn() -> None:
    draft = hear(after(), ev.BudgetChanged(Budget(unit=Allowance(tokens=3000))))
    assert draft.stage == Drafting(is_busy=True)


def test_a_pause_waits_for_the_turn_but_not_for_a_limit() -> None:
    pausing = hear(after(), ev.PauseRequested())
    assert not pausing.is_paused
    assert hear(pausing, by_architect(1)).is_paused
    paused = hear(after(DELAYED), ev.PauseRequested())
    assert paused.is_paused
    assert hear(paused, ev.RunResumed(1)).stage == Delayed(UNTIL, is_busy=True)


@pytest.mark.parametrize(
    ("wish", "result"),
    [(ev.CancelRequested(), Result.CANCELLED), (ev.AbortRequested(), Result.ABORTED)],
    ids=["cancelled", "aborted"],
)
@pytest.mark.parametrize(
    "events",
    [(), (by_architect(1),), (by_architect(1), dr.PlanApproved(1)), (ev.PauseRequested(),)],
    ids=["drafting", "waiting", "approved", "pausing"],
)
def test_a_draft_can_be_ended_anywhere(wish: ev.Event, result: Result, events: tuple[ev.Event, ...]) -> None:
    draft = hear(after(*events), wish)
    assert draft.outcome == Outcome(result)
    assert hear(draft, ev.RunResumed(1)).outcome == Outcome(result)


@pytest.mark.parametrize(
    "event",
    [dr.PlanApproved(1), dr.PlanRejected(1, ""), by_person(2), ev.UnitRested(dr.DRAFT), PROPOSED],
    ids=lambda event: type(event).__name__,
)
def test_what_does_not_fit_raises(event: ev.Event) -> None:
    with pytest.raises(InternalError):
        evolve_draft(after(), event)


def test_a_plan_with_errors_cannot_be_approved() -> None:
    with pytest.raises(InternalError):
        evolve_draft(hear(waiting(), by_person(2, "a cycle")), dr.PlanApproved(2))


def whole() -> Iterable[ev.Event]:
    session = ev.SessionOpened(
        unit=dr.DRAFT, attempt=1, role=Role.ARCHITECT, session=SessionId("s"), driver="script"
    )
    return (
        PROPOSED,
        dr.DraftStarted(1),
        session,
        used(70),
        by_architect(1),
        dr.PlanApproved(1),
        started(unit("1")),
    )


def test_a_journal_is_a_draft_until_the_run_starts() -> None:
    events = list(whole())
    assert is_draft(events[:-1])
    assert not is_draft(events)
    assert not is_draft(events[-1:])
    assert not is_draft([])
    assert not fold_draft(events[:-1]).has_begun
    assert fold_draft(events).has_begun


def test_what_the_architect_used_is_charged_to_the_run() -> None:
    run = fold(whole())
    assert run.spent_in_all.unpriced == 70
    assert run.spent == {}


def test_a_draft_begins_with_a_proposal_and_a_run_with_its_start() -> None:
    with pytest.raises(InternalError):
        fold_draft([started(unit("1"))])
    with pytest.raises(InternalError):
        fold([PROPOSED, dr.DraftStarted(1)])
    with pytest.raises(InternalError):
        fold([started(unit("1")), dr.DraftStarted(1)])
