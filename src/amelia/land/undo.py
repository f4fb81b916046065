"""The way back for a run that has landed: which one there is, and taking it.

Where the branch of the run is merged nowhere, it is taken away and kept under a ref. Where it was merged into
what is checked out, one new commit reverts it. Looking changes nothing; a way that is not free is refused
with the reason, and everything stays as it is.
"""

from dataclasses import dataclass
from typing import TypeAlias

from amelia.land.checkout import move_checkout, named
from amelia.land.deliver import branch_name
from amelia.land.revert import (
    Step,
    commit_revert,
    found_in,
    merged_elsewhere,
    revert_message,
    undone_by,
    without,
)
from amelia.model.delivery import RunUndone
from amelia.model.errors import AmeliaError
from amelia.model.facts import RunStarted
from amelia.model.git import CommitId, Conflict, Stamp, TreeId, branch_ref, undone_ref
from amelia.system.git_checkout import move_refs
from amelia.system.git_commands import describe_ref, set_ref, tree_of
from amelia.system.git_places import Source


class UndoRefusedError(AmeliaError):
    """A run cannot be taken back as things are; a person has to do something first."""

    exit_code = 4


@dataclass(frozen=True, slots=True)
class TakeAway:
    """The branch is merged nowhere: it goes, and its commits are kept."""

    tip: CommitId
    branch: CommitId | None


@dataclass(frozen=True, slots=True)
class Revert:
    """The work is in what is checked out: a commit of this tree takes it out again."""

    steps: tuple[Step, ...]
    tree: TreeId


@dataclass(frozen=True, slots=True)
class Back:
    """The run was taken back before."""

    undone: RunUndone


Way: TypeAlias = TakeAway | Revert | Back


@dataclass(frozen=True, slots=True)
class LeftOnBranch:
    """The revert is made, but the checkout is not free to take it: what is in the way, and where it is."""

    branch: str
    problem: str


def way_back(source: Source, facts: RunStarted, tip: CommitId) -> Way:
    """Returns how a run can be taken back."""
    run, branch = facts.run, branch_name(facts.run)
    if source.branch == branch:
        raise UndoRefusedError(f"{branch} itself is checked out", hint="git switch another-branch")
    if (commit := undone_by(source, run, base=facts.base)) is not None:
        return Back(RunUndone(branch, commit))
    steps = found_in(source, run, base=facts.base, tip=tip)
    if not steps:
        return _take_away(source, facts, tip)
    if source.branch is None:
        raise UndoRefusedError("no branch is checked out", hint="git switch the-branch-with-the-run")
    reverted = without(source, steps)
    if isinstance(reverted, Conflict):
        ranges = " ".join(f"{step.before[:12]}..{step.after[:12]}" for step in steps)
        raise UndoRefusedError(
            f"what came after the run changed the same places: {named(reverted.paths)}",
            hint=f"by hand: git revert {ranges}",
        )
    if source.head is not None and reverted.tree == tree_of(source.repository, source.head):
        return Back(RunUndone(branch, source.head))
    return Revert(steps, reverted.tree)


def take_back(source: Source, facts: RunStarted, way: Way, *, stamp: Stamp) -> RunUndone | LeftOnBranch:
    """Goes the way back."""
    match way:
        case Back(undone):
            return undone
        case TakeAway(tip, branch):
            gone = {branch_ref(facts.run): branch} if branch is not None else {}
            move_refs(source.repository, kept={undone_ref(facts.run): tip}, gone=gone)
            return RunUndone(undone_ref(facts.run))
        case Revert():
            return _revert(source, facts, way, stamp=stamp)


def _take_away(source: Source, facts: RunStarted, tip: CommitId) -> TakeAway | Back:
    run = facts.run
    if others := merged_elsewhere(source, run, base=facts.base, tip=tip):
        names = [ref.removeprefix("refs/heads/").removeprefix("refs/remotes/") for ref in others]
        raise UndoRefusedError(
            f"the run is merged into {named(names)}, which is not checked out",
            hint="switch to that branch, up to date, and say it again",
        )
    found = describe_ref(source.repository, branch_ref(run), "objectname", "worktreepath")
    if found is None:
        is_kept = describe_ref(source.repository, undone_ref(run)) is not None
        return Back(RunUndone(undone_ref(run))) if is_kept else TakeAway(tip, None)
    if found[1]:
        raise UndoRefusedError(
            f"{branch_name(run)} is checked out in {found[1]}", hint="switch to another branch there"
        )
    if found[0] != tip:
        raise UndoRefusedError(
            f"{branch_name(run)} holds commits that are not the run's",
            hint=f"give them a branch of their own: git branch -m {branch_name(run)} another-name",
        )
    return TakeAway(tip, CommitId(found[0]))


def _revert(source: Source, facts: RunStarted, way: Revert, *, stamp: Stamp) -> RunUndone | LeftOnBranch:
    assert source.head is not None
    message = revert_message(facts.run, goal=facts.goal, steps=way.steps)
    commit = commit_revert(source, way.tree, message=message, stamp=stamp)
    problem = move_checkout(source, commit, before=source.head)
    if problem is None:
        return RunUndone(branch_name(facts.run), commit)
    aside = branch_ref(f"{facts.run}-undo")
    set_ref(source.repository, aside, commit)
    return LeftOnBranch(aside.removeprefix("refs/heads/"), problem)
