"""What is killed: a story, and a place in which it happens once.

A story says what lies in the repository and beside it, what a person types, and what the agents do. Each of
their turns is noted when it begins.
"""

import os
import shutil
import subprocess  # noqa: TID251 - the tests start amelia itself
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from amelia.record.runs import RunDirectory, all_runs, proposed, started
from repositories import Repo, fingerprint, make_repository

PATIENCE = 120
LAUNCHER = Path(__file__).with_name("launch.py")


@dataclass(frozen=True, slots=True)
class Hanging:
    """Something that never ends by itself, once; and the points at which it is under way."""

    name: str
    command: str
    points: Sequence[tuple[str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What is to be done, and by whom.

    `files` are in the repository, those `given` beside it, at the `{path}` of the `command`. In the script
    `%(note)s` notes a turn, and `%(hang)s` hangs if it is to. Nothing is killed after the first point with
    the tag `last`.
    """

    files: Mapping[str, str]
    given: Mapping[str, str]
    script: str
    command: tuple[str, ...]
    hanging: tuple[Hanging, ...]
    last: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A directory with everything of one run: the user's repository, the plan, the state of Amelia."""

    path: Path
    story: "Story"

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
        """The run that has begun, if one has; with a plan, or with a goal."""
        begun = (one for one in all_runs(self.home) if started(one) is not None or proposed(one) is not None)
        return next(begun, None)

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
        """Begins the run, or goes on with the run that there is; returns the exit code."""
        return wait(self.launch(*self.command(), at=at))

    def command(self) -> tuple[str, ...]:
        """What a person types to get the work done, whatever happened before."""
        if self.run is not None:
            return ("resume", self.run.run)
        words = (*self.story.command, "--script", "{path}/script.toml", "--no-input")
        return tuple(word.replace("{path}", str(self.path)) for word in words)

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


def make_place(path: Path, story: Story, *, hanging: Hanging | None = None) -> Place:
    """Makes a place in which nothing has happened yet; something that hangs may be in store there."""
    path.mkdir(parents=True)
    place = Place(path, story)
    (path / "tmp").mkdir()
    make_repository(place.repo.path, story.files)
    for name, text in story.given.items():
        (path / name).write_text(text)
    note = f"echo $AMELIA_ROLE $AMELIA_UNIT $AMELIA_ATTEMPT >> {path}/turns.log"
    hang = f"test -e {place.once} || {{ touch {place.once}; {hanging.command}; }}" if hanging else "true"
    (path / "script.toml").write_text(story.script % {"note": note, "hang": hang})
    return place
