import pytest

from amelia.model.plan import Complexity, Level, Mode, Task, TaskId, Unit, UnitId, unit_heading


@pytest.mark.rows("L5")
@pytest.mark.parametrize(
    ("total", "level", "action"),
    [
        (0.0, Level.LOW, "safe for autonomous execution"),
        (4.99, Level.LOW, "safe for autonomous execution"),
        (5.0, Level.MEDIUM, "requires monitoring"),
        (7.99, Level.MEDIUM, "requires monitoring"),
        (8.0, Level.HIGH, "consider decomposition"),
        (10.99, Level.HIGH, "consider decomposition"),
        (11.0, Level.CRITICAL, "must decompose"),
        (13.0, Level.CRITICAL, "must decompose"),
    ],
)
def test_bands_are_half_open_and_each_has_its_action(total: float, level: Level, action: str) -> None:
    task = Task(id=TaskId("1"), title="A", complexity=Complexity(file_scope=total))
    assert task.complexity.total == total
    assert task.estimated_complexity is level
    assert level.action == action


def test_a_file_named_twice_is_one_file() -> None:
    task = Task(
        id=TaskId("1"), title="A", files_to_create=("a", "b"), files_to_modify=("b",), test_files=("c",)
    )
    assert task.files == ("a", "b", "c")


@pytest.mark.parametrize(
    ("written", "heading"),
    [
        ("Phase 1: Helpers", "Phase 1: Helpers"),
        ("Phase 1 : Helpers", "Phase 1: Helpers"),
        ("Phase 1 – Helpers", "Phase 1: Helpers"),
        ("phase 1 — Helpers", "Phase 1: Helpers"),
        ("Phase 1 - Top-level", "Phase 1: Top-level"),
        ("Phase 1 -- Helpers", "Phase 1: Helpers"),
        ("Phase 1—Helpers", "Phase 1: Helpers"),
        ("Phase 1. Helpers", "Phase 1: Helpers"),
        ("Phase 1) Helpers", "Phase 1: Helpers"),
        ("Phase 1 Helpers", "Phase 1: Helpers"),
        ("Helpers", "Phase 1: Helpers"),
        ("Phase 1", "Phase 1: Phase 1"),
        ("Phase 1 –", "Phase 1: Phase 1 –"),
        ("Phase 1.5: Helpers", "Phase 1: Phase 1.5: Helpers"),
        ("Phase 1–2: Helpers", "Phase 1: Phase 1–2: Helpers"),
        ("Phase 10 – Helpers", "Phase 1: Phase 10 – Helpers"),
    ],
)
def test_what_separates_a_label_from_a_title_is_no_part_of_the_title(written: str, heading: str) -> None:
    assert unit_heading(Unit(UnitId("phase-1"), written, (), (), 1), Mode.PHASED) == heading
