"""Takes what is in the user's checkout as a commit of the store: committed or not, staged or not, untracked.

Nothing of theirs is written: a copy of their index is brought up to date, and objects go into the store.
Ignored and generated files are left out, and so are repositories inside the checkout, which are not touched.
A checkout with conflicts is not taken: what is in its files is nothing that anybody wants.
"""

import shutil
from dataclasses import dataclass

from amelia.model.errors import ConfigError
from amelia.model.git import CommitId, Stamp, TreeId
from amelia.system.git import Repository
from amelia.system.git_checkout import changed_submodules, unmerged_files
from amelia.system.git_commands import add_all, commit_tree, forget, new_gitlinks, tree_of, write_tree
from amelia.system.git_places import Lane, Purpose, Source, Store
from amelia.workspace.generated import exclude_generated, find_generated, left_out
from amelia.workspace.lanes import point_at
from amelia.workspace.source import refuse_pipes

_MESSAGE = "What was in the checkout\n"
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Captured:
    """A checkout as a commit on top of its head, or the head itself if that is all there is.

    `left_out` are the submodules with changes inside that no commit of theirs has, `generated` the files that
    tools made and nobody ignores.
    """

    commit: CommitId
    tree: TreeId
    is_committed: bool
    left_out: tuple[str, ...] = ()
    generated: tuple[str, ...] = ()


def refuse_conflicts(source: Source) -> None:
    """Refuses a checkout in which a merge, or what else brings changes together, is not finished."""
    if paths := unmerged_files(source.repository):
        more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
        raise ConfigError(
            f"{source.top}: there are conflicts that are not resolved: {', '.join(paths[:_SHOWN])}{more}",
            hint="resolve them and run `git add` on each, or give it up with `git merge --abort` "
            "(`git rebase --abort`, `git cherry-pick --abort`)",
        )


def capture(store: Store, head: CommitId, *, stamp: Stamp) -> Captured:
    """Takes the checkout of the store's source as it is now."""
    refuse_pipes(store.source)
    lane = Lane(store, 1, Purpose.WORK)
    point_at(lane, head)
    where = Repository(lane.git_dir, work_tree=store.source.top, index=store.git_dir / "captured")
    _copy_index(store, lane)
    exclude_generated(store, head, found=find_generated(where))
    answer = add_all(where)
    if answer.code != 0:
        raise ConfigError(
            f"{store.source.top}: not all files can be read: {answer.err.strip()[:2000]}",
            hint="give yourself access to them, or have git ignore them",
        )
    if strangers := new_gitlinks(where, head):
        forget(where, strangers)
    tree, submodules = write_tree(where), tuple(changed_submodules(where))
    is_committed, commit = tree == tree_of(store.repository, head), head
    if not is_committed:
        commit = commit_tree(store.repository, tree, parents=(head,), message=_MESSAGE, stamp=stamp)
    generated = left_out(where, store.source, but=strangers)
    return Captured(commit, tree, is_committed, submodules, generated)


def _copy_index(store: Store, lane: Lane) -> None:
    """Copies the user's index with its time, which tells git what may have changed since it was written."""
    git_dir = store.source.git_dir
    if (index := git_dir / "index").is_file():
        shutil.copy2(index, store.git_dir / "captured")
    for shared in git_dir.glob("sharedindex.*"):
        shutil.copy2(shared, lane.git_dir / shared.name)
