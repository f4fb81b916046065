"""What is said of items in a list of tasks that are no tasks."""

import pytest

from amelia.model.diagnostics import Diagnostic, Severity
from amelia.plan.read import read_plan


def found(text: str) -> list[Diagnostic]:
    return [each for each in read_plan(text.encode())[1] if each.code in {"unread-task", "maybe-task"}]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("- [ ] a\n- b\n- [ ] c\n", [2]),
        ("* [ ] add logout\n* fix login\n", [2]),
        ("* fix login\n\n* [ ] add logout\n", [1]),
        ("- [ ] a\n+ b\n", [2]),
        ("1. [ ] a\n2. b\n3. [ ] c\n", [2]),
        ("## Tasks\n1. a\n2. [ ] b\n3. c\n", [3]),
        ("- Shop\n  - [ ] a\n  - b\n  - [ ] c\n", [3]),
        ("- [ ] T001 a\n- [ ] b\n- [ ] T003 c\n", [2]),
        ("- [ ] Task 1: a\n- [ ] Tsak 2: b\n- [ ] Task 3: c\n", [2]),
        ("- [ ] a\n- [x]\n- b\n- c\n- [ ] d\n", [3, 4]),
    ],
)
def test_an_item_beside_tasks_that_is_none_is_named(text: str, lines: list[int]) -> None:
    assert [each.line for each in found(text)] == lines


@pytest.mark.parametrize(
    "text",
    [
        "- [ ] a\n  - part of a\n- [ ] c\n",
        "- [ ] a\n\nIn the shop:\n\n- b\n- c\n",
        "- [ ] a\n## Notes\n- b\n",
        "- Shop\n  - [ ] a\n- Desk\n  - [ ] b\n",
        "- [ ] 2 Shop\n- [ ] 2.1 a\n- [ ] 2.2 b\n",
        "- [ ] a\n-\n- [ ] b\n",
        "### Task 1: A\n- [ ] a\n- b\n### Task 2: B\n- b\n",
        "- a\n- b\n",
        "- - - [ ] a\n    - [ ] b\n\n> - c\n",
    ],
)
def test_items_of_tasks_and_of_other_lists_are_left_alone(text: str) -> None:
    assert not found(text)


@pytest.mark.parametrize("item", ["**Note:** b", "Depends on: 7", "~~b~~", "✅ b"])
def test_an_item_that_says_itself_that_it_is_no_task_is_a_warning(item: str) -> None:
    (said,) = found(f"- [ ] a\n- {item}\n- [ ] c\n")
    assert (said.code, said.severity, said.line) == ("maybe-task", Severity.WARNING, 2)


def test_the_finding_says_what_to_do() -> None:
    (lacks_box,) = found("- [ ] a\n- b\n- [ ] c\n")
    assert "'b' stands in a list of tasks without a box" in lacks_box.message
    assert "- [ ]" in str(lacks_box.hint)
    assert "indent it" in str(lacks_box.hint)
    (lacks_id,) = found("- [ ] T001 a\n- [ ] b\n- [ ] T003 c\n")
    assert "without an id or a box" in lacks_id.message
