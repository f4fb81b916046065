"""What a person can do about a run: let a unit try again, skip it, fix it by hand, cancel or abort the run.

Every wish goes through the run's mailbox, whoever drives the run. Somebody else may be quicker: what came of
a wish is known when it is out of the mailbox, not before.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from amelia.app.workshops import open_store, open_workshop
from amelia.judge.globs import covers
from amelia.model.commands import Place
from amelia.model.errors import AmeliaError
from amelia.model.events import UnitFixed, UnitReset, Work
from amelia.model.evidence import ProblemCode
from amelia.model.git import TreeId
from amelia.model.interventions import Accepted
from amelia.model.journal import Wanted
from amelia.model.plan import UnitId
from amelia.model.state import Parked, RunState
from amelia.record.journal import is_answered, is_driven, leave_request, read_journal, why_refused
from amelia.record.runs import RunDirectory
from amelia.run.checks import doubts_about
from amelia.run.requests import draft_refusal, refusal
from amelia.run.workshop import Workshop
from amelia.schedule.draft import fold_draft, is_draft
from amelia.schedule.machine import fold
from amelia.system.git_commands import changed_paths, find_commit, list_paths
from amelia.system.git_places import Lane, Purpose
from amelia.system.process import spawn_detached
from amelia.workspace.store import is_whole
from amelia.workspace.unkept import Unkept, mark, unkept_in

_FIRST_FIX_LANE = 1000
_PATIENCE = 2.0
_PATIENCE_WITH_A_START = 10.0
_PAUSE = 0.05
_MOST_FILES = 20


class RefusedError(AmeliaError):
    """A run cannot do what was asked of it."""

    exit_code = 2


def standing(directory: RunDirectory) -> RunState:
    """Returns where a run stands, as its journal tells it."""
    events = [recorded.event for recorded in read_journal(directory.journal)]
    if is_draft(events):
        raise RefusedError(
            f"run {directory.run} has not started: its plan is not approved",
            hint=f"see the plan: amelia plan show {directory.run}",
        )
    return fold(events)


def check_grant(directory: RunDirectory, unit: UnitId, files: Sequence[str]) -> None:
    """Refuses to grant files that are neither in what a parked unit started from nor in its last attempt."""
    run = standing(directory)
    state = run.units.get(unit)
    if not files or not isinstance(state, Parked):
        return
    store, base = open_store(directory, run.facts), state.track.base
    where = store.repository
    work = state.work.commit if state.work is not None else base
    if not is_whole(store) or find_commit(where, base) is None or find_commit(where, work) is None:
        return
    changed = [path for _, path in changed_paths(where, base, work)]
    known = {*list_paths(where, base), *changed}
    if wrong := [file for file in files if not any(covers(file, path) for path in known)]:
        told = ", ".join(changed[:_MOST_FILES]) or "nothing"
        raise RefusedError(
            f"{wrong[0]} cannot be granted: {unit} did not find it, and its last attempt did not make it",
            hint=f"changed by its last attempt: {told}",
        )


def refusal_of(directory: RunDirectory, wanted: Wanted) -> str | None:
    """Returns why a run, or its draft, cannot fulfil a wish; None if it can."""
    events = [recorded.event for recorded in read_journal(directory.journal)]
    return draft_refusal(fold_draft(events), wanted) if is_draft(events) else refusal(fold(events), wanted)


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person wants of a run, in its mailbox under a number."""

    directory: RunDirectory
    number: int

    def is_fulfilled(self) -> bool:
        """Says whether the run did as it was asked; the error says why it will not."""
        if not is_answered(self.directory.journal, self.number):
            return False
        if (reason := why_refused(self.directory.journal, self.number)) is not None:
            raise _refused(self.directory, reason)
        return True

    def is_fulfilled_soon(self) -> bool:
        """Says whether the run did as it was asked, as soon as that is known, and after a while anyway.

        A coordinator that was just started needs a moment.
        """
        return _is_soon(self.is_fulfilled, within=_PATIENCE_WITH_A_START)


def ask(directory: RunDirectory, wanted: Wanted) -> Wish:
    """Leaves a wish for a run that can fulfil it; who drives the run has then seen it, unless it is busy."""
    if (reason := refusal_of(directory, wanted)) is not None:
        raise _refused(directory, reason)
    wish = Wish(directory, leave_request(directory.journal, wanted))
    # A coordinator that is about to end looks into its mailbox once more before it lets go of the lock.
    _is_soon(lambda: wish.is_fulfilled() or not is_driven(directory.journal), within=_PATIENCE)
    return wish


def _refused(directory: RunDirectory, reason: str) -> RefusedError:
    return RefusedError(reason, hint=f"`amelia status {directory.run}` shows where the run stands")


def _is_soon(is_there: Callable[[], bool], *, within: float) -> bool:
    deadline = time.monotonic() + within
    while not (is_so := is_there()) and time.monotonic() < deadline:
        time.sleep(_PAUSE)
    return is_so


def start_in_background(directory: RunDirectory) -> int:
    """Starts a coordinator that goes on without us, and returns its process."""
    # -P: the current directory, which is a repository, holds no modules of ours.
    argv = [sys.executable, "-P", "-m", "amelia", "resume", directory.run, "--no-input"]
    return spawn_detached(argv, env=dict(os.environ), log=directory.log)


@dataclass(frozen=True, slots=True)
class Repair:
    """A parked unit that a person works on by hand, in a worktree of its own; `last` is what was refused."""

    shop: Workshop
    at: Place
    last: Work | None

    @property
    def lane(self) -> Lane:
        """The worktree for the person."""
        return self.shop.lane(self.at, Purpose.WORK)


def open_repair(directory: RunDirectory, unit: UnitId) -> Repair:
    """Returns the repair of a parked unit; its worktree is made from what the last attempt left."""
    run = standing(directory)
    state = run.units.get(unit)
    if (reason := refusal(run, UnitReset(unit))) is not None or not isinstance(state, Parked):
        raise RefusedError(reason or f"{unit} does not wait for a person")
    shop = open_workshop(directory, run.facts)
    index, assigned = next((n, each) for n, each in enumerate(run.facts.units) if each.id == unit)
    number, track = _FIRST_FIX_LANE + index, state.track
    at = Place(
        assigned,
        lane=number,
        attempt=track.attempt,
        base=track.base,
        number=track.counters.attempts,
        by_person=True,
    )
    repair = Repair(shop, at, state.work)
    unkept = Unkept(state.track.base, shop.ref(at))
    if unkept_in(repair.lane) != unkept:
        start = state.work.commit if state.work is not None else state.track.base
        shop.open_lane(repair.lane, start=start, unkept=unkept)
    return repair


def finish_repair(repair: Repair) -> tuple[UnitFixed, dict[Accepted, str]]:
    """Keeps what the person did; returns the wish to have it verified and landed, and the doubts about it."""
    shop, at = repair.shop, repair.at
    kept = shop.keep(at, repair.lane, shop.ref(at))
    mark(repair.lane, Unkept(at.base, shop.ref(at)))  # the person may go on there
    return UnitFixed(at.unit, kept.work), dict(_doubts(repair, kept.tree))


def _doubts(repair: Repair, tree: TreeId) -> Iterator[tuple[Accepted, str]]:
    """Yields what speaks against landing a person's work as it is, unless they say otherwise."""
    at, where = repair.at, repair.lane.directory
    problems = doubts_about(repair.shop, at, tree)
    if any(problem.code is ProblemCode.NO_CHANGES for problem in problems):
        yield Accepted.UNCHANGED, f"nothing was changed in {where}: {at.unit} would land without any change"
    elif repair.last is not None and tree == repair.last.tree:
        text = f"nothing was changed in {where}: {at.unit} would land as it was when it was not accepted"
        yield Accepted.UNCHANGED, text
    missing = [problem.message for problem in problems if problem.code is ProblemCode.MISSING_FILE]
    if missing:
        yield Accepted.MISSING_FILES, "\n".join(missing)
