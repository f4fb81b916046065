"""What is said of headings that look like tasks and are none."""

import pytest

from amelia.model.diagnostics import Diagnostic
from amelia.plan.labels import Kind, Label, read_label, read_loose_label
from amelia.plan.read import read_plan


def read(text: str) -> tuple[list[str], list[Diagnostic]]:
    plan, diagnostics = read_plan(text.encode())
    return [task.id for task in plan.tasks], list(diagnostics)


def named(text: str, *codes: str) -> list[tuple[str, int | None]]:
    return [(found.code, found.line) for found in read(text)[1] if found.code in codes]


TWO = "## Tasks\n### Task 1: A\n### Task 2: B\n"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Task a/b: Pay", Label(Kind.TASK, "a/b", "Pay", "Task")),
        ("Task `a b`: Pay", Label(Kind.TASK, "", "`a b`: Pay", "Task", separated=False)),
        ("✅ Task: Pay", Label(Kind.TASK, "", "Pay", "Task", done=True)),
        ("Task #x/y — Pay [DONE]", Label(Kind.TASK, "x/y", "Pay", "Task", done=True)),
        ("Task 3 Notes", Label(Kind.TASK, "3", "Notes", "Task", separated=False)),
        ("Task Overview", Label(Kind.TASK, "", "Overview", "Task", separated=False)),
        ("Task–File Mapping", None),
        ("Tasks", None),
        ("Overview", None),
        ("---", None),
        ("日程", None),
    ],
)
def test_a_label_without_a_usual_id_is_taken_apart(text: str, label: Label | None) -> None:
    assert read_loose_label(text) == label


@pytest.mark.parametrize(
    ("text", "task_id"),
    [
        ("Task One: A", "One"),
        ("Task twenty one: A", "twenty-one"),
        ("Phase Two — A", "Two"),
        ("Tâche trois : A", "trois"),
        ("Schritt zwei: A", "zwei"),
        ("Step one", "one"),
    ],
)
def test_a_number_in_words_is_an_id(text: str, task_id: str) -> None:
    label = read_label(text)
    assert label is not None
    assert label.id == task_id


def test_a_sentence_that_begins_with_a_number_in_words_has_no_label() -> None:
    assert read_label("Task one can do") is None


def test_an_unusual_id_is_told_and_a_missing_one_is_numbered() -> None:
    ids, found = read(TWO + "### Task x/y: C\n### Task: D\n")
    assert ids == ["1", "2", "x/y", "4"]
    assert [(each.code, each.line) for each in found] == [("unusual-id", 4)]


def test_a_heading_without_an_id_in_another_phase_is_a_task() -> None:
    ids, found = read("## Phase 1: P\n### Task 1: A\n## Phase 2: Q\n### Task: B\n")
    assert ids == ["1", "2"]
    assert not found


def test_headings_that_hold_tasks_are_none() -> None:
    assert read("# Plan\n## Task Area: Shop\n### Task 1: A\n### Task 2: B\n")[0] == ["1", "2"]


def test_unusual_ids_alone_make_a_plan_if_there_are_several() -> None:
    assert read("# Plan\n## Task a/b: A\n#### Task c/d: inside\n## Task: B\n")[0] == ["a/b", "2"]
    assert read("# Plan\n## Task a/b: A\n")[0] == ["plan"]


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ("## Elsewhere\n### Task x/y: C\n", [("unread-task", 5)]),
        ("### Task Review: C\n", [("maybe-task", 4)]),
        ("### Task Review:\n", []),
        ("## Task Review: C\n", []),
        ("### Task Review\n", []),
        ("### Task Buy it\n", [("unread-task", 4)]),
        ("## Task Buy it\n", []),
        ("### Task 1-2 Notes\n", []),
        ("### Task 2-3 Notes\n", [("unread-task", 4)]),
        ("#### Task Pay: inside\n", [("unread-task", 4)]),
        ("#### Task Pay:\n", []),
        ("#### Task Goal: inside\n", []),
        ("#### Task Pay: a\n### Task 3: C\n#### Task Pay: a\n", []),
        ("#### Subtask 2.1: inside\n", []),
        ("```\n  ### Task 3: code\n```\n", []),
        ("<!--\n  ### Task 3: gone\n-->\n", []),
        ("  - ### Task 2: again\n", []),
        ("  # no task\n  ### Overview\n  ### 3. Number\n", []),
        ("  ### Task 3: read\n", []),
        ("1. ## Task 3: C\n", [("unread-task", 4)]),
    ],
)
def test_what_looks_like_a_task_is_named(lines: str, wanted: list[tuple[str, int]]) -> None:
    assert named(TWO + lines, "unread-task", "maybe-task") == wanted


def test_siblings_need_not_be_called_task() -> None:
    steps = "# How\n## Step 1: A\n## Step 2: B\n"
    assert read(steps + "## Step a/b: C\n")[0] == ["1", "2", "a/b"]
    assert not named(steps + "## Step back\n### Task x: inside\n", "unread-task")
    codes = "# P\n## T1: A\n## T2: B\n"
    assert named(codes + "# Later on\n### T3: C\n", "unread-task") == [("unread-task", 5)]
    assert not named(codes + "### T3: inside\n# Other\n### K3: else\n", "unread-task")


def test_xml_tasks_do_not_hide_a_task_heading() -> None:
    text = "<task><name>Task 1: A</name></task>\n\n### Task 2: B\n"
    assert named(text, "unread-task") == [("unread-task", 3)]


def test_headings_without_a_space_are_read_and_told() -> None:
    ids, found = read("#Plan\n##Phase 1: P\n###Task 1: A\ntext\n###Task 2: B\n##3. C\n#todo: x\n#Task 4: D\n")
    assert ids == ["1", "2", "4"]
    assert [each.line for each in found if each.code == "unspaced-heading"] == [2, 3, 5, 6, 8]


def test_a_heading_without_a_space_in_code_is_code() -> None:
    ids, found = read("### Task 1: A\n```\n###Task 2: B\n```\n")
    assert ids == ["1"]
    assert not found


def test_a_dependency_on_an_unusual_id_is_kept() -> None:
    plan, _ = read_plan(
        b"### Task One: A\n### Task x/y: B\n- Depends on: Task One\n### Task 3: C\n- Needs x/y: no\n"
    )
    assert [task.depends_on for task in plan.tasks] == [(), ("One",), ()]


@pytest.mark.parametrize(
    "line",
    [
        "**Task 3:** Pay",
        "**Task 3: Pay**",
        "- [ ] Task 3: Pay",
        "- Task 3: Pay",
        "1. Task 3: Pay",
        "> Task 3: Pay",
        "Task 3: Pay",
        "Task three: Pay",
    ],
)
@pytest.mark.parametrize("is_before", [True, False])
def test_a_line_that_begins_like_a_task_outside_of_all_tasks_is_an_error(line: str, is_before: bool) -> None:  # noqa: FBT001
    text = f"{line}\n\n{TWO}" if is_before else f"{TWO}\n## More\n\n{line}\n"
    assert named(text, "unread-task") == [("unread-task", 1 if is_before else 7)]
    assert not named(f"{TWO}\n{line}\n", "unread-task")  # task 2 has it


def test_a_line_with_the_letters_of_other_ids_is_an_error() -> None:
    text = "T3: Pay\n\n## T1: A\n## T2: B\n"
    assert named(text, "unread-task") == [("unread-task", 1)]


@pytest.mark.parametrize("title", ["Out of scope", "Appendix"])
def test_a_line_like_a_task_where_no_work_is_planned_is_a_warning(title: str) -> None:
    text = f"{TWO}\n## {title}\n\n- Task 3: Pay\n"
    assert named(text, "maybe-task", "unread-task") == [("maybe-task", 7)]


@pytest.mark.parametrize(
    "line",
    [
        "- Task 1: A, before the others",
        "- Tasks 1-2: both",
        "Task 3 is not planned.",
        "Task notes: here",
        "| Task 3: Pay | x |",
        "3. Pay",
        "Task 3:",
    ],
)
def test_a_line_that_speaks_of_tasks_is_none(line: str) -> None:
    assert not named(f"{line}\n\n{TWO}", "unread-task", "maybe-task")


@pytest.mark.parametrize(
    "heading",
    ["[Task 3] Pay", "(Task 3) Pay", "Optional: Task 3: Pay", "Bonus Task: Pay", "3. Task: Pay"],
)
def test_a_heading_that_names_a_task_behind_other_words_is_an_error(heading: str) -> None:
    assert named(f"{TWO}### {heading}\nMoney.\n", "unread-task", "maybe-task") == [("unread-task", 4)]


@pytest.mark.parametrize("heading", ["Step 3: Pay", "T3: Pay", "3. Pay", "Story 1: Pay"])
def test_a_heading_beside_tasks_that_is_labelled_otherwise_is_a_warning(heading: str) -> None:
    assert named(f"{TWO}### {heading}\nMoney.\n", "unread-task", "maybe-task") == [("maybe-task", 4)]


@pytest.mark.parametrize(
    "heading",
    [
        "### Checkpoint: After Tasks 1-2",
        "### Notes on Task 1:",
        "## Rules for a Task: none",
        "### Phase 2: Next",
    ],
)
def test_a_heading_that_mentions_tasks_is_none(heading: str) -> None:
    assert not named(f"{TWO}{heading}\nText.\n", "unread-task", "maybe-task")


def test_a_heading_that_names_a_task_beside_stories_is_an_error() -> None:
    text = "## Story 1: A\n## Story 2: B\n## Bonus Task: C\n"
    assert named(text, "unread-task", "maybe-task") == [("unread-task", 3)]


def test_a_heading_whose_id_is_what_is_left_of_anothers_signs_is_told() -> None:
    _, found = read_plan(b"### Task 1: A\n\n### Task ;: B\n\n## Task ;#: C\n")
    assert [(each.code, each.line) for each in found] == [("unusual-id", 3), ("unread-task", 5)]
