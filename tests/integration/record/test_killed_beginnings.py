"""A beginning that is killed leaves nothing, or something that the next one clears."""

import os
import subprocess  # noqa: TID251 - what is killed is a process
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from amelia.record.journal import is_driven
from amelia.record.runs import RunDirectory, all_runs, is_owned, named_in, new_run, strangers, unborn_runs
from amelia.system.ownership import MARK, RESERVED, OwnedKind, OwnerMark, find_mark, make_owned
from amelia.workspace.removal import remove

TODAY = datetime(2026, 11, 5, tzinfo=UTC)
TESTS = Path(__file__).parents[2]

_BEGIN = """
import itertools, os, signal, sys
from dataclasses import replace
from pathlib import Path
from amelia.record.journal import SqliteJournal
from amelia.record.runs import claim, new_run
from amelia.workspace.removal import remove
from integration.record.test_killed_beginnings import TODAY
from runs import started, unit

home, ends = Path(sys.argv[1]), sys.argv[2]
facts = started(unit("1"), test_command=None)
seen = limit = 0

def die(event, _):
    global seen
    if event in {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "sqlite3.connect"}:
        seen += 1
        if seen == limit:
            os.kill(os.getpid(), signal.SIGKILL)

def begin(home):
    directory = new_run(home, "plan.md", TODAY)
    with SqliteJournal(directory.journal) as journal:
        (directory.path / "store.git").mkdir()
        if ends == "begun":
            journal.append([replace(facts, run=directory.run)])
            claim(directory)
    if ends == "removed":
        remove(directory.path, within=directory.path)

for limit in itertools.count(1):
    child = os.fork()
    if not child:
        sync = os.fsync
        os.fsync = lambda file: (die("open", ()), sync(file), die("open", ()))
        sys.addaudithook(die)
        begin(home / str(limit))
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        break
"""


def kill_everywhere(home: Path, ends: str) -> list[Path]:
    """Begins runs, each killed at another point and the last not at all; returns their homes in order."""
    command = [sys.executable, "-c", _BEGIN, str(home), ends]
    subprocess.run(command, env={**os.environ, "PYTHONPATH": str(TESTS)}, check=True)
    return sorted(home.iterdir(), key=lambda path: int(path.name))


def age(home: Path) -> None:
    for path in (home / "runs").iterdir() if (home / "runs").exists() else ():
        os.utime(path, (0, 0))


def clear(home: Path) -> None:
    """Does what the beginning of the next run does."""
    for directory in unborn_runs(home):
        assert not is_driven(directory.journal)
        remove(directory.path, within=directory.path)
    new = new_run(home, "next.md", TODAY)
    remove(new.path, within=new.path)


def check_killed(home: Path, ends: str) -> Path:
    """Kills beginnings at every point and clears what they left; returns the home of the one that was not."""
    *killed, whole = kill_everywhere(home, ends)
    assert len(killed) > 10
    for place in killed:
        age(place)
        clear(place)
        for path in (place / "runs").iterdir():
            assert (ends, named_in(RunDirectory(path))) == ("begun", path.name), place
            assert is_owned(RunDirectory(path))
        assert list(strangers(place)) == []
    return whole


def test_killed_at_every_point_of_its_beginning(tmp_path: Path) -> None:
    whole = check_killed(tmp_path, "begun")
    (run,) = all_runs(whole)
    assert find_mark(run.path) == OwnerMark(OwnedKind.RUN, run.run, is_begun=True)


def test_killed_at_every_point_of_its_removal(tmp_path: Path) -> None:
    whole = check_killed(tmp_path, "removed")
    assert list((whole / "runs").iterdir()) == []


def test_a_reserved_name_goes_unless_there_is_something_in_it(tmp_path: Path) -> None:
    empty, cut_off, foreign, young = (tmp_path / f"{RESERVED}{name}" for name in "abcd")
    for path in (empty, cut_off, foreign, young):
        path.mkdir()
    (cut_off / MARK).touch()
    (foreign / "file").touch()
    linked = tmp_path / f"{RESERVED}e"
    linked.symlink_to(tmp_path / "target")
    (tmp_path / "target").mkdir()
    for path in (empty, cut_off, foreign):
        os.utime(path, (0, 0))
    make_owned(tmp_path / "new", OwnedKind.RUN)
    assert {path.name for path in tmp_path.iterdir()} == {
        foreign.name,
        young.name,
        linked.name,
        "new",
        "target",
    }


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(FileExistsError):
        make_owned(tmp_path / "taken", OwnedKind.RUN)
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
