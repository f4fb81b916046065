"""What units and runs may use, and what happens when it is used up."""

from dataclasses import replace

import pytest

from amelia.model import commands as cmd
from amelia.model import events as ev
from amelia.model.agents import Allowance, Ending, Role, SessionId, Spent, Usage
from amelia.model.outcome import Outcome, Reason, Result
from amelia.model.plan import Mode, UnitId
from amelia.model.policy import POLICIES, Budget
from amelia.model.state import Driving, Landed, Landing, Reviewing, Verifying, Waiting
from unit.schedule.worlds import BASE, Story, facts, unit, with_policy, work_of

A, B = UnitId("a"), UnitId("b")
OVER = Outcome(Result.HALTED, Reason.BUDGET)


def a_story(budget: Budget, *names: str, workers: int = 1) -> Story:
    policy = with_policy(POLICIES[Mode.LIFECYCLE], workers=workers)
    start = facts(*(unit(name) for name in names), policy=policy, mode=Mode.LIFECYCLE)
    return Story(replace(start, budget=budget))


def used(name: str, usage: Usage, *, role: Role = Role.DEVELOPER, attempt: int = 1) -> ev.UsageReported:
    session = SessionId(f"{name}:{attempt}")
    return ev.UsageReported(unit=UnitId(name), attempt=attempt, role=role, session=session, usage=usage)


def paid(cost: float) -> Usage:
    return Usage(100, 20, cost)


@pytest.mark.parametrize(
    ("allowance", "spent", "is_used_up"),
    [
        (Allowance(), Spent(1e9, 10**12), False),
        (Allowance(cost=2.0), Spent(1.99, 10**12), False),
        (Allowance(cost=2.0), Spent(2.0), True),
        (Allowance(tokens=100), Spent(1e9, 99), False),
        (Allowance(tokens=100), Spent(0.0, 100), True),
        (Allowance(cost=2.0, tokens=100), Spent(1.0, 101), True),
        (Allowance(cost=0.0), Spent(), True),
        (Allowance(cost=1.0, tokens=1), Spent(None, 0, 99), False),
    ],
)
def test_money_counts_where_it_is_known_and_tokens_where_it_is_not(
    allowance: Allowance,
    spent: Spent,
    is_used_up: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    assert allowance.is_used_up_by(spent) is is_used_up


def test_what_is_left_is_never_less_than_nothing() -> None:
    left = Allowance(cost=2.0, tokens=100).without(Spent(3.0, 40))
    assert left == Allowance(cost=0.0, tokens=60)
    assert Allowance().without(Spent(3.0, 40)) == Allowance()


def test_every_turn_may_use_what_the_unit_and_the_run_have_left() -> None:
    story = a_story(
        Budget(unit=Allowance(cost=5.0, tokens=1000), run=Allowance(cost=8.0)), "a", "b", workers=2
    )
    story.hears(used("a", paid(4.0))).hears(used("b", Usage(300, 100)))
    assert story.run.spent == {A: Spent(4.0, 0), B: Spent(None, 400)}
    story.drives("a").verifies("a").drives("b").verifies("b")
    reviews = {c.at.unit: c.allowance for c in story.begun if isinstance(c, cmd.ReviewWork)}
    assert reviews == {A: Allowance(cost=1.0, tokens=1000), B: Allowance(cost=4.0, tokens=600)}


def test_a_unit_that_used_up_its_budget_waits_and_the_others_go_on() -> None:
    story = a_story(Budget(unit=Allowance(cost=5.0)), "a", "b")
    story.hears(used("a", paid(5.0))).drives("a").verifies("a")
    state = story["a"]
    assert isinstance(state, Waiting)
    assert isinstance(state.then, Reviewing)
    assert isinstance(story.finishes("b")["b"], Landed)
    assert story.run.outcome == OVER


def test_with_room_beside_it_the_others_go_on_before_the_run_halts() -> None:
    story = a_story(Budget(unit=Allowance(cost=5.0)), "a", "b", workers=2)
    story.hears(used("a", paid(5.0))).drives("a").verifies("a")
    assert story.run.outcome is None
    assert isinstance(story.finishes("b")["b"], Landed)
    assert story.run.outcome == OVER


def test_nothing_new_starts_when_the_run_has_used_up_its_budget() -> None:
    story = a_story(Budget(run=Allowance(tokens=100)), "a", "b")
    story.hears(used("a", Usage(60, 40))).drives("a").verifies("a")
    assert story.run.outcome == OVER
    assert story.started() == ["a"]


def test_a_unit_that_needs_no_agent_any_more_lands_without_budget() -> None:
    story = a_story(Budget(run=Allowance(cost=1.0)), "a", "b").drives("a").verifies("a")
    story.hears(used("a", paid(2.0), role=Role.REVIEWER)).approves("a").lands("a")
    assert isinstance(story["a"], Landed)
    assert story.run.outcome == OVER


def test_a_last_unit_that_landed_over_budget_completes_the_run() -> None:
    story = a_story(Budget(run=Allowance(cost=1.0)), "a").drives("a").verifies("a")
    story.hears(used("a", paid(2.0), role=Role.REVIEWER)).approves("a").lands("a")
    story.hears(ev.BranchVerified(passed=True))
    assert story.run.outcome == Outcome(Result.COMPLETED)


def test_a_reviewer_that_was_stopped_for_its_budget_reviews_when_there_is_more() -> None:
    story = a_story(Budget(unit=Allowance(cost=5.0)), "a").drives("a").verifies("a")
    story.hears(used("a", paid(5.5), role=Role.REVIEWER)).hears(ev.UnitHeld(A))
    assert story.run.outcome == OVER
    story.hears(ev.BudgetChanged(Budget(unit=Allowance(cost=99.0))))
    assert isinstance(story.approves("a")["a"], Landing)


def test_a_turn_that_told_nothing_is_counted_as_such() -> None:
    story = a_story(Budget(), "a").hears(replace(used("a", paid(1.0)), usage=None))
    assert story.run.spent_in_all == Spent(None, 0, 1)


def test_a_person_who_gives_more_lets_it_go_on_where_it_was() -> None:
    story = a_story(Budget(unit=Allowance(cost=5.0)), "a")
    story.hears(used("a", paid(5.0))).drives("a").verifies("a")
    story.hears(ev.BudgetChanged(Budget(unit=Allowance(cost=9.0))))
    assert story.run.outcome is None
    last = story.last
    assert isinstance(last, cmd.ReviewWork)
    assert last.allowance == Allowance(cost=4.0)


def test_a_change_of_one_bound_leaves_the_others() -> None:
    story = a_story(Budget(unit=Allowance(cost=5.0), run=Allowance(tokens=7)), "a")
    story.hears(ev.BudgetChanged(Budget(run=Allowance(cost=1.0))))
    assert story.run.budget == Budget(unit=Allowance(cost=5.0), run=Allowance(cost=1.0, tokens=7))


def test_less_than_was_used_does_not_let_it_go_on() -> None:
    story = a_story(Budget(unit=Allowance(cost=5.0)), "a")
    story.hears(used("a", paid(5.0))).drives("a").verifies("a")
    story.hears(ev.BudgetChanged(Budget(unit=Allowance(cost=4.0))))
    assert story.run.outcome == OVER


def test_a_turn_that_was_stopped_for_its_budget_goes_on_where_it_was_under_the_same_attempt() -> None:
    story = a_story(Budget(unit=Allowance(cost=5.0)), "a")
    story.hears(used("a", paid(6.0))).drives("a", Ending.OUT_OF_BUDGET)
    state = story["a"]
    assert isinstance(state, Waiting)
    assert isinstance(state.then, Driving)
    assert story.run.outcome == OVER
    story.hears(ev.BudgetChanged(Budget(unit=Allowance(cost=99.0))))
    turn = story.turns("a")[-1]
    assert (turn.at.attempt, turn.is_again) == (1, True)
    assert (turn.start, turn.session) == (work_of(A, 1).commit, "a:1")
    assert isinstance(story.drives("a")["a"], Verifying)


def test_a_session_that_goes_on_knows_what_it_used_before() -> None:
    story = Story(facts(unit("a")))
    opened = ev.SessionOpened(
        unit=A, attempt=1, role=Role.DEVELOPER, session=SessionId("a:1"), driver="script"
    )
    story.hears(opened).hears(used("a", paid(1.0))).drives("a").verifies("a", passed=False)
    assert story.turns("a")[1].before == paid(1.0)
    again = replace(opened, attempt=2)
    story.hears(again).hears(used("a", Usage(1, 1, 0.5), attempt=2)).drives("a").verifies("a", passed=False)
    assert story.turns("a")[2].before == Usage(101, 21, 1.5)
    fresh = ev.SessionReplaced(unit=A, attempt=3, session=SessionId("new"))
    story.hears(fresh).hears(used("a", Usage(2, 2, 0.25), attempt=3)).drives("a").verifies("a", passed=False)
    assert story.turns("a")[3].before == Usage(2, 2, 0.25)


def test_a_fresh_session_has_used_nothing() -> None:
    story = Story(facts(unit("a"), policy=POLICIES[Mode.PHASED]))
    story.hears(used("a", paid(1.0))).drives("a").verifies("a", passed=False)
    assert story.turns("a")[1].before is None


def test_a_unit_that_waits_for_a_limit_leaves_its_lane_to_others() -> None:
    story = a_story(Budget(), "a", "b")
    story.drives("a", Ending.LIMITED, until="2026-11-15T12:00:00+00:00")
    assert isinstance(story["b"], Driving)
    story.hears(ev.UnitRested(A))
    assert isinstance(story["a"], Waiting)
    story.finishes("b")
    turn = story.turns("a")[-1]
    assert (turn.at.lane, turn.at.base, turn.start) == (1, BASE, work_of(A, 1).commit)
    assert turn.session == "a:1"


def test_in_another_lane_its_session_is_not_found() -> None:
    story = a_story(Budget(), "a", "b", "c", workers=2)
    story.drives("a", Ending.LIMITED, until="2026-11-15T12:00:00+00:00")
    assert {c.at.unit: c.at.lane for c in story.begun if isinstance(c, cmd.StartTurn)} == {A: 1, B: 2, "c": 1}
    story.finishes("b").hears(ev.UnitRested(A))
    turn = story.turns("a")[-1]
    assert (turn.at.lane, turn.session) == (2, None)
