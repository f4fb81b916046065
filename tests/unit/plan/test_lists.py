"""Which lists are plans."""

import pytest

from amelia.plan.read import read_plan


def read(text: str) -> tuple[str, list[tuple[str, str]]]:
    plan, _ = read_plan(text.encode())
    return plan.format, [(task.id, task.title) for task in plan.tasks]


@pytest.mark.parametrize(
    "text",
    [
        "1. A\n2. B\n",
        "Some words.\n\n1. A\n2. B\n",
        "# Plan\n\n- A\n- B\n",
        "Do this:\n\n- A\n\n- B\n",
        "Text.\n\nMore text.\n\nMuch text.\n\n**Steps:**\n\n- A\n- B\n",
        "## Notes\n- x\n- y\n## The plan\n- A\n- B\n",
        "# P\n\n## Shop\n1. A\n2. B\n\n## Colours\n- red\n",
        "- Task 1: A\n- Task 2: B\n\n1. x\n2. y\n3. z\n",
    ],
)
def test_a_list_that_is_the_plan_is_tasks(text: str) -> None:
    assert read(text) == ("list", [("1", "A"), ("2", "B")])


@pytest.mark.parametrize(
    "text",
    [
        "- A\n",
        "Words.\n\n- A\n- B\n",
        "Words.\n\nMore.\n\nMuch.\n\n1. A\n2. B\n",
        "1. A\n2. B\n\nThen:\n\n1. C\n2. D\n",
        "Files:\n- a.py\n- b.py\n",
        "Requirements:\n- fast\n- small\n",
        "- Type: impl\n- Files: a.py\n",
        "## Later\n- A\n- B\n",
        "## Test plan\n\nLook.\n\n- A\n- B\n",
        "-\n- A\n",
        "> - A\n> - B\n",
    ],
)
def test_other_lists_are_not(text: str) -> None:
    assert read(text)[0] == "single"


def test_items_with_ids_keep_them_and_others_are_numbered() -> None:
    assert read("- T1: A\n- ✅ T2: B\n- C\n") == ("list", [("T1", "A"), ("T2", "B"), ("3", "C")])
    assert read("## Tasks\n1. A\n1. B\n") == ("list", [("1", "A"), ("2", "B")])


def test_what_stands_below_an_item_belongs_to_it() -> None:
    plan, _ = read_plan(b"1. A\n\n   text\n   - [ ] step\n2. B\n   - x\n")
    assert [task.section for task in plan.tasks] == ["1. A\n\n   text\n   - [ ] step\n", "2. B\n   - x\n"]
