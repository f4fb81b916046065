"""Finds out where the work of a run is, and makes the one commit that takes it back; changes no file.

- What landed is reverted as a whole where it was merged as it is, and commit by commit where it was squashed
  or rebased, which its trailers tell. Where somebody squashed it in words of their own, the files tell.
- A revert is a merge of three trees, so that everything that came after it stays. Where both changed the same
  places, there is no revert, and the files are named.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from amelia.context.letter import one_line
from amelia.land.message import sealed
from amelia.land.record import below_record
from amelia.model.git import CommitId, Conflict, Merged, Merging, Stamp, TreeId, ref_component
from amelia.system.git_checkout import (
    Logged,
    branches_with,
    is_ancestor,
    log_branches,
    log_messages,
    merge_base,
)
from amelia.system.git_commands import commit_tree, merge_trees, tree_of
from amelia.system.git_places import Source

_UNDONE = "Amelia-Undone"
_DELIVERS = "Amelia-Delivers"
_RUN = "Amelia-Run"


@dataclass(frozen=True, slots=True)
class Step:
    """Work as a difference: what came before it, and what it made of that."""

    before: CommitId
    after: CommitId


def found_in(source: Source, run: str, *, base: CommitId, tip: CommitId) -> tuple[Step, ...]:
    """Returns how the work of a run stands in the history of what is checked out, newest first."""
    head = source.head
    if head is None:
        return ()
    if is_ancestor(source.repository, tip, head):
        return (Step(base, tip),)
    mark = f"{_RUN}: {ref_component(run)}"
    commits = log_messages(source.repository, head, without=base, saying=mark)
    steps = tuple(
        Step(one.parents[0], one.commit) for one in commits if len(one.parents) == 1 and _says(one, mark)
    )
    return steps or ((Step(base, tip),) if _has_all(source, base=base, tip=tip) else ())


def delivery_mark(tip: CommitId) -> Mapping[str, str]:
    """Returns what tells the commit that squashed or merged the work of a run up to a commit."""
    return {_DELIVERS: tip}


def whole_in(source: Source, *, base: CommitId, tip: CommitId) -> CommitId | None:
    """Returns the commit by which all that a run landed came into what is checked out, if it did.

    A part of it does not count; by whose hand it came does not matter.
    """
    head = source.head
    if head is None:
        return None
    mark = f"{_DELIVERS}: {tip}"
    commits = log_messages(source.repository, head, without=base, saying=mark)
    if (found := next((one.commit for one in commits if _says(one, mark)), None)) is not None:
        return found
    if is_ancestor(source.repository, tip, head):
        return tip
    return head if _has_all(source, base=base, tip=tip) else None


def merged_elsewhere(source: Source, run: str, *, base: CommitId, tip: CommitId) -> tuple[str, ...]:
    """Returns the branches that hold the work of a run, here and at remotes, but for those of runs."""
    where, mark = source.repository, f"{_RUN}: {ref_component(run)}"
    brought = log_branches(where, without=base, saying=f"{_DELIVERS}: ")
    commits = {tip, below_record(where, run) or tip, *(one.commit for one in brought if _says(one, mark))}
    return tuple(ref for ref in branches_with(where, commits) if not _is_ours(ref))


def undone_by(source: Source, run: str, *, base: CommitId) -> CommitId | None:
    """Returns the commit that took a run back, if there is one in the history of what is checked out."""
    if source.head is None:
        return None
    mark = f"{_UNDONE}: {ref_component(run)}"
    commits = log_messages(source.repository, source.head, without=base, saying=mark)
    found = next((one.commit for one in commits if _says(one, mark)), None)
    if found is None:
        return None
    again = f"This reverts commit {found}"  # what git itself writes: the run is back
    return None if log_messages(source.repository, source.head, without=found, saying=again) else found


def without(source: Source, steps: Iterable[Step]) -> Merging:
    """Returns the tree that is checked out without some work, or where that conflicts with other work."""
    assert source.head is not None
    tree = tree_of(source.repository, source.head)
    for step in steps:
        merged = _taken_out(source, tree, step)
        if isinstance(merged, Conflict):
            return merged
        tree = merged.tree
    return Merged(tree)


def commit_revert(source: Source, tree: TreeId, *, message: str, stamp: Stamp) -> CommitId:
    """Stores the commit that puts a tree on top of what is checked out."""
    assert source.head is not None
    return commit_tree(
        source.repository,
        tree,
        parents=(source.head,),
        message=message,
        stamp=stamp,
        is_signed=source.is_signing,
    )


def revert_message(run: str, *, goal: str, steps: Sequence[Step]) -> str:
    """Returns the text of that commit; its trailer tells that the run is taken back."""
    ranges = "\n".join(f"- {step.before[:12]}..{step.after[:12]}" for step in steps)
    parts = (f"Take back run {run}", one_line(goal), ranges)
    return sealed("\n\n".join(part for part in parts if part), {_UNDONE: ref_component(run)})


def _says(one: Logged, mark: str) -> bool:
    """Says whether a message has a line of its own for a mark; squashed messages are often indented.

    The first line is a title, which anybody may have written.
    """
    return any(line.strip() == mark for line in one.message.splitlines()[1:])


def _is_ours(ref: str) -> bool:
    """Says whether a branch is one of a run, here or at a remote; other runs may start from this one."""
    return ref.startswith("refs/heads/amelia/") or "/amelia/" in ref.removeprefix("refs/remotes")


def _has_all(source: Source, *, base: CommitId, tip: CommitId) -> bool:
    """Says whether all that a run changed is in what is checked out, so that a merge would add nothing."""
    assert source.head is not None
    where = source.repository
    has_nothing = tree_of(where, base) == tree_of(where, tip)
    if has_nothing or merge_base(where, source.head, tip) is None:
        return False
    merged = merge_trees(where, source.head, tip)
    return isinstance(merged, Merged) and merged.tree == tree_of(where, source.head)


def _taken_out(source: Source, tree: TreeId, step: Step) -> Merging:
    """Merges a tree with what was before a step, as seen from what the step made of it."""
    where, stamp = source.repository, Stamp(source.identity, datetime.fromtimestamp(0, UTC))

    def commit(of: TreeId, *parents: CommitId) -> CommitId:
        return commit_tree(where, of, parents=parents, message="", stamp=stamp)

    # A history of our own making, since older versions of git only merge from a base that they find.
    common = commit(tree_of(where, step.after))
    return merge_trees(where, commit(tree, common), commit(tree_of(where, step.before), common))
