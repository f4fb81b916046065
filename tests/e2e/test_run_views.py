"""Every view of a run says the same: one status for a unit, and three numbers that are not mixed up."""

import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from stories import APPROVED, FILES, SETTINGS, Stage, develops, make_stage, rejects, tasks, writes

pytestmark = pytest.mark.slow

FAILS = {"run": "date +%s%N >> broken"}  # never twice the same
LIMITS = f"{SETTINGS}\n[modes.lifecycle]\nattempts = 2\nmax_iterations = 3\n\n[modes.tasks]\nattempts = 3\n"
CHAIN = """\
# Chain

### Task 1: First
- Priority: high
- Files: create first.txt
- Acceptance criteria: there is a file
### Task 2: Second
- Depends on: 1
- Files: create second.txt
- Acceptance criteria: there is a file
### Task 3: Third
- Files: create third.txt
- Acceptance criteria: there is a file
"""
QUESTION = {
    "status": "partial",
    "summary": "I need to know.",
    "needs_clarification": {"question": "Which colour?", "options": ["red", "blue"]},
}
COUNTERS = ("attempts", "iterations", "turns")


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path, {**FILES, "amelia.toml": LIMITS})


def by_view(stage: Stage) -> dict[str, dict[str, dict[str, Any]]]:
    """Returns the units of a run, by view and by id: the three views that programs read."""
    recorded = json.loads((stage.directory / "record/execution-state.json").read_text())
    reported = stage.amelia("report", stage.name, "--json").json
    return {
        "status": {unit["id"]: unit for unit in stage.status()["units"]},
        "record": {unit["id"]: unit for unit in recorded["units"]},
        "report": {unit["unit"]: unit for unit in reported["units"]},
    }


def tree_words(stage: Stage) -> dict[str, str]:
    """Returns the word that the tree has for each unit."""
    text = stage.amelia("status", stage.name).out
    return dict(re.findall(r"^\s*Task (\S+): . ((?:Asks you|Over budget|\w+))", text, re.MULTILINE))


def agreed(stage: Stage, *keys: str) -> dict[str, tuple[Any, ...]]:
    """Returns what all views say of the units, which has to be the same."""
    views = [
        {unit: tuple(each[key] for key in keys) for unit, each in view.items()}
        for view in by_view(stage).values()
    ]
    assert views[0] == views[1] == views[2]
    return views[0]


@pytest.mark.rows("L1", "L18", "L26", "T12")
def test_iterations_are_no_attempts_in_any_view(stage: Stage) -> None:
    done = stage.run(CHAIN, develops("1", FAILS), writes("3", "third.txt"), APPROVED)
    assert done.outcome == "needs_human(verify_limit)"
    assert len(done.of_type("attempt_ended")) == 2 * 3 + 1
    assert agreed(stage, *COUNTERS) == {"1": (2, 3, 6), "2": (0, 0, 0), "3": (1, 1, 1)}
    state = stage.status()
    [first] = [task for task in state["tasks"] if task["id"] == "1"]
    assert [first[key] for key in (*COUNTERS, "max_attempts", "max_iterations")] == [2, 3, 6, 2, 3]
    assert state["task_review_iteration"] == 2
    line = next(line for line in stage.amelia("status", stage.name).out.splitlines() if "Task 1:" in line)
    assert "2 attempts · 3 iterations" in line
    log = stage.amelia("log", stage.name, "1").out
    assert "turn 2  goes on from what there is, iteration 2/3" in log
    assert "turn 4  tries again, attempt 2/2" in log
    assert not re.search(r"attempt [3-9]", log)


@pytest.mark.rows("L27")
def test_attempts_start_anew_when_a_person_lets_a_unit_try_again(stage: Stage) -> None:
    stage.run(tasks("One"), develops("1", FAILS), APPROVED)
    assert agreed(stage, *COUNTERS) == {"1": (3, 1, 3)}
    stage.play(develops("1", {"run": "rm broken; echo x > a"}), APPROVED)
    assert stage.amelia("retry", stage.name, "1").code == 0
    assert stage.amelia("resume", stage.name, "--json").outcome == "completed"
    assert agreed(stage, *COUNTERS) == {"1": (1, 1, 4)}
    assert stage.status()["tasks"][0]["max_attempts"] == 3


def test_an_answered_question_is_no_attempt(stage: Stage) -> None:
    stage.run(
        tasks("One"),
        develops("1", {"write": "half", "text": "x"}, attempt=1, report=QUESTION),
        writes("1", "a", attempt=2),
        APPROVED,
    )
    assert agreed(stage, "status", *COUNTERS) == {"1": ("asking", 1, 1, 1)}
    assert stage.status()["failed_task_ids"] == []
    assert stage.amelia("answer", f"{stage.name}/1", "1").code == 0
    assert stage.amelia("resume", stage.name, "--json").outcome == "completed"
    assert agreed(stage, "status", *COUNTERS) == {"1": ("completed", 1, 1, 2)}
    assert "attempts" not in next(
        line for line in stage.amelia("status", stage.name).out.splitlines() if "Task 1:" in line
    )


@pytest.mark.rows("L2", "L3", "R24", "R28")
def test_a_unit_has_one_status_in_all_views(stage: Stage) -> None:
    done = stage.run(CHAIN, develops("1", FAILS), writes("3", "third.txt"), APPROVED)
    assert done.outcome == "needs_human(verify_limit)"
    assert agreed(stage, "status") == {"1": ("failed",), "2": ("blocked",), "3": ("completed",)}
    assert tree_words(stage) == {"1": "Failed", "2": "Blocked", "3": "Done"}
    assert {task["id"]: task["status"] for task in stage.status()["tasks"]} == {
        "1": "failed",
        "2": "blocked",
        "3": "completed",
    }
    page = stage.amelia("report", stage.name).out
    assert "Task 2: Second: blocked" in page
    assert stage.amelia("skip", stage.name, "1").code == 0
    assert stage.amelia("resume", stage.name, "--json").outcome == "needs_human(blocked)"
    assert agreed(stage, "status") == {"1": ("skipped",), "2": ("blocked",), "3": ("completed",)}
    assert tree_words(stage) == {"1": "Skipped", "2": "Blocked", "3": "Done"}


def test_a_unit_that_was_under_way_when_the_run_stopped_is_stopped_in_all_views(stage: Stage) -> None:
    waits, goes_on = stage.room / "waits", stage.room / "goes-on"
    slow = {"run": f"echo x > '{waits}'; until test -e '{goes_on}'; do sleep 0.05; done; echo x > a"}
    rejected = rejects("Another name?", attempt=1)
    arguments = stage.put(tasks("One", "Two"), develops("1", slow, attempt=2), writes("1", "b"), rejected)
    started = stage.start(*arguments)
    started.until(waits.exists, "the second turn")
    state = stage.status()
    assert (state["outcome"], state["units"][0]["status"]) == ("running", "retrying")
    assert tree_words(stage) == {"1": "Retrying", "2": "Pending"}
    started.send(signal.SIGINT)
    started.until(lambda: "pause_requested" in started.done().out, "that it is to stop")
    goes_on.touch()
    assert started.wait().code == 130
    assert stage.status()["outcome"] == "paused"
    assert agreed(stage, "status") == {"1": ("stopped",), "2": ("pending",)}
    assert tree_words(stage) == {"1": "Stopped", "2": "Pending"}
    recorded = json.loads((stage.directory / "record/execution-state.json").read_text())
    assert recorded["status"] == stage.amelia("report", stage.name, "--json").json["status"] == "paused"


def test_runs_are_listed_in_the_same_order_for_people_and_for_programs(stage: Stage) -> None:
    stage.run(tasks("One"), writes("1", "a"), APPROVED)
    drafted = {"role": "architect", "report": {"goal": "Greet", "tasks": [{"id": "1", "title": "Greet"}]}}
    stage.play(drafted, writes("*", "b"), APPROVED)
    script = ("--script", str(stage.room / "script.toml"), "--no-input", "--json")
    stage.amelia("run", "greet people", *script)
    stage.play(writes("1", "c"), APPROVED)
    stage.amelia("run", str(stage.room / "plan.md"), *script, "--again")
    shown = [line.split()[0] for line in stage.amelia("status").out.splitlines()]
    assert shown == [each["run"] for each in stage.amelia("status", "--json").json]
    assert len(shown) == 3
