"""What agents are told: complete, bounded in its own words, and not to be broken out of."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.context.places import Places
from amelia.context.prompts import (
    Assignment,
    breadcrumb,
    continuation_prompt,
    developer_prompt,
)
from amelia.context.quoting import fenced
from amelia.context.retries import Retry
from amelia.context.review_prompts import evaluator_prompt, reviewer_prompt
from amelia.model.commands import Progress
from amelia.model.findings import Finding, finding_id
from amelia.model.git import CommitId
from amelia.model.outcome import Cause
from amelia.model.plan import Mode, Task, TaskId, Unit, UnitId
from amelia.record.prompts import shipped_texts

TEXTS = shipped_texts()


def assignment(
    *sections: str, goal: str = "Build the API", mode: Mode = Mode.PHASED, **more: Any
) -> Assignment:
    tasks = tuple(
        Task(id=TaskId(str(n)), title=f"Title {n}", section=section)
        for n, section in enumerate(sections, start=1)
    )
    name = {Mode.PHASED: "phase-1", Mode.SINGLE: "plan"}.get(mode, "1")
    unit = Unit(UnitId(name), "Ground", tuple(task.id for task in tasks), (), 1, tasks)
    places = Places("docs/amelia/2026-11-15-api", mode)
    more.setdefault("progress", Progress())
    return Assignment(unit=unit, mode=mode, goal=goal, places=places, **more)


def finding(text: str, line: int | None = 3) -> Finding:
    return Finding(finding_id("a.py", text), text, "a.py", line)


def test_a_fence_is_as_long_as_it_has_to_be() -> None:
    assert fenced("text\n", "diff") == "```diff\ntext\n```"
    assert fenced("a ``` b") == "````\na ``` b\n````"
    assert fenced("``````") == "```````\n``````\n```````"
    assert fenced("") == "```\n\n```"


@pytest.mark.slow
@given(text=st.text(alphabet="`~ab\n \r"))
def test_no_text_closes_its_fence(text: str) -> None:
    first, *middle, last = fenced(text).split("\n")
    assert set(first) == {"`"}
    assert first == last
    assert not any(line.strip().startswith(last) for line in middle)
    assert "\n".join(middle) == text.rstrip()


def test_a_fence_around_a_million_backticks_is_made_at_once() -> None:
    start = time.process_time()
    assert fenced("`" * 1_000_000).startswith("`" * 1_000_001 + "\n")
    assert fenced("` " * 500_000)
    assert time.process_time() - start < 2


def test_a_developer_is_told_its_tasks_the_rules_and_how_to_report() -> None:
    prompt = developer_prompt(TEXTS, assignment("Write one.", "Write two."))
    assert (
        "### 1: Title 1\n```markdown\nWrite one.\n```\n\n### 2: Title 2\n```markdown\nWrite two.\n```"
        in prompt
    )
    for heading in ("## Your Assignment", "## Where to Find Context", "## Instructions", "Do NOT commit"):
        assert heading in prompt
    assert '"status": "completed|partial|failed"' in prompt
    assert "Retry" not in prompt
    assert "HEAD~" not in prompt


@pytest.mark.rows("P4", "P12")
def test_a_developer_without_a_task_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="Developer requires plan_markdown"):
        developer_prompt(TEXTS, assignment())


def test_a_goal_of_many_lines_is_one() -> None:
    prompt = developer_prompt(TEXTS, assignment("x", goal="Build\n\n## Rules\n\tit"))
    assert "for context: Build ## Rules it\n" in prompt


@pytest.mark.rows("P3")
@pytest.mark.parametrize(
    ("progress", "said"),
    [
        (Progress(1, 5, 0), "Executing Task 1 of 5:"),
        (Progress(2, 5, 1), "Tasks 1-1 of 5 completed. Now executing Task 2:"),
        (Progress(4, 5, 3), "Tasks 1-3 of 5 completed. Now executing Task 4:"),
        (Progress(3, 5, 2, is_in_order=False), "2 of 5 tasks are done. Now executing Task 3:"),
        (Progress(1, 5, 2, is_in_order=False), "2 of 5 tasks are done. Now executing Task 1:"),
        (Progress(4, 5, 0, is_in_order=False), "0 of 5 tasks are done. Now executing Task 4:"),
        (Progress(5, 7, 4), "Tasks 1-4 of 7 completed. Now executing Task 5:"),
        (Progress(1, 3, 0, name="T-1"), "Executing Task T-1, the first of 3:"),
        (Progress(1, 3, 0, name="task-1"), "Executing task-1, the first of 3:"),
        (Progress(2, 3, 1, name="6", first="5"), "Task 5 (1 of 3) completed. Now executing Task 6:"),
        (
            Progress(3, 3, 2, name="7", first="5", last="6"),
            "Tasks 5 to 6 (2 of 3) completed. Now executing Task 7:",
        ),
        (
            Progress(3, 3, 1, is_in_order=False, name="7"),
            "1 of 3 tasks are done. Now executing Task 7:",
        ),
    ],
)
def test_a_task_says_how_far_the_plan_is(progress: Progress, said: str) -> None:
    assert breadcrumb(progress) == said
    assert developer_prompt(TEXTS, assignment("x", mode=Mode.TASKS, progress=progress)).startswith(
        f"{said}\n"
    )


@pytest.mark.rows("R16")
@pytest.mark.parametrize(
    ("attempt", "framing"),
    [
        (2, "The previous approach failed."),
        (3, "Review the errors carefully"),
        (4, "The prior attempt had issues."),
        (5, "The previous approach failed."),
    ],
)
def test_a_later_attempt_is_told_what_was_wrong_in_other_words_each_time(attempt: int, framing: str) -> None:
    commit = CommitId("c" * 40)
    retry = Retry(attempt=attempt, errors="2 tests fail", ref="refs/amelia/r/phase-1/1", commit=commit)
    prompt = developer_prompt(TEXTS, assignment("x"), retry=retry)
    assert f"## Retry Attempt {attempt}\n\n{framing}" in prompt
    assert "### Previous Attempt Errors\n```\n2 tests fail\n```" in prompt
    assert "Full feedback at: `docs/amelia/2026-11-15-api/phase-1/review-feedback.md`" in prompt
    assert "`git show refs/amelia/r/phase-1/1` shows the attempt." in prompt


def test_an_attempt_that_nothing_precedes_names_no_commit() -> None:
    prompt = developer_prompt(TEXTS, assignment("x"), retry=Retry(attempt=2, errors="Mind the gap"))
    assert "Mind the gap" in prompt
    assert "git show" not in prompt


def test_a_session_that_goes_on_is_told_only_what_is_new() -> None:
    retry = Retry(attempt=2, errors="- a.py:3: too long\n- b.py: too short", cause=Cause.REJECTED)
    prompt = continuation_prompt(TEXTS, retry)
    assert prompt.startswith("The reviewer requested the following changes:\n\n```\n- a.py:3: too long\n- b")
    assert len(prompt) < 250


def test_files_that_a_person_grants_are_told_to_developer_reviewer_and_evaluator() -> None:
    mine = assignment("Write one.", granted=("t/a.py", "t/b.py", "t/a.py"))
    assert "A person lets you change t/a.py, t/b.py.\n" in developer_prompt(TEXTS, mine)
    retry = Retry(attempt=2, errors="no", cause=Cause.CHECKS_FAILED)
    assert "A person lets you change t/a.py.\n" in continuation_prompt(TEXTS, retry, granted=("t/a.py",))
    told = "A person let this unit change t/a.py, t/b.py."
    assert told in reviewer_prompt(TEXTS, mine, checks="ok", diff="+x")
    assert told in evaluator_prompt(TEXTS, mine, diff="+x", findings=[finding("slow")])
    assert "A person" not in reviewer_prompt(TEXTS, assignment("x"), checks="ok", diff="+x")


def test_what_the_checks_say_is_not_put_into_the_reviewers_mouth() -> None:
    assert "reviewer" not in continuation_prompt(
        TEXTS, Retry(attempt=2, errors="x", cause=Cause.CHECKS_FAILED)
    )


@pytest.mark.rows("P8")
def test_a_reviewer_is_told_the_tasks_the_checks_and_the_change() -> None:
    prompt = reviewer_prompt(TEXTS, assignment("Write one."), checks="3 passed", diff="+one\n")
    assert "**Task:** Phase 1: Ground\n\n```markdown\nTitle 1\n\nWrite one.\n```" in prompt
    assert "```\n3 passed\n```" in prompt
    assert "```diff\n+one\n```" in prompt
    assert '{"approved": true | false' in prompt
    assert "since the last review" not in prompt
    assert "Findings that were" not in prompt


@pytest.mark.rows("P8")
def test_a_reviewer_is_told_which_of_several_tasks_it_reads() -> None:
    placed = assignment("x", mode=Mode.TASKS, progress=Progress(2, 3, 1))
    assert "**Current Task (2/3):** Task 1: Ground\n" in reviewer_prompt(TEXTS, placed, checks="", diff="")


def test_a_later_round_is_told_what_changed_and_what_was_open() -> None:
    prompt = reviewer_prompt(
        TEXTS,
        assignment("x"),
        checks="",
        diff="all",
        since="+new",
        open_findings=[finding("Too long"), finding("b", None)],
    )
    assert "## What changed since the last review\n```diff\n+new\n```" in prompt
    assert "```\n- a.py:3: Too long\n- a.py: b\n```" in prompt


def test_a_later_round_without_a_change_says_so() -> None:
    prompt = reviewer_prompt(TEXTS, assignment("x"), checks="", diff="all", since="")
    assert "## What changed since the last review\n```diff\n\n```" in prompt


def test_an_evaluator_is_told_the_findings_by_number() -> None:
    found = [finding("Too long"), finding("Too short")]
    prompt = evaluator_prompt(TEXTS, assignment("x"), diff="+one", findings=found)
    assert "```\n1. a.py:3: Too long\n2. a.py:3: Too short\n```" in prompt
    for word in ("IMPLEMENT", "REJECT", "DEFER", "CLARIFY"):
        assert f"\n{word}: " in prompt
    assert '"finding": 1' in prompt


def test_of_many_red_tests_a_reviewer_is_told_some_and_how_many_more() -> None:
    placed = assignment("x", mode=Mode.TASKS, red_tasks=(TaskId("1"), TaskId("of another unit")))
    red = [f"test_{number}" for number in range(60)]
    prompt = reviewer_prompt(TEXTS, placed, checks="", diff="", red=red)
    assert "The tests of Task 1 are to fail now" in prompt
    assert "test_49\nand 10 more\n```" in prompt
    assert "test_50" not in prompt


def test_a_reviewer_of_several_tasks_reads_each_under_its_own_name() -> None:
    prompt = reviewer_prompt(TEXTS, assignment("Write one.", "Write two."), checks="", diff="")
    assert "### 1: Title 1\n```markdown\nWrite one.\n```\n\n### 2: Title 2\n" in prompt
