"""The chronicle keeps what was said on the way: attempts, objections, rulings, answers, landings, and costs."""

from dataclasses import replace

import pytest

from amelia.context.chronicle import Chapter, Landing, Objection, Proof, Reply, Tried, opened, told
from amelia.model import events as ev
from amelia.model.agents import Ending, Role, Spent, Usage
from amelia.model.findings import Disposition, Finding, Ruling, Weight
from amelia.model.outcome import Cause, Reason
from amelia.model.plan import UnitId
from runs import BASE, Story, chain, chronicle_of, commit, finding, started, unit, work

ONE = UnitId("1")


def chapter_of(story: Story, name: str = "1") -> Chapter:
    return chronicle_of(story).chapters[UnitId(name)]


def used(unit: str, role: Role, usage: Usage | None) -> ev.UsageReported:
    return ev.UsageReported(unit=UnitId(unit), attempt=1, role=role, session=None, usage=usage)


def ruling(found: Finding, disposition: Disposition) -> Ruling:
    return Ruling(found.id, disposition, f"because {disposition}")


def test_a_unit_that_landed_is_told_with_its_attempt_its_proof_and_the_commit_below_it() -> None:
    story = chain(2).whole("1").start("2").write("2", summary="All of it.")
    story.verify("2", receipt="tree", proof="digest", notes=("one test was slow",), red=("test_x",)).review(
        "2"
    ).land("2")
    chronicle = chronicle_of(story)
    chapter = chronicle.chapters[UnitId("2")]
    assert chapter.landing == Landing(base=commit("1"), commit=commit("2"))
    assert chapter.last == Tried(1, commit("21"), Ending.OK, "All of it.")
    assert chapter.proof == Proof("tree", "digest", ("one test was slow",), red=("test_x",))
    assert chronicle.tip == chronicle.landed == commit("2")


def test_a_run_of_which_nothing_landed_has_no_last_commit() -> None:
    chronicle = chronicle_of(chain(1))
    assert chronicle.tip == BASE
    assert chronicle.landed is None
    assert chronicle.chapters[ONE].last is None


def test_failed_checks_are_an_objection_and_the_cause_of_the_next_attempt() -> None:
    story = chain(1).start("1").write("1").verify("1", passed=False, feedback="2 tests fail").retry("1")
    chapter = chapter_of(story)
    assert chapter.objections == (Objection(1, "the executed checks", "2 tests fail"),)
    assert chapter.cause is Cause.CHECKS_FAILED


def test_whoever_begins_anew_for_a_person_is_told_no_cause_of_long_ago() -> None:
    retried = ev.UnitRetried(ONE, 2, Cause.CONFLICT, base=BASE, start=BASE, session=None)
    before = told(opened(started(unit("1"))), [retried])
    assert before.chapters[ONE].cause is Cause.CONFLICT
    assert told(before, [ev.UnitReset(ONE)]).chapters[ONE].cause is None


def test_an_iteration_within_an_attempt_tells_its_cause_too() -> None:
    assert told(opened(started(unit("1"))), [ev.UnitIterated(ONE, 1, 2, BASE)]).chapters[ONE].cause is (
        Cause.CHECKS_FAILED
    )


@pytest.mark.parametrize(
    ("ending", "refused", "objections"),
    [
        (Ending.OK, None, ()),
        (Ending.LIMITED, None, ()),
        (Ending.OUT_OF_BUDGET, None, ()),
        (Ending.FAILED, None, (Objection(1, "the agent itself", "said so"),)),
        (Ending.OK, "a path outside", (Objection(1, "the repository", "a path outside"),)),
    ],
)
def test_only_work_that_failed_or_was_refused_is_objected_to(
    ending: Ending, refused: str | None, objections: tuple[Objection, ...]
) -> None:
    story = chain(1).start("1").write("1", ending, summary="said so", refused=refused)
    assert chapter_of(story).objections == objections


def test_the_same_attempt_told_twice_counts_once() -> None:
    story = chain(1).start("1").write("1", Ending.LIMITED, summary="half", until="2030-01-01T00:00:00Z")
    ended = ev.AttemptEnded(unit=ONE, attempt=1, ending=Ending.OK, work=work("x"), summary="whole")
    chronicle = told(chronicle_of(story), [ended])
    assert [tried.said for tried in chronicle.chapters[ONE].tried] == ["whole"]


def test_a_landing_that_is_refused_is_an_objection_of_the_branch() -> None:
    refused = ev.LandingRefused(ONE, 1, Cause.CONFLICT, "both changed a.py")
    chapter = told(opened(started(unit("1"))), [refused]).chapters[ONE]
    assert chapter.objections == (Objection(1, "the branch it was to land on", "both changed a.py"),)


def test_what_the_evaluator_rules_out_is_told_and_what_it_leaves_is_an_objection() -> None:
    kept, rejected, deferred = finding("no test"), finding("wrong name"), finding("too slow")
    story = chain(1).start("1").write("1").verify("1").review("1", kept, rejected, deferred)
    unknown = Ruling(finding("never found").id, Disposition.IMPLEMENT)
    story.rule(
        "1",
        ruling(kept, Disposition.IMPLEMENT),
        ruling(rejected, Disposition.REJECT),
        ruling(deferred, Disposition.DEFER),
    )
    chapter = chapter_of(story)
    assert [(found.text, ruled.disposition) for found, ruled in chapter.ruled] == [
        ("wrong name", Disposition.REJECT),
        ("too slow", Disposition.DEFER),
    ]
    assert chapter.objections == (Objection(1, "the reviewer", "- a.py:3: no test"),)
    rulings = ev.FindingsEvaluated(unit=ONE, attempt=1, rulings=(unknown,))
    assert told(chronicle_of(story), [rulings]).chapters[ONE].objections == chapter.objections


def test_an_answer_is_kept_with_its_question_and_findings_a_person_left_count_as_rejected() -> None:
    left, kept = finding("is this wanted?"), finding("no test")
    asked = ev.AttemptReviewed(unit=ONE, attempt=1, approved=False, findings=(left, kept))
    parked = ev.UnitParked(ONE, Reason.QUESTION, "Which encoding?")
    answered = ev.QuestionAnswered(ONE, "UTF-8", dismissed=(left.id,))
    chapter = told(opened(started(unit("1"))), [asked, parked, answered]).chapters[ONE]
    assert chapter.replies == (Reply("Which encoding?", "UTF-8", is_default=False),)
    assert [(found.text, ruled.disposition, ruled.reason) for found, ruled in chapter.ruled] == [
        ("is this wanted?", Disposition.REJECT, "a person: UTF-8")
    ]


def test_an_answer_to_what_the_record_does_not_know_is_kept_without_a_question() -> None:
    answered = ev.QuestionAnswered(ONE, "yes", by_default=True)
    chapter = told(opened(started(unit("1"))), [answered]).chapters[ONE]
    assert chapter.replies == (Reply("", "yes", is_default=True),)


def test_a_green_branch_is_proved_by_its_receipt() -> None:
    story = chain(1).whole("1")
    story.tell(ev.BranchCheckStarted(story.run.tip), ev.BranchVerified(passed=True, receipt="tree"))
    assert chronicle_of(story).proof == Proof("tree", None)


def test_a_branch_that_is_red_proves_nothing() -> None:
    assert told(opened(started(unit("1"))), [ev.BranchVerified(passed=False, feedback="red")]).proof is None


def test_use_is_charged_to_its_unit_and_role_and_what_came_before_the_plan_to_the_draft() -> None:
    price = Usage(10, 2, 0.5)
    drafted = told(opened(started()), [used("plan", Role.ARCHITECT, price)])
    facts = started(unit("1"))
    chronicle = told(drafted, [facts, used("1", Role.DEVELOPER, price), used("1", Role.DEVELOPER, None)])
    assert chronicle.drafting == {Role.ARCHITECT: Spent().plus(price)}
    assert chronicle.chapters[ONE].spent == {Role.DEVELOPER: Spent().plus(price).plus(None)}


def test_what_is_said_of_a_unit_that_the_run_does_not_have_is_not_told() -> None:
    chronicle = opened(started(unit("1")))
    assert told(chronicle, [ev.UnitRested(UnitId("2"))]) == chronicle


def test_a_unit_that_was_split_hands_its_costs_and_rulings_to_its_first_piece() -> None:
    price = Usage(10, 2, 0.5)
    story = chain(2).start("1").tell(used("1", Role.DEVELOPER, price)).fail("1")
    split = ev.UnitSplit(ONE, (unit("1-A"), unit("1-B", after=["1-A"])), {"1-A": ()})
    chronicle = told(chronicle_of(story), [split])
    assert list(chronicle.chapters) == ["1-A", "1-B", "2"]
    assert chronicle.chapters[UnitId("1-A")].spent == {Role.DEVELOPER: Spent().plus(price)}
    assert chronicle.chapters[UnitId("2")].unit.depends_on == ("1-B",)


def test_what_was_told_before_is_not_changed_by_what_comes_later() -> None:
    before = opened(started(unit("1")))
    told(before, [ev.UnitLanded(ONE, 1, commit("1"))])
    assert before.chapters[ONE].landing is None


def test_remarks_are_findings_that_did_not_keep_the_work_from_landing() -> None:
    small = replace(finding("a shorter name"), weight=Weight.MINOR)
    known, large = replace(finding("as before"), weight=Weight.MINOR), finding("leaks")

    def remarks(*events: ev.Event) -> tuple[Finding, ...]:
        return told(opened(started(unit("1"))), events).chapters[ONE].remarks

    def reviewed(*findings: Finding, approved: bool = True) -> ev.AttemptReviewed:
        return ev.AttemptReviewed(unit=ONE, attempt=1, approved=approved, findings=findings)

    put_off = ev.FindingsEvaluated(unit=ONE, attempt=1, rulings=(ruling(known, Disposition.DEFER),))
    assert remarks(reviewed(small)) == (small,)
    assert remarks(reviewed(known, approved=False), put_off, reviewed(small, known)) == (small,)
    assert remarks(reviewed(small, large)) == remarks(reviewed(small, approved=False)) == ()
    assert remarks(reviewed(small), ev.UnitFixed(ONE, work("fix"))) == ()
    retried = ev.UnitRetried(ONE, 2, Cause.CONFLICT, base=BASE, start=BASE)
    assert remarks(reviewed(small), retried) == ()
