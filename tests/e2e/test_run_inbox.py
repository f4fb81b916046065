"""Everything that waits for a person, in one place: questions, what failed, what is blocked, what ran out."""

import contextlib
import signal
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from stories import (
    APPROVED,
    FILES,
    SETTINGS,
    Done,
    Stage,
    Started,
    develops,
    make_stage,
    rejects,
    tasks,
    writes,
)

pytestmark = pytest.mark.slow

ONCE = f"{SETTINGS}\n[modes.lifecycle]\nattempts = 1\nmax_iterations = 2\n\n[modes.tasks]\nattempts = 1\n"
FAILS = {"append": "broken", "text": "again\n"}
CHAIN = """\
# Chain

### Task 1: First
- Priority: high
- Files: create first.txt
- Acceptance criteria: there is a file
### Task 2: Second
- Depends on: 1
- Files: create src/models/second.py, src/api/second.py
- Acceptance criteria: there is a model, there is an api
"""


def asks(**more: Any) -> dict[str, Any]:
    """Describes a report that ends with a question."""
    question = {"question": "Which colour?", "options": ["red", "blue"], **more}
    return {"status": "partial", "summary": "I need to know.", "needs_clarification": question}


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path, {**FILES, "amelia.toml": ONCE})


def goes_on(stage: Stage) -> Done:
    return stage.amelia("resume", stage.name, "--json")


def inbox(stage: Stage, *options: str) -> list[dict[str, Any]]:
    done = stage.amelia("inbox", "--json", *options)
    assert done.code == 0
    return done.json


def test_a_question_is_answered_by_number_in_the_session_that_asked(stage: Stage) -> None:
    done = stage.run(
        tasks("One", "Two"),
        develops("1", {"write": "half", "text": "x"}, attempt=1, report=asks(default="red")),
        develops("1", {"write": "a", "text": "x"}, attempt=2),
        writes("2", "b"),
        APPROVED,
    )
    assert (done.code, done.outcome) == (4, "needs_human(question)")
    [item] = inbox(stage)
    assert (item["id"], item["kind"], item["blocks"]) == (f"{stage.name}/1", "question", ["2"])
    assert item["question"]["options"] == ["red", "blue"]
    assert item["since"]
    text = stage.amelia("inbox").out
    assert "Which colour?" in text
    assert "answer: red, which is the default" in text

    vague = stage.amelia("answer", stage.name, "2")
    assert (vague.code, f"what does: {stage.name}/1" in vague.err) == (2, True)
    assert stage.amelia("answer", f"{stage.name}/1", "2").code == 0
    assert goes_on(stage).outcome == "completed"
    [first], [second] = stage.turns("1", 1), stage.turns("1", 2)
    assert second["session"] == first["session"]
    assert "Which colour?" in second["prompt"]
    assert "blue" in second["prompt"]
    assert stage.files(stage.log("%H")[0]) == ["a", "half"]
    assert inbox(stage) == []
    assert "nothing waits for you" in stage.amelia("inbox").out


def test_an_answer_may_begin_with_the_name_of_a_command(stage: Stage) -> None:
    turns = develops("1", attempt=1, report=asks()), develops("1", {"write": "a", "text": "x"}, attempt=2)
    stage.run(tasks("One"), *turns, APPROVED)
    assert stage.amelia("answer", f"{stage.name}/1", "skip", "the", "colour").code == 0
    assert goes_on(stage).outcome == "completed"
    assert "skip the colour" in stage.prompt("1", 2)


def test_a_question_nobody_answered_in_time_is_answered_with_its_default(stage: Stage) -> None:
    done = stage.run(
        tasks("One"),
        develops("1", attempt=1, report=asks(default="red", deadline_minutes=0)),
        writes("1", "a", attempt=2),
        APPROVED,
    )
    assert done.outcome == "completed"
    assert [(event["answer"], event["by_default"]) for event in done.of_type("question_answered")] == [
        ("red", True)
    ]


def waiting(stage: Stage) -> Started:
    """Starts a run that soon has nothing to do but to wait for an answer, or for an hour to pass."""
    asked = develops("1", attempt=1, report=asks(default="red", deadline_minutes=60))
    started = stage.start(*stage.put(tasks("One"), asked, writes("1", "a", attempt=2), APPROVED))
    started.until(lambda: is_asking(started), "the question")
    return started


def is_asking(started: Started) -> bool:
    return "needs_human(question)" in started.done().out


def set_deadline(stage: Stage, moment: datetime) -> None:
    """Has the time of the question come at another moment."""
    [item] = inbox(stage)
    base = sqlite3.connect(stage.directory / "journal.db")
    with contextlib.closing(base), base:
        said = (item["question"]["deadline"], moment.isoformat())
        base.execute("UPDATE events SET body = replace(CAST(body AS TEXT), ?, ?)", said)


def soon() -> datetime:
    return datetime.now(UTC) + timedelta(seconds=6)


def test_a_run_that_is_driven_waits_for_the_time_of_a_default_and_takes_an_answer_before(
    stage: Stage,
) -> None:
    driver = waiting(stage)
    assert driver.process.poll() is None, "it is not time yet"
    assert stage.status()["outcome"] == "needs_human(question)"
    assert stage.amelia("answer", f"{stage.name}/1", "2").code == 0
    done = driver.wait()
    assert (done.code, done.outcome) == (0, "completed")
    assert [event.get("by_default", False) for event in done.of_type("question_answered")] == [False]


def test_whoever_resumes_a_run_that_waits_stays_until_the_default_counts(stage: Stage) -> None:
    waiting(stage).kill()
    set_deadline(stage, soon())
    done = goes_on(stage)
    assert (done.code, done.outcome) == (0, "completed")
    assert [event["by_default"] for event in done.of_type("question_answered")] == [True]


def test_whoever_follows_a_run_that_waits_takes_the_default_if_its_driver_is_gone(stage: Stage) -> None:
    waiting(stage).kill()
    set_deadline(stage, datetime.now(UTC) + timedelta(seconds=20))
    driver = stage.start("resume", stage.name, "--json")
    driver.until(lambda: is_asking(driver), "the driver")
    follower = stage.start("resume", stage.name, "--json")
    follower.until(lambda: is_asking(follower), "the follower")
    driver.kill()
    done = follower.wait()
    assert (done.code, done.outcome) == (0, "completed")
    assert done.of_type("question_answered")[-1]["by_default"]


def test_a_person_can_leave_a_run_that_waits(stage: Stage) -> None:
    driver = waiting(stage)
    driver.send(signal.SIGINT)
    assert driver.wait().code == 130
    assert stage.status()["outcome"] == "needs_human(question)"
    assert [item["kind"] for item in inbox(stage)] == ["question"]
    assert stage.amelia("abort", stage.name).code == 0
    assert stage.status()["outcome"] == "aborted"


def test_a_default_whose_time_is_up_counts_when_the_run_goes_on_and_that_is_said(stage: Stage) -> None:
    waiting(stage).kill()
    [item] = inbox(stage)
    deadline = item["question"]["deadline"]
    assert f"by default after {deadline}: red" in stage.amelia("inbox").out
    resume = f"amelia resume {stage.name}"
    assert any(resume in line and f"after {deadline}" in line for line in shown(stage, "status", stage.name))
    set_deadline(stage, datetime(2020, 1, 1, tzinfo=UTC))
    lines = shown(stage, "inbox")
    assert "by default, for its time is up, as soon as the run goes on: red" in "\n".join(lines)
    assert any(resume in line for line in lines)
    done = goes_on(stage)
    assert done.outcome == "completed"
    assert [event["by_default"] for event in done.of_type("question_answered")] == [True]


def shown(stage: Stage, *command: str) -> list[str]:
    return stage.amelia(*command).out.splitlines()


def test_what_a_person_leaves_of_a_review_is_not_asked_for_again(stage: Stage) -> None:
    clarify = {"items": [{"finding": 1, "disposition": "CLARIFY", "reason": "who knows"}]}
    done = stage.run(
        tasks("One"),
        writes("1", "a"),
        rejects("Use another name?"),
        {"role": "evaluator", "report": clarify},
    )
    assert (done.code, done.outcome) == (4, "needs_human(question)")
    assert [way["effect"] for way in inbox(stage)[0]["choices"][:2]] == ["answer: do it", "answer: leave it"]
    assert stage.amelia("answer", f"{stage.name}/1", "leave it").code == 0
    assert goes_on(stage).outcome == "completed"
    [ruled] = stage.status()["rejected_findings"]
    assert (ruled["text"], ruled["reason"]) == ("Use another name?", "a person: leave it")


def test_what_failed_is_answered_as_the_command_of_that_name_does_it(stage: Stage) -> None:
    stage.run(CHAIN, develops("1", FAILS), writes("2", "second.txt"), APPROVED)
    [item] = inbox(stage)
    assert (item["kind"], item["unit"], item["blocks"]) == ("parked", "1", ["2"])
    assert stage.amelia("answer", item["id"], "skip").code == 0
    assert goes_on(stage).outcome == "needs_human(blocked)"
    [blocked] = inbox(stage)
    assert (blocked["kind"], blocked["unit"]) == ("blocked", "2")
    assert stage.amelia("answer", blocked["id"], "abort").code == 0
    assert stage.status()["outcome"] == "aborted"
    gone = stage.amelia("answer", blocked["id"], "abort")
    assert gone.code == 2
    assert "does not wait for you" in gone.err


def test_an_answer_that_is_not_offered_is_refused_and_says_what_is(stage: Stage) -> None:
    stage.run(tasks("One"), develops("1", FAILS), APPROVED)
    refused = stage.amelia("answer", f"{stage.name}/1", "approve")
    assert refused.code == 2
    assert "retry" in refused.err
    assert stage.amelia("answer", stage.name, "skip").code == 2


def test_what_waits_elsewhere_is_shown_when_all_is_asked_for(stage: Stage, tmp_path: Path) -> None:
    stage.run(tasks("One"), develops("1", FAILS), APPROVED)
    other = make_stage(tmp_path / "other")
    assert Stage(tmp_path, other.repo, stage.home).amelia("inbox", "--json").json == []
    [item] = Stage(tmp_path, other.repo, stage.home).amelia("inbox", "--all", "--json").json
    assert item["repository"] == str(stage.repo.path)


@pytest.mark.rows("L18")
def test_failed_checks_are_followed_by_a_fresh_session_on_the_same_files(stage: Stage) -> None:
    promised = {"status": "completed", "summary": "<promise>DONE</promise>"}
    done = stage.run(
        CHAIN,
        develops("1", {"write": "first.txt", "text": "x"}, FAILS, attempt=1, report=promised),
        develops("1", {"run": "test -e first.txt && rm broken"}, attempt=2),
        writes("2", "src/models/second.py", "src/api/second.py"),
        APPROVED,
    )
    assert done.outcome == "completed"
    [iterated] = done.of_type("task_iterated")
    assert (iterated["attempt"], iterated["iteration"]) == (2, 2)
    assert [event["promised"] for event in done.of_type("attempt_ended")] == [True, False, False]
    [first], [second] = stage.turns("1", 1), stage.turns("1", 2)
    assert first["session"] != second["session"]
    assert "This work was declared to be done" in second["prompt"]
    assert "go on from there" in second["prompt"]


def test_a_parked_task_is_cut_by_the_rules_and_carried_out_in_pieces(stage: Stage) -> None:
    stage.run(
        CHAIN,
        writes("1", "first.txt"),
        develops("2", FAILS),
        writes("2-a", "src/models/second.py"),
        writes("2-b", "src/api/second.py"),
        APPROVED,
    )
    done = stage.amelia("answer", f"{stage.name}/2", "split")
    assert "2 is split into 2-a, 2-b" in done.out
    assert goes_on(stage).outcome == "completed"
    assert stage.subjects() == [
        "Task 1: First",
        "Task 2-a: Second (1/2): data layer",
        "Task 2-b: Second (2/2): presentation layer",
    ]
    assert stage.status()["completed_task_ids"] == ["1", "2"]
    assert "landed" in stage.amelia("log", stage.name, "2-a").out


def test_a_task_can_be_split_by_hand(stage: Stage) -> None:
    stage.run(tasks("One"), develops("1", FAILS), writes("1-a", "a"), writes("1-b", "b"), APPROVED)
    none = stage.amelia("split", stage.name, "1")
    assert none.code == 2
    assert "--edit" in none.err
    text = stage.room / "pieces.md"
    text.write_text("### Task 7: This\nDo this.\n\n### Task 8: That\n- Depends on: 7\nDo that.\n")
    editor = {"VISUAL": f"cp {text}", "EDITOR": f"cp {text}"}
    done = stage.amelia("split", stage.name, "1", "--edit", env=editor)
    assert "1 is split into 1-a, 1-b" in done.out
    assert goes_on(stage).outcome == "completed"
    assert stage.subjects() == ["Task 1-a: This", "Task 1-b: That"]


PHASE = """\
# Phases

## Phase 1: Base
### Task 1.1: Model
Type: chore
### Task 1.2: View
Type: chore
"""


@pytest.mark.rows("D5")
def test_every_task_of_a_phase_can_have_a_session_of_its_own(tmp_path: Path) -> None:
    stage = make_stage(
        tmp_path, {**FILES, "amelia.toml": f'{SETTINGS}\n[modes.phased]\nsession_scope = "subtask"\n'}
    )
    done = stage.run(
        PHASE,
        develops("phase-1", {"run": "test -e one && echo x > two || echo x > one"}, attempt=1),
        APPROVED,
        options=["--mode", "phased"],
    )
    assert done.outcome == "completed"
    first, second = stage.turns("phase-1", 1)
    assert first["session"] != second["session"]
    assert "Model" in first["prompt"]
    assert "View" not in first["prompt"]
    assert "View" in second["prompt"]
    told = [(event["type"], event["task"]) for event in done.of_type("subtask_started", "subtask_completed")]
    assert told == [
        ("subtask_started", "1.1"),
        ("subtask_completed", "1.1"),
        ("subtask_started", "1.2"),
        ("subtask_completed", "1.2"),
    ]
    assert stage.files(stage.log("%H")[0]) == ["one", "two"]


@pytest.mark.parametrize("silent", ["one", "two"])
def test_a_task_whose_session_reports_nothing_keeps_nobody_waiting(tmp_path: Path, silent: str) -> None:
    stage = make_stage(
        tmp_path, {**FILES, "amelia.toml": f'{SETTINGS}\n[modes.phased]\nsession_scope = "subtask"\n'}
    )
    report = f"""test -e two && now=two || now=one; test $now = {silent} || echo '{{"type": "result", "report": {{"status": "completed"}}}}' > /proc/$PPID/fd/1"""
    writes = {"run": "test -e one && echo x > two || echo x > one"}
    turn = {"role": "developer", "do": [writes, {"run": report}]}
    done = stage.run(PHASE, turn, APPROVED, options=["--mode", "phased"])
    assert done.outcome == "completed", done
    completed = [event["task"] for event in done.of_type("subtask_completed")]
    assert completed == [{"one": "1.2", "two": "1.1"}[silent]]
    assert stage.files(stage.log("%H")[0]) == ["one", "two"]
    assert stage.amelia("status", stage.name).out.count("not reported") == 1


@pytest.mark.rows("D7")
def test_a_phase_stops_at_the_first_task_that_fails(tmp_path: Path) -> None:
    settings = f'{SETTINGS}\n[modes.phased]\nattempts = 1\nsession_scope = "subtask"\n'
    stage = make_stage(tmp_path, {**FILES, "amelia.toml": settings})
    failed = {"status": "failed", "summary": "cannot"}
    done = stage.run(PHASE, develops("phase-1", report=failed), APPROVED, options=["--mode", "phased"])
    assert done.outcome == "halted(agent_limit)"
    assert len(stage.turns("phase-1", 1)) == 1
    assert [event["task"] for event in done.of_type("subtask_started")] == ["1.1"]
    assert [event["task"] for event in done.of_type("subtask_failed")] == ["1.1"]


def test_a_budget_that_is_used_up_is_raised_by_an_answer(stage: Stage) -> None:
    used = {"cost": 2.0}
    plan = tasks("One", "Two")
    turns = (
        develops("1", {"write": "a", "text": "x"}, usage=used),
        develops("2", {"write": "b", "text": "x"}, usage=used),
        {**APPROVED, "usage": used},
    )
    done = stage.run(plan, *turns, options=["--max-cost", "3"])
    assert (done.code, done.outcome) == (6, "halted(budget)")
    [item] = inbox(stage)
    assert (item["id"], item["kind"]) == (stage.name, "budget")
    raised = stage.amelia("answer", stage.name, "raise", "100")
    assert raised.code == 0
    assert stage.status()["outcome"] == "completed"


def test_a_plan_that_waits_for_approval_is_in_the_inbox_and_approved_by_an_answer(stage: Stage) -> None:
    task = {
        "id": "1",
        "title": "Greet",
        "type": "chore",
        "files_to_create": ["a.txt"],
        "description": "Do it.",
    }
    drafted = {"role": "architect", "report": {"goal": "Greet people", "tasks": [task]}}
    stage.play(drafted, writes("*", "a.txt"), APPROVED)
    done = stage.amelia("run", "greet people", "--script", stage.room / "script.toml", "--no-input", "--json")
    assert done.code == 4, done.err
    [item] = inbox(stage)
    assert (item["id"], item["kind"], item["goal"]) == (stage.name, "approval", "greet people")
    assert not item["detail"]
    assert stage.amelia("answer", stage.name, "approve").code == 0
    assert goes_on(stage).outcome == "completed"
    assert inbox(stage) == []
