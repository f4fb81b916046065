"""Tests of dependency references as authors write them."""

import pytest

from amelia.model.plan import Task, TaskId
from amelia.plan.references import resolve_references


def tasks_of(ids: str, reference: str) -> list[Task]:
    """Makes tasks `id` or `id/phase label`, all titled, and one more that holds the reference."""
    tasks: list[Task] = []
    for part in ids.split(","):
        name, _, phase = part.strip().partition("/")
        tasks.append(Task(id=TaskId(name), title=f"Title of {name}", phase=phase or None))
    return [*tasks, Task(id=TaskId("last"), title="Last", depends_on=(TaskId(reference),))]


@pytest.mark.parametrize(
    ("ids", "reference", "meant"),
    [
        ("T1, T2", "T2", "T2"),
        ("T1, T2", "t2", "T2"),
        ("T1, T2", "Task 2", "T2"),
        ("T1, T2", "task-2", "T2"),
        ("T1, T2", "Task #2", "T2"),
        ("T1, T2", "#2", "T2"),
        ("T1, T2", "2", "T2"),
        ("T1, T2", "002", "T2"),
        ("T1, T2", "T002", "T2"),
        ("T1, T2", "`T2`", "T2"),
        ("T1, T2", "[T2]", "T2"),
        ("T1, T2", "(Task 2)", "T2"),
        ("T1, T2", "**T2**.", "T2"),
        ("T1, T2", "T2 (the second one)", "T2"),
        ("T1, T2", "Task 2: Title of it", "T2"),
        ("T1, T2", "T2 - the second", "T2"),
        ("T1, T2", "title of t2", "T2"),
        ("T001, T002", "2", "T002"),
        ("T001, T002", "T2", "T002"),
        ("1, 2, 2.1", "Task 2.1", "2.1"),
        ("1, 2", "T2", "2"),
        ("1, 2", "Step 2", "2"),
        ("10, 1", "1", "1"),
        ("1.10, 1.1", "1.10", "1.10"),
        ("2, T2", "2", "2"),
        ("2, T2", "T2", "T2"),
        ("2, T2", "t2", "T2"),
        ("1a, 1b", "1B", "1b"),
        ("T1, T1-a", "T1-a", "T1-a"),
        ("setup-db, api", "Setup-DB", "setup-db"),
    ],
)
def test_the_strictest_reading_that_fits_one_task_wins(ids: str, reference: str, meant: str) -> None:
    assert resolve_references(tasks_of(ids, reference))[-1] == (meant,)


@pytest.mark.parametrize(
    "reference",
    [
        "none",
        "None",
        "N/A",
        "n/a",
        "na",
        "-",
        "—",
        "",
        "`none`",
        "None (can start at once)",
        "none - go",
        "No dependencies",
    ],
)
def test_words_for_nothing_mean_nothing(reference: str) -> None:
    assert resolve_references(tasks_of("T1, T2", reference))[-1] == ()


@pytest.mark.parametrize(
    ("ids", "reference", "meant"),
    [
        ("T001, T002, T003, T004", "T001-T003", "T001 T002 T003"),
        ("T001, T002, T003", "T001 – T003", "T001 T002 T003"),
        ("1, 2, 3, 4", "Tasks 1–3", "1 2 3"),
        ("T-03, T-04, T-05, T-06", "T-03–T-05", "T-03 T-04 T-05"),
        ("T-03, T-04, T-05, T-06", "T-03-T-05", "T-03 T-04 T-05"),
        ("1, 2, 3", "Task Groups 1-2", "1 2"),
        ("1, 2, 3", "任务 1–2", "1 2"),
        ("1, 2, 3, 4", "2 through 4", "2 3 4"),
        ("1, 2, 3, 4", "Task 2 to Task 4", "2 3 4"),
        ("T1, T2, T10", "T2..T10", "T2 T10"),
        ("T1, T3", "1-3", "T1 T3"),
        ("1a, 1b, 1c, 2a", "1a-1c", "1a 1b 1c"),
        ("1.1, 1.2, 1.3", "1.1-1.3", "1.1 1.2 1.3"),
        ("T1, T2, T3", "T1 and T3", "T1 T3"),
        ("T1, T2, T3, T5", "T1-T2, T5", "T1 T2 T5"),
        ("1, 2, 3", "Tasks 1 & 3", "1 3"),
        ("A/Phase 1: Setup, B, C/Phase 10: End, D/Phase 2", "Phase 1", "A B"),
        ("A/Phase 1: Setup, B, C/Phase 10: End, D/Phase 2", "phase 1: setup", "A B"),
        ("A/Phase 1: Setup, B, C/Phase 10: End, D/Phase 2", "Phase 1 (Setup)", "A B"),
        ("A/Phase 01, B/Phase 2", "Phase 1", "A"),
        ("A/Phase 1, B/Phase 2", "phase1", "A"),
        ("A/Phase 1, B/Phase 2", "Phase 1 and Phase 2", "A B last"),
        ("A/Foundation, B/End", "Foundation", "A"),
    ],
)
def test_ranges_lists_and_phases_mean_several_tasks(ids: str, reference: str, meant: str) -> None:
    found = resolve_references(tasks_of(ids, reference))[-1]
    assert found == tuple(name for name in meant.split() if name != "last")


@pytest.mark.parametrize(
    ("ids", "reference"),
    [
        ("T1, T2", "T3"),
        ("T1, T2", "T1-T9"),
        ("T1, U3", "T1-U3"),
        ("T1, T2", "T2-T1"),
        ("T1, setup", "T1-setup"),
        ("T1, T2", "T1 and X"),
        ("T1, T2", "Phase 4"),
        ("T1, T2", "the whole backend (done by others)"),
        ("T1, T2", "x" * 5_000),
        ("T1, T2", "none-such"),
        ("T1, T2", "T1,, T2"),
        ("T2, t2", "Task 2"),
        ("T1, T" + "9" * 5_000, "T1-T" + "9" * 5_000),
    ],
)
def test_what_fits_no_task_or_several_stays_as_written(ids: str, reference: str) -> None:
    assert resolve_references(tasks_of(ids, reference))[-1] == (reference,)


def test_a_range_or_phase_around_a_task_means_the_others() -> None:
    tasks = [
        Task(id=TaskId("T1"), title="", phase="Phase 1"),
        Task(id=TaskId("T2"), title="", depends_on=(TaskId("T1-T3"),)),
        Task(id=TaskId("T3"), title="", depends_on=(TaskId("Phase 1"), TaskId("T1"))),
    ]
    assert resolve_references(tasks) == [(), ("T1", "T3"), ("T1", "T2")]


def test_each_dependency_stands_once() -> None:
    needs = tuple(map(TaskId, ("T1", "Task 1", "1", "T1")))
    tasks = [Task(id=TaskId("T1"), title=""), Task(id=TaskId("T2"), title="", depends_on=needs)]
    assert resolve_references(tasks)[1] == ("T1",)
    exact = [tasks[0], Task(id=TaskId("T2"), title="", depends_on=(TaskId("T1"), TaskId("T1")))]
    assert resolve_references(exact)[1] == ("T1",)


def test_an_own_number_written_otherwise_is_still_oneself() -> None:
    task = Task(id=TaskId("T1"), title="", depends_on=(TaskId("Task 1"),))
    assert resolve_references([task]) == [("T1",)]


def test_where_parts_are_huge_the_last_task_stands_for_its_part() -> None:
    first = [Task(id=TaskId(f"A{n}"), title="a", phase="Phase 1") for n in range(1100)]
    second = [
        Task(id=TaskId(f"B{n}"), title="b", phase="Phase 2", depends_on=(TaskId("Phase 1"),))
        for n in range(600)
    ]
    resolved = resolve_references([*first, *second])
    assert len(resolved[1100]) == 1100
    assert resolved[-1] == ("A1099",)
