"""Takes all files of a worktree into its lane's index, those of repositories inside it as well.

An agent may clone or make a repository inside the worktree. Git would record only the name of a commit that
nobody else has; here its `.git` is moved aside, into the run's directory, and its files are part of the work.
"""

from itertools import count
from pathlib import Path

from amelia.model.git import CommitId, NotTaken
from amelia.system.git import Answer
from amelia.system.git_commands import add_all, forget, new_gitlinks, untracked
from amelia.system.git_places import Lane
from amelia.workspace.removal import open_up

_DENIED = "Permission denied"
_EMBEDDED = "embedded git repository"
_DEEPEST = 20  # repositories in repositories in repositories …


def stage(lane: Lane, base: CommitId) -> tuple[str, ...] | NotTaken:
    """Fills the index from the files, and returns the paths of repositories that were absorbed."""
    absorbed: list[str] = []
    for _ in range(_DEEPEST):
        answer = add_all(lane.repository)
        if _is_complete(answer):
            return tuple(absorbed)
        if _DENIED in answer.err:
            open_up(lane.directory, within=lane.store.directory)
        found = _absorb(lane, base)
        absorbed.extend(found)
        if not found:
            break
    answer = add_all(lane.repository)
    return tuple(absorbed) if _is_complete(answer) else NotTaken(answer.err.strip())


def _is_complete(answer: Answer) -> bool:
    # To git, a repository in the worktree or a directory that cannot be opened is only worth a warning; to us
    # it is work that would be lost.
    return answer.code == 0 and _DENIED not in answer.err and _EMBEDDED not in answer.err


def _absorb(lane: Lane, base: CommitId) -> list[str]:
    linked = new_gitlinks(lane.repository, base)
    forget(lane.repository, linked)
    # A repository without commits cannot be linked, so it is still untracked: a name that ends in a slash.
    unlinked = [path.removesuffix("/") for path in untracked(lane.repository) if path.endswith("/")]
    found = list(dict.fromkeys((*linked, *unlinked)))
    for path in found:
        git_dir = lane.directory / path / ".git"
        if git_dir.is_symlink() or git_dir.exists():
            git_dir.rename(_free_place(lane))
    return found


def _free_place(lane: Lane) -> Path:
    aside = lane.store.directory / "aside"
    aside.mkdir(exist_ok=True)
    names = (aside / f"{lane.number}-{lane.purpose}-{number}.git" for number in count(1))
    return next(name for name in names if not name.exists() and not name.is_symlink())
