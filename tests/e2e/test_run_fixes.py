"""Work that a person did by hand is told as theirs, and nothing is done only because somebody said so."""

import json
from pathlib import Path

import pytest

from stories import APPROVED, FILES, SETTINGS, Done, Stage, develops, make_stage, rejects, tasks, writes

pytestmark = [pytest.mark.slow, pytest.mark.rows("L27")]

ONCE = f"{SETTINGS}\n[modes.lifecycle]\nattempts = 1\nmax_iterations = 1\n\n[modes.tasks]\nattempts = 1\n"
FAILS = {"append": "broken", "text": "again\n"}
BY_HAND = "done by hand, not reviewed"
DECLARED = """\
# Declared

### Task 1: First
- Priority: high
- Files: create first.txt, second.txt
- Acceptance criteria: there are files
"""


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path, {**FILES, "amelia.toml": ONCE})


def worktree(stage: Stage) -> Path:
    return Path(stage.amelia("fix", stage.name, "1").out.strip())


def done(stage: Stage, *options: str) -> Done:
    return stage.amelia("fix", stage.name, "1", "--done", *options)


def goes_on(stage: Stage) -> str:
    return stage.amelia("resume", stage.name, "--json").outcome


def trailer(stage: Stage, name: str) -> list[str]:
    """Returns a trailer of everything that landed, oldest first."""
    return stage.log(f"[%(trailers:key=Amelia-{name},valueonly,separator=)]")


def unit_of(stage: Stage) -> dict[str, object]:
    return stage.status()["units"][0]


def test_every_view_says_that_a_person_did_it_and_that_nobody_reviewed_it(stage: Stage) -> None:
    stage.run(tasks("One", "Two"), develops("1", FAILS), writes("2", "b"), APPROVED)
    place = worktree(stage)
    (place / "broken").rename(place / "mended")
    assert done(stage).code == 0
    assert goes_on(stage) == "completed"

    first, second = stage.status()["units"]
    assert (first["by_person"], first["reviewed"]) == (True, False)
    assert (second["by_person"], second["reviewed"]) == (False, True)
    lines = stage.amelia("status", stage.name).out.splitlines()
    assert [BY_HAND in line for line in lines if line.startswith("Task")] == [True, False]
    summary = (stage.directory / "record/task-1/summary.md").read_text()
    assert f"## Who did it\nA person: {BY_HAND}.\n" in summary
    assert "## What the agent reported before" in summary
    assert "as the agent reports them" not in summary
    assert "Who did it" not in (stage.directory / "record/task-2/summary.md").read_text()
    report = stage.amelia("report", stage.name, "--json").json
    assert [(unit["by_person"], unit["reviewed"]) for unit in report["units"]] == [
        (True, False),
        (False, True),
    ]
    page = stage.amelia("report", stage.name).out
    assert page.count(BY_HAND) == 1
    recorded = json.loads((stage.directory / "record/execution-state.json").read_text())
    assert [unit["by_person"] for unit in recorded["units"]] == [True, False]
    assert trailer(stage, "Fixed-By") == ["[person]", "[]"]
    assert trailer(stage, "Reviewed") == ["[no]", "[]"]
    assert BY_HAND in stage.amelia("log", stage.name).out


def test_a_fix_on_top_of_what_landed_meanwhile_has_the_trailer_too(stage: Stage) -> None:
    plan = DECLARED + "### Task 2: Other\n- Files: create other.txt\n- Acceptance criteria: there is one\n"
    lifecycle = ("--mode", "lifecycle")
    stage.run(plan, develops("1", FAILS), writes("2", "other.txt"), APPROVED, options=lifecycle)
    place = worktree(stage)
    (place / "broken").unlink()
    (place / "first.txt").write_text("1")
    (place / "second.txt").write_text("2")
    assert done(stage).code == 0
    assert goes_on(stage) == "completed"
    assert trailer(stage, "Fixed-By") == ["[]", "[person]"]


def test_what_the_agent_left_lands_unchanged_only_if_a_person_says_so(stage: Stage) -> None:
    stage.run(tasks("One"), writes("1", "a"), rejects("Another name?"))
    worktree(stage)
    refused = done(stage)
    assert refused.code == 2
    assert "nothing was changed" in refused.err
    assert "--accept-unchanged" in refused.err
    assert unit_of(stage)["status"] == "failed"
    assert done(stage, "--accept-unchanged").code == 0
    assert goes_on(stage) == "completed"
    assert (unit_of(stage)["by_person"], unit_of(stage)["accepted"]) == (True, ["unchanged"])
    told = "accepted by hand as the agent left it, without an approving review"
    assert told in stage.amelia("status", stage.name).out
    assert told in stage.amelia("report", stage.name).out
    assert told in (stage.directory / "record/task-1/summary.md").read_text()


def test_a_unit_of_which_nothing_was_made_is_never_done_by_itself(stage: Stage) -> None:
    stage.run(tasks("One"), develops("1"), APPROVED)
    assert stage.status()["outcome"] == "halted(no_changes)"
    refused = done(stage)
    assert (refused.code, "nothing was changed" in refused.err) == (2, True)
    assert stage.subjects() == []
    assert done(stage, "--accept-unchanged").code == 0
    assert goes_on(stage) == "completed"


def test_a_fix_without_a_declared_file_is_refused_unless_a_person_says_so(stage: Stage) -> None:
    stage.run(DECLARED, develops("1", FAILS), APPROVED)
    place = worktree(stage)
    (place / "broken").unlink()
    (place / "first.txt").write_text("1")
    refused = done(stage)
    assert refused.code == 2
    assert "second.txt" in refused.err
    assert "first.txt" not in refused.err
    assert "--accept-missing" in refused.err
    assert stage.subjects() == []
    assert done(stage, "--accept-missing").code == 0
    assert goes_on(stage) == "completed"
    assert unit_of(stage)["accepted"] == ["missing_files"]
    assert "declared files are missing" in stage.amelia("report", stage.name).out


@pytest.mark.parametrize(("answer", "status"), [("n\n", "failed"), ("y\n", "completed")])
def test_on_a_terminal_a_person_is_asked(stage: Stage, answer: str, status: str) -> None:
    stage.run(tasks("One"), writes("1", "a"), rejects("Another name?"))
    worktree(stage)
    asked = stage.at_terminal("fix", stage.name, "1", "--done", answers=answer)
    assert "nothing was changed" in asked.out
    assert "Land it all the same?" in asked.out
    if status == "completed":
        goes_on(stage)
    assert unit_of(stage)["status"] == status


def test_what_an_agent_did_and_what_a_person_did_are_kept_apart(stage: Stage) -> None:
    stage.run(tasks("One"), develops("1", FAILS), APPROVED)
    place = worktree(stage)
    (place / "broken").rename(place / "mended")
    assert done(stage).code == 0
    assert goes_on(stage) == "completed"
    assert stage.repo.git("show", f"refs/amelia/{stage.name}/1/1:broken") == "again"
    assert stage.repo.git("show", f"refs/amelia/{stage.name}/1/1-fix:mended") == "again"
    assert "+++ b/broken" in stage.amelia("diff", stage.name, "1", "--turn", "1").out
    assert "+++ b/mended" in stage.amelia("diff", stage.name, "1").out
