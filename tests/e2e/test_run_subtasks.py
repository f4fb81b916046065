"""Tasks of a phase: each is told to begin before it ends, and a claim is not shown as a fact."""

from pathlib import Path
from typing import Any

import pytest

from stories import APPROVED, FILES, OK, SETTINGS, Done, Stage, develops, make_stage, rejects

pytestmark = pytest.mark.slow

PHASES = """\
# Phases

## Phase 1: Base
### Task 1.1: Model
Type: chore
### Task 1.2: View
Type: chore
## Phase 2: Rest
### Task 2.1: Words
Type: chore
"""
WRITES = {"run": "echo x >> one; test $(wc -l < one) -lt 2 || echo x > two"}
PHASED = ("--mode", "phased")


def staged(tmp_path: Path, scope: str = "subtask", attempts: int = 1) -> Stage:
    settings = f'{SETTINGS}\n[modes.phased]\nattempts = {attempts}\nsession_scope = "{scope}"\n'
    return make_stage(tmp_path, {**FILES, "amelia.toml": settings})


def subtask_events(done: Done) -> list[dict[str, Any]]:
    return done.of_type("subtask_started", "subtask_completed", "subtask_failed")


def assert_told_in_order(events: list[dict[str, Any]]) -> None:
    """Every task begins exactly once in a turn, and before it ends, which it does once at most."""
    begun: set[tuple[str, int]] = set()
    ended: set[tuple[str, int]] = set()
    for event in events:
        key = event["task"], event["attempt"]
        if event["type"] == "subtask_started":
            assert key not in begun, event
            begun.add(key)
        else:
            assert key in begun, event
            assert key not in ended, event
            ended.add(key)


@pytest.mark.rows("D15")
@pytest.mark.parametrize("scope", ["unit", "subtask"])
def test_a_task_is_told_to_begin_before_it_is_told_to_be_done(tmp_path: Path, scope: str) -> None:
    stage = staged(tmp_path, scope)
    done = stage.run(PHASES, develops("*", WRITES), APPROVED, options=PHASED)
    assert done.outcome == "completed"
    events = subtask_events(done)
    assert_told_in_order(events)
    assert [event["task"] for event in events if event["type"] == "subtask_completed"] == [
        "1.1",
        "1.2",
        "2.1",
    ]


@pytest.mark.rows("D15")
def test_a_task_that_never_began_is_neither_done_nor_failed(tmp_path: Path) -> None:
    stage = staged(tmp_path)
    claims = {
        "status": "failed",
        "summary": "stuck",
        "subtasks_completed": ["1.2"],
        "subtasks_failed": ["1.1"],
    }
    done = stage.run(PHASES, develops("phase-1", report=claims), APPROVED, options=PHASED)
    assert done.outcome == "halted(agent_limit)"
    assert [(event["type"], event["task"]) for event in subtask_events(done)] == [
        ("subtask_started", "1.1"),
        ("subtask_failed", "1.1"),
    ]


@pytest.mark.rows("D15")
def test_a_task_that_was_cut_off_goes_on_without_beginning_anew(tmp_path: Path) -> None:
    stage = staged(tmp_path)
    then = stage.then(develops("*", WRITES), APPROVED)
    limit = {"limit": "2020-01-01T00:00:00+00:00"}
    done = stage.run(PHASES, develops("phase-1", then, limit), APPROVED, options=PHASED)
    assert done.outcome == "completed", done.err
    assert "limited" in [event["ending"] for event in done.of_type("attempt_ended")]
    assert_told_in_order(subtask_events(done))


@pytest.mark.rows("D16")
def test_a_phase_that_was_rejected_tells_claims_from_facts(tmp_path: Path) -> None:
    stage = staged(tmp_path, "unit")
    report = {**OK, "subtasks_completed": ["1.1", "1.2"]}
    done = stage.run(
        PHASES, develops("phase-1", WRITES, report=report), rejects("Another name?"), options=PHASED
    )
    assert done.outcome == "halted(review_limit)"
    lines = stage.amelia("status", stage.name).out.splitlines()
    [phase] = [line for line in lines if "Phase 1" in line and "Base" in line]
    assert "✗ Failed" in phase
    assert "not accepted: review limit" in phase
    claims = [line for line in lines if "Model" in line or "View" in line]
    assert len(claims) == 2
    assert all("✓" in line and "reported done" in line for line in claims)
    [state, _] = stage.status()["phase_states"]
    assert [(task["status"], task["accepted"]) for task in state["subtasks"]] == [("completed", False)] * 2


@pytest.mark.rows("D16")
def test_a_phase_that_landed_shows_facts_only(tmp_path: Path) -> None:
    stage = staged(tmp_path, "unit")
    stage.run(PHASES, develops("*", WRITES), APPROVED, options=PHASED)
    text = stage.amelia("status", stage.name).out
    assert "reported" not in text
    assert "not accepted" not in text
    accepted = [task["accepted"] for state in stage.status()["phase_states"] for task in state["subtasks"]]
    assert accepted == [True, True, True]
