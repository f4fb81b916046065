"""What may be asked of a run, by where it and its units stand."""

from dataclasses import replace

import pytest

from amelia.model import events as ev
from amelia.model.findings import Disposition, FindingId, Ruling
from amelia.model.interventions import Accepted
from amelia.model.journal import Wanted
from amelia.model.outcome import Reason, Result
from amelia.model.plan import UnitId
from amelia.run.requests import fits, refusal
from amelia.schedule.questions import about_findings
from runs import Story, chain, finding, unit, work

WISHES: list[Wanted] = [ev.PauseRequested(), ev.CancelRequested(), ev.AbortRequested()]
PARKED, LANDED, WAITING, SKIPPED, BUSY = "2", "1", "4", "3", "2"


def of_unit(name: str) -> list[Wanted]:
    unit = UnitId(name)
    return [
        ev.UnitReset(unit),
        ev.UnitFixed(unit, work("fix")),
        ev.UnitSkipped(unit, satisfies=False),
        ev.UnitSplit(unit, ()),
    ]


def halted() -> Story:
    """Tells of a run of four units: landed, parked, skipped, waiting."""
    story = chain(4).whole("1").start("2").fail("2").end(Result.HALTED)
    return story.tell(ev.UnitSkipped(UnitId("3"), satisfies=True))


@pytest.mark.parametrize("wanted", WISHES)
@pytest.mark.parametrize("story", [chain(2), chain(2).start("1"), halted()])
def test_a_run_that_is_not_over_can_always_be_stopped(story: Story, wanted: Wanted) -> None:
    assert fits(story.run, wanted)


@pytest.mark.parametrize("wanted", [*WISHES, *of_unit("2"), *of_unit("9")])
@pytest.mark.parametrize("result", [Result.COMPLETED, Result.CANCELLED, Result.ABORTED])
def test_nothing_can_be_asked_of_a_run_that_is_over(wanted: Wanted, result: Result) -> None:
    run = chain(2).start("1").end(result).run
    assert refusal(run, wanted) == f"run demo is {result}; nothing can change that"
    assert not fits(run, wanted)


@pytest.mark.parametrize("wanted", of_unit(PARKED))
def test_a_parked_unit_can_be_tried_again_fixed_or_skipped(wanted: Wanted) -> None:
    assert refusal(halted().run, wanted) is None


@pytest.mark.parametrize("wanted", of_unit("9"))
def test_a_unit_that_is_not_there_is_said_not_to_be(wanted: Wanted) -> None:
    assert refusal(halted().run, wanted) == "run demo has no unit '9'; it has 1, 2, 3, 4"


def test_of_many_units_a_few_are_named() -> None:
    said = refusal(chain(30).run, ev.UnitReset(UnitId("x")))
    assert said == "run demo has no unit 'x'; it has 1, 2, 3, 4, 5, 6, 7, 8 …"


@pytest.mark.parametrize(
    ("name", "standing"),
    [(LANDED, "landed as 310000000000"), (SKIPPED, "skipped"), (WAITING, "waiting")],
)
def test_only_what_waits_for_a_person_can_be_tried_again(name: str, standing: str) -> None:
    for wanted in of_unit(name)[:2]:
        assert refusal(halted().run, wanted) == f"{name} does not wait for a person: it is {standing}"


def test_what_was_skipped_can_be_given_the_consent_that_it_lacked() -> None:
    story = chain(2).tell(ev.UnitSkipped(UnitId("1"), satisfies=False))
    wanted = ev.UnitSkipped(UnitId("1"), satisfies=True)
    assert fits(story.run, wanted)
    assert not fits(story.tell(wanted).run, wanted)


def test_what_has_not_started_can_be_skipped() -> None:
    assert fits(halted().run, ev.UnitSkipped(UnitId(WAITING), satisfies=True))


@pytest.mark.parametrize(
    ("story", "name", "standing"),
    [
        (halted(), LANDED, "landed as 310000000000"),
        (halted(), SKIPPED, "skipped"),
        (chain(2).start("1"), "1", "under way"),
        (chain(2).start("1").write("1"), "1", "under way"),
    ],
)
def test_what_is_done_or_under_way_cannot_be_skipped(story: Story, name: str, standing: str) -> None:
    wanted = ev.UnitSkipped(UnitId(name), satisfies=True)
    assert refusal(story.run, wanted) == f"{name} cannot be skipped: it is {standing}"


def test_only_a_question_can_be_answered_and_only_about_what_it_asks() -> None:
    two = UnitId("2")
    assert (
        refusal(halted().run, ev.QuestionAnswered(two, "so")) == "2 waits for a person, but has asked nothing"
    )
    found = finding("which one?")
    story = chain(1).start("1").write("1").verify("1").review("1", found)
    story.rule("1", Ruling(found.id, Disposition.CLARIFY))
    question = about_findings([found])
    story.tell(ev.UnitParked(UnitId("1"), Reason.QUESTION, question.text, question))
    one = UnitId("1")
    assert refusal(story.run, ev.QuestionAnswered(one, "leave it", dismissed=(found.id,))) is None
    other = ev.QuestionAnswered(one, "leave it", dismissed=(FindingId("other"),))
    assert refusal(story.run, other) == "1 asks about other findings by now"
    assert refusal(story.run, ev.QuestionAnswered(one, "do it", attempt=1)) is None
    late = ev.QuestionAnswered(one, "do it", attempt=2)
    assert refusal(story.run, late) == "1 asks something else by now"


def test_a_fix_that_changes_nothing_is_refused_unless_a_person_says_that_it_may() -> None:
    story = chain(1).start("1").fail("1")
    same = ev.UnitFixed(UnitId("1"), work("11"))
    assert refusal(story.run, same) == "nothing of 1 was changed since it was refused"
    assert fits(story.run, replace(same, accepted=(Accepted.UNCHANGED,)))
    assert fits(story.run, replace(same, work=work("other")))
    broken = chain(1).start("1").tell(ev.StepBroke(UnitId("1"), ev.Step.DRIVE, "no disk"))
    assert fits(broken.run, same)


def test_pieces_have_names_that_no_other_unit_has() -> None:
    taken = ev.UnitSplit(UnitId("2"), (unit("4"),))
    assert refusal(halted().run, taken) == "run demo has a unit '4' already"
