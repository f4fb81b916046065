"""What cannot work is said at once: one clear message, what to do about it, and nothing half-made left behind."""

import os
import shutil
import signal
import sqlite3
import subprocess  # noqa: TID251 - only mount and umount
from collections.abc import Generator
from pathlib import Path

import pytest

from programs import few_programs
from repositories import executable
from stories import (
    APPROVED,
    FILES,
    SETTINGS,
    Done,
    Env,
    Stage,
    develops,
    make_stage,
    tasks,
    wait_until,
    writes,
)

pytestmark = pytest.mark.slow

ONE = tasks("One")
WELL = (writes("1", "a"), APPROVED)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path)


def _is_refused(stage: Stage, done: Done, *said: str, code: int) -> None:
    """Proves that nothing was begun, and that a person is told once what is wrong and what to do."""
    assert done.code == code, done
    for part in said:
        assert part in done.err
    assert done.err.count("error:") == 1
    assert done.err.count("hint:") == 1
    assert done.out == ""
    assert stage.names == []
    assert stage.repo.git("for-each-ref", "refs/amelia", "refs/heads/amelia") == ""


def test_a_directory_that_is_no_repository_is_refused(stage: Stage) -> None:
    elsewhere = stage.room / "elsewhere"
    elsewhere.mkdir()
    done = stage.amelia(
        *stage.put(ONE, *WELL), cwd=elsewhere, env={"GIT_CEILING_DIRECTORIES": str(stage.room)}
    )
    _is_refused(stage, done, "not in a git repository", "git init", code=3)


def _path_without_git(stage: Stage) -> Env:
    tools = stage.room / "bin"
    tools.mkdir()
    (tools / "sh").symlink_to(shutil.which("sh") or "/bin/sh")
    return {"PATH": str(tools)}


def test_a_machine_without_git_is_refused(stage: Stage) -> None:
    done = stage.run(ONE, *WELL, env=_path_without_git(stage))
    _is_refused(stage, done, "git cannot be run", "install git 2.38", code=3)


def test_a_git_that_is_too_old_is_refused(stage: Stage) -> None:
    env = _path_without_git(stage)
    executable(Path(env["PATH"]) / "git", "echo git version 2.30.2")
    done = stage.run(ONE, *WELL, env=env)
    _is_refused(stage, done, "git version 2.30.2 is too old", "install git 2.38", code=3)


def test_a_base_that_names_no_commit_is_refused(stage: Stage) -> None:
    done = stage.run(ONE, *WELL, options=["--base", "no/such/thing"])
    _is_refused(stage, done, "'no/such/thing' names no commit", code=3)


def test_a_base_that_looks_like_an_option_is_refused(stage: Stage) -> None:
    done = stage.run(ONE, *WELL, options=["--base=--all"])
    _is_refused(stage, done, "'--all' names no commit", code=3)


def test_a_state_directory_that_cannot_be_made_is_refused(stage: Stage) -> None:
    (stage.room / "a file").write_text("")
    done = stage.run(ONE, *WELL, env={"AMELIA_HOME": str(stage.room / "a file" / "home")})
    _is_refused(stage, done, "cannot be made", "AMELIA_HOME", code=3)


@pytest.fixture
def small(stage: Stage) -> Generator[Stage]:
    """A stage whose state home is a file system with next to no room."""
    stage.home.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(stage.home)]
    if os.geteuid() != 0 or subprocess.run(mounting, check=False, capture_output=True).returncode != 0:
        pytest.skip("nothing can be mounted here")
    yield stage
    subprocess.run(["umount", "--lazy", str(stage.home)], check=True)


def test_a_disk_without_room_to_begin_is_refused_and_nothing_is_left(small: Stage) -> None:
    ballast = small.home / "ballast"
    ballast.write_bytes(b"x" * (1_048_576 - 16_384))
    done = small.run(ONE, *WELL)
    assert done.code in {1, 3}
    assert done.err.count("error:") == 1
    assert "space" in done.err or "disk" in done.err
    assert small.names == []
    assert small.repo.git("for-each-ref", "refs/amelia", "refs/heads/amelia") == ""


def test_a_disk_that_fills_up_stops_the_run_which_goes_on_when_there_is_room(small: Stage) -> None:
    ballast = small.home / "ballast"
    fill = {"run": f"head -c 2000000 /dev/zero > '{ballast}'; true"}
    done = small.run(
        tasks("One", "Two"), writes("1", "a"), develops("2", {"write": "b", "text": "b\n"}, fill), APPROVED
    )
    assert done.code == 1
    ballast.unlink()
    small.play(writes("1", "a"), writes("2", "b"), APPROVED)
    more = small.amelia("resume", small.name, "--json")
    assert (more.code, more.outcome) == (0, "completed")
    assert small.subjects() == ["Task 1: One", "Task 2: Two"]


def test_a_state_directory_that_is_read_only_is_refused(small: Stage) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small.home)], check=True)
    _is_refused(small, small.run(ONE, *WELL), "Read-only file system", "AMELIA_HOME", code=3)


def _halted(stage: Stage) -> None:
    done = stage.run(ONE, develops("1"), APPROVED)
    assert done.outcome == "halted(no_changes)"


@pytest.mark.parametrize("command", [("resume",), ("status",), ("log",), ("retry", "1"), ("cancel",)])
def test_a_journal_of_a_newer_version_is_left_alone(tmp_path: Path, command: tuple[str, ...]) -> None:
    stage = make_stage(tmp_path)
    place = stage.home / "runs" / "later-1115-abcd"
    place.mkdir(parents=True)
    base = sqlite3.connect(place / "journal.db")
    base.executescript("CREATE TABLE events (seq INTEGER PRIMARY KEY); PRAGMA user_version = 99;")
    base.close()
    before = (place / "journal.db").read_bytes()
    verb, *unit = command
    done = stage.amelia(verb, "later", *unit)
    assert done.code == 1
    assert "newer Amelia" in done.err
    assert "hint:" in done.err
    assert (place / "journal.db").read_bytes() == before
    assert stage.amelia("status").code == 0


@pytest.mark.rows("P1")
def test_a_plan_that_changed_is_run_as_it_was_when_the_run_started(stage: Stage) -> None:
    _halted(stage)
    (stage.room / "plan.md").write_text(tasks("Something else", "And more"))
    stage.play(*WELL)
    assert stage.amelia("retry", stage.name, "1").code == 0
    done = stage.amelia("resume", stage.name, "--json")
    assert (done.code, done.outcome) == (0, "completed")
    assert "is not what it was" in done.err
    assert stage.subjects() == ["Task 1: One"]
    assert (stage.directory / "plan.md").read_text() == ONE


def test_a_changed_plan_is_another_plan(stage: Stage) -> None:
    _halted(stage)
    done = stage.run(tasks("Something else"), *WELL)
    assert done.code == 0
    assert len(stage.names) == 2


@pytest.mark.rows("L12")
@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ("", "empty"),
        ("\n\n", "empty"),
        ("\0\1\2", "binary"),
        ("# S\n\n### Task 1: A\n- Depends on: 2\n### Task 2: B\n- Depends on: 1\n", "1 → 2 → 1"),
        ("# S\n\n### Task 1: A\n- Depends on: 9\n### Task 2: B\n", "9"),
        ("# S\n\n### Task 1: A\n\n### Task 1: B\n", "1"),
    ],
    ids=["nothing", "blank", "binary", "a cycle", "an unknown task", "a task twice"],
)
def test_a_plan_that_cannot_run_is_refused_before_anything_starts(stage: Stage, plan: str, said: str) -> None:
    done = stage.run(plan, *WELL)
    assert done.code == 5
    assert said in done.err + done.out
    assert stage.names == []


def test_a_plan_whose_tasks_are_all_done_has_nothing_to_run(stage: Stage) -> None:
    done = stage.run("# S\n\n- [x] **Task 1: One**\n- [x] **Task 2: Two**\n", *WELL)
    assert done.code == 0
    assert "nothing to run" in done.err
    assert stage.names == []


@pytest.mark.parametrize(
    "arguments", [("run", "no-such-file.md"), ("run",), ("run", "PLAN", "--mode", "magic")]
)
def test_wrong_usage_is_said_in_one_line(stage: Stage, arguments: tuple[str, ...]) -> None:
    stage.put(ONE)
    plan = str(stage.room / "plan.md")
    done = stage.amelia(*(plan if word == "PLAN" else word for word in arguments))
    assert done.code == 2
    assert stage.names == []


def test_no_driver_and_no_script_are_refused(stage: Stage) -> None:
    stage.put(ONE)
    plan = stage.room / "plan.md"
    few = few_programs(stage.room / "few", "git")
    _is_refused(stage, stage.amelia("run", plan, env=few), "no agent is there", "--driver", code=3)
    wrong = stage.amelia("run", plan, "--driver", "magic")
    assert (wrong.code, wrong.out, stage.names) == (3, "", [])
    assert "must be one of auto, claude, codex, api, acp, command, script, opencode" in wrong.err
    assert 'not "magic"' in wrong.err
    _is_refused(stage, stage.amelia("run", plan, "--driver", "script"), "--script", code=3)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("[[turn]\n", "not TOML"),
        ('[[turn]]\nroll = "developer"\n', "roll"),
        ('[[turn]]\ndo = [{dance="x"}]\n', "an act is one of"),
        ('[[turn]]\nattempt = "first"\n', "attempt"),
        ("\xff", "not TOML"),
    ],
)
def test_a_script_that_cannot_be_played_is_refused(stage: Stage, script: str, said: str) -> None:
    arguments = stage.put(ONE)
    (stage.room / "script.toml").write_bytes(script.encode("latin-1"))
    done = stage.amelia(*arguments)
    assert done.code == 3
    assert "script.toml" in done.err
    assert said in done.err
    assert stage.names == []


def test_a_script_that_is_missing_is_wrong_usage_or_a_wrong_setting(tmp_path: Path) -> None:
    settings = f'driver = "script"\nscript = "missing.toml"\n{SETTINGS}'
    stage = make_stage(tmp_path, {**FILES, "amelia.toml": settings})
    stage.put(ONE)
    done = stage.amelia("run", stage.room / "plan.md")
    assert done.code == 3
    assert "missing.toml" in done.err
    assert stage.amelia("run", stage.room / "plan.md", "--script", "nowhere.toml").code == 2
    assert stage.names == []


def test_a_wrong_setting_is_refused_with_file_and_key(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, {**FILES, "amelia.toml": '[verify]\ncomand = ["true"]\n'})
    _is_refused(stage, stage.run(ONE, *WELL), "amelia.toml", "verify.comand", "did you mean", code=3)


TYPED = "# S\n\n### Task 1: Test it\n- Type: test\n- Files: create tests/test_it.sh\n"


def test_typed_tasks_without_a_way_to_run_tests_are_refused(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, {"README.md": "# Sample\n"})
    _is_refused(stage, stage.run(TYPED, *WELL), "no way to run tests", "[verify]", code=3)


REFACTOR = "# S\n\n### Task 1: Tidy up\n- Type: refactor\n- Files: modify README.md\n"
WAIVED = f"{REFACTOR}- TDD waiver: there is no code\n"


def test_a_refactor_without_a_way_to_run_tests_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, {"README.md": "# Sample\n"})
    done = stage.run(REFACTOR, writes("1", "README.md"), APPROVED, options=["--mode", "tasks"])
    _is_refused(stage, done, "no way to run tests", "proved by tests: 1", "TDD waiver", code=3)


@pytest.mark.parametrize("mode", ["single", "tasks", "phased", "lifecycle"])
def test_a_refactor_that_no_test_can_prove_is_refused_before_anything_is_spent(
    tmp_path: Path, mode: str
) -> None:
    stage = make_stage(tmp_path, {"README.md": "# Sample\n", "pytest.ini": "[pytest]\n"})
    done = stage.run(REFACTOR, writes("*", "README.md"), APPROVED, options=["--mode", mode])
    _is_refused(stage, done, "finds no tests", "same tests stay green: 1", "TDD waiver", code=3)


@pytest.mark.parametrize("more", [{}, {"pytest.ini": "[pytest]\n"}])
def test_a_refactor_whose_tests_the_plan_waives_lands_without_any(
    tmp_path: Path, more: dict[str, str]
) -> None:
    stage = make_stage(tmp_path, {"README.md": "# Sample\n", **more})
    done = stage.run(WAIVED, writes("1", "README.md"), APPROVED, options=["--mode", "tasks"])
    assert done.code == 0, done
    assert len(done.of_type("attempt_verified")) == 1
    assert stage.subjects() == ["Task 1: Tidy up"]


def test_a_refactor_of_what_has_tests_by_then_is_not_refused(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, {"README.md": "# Sample\n", "pytest.ini": "[pytest]\n"})
    plan = (
        "# S\n\n### Task 1: Test it\n- Type: test\n- Files: create test_it.py\n\n"
        "### Task 2: Tidy up\n- Type: refactor\n- Depends on: 1\n- Files: modify README.md\n"
    )
    tested = develops("1", {"write": "test_it.py", "text": "def test_it():\n    assert True\n"})
    done = stage.run(plan, tested, writes("2", "README.md"), APPROVED, options=["--mode", "tasks"])
    assert done.code == 0, done
    assert stage.subjects() == ["Task 1: Test it", "Task 2: Tidy up"]


def test_tests_that_no_name_gives_away_are_found_by_running_them(tmp_path: Path) -> None:
    proof = {"pytest.ini": "[pytest]\npython_files = proof.py\n", "proof.py": "def test_it():\n    pass\n"}
    stage = make_stage(tmp_path, {"README.md": "# Sample\n", **proof})
    done = stage.run(REFACTOR, writes("1", "README.md"), APPROVED, options=["--mode", "tasks"])
    assert done.code == 0, done


def test_untyped_tasks_run_without_tests_and_it_is_said(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, {"README.md": "# Sample\n"})
    done = stage.run(ONE, *WELL)
    assert done.code == 0
    assert "nothing will be executed" in done.err
    (verified,) = done.of_type("attempt_verified")
    assert any("No tests were run" in note for note in verified["notes"])
    assert "Nothing was executed" in stage.prompt("1", 1, "reviewer")


def test_a_test_command_that_does_not_exist_lands_nothing(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, {"amelia.toml": '[verify]\ncommand = ["no-such-program"]\n'})
    done = stage.run(ONE, develops("1", {"append": "a", "text": "x\n"}), APPROVED)
    assert done.code in {1, 3}
    assert "no-such-program" in done.out + done.err
    assert not stage.names or stage.subjects() == []


def test_tests_that_were_red_before_are_not_held_against_the_run(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, {"check.sh": "exit 1\n", "amelia.toml": SETTINGS})
    done = stage.run(ONE, *WELL)
    assert done.code == 0
    assert stage.subjects() == ["Task 1: One"]


def test_tests_that_never_end_are_ended(tmp_path: Path) -> None:
    settings = f"{SETTINGS}timeout_minutes = 0.01\n\n[modes.tasks]\nattempts = 1\n"
    check = "test ! -e a || exec sleep 54321.5\n"
    stage = make_stage(tmp_path, {"check.sh": check, "amelia.toml": settings})
    done = stage.run(ONE, *WELL)
    assert (done.code, done.outcome) == (1, "halted(verify_limit)")
    (verified,) = done.of_type("attempt_verified")
    assert [problem["code"] for problem in verified["problems"]] == ["timed_out"]


def test_an_agent_that_never_ends_is_ended(tmp_path: Path) -> None:
    settings = f"{SETTINGS}\n[clocks]\nsilence_minutes = 0.01\n\n[modes.tasks]\nattempts = 1\n"
    stage = make_stage(tmp_path, {**FILES, "amelia.toml": settings})
    done = stage.run(ONE, develops("1", {"write": "a", "text": "x"}, {"hang": True}), APPROVED)
    assert (done.code, done.outcome) == (1, "halted(agent_limit)")
    (ended,) = done.of_type("attempt_ended")
    assert ended["ending"] == "timed_out_silence"
    assert stage.repo.git("show", f"refs/amelia/{stage.name}/1/1:a") == "x"


def test_a_run_that_another_process_drives_is_followed_not_driven_twice(stage: Stage) -> None:
    there = stage.room / "there"
    turn = develops("1", {"write": "a", "text": "a"}, {"run": f"touch '{there}'"}, {"sleep": 2})
    with stage.untouched():
        first = stage.start(*stage.put(ONE, turn, APPROVED))
        first.until(there.exists, "the turn")
        second = stage.start("resume", stage.name, "--json")
        wait_until(lambda: "driven by another process" in second.err.read_text(), "that the second follows")
        one, two = first.wait(), second.wait()
    assert (one.code, two.code) == (0, 0)
    assert one.events == two.events
    assert len(stage.turns("1", 1)) == 1


def test_an_interrupt_before_a_run_begins_says_where_to_look(stage: Stage) -> None:
    slow = executable(stage.room / "slow" / "git", f"touch '{stage.room}/begun'; sleep 60")
    path = f"{slow.parent}:{os.environ['PATH']}"
    started = stage.start(*stage.put(ONE, *WELL), env={"PATH": path})
    wait_until((stage.room / "begun").exists, "git was called")
    started.send(signal.SIGINT)
    done = started.wait()
    assert (done.code, done.err.strip()) == (130, "interrupted; `amelia status` shows what has begun")
    assert stage.names == []
