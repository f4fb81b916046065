"""A plan that Amelia writes reads back as it was meant."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amelia.model.plan import Priority, Task, TaskId, TaskType
from amelia.plan.read import read_plan
from amelia.plan.write import in_phases, misread, write_plan

LINES = st.from_regex(r"[A-Za-z][a-z]{1,8}( [a-z]{2,8}){0,4}", fullmatch=True)
PATHS = st.from_regex(r"(src|tests)/[a-z_]{1,10}\.(py|ts|md)", fullmatch=True)
TRAPS = st.sampled_from(
    [
        "Do it.",
        "### Task 9: not a task",
        "This depends on Task 1.",
        "- Type: docs\n- Files: create x.py",
        "```python\n### Task 7: code\n```",
        "~~~~\nopen",
        "- [ ] a step\n- [x] a done step",
        "**Acceptance criteria:**\n- none",
        "| id | task |\n|---|---|\n| 3 | x |",
        "## Phase 9: other\n",
        "\u202eturned\u202c and \x1b[2J",
        "---\nfront: matter\n---",
        "{braces} %s {{slots}} `ticks`",
    ]
)


@st.composite
def works(draw: st.DrawFn) -> tuple[Task, ...]:
    count = draw(st.integers(1, 6))
    phases = draw(st.lists(LINES, min_size=1, max_size=3, unique=True)) if draw(st.booleans()) else [None]
    tasks: list[Task] = []
    for number in range(1, count + 1):
        known = [task.id for task in tasks]
        needs = draw(st.lists(st.sampled_from(known), unique=True, max_size=2)) if known else []
        tasks.append(
            Task(
                id=TaskId(str(number)),
                title=draw(LINES),
                type=draw(st.sampled_from(TaskType)),
                phase=draw(st.sampled_from(phases)),
                depends_on=tuple(needs),
                independent=not needs and draw(st.booleans()),
                files_to_create=tuple(draw(st.lists(PATHS, unique=True, max_size=3))),
                acceptance_criteria=tuple(
                    draw(st.lists(LINES.map("It is {}".format), unique=True, max_size=3))
                ),
                user_story=draw(st.just("") | LINES),
                priority=draw(st.sampled_from(Priority)),
                milestone=draw(st.none() | LINES),
                implementation_notes=draw(TRAPS),
            )
        )
    return tuple(tasks)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(works())
def test_what_is_written_reads_back_the_same(tasks: tuple[Task, ...]) -> None:
    ordered = in_phases(tasks)
    assert misread(ordered, write_plan("Some goal", tasks)) == []


@pytest.mark.rows("D2")
def test_every_field_is_written() -> None:
    task = Task(
        id=TaskId("2a"),
        title="Add `x`",
        type=TaskType.IMPL,
        phase="Code",
        depends_on=(TaskId("1"),),
        files_to_create=("src/x.py",),
        files_to_modify=("src/y.py",),
        test_files=("tests/test_x.py",),
        acceptance_criteria=("AC-1: it works", "AC-2: it is fast"),
        user_story="As a reader I want x.",
        priority=Priority.HIGH,
        milestone="M1",
        waiver="there is nothing to test",
        implementation_notes="Any text.",
    )
    first = Task(id=TaskId("1"), title="Test x", type=TaskType.TEST, phase="Tests")
    assert write_plan("Have x", [first, task]) == (
        "# Plan\n\n**Goal:** Have x\n\n## Phase 1: Tests\n\n### Task 1: Test x\n\n- Type: test\n\n"
        "## Phase 2: Code\n\n### Task 2a: Add `x`\n\n- Type: impl\n- Depends on: 1\n- Files:\n"
        "  - Create: `src/x.py`\n  - Modify: `src/y.py`\n  - Test: `tests/test_x.py`\n"
        "- Acceptance criteria:\n  - AC-1: it works\n  - AC-2: it is fast\n"
        "- User story: As a reader I want x.\n- Priority: high\n- Milestone: M1\n"
        "- TDD waiver: there is nothing to test\n\nAny text.\n"
    )
    read, _ = read_plan(write_plan("Have x", [first, task]).encode())
    assert read.goal == "Have x"


def test_only_what_would_be_misread_is_fenced() -> None:
    plain = Task(id=TaskId("1"), title="One", implementation_notes="Just do it:\n- first\n- then")
    tricky = Task(id=TaskId("2"), title="Two", implementation_notes="### Task 9: no\n~~~")
    text = write_plan("Goal", [plain, tricky])
    assert "\nJust do it:\n- first\n- then\n" in text
    assert "~~~~text\n### Task 9: no\n~~~\n~~~~\n" in text


def test_a_sentence_about_another_task_is_fenced_too() -> None:
    one = Task(id=TaskId("1"), title="One")
    two = Task(id=TaskId("2"), title="Two")
    three = Task(id=TaskId("3"), title="Three", implementation_notes="Task 2 depends on Task 1.")
    assert misread([one, two, three], write_plan("Goal", [one, two, three])) == []


def test_tasks_stand_by_phase_and_a_number_that_a_phase_has_is_not_doubled() -> None:
    tests = Task(id=TaskId("1"), title="One", phase="Phase 7: Tests")
    code = Task(id=TaskId("2"), title="Two", phase="Code")
    more = replace(tests, id=TaskId("3"))
    loose = Task(id=TaskId("4"), title="Four")
    assert [task.id for task in in_phases([tests, code, more, loose])] == ["4", "1", "3", "2"]
    assert "## Phase 1: Tests\n" in write_plan("Goal", [tests, code])


def test_what_cannot_be_written_is_told() -> None:
    odd = Task(id=TaskId("no id at all"), title="One")
    assert misread([odd], write_plan("Goal", [odd]))
    spaced = Task(id=TaskId("1"), title="One", files_to_create=("a b c",))
    (problem,) = misread([spaced], write_plan("Goal", [spaced]))
    assert problem.startswith("Task 1: files_to_create is read as")
