"""Takes all files of a worktree into its lane's index, those of repositories inside it as well.

An agent may clone or make a repository inside the worktree. Git would record only the name of a commit that
nobody else has; here its `.git` is moved aside, into the run's directory, and its files are part of the work.
"""

from amelia.model.errors import GitError
from amelia.model.git import CommitId, NotTaken
from amelia.system.git import Answer
from amelia.system.git_commands import add_all, forget, new_gitlinks, untracked
from amelia.system.git_places import Lane
from amelia.workspace.aside import free_place
from amelia.workspace.pipes import find_repositories
from amelia.workspace.removal import open_up
from amelia.workspace.submodules import disarm, link_by_hand

_DENIED = "Permission denied"
_FULL = ("No space left on device", "Disk quota exceeded")
_LOST = (_DENIED, "embedded git repository", "warning: could not ")
"""What git warns of and leaves out, and what would be lost: to us, it is no warning."""

_LONGEST = 4000
_LONGEST_LINE = 300


def stage(lane: Lane, base: CommitId) -> tuple[str, ...] | NotTaken:
    """Fills the index from the files, and returns the paths of repositories that were absorbed."""
    absorbed: list[str] = []
    disarm(lane)
    places = find_repositories(lane.directory)
    linked = link_by_hand(lane, places) if places else ()
    while not _is_complete(answer := add_all(lane.repository, without=linked)):
        if _DENIED in answer.err:
            open_up(lane.directory, within=lane.store.directory)
        found = _absorb(lane, base)
        absorbed.extend(found)
        if not found:
            answer = add_all(lane.repository, without=linked)
            return tuple(absorbed) if _is_complete(answer) else _not_taken(lane, answer)
    return tuple(absorbed)


def _is_complete(answer: Answer) -> bool:
    return answer.code == 0 and not any(sign in answer.err for sign in _LOST)


def _not_taken(lane: Lane, answer: Answer) -> NotTaken:
    said = answer.err.strip() or "git did not say why"
    if answer.code is None or any(sign in said for sign in _FULL):
        what = said if answer.code is not None else "git did not end in time"
        raise GitError(f"{lane.directory}: what was left there cannot be kept: {what[:_LONGEST]}")
    return NotTaken("\n".join(_shortened(line) for line in said.splitlines())[:_LONGEST])


def _shortened(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 50]}…{line[-50:]}"


def _absorb(lane: Lane, base: CommitId) -> list[str]:
    linked = new_gitlinks(lane.repository, base)
    forget(lane.repository, linked)
    # A repository without commits cannot be linked, so it is still untracked: a name that ends in a slash.
    unlinked = [path.removesuffix("/") for path in untracked(lane.repository) if path.endswith("/")]
    found = list(dict.fromkeys((*linked, *unlinked)))
    absorbed: list[str] = []
    for path in found:
        git_dir = lane.directory / path / ".git"
        if git_dir.is_symlink() or git_dir.exists():
            git_dir.rename(free_place(lane, ".git"))
            absorbed.append(path)
    return absorbed
