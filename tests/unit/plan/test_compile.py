"""Tests of compiling a plan as a whole."""

from dataclasses import replace
from typing import Any

import pytest

import samples
from amelia.model.diagnostics import Severity, error, info, warning
from amelia.model.plan import Complexity, Mode, Plan, Task, TaskId, TaskStatus, TaskType
from amelia.model.settings import PlanSettings, TddRule
from amelia.plan.compile import CompiledPlan, compile_plan


def make(task_id: str, *needs: str, **fields: Any) -> Task:
    fields = {"title": f"Title {task_id}", **fields}
    return Task(id=TaskId(task_id), depends_on=tuple(map(TaskId, needs)), **fields)


def compiled(*tasks: Task, mode: Mode | None = None, settings: PlanSettings | None = None) -> CompiledPlan:
    plan = Plan("text", "hash", "headings", "Goal", tasks)
    return compile_plan(plan, (), settings=settings or PlanSettings(), mode=mode)


def codes(result: CompiledPlan) -> list[str]:
    return [found.code for found in result.diagnostics]


T1 = replace(samples.T1, line=3, milestone="M1: Core")


def test_references_are_resolved_and_sizes_known_in_the_result() -> None:
    result = compiled(T1, make("T2", "Task 1", "none"), mode=Mode.TASKS)
    assert result.plan.tasks[1].depends_on == ("T1",)
    assert result.plan.tasks[0].complexity == Complexity(3.0, 2.0, 2.5, 1.0, 0.0)
    assert result.plan.text == "text"
    assert result.can_run


@pytest.mark.rows("L6", "L8", "L10", "L13")
def test_scenario_21_a_hard_task_runs_in_pieces_and_the_milestone_lists_them() -> None:
    result = compiled(T1, make("T2", "T1", milestone="M1"))
    assert result.mode is Mode.LIFECYCLE
    assert [task.id for task in result.plan.tasks] == ["T1", "T2"]
    assert [unit.id for unit in result.units] == ["T1-a", "T1-b", "T1-c", "T2"]
    assert result.units[-1].depends_on == ("T1-c",)
    (milestone,) = result.milestones
    assert (milestone.name, milestone.task_ids) == ("Core", ("T1-a", "T1-b", "T1-c", "T2"))
    assert codes(result) == ["many-files-to-create", "long-time", "high-complexity", "split"]


@pytest.mark.parametrize("mode", [Mode.SINGLE, Mode.TASKS, Mode.PHASED])
def test_only_lifecycle_splits(mode: Mode) -> None:
    result = compiled(T1, make("T2", "T1"), mode=mode)
    assert {piece.id for unit in result.units for piece in unit.pieces} == {"T1", "T2"}
    assert "split" not in codes(result)


@pytest.mark.parametrize("mode", [None, *Mode])
@pytest.mark.parametrize(
    ("tasks", "code"),
    [
        ((make("A", "B"), make("B", "A")), "dependency-cycle"),
        ((make("A"), make("A", line=2)), "duplicate-id"),
    ],
)
def test_what_cannot_be_ordered_has_errors_and_no_units(
    mode: Mode | None, tasks: tuple[Task, ...], code: str
) -> None:
    result = compiled(*tasks, mode=mode)
    assert code in codes(result)
    assert result.units == ()
    assert not result.can_run


def test_an_error_that_leaves_the_order_alone_keeps_the_units() -> None:
    result = compiled(make("A", "X"), make("B", "A"))
    assert codes(result) == ["unknown-dependency"]
    assert [unit.tasks for unit in result.units] == [("A",), ("B",)]
    assert not result.can_run


def test_scenario_19_an_implementation_without_tests_is_refused_by_name() -> None:
    result = compiled(make("docs", type=TaskType.DOCS), make("login", type=TaskType.IMPL))
    (found,) = result.diagnostics
    assert (found.severity, found.code) == (Severity.ERROR, "tdd-violation")
    assert "'login'" in found.message
    relaxed = compiled(make("login", type=TaskType.IMPL), settings=PlanSettings(tdd=TddRule.OFF))
    assert relaxed.can_run


@pytest.mark.rows("D21")
def test_shared_files_are_reported_where_units_run_side_by_side() -> None:
    tasks = [
        make(name, files_to_modify=("a.py",), acceptance_criteria=("x",), type=TaskType.DOCS) for name in "AB"
    ]
    assert codes(compiled(*tasks)) == ["shared-file"]
    assert codes(compiled(*tasks, mode=Mode.TASKS)) == []


def test_a_plan_that_is_done_says_so_and_is_not_judged_by_size() -> None:
    result = compiled(replace(T1, status=TaskStatus.COMPLETED))
    assert codes(result) == ["nothing-left"]
    assert (result.can_run, result.units) == (True, ())


def test_a_plan_without_tasks_cannot_run() -> None:
    result = compiled()
    assert (result.mode, result.units, codes(result), result.can_run) == (Mode.SINGLE, (), [], False)


def test_diagnostics_are_sorted_by_line_then_severity_and_stand_once() -> None:
    plan = Plan("", "hash", "headings", "Goal", (make("A", "X", title="", line=5),))
    read = [info("c", "c", line=5), warning("b", "b", line=2), error("a", "a"), warning("b", "b", line=2)]
    result = compile_plan(plan, read, settings=PlanSettings(), mode=None)
    assert codes(result) == ["a", "b", "unknown-dependency", "empty-title", "c"]


@pytest.mark.slow
def test_ten_thousand_tasks_compile_in_any_mode() -> None:
    chain = [make("T0"), *(make(f"T{n}", f"T{n - 1}") for n in range(1, 10_000))]
    for mode in Mode:
        result = compiled(*chain, mode=mode)
        assert result.units
        assert result.can_run
