"""Puts the work of a unit on top of what landed since it began, without touching a file."""

from amelia.model.git import CommitId, Merging
from amelia.system.git_commands import merge_trees
from amelia.system.git_places import Store


def merge(store: Store, *, snapshot: CommitId, tip: CommitId) -> Merging:
    """Merges a snapshot with the tip, which descends from the snapshot's parent."""
    return merge_trees(store.repository, tip, snapshot)
