"""What is said of headings between the headings of tasks that are no tasks."""

import pytest

from amelia.model.diagnostics import Severity
from amelia.plan.read import read_plan


def found(text: str) -> list[tuple[str, int | None]]:
    diagnostics = read_plan(text.encode())[1]
    return [(each.code, each.line) for each in diagnostics if each.code in {"unread-task", "text-between"}]


@pytest.mark.parametrize(
    "text",
    [
        "### Task 1: A\na\n### Tsak 2: B\nb\n### Task 3: C\nc\n",
        "### Task 1: A\n### Tsak 2: B\n### Task 3: C\n",
        "### Task 1: A\n### Job 2 - B\nb\n### Task 3: C\n",
        "## Phase 1\n### Task 1.1: A\n### Tsk 1.2: B\n### Task 1.3: C\n",
        "## T1: A\n## **Thing 2:** B\n## T3: C\n",
        "### Task 1: A\n### Task 2: B\n## Taks 3: C\nc\n# End\n",
        "### Task 1: A\n### Part 2: B\nb\n### Task 3: C\n",
        "### Task 1: A\n### Step 2: B\nb\n### Task 3: C\n",
        "### Aufgabe 1: A\na\n### Afugabe 2: B\nb\n",
    ],
)
def test_a_heading_with_the_number_of_a_task_or_nearly_its_word_is_an_error(text: str) -> None:
    ((code, line),) = found(text)
    assert code == "unread-task"
    assert line is not None
    assert text.splitlines()[line - 1].rstrip("*").endswith(("B", "C"))


@pytest.mark.parametrize(
    ("heading", "wanted"),
    [
        ("### Add the login page\nb\n", [("text-between", 3)]),
        ("### Option 7: B\nb\n", [("text-between", 3)]),
        ("### Phase 1: B\nb\n", []),
        ("### Wait a moment\n\n", []),
        ("### Notes\nb\n", []),
        ("### Design of it\nb\n", []),
        ("### Later on\nb\n", []),
        ("#### Tsak 2: a part of task 1\nb\n", []),
        ("### Appendix 2: B\nb\n", []),
        ("### Tasks 1-3: all\n\n", []),
    ],
)
def test_a_heading_between_tasks_whose_text_reaches_nobody_is_named(
    heading: str, wanted: list[tuple[str, int]]
) -> None:
    assert found(f"### Task 1: A\na\n{heading}### Task 3: C\nc\n") == wanted


def test_what_follows_the_last_task_is_the_authors_own() -> None:
    assert not found("### Task 1: A\na\n### Task 2: B\nb\n### Deployment\nd\n### Option 3: C\nc\n")


def test_the_warning_says_what_happens_with_the_text() -> None:
    _, diagnostics = read_plan(b"### Task 1: A\na\n### Add the page\nb\n### Task 2: C\nc\n")
    (said,) = diagnostics
    assert said.severity is Severity.WARNING
    assert "'Add the page'" in said.message
    assert "reaches nobody" in said.message
