"""Puts the record of a run on top of its verified branch.

Doing it again changes nothing: the branch tells by its trailers whether it had happened when it was cut off.
"""

from anyio import to_thread

from amelia.land.commit import commit_unit
from amelia.land.publish import publish
from amelia.land.record import InTheWay, record_message, recorded_commit, with_record
from amelia.model.commands import CommitRecord
from amelia.model.git import CheckedOut, Moved, Published
from amelia.model.records import RecordCommitted, RecordEvent, RecordRefused
from amelia.run.landing import checked_out_text, moved_text
from amelia.run.workshop import Workshop


async def commit_record(shop: Workshop, command: CommitRecord) -> tuple[RecordEvent, ...]:
    """Commits the record and publishes it, or says why that cannot be."""
    return (await to_thread.run_sync(lambda: _commit(shop, command)),)


def _commit(shop: Workshop, command: CommitRecord) -> RecordEvent:
    run, path, tip = shop.facts.run, shop.facts.record_place.path, command.tip
    files = shop.recorder.conclude()
    tree = with_record(shop.store, tip, path=path, master=shop.recorder.master, files=files)
    if isinstance(tree, InTheWay):
        return RecordCommitted(None, tree.detail)
    commit = commit_unit(shop.store, tree, parent=tip, message=record_message(run, path), stamp=shop.stamp())
    match publish(shop.store, commit=commit, expected=tip, keep={}):
        case Published():
            return RecordCommitted(commit)
        case Moved(found):
            done = recorded_commit(shop.store.source.repository, tip, run=run, path=path)
            return RecordCommitted(done) if done else RecordRefused(moved_text(run, tip, found))
        case CheckedOut(where):
            return RecordRefused(checked_out_text(run, where))
