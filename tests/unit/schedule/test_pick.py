"""Which unit starts, and beside which others."""

from dataclasses import replace

import pytest

from amelia.model.events import UnitSkipped
from amelia.model.plan import Complexity, Milestone, Mode, Priority, TaskId, TaskStatus, Unit, UnitId
from amelia.model.policy import POLICIES, Policy
from amelia.model.state import Active
from amelia.schedule.pick import are_independent, blockers, chains, get_available_tasks
from unit.schedule.worlds import Story, facts, task, unit, unit_of, with_policy


def milestone(name: str, *tasks: str) -> Milestone:
    return Milestone(name, name, "", tuple(TaskId(item) for item in tasks), TaskStatus.PENDING)


def workers(number: int) -> Policy:
    return with_policy(POLICIES[Mode.LIFECYCLE], workers=number)


def running(story: Story) -> set[str]:
    return {name for name, state in story.run.units.items() if isinstance(state, Active)}


@pytest.mark.rows("L14")
def test_the_most_urgent_unit_starts_first_then_the_earlier_milestone_then_the_plan_decides() -> None:
    units = (
        unit("late"),
        unit("early"),
        unit("low", priority=Priority.LOW),
        unit("first", priority=Priority.CRITICAL),
        unit("high", priority=Priority.HIGH),
        unit("early too"),
        unit("none"),
        unit("none too"),
    )
    stones = (milestone("m1", "early", "early too"), milestone("m2", "late"))
    story = Story(facts(*units, policy=workers(1), milestones=stones))
    order = ["first", "high", "early", "early too", "late", "none", "none too", "low"]
    assert story.finishes(*order).started() == order


def _sized(name: str, size: float, *needs: str, group: int = 1) -> Unit:
    sized = replace(task(name, *needs), complexity=Complexity(file_scope=size))
    return replace(unit_of(name, sized, needs=needs), group=group)


def test_beside_others_the_unit_with_most_work_behind_it_starts_first() -> None:
    units = (
        _sized("small", 1),
        _sized("large", 4),
        _sized("head of a chain", 1),
        _sized("its middle", 2, "head of a chain", group=2),
        _sized("its end", 3, "its middle", "large", group=3),
    )
    assert Story(facts(*units, policy=workers(2))).started() == ["large", "head of a chain"]
    assert Story(facts(*units, policy=workers(1))).started() == ["small"]


def test_a_chain_is_as_long_as_the_scores_of_its_tasks_and_a_bit_for_every_unit() -> None:
    units = (_sized("a", 2), _sized("b", 3, "a", group=2), _sized("c", 9, "a", group=2), _sized("d", 0))
    assert chains(units) == {"a": 13.0, "b": 4.0, "c": 10.0, "d": 1.0}


def test_a_unit_is_as_urgent_as_the_most_urgent_of_its_tasks() -> None:
    mixed = unit_of("mixed", task("x", priority=Priority.LOW), task("y", priority=Priority.CRITICAL))
    staged = unit_of("staged", task("z"), task("w"))
    units = (unit("plain"), unit("high", priority=Priority.HIGH), staged, mixed)
    story = Story(facts(*units, policy=workers(1), milestones=(milestone("m1", "w"),)))
    assert story.finishes("mixed", "high", "staged").started()[-1] == "plain"


def test_a_unit_without_tasks_of_its_own_is_of_medium_urgency() -> None:
    bare = Unit(UnitId("bare"), "bare", (), (), 1)
    units = (unit("low", priority=Priority.LOW), bare, unit("high", priority=Priority.HIGH))
    story = Story(facts(*units, policy=workers(1)))
    assert story.finishes("high", "bare").started() == ["high", "bare", "low"]


@pytest.mark.rows("L11")
def test_an_urgent_unit_waits_for_what_it_needs() -> None:
    story = Story(facts(unit("a"), unit("b", "a", priority=Priority.CRITICAL), unit("c"), policy=workers(1)))
    assert story.finishes("a").started() == ["a", "b"]


def test_a_need_that_is_not_in_the_run_is_no_need() -> None:
    assert Story(facts(unit("b", "finished before"))).started() == ["b"]


def test_a_unit_says_what_it_waits_for() -> None:
    units = (unit("a"), unit("b"), unit("c"), unit("d", "a", "b", "c"))
    story = Story(facts(*units)).hears(UnitSkipped(UnitId("b"), satisfies=True)).finishes("a")
    assert blockers(story.run, units[3]) == ("c",)


@pytest.mark.rows("L21", "L24")
def test_as_many_units_run_at_once_as_there_are_workers() -> None:
    story = Story(facts(*(unit(name) for name in "abcd"), policy=workers(3)))
    assert running(story) == {"a", "b", "c"}
    assert running(story.finishes("b")) == {"a", "c", "d"}


def test_a_lane_that_became_free_is_used_again() -> None:
    story = Story(facts(*(unit(name) for name in "abc"), policy=workers(2))).finishes("a")
    lanes = {turn.at.unit: turn.at.lane for name in "abc" for turn in story.turns(name)}
    assert lanes == {"a": 1, "b": 2, "c": 1}


@pytest.mark.rows("D21", "L15", "L22")
def test_units_that_share_a_file_do_not_run_at_once() -> None:
    footprints = {"a": ("x.py", "y.py"), "b": ("y.py",), "c": ("z.py",)}
    story = Story(facts(unit("a"), unit("b"), unit("c"), policy=workers(3), footprints=footprints))
    assert running(story) == {"a", "c"}
    assert running(story.finishes("a")) == {"b", "c"}


@pytest.mark.rows("L15", "L22")
def test_a_unit_of_which_nobody_knows_what_it_touches_runs_alone() -> None:
    for nothing in ({}, {"b": ()}):
        footprints: dict[str, tuple[str, ...]] = {"a": ("a.py",), "c": ("c.py",), **nothing}
        story = Story(facts(unit("a"), unit("b"), unit("c"), policy=workers(3), footprints=footprints))
        assert running(story) == {"a", "c"}
        assert running(story.finishes("a", "c")) == {"b"}
        story = Story(facts(unit("b"), unit("a"), unit("c"), policy=workers(3), footprints=footprints))
        assert running(story) == {"b"}


@pytest.mark.rows("L15", "L22")
def test_any_unit_may_run_beside_nobody() -> None:
    run = Story(facts(unit("a"), footprints={})).run
    assert are_independent(run, UnitId("a"), [])
    assert not are_independent(run, UnitId("a"), [UnitId("b")])


@pytest.mark.rows("L11", "L14")
def test_available_is_what_waits_with_everything_it_needs_done() -> None:
    units = (unit("a"), unit("b", "a"), unit("c", "b"), unit("d"), unit("e", "d"))
    story = Story(facts(*units, policy=workers(1))).finishes("a")
    assert running(story) == {"b"}
    assert [each.id for each in get_available_tasks(story.run)] == ["d"]
    story.hears(UnitSkipped(UnitId("d"), satisfies=False))
    assert get_available_tasks(story.run) == []
    story.hears(UnitSkipped(UnitId("d"), satisfies=True))
    assert [each.id for each in get_available_tasks(story.run)] == ["e"]
