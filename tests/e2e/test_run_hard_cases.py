"""Cases in which work was once lost, landed unproved, or could not go on."""

import shutil
from pathlib import Path

import pytest

from amelia.app.runs import notices
from amelia.record.journal import SqliteJournal
from amelia.record.runs import RunDirectory
from repositories import git
from stories import (
    APPROVED,
    FILES,
    NOT_ROOT,
    SETTINGS,
    Stage,
    develops,
    independent,
    make_stage,
    tasks,
    writes,
)

pytestmark = pytest.mark.slow

ONCE = f"{SETTINGS}\n[modes.lifecycle]\nattempts = 1\n\n[modes.tasks]\nattempts = 1\n"
IS_ROOT = bool(NOT_ROOT) and shutil.which(NOT_ROOT[0]) is None
TEST = """\
def test_{module}() -> None:
    from {module} import value
    assert value == {value}
"""
SHARED = """\
# Two parts

### Task 1: Tests for both
- Type: test
- Test files: tests/test_a.py, tests/test_b.py
- Acceptance criteria: both are tested
### Task 2: Part a
- Type: impl
- Depends on: 1
- Files: create a.py
- Acceptance criteria: a has its value
### Task 3: Part b
- Type: impl
- Depends on: 1
- Files: create b.py
- Acceptance criteria: b has its value
"""


def _tests(*parts: str, value: int = 1) -> list[dict[str, object]]:
    return [
        {"write": f"tests/test_{part}.py", "text": TEST.format(module=part, value=value)} for part in parts
    ]


@pytest.fixture
def python(tmp_path: Path) -> Stage:
    return make_stage(
        tmp_path,
        {
            "conftest.py": "",
            "tests/test_now.py": "def test_now(): pass\n",
            "amelia.toml": "[modes.lifecycle]\nattempts = 1\n",
        },
    )


@pytest.mark.parametrize("workers", ["1", "2"])
def test_two_units_that_implement_the_same_tests_land_side_by_side(python: Stage, workers: str) -> None:
    done = python.run(
        SHARED,
        develops("1", *_tests("a", "b")),
        develops("2", {"write": "a.py", "text": "value = 1\n"}),
        develops("3", {"sleep": 1.5}, {"write": "b.py", "text": "value = 1\n"}),
        APPROVED,
        options=["--mode", "lifecycle", "--parallel", workers],
    )
    assert (done.code, done.outcome) == (0, "completed")
    assert {"a.py", "b.py"} <= set(python.files())


def test_a_person_may_correct_a_wrong_test(python: Stage) -> None:
    plan = SHARED[: SHARED.index("### Task 3")].replace(", tests/test_b.py", "")
    done = python.run(
        plan,
        develops("1", *_tests("a", value=2)),
        develops("2", {"write": "a.py", "text": "value = 1\n"}),
        APPROVED,
        options=["--mode", "lifecycle"],
    )
    assert done.outcome == "needs_human(verify_limit)"
    place = Path(python.amelia("fix", python.name, "2").out.strip())
    test = place / "tests" / "test_a.py"
    test.write_text(test.read_text().replace("value == 2", "value == 1"))
    assert python.amelia("fix", python.name, "2", "--done").code == 0
    python.amelia("resume", python.name)  # whether or not the one in the background is done already
    assert python.status()["outcome"] == "completed"


def test_what_a_cancelled_turn_had_written_outlives_the_run(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    acts = ({"write": "precious", "text": "x"}, {"run": f"touch {stage.room}/there"}, {"sleep": 600})
    started = stage.start(*stage.put(tasks("One"), develops("1", *acts), APPROVED))
    started.until((stage.room / "there").exists, "the turn")
    assert stage.amelia("cancel", stage.name).code == 0
    started.wait()
    assert stage.amelia("gc").code == 0
    assert stage.repo.git("show", f"refs/amelia/{stage.name}/1/1-interrupted:precious") == "x"


def test_a_link_in_the_place_of_a_worktree_leads_nowhere(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, {**FILES, "amelia.toml": ONCE})
    (stage.repo.path / "private.txt").write_text("mine")
    swap = f"mv ../work ../moved && ln -s '{stage.repo.path}' ../work"
    done = stage.run(tasks("One"), develops("1", {"run": swap}), APPROVED)
    assert done.code == 1
    kept = git(stage.repo.path, "ls-tree", "-r", "--name-only", f"refs/amelia/{stage.name}/1/1")
    assert "private.txt" not in kept


def test_a_fix_by_hand_does_not_take_back_what_landed_meanwhile(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, {**FILES, "amelia.toml": ONCE})
    fails = develops("1", {"append": "broken", "text": "x"})
    plan = independent("One", "Two", Type="docs")
    done = stage.run(plan, fails, writes("2", "file-2.txt"), APPROVED, options=["--mode", "lifecycle"])
    assert done.code == 4
    stage.amelia("fix", stage.name, "1")
    stage.amelia("retry", stage.name, "1")
    stage.amelia("resume", stage.name)
    place = Path(stage.amelia("fix", stage.name, "1").out.strip())
    assert (place / "file-2.txt").is_file()
    (place / "broken").rename(place / "mended")
    assert stage.amelia("fix", stage.name, "1", "--done", "--accept-missing").code == 0
    stage.amelia("resume", stage.name)  # whether or not the one in the background is done already
    assert stage.status()["outcome"] == "completed"
    assert {"file-2.txt", "mended"} <= set(
        git(stage.repo.path, "ls-tree", "--name-only", stage.branch).split()
    )


def test_who_follows_a_run_takes_over_when_its_driver_is_killed(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    slow = develops("1", {"run": f"touch {stage.room}/there"}, {"sleep": 3}, {"write": "a", "text": "a"})
    started = stage.start(*stage.put(tasks("One"), slow, APPROVED))
    started.until((stage.room / "there").exists, "the turn")
    follower = stage.start("resume", stage.name, "--json")
    started.kill()
    done = follower.wait()
    assert (done.code, done.outcome) == (0, "completed")


def test_nobody_touches_the_worktrees_of_a_run_that_another_process_drives(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    assert stage.run(tasks("One"), writes("1", "a"), APPROVED).code == 0
    (stage.repo.path / "mine").write_text("x")
    directory = RunDirectory(stage.directory)
    assert any("1 uncommitted file is" in notice for notice in notices(directory))
    places = stage.directory / "lanes"
    shutil.rmtree(places)
    with SqliteJournal(directory.journal):
        assert not list(notices(directory))
    assert not places.exists()


@pytest.mark.skipif(IS_ROOT, reason="everything is permitted to root")
@pytest.mark.parametrize(
    "closing",
    ["chmod -R a-w .", "chmod a-w .", "chmod 0 .", "chmod -R a-w docs", "rm -r docs/amelia; chmod a-w docs"],
)
def test_a_worktree_that_an_agent_closed_is_opened_again(tmp_path: Path, closing: str) -> None:
    stage = make_stage(tmp_path, {**FILES, "docs/guide.md": "Read me.\n"})
    work = ({"write": "a", "text": "a"}, {"run": closing})
    script = (develops("1", *work), writes("2", "b"), APPROVED)
    with stage.untouched():
        done = stage.start(*stage.put(tasks("One", "Two"), *script), by=NOT_ROOT).wait()
    assert (done.code, done.outcome) == (0, "completed")
    assert {"a", "b", "docs/guide.md"} <= set(stage.files())


@pytest.mark.skipif(IS_ROOT, reason="everything is permitted to root")
def test_a_place_that_a_test_closed_is_opened_for_the_next(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, {**FILES, "check.sh": "chmod 0 .\n"})
    script = (writes("1", "a"), writes("2", "b"), APPROVED)
    with stage.untouched():
        done = stage.start(*stage.put(tasks("One", "Two"), *script), by=NOT_ROOT).wait()
    assert (done.code, done.outcome) == (0, "completed")
