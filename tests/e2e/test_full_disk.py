"""A disk that an agent fills: told once, no attempt is charged, and the run goes on when there is room."""

import os
import subprocess  # noqa: TID251 - a file system is mounted
from collections.abc import Generator
from pathlib import Path

import pytest

from stories import APPROVED, Env, Stage, Turn, develops, make_stage, tasks, writes

pytestmark = pytest.mark.slow

SIZE = 8_000_000


@pytest.fixture
def small(tmp_path: Path) -> Generator[Path]:
    """A file system with little room, in which runs and temporary files live."""
    place = tmp_path / "small"
    place.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mounting, check=False, capture_output=True).returncode != 0:
        pytest.skip("nothing can be mounted here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(file: str) -> Turn:
    return {"run": f"head -c {SIZE} /dev/urandom > {file}; true"}


WAYS = {
    "its worktree, and it crashes": develops("1", fill("build-junk"), {"exit": 1}),
    "its worktree, and it says that all went well": develops(
        "1", {"write": "a", "text": "a\n"}, fill("junk")
    ),
    "its temporary directory, and it crashes": develops("1", fill("$TMPDIR/junk"), {"exit": 1}),
    "its temporary directory, and it reports a failure": develops(
        "1", fill("$TMPDIR/junk"), report={"status": "failed", "summary": "No space left on device"}
    ),
}


@pytest.mark.parametrize("turn", WAYS.values(), ids=WAYS)
def test_an_agent_fills_the_disk_of_its_run(tmp_path: Path, small: Path, turn: Turn) -> None:
    stage = make_stage(tmp_path)
    stage = Stage(stage.room, stage.repo, small / "home")
    (small / "temporary").mkdir()
    env = {"TMPDIR": str(small / "temporary")}
    done = stage.run(tasks("One"), turn, APPROVED, env=env)
    assert done.code == 1, done
    told = f"no room is left on the file system at {small}: "
    # The journal is there as well: it may have room for this event, or not.
    assert done.err.count(told) + sum(told in event["detail"] for event in done.of_type("step_broke")) == 1
    assert done.err.count("error:") <= 1
    _goes_on(stage, small, env)


@pytest.mark.parametrize("turn", list(WAYS.values())[2:], ids=list(WAYS)[2:])
def test_an_agent_fills_the_disk_of_temporary_files(tmp_path: Path, small: Path, turn: Turn) -> None:
    stage = make_stage(tmp_path)
    # Behind a wall, temporary files are in the run's directory.
    env = {"TMPDIR": str(small), "AMELIA_WALL__MODE": "off"}
    done = stage.run(tasks("One"), turn, APPROVED, env=env)
    (told,) = done.of_type("step_broke")
    assert (done.code, done.outcome, told["reason"]) == (1, "halted(disk_full)", "disk_full")
    assert (
        f"no room is left on the file system at {small}: 0.0 MB of 8.0 MB are free, and 2.0 MB more"
        in told["detail"]
    )
    assert "amelia resume" in told["detail"]
    _goes_on(stage, small, env)


def _goes_on(stage: Stage, small: Path, env: Env) -> None:
    for junk in small.rglob("*junk"):
        junk.unlink()
    stage.play(writes("1", "a"), APPROVED)
    more = stage.amelia("resume", stage.name, "--json", env=env)
    assert (more.code, more.outcome) == (0, "completed"), more
    (unit,) = stage.status()["units"]
    assert unit["attempts"] == 1
    assert stage.subjects() == ["Task 1: One"]
