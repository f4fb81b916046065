"""The report says what landed and what proves it, what was put off, what waits, what it cost, how to undo it."""

from dataclasses import replace

from amelia.context.report import Cost, Evidence, RunReport, cost_text, report_of, report_page
from amelia.model import events as ev
from amelia.model.agents import AgentSettings, Role, Usage
from amelia.model.facts import RecordPlace
from amelia.model.findings import Disposition, Ruling, Weight
from amelia.model.outcome import Reason, Result
from amelia.model.plan import Milestone, TaskId, TaskStatus, UnitId
from amelia.model.questions import Question
from amelia.schedule.standing import run_standing
from runs import BASE, Story, chain, chronicle_of, commit, finding, started, task, unit, work

PROVED = Evidence(("a.py", "b`c|d.py"), ("pytest: 3 passed",))


def report(story: Story, **evidence: Evidence) -> RunReport:
    known = {UnitId(name[1:]): what for name, what in evidence.items()}
    return report_of(chronicle_of(story), run_standing(story.run), known)


def used(name: str, role: Role, usage: Usage | None) -> ev.UsageReported:
    return ev.UsageReported(unit=UnitId(name), attempt=1, role=role, session=None, usage=usage)


def full_story(driver: str = "claude") -> Story:
    rejected, deferred = finding("<b>wrong</b> name"), finding("too slow")
    agents = dict.fromkeys(Role, AgentSettings(driver=driver))
    story = chain(3, record=RecordPlace("docs/amelia/x"), agents=agents).start("1")
    story.tell(used("1", Role.DEVELOPER, Usage(10, 2, 0.25)), used("1", Role.REVIEWER, Usage(5, 5)))
    story.write("1").verify("1").review("1", rejected, deferred)
    story.rule(
        "1",
        Ruling(rejected.id, Disposition.REJECT, "line 3 has the right one"),
        Ruling(deferred.id, Disposition.DEFER),
    )
    story.land("1").start("2").tell(used("2", Role.DEVELOPER, None)).fail("2")
    return story.end(Result.NEEDS_HUMAN, Reason.VERIFY_LIMIT)


def test_a_page_tells_all_of_a_run() -> None:
    assert report_page(report(full_story(), u1=PROVED)) == (
        "# Build the API\n\n"
        "Run `demo`: waits for you: the checks still failed after the last attempt; 1 of 3 units landed.\n\n"
        "## What landed\n"
        f"- Task 1: Work of 1: `{commit('1')}` (`a.py`, `b'c/d.py`)\n  - proved: pytest: 3 passed\n\n"
        "## What did not land\n"
        "- Task 2: Work of 2: failed: the checks still failed after the last attempt (2 tests fail)\n"
        "- Task 3: Work of 3: blocked\n\n"
        "## Findings that were rejected\n"
        "- 1: a.py:3: ‹b›wrong‹/b› name\n  - because: line 3 has the right one\n\n"
        "## Findings that were put off\n- 1: a.py:3: too slow\n  - because: not said\n\n"
        "## Remarks of reviews that approved\nNone.\n\n"
        "## Questions and answers\nNone.\n\n"
        "## What it cost\n"
        "| for | used |\n|---|---|\n"
        "| all | $0.25, and unknown: 10 tokens without a known price; turns whose use nobody reported: 1 |\n"
        "| all turns of the developer | $0.25, and unknown: turns whose use nobody reported: 1 |\n"
        "| all turns of the reviewer | unknown (10 tokens without a known price) |\n"
        "| Task 1: Work of 1 | $0.25, and unknown: 10 tokens without a known price |\n"
        "| Task 2: Work of 2 | unknown (turns whose use nobody reported: 1) |\n\n"
        "The budget cannot hold: 1 turn did not tell what was used.\n\n"
        "## How to look at it, and how to undo it\n"
        f"```sh\ngit log {BASE}..amelia/demo\namelia log demo\namelia diff demo UNIT\namelia undo demo\n```\n"
    )


def test_notes_are_told_as_notes_and_grants_as_a_persons() -> None:
    one, two = UnitId("1"), UnitId("2")
    story = chain(2).start("1").fail("1").tell(ev.UnitReset(one, granted=("t.py",)))
    story.start("1").write("1").verify("1").review("1").land("1")
    story.start("2").fail("2").tell(ev.UnitReset(two, granted=("u.py", "v.py")))
    told_of = report(story, u1=replace(PROVED, notes=("1 test was changed",)))
    page = report_page(told_of)
    assert told_of.units[0].granted == ("t.py",)
    assert (
        "\n  - a person let this unit change t.py\n  - proved: pytest: 3 passed\n  - noted: 1 test was changed\n"
        in page
    )
    assert "\n  - a person let this unit change u.py, v.py\n" in page


def test_a_long_text_is_cut_once() -> None:
    story = chain(1).start("1").write("1").verify("1", passed=False)
    story.tell(ev.UnitParked(UnitId("1"), Reason.VERIFY_LIMIT, "x" * 700))
    page = report_page(report(story.end(Result.HALTED, Reason.VERIFY_LIMIT)))
    assert page.count("[cut after") == 1
    assert "x [cut after 500 characters])" in page


def test_agents_that_are_played_from_a_script_need_no_budget() -> None:
    assert report(full_story("script")).cost.untold_turns == 1
    assert "cannot hold" not in report_page(report(full_story("script")))


def test_work_by_hand_is_told_as_a_persons_and_as_not_reviewed() -> None:
    one = UnitId("1")
    story = chain(1).start("1").fail("1").tell(ev.UnitFixed(one, work("fix")), ev.UnitStarted(one, 1, BASE))
    told_of = report(story.verify("1").land("1"), u1=PROVED)
    assert (told_of.units[0].by_person, told_of.units[0].reviewed) == (True, False)
    assert "\n  - done by hand, not reviewed\n  - proved: " in report_page(told_of)


def test_remarks_of_a_review_that_approved_are_told() -> None:
    small = replace(finding("a <shorter> name"), weight=Weight.MINOR)
    story = chain(1).start("1").write("1").verify("1").step("1", ev.Step.REVIEW)
    story.tell(ev.AttemptReviewed(unit=UnitId("1"), attempt=1, approved=True, findings=(small,))).land("1")
    page = report_page(report(story))
    assert "## Remarks of reviews that approved\n- 1: a.py:3: a ‹shorter› name\n" in page


def test_a_report_of_nothing_promises_no_branch() -> None:
    told_of = report(chain(1, goal=""))
    page = report_page(told_of)
    assert told_of.branch is None
    assert page.startswith("# Report\n")
    assert "## What landed\nNothing." in page
    assert "git log" not in page
    assert "| all | nothing was used |" in page


def test_a_report_of_everything_says_that_nothing_is_left() -> None:
    many = Evidence(tuple(f"{n}.py" for n in range(23)), ())
    assert "`19.py` and 3 more)" in report_page(report(chain(1).whole("1"), u1=many))
    page = report_page(report(chain(1).whole("1"), u1=Evidence((), ())))
    assert "## What did not land\nNothing." in page
    assert "(no files)" in page
    assert "(files unknown)" in report_page(report(chain(1).whole("1")))


def test_questions_are_told_with_who_answered_them() -> None:
    one = UnitId("1")
    story = chain(1)
    for asked, answer in (("Which encoding?", "UTF-8"), ("Which port?", "any")):
        question = Question(text=asked)
        story.start("1").write("1", question=question).tell(
            ev.UnitParked(one, Reason.QUESTION, asked, question),
            ev.QuestionAnswered(one, answer, by_default=answer == "any"),
        )
    page = report_page(report(story))
    assert "- 1: Which encoding?\n  - answered: UTF-8\n" in page
    assert "- 1: Which port?\n  - nobody answered, so: any\n" in page


def test_a_cost_that_is_known_is_a_sum_and_one_that_is_not_is_never_nothing() -> None:
    assert cost_text(Cost(1.5, 0, 0)) == "$1.50"
    assert cost_text(Cost(None, 7, 0)) == "unknown (7 tokens without a known price)"
    assert cost_text(Cost(None, 0, 0)) == "nothing was used"


def test_milestones_and_stories_are_told() -> None:
    stones = (
        Milestone("M1", "Core", "what <it> is for", (TaskId("1"),), TaskStatus.PENDING),
        Milestone("M2", "M2", "", (TaskId("2"),), TaskStatus.PENDING),
    )
    units = (unit("1", replace(task("1"), user_story="As a reader")), unit("2"))
    story = Story(started(*units, milestones=stones)).whole("1")
    page = report_page(report(story))
    assert (
        "## Milestones\n- M1 Core: completed, 1 of 1 tasks done\n  - what ‹it› is for\n"
        "- M2: pending, 0 of 1 tasks done\n\n## What landed"
    ) in page
    assert "(files unknown)\n  - story: As a reader\n" in page
    assert report(story).milestones[0].task_ids == ("1",)
