"""What does not fit raises: an event in the wrong order is a mistake of ours, never made to fit."""

from collections.abc import Callable

import pytest

from amelia.model import events as ev
from amelia.model.agents import Ending
from amelia.model.errors import InternalError
from amelia.model.git import CommitId
from amelia.model.outcome import Cause, Reason
from amelia.model.plan import Mode, UnitId
from amelia.model.policy import POLICIES
from amelia.model.state import Failing, Track
from amelia.schedule.machine import begin, evolve, fold
from amelia.schedule.retry import after_failure
from unit.schedule.worlds import BASE, LATER, Story, ended, facts, finding, fix_of, unit, with_policy

A = UnitId("a")
EVENTS: dict[str, ev.Event] = {
    "started": ev.UnitStarted(A, 1, BASE),
    "drive": ev.StepStarted(A, 1, ev.Step.DRIVE),
    "verify": ev.StepStarted(A, 1, ev.Step.VERIFY),
    "ended": ended(A, 1),
    "verified": ev.AttemptVerified(unit=A, attempt=1, passed=True),
    "reviewed": ev.AttemptReviewed(unit=A, attempt=1, approved=True),
    "review failed": ev.ReviewFailed(unit=A, attempt=1, detail=""),
    "delayed": ev.AnswerDelayed(A, 1, LATER),
    "evaluated": ev.FindingsEvaluated(unit=A, attempt=1, rulings=()),
    "rested": ev.UnitRested(A),
    "retried": ev.UnitRetried(A, 2, Cause.REJECTED, base=BASE, start=BASE),
    "refused": ev.LandingRefused(A, 1, Cause.CONFLICT, ""),
    "landed": ev.UnitLanded(A, 1, CommitId("c")),
    "parked": ev.UnitParked(A, Reason.BROKEN, ""),
    "broke": ev.StepBroke(A, ev.Step.DRIVE, ""),
    "reset": ev.UnitReset(A),
    "skipped": ev.UnitSkipped(A, satisfies=True),
    "fixed": ev.UnitFixed(A, fix_of(A)),
    "branch": ev.BranchVerified(passed=True),
}


def plain() -> Story:
    return Story(facts(unit("a"), policy=with_policy(POLICIES[Mode.TASKS], attempts=1)))


STAGES: dict[str, tuple[Callable[[], Story], str]] = {
    "driving": (plain, "ended, broke"),
    "verifying": (lambda: plain().drives("a"), "verified, broke"),
    "reviewing": (
        lambda: plain().drives("a").verifies("a"),
        "reviewed, review failed, delayed, parked, broke",
    ),
    "evaluating": (
        lambda: plain().drives("a").verifies("a").rejects("a", finding("leaks")),
        "delayed, evaluated, broke",
    ),
    "landing": (lambda: plain().accepts("a"), "refused, landed, broke"),
    "resting": (lambda: plain().drives("a", Ending.LIMITED, until=LATER), "rested, parked, broke"),
    "parked": (lambda: plain().drives("a", Ending.FAILED), "reset, skipped, fixed"),
    "landed": (lambda: plain().finishes("a"), "branch"),
    "skipped": (lambda: plain().breaks("a", ev.Step.DRIVE).hears(EVENTS["skipped"]), "branch"),
}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", EVENTS)
def test_a_stage_takes_only_what_belongs_to_it(stage: str, name: str) -> None:
    tell, allowed = STAGES[stage]
    run = tell().run
    if name in allowed.split(", "):
        evolve(run, EVENTS[name])
        return
    with pytest.raises(InternalError, match="does not fit"):
        evolve(run, EVENTS[name])


@pytest.mark.parametrize("name", sorted(set(EVENTS) - {"started", "skipped", "branch"}))
def test_a_unit_that_has_not_started_takes_no_answers(name: str) -> None:
    with pytest.raises(InternalError, match="does not fit a unit that is Waiting"):
        evolve(begin(facts(unit("a"))), EVENTS[name])


@pytest.mark.parametrize("name", ["ended", "drive", "started", "reset"])
def test_a_step_that_has_not_begun_has_no_answer(name: str) -> None:
    run = evolve(begin(facts(unit("a"))), EVENTS["started"])
    if name == "drive":
        run = evolve(run, EVENTS["drive"])
    with pytest.raises(InternalError, match="does not fit a unit that is Driving"):
        evolve(run, EVENTS[name])


@pytest.mark.parametrize(
    ("stage", "name", "answer"),
    [
        ("driving", "ended", "verified"),
        ("verifying", "verified", "reviewed"),
        ("landing", "refused", "ended"),
        ("resting", "rested", "ended"),
    ],
)
def test_the_answer_to_the_next_step_cannot_come_before_the_step_began(
    stage: str, name: str, answer: str
) -> None:
    run = STAGES[stage][0]().run
    with pytest.raises(InternalError, match="does not fit"):
        evolve(evolve(run, EVENTS[name]), EVENTS[answer])


@pytest.mark.parametrize("name", ["landed", "refused"])
def test_nothing_lands_that_has_not_begun_to_land(name: str) -> None:
    run = evolve(STAGES["reviewing"][0]().run, EVENTS["reviewed"])
    with pytest.raises(InternalError, match="does not fit a unit that is Landing"):
        evolve(run, EVENTS[name])


def test_a_step_that_is_not_the_next_one_does_not_begin() -> None:
    run = evolve(begin(facts(unit("a"))), EVENTS["started"])
    with pytest.raises(InternalError, match="StepStarted does not fit a unit that is Driving"):
        evolve(run, EVENTS["verify"])


@pytest.mark.parametrize("stage", ["driving", "verifying", "reviewing", "evaluating", "landing"])
def test_an_answer_of_another_attempt_is_none(stage: str) -> None:
    late: dict[str, ev.Event] = {
        "driving": ended(A, 2),
        "verifying": ev.AttemptVerified(unit=A, attempt=2, passed=True),
        "reviewing": ev.AttemptReviewed(unit=A, attempt=2, approved=True),
        "evaluating": ev.FindingsEvaluated(unit=A, attempt=2, rulings=()),
        "landing": ev.UnitLanded(A, 2, CommitId("c")),
    }
    with pytest.raises(InternalError, match="is not of attempt 1"):
        evolve(STAGES[stage][0]().run, late[stage])


def test_a_journal_starts_once_and_with_the_start() -> None:
    start = facts(unit("a"))
    with pytest.raises(InternalError, match="RunStarted does not fit a run that has started"):
        fold([start, start])
    with pytest.raises(InternalError, match="starts with RunStarted, not with RunPaused"):
        fold([ev.RunPaused()])
    with pytest.raises(InternalError, match="not with NoneType"):
        fold([])
    assert fold([start]) == begin(start)


def test_an_attempt_that_left_no_work_is_followed_by_one_from_the_base() -> None:
    failing = Failing(
        track=Track(lane=1, base=BASE), work=None, session=None, cause=Cause.AGENT_FAILED, feedback=""
    )
    retried = after_failure(A, failing, policy=POLICIES[Mode.TASKS], tip=CommitId("tip"))
    assert retried == ev.UnitRetried(A, 2, Cause.AGENT_FAILED, base=BASE, start=BASE)
