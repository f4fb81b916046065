"""Tests of tasks as a graph."""

from dataclasses import replace
from typing import Any

import pytest

from amelia.model.plan import Task, TaskId, TaskStatus, milestone_status
from amelia.plan.graph import (
    derive_milestones,
    detect_circular_dependencies,
    file_dependencies,
    footprint,
    levels,
    topological_order,
)

PENDING, RUNNING, DONE, FAILED, BLOCKED, SKIPPED = (
    TaskStatus.PENDING,
    TaskStatus.IN_PROGRESS,
    TaskStatus.COMPLETED,
    TaskStatus.FAILED,
    TaskStatus.BLOCKED,
    TaskStatus.SKIPPED,
)


def make(task_id: str, needs: str = "", **fields: Any) -> Task:
    task = Task(id=TaskId(task_id), title=task_id, depends_on=tuple(map(TaskId, needs.split())))
    return replace(task, **fields)


@pytest.mark.rows("L12")
def test_a_cycle_is_a_path_back_to_its_first_task() -> None:
    tasks = [make("A", "B"), make("B", "C"), make("C", "A"), make("D", "A")]
    assert detect_circular_dependencies(tasks) == [("A", "B", "C", "A")]


def test_dependencies_on_oneself_and_on_strangers_are_no_cycle() -> None:
    assert detect_circular_dependencies([make("A", "A X")]) == []


def test_order_keeps_every_task_also_duplicates_and_those_on_cycles() -> None:
    tasks = [make("A", "B"), make("B", "A"), make("D", "C"), make("C"), make("C")]
    assert [task.id for task in topological_order(tasks)] == ["C", "C", "D", "A", "B"]


def test_levels_count_from_one_and_follow_extra_edges() -> None:
    tasks = [make("A"), make("B", "A"), make("C")]
    assert levels(tasks, {TaskId("C"): (TaskId("B"),)}) == {"A": 1, "B": 2, "C": 3}


@pytest.mark.rows("L10")
@pytest.mark.parametrize(
    ("tasks", "edges"),
    [
        pytest.param(
            [make("A", files_to_create=("a.py",)), make("B", files_to_modify=("./a.py",))],
            {"B": ("A",)},
            id="who modifies a file depends on its creator, however it is spelled",
        ),
        pytest.param(
            [make("A", files_to_create=("t.py",)), make("B", test_files=("t.py",))],
            {"B": ("A",)},
            id="who tests with a file depends on its creator",
        ),
        pytest.param(
            [make("A", files_to_create=("t.py",), test_files=("t.py",))],
            {},
            id="what one creates oneself is no need",
        ),
        pytest.param(
            [make("B", files_to_modify=("a",)), make("A", files_to_create=("a",))],
            {"B": ("A",)},
            id="a creator may come later",
        ),
        pytest.param(
            [
                make("A", files_to_create=("a",)),
                make("B", files_to_create=("a",)),
                make("M", files_to_modify=("a",)),
                make("C", files_to_create=("a",)),
            ],
            {"M": ("B",)},
            id="the nearest creator before counts",
        ),
        pytest.param(
            [make("M", files_to_modify=("a",)), *(make(x, files_to_create=("a",)) for x in "AB")],
            {"M": ("A",)},
            id="without one before, the first creator counts",
        ),
        pytest.param(
            [make("A", "B", files_to_create=("a",)), make("B", files_to_modify=("a",))],
            {},
            id="an author's word goes before files",
        ),
        pytest.param(
            [
                make("A", files_to_create=("a",), files_to_modify=("b",)),
                make("B", files_to_create=("b",), files_to_modify=("a",)),
            ],
            {"B": ("A",)},
            id="document order decides between two that need each other",
        ),
        pytest.param(
            [make("A", files_to_create=("a",)), make("B", "A", files_to_modify=("a",))],
            {},
            id="what is declared is not repeated",
        ),
        pytest.param(
            [make("A", files_to_create=("a",)), make("A", files_to_modify=("a",))],
            {},
            id="an id never needs itself",
        ),
    ],
)
def test_file_dependencies(tasks: list[Task], edges: dict[str, tuple[str, ...]]) -> None:
    assert file_dependencies(tasks) == edges


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ({"files_to_create": ("a",)}, {"files_to_modify": ("b",)}, True),
        ({"files_to_create": ("a",)}, {"files_to_modify": ("./a",)}, False),
        (
            {"test_files": ("a",), "files_to_create": ("b",)},
            {"test_files": ("a",), "files_to_create": ("c",)},
            False,
        ),
        ({"files_to_create": ("x/migrations/1.py",)}, {"files_to_create": ("y/migrations/2.py",)}, False),
        ({"files_to_modify": ("a/uv.lock",)}, {"files_to_modify": ("b/uv.lock",)}, False),
        ({"files_to_modify": ("uv.lock",)}, {"files_to_modify": ("yarn.lock",)}, True),
    ],
)
def test_a_footprint_has_files_by_their_plain_names_and_kinds_of_shared_files(
    a: dict[str, Any],
    b: dict[str, Any],
    expected: bool,  # noqa: FBT001
) -> None:
    assert footprint(make("A", **a)).isdisjoint(footprint(make("B", **b))) is expected


@pytest.mark.rows("L28")
@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([], PENDING),
        ([PENDING, PENDING], PENDING),
        ([PENDING, BLOCKED], PENDING),
        ([DONE, DONE], DONE),
        ([DONE, SKIPPED], DONE),
        ([SKIPPED], DONE),
        ([DONE, PENDING], RUNNING),
        ([RUNNING, PENDING], RUNNING),
        ([FAILED, RUNNING], FAILED),
        ([FAILED, DONE], FAILED),
    ],
)
def test_a_milestone_stands_where_its_tasks_stand(statuses: list[TaskStatus], expected: TaskStatus) -> None:
    assert milestone_status(statuses) is expected


def test_milestones_keep_their_own_ids_and_the_others_are_numbered() -> None:
    tasks = [
        make("A", milestone="Core"),
        make("B", milestone="M1: Start", status=DONE),
        make("C"),
        make("D", milestone="M1"),
        make("E", milestone="Core"),
    ]
    core, start = derive_milestones(tasks, {"Core": "the heart", "M1": "the start"})
    assert (core.id, core.name, core.description, core.task_ids) == ("M2", "Core", "the heart", ("A", "E"))
    assert (start.id, start.name, start.description, start.task_ids) == (
        "M1",
        "Start",
        "the start",
        ("B", "D"),
    )
    assert (core.status, start.status) == (PENDING, RUNNING)


def test_a_milestone_without_a_name_is_called_by_its_id() -> None:
    (milestone,) = derive_milestones([make("A", milestone="M7")], {})
    assert (milestone.id, milestone.name, milestone.description) == ("M7", "M7", "")
