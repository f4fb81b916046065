"""How far a run is, told by the plan's own tasks."""

from amelia.model.commands import Progress
from amelia.model.plan import Mode, TaskId, Unit
from amelia.schedule.machine import fold
from amelia.schedule.progress import progress_of
from runs import started, task, unit


def at(units: list[Unit], place: int, **facts: object) -> Progress:
    return progress_of(fold([started(*units, **facts)]), units[place])  # pyright: ignore[reportArgumentType]


def test_tasks_done_before_the_run_stand_before_its_units() -> None:
    units = [unit("3", task("3")), unit("4", task("4"))]
    tasks = tuple(map(TaskId, "1234"))
    found = at(units, 0, tasks=tasks, done_before=tasks[:2])
    assert found == Progress(3, 4, 2, first="1", last="2")
    assert not at(units, 1, tasks=tasks, done_before=tasks[:2]).is_in_order


def test_what_was_done_out_of_order_is_only_counted() -> None:
    units = [unit("1", task("1"))]
    found = at(units, 0, tasks=tuple(map(TaskId, "12")), done_before=(TaskId("2"),))
    assert (found.position, found.total, found.done, found.is_in_order) == (1, 2, 1, False)


def test_ids_that_are_no_places_in_the_plan_are_named() -> None:
    units = [unit("5", task("5")), unit("6", task("6"))]
    assert at(units, 0, tasks=(TaskId("5"), TaskId("6"))).name == "5"
    assert at(units, 0).name == "5"


def test_units_stand_in_the_order_of_the_plan() -> None:
    units = [unit("2", task("2")), unit("1", task("1"))]
    assert at(units, 0, tasks=(TaskId("1"), TaskId("2")), mode=Mode.LIFECYCLE).position == 2


def test_phases_are_counted_as_phases() -> None:
    units = [unit("phase-2", task("2"))]
    found = at(units, 0, tasks=(TaskId("1"), TaskId("2")), done_before=(TaskId("1"),), mode=Mode.PHASED)
    assert (found.position, found.total) == (1, 1)
