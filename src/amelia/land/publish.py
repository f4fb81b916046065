"""Shows landed work in the user's repository: objects, the branch of the run, and the refs of its attempts.

- The branch is moved only from where we left it (compare and swap), never while the user has it checked out.
- Publishing again what is published changes nothing.
- The refs to keep are there before the branch is, so that a branch that is there says that all of it is.
"""

from collections.abc import Mapping

from amelia.land.message import is_landed
from amelia.model.commands import Place
from amelia.model.errors import GitError
from amelia.model.git import (
    CheckedOut,
    CommitId,
    Moved,
    Publication,
    Published,
    base_ref,
    branch_ref,
    tip_ref,
)
from amelia.system.git import Repository
from amelia.system.git_commands import copy_objects, describe_ref, fetch, update_ref
from amelia.system.git_places import Store


def publish(
    store: Store, *, commit: CommitId, expected: CommitId | None, keep: Mapping[str, CommitId]
) -> Publication:
    """Moves the branch of the run to a commit of the store, and copies the refs to keep.

    `expected` is where the branch was left; nothing if it does not exist yet.
    """
    repository, branch = store.source.repository, branch_ref(store.run)
    found, worktree = _branch(repository, branch)
    if found == commit:
        return Published()
    if found != expected:
        return Moved(found)
    if worktree:
        return CheckedOut(worktree)
    copy_objects(
        store.repository,
        repository,
        commits={commit, *keep.values()},
        known=expected or _base(store),
    )
    refs = {**keep, tip_ref(store.run): commit}
    if update_ref(repository, branch, commit, expected=expected, before=refs):
        return Published()
    found, _ = _branch(repository, branch)
    if found == expected:
        raise GitError(
            f"{store.source.top}: {branch} cannot be moved to {commit}",
            hint=f"is {branch}.lock left over from a git command that was killed? then delete it",
        )
    return Moved(found)


def publish_attempts(store: Store, attempts: Mapping[str, CommitId]) -> None:
    """Copies refs of attempts that did not land, so that what they hold outlives the store."""
    if attempts:
        fetch(store.source.repository, store.git_dir, attempts)


def landed_commit(where: Repository, tip: CommitId, *, run: str, at: Place) -> CommitId | None:
    """Returns the head of the run's branch if it is the work of this turn, put on top of the tip."""
    found = describe_ref(where, branch_ref(run), "objectname", "parent", "contents")
    if found is None:
        return None
    head, parent, message = found
    return CommitId(head) if parent == tip and is_landed(message, run=run, at=at) else None


def _base(store: Store) -> CommitId | None:
    """Returns what the run started from, if the user's repository has it: an empty beginning is ours."""
    found = describe_ref(store.source.repository, base_ref(store.run), "objectname")
    return None if found is None else CommitId(found[0])


def _branch(where: Repository, ref: str) -> tuple[CommitId | None, str]:
    found = describe_ref(where, ref, "objectname", "worktreepath")
    return (None, "") if found is None else (CommitId(found[0]), found[1])
