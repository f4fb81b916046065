"""The execution state says of a run what other programs need to know, and only what is true."""

import json
from dataclasses import replace
from typing import Any

import pytest

from amelia.model import events as ev
from amelia.model.agents import Ending
from amelia.model.findings import Disposition, Ruling
from amelia.model.outcome import Cause, Reason, Result
from amelia.model.plan import Milestone, Mode, TaskId, TaskStatus, TaskType, UnitId
from amelia.show.run.projection import status_json
from runs import BASE, Story, chain, commit, finding, four_phases, started, task, unit

ONE, TWO = UnitId("1"), UnitId("2")


def state_of(story: Story) -> dict[str, Any]:
    """Returns the execution state as it arrives at the other end of a pipe."""
    return json.loads(json.dumps(status_json(story.run, story.timeline)))


def statuses(story: Story) -> dict[str, str]:
    return {each["id"]: each["status"] for each in state_of(story)["tasks"]}


def unit_of(story: Story, name: str) -> dict[str, Any]:
    return next(each for each in state_of(story)["units"] if each["id"] == name)


def phase_of(story: Story, index: int) -> dict[str, Any]:
    return next(each for each in state_of(story)["phase_states"] if each["phase_index"] == index)


def test_a_run_says_what_it_is() -> None:
    state = state_of(chain(2).whole("1"))
    assert state["run"] == "demo"
    assert state["outcome"] == "running"
    assert state["goal"] == "Build the API"
    assert state["plan_hash"] == "ab12"
    assert state["mode"] == "tasks"
    assert state["base"] == BASE
    assert state["branch"] == "amelia/demo"
    assert state["tip"] == commit("1")
    assert state["policy"]["attempts"] == 5
    assert state["policy"]["on_failure"] == "halt"


@pytest.mark.parametrize(
    ("events", "outcome"),
    [
        ([ev.PauseRequested()], "running"),
        ([ev.PauseRequested(), ev.RunPaused()], "paused"),
        ([ev.PauseRequested(), ev.RunPaused(), ev.RunResumed(7)], "running"),
    ],
)
def test_a_run_is_running_or_paused(events: list[ev.Event], outcome: str) -> None:
    assert state_of(chain(1).tell(*events))["outcome"] == outcome


def test_a_run_that_ended_says_how_and_when() -> None:
    story = chain(1).start("1").fail("1").end(Result.HALTED, Reason.REVIEW_LIMIT)
    state = state_of(story)
    assert state["outcome"] == "halted(review_limit)"
    assert state["started_at"] == "2026-11-02T12:00:00.000Z"
    assert state["finished_at"] == "2026-11-02T12:00:07.000Z"
    assert state["seconds"] == 7.0


def test_the_time_of_a_run_under_way_ends_with_what_happened_last() -> None:
    state = state_of(chain(1).start("1").wait(100))
    assert state["finished_at"] is None
    assert state["seconds"] == 2.0


@pytest.mark.rows("T10", "T11", "L30")
def test_the_current_task_is_the_first_that_is_not_finished() -> None:
    story = chain(3).whole("1").start("2")
    state = state_of(story)
    assert state["total_tasks"] == 3
    assert state["current_task_index"] == 1
    assert state["current_task_id"] == "2"
    assert state["current_task_ids"] == state["in_flight_task_ids"] == ["2"]
    assert state["completed_task_ids"] == ["1"]
    done = state_of(story.finish_unit("2").whole("3"))
    assert done["current_task_index"] == 3
    assert done["current_task_id"] is None
    assert done["task_review_iteration"] == 0


@pytest.mark.rows("T12", "T13")
def test_review_iterations_count_finished_attempts_of_the_current_task() -> None:
    story = chain(2).start("1").write("1").verify("1").review("1", finding("x")).rule("1")
    assert state_of(story)["task_review_iteration"] == 0
    story.retry("1", Cause.REJECTED)
    assert state_of(story)["task_review_iteration"] == 1
    assert state_of(story)["max_task_review_iterations"] == 5
    assert state_of(story)["tasks"][0]["attempts"] == 2
    assert state_of(story)["tasks"][0]["error"] == "- a.py:3: x"
    assert state_of(story.finish_unit("1"))["task_review_iteration"] == 0


@pytest.mark.rows("L32")
def test_progress_counts_what_is_done_and_is_never_rounded_up() -> None:
    story = chain(3).whole("1", "2")
    assert state_of(story)["progress"] == "66%"
    assert state_of(story.whole("3"))["progress"] == "100%"
    assert state_of(Story(started()))["progress"] == "100%"


@pytest.mark.rows("L31")
def test_the_summary_adds_up() -> None:
    story = chain(5).whole("1").tell(ev.UnitSkipped(TWO, satisfies=True)).start("3").fail("3")
    assert state_of(story)["summary"] == {
        "total": 5,
        "completed": 1,
        "failed": 1,
        "in_progress": 0,
        "pending": 0,
        "blocked": 2,
        "skipped": 1,
    }


@pytest.mark.rows("L1")
def test_units_and_tasks_stand_in_the_order_of_the_tree() -> None:
    """Groups come one after the other in the tree, whatever the order in which units may start."""
    units = (unit("3"), unit("2", after=["3"], group=2), unit("4"))
    state = state_of(Story(started(*units, mode=Mode.LIFECYCLE)))
    assert [each["id"] for each in state["units"]] == ["3", "4", "2"]
    assert [each["id"] for each in state["tasks"]] == ["3", "4", "2"]


@pytest.mark.rows("L1", "L25")
def test_a_parked_task_has_failed_and_says_why() -> None:
    story = chain(1).start("1").fail("1")
    (each,) = state_of(story)["tasks"]
    assert each["status"] == "failed"
    assert each["error"] == "2 tests fail"
    assert each["attempts"] == 1
    assert state_of(story)["failed_task_ids"] == ["1"]
    silent = chain(1).start("1").write("1").verify("1", passed=False).park("1", detail="")
    assert state_of(silent)["tasks"][0]["error"] == Reason.VERIFY_LIMIT.meaning


@pytest.mark.rows("L2", "L3")
def test_what_a_failed_task_blocks_says_by_whom_also_from_afar() -> None:
    story = chain(4).whole("1").start("2").fail("2")
    assert statuses(story) == {"1": "completed", "2": "failed", "3": "blocked", "4": "blocked"}
    assert [each["blocked_by"] for each in state_of(story)["tasks"]] == [[], [], ["2"], ["2"]]
    assert state_of(story)["blocked_task_ids"] == ["3", "4"]


def test_a_skip_without_consent_blocks_and_one_with_consent_does_not() -> None:
    assert statuses(chain(2).tell(ev.UnitSkipped(ONE, satisfies=False))) == {"1": "skipped", "2": "blocked"}
    assert statuses(chain(2).tell(ev.UnitSkipped(ONE, satisfies=True))) == {"1": "skipped", "2": "pending"}


def test_a_task_to_be_tried_again_has_all_its_attempts() -> None:
    story = chain(1).start("1").fail("1").tell(ev.UnitReset(ONE))
    (each,) = state_of(story)["tasks"]
    assert each["status"] == "pending"
    assert (each["attempts"], each["turns"]) == (0, 1)
    assert each["error"] == "2 tests fail"


def test_a_person_who_resets_a_task_gives_it_all_attempts_again() -> None:
    story = chain(1).start("1").fail("1").tell(ev.UnitReset(ONE)).start("1")
    (each,) = state_of(story)["tasks"]
    assert [each[key] for key in ("attempts", "max_attempts", "turns")] == [1, 5, 2]


def test_a_skipped_task_keeps_its_attempts() -> None:
    story = chain(1).start("1").fail("1").tell(ev.UnitSkipped(ONE, satisfies=True))
    assert state_of(story)["tasks"][0]["attempts"] == 1


def test_nothing_is_in_flight_after_a_run_was_cancelled() -> None:
    story = chain(1).start("1").tell(ev.CancelRequested()).end(Result.CANCELLED)
    assert state_of(story)["in_flight_task_ids"] == []
    assert statuses(story) == {"1": "pending"}


def split_task() -> Story:
    pieces = [
        unit("T1-a", task("T1-a", TaskType.IMPL), title="Register (a)"),
        unit("T1-b", task("T1-b", TaskType.IMPL), title="Register (b)", after=["T1-a"], group=2),
    ]
    units = [replace(each, tasks=(TaskId("T1"),)) for each in pieces]
    return Story(started(*units, mode=Mode.LIFECYCLE))


@pytest.mark.rows("L3")
def test_a_split_task_is_completed_when_all_its_pieces_landed() -> None:
    story = split_task()
    assert statuses(story) == {"T1": "pending"}
    assert statuses(story.start("T1-a")) == {"T1": "in_progress"}
    assert statuses(story.finish_unit("T1-a")) == {"T1": "in_progress"}
    assert state_of(story)["tasks"][0]["unit"] == "T1-b"
    assert state_of(story)["total_tasks"] == 1
    assert statuses(story.whole("T1-b")) == {"T1": "completed"}


def test_a_split_task_is_called_as_its_author_called_it() -> None:
    (each,) = state_of(split_task())["tasks"]
    assert each["title"] == "Register"
    assert each["type"] == "impl"


@pytest.mark.parametrize(
    ("unit_id", "title"),
    [
        ("T1-b", "Register (2/3)"),
        ("T1-b", "Register (2/3): data layer"),
        ("T1-b-a", "Register (2/3): data layer (1/2): a.py"),
        ("T1-b", "Register"),
    ],
)
def test_the_marks_of_pieces_are_no_part_of_the_title_of_their_task(unit_id: str, title: str) -> None:
    piece = unit(unit_id, task(unit_id, TaskType.IMPL), title=title)
    story = Story(started(replace(piece, tasks=(TaskId("T1"),)), mode=Mode.LIFECYCLE))
    assert state_of(story)["tasks"][0]["title"] == "Register"


def test_an_authors_own_numbers_stay() -> None:
    title = "Move (1/2): tables (2/3): a.py"
    piece = unit("T1-b", task("T1-b", TaskType.IMPL), title=title)
    story = Story(started(replace(piece, tasks=(TaskId("T1"),)), mode=Mode.LIFECYCLE))
    assert state_of(story)["tasks"][0]["title"] == "Move (1/2): tables"


def test_a_split_task_fails_with_a_piece_and_is_skipped_with_one() -> None:
    failed = split_task().start("T1-a").fail("T1-a")
    assert statuses(failed) == {"T1": "failed"}
    skipped = split_task().whole("T1-a").tell(ev.UnitSkipped(UnitId("T1-b"), satisfies=True))
    assert statuses(skipped) == {"T1": "skipped"}
    blocked = split_task().tell(ev.UnitSkipped(UnitId("T1-a"), satisfies=False))
    assert statuses(blocked) == {"T1": "blocked"}


@pytest.mark.rows("L28")
def test_milestones_follow_their_tasks() -> None:
    stones = (
        Milestone("M1", "Core", "the core", (TaskId("0"), TaskId("1")), TaskStatus.PENDING),
        Milestone("M2", "Rest", "", (TaskId("2"),), TaskStatus.PENDING),
        Milestone("M3", "Before", "", (TaskId("0"),), TaskStatus.PENDING),
    )
    story = chain(2, milestones=stones)
    assert [each["status"] for each in state_of(story)["milestones"]] == [
        "in_progress",
        "pending",
        "completed",
    ]
    story.whole("1").start("2").fail("2")
    assert [each["status"] for each in state_of(story)["milestones"]] == ["completed", "failed", "completed"]
    assert state_of(story)["milestones"][0] == {
        "id": "M1",
        "name": "Core",
        "description": "the core",
        "task_ids": ["0", "1"],
        "status": "completed",
        "done": 2,
    }


def test_milestones_know_the_pieces_of_split_tasks() -> None:
    stone = Milestone("M1", "Core", "", (TaskId("T1-a"), TaskId("T1-b")), TaskStatus.PENDING)
    split = split_task()
    story = Story(replace(split.run.facts, milestones=(stone,))).whole("T1-a")
    assert state_of(story)["milestones"][0]["status"] == "in_progress"


@pytest.mark.rows("R24")
def test_phases_are_numbered_from_one_and_hold_their_tasks() -> None:
    state = state_of(four_phases().start("phase-1").finish_unit("phase-1"))
    assert state["phases"] == [["1", "2"], ["3", "4"], ["5", "6"], ["7", "8"]]
    assert [each["phase_index"] for each in state["phase_states"]] == [1, 2, 3, 4]
    assert state["current_phase_index"] == 2


@pytest.mark.rows("D12", "D14")
def test_a_landed_phase_names_the_commits_before_and_after_it() -> None:
    phase = phase_of(four_phases().whole("phase-1", "phase-2"), 2)
    assert phase["status"] == "completed"
    assert phase["pre_phase_commit"] == commit("phase-1")
    assert phase["post_phase_commit"] == commit("phase-2")
    assert phase["review_result"] == {"turn": 1, "approved": True, "findings": []}
    assert [each["status"] for each in phase["subtasks"]] == ["completed", "completed"]


@pytest.mark.rows("D12", "D13", "R24")
def test_a_phase_under_way_names_its_base_and_its_tasks() -> None:
    story = four_phases().start("phase-1").tell(ev.SubtaskCompleted(UnitId("phase-1"), TaskId("1"), 1))
    phase = phase_of(story, 1)
    assert phase["status"] == "running"
    assert phase["pre_phase_commit"] == BASE
    assert phase["post_phase_commit"] is None
    assert phase["review_result"] is None
    assert phase["subtasks"] == [
        {
            "subtask_id": "1",
            "status": "completed",
            "accepted": False,
            "unreported": False,
            "attempt": 1,
            "started_at": "2026-11-02T12:00:03.000Z",
            "completed_at": "2026-11-02T12:00:05.000Z",
            "error": None,
        },
        {
            "subtask_id": "2",
            "status": "running",
            "accepted": False,
            "unreported": False,
            "attempt": 1,
            "started_at": "2026-11-02T12:00:04.000Z",
            "completed_at": None,
            "error": None,
        },
    ]


@pytest.mark.rows("D12")
def test_a_phase_in_its_second_attempt_is_retrying() -> None:
    story = four_phases().start("phase-1").write("phase-1").verify("phase-1", passed=False, feedback="red")
    story.tell(ev.UnitRetried(UnitId("phase-1"), 2, Cause.CHECKS_FAILED, base=BASE, start=BASE))
    phase = phase_of(story, 1)
    assert phase["status"] == "retrying"
    assert [each["status"] for each in phase["subtasks"]] == ["pending", "pending"]
    assert phase["subtasks"][0]["error"] == "red"


def test_a_phase_that_a_person_set_going_again_is_retrying() -> None:
    story = four_phases().start("phase-1").fail("phase-1").tell(ev.UnitReset(UnitId("phase-1")))
    assert phase_of(story, 1)["status"] == "retrying"
    assert phase_of(story, 2)["status"] == "pending"
    assert phase_of(story, 1)["subtasks"][0]["status"] == "pending"


@pytest.mark.rows("D12", "D13")
def test_a_failed_phase_says_which_tasks_the_agent_reported_as_done() -> None:
    phase = UnitId("phase-1")
    story = four_phases().start("phase-1").tell(ev.SubtaskCompleted(phase, TaskId("1"), 1))
    story.write("phase-1", Ending.CRASHED).park("phase-1", Reason.AGENT_LIMIT, "crashed")
    state = phase_of(story, 1)
    assert state["status"] == "failed"
    assert [each["status"] for each in state["subtasks"]] == ["completed", "failed"]
    assert state["subtasks"][1]["error"] == "crashed"
    assert [each["accepted"] for each in state["subtasks"]] == [False, False]
    assert phase_of(story, 3)["status"] == "blocked"


def test_a_skipped_phase_is_skipped_with_its_tasks() -> None:
    phase = phase_of(four_phases().tell(ev.UnitSkipped(UnitId("phase-1"), satisfies=True)), 1)
    assert phase["status"] == "skipped"
    assert [each["status"] for each in phase["subtasks"]] == ["skipped", "skipped"]


def test_there_are_no_phases_in_other_modes() -> None:
    state = state_of(chain(2))
    assert state["phases"] == state["phase_states"] == []
    assert state["current_phase_index"] is None


def test_a_unit_under_way_says_where() -> None:
    story = chain(2).start("1").write("1").step("1", ev.Step.VERIFY)
    assert unit_of(story, "1") == {
        "id": "1",
        "title": "Work of 1",
        "tasks": ["1"],
        "group": 1,
        "status": "running",
        "state": "verifying",
        "attempts": 1,
        "max_attempts": 5,
        "iterations": 1,
        "max_iterations": 1,
        "turns": 1,
        "lane": 1,
        "base": BASE,
        "commit": None,
        "by_person": False,
        "reviewed": False,
        "accepted": [],
        "reason": None,
        "detail": None,
        "question": None,
        "waiting_for": [],
        "waiting_until": None,
        "blocked_by": [],
        "spent": {"cost": None, "tokens_of_unknown_cost": 0, "turns_of_unknown_use": 0},
        "waits_for_person": [],
        "started_at": "2026-11-02T12:00:01.000Z",
        "finished_at": None,
    }
    assert unit_of(story, "2")["waiting_for"] == ["1"]


def test_a_unit_that_waits_for_a_limit_says_until_when() -> None:
    story = chain(1).start("1").write("1", Ending.LIMITED, until="2026-11-02T14:05:00+00:00")
    assert unit_of(story, "1")["state"] == "resting"
    assert unit_of(story, "1")["waiting_until"] == "2026-11-02T14:05:00+00:00"
    unknown = chain(1).start("1").write("1", Ending.LIMITED)
    assert unit_of(unknown, "1")["waiting_until"] is None


def test_a_landed_unit_names_its_commit() -> None:
    each = unit_of(chain(1).whole("1"), "1")
    assert each["state"] == "landed"
    assert each["commit"] == commit("1")
    assert each["finished_at"] is not None


def test_a_parked_unit_lists_the_commands_a_person_can_type() -> None:
    each = unit_of(chain(1).start("1").fail("1"), "1")
    assert each["reason"] == "verify_limit"
    assert each["detail"] == "2 tests fail"
    assert each["waits_for_person"] == [
        "amelia retry demo 1",
        "amelia fix demo 1",
        "amelia skip demo 1",
        "amelia skip demo 1 --satisfied",
        "amelia log demo 1",
        "amelia abort demo",
    ]


def test_a_split_is_offered_where_there_is_a_seam() -> None:
    story = four_phases().start("phase-1").fail("phase-1")
    assert "amelia split demo phase-1" in unit_of(story, "phase-1")["waits_for_person"]


def test_a_command_can_be_copied_whatever_a_unit_is_called() -> None:
    nasty = "x'; rm -rf ~ \x1b[2J"
    story = Story(started(unit(nasty))).start(nasty).fail(nasty)
    assert unit_of(story, nasty)["waits_for_person"][2] == "amelia skip demo 'x'\"'\"'; rm -rf ~ [2J'"


def test_what_waits_for_skipped_work_can_be_skipped_too() -> None:
    story = chain(3).tell(ev.UnitSkipped(ONE, satisfies=False))
    assert unit_of(story, "2")["waits_for_person"] == [
        "amelia skip demo 1 --satisfied",
        "amelia skip demo 2",
        "amelia abort demo",
    ]


def test_what_waits_for_failed_work_needs_nobody_else() -> None:
    assert unit_of(chain(2).start("1").fail("1"), "2")["waits_for_person"] == []


def test_nobody_can_act_on_a_run_that_is_over() -> None:
    story = chain(1).start("1").fail("1").tell(ev.AbortRequested()).end(Result.ABORTED)
    assert unit_of(story, "1")["waits_for_person"] == []


def test_a_run_that_waits_as_a_whole_says_what_to_do() -> None:
    paused = chain(1).tell(ev.PauseRequested(), ev.RunPaused())
    assert state_of(paused)["waits_for_person"] == ["amelia resume demo", "amelia abort demo"]
    red = chain(1).whole("1").tell(ev.BranchCheckStarted(commit("1")), ev.BranchVerified(passed=False))
    assert state_of(red)["waits_for_person"] == []
    red.end(Result.HALTED, Reason.BRANCH_RED)
    assert state_of(red)["waits_for_person"] == ["amelia resume demo", "amelia abort demo"]
    failed = chain(1).start("1").fail("1").end(Result.HALTED, Reason.VERIFY_LIMIT)
    assert state_of(failed)["waits_for_person"] == unit_of(failed, "1")["waits_for_person"]


def test_findings_that_were_ruled_out_are_reported() -> None:
    wrong, later = finding("wrong"), finding("later")
    story = chain(1).start("1").write("1").verify("1").review("1", wrong, later)
    story.rule("1", Ruling(wrong.id, Disposition.REJECT, "not so"), Ruling(later.id, Disposition.DEFER))
    state = state_of(story)
    assert state["rejected_findings"] == [
        {
            "unit": "1",
            "id": wrong.id,
            "text": "wrong",
            "file": "a.py",
            "line": 3,
            "weight": "blocking",
            "reason": "not so",
        }
    ]
    assert [each["text"] for each in state["deferred_findings"]] == ["later"]


def test_tests_that_are_red_by_design_are_named() -> None:
    story = four_phases().start("phase-1").write("phase-1")
    story.verify("phase-1", red=("test_a", "test_b")).review("phase-1").land("phase-1")
    assert state_of(story)["open_red_tests"] == {"phase-1": ["test_a", "test_b"]}
