"""What running plans costs, above the work itself; each figure is a ratio within one run of this program.

`python benchmarks/run.py` measures and prints a table; `--write` puts it into docs/benchmarks/run.md;
`--check` fails when a goal is missed; `--quick` takes small sizes, to see that everything works.
"""

import argparse
import os
import random
import statistics
import subprocess  # noqa: TID251 - the programs that are compared
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import anyio

from amelia.drive.script import player
from amelia.model import commands as cmd
from amelia.model import events as ev
from amelia.model.agents import Ending
from amelia.model.facts import RunId
from amelia.model.git import CommitId, TreeId
from amelia.model.plan import Complexity, Mode, Task, TaskId, Unit, UnitId
from amelia.model.policy import POLICIES
from amelia.record.journal import SqliteJournal, read_journal
from amelia.run.loop import RUN, Coordinator
from amelia.show.run.watchers import Silent

REPOSITORY = Path(__file__).parents[1]
MOVES = """\
[[turn]]
role = "developer"
do = [{ run = 'echo "$AMELIA_UNIT" > "unit-$AMELIA_UNIT.txt"' }]
report = { status = "completed", summary = "done" }

[[turn]]
role = "reviewer"
report = { approved = true }
"""
TURNS = 4
SETTINGS = '[verify]\ncommand = ["true"]\n'
# As durable as ours: what is said to be done survives a power cut.
GIT = (
    *("git", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsync=committed", "-c", "core.fsyncMethod=batch"),
)


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured ratio, and what it may be at most."""

    what: str
    measured: float
    goal: float | None
    detail: str

    def row(self) -> str:
        """Returns the figure as a line of the table."""
        goal = f"≤ {self.goal:g}" if self.goal is not None else "–"
        return f"| {self.what} | {self.measured:.2f} | {goal} | {self.detail} |"


def git(where: Path, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [*GIT, *arguments],
        cwd=where,
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def a_repository(place: Path, files: int) -> Path:
    """Makes a repository of so many small files, a hundred to a directory."""
    place.mkdir(parents=True)
    git(place, "init", "-q", "-b", "main")
    git(place, "config", "user.name", "Bench")
    git(place, "config", "user.email", "bench@example.invalid")
    for number in range(files):
        path = place / f"part_{number // 100:03}" / f"file_{number}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{number}\n" * 20)
    (place / "amelia.toml").write_text(SETTINGS)
    git(place, "add", "-A")
    git(place, "commit", "-qm", "start")
    return place


def a_plan(units: int) -> str:
    """Writes a plan of independent one-line tasks that run one after the other."""
    return "# Many small tasks\n\n" + "".join(
        f"### Task {n}: Write file {n}\n\n" for n in range(1, units + 1)
    )


def amelia(repository: Path, home: Path, *arguments: str, **variables: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "amelia", *arguments],
        cwd=repository,
        env={**os.environ, "AMELIA_HOME": str(home), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_plan(place: Path, repository: Path, units: int, **variables: str) -> Path:
    """Runs a plan of so many units to its end, and returns its journal."""
    (place / "plan.md").write_text(a_plan(units))
    (place / "moves.toml").write_text(MOVES)
    moves = ("--driver", "script", "--script", str(place / "moves.toml"), "--again")
    done = amelia(repository, place / "home", "run", str(place / "plan.md"), *moves, **variables)
    out, err = done.communicate()
    assert done.returncode == 0, (out + err)[-2000:]
    return newest_journal(place / "home")


def newest_journal(home: Path) -> Path:
    return max((home / "runs").glob("*/journal.db"), key=lambda path: path.stat().st_mtime)


def seconds_per_unit(journal: Path) -> list[float]:
    """Returns how long each unit took, from its start to its landing."""
    starts: dict[str, datetime] = {}
    taken: list[float] = []
    for recorded in read_journal(journal):
        if isinstance(recorded.event, ev.UnitStarted):
            starts[recorded.event.unit] = recorded.at
        elif isinstance(recorded.event, ev.UnitLanded):
            taken.append((recorded.at - starts[recorded.event.unit]).total_seconds())
    return taken


def bare_script(place: Path, repository: Path, units: int) -> list[float]:
    """Does the same work with as few processes as can be: the same agents and tests, and what git must do.

    For every unit: the worktree is reset and cleaned, the developer runs, all is added and committed, a
    second worktree gets the tree for the tests and the reviewer, and the commit is fetched into the user's
    repository.
    """
    place.mkdir()
    store = place / "bare.git"
    git(place, "clone", "-q", "--bare", "--shared", str(repository), str(store))
    work, check = place / "work", place / "check"
    for tree in (work, check):
        git(store, "worktree", "add", "-q", "--detach", str(tree), "main")
    (place / "moves.toml").write_text(MOVES)
    tip = git(store, "rev-parse", "main")
    taken: list[float] = []
    for number in range(1, units + 1):
        began = time.perf_counter()
        tip = one_unit(place, number, tip=tip)
        git(repository, "fetch", "-q", "--no-tags", "--no-write-fetch-head", str(store), tip)
        git(repository, "update-ref", "refs/heads/bare", tip)
        taken.append(time.perf_counter() - began)
    return taken


def one_unit(place: Path, number: int, *, tip: str) -> str:
    work, check = place / "work", place / "check"
    git(work, "read-tree", "--reset", "-u", tip)
    git(work, "clean", "-ffdq")
    agent(place, work, role="developer", unit=number)
    git(work, "add", "-A")
    tree = git(work, "write-tree")
    commit = git(work, "commit-tree", tree, "-p", tip, "-m", f"Task {number}")
    git(work, "update-ref", f"refs/attempts/{number}", commit)
    git(work, "diff-tree", "-r", "--raw", "--numstat", tip, commit)
    git(check, "read-tree", "--reset", "-u", tree)
    git(check, "clean", "-ffdq")
    subprocess.run(["true"], cwd=check, check=True)  # noqa: S607 - as the settings say it
    git(check, "diff-tree", "-p", tip, commit)
    agent(place, check, role="reviewer", unit=number)
    return commit


def agent(place: Path, where: Path, *, role: str, unit: int) -> None:
    asked = (f"--script={place / 'moves.toml'}", f"--role={role}", f"--unit={unit}", "--attempt=1")
    subprocess.run(
        [sys.executable, "-I", "-S", str(Path(player.__file__)), *asked, "--session=s"],
        cwd=where,
        env={**os.environ, "AMELIA_UNIT": str(unit)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=True,
    )


def orchestration(place: Path, *, files: int, units: int) -> Figure:
    """Compares runs with a bare script on repositories of the same size.

    They take turns, so that a disk that becomes slower is so for both; the first unit of a turn does not
    count, since it fills worktrees.
    """
    repositories = [a_repository(place / name / "repo", files) for name in ("ours", "bare")]
    ours: list[float] = []
    bare: list[float] = []
    for turn in range(TURNS):
        ours += seconds_per_unit(run_plan(place / "ours", repositories[0], units // TURNS + 1))[1:]
        bare += bare_script(place / "bare" / str(turn), repositories[1], units // TURNS + 1)[1:]
    mine, theirs = statistics.median(ours), statistics.median(bare)
    return Figure(
        f"cost of a unit against a bare script, {files} files",
        mine / theirs,
        1.5,
        f"{mine * 1000:.0f} ms against {theirs * 1000:.0f} ms, medians of {len(ours)} units",
    )


def walled(place: Path, *, files: int, units: int) -> Figure:
    """Compares units behind the wall with units without one; they take turns, as above."""
    repository = a_repository(place / "walled" / "repo", files)
    taken: dict[str, list[float]] = {"on": [], "off": []}
    for _ in range(TURNS):
        for mode in taken:
            journal = run_plan(place / "walled", repository, units // TURNS + 1, AMELIA_WALL__MODE=mode)
            taken[mode] += seconds_per_unit(journal)[1:]
    behind, without = (statistics.median(taken[mode]) for mode in ("on", "off"))
    return Figure(
        f"cost of a unit behind the wall against one without, {files} files",
        behind / without,
        1.02,
        f"{behind * 1000:.0f} ms against {without * 1000:.0f} ms, medians of {len(taken['on'])} units",
    )


def long_run(place: Path, *, units: int) -> list[Figure]:
    """Runs many units; looks at early and late ones, the journal, and how quickly a killed run goes on."""
    repository = a_repository(place / "repo", 200)
    journal = run_plan(place, repository, units)
    taken = seconds_per_unit(journal)
    early, late = statistics.median(taken[5:25]), statistics.median(taken[-20:])
    size = journal.stat().st_size / units
    return [
        Figure(
            f"cost of unit {units} against unit 10",
            late / early,
            1.2,
            f"{late * 1000:.0f} ms against {early * 1000:.0f} ms, medians of 20",
        ),
        Figure(
            "journal, kilobytes per unit", size / 1000, None, f"{journal.stat().st_size / 1e6:.2f} MB in all"
        ),
        resume(place, repository, units=units),
    ]


def resume(place: Path, repository: Path, *, units: int) -> Figure:
    """Cuts the journal of a finished run in its last unit, and measures how long resuming takes."""
    journal = newest_journal(place / "home")
    events = [recorded.event for recorded in read_journal(journal)]
    last = max(n for n, event in enumerate(events) if isinstance(event, ev.UnitStarted))
    run = journal.parent.name
    for suffix in ("", "-wal", "-shm"):
        journal.with_name(journal.name + suffix).unlink(missing_ok=True)
    with SqliteJournal(journal) as again:
        again.append(events[: last + 2])  # the last unit started, and its first step
    tip = next(event.commit for event in reversed(events[:last]) if isinstance(event, ev.UnitLanded))
    git(repository, "update-ref", f"refs/heads/amelia/{run}", tip)
    began = datetime.now(UTC)
    process = amelia(repository, place / "home", "resume", run)
    out, err = process.communicate()
    assert process.returncode == 0, (out + err)[-2000:]
    first = next(
        recorded.at
        for recorded in read_journal(journal, after=last + 2)
        if isinstance(recorded.event, ev.StepStarted)
    )
    seconds = (first - began).total_seconds()
    return Figure(
        f"resume of {units} units to the first new step, seconds", seconds, 1.0, f"{last} events read"
    )


class Sleepers:
    """Steps that take their time and do nothing else."""

    def __init__(self, seconds: dict[UnitId, float]) -> None:
        self._seconds = seconds

    async def perform(
        self,
        command: cmd.AnyStep,
        tell: Callable[[ev.Event], None],  # noqa: ARG002 - sleepers have nothing to tell
    ) -> Sequence[ev.Event]:
        """Sleeps through a turn, and says yes to everything else."""
        match command:
            case cmd.StartTurn(at):
                await anyio.sleep(self._seconds[at.unit])
                work = ev.Work(CommitId("c"), TreeId("t"))
                return [ev.AttemptEnded(unit=at.unit, attempt=1, ending=Ending.OK, work=work)]
            case cmd.VerifyWork(at):
                return [ev.AttemptVerified(unit=at.unit, attempt=1, passed=True)]
            case cmd.ReviewWork(at):
                return [ev.AttemptReviewed(unit=at.unit, attempt=1, approved=True)]
            case cmd.LandWork(at):
                return [ev.UnitLanded(at.unit, 1, CommitId("c"))]
            case cmd.VerifyBranch():
                return [ev.BranchVerified(passed=True)]
            case _:
                raise AssertionError(command)


def sized(unit: UnitId, seconds: float | None) -> Task:
    """Makes the task of a unit, with a score that fits its length where that is known."""
    score = Complexity(file_scope=5 * seconds) if seconds is not None else Complexity()
    return Task(id=TaskId(unit), title=unit, complexity=score)


def makespan(place: Path, *, units: int, workers: int, unit_seconds: float, knows_sizes: bool) -> Figure:
    """Schedules units of mixed length with dependencies, and compares with what no scheduler can beat."""
    chance = random.Random(7)  # noqa: S311 - the same graph every time
    lengths = {UnitId(str(n)): chance.choice((0.2, 0.5, 1, 2, 4)) for n in range(units)}
    needs = {
        unit: tuple({UnitId(str(chance.randrange(int(unit)))) for _ in range(chance.randrange(3))})
        if int(unit) >= workers
        else ()
        for unit in lengths
    }
    seconds = {unit: length * unit_seconds for unit, length in lengths.items()}
    path: dict[UnitId, float] = {}
    level: dict[UnitId, int] = {}
    for unit, own in seconds.items():
        path[unit] = own + max((path[need] for need in needs[unit]), default=0.0)
        level[unit] = 1 + max((level[need] for need in needs[unit]), default=0)
    bound = max(*path.values(), sum(seconds.values()) / workers)
    sizes = {unit: sized(unit, lengths[unit] if knows_sizes else None) for unit in seconds}
    facts = ev.RunStarted(
        run=RunId("makespan"),
        plan_hash="",
        plan_path="",
        goal="",
        mode=Mode.LIFECYCLE,
        policy=replace(POLICIES[Mode.LIFECYCLE], parallel_workers=workers),
        base=CommitId("b"),
        units=tuple(
            Unit(unit, unit, (TaskId(unit),), needs[unit], level[unit], (sizes[unit],)) for unit in seconds
        ),
        footprints={unit: (unit,) for unit in seconds},
        agents={},
        test_command=None,
        repository="",
    )
    place.mkdir(parents=True)
    with SqliteJournal(place / "journal.db") as journal:
        journal.append([facts])
        began = time.perf_counter()
        anyio.run(Coordinator(RUN, journal, steps=Sleepers(seconds), watcher=Silent()).drive, journal.read())
        took = time.perf_counter() - began
    known = "scores that fit" if knows_sizes else "scores that say nothing"
    return Figure(
        f"makespan of {units} units of mixed length with {known}, {workers} in parallel, "
        "against the lower bound",
        took / bound,
        1.05 if knows_sizes else None,
        f"{took:.1f} s against {bound:.1f} s",
    )


def measured(place: Path, *, quick: bool) -> list[Figure]:
    return [
        orchestration(place / "small", files=200, units=8 if quick else 60),
        orchestration(place / "large", files=2_000 if quick else 20_000, units=4 if quick else 24),
        walled(place / "wall", files=200, units=8 if quick else 60),
        *(
            makespan(
                place / f"makespan-{knows}",
                units=200,
                workers=16,
                unit_seconds=0.05 if quick else 0.5,
                knows_sizes=knows,
            )
            for knows in (True, False)
        ),
        *long_run(place / "long", units=30 if quick else 1000),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for flag in ("--write", "--check", "--quick"):
        parser.add_argument(flag, action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="amelia-bench-") as place:
        figures = measured(Path(place), quick=options.quick)
    table = "\n".join(
        ["| what | measured | goal | |", "|---|---|---|---|", *(figure.row() for figure in figures)]
    )
    print(table)
    if options.write:
        text = (
            "# Running plans\n\nMade by `benchmarks/run.py --write`. Agents are the script driver's player, "
            "tests are `true`; both sides of a ratio run them.\n\n" + table + "\n"
        )
        (REPOSITORY / "docs/benchmarks/run.md").write_text(text, encoding="utf-8")
    missed = [figure for figure in figures if figure.goal is not None and figure.measured > figure.goal]
    if options.check and missed:
        sys.exit(f"{len(missed)} goals missed")


if __name__ == "__main__":
    main()
