"""Tests that are red by design, from the unit that writes them to the last one that implements them."""

from amelia.model import commands as cmd
from amelia.model import events as ev
from amelia.model.commands import Expected
from amelia.model.findings import Disposition
from amelia.model.outcome import Cause, Outcome, Reason, Result
from amelia.model.plan import Mode, TaskType, Unit, UnitId
from amelia.model.policy import POLICIES
from amelia.schedule.red import implementers
from unit.schedule.worlds import Story, facts, finding, rulings, task, unit, unit_of, with_policy

TEST, IMPL, DOCS, CHORE = TaskType.TEST, TaskType.IMPL, TaskType.DOCS, TaskType.CHORE
RED = ("test_login", "test_logout")


def implemented(*units: Unit) -> dict[str, set[str]]:
    return {author: set(others) for author, others in implementers(units).items()}


def test_tests_are_implemented_by_the_units_that_depend_on_them() -> None:
    units = (
        unit("t", kind=TEST),
        unit("i", "t", kind=IMPL),
        unit("j", "t", kind=IMPL),
        unit("k", "i", kind=IMPL),
    )
    assert implemented(*units) == {"t": {"i", "j"}}


def test_where_nobody_depends_on_them_directly_the_first_implementation_on_every_way_does() -> None:
    units = (
        unit("t", kind=TEST),
        unit("d", "t", kind=DOCS),
        unit("c", "t", kind=CHORE),
        unit("both", "d", "c", kind=CHORE),
        unit("i", "both", kind=IMPL),
        unit("j", "d", kind=IMPL),
        unit("after", "i", kind=IMPL),
        unit("beside", kind=IMPL),
    )
    assert implemented(*units) == {"t": {"i", "j"}}


def test_tests_that_nothing_implements_have_no_implementers() -> None:
    assert implemented(unit("t", kind=TEST), unit("d", "t", kind=DOCS)) == {"t": set()}
    assert implemented(unit("t", kind=TEST), unit("i", kind=IMPL)) == {"t": set()}
    assert implemented(unit("d", kind=DOCS), unit("i", "d", kind=IMPL)) == {}


def test_an_implementation_of_the_same_unit_is_none_of_another() -> None:
    alone = unit_of("p", task("t", kind=TEST), task("i", "t", kind=IMPL))
    assert implemented(alone) == {"p": set()}


def test_who_depends_on_other_work_of_a_unit_does_not_implement_its_tests() -> None:
    author = unit_of("p", task("t", kind=TEST), task("c", kind=CHORE))
    other = unit_of("q", task("j", "c", kind=IMPL), needs=["p"])
    real = unit_of("r", task("i", "t", kind=IMPL), needs=["p"])
    assert implemented(author, other, real) == {"p": {"r"}}


def test_needs_that_are_not_in_the_plan_any_more_are_nobodys_tests() -> None:
    assert implemented(unit("t", kind=TEST), unit_of("i", task("i", "gone", kind=IMPL), needs=["t"])) == {
        "t": {"i"}
    }


def expectations(story: Story, name: str) -> list[Expected]:
    checks = (c for c in story.begun if isinstance(c, cmd.VerifyWork | cmd.LandWork))
    return [c.expected for c in checks if c.at.unit == name]


def test_tests_are_red_until_their_only_implementation_lands() -> None:
    units = (unit("t", kind=TEST), unit("d", "t", kind=DOCS), unit("i", "t", kind=IMPL))
    story = Story(facts(*units)).drives("t")
    assert expectations(story, "t") == [Expected(red_tasks=units[0].tasks)]
    story.verifies("t", red=RED).approves("t").lands("t")
    assert story.run.red == {"t": RED}
    story.finishes("d")
    assert expectations(story, "d") == [Expected(may_be_red=RED)] * 2
    story.drives("i")
    assert expectations(story, "i") == [Expected(must_be_green=RED)]
    story.verifies("i").approves("i")
    assert expectations(story, "i") == [Expected(must_be_green=RED)] * 2
    assert story.lands("i").run.red == {}


def test_only_the_last_implementation_to_land_has_to_make_them_green() -> None:
    units = (unit("t", kind=TEST), unit("i", "t", kind=IMPL), unit("j", "t", kind=IMPL))
    story = Story(facts(*units, policy=with_policy(POLICIES[Mode.LIFECYCLE], workers=2)))
    story.drives("t").verifies("t", red=RED).approves("t").lands("t").accepts("j").accepts("i")
    assert expectations(story, "j") == [Expected(may_be_red=RED)] * 2
    assert story.lands("j").run.red == {"t": RED}
    assert expectations(story, "i") == [Expected(may_be_red=RED), Expected(must_be_green=RED)]
    story.hears(ev.LandingRefused(UnitId("i"), 1, Cause.MERGE_RED, "still red")).drives("i")
    assert expectations(story, "i")[-1] == Expected(must_be_green=RED)
    assert story.verifies("i").approves("i").lands("i").run.red == {}


def test_tests_of_several_authors_are_kept_apart() -> None:
    units = (unit("t", kind=TEST), unit("u", kind=TEST), unit("i", "t", kind=IMPL), unit("j", "u", kind=IMPL))
    story = Story(facts(*units))
    for author, red in (("t", ("shared", "one")), ("u", ("shared", "two"))):
        story.drives(author).verifies(author, red=red).approves(author).lands(author)
    story.drives("i")
    assert expectations(story, "i") == [
        Expected(must_be_green=("shared", "one"), may_be_red=("shared", "two"))
    ]
    story.verifies("i").approves("i").lands("i")
    assert story.run.red == {"u": ("shared", "two")}


def test_a_test_that_two_authors_wrote_is_named_once() -> None:
    units = (unit("t", kind=TEST), unit("u", kind=TEST), unit("d", kind=DOCS), unit("i", "t", "u", kind=IMPL))
    story = Story(facts(*units))
    for author, red in (("t", ("shared", "one")), ("u", ("shared", "two"))):
        story.drives(author).verifies(author, red=red).approves(author).lands(author)
    story.finishes("d").drives("i")
    assert expectations(story, "d") == [Expected(may_be_red=("shared", "one", "two"))] * 2
    assert expectations(story, "i") == [Expected(must_be_green=("shared", "one", "two"))]


def test_a_unit_that_wrote_no_red_tests_leaves_none() -> None:
    story = Story(facts(unit("t", kind=TEST), unit("i", "t", kind=IMPL))).finishes("t")
    assert story.run.red == {}
    assert expectations(story.drives("i"), "i") == [Expected()]


def test_a_phase_leaves_only_those_tests_red_that_it_does_not_implement_itself() -> None:
    phase = unit_of("p", task("t1", kind=TEST), task("i1", "t1", kind=IMPL), task("t2", kind=TEST))
    after = unit_of("q", task("i2", "t2", kind=IMPL), needs=["p"])
    story = Story(facts(phase, after)).drives("p")
    assert expectations(story, "p") == [Expected(red_tasks=(phase.tasks[2],))]


def test_tests_that_nothing_implements_are_to_pass() -> None:
    story = Story(facts(unit("t", kind=TEST))).drives("t")
    assert expectations(story, "t") == [Expected()]


def test_a_skipped_implementation_leaves_tests_red_and_the_branch_says_so() -> None:
    units = (unit("t", kind=TEST), unit("i", "t", kind=IMPL), unit("j", "t", kind=IMPL))
    story = Story(facts(*units)).drives("t").verifies("t", red=RED).approves("t").lands("t")
    story.hears(ev.UnitSkipped(UnitId("j"), satisfies=True)).finishes("i")
    assert expectations(story, "i") == [Expected(may_be_red=RED)] * 2
    assert story.run.red == {"t": RED}
    story.hears(ev.BranchVerified(passed=False))
    assert story.run.outcome == Outcome(Result.HALTED, Reason.BRANCH_RED)


def test_whoever_writes_red_tests_and_whoever_reads_them_knows_that_they_are() -> None:
    units = (unit("t", kind=TEST), unit("i", "t", kind=IMPL))
    story = Story(facts(*units)).drives("t").verifies("t", red=("x::y",)).rejects("t", finding("red"))
    assert [turn.at.red_tasks for turn in story.turns("t")] == [units[0].tasks]
    told = [c.red for c in story.begun if isinstance(c, cmd.ReviewWork | cmd.EvaluateFindings)]
    assert told == [("x::y",), ("x::y",)]
    story.rules("t", *rulings(Disposition.REJECT, finding("red"))).lands("t")
    assert story.turns("i")[0].at.red_tasks == ()
