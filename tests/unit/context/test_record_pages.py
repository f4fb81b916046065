"""What the record says of a run: summaries of units, what was said against attempts, where the run stands."""

import pytest

from amelia.context.chronicle import opened, told
from amelia.context.execution_state import execution_state
from amelia.context.summary import Change, generate_phase_summary, review_feedback
from amelia.model import events as ev
from amelia.model.interventions import Accepted
from amelia.model.outcome import Cause, Reason, Result
from amelia.model.plan import Mode, TaskType, UnitId
from amelia.model.standing import by_hand
from amelia.schedule.standing import run_standing
from runs import BASE, Story, chain, chronicle_of, commit, four_phases, started, task, unit, work

ONE = UnitId("1")
NASTY = "```\n# Not a heading\n`rm -rf`\n```"


def summary_of(story: Story, *changes: Change, name: str = "1", mode: Mode = Mode.TASKS) -> str:
    chapter = chronicle_of(story).chapters[UnitId(name)]
    return generate_phase_summary(chapter, mode=mode, changes=changes, receipts=["pytest: 3 passed"])


@pytest.mark.rows("R15")
def test_a_summary_says_what_was_done_how_to_bring_it_back_and_what_proved_it() -> None:
    phase = unit("phase-1", task("1", TaskType.TEST, "User tests"), task("2", title="User"), title="Users")
    story = Story(started(phase, mode=Mode.PHASED)).whole("phase-1")
    text = summary_of(
        story,
        Change("user.py", "added", is_test=False),
        Change("test_user.py", "added", is_test=True),
        name="phase-1",
        mode=Mode.PHASED,
    )
    made = commit("phase-1")
    assert text == (
        "# Phase 1: Users\n\n"
        "## Completed subtasks\n- [test] 1: User tests\n- 2: User\n\n"
        "## Files changed\n```\nadded: user.py\nadded: test_user.py\n```\n\n"
        "## Restoration references\n"
        f"```sh\ngit show {made}\ngit diff {BASE}..{made}\ngit diff --stat {BASE}..{made}\n```\n\n"
        "## Test files\n```\ntest_user.py\n```\n\n"
        "## What was proved\n- pytest: 3 passed\n\n"
        "## Key changes, as the agent reports them\n```\nNothing.\n```\n"
    )


def test_a_summary_tells_notes_and_grants() -> None:
    story = chain(1).start("1").fail("1").tell(ev.UnitReset(ONE, granted=("t.py",)))
    story.start("1").write("1").verify("1").review("1").land("1")
    chapter = chronicle_of(story).chapters[ONE]
    text = generate_phase_summary(
        chapter, mode=Mode.TASKS, changes=(), receipts=["3 passed"], notes=["1 test was changed"]
    )
    assert "- 3 passed\n- a person let this unit change t.py\n- noted: 1 test was changed\n" in text


def test_a_summary_without_files_says_so_and_one_with_many_is_bounded() -> None:
    story = chain(1).start("1").write("1", summary="x" * 5000).verify("1").review("1").land("1")
    assert "## Files changed\nNone." in summary_of(story)
    many = [Change(f"{number}.py", "added", is_test=False) for number in range(203)]
    text = summary_of(story, *many)
    assert "199.py\nand 3 more\n" in text
    assert "xxx\n[cut after 4000 characters]" in text


def test_a_unit_that_landed_without_an_agents_word_has_a_summary_too() -> None:
    landed = told(opened(started(unit("1"))), [ev.UnitLanded(ONE, 1, commit("1"))]).chapters[ONE]
    text = generate_phase_summary(landed, mode=Mode.TASKS, changes=[], receipts=[])
    assert "```\nNothing.\n```" in text


def test_feedback_is_told_latest_first_with_the_attempt_it_is_about_and_stays_data() -> None:
    story = chain(1).start("1").write("1").verify("1", passed=False, feedback=NASTY).retry("1")
    story.write("1").verify("1", passed=False, feedback="still red")
    text = review_feedback(chronicle_of(story).chapters[ONE], mode=Mode.TASKS)
    assert text == (
        "# Task 1: Work of 1: why attempts were not accepted\n\n"
        f"## Turn 2, says the executed checks\n```\nstill red\n```\n\n`git show {commit('12')}` shows "
        "what that turn left.\n\n"
        f"## Turn 1, says the executed checks\n````\n{NASTY}\n````\n\n`git show {commit('11')}` shows "
        "what that turn left.\n"
    )


def test_feedback_of_many_attempts_is_bounded_and_an_attempt_that_left_nothing_names_no_commit() -> None:
    refused = [ev.LandingRefused(ONE, n, Cause.CONFLICT, f"objection {n}") for n in range(1, 24)]
    text = review_feedback(told(opened(started(unit("1"))), refused).chapters[ONE], mode=Mode.TASKS)
    assert "objection 4\n" in text
    assert "objection 3\n" not in text
    assert "3 earlier ones are in the journal of the run." in text
    assert "git show" not in text


def test_the_state_of_a_run_counts_what_is_complete_and_names_every_unit() -> None:
    story = four_phases().whole("phase-1").start("phase-2").fail("phase-2").start("phase-3")
    state = execution_state(chronicle_of(story), run_standing(story.run))
    assert (state.run, state.mode, state.status, state.completed) == ("demo", "phased", "running", 1)
    assert [(one.id, one.directory, one.status, one.reason) for one in state.units] == [
        ("phase-1", "phase-1", "completed", None),
        ("phase-2", "phase-2", "failed", Reason.VERIFY_LIMIT),
        ("phase-3", "phase-3", "running", None),
        ("phase-4", "phase-4", "blocked", None),
    ]
    first, second = state.units[0].subtasks
    assert (first.id, first.title, first.status) == ("1", "User model tests", "completed")
    assert second.status == "completed"
    assert [one.accepted for one in state.units[0].subtasks] == [True, True]
    assert [(one.status, one.accepted) for one in state.units[1].subtasks] == [("completed", False)] * 2
    assert {one.status for one in state.units[3].subtasks} == {"blocked"}
    assert state.units[0].commit == state.tip == commit("phase-1")
    ended = story.end(Result.HALTED, Reason.BUDGET)
    assert execution_state(chronicle_of(ended), run_standing(ended.run)).status == "halted(budget)"


def fixed(*accepted: Accepted) -> Story:
    story = chain(1).start("1").write("1", summary="Half of it.").verify("1", passed=False).park("1")
    story.tell(ev.UnitFixed(ONE, work("fix"), accepted), ev.UnitStarted(ONE, 1, BASE))
    return story.verify("1").land("1")


def test_a_summary_of_work_by_hand_says_who_did_it_and_that_nobody_reviewed_it() -> None:
    text = summary_of(fixed())
    assert "## Who did it\nA person: done by hand, not reviewed.\n\n## Completed" in text
    assert "## What the agent reported before\n```\nHalf of it.\n```" in text
    left = summary_of(fixed(Accepted.UNCHANGED, Accepted.MISSING_FILES))
    assert f"A person: {by_hand((Accepted.UNCHANGED, Accepted.MISSING_FILES))}.\n" in left
    assert "## Key changes, as the agent reports them" in left
    state = execution_state(chronicle_of(fixed()), run_standing(fixed().run))
    assert (state.units[0].by_person, state.units[0].reviewed) == (True, False)


def test_what_an_agent_does_after_a_fix_that_was_refused_is_the_agents() -> None:
    story = chain(1).start("1").fail("1").tell(ev.UnitFixed(ONE, work("fix")), ev.UnitStarted(ONE, 1, BASE))
    story.verify("1", passed=False).park("1", Reason.FIX_REFUSED).tell(ev.UnitReset(ONE)).whole("1")
    assert "Who did it" not in summary_of(story)
