"""Prompts lead somewhere: paths and commands they name are there, and the task they name is the one to do."""

import re
from pathlib import Path

import pytest

from stories import APPROVED, Stage, develops, make_stage, rejects, tasks, writes

pytestmark = pytest.mark.slow

PHASES = """\
# Add accounts

## Phase 1: Ground
### Task 1: Lay it down
- Files: create one.txt
## Phase 2: Walls
### Task 2: Build them
- Files: create two.txt
### Task 3: Paint them
- Files: create three.txt
"""


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path)


def told_path(prompt: str, before: str) -> str:
    """Returns the path or the command that a prompt names behind some words."""
    found = re.search(rf"{before} `(.*?)`", prompt)
    assert found is not None, prompt
    return found[1]


@pytest.mark.rows("R10", "R31", "D6")
def test_a_phase_finds_all_that_its_prompt_leads_to(stage: Stage) -> None:
    seen = stage.room / "seen"
    look = f"ls docs/amelia/*/plan.md docs/amelia/*/phase-*/summary.md > '{seen}'; git log --oneline -10 >> '{seen}'"
    done = stage.run(
        PHASES,
        writes("phase-1", "one.txt"),
        develops(
            "phase-2", {"run": look}, {"write": "two.txt", "text": ""}, {"write": "three.txt", "text": ""}
        ),
        APPROVED,
        options=["--mode", "phased"],
    )
    assert done.outcome == "completed"
    prompt = stage.prompt("phase-2", 1)
    assert "Execute these subtasks IN ORDER" in prompt
    assert 0 < prompt.index("### 2: Build them") < prompt.index("### 3: Paint them")
    plan, summaries = told_path(prompt, "Full plan:"), told_path(prompt, "Prior phase summaries:")
    assert summaries == plan.replace("plan.md", "phase-*/summary.md")
    summary, there, first, *_ = seen.read_text().splitlines()
    assert (there, summary) == (plan, summaries.replace("*", "1"))
    shown = told_path(prompt, "Landed last:")
    assert shown == f"git show {stage.log('%H')[0]}"
    assert stage.repo.git(*shown.split()[1:], "--format=%s").startswith("Phase 1: ")
    assert "Phase 1: " in first
    assert "`git log --oneline -10`: the codebase reflects prior phases" in prompt
    assert re.findall(r"(?m)^(\d)\. ", prompt.partition("## Instructions")[2]) == list("1234")
    assert "Do NOT commit" in prompt


@pytest.mark.rows("T7", "T17", "P6")
def test_a_task_is_named_with_the_plan_it_is_from_and_the_goal_is_context(stage: Stage) -> None:
    seen = stage.room / "seen"
    plan = tasks("Alpha", "Beta", goal="Write the alphabet")
    look = {"run": f"ls docs/amelia/*/plan.md > '{seen}'; cat docs/amelia/*/plan.md >> '{seen}'"}
    done = stage.run(plan, writes("1", "a"), develops("2", look, {"write": "b", "text": ""}), APPROVED)
    assert done.outcome == "completed"
    prompt = stage.prompt("2", 1)
    path = told_path(prompt, "Execute Task 2 from plan at")
    assert seen.read_text() == f"{path}\n{plan}"
    assert "Execute Task 1" not in prompt
    assert "The goal of the plan, for context: Write the alphabet\n" in prompt
    assert prompt.count("Write the alphabet") == 1


@pytest.mark.rows("P5", "P9", "T15")
def test_a_whole_plan_is_introduced_as_one_to_follow(stage: Stage) -> None:
    plan = "# Tidy up\n\nRemove what nobody needs.\n"
    done = stage.run(plan, writes("plan", "a"), APPROVED)
    assert done.outcome == "completed"
    prompt = stage.prompt("plan", 1)
    _, _, rest = prompt.partition("You have a detailed implementation plan to follow.")
    _, _, rest = rest.partition("IMPLEMENTATION PLAN:\n")
    assert rest.startswith(f"```markdown\n{plan}```")


@pytest.mark.rows("P8")
def test_a_reviewer_is_told_which_task_of_how_many_it_reads(stage: Stage) -> None:
    done = stage.run(tasks("Alpha", "Beta"), writes("1", "a"), writes("2", "b"), APPROVED)
    assert done.outcome == "completed"
    for number, title in ((1, "Alpha"), (2, "Beta")):
        prompt = stage.prompt(str(number), 1, "reviewer")
        assert f"**Current Task ({number}/2):** Task {number}: {title}\n" in prompt


@pytest.mark.rows("P7")
def test_what_a_reviewer_asks_for_is_told_as_a_list(stage: Stage) -> None:
    done = stage.run(
        tasks("Only"),
        develops("1", {"append": "a", "text": "more\n"}),
        rejects("Name it better", "Add a comment", attempt=1),
        APPROVED,
    )
    assert done.outcome == "completed"
    asked = "The reviewer requested the following changes:\n\n```\n- README.md:1: Name it better\n- README.md:1: Add a comment\n```"
    assert stage.prompt("1", 2).startswith(asked)
