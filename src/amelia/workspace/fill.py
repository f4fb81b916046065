"""Makes the files of a directory exactly those of a tree, whatever is there.

Two git processes do it when little is wrong. When something is in the way, permissions are given back, the
index is made anew and everything is tried once more.
"""

from pathlib import Path
from typing import NoReturn

from amelia.model.errors import GitError
from amelia.model.git import Treeish
from amelia.system.git import Answer, Repository
from amelia.system.git_commands import clean, read_tree
from amelia.workspace.removal import open_up

_LONGEST = 4000


def fill(where: Repository, tree: Treeish, *, within: Path, keeps_ignored: bool) -> None:
    """Puts the tree into the worktree and removes what is not in it; ignored files may stay.

    The worktree lies `within` a directory that Amelia made, and real directories lead there.
    """
    assert where.work_tree is not None
    assert where.index is not None
    unlock(where.index)
    if not _is_done(read_tree(where, tree)):
        open_up(where.work_tree, within=within)
        where.index.unlink(missing_ok=True)
        _demand(read_tree(where, tree), where)
    cleaned = clean(where, keeps_ignored=keeps_ignored)
    if not _is_clean(cleaned):
        open_up(where.work_tree, within=within)
        cleaned = clean(where, keeps_ignored=keeps_ignored)
        _demand_clean(cleaned, where)
    if cleaned.out:
        # A link in the place of a directory may have looked like the files behind it.
        _demand(read_tree(where, tree), where)


def unlock(index: Path) -> None:
    """Removes the lock that a killed process left; an index is used by one caller at a time."""
    index.with_name(f"{index.name}.lock").unlink(missing_ok=True)


def _is_done(answer: Answer) -> bool:
    return answer.code == 0 and "unable to" not in answer.err


def _is_clean(answer: Answer) -> bool:
    # Git warns of what it cannot reach or remove, and sometimes that is all.
    return answer.code == 0 and "warning: could not " not in answer.err


def _demand_clean(answer: Answer, where: Repository) -> None:
    if not _is_clean(answer):
        _fail(answer, where)


def _demand(answer: Answer, where: Repository) -> None:
    if not _is_done(answer):
        _fail(answer, where)


def _fail(answer: Answer, where: Repository) -> NoReturn:
    raise GitError(
        f"{where.work_tree}: the files of a tree cannot be put there: {answer.err.strip()[:_LONGEST]}",
        hint="look at the permissions and the free space there; the directory may be deleted",
    )
