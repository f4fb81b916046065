"""Makes room where runs and reviews are over: finds what can go, with its size, and removes it.

What attempts left is put into the user's repository before; journals, plans and transcripts of runs stay.
Looking changes nothing, and a run that somebody drives is never touched. What Amelia did not make, and runs
that cannot be read, are kept; they are told with what a person can do about them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from amelia.app.history import Inventory, Known, KnownDraft
from amelia.app.workshops import keep_work, open_workshop
from amelia.model.errors import AmeliaError, ConfigError
from amelia.record.journal import is_driven
from amelia.record.runs import (
    RunDirectory,
    all_reviews,
    claim,
    is_abandoned,
    is_owned,
    named_in,
    started,
    strangers,
)
from amelia.workspace.discard import discard
from amelia.workspace.removal import remove
from amelia.workspace.source import open_source

_BY_HAND = "remove it by hand"
_DAMAGED = f"its refs are kept, too; restore journal.db from a copy, or, if nobody needs the run, {_BY_HAND}"
_LINKED = "put the directory itself there, or remove the link"
_OF_OTHERS = "nothing, if another program needs it; AMELIA_HOME may name a directory that only Amelia uses"


@dataclass(frozen=True, slots=True, eq=False)
class Leftover:
    """What a run, or a review on its own, no longer needs; of which repository, if that is known."""

    directory: RunDirectory
    repository: str | None
    known: Known | KnownDraft | None

    @property
    def is_review(self) -> bool:
        """Says whether it is a review on its own, which goes as a whole."""
        return self.known is None

    @property
    def places(self) -> tuple[Path, ...]:
        """The files and directories that go."""
        run = self.directory
        return (run.path,) if self.is_review else (run.lanes, run.store, run.checks, run.agents)

    @property
    def size(self) -> int:
        """How many bytes they take."""
        return sum(
            path.lstat().st_size
            for place in self.places
            if not place.is_symlink()
            for path in place.rglob("*")
            if path.is_symlink() or not path.is_dir()
        )


@dataclass(frozen=True, slots=True)
class Kept:
    """A directory in the state home that is not cleared: why not, and what a person can do about it."""

    path: Path
    reason: str
    advice: str


def find_kept(home: Path, inventory: Inventory) -> Iterator[Kept]:
    """Yields the runs that cannot be read, and the directories that are not Amelia's own to remove."""
    foreign = [one.path for one in strangers(home)]
    for one in inventory.lost:
        if one.directory.path not in foreign:
            yield Kept(one.directory.path, f"the run cannot be read: {one.problem}", _DAMAGED)
    for path in foreign:
        yield _foreign(RunDirectory(path))


def _foreign(directory: RunDirectory) -> Kept:
    path, name = directory.path, named_in(directory)
    if path.is_symlink():
        return Kept(path, "it is a link, and nothing is removed through links", _LINKED)
    if name is not None and name != directory.run:
        return Kept(path, f"it holds run {name} under another name", f"rename it to {name}, or {_BY_HAND}")
    if directory.journal.exists():
        return Kept(path, "it has no mark that says what it is here", f"if nobody needs it, {_BY_HAND}")
    return Kept(path, "Amelia did not make it", _OF_OTHERS)


def find_leftovers(home: Path, inventory: Inventory) -> Iterator[Leftover]:
    """Yields what can be removed in all repositories, runs before reviews."""
    for known in inventory.runs:
        facts, outcome = known.run.facts, known.run.outcome
        if outcome is not None and outcome.is_final and _is_left(known):
            yield Leftover(known.directory, facts.replay_of or facts.repository, known)
    for draft in inventory.drafts:
        outcome = draft.draft.outcome
        if outcome is not None and outcome.is_final and _is_left(draft):
            yield Leftover(draft.directory, draft.draft.facts.repository, draft)
    for directory in all_reviews(home):
        if is_driven(directory.journal) or not (directory.journal.is_file() or is_abandoned(directory)):
            continue
        found = started(directory)
        yield Leftover(directory, found[1].repository if found else None, None)


def clear(leftover: Leftover) -> str | None:
    """Removes what is left over; returns why it stays, if it has to."""
    if is_driven(leftover.directory.journal):
        return "somebody goes on with it"
    try:
        claim(leftover.directory)
        _keep(leftover)
        for place in leftover.places:
            remove(place, within=leftover.directory.path)
    except AmeliaError as problem:
        return str(problem)
    return None


def _is_left(known: Known | KnownDraft) -> bool:
    return not known.is_driven and known.directory.store.exists() and is_owned(known.directory)


def _keep(leftover: Leftover) -> None:
    """Puts what attempts of a run left into its repository, and takes out what a review had pinned there."""
    if isinstance(leftover.known, Known):
        keep_work(open_workshop(leftover.directory, leftover.known.run.facts), is_final=True)
    elif leftover.is_review and leftover.repository is not None:
        try:
            source = open_source(Path(leftover.repository))
        except ConfigError:
            return  # the repository is gone, and with it what the review had pinned there
        discard(source, run=leftover.directory.run, directory=leftover.directory.path)
