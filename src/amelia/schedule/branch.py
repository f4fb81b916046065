"""The way of the whole branch, once every unit is done: verified, and then with the record on top of it.

    UNVERIFIED ─▶ CHECKING ─▶ GREEN ─▶ RECORDING ─▶ RECORDED
                     └─▶ RED               └─▶ UNRECORDED

A person who resumes the run has a red branch verified again, and an unrecorded one recorded.
"""

from dataclasses import replace
from typing import TypeAlias, assert_never

from amelia.model import events as ev
from amelia.model.errors import InternalError
from amelia.model.records import RecordCommitted, RecordEvent, RecordRefused, RecordStarted
from amelia.model.state import Branch, RunState

BranchEvent: TypeAlias = ev.BranchCheckStarted | ev.BranchVerified | RecordEvent

_BEFORE: dict[type, Branch] = {
    ev.BranchVerified: Branch.CHECKING,
    RecordStarted: Branch.GREEN,
    RecordCommitted: Branch.RECORDING,
    RecordRefused: Branch.RECORDING,
}
_STILL_VERIFIED = frozenset({Branch.GREEN, Branch.RECORDING, Branch.UNRECORDED})


def branch_after(run: RunState, event: BranchEvent) -> RunState:
    """Returns the state after an event about the whole branch."""
    if run.branch is not _BEFORE.get(type(event), run.branch):
        raise InternalError(f"{type(event).__name__} does not fit a branch that is {run.branch}")
    match event:
        case ev.BranchCheckStarted():
            return replace(run, branch=Branch.CHECKING)
        case ev.BranchVerified(passed, feedback):
            return replace(run, branch=Branch.GREEN if passed else Branch.RED, branch_feedback=feedback)
        case RecordStarted():
            return replace(run, branch=Branch.RECORDING)
        case RecordCommitted(commit):
            return replace(run, branch=Branch.RECORDED, tip=commit or run.tip)
        case RecordRefused(detail, reason):
            return replace(run, branch=Branch.UNRECORDED, branch_feedback=detail, record_reason=reason)
        case _:
            assert_never(event)


def after_resuming(branch: Branch) -> Branch:
    """Returns where the branch stands for whoever takes a run over."""
    if branch is Branch.RECORDED:
        return branch
    return Branch.GREEN if branch in _STILL_VERIFIED else Branch.UNVERIFIED
