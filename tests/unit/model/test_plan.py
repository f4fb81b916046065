import pytest

from amelia.model.plan import Complexity, Level, Task, TaskId


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
