"""What holds of every plan that is compiled, however it was written."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.model.plan import Mode, Plan, Priority, Task, TaskId, TaskStatus, TaskType, Unit
from amelia.model.settings import PlanSettings, SizeLimits, TddRule
from amelia.plan.check import UNORDERABLE
from amelia.plan.compile import CompiledPlan, compile_plan
from amelia.plan.graph import (
    DONE,
    dependency_graph,
    detect_circular_dependencies,
    file_dependencies,
    levels,
    topological_order,
)
from amelia.plan.phases import compute_phases
from amelia.plan.size import score
from amelia.plan.split import split_all

pytestmark = pytest.mark.slow

LIMITS = SizeLimits()

FOLDERS = ("src/models", "src/services", "src/views", "src", "lib/x", "tests", "app/migrations", ".")
NAMES = ("user", "post", "index", "test_user", "UserTest", "a", "b", "c", "d", "e", "f")
SENTENCES = (
    "the user logs in",
    "an async algorithm with a parallel cache",
    "handle various errors somehow, as needed",
    "the posts page shows a table",
    "the migration is secure",
    "x",
)
paths = st.sampled_from([f"{folder}/{name}.py" for folder in FOLDERS for name in NAMES])
path_lists = st.lists(paths, max_size=8).map(tuple)
weird_text = st.text(max_size=12) | st.sampled_from(
    [
        "../x",
        "/etc",
        ".git/config",
        "C:\\x",
        "T1-T3",
        "Phase 1",
        "none",
        "Task 2",
        "T1 and T2",
        "",
        "~",
        "a\x00",
    ]
)


@st.composite
def tame_tasks(draw: st.DrawFn, *, acyclic: bool) -> list[Task]:
    """Draws tasks with unique ids whose dependencies exist."""
    names = ("T0", "T0-a", "T1", "T2", "T2-b", "T2-b-a", "T3", "T4")
    ids = [TaskId(name) for name in names[: draw(st.integers(0, 8))]]
    place = {task_id: number for number, task_id in enumerate(draw(st.permutations(ids)))}
    tasks: list[Task] = []
    for number, task_id in enumerate(ids):
        others = [i for i in ids if (place[i] < place[task_id] if acyclic else i != task_id)]
        needs = draw(st.lists(st.sampled_from(others), max_size=3, unique=True)) if others else []
        task = Task(
            id=task_id,
            title=draw(st.sampled_from(SENTENCES)),
            line=number + 1,
            depends_on=tuple(needs),
            type=draw(st.none() | st.sampled_from(TaskType)),
            status=draw(st.sampled_from([TaskStatus.PENDING, TaskStatus.PENDING, *TaskStatus])),
            files_to_create=draw(path_lists),
            files_to_modify=draw(path_lists),
            test_files=draw(path_lists),
            acceptance_criteria=tuple(draw(st.lists(st.sampled_from(SENTENCES), max_size=8))),
            phase=draw(st.none() | st.sampled_from(["one", "two", "three"])),
            parallel=draw(st.booleans()),
            priority=draw(st.sampled_from(Priority)),
            milestone=draw(st.none() | st.sampled_from(["M1", "M2: x", "other"])),
        )
        tasks.append(replace(task, complexity=score(task, LIMITS)))
    return tasks


wild_tasks = st.builds(
    Task,
    id=weird_text.map(TaskId),
    title=weird_text,
    line=st.integers(1, 9),
    section=st.text(max_size=40) | st.sampled_from(["```\nasync", "~~~\nx\n~~~\nasync"]),
    type=st.none() | st.sampled_from(TaskType),
    status=st.sampled_from(TaskStatus),
    depends_on=st.lists(weird_text.map(TaskId), max_size=3).map(tuple),
    files_to_create=st.lists(weird_text | paths, max_size=12).map(tuple),
    files_to_modify=st.lists(weird_text | paths, max_size=12).map(tuple),
    test_files=st.lists(weird_text | paths, max_size=4).map(tuple),
    acceptance_criteria=st.lists(weird_text | st.sampled_from(SENTENCES), max_size=6).map(tuple),
    milestone=st.none() | weird_text,
    priority=st.sampled_from(Priority),
    phase=st.none() | weird_text,
    parallel=st.booleans(),
    waiver=st.none() | weird_text,
)
settings_given = st.builds(
    PlanSettings,
    limits=st.builds(
        SizeLimits,
        max_input_tokens=st.integers(0, 9000),
        complexity_threshold=st.floats(0, 13),
        auto_split=st.booleans(),
    ),
    tdd=st.sampled_from(TddRule),
    enable_phased_execution=st.booleans(),
)
modes = st.none() | st.sampled_from(Mode)


def compiled(tasks: Sequence[Task], settings: PlanSettings, mode: Mode | None) -> CompiledPlan:
    plan = Plan("", "hash", "headings", "Goal", tuple(tasks))
    return compile_plan(plan, (), settings=settings, mode=mode)


def reaches(graph: dict[Any, tuple[Any, ...]], start: object, goal: object) -> bool:
    waiting, seen = [start], {start}
    while waiting:
        for need in graph[waiting.pop()]:
            if need == goal:
                return True
            if need not in seen:
                seen.add(need)
                waiting.append(need)
    return False


@given(tame_tasks(acyclic=True), st.sampled_from([0.0, 2.0, 5.0, 8.0]))
def test_a_split_is_a_partition_into_a_chain(tasks: list[Task], threshold: float) -> None:
    result = split_all(tasks, replace(LIMITS, complexity_threshold=threshold))
    by_id = {task.id: task for task in result.tasks}
    assert len(by_id) == len(result.tasks)
    assert all(need in by_id for task in result.tasks for need in task.depends_on)
    assert detect_circular_dependencies(result.tasks) == []
    expected: list[TaskId] = []
    for task in tasks:
        ids = result.pieces_of.get(task.id, (task.id,))
        expected.extend(ids)
        pieces = [by_id[piece] for piece in ids]
        assert_partition(task, pieces)
        assert all(later.depends_on == (earlier.id,) for earlier, later in pairwise(pieces))
        assert_told(task, pieces)
    assert [task.id for task in result.tasks] == expected


def assert_partition(task: Task, pieces: list[Task]) -> None:
    for field in ("files_to_create", "files_to_modify", "test_files", "acceptance_criteria"):
        whole = getattr(task, field)
        parts = [getattr(piece, field) for piece in pieces]
        assert Counter(entry for part in parts for entry in part) == Counter(whole)
        assert all(is_subsequence(part, whole) for part in parts)
    homes = [{path.removeprefix("./") for path in piece.files} for piece in pieces]
    assert sum(map(len, homes)) == len(set[str]().union(*homes))
    if len(task.acceptance_criteria) >= len(pieces) == 2:
        assert all(piece.acceptance_criteria for piece in pieces)


def assert_told(task: Task, pieces: list[Task]) -> None:
    """Every piece is told all of its own, and a task that is not split exactly what its author wrote."""
    if len(pieces) == 1:
        assert pieces[0].section == task.section
        return
    assert len({piece.title for piece in pieces}) == len(pieces)
    for piece in pieces:
        assert all(path in piece.section for path in piece.files)
        assert all(text in piece.section for text in piece.acceptance_criteria)


def is_subsequence(part: Sequence[str], whole: Sequence[str]) -> bool:
    rest = iter(whole)
    return all(entry in rest for entry in part)


@given(tame_tasks(acyclic=True), st.sampled_from([0.0, 2.0, 5.0]))
def test_whatever_stays_too_hard_is_reported(tasks: list[Task], threshold: float) -> None:
    result = split_all(tasks, replace(LIMITS, complexity_threshold=threshold))
    source = {piece: task for task, pieces in result.pieces_of.items() for piece in pieces}
    hard = {
        source.get(task.id, task.id)
        for task in result.tasks
        if task.complexity.total > threshold and task.status not in DONE
    }
    lines = {task.id: task.line for task in tasks}
    reported = {d.line for d in result.diagnostics if d.code in {"unsplittable", "critical-unsplittable"}}
    assert reported == {lines[task_id] for task_id in hard}


@given(tame_tasks(acyclic=True))
def test_phases_hold_every_task_once_and_respect_dependencies(tasks: list[Task]) -> None:
    phases, problems = compute_phases(tasks, file_dependencies(tasks))
    assert Counter(t.id for phase in phases for t in phase.tasks) == Counter(t.id for t in tasks)
    if problems:
        return
    graph = {phase.index: phase.depends_on for phase in phases}
    home = {t.id: (phase.index, place) for phase in phases for place, t in enumerate(phase.tasks)}
    for task in tasks:
        mine, my_place = home[task.id]
        for need in task.depends_on:
            theirs, their_place = home[need]
            assert their_place < my_place if mine == theirs else reaches(graph, mine, theirs)
    assert not any(reaches(graph, index, index) for index in graph)


@given(tame_tasks(acyclic=True))
def test_levels_are_as_low_as_dependencies_allow(tasks: list[Task]) -> None:
    found = levels(tasks)
    for task in tasks:
        assert found[task.id] == 1 + max((found[need] for need in task.depends_on), default=0)


@given(tame_tasks(acyclic=False))
def test_cycles_are_found_exactly_where_tasks_need_each_other(tasks: list[Task]) -> None:
    graph = dependency_graph(tasks)
    cycles = detect_circular_dependencies(tasks)
    on_cycle = {task.id for task in tasks if reaches(graph, task.id, task.id)}
    for cycle in cycles:
        assert cycle[0] == cycle[-1]
        assert len(set(cycle)) == len(cycle) - 1
        assert all(b in graph[a] for a, b in pairwise(cycle))
    covered = {
        t for t in on_cycle for c in cycles if t in c or (reaches(graph, t, c[0]) and reaches(graph, c[0], t))
    }
    assert covered == on_cycle
    assert all(
        not (reaches(graph, a[0], b[0]) and reaches(graph, b[0], a[0]))
        for a in cycles
        for b in cycles
        if a != b
    )


@given(tame_tasks(acyclic=True))
def test_file_dependencies_never_close_a_cycle(tasks: list[Task]) -> None:
    extra = file_dependencies(tasks)
    order = [task.id for task in topological_order(tasks, extra)]
    graph = dependency_graph(tasks, extra)
    assert all(order.index(need) < order.index(task_id) for task_id in graph for need in graph[task_id])


def assert_units_stand(units: Sequence[Unit]) -> None:
    seen: dict[str, Unit] = {}
    for unit in units:
        assert unit.id not in seen
        assert all(need in seen for need in unit.depends_on)
        assert len(set(unit.depends_on)) == len(unit.depends_on)
        assert unit.group == 1 + max((seen[need].group for need in unit.depends_on), default=0)
        assert len(unit.title) <= 80 or unit.title == unit.pieces[0].title
        seen[unit.id] = unit


@given(tame_tasks(acyclic=True), settings_given, modes)
def test_every_open_task_is_in_units_that_stand_in_order(
    tasks: list[Task], settings: PlanSettings, mode: Mode | None
) -> None:
    result = compiled(tasks, settings, mode)
    assert_units_stand(result.units)
    if any(found.code == "phase-cycle" for found in result.diagnostics):
        assert result.units == ()
        return
    left = {task.id for task in tasks if task.status not in DONE}
    assert {task_id for unit in result.units for task_id in unit.tasks} == left
    pieces = [piece for unit in result.units for piece in unit.pieces]
    assert Counter(p for piece in pieces for p in piece.files_to_create) == Counter(
        p for task in tasks if task.id in left for p in task.files_to_create
    )
    graph = {unit.id: unit.depends_on for unit in result.units}
    last_home = {task_id: unit.id for unit in result.units for task_id in unit.tasks}
    first_home = {task_id: unit.id for unit in reversed(result.units) for task_id in unit.tasks}
    for task in result.plan.tasks:
        for need in task.depends_on:
            if task.id in left and need in left and first_home[task.id] != last_home[need]:
                assert reaches(graph, first_home[task.id], last_home[need])


@given(tame_tasks(acyclic=True))
def test_in_lifecycle_tasks_that_declare_nothing_wait_for_the_phases_before(tasks: list[Task]) -> None:
    phases, problems = compute_phases(tasks, file_dependencies(tasks))
    if problems or not any(task.phase for task in tasks):
        return
    result = compiled(tasks, PlanSettings(limits=SizeLimits(auto_split=False)), Mode.LIFECYCLE)
    graph = {unit.id: unit.depends_on for unit in result.units}
    for phase in phases:
        free = [task.id for task in phase.tasks if task.id in graph and not task.depends_on]
        before = [task.id for need in phase.depends_on for task in phases[need - 1].tasks if task.id in graph]
        assert all(reaches(graph, task_id, earlier) for task_id in free for earlier in before)


@given(st.lists(wild_tasks, max_size=6), settings_given, modes)
def test_compiling_never_raises_whatever_is_written(
    tasks: list[Task], settings: PlanSettings, mode: Mode | None
) -> None:
    result = compiled(tasks, settings, mode)
    assert_units_stand(result.units)
    assert [replace(t, depends_on=(), complexity=LEAST) for t in result.plan.tasks] == [
        replace(t, depends_on=(), complexity=LEAST) for t in tasks
    ]
    assert len(set(result.diagnostics)) == len(result.diagnostics)
    if any(found.code in UNORDERABLE for found in result.diagnostics):
        assert result.units == ()
        assert not result.can_run
    assert compiled(tasks, settings, mode) == result


LEAST = Task(id=TaskId("x"), title="x").complexity
