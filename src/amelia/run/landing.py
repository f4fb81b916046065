"""Puts accepted work on the branch: merged with what landed meanwhile, proved there, published.

Landing again what has landed changes nothing: the branch tells by its trailers whether a landing that was cut
off had happened.
"""

from anyio import to_thread

from amelia.judge.feedback import feedback
from amelia.land.commit import commit_unit
from amelia.land.merge import merge
from amelia.land.message import sealed, trailers
from amelia.land.publish import landed_commit, publish
from amelia.model import events as ev
from amelia.model.commands import LandWork
from amelia.model.evidence import Verdict
from amelia.model.git import CheckedOut, CommitId, Conflict, Moved, Published, TreeId
from amelia.model.outcome import Cause, Reason
from amelia.run.checks import check_work
from amelia.run.workshop import Workshop
from amelia.system.git_commands import describe_ref
from amelia.workspace.hooks import has_hook

_LONGEST = 20_000
_UNRULED = "Tests that landed meanwhile fail on this work as they were written: {}"


async def land_work(shop: Workshop, command: LandWork) -> tuple[ev.Event, ...]:
    """Lands the work of a unit, or says why it does not fit."""
    at, tip, tree = command.at, command.tip, command.work.tree
    if tip != at.base:
        merged = await to_thread.run_sync(lambda: merge(shop.store, snapshot=command.work.commit, tip=tip))
        if isinstance(merged, Conflict):
            return (ev.LandingRefused(at.unit, at.attempt, Cause.CONFLICT, _conflict_text(merged)),)
        tree = merged.tree
        checked = await check_work(shop, command, base=tip, tree=tree)
        if not checked.verdict.passed or not _is_ruled(checked.verdict, command):
            text = feedback(checked.verdict) or _UNRULED.format(", ".join(checked.verdict.edits.ruled))
            return (ev.LandingRefused(at.unit, at.attempt, Cause.MERGE_RED, text),)
    return (await to_thread.run_sync(lambda: _publish(shop, command, tree)),)


def _is_ruled(verdict: Verdict, command: LandWork) -> bool:
    """Says whether a reviewer has ruled on every test that the work changed, and that fails as it was."""
    known = set(command.changed_tests)
    files = {name.partition("::")[0] for name in known}
    # Very many tests are ruled on by their files.
    return all(name in known or name.partition("::")[0] in files for name in verdict.edits.ruled)


def _publish(shop: Workshop, command: LandWork, tree: TreeId) -> ev.UnitLanded | ev.StepBroke:
    at = command.at
    commit = _commit(shop, command, tree)
    expected = None if command.tip == shop.facts.base else command.tip
    match publish(shop.store, commit=commit, expected=expected, keep={shop.ref(at): command.work.commit}):
        case Published():
            return ev.UnitLanded(at.unit, at.attempt, commit)
        case Moved(found):
            if (landed := _landed_before(shop, command)) is not None:
                return ev.UnitLanded(at.unit, at.attempt, landed)
            detail = moved_text(shop.facts.run, command.tip, found)
        case CheckedOut(path):
            detail = checked_out_text(shop.facts.run, path)
    return ev.StepBroke(at.unit, ev.Step.LAND, detail, Reason.BRANCH_MOVED)


def _landed_before(shop: Workshop, command: LandWork) -> CommitId | None:
    """Returns the commit of a landing that had happened when it was cut off."""
    where = shop.store.source.repository
    return landed_commit(where, command.tip, run=shop.facts.run, at=command.at)


def _commit(shop: Workshop, command: LandWork, tree: TreeId) -> CommitId:
    """Returns the commit to land: the snapshot itself where nothing came in between."""
    at, source = command.at, shop.store.source
    may_differ = source.is_signing or has_hook(source, "commit-msg")
    if command.tip == at.base and not may_differ:
        return command.work.commit
    kept = describe_ref(shop.store.repository, shop.ref(at), "objectname", "contents")
    message = kept[1] if kept is not None and kept[0] == command.work.commit else shop.message(at)
    marks = trailers(run=shop.facts.run, at=at)
    return commit_unit(
        shop.store, tree, parent=command.tip, message=sealed(message, marks), stamp=shop.stamp()
    )


def checked_out_text(run: str, path: str) -> str:
    """Returns what is to be done about a branch that the user has checked out."""
    return (
        f"the branch amelia/{run} is checked out in {path}: switch to another branch "
        f"there, then run `amelia resume {run}`"
    )


def moved_text(run: str, tip: CommitId, found: CommitId | None) -> str:
    """Returns what is to be done about a branch that somebody else moved."""
    where = f"at {found}" if found else "gone"
    return (
        f"the branch amelia/{run} was left at {tip} and is now {where}: give those commits a branch of their "
        f"own, put it back with `git branch -f amelia/{run} {tip}`, then run `amelia resume {run}`"
    )


def _conflict_text(conflict: Conflict) -> str:
    listed = "\n".join(f"- {path}" for path in conflict.paths)
    return (
        "This work conflicts with what landed on the branch meanwhile. Do it again on the new base.\n"
        f"Files in conflict:\n{listed}\n{conflict.text}"
    )[:_LONGEST]
