"""An attempt that goes on while the checks fail: fresh sessions on the work as it is, as long as it moves."""

from dataclasses import replace

import pytest

from amelia.model import events as ev
from amelia.model.agents import Ending
from amelia.model.outcome import Outcome, Reason, Result
from amelia.model.plan import Mode, UnitId
from amelia.model.policy import POLICIES
from amelia.model.state import Driving, Landed, Parked, Verifying
from unit.schedule.worlds import BASE, Story, facts, finding, unit, work_of

A = UnitId("a")


def lifecycle(**changes: int) -> Story:
    return Story(facts(unit("a"), policy=replace(POLICIES[Mode.LIFECYCLE], **changes)))


def fails(story: Story, times: int = 1) -> Story:
    for _ in range(times):
        story.drives("a").verifies("a", passed=False)
    return story


def test_only_tasks_with_a_life_of_their_own_iterate_by_default() -> None:
    assert {mode: policy.iterations for mode, policy in POLICIES.items()} == {
        Mode.SINGLE: 1,
        Mode.TASKS: 1,
        Mode.PHASED: 1,
        Mode.LIFECYCLE: 10,
    }


def test_failed_checks_are_followed_by_a_fresh_session_on_the_work_as_it_is() -> None:
    first, second, third = fails(lifecycle(), 2).turns("a")
    assert (first.start, first.session) == (BASE, None)
    assert (second.start, second.session, second.feedback) == (
        work_of(A, 1).commit,
        None,
        "checks of 1 failed",
    )
    assert (third.start, third.at.attempt) == (work_of(A, 2).commit, 3)


@pytest.mark.rows("L25", "L26")
def test_iterations_are_one_attempt_and_the_next_one_starts_from_the_base() -> None:
    story = fails(lifecycle(attempts=2, iterations=3), 3)
    state = story["a"]
    assert isinstance(state, Driving)
    assert (state.start, state.track.spent, state.track.iteration, state.track.attempt) == (BASE, 1, 1, 4)
    fails(story, 3)
    assert story.run.outcome == Outcome(Result.NEEDS_HUMAN, Reason.VERIFY_LIMIT)
    assert len(story.turns("a")) == 6


def test_an_iteration_that_changes_nothing_ends_the_attempt() -> None:
    story = lifecycle()
    for _ in range(2):
        story.drives("a", tree="same").verifies("a", passed=False, results="same")
    state = story["a"]
    assert isinstance(state, Driving)
    assert (state.start, state.track.spent) == (BASE, 1)
    story.drives("a", tree="same").verifies("a", passed=False, results="same")
    assert story.run.outcome == Outcome(Result.NEEDS_HUMAN, Reason.NO_PROGRESS)


def test_a_rejection_or_an_agent_that_failed_ends_the_attempt() -> None:
    story = fails(lifecycle()).drives("a", Ending.FAILED)
    assert story.turns("a")[-1].start == BASE
    story.drives("a").verifies("a").rejects("a", finding("leaks")).rules("a")
    state = story["a"]
    assert isinstance(state, Driving)
    assert (state.start, state.track.spent) == (BASE, 2)


def test_work_that_passes_after_some_iterations_is_landed() -> None:
    story = fails(lifecycle(), 9).finishes("a")
    assert story["a"] == Landed(story.run.tip, 10)


def test_a_promise_is_told_to_the_checks_and_changes_nothing_else() -> None:
    story = lifecycle()
    ended = ev.AttemptEnded(unit=A, attempt=1, ending=Ending.OK, work=work_of(A, 1), promised=True)
    assert isinstance(story.hears(ended)["a"], Verifying)
    assert getattr(story.last, "is_promised", False)
    story.verifies("a", passed=False)
    assert isinstance(story["a"], Driving)


def test_a_reset_begins_a_new_attempt_with_all_its_iterations() -> None:
    story = fails(lifecycle(attempts=1, iterations=2), 2)
    assert isinstance(story["a"], Parked)
    fails(story.hears(ev.UnitReset(A)))
    assert story.turns("a")[-1].start == work_of(A, 3).commit
