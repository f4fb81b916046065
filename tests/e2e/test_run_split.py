"""What failed is carried out in pieces: a task, a phase, also while the rest of the run goes on."""

import os
import shlex
from pathlib import Path

import pytest

from repositories import executable
from stories import APPROVED, FILES, SETTINGS, Stage, develops, independent, make_stage, tasks, writes

pytestmark = pytest.mark.slow

ONCE = "".join(f"\n[modes.{mode}]\nattempts = 1\n" for mode in ("tasks", "phased", "lifecycle"))
FAILS = {"append": "broken", "text": "again\n"}
PIECES = "### Task 7: This\nDo this.\n\n### Task 8: That\n- Depends on: 7\nDo that.\n"
PHASES = """\
# Phases

## Phase 1: Base
### Task 1.1: Model
Type: chore
### Task 1.2: View
Type: chore
## Phase 2: Top
### Task 2.1: Roof
Type: chore
Depends on: 1.2
"""
SIDES = """\
# Sides

### Task 1: First
- Files: create src/models/first.py, src/api/first.py
- Acceptance criteria: there is a model, there is an api
### Task 2: Second
- Files: create second.txt
- Acceptance criteria: there is a file
### Task 3: Third
- Depends on: 1
- Files: create third.txt
- Acceptance criteria: there is a file
"""


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    settings = f"{SETTINGS}{ONCE}max_iterations = 1\n"
    return make_stage(tmp_path, {**FILES, "amelia.toml": settings})


def editor(stage: Stage, text: str) -> dict[str, str]:
    """Returns what makes a program the editor that puts a text into any file."""
    path = stage.room / "pieces.md"
    path.write_text(text)
    return {"VISUAL": f"cp {path}"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("### Task 7: This\nDo this.\n", "one task"),
        ("### Task 7: This\n- Depends on: 8\n\n### Task 8: That\n- Depends on: 7\n", "cannot run"),
    ],
)
def test_pieces_that_are_refused_are_kept_to_be_mended_and_taken_up(
    stage: Stage, text: str, said: str
) -> None:
    stage.run(tasks("One"), develops("1", FAILS), writes("1-a", "a"), writes("1-b", "b"), APPROVED)
    refused = stage.amelia("split", stage.name, "1", "--edit", env=editor(stage, text))
    assert refused.code == 2
    assert said in refused.err
    (kept,) = (stage.directory / "plans").glob("unaccepted-*.md")
    assert kept.read_text() == text
    assert str(kept) in refused.err
    kept.write_text(PIECES)
    setting, _, *command = shlex.split(refused.err[refused.err.index("VISUAL=") :])
    done = stage.amelia(*command, env={"VISUAL": setting.removeprefix("VISUAL=")})
    assert "1 is split into 1-a, 1-b" in done.out
    assert stage.amelia("resume", stage.name, "--json").outcome == "completed"
    assert stage.subjects() == ["Task 1-a: This", "Task 1-b: That"]


def test_pieces_of_what_somebody_else_split_meanwhile_are_kept(stage: Stage) -> None:
    stage.run(SIDES, develops("1", FAILS), writes("2", "second.txt"), APPROVED, options=["--mode", "tasks"])
    program = stage.room / "editor"
    pieces = stage.room / "pieces.md"
    pieces.write_text(PIECES)
    program.write_text(f'#!/bin/sh\npython -m amelia skip {stage.name} 1 || exit 9\ncp {pieces} "$1"\n')
    program.chmod(0o755)
    refused = stage.amelia("split", stage.name, "1", "--edit", env={"VISUAL": str(program)})
    assert refused.code == 2
    assert "1 does not wait for a person: it is skipped" in refused.err
    (kept,) = (stage.directory / "plans").glob("unaccepted-*.md")
    assert kept.read_text() == PIECES


def test_what_does_not_wait_for_a_person_is_not_split_and_that_is_why(stage: Stage) -> None:
    plan, mode = independent("One", "Two", "Three"), ("--mode", "lifecycle")
    stage.run(
        plan, writes("1", "file-1.txt"), develops("2", FAILS), develops("3", FAILS), APPROVED, options=mode
    )
    assert stage.amelia("skip", stage.name, "2").code == 0
    for unit, why in (
        ("1", "1 does not wait for a person"),
        ("2", "2 does not wait for a person: it is skipped"),
    ):
        refused = stage.amelia("split", stage.name, unit)
        assert (refused.code, why in refused.err) == (2, True), refused.err
        assert "no seam" not in refused.err


def test_nobody_writes_pieces_of_what_cannot_be_split(stage: Stage) -> None:
    stage.run(tasks("One"), writes("1", "a"), APPROVED)
    seen = stage.room / "seen"
    for unit in ("1", "9"):
        refused = stage.amelia("split", stage.name, unit, "--edit", env={"VISUAL": f"touch {seen}"})
        assert refused.code == 2
    assert not seen.exists()


def test_a_phase_is_split_into_its_tasks_and_what_needs_it_waits_for_the_last(stage: Stage) -> None:
    done = stage.run(
        PHASES,
        develops("phase-1", FAILS),
        writes("phase-1-a", "model"),
        writes("phase-1-b", "view"),
        writes("phase-2", "roof"),
        APPROVED,
        options=["--mode", "phased"],
    )
    assert done.code == 1
    split = stage.amelia("split", stage.name, "phase-1")
    assert "phase-1 is split into phase-1-a, phase-1-b" in split.out
    assert stage.amelia("resume", stage.name, "--json").outcome == "completed"
    done = stage.amelia("log", stage.name, "--json")
    assert [stage.files(commit) for commit in stage.log("%H")] == [["model"], ["view"], ["roof"]]
    state = stage.status()
    assert state["completed_task_ids"] == ["1.1", "1.2", "2.1"]
    assert [unit["id"] for unit in state["units"]] == ["phase-1-a", "phase-1-b", "phase-2"]
    told = stage.prompt("phase-1-b", 1)
    assert "View" in told
    assert [(event["unit"], event["task"]) for event in done.of_type("subtask_completed")][-3:] == [
        ("phase-1-a", "1.1"),
        ("phase-1-b", "1.2"),
        ("phase-2", "2.1"),
    ]


def test_a_unit_is_split_while_another_one_of_the_run_is_at_work(stage: Stage) -> None:
    there, sign = stage.room / "there", stage.room / "go on"
    waits = {"run": f"touch '{there}'; until test -e '{sign}'; do sleep 0.1; done"}
    started = stage.start(
        *stage.put(
            SIDES,
            develops("1", FAILS),
            writes("1-a", "src/models/first.py"),
            writes("1-b", "src/api/first.py"),
            develops("2", waits, {"write": "second.txt", "text": "x"}),
            writes("3", "third.txt"),
            APPROVED,
        ),
        *("--parallel", "2", "--mode", "lifecycle"),
    )
    started.until(lambda: "task_failed" in started.out.read_text() and there.exists(), "one failed")
    done = stage.amelia("split", stage.name, "1")
    assert done.out == "1 is split into 1-a, 1-b\n"
    started.until(
        lambda: started.out.read_text().count('"task_completed"') == 3, "the pieces, and what needs them"
    )
    sign.touch()
    assert started.wait().outcome == "completed"
    assert sorted(map(tuple, map(stage.files, stage.log("%H")))) == [
        ("second.txt",),
        ("src/api/first.py",),
        ("src/models/first.py",),
        ("third.txt",),
    ]
    assert stage.status()["completed_task_ids"] == ["1", "2", "3"]


def test_pieces_are_not_written_down_where_nobody_sits(stage: Stage) -> None:
    stage.run(tasks("One"), develops("1", FAILS), APPROVED)
    executable(stage.room / "bin" / "vi", "sleep 60")
    path = f"{stage.room / 'bin'}:{os.environ['PATH']}"
    done = stage.amelia("split", stage.name, "1", "--edit", env={"PATH": path})
    assert (done.code, "there is no terminal to edit at" in done.err) == (2, True)


def test_who_follows_a_run_after_a_split_sees_what_the_log_shows(tmp_path: Path) -> None:
    settings = SETTINGS + "\n[modes.tasks]\nattempts = 2\nmax_iterations = 1\n"
    stage = make_stage(tmp_path, {**FILES, "amelia.toml": settings})
    turns = (writes("1-a", "src/models/first.py"), writes("1-b", "src/api/first.py"), APPROVED)
    others = (writes("2", "second.txt"), writes("3", "third.txt"))
    stage.run(SIDES, develops("1", FAILS), *turns, *others, options=["--mode", "tasks"])
    stage.amelia("split", stage.name, "1")
    stage.amelia("resume", stage.name, "--json")
    logged = stage.amelia("log", stage.name).out.splitlines()
    assert any("tries again, attempt 2/2" in line for line in logged)
    followed = stage.amelia("resume", stage.name)
    assert followed.out.split("\n\n")[0].splitlines() == [
        line for line in logged if not line.startswith(("sessions:", " "))
    ]
    assert followed.code == 0
