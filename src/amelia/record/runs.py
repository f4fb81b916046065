"""Where runs live: one directory each under the state home, found again by name or by repository.

A directory is Amelia's if it has a mark with its name, or a journal whose first event names it: older
versions made no marks. Whatever else lies there is not taken for a run.
"""

import fcntl
import hashlib
import os
import re
import secrets
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path

from amelia.model.drafts import RunProposed
from amelia.model.errors import AmeliaError, ConfigError, JournalError
from amelia.model.facts import RunId, RunStarted
from amelia.model.journal import Recorded
from amelia.model.plan import UnitId
from amelia.record.journal import read_journal
from amelia.system.git_places import PROCESSES
from amelia.system.ownership import (
    RESERVED,
    OwnedKind,
    OwnerMark,
    find_mark,
    make_owned,
    open_owned,
    write_mark,
)

_UNSAFE = re.compile(r"[^a-z0-9]+")
_LONGEST = 24
_REVIEWS = "reviews"
REVIEW_UNIT = UnitId("review")
"""The only unit of a review on its own."""

_STARTING = "starting.lock"
_PORTION = 100
_LONG_AGO = 60.0  # seconds; between the directory and its journal lies a moment


class UnknownRunError(AmeliaError):
    """No run has that name."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """The places of one run."""

    path: Path

    @property
    def run(self) -> RunId:
        """The run's name."""
        return RunId(self.path.name)

    @property
    def journal(self) -> Path:
        """The append-only truth."""
        return self.path / "journal.db"

    @property
    def plan(self) -> Path:
        """The plan as it was when the run started."""
        return self.path / "plan.md"

    @property
    def issue(self) -> Path:
        """The text that came with the goal of the run."""
        return self.path / "issue.md"

    def version(self, number: int) -> Path:
        """Returns the file that holds a version of the plan of a run that began with a goal."""
        return self.path / "plans" / f"{number}.md"

    def unaccepted(self, name: str) -> Path:
        """Returns the file that keeps a plan which a person wrote, and which could not become a version."""
        return self.path / "plans" / f"unaccepted-{name}.md"

    @property
    def store(self) -> Path:
        """The private repository."""
        return self.path / "store.git"

    @property
    def replica(self) -> Path:
        """The copy of a repository in which a replay is played."""
        return self.path / "repository"

    @property
    def script(self) -> Path:
        """The script that the agents of a replay play."""
        return self.path / "script.toml"

    @property
    def lanes(self) -> Path:
        """The worktrees."""
        return self.path / "lanes"

    @property
    def checks(self) -> Path:
        """What the checks saw, by tree, and what they need to remember."""
        return self.path / "checks"

    @property
    def letter(self) -> Path:
        """What a pull request says of the run."""
        return self.path / "pull-request.md"

    @property
    def log(self) -> Path:
        """What a coordinator in the background prints."""
        return self.path / "coordinator.log"

    def lock(self, lane: int) -> Path:
        """Returns the file that tells which processes work in a lane."""
        return self.lanes / str(lane) / PROCESSES

    def lock_beside(self, worktree: Path) -> Path:
        """Returns that file for a worktree of a lane."""
        return worktree.parent / PROCESSES

    @property
    def prompts(self) -> Path:
        """The texts that the run's prompts are made of."""
        return self.path / "prompts"

    @property
    def record(self) -> Path:
        """The master copy of the execution directory."""
        return self.path / "record"

    @property
    def agents(self) -> Path:
        """The directory in which agents keep what their sessions need."""
        return self.path / "agents"

    def transcript(self, unit: str, attempt: int, role: str) -> Path:
        """Returns the file in which a turn is recorded."""
        return self.path / "transcripts" / unit / f"{attempt}-{role}.jsonl"


def new_run(home: Path, plan_name: str, today: datetime) -> RunDirectory:
    """Makes the directory of a new run, named after its plan and the day."""
    stem = _UNSAFE.sub("-", Path(plan_name).stem.lower()).strip("-")[:_LONGEST].strip("-") or "plan"
    return _made(home / "runs" / f"{stem}-{today:%m%d}-{secrets.token_hex(2)}", OwnedKind.RUN)


@contextmanager
def starting(home: Path, what: str) -> Generator[None]:
    """Holds the right to start something; a `BlockingIOError` if another process has it at this moment.

    One file serves all: every thing is a byte of it, none of which is ever written.
    """
    place = int.from_bytes(hashlib.sha256(os.fsencode(what)).digest()[:7])
    try:
        home.mkdir(parents=True, exist_ok=True)
        held = (home / _STARTING).open("ab")
    except OSError as problem:
        raise _unmakable(home / _STARTING, problem) from problem
    with held as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except PermissionError as problem:  # the other name of the same error
            raise BlockingIOError(problem.errno, problem.strerror) from problem
        yield


def new_review(home: Path, today: datetime) -> RunDirectory:
    """Makes the directory of a review on its own, which has the places of a run."""
    return _made(home / _REVIEWS / f"review-{today:%m%d}-{secrets.token_hex(2)}", OwnedKind.REVIEW)


def all_reviews(home: Path) -> list[RunDirectory]:
    """Returns the directories of all reviews that Amelia made."""
    return [directory for directory in _directories(home, _REVIEWS) if is_owned(directory)]


def _made(path: Path, kind: OwnedKind) -> RunDirectory:
    try:
        make_owned(path, kind)
    except OSError as problem:
        raise _unmakable(path, problem) from problem
    return RunDirectory(path)


def _unmakable(path: Path, problem: OSError) -> ConfigError:
    return ConfigError(
        f"{path}: cannot be made: {problem.strerror}", hint="set AMELIA_HOME to a directory you can write to"
    )


def find_run(home: Path, name: str, *, repository: str | None = None) -> RunDirectory:
    """Returns the run of that name, or the only one whose name starts so.

    Where a repository is named, only its own runs are found by the start of their name: who types a few
    letters means what is here.
    """
    if not name:
        raise UnknownRunError("no run is named", hint="`amelia status` lists the runs")
    runs: dict[str, RunDirectory] = {directory.run: directory for directory in all_runs(home)}
    if name in runs:
        return runs[name]
    fitting = [directory for run, directory in sorted(runs.items()) if run.startswith(name)]
    found = [each for each in fitting if repository is None or _repository_of(each) in {repository, None}]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(directory.run for directory in found)
        raise UnknownRunError(f"{name!r} fits more than one run: {names}", hint="type more of the name")
    if fitting:
        raise UnknownRunError(
            f"no run of this repository starts with {name!r}",
            hint=f"{fitting[0].run} is one of {_repository_of(fitting[0])}: go there, or type its whole name",
        )
    near = get_close_matches(name, runs, n=1)
    raise UnknownRunError(
        f"there is no run {name!r}",
        hint=f"did you mean {near[0]}?" if near else "`amelia status` lists the runs",
    )


def _repository_of(directory: RunDirectory) -> str | None:
    """Returns where the repository of a run is; None if its journal cannot be read."""
    facts = proposed(directory) or started(directory)
    return facts[1].repository if facts is not None else None


def all_runs(home: Path) -> Iterator[RunDirectory]:
    """Yields every run that has begun, or may have."""
    return (
        directory
        for directory in _directories(home)
        if (find_mark(directory.path) is not None or directory.journal.is_file())
        and not _is_unborn(directory)
    )


def is_owned(directory: RunDirectory) -> bool:
    """Says whether the directory of a run, or of a review, is Amelia's own to remove."""
    mark = find_mark(directory.path)
    if mark is None and not directory.path.is_symlink():
        mark = _told(directory)
    is_review = directory.path.parent.name == _REVIEWS
    kind = OwnedKind.REVIEW if is_review else OwnedKind.RUN
    return mark is not None and (mark.kind, mark.name) == (kind, directory.run)


def claim(directory: RunDirectory) -> None:
    """Marks the directory of a run that has begun and whose mark does not say so.

    An older version made no marks, and a killed one may not have come to it.
    """
    mark = find_mark(directory.path)
    if (mark is not None and mark.is_begun) or directory.path.is_symlink():
        return
    told = _told(directory)
    if told is not None and told.name == directory.run:
        with suppress(OSError):  # who can only read here removes nothing either
            write_mark(directory.path, told)


def refuse_other(directory: RunDirectory) -> None:
    """Refuses to work in a directory that is not the one of its run: a copy, a renamed one, a link."""
    claim(directory)
    with open_owned(directory.path):
        pass


def named_in(directory: RunDirectory) -> str | None:
    """Returns the run that the first event of a journal names; None if it cannot be read, or has none."""
    told = _told(directory)
    return None if told is None else told.name


def _told(directory: RunDirectory) -> OwnerMark | None:
    """Returns the mark that the first event of a journal stands for."""
    try:
        first = next(iter(read_journal(directory.journal, at_most=1)), None)
    except JournalError:
        return None
    if first is None or not isinstance(first.event, RunProposed | RunStarted):
        return None
    units = first.event.units if isinstance(first.event, RunStarted) else ()
    kind = OwnedKind.REVIEW if [unit.id for unit in units] == [REVIEW_UNIT] else OwnedKind.RUN
    return OwnerMark(kind, first.event.run, is_begun=True)


def strangers(home: Path) -> Iterator[RunDirectory]:
    """Yields the directories among runs and reviews that are not Amelia's own, runs first.

    One that seems to be a run whose journal is damaged is not among them.
    """
    for directory in _directories(home):
        is_damaged = directory.journal.is_file() and named_in(directory) is None
        if not is_owned(directory) and (directory.path.is_symlink() or not is_damaged):
            yield directory
    yield from (directory for directory in _directories(home, _REVIEWS) if not is_owned(directory))


def unborn_runs(home: Path) -> Iterator[RunDirectory]:
    """Yields the directories of runs without a first event: being made, or killed while they were."""
    return filter(_is_unborn, _directories(home))


def _is_unborn(directory: RunDirectory) -> bool:
    """Says whether it is certain that a run has not begun: its mark says so, and so does its journal."""
    mark = find_mark(directory.path)
    if mark is None or mark.is_begun or mark.kind is not OwnedKind.RUN:
        return False
    try:
        if directory.journal.is_file():
            return not read_journal(directory.journal, at_most=1)
        return is_abandoned(directory)
    except (JournalError, OSError):
        return False


def is_abandoned(directory: RunDirectory) -> bool:
    """Says whether nobody can be about to make the journal of a directory any more."""
    return time.time() - directory.path.stat().st_mtime > _LONG_AGO


def _directories(home: Path, kind: str = "runs") -> list[RunDirectory]:
    places = sorted((home / kind).iterdir()) if (home / kind).is_dir() else []
    return [RunDirectory(path) for path in places if path.is_dir() and not path.name.startswith(RESERVED)]


def begun_journal(directory: RunDirectory, *, at_most: int = -1) -> list[Recorded]:
    """Returns the events of a run that has begun; a journal that has none any more is an error."""
    if past := read_journal(directory.journal, at_most=at_most):
        return past
    raise JournalError(
        f"{directory.journal}: the journal holds no events",
        hint=f"restore the file from a copy; {directory.path} and the run's refs are kept",
    )


def started(directory: RunDirectory) -> tuple[datetime, RunStarted] | None:
    """Returns when and as what a run started; None if it has not, or its journal cannot be read."""
    try:
        for recorded in _from_the_start(directory):
            if isinstance(recorded.event, RunStarted):
                return recorded.at, recorded.event
    except JournalError:
        pass
    return None


def _from_the_start(directory: RunDirectory) -> Iterator[Recorded]:
    """Yields what happened, read in portions: who looks for what comes early does not pay for the rest."""
    portion, after = 1, 0
    while past := read_journal(directory.journal, after=after, at_most=portion):
        yield from past
        portion, after = _PORTION, past[-1].seq


def proposed(directory: RunDirectory) -> tuple[datetime, RunProposed] | None:
    """Returns when and as what a run was proposed; None if it began with a plan, or cannot be read."""
    try:
        first = next(iter(read_journal(directory.journal, at_most=1)), None)
    except JournalError:
        return None
    if first is None or not isinstance(first.event, RunProposed):
        return None
    return first.at, first.event
