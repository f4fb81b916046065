"""Puts the work of a unit on top of what landed since it began, without touching a file."""

from amelia.model.git import CommitId, Merged, Merging
from amelia.system.git_commands import merge_trees, tree_of
from amelia.system.git_places import Store


def merge(store: Store, *, base: CommitId, snapshot: CommitId, tip: CommitId) -> Merging:
    """Merges a snapshot, whose parent is the base, with the tip, which descends from the base."""
    if tip == base:
        return Merged(tree_of(store.repository, snapshot))
    return merge_trees(store.repository, tip, snapshot)
