"""Small things that were said of a run are not lost: remarks of reviewers, notes of the checks."""

from pathlib import Path
from typing import Any

import pytest

from stories import APPROVED, FILES, SETTINGS, Stage, develops, make_stage, tasks, writes

pytestmark = pytest.mark.slow

ONCE = f"{SETTINGS}\n[modes.lifecycle]\nattempts = 1\nmax_iterations = 1\n\n[modes.tasks]\nattempts = 1\n"
REMARKS: Any = [
    {"text": "A shorter name would do.", "file": "a", "line": 1, "severity": "minor"},
    {"text": "Say why.", "severity": "minor"},
]
DECLARED = """\
# Declared

### Task 1: First
- Files: create a.txt
Do it.
"""


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path, {**FILES, "amelia.toml": ONCE})


@pytest.mark.rows("R25")
def test_minor_remarks_of_a_review_that_approves_are_in_the_report(stage: Stage) -> None:
    approves = {"role": "reviewer", "report": {"approved": True, "comments": REMARKS}}
    done = stage.run(tasks("One"), writes("1", "a"), approves)
    assert done.outcome == "completed"
    page = stage.amelia("report", stage.name).out
    assert "## Remarks of reviews that approved" in page
    assert "- 1: a:1: A shorter name would do." in page
    assert "- 1: Say why." in page
    remarks = stage.amelia("report", stage.name, "--json").json["remarks"]
    assert [(each["unit"], each["remark"]) for each in remarks] == [
        ("1", "a:1: A shorter name would do."),
        ("1", "Say why."),
    ]
    kept = next((stage.directory / "record").glob("report.md")).read_text()
    assert "A shorter name would do." in kept


def test_a_report_without_remarks_says_so(stage: Stage) -> None:
    stage.run(tasks("One"), writes("1", "a"), APPROVED)
    assert "## Remarks of reviews that approved\nNone." in stage.amelia("report", stage.name).out


@pytest.mark.parametrize("of_unit", [False, True], ids=["run", "unit"])
def test_the_log_shows_every_note_of_the_checks(stage: Stage, of_unit: bool) -> None:  # noqa: FBT001
    files = ("a.txt", "b.txt", "c.txt", "d.txt")
    done = stage.run(DECLARED, writes("1", *files), APPROVED)
    [verified] = done.of_type("attempt_verified")
    notes = verified["notes"]
    assert len(notes) >= 1
    log = stage.amelia("log", stage.name, *(["1"] if of_unit else [])).out
    for note in notes:
        assert log.count(note) == 1, log


def offered(stage: Stage) -> list[str]:
    return [way for unit in stage.status()["units"] for way in unit["waits_for_person"] if " split " in way]


@pytest.mark.rows("L7")
def test_a_split_is_offered_only_where_there_is_a_seam(stage: Stage) -> None:
    stage.run(tasks("One"), develops("1", {"append": "broken", "text": "x"}), APPROVED)
    assert offered(stage) == []
    assert "amelia split" not in stage.amelia("status", stage.name).out
    assert "split" not in stage.amelia("inbox").out
    refused = stage.amelia("answer", f"{stage.name}/1", "split")
    assert (refused.code, "cannot be answered" in refused.err) == (2, True)
    assert stage.amelia("split", stage.name, "1").code == 2


@pytest.mark.rows("L7")
def test_a_unit_with_a_seam_can_be_split(stage: Stage) -> None:
    plan = (
        "# Seam\n\n### Task 1: First\n- Files: create src/models/a.py, src/api/a.py\n"
        "- Acceptance criteria:\n  - there is a model\n  - there is an api\n"
    )
    stage.run(plan, develops("1", {"append": "broken", "text": "x"}), APPROVED)
    assert offered(stage) == [f"amelia split {stage.name} 1"]
