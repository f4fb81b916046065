"""Makes the commits that land, signed if the user signs."""

from datetime import UTC, datetime

from amelia.model.errors import ConfigError, GitError
from amelia.model.git import CommitId, Stamp, TreeId
from amelia.system.git_commands import commit_tree, empty_tree
from amelia.system.git_places import Store


def commit_unit(store: Store, tree: TreeId, *, parent: CommitId, message: str, stamp: Stamp) -> CommitId:
    """Stores the commit that puts a unit's tree on top of the branch."""
    return commit_tree(
        store.repository,
        tree,
        parents=(parent,),
        message=message,
        stamp=stamp,
        is_signed=store.source.is_signing,
    )


def check_signing(store: Store) -> None:
    """Proves, before any work is done, that commits can be signed if they have to be."""
    if not store.source.is_signing:
        return
    stamp = Stamp(store.source.identity, datetime.fromtimestamp(0, UTC))
    tree = empty_tree(store.repository)
    try:
        commit_tree(store.repository, tree, parents=(), message="Signed?\n", stamp=stamp, is_signed=True)
    except GitError as problem:
        raise ConfigError(
            f"commit.gpgSign is on, but commits cannot be signed: {problem}",
            hint="make the key usable without a prompt (an agent that holds it), or turn commit.gpgSign off",
        ) from problem
