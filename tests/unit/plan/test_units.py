"""Tests of modes and of the units they make."""

from typing import Any

import pytest

from amelia.model.plan import Complexity, Mode, Plan, Priority, Task, TaskId, TaskStatus, TaskType, Unit
from amelia.model.settings import PlanSettings
from amelia.plan.units import build_units, choose_mode

SETTINGS = PlanSettings()
DONE = TaskStatus.COMPLETED


def make(task_id: str, needs: str = "", **fields: Any) -> Task:
    fields = {"title": f"Title {task_id}", **fields}
    return Task(id=TaskId(task_id), depends_on=tuple(map(TaskId, needs.split())), **fields)


def plan_of(*tasks: Task, plan_format: str = "headings", goal: str = "Goal") -> Plan:
    return Plan("", "hash", plan_format, goal, tasks)


def units_of(mode: Mode, *tasks: Task) -> tuple[Unit, ...]:
    return build_units(mode, plan_of(*tasks), settings=SETTINGS).units


def shape(units: tuple[Unit, ...]) -> list[tuple[str, tuple[str, ...], int]]:
    return [(unit.id, unit.depends_on, unit.group) for unit in units]


FULL: dict[str, Any] = {"acceptance_criteria": ("x",), "files_to_modify": ("a.py",)}


@pytest.mark.rows("D19", "R26")
@pytest.mark.parametrize(
    ("plan", "mode", "word"),
    [
        (plan_of(), Mode.SINGLE, "No task could be read"),
        (plan_of(make("A"), plan_format="single"), Mode.SINGLE, "not divided"),
        (plan_of(make("A")), Mode.TASKS, "declare no types"),
        (plan_of(make("A", **FULL)), Mode.TASKS, "declare no types"),
        (plan_of(make("A", type=TaskType.DOCS)), Mode.PHASED, "types"),
        (plan_of(make("A", phase="1")), Mode.PHASED, "phases"),
        (plan_of(make("A"), make("B", "A")), Mode.PHASED, "dependencies"),
        (plan_of(make("A", parallel=True)), Mode.TASKS, "declare no types"),
        (plan_of(make("A", **FULL), make("B", "A")), Mode.LIFECYCLE, "acceptance criteria and files"),
        (plan_of(make("A", phase="1", **FULL), make("B", "A", phase="2", **FULL)), Mode.PHASED, "phases"),
        (
            plan_of(make("A", "B", acceptance_criteria=("x",)), make("B", files_to_create=("a",))),
            Mode.PHASED,
            "phases",
        ),
    ],
)
def test_the_mode_follows_what_the_plan_declares(plan: Plan, mode: Mode, word: str) -> None:
    chosen, reason = choose_mode(plan, settings=SETTINGS, requested=None)
    assert chosen is mode
    assert word in reason
    assert reason.endswith(".")


@pytest.mark.rows("D20")
def test_phases_can_be_turned_off() -> None:
    settings = PlanSettings(enable_phased_execution=False)
    chosen, reason = choose_mode(plan_of(make("A", phase="1")), settings=settings, requested=None)
    assert chosen is Mode.TASKS
    assert "turned off" in reason


def test_what_is_asked_for_wins_unless_there_are_no_tasks() -> None:
    chosen, reason = choose_mode(plan_of(make("A", "B"), make("B")), settings=SETTINGS, requested=Mode.TASKS)
    assert (chosen, reason) == (Mode.TASKS, "Mode 'tasks' was asked for.")
    assert choose_mode(plan_of(), settings=SETTINGS, requested=Mode.TASKS)[0] is Mode.SINGLE


@pytest.mark.parametrize("mode", list(Mode))
def test_a_plan_that_is_done_has_no_units(mode: Mode) -> None:
    assert units_of(mode, make("A", status=DONE), make("B", status=TaskStatus.SKIPPED)) == ()


def test_single_is_one_unit_with_what_is_left() -> None:
    (unit,) = units_of(Mode.SINGLE, make("A", status=DONE), make("B"), make("C"))
    assert (unit.id, unit.title, unit.tasks, unit.depends_on, unit.group) == (
        "plan",
        "Goal",
        ("B", "C"),
        (),
        1,
    )


@pytest.mark.parametrize(
    ("plan", "title"),
    [
        (plan_of(make("A", title=""), goal=""), "The whole plan"),
        (plan_of(make("A"), goal=""), "Title A"),
        (plan_of(make("A"), goal="G"), "G"),
    ],
)
def test_single_is_called_by_the_goal_or_the_tasks(plan: Plan, title: str) -> None:
    (unit,) = build_units(Mode.SINGLE, plan, settings=SETTINGS).units
    assert unit.title == title


def test_tasks_form_a_chain_in_plan_order() -> None:
    units = units_of(Mode.TASKS, make("A"), make("B", status=DONE), make("C"), make("D"))
    assert shape(units) == [("A", (), 1), ("C", ("A",), 2), ("D", ("C",), 3)]
    assert [unit.tasks for unit in units] == [("A",), ("C",), ("D",)]


def test_tasks_are_reordered_only_where_dependencies_ask_for_it() -> None:
    assert [unit.id for unit in units_of(Mode.TASKS, make("A", "C"), make("B"), make("C"))] == ["B", "C", "A"]


def test_phases_are_numbered_and_titled() -> None:
    units = units_of(Mode.PHASED, make("A", phase="Set up"), make("B", phase="Do"), make("C"))
    assert shape(units) == [("phase-1", (), 1), ("phase-2", ("phase-1",), 2)]
    assert [unit.title for unit in units] == ["Set up", "Do"]
    assert [unit.tasks for unit in units] == [("A",), ("B", "C")]
    (first, _) = units_of(Mode.PHASED, make("A", title="x" * 50), make("B", title="y" * 50), make("C", "A"))
    assert first.title == "x" * 50 + ", " + "y" * 27 + "…"


def test_a_finished_phase_keeps_its_number_and_passes_its_place_on() -> None:
    units = units_of(
        Mode.PHASED,
        make("A", phase="1", status=DONE),
        make("B", phase="2"),
        make("C", phase="3", status=DONE),
        make("D", phase="4"),
        make("E", phase="4", status=DONE),
    )
    assert shape(units) == [("phase-2", (), 1), ("phase-4", ("phase-2",), 2)]
    assert [unit.tasks for unit in units] == [("B",), ("D",)]


def test_phases_come_after_what_they_depend_on() -> None:
    units = units_of(Mode.PHASED, make("A", "B", phase="1"), make("B", phase="2"))
    assert shape(units) == [("phase-2", (), 1), ("phase-1", ("phase-2",), 2)]


def test_phases_that_need_each_other_make_no_units() -> None:
    tasks = (make("A", phase="1"), make("B", "A", phase="2"), make("C", "B", phase="1"))
    built = build_units(Mode.PHASED, plan_of(*tasks), settings=SETTINGS)
    assert built.units == ()
    assert [found.code for found in built.diagnostics] == ["phase-cycle"]
    assert len(units_of(Mode.LIFECYCLE, *tasks)) == 3


@pytest.mark.rows("L10")
def test_lifecycle_joins_declared_and_file_dependencies() -> None:
    units = units_of(
        Mode.LIFECYCLE,
        make("A", files_to_create=("x",)),
        make("B"),
        make("C", "B", files_to_modify=("x",)),
        make("D", "C", status=DONE),
        make("E", "D C"),
    )
    assert shape(units) == [("A", (), 1), ("B", (), 1), ("C", ("B", "A"), 2), ("E", ("C",), 3)]


def test_files_of_finished_tasks_are_nobodys_concern() -> None:
    units = units_of(
        Mode.LIFECYCLE,
        make("A", files_to_create=("x",), status=DONE),
        make("B", files_to_modify=("x",)),
        make("C", files_to_modify=("y",), status=DONE),
        make("D", files_to_create=("y",)),
    )
    assert shape(units) == [("B", (), 1), ("D", (), 1)]


def test_lifecycle_goes_by_priority_then_milestone_then_document() -> None:
    units = units_of(
        Mode.LIFECYCLE,
        make("none"),
        make("m1", milestone="M1"),
        make("m2", milestone="M2"),
        make("m1-again", milestone="M1"),
        make("low", priority=Priority.LOW, milestone="M1"),
        make("high", priority=Priority.HIGH, milestone="M2"),
        make("critical", "low", priority=Priority.CRITICAL),
    )
    assert [unit.id for unit in units] == ["high", "m1", "m1-again", "m2", "none", "low", "critical"]


def test_a_split_task_runs_as_pieces_that_know_where_they_come_from() -> None:
    hard = make(
        "T1",
        files_to_create=("models/a.py", "services/b.py", "views/c.py"),
        acceptance_criteria=("x", "y", "z"),
        complexity=Complexity(3.0, 2.0, 2.5, 1.0),
    )
    built = build_units(Mode.LIFECYCLE, plan_of(hard, make("T2", "T1")), settings=SETTINGS)
    assert shape(built.units) == [
        ("T1-a", (), 1),
        ("T1-b", ("T1-a",), 2),
        ("T1-c", ("T1-b",), 3),
        ("T2", ("T1-c",), 4),
    ]
    assert [unit.tasks for unit in built.units] == [("T1",), ("T1",), ("T1",), ("T2",)]
    assert [task.id for task in built.tasks] == ["T1-a", "T1-b", "T1-c", "T2"]
    assert [found.code for found in built.diagnostics] == ["split"]


def test_in_lifecycle_tasks_that_declare_nothing_wait_for_the_phase_before() -> None:
    units = units_of(
        Mode.LIFECYCLE,
        make("A", phase="1"),
        make("B", "A"),
        make("C"),
        make("D", phase="2"),
        make("E", "A"),
        make("F", phase="3", status=DONE),
        make("G", phase="4"),
    )
    assert shape(units) == [
        ("A", (), 1),
        ("B", ("A",), 2),
        ("C", (), 1),
        ("D", ("B", "C"), 3),
        ("E", ("A",), 2),
        ("G", ("D", "E"), 4),
    ]


def test_in_lifecycle_tasks_that_need_nothing_wait_for_no_phase() -> None:
    units = units_of(
        Mode.LIFECYCLE, make("A", phase="1"), make("B", phase="2", independent=True), make("C", phase="3")
    )
    assert shape(units) == [("A", (), 1), ("B", (), 1), ("C", ("A", "B"), 2)]


def test_between_large_phases_one_task_waits_for_all_and_the_others_for_it() -> None:
    tasks = [make(f"{phase}{n}", phase=phase) for phase in "ab" for n in range(100)]
    units = units_of(Mode.LIFECYCLE, *tasks)
    assert (units[100].id, len(units[100].depends_on)) == ("b0", 100)
    assert all(unit.depends_on == ("b0",) for unit in units[101:])


def test_phase_order_gives_way_to_what_is_declared() -> None:
    units = units_of(Mode.LIFECYCLE, make("A", "C", phase="1"), make("B", "A", phase="2"), make("C"))
    assert [unit.id for unit in units] == ["C", "A", "B"]


def test_a_file_of_a_later_phase_does_not_turn_the_phases_round() -> None:
    tasks = (make("A", phase="1", files_to_modify=("x",)), make("B", phase="2", files_to_create=("x",)))
    assert shape(units_of(Mode.LIFECYCLE, *tasks)) == [("A", (), 1), ("B", ("A",), 2)]
    assert shape(units_of(Mode.PHASED, *tasks)) == [("phase-1", (), 1), ("phase-2", ("phase-1",), 2)]
