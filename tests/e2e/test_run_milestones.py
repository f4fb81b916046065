"""What a plan says of its tasks, milestones and stories is there for people and for programs."""

from pathlib import Path

import pytest

from stories import APPROVED, FILES, SETTINGS, Stage, develops, make_stage, writes

pytestmark = pytest.mark.slow

ONCE = f"{SETTINGS}\n[modes.lifecycle]\nattempts = 1\nmax_iterations = 1\n"
FAILS = {"append": "broken", "text": "again\n"}
STORY = "As a reader I want a page so that I can read it"
PLAN = f"""\
# Site

### Task T1: Page
- User story: {STORY}
- Milestone: M1: Core
- Priority: high
- Files: create page.txt, modify README.md
- Acceptance criteria:
  - there is a page
  - it can be read
### Task T2: Style
- Milestone: M1: Core
- Depends on: T1
- Files: create style.txt, test test_style.txt
- Acceptance criteria: there is a style
### Task T3: Feed
- Milestone: M2: Extras
- Priority: low
- Files: create feed.txt
- Acceptance criteria: there is a feed
"""


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path, {**FILES, "amelia.toml": ONCE})


@pytest.fixture
def halted(stage: Stage) -> Stage:
    write_page = develops("T1", {"write": "page.txt", "text": "x"}, {"append": "README.md", "text": "x"})
    done = stage.run(PLAN, write_page, develops("T2", FAILS), writes("T3", "feed.txt"), APPROVED)
    assert done.outcome == "needs_human(verify_limit)"
    return stage


@pytest.mark.rows("L1", "L30")
def test_the_state_of_a_task_has_everything_that_the_plan_says_of_it(halted: Stage) -> None:
    first, third, second = halted.status()["tasks"]  # in the order of the tree: T2 waits for T1
    assert first["user_story"] == STORY
    assert first["acceptance_criteria"] == ["there is a page", "it can be read"]
    assert (first["files_to_create"], first["files_to_modify"]) == (["page.txt"], ["README.md"])
    assert (first["priority"], second["priority"], third["priority"]) == ("high", "medium", "low")
    assert second["test_files"] == ["test_style.txt"]
    assert second["depends_on"] == ["T1"]
    assert (first["milestone"], first["milestone_name"]) == ("M1", "Core")
    assert (third["milestone"], third["milestone_name"]) == ("M2", "Extras")
    assert first["estimated_complexity"] == "low"
    assert first["complexity"]["total"] > 0
    assert first["implementation_notes"] == "It is done."
    assert [second[key] for key in ("status", "attempts", "max_attempts", "turns")] == ["failed", 1, 1, 1]


@pytest.mark.rows("L28")
def test_people_see_milestones_and_stories_in_the_tree(halted: Stage) -> None:
    lines = [line.strip() for line in halted.amelia("status", halted.name).out.splitlines()]
    assert "M1 Core: ✗ 1 of 2 done" in lines
    assert "M2 Extras: ✓ 1 of 1 done" in lines
    at = next(number for number, line in enumerate(lines) if line.startswith("Task T1:"))
    assert lines[at + 1] == STORY


@pytest.mark.rows("L28")
def test_the_report_tells_of_milestones_and_stories(halted: Stage) -> None:
    page = halted.amelia("report", halted.name).out
    assert (
        "## Milestones\n- M1 Core: failed, 1 of 2 tasks done\n- M2 Extras: completed, 1 of 1 tasks done"
        in page
    )
    assert f"  - story: {STORY}" in page
    report = halted.amelia("report", halted.name, "--json").json
    assert [(each["id"], each["status"], each["done"]) for each in report["milestones"]] == [
        ("M1", "failed", 1),
        ("M2", "completed", 1),
    ]
    assert report["units"][0]["stories"] == [STORY]


def test_people_see_milestones_and_stories_before_the_run(stage: Stage) -> None:
    stage.put(PLAN)
    shown = stage.amelia("check", str(stage.room / "plan.md")).out
    assert "M1 Core: T1, T2" in shown
    assert "M2 Extras: T3" in shown
    assert STORY in shown


def test_a_plan_without_milestones_says_nothing_of_them(stage: Stage) -> None:
    plan = "# Plain\n\n### Task 1: One\nDo it.\n"
    stage.run(plan, writes("1", "a"), APPROVED)
    assert "ilestone" not in stage.amelia("status", stage.name).out
    assert "ilestone" not in stage.amelia("report", stage.name).out
    assert "milestones" not in stage.amelia("check", str(stage.room / "plan.md")).out.replace(
        str(stage.room), ""
    )
