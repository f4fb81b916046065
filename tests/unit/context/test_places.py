"""Names of execution directories: made of plain letters, never the same twice."""

from datetime import date

import pytest

from amelia.context.places import Places, make_execution_dir_name, unit_directory
from amelia.model.plan import Mode, UnitId

DAY = date(2026, 1, 5)


@pytest.mark.rows("R13")
@pytest.mark.parametrize(
    ("tracker", "goal", "name"),
    [
        ("ISSUE-123", "Add user authentication", "2026-01-05-ISSUE-123-add-user-authentication"),
        (None, "Add user authentication", "2026-01-05-add-user-authentication"),
        ("group/project#7", "Über {{x}} `rm -rf /` ../..", "2026-01-05-group-project-7-uber-x-rm-rf"),
        (None, "加用户", "2026-01-05-plan"),
        ("", "", "2026-01-05-plan"),
        (None, "word " * 40, "2026-01-05-word-word-word-word-word-word-word-word-word-word"),
        (None, "x" * 300, "2026-01-05-" + "x" * 50),
    ],
)
def test_a_name_tells_the_day_the_issue_and_the_goal(tracker: str | None, goal: str, name: str) -> None:
    assert make_execution_dir_name(DAY, tracker=tracker, goal=goal, taken=()) == name


def test_a_name_that_is_taken_gets_a_number() -> None:
    taken = {"2026-01-05-plan", "2026-01-05-plan-2"}
    assert make_execution_dir_name(DAY, tracker=None, goal="", taken=taken) == "2026-01-05-plan-3"


@pytest.mark.parametrize(
    ("unit", "mode", "name"),
    [
        ("phase-2", Mode.PHASED, "phase-2"),
        ("3", Mode.TASKS, "task-3"),
        ("T-01", Mode.LIFECYCLE, "task-T-01"),
        ("../x", Mode.TASKS, "task-%2E%2E%2Fx"),
        ("plan", Mode.SINGLE, "plan"),
    ],
)
def test_a_unit_has_a_directory_of_its_own(unit: str, mode: Mode, name: str) -> None:
    assert unit_directory(UnitId(unit), mode) == name
    places = Places("docs/amelia/x", mode)
    assert places.summary(UnitId(unit)) == f"docs/amelia/x/{name}/summary.md"
    assert places.feedback(UnitId(unit)) == f"docs/amelia/x/{name}/review-feedback.md"
