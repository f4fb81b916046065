"""What others may ask of a run: which wishes fit where it stands, and why the others do not."""

from typing import assert_never

from amelia.model.delivery import FinishChosen
from amelia.model.drafts import PlanApproved, PlanHandedOver, PlanRejected
from amelia.model.events import (
    AbortRequested,
    BudgetChanged,
    CancelRequested,
    PauseRequested,
    QuestionAnswered,
    UnitFixed,
    UnitReset,
    UnitSkipped,
    UnitSplit,
)
from amelia.model.findings import FindingId
from amelia.model.git import Work
from amelia.model.interventions import Accepted, Intervention
from amelia.model.journal import Wanted
from amelia.model.outcome import Outcome, Result
from amelia.model.plan import UnitId
from amelia.model.proposal import Approved, Delayed, Draft, Drafting, HandedOver, Proposed, Stopped
from amelia.model.state import Landed, Parked, RunState, Skipped, UnitState, Waiting


def fits(run: RunState, wanted: Wanted) -> bool:
    """Says whether a wish can be fulfilled."""
    return refusal(run, wanted) is None


def refusal(run: RunState, wanted: Wanted) -> str | None:
    """Returns why a wish cannot be fulfilled; None if it can."""
    if run.outcome is not None and run.outcome.is_final and not _is_to_deliver(run.outcome, wanted):
        return f"run {run.facts.run} is {run.outcome}; nothing can change that"
    match wanted:
        case PauseRequested() | CancelRequested() | BudgetChanged() | FinishChosen():
            return None
        case PlanApproved() | PlanRejected() | PlanHandedOver():
            return f"the plan of run {run.facts.run} was approved, and is being run"
        case (
            AbortRequested(unit)
            | UnitReset(unit)
            | UnitFixed(unit)
            | UnitSkipped(unit)
            | UnitSplit(unit)
            | QuestionAnswered(unit)
        ):
            if unit is None or unit in run.units:
                return _misfit(run, wanted)
            return _unknown(run, unit)
        case _:
            assert_never(wanted)


def _misfit(run: RunState, wanted: AbortRequested | Intervention) -> str | None:
    match wanted:
        case UnitReset(unit) | UnitFixed(unit) | UnitSplit(unit) | QuestionAnswered(unit):
            state = run.units[unit]
            if not isinstance(state, Parked):
                return f"{unit} does not wait for a person: it is {_standing(run, unit)}"
            return _misfit_of_parked(run, state, wanted)
        case UnitSkipped(unit) if not _can_be_skipped(run.units[unit], wanted):
            return f"{unit} cannot be skipped: it is {_standing(run, unit)}"
        case _:
            return None


def _misfit_of_parked(
    run: RunState, state: Parked, wanted: UnitReset | UnitFixed | UnitSplit | QuestionAnswered
) -> str | None:
    match wanted:
        case QuestionAnswered(unit) if state.asking is None:
            return f"{unit} waits for a person, but has asked nothing"
        case QuestionAnswered(unit, attempt=int(attempt)) if attempt != state.track.attempt:
            return f"{unit} asks something else by now"
        case QuestionAnswered(unit, dismissed=out) if not set(out) <= set(_about(state)):
            return f"{unit} asks about other findings by now"
        case UnitFixed(unit, work, accepted) if _is_unchanged(state, work) and (
            Accepted.UNCHANGED not in accepted
        ):
            return f"nothing of {unit} was changed since it was refused"
        case UnitSplit(pieces=pieces) if taken := {piece.id for piece in pieces} & run.units.keys():
            return f"run {run.facts.run} has a unit {min(taken)!r} already"
        case _:
            return None


def _is_unchanged(state: Parked, work: Work) -> bool:
    return state.work is not None and state.work.tree == work.tree


def _about(state: Parked) -> tuple[FindingId, ...]:
    return state.asking.question.about if state.asking is not None else ()


def draft_refusal(draft: Draft, wanted: Wanted) -> str | None:
    """Returns why a wish about a run without an approved plan cannot be fulfilled; None if it can."""
    run, newest = draft.facts.run, draft.version
    if draft.outcome is not None and draft.outcome.is_final:
        return f"run {run} is {draft.outcome}; nothing can change that"
    match wanted:
        case PauseRequested() | CancelRequested() | BudgetChanged() | AbortRequested(None):
            return None
        case PlanApproved(version) | PlanRejected(version) | PlanHandedOver(version) if version != newest:
            return f"version {version} is not the newest plan of run {run}; that is version {newest}"
        case PlanApproved() if isinstance(draft.stage, Approved):
            return f"version {newest} of the plan of run {run} is approved already"
        case PlanApproved() | PlanHandedOver():
            return None if draft.may_be_approved else _unapprovable(draft)
        case PlanRejected():
            waits = isinstance(draft.stage, Proposed | Stopped)
            return None if waits else f"run {run} has no plan that waits for a person: it is {_stage(draft)}"
        case (
            AbortRequested(unit)
            | UnitReset(unit)
            | UnitFixed(unit)
            | UnitSkipped(unit)
            | UnitSplit(unit)
            | QuestionAnswered(unit)
        ):
            return f"run {run} has no unit {unit!r}: it has not started, its plan is {_stage(draft)}"
        case FinishChosen():
            return f"run {run} has not started, its plan is {_stage(draft)}"
        case _:
            assert_never(wanted)


def _unapprovable(draft: Draft) -> str:
    if draft.newest is not None and isinstance(draft.stage, Proposed):
        first = draft.newest.errors[0]
        return f"version {draft.version} of the plan of run {draft.facts.run} cannot run: {first}"
    return f"run {draft.facts.run} has no plan that waits for approval: it is {_stage(draft)}"


def _stage(draft: Draft) -> str:
    match draft.stage:
        case Drafting() | Delayed():
            return "being drafted again, since somebody rejected it" if draft.feedback else "being drafted"
        case Proposed():
            return "waiting for a person"
        case Approved():
            return "approved"
        case HandedOver():
            return "handed over"
        case Stopped(reason):
            return f"stopped, because {reason.meaning}"
        case _:
            assert_never(draft.stage)


def _is_to_deliver(outcome: Outcome, wanted: Wanted) -> bool:
    """Says whether a wish is about the branch of a completed run, which can still become many things."""
    return isinstance(wanted, FinishChosen) and outcome.result is Result.COMPLETED


def _can_be_skipped(state: UnitState, wanted: UnitSkipped) -> bool:
    """Says whether a unit can be taken out; who kept its dependants waiting may let them run after all."""
    if isinstance(state, Skipped):
        return wanted.satisfies and not state.satisfies
    return isinstance(state, Parked | Waiting)


def _unknown(run: RunState, unit: UnitId) -> str:
    known = list(run.units)
    shown = ", ".join(known[:8]) + (" …" if len(known) > 8 else "")  # noqa: PLR2004 - a line's worth
    return f"run {run.facts.run} has no unit {unit!r}; it has {shown}"


def _standing(run: RunState, unit: UnitId) -> str:
    match run.units[unit]:
        case Landed(commit):
            return f"landed as {commit[:12]}"
        case Skipped():
            return "skipped"
        case Waiting():
            return "waiting"
        case _:
            return "under way"
