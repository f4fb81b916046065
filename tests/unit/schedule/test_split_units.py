"""A parked unit that is carried out in pieces: who needs whom afterwards, and that the run goes on."""

import pytest

from amelia.model import events as ev
from amelia.model.agents import Ending
from amelia.model.errors import InternalError
from amelia.model.outcome import Outcome, Reason, Result
from amelia.model.plan import Mode, TaskType, UnitId
from amelia.model.policy import POLICIES
from amelia.model.state import Landed, Parked, Waiting
from amelia.schedule.machine import fold
from unit.schedule.worlds import Story, facts, task, unit, unit_of, with_policy

B = UnitId("b")
PIECES = (unit("b-a"), unit("b-b", "b-a"))


def parked() -> Story:
    policy = with_policy(POLICIES[Mode.LIFECYCLE], attempts=1)
    story = Story(facts(unit("a"), unit("b", "a"), unit("c", "b"), policy=policy)).finishes("a")
    return story.drives("b", Ending.FAILED)


def needs(story: Story) -> dict[str, tuple[str, ...]]:
    return {each.id: each.depends_on for each in story.run.facts.units}


def test_pieces_stand_where_the_unit_stood_and_are_carried_out() -> None:
    story = parked().hears(ev.UnitSplit(B, PIECES, {"b-a": ("x",), "b-b": ("y",)}))
    assert needs(story) == {"a": (), "b-a": ("a",), "b-b": ("b-a",), "c": ("b-b",)}
    assert [each.group for each in story.run.facts.units] == [1, 2, 3, 4]
    assert story.run.facts.footprints == {"a": ("a.py",), "b-a": ("x",), "b-b": ("y",), "c": ("c.py",)}
    assert story.run.outcome is None
    story.finishes("b-a", "b-b", "c").hears(ev.BranchVerified(passed=True))
    assert story.run.outcome == Outcome(Result.COMPLETED)
    assert fold(story.journal) == story.run


def test_every_piece_knows_what_the_plan_calls_the_whole_also_if_it_is_split_again() -> None:
    story = parked().hears(ev.UnitSplit(B, PIECES))
    assert {each.id: each.piece_of for each in story.run.facts.units} == {
        "a": None,
        "b-a": "b",
        "b-b": "b",
        "c": None,
    }
    story.drives("b-a", Ending.FAILED)
    story.hears(ev.UnitSplit(UnitId("b-a"), (unit("b-a-a"), unit("b-a-b", "b-a-a"))))
    assert [each.piece_of for each in story.run.facts.units] == [None, "b", "b", "b", None]


def test_whoever_needed_the_unit_needs_every_piece_that_no_other_needs() -> None:
    story = parked().hears(ev.UnitSplit(B, (unit("b-a"), unit("b-b"))))
    assert needs(story)["c"] == ("b-a", "b-b")
    assert needs(story)["b-b"] == ("a",)
    story.finishes("b-a")
    assert story["c"] == Waiting()


def test_tests_are_implemented_by_whoever_implemented_those_of_the_whole() -> None:
    test, impl = unit("b", kind=TaskType.TEST), unit("c", "b", kind=TaskType.IMPL)
    policy = with_policy(POLICIES[Mode.LIFECYCLE], attempts=1)
    story = Story(facts(test, impl, policy=policy)).drives("b", Ending.FAILED)
    pieces = (
        unit_of("b-a", task("b-a", kind=TaskType.TEST)),
        unit_of("b-b", task("b-b", "b-a", kind=TaskType.TEST), needs=["b-a"]),
    )
    story.hears(ev.UnitSplit(B, pieces))
    assert story.run.implementers == {"b-a": frozenset({"c"}), "b-b": frozenset({"c"})}


def test_only_a_unit_that_waits_for_a_person_can_be_split() -> None:
    story = Story(facts(unit("b")))
    with pytest.raises(InternalError, match="UnitSplit does not fit"):
        story.hears(ev.UnitSplit(B, PIECES))


def test_what_is_under_way_goes_on_when_another_unit_is_split() -> None:
    policy = with_policy(POLICIES[Mode.LIFECYCLE], attempts=1, workers=2)
    story = Story(facts(unit("b"), unit("c"), policy=policy)).drives("b", Ending.FAILED)
    before = story["c"]
    story.hears(ev.UnitSplit(B, PIECES, {"b-a": ("x",), "b-b": ("y",)}))
    assert story["c"] is before
    assert story.turns("b-a")
    assert not isinstance(story["b-a"], Parked)


def test_a_halted_run_goes_on_with_the_pieces() -> None:
    story = Story(facts(unit("b"), policy=with_policy(POLICIES[Mode.TASKS], attempts=1)))
    story.drives("b", Ending.FAILED)
    assert story.run.outcome == Outcome(Result.HALTED, Reason.AGENT_LIMIT)
    story.hears(ev.UnitSplit(B, PIECES)).finishes("b-a", "b-b")
    assert isinstance(story["b-b"], Landed)
