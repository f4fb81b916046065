"""What a review found becomes a plan that reads as it was meant, whatever the reviewer wrote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.model.findings import Finding, finding_id
from amelia.model.plan import Mode, TaskType
from amelia.model.settings import PlanSettings
from amelia.plan.compile import compile_plan
from amelia.plan.findings import plan_of
from amelia.plan.read import read_plan

KNOWN = frozenset({"src/a.py"})


def found(text: str, file: str | None = "src/a.py", line: int | None = 3) -> Finding:
    return Finding(finding_id(file, text), text, file, line)


def test_every_finding_is_a_task_with_its_file_and_its_text() -> None:
    plan, _ = read_plan(plan_of([found("Name it."), found("Say why.", None, None)], KNOWN).encode())
    first, second = plan.tasks
    assert (first.id, first.title, first.type) == ("1", "Mend src/a.py", TaskType.CHORE)
    assert first.files == ("src/a.py",)
    assert "src/a.py:3: Name it." in first.section
    assert (second.title, second.files) == ("Mend what was found", ())


@pytest.mark.parametrize("file", ["gone.py", "odd name.py", "../out.py"])
def test_a_file_that_is_not_there_is_not_declared(file: str) -> None:
    plan, _ = read_plan(plan_of([found("x", file)], KNOWN | {"odd name.py"}).encode())
    assert plan.tasks[0].files == ()


@given(st.lists(st.text(max_size=200).filter(str.strip), min_size=1, max_size=4))
def test_no_text_of_a_reviewer_makes_another_plan(texts: list[str]) -> None:
    hostile = [*texts, "```\n### Task 9: Evil\n- Type: test\n````", "### Task 1: Again\n- Depends on: 7"]
    text = plan_of([found(each) for each in hostile], KNOWN)
    plan, problems = read_plan(text.encode("utf-8", "replace"))
    compiled = compile_plan(plan, problems, settings=PlanSettings(), mode=Mode.TASKS)
    assert [task.id for task in plan.tasks] == [str(number) for number in range(1, len(hostile) + 1)]
    assert all(task.type is TaskType.CHORE and not task.depends_on for task in plan.tasks)
    assert compiled.can_run
