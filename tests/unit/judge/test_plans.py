"""What an architect answers is a plan, or it is no answer."""

from typing import Any

import pytest

from amelia.judge.answers import Invalid
from amelia.judge.plans import PLAN_SCHEMA, PlannedWork, read_planned
from amelia.model.plan import Priority, TaskType

TASK: dict[str, Any] = {"id": " 1 ", "title": "Write\n it", "type": "test"}


def test_a_plan_is_read_line_by_line_and_its_descriptions_word_for_word() -> None:
    about = {
        **TASK,
        "phase": " ",
        "depends_on": ["a", "a", ""],
        "description": "One\n\ntwo",
        "priority": "high",
    }
    work = read_planned({"goal": "A\ngoal", "tasks": [about]})
    assert isinstance(work, PlannedWork)
    (task,) = work.tasks
    assert (work.goal, task.id, task.title, task.type) == ("A goal", "1", "Write it", TaskType.TEST)
    assert (task.phase, task.depends_on, task.priority) == (None, ("a",), Priority.HIGH)
    assert task.implementation_notes == "One\n\ntwo"


@pytest.mark.parametrize(
    "report",
    [
        None,
        {},
        {"tasks": []},
        {"tasks": "none"},
        {"tasks": [{**TASK, "type": "magic"}]},
        {"tasks": [{**TASK, "title": " "}]},
        {"tasks": [{"title": "x"}]},
        {"tasks": [TASK] * 501},
    ],
)
def test_anything_else_is_no_answer(report: dict[str, object] | None) -> None:
    assert isinstance(read_planned(report), Invalid)


def test_what_is_too_much_is_cut() -> None:
    work = read_planned({"tasks": [{**TASK, "title": "x" * 5000, "description": "y" * 50_000}]})
    assert isinstance(work, PlannedWork)
    assert (len(work.tasks[0].title), len(work.tasks[0].implementation_notes)) == (1000, 20_000)


def test_the_schema_is_strict() -> None:
    def strict(schema: Any) -> bool:
        if schema.get("type") == "object":
            inner = schema["properties"]
            is_closed = schema["additionalProperties"] is False and schema["required"] == list(inner)
            return is_closed and all(map(strict, inner.values()))
        return strict(schema["items"]) if schema.get("type") == "array" else True

    assert strict(PLAN_SCHEMA)


def test_paths_of_an_architect_are_spelled_out() -> None:
    found = read_planned(
        {"tasks": [{"id": "1", "title": "A", "files_to_create": ["src/{m,n}.py", "a.py:3"]}]}
    )
    assert isinstance(found, PlannedWork)
    assert found.tasks[0].files_to_create == ("src/m.py", "src/n.py", "a.py")
