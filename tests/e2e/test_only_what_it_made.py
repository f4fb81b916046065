"""Amelia removes what it made, and nothing else that lies in its home."""

import os
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from stories import APPROVED, FILES, SETTINGS, Stage, develops, make_stage, tasks, writes

pytestmark = pytest.mark.slow

LONG_AGO = 1_000_000_000
GOAL = "Say hello"
TASK = {"id": "1", "title": "Greet", "type": "chore", "files_to_create": ["1.txt"], "description": "Greet."}
ARCHITECT = {"role": "architect", "report": {"goal": GOAL, "tasks": [TASK]}}


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path)


def completed(stage: Stage) -> Path:
    """Runs a plan to its end, and returns the directory of its run."""
    before = set(stage.names)
    assert stage.run(tasks("One"), writes("1", "a"), APPROVED, options=("--again",)).outcome == "completed"
    (run,) = set(stage.names) - before
    return stage.home / "runs" / run


def halted(stage: Stage) -> Path:
    """Runs a plan until a person is needed, and returns the directory of its run."""
    before = set(stage.names)
    done = stage.run(tasks("Two"), develops("1"), APPROVED)
    assert done.outcome == "halted(no_changes)"
    (run,) = set(stage.names) - before
    return stage.home / "runs" / run


def foreign(place: Path) -> Path:
    """Makes a directory of another program, with a file deep in it, long ago."""
    (place / "model").mkdir(parents=True)
    (place / "model" / "weights").write_text("precious\n")
    os.utime(place, (LONG_AGO, LONG_AGO))
    return place


def is_whole(place: Path) -> bool:
    return (place / "model" / "weights").read_text() == "precious\n"


def refs_of(stage: Stage, run: Path) -> list[str]:
    return stage.repo.git("for-each-ref", "--format=%(refname)", f"refs/amelia/{run.name}/").splitlines()


def checks(stage: Stage) -> str:
    """Returns what the doctor says of runs."""
    told = stage.amelia("doctor", "--json", env={"PATH": "/usr/bin:/bin"}).json["checks"]
    return "\n".join(f"{one['text']} {one['hint']}" for one in told if one["name"] == "runs")


def contents(place: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(place)): path.read_bytes() if path.is_file() else None
        for path in sorted(place.rglob("*"))
        if not path.name.startswith("journal.db-")
    }


def test_directories_of_other_programs_survive_everything(stage: Stage) -> None:
    ours = [foreign(stage.home / kind / "exp1") for kind in ("runs", "reviews")]
    stage.repo.write({"mine.txt": "mine\n"})
    assert stage.amelia("review", "--script", stage.play(APPROVED)).code == 0
    assert stage.run(tasks("One"), writes("1", "a"), APPROVED).outcome == "completed"
    script = stage.play(ARCHITECT)
    assert stage.amelia("plan", GOAL, "--script", script, "--no-input").code in {0, 4}
    done = stage.amelia("gc", "--all")
    assert done.code == 0
    assert "1 run cleared" in done.out
    assert "1 review removed" in done.out
    assert all(map(is_whole, ours))
    for place in ours:
        assert str(place) in done.err
    assert "did not make" in done.err
    told = stage.amelia("gc", "--all", "--json").json
    assert [one["path"] for one in told["kept"]] == [str(place) for place in ours]
    assert all(str(place) in checks(stage) for place in ours)
    assert "exp1" not in stage.amelia("status").err


def truncate(journal: Path) -> None:
    journal.write_bytes(b"")


def delete_rows(journal: Path) -> None:
    with closing(sqlite3.connect(journal)) as base, base:
        base.execute("DELETE FROM events")


def scribble(journal: Path) -> None:
    journal.write_bytes(b"not a database" * 1000)


@pytest.mark.parametrize("harm", [truncate, delete_rows, Path.unlink, scribble])
def test_a_run_whose_journal_is_lost_is_kept_and_told(stage: Stage, harm: Callable[[Path], None]) -> None:
    run = halted(stage)
    for beside in run.glob("journal.db-*"):
        beside.unlink()
    harm(run / "journal.db")
    os.utime(run, (LONG_AGO, LONG_AGO))
    before, refs = contents(run), refs_of(stage, run)
    assert refs
    other = completed(stage)
    done = stage.amelia("gc", "--all")
    assert (done.code, other.name in done.out) == (0, True)
    assert (contents(run), refs_of(stage, run)) == (before, refs)
    assert f"{run} is kept" in done.err
    assert run.name in stage.amelia("status").err
    assert run.name in checks(stage)
    for command in (("status",), ("resume",), ("log",), ("abort",)):
        said = stage.amelia(*command, run.name)
        assert (said.code, "journal" in said.err, "hint: " in said.err) == (1, True, True), said
    assert (contents(run), refs_of(stage, run)) == (before, refs)


def test_a_run_of_an_older_version_whose_journal_is_lost_is_kept(stage: Stage) -> None:
    run = halted(stage)
    (run / ".amelia").unlink()
    truncate(run / "journal.db")
    os.utime(run, (LONG_AGO, LONG_AGO))
    before = contents(run)
    completed(stage)
    assert f"{run} is kept" in stage.amelia("gc", "--all").err
    assert contents(run) == before


def test_runs_and_reviews_of_older_versions_go_on_and_are_cleared(stage: Stage) -> None:
    stage.repo.write({"mine.txt": "mine\n"})
    assert stage.amelia("review", "--script", stage.play(APPROVED)).code == 0
    (review,) = (stage.home / "reviews").iterdir()
    done, waiting = completed(stage), halted(stage)
    for place in (review, done, waiting):
        (place / ".amelia").unlink()
    stage.play(writes("1", "b"), APPROVED)
    assert stage.amelia("retry", waiting.name, "1").code == 0
    assert stage.amelia("resume", waiting.name, "--json").outcome == "completed"
    assert (waiting / ".amelia").is_file()
    said = stage.amelia("gc")
    assert ("2 runs cleared" in said.out, "1 review removed" in said.out) == (True, True)
    assert "note: " not in said.err
    assert not review.exists()
    assert not (done / "store.git").exists()
    assert (done / "journal.db").exists()


def lead_elsewhere(link: Path, room: Path) -> Path:
    """Puts a link to a directory of another program in the place of a directory; returns the other one."""
    shutil.move(link, room / f"moved-{link.name}")
    other = room / "other"
    for name in ("work", "check", "1/work", "1/check"):
        foreign(other / name)
    link.symlink_to(other)
    return other


@pytest.mark.parametrize("place", ["lanes", "lanes/1"])
def test_a_link_on_the_way_to_a_worktree_is_not_followed(stage: Stage, place: str) -> None:
    run = halted(stage)
    other = lead_elsewhere(run / place, stage.room)
    before = contents(other)
    stage.play(writes("1", "b"), APPROVED)
    stage.amelia("retry", run.name, "1")
    said = stage.amelia("resume", run.name)
    assert said.code != 0
    assert f"{run / place} is a link" in stage.amelia("inbox").out
    assert contents(other) == before
    (run / place).unlink()
    shutil.move(stage.room / f"moved-{Path(place).name}", run / place)
    assert stage.amelia("resume", run.name, "--json").outcome == "completed"
    other_lane = lead_elsewhere(run / place, stage.room / "home")
    assert "1 run cleared" in stage.amelia("gc").out
    assert contents(other_lane) == before
    assert not os.path.lexists(run / place)


def test_a_run_that_is_a_link_is_left_with_what_it_leads_to(stage: Stage) -> None:
    run = completed(stage)
    elsewhere = stage.room / run.name
    run.rename(elsewhere)
    run.symlink_to(elsewhere)
    before = contents(elsewhere)
    done = stage.amelia("gc", "--all")
    assert f"{run} is kept" in done.err
    assert "link" in done.err
    assert contents(elsewhere) == before
    assert run.is_symlink()


def test_copied_and_renamed_runs_are_left_and_told(stage: Stage) -> None:
    run, other = completed(stage), completed(stage)
    copy, renamed = run.with_name("backup"), other.with_name("renamed")
    shutil.copytree(run, copy, symlinks=True)
    other.rename(renamed)
    before = contents(copy), contents(renamed)
    done = stage.amelia("gc", "--all")
    assert "1 run cleared" in done.out
    assert not (run / "store.git").exists()
    assert (contents(copy), contents(renamed)) == before
    assert f"{copy} is kept" in done.err
    assert f"run {run.name}" in done.err
    assert f"{renamed} is kept" in done.err
    said = stage.amelia("resume", "renamed")
    assert (said.code, f"{renamed} has no mark" in said.err) == (1, True)
    assert contents(renamed) == before[1]
    assert stage.amelia("status", "renamed").code == 0


def test_a_run_among_the_reviews_is_not_taken_for_a_review(stage: Stage) -> None:
    run = halted(stage)
    (stage.home / "reviews").mkdir()
    moved = stage.home / "reviews" / run.name
    run.rename(moved)
    before, refs = contents(moved), refs_of(stage, run)
    assert f"{moved} is kept" in stage.amelia("gc", "--all").err
    assert (contents(moved), refs_of(stage, run)) == (before, refs)


def test_what_a_killed_beginning_left_is_cleared(stage: Stage) -> None:
    setup = 'setup = ["sh", "setup.sh"]\n'
    hangs = {"amelia.toml": f"{SETTINGS}{setup}", "setup.sh": f"touch {stage.room}/there; sleep 600\n"}
    stage.repo.commit({**FILES, **hangs})
    begun = stage.start(*stage.put(tasks("One"), writes("1", "a"), APPROVED))
    begun.until((stage.room / "there").exists, "the setup")
    os.killpg(begun.process.pid, signal.SIGKILL)
    begun.process.wait()
    left = stage.directory
    assert (left / "journal.db").exists()
    assert refs_of(stage, left)
    stage.repo.commit(FILES)
    completed(stage)
    assert not left.exists()
    assert refs_of(stage, left) == []
    assert len(stage.names) == 1
