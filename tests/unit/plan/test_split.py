"""Tests of splitting tasks into pieces."""

from dataclasses import replace
from typing import Any

import pytest

import samples
from amelia.model.diagnostics import Severity
from amelia.model.plan import Complexity, Task, TaskId, TaskStatus
from amelia.model.settings import SizeLimits
from amelia.plan.size import score
from amelia.plan.split import split_all, split_task

LIMITS = SizeLimits()

T1 = replace(samples.T1, depends_on=(TaskId("T0"),))


def scored(task: Task, limits: SizeLimits = LIMITS) -> Task:
    return replace(task, complexity=score(task, limits))


def make(task_id: str, needs: str = "", **fields: Any) -> Task:
    task = Task(id=TaskId(task_id), title=task_id, depends_on=tuple(map(TaskId, needs.split())), **fields)
    return scored(task)


def hard(task_id: str, files: int = 24, **fields: Any) -> Task:
    paths = tuple(f"src/f{number}.py" for number in range(files))
    task = Task(id=TaskId(task_id), title="async", files_to_modify=paths, **fields)
    return scored(task)


def test_the_t1_of_the_document_becomes_three_layers_with_their_criteria() -> None:
    a, b, c = split_task(scored(T1), LIMITS)
    assert [(piece.id, piece.depends_on) for piece in (a, b, c)] == [
        ("T1-a", ("T0",)),
        ("T1-b", ("T1-a",)),
        ("T1-c", ("T1-b",)),
    ]
    c1, c2, c3, c4 = T1.acceptance_criteria
    assert [piece.acceptance_criteria for piece in (a, b, c)] == [(c1, c3), (c2,), (c4,)]
    assert [piece.files for piece in (a, b, c)] == [T1.files[:2], T1.files[2:4], T1.files[4:]]
    assert all(piece.complexity.total <= LIMITS.complexity_threshold for piece in (a, b, c))
    assert [piece.title for piece in (a, b, c)] == [
        "User registration (1/3): data layer",
        "User registration (2/3): business layer",
        "User registration (3/3): presentation layer",
    ]


def test_a_task_at_the_threshold_is_not_split() -> None:
    task = scored(T1)
    assert split_task(task, replace(LIMITS, complexity_threshold=8.5)) == (task,)
    assert len(split_task(task, replace(LIMITS, complexity_threshold=8.4))) > 1


@pytest.mark.rows("L9")
def test_nothing_is_split_when_splitting_is_off_or_the_task_is_done() -> None:
    task = scored(T1)
    assert split_task(task, replace(LIMITS, auto_split=False)) == (task,)
    done = replace(task, status=TaskStatus.COMPLETED)
    assert split_task(done, LIMITS) == (done,)


def test_a_title_that_is_too_hard_by_itself_is_not_cut_to_atoms() -> None:
    words = "algorithm async parallel security migration cache maybe somehow various etc"
    task = scored(replace(T1, title=words, section="x" * 48_000))
    assert split_task(task, LIMITS) == (task,)


def test_one_directory_of_many_files_is_halved_until_it_is_easy() -> None:
    pieces = split_task(hard("T"), LIMITS)
    assert [len(piece.files) for piece in pieces] == [6, 6, 6, 6]
    assert [piece.id for piece in pieces] == ["T-a", "T-b", "T-c", "T-d"]


def test_ids_go_on_with_two_letters_and_avoid_what_is_taken() -> None:
    pieces = split_task(hard("T", 300), LIMITS, taken={TaskId("T-b")})
    ids = [piece.id for piece in pieces]
    assert ids[:2] == ["T-a", "T-c"]
    assert ids[24:27] == ["T-z", "T-aa", "T-ab"]


def test_long_titles_stay_within_eighty_characters() -> None:
    pieces = split_task(replace(hard("T"), title="word " * 30), LIMITS)
    assert all(len(piece.title) <= 80 for piece in pieces)
    assert pieces[0].title.endswith("wo… (1/2): f0.py … f11.py")


@pytest.mark.rows("L8", "L10")
def test_dependants_wait_for_the_last_piece_and_a_notice_says_so() -> None:
    result = split_all([make("T0"), scored(T1), make("T2", "T1 T0")], LIMITS)
    assert [task.id for task in result.tasks] == ["T0", "T1-a", "T1-b", "T1-c", "T2"]
    assert result.tasks[-1].depends_on == ("T1-c", "T0")
    assert result.pieces_of == {"T1": ("T1-a", "T1-b", "T1-c")}
    (notice,) = result.diagnostics
    assert (notice.severity, notice.code, notice.line) == (Severity.INFO, "split", 12)
    assert notice.message == "Task 'T1' scores 8.5 and is split into 'T1-a', 'T1-b', 'T1-c'."


def test_two_split_tasks_chain_through_their_last_pieces() -> None:
    result = split_all([hard("A"), replace(hard("B"), depends_on=(TaskId("A"),))], LIMITS)
    by_id = {task.id: task for task in result.tasks}
    assert by_id[TaskId("B-a")].depends_on == ("A-d",)


def test_new_ids_never_collide_with_old_ones() -> None:
    result = split_all([hard("T"), make("T-b"), make("T-d")], LIMITS)
    assert result.pieces_of == {"T": ("T-a", "T-c", "T-e", "T-f")}


def test_many_pieces_are_counted_in_the_notice() -> None:
    (notice,) = split_all([hard("T", 48)], LIMITS).diagnostics
    assert notice.message.endswith("'T-a', 'T-b', 'T-c', 'T-d', 'T-e' and 3 more.")


def test_what_stays_too_hard_is_a_warning() -> None:
    text = "algorithm async parallel security migration cache maybe somehow various etc, as needed"
    task = make("T", acceptance_criteria=(text,), files_to_modify=("a.py",))
    (found,) = split_all([task], LIMITS).diagnostics
    assert (found.severity, found.code) == (Severity.WARNING, "unsplittable")
    assert "'T' scores 5.5" in found.message


def test_what_stays_critical_needs_a_person() -> None:
    task = replace(make("T"), complexity=Complexity(5.0, 2.0, 3.0, 2.0, 0.0))
    (found,) = split_all([task], LIMITS).diagnostics
    assert (found.severity, found.code) == (Severity.ERROR, "critical-unsplittable")
    assert "needs a person" in found.message


def test_done_tasks_and_switched_off_splitting_say_nothing() -> None:
    task = replace(make("T"), complexity=Complexity(5.0, 2.0, 3.0, 2.0, 0.0))
    assert split_all([replace(task, status=TaskStatus.SKIPPED)], LIMITS).diagnostics == ()
    assert split_all([task], replace(LIMITS, auto_split=False)).diagnostics == ()


def test_a_task_that_names_itself_does_not_tie_its_pieces_into_a_circle() -> None:
    first, *_ = split_task(scored(replace(T1, depends_on=(T1.id, TaskId("T0")))), LIMITS)
    assert first.depends_on == ("T0",)
