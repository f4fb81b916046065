"""Which tasks of a plan tests have to prove, and which of those no test can, before any of it is carried out.

Pure. A refactoring is proved by tests that stay green. In a repository without tests there are some only if
earlier work of the plan writes them.
"""

from collections.abc import Sequence

from amelia.model.plan import Task, TaskId, TaskType, Unit, UnitId

_WRITES_NO_TESTS = frozenset({TaskType.REFACTOR, TaskType.DOCS, TaskType.CHORE})


def proved_by_tests(units: Sequence[Unit]) -> list[TaskId]:
    """Returns the tasks that are not accepted unless tests ran."""
    return [piece.id for unit in units for piece in unit.pieces if piece.is_proved_by_tests]


def without_tests_before(units: Sequence[Unit]) -> list[TaskId]:
    """Returns the refactorings before which no task of the plan may have written tests.

    Units stand in an order in which each comes after what it depends on.
    """
    found: list[TaskId] = []
    has_tests: dict[UnitId, bool] = {}
    for unit in units:
        is_tested = any(has_tests.get(need, False) for need in unit.depends_on)
        for piece in unit.pieces:
            is_tested = is_tested or _may_write_tests(piece)
            if piece.type is TaskType.REFACTOR and piece.is_proved_by_tests and not is_tested:
                found.append(piece.id)
        has_tests[unit.id] = is_tested
    return found


def _may_write_tests(task: Task) -> bool:
    return bool(task.test_files) or task.type not in _WRITES_NO_TESTS
