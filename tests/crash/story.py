"""The run that is killed: five units, two of them side by side, with two retries and a merge.

The left side is sent back by the reviewer and lands after the right side, on a tip that has moved. The roof
fails its checks once.
"""

import os
import shutil
import subprocess  # noqa: TID251 - the tests start amelia itself
import sys
from dataclasses import dataclass
from pathlib import Path

from amelia.record.runs import RunDirectory, all_runs, started
from repositories import Repo, fingerprint, make_repository

PATIENCE = 120
LAUNCHER = Path(__file__).with_name("launch.py")
FILES = {
    "README.md": "# A house\n",
    # Of two checks at a time only one can remove the file, and hangs.
    "check.sh": "if rm $TMPDIR/hang 2>/dev/null; then trap '' TERM; sleep 600; fi\ntest ! -e broken.txt\n",
    "amelia.toml": '[verify]\ncommand = ["sh", "check.sh"]\n',
}
PLAN = """\
# A house

**Goal:** Build a small house

## Phase 1: Ground

### Task 1: Lay the ground
- **Type:** chore
- Create: `ground.txt`

## Phase 2: Left

### Task 2: Build the left wall
- **Type:** chore
- **Depends on:** Task 1
- Create: `left/wall.txt`

### Task 3: Cut a window into it
- **Type:** chore
- **Depends on:** Task 2
- Create: `left/window.txt`

## Phase 3: Right

### Task 4: Build the right wall
- **Type:** chore
- **Depends on:** Task 1
- Create: `right.txt`

## Phase 4: Roof

### Task 5: Put the roof on
- **Type:** chore
- **Depends on:** Task 3, Task 4
- Create: `roof.txt`

## Phase 5: Paint

### Task 6: Paint it
- **Type:** docs
- **Depends on:** Task 5
- Create: `paint.txt`
- Modify: `ground.txt`
"""
# Something that outlives the turn in which an agent started it, unless somebody sees to that.
STRAY = '{run="setsid sleep 600 >/dev/null 2>&1 &"}'
# What the developer does, by unit and attempt; each turn is noted when it begins.
WORK = {
    ("phase-1", 1): '{write="ground.txt", text="ground\\n"}',
    ("phase-2", 1): '{write="left/wall.txt", text="thin\\n"}, {write="left/window.txt", text="glass\\n"}',
    ("phase-2", 2): '{write="left/wall.txt", text="thick\\n"}, {write="left/window.txt", text="glass\\n"}',
    ("phase-3", 1): STRAY + ', {write="right.txt", text="wall\\n"}',
    ("phase-4", 1): '{write="roof.txt", text="leaky\\n"}, {write="broken.txt", text="tile\\n"}',
    ("phase-4", 2): '{write="roof.txt", text="tight\\n"}',
    ("phase-5", 1): '{write="paint.txt", text="white\\n"}, {append="ground.txt", text="swept\\n"}',
}
REVIEWS = """
[[turn]]
role = "reviewer"
unit = "phase-2"
attempt = 1
do = [{run="%(note)s"}]
report = {approved=false, comments=[{text="The wall is thin.", file="left/wall.txt"}]}

[[turn]]
role = "reviewer"
do = [{run="%(note)s"}]
report = {approved=true}

[[turn]]
role = "evaluator"
do = [{run="%(note)s"}]
report = {items=[{finding=1, disposition="IMPLEMENT"}]}
"""
# What goes wrong once, in the turn of the right side: that agent, or the next check, never ends by itself.
HANGING = {
    "agent": "trap '' TERM; sleep 600",
    "check": "touch $TMPDIR/hang",
}
TURN = """
[[turn]]
role = "developer"
unit = "%s"
attempt = %d
do = [{run="%s"}, %s]
report = {status="completed", summary="done"}
"""


@dataclass(frozen=True, slots=True)
class Place:
    """A directory with everything of one run: the user's repository, the plan, the state of Amelia."""

    path: Path

    @property
    def repo(self) -> Repo:
        return Repo(self.path / "repository")

    @property
    def home(self) -> Path:
        return self.path / "home"

    @property
    def once(self) -> Path:
        """The file that says that something hung already, and need not again."""
        return self.path / "once"

    @property
    def turns(self) -> list[str]:
        """Every turn that an agent began: role, unit, attempt."""
        log = self.path / "turns.log"
        return log.read_text().splitlines() if log.exists() else []

    @property
    def points(self) -> list[list[str]]:
        """The points that the last process went through."""
        log = self.path / "points.log"
        return [line.split() for line in log.read_text().splitlines()] if log.exists() else []

    @property
    def said(self) -> str:
        """What the last process printed."""
        return (self.path / "said.log").read_text(errors="replace")

    @property
    def run(self) -> RunDirectory | None:
        """The run that has begun, if one has."""
        return next((one for one in all_runs(self.home) if started(one) is not None), None)

    @property
    def checkout(self) -> dict[str, str]:
        return fingerprint(self.repo)

    def launch(self, *arguments: str, at: tuple[str, ...] = ()) -> "subprocess.Popen[bytes]":
        """Starts amelia, to be killed at a point or not."""
        log = self.path / "points.log"
        log.unlink(missing_ok=True)
        environment = {
            **os.environ,
            "AMELIA_HOME": str(self.home),
            "TMPDIR": str(self.path / "tmp"),
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        with (self.path / "said.log").open("ab") as said:
            return subprocess.Popen(
                [sys.executable, str(LAUNCHER), str(log), *at, "--", *arguments],
                cwd=self.repo.path,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )

    def start(self, *, at: tuple[str, ...] = ()) -> int | None:
        """Runs the plan, or goes on with the run that there is; returns the exit code."""
        return wait(self.launch(*self.command(), at=at))

    def command(self) -> tuple[str, ...]:
        """What a person types to get the plan done, whatever happened before."""
        if self.run is not None:
            return ("resume", self.run.run)
        plan, script = str(self.path / "plan.md"), str(self.path / "script.toml")
        return ("run", plan, "--script", script, "--mode", "phased", "--parallel", "2", "--no-input")

    def remove(self) -> None:
        shutil.rmtree(self.path)


def wait(process: "subprocess.Popen[bytes]") -> int | None:
    """Waits for amelia to end and returns the exit code; one that hangs is ended, and has none."""
    try:
        return process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None


def make_place(path: Path, *, hanging: str | None = None) -> Place:
    """Makes a place in which nothing has happened yet; something of `HANGING` may be in store there."""
    path.mkdir(parents=True)
    place = Place(path)
    (path / "tmp").mkdir()
    make_repository(place.repo.path, FILES)
    (path / "plan.md").write_text(PLAN)
    note = f"echo $AMELIA_ROLE $AMELIA_UNIT $AMELIA_ATTEMPT >> {path}/turns.log"
    work = dict(WORK)
    if hanging is not None:
        once = f"test -e {place.once} || {{ touch {place.once}; {HANGING[hanging]}; }}"
        work["phase-3", 1] += f', {{run="{once}"}}'
    turns = (TURN % (unit, attempt, note, acts) for (unit, attempt), acts in work.items())
    (path / "script.toml").write_text(REVIEWS % {"note": note} + "".join(turns))
    return place
