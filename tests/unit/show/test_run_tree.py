"""A run is drawn so that a person sees what runs, what waits for them, and how far it is, on any screen."""

from dataclasses import replace
from datetime import timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from amelia.model import events as ev
from amelia.model.agents import Ending
from amelia.model.facts import RunId
from amelia.model.findings import Disposition, Ruling
from amelia.model.outcome import Reason, Result
from amelia.model.plan import Milestone, Mode, TaskId, TaskStatus, UnitId
from amelia.show.output import coloured
from amelia.show.run.spans import ASCII, UNICODE, Style, painted, text_of
from amelia.show.run.tree import draw_run
from amelia.show.text import width
from runs import BASE, Story, chain, commit, finding, four_phases, started, task, unit, work

ONE, TWO = UnitId("1"), UnitId("2")


def drawn(story: Story, **screen: Any) -> list[str]:
    screen.setdefault("width", 100)
    return [text_of(line) for line in draw_run(story.run, story.timeline, story.now, **screen)]


def unit_line(story: Story, label: str, **screen: Any) -> str:
    return next(line.strip() for line in drawn(story, **screen) if line.strip().startswith(label))


def in_the_middle() -> Story:
    """Tells of a run in which a phase landed, one tries again, one runs and one waits."""
    story = four_phases().start("phase-1").start("phase-2", 2).finish_unit("phase-1").write("phase-2")
    story.verify("phase-2", passed=False, feedback="3 failed").retry("phase-2").wait(60)
    return story.tell(ev.SubtaskCompleted(UnitId("phase-2"), TaskId("3"), 2)).start("phase-3").wait(5)


@pytest.mark.rows("D16", "R29")
def test_groups_phases_and_their_tasks_are_a_tree() -> None:
    assert drawn(in_the_middle()) == snapshot(
        [
            "demo  Build the API",
            "Group 1 (parallel)",
            "  Phase 1 (test): ✓ Done – Write model tests · 16s",
            "    ├── ✓ [test] User model tests",
            "    └── ✓ [test] Post model tests",
            "  Phase 2 (test): ● Retrying – Write API tests · writing 1m 12s · attempt 2/2 · 1/2 subtasks",
            "    ├── ✓ [test] API endpoint tests · reported done",
            "    └── ● [test] CLI command tests",
            "Group 2 (parallel)",
            "  Phase 3 (impl): ● Running – Implement models · writing 7s",
            "    ├── ● [impl] User model",
            "    └── ● [impl] Post model",
            "  Phase 4 (impl): ○ Pending – Implement APIs · waits for Phase 2",
            "    ├── ○ [impl] API endpoints",
            "    └── ○ [impl] CLI commands",
            "",
            "1 of 4 done · 1 running · 1 retrying · 1 waiting · 1m 36s",
        ]
    )


def test_what_waits_for_a_person_stands_below_with_the_commands_to_type() -> None:
    assert drawn(in_the_middle().fail("phase-2")) == snapshot(
        [
            "demo  Build the API",
            "Group 1 (parallel)",
            "  Phase 1 (test): ✓ Done – Write model tests · 16s",
            "    ├── ✓ [test] User model tests",
            "    └── ✓ [test] Post model tests",
            "  Phase 2 (test): ✗ Failed – Write API tests · not accepted: verify limit · 2 attempts · 1m 37s",
            "    ├── ✓ [test] API endpoint tests · reported done",
            "    └── ✓ [test] CLI command tests · reported done",
            "Group 2 (parallel)",
            "  Phase 3 (impl): ● Running – Implement models · writing 13s",
            "    ├── ● [impl] User model",
            "    └── ● [impl] Post model",
            "  Phase 4 (impl): ○ Blocked – Implement APIs · by Phase 2",
            "    ├── ○ [impl] API endpoints",
            "    └── ○ [impl] CLI commands",
            "",
            "? Phase 2 waits for you: the checks still failed after the last attempt",
            "    2 tests fail",
            "    amelia retry demo phase-2             try again, with all its attempts",
            "    amelia fix demo phase-2               do it by hand",
            "    amelia split demo phase-2             carry it out in pieces",
            "    amelia skip demo phase-2              leave it out; what needs it waits",
            "    amelia skip demo phase-2 --satisfied  leave it out, and go on with what needs it",
            "    amelia log demo phase-2               see what happened in full",
            "    amelia abort demo                     give the run up",
            "",
            "1 of 4 done · 1 running · 1 failed · 1 blocked · 1m 42s",
        ]
    )


def test_an_ascii_screen_gets_ascii_signs() -> None:
    lines = drawn(in_the_middle().fail("phase-2"), charset=ASCII)
    assert all(line.isascii() for line in lines)
    assert lines[:6] == snapshot(
        [
            "demo  Build the API",
            "Group 1 (parallel)",
            "  Phase 1 (test): + Done - Write model tests | 16s",
            "    |-- + [test] User model tests",
            "    `-- + [test] Post model tests",
            "  Phase 2 (test): x Failed - Write API tests | not accepted: verify limit | 2 attempts | 1m 37s",
        ]
    )


def test_tasks_one_after_the_other_need_no_groups() -> None:
    assert drawn(chain(3).whole("1").start("2").wait(71)) == snapshot(
        [
            "demo  Build the API",
            "Task 1: ✓ Done – Work of 1 · 8s",
            "Task 2: ● Running – Work of 2 · writing 1m 11s",
            "Task 3: ○ Pending – Work of 3",
            "",
            "1 of 3 done · 1 running · 1 waiting · 1m 22s",
        ]
    )


def test_a_whole_plan_is_one_line() -> None:
    story = Story(started(unit("plan", title="Build it"), mode=Mode.SINGLE)).start("plan")
    assert drawn(story)[1] == "Plan: ● Running – Build it · writing 0s"


@pytest.mark.parametrize(
    ("name", "label"), [("3", "Task 3"), ("T-1", "Task T-1"), ("task-7", "task-7"), ("\x1b[2Jx", "Task [2Jx")]
)
def test_a_task_is_called_by_its_id(name: str, label: str) -> None:
    assert drawn(Story(started(unit(name))))[1].startswith(f"{label}: ○ Pending")


def test_every_step_has_a_word_and_a_time() -> None:
    story = chain(1).start("1").wait(72)
    assert unit_line(story, "Task 1") == "Task 1: ● Running – Work of 1 · writing 1m 12s"
    story.write("1").step("1", ev.Step.VERIFY).wait(5)
    assert unit_line(story, "Task 1") == "Task 1: ● Running – Work of 1 · testing 5s · 1m 20s in all"
    story.tell(ev.AttemptVerified(unit=ONE, attempt=1, passed=True)).step("1", ev.Step.REVIEW)
    assert "· reviewing 0s ·" in unit_line(story, "Task 1")
    found = finding("x")
    story.tell(ev.AttemptReviewed(unit=ONE, attempt=1, approved=False, findings=(found,)))
    story.step("1", ev.Step.EVALUATE)
    assert "· weighing findings 0s ·" in unit_line(story, "Task 1")
    rejected = Ruling(found.id, Disposition.REJECT)
    story.tell(ev.FindingsEvaluated(unit=ONE, attempt=1, rulings=(rejected,)))
    assert "· in the queue to land ·" in unit_line(story, "Task 1")
    assert "· landing 0s ·" in unit_line(story.step("1", ev.Step.LAND), "Task 1")


def test_a_step_that_has_not_started_has_no_time() -> None:
    story = chain(1).tell(ev.UnitStarted(ONE, 1, BASE))
    assert unit_line(story, "Task 1") == "Task 1: ● Running – Work of 1 · writing"


def test_a_unit_between_two_attempts_says_so() -> None:
    story = chain(1).start("1").write("1").verify("1", passed=False)
    assert unit_line(story, "Task 1") == "Task 1: ● Running – Work of 1 · between attempts · 4s in all"
    second = story.retry("1").write("1").verify("1", passed=False)
    assert "· between attempts · attempt 2/5 · " in unit_line(second, "Task 1")


def test_an_attempt_is_counted_from_the_second_on() -> None:
    story = chain(1).start("1").write("1").verify("1", passed=False).retry("1")
    assert "· attempt 2/5 · " in unit_line(story, "Task 1")


@pytest.mark.parametrize(
    ("until", "shown"),
    [
        ("2026-11-02T13:05:00+00:00", "until 14:05"),
        ("2026-11-03T13:05:00Z", "until 2026-11-03 14:05"),
        ("soon", "for the agent's limit to end"),
        ("", "for the agent's limit to end"),
        ("0001-01-01T00:00:00+14:00", "for the agent's limit to end"),
    ],
)
def test_waiting_for_a_limit_says_until_when_on_the_clock_of_whoever_looks(until: str, shown: str) -> None:
    story = chain(1).start("1").write("1", Ending.LIMITED, until=until)
    story.now = story.now.astimezone(timezone(timedelta(hours=1)))
    assert unit_line(story, "Task 1") == f"Task 1: ● Waiting – Work of 1 · {shown} · 2s in all"


def test_a_unit_that_could_start_is_ready() -> None:
    assert unit_line(four_phases(), "Phase 2") == "Phase 2 (test): ○ Pending – Write API tests · ready"


def test_of_many_needs_the_first_are_named() -> None:
    needs = [unit(str(n)) for n in range(1, 6)]
    story = Story(started(*needs, unit("6", after=[each.id for each in needs], group=2), mode=Mode.LIFECYCLE))
    assert unit_line(story, "Task 6").endswith("· waits for Task 1, Task 2, Task 3 and 2 more")


def test_blocked_work_names_who_blocks_it() -> None:
    story = chain(3).start("1").fail("1")
    assert unit_line(story, "Task 3") == "Task 3: ○ Blocked – Work of 3 · by Task 1"


def test_work_to_be_tried_again_is_retrying() -> None:
    story = chain(1).start("1").fail("1").tell(ev.UnitReset(ONE))
    assert unit_line(story, "Task 1") == "Task 1: ○ Retrying – Work of 1 · ready"


def test_skipped_work_has_a_sign_of_its_own() -> None:
    story = chain(2).tell(ev.UnitSkipped(ONE, satisfies=True))
    assert unit_line(story, "Task 1") == "Task 1: – Skipped – Work of 1"
    assert drawn(story)[-1] == "0 of 2 done · 1 skipped · 1 waiting · 1s"
    phase = four_phases().tell(ev.UnitSkipped(UnitId("phase-1"), satisfies=True))
    assert "    ├── – [test] User model tests" in drawn(phase)


def test_a_question_has_a_sign_of_its_own() -> None:
    found = finding("which one?")
    story = chain(1).start("1").write("1").verify("1").review("1", found)
    story.rule("1", Ruling(found.id, Disposition.CLARIFY)).park("1", Reason.QUESTION, "- which one?")
    assert unit_line(story, "Task 1").startswith("Task 1: ? Asks you – Work of 1 · question")
    assert "? Task 1 waits for you: it needs your answer" in drawn(story)
    assert "    - which one?" in drawn(story)
    assert "0 of 1 done · 1 asking" in drawn(story)[-1]


def test_landed_work_says_how_often_it_was_tried() -> None:
    story = chain(1).start("1").write("1").verify("1", passed=False).retry("1").finish_unit("1")
    assert unit_line(story, "Task 1") == "Task 1: ✓ Done – Work of 1 · 2 attempts · 13s"


def test_what_an_agent_only_claims_is_not_green() -> None:
    story = four_phases().start("phase-1").tell(ev.SubtaskCompleted(UnitId("phase-1"), TaskId("1"), 1))

    def style_of_first() -> Style:
        lines = draw_run(story.run, story.timeline, story.now, width=80)
        return next(line for line in lines if "User model tests" in text_of(line))[1].style

    assert style_of_first() is Style.FAINT
    story.tell(ev.SubtaskCompleted(UnitId("phase-1"), TaskId("2"), 1))
    story.tell(ev.AttemptEnded(unit=UnitId("phase-1"), attempt=1, ending=Ending.OK, work=work("x")))
    story.verify("phase-1").review("phase-1").land("phase-1")
    assert style_of_first() is Style.GOOD


def test_a_task_that_was_not_done_is_marked() -> None:
    story = four_phases().start("phase-1").tell(ev.SubtaskFailed(UnitId("phase-1"), TaskId("1"), 1))
    assert "    ├── ✗ [test] User model tests" in drawn(story)


def test_a_task_without_a_type_has_no_brackets() -> None:
    story = Story(started(unit("phase-1", task("1", None, "Do it")), mode=Mode.PHASED))
    assert drawn(story)[1:3] == ["Phase 1: ○ Pending – Work of phase-1 · ready", "  └── ○ Do it"]


def test_units_run_side_by_side_only_if_there_are_workers() -> None:
    assert "Group 1 (parallel)" in drawn(four_phases(workers=2))
    assert "Group 1" in drawn(four_phases(workers=1))


def test_nothing_runs_in_a_run_that_stopped() -> None:
    story = four_phases().start("phase-1").tell(ev.CancelRequested()).end(Result.CANCELLED)
    assert unit_line(story, "Phase 1").startswith("Phase 1 (test): ○ Stopped – Write model tests")
    assert "    ├── ○ [test] User model tests" in drawn(story)
    assert drawn(story)[-1] == "cancelled · 0 of 4 done · 1 stopped · 3 waiting · 6s"


def test_time_stands_still_when_a_run_is_over() -> None:
    story = chain(1).whole("1").end(Result.COMPLETED)
    before = drawn(story)
    assert drawn(story.wait(3600)) == before


@pytest.mark.parametrize(
    ("story", "summary"),
    [
        (chain(2).whole("1").start("2").wait(240), "1 of 2 done · 1 running · 4m 11s"),
        (chain(1).whole("1").end(Result.COMPLETED), "completed · 1 of 1 done · branch amelia/demo · 10s"),
        (
            chain(1).start("1").fail("1").end(Result.HALTED, Reason.VERIFY_LIMIT),
            "halted: the checks still failed after the last attempt · 0 of 1 done · 1 failed · 7s",
        ),
        (
            chain(2).tell(ev.UnitSkipped(ONE, satisfies=False)).end(Result.NEEDS_HUMAN, Reason.BLOCKED),
            "waits for you: what is left depends on work that was skipped · 0 of 2 done · 1 skipped · 1 blocked · 2s",
        ),
        (
            chain(1).start("1").tell(ev.PauseRequested()),
            "pausing: what is under way is finished first; once more ends it at once · 0 of 1 done · 1 running · 3s",
        ),
        (chain(1).tell(ev.PauseRequested(), ev.RunPaused()), "paused · 0 of 1 done · 1 waiting · 2s"),
        (
            chain(1).whole("1").tell(ev.BranchCheckStarted(commit("1"))),
            "1 of 1 done · testing the whole branch · 10s",
        ),
    ],
)
def test_the_last_line_sums_up(story: Story, summary: str) -> None:
    assert drawn(story, width=120)[-1] == summary


def test_a_run_whose_branch_is_red_says_what_to_do() -> None:
    story = chain(1).whole("1").tell(ev.BranchCheckStarted(commit("1")))
    story.tell(ev.BranchVerified(passed=False, feedback="1 test fails\n\ntest_x\nmore\nand more"))
    lines = drawn(story.end(Result.HALTED, Reason.BRANCH_RED))
    start = lines.index("? the whole branch does not pass its checks")
    assert lines[start + 1 : start + 7] == [
        "    1 test fails",
        "    test_x",
        "    more",
        "    and more",
        "    amelia resume demo  verify the branch again",
        "    amelia abort demo   give the run up",
    ]


def test_a_paused_run_says_how_it_goes_on() -> None:
    lines = drawn(chain(1).tell(ev.PauseRequested(), ev.RunPaused()))
    assert "? the run is paused" in lines
    assert "    amelia resume demo  go on" in lines


def test_work_behind_a_skip_asks_when_nothing_else_goes_on() -> None:
    story = chain(2).tell(ev.UnitSkipped(ONE, satisfies=False))
    assert not any("waits for you" in line for line in drawn(story))
    lines = drawn(story.end(Result.NEEDS_HUMAN, Reason.BLOCKED))
    assert "? Task 2 waits for you: it needs Task 1, which was skipped" in lines
    assert "    amelia skip demo 1 --satisfied  go on without 1" in lines
    assert "    amelia skip demo 2              leave it out, too" in lines


def test_nobody_is_asked_about_a_run_that_is_over() -> None:
    story = chain(1).start("1").fail("1").tell(ev.AbortRequested()).end(Result.ABORTED)
    assert not any("amelia" in line for line in drawn(story))


def test_text_of_a_plan_is_shown_and_never_obeyed() -> None:
    hostile = unit("1\x1b]0;x\x07", title="\x1b[2J\u202eevil\ntitle")
    story = Story(started(hostile, goal="\x1b[31mgoal", run=RunId("r\x07n"))).start(hostile.id)
    story.fail(hostile.id)
    lines = drawn(story)
    assert all(line.isprintable() for line in lines)
    assert "evil title" in "".join(lines)


def test_where_there_is_little_room_facts_go_first_then_the_title() -> None:
    story = in_the_middle()
    assert [unit_line(story, "Phase 2", width=columns) for columns in (100, 70, 50, 40, 20)] == snapshot(
        [
            "Phase 2 (test): ● Retrying – Write API tests · writing 1m 12s · attempt 2/2 · 1/2 subtasks",
            "Phase 2 (test): ● Retrying – Write API tests · writing 1m 12s",
            "Phase 2 (test): ● Retrying – Write API tests",
            "Phase 2 (test): ● Retrying – Write AP…",
            "Phase 2 (test): ●…",
        ]
    )


def test_a_small_screen_folds_finished_groups_then_waiting_ones() -> None:
    story = four_phases().whole("phase-1", "phase-2").start("phase-3")
    assert drawn(story, height=12) == snapshot(
        [
            "Group 1: ✓ 2 done",
            "Group 2 (parallel)",
            "  Phase 3 (impl): ● Running – Implement models · writing 2s",
            "    ├── ● [impl] User model",
            "    └── ● [impl] Post model",
            "  Phase 4 (impl): ○ Pending – Implement APIs · ready",
            "    ├── ○ [impl] API endpoints",
            "    └── ○ [impl] CLI commands",
            "2 of 4 done · 1 running · 1 waiting · 30s",
        ]
    )
    assert drawn(four_phases().start("phase-1"), height=9) == snapshot(
        [
            "Group 1 (parallel)",
            "  Phase 1 (test): ● Running – Write model tests · writing 2s",
            "    ├── ● [test] User model tests",
            "    └── ● [test] Post model tests",
            "  Phase 2 (test): ○ Pending – Write API tests · ready",
            "    ├── ○ [test] API endpoint tests",
            "    └── ○ [test] CLI command tests",
            "Group 2: ○ 2 waiting",
            "0 of 4 done · 1 running · 3 waiting · 4s",
        ]
    )


def test_a_long_run_shows_what_was_done_last_and_what_comes_next() -> None:
    story = chain(40).whole(*map(str, range(1, 16))).start("16")
    assert drawn(story, height=17) == snapshot(
        [
            "demo  Build the API",
            "Task 1 to Task 10: ✓ 10 done",
            "Task 11: ✓ Done – Work of 11 · 8s",
            "Task 12: ✓ Done – Work of 12 · 8s",
            "Task 13: ✓ Done – Work of 13 · 8s",
            "Task 14: ✓ Done – Work of 14 · 8s",
            "Task 15: ✓ Done – Work of 15 · 8s",
            "Task 16: ● Running – Work of 16 · writing 0s",
            "Task 17: ○ Pending – Work of 17",
            "Task 18: ○ Pending – Work of 18",
            "Task 19: ○ Pending – Work of 19",
            "Task 20: ○ Pending – Work of 20",
            "Task 21: ○ Pending – Work of 21",
            "Task 22 to Task 40: ○ 19 waiting",
            "",
            "15 of 40 done · 1 running · 24 waiting · 2m 17s",
        ]
    )


def test_a_tiny_screen_shows_what_runs() -> None:
    story = in_the_middle()
    assert drawn(story, height=4) == snapshot(
        [
            "  Phase 2 (test): ● Retrying – Write API tests · writing 1m 12s · attempt 2/2 · 1/2 subtasks",
            "  Phase 3 (impl): ● Running – Implement models · writing 7s",
            "1 of 4 done · 1 running · 1 retrying · 1 waiting · 1m 36s",
        ]
    )
    assert drawn(story, height=2) == snapshot(
        ["… 2 more under way or waiting for you", "1 of 4 done · 1 running · 1 retrying · 1 waiting · 1m 36s"]
    )
    assert drawn(story, height=1) == [drawn(story)[-1]]


def parked(count: int) -> Story:
    units = [unit(str(n)) for n in range(1, count + 1)]
    story = Story(started(*units, mode=Mode.LIFECYCLE, workers=count))
    for each in units:
        story.start(each.id, lane=int(each.id)).fail(each.id)
    return story


def test_of_many_that_wait_for_a_person_the_first_are_shown() -> None:
    lines = drawn(parked(5), height=24)
    assert len(lines) <= 24
    assert "? Task 1 waits for you: the checks still failed after the last attempt" in lines
    assert "… 4 more wait for you" in lines
    assert sum(line.startswith("? Task") for line in drawn(parked(5))) == 5


def test_on_a_tiny_screen_a_person_still_sees_the_first_commands() -> None:
    lines = drawn(parked(1), height=6)
    assert "    amelia retry demo 1             try again, with all its attempts" in lines


def test_groups_without_news_become_one_line() -> None:
    units = [
        unit(f"{group}{n}", after=[f"{group - 1}{n}"] if group > 1 else [], group=group)
        for group in range(1, 9)
        for n in range(1, 4)
    ]
    story = Story(started(*units, mode=Mode.LIFECYCLE)).whole("11", "12", "13", "21", "22", "23")
    story.tell(ev.UnitSkipped(UnitId("31"), satisfies=True)).start("32")
    assert drawn(story, height=9) == snapshot(
        [
            "Group 1: ✓ 3 done",
            "Group 2: ✓ 3 done",
            "Group 3",
            "  Task 31: – Skipped – Work of 31",
            "  Task 32: ● Running – Work of 32 · writing 0s",
            "  Task 33: ○ Pending – Work of 33 · ready",
            "Group 4: ○ 3 waiting",
            "Groups 5 to 8: ○ 12 waiting",
            "6 of 24 done · 1 running · 1 skipped · 16 waiting · 57s",
        ]
    )


SCREENS = st.tuples(st.integers(1, 130), st.integers(1, 40))
STORIES = [
    in_the_middle(),
    in_the_middle().fail("phase-2"),
    parked(9),
    chain(60).whole("1", "2").start("3"),
    Story(started(unit("日本語" * 9, title="宽" * 80), unit("e\u0301" * 30, group=2), goal="目标" * 60)),
    chain(1).whole("1").end(Result.COMPLETED),
]


@pytest.mark.slow
@given(st.sampled_from(STORIES), SCREENS, st.sampled_from([UNICODE, ASCII]))
def test_nothing_is_ever_wider_or_higher_than_the_screen(
    story: Story, screen: tuple[int, int], charset: Any
) -> None:
    columns, rows = screen
    lines = drawn(story, width=columns, height=rows, charset=charset)
    assert len(lines) <= rows
    assert all(width(line) <= columns for line in lines)
    assert lines[-1]


@pytest.mark.slow
@given(st.sampled_from(STORIES), st.integers(3, 40))
def test_more_room_never_shows_less(story: Story, rows: int) -> None:
    smaller, larger = (len(drawn(story, height=height)) for height in (rows, rows * 2))
    assert smaller <= larger


def test_what_runs_is_always_visible() -> None:
    story = in_the_middle()
    for rows in range(3, 30):
        assert sum("ing – " in line and "●" in line for line in drawn(story, height=rows)) == 2


def with_milestones() -> Story:
    stones = (
        Milestone("M1", "Core", "", (TaskId("1"), TaskId("2")), TaskStatus.PENDING),
        Milestone("M2", "M2", "", (TaskId("3"),), TaskStatus.PENDING),
    )
    units = (unit("1", replace(task("1"), user_story="As a reader\nI want\x1b[2J it")), unit("2"), unit("3"))
    return Story(started(*units, mode=Mode.LIFECYCLE, milestones=stones))


def test_milestones_and_stories_are_shown_where_there_is_room() -> None:
    story = with_milestones().whole("1").start("2")
    lines = drawn(story)
    assert lines[2:4] == ["  Task 1: ✓ Done – Work of 1 · 8s", "      As a reader I want[2J it"]
    at = lines.index("Milestones")
    assert lines[at : at + 3] == ["Milestones", "  M1 Core: ● 1 of 2 done", "  M2: ○ 0 of 1 done"]
    small = drawn(story, height=5)
    assert not any("Milestones" in line or "As a reader" in line for line in small)
    assert any("Task 2" in line for line in small)
    assert "Milestones" not in drawn(story, height=11)


def test_a_story_of_a_phase_stands_below_its_task() -> None:
    phase = unit("phase-1", replace(task("1"), user_story="As a reader"), task("2"))
    lines = drawn(Story(started(phase, mode=Mode.PHASED)))
    at = next(number for number, line in enumerate(lines) if "Do 1" in line)
    assert lines[at + 1] == "        As a reader"


def test_colours_come_on_top_of_the_same_text() -> None:
    story = in_the_middle()
    line = draw_run(story.run, story.timeline, story.now, width=80)[2]
    done, took = coloured("✓ Done", "32"), coloured(" · 16s", "2")
    assert painted(line) == f"  Phase 1 (test): {done} – Write model tests{took}"


@pytest.mark.slow
def test_a_huge_run_fits_a_small_screen() -> None:
    units = [
        unit(str(n), after=[str(n - 100)] if n >= 100 else [], group=n // 100 + 1) for n in range(10_000)
    ]
    story = Story(started(*units, mode=Mode.LIFECYCLE)).start("0")
    lines = drawn(story, height=24)
    assert len(lines) <= 24
    assert lines[-1] == "0 of 10000 done · 1 running · 9999 waiting · 2s"


def test_where_not_all_fits_what_runs_comes_before_what_failed() -> None:
    units = [unit(str(n)) for n in range(1, 5)]
    story = Story(started(*units, mode=Mode.LIFECYCLE, workers=4))
    story.start("1").fail("1").start("2").fail("2").start("3", lane=3)
    assert drawn(story, height=5)[0] == "  Task 3: ● Running – Work of 3 · writing 0s"
