"""What a unit changed of the tests goes with it to the reviewer, to the branch, and to the end of the run."""

from amelia.model import commands as cmd
from amelia.model import events as ev
from amelia.model.evidence import Problem, ProblemCode, TestEdits, files_to_grant
from amelia.model.plan import Mode, UnitId
from amelia.model.policy import POLICIES
from amelia.model.state import Driving, Parked, Verifying
from unit.schedule.worlds import Story, facts, unit

A, B = UnitId("a"), UnitId("b")


def story_of(*names: str) -> Story:
    return Story(facts(*map(unit, names), mode=Mode.TASKS, policy=POLICIES[Mode.TASKS]))


def land(story: Story, name: UnitId, edits: TestEdits) -> None:
    story.drives(name)
    story.hears(ev.AttemptVerified(unit=name, attempt=1, passed=True, edits=edits))
    assert isinstance(story.last, cmd.ReviewWork)
    assert story.last.changed_tests == edits.ruled
    story.hears(ev.AttemptReviewed(unit=name, attempt=1, approved=True))
    assert isinstance(story.last, cmd.LandWork)
    assert story.last.changed_tests == edits.ruled
    story.lands(name)


def test_files_that_no_unit_was_to_change_are_as_they_were_when_the_branch_is_verified() -> None:
    story = story_of("a", "b")
    land(story, A, TestEdits(ruled=("t::x",), licensed=("t.py",), others=("conftest.py", "u.py")))
    land(story, B, TestEdits(licensed=("u.py",), others=("t.py", "v.py")))
    assert isinstance(story.last, cmd.VerifyBranch)
    assert story.last.restored == ("conftest.py", "v.py")


def test_what_a_person_grants_is_the_units_from_then_on() -> None:
    story = story_of("a")
    while not isinstance(story["a"], Parked):
        story.drives("a").verifies("a", passed=False)
    story.hears(ev.UnitReset(A, granted=("t.py",)))
    assert isinstance(story.last, cmd.StartTurn)
    assert story.last.at.granted == ("t.py",)
    while not isinstance(story["a"], Parked):
        story.drives("a").verifies("a", passed=False)
    story.hears(ev.UnitReset(A, granted=("u.py",)))
    assert story.last.at.granted == ("t.py", "u.py")


def weakened(file: str | None) -> Problem:
    return Problem(ProblemCode.WEAKENED_TESTS, "weaker", file)


def weakens(story: Story) -> None:
    attempt, edits = story.drives("a").attempt("a"), TestEdits(others=("conftest.py",))
    problems = (weakened("t.py"),)
    story.hears(
        ev.AttemptVerified(
            unit=A, attempt=attempt, passed=False, problems=problems, edits=edits, feedback="x"
        )
    )


def to_grant(story: Story) -> tuple[str, ...]:
    state = story["a"]
    assert isinstance(state, Parked | Driving | Verifying)
    return state.track.to_grant


def test_a_unit_that_weakened_tests_knows_the_files_that_a_person_would_have_to_grant() -> None:
    story = story_of("a")
    while not isinstance(story["a"], Parked):
        weakens(story)
    assert to_grant(story) == ("conftest.py",)
    story.hears(ev.UnitReset(A, granted=("conftest.py",)))
    weakens(story)
    assert to_grant(story) == ("conftest.py",)
    story.drives("a")
    assert to_grant(story) == ()


def test_files_to_grant_are_those_that_were_changed_else_those_of_the_tests() -> None:
    other = Problem(ProblemCode.REGRESSION, "red", "t.py")
    edits = TestEdits(licensed=("t.py", "u.py"), others=("conftest.py",))
    assert files_to_grant([other], edits) == ()
    assert files_to_grant([weakened("t.py"), weakened("v.py"), other], edits) == ("conftest.py", "t.py")
    assert files_to_grant([weakened("v.py"), weakened(None)], TestEdits()) == ("v.py",)
