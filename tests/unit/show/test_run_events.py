"""Every event of a journal becomes one JSON object, and the reference lists them all."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest

from amelia.model import events as ev
from amelia.model.facts import RunId
from amelia.model.findings import Disposition, Ruling
from amelia.model.journal import Recorded
from amelia.model.outcome import Cause, Reason, Result
from amelia.model.plan import Mode, TaskId, UnitId
from amelia.show.run.events import event_json, event_type, events_page
from runs import chain, commit, finding, four_phases

PAGE = Path(__file__).parents[3] / "docs/reference/events.md"
KINDS: tuple[type[ev.Event], ...] = get_args(ev.Event)
ONE = UnitId("1")


def shown(recorded: Recorded, mode: Mode = Mode.TASKS) -> dict[str, Any]:
    """Returns an event as it arrives at the other end of a pipe."""
    return json.loads(json.dumps(event_json(recorded, run=RunId("demo"), mode=mode)))


def last(story: Any) -> dict[str, Any]:
    return shown(story.records[-1], story.run.facts.mode)


def test_every_event_says_when_and_of_which_run() -> None:
    told = last(chain(1).tell(ev.RunResumed(7)))
    assert told == {
        "seq": 2,
        "ts": "2026-11-02T12:00:01.000Z",
        "run": "demo",
        "type": "run_resumed",
        "process": 7,
    }


def test_a_run_starts_with_its_units_but_without_their_insides() -> None:
    told = shown(four_phases().records[0], Mode.PHASED)
    assert told["type"] == "run_started"
    assert told["goal"] == "Build the API"
    assert told["policy"]["attempts"] == 2
    assert told["units"][3] == {
        "id": "phase-4",
        "title": "Implement APIs",
        "tasks": ["7", "8"],
        "depends_on": ["phase-1", "phase-2"],
        "group": 2,
    }
    assert "footprints" not in told
    assert "milestones" not in told


@pytest.mark.rows("D15")
def test_what_happens_to_a_unit_is_said_of_a_phase_or_of_a_task() -> None:
    kinds = (ev.UnitStarted, ev.UnitRetried, ev.UnitLanded, ev.UnitParked, ev.UnitSkipped)
    assert [event_type(kind, Mode.PHASED) for kind in kinds] == [
        "phase_started",
        "phase_retry",
        "phase_completed",
        "phase_failed",
        "phase_skipped",
    ]
    for mode in (Mode.TASKS, Mode.SINGLE, Mode.LIFECYCLE):
        assert [event_type(kind, mode) for kind in kinds] == [
            "task_started",
            "task_retry",
            "task_completed",
            "task_failed",
            "task_skipped",
        ]


def test_subtasks_and_steps_have_names_of_their_own() -> None:
    story = four_phases().start("phase-1")
    told = [shown(each, Mode.PHASED) for each in story.records[1:]]
    assert [each["type"] for each in told] == [
        "phase_started",
        "step_started",
        "subtask_started",
        "subtask_started",
    ]
    assert told[1]["step"] == "drive"
    assert told[2]["task"] == "1"
    failed = story.tell(ev.SubtaskFailed(UnitId("phase-1"), TaskId("1"), 1))
    assert last(failed)["type"] == "subtask_failed"


def test_a_finished_run_says_its_outcome_in_one_word_and_in_parts() -> None:
    told = last(chain(1).start("1").fail("1").end(Result.HALTED, Reason.REVIEW_LIMIT))
    assert told["outcome"] == "halted(review_limit)"
    assert told["result"] == "halted"
    assert told["reason"] == "review_limit"
    completed = last(chain(1).whole("1").end(Result.COMPLETED))
    assert completed["outcome"] == "completed"
    assert "reason" not in completed


def test_what_has_no_value_is_left_out_but_no_is_an_answer() -> None:
    story = chain(1).start("1").write("1")
    assert "summary" not in last(story)
    assert last(story)["work"] == {
        "commit": commit("11"),
        "tree": commit("tree 11"),
    }
    story.verify("1", passed=False)
    assert last(story)["passed"] is False
    assert "problems" not in last(story)


def test_findings_and_rulings_are_plain_json() -> None:
    found = finding("no docstring")
    story = chain(1).start("1").write("1").verify("1").review("1", found)
    assert last(story)["findings"] == [
        {"id": found.id, "text": "no docstring", "file": "a.py", "line": 3, "weight": "blocking"}
    ]
    story.rule("1", Ruling(found.id, Disposition.IMPLEMENT, "it is right"))
    assert last(story)["rulings"][0]["disposition"] == "IMPLEMENT"
    assert last(story.retry("1", Cause.REJECTED))["attempt"] == 2


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_type_of_event_has_a_name_in_every_mode(kind: type[ev.Event]) -> None:
    assert all(event_type(kind, mode) for mode in Mode)


def test_no_two_types_of_events_share_a_name() -> None:
    for mode in Mode:
        assert len({event_type(kind, mode) for kind in KINDS}) == len(KINDS)


def test_no_event_hides_its_number_or_type() -> None:
    assert not any({"seq", "ts", "type"} & {field.name for field in fields(kind)} for kind in KINDS)


def test_the_reference_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == events_page()


def test_the_reference_lists_every_type_of_event() -> None:
    rows = [line for line in events_page().splitlines() if line.startswith("| `")]
    assert len(rows) == len(KINDS)
    for mode in Mode:
        assert all(f"`{event_type(kind, mode)}`" in events_page() for kind in KINDS)
