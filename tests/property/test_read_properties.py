"""What holds for every text: nothing raises, zero tasks is never success, a plan written out reads back."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from amelia.model.diagnostics import Severity
from amelia.model.plan import Priority, TaskType
from amelia.model.settings import PlanSettings
from amelia.plan import words
from amelia.plan.compile import compile_plan
from amelia.plan.graph import DONE
from amelia.plan.read import read_plan

PIECES = st.sampled_from(
    [
        "### Task 1: A\n", "## Task 2 — B\n", "# Plan\n", "#### 1.2 C\n", "- [ ] T001 [P] D\n", "- [x] 1. E\n", "  - [ ] f\n",
        "```\n", "```python\n", "````md\n", "~~~\n", "<task type='auto'>\n", "</task>\n", "<name>x</name>\n", "---\n", "> q\n",
        "**Task 3: G**\n", "| ID | Task | Status |\n", "|---|---|---|\n", "| 1 | a | done |\n", "\n", "text depends on Task 2\n",
        "- Depends on: 1, Task 2\n", "- Files: create a.py\n", "- Type: impl\n", "**Files:**\n", "- Create: `b.py`\n", "## Phase 1\n",
        "todos:\n  - content: x\n", "## Summary\n", "\r\n", "\t- tab\n", "1. one\n", "Title\n===\n", "Acceptance criteria:\n", "### ~~Task 4~~\n",
        "### Task One: H\n", "###Task 5: I\n", "### Task a/b: J\n", "### Task: K\n", "### Task\n", "  - ### Task 6: L\n",
    ]
)  # fmt: skip
PLAN_LIKE = st.lists(st.one_of(PIECES, st.text(max_size=20)), max_size=60).map("".join)


def assert_sound(data: bytes) -> None:
    plan, diagnostics = read_plan(data)
    assert plan.tasks or any(found.severity is Severity.ERROR for found in diagnostics)
    compiled = compile_plan(plan, diagnostics, settings=PlanSettings(), mode=None)
    lines = len(plan.text.splitlines()) + plan.text.count("\r") + 1
    for task in plan.tasks:
        assert task.id
        assert 1 <= task.line <= task.end_line <= max(lines, 1)
    assert not compiled.can_run or compiled.units or all(task.status in DONE for task in plan.tasks)


@given(st.binary(max_size=400))
def test_any_bytes_are_read_without_raising(data: bytes) -> None:
    assert_sound(data)


@given(st.text(max_size=400))
def test_any_text_is_read_without_raising(text: str) -> None:
    assert_sound(text.encode("utf-8", "surrogatepass"))


@settings(max_examples=400)
@given(PLAN_LIKE)
def test_anything_made_of_plan_pieces_is_read_without_raising(text: str) -> None:
    assert_sound(text.encode("utf-8", "surrogatepass"))


SIGNS = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x2FFF, categories=["L", "N", "P", "S"]), max_size=9
).filter(lambda sign: sign.casefold() not in words.ABOUT)


@settings(max_examples=400)
@given(
    st.lists(
        st.tuples(st.sampled_from(["### ", "###", "## ", "> ### ", "- ### "]), SIGNS),
        max_size=5,
        unique_by=lambda pair: pair[1].casefold(),
    )
)
def test_no_heading_that_looks_like_a_task_disappears(headings: list[tuple[str, str]]) -> None:
    lines = ["### Task 777: A", *(f"{marks}Task {sign}: B" for marks, sign in headings)]
    plan, diagnostics = read_plan("\n\ntext\n\n".join(lines).encode())
    named = {task.line for task in plan.tasks} | {found.line for found in diagnostics}
    assert named >= {1 + 4 * number for number in range(len(lines))} or "named-twice" in {
        found.code for found in diagnostics
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(["tasks", "id", "title", "status", "userStories", "master", "dependencies", "x"]), inner, max_size=5),
    max_leaves=25,
)  # fmt: skip


@given(JSON)
def test_any_json_is_read_without_raising(value: Any) -> None:
    assert_sound(json.dumps(value).encode())


WORDS = st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=9).filter(
    lambda word: word not in {"none", "no", "na", "nil"}
)
TITLES = st.lists(WORDS, min_size=1, max_size=5).map(lambda words: "Build " + " ".join(words))
PATHS = st.builds("src/{}/{}.py".format, WORDS, WORDS)
FIELDS = st.fixed_dictionaries(
    {
        "title": TITLES,
        "type": st.none() | st.sampled_from(list(TaskType)),
        "priority": st.sampled_from(list(Priority)),
        "create": st.lists(PATHS, max_size=3, unique=True),
        "modify": st.lists(PATHS, max_size=3, unique=True),
        "tests": st.lists(st.builds("tests/test_{}.py".format, WORDS), max_size=2, unique=True),
        "criteria": st.lists(TITLES, max_size=3, unique=True),
        "story": st.none() | TITLES.map("As a user I want to {}".format),
        "milestone": st.none() | WORDS,
        "phase": st.none() | st.integers(1, 9).map(str),
        "needs": st.sets(st.integers(0, 30), max_size=3),
    }
)


def write_out(tasks: list[dict[str, Any]], ending: str) -> str:
    """Writes tasks in Amelia's own grammar."""
    lines = ["# A plan", "", "Some words.", ""]
    for number, task in enumerate(tasks, start=1):
        lines += [f"### Task {number}: {task['title']}", ""]
        lines += [f"- Type: {task['type']}"] * (task["type"] is not None)
        lines += [f"- Depends on: {', '.join(map(str, task['needs']))}"] * bool(task["needs"])
        lines += [f"- Phase: {task['phase']}"] * (task["phase"] is not None)
        if task["create"] or task["modify"] or task["tests"]:
            lines += ["- Files:"]
            for role, paths in (
                ("Create", task["create"]),
                ("Modify", task["modify"]),
                ("Test", task["tests"]),
            ):
                lines += [f"  - {role}: {', '.join(f'`{path}`' for path in paths)}"] * bool(paths)
        if task["criteria"]:
            lines += ["- Acceptance criteria:", *(f"  - {text}" for text in task["criteria"])]
        lines += [f"- User story: {task['story']}"] * (task["story"] is not None)
        lines += [f"- Priority: {task['priority']}"]
        lines += [f"- Milestone: {task['milestone']}"] * (task["milestone"] is not None)
        lines += ["", "```bash", "### Task 99: not a task", "```", ""]
    return ending.join([*lines, "## Summary", "", "Done.", ""])


@given(st.lists(FIELDS, min_size=1, max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_a_plan_written_out_reads_back_the_same(tasks: list[dict[str, Any]], ending: str) -> None:
    for number, task in enumerate(tasks, start=1):
        task["needs"] = sorted(need for need in task["needs"] if 0 < need < number)
    text = write_out(tasks, ending)
    plan, diagnostics = read_plan(text.encode())
    assert not diagnostics
    assert [
        {
            "title": task.title, "type": task.type, "priority": task.priority, "create": [*task.files_to_create],
            "modify": [*task.files_to_modify], "tests": [*task.test_files], "criteria": [*task.acceptance_criteria],
            "story": task.user_story or None, "milestone": task.milestone, "phase": task.phase,
            "needs": [int(need) for need in task.depends_on],
        }
        for task in plan.tasks
    ] == tasks  # fmt: skip
    assert all(task.section in text and task.section.endswith(f"```{ending}") for task in plan.tasks)
