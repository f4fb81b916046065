"""The only thing that is ever done to the user's checkout, and only if they asked: it is fast-forwarded.

- What is not committed stays as it is: changed files, and files in the way that git does not track. Git
  itself takes ignored ones for worthless, here they are not.
- Whatever is in the way is named, and then nothing was changed.
"""

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from amelia.model.git import CommitId, Treeish
from amelia.system.git_checkout import changed_files, fast_forward, files_not_tracked
from amelia.system.git_commands import list_paths
from amelia.system.git_places import Source

_SHOWN = 5
_LONGEST = 2000


def move_checkout(source: Source, commit: CommitId, *, before: Treeish) -> str | None:
    """Fast-forwards the checkout from a tree to a commit; returns what was in the way, if anything was."""
    if (problem := in_the_way(source, before=before, after=commit)) is not None:
        return problem
    answer = fast_forward(source.repository, commit)
    return None if answer.code == 0 else f"git refuses: {answer.err.strip()[:_LONGEST]}"


def in_the_way(source: Source, *, before: Treeish, after: Treeish) -> str | None:
    """Returns what of the checkout would be lost or mixed up if it went from one tree to another."""
    if changed := changed_files(source.repository):
        return f"the checkout has uncommitted changes: {named(changed)}"
    new = set(list_paths(source.repository, after)) - set(list_paths(source.repository, before))
    if hidden := list(_met(files_not_tracked(source.repository), new)):
        return f"files that git does not track are in the way: {named(hidden)}"
    return None


def named(paths: Iterable[str]) -> str:
    """Returns the first of some paths, and how many more there are."""
    known = list(paths)
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return ", ".join(known[:_SHOWN]) + more


def _met(present: Iterable[str], new: set[str]) -> Iterator[str]:
    """Yields the files whose place, or a directory above it, is wanted for something else."""
    folders = {folder for path in new for folder in _above(path)}
    for path in present:
        place = path.removesuffix("/")
        if place in new or place in folders or any(folder in new for folder in _above(place)):
            yield path


def _above(path: str) -> Iterator[str]:
    return (str(folder) for folder in PurePosixPath(path).parents if folder.name)
