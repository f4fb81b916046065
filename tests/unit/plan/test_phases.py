"""Tests of how tasks become phases."""

from collections.abc import Sequence
from typing import Any

import pytest

from amelia.model.diagnostics import Severity
from amelia.model.plan import Task, TaskId
from amelia.plan.graph import file_dependencies
from amelia.plan.phases import Phase, compute_phases

NINE = "1a 1b 2a:1a 2b:1b 3a:2a,2b 3b:2a,2b 4a:3a 4b:3b 5:4a,4b"


def make(task_id: str, needs: str = "", **fields: Any) -> Task:
    return Task(id=TaskId(task_id), title=task_id, depends_on=tuple(map(TaskId, needs.split())), **fields)


def read(text: str) -> list[Task]:
    """Reads `A/1 B/2:A C/* D/3:-` as A in phase 1, B in phase 2 with a need, C parallel and without a label.

    D says that it needs nothing.
    """
    tasks: list[Task] = []
    for line, part in enumerate(text.split(), start=1):
        head, _, needs = part.partition(":")
        name, _, label = head.partition("/")
        phase = label.removesuffix("*") or None
        said = {"parallel": label.endswith("*"), "independent": needs == "-"}
        tasks.append(make(name, needs.strip("-").replace(",", " "), phase=phase, line=line, **said))
    return tasks


def phases_of(tasks: Sequence[Task]) -> tuple[Phase, ...]:
    phases, problems = compute_phases(tasks, file_dependencies(tasks))
    assert problems == []
    return phases


def members(phases: Sequence[Phase]) -> list[list[str]]:
    return [[task.id for task in phase.tasks] for phase in phases]


def needs(phases: Sequence[Phase]) -> list[tuple[int, ...]]:
    return [phase.depends_on for phase in phases]


@pytest.mark.rows("D3")
def test_nine_subtasks_in_a_row_of_needs_are_five_phases() -> None:
    phases = phases_of(read(NINE))
    assert members(phases) == [["1a", "1b"], ["2a", "2b"], ["3a", "3b"], ["4a", "4b"], ["5"]]
    assert needs(phases) == [(), (1,), (2,), (3,), (4,)]
    assert [phase.index for phase in phases] == [1, 2, 3, 4, 5]


def test_no_tasks_are_no_phases() -> None:
    assert phases_of([]) == ()


def test_without_labels_files_make_levels_too() -> None:
    tasks = [make("A", files_to_modify=("x",)), make("B", files_to_create=("x",))]
    assert members(phases_of(tasks)) == [["B"], ["A"]]


@pytest.mark.parametrize(
    ("text", "expected", "depends_on"),
    [
        pytest.param(
            "A/1 B/1 C/2 D/3", ["AB", "C", "D"], [(), (1,), (2,)], id="labels chain in document order"
        ),
        pytest.param("A B/1 C D/2 E", ["A", "BC", "DE"], [(), (1,), (2,)], id="tasks without labels join"),
        pytest.param("A/1 B/2 C/1", ["AC", "B"], [(), (1,)], id="a label that comes back is the same phase"),
        pytest.param(
            "A/1 B/2 C/3:A", ["A", "B", "C"], [(), (1,), (1,)], id="declared needs replace the chain"
        ),
        pytest.param(
            "A/1 B/2 C/3:A D/4",
            list("ABCD"),
            [(), (1,), (1,), (2, 3)],
            id="the next waits for all that is open",
        ),
        pytest.param(
            "A/1 B/2 C/3:A D/3 E/4",
            ["A", "B", "CD", "E"],
            [(), (1,), (1, 2), (3,)],
            id="if all tasks declare them",
        ),
        pytest.param("A/1:B B/1 C/2:A,C", ["BA", "C"], [(), (1,)], id="needs inside a phase order its tasks"),
        pytest.param(
            "A/1 B/2 C/2:B D/3", ["A", "BC", "D"], [(), (1,), (2,)], id="needs inside a phase keep the chain"
        ),
        pytest.param(
            "A/1 B/2* C/3* D/4* E/5",
            ["A", "B", "C", "D", "E"],
            [(), (1,), (1,), (1,), (2, 3, 4)],
            id="parallel phases stand side by side and the next waits for all",
        ),
        pytest.param("A/1* B/2* C/3", ["A", "B", "C"], [(), (), (1, 2)], id="a run may come first"),
        pytest.param(
            "A/1 B/2* X/2 C/3*", ["A", "BX", "C"], [(), (1,), (2,)], id="one ordinary task ends a run"
        ),
        pytest.param(
            "A/1 B/2 C/3*:A D/4* E/5",
            list("ABCDE"),
            [(), (1,), (1,), (2,), (3, 4)],
            id="what declares nothing in a run follows what stands before it",
        ),
        pytest.param("A/1* B/2* C/3*:B", list("ABC"), [(), (), (2,)], id="parallel phases may declare needs"),
        pytest.param("A/1 B/2:- C/3:-", list("ABC"), [(), (), ()], id="phases that need nothing are roots"),
        pytest.param(
            "A/1 B/2:- C/2:B D/3", ["A", "BC", "D"], [(), (), (1, 2)], id="with what follows inside them"
        ),
        pytest.param("A/1 B/2:- C/2 D/3:-", ["A", "BC", "D"], [(), (1,), ()], id="if all tasks say so"),
        pytest.param(
            "A/1:B B/2 C/3", ["A", "B", "C"], [(2,), (), (1,)], id="the chain gives way to declared needs"
        ),
    ],
)
def test_labelled_phases(text: str, expected: list[str], depends_on: list[tuple[int, ...]]) -> None:
    phases = phases_of(read(text))
    assert members(phases) == [list(names) for names in expected]
    assert needs(phases) == depends_on


def test_the_label_names_the_phase() -> None:
    assert [phase.label for phase in phases_of(read("A B/Core"))] == [None, "Core"]


def test_a_phase_waits_for_the_phase_that_creates_its_files() -> None:
    tasks = [
        make("A", phase="1"),
        make("B", phase="2", files_to_create=("x",)),
        make("C", "A", phase="3", files_to_modify=("x",)),
        make("D", phase="3", files_to_create=("y",), test_files=("y",)),
    ]
    assert needs(phases_of(tasks)) == [(), (1,), (1, 2)]


def test_files_within_one_phase_change_nothing_between_phases() -> None:
    tasks = [make("A", phase="1", files_to_create=("x",)), make("B", phase="1", files_to_modify=("x",))]
    assert needs(phases_of(tasks)) == [()]


def test_phases_that_need_each_other_are_an_error_with_the_path() -> None:
    tasks = read("A/one B/two:A C/one:B D/three")
    phases, (problem,) = compute_phases(tasks, {})
    assert members(phases) == [["A", "C"], ["B"], ["D"]]
    assert (problem.severity, problem.code, problem.line) == (Severity.ERROR, "phase-cycle", 1)
    assert "one → two → one" in problem.message


def test_a_phase_without_a_label_is_called_by_its_number() -> None:
    _, (problem,) = compute_phases(read("A C:B B/two:A"), {})
    assert "phase 1 → two → phase 1" in problem.message


def test_ten_thousand_labels_in_a_chain() -> None:
    phases = phases_of([make(f"T{n}", phase=f"P{n}") for n in range(10_000)])
    assert phases[-1].depends_on == (9_999,)
