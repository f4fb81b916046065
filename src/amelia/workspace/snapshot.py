"""Keeps all files of a worktree as a commit on top of its base, whatever the agent did with git meanwhile.

- Only files count: untracked, deleted, binary, links, modes; commits of the agent are in its files.
- A snapshot is always kept under a ref of the store before it is returned.
- The commit hooks of the user's repository have their say: what they change is part of the snapshot, what
  they refuse is told beside it.
- The same files, base, message and stamp give the same commit.
"""

from amelia.model.git import CommitId, HookRefused, NotTaken, Snapshot, Stamp
from amelia.model.walls import Wall
from amelia.system.git_commands import commit_tree, describe_ref, set_ref, update_ref, write_tree
from amelia.system.git_places import Lane, Store
from amelia.workspace.fill import unlock
from amelia.workspace.hooks import before_commit, checked_message, has_hook
from amelia.workspace.lanes import point_at
from amelia.workspace.nested import stage
from amelia.workspace.pipes import find_pipes
from amelia.workspace.removal import real_directory
from amelia.workspace.submodules import unsaved


def snapshot(
    lane: Lane,
    *,
    base: CommitId,
    message: str,
    stamp: Stamp,
    ref: str,
    with_hooks: bool = True,
    wall: Wall | None = None,
) -> Snapshot | NotTaken:
    """Commits the files of a lane on top of the base, keeps the commit under a ref, and runs the hooks.

    Hooks run behind the wall.
    """
    absorbed = _staged(lane, base)
    if isinstance(absorbed, NotTaken):
        return absorbed
    refused = _pre_commit(lane, base, wall) if with_hooks else None
    if isinstance(refused, NotTaken):
        return refused
    left = unsaved(lane)  # before another hook can arm what was disarmed
    if with_hooks and has_hook(lane.store.source, "commit-msg"):
        message, bad_message = checked_message(lane, message, wall=wall)
        refused = refused or bad_message
    repository = lane.store.repository
    tree = write_tree(lane.repository)
    commit = commit_tree(repository, tree, parents=(base,), message=message, stamp=stamp)
    keep(lane.store, ref, commit)
    return Snapshot(
        commit=commit,
        tree=tree,
        message=message,
        refused=refused,
        absorbed=absorbed,
        unsaved=left,
    )


def _staged(lane: Lane, base: CommitId) -> tuple[str, ...] | NotTaken:
    """Puts the files of a lane into its index; or says what git cannot read."""
    real_directory(lane.directory, within=lane.store.directory)
    for path, kind in find_pipes(lane.directory):
        return NotTaken(f"{path} is {kind}: git cannot read it")
    point_at(lane, base)
    unlock(lane.index)
    return stage(lane, base)


def keep(store: Store, ref: str, commit: CommitId) -> None:
    """Makes a ref of the store name a commit; what it named before stays under a name of its own."""
    if update_ref(store.repository, ref, commit, expected=None):
        return
    before = describe_ref(store.repository, ref, "objectname")
    if before is not None and before[0] != commit:
        set_ref(store.repository, f"{ref}-{before[0][:12]}", CommitId(before[0]))
    set_ref(store.repository, ref, commit)


def _pre_commit(lane: Lane, base: CommitId, wall: Wall | None) -> HookRefused | NotTaken | None:
    if not has_hook(lane.store.source, "pre-commit"):
        return None
    refused: HookRefused | None = None
    # Hooks that format refuse the first time and are content with what they made of it the second time.
    for _ in range(2):
        refused = before_commit(lane, wall=wall)
        staged = stage(lane, base)
        if isinstance(staged, NotTaken):
            return staged
        if refused is None or refused.is_late:
            break
    return refused
