"""Makes room where runs and reviews are over: finds what can go, with its size, and removes it.

What attempts left is put into the user's repository before; journals, plans and transcripts of runs stay.
Looking changes nothing, and a run that somebody drives is never touched.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from amelia.app.history import Known, KnownDraft, take_inventory
from amelia.app.workshops import keep_work, open_workshop
from amelia.model.errors import AmeliaError, ConfigError
from amelia.record.journal import is_driven
from amelia.record.runs import RunDirectory, all_reviews, started
from amelia.workspace.discard import discard
from amelia.workspace.removal import remove
from amelia.workspace.source import open_source


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
        return (run.path,) if self.is_review else (run.lanes, run.store, run.checks)

    @property
    def size(self) -> int:
        """How many bytes they take."""
        return sum(
            path.lstat().st_size
            for place in self.places
            for path in place.rglob("*")
            if path.is_symlink() or not path.is_dir()
        )


def find_leftovers(home: Path) -> Iterator[Leftover]:
    """Yields what can be removed in all repositories, runs before reviews."""
    inventory = take_inventory(home)
    for known in inventory.runs:
        facts, outcome = known.run.facts, known.run.outcome
        if outcome is not None and outcome.is_final and _is_left(known):
            yield Leftover(known.directory, facts.replay_of or facts.repository, known)
    for draft in inventory.drafts:
        outcome = draft.draft.outcome
        if outcome is not None and outcome.is_final and _is_left(draft):
            yield Leftover(draft.directory, draft.draft.facts.repository, draft)
    for directory in all_reviews(home):
        if not is_driven(directory.journal):
            found = started(directory) if directory.journal.is_file() else None
            yield Leftover(directory, found[1].repository if found else None, None)


def clear(leftover: Leftover) -> str | None:
    """Removes what is left over; returns why it stays, if it has to."""
    if is_driven(leftover.directory.journal):
        return "somebody goes on with it"
    try:
        _keep(leftover)
    except AmeliaError as problem:
        return str(problem)
    for place in leftover.places:
        remove(place)
    return None


def _is_left(known: Known | KnownDraft) -> bool:
    return not known.is_driven and known.directory.store.exists()


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
