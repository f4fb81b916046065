"""`amelia gc` shows what it removes, and keeps to the repository at hand."""

from dataclasses import replace
from pathlib import Path

import pytest

from repositories import make_repository
from stories import APPROVED, FILES, Stage, develops, make_stage, tasks, writes

pytestmark = pytest.mark.slow


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path)


def completed(stage: Stage) -> str:
    """Runs a plan to its end, and returns the name of its run."""
    before = set(stage.names)
    assert stage.run(tasks("One"), writes("1", "a"), APPROVED, options=("--again",)).outcome == "completed"
    (run,) = set(stage.names) - before
    return run


def reviewed(stage: Stage) -> None:
    stage.repo.write({"mine.txt": "mine\n"})
    assert stage.amelia("review", "--script", stage.play(APPROVED)).code == 0


def elsewhere(stage: Stage) -> Stage:
    """Returns another repository whose runs are in the same home."""
    return replace(stage, repo=make_repository(stage.room / "elsewhere", FILES))


def is_there(stage: Stage, run: str) -> bool:
    return (stage.home / "runs" / run / "store.git").exists()


def test_only_runs_of_this_repository_are_cleared_unless_all_are_asked_for(stage: Stage) -> None:
    other = elsewhere(stage)
    mine, theirs = completed(stage), completed(other)
    reviewed(stage)
    reviewed(other)
    done = stage.amelia("gc")
    assert done.code == 0
    assert f"{mine}: " in done.out
    assert done.out.count("\nreview-") == 1
    assert "1 review removed" in done.out
    assert "1 run cleared, " in done.out
    assert theirs not in done.out
    assert "1 run and 1 review of other repositories stay; --all clears them, too" in done.err
    assert (is_there(stage, mine), is_there(stage, theirs)) == (False, True)
    done = stage.amelia("gc", "--all")
    assert theirs in done.out
    assert "1 review removed" in done.out
    assert not is_there(stage, theirs)
    assert not list((stage.home / "reviews").iterdir())
    assert stage.amelia("gc", "--all").out == "0 runs cleared, 0.0 MB freed\n"


def test_what_would_be_removed_is_shown_with_its_size(stage: Stage) -> None:
    run = completed(stage)
    shown = stage.amelia("gc", "--dry-run")
    assert (shown.code, is_there(stage, run)) == (0, True)
    assert shown.out.startswith(f"{run}: ")
    assert "1 run would be cleared, " in shown.out
    told = stage.amelia("gc", "--dry-run", "--json").json
    (one,) = told["runs"]
    assert (one["run"], one["repository"], one["problem"]) == (run, str(stage.repo.path), None)
    assert one["bytes"] == told["bytes"] > 1000
    assert not told["is_removed"]
    assert is_there(stage, run)
    done = stage.amelia("gc", "--json").json
    assert (done["is_removed"], done["bytes"] > 1000, done["reviews"]) == (True, True, [])
    assert not is_there(stage, run)


def test_on_a_terminal_a_person_is_asked(stage: Stage) -> None:
    run = completed(stage)
    said = stage.at_terminal("gc", answers="n\n")
    assert (said.code, f"{run}: " in said.out, is_there(stage, run)) == (4, True, True)
    assert stage.at_terminal("gc", answers="y\n").code == 0
    assert not is_there(stage, run)
    again = stage.at_terminal("gc")
    assert (again.code, "0 runs cleared" in again.out) == (0, True)
    other = completed(stage)
    assert stage.at_terminal("gc", "--yes").code == 0
    assert not is_there(stage, other)


def test_outside_of_a_repository_all_must_be_said(stage: Stage) -> None:
    run = completed(stage)
    lost = stage.amelia("gc", cwd=stage.room)
    assert (lost.code, "--all" in lost.err) == (2, True)
    work = stage.home / "runs" / run / "lanes" / "1" / "work"
    assert stage.amelia("gc", cwd=work).code == 2
    assert stage.amelia("gc", "--all", cwd=stage.room).code == 0
    assert not is_there(stage, run)


def test_a_replay_belongs_to_the_repository_whose_run_it_plays(stage: Stage) -> None:
    run = completed(stage)
    assert stage.amelia("replay", run).code == 0
    (again,) = set(stage.names) - {run}
    other = elsewhere(stage)
    assert other.amelia("gc").out.startswith("0 runs cleared")
    assert f"{again}: " in stage.amelia("gc").out
    assert not is_there(stage, again)
    assert not is_there(stage, run)


def test_a_run_whose_repository_is_gone_is_told_and_kept(stage: Stage) -> None:
    run = completed(stage)
    stage.repo.path.rename(stage.room / "moved")
    done = stage.start("gc", "--all", cwd=stage.room).wait()
    assert (done.code, f"{run} stays: " in done.err, is_there(stage, run)) == (0, True, True)
    told = stage.start("gc", "--all", "--json", cwd=stage.room).wait().json
    assert (told["bytes"], bool(told["runs"][0]["problem"])) == (0, True)


def test_runs_that_can_go_on_are_not_shown(stage: Stage) -> None:
    stage.run(tasks("One"), develops("1", {"write": "broken", "text": "x"}), APPROVED)
    assert stage.amelia("gc", "--dry-run").out == "0 runs would be cleared, 0.0 MB in all\n"
    assert is_there(stage, stage.name)


def test_the_doctor_names_the_command_that_clears_all_it_counts(stage: Stage) -> None:
    other = elsewhere(stage)
    completed(other)
    told = stage.amelia("doctor", "--json", env={"PATH": "/usr/bin:/bin"}).json
    (runs,) = [check for check in told["checks"] if check["name"] == "runs"]
    assert runs["hint"] == "make room: amelia gc --all"
