"""Which tasks tests have to prove, and which of those no test can."""

import pytest

from amelia.judge.demands import demands_of
from amelia.judge.provable import proved_by_tests, without_tests_before
from amelia.model.plan import Task, TaskId, TaskType, Unit, UnitId

REFACTOR = TaskType.REFACTOR


def a_task(name: str, kind: TaskType | None, waiver: str | None = None, tests: tuple[str, ...] = ()) -> Task:
    return Task(id=TaskId(name), title=name, type=kind, waiver=waiver, test_files=tests)


def a_unit(name: str, *tasks: Task, needs: str = "") -> Unit:
    before = tuple(map(UnitId, needs.split()))
    return Unit(UnitId(name), name, tuple(task.id for task in tasks), before, 1, tasks)


@pytest.mark.parametrize("kind", [*TaskType, None])
@pytest.mark.parametrize("waiver", [None, "a reason"])
def test_what_stops_a_run_beforehand_is_what_verification_asks_for(
    kind: TaskType | None, waiver: str | None
) -> None:
    task = a_task("1", kind, waiver)
    is_needed = bool(proved_by_tests([a_unit("1", task)]))
    assert is_needed is not demands_of([task]).tests_waived
    is_by_type = kind in {TaskType.TEST, TaskType.IMPL, REFACTOR}
    assert is_needed == (is_by_type and (waiver is None or kind is TaskType.TEST))


def test_a_refactor_needs_tests_that_were_there_before_it() -> None:
    alone = a_unit("1", a_task("1", REFACTOR))
    assert without_tests_before([alone]) == ["1"]
    assert without_tests_before([a_unit("1", a_task("1", REFACTOR, "no code"))]) == []
    assert without_tests_before([a_unit("1", a_task("1", REFACTOR, tests=("test_a.py",)))]) == []


@pytest.mark.parametrize("kind", [TaskType.TEST, TaskType.IMPL, None])
def test_work_that_may_write_tests_makes_a_refactor_after_it_provable(kind: TaskType | None) -> None:
    first, last = a_task("1", kind), a_task("3", REFACTOR)
    chain = [a_unit("1", first), a_unit("2", a_task("2", TaskType.DOCS), needs="1")]
    assert without_tests_before([*chain, a_unit("3", last, needs="2")]) == []
    assert without_tests_before([*chain, a_unit("3", last)]) == ["3"]
    assert without_tests_before([a_unit("p", first, last)]) == []
    assert without_tests_before([a_unit("p", last, first)]) == ["3"]


@pytest.mark.parametrize("kind", [TaskType.DOCS, TaskType.CHORE, REFACTOR])
def test_other_work_does_not(kind: TaskType) -> None:
    before = a_unit("1", a_task("1", kind, "none"))
    assert without_tests_before([before, a_unit("2", a_task("2", REFACTOR), needs="1")]) == ["2"]
