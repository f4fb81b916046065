"""Finds what waits for a person, in the runs of a state home."""

from collections.abc import Iterator
from pathlib import Path

from amelia.app.history import take_inventory
from amelia.record.journal import read_journal
from amelia.show.run.inbox import Item, draft_items, items_of
from amelia.show.run.standing import is_settled
from amelia.show.run.times import Timeline


def waiting_items(home: Path, *, repository: str | None) -> Iterator[Item]:
    """Yields what waits for a person, of one repository or of all, newest runs first; replays never do."""
    inventory = take_inventory(home)
    for draft in inventory.drafts:
        if repository in {None, draft.draft.facts.repository}:
            yield from draft_items(draft)
    for known in inventory.runs:
        facts = known.run.facts
        is_here = repository in {None, facts.repository} and facts.replay_of is None
        if is_here and not is_settled(known.run):
            yield from items_of(known, Timeline().after(read_journal(known.directory.journal)))
